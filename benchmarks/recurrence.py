"""How well a fit tells which terms of its list other rows would choose again.

``python -m benchmarks.recurrence learn``
    Fits both halves of tables that are none of the ten sets, each with lists made anew (`n_resamples`), looks every
    term of one half up in the list of the other, and prints the shift and the slope that turn the share of resampled
    lists into the chance: those of `rulegrove.estimators.recurrence`. Then what they say of each table if they are
    learned without it.
``python -m benchmarks.recurrence judge [NAME ...] [--fits default] [--splits 50]``
    The same on the paper's ten sets, which the shift and the slope have not seen: for each fifth of the scale how many
    terms a fit has put there and how many of them came back, and how well it tells terms apart (AUC).

A term is in the other list if a rule there holds on nearly the same of all rows (Jaccard index of at least 0.8), or if
it is a linear term of an attribute that has one there. Lists are those of the default, of at most ten and 25 terms, of
ten rules alone, and of `stable`. Writes ``benchmarks/results/recurrence_<command>.csv``, one line a term; lines of
other sets, splits and fits that are there stay. ``--table`` prints what is there.
"""

import argparse
import csv
import itertools
import multiprocessing
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit
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
FITS: dict[str, dict[str, Any]] = {"default": {}, "rules": {"terms": "rules"}, "stable": {"stable": True}}
LISTS: dict[str, dict[str, int | str]] = {
    "default": {"default": "auto", "10 terms": 10, "25 terms": 25},
    "rules": {"10 rules": 10},
    "stable": {"stable": 10},
}
FIELDS = ("set", "fit", "list", "split", "half", "kind", "share", "came_back")
Rows = tuple[np.ndarray, np.ndarray]


def made(n_rows: int, **shape: Any) -> Callable[[], Rows]:
    """Return what makes a table of clusters about the corners of a cube."""
    return lambda: others.make_classification(n_rows, random_state=0, **shape)


def made_lines(n_rows: int, n_features: int, seed: int, rho: float, n_classes: int = 2) -> Callable[[], Rows]:
    """Return what makes a table of correlated attributes, of which five move log odds in lines."""

    def make() -> Rows:
        rng = np.random.default_rng(seed)
        common = rng.normal(size=(n_rows, 1))
        X = np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.normal(size=(n_rows, n_features))
        X = np.exp(X / 2) if seed % 2 else X
        slopes = np.zeros((n_features, n_classes))
        slopes[:5] = 1.5 * rng.normal(size=(5, n_classes))
        scores = (X - X.mean(axis=0)) / X.std(axis=0) @ slopes + rng.gumbel(size=(n_rows, n_classes))
        return X, scores.argmax(axis=1).astype(str)

    return make


def made_rules(n_rows: int, n_features: int, n_rules: int, noise: float, seed: int, **kind: bool) -> Callable[[], Rows]:
    """Return what makes a table whose target is a sum of rules of two conditions, and noise."""

    def make() -> Rows:
        rng = np.random.default_rng(seed)
        X, score = rng.uniform(size=(n_rows, n_features)), np.zeros(n_rows)
        for _ in range(n_rules):
            first, second = rng.choice(n_features, 2, replace=False)
            cuts = rng.uniform(0.3, 0.7, 2)
            score += rng.choice([-1, 1]) * ((X[:, first] > cuts[0]) & (X[:, second] <= cuts[1])) * rng.uniform(1, 2)
        if kind.get("numbers"):
            return X, score + noise * rng.normal(size=n_rows)
        return X, (score + noise * rng.logistic(size=n_rows) > np.median(score)).astype(int).astype(str)

    return make


