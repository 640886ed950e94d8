"""Any table, column by column: numbers, text, categories or times, as the user's library has them."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from scipy.sparse import issparse
from sklearn.utils import check_array

from rulegrove._typing import AnyArray
from rulegrove._validation import is_missing
from rulegrove.columns.dates import as_time
from rulegrove.columns.feature import call_column
from rulegrove.exceptions import InvalidInputError

Kind = Literal["number", "integer", "boolean", "text", "category", "time", "mixed"]


@dataclass(frozen=True)
class Cells:
    """The cells of a column."""

    # (n_rows,): floats of a "number" (times of day in hours), "integer" or "boolean" (1 is true); objects of "text", a
    # "category" or "mixed" (numbers and text), None where missing; datetime64 in microseconds of a "time".
    values: AnyArray
    kind: Kind


def is_frame(X: Any) -> bool:
    """Whether `X` is a data frame (pandas, polars, Arrow, ...)."""
    return bool(nw.dependencies.is_into_dataframe(X))


def as_table(X: Any) -> Any:
    """Return a data frame as it is, with distinct column names, or anything else as a matrix.

    Anything else becomes an array of two dimensions, or a sparse matrix in rows; masked values are missing.
    """
    if _is_plain_table(X) or _frame_names(X) is not None:
        return X
    if isinstance(X, np.ma.MaskedArray):
        kind, nothing = (object, None) if X.dtype.kind in "OUSM" else (np.float64, np.nan)
        values = np.array(X.data, dtype=kind)
        values[np.ma.getmaskarray(X)] = nothing
        X = values
    return check_array(X, dtype=None, ensure_all_finite=False, accept_sparse="csr")


def count_rows(table: Any) -> int:
    """Return the number of rows of what `as_table` returned."""
    return int(table.shape[0])


def list_names(table: Any) -> list[str]:
    """Return the names of a table's columns; those of an array are x0, x1, and so on."""
    names = _frame_names(table)
    return [f"x{k}" for k in range(table.shape[1])] if names is None else names


def _is_plain_table(X: Any) -> bool:
    """Whether `X` is an array of numbers that `check_array` would return as it is, in half of a row's latency."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype.kind in "fiub"


def _frame_names(X: Any) -> list[str] | None:
    """Names of a data frame's columns, each once; None for an array."""
    if isinstance(X, np.ndarray):
        return None
    if nw.dependencies.is_polars_lazyframe(X):
        raise InvalidInputError("X is a polars LazyFrame; call .collect() and pass the DataFrame.")
    if not is_frame(X):
        return None
    names = list(map(str, X.column_names if nw.dependencies.is_pyarrow_table(X) else X.columns))
    name, count = Counter(names).most_common(1)[0] if names else ("", 1)
    if count > 1:
        raise InvalidInputError(f"Column names must be unique; got {name!r} more than once. Rename one of them.")
    return names


class Table:
    """A table whose columns are read when they are asked for.

    Where all are numbers of one type, `matrix` has all columns at once; `boolean` tells whether these are truth values.
    """

    def __init__(self, X: Any):
        table = as_table(X)
        self.names = list_names(table)
        self.n_rows = count_rows(table)
        self.matrix: Any = None
        self.boolean = False
        self._frame: Any = None
        self._keys: Sequence[Any] = ()
        self._array: Any = None
        if is_frame(table):
            try:
                self._frame = nw.from_native(table, eager_only=True)
            except DuplicateError as error:
                raise InvalidInputError(f"Column names must be unique; {error}") from None
            self._keys = self._frame.columns  # those of pandas need not be text; asking for a column by place is slow
            _check_size(self.n_rows, len(self.names))
            return
        kind = table.dtype.kind
        if kind in "US":
            raise InvalidInputError(
                "X is an array of text; pass a data frame or an object array to mix text and numbers."
            )
        if kind in "OM":
            self._array = table
        elif kind in "fiub":
            self.matrix = table if table.dtype in (np.float32, np.float64) else table.astype(np.float64)
            self.boolean = kind == "b"
        else:
            raise InvalidInputError(f"X must be numeric, text or a data frame; got an array of {table.dtype}.")

    def place(self, position: int) -> str:
        """Return what a column is called in messages."""
        return call_column(position, self.names[position])

    def read(self, position: int) -> Cells:
        """Return the cells of a column."""
        if self._frame is not None:
            return _read_series(self._frame.get_column(self._keys[position]), self.place(position))
        if self.matrix is not None:
            column = self.matrix[:, [position]].toarray()[:, 0] if issparse(self.matrix) else self.matrix[:, position]
            return Cells(column, "boolean" if self.boolean else "number")
        column = self._array[:, position]
        return _read_times(column) if column.dtype.kind == "M" else _read_objects(column, self.place(position))


