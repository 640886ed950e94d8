"""Dask collections as one table: which columns it has, in which partitions, and these as Arrow."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
from dask.delayed import Delayed

from rulegrove.engines._dask_parquet import verify_files
from rulegrove.engines.values import is_number
from rulegrove.exceptions import InvalidInputError

_TEXT = pa.large_string()


@dataclass(frozen=True)
class PartReader:
    """Partitions as Arrow tables; picklable."""

    inside: Mapping[str, int]  # the columns of X, with their places in an array
    beside: tuple[str, ...]  # names of the columns beside X
    types: Mapping[str, pa.DataType | None]  # what the columns must be; None takes them as they come

    def read(self, parts: Sequence[Any]) -> pa.Table:
        """Return the columns of a partition.

        Its parts are a pandas DataFrame or an ndarray of two dimensions, if there are columns of X, and a pandas Series
        or an ndarray for each column beside it.
        """
        found = dict(zip(self.beside, parts[1:] if self.inside else parts, strict=True))
        n_rows = len(parts[0])
        for name, values in found.items():
            if len(values) != n_rows:
                raise InvalidInputError(
                    f"X has {n_rows} rows here but the {name} has {len(values)}; make both from one table."
                )
        for name, place in self.inside.items():
            if isinstance(parts[0], np.ndarray):
                found[name] = np.ascontiguousarray(parts[0][:, place])
            elif name in parts[0].columns:
                found[name] = parts[0][name]
            else:
                known = ", ".join(map(str, parts[0].columns))
                raise InvalidInputError(f"Column '{name}' is missing; there are {known}.")
        return pa.table({name: _as_type(_as_arrow(found[name], name), kind, name) for name, kind in self.types.items()})


@dataclass(frozen=True)
class DaskTable:
    """Attributes, target, weights and more of the same rows, in the same partitions."""

    X: Any
    names: tuple[str, ...]  # of the columns of X
    beside: Mapping[str, Any]  # columns that are not in X
    targets: tuple[str, ...]  # names of the target's columns
    given: Mapping[str, str]  # names of the columns that are no attributes, beside the target, by what they are

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""
        return (*self.names, *self.beside)

    @property
    def has_names(self) -> bool:
        """Whether the user gave the columns their names."""
        return not is_array(self.X)

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return _count_partitions(self.X)

    def count_rows(self) -> list[int] | None:
        """Return the rows of each partition where that is known without a look at the data."""
        return [int(n_rows) for n_rows in self.X.chunks[0]] if _is_counted(self.X) else None

    def types(self) -> dict[str, pa.DataType | None]:
        """Return the type of each column; None where only the values tell."""
        dtypes = dict(self.X.dtypes) if self.has_names else dict.fromkeys(self.names, self.X.dtype)
        dtypes |= {name: vector.dtype for name, vector in self.beside.items()}
        return {name: arrow_type(dtypes[name]) for name in self.columns}

    def partitions(self, columns: Iterable[str]) -> list[list[Delayed]]:
        """Return for each partition what holds the columns: some of X, if any is asked for, and what is beside it."""
        wanted = set(columns)
        inside = [name for name in self.names if name in wanted]
        parts = [_delay(self.X[inside] if self.has_names else self.X)] if inside else []
        parts += [_delay(vector) for name, vector in self.beside.items() if name in wanted]
        return [list(part) for part in zip(*parts, strict=True)]

    def reader(self, types: Mapping[str, pa.DataType | None]) -> PartReader:
        """Return what makes Arrow of what `partitions` gives for these columns."""
        inside = {name: place for place, name in enumerate(self.names) if name in types}
        beside = tuple(name for name in self.beside if name in types)
        return PartReader(inside, beside, {name: types[name] for name in self.columns if name in types})


def make_table(X: Any, y: Any, **others: Any) -> DaskTable:
    """Check that dask collections fit together.

    The target, weights and the like are collections, or names in X; these `others` go by what `Named` calls them. A
    target of several numbers is a list of names, a DataFrame or an Array of two dimensions.
    """
    X, names = check_attributes(X)
    X = X if is_array(X) else verify_files(X)
    beside: dict[str, Any] = {}
    columns = _split_target(y)
    targets = tuple(place_column(X, names, beside, values, "target", name) for name, values in columns)
    given = {
        role: place_column(X, names, beside, values, role) for role, values in others.items() if values is not None
    }
    return DaskTable(X, names, beside, targets, given)


def _split_target(y: Any) -> list[tuple[str, Any]]:
    """Return the columns of a target, each with the name that it is to have beside X."""
    if isinstance(y, list):
        return [("target", name) for name in y]
    if isinstance(y, dd.DataFrame):
        return [(str(name), y[name]) for name in y.columns]
    if is_array(y) and y.ndim == 2:
        return [(f"y{place}", y[:, place]) for place in range(y.shape[1])]
    return [("target", y)]


def is_array(part: Any) -> bool:
    """Whether a collection is a dask Array."""
    return isinstance(part, da.Array)


def is_lazy(X: Any) -> bool:
    """Whether a table is a dask collection."""
    return isinstance(X, dd.DataFrame) or is_array(X)


def check_attributes(X: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a table with its columns in one block, and their names."""
    if isinstance(X, dd.DataFrame):
        names = list(X.columns)
        odd = [name for name in names if not isinstance(name, str) or names.count(name) > 1]
        if odd:
            raise InvalidInputError(
                f"Column names must be text and unique; got {odd[0]!r}. Rename with `ddf.rename(columns=...)`."
            )
        if not names:
            raise InvalidInputError("X has no columns; a fit needs at least one attribute.")
        return X, tuple(names)
    if not is_array(X):
        raise InvalidInputError(
            f"X must be a dask DataFrame or a dask Array; got {type(X).__module__}.{type(X).__name__}. Tables in "
            "memory are for RuleEnsembleClassifier and RuleEnsembleRegressor."
        )
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise InvalidInputError(
            f"X must be an array of two dimensions that holds numbers; got {X.ndim} dimensions of {X.dtype}. Text goes "
            "into a dask DataFrame."
        )
    return X.rechunk({1: -1}), tuple(f"x{place}" for place in range(X.shape[1]))


