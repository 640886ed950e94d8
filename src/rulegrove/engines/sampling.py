"""The first pass: rows drawn by their random numbers, and what the target is over all rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulegrove._hashing import hash_positions
from rulegrove._typing import AnyArray, FloatArray, IntArray, Words
from rulegrove.engines.base import Batch, Engine, OnProgress
from rulegrove.engines.reading import Labelled, Layout, take_attributes, take_column
from rulegrove.estimators._sampling import Size, TargetSummary, draw_lowest
from rulegrove.exceptions import InvalidInputError

MOST_LABELS = 10_000
SPARE_ERRORS = 6.0  # standard deviations of the number of rows drawn that the first limit leaves room for


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows below a limit of their random numbers, and a summary of all rows; a state.

    Attributes
    ----------
    rows : pyarrow.Table
        Attributes of the rows drawn, in the order of the table.
    y, weights, positions, keys : ndarray of shape (n_drawn,)
        Their targets, weights (None without), positions and random numbers.
    summary : TargetSummary
    n_left_out : int
        Rows without a target.
    mark : int
        As in `Labelled.mark`, of all rows that have a target.
    """

    rows: pa.Table
    y: AnyArray
    weights: FloatArray | None
    positions: IntArray
    keys: Words
    summary: TargetSummary
    n_left_out: int
    mark: int

    def merge(self, other: "DrawnRows") -> "DrawnRows":
        """Return the rows of both."""
        first, second = (self, other) if self.positions.size else (other, self)
        if not second.positions.size:
            rows, y, weights, positions, keys = first.rows, first.y, first.weights, first.positions, first.keys
        else:
            rows = join_tables([self.rows, other.rows])
            y, positions = np.concatenate([self.y, other.y]), np.concatenate([self.positions, other.positions])
            keys = np.concatenate([self.keys, other.keys])
            weights = None
            if self.weights is not None and other.weights is not None:
                weights = np.concatenate([self.weights, other.weights])
        summary = self.summary.merge(other.summary)
        check_labels(summary)
        mark = (self.mark + other.mark) % 2**64
        return DrawnRows(rows, y, weights, positions, keys, summary, self.n_left_out + other.n_left_out, mark)


