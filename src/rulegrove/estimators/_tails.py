"""How often chance alone makes a rule look as good as it does: tail probabilities, exact or nearly so."""

from math import lgamma, sqrt
from typing import NamedTuple

import numpy as np
from scipy.stats import false_discovery_control, norm, pearson3

from rulegrove._typing import FloatArray

_FAR = 40.0  # standard deviations beyond which nothing is left to add up


class Tail(NamedTuple):
    """Probability of more events than were found, and of just as many."""

    more: float
    equal: float


def count_tail(found: int, n_held: int, n_events: int, n_rows: int) -> Tail:
    """Return how often so many rows, drawn without regard to the events, have more of them: Fisher's exact test.

    Parameters
    ----------
    found : int
        Events among the rows that were drawn.
    n_held : int
        Rows that were drawn.
    n_events, n_rows : int
        Events, and rows, in all.

    Examples
    --------
    >>> tail = count_tail(4, 5, 10, 20)
    >>> round(tail.more + tail.equal, 4)
    0.1517
    """
    least, most = max(0, n_held + n_events - n_rows), min(n_held, n_events)
    spread = sqrt(max(n_held * n_events / n_rows * (n_rows - n_held) / n_rows * (n_rows - n_events) / n_rows, 1.0))
    reach, mean = int(_FAR * spread) + 1, n_held * n_events / n_rows
    equal = float(np.exp(_log_share(found, n_held, n_events, n_rows)))
    if found >= mean:
        k = np.arange(found, min(most, found + reach), dtype=np.float64)
        ratios = (n_events - k) * (n_held - k) / ((k + 1) * (n_rows - n_events - n_held + k + 1))
        return Tail(equal * float(np.cumprod(ratios).sum()), equal)
    k = np.arange(found, max(least, found - reach), -1.0)
    ratios = k * (n_rows - n_events - n_held + k) / ((n_events - k + 1) * (n_held - k + 1))
    return Tail(max(1.0 - equal * (1.0 + float(np.cumprod(ratios).sum())), 0.0), equal)


def _log_share(found: int, n_held: int, n_events: int, n_rows: int) -> float:
    """Return the logarithm of a probability of the hypergeometric distribution."""

    def log_ways(among: int, chosen: int) -> float:
        return lgamma(among + 1) - lgamma(chosen + 1) - lgamma(among - chosen + 1)

    return log_ways(n_events, found) + log_ways(n_rows - n_events, n_held - found) - log_ways(n_rows, n_held)


def score_tails(totals: FloatArray, variances: FloatArray, thirds: FloatArray) -> FloatArray:
    """Return how often sums of mean zero are as large: by the normal or the gamma distribution, whichever says more.

    A gamma distribution of the same variance and skewness (Pearson's type III) is near that of a sum of few, skewed
    parts where these reach far; on the other side it promises too much, and the normal distribution is taken.

    Parameters
    ----------
    totals, variances, thirds : ndarray of shape (n_rules,)
        Sums, their variances and third central moments. One without variance tells nothing.

    Examples
    --------
    >>> score_tails(np.array([2.0, 2.0, 0.0]), np.array([1.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0])).round(4)
    array([0.0228, 0.0424, 1.    ])
    """
    known = variances > 0.0
    spreads = np.sqrt(np.where(known, variances, 1.0))
    z = totals / spreads
    tails = np.maximum(norm.sf(z), pearson3.sf(z, np.where(known, thirds, 0.0) / spreads**3))
    return np.where(known, tails, 1.0)


def adjust(p_values: FloatArray) -> FloatArray:
    """Return p-values adjusted for the false discovery rate, whatever their dependence (Benjamini, Yekutieli 2001).

    Examples
    --------
    >>> adjust(np.array([0.01, 0.5]))
    array([0.03, 0.75])
    """
    return np.asarray(false_discovery_control(p_values, method="by")) if p_values.size else p_values
