"""Compiled sums over risk sets, exact for any scores and any times of entry.

Row i is at risk at the distinct event times number ``firsts[i]`` to ``lasts[i]``, and rows are in the order of time, so
that `lasts` does not fall; where no row enters late, `firsts` is empty and all begin with number 0. Numbers of very
different sizes are pairs of a value and a level: ``value * exp(SPAN * level)``. Where rows enter late, sums over the
rows of each time and over the times of each row are those of a tree with the event times as leaves, node k having the
children 2 k and 2 k + 1; differences of running sums would lose all digits where scores differ much.
"""

import math

import numpy as np

from rulegrove._kernel_cache import njit
from rulegrove._typing import BoolArray, FloatArray, IntArray

SPAN = 300.0  # of scores that share a level; values squared twice over stay within the range of floats
_LOWEST = -(2**40)  # level of nothing
_FARTHEST = 1e12  # below the largest score


@njit(nogil=True, error_model="numpy")
def _scale(value: float, level: int) -> float:
    """Return the value times ``exp(SPAN * level)``."""
    return value if level == 0 else value * math.exp(SPAN * level)


@njit(nogil=True, error_model="numpy")
def _add(sums: FloatArray, levels: IntArray, place: int, value: float, level: int) -> None:
    """Add to one of the sums (changed in place), whose level is the highest of what was added."""
    if level > levels[place]:
        sums[place] = value + _scale(sums[place], levels[place] - level)
        levels[place] = level
    else:
        sums[place] += _scale(value, level - levels[place])


@njit(nogil=True, error_model="numpy")
def rise(scores: FloatArray, weights: FloatArray, values: FloatArray, levels: IntArray) -> float:
    """Write each row's weight times the exponential of its score less the largest score, and return that score."""
    top = -math.inf
    for row in range(scores.size):
        if weights[row] > 0.0:
            top = max(top, scores[row])
    for row in range(scores.size):
        depth = min(max(top - scores[row], 0.0), _FARTHEST)
        steps = math.floor(depth / SPAN)
        values[row] = weights[row] * math.exp(SPAN * steps - depth)
        levels[row] = -int(steps) if weights[row] > 0.0 else _LOWEST
    return top


@njit(nogil=True, error_model="numpy")
def gather(
    firsts: IntArray, lasts: IntArray, values: FloatArray, levels: IntArray, sums: FloatArray, tops: IntArray
) -> None:
    """Write the sum of the rows at risk at each event time, `sums` at the levels `tops`."""
    n_times = sums.size
    if not firsts.size:
        total, top, row = 0.0, _LOWEST, lasts.size - 1
        for k in range(n_times - 1, -1, -1):
            while row >= 0 and lasts[row] >= k:
                if levels[row] > top:
                    total, top = _scale(total, top - levels[row]), levels[row]
                total += _scale(values[row], levels[row] - top)
                row -= 1
            sums[k], tops[k] = total, top
        return
    nodes, heights = np.zeros(2 * n_times), np.full(2 * n_times, _LOWEST)
    for row in range(lasts.size):
        low, high = firsts[row] + n_times, lasts[row] + n_times + 1
        while low < high:
            if low & 1:
                _add(nodes, heights, low, values[row], levels[row])
                low += 1
            if high & 1:
                high -= 1
                _add(nodes, heights, high, values[row], levels[row])
            low >>= 1
            high >>= 1
    for node in range(2, 2 * n_times):
        _add(nodes, heights, node, nodes[node >> 1], heights[node >> 1])
    sums[:], tops[:] = nodes[n_times:], heights[n_times:]


@njit(nogil=True, error_model="numpy")
def spread(
    firsts: IntArray,
    lasts: IntArray,
    rates: FloatArray,
    tops: IntArray,
    values: FloatArray,
    levels: IntArray,
    out: FloatArray,
) -> None:
    """Write each row's value times the sum of the rates of the event times at which it is at risk.

    Rates are at the level ``-tops``, those of the sums at risk: at each of its times a row is at most at that level.
    """
    n_times = rates.size
    if not firsts.size:
        sums, heights = rates.copy(), -tops
        for k in range(1, n_times):
            _add(sums, heights, k, sums[k - 1], heights[k - 1])
        for row in range(lasts.size):
            k = lasts[row]
            out[row] = 0.0 if k < 0 else _scale(values[row] * sums[k], levels[row] + heights[k])
        return
    nodes, heights = np.zeros(2 * n_times), np.full(2 * n_times, _LOWEST)
    nodes[n_times:], heights[n_times:] = rates, -tops
    for node in range(2 * n_times - 1, 1, -1):
        _add(nodes, heights, node >> 1, nodes[node], heights[node])
    for row in range(lasts.size):
        low, high = firsts[row] + n_times, lasts[row] + n_times + 1
        total, value, level = 0.0, values[row], levels[row]
        while low < high:
            if low & 1:
                total += _scale(value * nodes[low], level + heights[low])
                low += 1
            if high & 1:
                high -= 1
                total += _scale(value * nodes[high], level + heights[high])
            low >>= 1
            high >>= 1
        out[row] = total


