"""The table as the stages see it: named attributes, read a block of rows at a time.

Whatever the user holds (array, pandas, polars, Arrow), a `Columns` gives blocks of float64 with one row an
attribute: numbers as they are (float32 widened exactly), categories as codes, NaN where missing. The user's memory is
read in place; only text and categories are encoded into new arrays.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from sklearn.utils import check_array

from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove._validation import is_missing
from rulegrove.exceptions import InvalidInputError

CHUNK_ROWS = 1024  # rows gathered at once from a row-major array, so that the transposition stays in cache

Part = Literal["date", "year", "month", "weekday", "hour"]

Categorical = Any  # "auto", None, names, positions or a mask: what `categorical_features` takes


@dataclass(frozen=True, slots=True)
class Feature:
    """An attribute that rules speak of, and how it is read from a column of the table.

    Attributes
    ----------
    name : str
    categories : tuple, optional
        Labels of a categorical attribute, in the order of their codes. Any other label has the code
        ``len(categories)``; a missing value has none.
    pooled : bool
        Whether all labels that are not among `categories` form one more category, which rules may hold for: those
        that were rare in the training table, and those that it did not have.
    column : str, optional
        The column that the attribute is read from, if that has another name.
    part : {"date", "year", "month", "weekday", "hour"}, optional
        What the attribute tells of a column of dates or times: whole days since 1970-01-01, the year, the month
        from 1 to 12, the day of the week from 1 (Monday) to 7, or the hour from 0 to 23. Times with a zone are read in
        UTC.
    as_text : bool
        Whether the column holds numbers written as text, such as "35%" or "$1,234".

    Examples
    --------
    >>> Feature("sold.month", column="sold", part="month").source
    'sold'
    """

    name: str
    categories: tuple[Hashable, ...] | None = None
    pooled: bool = False
    column: str | None = None
    part: Part | None = None
    as_text: bool = False

    @property
    def source(self) -> str:
        """Name of the column that the attribute is read from."""
        return self.name if self.column is None else self.column

    @property
    def n_categories(self) -> int:
        """Categories that rules may hold for, the pooled one included; 0 for a number."""
        return 0 if self.categories is None else len(self.categories) + self.pooled


class Columns:
    """Rows of a table by attribute.

    Parameters
    ----------
    features : sequence of Feature
    values : ndarray of shape (n_rows, n_features) or sequence of ndarray of shape (n_rows,)
        A float matrix, or one float array an attribute.

    Examples
    --------
    >>> import numpy as np
    >>> columns = Columns([Feature("a"), Feature("b")], np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> columns.take(slice(None), np.array([1]))
    array([[2., 4.]])
    """

    __slots__ = ("_arrays", "_matrix", "features", "n_rows")

    def __init__(self, features: Sequence[Feature], values: AnyArray | Sequence[AnyArray]):
        self.features = tuple(features)
        whole = isinstance(values, np.ndarray) and values.flags.c_contiguous
        self._matrix = values if isinstance(values, np.ndarray) and whole else None
        self._arrays = values.T if isinstance(values, np.ndarray) else tuple(values)
        self.n_rows = len(values) if isinstance(values, np.ndarray) else len(values[0])

    @property
    def n_features(self) -> int:
        """Number of attributes."""
        return len(self.features)

    @property
    def n_categories(self) -> IntArray:
        """Categories of each attribute; 0 for a numeric one."""
        return np.array([feature.n_categories for feature in self.features], dtype=np.int64)

    def take(self, rows: IntArray | slice, features: IntArray | None = None) -> FloatArray:
        """Block of shape (len(features), n_taken): float64, one row an attribute."""
        wanted = np.arange(self.n_features) if features is None else features
        n_taken = len(range(*rows.indices(self.n_rows))) if isinstance(rows, slice) else len(rows)
        block = np.empty((len(wanted), n_taken))
        if self._matrix is None:
            for target, feature in zip(block, wanted, strict=True):
                target[:] = self._arrays[feature][rows]
            return block
        for start in range(0, n_taken, CHUNK_ROWS):
            stop = min(start + CHUNK_ROWS, n_taken)
            block[:, start:stop] = self._matrix[_part(rows, start, stop)].T[wanted]
        return block

    def check_finite(self) -> None:
        """Refuse infinite values, naming the first column that holds one."""
        if self._matrix is not None:
            starts = range(0, self.n_rows, CHUNK_ROWS)
            if not any(np.isinf(self._matrix[start : start + CHUNK_ROWS]).any() for start in starts):
                return
        for position, (feature, values) in enumerate(zip(self.features, self._arrays, strict=True)):
            if np.isinf(values).any():
                row = int(np.flatnonzero(np.isinf(values))[0])
                raise InvalidInputError(
                    f"Column {position} ('{feature.name}') must be finite or missing; got {values[row]} in row {row}. "
                    "Replace infinite values by a bound or by NaN."
                )


def _part(rows: IntArray | slice, start: int, stop: int) -> IntArray | slice:
    """Positions start to stop of a selection of rows."""
    if isinstance(rows, slice):
        first, step = rows.start or 0, rows.step or 1
        return slice(first + start * step, first + stop * step, step)
    return rows[start:stop]


def is_frame(X: Any) -> bool:
    """Whether `X` is a data frame (pandas, polars, Arrow, ...)."""
    return bool(nw.dependencies.is_into_dataframe(X))


def as_table(X: Any) -> Any:
    """Return a data frame as it is, with distinct column names, or anything else as an array of two dimensions."""
    if _is_plain_table(X) or _column_names(X) is not None:
        return X
    return check_array(X, dtype=None, ensure_all_finite=False)


def _is_plain_table(X: Any) -> bool:
    """Whether `X` is an array of numbers that `check_array` would return as it is, in half of a row's latency."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype.kind in "fiub"


def _column_names(X: Any) -> list[str] | None:
    """Names of a data frame's columns, each once; None for an array."""
    if isinstance(X, np.ndarray):
        return None
    if nw.dependencies.is_polars_lazyframe(X):
        raise InvalidInputError("X is a polars LazyFrame; call .collect() and pass the DataFrame.")
    if not is_frame(X):
        return None
    names = list(X.column_names if nw.dependencies.is_pyarrow_table(X) else X.columns)
    repeated = sorted({str(name) for name in names if names.count(name) > 1})
    if repeated:
        raise InvalidInputError(f"Column names must be unique; got {repeated[0]!r} more than once. Rename one of them.")
    return [str(name) for name in names]


def learn_columns(
    X: Any, *, categorical: Categorical = "auto", max_categories: int = 255, rows: IntArray | None = None
) -> Columns:
    """Read a training table and decide which attributes are categories.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features)
    categorical : {"auto"}, None or array-like
        Names, positions or mask of the categorical columns. "auto" takes text and categorical columns of a data frame
        or an object array.
    max_categories : int
        More categories than this are refused.
    rows : ndarray of shape (n_some,), optional
        Rows whose categories are learned; one that these do not have is unknown, as in `encode_columns`. All by
        default.

    Returns
    -------
    Columns

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, "red"], [2.0, "blue"], [3.0, None]], dtype=object)
    >>> columns = learn_columns(X)
    >>> columns.features[1].categories
    ('blue', 'red')
    >>> columns.take(slice(None))
    array([[ 1.,  2.,  3.],
           [ 1.,  0., nan]])
    """
    names, raw = _raw_columns(X)
    if isinstance(raw, np.ndarray) and (categorical is None or isinstance(categorical, str)):
        columns = Columns([Feature(name) for name in names], raw)
        columns.check_finite()
        return columns
    chosen = _chosen_categorical(categorical, names)
    features, arrays = [], []
    for position, (name, values) in enumerate(zip(names, _split(raw), strict=True)):
        place = f"Column {position} ('{name}')"
        if chosen[position] if chosen is not None else values.dtype == object:
            if chosen is None and categorical is None:
                raise InvalidInputError(f"{place} holds text and `categorical_features` is None; encode or list it.")
            labels = _labels(values if rows is None else values[rows], place)
            if len(labels) > max_categories:
                raise InvalidInputError(
                    f"{place} has {len(labels)} categories, more than the {max_categories} bins of `max_bins`. "
                    "Join rare categories, or drop the column if it is an identifier."
                )
            features.append(Feature(name, labels))
            arrays.append(_encode(values, labels))
        elif values.dtype == object:
            raise InvalidInputError(f"{place} holds text but is not in `categorical_features`; add it or encode it.")
        else:
            features.append(Feature(name))
            arrays.append(values)
    columns = Columns(features, arrays)
    columns.check_finite()
    return columns


def encode_columns(X: Any, features: Sequence[Feature]) -> Columns:
    """Read a table whose attributes are known; categories not among them get a code that no rule holds.

    Examples
    --------
    >>> import numpy as np
    >>> colour = Feature("colour", ("blue", "red"))
    >>> encode_columns(np.array([["red"], ["green"]], dtype=object), [colour]).take(slice(None))
    array([[1., 2.]])
    """
    _, raw = _raw_columns(X)
    if isinstance(raw, np.ndarray) and all(feature.categories is None for feature in features):
        columns = Columns(features, raw)
    else:
        arrays = []
        for position, (feature, values) in enumerate(zip(features, _split(raw), strict=True)):
            known = f"Column {position} ('{feature.name}') was {{}} when the model was fitted; got {{}}."
            if feature.categories is not None:
                if any(isinstance(label, str) for label in feature.categories) and _has_numbers(values):
                    raise InvalidInputError(
                        known.format("text", "numbers") + " Convert it to the categories of the fit."
                    )
                arrays.append(_encode(values, feature.categories))
            elif values.dtype == object:
                raise InvalidInputError(known.format("numeric", "text") + " Convert it to numbers.")
            else:
                arrays.append(values)
        columns = Columns(features, arrays)
    columns.check_finite()
    return columns


def _has_numbers(values: AnyArray) -> bool:
    """Whether a column holds numbers, not labels and not only missing values."""
    return values.dtype != object and not np.isnan(values).all()


def _split(raw: AnyArray | Sequence[AnyArray]) -> Iterable[AnyArray]:
    """One array a column."""
    return raw.T if isinstance(raw, np.ndarray) else raw


def _raw_columns(X: Any) -> tuple[list[str], AnyArray | list[AnyArray]]:
    """Names and either one float matrix or one array a column: float, or object for labels."""
    names = _column_names(X)
    if names is not None:
        try:
            frame = nw.from_native(X, eager_only=True)
        except DuplicateError as error:
            raise InvalidInputError(f"Column names must be unique; {error}") from None
        _check_size(len(frame), len(names))
        places = (f"Column {k} ('{name}')" for k, name in enumerate(names))
        return names, [_read_series(*pair) for pair in zip(frame.iter_columns(), places, strict=True)]
    array = as_table(X)
    names = [f"x{k}" for k in range(array.shape[1])]
    if array.dtype.kind in "US":
        raise InvalidInputError("X is an array of text; pass a data frame or an object array to mix text and numbers.")
    if array.dtype == object:
        return names, [_read_objects(array[:, k], f"Column {k} ('{name}')") for k, name in enumerate(names)]
    if array.dtype.kind not in "fiub":
        raise InvalidInputError(f"X must be numeric, text or a data frame; got an array of {array.dtype}.")
    return names, array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _check_size(n_rows: int, n_features: int) -> None:
    """Refuse a data frame without rows or columns, in scikit-learn's words."""
    for count, kind in ((n_rows, "sample"), (n_features, "feature")):
        if count == 0:
            shape = f"(shape=({n_rows}, {n_features}))"
            raise InvalidInputError(f"Found array with 0 {kind}(s) {shape} while a minimum of 1 is required.")


def _read_series(series: "nw.Series[Any]", place: str) -> AnyArray:
    """Return a data frame's column as floats, or as objects with None where missing."""
    dtype = series.dtype
    if dtype.is_decimal() or dtype == nw.Boolean:
        series = series.cast(nw.Float64)
    if dtype.is_numeric() or dtype == nw.Boolean:
        values = series.to_numpy()
        return values if values.dtype == np.float32 else np.asarray(values, dtype=np.float64)
    if dtype in (nw.String, nw.Categorical, nw.Enum) or isinstance(dtype, nw.Enum):
        return _objects(series)
    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    if dtype == nw.Object or dtype == nw.Unknown:
        return _read_objects(_objects(series), place)
    raise InvalidInputError(f"{place} is neither numeric nor categorical: {dtype}. Convert or drop it.")


def _objects(series: "nw.Series[Any]") -> AnyArray:
    """Values of a column as Python objects, None where missing."""
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    values[series.is_null().to_numpy()] = None
    return values


def _read_objects(values: AnyArray, place: str) -> AnyArray:
    """Python objects as floats when all are numbers, as labels when all are text."""
    missing = np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))
    present = values[~missing]
    if all(isinstance(value, str) for value in present) and len(present):
        labels = values.copy()
        labels[missing] = None
        return labels
    numbers = np.full(len(values), np.nan)
    try:
        numbers[~missing] = [_as_number(value) for value in present]
    except TypeError:
        kinds = ", ".join(sorted({type(value).__name__ for value in present}))
        message = (
            f"{place} is neither numeric nor categorical: each argument must be a string or a number; got {kinds}."
        )
        raise TypeError(message) from None
    return numbers


