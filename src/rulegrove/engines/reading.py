"""Columns of Arrow batches as the fit wants them: attributes, target, weights."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulegrove._hashing import deal_folds, hash_positions
from rulegrove._typing import AnyArray, BoolArray, FloatArray, IntArray, Words
from rulegrove.columns import Columns, Feature, encode_columns, list_sources
from rulegrove.engines.base import Batch
from rulegrove.exceptions import InvalidInputError


@dataclass(frozen=True)
class Part:
    """One half of the rows of a table, by random numbers of their positions."""

    seed: int
    half: int


@dataclass(frozen=True)
class Layout:
    """Which columns are what.

    Attributes
    ----------
    attributes : tuple of str
    target : str
    weights : str, optional
    values : {"classes", "numbers"}
        What the target is, as `Target.values` has it.
    part : Part, optional
        Rows to read, where some are set apart; all by default.
    """

    attributes: tuple[str, ...]
    target: str
    weights: str | None
    values: str
    part: Part | None = None

    @classmethod
    def of(
        cls, names: Sequence[str], target: str, weights: str | None, *, values: str, drop: Sequence[str] = ()
    ) -> "Layout":
        """Return the layout of a table whose other columns are attributes."""
        check_names(names, [("target", target), ("weights", weights), *(("drop", name) for name in drop)])
        attributes = tuple(name for name in names if name not in (target, weights, *drop))
        if not attributes:
            raise InvalidInputError(f"There is no column left to predict {target!r} from.")
        return cls(attributes, target, weights, values)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns to read."""
        return (*self.attributes, self.target, *(() if self.weights is None else (self.weights,)))

    def read(self, batch: Batch) -> "Labelled":
        """Take a batch apart; rows without a target are left out."""
        rows = batch.rows
        target = take_column(rows, self.target)
        known = np.asarray(pc.invert(pc.is_null(target, nan_is_null=True)).to_numpy(zero_copy_only=False))
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
        return Labelled(take_attributes(rows, self.attributes), y, weights, positions)


def check_names(names: Sequence[str], named: Iterable[tuple[str, str | None]]) -> None:
    """Refuse an option that names a column which is not there."""
    for option, name in named:
        if name is not None and name not in names:
            shown = ", ".join(repr(known) for known in list(names)[:10])
            raise InvalidInputError(f"`{option}` names {name!r}, which is no column; there are {shown}.")


@dataclass(frozen=True)
class Labelled:
    """Rows that have a target, taken apart: attributes, targets, weights (None without) and positions."""

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
    if y.dtype.kind != "U":
        return hash_positions(1, y.astype(np.float64).view(np.uint64))
    letters = y.view(np.uint32).reshape(len(y), y.dtype.itemsize // 4)  # zero beyond the end of shorter words
    return hash_positions(1, letters.astype(np.uint64) @ hash_positions(2, np.arange(letters.shape[1])))


def take_column(rows: pa.RecordBatch, name: str) -> pa.Array:
    """Return a column by its name."""
    if name not in rows.schema.names:
        raise InvalidInputError(f"There is no column '{name}' here, though there is one elsewhere")
    return rows.column(name)


def take_attributes(rows: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """Return some columns of a batch, in this order."""
    for name in names:
        take_column(rows, name)
    return rows.select(list(names))


def encode_rows(rows: pa.RecordBatch, features: Sequence[Feature]) -> Columns:
    """Read the attributes of a batch that has rows."""
    return encode_columns(pa.Table.from_batches([take_attributes(rows, list_sources(features))]), features)


def keep_used(features: Sequence[Feature], used: Iterable[int]) -> tuple[tuple[Feature, ...], dict[int, int]]:
    """Return those attributes whose positions are used, so that no others need be read, and the new place of each.

    Examples
    --------
    >>> keep_used((Feature("a"), Feature("b"), Feature("c")), {2, 1})[1]
    {1: 0, 2: 1}
    """
    kept = sorted(used)
    return tuple(features[place] for place in kept), {feature: place for place, feature in enumerate(kept)}


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of a type holds numbers, truth values or nothing at all."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(test(kind) for test in tests)


def read_numbers(column: pa.Array, name: str) -> FloatArray:
    """Return a column as finite float64."""
    if not is_number(column.type):
        raise InvalidInputError(f"Column '{name}' must be numbers; got {column.type}")
    values = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    if np.isinf(values).any():
        raise InvalidInputError(f"Column '{name}' must be finite; got an infinite value")
    return values


def read_labels(column: pa.Array, name: str) -> AnyArray:
    """Return a column of classes as an array: numbers, truth values or text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return read_labels(column.cast(kind.value_type), name)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if pa.types.is_decimal(kind):
        return read_numbers(column, name)
    if pa.types.is_null(kind):
        return np.empty(0)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        encoded = column.dictionary_encode()
        labels: AnyArray = np.asarray(encoded.dictionary.to_pylist(), dtype=str)
        return np.asarray(labels[encoded.indices.to_numpy()])
    raise InvalidInputError(f"The target '{name}' must be numbers or text; got {kind}. Convert it")


READERS: dict[str, Callable[[pa.Array, str], AnyArray]] = {"classes": read_labels, "numbers": read_numbers}
