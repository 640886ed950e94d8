"""How often bands hold: ``python -m benchmarks.bands [NAME ...] [--splits 5]``.

Each of the paper's ten sets is split into disjoint halves, and each half gets a list with bands of its partial
dependence and of the importance of its attributes (`n_resamples`). Bands are there to hold what a list from other rows
says, so the list of the other half is looked at on the same rows: printed is on what share of the points and of the
attributes it lies within the bands, where nine in ten are promised.
"""

import argparse
import itertools
import multiprocessing
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from rulegrove import RuleEnsembleClassifier, datasets
from rulegrove.inspection import importance_band, partial_dependence

N_RESAMPLES = 100
MOST_FEATURES = 8  # whose dependence is looked at
FITS: dict[str, dict[str, Any]] = {"default": {}, "rules": {"terms": "rules", "max_terms": 10}}
MARGIN = 1e-9


def within(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """Return the share of values that lie within a band."""
    return float(np.mean((values >= low - MARGIN) & (values <= high + MARGIN)))


def judge(model: Any, other: Any, X: np.ndarray) -> tuple[float, float]:
    """Return the share of the dependence, and of the importances, of another list that lie within the bands of one."""
    shares = []
    for feature in range(min(X.shape[1], MOST_FEATURES)):
        found = partial_dependence(model, X, feature)
        theirs = partial_dependence(other, X, feature, grid=found.grids[0])
        shares.append(within(theirs.values, found.low, found.high))
    return float(np.mean(shares)), within(other.feature_importances_, *importance_band(model))


def one_split(task: tuple[str, int]) -> dict[str, tuple[float, float]]:
    """Judge the bands of both halves of a split, of every kind of list."""
    name, split = task
    warnings.simplefilter("ignore")
    table, y = datasets.load(name, return_X_y=True)
    X = np.asarray(table, dtype=np.float64)
    halves = next(iter(StratifiedKFold(2, shuffle=True, random_state=split).split(X, y)))
    found = {}
    for of, settings in FITS.items():
        own = {"random_state": split, "n_jobs": 1, "n_resamples": N_RESAMPLES, **settings}
        models = [RuleEnsembleClassifier(**own).fit(X[rows], y[rows]) for rows in halves]
        both = [judge(*pair, X[rows]) for pair, rows in zip((models, models[::-1]), halves, strict=True)]
        found[of] = (float(np.mean([one for one, _ in both])), float(np.mean([two for _, two in both])))
    return found


def tell(name: str, found: list[dict[str, tuple[float, float]]]) -> None:
    """Print the means of some splits."""
    means = {of: np.mean([one[of] for one in found], axis=0) for of in FITS}
    print(f"{name:12} " + "  ".join(f"{of} {own[0]:4.0%} / {own[1]:4.0%}" for of, own in means.items()))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="some of the sets")
    parser.add_argument("--splits", type=int, default=5)
    given = parser.parse_args()
    names = given.names or datasets.names()
    tasks = list(itertools.product(names, range(given.splits)))
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(one_split, tasks))
    print(f"{'':12} dependence / importances within the bands")
    for place, name in enumerate(names):
        tell(name, found[place * given.splits : (place + 1) * given.splits])
    tell("all", found)


if __name__ == "__main__":
    main()
