"""Survival times of tables in parts: the hazard of all rows together, by which they become rates."""

from dataclasses import dataclass, replace

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.engines.base import Engine, OnProgress
from rulegrove.engines.beside import as_times
from rulegrove.engines.counting import Marked, run_marked
from rulegrove.engines.reading import Labelled, Layout, LayoutTask
from rulegrove.engines.sampling import draw_sample
from rulegrove.estimators._sampling import Size
from rulegrove.estimators._units import PLAIN
from rulegrove.estimators.hazard import STATED_TIMES, add_up_hazard, choose_times
from rulegrove.survival.grid import HazardSums


@dataclass(frozen=True)
class HazardTask(LayoutTask[Marked[HazardSums]]):
    """Count events, and rows at risk, at the times of a grid."""

    grid: FloatArray

    def nothing(self) -> Marked[HazardSums]:
        """Return the sums of no rows."""
        nothing = np.zeros_like(self.grid)
        return Marked((HazardSums(self.grid, nothing, nothing),), 0)

    def look(self, rows: Labelled) -> Marked[HazardSums]:
        """Return the sums of some rows."""
        return Marked((HazardSums.count(as_times(rows.y), self.grid, rows.weights),), rows.mark())


def find_hazard(
    engine: Engine, layout: Layout, seed: int, size: Size, on_progress: OnProgress | None = None
) -> tuple[Layout, int]:
    """Return a layout that makes rates of times, and the mark of the rows: two passes over the times.

    The hazard of all rows together is counted at times of events among rows that are drawn, 1,000 at most, which are
    the same however the table is divided.
    """
    alone = replace(layout, attributes=layout.attributes[:1])  # for all else is read where rows are drawn for good
    drawn = draw_sample(engine, alone, seed, size, on_progress)
    grid = choose_times(as_times(drawn.y), STATED_TIMES)
    unit = PLAIN.of_weights(float(drawn.summary.heaviest.max())).weight
    beside = replace(layout.beside, unit=unit)
    task = HazardTask(replace(alone, beside=beside), grid)
    [sums] = run_marked(engine, task, layout, drawn.mark, on_progress)
    hazard = add_up_hazard(sums, weighted=layout.weights is not None)
    return replace(layout, beside=replace(beside, hazard=hazard)), drawn.mark
