"""Linear terms: attributes themselves, winsorised and scaled to weigh as much as a typical rule."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._threads import run_tasks
from rulegrove._typing import BoolArray, FloatArray, IntArray

# Standard deviation of a typical rule: supports spread evenly over (0, 1) have a mean sqrt(s (1 - s)) of pi / 8 = 0.39
# (Friedman and Popescu 2008, section 5).
RULE_SCALE = 0.4
_CHUNK_TERMS = 256  # terms evaluated at once where there are very many
_CHUNK_VALUES = 2**18  # of attributes whose terms are fitted at once: 2 MB
_CHUNK_ROWS = 1024  # rows worked on at once, so that the steps and the transposition stay in cache


@dataclass(frozen=True, eq=False)
class LinearTerms:
    """Linear terms ``scale * (clip(x, lower, upper) - center)``; a missing value gives exactly 0."""

    features: IntArray  # (n_terms,): ascending positions of the attributes
    # lower, upper (n_terms,): values beyond these are moved to them, so that outliers do not decide the slope.
    lower: FloatArray
    upper: FloatArray
    center: FloatArray  # (n_terms,): mean of the winsorised values
    # (n_terms,): 0.4, the standard deviation of a typical rule, over the standard deviation of the winsorised values.
    scale: FloatArray

    __repr__ = short_repr

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.features)

    def take(self, places: IntArray) -> "LinearTerms":
        """Return some of the terms."""
        own = self.lower[places], self.upper[places], self.center[places], self.scale[places]
        return LinearTerms(self.features[places], *own)

    def evaluate(self, block: FloatArray) -> FloatArray:
        """Return the terms of each row, (n_rows, n_terms); `block` has a row for each attribute, NaN where missing."""
        terms = np.empty((block.shape[1], self.n_terms))
        lower, upper, center, scale = (part[:, None] for part in (self.lower, self.upper, self.center, self.scale))
        for start in range(0, len(terms), _CHUNK_ROWS):
            chunk = np.clip(block[:, start : start + _CHUNK_ROWS], lower, upper)
            chunk -= center
            chunk *= scale
            chunk[np.isnan(chunk)] = 0.0
            terms[start : start + _CHUNK_ROWS] = chunk.T
        return terms


def join_linear(parts: Sequence[LinearTerms]) -> LinearTerms:
    """Return the terms of all parts, one after the other."""
    nothing = np.empty(0)
    own = (np.concatenate([nothing, *(vars(part)[field.name] for part in parts)]) for field in fields(LinearTerms))
    features, *others = own
    return LinearTerms(features.astype(np.int64), *others)


def fit_linear_terms(
    block: FloatArray,
    weights: FloatArray | None,
    n_categories: IntArray,
    quantile: float = 0.025,
    n_threads: int = 1,
) -> LinearTerms:
    """Choose the attributes that become linear terms and fit their bounds, centres and scales.

    Numeric attributes with at least three distinct values qualify; two values are a rule already. The bounds are the
    quantiles `quantile` and ``1 - quantile`` of the known values, or the extremes where fewer than three distinct
    values would be left (an attribute that is mostly zero). `block` has a row for each attribute, NaN where missing, of
    which `n_categories` is 0 for a numeric one; a row of weight 2 counts as two.
    """

    def fit(features: IntArray) -> FloatArray:
        values, fitted = block[features], np.empty((len(features), 4))
        known = ~np.isnan(values)
        if weights is not None:
            known &= weights > 0
        sizes = known.sum(axis=1)
        for size in np.unique(sizes):  # attributes of as many known values are worked on together
            rows = np.flatnonzero(sizes == size)
            there = known[rows]
            own = None if weights is None else np.broadcast_to(weights, there.shape)[there].reshape(rows.size, size)
            fitted[rows] = _fit_terms(values[rows][there].reshape(rows.size, size), own, quantile)
        return fitted

    numeric, step = np.flatnonzero(n_categories == 0), max(1, _CHUNK_VALUES // max(1, block.shape[1]))
    starts = range(0, numeric.size, step)
    parts = run_tasks(lambda start: fit(numeric[start : start + step]), starts, n_threads)
    fitted = np.vstack([np.empty((0, 4)), *parts])
    varies = ~np.isnan(fitted).any(axis=1)
    lower, upper, center, scale = np.ascontiguousarray(fitted[varies].T)
    return LinearTerms(numeric[varies], lower, upper, center, scale)


def keep_strongest(
    terms: LinearTerms, block: FloatArray, targets: FloatArray, weights: FloatArray | None, most: int
) -> LinearTerms:
    """Return so many linear terms at most, those of the largest correlation with any of the targets."""
    if terms.n_terms <= most:
        return terms
    own = np.ones(block.shape[1]) if weights is None else weights
    centred = targets - np.average(targets, axis=0, weights=own)
    spread = np.sqrt(np.average(centred**2, axis=0, weights=own))
    pulled = own[:, None] * centred / np.where(spread > 0.0, spread, 1.0)
    strength = np.empty(terms.n_terms)
    for start in range(0, terms.n_terms, _CHUNK_TERMS):
        part = terms.take(np.arange(start, min(start + _CHUNK_TERMS, terms.n_terms)))
        strength[start : start + _CHUNK_TERMS] = np.abs(part.evaluate(block[part.features]).T @ pulled).max(axis=1)
    return terms.take(np.sort(np.argsort(-strength, kind="stable")[:most]))


def _fit_terms(values: FloatArray, weights: FloatArray | None, quantile: float) -> FloatArray:
    """Bounds, centre and scale of attributes by their known values, one row each; NaN if they cannot carry a term."""
    if values.shape[1] < 3:
        return np.full((len(values), 4), np.nan)
    bounds = np.array([values.min(axis=1), values.max(axis=1)])
    varies = _vary_within(values, bounds)
    inner = _quantiles(values, weights, quantile)
    bounds = np.where(_vary_within(values, inner), inner, bounds)
    clipped = np.clip(values, bounds[0][:, None], bounds[1][:, None])
    # Values near the largest float overflow here; such a term is left out below.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        center = np.average(clipped, axis=1, weights=weights)
        clipped -= center[:, None]
        scale = RULE_SCALE / np.sqrt(np.average(clipped**2, axis=1, weights=weights))
    varies &= np.isfinite(center) & np.isfinite(scale) & (scale > 0)
    return np.where(varies, [*bounds, center, scale], np.nan).T


def _vary_within(values: FloatArray, bounds: FloatArray) -> BoolArray:
    """Whether values lie strictly between their bounds, that is, at least three distinct values are left."""
    lower, upper = bounds[:, :, None]
    return np.asarray(((values > lower) & (values < upper)).any(axis=1))


def _quantiles(values: FloatArray, weights: FloatArray | None, quantile: float) -> FloatArray:
    """Lower and upper quantiles, each one of the values (inverse of the distribution function)."""
    levels = np.array([quantile, 1.0 - quantile])
    if weights is not None:
        parts = zip(values, weights, strict=True)
        return np.array([np.quantile(x, levels, method="inverted_cdf", weights=own) for x, own in parts]).T
    # the same definition, by selection instead of sorting
    ranks = np.clip(np.ceil(values.shape[1] * levels).astype(np.int64) - 1, 0, values.shape[1] - 1)
    return np.asarray(np.partition(values, ranks, axis=1)[:, ranks].T)
