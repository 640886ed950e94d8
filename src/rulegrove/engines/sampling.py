"""The first pass: rows drawn by their random numbers, and what the target is over all rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulegrove._hashing import hash_positions
from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove.engines.base import Engine, OnProgress
from rulegrove.engines.beside import as_times
from rulegrove.engines.reading import Labelled, Layout, LayoutTask
from rulegrove.estimators._sampling import Size, Spells, TargetSummary, draw_lowest
from rulegrove.exceptions import InvalidInputError

MOST_LABELS = 10_000
NOTHING = TargetSummary.of(np.empty(0), None, values="classes")  # of no rows, with or without weights
SPARE_ERRORS = 6.0  # standard deviations of the number of rows drawn that the first limit leaves room for


@dataclass(frozen=True, eq=False)
class Draw:
    """Rows below a limit of their random numbers, and a summary of all rows; a state."""

    parts: tuple[Labelled, ...]  # the rows drawn from each batch that has some, in the order of the table
    summary: TargetSummary
    mark: int  # as in `Labelled.mark`, of all rows that have a target

    def merge(self, other: "Draw") -> "Draw":
        """Return the rows of both."""
        summary = self.summary.merge(other.summary)
        if len(summary.labels) > MOST_LABELS:
            raise InvalidInputError(
                f"The target has more than {MOST_LABELS:,} different values, too many for classes; fit a regressor."
            )
        return Draw(self.parts + other.parts, summary, (self.mark + other.mark) % 2**64)

    @property
    def n_drawn(self) -> int:
        """Number of rows drawn."""
        return sum(part.positions.size for part in self.parts)


@dataclass(frozen=True)
class DrawTask(LayoutTask[Draw]):
    """Draw the rows whose random numbers are below a limit, ``2**64`` for all, and summarise the target of all."""

    seed: int
    limit: int

    def nothing(self) -> Draw:
        """Return what no rows have."""
        return Draw((), NOTHING, 0)

    def look(self, rows: Labelled) -> Draw:
        """Return what some rows have."""
        y, weights = self.layout.beside.expose(rows.y, rows.weights)
        here = rows.below(self.seed, self.limit)
        if weights is not None:
            here &= weights > 0
        drawn = [rows.take(here)] if here.any() else []
        for part in drawn:
            check_finite(part, self.layout.attributes)
        return Draw(tuple(drawn), TargetSummary.of(y, weights, values=self.layout.values), rows.mark())


def check_finite(drawn: Labelled, attributes: Sequence[str]) -> None:
    """Refuse infinite values here, where their partition is known, and not when all rows drawn are together."""
    for place, name in enumerate(attributes):
        column = drawn.rows.column(name)
        if pa.types.is_floating(column.type) and pc.any(infinite := pc.is_inf(column)).as_py():
            row = drawn.positions[int(np.argmax(infinite.fill_null(False).to_numpy(zero_copy_only=False)))]
            raise InvalidInputError(
                f"Column {place} ('{name}') must be finite or missing; got an infinite value in row {row}. "
                "Replace infinite values by a bound or by NaN."
            )


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows that were drawn, in the order of the table, and what is known of all rows."""

    rows: pa.Table  # attributes of the rows drawn
    # y, weights, positions (n_drawn,): their targets, weights (None without) and positions.
    y: AnyArray
    weights: FloatArray | None
    positions: IntArray
    ranks: IntArray  # (n_drawn,): of their random numbers, the smallest first
    summary: TargetSummary
    mark: int  # as in `Draw`
    spells: Spells | None = None  # of the rows drawn, if times have become rates


def draw_sample(
    engine: Engine, layout: Layout, seed: int, size: Size, on_progress: OnProgress | None = None
) -> DrawnRows:
    """Draw the rows that count whose random numbers are the smallest; one pass, or two where few rows count.

    `size` tells how many to draw, from the number of rows that count.
    """
    limit = find_limit(size(engine.n_rows), engine.n_rows)
    draw = engine.map_reduce(DrawTask(layout, seed, limit), on_progress)
    n_counted = draw.summary.n_rows
    wanted = min(size(n_counted), n_counted) if n_counted else 0
    while draw.n_drawn < wanted:  # rows without a target or without weight were more than expected
        limit = 2**64 if limit >= 2**62 else 4 * max(limit, find_limit(wanted, n_counted))
        draw = engine.map_reduce(DrawTask(layout, seed, min(limit, 2**64)), on_progress)
    if not wanted:
        raise InvalidInputError(
            f"No row has a target '{layout.target}' and a positive weight; there is nothing to fit."
        )
    positions = np.concatenate([part.positions for part in draw.parts])
    places, ranks = draw_lowest(hash_positions(seed, positions), wanted)
    y = np.concatenate([part.y for part in draw.parts])[places]
    found = [part.weights for part in draw.parts if part.weights is not None]  # of all, or of none
    weights = np.concatenate(found)[places] if found else None
    # A column without values in one batch takes the type that it has in others.
    tables = [pa.Table.from_batches([part.rows]) for part in draw.parts]
    table = pa.concat_tables(tables, promote_options="permissive").unify_dictionaries().take(pa.array(places))
    spells, beside = None, layout.beside
    if beside.hazard is not None:
        spells = Spells(as_times(y), weights, beside.hazard.times.size)
        y, weights = beside.expose(y, weights)
    return DrawnRows(table, y, weights, positions[places], ranks, draw.summary, draw.mark, spells)


def find_limit(size: int, n_rows: int) -> int:
    """Return a limit that almost surely leaves at least `size` of the random numbers below it, and few more."""
    room = size + SPARE_ERRORS * np.sqrt(size) + SPARE_ERRORS**2
    return 2**64 if room >= n_rows else int(room / n_rows * 2.0**64)
