"""A statement of the paper, and what our results say of it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rulegrove.study.results import Results

HOLDS, IN_PART, FAILS, UNDECIDED = "holds", "in part", "does not hold", "too few repetitions"
FEWEST = 5  # repetitions that tell anything about a variance


class Finding(NamedTuple):
    """Our figure, whether the statement holds, whether it does at least in part, and why."""

    ours: str
    holds: bool
    partly: bool = False
    why: str = ""


Check = Callable[[Results], Finding]
Register = Callable[[Check], Check]


@dataclass(frozen=True)
class Claim:
    """A statement that can be checked."""

    # section, part: where it stands in the paper, and whose results decide.
    section: str
    part: str
    statement: str  # in the paper's words, shortened
    find: Check  # from those results to a finding
    of_spread: bool = False  # whether it is about variances, which a few repetitions cannot decide

    def check(self, results: Results) -> tuple[str, str, str]:
        """Return our figure, the verdict and why."""
        found = self.find(results)
        verdict = HOLDS if found.holds else IN_PART if found.partly else FAILS
        if self.of_spread and len(results.distinct("repetition")) < FEWEST:
            verdict = UNDECIDED
        return found.ours, verdict, found.why


def add_to(claims: list[Claim], section: str, part: str, statement: str, *, of_spread: bool = False) -> Register:
    """Return a decorator that adds a statement, with a function as its check, to a list; others as in `Claim`."""

    def register(find: Check) -> Check:
        claims.append(Claim(section, part, statement, find, of_spread))
        return find

    return register


def curve(results: Results, metric: str = "error") -> tuple[list[float], list[float], list[float]]:
    """Return the grid, and mean and spread of a metric at each of its places."""
    kept = results.where(metric=metric)
    grid = kept.grid()
    return grid, [kept.at(value).mean(metric) for value in grid], [kept.at(value).spread(metric) for value in grid]


def noise(results: Results) -> float:
    """Return two standard errors of a difference of means, typical of the grid: what counts as a difference."""
    kept = results.where(metric="error")
    grid, _, spreads = curve(kept)
    count = max(len(kept.at(grid[0])), 1)
    return float(2.0 * np.sqrt(2.0 / count) * np.mean(spreads))


def each_mean(results: Results, methods: Iterable[str], metric: str = "error") -> dict[str, float]:
    """Return the mean of a metric by method."""
    return {method: results.where(method=method).mean(metric) for method in methods}


def listed(numbers: Mapping[str, float], form: str, unit: str = "") -> str:
    """Return numbers by name in words."""
    return ", ".join(f"{name} {number:{form}}{unit}" for name, number in numbers.items())
