"""What the lines of the benchmark say: means over cells, ranks, ratios, sizes."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import rankdata

from benchmarks.methods import METHODS, named
from benchmarks.problems import PROBLEMS, SETS
from rulegrove import datasets

Line = Mapping[str, str]
Cell = tuple[str, str]  # repetition, fold

OURS = named(lambda method: method.kind == "ours")
GLASS_PEERS = named(lambda method: method.kind in ("rules", "glass box"))
TEN_SETS = [name for name in datasets.names() if name in {bench.name for bench in SETS}]
ALL_SETS = [bench.name for bench in SETS]
OUTSIDE = ["H2O RuleFit"]  # these work in a process of their own, whose processor time and memory are not seen


@dataclass(frozen=True)
class Results:
    """The lines of the benchmark, one a fold or one a cell that came to nothing."""

    lines: Sequence[Line]

    @cached_property
    def _cells(self) -> dict[tuple[str, str, str], dict[Cell, Line]]:
        found: dict[tuple[str, str, str], dict[Cell, Line]] = {}
        for line in self.lines:
            cells = found.setdefault((line["group"], line["problem"], line["method"]), {})
            cells[line["repetition"], line["fold"]] = line
        return found

    def status(self, group: str, problem: str, method: str) -> str:
        """Return "ok" if anything was measured, else why not: "failed", "time", "skipped", or "" without a line."""
        found = [line["status"] for line in self._cells.get((group, problem, method), {}).values()]
        return "ok" if "ok" in found else next(iter(found), "")

    def numbers(self, group: str, problem: str, method: str, field: str) -> dict[Cell, float]:
        """Return a measure of every cell that has it."""
        lines = self._cells.get((group, problem, method), {})
        texts = {cell: line[field] for cell, line in lines.items() if line["status"] == "ok"}
        numbers = {cell: float(text) for cell, text in texts.items() if text}
        return {cell: number for cell, number in numbers.items() if math.isfinite(number)}

    def mean(self, group: str, problem: str, method: str, field: str) -> float:
        """Return the mean of a measure over a method's cells; NaN where there are none."""
        return _mean(self.numbers(group, problem, method, field).values())

    def common_means(self, group: str, problem: str, methods: Iterable[str], field: str) -> dict[str, float]:
        """Return the means over the cells that all of these methods have which have any."""
        numbers = {method: self.numbers(group, problem, method, field) for method in methods}
        numbers = {method: own for method, own in numbers.items() if own}
        cells = set.intersection(*(set(own) for own in numbers.values())) if numbers else set()
        return {method: _mean(own[cell] for cell in sorted(cells)) for method, own in numbers.items()} if cells else {}

    @cached_property
    def _n_classes(self) -> dict[tuple[str, str], int]:
        return {(line["group"], line["problem"]): int(line["n_classes"]) for line in self.lines}

    def n_classes(self, group: str, problem: str) -> int:
        """Return the number of classes of a problem; 0 if no line tells."""
        return self._n_classes.get((group, problem), 0)

    def terms_a_class(self, group: str, problem: str, method: str) -> dict[Cell, float]:
        """Return the terms of a model over its classes; two classes share one score."""
        n_classes = self.n_classes(group, problem)
        n_scores = n_classes if n_classes > 2 else 1
        return {cell: n / n_scores for cell, n in self.numbers(group, problem, method, "terms").items()}

    def methods(self, group: str) -> list[str]:
        """Return the methods of a group that have measured anything, in the order of the benchmark."""
        present = {line["method"] for line in self.lines if line["group"] == group and line["status"] == "ok"}
        return [method for method in METHODS if method in present]

    def problems(self, group: str) -> list[str]:
        """Return the problems of a group that have lines, in the order of the benchmark."""
        present = {line["problem"] for line in self.lines if line["group"] == group}
        return [bench.name for bench in PROBLEMS if bench.group == group and bench.name in present]


def _mean(numbers: Iterable[float]) -> float:
    kept = list(numbers)
    return float(np.mean(kept)) if kept else math.nan


