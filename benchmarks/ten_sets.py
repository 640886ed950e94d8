"""Error, size and probabilities on the paper's ten sets.

``python -m benchmarks.ten_sets [NAME ...] [--only METHOD ...]``

Five 2-fold cross-validations, ``StratifiedKFold(2, shuffle=True, random_state=r)`` for r = 0..4, one thread a fit;
seconds are of processor time. One fit with default settings gives the lines "default", "25 terms", "10 terms",
"5 terms" and "large" (``max_terms=None``), which predict as fits of their own would. Writes
``benchmarks/results/ten_sets.csv``, one line a fit, and prints the table of means.
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
FIELDS = ("set", "method", "repetition", "fold", "error", "log_loss", "calibration_error")
FIELDS += ("terms", "outputs", "conditions", "seconds")
LENGTHS: dict[str, int | str | None] = {"default": "auto", "25 terms": 25, "10 terms": 10, "5 terms": 5, "large": None}

# Percent: the best of the paper's three rule-ensemble columns.
PAPER_BEST = dict(
    zip(datasets.names(), (4.34, 33.47, 9.23, 4.27, 5.65, 14.16, 24.45, 20.67, 26.69, 15.50), strict=True)
)

METHODS: dict[str, Callable[[int], Any]] = {
    "default": lambda seed: RuleEnsembleClassifier(random_state=seed, n_jobs=1),
    "accurate": lambda seed: RuleEnsembleClassifier(preset="accurate", random_state=seed, n_jobs=1),
    "RandomForest(1000)": lambda seed: RandomForestClassifier(1000, random_state=seed, n_jobs=1),
    "HistGradientBoosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
}


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
        models = (
            {name: model.shorten(length) for name, length in LENGTHS.items()}
            if method == "default"
            else {method: model}
        )
        lines += [
            {
                "set": name,
                "method": method,
                "repetition": repetition,
                "fold": fold,
                **judge(model, X[test], y[test]),
                "seconds": seconds,
            }
            for method, model in models.items()
        ]
    return lines


def judge(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the errors of a model, and the size of one of ours."""
    probability = model.predict_proba(X)
    size: dict[str, Any] = {"terms": "", "outputs": "", "conditions": ""}
    if isinstance(model, RuleEnsembleClassifier):
        line = model.front_[model.front_.chosen]
        size = {"terms": line.rules, "outputs": len(np.atleast_2d(model.coef_)), "conditions": line.conditions}
    return {
        "error": 100 * (1 - model.score(X, y)),
        "log_loss": log_loss(y, probability, labels=model.classes_),
        "calibration_error": calibration_error(y, model.classes_, probability),
        **size,
    }


def tasks(names: Iterable[str], methods: Iterable[str]) -> list[tuple[str, str, int]]:
    """List what is to be measured."""
    return list(itertools.product(names, methods, range(5)))


def report(lines: list[dict[str, Any]]) -> str:
    """Return the table of means, a line a set and method."""
    rows = [
        "| set | method | error % | s.d. | log loss | calibration | rules | an output | conditions | seconds | paper |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    order = [*LENGTHS, *METHODS]
    keys = sorted(
        {(line["set"], line["method"]) for line in lines},
        key=lambda key: (datasets.names().index(key[0]), order.index(key[1])),
    )
    means = {}
    for name, method in keys:
        here = [line for line in lines if (line["set"], line["method"]) == (name, method)]
        fields = FIELDS[4:] if here[0]["terms"] != "" else [*FIELDS[4:7], "seconds"]
        mean = {field: float(np.mean([float(line[field]) for line in here])) for field in fields}
        means[name, method] = mean
        spread = np.std([float(line["error"]) for line in here], ddof=1)
        size = " | | |"
        if "terms" in mean:
            size = f" {mean['terms']:.0f} | {mean['terms'] / mean['outputs']:.0f} | {mean['conditions']:.1f} |"
        rows.append(
            f"| {name} | {method} | {mean['error']:.2f} | {spread:.2f} | {mean['log_loss']:.3f} | "
            f"{mean['calibration_error']:.3f} |{size} {mean['seconds']:.2f} | {PAPER_BEST[name]:.2f} |"
        )
    for method in dict.fromkeys(method for _, method in keys):
        own = [mean for (_, one), mean in means.items() if one == method]
        size = " | | |"
        if "terms" in own[0]:
            each = np.median([mean["terms"] / mean["outputs"] for mean in own])
            size = f" | median {each:.0f} | {np.mean([mean['conditions'] for mean in own]):.1f} |"
        error, loss, seconds = (np.mean([mean[field] for mean in own]) for field in ("error", "log_loss", "seconds"))
        rows.append(f"| mean of {len(own)} | {method} | {error:.2f} | | {loss:.3f} | |{size} {seconds:.2f} | |")
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
                anew = {line["method"] for line in fresh}
                write([line for line in read() if line["set"] != name or line["method"] not in anew] + fresh)
                for one in anew:
                    error = np.mean([line["error"] for line in fresh if line["method"] == one])
                    print(f"{name} {one}: {error:.2f} %", flush=True)
    print(report(read()))


if __name__ == "__main__":
    main()
