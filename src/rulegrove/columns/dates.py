"""Dates and times: recognised in text, taken apart into numbers."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from rulegrove._typing import AnyArray, FloatArray
from rulegrove.columns.feature import Feature, Part

_ISO = re.compile(r"\d{4}([-/])\d\d\1\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_OTHER_DATE = re.compile(r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b.*", re.DOTALL)
_DAY, _HOUR = 86_400_000_000, 3_600_000_000  # microseconds


def read_part(times: AnyArray, part: Part) -> FloatArray:
    """Return a part of each time, datetime64 in microseconds, as a number; NaN where there is none.

    Examples
    --------
    >>> times = np.array(["2024-02-29T13:45", "1969-12-31", "NaT"], dtype="datetime64[us]")
    >>> {part: read_part(times, part).tolist() for part in ("date", "year", "month")}
    {'date': [19782.0, -1.0, nan], 'year': [2024.0, 1969.0, nan], 'month': [2.0, 12.0, nan]}
    >>> {part: read_part(times, part).tolist() for part in ("weekday", "hour")}
    {'weekday': [4.0, 3.0, nan], 'hour': [13.0, 0.0, nan]}
    """
    counts = times.astype(np.int64)
    if part == "year":
        found = times.astype("datetime64[Y]").astype(np.int64) + 1970
    elif part == "month":
        found = times.astype("datetime64[M]").astype(np.int64) % 12 + 1
    elif part == "weekday":
        found = (counts // _DAY + 3) % 7 + 1  # 1970-01-01 was a Thursday
    else:
        found = counts // _DAY if part == "date" else counts // _HOUR % 24
    return np.where(np.isnat(times), np.nan, found.astype(np.float64))


def expand_dates(name: str, times: AnyArray, taken: Sequence[str]) -> list[Feature]:
    """Return the attributes of a column of dates: the day under its own name, and the parts that vary.

    No part gets a name that a column has `taken`.

    Examples
    --------
    >>> times = np.array(["2024-02-29", "2024-07-01"], dtype="datetime64[us]")
    >>> [feature.name for feature in expand_dates("sold", times, ["sold"])]
    ['sold', 'sold.month', 'sold.weekday']
    """
    features = [Feature(name, part="date")]
    for part in get_args(Part)[1:]:
        values = read_part(times, part)
        known = values[~np.isnan(values)]
        if known.size and np.ptp(known) > 0:
            own = f"{name}.{part}"
            while own in taken:
                own += "_"
            features.append(Feature(own, column=name, part=part))
    return features


def parse_times(values: AnyArray) -> AnyArray | None:
    """Return text as times when all of it is dates from the year down, as ISO 8601 writes them, else None.

    A missing cell is None. Slashes may stand for hyphens.
    """
    labels = set(values) - {None}
    if not labels or not all(_ISO.fullmatch(label) for label in labels):
        return None
    try:
        known = {label: as_time(dt.datetime.fromisoformat(label.replace("/", "-"))) for label in labels}
    except ValueError:  # no such day or hour
        return None
    nothing = np.datetime64("NaT", "us")
    return np.array([nothing if value is None else known[value] for value in values], dtype="datetime64[us]")


def looks_like_dates(values: AnyArray) -> bool:
    """Whether all text is dates that begin with the day or the month, which nothing tells apart.

    Examples
    --------
    >>> looks_like_dates(np.array(["31/12/2020", None, "1.1.21"], dtype=object))
    True
    """
    labels = set(values) - {None}
    return bool(labels) and all(_OTHER_DATE.fullmatch(label) for label in labels)


def as_time(value: Any) -> np.datetime64:
    """Return a date or time in microseconds; one with a zone in UTC."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")
