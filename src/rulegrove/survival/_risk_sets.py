"""Who is at risk at which event time, found once."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.survival._kernels import gather
from rulegrove.survival.times import SurvivalTimes


@dataclass(frozen=True, eq=False)
class RiskSets:
    """The rows at risk at each of some times."""

    grid: FloatArray  # (n_times,): the times, ascending
    # (n_rows,): the rows from the earliest to the latest time. What follows for each row is in this order, so that sums
    # go through memory as it lies.
    order: IntArray
    row_weights: FloatArray  # (n_rows,)
    # firsts, lasts (n_rows,): numbers of the first and the last of the times at which each row is at risk, the last
    # before the first for never; `firsts` is empty where no row enters late.
    firsts: IntArray
    lasts: IntArray
    happened: BoolArray  # (n_rows,): whether the row has a weight and an event, then at the last of its times
    counts: IntArray  # (n_times,): number of such rows
    weights: FloatArray  # (n_times,): sum of their weights

    @classmethod
    def find(cls, times: SurvivalTimes, weights: FloatArray, grid: FloatArray | None = None) -> Self:
        """Return the risk sets at distinct event times, or on a grid that holds all of those; weights may be zero."""
        order = np.argsort(times.time, kind="stable").astype(np.int64)
        time, own = times.time[order], weights[order]
        happened = times.event[order] & (own > 0.0)
        if grid is None:
            grid = np.unique(time[happened])
        lasts = np.searchsorted(grid, time, side="right") - 1
        firsts = np.empty(0, dtype=np.int64)
        if times.entry is not None:
            firsts = np.searchsorted(grid, times.entry[order], side="right").astype(np.int64)
        at, n_times = lasts[happened], len(grid)
        return cls(
            grid,
            order,
            own,
            firsts,
            lasts.astype(np.int64),
            happened,
            np.bincount(at, minlength=n_times).astype(np.int64),
            np.bincount(at, weights=own[happened], minlength=n_times).astype(np.float64),
        )

    def add_up(self, values: FloatArray) -> FloatArray:
        """Return the sum over the rows at risk at each of the times, of values in the order of the data."""
        sums, levels = np.empty(len(self.grid)), np.empty(len(self.grid), dtype=np.int64)
        gather(self.firsts, self.lasts, values[self.order], np.zeros(len(values), dtype=np.int64), sums, levels)
        return sums
