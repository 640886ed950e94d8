"""Rows in tenths by what was predicted of them, with what came true in each."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from rulegrove._reprs import short_repr
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.estimators._intervals import estimate_shares
from rulegrove.estimators.baseline import Baseline
from rulegrove.estimators.loss_judging import deal_evenly
from rulegrove.survival import SurvivalTimes, kaplan_meier, kaplan_meier_band

LEVEL = 0.95  # of the intervals


@dataclass(frozen=True, eq=False)
class Tenths:
    """Parts of the rows, the lowest predictions first."""

    predicted: FloatArray  # (n_parts,): mean of what was predicted in each
    # (n_parts,): what came true: a mean, a share of rows, or a share by Kaplan and Meier's estimate; NaN where it is
    # not known.
    observed: FloatArray
    # low, high (n_parts,): ends of its 95 % interval.
    low: FloatArray
    high: FloatArray
    sizes: IntArray  # (n_parts,): rows in each

    __repr__ = short_repr


def count_means(
    observed: FloatArray, predicted: FloatArray, weights: FloatArray | None = None, n_parts: int = 10
) -> Tenths:
    """Compare means of numbers or rates, with Student's intervals.

    Rows may vary in how far they are from the mean of their part, as rates do that stand for different exposures, which
    are their weights.
    """
    observed, predicted, own = _take_counted(weights, observed, predicted)
    parts = deal_evenly(predicted, own, n_parts)
    center = float(np.average(observed, weights=own))  # so that squares of what is left lose no digits
    left = observed - center
    weight, said, sums = _sum(parts, own, own * predicted, own * left)
    means, sizes = sums / weight, np.bincount(parts)
    (spread,) = _sum(parts, (own * (left - means[parts])) ** 2)
    freedom = np.maximum(sizes - 1, 1)
    half = student.isf(0.5 * (1.0 - LEVEL), freedom) * np.sqrt(sizes / freedom * spread) / weight
    half[sizes < 2] = np.inf  # one row tells nothing of how others vary
    return Tenths(said / weight, center + means, center + means - half, center + means + half, sizes)


def count_below(
    observed: FloatArray, predicted: FloatArray, weights: FloatArray | None = None, n_parts: int = 10
) -> Tenths:
    """Tell which share of rows is at most at a predicted quantile, with Wilson's intervals."""
    observed, predicted, own = _take_counted(weights, observed, predicted)
    parts = deal_evenly(predicted, own, n_parts)
    weight, said, below, squared = _sum(parts, own, own * predicted, own * (observed <= predicted), own**2)
    found = estimate_shares(below, weight, weight**2 / squared, LEVEL)
    return Tenths(said / weight, found.values, found.low, found.high, np.bincount(parts))


def count_survivors(
    times: SurvivalTimes,
    risks: FloatArray,
    baseline: Baseline,
    moment: float,
    weights: FloatArray | None = None,
    n_parts: int = 10,
) -> Tenths:
    """Compare the predicted chance to be without the event at a moment with Kaplan and Meier's estimate, by risk.

    The risk of a row is how many times its hazard is that of the baseline. The lowest chance comes first. Parts whose
    rows were not watched for so long have no estimate.
    """
    if weights is not None:
        times = times.take(weights > 0.0)
    risks, own = _take_counted(weights, risks)
    said = np.exp(-risks * baseline(np.array([moment]))[0])
    parts = deal_evenly(said, own, n_parts)
    weight, sums = _sum(parts, own, own * said)
    told = np.full((3, len(weight)), np.nan)
    for part in range(len(weight)):
        here: BoolArray = parts == part
        if times.time[here].max() >= moment:
            rows, counts = times.take(here), own[here]
            curves = (kaplan_meier(rows, counts), *kaplan_meier_band(rows, counts, LEVEL))
            told[:, part] = [curve(moment) for curve in curves]
    share, low, high = told
    return Tenths(sums / weight, share, low, high, np.bincount(parts))


def choose_moment(times: SurvivalTimes) -> float:
    """Return the median time of the events; of rows without any the median time."""
    own = times.time[times.event] if times.event.any() else times.time
    return float(np.median(own))


def _take_counted(weights: FloatArray | None, *columns: FloatArray) -> list[FloatArray]:
    """Return columns, and the weights, of the rows that have one."""
    if weights is None:
        return [*columns, np.ones(len(columns[0]))]
    return [column[weights > 0.0] for column in (*columns, weights)]


def _sum(parts: IntArray, *values: FloatArray) -> list[FloatArray]:
    """Return the sums of numbers over the rows of each part."""
    return [np.bincount(parts, each).astype(np.float64) for each in values]
