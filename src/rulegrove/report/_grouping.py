"""Rows put together in groups so large that no line of a page is about fewer, and thresholds worth trying."""

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.trees.rounding import choose_days, choose_thresholds

MOST_CUTS = 20  # values that a threshold can be dragged among


def group_rows(parts: IntArray, patterns: IntArray, values: FloatArray, min_count: int) -> IntArray:
    """Return the group of each row, of which each has `min_count` rows at least.

    A pattern with enough rows shares no group with others, but for the one of each part that takes in the rare rows of
    that part where these alone would be too few. Within, rows are halved by the values that differ most.

    Parameters
    ----------
    parts : ndarray of shape (n_rows,)
        Which no group goes across.
    patterns : ndarray of shape (n_rows, n_rules)
        What is not to be mixed up: ones and zeros.
    values : ndarray of shape (n_rows, n_values)
        By which rows are near, each in the measure in which it matters.
    min_count : int

    Examples
    --------
    >>> values = np.array([[0.0], [9.0], [1.0], [9.5], [10.0]])
    >>> group_rows(np.zeros(5, np.int64), np.zeros((5, 0), np.int64), values, 2).tolist()
    [0, 1, 0, 1, 1]
    """
    _, own, sizes = np.unique(np.column_stack([parts, patterns]), axis=0, return_inverse=True, return_counts=True)
    own = own.ravel()
    rare = sizes[own] < min_count
    groups, n_groups = np.empty(parts.size, np.int64), 0
    for part in np.unique(parts).tolist():
        here = np.flatnonzero(parts == part)
        found = [here[own[here] == pattern] for pattern in np.unique(own[here[~rare[here]]]).tolist()]
        left = here[rare[here]]
        if left.size >= min_count or not found:
            found.append(left)
        elif left.size:  # too few to be told of alone: they go where the patterns are most like theirs
            apart = [(patterns[left] != patterns[rows[0]]).sum() for rows in found]
            nearest = int(np.argmin(apart))
            found[nearest] = np.append(found[nearest], left)
        for group in (group for rows in found for group in _halve(rows, values, min_count)):
            groups[group] = n_groups
            n_groups += 1
    return groups


def _halve(rows: IntArray, values: FloatArray, min_count: int) -> list[IntArray]:
    """Return rows in groups that cannot be halved any more, or are the same in all."""
    found, waiting = [], [rows]
    while waiting:
        rows = waiting.pop()
        own = values[rows]
        if rows.size < 2 * min_count or (own == own[:1]).all():
            found += [rows] if rows.size else []
            continue
        order = rows[np.argsort(own[:, np.argmax(own.std(axis=0))], kind="stable")]
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
