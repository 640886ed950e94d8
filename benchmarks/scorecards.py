"""Scorecards of ten rules beside FasterRisk's and beside plain rounding, on the paper's ten sets.

``python -m benchmarks.scorecards [NAME ...] [--repetitions N] [--fasterrisk PYTHON]``

2-fold cross-validations, ``StratifiedKFold(2, shuffle=True, random_state=r)``, each class against the rest, points from
-5 to 5, one thread; seconds are of processor time, after a first call that compiles. FasterRisk runs in an environment
of its own, which ``make .venv-fasterrisk/installed`` sets up. "rounding" takes the rules of our card: coefficients of
scikit-learn's logistic regression, divided so that the largest is 5, and rounded. Seconds of "rulegrove" are those of
the card alone, shared among its classes; those of the fit stand beside them. Writes
``benchmarks/results/scorecards.csv`` and prints the table of docs/measured.md.
"""

import argparse
import csv
import json
import os
import subprocess
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

import rulegrove
from rulegrove import RuleEnsembleClassifier, datasets
from rulegrove.design.bits import compile_rules

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "scorecards.csv"
FIELDS = ("set", "method", "repetition", "fold", "class", "auc", "log_loss", "rules", "seconds", "fit_seconds")
METHODS = ("rulegrove", "FasterRisk", "rounding")
MOST_POINTS = 5
LEAST_CHANCE = 1e-6

Line = dict[str, Any]


def main(names: list[str], repetitions: int, fasterrisk: str) -> None:
    """Measure and write."""
    warnings.simplefilter("ignore")
    X, y = datasets.load("iris", return_X_y=True)
    rulegrove.scorecard(RuleEnsembleClassifier(n_candidates=50, random_state=0).fit(X, y), X, y)  # compiles
    lines: list[Line] = []
    for name in names:
        for repetition in range(repetitions):
            lines += measure(name, repetition, fasterrisk)
            with RESULTS.open("w", newline="") as file:
                writer = csv.DictWriter(file, FIELDS)
                writer.writeheader()
                writer.writerows(lines)
        print(tabulate([line for line in lines if line["set"] == name])[-1], flush=True)
    print("\n".join(tabulate(lines)))


def measure(name: str, repetition: int, fasterrisk: str) -> list[Line]:
    """Return the lines of one 2-fold cross-validation."""
    X, y = datasets.load(name, return_X_y=True)
    classes, codes = np.unique(y, return_inverse=True)
    labels = np.arange(len(classes))[-1:] if len(classes) == 2 else np.arange(len(classes))
    parts = np.empty(len(y), np.int64)
    for part, (_, test) in enumerate(StratifiedKFold(2, shuffle=True, random_state=repetition).split(X, y)):
        parts[test] = part
    about = {"set": name, "repetition": repetition}
    found = [*measure_own(X, codes, parts, labels, repetition)]
    found += measure_fasterrisk(X, codes, parts, labels, fasterrisk)
    return [{**about, **line, "class": classes[line["class"]]} for line in found]


def measure_own(X: Any, codes: Any, parts: Any, labels: Any, seed: int) -> Iterator[Line]:
    """Yield the lines of our cards, and of their rules with rounded coefficients."""
    for part in (0, 1):
        train, test = parts != part, parts == part
        start = time.process_time()
        model = RuleEnsembleClassifier(random_state=seed, n_jobs=1).fit(X[train], codes[train])
        fitted = time.process_time()
        cards = rulegrove.scorecard(model, X[train], codes[train])
        done = time.process_time()
        times = {"seconds": (done - fitted) / len(labels), "fit_seconds": (fitted - start) / len(labels)}
        totals = cards.totals(X[test]).reshape(test.sum(), -1)
        for label, card, own in zip(labels, cards.cards, totals.T, strict=True):
            yield judge("rulegrove", part, label, codes[test], card.curve(own.astype(float)), len(card.rules)) | times
            program = compile_rules(card.rules, X.shape[1])
            held = program.evaluate(X.T[program.used_features]).to_dense()
            begun = time.process_time()
            points, chances = round_off(held[train], codes[train] == label, held[test])
            seconds = time.process_time() - begun
            rounded = judge("rounding", part, label, codes[test], chances, int(np.count_nonzero(points)))
            yield rounded | times | {"seconds": seconds}


def round_off(held: Any, truths: Any, others: Any) -> tuple[Any, Any]:
    """Return rounded coefficients, and chances of other rows."""
    coef = LogisticRegression(C=10.0, max_iter=1000).fit(held, truths).coef_[0]
    points = np.rint(MOST_POINTS * coef / np.abs(coef).max())
    curve = LogisticRegression(C=1e6).fit(held @ points[:, None], truths)
    return points, curve.predict_proba(others @ points[:, None])[:, 1]


def measure_fasterrisk(X: Any, codes: Any, parts: Any, labels: Any, python: str) -> Iterator[Line]:
    """Yield the lines of FasterRisk, in its environment."""
    alone = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as folder:
        table, answer = Path(folder) / "table.npz", Path(folder) / "answer.json"
        np.savez(table, X=X, y=codes, parts=parts, labels=labels)
        command = [python, "-m", "benchmarks.scorecards_fasterrisk", table, answer]
        subprocess.run(command, check=True, cwd=ROOT, env=alone)
        for own in json.loads(answer.read_text()):
            test = parts == own["part"]
            line = judge("FasterRisk", own["part"], own["label"], codes[test], np.array(own["chances"]), own["rules"])
            yield line | {"seconds": own["seconds"], "fit_seconds": 0.0}


def judge(method: str, part: int, label: int, codes: Any, chances: Any, n_rules: int) -> Line:
    """Return how well chances tell a class from the others."""
    truths, held = codes == label, np.clip(chances, LEAST_CHANCE, 1.0 - LEAST_CHANCE)
    figures = {"auc": roc_auc_score(truths, chances), "log_loss": log_loss(truths, held)}
    return {"method": method, "fold": part, "class": label, "rules": n_rules} | figures


def tabulate(lines: list[Line]) -> list[str]:
    """Return the means over folds and classes as lines of a Markdown table."""
    cells = defaultdict(list)
    for line in lines:
        for what in ("auc", "log_loss", "seconds", "fit_seconds"):
            cells[line["set"], line["method"], what].append(line[what])
    means = {key: float(np.mean(values)) for key, values in cells.items()}
    table = [
        "| set | AUC: points, FasterRisk, rounding | log loss, likewise | seconds: card, with its fit, FasterRisk |",
        "|---|---|---|---|",
    ]
    for name in dict.fromkeys(line["set"] for line in lines):
        auc, loss = (", ".join(f"{means[name, own, what]:.3f}" for own in METHODS) for what in ("auc", "log_loss"))
        own, fit = (means[name, "rulegrove", what] for what in ("seconds", "fit_seconds"))
        seconds = f"{own:.3f}, {own + fit:.2f}, {means[name, 'FasterRisk', 'seconds']:.2f}"
        table.append(f"| {name} | {auc} | {loss} | {seconds} |")
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=datasets.names())
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--fasterrisk", default=str(ROOT / ".venv-fasterrisk" / "bin" / "python"))
    arguments = parser.parse_args()
    main(arguments.names, arguments.repetitions, arguments.fasterrisk)
