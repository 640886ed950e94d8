"""Times until an event, some of them censored or seen late, read from the forms in which users have them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import AnyArray, BoolArray, FloatArray, IntArray
from rulegrove._validation import is_missing
from rulegrove.exceptions import InvalidInputError

Role = Literal["entry", "time", "event"]
_BY_PLACE: dict[int, tuple[Role, ...]] = {2: ("time", "event"), 3: ("entry", "time", "event")}
_ROLES: dict[str, Role] = {
    **dict.fromkeys(("entry", "entrytime", "start", "starttime", "tstart", "begin", "truncation"), "entry"),
    **dict.fromkeys(("time", "times", "stop", "stoptime", "tstop", "end", "exit", "exittime", "duration"), "time"),
    **dict.fromkeys(("t", "tte", "timetoevent", "survivaltime", "futime", "followup", "followuptime"), "time"),
    **dict.fromkeys(("event", "events", "eventobserved", "observed", "status", "e", "dead", "died", "death"), "event"),
    **dict.fromkeys(("failure", "failed"), "event"),
}
_REVERSED = ("censored", "iscensored")
_FORMS = (
    "a tuple (time, event) or (entry, time, event) of columns, a table of two or three such columns, or a structured "
    "array of one boolean and one number"
)


@dataclass(frozen=True, eq=False)
class SurvivalTimes:
    """Times until an event.

    A row counts among those at risk at a time t if ``entry < t <= time``. The record itself is not checked;
    `read_survival` checks.

    Attributes
    ----------
    time : ndarray of shape (n_rows,)
        When the event came, or until when it had not come.
    event : ndarray of shape (n_rows,), bool
        Whether it came.
    entry : ndarray of shape (n_rows,), optional
        Since when the row was watched: had the event come earlier, the row would not be there. None is from the start.

    Examples
    --------
    >>> import numpy as np
    >>> times = SurvivalTimes(np.array([5.0, 3.0, 8.0]), np.array([True, False, True]))
    >>> len(times)
    3
    >>> times.take(np.array([0, 2])).time
    array([5., 8.])
    >>> times.to_columns()
    array([[5., 1.],
           [3., 0.],
           [8., 1.]])
    """

    time: FloatArray
    event: BoolArray
    entry: FloatArray | None = None

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: IntArray | BoolArray | slice) -> "SurvivalTimes":
        """Return some of the rows, by places, a mask or a slice."""
        return SurvivalTimes(self.time[rows], self.event[rows], None if self.entry is None else self.entry[rows])

    def to_columns(self) -> FloatArray:
        """Return time and event, or entry, time and event, as the columns of a matrix that `read_survival` reads."""
        columns = (self.time, self.event) if self.entry is None else (self.entry, self.time, self.event)
        return np.column_stack(columns).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Column:
    """One column of a target: numbers, NaN where missing, or truth values; its name, if it has one."""

    values: AnyArray
    name: str | None = None

    @property
    def role(self) -> Role | None:
        """What the name tells."""
        return None if self.name is None else _ROLES.get(_plain(self.name))


def read_survival(y: Any, n_rows: int | None = None, *, need_events: bool = True) -> SurvivalTimes:
    """Return the survival times that a target holds.

    Two columns are time and event, three are entry, time and event. A column of truth values is the event, wherever it
    stands; of the others the names tell ("time", "stop", "duration"; "event", "status"; "entry", "start"; ...), and the
    rest are in this order. A tuple of two or three is always one of columns. Times without any event, from which
    nothing can be learned, are refused unless `need_events` is false.

    Examples
    --------
    >>> read_survival(([5, 3, 8], [1, 0, 1])).event
    array([ True, False,  True])
    >>> import numpy as np
    >>> y = np.array([(True, 5.0), (False, 3.0)], dtype=[("died", "?"), ("years", "f8")])
    >>> read_survival(y).time
    array([5., 3.])
    >>> read_survival([[0, 5, 1], [2, 3, 0]]).entry
    array([0., 2.])
    >>> read_survival(([5, 3, 8], [2, 1, 2]))
    Traceback (most recent call last):
        ...
    rulegrove.exceptions.InvalidInputError: Events must be 1 or 0; got 1 and 2. Subtract 1, so that 1 is an event.
    """
    columns = _split(y.to_columns() if isinstance(y, SurvivalTimes) else y)
    found = _assign(columns)
    sizes = [len(column.values) for column in columns]
    if len(set(sizes)) > 1:
        raise InvalidInputError(f"The columns of survival times must be of one length; got {sizes}.")
    if n_rows is not None and sizes[0] != n_rows:
        raise InvalidInputError(f"X has {n_rows} rows but y has {sizes[0]}; give one time and event a row.")
    if not sizes[0]:
        raise InvalidInputError("Survival times need at least one row; got none.")
    time, event = _read_times(found["time"].values, "time"), _read_events(found["event"].values)
    entry = _read_times(found["entry"].values, "entry time") if "entry" in found else None
    if entry is not None and (entry >= time).any():
        row = int(np.argmax(entry >= time))
        raise InvalidInputError(
            f"Entry must be earlier than time; got entry {entry[row]:g} and time {time[row]:g} in row {row}. Drop such "
            "rows: they were never at risk."
        )
    if need_events and not event.any():
        raise InvalidInputError("No row has an event, so there is nothing to learn from; events are 1 or True.")
    return SurvivalTimes(time, event, entry)


def _plain(name: str) -> str:
    """Return a name in small letters and digits alone."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _split(y: Any) -> list[_Column]:
    """Return the columns of a target in any form."""
    if y is None:
        raise InvalidInputError(f"y is None; survival times are {_FORMS}.")
    if np.ma.is_masked(y):
        raise InvalidInputError("Survival times must not be masked; drop the rows that are.")
    if nw.dependencies.is_polars_lazyframe(y):
        raise InvalidInputError("y is a polars LazyFrame; call .collect() and pass the DataFrame.")
    if nw.dependencies.is_into_dataframe(y):
        frame = nw.from_native(y, eager_only=True)
        names = list(frame.columns)
        return [_Column(_tidy(frame[:, place].to_numpy()), str(name)) for place, name in enumerate(names)]
    if isinstance(y, tuple) and len(y) in _BY_PLACE:
        return [_Column(_tidy(column)) for column in y]
    try:
        table = np.asarray(y)
    except ValueError:
        raise InvalidInputError(f"y has rows of different lengths; survival times are {_FORMS}.") from None
    if table.dtype.names is not None:
        return [_Column(_tidy(table[name]), name) for name in table.dtype.names]
    if table.ndim != 2 or table.shape[1] not in _BY_PLACE:
        raise InvalidInputError(f"y has the shape {table.shape}; survival times are {_FORMS}.")
    return [_Column(_tidy(column)) for column in table.T]


