"""The designed experiment behind the defaults: ``python -m benchmarks.defaults [--report]``.

Eleven factors at three levels each in 27 settings, an orthogonal array: every level of a factor meets every level of
each other one equally often, so that the mean over the nine settings of a level is the effect of the level alone as far
as effects add up. Each setting is fitted to half of each of the ten sets and of generated ones, and judged by the other
half, one thread a fit. Writes ``benchmarks/results/defaults.csv``, one line a fit, and prints the table of effects.
"""

import argparse
import csv
import itertools
import multiprocessing
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks.known_rules import make_known_rules
from benchmarks.problems import candidates
from rulegrove import RuleEnsembleClassifier, datasets
from rulegrove.solvers import Glmnet, Pathbuild

RESULTS = Path(__file__).parent / "results" / "defaults.csv"
FEW_ROWS = 3000  # larger sets are cut down to so many, of more than two classes to `FEW_OF_CLASSES`
FEW_OF_CLASSES = 1500

# "paper" is the subsample of Friedman and Popescu, 100 + 6 sqrt(N).
FACTORS: dict[str, tuple[Any, Any, Any]] = {
    "n_candidates": (600, 2000, 4000),
    "mean_leaves": (4.0, 6.0, 10.0),
    "shrinkage": (0.0, 0.01, 0.1),
    "subsample": ("paper", 0.5, 0.8),
    "max_features": (0.15, 0.3, None),
    "tree_loss": ("squared", "ramp", "logistic"),
    "loss": ("squared", "logistic", "ramp by Pathbuild"),
    "l1_ratio": (1.0, 0.5, 0.15),
    "selection": ("1se", "min", "honest min"),
    "max_bins": (20, 63, 255),
    "max_correlation": (0.7, 0.9, 1.0),
}
# Of Pathbuild the threshold plays the part of the mix: 1 is sparse, 0 dense.
THRESHOLDS = {1.0: 1.0, 0.5: 0.7, 0.15: 0.4}


def design() -> list[dict[str, Any]]:
    """Return the 27 settings: columns of an orthogonal array are the lines of the space over the numbers modulo 3."""
    directions = [d for d in itertools.product(range(3), repeat=3) if any(d) and d[np.flatnonzero(d)[0]] == 1]
    columns = directions[: len(FACTORS)]
    return [
        {
            name: levels[int(np.dot(run, column)) % 3]
            for (name, levels), column in zip(FACTORS.items(), columns, strict=True)
        }
        for run in itertools.product(range(3), repeat=3)
    ]


def problem(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a table and its classes."""
    if name == "supernova":
        return candidates(FEW_ROWS, seed=1)
    if name == "known rules":
        made = make_known_rules(2000, seed=1)
        return made.X, made.y
    if name == "known rules, correlated":
        made = make_known_rules(2000, n_features=40, correlation=0.5, seed=2)
        return made.X, made.y
    X, y = datasets.load(name, return_X_y=True)
    most = FEW_ROWS if len(np.unique(y)) == 2 else FEW_OF_CLASSES
    rows = np.random.default_rng(0).permutation(len(y))[:most]
    return X[rows], y[rows]


PROBLEMS = (*datasets.names(), "supernova", "known rules", "known rules, correlated")


def make_model(setting: dict[str, Any], n_rows: int) -> RuleEnsembleClassifier:
    """Return the model of a setting."""
    own = dict(setting)
    loss, l1_ratio, selection = own.pop("loss"), own.pop("l1_ratio"), own.pop("selection")
    if own["subsample"] == "paper":
        own["subsample"] = int(min(n_rows, 100 + 6 * n_rows**0.5))
    solver = Pathbuild(threshold=THRESHOLDS[l1_ratio]) if "Pathbuild" in loss else Glmnet(loss=loss, l1_ratio=l1_ratio)
    return RuleEnsembleClassifier(
        **own,
        solver=solver,
        selection=selection.removeprefix("honest "),
        honest_cv=selection.startswith("honest"),
        random_state=0,
        n_jobs=1,
    )


def one_fit(task: tuple[int, str]) -> dict[str, Any]:
    """Measure a setting on a problem."""
    number, name = task
    warnings.simplefilter("ignore")
    setting = design()[number]
    X, y = problem(name)
    train, test = next(StratifiedKFold(2, shuffle=True, random_state=0).split(X, y))
    model = make_model(setting, len(train))
    start = time.process_time()
    model.fit(X[train], y[train])
    seconds = time.process_time() - start
    n_classes = len(model.classes_)
    return {
        "setting": number,
        "problem": name,
        **setting,
        "error": 100 * (1 - model.score(X[test], y[test])),
        "log_loss": log_loss(y[test], model.predict_proba(X[test]), labels=model.classes_),
        "terms": len(model.rules_) / (n_classes if n_classes > 2 else 1),
        "seconds": seconds,
    }


def effects(lines: list[dict[str, str]]) -> str:
    """Return the table of effects: the mean of each level over its settings and problems, of two measures geometric."""
    rows = ["| factor | level | error % | log loss | terms | seconds |", "|---|---|---|---|---|---|"]
    for factor, levels in FACTORS.items():
        for level in levels:
            here = [line for line in lines if line[factor] == ("" if level is None else str(level))]
            error, loss = (np.mean([float(line[measure]) for line in here]) for measure in ("error", "log_loss"))
            terms, seconds = (
                np.exp(np.mean([np.log(max(float(line[measure]), 1e-3)) for line in here]))
                for measure in ("terms", "seconds")
            )
            rows.append(f"| {factor} | {level} | {error:.2f} | {loss:.3f} | {terms:.0f} | {seconds:.2f} |")
    return "\n".join(rows)


def main() -> None:
    """Measure what is not yet in the results, then print the effects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true", help="print the table of what is measured already")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    chosen = parser.parse_args()
    done = list(csv.DictReader(RESULTS.open(newline=""))) if RESULTS.exists() else []
    known = {(int(line["setting"]), line["problem"]) for line in done}
    todo = [(number, name) for number in range(27) for name in PROBLEMS if (number, name) not in known]
    if not chosen.report and todo:
        os.environ["OMP_NUM_THREADS"] = "1"
        RESULTS.parent.mkdir(exist_ok=True)
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(chosen.processes, mp_context=context) as pool, RESULTS.open("a", newline="") as file:
            for line in pool.map(one_fit, todo):
                writer = csv.DictWriter(file, line)
                if file.tell() == 0:
                    writer.writeheader()
                writer.writerow(line)
                file.flush()
                print(f"setting {line['setting'] + 1} of 27, {line['problem']}", flush=True)
    print(effects(list(csv.DictReader(RESULTS.open(newline="")))))


if __name__ == "__main__":
    main()
