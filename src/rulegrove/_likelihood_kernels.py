"""Compiled loop of losses with a ridge, L-BFGS, for `rulegrove.refit` and `rulegrove.projection`.

Intercepts and coefficients of all outputs are one array, the `state`: of each output its intercept, then its rules,
then its lines. Terms are centred by their `means`, in which intercepts have zeros, as they have among the `ridges`.
"""

import math

import numpy as np

from rulegrove._kernel_cache import njit
from rulegrove._typing import FloatArray, IntArray, Words
from rulegrove.design._kernels import add_scores, sum_rows

SHARES, RATES, LEVELS, NUMBERS = range(4)  # kinds of losses: log loss, Tweedie's, pinball rounded off, Huber's

_LARGE = 1e200  # product of sums of exponentials, each of them at least 1 and at most the number of classes
_MEMORY = 8  # steps that the next one goes by
_MAX_STEPS = 300
_MAX_HALVINGS = 30
_SUFFICIENT = 1e-4  # of what a step promises, which it must keep


@njit(nogil=True, error_model="numpy")
def score(
    words: Words,
    lines: FloatArray,
    rule_ends: IntArray,
    line_ends: IntArray,
    means: FloatArray,
    state: FloatArray,
    scores: FloatArray,
) -> None:
    """Write the scores of all rows.

    Parameters
    ----------
    words : ndarray of shape (n_rules, n_words)
        Rules of all outputs, one output after the other.
    lines : ndarray of shape (n_lines, n_rows)
    rule_ends, line_ends : ndarray of shape (n_outputs + 1,)
        Where the rules and lines of each output begin and end.
    means, state : ndarray of shape (n_outputs + n_rules + n_lines,)
    scores : ndarray of shape (n_outputs, n_rows)
        Written; rows fill whole words.
    """
    n_outputs, n_rows = scores.shape
    for output in range(n_outputs):
        first = rule_ends[output] + line_ends[output] + output
        n_rules = rule_ends[output + 1] - rule_ends[output]
        n_lines = line_ends[output + 1] - line_ends[output]
        level = state[first]
        for k in range(first + 1, first + 1 + n_rules + n_lines):
            level -= means[k] * state[k]
        for row in range(n_rows):
            scores[output, row] = level
        coefs = state[first + 1 : first + 1 + n_rules].copy().reshape(1, n_rules)
        rules = words[rule_ends[output] : rule_ends[output + 1]]
        add_scores(rules, coefs, 0, words.shape[1], scores[output : output + 1])
        for k in range(n_lines):
            slope = state[first + 1 + n_rules + k]
            line = lines[line_ends[output] + k]
            for row in range(n_rows):
                scores[output, row] += slope * line[row]


@njit(nogil=True, error_model="numpy")
def _lose_shares(scores: FloatArray, goals: FloatArray, weights: FloatArray, pulls: FloatArray) -> float:
    """Write weights times what probabilities exceed the goals by, and return the mean log loss.

    One output stands against a score of 0. The logarithm of a product is taken once for many rows of one weight.
    """
    n_outputs, n_rows = scores.shape
    loss, product, common = 0.0, 1.0, 0.0
    for row in range(n_rows):
        weight = weights[row]
        if weight == 0.0:
            for output in range(n_outputs):
                pulls[output, row] = 0.0
            continue
        top = max(scores[0, row], 0.0) if n_outputs == 1 else scores[0, row]
        for output in range(1, n_outputs):
            top = max(top, scores[output, row])
        total = math.exp(-top) if n_outputs == 1 else 0.0
        said = 0.0
        for output in range(n_outputs):
            pulls[output, row] = math.exp(scores[output, row] - top)
            total += pulls[output, row]
            said += goals[output, row] * scores[output, row]
        for output in range(n_outputs):
            pulls[output, row] = weight * (pulls[output, row] / total - goals[output, row])
        loss += weight * (top - said)
        if weight != common or product > _LARGE:
            loss += common * math.log(product)
            product, common = 1.0, weight
        product *= total
    return loss + common * math.log(product)


@njit(nogil=True, error_model="numpy")
def _lose_rate(score: float, goal: float, power: float) -> tuple[float, float]:
    """Return the loss of a rate whose logarithm is the score, and its slope."""
    if power == 1.0:
        rate = math.exp(score)
        return rate - goal * score, rate - goal
    if power == 2.0:
        ratio = goal * math.exp(-score)
        return ratio + score, 1.0 - ratio
    rate = math.exp((2.0 - power) * score)
    ratio = goal * math.exp((1.0 - power) * score)
    return rate / (2.0 - power) + ratio / (power - 1.0), rate - ratio


