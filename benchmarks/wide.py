"""Seconds and peak memory of default fits to tables of very many columns or classes: `python -m benchmarks.wide`.

Each fit has a process of its own, which prints JSON; name cases to run some of them.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from benchmarks.timing import in_new_process, peak_bytes, reset_peak
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor

Table = tuple[Any, np.ndarray]


def make_wide(n_rows: int, n_columns: int) -> Table:
    """Return columns of which the first five say something of a number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, :5].sum(axis=1) + rng.normal(size=n_rows)


def as_classes(table: Table) -> Table:
    """Return a table with the sign of its number."""
    return table[0], table[1] > 0


def as_frame(table: Table) -> Table:
    """Return a table as a data frame, whose last quarter of columns are words, with missing values everywhere."""
    X, y = table
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    words = frame.columns[3 * X.shape[1] // 4 :]
    frame = frame.astype(dict.fromkeys(words, object))
    frame[words] = np.where(X[:, -len(words) :] > 0, "yes", "no")
    return frame.mask(np.random.default_rng(0).random(X.shape) < 0.02), y


def make_classes(n_rows: int, n_columns: int, n_classes: int) -> Table:
    """Return classes of which each is one cloud of points."""
    shape = {"n_informative": 3 * n_columns // 4, "n_redundant": 0, "n_clusters_per_class": 1}
    table: Table = make_classification(n_rows, n_columns, **shape, n_classes=n_classes, random_state=0)
    return table


CASES: dict[str, Callable[[], Table]] = {
    "30 rows x 5,000 columns": lambda: as_classes(make_wide(30, 5000)),
    "200 rows x 20,000 columns": lambda: as_classes(make_wide(200, 20_000)),
    "200 rows x 20,000 columns, a number": lambda: make_wide(200, 20_000),
    "200 rows x 20,000 columns, a data frame": lambda: as_frame(as_classes(make_wide(200, 20_000))),
    "2,000 rows x 20 columns, 89 classes": lambda: make_classes(2000, 20, 89),
    "20,000 rows x 16 columns, 26 classes": lambda: make_classes(20_000, 16, 26),
}


def measure(case: str) -> dict[str, float]:
    """Fit a small table, then that of a case, and return what the second fit took."""
    X, y = CASES[case]()
    kind = RuleEnsembleRegressor if y.dtype.kind == "f" else RuleEnsembleClassifier
    small, target = make_wide(300, 4)
    kind(n_candidates=50, random_state=0).fit(small, target if y.dtype.kind == "f" else target > 0)
    model = kind(random_state=0, n_jobs=2)
    reset_peak()
    start, processor = time.perf_counter(), time.process_time()
    model.fit(X, y)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    return {"seconds": seconds, "processor": processor, "peak": peak_bytes()}


def main(cases: list[str]) -> None:
    """Print a line for each case."""
    print(f"{'':42s}{'seconds':>9s}{'processor':>11s}{'peak':>10s}")
    for case in cases or CASES:
        seen = in_new_process("benchmarks.wide", "--one", case)
        print(f"{case:42s}{seen['seconds']:9.1f}{seen['processor']:11.1f}{seen['peak'] / 1e6:7.0f} MB", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main(sys.argv[1:])
