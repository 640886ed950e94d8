"""A partition of a dask collection as an Arrow table of the types that the whole table has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from rulegrove.exceptions import InvalidInputError

_TEXT = pa.large_string()


@dataclass(frozen=True)
class PartReader:
    """Partitions as Arrow tables.

    Attributes
    ----------
    inside : tuple of (str, int)
        Name of each column of X and, in an array, its place.
    beside : tuple of str
        Names of the columns beside X.
    types : dict of str to pyarrow.DataType or None
        What the columns must be; None takes them as they come.
    """

    inside: tuple[tuple[str, int], ...]
    beside: tuple[str, ...]
    types: Mapping[str, pa.DataType | None]

    def read(self, parts: Sequence[Any]) -> pa.Table:
        """Return the columns of a partition.

        Parameters
        ----------
        parts : sequence
            A pandas DataFrame or an ndarray of two dimensions if there are columns of X, and a pandas Series or an
            ndarray for each column beside it.
        """
        found = dict(zip(self.beside, parts[1:] if self.inside else parts, strict=True))
        n_rows = len(parts[0])
        for name, values in found.items():
            if len(values) != n_rows:
                raise InvalidInputError(
                    f"X has {n_rows} rows here but the {name} has {len(values)}; make both from one table."
                )
        if self.inside:
            found |= self._split(parts[0])
        return pa.table({name: _as_type(_as_arrow(found[name], name), kind, name) for name, kind in self.types.items()})

    def _split(self, X: Any) -> dict[str, Any]:
        """Return a partition of X by column."""
        if isinstance(X, np.ndarray):
            return {name: np.ascontiguousarray(X[:, place]) for name, place in self.inside}
        missing = [name for name, _ in self.inside if name not in X.columns]
        if missing:
            raise InvalidInputError(f"Column '{missing[0]}' is missing; there are {', '.join(map(str, X.columns))}.")
        return {name: X[name] for name, _ in self.inside}


def arrow_type(dtype: Any) -> pa.DataType | None:
    """Return the Arrow type of a pandas or NumPy type; None for objects and categories, where only the values tell.

    Examples
    --------
    >>> import numpy as np
    >>> arrow_type(np.dtype("float32"))
    DataType(float)
    """
    import pandas as pd

    if getattr(dtype, "kind", "O") == "O" and not isinstance(dtype, (pd.StringDtype, pd.ArrowDtype)):
        return None
    if isinstance(dtype, pd.StringDtype) or getattr(dtype, "kind", "") == "U":
        return _TEXT
    try:
        return pa.array(pd.Series([], dtype=dtype), from_pandas=True).type
    except (pa.ArrowException, TypeError):
        return None  # reading the values says what is wrong with them


def join_types(types: Sequence[pa.DataType]) -> tuple[pa.DataType, int | None]:
    """Return a type that holds the values of a column in all partitions, and the first partition that has none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> join_types([pa.null(), pa.int64(), pa.float64()])
    (DataType(double), None)
    >>> join_types([pa.string(), pa.int64()])
    (DataType(large_string), 1)
    """
    joined: pa.DataType = pa.null()
    encoded = False
    for partition, found in enumerate(types):
        encoded |= pa.types.is_dictionary(found)
        values = _values_type(found)
        if pa.types.is_null(values) or values == joined:
            continue
        if pa.types.is_null(joined):
            joined = values
        elif _is_number(joined) and _is_number(values):
            joined = pa.float64()
        else:
            return joined, partition
    return (pa.dictionary(pa.int32(), joined) if encoded and not pa.types.is_null(joined) else joined), None


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values themselves, of categories too."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _values_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column's values, one for all kinds of text."""
    values = plain_type(kind)
    return _TEXT if pa.types.is_string(values) or pa.types.is_string_view(values) else values


def _is_number(kind: pa.DataType) -> bool:
    """Whether a type is of numbers."""
    integer, floating, decimal = pa.types.is_integer(kind), pa.types.is_floating(kind), pa.types.is_decimal(kind)
    return bool(integer or floating or decimal or pa.types.is_boolean(kind))


def _is_day(kind: pa.DataType) -> bool:
    """Whether a type is of whole days."""
    return bool(pa.types.is_date(kind))


def _as_arrow(values: Any, name: str) -> pa.Array | pa.ChunkedArray:
    """Return a pandas Series or an ndarray as Arrow, missing where pandas says so."""
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError):
        raise InvalidInputError(
            f"Column '{name}' is neither numeric nor categorical, or mixes text and numbers: {values.dtype}. "
            "Convert or drop it."
        ) from None


def _as_type(column: pa.Array | pa.ChunkedArray, kind: pa.DataType | None, name: str) -> pa.ChunkedArray:
    """Return a column as the type that it has in the whole table; refuse what would change its values."""
    if kind is None or column.type == kind:
        return column
    wanted = plain_type(kind)
    plain = column.cast(plain_type(column.type)) if pa.types.is_dictionary(column.type) else column
    if not _holds(wanted, _values_type(plain.type)):
        raise InvalidInputError(
            f"Column '{name}' is {column.type} here but {kind} in the table; convert it, as with `ddf.astype`."
        )
    plain = plain.cast(wanted)
    return plain.dictionary_encode() if pa.types.is_dictionary(kind) else plain


def _holds(wanted: pa.DataType, found: pa.DataType) -> bool:
    """Whether all values of one type are among those of another; where not, the cast says so."""
    if pa.types.is_null(found) or found == wanted:
        return True
    if pa.types.is_timestamp(wanted):  # of other units, or whole days; with a zone or without
        return bool(pa.types.is_timestamp(found) and found.tz == wanted.tz) or (_is_day(found) and wanted.tz is None)
    if not (_is_number(wanted) and _is_number(found)):
        return False
    if pa.types.is_float64(wanted):
        return True
    return bool(pa.types.is_integer(wanted) and pa.types.is_integer(found))