@njit(nogil=True, error_model="numpy")
def _lose_tilted(score: float, goal: float, level: float, width: float) -> tuple[float, float]:
    """Return the pinball loss of a level, rounded off where the error is less than a width, and its slope."""
    error = goal - score
    if error >= width:
        return level * error, -level
    if error <= -width:
        return (level - 1.0) * error, 1.0 - level
    tilt = level - 0.5
    return tilt * error + (error * error + width * width) / (4.0 * width), -tilt - error / (2.0 * width)


@njit(nogil=True, error_model="numpy")
def _lose_huber(score: float, goal: float, delta: float) -> tuple[float, float]:
    """Return half the squared error, a straight line beyond `delta`, and its slope."""
    error = goal - score
    if abs(error) <= delta:
        return 0.5 * error * error, -error
    return delta * (abs(error) - 0.5 * delta), -delta if error > 0.0 else delta


@njit(nogil=True, error_model="numpy")
def _lose(
    kind: int, shape: FloatArray, scores: FloatArray, goals: FloatArray, weights: FloatArray, pulls: FloatArray
) -> float:
    """Return the mean loss of all rows, summed over the outputs, and write its slopes in the scores.

    Parameters
    ----------
    kind : int
        One of those below `SHARES`.
    shape : ndarray of shape (n_outputs, 2)
        What the loss of each output is further told by: a power, a level and a width, or a bound.
    scores, goals, weights
        As in `evaluate`.
    pulls : ndarray of shape (n_outputs, n_rows)
        Written.
    """
    if kind == SHARES:
        return _lose_shares(scores, goals, weights, pulls)
    total = 0.0
    for output in range(scores.shape[0]):
        first, second = shape[output, 0], shape[output, 1]
        for row in range(scores.shape[1]):
            weight = weights[row]
            if weight == 0.0:
                pulls[output, row] = 0.0
                continue
            score, goal = scores[output, row], goals[output, row]
            if kind == RATES:
                loss, slope = _lose_rate(score, goal, first)
            elif kind == LEVELS:
                loss, slope = _lose_tilted(score, goal, first, second)
            else:
                loss, slope = _lose_huber(score, goal, first)
            total += weight * loss
            pulls[output, row] = weight * slope
    return total


@njit(nogil=True, fastmath={"reassoc", "contract"})
def _dot(one: FloatArray, other: FloatArray) -> float:
    """Return the sum of products, in an order that suits the processor."""
    total = 0.0
    for place in range(one.size):
        total += one[place] * other[place]
    return total


@njit(nogil=True, error_model="numpy")
def evaluate(
    words: Words,
    lines: FloatArray,
    rule_ends: IntArray,
    line_ends: IntArray,
    means: FloatArray,
    ridges: FloatArray,
    kind: int,
    shape: FloatArray,
    goals: FloatArray,
    weights: FloatArray,
    state: FloatArray,
    scores: FloatArray,
    pulls: FloatArray,
    slope: FloatArray,
) -> float:
    """Return the objective, and write the scores, the slopes in the scores and the slope.

    Parameters
    ----------
    words, lines, rule_ends, line_ends, means, state
        As in `score`.
    ridges : ndarray of shape (n_state,)
    kind, shape
        As in `_lose`.
    goals : ndarray of shape (n_outputs, n_rows)
        What each output should say: the target, or of a class the probability, 1 for that of the row or anything
        between.
    weights : ndarray of shape (n_rows,)
        They add up to one.
    scores, pulls : ndarray of shape (n_outputs, n_rows)
        Written.
    slope : ndarray of shape (n_state,)
        Written.
    """
    n_outputs, n_rows = scores.shape
    score(words, lines, rule_ends, line_ends, means, state, scores)
    value = _lose(kind, shape, scores, goals, weights, pulls)
    for output in range(n_outputs):
        first = rule_ends[output] + line_ends[output] + output
        n_rules = rule_ends[output + 1] - rule_ends[output]
        n_lines = line_ends[output + 1] - line_ends[output]
        pull = pulls[output]
        total = 0.0
        for row in range(n_rows):
            total += pull[row]
        slope[first] = total
        sum_rows(words[rule_ends[output] : rule_ends[output + 1]], pull, slope[first + 1 : first + 1 + n_rules])
        for k in range(n_lines):
            slope[first + 1 + n_rules + k] = _dot(lines[line_ends[output] + k], pull)
        for k in range(first + 1, first + 1 + n_rules + n_lines):
            slope[k] += ridges[k] * state[k] - total * means[k]
            value += 0.5 * ridges[k] * state[k] ** 2
    return value


