"""Event times on a grid, and sums over batches of rows from which their hazard follows."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.exceptions import InvalidInputError
from rulegrove.survival._risk_sets import RiskSets
from rulegrove.survival.times import SurvivalTimes


def choose_grid(times: SurvivalTimes, n_most: int) -> FloatArray:
    """Return the event times, or so many quantiles of them at most that about as many events end each cell."""
    if n_most < 1:
        raise InvalidInputError(f"`n_most` must be at least 1; got {n_most}.")
    happened = times.time[times.event]
    found = np.unique(happened)
    if len(found) <= n_most:
        return found
    shares = np.arange(1, n_most + 1) / n_most
    return np.unique(np.quantile(happened, shares, method="inverted_cdf"))


def on_grid(times: SurvivalTimes, grid: FloatArray) -> SurvivalTimes:
    """Return the times with each event moved up to the next time of a grid.

    Other rows keep their times, so that on a grid of all event times nothing changes. Events after the end of the grid
    are not seen: such rows were watched without an event until then.
    """
    places = _check_grid(grid)
    event = times.event & (times.time <= places[-1]) if len(places) else np.zeros_like(times.event)
    time = times.time.copy()
    time[event] = places[np.searchsorted(places, times.time[event])]
    return SurvivalTimes(time, event, times.entry)


@dataclass(frozen=True, eq=False)
class HazardSums:
    """Events and rows at risk at the times of a grid, summed over batches of rows: the sums of two batches add up."""

    grid: FloatArray  # (n_times,)
    events: FloatArray  # (n_times,): weights of the events after the time before, and not after this one
    at_risk: FloatArray  # (n_times,): weights of the rows at risk at the time, those with such an event among them

    @classmethod
    def count(cls, times: SurvivalTimes, grid: FloatArray, weights: FloatArray | None = None) -> Self:
        """Return the sums of a batch, which need not have an event, on the ascending grid of all batches."""
        places = _check_grid(grid)
        own = np.ones(len(times)) if weights is None else np.asarray(weights, dtype=np.float64)
        sets = RiskSets.find(on_grid(times, places), own, places)
        return cls(places, sets.weights, sets.add_up(own))

    def merge(self, other: "HazardSums") -> "HazardSums":
        """Return the sums of two batches together."""
        if not np.array_equal(self.grid, other.grid):
            raise InvalidInputError("Only sums on the same grid can be merged; count both batches on one grid.")
        return HazardSums(self.grid, self.events + other.events, self.at_risk + other.at_risk)


def _check_grid(grid: FloatArray) -> FloatArray:
    """Return a grid as ascending numbers."""
    places: FloatArray = np.asarray(grid, dtype=np.float64)
    if places.ndim != 1 or not (np.diff(places) > 0.0).all():
        raise InvalidInputError("`grid` must be one row of ascending times; sort it and drop repeated ones.")
    return places
