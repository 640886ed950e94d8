"""Compiled loop of lists of probabilities: Newton steps from output to output, toward soft labels.

Terms of all outputs are rows of one array, those of an output next to each other and its intercept first, so that a
product with them is one call of BLAS. A solve of a few hundred rows took most of its time in calls of NumPy.
"""

import math

import numpy as np

from rulegrove._kernel_cache import njit
from rulegrove._typing import FloatArray, IntArray

Integer = int | np.int64

_MAX_SWEEPS = 10
_MAX_HALVINGS = 10
_MOST_ODDS = 30.0  # a step that goes beyond is taken back
SETTLED = 1e-5  # of the divergence of the model without terms: a sweep that promises to gain less is the last


@njit(nogil=True, error_model="numpy")
def _score(design: FloatArray, bounds: IntArray, coefs: FloatArray, scores: FloatArray) -> None:
    """Write the scores of every output."""
    n_outputs, n_rows = scores.shape
    for output in range(n_outputs):
        for row in range(n_rows):
            scores[output, row] = 0.0
        for k in range(bounds[output], bounds[output + 1]):
            for row in range(n_rows):
                scores[output, row] += coefs[k] * design[k, row]


@njit(nogil=True, error_model="numpy")
def _measure(
    scores: FloatArray,
    goals: FloatArray,
    weights: FloatArray,
    ridges: FloatArray,
    coefs: FloatArray,
    levels: FloatArray,
    sums: FloatArray,
) -> float:
    """Return the objective; ``levels`` become what makes probabilities add up to one, and ``sums`` is memory.

    One output stands against a class of score 0.
    """
    n_outputs, n_rows = scores.shape
    if n_outputs == 1:
        for row in range(n_rows):
            score = scores[0, row]
            levels[row] = max(score, 0.0) + math.log1p(math.exp(-abs(score)))
    else:
        for row in range(n_rows):
            levels[row] = scores[0, row]
            sums[row] = 0.0
        for output in range(1, n_outputs):
            for row in range(n_rows):
                levels[row] = max(levels[row], scores[output, row])
        for output in range(n_outputs):
            for row in range(n_rows):
                sums[row] += math.exp(scores[output, row] - levels[row])
        for row in range(n_rows):
            levels[row] += math.log(sums[row])
    total = 0.0
    for row in range(n_rows):
        fit = levels[row]
        for output in range(n_outputs):
            fit -= goals[output, row] * scores[output, row]
        total += weights[row] * fit
    for k in range(coefs.size):
        total += 0.5 * ridges[k] * coefs[k] ** 2
    return total


@njit(nogil=True, error_model="numpy")
def _solve(matrix: FloatArray, values: FloatArray, n: Integer) -> None:
    """Solve a positive definite system by Cholesky's factor; both change, and the values become the solution.

    A term without a pivot of its own, by rounding, does not move.
    """
    for j in range(n):
        pivot = math.sqrt(matrix[j, j]) if matrix[j, j] > 0.0 else math.inf
        for k in range(j, n):
            matrix[j, k] /= pivot
        matrix[j, j] = pivot
        for i in range(j + 1, n):
            factor = matrix[j, i]
            for k in range(i, n):
                matrix[i, k] -= factor * matrix[j, k]
    for j in range(n):
        values[j] /= matrix[j, j]
        for i in range(j + 1, n):
            values[i] -= matrix[j, i] * values[j]
    for j in range(n - 1, -1, -1):
        for i in range(j + 1, n):
            values[j] -= matrix[j, i] * values[i]
        values[j] /= matrix[j, j]


@njit(nogil=True, error_model="numpy")
def approach(
    design: FloatArray,
    bounds: IntArray,
    goals: FloatArray,
    weights: FloatArray,
    ridges: FloatArray,
    odds: FloatArray,
    null: float,
    coefs: FloatArray,
) -> None:
    """Bring probabilities near to goals; the coefficients are the start and become the result.

    Parameters
    ----------
    design : ndarray of shape (n_terms, n_rows), C-contiguous
        Terms of all outputs, each with ones for its intercept before them; the others are centred.
    bounds : ndarray of shape (n_outputs + 1,)
        Where the terms of each output begin and end.
    goals : ndarray of shape (n_outputs, n_rows)
    weights : ndarray of shape (n_rows,)
    ridges : ndarray of shape (n_terms,)
    odds : ndarray of shape (n_outputs,)
        Scores of the model without terms.
    null : float
        Its divergence.
    coefs : ndarray of shape (n_terms,)
    """
    n_outputs, n_rows = goals.shape
    most = 0
    for output in range(n_outputs):
        most = max(most, bounds[output + 1] - bounds[output])
    scores, moved, tried = np.empty((n_outputs, n_rows)), np.empty((n_outputs, n_rows)), np.empty(coefs.size)
    levels, total, parts = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    curvatures, weighted, step = np.empty(n_rows), np.empty((most + 1, n_rows)), np.empty(most)
    _score(design, bounds, coefs, scores)
    now = _measure(scores, goals, weights, ridges, coefs, levels, total)
    if not now <= null:  # a start that is worse than no terms: steps from there may go astray
        for output in range(n_outputs):
            for k in range(bounds[output], bounds[output + 1]):
                coefs[k] = odds[output] if k == bounds[output] else 0.0
        _score(design, bounds, coefs, scores)
        now = _measure(scores, goals, weights, ridges, coefs, levels, total)
    for _ in range(_MAX_SWEEPS):
        promised = 0.0
        for row in range(n_rows):
            total[row] = 1.0  # of the probabilities while outputs move: a sweep costs as much as there are outputs
        for output in range(n_outputs):
            first, last = bounds[output], bounds[output + 1]
            n = last - first
            for row in range(n_rows):
                parts[row] = math.exp(scores[output, row] - levels[row])
                share = parts[row] / max(total[row], parts[row])
                curvatures[row] = weights[row] * share * (1.0 - share)
                weighted[n, row] = weights[row] * (share - goals[output, row])
                moved[output, row] = scores[output, row]
            for k in range(n):
                for row in range(n_rows):
                    weighted[k, row] = design[first + k, row] * curvatures[row]
            matrix = np.dot(weighted[: n + 1], design[first:last].T)  # the curvature, and the slope as its last row
            for k in range(n):
                matrix[n, k] += ridges[first + k] * coefs[first + k]
                matrix[k, k] += ridges[first + k] + 1e-12 * (1.0 + matrix[k, k])
                step[k] = matrix[n, k]
            _solve(matrix, step, n)
            for k in range(n):
                promised += matrix[n, k] * step[k]
                tried[first + k] = coefs[first + k] - step[k]
                for row in range(n_rows):
                    moved[output, row] -= step[k] * design[first + k, row]
            if output + 1 < n_outputs:
                for row in range(n_rows):
                    total[row] += math.exp(min(moved[output, row] - levels[row], _MOST_ODDS)) - parts[row]
        after = _measure(moved, goals, weights, ridges, tried, levels, total)
        for _ in range(_MAX_HALVINGS):
            if after <= now:
                break
            for output in range(n_outputs):
                for row in range(n_rows):
                    moved[output, row] = 0.5 * (scores[output, row] + moved[output, row])
            for k in range(coefs.size):
                tried[k] = 0.5 * (coefs[k] + tried[k])
            after = _measure(moved, goals, weights, ridges, tried, levels, total)
        if not after <= now:
            break
        scores, moved, now = moved, scores, after
        for k in range(coefs.size):
            coefs[k] = tried[k]
        if promised <= SETTLED * null:
            break
