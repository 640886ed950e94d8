"""Counts, rates, amounts, quantiles and survival times: rulegrove and its peers on real tables.

``python -m benchmarks.every_target [--peers PYTHON] [--only KIND ...] [--tables T ...] [--methods M ...] [--quick]``
``python -m benchmarks.every_target --report [--quick]``
``python -m benchmarks.every_target --speed``

All methods have the same folds: 2 x 5 of them, 10 x 5 for survival times, or one 3-fold cross-validation (``--quick``).
Rates, amounts and quantiles are judged by D², the deviance (pinball loss) that is explained of what the mean (quantile)
of the training rows leaves, rates with their exposure as weight; survival times by Harrell's concordance. One fit of
ours gives three lines: a list with a ceiling of 25 terms (15 for survival times), the default, and the large model.

Writes ``benchmarks/results/every_target.csv`` as it goes; what is there already is left out, so that a run that was
stopped goes on where it was. With ``--again`` it is measured once more: the last line of a fold counts.
"""

import argparse
import csv
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import every_target_speed
from benchmarks.every_target_methods import METHODS, Method
from benchmarks.every_target_report import report
from benchmarks.every_target_tables import KINDS, PROBLEMS, TABLES, Problem, save
from benchmarks.run import PEERS, ROOT, last_words, rounded, run_command

RESULTS = Path(__file__).parent / "results" / "every_target.csv"
CELL = ("kind", "table", "level", "method", "folds", "repetition")
FIELDS = (*CELL, "fold", "line", "value", "terms", "fit_seconds", "n_train", "version")
FOLDS, QUICK_FOLDS = 5, 3
LIMIT = 3600.0  # seconds of a cell


def repetitions(problem: Problem, method: Method, quick: bool) -> int:
    """Return how often the cross-validation of a problem is repeated with a method."""
    if quick or method.slow:
        return 1
    return 10 if problem.kind == "survival" else 2


def measure(
    problems: Sequence[Problem], methods: Sequence[Method], peers: Path, quick: bool, again: bool, path: Path = RESULTS
) -> None:
    """Measure what is not in the results yet: the first repetition of all problems, then the second, and so on."""
    known = set() if again else {tuple(line[field] for field in CELL) for line in read(path)}
    n_folds = QUICK_FOLDS if quick else FOLDS
    with tempfile.TemporaryDirectory() as folder:
        for repetition, problem, method in itertools.product(range(10), problems, methods):
            if problem.kind not in method.kinds or repetition >= repetitions(problem, method, quick):
                continue
            place = (problem.kind, problem.table, problem.level, method.name, n_folds, repetition)
            if tuple(map(str, place)) in known:
                continue
            cell = dict(zip(CELL, place, strict=True))
            stored = Path(folder) / f"{problem.table}.npz"
            if not stored.exists():
                save(TABLES[problem.table], stored)
            lines, message = run_cell(method, cell, stored, peers)
            append([{**cell, **line} for line in lines], path)
            print(f"{problem.name}: {problem.table}, {method.name}, repetition {repetition}: {message}", flush=True)


def run_cell(method: Method, cell: dict[str, Any], stored: Path, peers: Path) -> tuple[list[dict[str, Any]], str]:
    """Measure all folds of a cross-validation in the environment of a method; return lines, and a word on them."""
    python = Path(sys.executable) if method.environment == "own" else peers.absolute()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        request = Path(folder) / "cell.json"
        request.write_text(json.dumps({**cell, "table": str(stored)}))
        command = [str(python), "-m", "benchmarks.every_target_cell", str(request)]
        try:
            stderr = run_command(command, Path(folder), environment, LIMIT)
        except subprocess.TimeoutExpired:
            return [], f"not done within {LIMIT:.0f} s"
        except FileNotFoundError:
            return [], "the environment of the peers is missing: make bench-peers"
        answer = request.with_suffix(".answer")
        if not answer.exists():
            return [], last_words(stderr)
        found = json.loads(answer.read_text())
    lines = [{**line, "version": found["version"]} for line in found["lines"]]
    return lines, tell(lines)


def tell(lines: list[dict[str, Any]]) -> str:
    """Return the means of some lines in words."""
    means: dict[str, list[float]] = {}
    for line in lines:
        means.setdefault(line["line"], []).append(line["value"])
    seconds = sum(line["fit_seconds"] for line in lines) / len(lines)
    found = ", ".join(f"{name} {sum(own) / len(own):.4f}" for name, own in means.items())
    return f"{found}; {seconds:.2f} s a fit"


def append(lines: list[dict[str, Any]], path: Path) -> None:
    """Add lines to the results."""
    if not lines:
        return
    path.parent.mkdir(exist_ok=True)
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if file.tell() == 0:
            writer.writeheader()
        writer.writerows(map(rounded, lines))


def read(path: Path = RESULTS) -> list[dict[str, str]]:
    """Return the lines measured so far; of a fold that was measured twice, the last."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        found = {tuple(line[field] for field in (*CELL, "fold", "line")): line for line in csv.DictReader(file)}
    return list(found.values())


def main() -> None:
    """Measure what is asked for and print the tables of all that was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, default=PEERS, help="interpreter of the peers")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), metavar="T")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="M")
    parser.add_argument("--quick", action="store_true", help="one 3-fold cross-validation, beside the others")
    parser.add_argument("--again", action="store_true", help="measure also what is in the results already")
    parser.add_argument("--report", action="store_true", help="print what is measured already, and measure nothing")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where lines are added")
    parser.add_argument("--speed", action="store_true", help="time each loss beside the squared error instead")
    parser.add_argument("--losses", nargs="+", choices=every_target_speed.LOSSES, default=every_target_speed.LOSSES)
    parser.add_argument("--rows", type=int, default=100_000, help="of the made table of --speed")
    parser.add_argument("--repeats", type=int, default=2, help="rounds of --speed")
    parser.add_argument("--threads", type=int, default=1, help="of the fits of --speed")
    chosen = parser.parse_args()
    if chosen.speed:
        timed = every_target_speed.measure(list(chosen.losses), chosen.rows, chosen.repeats, chosen.threads)
        every_target_speed.write(timed)
        return
    problems = [one for one in PROBLEMS if one.kind in chosen.only and one.table in chosen.tables]
    if not chosen.report:
        methods = [METHODS[name] for name in chosen.methods]
        measure(problems, methods, chosen.peers, chosen.quick, chosen.again, chosen.results)
    print(report(read(chosen.results), QUICK_FOLDS if chosen.quick else FOLDS))


if __name__ == "__main__":
    main()
