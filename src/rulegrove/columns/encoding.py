"""A table whose attributes are known, as numbers and codes; columns are read when they are asked for."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from rulegrove._typing import AnyArray
from rulegrove._validation import is_missing
from rulegrove._warn import warn_user
from rulegrove.columns.blocks import Columns, check_finite
from rulegrove.columns.dates import parse_times, read_part
from rulegrove.columns.feature import Feature, call_column, list_sources
from rulegrove.columns.numbers import read_numbers
from rulegrove.columns.tables import Cells, Table
from rulegrove.exceptions import InvalidInputError, UnknownCategoryWarning


def encode_columns(
    X: Any, features: Sequence[Feature], names: Sequence[str] | None = None, *, warn: bool = False
) -> Columns:
    """Read a table whose attributes are known; categories not among them get a code that no rule holds.

    The table has just as many columns as there are `names`, in that order, or some of them by their names; by default
    these are the columns that the attributes are read from. A column of a data frame or an object array is read when
    one of its attributes is taken from what is returned, and need not be there before. With `warn` there is a
    warning of a column none of whose categories is known.
    """
    table = Table(X)
    names = list_sources(features) if names is None else names
    plain = all(feature.categories is None and feature.part is None for feature in features)
    if table.matrix is not None and plain and len(features) == len(table.names):
        columns = Columns(features, table.matrix)
        columns.check_finite()
        return columns
    given = names if len(names) == len(table.names) else table.names
    return Columns(features, _Encoded(table, features, given, warn), table.n_rows)


class _Encoded(Sequence[AnyArray]):
    """The values of each attribute, read from the table once."""

    def __init__(self, table: Table, features: Sequence[Feature], names: Sequence[str], warn: bool):
        self._table, self._features, self._warn = table, features, warn
        self._places = {name: place for place, name in enumerate(names)}
        self._dates: dict[int, AnyArray] = {}
        self._values: dict[int, AnyArray] = {}
        self._lock = threading.Lock()  # several threads score blocks of rows

    def __len__(self) -> int:
        return len(self._features)

    def __getitem__(self, position: Any) -> Any:
        with self._lock:
            if position not in self._values:
                self._values[position] = self._encode(self._features[position])
            return self._values[position]

    def _encode(self, feature: Feature) -> AnyArray:
        """Return the values of an attribute, refusing a column of another kind than it was in the fit."""
        if feature.source not in self._places:
            raise InvalidInputError(f"X has no column {feature.source!r}, which the model needs.")
        place = self._places[feature.source]
        told = call_column(place, feature.source)
        if feature.part is not None:
            return read_part(self._times(place, told), feature.part)
        cells = self._table.read(place)
        if feature.categories is not None:
            values = encode_labels(_check_labels(cells, feature, told), feature)
            if self._warn and not feature.pooled:
                _warn_unknown(values, cells.values, feature, told)
            return values
        values = cells.values
        if feature.as_text and values.dtype == object:
            values = read_numbers(values)
        if values.dtype.kind not in "fiub":
            came = "dates" if cells.kind == "time" else "text"
            raise InvalidInputError(f"{told} was numeric when the model was fitted; got {came}. Convert it to numbers.")
        check_finite(values, told)
        return values

    def _times(self, place: int, told: str) -> AnyArray:
        """Return a column of dates, kept for its other parts."""
        if place not in self._dates:
            cells = self._table.read(place)
            times = parse_times(cells.values) if cells.kind == "text" else cells.values
            if all(map(is_missing, cells.values)):  # as a few rows may well be, whatever their type
                times = np.full(len(cells.values), np.datetime64("NaT"), dtype="datetime64[us]")
            if times is None or times.dtype.kind != "M":
                came = "other text" if cells.kind == "text" else "numbers" if cells.values.dtype != object else "labels"
                raise InvalidInputError(
                    f"{told} was dates when the model was fitted; got {came}. Write dates as 2024-02-29, or as "
                    "2024-02-29 13:45:00."
                )
            self._dates[place] = times
        return self._dates[place]


def _check_labels(cells: Cells, feature: Feature, told: str) -> AnyArray:
    """Return the labels of a column, refusing numbers for text and text for numbers."""
    values = cells.values
    was_text = any(isinstance(label, str) for label in feature.categories or ())
    came = ""
    if cells.kind == "time":
        came = "dates"
    elif values.dtype != object and was_text and not np.isnan(values).all():
        came = "numbers"
    elif values.dtype == object and feature.categories and not was_text and any(isinstance(v, str) for v in values):
        came = "text"
    if came:
        raise InvalidInputError(
            f"{told} was {'text' if was_text else 'numbers'} when the model was fitted; got {came}. Convert it to the "
            "categories of the fit."
        )
    return values


def encode_labels(values: AnyArray, feature: Feature) -> AnyArray:
    """Return the codes of labels as float32; an unknown label gets the first code that is not taken."""
    labels = feature.categories or ()
    codes = {label: float(code) for code, label in enumerate(labels)}
    missing = np.array([value is None for value in values]) if values.dtype == object else np.isnan(values)
    encoded = np.full(len(values), np.nan, dtype=np.float32)
    encoded[~missing] = [codes.get(value, float(len(labels))) for value in values[~missing].tolist()]
    return encoded


def _warn_unknown(codes: AnyArray, values: AnyArray, feature: Feature, told: str) -> None:
    """Warn of a column none of whose labels is known; one row alone may well have a new one."""
    known = ~np.isnan(codes)
    if np.count_nonzero(known) > 1 and (codes[known] == len(feature.categories or ())).all():
        first = values[int(np.argmax(known))]
        warn_user(
            f"{told}: no row has a category that the model knows; the first is {first!r}. Rules on this column hold "
            "nowhere.",
            UnknownCategoryWarning,
        )