@njit(nogil=True, error_model="numpy")
def gather_events(
    lasts: IntArray, happened: BoolArray, values: FloatArray, levels: IntArray, tops: IntArray, own: FloatArray
) -> None:
    """Write the sum of the rows whose event is at each time, at the level of those at risk."""
    own[:] = 0.0
    for row in range(lasts.size):
        if happened[row]:
            own[lasts[row]] += _scale(values[row], levels[row] - tops[lasts[row]])


@njit(nogil=True, error_model="numpy")
def rate(
    sums: FloatArray, own: FloatArray, tops: IntArray, weights: FloatArray, counts: IntArray, rates: FloatArray
) -> float:
    """Write what each event time adds to slopes and curvatures, and return the sum of logarithms.

    With Efron's method the j-th of d events at one time, from 0, sees the share ``f = j / d`` of them gone already,
    ``rest = sums - f * own``, and each has the mean of their weights. With Breslow's method none is gone, and `counts`
    are 1. The rows of `rates` are the weighted sums of ``1 / rest``, ``f / rest``, ``1 / rest^2``, ``f / rest^2`` and
    ``f^2 / rest^2``.
    """
    total = 0.0
    rates[:] = 0.0
    for k in range(sums.size):
        weight = weights[k] / counts[k]
        for j in range(counts[k]):
            gone = j / counts[k]
            rest = sums[k] - gone * own[k]
            total += weight * (math.log(rest) + SPAN * tops[k])
            first = weight / rest
            second = first / rest
            rates[0, k] += first
            rates[1, k] += first * gone
            rates[2, k] += second
            rates[3, k] += second * gone
            rates[4, k] += second * gone**2
    return total


@njit(nogil=True, error_model="numpy")
def lift(
    lasts: IntArray,
    happened: BoolArray,
    rates: FloatArray,
    tops: IntArray,
    values: FloatArray,
    levels: IntArray,
    out: FloatArray,
) -> None:
    """Take from what `spread` wrote for rows with an event what they do not see of their own time, of such rates."""
    for row in range(lasts.size):
        if happened[row]:
            k = lasts[row]
            out[row] -= _scale(values[row] * rates[k], levels[row] - tops[k])


@njit(nogil=True, error_model="numpy")
def _put(tree: FloatArray, own: FloatArray, rank: int, weight: float) -> None:
    """Add a weight of a rank to a tree of sums (changed in place).

    Node k has the sum of the ranks k - (k & -k) to k - 1, and node 0 that of all; `own` has that of each rank.
    """
    own[rank] += weight
    tree[0] += weight
    node = rank + 1
    while node < tree.size:
        tree[node] += weight
        node += node & -node


@njit(nogil=True, error_model="numpy")
def _sum_below(tree: FloatArray, rank: int) -> float:
    """Return the sum of the weights of smaller ranks."""
    total, node = 0.0, rank
    while node > 0:
        total += tree[node]
        node -= node & -node
    return total


@njit(nogil=True, error_model="numpy")
def count_pairs(
    time: FloatArray,
    entry: FloatArray,
    order: IntArray,
    departures: IntArray,
    happened: BoolArray,
    ranks: IntArray,
    weights: FloatArray,
    totals: FloatArray,
) -> None:
    """Add up comparable pairs, from the latest time to the earliest.

    `order` has the rows from the latest time to the earliest, at one time those without an event first, and
    `departures` from the latest to the earliest entry; it and `entry` are empty where none enters late. Written are the
    weights of pairs whose scores are in order, of those whose scores are equal, and of all.
    """
    n_ranks = ranks.max() + 1
    tree, own = np.zeros(n_ranks + 1), np.zeros(n_ranks)
    totals[:] = 0.0
    n_present, n_gone, waiting = 0, 0, 0  # events of one time, from `waiting` on, do not see each other
    for place in range(order.size):
        row = order[place]
        now = time[row]
        if place > 0 and time[order[place - 1]] > now:
            for k in range(waiting, place):
                _put(tree, own, ranks[order[k]], weights[order[k]])
            n_present += place - waiting
            waiting = place
            while n_gone < departures.size and entry[departures[n_gone]] >= now:
                _put(tree, own, ranks[departures[n_gone]], -weights[departures[n_gone]])
                n_gone += 1
        if not happened[row]:
            _put(tree, own, ranks[row], weights[row])
            n_present += 1
            waiting = place + 1
        elif n_present > n_gone:
            totals[0] += weights[row] * _sum_below(tree, ranks[row])
            totals[1] += weights[row] * own[ranks[row]]
            totals[2] += weights[row] * tree[0]
