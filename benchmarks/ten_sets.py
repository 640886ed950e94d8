"""Error, size and probabilities on the paper's ten sets.

``python -m benchmarks.ten_sets [NAME ...] [--only METHOD ...]``

Five 2-fold cross-validations, ``StratifiedKFold(2, shuffle=True, random_state=r)`` for r = 0..4, default settings, one
thread a fit; seconds are of processor time. Writes ``benchmarks/results/ten_sets.csv``, one line a fit, and prints the
table of means.
"""

import argparse
import csv
import itertools
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks.judging import calibration_error
from rulegrove import RuleEnsembleClassifier, datasets

RESULTS = Path(__file__).parent / "results" / "ten_sets.csv"
FIELDS = ("set", "method", "repetition", "fold", "error", "log_loss", "calibration_error", "terms", "seconds")

# Percent: the best of the paper's three rule-ensemble columns, and its bagging with voting.
PAPER_BEST = dict(
    zip(datasets.names(), (4.34, 33.47, 9.23, 4.27, 5.65, 14.16, 24.45, 20.67, 26.69, 15.50), strict=True)
)
BAGGING = dict(zip(datasets.names(), (3.51, 26.92, 7.01, 4.93, 1.23, 12.06, 23.65, 23.82, 26.24, 15.67), strict=True))

METHODS: dict[str, Callable[[int], Any]] = {
    "ovr": lambda seed: RuleEnsembleClassifier(multiclass="ovr", random_state=seed, n_jobs=1),
    "shared": lambda seed: RuleEnsembleClassifier(multiclass="shared", random_state=seed, n_jobs=1),
    "grouped": lambda seed: RuleEnsembleClassifier(multiclass="grouped", random_state=seed, n_jobs=1),
    "RandomForest(1000)": lambda seed: RandomForestClassifier(1000, random_state=seed, n_jobs=1),
    "HistGradientBoosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
}
# With two classes the three modes are one.
MODES = ("ovr", "shared", "grouped")


def one_repetition(task: tuple[str, str, int]) -> list[dict[str, Any]]:
    """Measure both folds of a repetition."""
    name, method, repetition = task
    warnings.simplefilter("ignore")
    X, y = datasets.load(name, return_X_y=True)
    lines = []
    for fold, (train, test) in enumerate(StratifiedKFold(2, shuffle=True, random_state=repetition).split(X, y)):
        model = METHODS[method](repetition)
        start = time.process_time()
        model.fit(X[train], y[train])
        seconds = time.process_time() - start
        probability = model.predict_proba(X[test])
        lines.append(
            {
                "set": name,
                "method": method,
                "repetition": repetition,
                "fold": fold,
                "error": 100 * (1 - model.score(X[test], y[test])),
                "log_loss": log_loss(y[test], probability, labels=model.classes_),
                "calibration_error": calibration_error(y[test], model.classes_, probability),
                "terms": len(model.rules_) if hasattr(model, "rules_") else "",
                "seconds": seconds,
            }
        )
    return lines


def tasks(names: Iterable[str], methods: Iterable[str]) -> list[tuple[str, str, int]]:
    """List what is to be measured."""
    chosen = []
    for name in names:
        binary = len(np.unique(datasets.load(name, return_X_y=True)[1])) == 2
        for method in methods:
            if not (binary and method in MODES[:1] + MODES[2:]):
                chosen += [(name, method, repetition) for repetition in range(5)]
    return chosen


def report(lines: list[dict[str, Any]]) -> str:
    """Return the table of means, a line a set and method."""
    rows = [
        "| set | method | error % | s.d. | log loss | calibration error | terms | fit seconds | paper | bagging |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    keys = list(dict.fromkeys((line["set"], line["method"]) for line in lines))
    for name, method in sorted(keys, key=lambda key: (datasets.names().index(key[0]), list(METHODS).index(key[1]))):
        here = [line for line in lines if (line["set"], line["method"]) == (name, method)]

        def mean(field: str, here: list[dict[str, Any]] = here) -> float:
            return float(np.mean([float(line[field]) for line in here]))

        spread = np.std([float(line["error"]) for line in here], ddof=1)
        terms = f"{mean('terms'):.0f}" if here[0]["terms"] != "" else ""
        shown = "rulegrove" if method == "shared" and (name, "ovr") not in keys else method
        rows.append(
            f"| {name} | {shown} | {mean('error'):.2f} | {spread:.2f} | {mean('log_loss'):.3f} | "
            f"{mean('calibration_error'):.3f} | {terms} | {mean('seconds'):.2f} | {PAPER_BEST[name]:.2f} | "
            f"{BAGGING[name]:.2f} |"
        )
    return "\n".join(rows)


def read() -> list[dict[str, Any]]:
    """Return the lines measured so far."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as file:
        return list(csv.DictReader(file))


def write(lines: list[dict[str, Any]]) -> None:
    """Write the lines, the whole file or nothing."""
    RESULTS.parent.mkdir(exist_ok=True)
    draft = RESULTS.with_suffix(".draft")
    with draft.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(lines)
    draft.replace(RESULTS)


def main() -> None:
    """Measure set by set, write as results come, print; what is not measured anew keeps its lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[], metavar="NAME", help="sets; all by default")
    parser.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--report", action="store_true", help="print the table of what is measured already")
    chosen = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # for the workers: two fits side by side must not fight for the cores
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        for name, method in itertools.product([] if chosen.report else chosen.names or datasets.names(), chosen.only):
            todo = tasks([name], [method])
            fresh = [line for lines in pool.map(one_repetition, todo) for line in lines]
            if fresh:
                write([line for line in read() if (line["set"], line["method"]) != (name, method)] + fresh)
                print(f"{name} {method}: {np.mean([line['error'] for line in fresh]):.2f} %", flush=True)
    print(report(read()))


if __name__ == "__main__":
    main()
