r"""Weights given the terms: one definition for all edits of a session.

.. math::
    \frac{1}{W} \sum_i w_i L(y_i, F_i) + \frac{\lambda}{2} \sum_k \sigma_k^2 a_k^2 ,

with the likelihood of the target (of classes all together), the variance :math:`\sigma_k^2` of each term over all rows
that were counted and one ridge :math:`\lambda` for rules and lines alike. Intercepts have no ridge.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import lsq_linear

from rulegrove._typing import BoolArray, FloatArray
from rulegrove.editing.families import Family

MOST_STEPS = 100
SETTLED = 1e-15  # of the loss: a step that promises less is the last one
LEAST_BEND = 1e-12  # of a term that follows from others, or of a score that is sure: no step is infinite


@dataclass(frozen=True, eq=False)
class Layout:
    """The terms of a list on the lines, and what is free of their weights.

    Attributes
    ----------
    values : ndarray of shape (n_lines, 1 + n_terms)
        Terms, after a one for the intercept.
    ridges : ndarray of shape (1 + n_terms,)
    free : ndarray of shape (n_outputs, 1 + n_terms), bool
    low, high : ndarray of shape (1 + n_terms,)
        Bounds of the weights that are free.
    """

    values: FloatArray
    ridges: FloatArray
    free: BoolArray
    low: FloatArray
    high: FloatArray

    def scale(self, factor: float) -> "Layout":
        """Return the same with other ridges."""
        return replace(self, ridges=factor * self.ridges)


def solve(family: Family, layout: Layout, weights: FloatArray, goals: FloatArray, start: FloatArray) -> FloatArray:
    """Return the weights of each output, intercepts first, by Newton's steps, which are halved where they go too far.

    Parameters
    ----------
    family : Family
    layout : Layout
    weights : ndarray of shape (n_lines,)
    goals : ndarray of shape (n_lines, n_outputs)
    start : ndarray of shape (n_outputs, 1 + n_terms)
        Weights to begin with; those that are not free stay as they are.

    Examples
    --------
    >>> from rulegrove.editing.families import OfNumbers
    >>> values, unbounded = np.array([[1.0, 0.0], [1.0, 1.0]]), np.full(2, np.inf)
    >>> layout = Layout(values, np.array([0.0, 2.0 / 9.0]), np.ones((1, 2), bool), -unbounded, unbounded)
    >>> solve(OfNumbers(), layout, np.array([1.0, 2.0]), np.array([[1.0], [3.0]]), np.zeros((1, 2))).round(6)
    array([[1.666667, 1.      ]])
    """
    here = weights > 0.0
    values, goals, weights = layout.values[here], goals[here], weights[here] / weights[here].sum()
    outputs, columns = np.nonzero(layout.free)
    ridges = layout.ridges[columns]
    bounded = bool(np.isfinite(layout.low).any() or np.isfinite(layout.high).any())
    low, high = layout.low[columns], layout.high[columns]

    def lose(coefs: FloatArray) -> float:
        with np.errstate(over="ignore", invalid="ignore"):  # a step that goes too far is seen by its infinite loss
            own = float(weights @ family.lose(values @ coefs.T, goals))
        return own + 0.5 * float(ridges @ coefs[outputs, columns] ** 2)

    coefs = start.copy()
    if bounded:
        coefs[outputs, columns] = np.clip(coefs[outputs, columns], low, high)
    loss = lose(coefs)
    for _ in range(MOST_STEPS):
        scores, own = values @ coefs.T, coefs[outputs, columns]
        slope = ((weights[:, None] * family.slope(scores, goals)).T @ values)[outputs, columns] + ridges * own
        curved = _curve(values, weights, family.bend(scores, goals), layout.free)
        curved[np.diag_indices_from(curved)] += ridges + LEAST_BEND
        step = _step_within(curved, slope, low - own, high - own) if bounded else _step(curved, slope)
        promised, size = -float(slope @ step), 1.0
        if promised <= SETTLED * max(abs(loss), 1e-3):
            coefs[outputs, columns] += step
            break
        while size > 1e-9:
            moved = coefs.copy()
            moved[outputs, columns] += size * step
            after = lose(moved)
            if after <= loss - 1e-4 * size * promised:
                break
            size *= 0.5
        else:  # rounding allows no further progress
            break
        coefs, loss = moved, after
    return coefs


def _curve(values: FloatArray, weights: FloatArray, bends: FloatArray, free: BoolArray) -> FloatArray:
    """Return the second derivatives of the loss in the free weights."""
    ends = np.concatenate([[0], np.cumsum(free.sum(axis=1))])
    curved = np.empty((ends[-1], ends[-1]))
    parts = [values if own.all() else values[:, own] for own in free]
    for one, first in enumerate(parts):
        for other, second in enumerate(parts[: one + 1]):
            block = first.T @ ((weights * bends[:, one, other])[:, None] * second)
            curved[ends[one] : ends[one + 1], ends[other] : ends[other + 1]] = block
            curved[ends[other] : ends[other + 1], ends[one] : ends[one + 1]] = block.T
    if len(free) > 1:  # a constant that all scores of a row share changes nothing
        curved[np.ix_(ends[:-1], ends[:-1])] += 1.0
    return curved


def _step(curved: FloatArray, slope: FloatArray) -> FloatArray:
    """Return Newton's step."""
    return np.asarray(-cho_solve(cho_factor(curved, check_finite=False), slope, check_finite=False))


def _step_within(curved: FloatArray, slope: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the step to the minimum of the same parabola within bounds."""
    upper = cholesky(curved, check_finite=False)
    pull = -solve_triangular(upper, slope, trans="T", check_finite=False)
    return np.asarray(lsq_linear(upper, pull, (low, high), method="bvls", tol=1e-14).x)
