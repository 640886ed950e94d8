"""Shares, ratios of shares and means of groups of rows, with intervals."""

from dataclasses import replace

import numpy as np
from scipy.stats import beta, norm, pearson3
from scipy.stats import t as student

from rulegrove._typing import FloatArray
from rulegrove.estimators.evidence import Estimates


def estimate_shares(found: FloatArray, weight: FloatArray, size: FloatArray, level: float) -> Estimates:
    """Divide by the weight of a group, with Wilson's interval.

    Parameters
    ----------
    found : ndarray of shape (n_rules,)
        Weight of the rows that count.
    weight, size : ndarray of shape (n_rules,)
        Weight of all rows of the group, and the number of rows of equal weight that would tell as much.
    level : float

    Examples
    --------
    >>> import numpy as np
    >>> shares = estimate_shares(np.array([8.0, 0.0]), np.array([10.0, 0.0]), np.array([10.0, 0.0]), 0.95)
    >>> shares.values, shares.low.round(2), shares.high.round(2)
    (array([0.8, nan]), array([0.49, 0.  ]), array([0.94, 1.  ]))
    """
    some = size > 0
    values = np.clip(np.divide(found, weight, out=np.full(found.shape, np.nan), where=some), 0.0, 1.0)
    low, high = np.zeros(found.shape), np.ones(found.shape)
    share = values[some]
    squared = norm.isf((1.0 - level) / 2.0) ** 2 / size[some]
    center = (share + squared / 2.0) / (1.0 + squared)
    half = np.sqrt(squared * share * (1.0 - share) + squared**2 / 4.0) / (1.0 + squared)
    low[some] = np.clip(center - half, 0.0, share)
    high[some] = np.clip(center + half, share, 1.0)
    return Estimates(values, low, high)


def enclose_shares(found: FloatArray, weight: FloatArray, size: FloatArray, level: float) -> Estimates:
    """Divide by the weight of a group, with the interval of Clopper and Pearson, which covers at any level.

    Wilson's interval, the shorter one, covers too little at the levels near 1 that many rules together ask for.

    Parameters
    ----------
    found, weight, size, level
        As in `estimate_shares`.

    Examples
    --------
    >>> import numpy as np
    >>> shares = enclose_shares(np.array([8.0, 0.0]), np.array([10.0, 0.0]), np.array([10.0, 0.0]), 0.95)
    >>> shares.low.round(2), shares.high.round(2)
    (array([0.44, 0.  ]), array([0.97, 1.  ]))
    """
    values, miss = estimate_shares(found, weight, size, level).values, (1.0 - level) / 2.0
    events = np.where(size > 0, size * np.nan_to_num(values), 0.0)
    none, all_of_them = events <= 0.0, events >= size
    low = np.where(none, 0.0, beta.ppf(miss, np.where(none, 1.0, events), size - events + 1.0))
    high = np.where(all_of_them, 1.0, beta.isf(miss, events + 1.0, np.where(all_of_them, 1.0, size - events)))
    return Estimates(values, low, high)


def count_in(level: float, n_rules: int) -> float:
    """Return the level of each of so many intervals that hold together, however rules overlap (Bonferroni)."""
    return 1.0 - (1.0 - level) / max(n_rules, 1)


def hold_together(alone: Estimates, together: Estimates) -> Estimates:
    """Return estimates with intervals for each rule alone, and others for all rules at once."""
    return replace(alone, low_all=np.minimum(alone.low, together.low), high_all=np.maximum(alone.high, together.high))


def estimate_lifts(here: Estimates, elsewhere: Estimates, support: FloatArray, base: FloatArray) -> Estimates:
    """Compare the share where rules hold with the share among all rows.

    With the ratio r of the shares where a rule holds and where it does not, two independent samples, the lift is
    ``r / (s r + 1 - s)``; the interval of r is recovered from theirs.

    Parameters
    ----------
    here, elsewhere : Estimates
        Share of the class where each rule holds and where it does not.
    support : ndarray of shape (n_rules,)
        Share of the rows on which each rule holds, s above.
    base : ndarray of shape (n_rules,)
        Share of the class among all rows.
    """
    values, low, high = np.full(base.shape, np.nan), np.zeros(base.shape), np.full(base.shape, np.inf)
    np.divide(here.values, base, out=values, where=base > 0)
    np.divide(1.0, base, out=high, where=base > 0)
    always = np.isnan(elsewhere.values) & (base > 0)
    values[always] = low[always] = high[always] = 1.0
    both = ~np.isnan(here.values) & ~np.isnan(elsewhere.values) & (base > 0)
    share, ratio = support[both], _lowest_ratio(here, elsewhere)[both]
    low[both] = np.minimum(ratio / (share * ratio + 1.0 - share), values[both])
    inverse = _lowest_ratio(elsewhere, here)[both]  # of the largest ratio, which may be infinite
    high[both] = np.maximum(1.0 / (share + (1.0 - share) * inverse), values[both])
    return Estimates(values, low, high)


def _lowest_ratio(first: Estimates, second: Estimates) -> FloatArray:
    """Lower end of the interval of a ratio (Newcombe 2016), in a form that survives a second share of zero."""
    product = first.values * second.values
    spread = first.low * (2 * first.values - first.low)
    root = np.sqrt(np.maximum(product**2 - spread * second.high * (2 * second.values - second.high), 0.0))
    return np.asarray(np.divide(spread, product + root, out=np.zeros(product.shape), where=product + root > 0))


def estimate_means(
    sums: FloatArray, squares: FloatArray, weight: FloatArray, size: FloatArray, level: float
) -> Estimates:
    """Divide sums by the weight of a group, with Student's interval.

    Parameters
    ----------
    sums, squares : ndarray of shape (n_rules,)
        Weighted sums of the values and of their squares.
    weight, size : ndarray of shape (n_rules,)
        Weight of the rows, and the number of rows of equal weight that would tell as much.
    level : float
    """
    means = np.divide(sums, weight, out=np.full(sums.shape, np.nan), where=size > 0)
    low, high = np.full(sums.shape, -np.inf), np.full(sums.shape, np.inf)
    several = size > 1.0
    freedom, mean = size[several] - 1.0, means[several]
    variance = np.maximum(squares[several] / weight[several] - mean**2, 0.0)
    half = student.isf((1.0 - level) / 2.0, freedom) * np.sqrt(variance / freedom)
    low[several], high[several] = mean - half, mean + half
    return Estimates(means, low, high)


def enclose_means(
    means: Estimates, size: FloatArray, spread: FloatArray, skewness: FloatArray, level: float
) -> Estimates:
    """Widen Student's intervals to what targets that vary as those of all rows do would ask for.

    Few rows of a skewed target are often all alike, and Student's interval much too short. The normal or the gamma
    distribution is taken, whichever goes farther; see `score_tails`.

    Parameters
    ----------
    means : Estimates
        With Student's intervals of this level.
    size : ndarray of shape (n_rules,)
        Rows of each group, of equal weight.
    spread, skewness : ndarray of shape (n_rules,)
        Standard deviation and skewness of the target among all rows.
    level : float
    """
    miss, root = (1.0 - level) / 2.0, np.sqrt(np.maximum(size, np.finfo(np.float64).tiny))
    skew, normal = np.where(size > 0, skewness / root, 0.0), norm.isf(miss)
    down, up = np.maximum(normal, pearson3.isf(miss, skew)), np.maximum(normal, -pearson3.ppf(miss, skew))
    low, high = means.values - down * spread / root, means.values + up * spread / root
    return Estimates(means.values, np.fmin(means.low, low), np.fmax(means.high, high))
