"""How well a fit tells which terms of its list other rows would choose again.

``python -m benchmarks.recurrence learn``
    Fits both halves of tables that are made at random, each with lists made anew (`n_resamples`), looks every term of
    one half up in the list of the other, and prints what turns the share of resampled lists into the chance: SHIFT,
    SLOPE, BY_ROWS and IF_STEADY of `rulegrove.estimators.recurrence`. Then what they say of each table if they are
    learned without it.
``python -m benchmarks.recurrence judge [NAME ...] [--fits default] [--splits 50]``
    The same on the paper's ten sets, which these have not seen: for each fifth of the scale how many
    terms a fit has put there and how many of them came back, and how well it tells terms apart (AUC).

A term is in the other list if a rule there holds on nearly the same of all rows (Jaccard index of at least 0.8), or if
it is a linear term of an attribute that has one there. Lists are those of the default, of at most ten and 25 terms, of
ten rules alone, and of `stable`. Writes ``benchmarks/results/recurrence_<command>.csv``, a line for all terms of a list
that came back, or did not, and have the same share; lines of other sets, splits and fits that are there stay.
``--table`` prints what is there.
"""

import argparse
import csv
import itertools
import multiprocessing
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.made_tables import make_table, take_table
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, datasets
from rulegrove.estimators.recurrence import BY_ROWS, IF_STEADY, SHIFT, SLOPE
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
FIELDS = ("set", "list", "split", "rows_a_term", "share", "terms", "came_back")
READ: dict[str, Callable[[str], Any]] = {
    "split": int,
    "rows_a_term": float,
    "share": float,
    "terms": int,
    "came_back": int,
}
SHIPPED = (SHIFT, SLOPE, BY_ROWS, IF_STEADY)
LEARNED = {"made": make_table, "taken": take_table}
N_LEARNED = 80  # tables of each kind
Rows = tuple[np.ndarray, np.ndarray]


def load(name: str) -> Rows:
    """Return a table: one of the ten sets, or one that was made or taken from others, by its seed."""
    kind, _, seed = name.partition(" ")
    if kind in LEARNED:
        return LEARNED[kind](int(seed))
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
            own = [model.shorten(max_terms) for model in models]
            for rows, model, other in zip(halves, own, own[::-1], strict=True):
                known = [row.term for row in other.rules_]
                rows_a_term = round(len(rows) / max(1, model.front_[model.front_.chosen].terms), 3)
                found = Counter(
                    (find_share(row.returns, rows_a_term, of == "stable"), look_up(row.term, known, X))
                    for row in model.rules_
                    if row.returns is not None
                )
                lines += [
                    dict(zip(FIELDS, (name, of, split, rows_a_term, share, terms, int(came)), strict=True))
                    for (share, came), terms in sorted(found.items())
                ]
    return lines


def measure(tasks: Sequence[tuple[str, int, Sequence[str]]], path: Path) -> None:
    """Measure splits of tables, in two processes, and write their lines in place of those that are there."""
    asked = {(name, split, of) for name, split, fits in tasks for fit in fits for of in LISTS[fit]}
    kept = [line for line in read(path) if (line["set"], line["split"], line["list"]) not in asked]
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
        return [{name: READ.get(name, str)(value) for name, value in line.items()} for line in csv.DictReader(handle)]


def describe(lines: Sequence[dict[str, Any]]) -> np.ndarray:
    """Return what chances are reckoned from: log odds of the share, logarithm of rows a term, if lists are steady."""
    return np.column_stack(
        [
            logit([line["share"] for line in lines]),
            np.log([line["rows_a_term"] for line in lines]),
            [line["list"] == "stable" for line in lines],
        ]
    )


def find_share(chance: float, rows_a_term: float, steady: bool) -> float:
    """Return the share of lists that a chance was reckoned from."""
    odds = logit(chance) - SHIFT - BY_ROWS * np.log(rows_a_term) - IF_STEADY * steady
    return round(float(expit(odds / SLOPE)), 4)


def learn(lines: Sequence[dict[str, Any]]) -> list[float]:
    """Return the shift, and what log odds, rows and steadiness count; lists of all tables count alike."""
    groups = np.unique([f"{line['set']}: {line['list']}" for line in lines], return_inverse=True)[1]
    terms = np.array([line["terms"] for line in lines])
    weights = terms / np.bincount(groups, terms)[groups]
    weights *= terms.sum() / weights.sum()
    found = LogisticRegression(C=1e6).fit(describe(lines), [line["came_back"] for line in lines], sample_weight=weights)
    return [float(found.intercept_[0]), *found.coef_[0].tolist()]


def say(lines: Sequence[dict[str, Any]], learned: Sequence[float]) -> np.ndarray:
    """Return the chance of each term."""
    return np.asarray(expit(learned[0] + describe(lines) @ np.array(learned[1:])))


def cross(lines: Sequence[dict[str, Any]]) -> np.ndarray:
    """Return what is said of each table by what was learned without it."""
    names = np.array([line["set"] for line in lines])
    said = np.empty(len(lines))
    for name in np.unique(names):
        others = [line for line in lines if line["set"] != name]
        said[names == name] = say([line for line in lines if line["set"] == name], learn(others))
    return said


def tell(title: str, lines: Sequence[dict[str, Any]], said: np.ndarray) -> None:
    """Print the calibration by fifths of the scale, and the AUC."""
    came, terms = (np.array([line[name] for line in lines]) for name in ("came_back", "terms"))
    auc = roc_auc_score(came, said, sample_weight=terms) if 0 < came.sum() < came.size else np.nan
    rates = [f"{np.average(own, weights=terms):.1%} {words}" for own, words in ((came, "came back"), (said, "said"))]
    print(f"\n{title}: {terms.sum()} terms, {', '.join(rates)}, AUC {auc:.3f}")
    fifths = np.minimum((5.0 * said).astype(int), 4)
    for fifth in np.unique(fifths).tolist():
        here = fifths == fifth
        means = [np.average(own[here], weights=terms[here]) for own in (said, came)]
        scale = f"{20 * fifth:3} to {20 * fifth + 20:3} %"
        print(f"  {scale} {terms[here].sum():6} terms, {means[0]:6.1%} said, {means[1]:6.1%} came back")


def tell_all(lines: Sequence[dict[str, Any]], said: np.ndarray) -> None:
    """Print the calibration of each set, of each list, and of all."""
    for by in ("set", "list"):
        for own in dict.fromkeys(line[by] for line in lines):
            here = [place for place, line in enumerate(lines) if line[by] == own]
            tell(own, [lines[place] for place in here], said[here])
    tell("all", lines, said)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["learn", "judge"])
    parser.add_argument("names", nargs="*", help="some of the tables")
    parser.add_argument("--fits", nargs="+", choices=list(FITS), default=list(FITS))
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    path = RESULTS / f"recurrence_{given.command}.csv"
    if not given.table:
        usual = datasets.names()
        if given.command == "learn":
            usual = [f"{kind} {seed}" for kind in LEARNED for seed in range(N_LEARNED)]
        measure(list(itertools.product(given.names or usual, range(given.splits), [given.fits])), path)
    lines = read(path)
    if given.command == "learn":
        print("shift {:.3f}, slope {:.3f}, by rows {:.3f}, if steady {:.3f}".format(*learn(lines)))
    tell_all(lines, cross(lines) if given.command == "learn" else say(lines, SHIPPED))


if __name__ == "__main__":
    main()
