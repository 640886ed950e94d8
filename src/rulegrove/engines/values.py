"""Columns of Arrow batches as numbers or labels."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulegrove._typing import AnyArray, FloatArray
from rulegrove.exceptions import InvalidInputError

EVENTS = {  # whether the event came, by the words for that
    **dict.fromkeys(("1", "true", "yes", "y"), True),
    **dict.fromkeys(("0", "false", "no", "n"), False),
}


def check_names(names: Sequence[str], named: Iterable[tuple[str, str | None]]) -> None:
    """Refuse an option that names a column which is not there."""
    for option, name in named:
        if name is not None and name not in names:
            shown = ", ".join(repr(known) for known in list(names)[:10])
            raise InvalidInputError(f"`{option}` names {name!r}, which is no column; there are {shown}.")


def take_column(rows: pa.RecordBatch, name: str) -> pa.Array:
    """Return a column by its name."""
    if name not in rows.schema.names:
        raise InvalidInputError(f"There is no column '{name}' here, though there is one elsewhere")
    return rows.column(name)


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


def read_events(column: pa.Array, name: str, word: str | None = None) -> FloatArray:
    """Return 1 where the event came and 0 where not, NaN where nothing is told: by a word, or by yes and no.

    Examples
    --------
    >>> read_events(pa.array(["Yes", "no", None]), "died")
    array([ 1.,  0., nan])
    """
    if word is None and is_number(column.type):
        return read_numbers(column, name)
    text = column.cast(pa.string())
    if word is not None:
        came = pc.equal(text, word).cast(pa.float64())
    else:
        places = pc.index_in(pc.utf8_lower(text), pa.array(list(EVENTS)))
        strange = text.filter(pc.and_(pc.is_null(places), pc.is_valid(text)))
        if len(strange):
            raise InvalidInputError(
                f"Column '{name}' must tell whether the event came by 1 or 0, true or false, yes or no; got "
                f"'{strange[0]}'. Say which word is the event: '{name}={strange[0]}'"
            )
        came = pa.array([float(event) for event in EVENTS.values()]).take(places)
    return np.asarray(came.to_numpy(zero_copy_only=False), dtype=np.float64)


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