def rank(values: Mapping[str, float], failed: Collection[str] = ()) -> dict[str, float]:
    """Return ranks from 1 for the smallest; ties share their mean, and so do those that failed, behind all others."""
    names = [*values, *failed]
    ranks = rankdata([*values.values(), *[math.inf] * len(failed)])
    return dict(zip(names, map(float, ranks), strict=True))


@dataclass(frozen=True)
class Ranking:
    """Mean ranks over problems.

    Attributes
    ----------
    means : dict of str to float
        By method, the best first.
    n_problems : int
        On which all of the methods were tried.
    """

    means: dict[str, float]
    n_problems: int


def rank_methods(results: Results, methods: Iterable[str], field: str, group: str = "sets") -> Ranking:
    """Rank methods by a measure on every problem that all of them were tried on, and average.

    A problem's means are over the cells that all have. Who failed or ran out of time is last; a method that was never
    tried, or only skipped, takes no part.
    """
    present = set(results.methods(group))
    field_of_methods = [method for method in methods if method in present]
    rows = []
    for problem in results.problems(group):
        states = {method: results.status(group, problem, method) for method in field_of_methods}
        means = results.common_means(group, problem, field_of_methods, field)
        if means and all(state in ("ok", "failed", "time") for state in states.values()):
            rows.append(rank(means, [method for method in field_of_methods if method not in means]))
    means = {method: _mean(row[method] for row in rows) for method in field_of_methods} if rows else {}
    return Ranking(dict(sorted(means.items(), key=lambda item: item[1])), len(rows))


@dataclass(frozen=True)
class Ratio:
    """Theirs over ours; `bound` if they were stopped and would have taken longer."""

    value: float
    bound: bool = False

    def __str__(self) -> str:
        digits = 0 if self.value >= 20 else 1 if self.value >= 2 else 2
        return f"{'more than ' if self.bound else ''}{self.value:,.{digits}f}"


def limit_of(results: Results, group: str, problem: str, method: str) -> float:
    """Return the seconds after which a method was stopped: on this problem, or on a smaller one of the group."""
    told = {
        line["problem"]: float(found[1])
        for line in results.lines
        if (line["group"], line["method"]) == (group, method)
        and (found := re.fullmatch(r"not done within (\d+) s", line["message"]))
    }
    return told.get(problem, min(told.values(), default=0.0))


def fit_ratio(results: Results, group: str, problem: str, theirs: str, ours: str) -> Ratio | None:
    """Return how many times longer they take to fit than we do; None without both."""
    own = results.mean(group, problem, ours, "fit_seconds")
    other = results.mean(group, problem, theirs, "fit_seconds")
    if math.isnan(own):
        return None
    if results.status(group, problem, theirs) == "time":
        return Ratio(limit_of(results, group, problem, theirs) / own, bound=True)
    return None if math.isnan(other) else Ratio(other / own)


def fit_seconds(results: Results, problem: str, method: str) -> float:
    """Return the seconds of a fit to half of a set: of the processor, or by the clock where it works elsewhere."""
    field = "fit_seconds" if method in OUTSIDE else "fit_processor_seconds"
    return results.mean("sets", problem, method, field)


@dataclass(frozen=True)
class Duel:
    """Two methods on the problems that both have measured.

    Attributes
    ----------
    lower, equal, higher : int
        Problems on which the first has the lower, the same, the higher figure.
    difference : float
        Mean over the problems of the first's minus the second's figure.
    """

    lower: int
    equal: int
    higher: int
    difference: float


def compare_pair(
    results: Results, one: str, other: str, field: str = "error", problems: Iterable[str] = ALL_SETS
) -> Duel | None:
    """Compare two methods, on each problem over the cells that both have; None if they share no problem."""
    means = [results.common_means("sets", problem, (one, other), field) for problem in problems]
    differences = [pair[one] - pair[other] for pair in means if len(pair) == 2]
    if not differences:
        return None
    signs = [0 if abs(d) < 1e-9 else math.copysign(1, d) for d in differences]
    return Duel(signs.count(-1), signs.count(0), signs.count(1), _mean(differences))
