"""Rows put together in groups so large that no line of a page is about fewer, and thresholds worth trying."""

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.trees.rounding import choose_days, choose_thresholds

MOST_CUTS = 20  # values that a threshold can be dragged among


def group_rows(patterns: IntArray, values: FloatArray, min_count: int) -> IntArray:
    """Return the group of each row, of which each has `min_count` rows at least.

    A pattern with enough rows shares no group with others, but for the one of each part that takes in the rare rows of
    that part where these alone would be too few. Within, rows are halved by the values that differ most, rare ones by
    their patterns first.

    Parameters
    ----------
    patterns : ndarray of shape (n_rows, 1 + n_columns)
        A part of the rows, which no group goes across, and what is not to be mixed up: ones and zeros.
    values : ndarray of shape (n_rows, n_values)
        By which rows are near, from 0 to 1.
    min_count : int

    Examples
    --------
    >>> patterns, values = np.zeros((5, 1), np.int64), np.array([[0.0], [9.0], [1.0], [9.5], [10.0]])
    >>> group_rows(patterns, values, 2).tolist()
    [0, 1, 0, 1, 1]
    """
    _, own, sizes = np.unique(patterns, axis=0, return_inverse=True, return_counts=True)
    own = own.ravel()
    rare = sizes[own] < min_count
    groups, n_groups = np.empty(len(patterns), np.int64), 0
    near = np.hstack([patterns[:, 1:], values])
    for part in np.unique(patterns[:, 0]).tolist():
        here = np.flatnonzero(patterns[:, 0] == part)
        found = [here[own[here] == pattern] for pattern in np.unique(own[here[~rare[here]]]).tolist()]
        left = here[rare[here]]
        if left.size >= min_count or not found:
            found.append(left)
        elif left.size:  # too few to be told of alone
            nearest = min(range(len(found)), key=lambda k: _differ(patterns, left, found[k]))
            found[nearest] = np.append(found[nearest], left)
        for rows in found:
            for group in _halve(rows, near, min_count):
                groups[group] = n_groups
                n_groups += 1
    return groups


def _differ(patterns: IntArray, rows: IntArray, others: IntArray) -> float:
    """Return in how many places the patterns of some rows differ from those of others, of which there is one."""
    return float((patterns[rows] != patterns[others[0]]).sum())


def _halve(rows: IntArray, values: FloatArray, min_count: int) -> list[IntArray]:
    """Return rows in groups that cannot be halved any more, or are the same in all."""
    found, waiting = [], [rows]
    while waiting:
        rows = waiting.pop()
        spreads = np.ptp(values[rows], axis=0) if rows.size and values.shape[1] else np.zeros(1)
        if rows.size < 2 * min_count or not spreads.max() > 0.0:
            found += [rows] if rows.size else []
            continue
        order = rows[np.argsort(values[rows, np.argmax(spreads)], kind="stable")]
        waiting += [order[rows.size // 2 :], order[: rows.size // 2]]
    return found


def choose_cuts(values: FloatArray, fitted: FloatArray, *, days: bool = False) -> FloatArray:
    """Return thresholds to try: the fitted ones, and round ones spread evenly over the rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Of a numeric attribute; NaN where missing.
    fitted : ndarray
        Finite thresholds that the list has, ascending.
    days : bool
        Whether values are days of dates.

    Examples
    --------
    >>> choose_cuts(np.arange(1000.0), np.array([333.5]))[:6]
    array([ 30.,  80., 130., 180., 240., 300.])
    >>> choose_cuts(np.array([1.0, 2.0, 5.0, 5.0]), np.array([2.0])).tolist()
    [1.0, 2.0]
    """
    known = values[~np.isnan(values)]
    different = np.unique(known)
    room = max(MOST_CUTS - fitted.size, 0)
    if different.size - 1 <= room:
        below, above = different[:-1], different[1:]
    else:
        edges = np.quantile(known, np.linspace(0.0, 1.0, 4 * room + 1), method="inverted_cdf")
        below, above = edges[1::4], edges[3::4]  # the middle half of each part
        below, above = below[below < above], above[below < above]
    found = (choose_days if days else choose_thresholds)(below, above) if below.size else np.zeros(0)
    cuts = np.concatenate([fitted, found])
    _, first = np.unique(np.searchsorted(different, cuts, side="right"), return_index=True)
    return np.union1d(fitted, cuts[first])
