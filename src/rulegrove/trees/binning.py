"""Bins: each feature as bytes, so that a split is found by counting."""

from dataclasses import dataclass

import numpy as np

from rulegrove._threads import run_tasks
from rulegrove._typing import BoolArray, ByteArray, FloatArray, IntArray
from rulegrove.exceptions import InvalidInputError
from rulegrove.trees._kernels import bin_values
from rulegrove.trees.rounding import choose_days, choose_thresholds

MAX_BINS = 255  # a feature can have; the last of the 256 codes of a byte means missing
TASK_FEATURES = 32  # features whose thresholds are chosen together: many gaps take hardly longer than a few


@dataclass(frozen=True)
class Bins:
    """Where each feature is cut: ``x <= thresholds[f, b]`` holds exactly when the bin of ``x`` is at most ``b``.

    Attributes
    ----------
    thresholds : ndarray of shape (n_features, 255)
        Increasing, the roundest numbers or dates between values next to each other, then infinities.
    n_bins : ndarray of shape (n_features,)
        Bins of each feature, missing not counted; for a categorical feature its categories.
    n_categories : ndarray of shape (n_features,)
        Categories of each feature, 0 for a numeric one.
    has_missing : ndarray of shape (n_features,)
        Whether any value was missing.
    """

    thresholds: FloatArray
    n_bins: IntArray
    n_categories: IntArray
    has_missing: BoolArray

    def transform(self, block: FloatArray) -> ByteArray:
        """Return the code of each value.

        Parameters
        ----------
        block : ndarray of shape (n_features, n_rows)
            Values, one feature a row; NaN is missing. Categories are codes below `n_categories`.

        Returns
        -------
        ndarray of shape (n_features, n_rows)
            Bins from 0; 255 where the value is missing.
        """
        for f in np.flatnonzero(self.n_categories):
            if np.any((block[f] < 0) | (block[f] >= self.n_categories[f])):
                raise InvalidInputError(
                    f"Feature {f} has {self.n_categories[f]} categories, but a code outside 0.."
                    f"{self.n_categories[f] - 1} came for binning. Grow trees on known categories only."
                )
        codes = np.empty(block.shape, dtype=np.uint8)
        bin_values(block, self.thresholds, self.n_categories, codes)
        return codes


def fit_bins(
    block: FloatArray,
    n_categories: IntArray,
    *,
    weights: FloatArray | None,
    max_bins: int,
    are_days: BoolArray | None = None,
    n_threads: int = 1,
) -> Bins:
    """Choose the bins of each feature.

    A feature of at most `max_bins` distinct values gets a bin for each. More are cut at quantiles of the (weighted)
    rows, where a value so frequent that it fills a bin counts as one bin's worth.

    Parameters
    ----------
    block : ndarray of shape (n_features, n_rows)
        Values, one feature a row; NaN is missing.
    n_categories : ndarray of shape (n_features,)
        Categories of each feature, 0 for a numeric one.
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows for the quantiles; None counts rows.
    max_bins : int
        Most bins of a numeric feature, from 2 to 255.
    are_days : ndarray of shape (n_features,), optional
        Whether each feature counts days since 1970-01-01, which is cut at round dates; by default none does.
    n_threads : int
        Features worked on side by side.

    Returns
    -------
    Bins
        The thresholds and counts of all features.

    Examples
    --------
    >>> import numpy as np
    >>> block = np.array([[3.0, 1.0, np.nan, 1.0], [0.0, 1.0, 2.0, 0.0]])
    >>> bins = fit_bins(block, np.array([0, 3]), weights=None, max_bins=255)
    >>> bins.n_bins, bins.thresholds[0, :2], bins.has_missing
    (array([2, 3]), array([ 2., inf]), array([ True, False]))
    >>> bins.transform(block)
    array([[  1,   0, 255,   0],
           [  0,   1,   2,   0]], dtype=uint8)
    """
    thresholds = np.full((len(block), MAX_BINS), np.inf)
    n_bins = n_categories.astype(np.int64)
    days = np.zeros(len(block), dtype=bool) if are_days is None else are_days
    has_missing = np.asarray(np.isnan(block).any(axis=1))

    def fit(features: IntArray) -> None:
        n_own, below, above = zip(*(_gaps_of_bins(block[f], weights, max_bins) for f in features), strict=True)
        n_bins[features] = n_own
        lows, highs, sizes = np.concatenate(below), np.concatenate(above), [len(own) for own in below]
        count_days = np.repeat(days[features], sizes)
        cuts = np.empty(len(lows))
        for choose, own in ((choose_days, count_days), (choose_thresholds, ~count_days)):
            if own.any():
                cuts[own] = choose(lows[own], highs[own])
        for f, own_cuts in zip(features, np.split(cuts, np.cumsum(sizes)[:-1]), strict=True):
            thresholds[f, : len(own_cuts)] = own_cuts

    numeric = np.flatnonzero(n_categories == 0)
    parts = [numeric[first : first + TASK_FEATURES] for first in range(0, len(numeric), TASK_FEATURES)]
    run_tasks(fit, parts, n_threads)
    return Bins(thresholds, n_bins, n_categories.astype(np.int64), has_missing)


def _distinct_values(x: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the values that are not missing, increasing and once each, with their weight."""
    known = ~np.isnan(x)
    values = x[known]
    if weights is None:
        distinct, counts = np.unique(values, return_counts=True)
        return distinct, counts.astype(np.float64)
    order = np.argsort(values, kind="stable")
    distinct, first = np.unique(values[order], return_index=True)
    return distinct, np.add.reduceat(weights[known][order], first) if len(first) else np.empty(0)


def _gaps_of_bins(x: FloatArray, weights: FloatArray | None, max_bins: int) -> tuple[int, FloatArray, FloatArray]:
    """Return the number of bins, and the neighbouring values that each threshold between them is to part."""
    values, counts = _distinct_values(x, weights)
    last = _last_of_bins(counts, max_bins)
    return len(last), values[last[:-1]], values[last[:-1] + 1]


def _last_of_bins(counts: FloatArray, max_bins: int) -> IntArray:
    """Return the places of the values that end a bin, the last value among them."""
    if len(counts) <= max_bins or counts.sum() <= 0.0:
        return np.unique(np.linspace(0, len(counts) - 1, min(len(counts), max_bins)).astype(np.int64))
    for _ in range(3):
        # A frequent value ends up alone in a bin whatever its weight; the others then share the bins left.
        room = counts.sum() / max_bins
        if counts.max() <= room:
            break
        counts = np.minimum(counts, room)
    reached = np.cumsum(counts)
    wanted = reached[-1] / max_bins * np.arange(1, max_bins)
    last = np.searchsorted(reached, wanted * (1 - 1e-12))
    return np.unique(np.append(last, len(counts) - 1))
