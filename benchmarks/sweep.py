"""More rows, a better model: error, log loss and processor time as a table grows, and on both sides of what changes.

``python -m benchmarks.sweep [--seeds N] [--largest N] [--edges]``

Each seed draws a table; models are fitted to its first rows, twice as many each time, and judged on the same other
rows, so that neighbours are paired. The last column has the p-value of "twice the rows are worse" (a t-test of paired
differences, one-sided, with Holm's correction for all that were made). ``--edges`` fits one row less and one row
more than the sizes at which the number of honest folds changes and at which rows begin to be drawn.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import ttest_1samp
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from benchmarks.problems import many_candidates
from rulegrove import RuleEnsembleClassifier
from rulegrove.datasets import make_waveform
from rulegrove.estimators import autos

Table = tuple[np.ndarray, np.ndarray]
N_TEST = 5000


def two_classes(n_rows: int, seed: int) -> Table:
    """Return simulated supernova candidates."""
    return many_candidates(n_rows, seed)


def three_classes(n_rows: int, seed: int) -> Table:
    """Return waveforms."""
    data = make_waveform(n_rows, random_state=seed)
    return data.X, data.y


def ten_classes(n_rows: int, seed: int) -> Table:
    """Return clusters of points in 16 dimensions."""
    X, y = make_classification(
        n_rows, 16, n_informative=10, n_classes=10, n_clusters_per_class=2, class_sep=2.0, random_state=seed
    )
    return X, y


PROBLEMS: dict[str, Callable[[int, int], Table]] = {
    "two classes": two_classes,
    "three classes": three_classes,
    "ten classes": ten_classes,
}


def measure(table: Table, size: int, seed: int) -> tuple[float, float, float]:
    """Return error in percent, log loss and processor seconds of a default fit to the first rows."""
    X, y = table
    start = time.process_time()
    model = RuleEnsembleClassifier(random_state=seed).fit(X[N_TEST : N_TEST + size], y[N_TEST : N_TEST + size])
    seconds = time.process_time() - start
    probability = model.predict_proba(X[:N_TEST])
    error = 100.0 * float(np.mean(model.classes_[np.argmax(probability, axis=1)] != y[:N_TEST]))
    return error, float(log_loss(y[:N_TEST], probability, labels=model.classes_)), seconds


def sweep(name: str, sizes: Sequence[int], n_seeds: int) -> np.ndarray:
    """Return what was measured, an array of shape (n_sizes, n_seeds, 3)."""
    found = np.empty((len(sizes), n_seeds, 3))
    for seed in range(n_seeds):
        table = PROBLEMS[name](N_TEST + max(sizes), seed)
        for place, size in enumerate(sizes):
            found[place, seed] = measure(table, size, seed)
    return found


def find_worse(found: np.ndarray) -> np.ndarray:
    """Return the p-value of "the log loss is larger than with half the rows" for each size but the first."""
    differences = np.diff(found[..., 1], axis=0)
    return np.array([ttest_1samp(own, 0.0, alternative="greater").pvalue for own in differences])


def correct(p_values: np.ndarray) -> np.ndarray:
    """Return p-values after Holm's correction."""
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return corrected


def list_edges(largest: int) -> list[int]:
    """Return the sizes from which on one more row changes how a fit goes."""
    folds = [size for size in range(100, 20_000) if autos.count_honest(5, size) != autos.count_honest(5, size + 1)]
    return [size for size in (*folds, autos.POOL_ROWS) if size < largest]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--largest", type=int, default=100_000)
    parser.add_argument("--edges", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.edges:
        print(
            "| problem | rows | error, one row more | log loss, one row more | seconds, ratio |\n|---|---|---|---|---|"
        )
        for name in PROBLEMS:
            for edge in list_edges(given.largest):
                found = sweep(name, (edge, edge + 1), given.seeds)
                change = found[1].mean(axis=0) - found[0].mean(axis=0)
                ratio = float(np.median(found[1, :, 2] / found[0, :, 2]))
                print(f"| {name} | {edge:,} | {change[0]:+.2f} | {change[1]:+.4f} | {ratio:.2f} |", flush=True)
        return
    sizes = [size for size in (100 * 2**k for k in range(11)) if size <= given.largest]
    results = {name: sweep(name, sizes, given.seeds) for name in PROBLEMS}
    worse = iter(correct(np.concatenate([find_worse(found) for found in results.values()])))
    print("| problem | rows | error % | log loss | seconds | p of a worse log loss than with half the rows |")
    print("|---|---|---|---|---|---|")
    for name, found in results.items():
        for place, size in enumerate(sizes):
            error, loss, seconds = found[place].mean(axis=0)
            p_value = f"{next(worse):.2f}" if place else ""
            print(f"| {name} | {size:,} | {error:.2f} | {loss:.4f} | {seconds:.2f} | {p_value} |")


if __name__ == "__main__":
    main()
