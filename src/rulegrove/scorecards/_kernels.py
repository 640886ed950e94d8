"""Compiled search for whole-number points: totals are counted, and a curve of two numbers is solved for each try."""

import math

import numpy as np

from rulegrove._kernel_cache import njit
from rulegrove._typing import ByteArray, FloatArray, IntArray

_STEPS = 60  # of Newton's method, which takes five or so
_SETTLED = 1e-12  # of the loss that a step still promises, for each unit of weight
_GAIN = 1e-10  # of the loss that a change of points must bring, likewise


@njit(nogil=True, error_model="numpy")
def add_up_loss(weights: FloatArray, goals: FloatArray, level: float, slope: float) -> float:
    """Return the log loss of the curve ``level + slope * place``; of the rows of a total `goals` are of the class."""
    loss = 0.0
    for place in range(len(weights)):
        if weights[place] > 0.0:
            score = level + slope * place
            loss += weights[place] * (max(score, 0.0) + math.log1p(math.exp(-abs(score)))) - goals[place] * score
    return loss


@njit(nogil=True, error_model="numpy")
def solve_curve(weights: FloatArray, goals: FloatArray, curve: FloatArray) -> float:
    """Find the curve of least log loss that does not fall, by Newton's method, and return that loss.

    Neither all rows nor none are of the class. `curve` has level and slope: where to begin, and what is found.
    """
    rows, of_class = weights.sum(), goals.sum()
    level, slope = curve[0], curve[1]
    loss = add_up_loss(weights, goals, level, slope)
    flat = math.log(of_class / (rows - of_class))
    flat_loss = add_up_loss(weights, goals, flat, 0.0)
    if not loss < flat_loss:
        level, slope, loss = flat, 0.0, flat_loss
    for _ in range(_STEPS):
        pull_level = pull_slope = bend = bend_both = bend_slope = 0.0
        for place in range(len(weights)):
            if weights[place] > 0.0:
                score = level + slope * place
                falling = math.exp(-abs(score))
                share = (1.0 if score > 0.0 else falling) / (1.0 + falling)
                pull = goals[place] - weights[place] * share
                own = weights[place] * falling / (1.0 + falling) ** 2
                pull_level += pull
                pull_slope += pull * place
                bend += own
                bend_both += own * place
                bend_slope += own * place * place
        spread = bend_slope - bend_both * bend_both / bend if bend > 0.0 else 0.0
        if not spread > 1e-12 * bend_slope:
            break
        step_slope = (pull_slope - pull_level * bend_both / bend) / spread
        step_level = (pull_level - bend_both * step_slope) / bend
        promise = step_level * pull_level + step_slope * pull_slope
        if promise <= _SETTLED * rows:
            break
        size = 1.0
        while size > 1e-6:
            tried = add_up_loss(weights, goals, level + size * step_level, slope + size * step_slope)
            if tried <= loss - 1e-4 * size * promise:
                break
            size /= 2.0
        if size <= 1e-6:
            break
        level, slope, loss = level + size * step_level, slope + size * step_slope, tried
    if slope <= 0.0:
        level, slope, loss = flat, 0.0, flat_loss
    curve[0], curve[1] = level, slope
    return loss


@njit(nogil=True, error_model="numpy")
def count_totals(totals: IntArray, weights: FloatArray, goals: FloatArray, low: int, counted: FloatArray) -> None:
    """Write the weights and the goals of each total, `low` being the least that there can be."""
    counted[:] = 0.0
    for line in range(len(totals)):
        place = totals[line] - low
        counted[0, place] += weights[line]
        counted[1, place] += goals[line]


@njit(nogil=True, error_model="numpy")
def measure_points(
    held: ByteArray, weights: FloatArray, goals: FloatArray, points: IntArray, curve: FloatArray
) -> float:
    """Return the least log loss of a card with given points; its curve, over totals counted from 0, is written.

    `held` tells for each rule where it holds. `curve` has the level of a total of 0 and the slope of a point, to begin
    with.
    """
    low = high = 0
    for rule in range(len(points)):
        low += min(points[rule], 0)
        high += max(points[rule], 0)
    totals = np.zeros(held.shape[1], np.int64)
    for rule in range(len(points)):
        for line in range(held.shape[1]):
            totals[line] += points[rule] * held[rule, line]
    counted = np.empty((2, high - low + 1))
    count_totals(totals, weights, goals, low, counted)
    curve[0] += curve[1] * low
    loss = solve_curve(counted[0], counted[1], curve)
    curve[0] -= curve[1] * low
    return loss


@njit(nogil=True, error_model="numpy")
def change_points(
    held: ByteArray,
    weights: FloatArray,
    goals: FloatArray,
    low: int,
    high: int,
    points: IntArray,
    curve: FloatArray,
) -> float:
    """Change points one at a time, and two by one point each, as long as the log loss falls; return it.

    A rule has from `low` to `high` points. `points` and `curve` are where to begin, and what is found.
    """
    n_rules = len(points)
    least_gain = _GAIN * weights.sum()
    loss = measure_points(held, weights, goals, points, curve)
    tried = np.empty(2)
    best = np.empty(2)
    changed = True
    while changed:
        changed = False
        for rule in range(n_rules):
            own, best_own, best_loss = points[rule], points[rule], loss - least_gain
            for value in range(low, high + 1):
                if value != own:
                    points[rule] = value
                    tried[:] = curve
                    found = measure_points(held, weights, goals, points, tried)
                    if found < best_loss:
                        best_own, best_loss = value, found
                        best[:] = tried
            points[rule] = best_own
            if best_own != own:
                loss, changed = best_loss, True
                curve[:] = best
        if changed:
            continue
        for first in range(n_rules):
            for second in range(first + 1, n_rules):
                for one in (-1, 1):
                    for other in (-1, 1):
                        if low <= points[first] + one <= high and low <= points[second] + other <= high:
                            points[first] += one
                            points[second] += other
                            tried[:] = curve
                            found = measure_points(held, weights, goals, points, tried)
                            if found < loss - least_gain:
                                loss, changed = found, True
                                curve[:] = tried
                            else:
                                points[first] -= one
                                points[second] -= other
    return loss