def place_column(
    X: Any, names: tuple[str, ...], beside: dict[str, Any], values: Any, role: str, name: str | None = None
) -> str:
    """Return the name of the target, the weights or the like, which are put beside X unless they are in it.

    What is put there is called by its role, unless another `name` is given.
    """
    if isinstance(values, str):
        if is_array(X):
            raise InvalidInputError(f"X is an array, whose columns have no names; give the {role} as a dask Array.")
        if values not in names:
            raise InvalidInputError(f"X has no column '{values}' to be the {role}; it has {', '.join(names[:20])}.")
        return values
    if not isinstance(values, (dd.Series, da.Array)) or values.ndim != 1:
        raise InvalidInputError(
            f"The {role} must be a column name, a dask Series or a dask Array of one dimension; got a "
            f"{type(values).__module__}.{type(values).__name__}."
        )
    name = role if name is None else name
    while name in names or name in beside:
        name += "_"
    beside[name] = _align(X, values if is_array(values) else verify_files(values), role)
    return name


def _align(X: Any, vector: Any, role: str) -> Any:
    """Return a vector in the partitions of X, as far as these are known."""
    if _is_counted(X) and _is_counted(vector):
        if vector.shape[0] != X.shape[0]:
            raise InvalidInputError(
                f"X has {X.shape[0]} rows but the {role} has {vector.shape[0]}; give one for each row."
            )
        return vector.rechunk((X.chunks[0],))
    if _count_partitions(vector) != _count_partitions(X):
        raise InvalidInputError(
            f"X has {_count_partitions(X)} partitions but the {role} has {_count_partitions(vector)}; make both from "
            "one table, so that their partitions hold the same rows."
        )
    return vector


def _is_counted(part: Any) -> bool:
    """Whether the rows of each partition are known without a look at the data."""
    return is_array(part) and not np.isnan(part.chunks[0]).any()


def _count_partitions(part: Any) -> int:
    """Return the number of partitions of a collection; of an array, those of its rows."""
    return len(part.chunks[0]) if is_array(part) else int(part.npartitions)


def _delay(part: Any) -> list[Delayed]:
    """Return one delayed object for each partition.

    Of a data frame only what it does not need is left out. To optimise it further would join the partitions of Parquet
    files where few columns are read, so that two columns of one table come in different partitions.
    """
    if is_array(part):
        return list(part.to_delayed().ravel())
    return list(part.simplify().to_delayed(optimize_graph=False))


def arrow_type(dtype: Any) -> pa.DataType | None:
    """Return the Arrow type of a pandas or NumPy type; None for objects and categories, where only the values tell.

    Examples
    --------
    >>> import numpy as np
    >>> arrow_type(np.dtype("float32"))
    DataType(float)
    """
    if isinstance(dtype, pd.StringDtype) or dtype.kind == "U":
        return _TEXT
    if dtype.kind == "O" and not isinstance(dtype, pd.ArrowDtype):
        return None
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
    encoded = any(map(pa.types.is_dictionary, types))
    for partition, values in enumerate(map(_values_type, types)):
        if pa.types.is_null(values) or values == joined:
            continue
        if pa.types.is_null(joined):
            joined = values
        elif is_number(joined) and is_number(values):
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
        zone = found.tz if pa.types.is_timestamp(found) else None
        return bool((pa.types.is_timestamp(found) or pa.types.is_date(found)) and zone == wanted.tz)
    if pa.types.is_float64(wanted):
        return is_number(found)
    return bool(pa.types.is_integer(wanted) and pa.types.is_integer(found))
