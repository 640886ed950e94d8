"""Curves of Kaplan and Meier with their limits and the rows at risk, as pictures and pages need them."""

from dataclasses import dataclass

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import FloatArray, IntArray
from rulegrove.survival.baseline import kaplan_meier, kaplan_meier_band
from rulegrove.survival.times import SurvivalTimes


@dataclass(frozen=True, eq=False)
class SurvivalCurve:
    """The share of rows without an event over time, a step function from 0 to the latest time."""

    times: SurvivalTimes
    x: FloatArray  # (n_points,): 0, the times of events, and the latest time
    share: FloatArray  # (n_points,): from each of them on, by Kaplan and Meier's estimate
    # low, high (n_points,): its limits, for each time on its own.
    low: FloatArray
    high: FloatArray

    __repr__ = short_repr

    def at_risk(self, moments: FloatArray) -> IntArray:
        """Count the rows that are watched at some moments and have had no event before; see `count_at_risk`."""
        return count_at_risk(self.times, moments)


def estimate_curve(times: SurvivalTimes, weights: FloatArray | None = None, level: float = 0.95) -> SurvivalCurve:
    """Return the curve of some rows, one at least, with limits symmetric on the scale of ``log(-log S)``."""
    if weights is not None:  # rows without a weight are at no risk
        times, weights = times.take(weights > 0.0), weights[weights > 0.0]
    share, (low, high) = kaplan_meier(times, weights), kaplan_meier_band(times, weights, level)
    x = np.unique(np.concatenate([[0.0], share.x, [share.domain[1]]]))
    return SurvivalCurve(times, x, share(x), low(x), high(x))


def count_at_risk(times: SurvivalTimes, moments: FloatArray) -> IntArray:
    """Count the rows at risk at some moments: those of ``entry < moment <= time``, and at 0 those watched from 0 on."""
    moments = np.asarray(moments, dtype=np.float64)
    gone = np.searchsorted(np.sort(times.time), moments, side="left")
    if times.entry is None:
        return np.asarray(len(times) - gone, dtype=np.int64)
    entries = np.sort(times.entry)
    come = np.where(
        moments > 0.0, np.searchsorted(entries, moments, side="left"), np.searchsorted(entries, 0.0, side="right")
    )
    return np.asarray(come - gone, dtype=np.int64)