def _check_size(n_rows: int, n_features: int) -> None:
    """Refuse a data frame without rows or columns, in scikit-learn's words."""
    for count, kind in ((n_rows, "sample"), (n_features, "feature")):
        if count == 0:
            shape = f"(shape=({n_rows}, {n_features}))"
            raise InvalidInputError(f"Found array with 0 {kind}(s) {shape} while a minimum of 1 is required.")


def _read_series(series: "nw.Series[Any]", place: str) -> Cells:
    """Return the cells of a data frame's column."""
    dtype = series.dtype
    if dtype.is_decimal() or dtype == nw.Boolean:
        series = series.cast(nw.Float64)
    if dtype.is_numeric() or dtype == nw.Boolean:
        values = series.to_numpy()
        values = values if values.dtype == np.float32 else np.asarray(values, dtype=np.float64)
        return Cells(values, "boolean" if dtype == nw.Boolean else "integer" if dtype.is_integer() else "number")
    if dtype in (nw.Categorical, nw.Enum) or isinstance(dtype, nw.Enum):
        return Cells(_objects(series), "category")
    if dtype == nw.String:
        return Cells(_objects(series), "text")
    if series.null_count() == len(series):
        return Cells(np.full(len(series), np.nan), "number")
    if dtype == nw.Date:
        series, dtype = series.cast(nw.Datetime("us")), nw.Datetime("us")
    if dtype == nw.Datetime:
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _read_times(series.to_numpy())
    if dtype == nw.Time:
        return Cells(np.array([_as_hours(value) for value in series.to_list()]), "number")
    if dtype == nw.Object or dtype == nw.Unknown:
        return _read_objects(_objects(series), place)
    raise InvalidInputError(f"{place} is neither numeric nor categorical nor a date: {dtype}. Convert or drop it.")


def _objects(series: "nw.Series[Any]") -> AnyArray:
    """Values of a column as Python objects, None where missing."""
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    values[series.is_null().to_numpy()] = None
    return values


def _read_times(values: AnyArray) -> Cells:
    """Return datetime64 of any unit in whole microseconds."""
    return Cells(np.asarray(values).astype("datetime64[us]"), "time")


def _read_objects(values: AnyArray, place: str) -> Cells:
    """Python objects as text, as times or as floats, when all are of one kind; numbers and text stay as they are."""
    missing = np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))
    present = values[~missing]
    if len(present) and all(isinstance(value, (dt.date, np.datetime64)) for value in present):
        times = np.full(len(values), np.datetime64("NaT"), dtype="datetime64[us]")
        times[~missing] = [as_time(value) for value in present]
        return Cells(times, "time")
    if len(present) and all(isinstance(value, dt.time) for value in present):
        hours = np.full(len(values), np.nan)
        hours[~missing] = [_as_hours(value) for value in present]
        return Cells(hours, "number")
    if any(isinstance(value, str) for value in present):
        kinds = {type(value) for value in present}
        if all(issubclass(kind, (str, int, float, np.number)) for kind in kinds):
            labels = values.copy()
            labels[missing] = None
            return Cells(labels, "text" if all(issubclass(kind, str) for kind in kinds) else "mixed")
    numbers = np.full(len(values), np.nan)
    try:
        numbers[~missing] = [_as_number(value) for value in present]
    except TypeError:
        kinds_told = ", ".join(sorted({type(value).__name__ for value in present}))
        raise TypeError(
            f"{place} is neither numeric nor categorical: each argument must be a string or a number; got {kinds_told}."
        ) from None
    except OverflowError:
        raise InvalidInputError(
            f"{place} holds a number beyond 1.8e308, the largest that a float can be. Rescale the column or drop it."
        ) from None
    truths = len(present) > 0 and all(isinstance(value, (bool, np.bool_)) for value in present)
    return Cells(numbers, "boolean" if truths else "number")


def _as_hours(value: dt.time | None) -> float:
    """Return a time of day in hours."""
    if value is None:
        return np.nan
    return value.hour + value.minute / 60 + (value.second + value.microsecond / 1e6) / 3600


def _as_number(value: Any) -> float:
    """Return a float, but never from text among numbers."""
    if isinstance(value, (str, bytes)):
        raise TypeError
    return float(value)
