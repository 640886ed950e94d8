"""Compiled loop of lists of probabilities: Newton steps from output to output, toward soft labels.

Terms of all outputs are rows of one array, those of an output next to each other and its intercept first, so that a
product with them is one call of BLAS. A solve of a few hundred rows took most of its time in calls of NumPy.
"""

import math

import numpy as np

from rulegrove._kernel_cache import njit
from rulegrove._typing import FloatArray, IntArray

Integer = int | np.int64

_MAX_SWEEPS = 12
_MAX_HALVINGS = 30
_SUFFICIENT = 1e-4  # of what a step promises, which it must keep
_MOST_ODDS = 700.0  # beyond it an exponential is no number
_LEAST_REST = 1e-16  # of the exponentials of the other outputs, which rounding may have lost
SETTLED = 1e-4  # of the divergence of the model without terms: a sweep that promises to gain less is the last


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
def _add_up(scores: FloatArray, levels: FloatArray, total: FloatArray) -> None:
    """Write the largest score of each row, and the sum of the exponentials of all scores beside it.

    One output stands against a class of score 0.
    """
    n_outputs, n_rows = scores.shape
    for row in range(n_rows):
        levels[row] = max(scores[0, row], 0.0) if n_outputs == 1 else scores[0, row]
    for output in range(1, n_outputs):
        for row in range(n_rows):
            levels[row] = max(levels[row], scores[output, row])
    for row in range(n_rows):
        total[row] = math.exp(-levels[row]) if n_outputs == 1 else 0.0
    for output in range(n_outputs):
        for row in range(n_rows):
            total[row] += math.exp(scores[output, row] - levels[row])


@njit(nogil=True, error_model="numpy")
def _measure(
    scores: FloatArray, goals: FloatArray, weights: FloatArray, levels: FloatArray, total: FloatArray
) -> float:
    """Return the divergence but for a constant."""
    n_outputs, n_rows = scores.shape
    _add_up(scores, levels, total)
    divergence = 0.0
    for row in range(n_rows):
        fit = levels[row] + math.log(total[row])
        for output in range(n_outputs):
            fit -= goals[output, row] * scores[output, row]
        divergence += weights[row] * fit
    return divergence


@njit(nogil=True, error_model="numpy")
def _try_step(
    size: float,
    scores: FloatArray,
    direction: FloatArray,
    goals: FloatArray,
    weights: FloatArray,
    levels: FloatArray,
    rest: FloatArray,
    parts: FloatArray,
) -> float:
    """Return the divergence after a step of one output, whose exponentials are written; `rest` are the others'."""
    divergence = 0.0
    for row in range(scores.size):
        score = scores[row] - size * direction[row]
        parts[row] = math.exp(min(score - levels[row], _MOST_ODDS))
        divergence += weights[row] * (math.log(rest[row] + parts[row]) - goals[row] * score)
    return divergence


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
    scores, levels, total = np.empty((n_outputs, n_rows)), np.empty(n_rows), np.empty(n_rows)
    parts, rest, direction, curvatures = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    weighted, step = np.empty((most + 1, n_rows)), np.empty(most)
    _score(design, bounds, coefs, scores)
    now = _measure(scores, goals, weights, levels, total) + 0.5 * np.sum(ridges * coefs**2)
    if not now <= null:  # a start that is worse than no terms: steps from there may go astray
        for output in range(n_outputs):
            for k in range(bounds[output], bounds[output + 1]):
                coefs[k] = odds[output] if k == bounds[output] else 0.0
        _score(design, bounds, coefs, scores)
    for _ in range(_MAX_SWEEPS):
        _add_up(scores, levels, total)
        promised = 0.0
        for output in range(n_outputs):
            first, last = bounds[output], bounds[output + 1]
            n = last - first
            for row in range(n_rows):
                parts[row] = math.exp(min(scores[output, row] - levels[row], _MOST_ODDS))
                share = min(parts[row] / total[row], 1.0)
                rest[row] = max(total[row] - parts[row], _LEAST_REST)
                curvatures[row] = weights[row] * share * (1.0 - share)
                weighted[n, row] = weights[row] * (share - goals[output, row])
                direction[row] = 0.0
            for k in range(n):
                for row in range(n_rows):
                    weighted[k, row] = design[first + k, row] * curvatures[row]
            matrix = np.dot(weighted[: n + 1], design[first:last].T)  # the curvature, and the slope as its last row
            for k in range(n):
                matrix[n, k] += ridges[first + k] * coefs[first + k]
                matrix[k, k] += ridges[first + k] + 1e-12 * (1.0 + matrix[k, k])
                step[k] = matrix[n, k]
            _solve(matrix, step, n)
            gain, bend, pull = 0.0, 0.0, 0.0  # the ridge of a step of size t changes by t (t bend / 2 - pull)
            for k in range(n):
                gain += matrix[n, k] * step[k]
                bend += ridges[first + k] * step[k] ** 2
                pull += ridges[first + k] * step[k] * coefs[first + k]
                for row in range(n_rows):
                    direction[row] += step[k] * design[first + k, row]
            promised += gain
            before = _try_step(0.0, scores[output], direction, goals[output], weights, levels, rest, parts)
            size = 1.0
            for _ in range(_MAX_HALVINGS):
                after = _try_step(size, scores[output], direction, goals[output], weights, levels, rest, parts)
                if after + size * (0.5 * size * bend - pull) <= before - _SUFFICIENT * size * gain:
                    for k in range(n):
                        coefs[first + k] -= size * step[k]
                    for row in range(n_rows):
                        scores[output, row] -= size * direction[row]
                        total[row] = rest[row] + parts[row]
                    break
                size *= 0.5
        if promised <= SETTLED * null:
            break