LEARNED: dict[str, Callable[[], Rows]] = {
    "wine": lambda: others.load_wine(return_X_y=True),
    "cancer": lambda: others.load_breast_cancer(return_X_y=True),
    "diabetes": lambda: others.load_diabetes(return_X_y=True),
    "digits": lambda: others.load_digits(return_X_y=True),
    "friedman 500": lambda: others.make_friedman1(500, noise=1.0, random_state=0),
    "friedman 3000": lambda: others.make_friedman1(3000, noise=2.0, random_state=0),
    "friedman2 400": lambda: others.make_friedman2(400, noise=100.0, random_state=0),
    "corners 300": made(300, n_features=10, n_informative=4, flip_y=0.2),
    "corners 2000": made(2000, n_features=20, n_informative=6, flip_y=0.1),
    "corners 3 classes": made(900, n_features=12, n_informative=5, n_classes=3, flip_y=0.1),
    "corners 5000 x 5": made(5000, n_features=5, n_informative=4, n_redundant=1, n_clusters_per_class=4, flip_y=0.1),
    "moons 600": lambda: others.make_moons(600, noise=0.3, random_state=0),
    "hastie 1500": lambda: others.make_hastie_10_2(1500, random_state=0),
    "supernova 1000": lambda: datasets.make_supernova_candidates(500, 500, random_state=0),
    "supernova 6000": lambda: datasets.make_supernova_candidates(3000, 3000, random_state=0),
    "lines 300": made_lines(300, 8, 1, 0.5),
    "lines 1000": made_lines(1000, 15, 2, 0.3),
    "lines 4 classes": made_lines(800, 10, 4, 0.4, 4),
    "rules 600": made_rules(600, 8, 4, 0.3, 0),
    "rules 3000": made_rules(3000, 12, 6, 0.3, 1),
    "rules 1000 number": made_rules(1000, 10, 5, 0.5, 2, numbers=True),
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


def one_split(task: tuple[str, int, Sequence[str]]) -> list[dict[str, Any]]:
    """Fit both halves of a split and look the terms of each up in the list of the other."""
    name, split, fits = task
    warnings.simplefilter("ignore")
    X, y = load(name)
    numbers = y.dtype.kind == "f"
    kind = RuleEnsembleRegressor if numbers else RuleEnsembleClassifier
    splitter = (KFold if numbers else StratifiedKFold)(2, shuffle=True, random_state=split)
    halves = next(iter(splitter.split(X, y)))
    lines = []
    for fit in fits:
        models = [
            kind(random_state=split, n_jobs=1, n_resamples=N_RESAMPLES, **FITS[fit]).fit(X[rows], y[rows])
            for rows in halves
        ]
        for of, max_terms in LISTS[fit].items():
            lists = [model.shorten(max_terms).rules_ for model in models]
            for half, (rules, other) in enumerate((lists, lists[::-1])):
                known = [own.term for own in other]
                lines += [
                    {
                        "set": name,
                        "fit": fit,
                        "list": of,
                        "split": split,
                        "half": half,
                        "kind": row.kind,
                        "share": round(float(expit((logit(row.returns) - SHIFT) / SLOPE)), 4),
                        "came_back": int(look_up(row.term, known, X)),
                    }
                    for row in rules
                    if row.returns is not None
                ]
    return lines


def measure(tasks: Sequence[tuple[str, int, Sequence[str]]], path: Path) -> None:
    """Measure splits of tables, in two processes, and write their lines in place of those that are there."""
    asked = {(name, split, fit) for name, split, fits in tasks for fit in fits}
    kept = [line for line in read(path) if (line["set"], line["split"], line["fit"]) not in asked]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        lines = kept + [line for part in pool.map(one_split, tasks) for line in part]
    with path.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, FIELDS)
        writer.writeheader()
        writer.writerows(lines)


def read(path: Path) -> list[dict[str, Any]]:
    """Read lines that were written; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as handle:
        return [
            line | {"split": int(line["split"]), "share": float(line["share"]), "came_back": int(line["came_back"])}
            for line in csv.DictReader(handle)
        ]


def learn(lines: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return the shift and the slope of log odds that turn shares into chances; lists of all tables count alike."""
    groups = np.unique([f"{line['set']}: {line['list']}" for line in lines], return_inverse=True)[1]
    weights = 1.0 / np.bincount(groups)[groups]
    came = [line["came_back"] for line in lines]
    weights *= len(lines) / weights.sum()
    odds = logit([line["share"] for line in lines])
    found = LogisticRegression(C=1e6).fit(odds[:, None], came, sample_weight=weights)
    return float(found.intercept_[0]), float(found.coef_[0, 0])


def say(lines: Sequence[dict[str, Any]], shift: float = SHIFT, slope: float = SLOPE) -> np.ndarray:
    """Return the chance that a shift and a slope make of the share of resampled lists that have each term."""
    return np.asarray(expit(shift + slope * logit([line["share"] for line in lines])))


def cross(lines: Sequence[dict[str, Any]]) -> np.ndarray:
    """Return what a shift and a slope say of each table that were learned without it."""
    names = np.array([line["set"] for line in lines])
    said = np.empty(len(lines))
    for name in np.unique(names):
        others = [line for line in lines if line["set"] != name]
        said[names == name] = say([line for line in lines if line["set"] == name], *learn(others))
    return said


def tell(title: str, came: np.ndarray, said: np.ndarray) -> None:
    """Print the calibration by fifths of the scale, and the AUC."""
    auc = roc_auc_score(came, said) if 0 < came.sum() < came.size else np.nan
    print(f"\n{title}: {came.size} terms, {came.mean():.1%} came back, {said.mean():.1%} said, AUC {auc:.3f}")
    fifths = np.minimum((5.0 * said).astype(int), 4)
    for fifth in np.unique(fifths):
        here = fifths == fifth
        scale = f"{20 * fifth:3} to {20 * fifth + 20:3} %"
        print(f"  {scale} {here.sum():6} terms, {said[here].mean():6.1%} said, {came[here].mean():6.1%} came back")


def tell_all(lines: Sequence[dict[str, Any]], said: np.ndarray) -> None:
    """Print the calibration of each set, of each list, and of all."""
    came = np.array([line["came_back"] for line in lines])
    for by in ("set", "list"):
        names = np.array([line[by] for line in lines])
        for own in dict.fromkeys(names.tolist()):
            tell(own, came[names == own], said[names == own])
    tell("all", came, said)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["learn", "judge"])
    parser.add_argument("names", nargs="*", help="some of the tables")
    parser.add_argument("--fits", nargs="+", choices=list(FITS), default=list(FITS))
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    path = RESULTS / f"recurrence_{given.command}.csv"
    if not given.table:
        usual = list(LEARNED) if given.command == "learn" else datasets.names()
        measure(list(itertools.product(given.names or usual, range(given.splits), [given.fits])), path)
    lines = read(path)
    if given.command == "learn":
        print("shift {:.3f}, slope {:.3f}".format(*learn(lines)))
    tell_all(lines, cross(lines) if given.command == "learn" else say(lines))


if __name__ == "__main__":
    main()