def _as_number(value: Any) -> float:
    """Return a float, but never from text among numbers."""
    if isinstance(value, (str, bytes)):
        raise TypeError
    return float(value)


def _labels(values: AnyArray, place: str) -> tuple[Hashable, ...]:
    """Distinct labels of a column, sorted."""
    if values.dtype != object:
        return tuple(np.unique(values[~np.isnan(values)]).tolist())
    labels = {value for value in values if value is not None}
    try:
        return tuple(sorted(labels))
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise InvalidInputError(
            f"{place} mixes categories of different types: {kinds}. Convert them to text."
        ) from None


def _encode(values: AnyArray, labels: Sequence[Hashable]) -> AnyArray:
    """Codes of the labels as float32; an unknown label gets the first code that is not taken."""
    codes: Mapping[Hashable, float] = {label: float(code) for code, label in enumerate(labels)}
    missing = np.array([value is None for value in values]) if values.dtype == object else np.isnan(values)
    encoded = np.full(len(values), np.nan, dtype=np.float32)
    encoded[~missing] = [codes.get(value, float(len(labels))) for value in values[~missing].tolist()]
    return encoded


def _chosen_categorical(categorical: Categorical, names: Sequence[str]) -> list[bool] | None:
    """Which columns `categorical_features` names; None leaves the choice to the column types."""
    if categorical is None or (isinstance(categorical, str) and categorical == "auto"):
        return None
    listed = list(categorical)
    if listed and all(isinstance(item, (bool, np.bool_)) for item in listed):
        if len(listed) != len(names):
            raise InvalidInputError(
                f"The mask `categorical_features` has {len(listed)} entries for {len(names)} columns; give each one."
            )
        return [bool(item) for item in listed]
    positions = {name: position for position, name in enumerate(names)}
    chosen = [False] * len(names)
    for item in listed:
        position = positions.get(item) if isinstance(item, str) else int(item)
        if position is None or not 0 <= position < len(names):
            raise InvalidInputError(f"`categorical_features` names {item!r}, which is not a column of X.")
        chosen[position] = True
    return chosen
