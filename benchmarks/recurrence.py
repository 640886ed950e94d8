"""How well a fit tells which terms of its list other rows would choose again.

``python -m benchmarks.recurrence learn [--splits 6]``
    Fits both halves of tables that are none of the ten sets, each with lists made anew (`n_resamples`), looks every
    term of one half up in the list of the other, and prints the shift and the slope that turn the share of resampled
    lists into the chance: those of `rulegrove.estimators.recurrence`.
``python -m benchmarks.recurrence judge [NAME ...] [--splits 10]``
    The same on the paper's ten sets, which the shift and the slope have not seen: for each fifth of the scale how many
    terms a fit has put there and how many of them came back, and how well it tells terms apart (AUC).

A term is in the other list if a rule there holds on nearly the same of all rows (Jaccard index of at least 0.8), or if
it is a linear term of an attribute that has one there. Lists are those of the default, of at most ten and 25 terms, of
ten rules alone, and of `stable`. Writes ``benchmarks/results/recurrence_<command>.csv``, one line a term.
"""

import argparse
import csv
import itertools
import multiprocessing
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as others
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, datasets
from rulegrove.estimators.recurrence import SHIFT, SLOPE
from rulegrove.estimators.steady import ALIKE
from rulegrove.rules.rule import Rule

RESULTS = Path(__file__).parent / "results"
N_RESAMPLES = 50
LISTS: dict[str, dict[str, Any]] = {
    "default": {},
    "10 terms": {"max_terms": 10},
    "25 terms": {"max_terms": 25},
    "10 rules": {"max_terms": 10, "terms": "rules"},
    "stable": {"max_terms": 10, "stable": True},
}
FIELDS = ("set", "list", "split", "half", "kind", "returns", "came_back")
Rows = tuple[np.ndarray, np.ndarray]


def made(n_rows: int, **shape: Any) -> Callable[[], Rows]:
    """Return what makes a table of clusters about the corners of a cube."""
    return lambda: others.make_classification(n_rows, random_state=0, **shape)


LEARNED: dict[str, Callable[[], Rows]] = {
    "wine": lambda: others.load_wine(return_X_y=True),
    "cancer": lambda: others.load_breast_cancer(return_X_y=True),
    "diabetes": lambda: others.load_diabetes(return_X_y=True),
    "friedman 500": lambda: others.make_friedman1(500, noise=1.0, random_state=0),
    "friedman 3000": lambda: others.make_friedman1(3000, noise=2.0, random_state=0),
    "corners 300": made(300, n_features=10, n_informative=4, flip_y=0.2),
    "corners 2000": made(2000, n_features=20, n_informative=6, flip_y=0.1),
    "corners 3 classes": made(900, n_features=12, n_informative=5, n_classes=3, flip_y=0.1),
    "supernova 1000": lambda: datasets.make_supernova_candidates(500, 500, random_state=0),
    "supernova 6000": lambda: datasets.make_supernova_candidates(3000, 3000, random_state=0),
}


def load(name: str) -> Rows:
    """Return a table."""
    if name in LEARNED:
        return LEARNED[name]()
    X, y = datasets.load(name, return_X_y=True)
    return np.asarray(X, dtype=np.float64), y


def look_up(term: Any, others: Sequence[Any], X: np.ndarray) -> bool:
    """Return whether a list has the family of a term."""
    if not isinstance(term, Rule):
        return any(not isinstance(other, Rule) and other.feature == term.feature for other in others)
    held = term.holds(X.T)
    families = (other.holds(X.T) for other in others if isinstance(other, Rule))
    return any(np.sum(held & other) >= ALIKE * np.sum(held | other) for other in families)


def one_split(task: tuple[str, int]) -> list[dict[str, Any]]:
    """Fit both halves of a split and look the terms of each up in the list of the other."""
    name, split = task
    warnings.simplefilter("ignore")
    X, y = load(name)
    numbers = y.dtype.kind == "f"
    kind = RuleEnsembleRegressor if numbers else RuleEnsembleClassifier
    splitter = (KFold if numbers else StratifiedKFold)(2, shuffle=True, random_state=split)
    halves = next(iter(splitter.split(X, y)))
    lines = []
    for of, settings in LISTS.items():
        models = [
            kind(random_state=split, n_jobs=1, n_resamples=N_RESAMPLES, **settings).fit(X[rows], y[rows])
            for rows in halves
        ]
        for half, (model, other) in enumerate((models, models[::-1])):
            lines += [
                {
                    "set": name,
                    "list": of,
                    "split": split,
                    "half": half,
                    "kind": row.kind,
                    "returns": row.returns,
                    "came_back": int(look_up(row.term, [own.term for own in other.rules_], X)),
                }
                for row in model.rules_
                if row.returns is not None
            ]
    return lines


def measure(names: Iterable[str], n_splits: int, path: Path) -> list[dict[str, Any]]:
    """Measure all splits of some tables, in two processes, and write the lines."""
    tasks = list(itertools.product(names, range(n_splits)))
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        lines = [line for part in pool.map(one_split, tasks) for line in part]
    with path.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, FIELDS)
        writer.writeheader()
        writer.writerows(lines)
    return lines


def learn(lines: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return the shift and the slope of log odds that turn shares into chances; tables count alike."""
    said = np.array([line["returns"] for line in lines])
    odds = (np.log(said / (1.0 - said)) - SHIFT) / SLOPE
    groups = np.unique([line["set"] for line in lines], return_inverse=True)[1]
    weights = 1.0 / np.bincount(groups)[groups]
    came = [line["came_back"] for line in lines]
    found = LogisticRegression(C=1e6).fit(odds[:, None], came, sample_weight=weights * len(lines) / weights.sum())
    return float(found.intercept_[0]), float(found.coef_[0, 0])


def tell(lines: Sequence[dict[str, Any]]) -> None:
    """Print the calibration by fifths of the scale, and the AUC."""
    said = np.array([line["returns"] for line in lines])
    came = np.array([line["came_back"] for line in lines])
    print(f"{'':12} {'terms':>6} {'said':>6} {'came back':>10}")
    for low in np.arange(0.0, 1.0, 0.2):
        here = (said >= low) & ((said < low + 0.2) | (low > 0.7))
        if here.any():
            print(f"{low:4.1f} to {low + 0.2:4.1f} {here.sum():6} {said[here].mean():6.1%} {came[here].mean():10.1%}")
    auc = roc_auc_score(came, said) if 0 < came.sum() < came.size else np.nan
    print(f"{came.size} terms, {came.mean():.1%} came back, {said.mean():.1%} said, AUC {auc:.3f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["learn", "judge"])
    parser.add_argument("names", nargs="*", help="some of the tables")
    parser.add_argument("--splits", type=int)
    given = parser.parse_args()
    usual, splits = (list(LEARNED), 6) if given.command == "learn" else (datasets.names(), 10)
    path = RESULTS / f"recurrence_{given.command}.csv"
    lines = measure(given.names or usual, given.splits or splits, path)
    for of in LISTS:
        print(f"\n{of}")
        tell([line for line in lines if line["list"] == of])
    print("\nall")
    tell(lines)
    if given.command == "learn":
        print("shift {:.3f}, slope {:.3f}".format(*learn(lines)))


if __name__ == "__main__":
    main()