def _tidy(values: Any) -> AnyArray:
    """Return a column of objects as truth values or numbers, NaN where missing; other columns as they are."""
    if np.ma.is_masked(values):
        raise InvalidInputError("Survival times must not be masked; drop the rows that are.")
    column = np.asarray(values)
    if column.ndim != 1:
        raise InvalidInputError(f"A column of survival times must have one dimension; got the shape {column.shape}.")
    if column.dtype != object:
        return column
    cells = column.tolist()
    if cells and all(isinstance(cell, (bool, np.bool_)) for cell in cells):
        return column.astype(np.bool_)
    try:
        return np.array([np.nan if is_missing(cell) else cell for cell in cells], dtype=np.float64)
    except (TypeError, ValueError):
        return column


def _assign(columns: Sequence[_Column]) -> dict[Role, _Column]:
    """Return which column is what: by truth values, by names, or by place."""
    if len(columns) not in _BY_PLACE:
        raise InvalidInputError(f"y has {len(columns)} columns; survival times are {_FORMS}.")
    roles = [column.role for column in columns]
    boolean = [place for place, column in enumerate(columns) if column.values.dtype.kind == "b"]
    if len(boolean) == 1:
        roles = [None if role == "event" else role for role in roles]
        roles[boolean[0]] = "event"
    else:
        _check_direction(columns)
    told = [role for role in roles if role is not None]
    expected = _BY_PLACE[len(columns)]
    if len(set(told)) == len(told) and set(told) <= set(expected):
        rest = [role for role in expected if role not in told]
        return {role or rest.pop(0): column for role, column in zip(roles, columns, strict=True)}
    names = [column.name for column in columns]
    raise InvalidInputError(
        f"The columns {names} do not tell which is which; name them {' and '.join(map(repr, expected))}, or give a "
        "tuple of them in this order."
    )


def _check_direction(columns: Sequence[_Column]) -> None:
    """Refuse a column that says the opposite of an event."""
    for column in columns:
        if column.name is not None and _plain(column.name) in _REVERSED:
            raise InvalidInputError(
                f"Column {column.name!r} tells who was censored; give a column 'event' that is 1 where the event came."
            )


def _read_times(values: AnyArray, name: str) -> FloatArray:
    """Return times as finite numbers that are not negative."""
    if values.dtype.kind in "mM":
        raise InvalidInputError(
            f"The {name} must be numbers; got {values.dtype}. Divide durations by a unit, np.timedelta64(1, 'D') or "
            "another."
        )
    if values.dtype.kind not in "fiu":
        raise InvalidInputError(f"The {name} must be numbers; got {_describe(values)}. Convert them to numbers.")
    times: FloatArray = values.astype(np.float64)
    if not np.isfinite(times).all():
        row = int(np.argmin(np.isfinite(times)))
        raise InvalidInputError(f"The {name} of row {row} is missing or infinite ({times[row]}); drop such rows.")
    if (times < 0).any():
        row = int(np.argmax(times < 0))
        raise InvalidInputError(f"The {name} must not be negative; got {times[row]:g} in row {row}. Count from 0.")
    return times


def _read_events(values: AnyArray) -> BoolArray:
    """Return whether there was an event."""
    if values.dtype.kind == "b":
        return values.copy()
    if values.dtype.kind not in "fiu":
        raise InvalidInputError(f"Events must be True or False, or 1 or 0; got {_describe(values)}.")
    found = np.unique(values)
    if np.isnan(values).any():
        raise InvalidInputError(f"The event of row {int(np.argmax(np.isnan(values)))} is missing; drop such rows.")
    if np.isin(found, (1, 2)).all() and 2 in found:
        raise InvalidInputError("Events must be 1 or 0; got 1 and 2. Subtract 1, so that 1 is an event.")
    if not np.isin(found, (0, 1)).all():
        strange = found[~np.isin(found, (0, 1))].tolist()
        raise InvalidInputError(
            f"Events must be 1 or 0; got {strange[0]:g}. If these are the times, exchange the two; of several kinds of "
            "events give 1 to the one to be predicted."
        )
    return np.asarray(values == 1)


def _describe(values: AnyArray) -> str:
    """Return in words what a column holds that is no number."""
    if values.dtype.kind == "b":
        return "truth values"
    return f"values such as {values.tolist()[0]!r}" if len(values) else f"values of type {values.dtype}"