@njit(nogil=True, error_model="numpy")
def _precondition(factors: FloatArray, bends: FloatArray, sizes: IntArray, values: FloatArray) -> None:
    """Multiply by the inverse of the curvature at the start (changed in place).

    `factors` has the upper Cholesky factor of each output, row by row, `bends` the curvature in its intercept.
    """
    first, base = 0, 0
    for output in range(sizes.size):
        n = sizes[output]
        values[first] /= bends[output]
        part = values[first + 1 : first + 1 + n]
        for j in range(n):
            row = base + j * n
            part[j] /= factors[row + j]
            number = part[j]
            for i in range(j + 1, n):
                part[i] -= factors[row + i] * number
        for j in range(n - 1, -1, -1):
            row = base + j * n
            part[j] = (part[j] - _dot(factors[row + j + 1 : row + n], part[j + 1 :])) / factors[row + j]
        first += 1 + n
        base += n * n


@njit(nogil=True, error_model="numpy")
def minimise(
    words: Words,
    lines: FloatArray,
    rule_ends: IntArray,
    line_ends: IntArray,
    means: FloatArray,
    ridges: FloatArray,
    kind: int,
    shape: FloatArray,
    goals: FloatArray,
    weights: FloatArray,
    factors: FloatArray,
    bends: FloatArray,
    tol: float,
    state: FloatArray,
    scores: FloatArray,
) -> int:
    """Go down to the minimum; the state is the start and becomes the result. Returns the number of steps.

    Parameters
    ----------
    words, lines, rule_ends, line_ends, means, ridges, kind, shape, goals, weights, state, scores
        As in `evaluate`; the scores are those of the result.
    factors, bends
        As in `_precondition`.
    tol : float
        What a further step may promise at most.
    """
    n = state.size
    sizes = rule_ends[1:] + line_ends[1:] - rule_ends[:-1] - line_ends[:-1]
    pulls = np.empty_like(scores)
    slope, moved, new_slope, direction = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    steps, changes = np.empty((_MEMORY, n)), np.empty((_MEMORY, n))
    scales, parts = np.empty(_MEMORY), np.empty(_MEMORY)
    spare, size_of_step = np.empty(n), 1.0
    n_known, taken = 0, 0
    given = (words, lines, rule_ends, line_ends, means, ridges, kind, shape, goals, weights)
    value = evaluate(*given, state, scores, pulls, slope)
    while taken < _MAX_STEPS:
        direction[:] = slope
        for back in range(min(n_known, _MEMORY)):
            at = (n_known - 1 - back) % _MEMORY
            parts[at] = scales[at] * np.sum(steps[at] * direction)
            direction -= parts[at] * changes[at]
        _precondition(factors, bends, sizes, direction)
        direction *= size_of_step
        for forth in range(max(n_known - _MEMORY, 0), n_known):
            at = forth % _MEMORY
            direction += (parts[at] - scales[at] * np.sum(changes[at] * direction)) * steps[at]
        promised = np.sum(slope * direction)
        if promised <= tol:
            break
        size, found = 1.0, False
        for _ in range(_MAX_HALVINGS):
            moved[:] = state - size * direction
            after = evaluate(*given, moved, scores, pulls, new_slope)
            if after <= value - _SUFFICIENT * size * promised:
                found = True
                break
            size *= 0.5
        if not found:  # rounding allows no further progress
            break
        at = n_known % _MEMORY
        steps[at] = moved - state
        changes[at] = new_slope - slope
        bend = np.sum(steps[at] * changes[at])
        if bend > 0.0:
            scales[at] = 1.0 / bend
            n_known += 1
            spare[:] = changes[at]  # the curvature met on the way tells how far the one at the start is off
            _precondition(factors, bends, sizes, spare)
            size_of_step = bend / np.sum(spare * changes[at])
        state[:], slope[:] = moved, new_slope
        value = after
        taken += 1
    score(words, lines, rule_ends, line_ends, means, state, scores)
    return taken


@njit(nogil=True, error_model="numpy")
def pull_slope(below: FloatArray, weights: FloatArray, slope: float) -> tuple[float, float]:
    """Return the weighted sums over rows of the mean and of the variance of scores.

    The mean is that of the shares which the scores, times a slope, say of the outputs.

    Parameters
    ----------
    below : ndarray of shape (n_rows, n_outputs)
        Scores less the largest of their row.
    weights : ndarray of shape (n_rows,)
    slope : float
    """
    means, variances = 0.0, 0.0
    for row in range(below.shape[0]):
        total, first, second = 0.0, 0.0, 0.0
        for output in range(below.shape[1]):
            score = below[row, output]
            part = math.exp(slope * score)
            total += part
            first += score * part
            second += score * score * part
        first /= total
        means += weights[row] * first
        variances += weights[row] * (second / total - first * first)
    return means, variances
