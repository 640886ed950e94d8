"""Columns of Arrow batches as the fit wants them: attributes, target, weights, and what is known of scores."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulegrove._hashing import deal_folds, hash_positions
from rulegrove._typing import AnyArray, BoolArray, FloatArray, IntArray, Words
from rulegrove._validation import check_offset
from rulegrove.columns import Columns, Feature, encode_columns, list_sources
from rulegrove.engines.base import Batch
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError


@dataclass(frozen=True)
class Part:
    """One half of the rows of a table, by random numbers of their positions."""

    seed: int
    half: int


@dataclass(frozen=True)
class Known:
    """Columns of what is known to add to the score of each row, or nothing.

    Attributes
    ----------
    exposure : str, optional
        Whose logarithm adds to the score.
    offset : str, optional
        What adds to it as it is.

    Examples
    --------
    >>> rows = pa.record_batch({"years": [1.0, 2.0]})
    >>> Known("years").read(rows, np.arange(2)).round(3)
    array([0.   , 0.693])
    """

    exposure: str | None = None
    offset: str | None = None

    @classmethod
    def of(cls, names: Sequence[str], kind: Target, exposure: str | None, offset: str | None) -> "Known":
        """Return the columns that options name; one that is not there, or that the target does not allow, is refused.

        Parameters
        ----------
        names : sequence of str
            Of the table.
        kind : Target
        exposure, offset : str, optional
        """
        check_names(names, [("exposure", exposure), ("offset", offset)])
        known = cls(exposure, offset)
        if known.columns:
            one = np.ones(1)
            start = check_offset(None if exposure is None else one, one, 1, log_link=kind.log_link)
            assert start is not None
            kind.take_offset(one, None, start)
        return known

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(name for name in (self.exposure, self.offset) if name is not None)

    def read(self, rows: pa.RecordBatch, positions: IntArray) -> FloatArray | None:
        """Return what is known to add to the score of each row; None where nothing is.

        Parameters
        ----------
        rows : pyarrow.RecordBatch
        positions : ndarray of shape (n_rows,)
            Of the rows in the table, for errors to name.
        """
        known = None
        if self.exposure is not None:
            values = read_numbers(take_column(rows, self.exposure), self.exposure)
            refuse_first(~(values > 0.0), values, positions, f"The exposure in column '{self.exposure}'", "above 0")
            known = np.log(values)
        if self.offset is not None:
            values = read_numbers(take_column(rows, self.offset), self.offset)
            refuse_first(np.isnan(values), values, positions, f"The offset in column '{self.offset}'", "in every row")
            known = values if known is None else known + values
        return known


NOTHING_KNOWN = Known()


def refuse_first(wrong: BoolArray, values: FloatArray, positions: IntArray, what: str, expected: str) -> None:
    """Refuse numbers of which some are wrong, naming the first row of these."""
    if wrong.any():
        first = int(np.argmax(wrong))
        value = values[first]
        found = "none" if np.isnan(value) else f"{value:g}"
        raise InvalidInputError(
            f"{what} must be a number {expected}; row {positions[first]} has {found}. Leave such rows out"
        )


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
    kind : Target, optional
        What refuses numbers that its loss is not for, and takes out of the target what is known.
    known : Known
    """

    attributes: tuple[str, ...]
    target: str
    weights: str | None
    values: str
    part: Part | None = None
    kind: Target | None = None
    known: Known = NOTHING_KNOWN

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
    ) -> "Layout":
        """Return the layout of a table whose other columns are attributes."""
        check_names(names, [("target", target), ("weights", weights), *(("drop", name) for name in drop)])
        attributes = tuple(name for name in names if name not in (target, weights, *drop, *known.columns))
        if not attributes:
            raise InvalidInputError(f"There is no column left to predict {target!r} from.")
        return cls(attributes, target, weights, values, kind=kind, known=known)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns to read, each once."""
        weights = () if self.weights is None else (self.weights,)
        return tuple(dict.fromkeys((*self.attributes, self.target, *weights, *self.known.columns)))

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
        if self.kind is not None and self.values == "numbers":
            check_numbers(self.kind, y, positions)
            offset = self.known.read(rows, positions)
            if offset is not None:
                y, weights = self.kind.take_offset(y, weights, offset)
        return Labelled(take_attributes(rows, self.attributes), y, weights, positions)


def check_numbers(kind: Target, y: FloatArray, positions: IntArray) -> None:
    """Refuse numbers that a target is not for, in the words it has for tables in memory, naming the row of the table.

    Parameters
    ----------
    kind : Target
    y : ndarray of shape (n_rows,)
    positions : ndarray of shape (n_rows,)
    """
    try:
        kind.check(np.append(y, 1.0), len(y) + 1)  # that all rows of a batch are 0 is no fault of the table
    except InvalidInputError as error:
        told = re.sub(r"\brow (\d+)", lambda found: f"row {positions[int(found[1])]}", str(error))
        raise InvalidInputError(told) from None


def check_names(names: Sequence[str], named: Iterable[tuple[str, str | None]]) -> None:
    """Refuse an option that names a column which is not there."""
    for option, name in named:
        if name is not None and name not in names:
            shown = ", ".join(repr(known) for known in list(names)[:10])
            raise InvalidInputError(f"`{option}` names {name!r}, which is no column; there are {shown}.")


@dataclass(frozen=True)
class Labelled:
    """Rows that have a target, taken apart: attributes, targets, weights (None without) and positions.

    What is known of scores is out of the targets and weights.
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