@dataclass(frozen=True)
class DrawTask:
    """Draw the rows whose random numbers are below a limit, and summarise the target of all.

    Attributes
    ----------
    layout : Layout
    seed : int
    limit : int
        From 0 to ``2**64``; the latter takes all rows that count.
    """

    layout: Layout
    seed: int
    limit: int

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it needs."""
        return self.layout.columns

    def __call__(self, batches: Iterable[Batch], n_threads: int = 1) -> DrawnRows:
        """Return what a partition has."""
        drawn: list[Labelled] = []
        parts: list[Words] = []
        summary = self._summarise(np.empty(0), None if self.layout.weights is None else np.empty(0))
        n_left_out = mark = 0
        for batch in batches:
            if not batch.rows.num_rows:
                continue
            rows = self.layout.read(batch)
            n_left_out += rows.n_left_out
            mark = (mark + rows.mark()) % 2**64
            summary = summary.merge(self._summarise(rows.y, rows.weights))
            check_labels(summary)
            keys = hash_positions(self.seed, rows.positions)
            here = np.ones(keys.size, dtype=bool) if self.limit > 2**64 - 1 else keys < np.uint64(self.limit)
            if rows.weights is not None:
                here &= rows.weights > 0
            if here.any():
                drawn.append(rows.take(here))
                check_finite(drawn[-1], self.layout.attributes)
                parts.append(keys[here])
        return self._gather(drawn, parts, summary, n_left_out, mark)

    def _summarise(self, y: AnyArray, weights: FloatArray | None) -> TargetSummary:
        return TargetSummary.of(y, weights, classes=self.layout.classes)

    def _gather(
        self, drawn: list[Labelled], keys: list[Words], summary: TargetSummary, n_left_out: int, mark: int
    ) -> DrawnRows:
        """Put the rows of several batches together."""
        if not drawn:
            empty = np.empty(0)
            weights = None if self.layout.weights is None else empty
            none = pa.table({name: pa.nulls(0) for name in self.layout.attributes})
            positions, no_keys = empty.astype(np.int64), empty.astype(np.uint64)
            return DrawnRows(none, empty, weights, positions, no_keys, summary, n_left_out, mark)
        return DrawnRows(
            join_tables([take_attributes(rows.rows, self.layout.attributes) for rows in drawn]),
            np.concatenate([rows.y for rows in drawn]),
            None if self.layout.weights is None else np.concatenate([rows.weights for rows in drawn]),
            np.concatenate([rows.positions for rows in drawn]),
            np.concatenate(keys),
            summary,
            n_left_out,
            mark,
        )


def join_tables(tables: list[pa.Table]) -> pa.Table:
    """Return the rows of several tables; a column without values anywhere takes the type it has elsewhere."""
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


def check_finite(drawn: Labelled, attributes: Sequence[str]) -> None:
    """Refuse infinite values here, where their partition is known, and not when all rows drawn are together."""
    for place, name in enumerate(attributes):
        column = take_column(drawn.rows, name)
        if pa.types.is_floating(column.type) and pc.any(pc.is_inf(column)).as_py():
            row = drawn.positions[int(np.argmax(pc.is_inf(column).fill_null(False).to_numpy(zero_copy_only=False)))]
            raise InvalidInputError(
                f"Column {place} ('{name}') must be finite or missing; got an infinite value in row {row}. "
                "Replace infinite values by a bound or by NaN."
            )


def check_labels(summary: TargetSummary) -> None:
    """Refuse a target of so many labels that they are no classes."""
    if len(summary.labels) > MOST_LABELS:
        raise InvalidInputError(
            f"The target has more than {MOST_LABELS:,} different values, too many for classes; fit a regressor."
        )


@dataclass(frozen=True, eq=False)
class DrawnSample:
    """The rows with the smallest random numbers, in the order of the table, and their ranks."""

    drawn: DrawnRows
    ranks: IntArray


def draw_sample(
    engine: Engine, layout: Layout, seed: int, size: Size, on_progress: OnProgress | None = None
) -> DrawnSample:
    """Draw the rows that count whose random numbers are the smallest; one pass, or two where few rows count.

    Parameters
    ----------
    engine : Engine
    layout : Layout
    seed : int
    size : callable
        Rows to draw, from the number of rows that count.
    on_progress : callable, optional
    """
    limit = find_limit(size(engine.n_rows), engine.n_rows)
    drawn = engine.map_reduce(DrawTask(layout, seed, limit), on_progress)
    n_counted = drawn.summary.n_rows
    wanted = min(size(n_counted), n_counted) if n_counted else 0
    while drawn.positions.size < wanted:  # rows without a target or without weight were more than expected
        limit = 2**64 if limit >= 2**62 else 4 * max(limit, find_limit(wanted, n_counted))
        drawn = engine.map_reduce(DrawTask(layout, seed, min(limit, 2**64)), on_progress)
    if not wanted:
        raise InvalidInputError(
            f"No row has a target '{layout.target}' and a positive weight; there is nothing to fit."
        )
    places, ranks = draw_lowest(drawn.keys, wanted)
    rows = DrawnRows(
        drawn.rows.take(pa.array(places)),
        drawn.y[places],
        None if drawn.weights is None else drawn.weights[places],
        drawn.positions[places],
        drawn.keys[places],
        drawn.summary,
        drawn.n_left_out,
        drawn.mark,
    )
    return DrawnSample(rows, ranks)


def find_limit(size: int, n_rows: int) -> int:
    """Return a limit that almost surely leaves at least `size` of the random numbers below it, and few more."""
    room = size + SPARE_ERRORS * np.sqrt(size) + SPARE_ERRORS**2
    return 2**64 if room >= n_rows else int(room / n_rows * 2.0**64)
