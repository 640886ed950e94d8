"""A statement of the paper, and what our results say of it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rulegrove.study.results import Results

HOLDS, IN_PART, FAILS, UNDECIDED = "holds", "in part", "does not hold", "too few repetitions"
FEWEST = 5  # repetitions that tell anything about a variance


@dataclass(frozen=True)
class Verdict:
    """Our figure, whether the statement holds, and why."""

    ours: str
    holds: str
    why: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement that can be checked.

    Attributes
    ----------
    statement : str
        In the paper's words, shortened.
    section : str
    part : str
        Whose results decide.
    check : callable
        From those results to a verdict.
    """

    statement: str
    section: str
    part: str
    check: Callable[[Results], Verdict]


def judge(holds: bool, partly: bool = False) -> str:
    """Return the word for a finding."""
    return HOLDS if holds else IN_PART if partly else FAILS


def judge_spread(results: Results, holds: bool, partly: bool = False) -> str:
    """Return the word for a finding about variances, which a few repetitions cannot decide."""
    repetitions = {line.repetition for line in results}
    return judge(holds, partly) if len(repetitions) >= FEWEST else UNDECIDED


def curve(results: Results, metric: str = "error") -> tuple[list[float], list[float], list[float]]:
    """Return the grid, and mean and spread of a metric at each of its places."""
    kept = results.where(metric=metric)
    grid = kept.grid()
    return grid, [kept.at(value).mean(metric) for value in grid], [kept.at(value).spread(metric) for value in grid]


def noise(results: Results, metric: str = "error") -> float:
    """Return two standard errors of a difference of means, typical of the grid: what counts as a difference."""
    kept = results.where(metric=metric)
    spreads = [kept.at(value).spread(metric) for value in kept.grid()]
    count = max(len(kept.at(kept.grid()[0])), 1)
    return float(2.0 * np.sqrt(2.0 / count) * np.mean(spreads))
