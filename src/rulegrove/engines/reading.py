"""Columns of Arrow batches as the fit wants them: attributes, target, weights, and what is known of scores."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulegrove._hashing import deal_folds, hash_positions
from rulegrove._typing import AnyArray, BoolArray, FloatArray, IntArray, Words
from rulegrove.columns import Feature
from rulegrove.engines.base import Batch, S
from rulegrove.engines.beside import ALONE, NOTHING_KNOWN, Beside, Known, check_numbers
from rulegrove.engines.values import READERS, check_names, read_numbers, take_column
from rulegrove.estimators._units import shift
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError


@dataclass(frozen=True)
class Part:
    """One half of the rows of a table, by random numbers of their positions."""

    seed: int
    half: int


@dataclass(frozen=True)
class Layout:
    """Which columns are what."""

    attributes: tuple[str, ...]
    target: str  # its first column, mostly the only one
    weights: str | None
    values: str  # "classes" or "numbers", as `Target.values` has it
    part: Part | None = None  # rows to read, where some are set apart; all by default
    # What refuses numbers that its loss is not for, and takes out of the target what is known.
    kind: Target | None = None
    known: Known = NOTHING_KNOWN
    beside: Beside = ALONE

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        target: str,
        weights: str | None,
        *,
        values: str,
        drop: Sequence[str] = (),
        kind: Target | None = None,
        known: Known = NOTHING_KNOWN,
        beside: Beside = ALONE,
    ) -> "Layout":
        """Return the layout of a table whose other columns are attributes."""
        check_names(names, [("target", target), ("weights", weights), *(("drop", name) for name in drop)])
        apart = {target, weights, *drop, *known.columns, *beside.columns}
        attributes = tuple(name for name in names if name not in apart)
        if not attributes:
            raise InvalidInputError(f"There is no column left to predict {target!r} from.")
        return cls(attributes, target, weights, values, kind=kind, known=known, beside=beside)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns to read, each once."""
        weights = () if self.weights is None else (self.weights,)
        columns = (*self.attributes, self.target, *weights, *self.known.columns, *self.beside.columns)
        return tuple(dict.fromkeys(columns))

    def read(self, batch: Batch) -> "Labelled":
        """Take a batch apart; rows without a target, or without one of several, are left out."""
        rows = batch.rows
        target, known = take_column(rows, self.target), np.ones(rows.num_rows, dtype=np.bool_)
        for name in (self.target, *self.beside.numbers):
            missing = pc.is_null(take_column(rows, name), nan_is_null=True)
            known &= ~np.asarray(missing.to_numpy(zero_copy_only=False))
        positions = batch.start + np.arange(rows.num_rows)
        if self.part is not None:
            known = known & (deal_folds(self.part.seed, positions, 2) == self.part.half)
        if not known.all():
            mask = pa.array(known)
            rows, target, positions = rows.filter(mask), target.filter(mask), positions[known]
        y = READERS[self.values](target, self.target)
        weights = None
        if self.weights is not None:
            weights = read_numbers(take_column(rows, self.weights), self.weights)
            if not (weights >= 0).all():  # NaN too
                row = int(positions[np.flatnonzero(~(weights >= 0))[0]])
                raise InvalidInputError(
                    f"The weights in column '{self.weights}' must be numbers from 0 on; row {row} has none such"
                )
            weights = shift(weights, -self.beside.unit)
        if self.beside.columns:
            y = self.beside.read(rows, y, positions)
        if self.kind is not None and self.values == "numbers":
            if y.ndim == 1:
                check_numbers(self.kind, y, positions)
            offset = self.known.read(rows, positions)
            if offset is not None:
                y, weights = self.kind.take_offset(y, weights, offset)
        return Labelled(take_attributes(rows, self.attributes), y, weights, positions)


@dataclass(frozen=True)
class LayoutTask(ABC, Generic[S]):
    """Work on rows that are read by a layout: what no rows have, merged with what those of each batch have."""

    layout: Layout

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it needs."""
        return self.layout.columns

    @abstractmethod
    def nothing(self) -> S:
        """Return what no rows have."""

    @abstractmethod
    def look(self, rows: "Labelled") -> S:
        """Return what some rows have, one at least."""

    def __call__(self, batches: Iterable[Batch], n_threads: int = 1) -> S:
        """Return what a partition has."""
        found = self.nothing()
        for batch in batches:
            rows = self.layout.read(batch) if batch.rows.num_rows else None
            if rows is not None and rows.positions.size:
                found = found.merge(self.look(rows))
        return found


@dataclass(frozen=True)
class Labelled:
    """Rows that have a target, taken apart: attributes, targets, weights (None without) and positions.

    What is known of scores is out of the targets and weights. Several numbers are columns of the targets, and so are a
    time, its event and perhaps its entry.
    """

    rows: pa.RecordBatch
    y: AnyArray
    weights: FloatArray | None
    positions: IntArray

    def mark(self) -> int:
        """Return a number that tells whether other rows have the same targets in the same order.

        It is the sum, modulo ``2**64``, of the bits of each target times random bits of its position, so that those of
        batches add up to that of the table however it is divided.
        """
        return int((hash_positions(0, self.positions) * _bits(self.y)).sum(dtype=np.uint64))

    def below(self, seed: int, limit: int) -> BoolArray:
        """Tell which rows have random numbers below a limit; ``2**64`` takes all."""
        if limit >= 2**64:
            return np.ones(self.positions.size, dtype=bool)
        return hash_positions(seed, self.positions) < np.uint64(limit)

    def take(self, mask: BoolArray) -> "Labelled":
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[mask]
        return Labelled(self.rows.filter(pa.array(mask)), self.y[mask], weights, self.positions[mask])


def _bits(y: AnyArray) -> Words:
    """Return 64 random bits for each target, the same for the same one in any batch."""
    if y.ndim == 2:
        columns = [hash_positions(3 + place, _bits(column)) for place, column in enumerate(y.T)]
        return np.asarray(np.sum(columns, axis=0, dtype=np.uint64))
    if y.dtype.kind != "U":
        return hash_positions(1, y.astype(np.float64).view(np.uint64))
    letters = y.view(np.uint32).reshape(len(y), y.dtype.itemsize // 4)  # zero beyond the end of shorter words
    return hash_positions(1, letters.astype(np.uint64) @ hash_positions(2, np.arange(letters.shape[1])))


def take_attributes(rows: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """Return some columns of a batch, in this order."""
    for name in names:
        take_column(rows, name)
    return rows.select(list(names))


def keep_used(features: Sequence[Feature], used: Iterable[int]) -> tuple[tuple[Feature, ...], dict[int, int]]:
    """Return those attributes whose positions are used, so that no others need be read, and the new place of each.

    Examples
    --------
    >>> keep_used((Feature("a"), Feature("b"), Feature("c")), {2, 1})[1]
    {1: 0, 2: 1}
    """
    kept = sorted(used)
    return tuple(features[place] for place in kept), {feature: place for place, feature in enumerate(kept)}
