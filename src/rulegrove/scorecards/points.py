"""Whole-number points for a few rules: found by search on patterns, not by rounding alone."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.patterns import PatternTable
from rulegrove.scorecards import _kernels

RIDGE = 1e-3  # of exact weights, in units of the variance of each rule
N_TOPS = 20  # multipliers that exact weights are rounded at
N_STARTS = 3  # of the rounded cards, which are then changed
_STEPS = 20  # of Newton's method
_SETTLED = 1e-9  # of the loss that a step still promises, for each unit of weight


@dataclass(frozen=True, eq=False)
class Patterns:
    """Rows on which the same rules hold, added up."""

    held: FloatArray  # (n_lines, n_rules): where rules hold, as ones and zeros
    # weights, goals (n_lines,): rows of each line, and how many of them are of the class, or by a model should be.
    weights: FloatArray
    goals: FloatArray

    @classmethod
    def of(cls, table: PatternTable) -> "Patterns":
        """Return the patterns of a table whose numbers are the goals."""
        return cls(table.bits.to_dense().astype(np.float64), table.weights, table.sums[:, 0])


@dataclass(frozen=True, eq=False)
class Weighed:
    """Exact weights of rules."""

    coef: FloatArray  # (n_rules,)
    intercept: float
    loss: float  # log loss and ridge, summed over the rows


@dataclass(frozen=True, eq=False)
class Points:
    """Points of rules, and the best curve from their totals to a chance."""

    points: IntArray  # (n_rules,)
    slope: float  # log odds of a point
    loss: float  # log loss of the curve, summed over the rows


def weigh_rules(patterns: Patterns, start: FloatArray | None = None) -> Weighed:
    """Find exact weights of the least log loss, by Newton's method with a small ridge.

    Neither all rows nor none are of the class. `start` has the intercept and weights of the first rules to begin with.
    """
    rows, n_rules = patterns.weights.sum(), patterns.held.shape[1]
    design = np.column_stack([np.ones(len(patterns.held)), patterns.held])
    means = patterns.weights @ patterns.held / rows
    ridges = np.append(0.0, RIDGE * rows * means * (1.0 - means))
    state = np.zeros(1 + n_rules)
    of_class = patterns.goals.sum()
    state[0] = np.log(of_class / (rows - of_class))
    if start is not None:
        state[: len(start)] = start

    def measure(state: FloatArray) -> float:
        scores = design @ state
        return float(patterns.weights @ np.logaddexp(0.0, scores) - patterns.goals @ scores + ridges @ state**2 / 2.0)

    loss = measure(state)
    for _ in range(_STEPS):
        shares = expit(design @ state)
        pull = design.T @ (patterns.goals - patterns.weights * shares) - ridges * state
        bend = (design.T * (patterns.weights * shares * (1.0 - shares))) @ design
        bend[np.diag_indices_from(bend)] += ridges + 1e-9 * bend.diagonal() + 1e-12 * rows
        step = np.linalg.solve(bend, pull)
        promise = float(step @ pull)
        if promise <= _SETTLED * rows:
            break
        size = 1.0
        while (tried := measure(state + size * step)) > loss - 1e-4 * size * promise and size > 1e-6:
            size /= 2.0
        state, loss = state + size * step, tried
    return Weighed(state[1:], float(state[0]), loss)


def find_points(patterns: Patterns, low: int, high: int) -> Points:
    """Find points from `low` to `high` of small log loss under the best curve of their totals.

    Exact weights are rounded at several multipliers. From the best of these cards single points are changed, and two at
    once by one point each, until no such change helps.

    References
    ----------
    Liu, Zhong, Li, Seltzer, Rudin (2022). "FasterRisk: fast and accurate interpretable risk scores". NeurIPS 35 (the
    search along multipliers).
    """
    held = np.ascontiguousarray(patterns.held.T).astype(np.uint8)
    coef = weigh_rules(patterns).coef
    largest = np.abs(coef).max(initial=0.0)
    starts = {tuple(np.zeros(len(coef), np.int64).tolist())}
    if largest > 0.0:
        tops = np.linspace(0.5, max(-low, high), N_TOPS)[:, None]
        starts |= set(map(tuple, np.clip(np.rint(coef / largest * tops), low, high).astype(np.int64).tolist()))
    losses = {
        start: _kernels.measure_points(
            held, patterns.weights, patterns.goals, np.array(start, dtype=np.int64), np.zeros(2)
        )
        for start in sorted(starts)
    }
    best: Points | None = None
    for start in sorted(losses, key=losses.__getitem__)[:N_STARTS]:
        points, curve = np.array(start, dtype=np.int64), np.zeros(2)
        loss = _kernels.change_points(held, patterns.weights, patterns.goals, low, high, points, curve)
        if best is None or loss < best.loss:
            best = Points(points, float(curve[1]), loss)
    assert best is not None
    factor = max(int(np.gcd.reduce(best.points)), 1)  # points without it mean the same
    return Points(best.points // factor, best.slope * factor, best.loss)
