import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove.columns import Feature, encode_columns, learn_columns
from rulegrove.columns.dates import parse_times, read_part
from rulegrove.exceptions import InvalidInputError

PARTS = ("date", "year", "month", "weekday", "hour")


@given(st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(2400, 12, 31)))
def test_the_parts_are_those_of_the_calendar(time):
    times = np.array([time], dtype="datetime64[us]")
    expected = [(time.date() - dt.date(1970, 1, 1)).days, time.year, time.month, time.isoweekday(), time.hour]
    assert [read_part(times, part)[0] for part in PARTS] == expected


@given(st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1), timezones=st.none() | st.timezones()))
def test_text_is_the_time_that_it_writes(time):
    text = np.array([time.isoformat(), None], dtype=object)
    if time.utcoffset() is not None and time.utcoffset() % dt.timedelta(minutes=1):
        return  # offsets of seconds, before there were time zones
    there = time if time.tzinfo is None else time.astimezone(dt.UTC).replace(tzinfo=None)
    found = parse_times(text)
    assert found[0] == np.datetime64(there, "us")
    assert np.isnat(found[1])


@pytest.mark.parametrize("text", ["2024-02-30", "2024-13-01", "24-01-01", "2024-01-01 25:00", "2024-01", "today", ""])
def test_what_is_no_date_stays_text(text):
    assert parse_times(np.array(["2024-01-01", text], dtype=object)) is None


TIMES = [dt.datetime(2024, 2, 29, 13, 45), None, dt.datetime(1969, 12, 31, 23, 59), dt.datetime(2025, 7, 5)]
EXPECTED = [
    [19782, np.nan, -1, 20274],
    [2024, np.nan, 1969, 2025],
    [2, np.nan, 12, 7],
    [4, np.nan, 3, 6],
    [13, np.nan, 23, 0],
]


def tables():
    series = pd.Series(pd.to_datetime(TIMES))
    yield "pandas", pd.DataFrame({"sold": series})
    yield "pandas seconds", pd.DataFrame({"sold": series.astype("datetime64[s]")})
    yield "pandas zone", pd.DataFrame({"sold": series.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")})
    yield "pandas arrow", pd.DataFrame({"sold": pd.Series(TIMES, dtype=pd.ArrowDtype(pa.timestamp("us")))})
    yield "polars", pl.DataFrame({"sold": TIMES})
    yield (
        "polars zone",
        pl.DataFrame({"sold": pl.Series(TIMES).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")}),
    )
    yield "arrow", pa.table({"sold": pa.array(TIMES, pa.timestamp("ms"))})
    yield "objects", pd.DataFrame({"sold": pd.Series(TIMES, dtype=object)})
    yield "text", pd.DataFrame({"sold": [None if time is None else str(time) for time in TIMES]})


@pytest.mark.parametrize(("kind", "table"), list(tables()), ids=lambda item: item if isinstance(item, str) else "")
def test_dates_of_every_kind_of_table_have_the_same_parts(kind, table):
    columns = learn_columns(table)
    assert [feature.name for feature in columns.features] == [
        "sold", "sold.year", "sold.month", "sold.weekday", "sold.hour"
    ]  # fmt: skip
    assert {feature.source for feature in columns.features} == {"sold"}
    np.testing.assert_array_equal(columns.take(slice(None)), EXPECTED)
    np.testing.assert_array_equal(encode_columns(table, columns.features).take(slice(None)), EXPECTED)


def test_slashes_may_stand_for_hyphens():
    """A column of 2012/01/01 and so on was left out as an identifier."""
    columns = learn_columns(pd.DataFrame({"d": ["2012/01/01", "2012/12/31"]}))
    np.testing.assert_array_equal(columns.take(slice(None), np.array([0])), [[15340, 15705]])
    assert parse_times(np.array(["2012/01-01"], dtype=object)) is None


def test_days_without_times_have_no_hour_and_arrow_dates_are_dates():
    days = [dt.date(2024, 1, 1), dt.date(2024, 5, 3)]
    for table in (pa.table({"d": days}), pl.DataFrame({"d": days}), pd.DataFrame({"d": pd.Series(days, dtype=object)})):
        assert [feature.name for feature in learn_columns(table).features] == ["d", "d.month", "d.weekday"]


def test_times_of_day_are_hours():
    times = [dt.time(8, 30), None, dt.time(23, 59, 30)]
    for table in (
        pa.table({"t": pa.array(times, pa.time32("s"))}),
        pl.DataFrame({"t": times}),
        pd.DataFrame({"t": pd.Series(times, dtype=object)}),
    ):
        columns = learn_columns(table)
        assert columns.features == (Feature("t"),)
        np.testing.assert_allclose(columns.take(slice(None)), [[8.5, np.nan, 24 - 0.5 / 60]], rtol=1e-15)
        np.testing.assert_array_equal(
            encode_columns(table, columns.features).take(slice(None)), columns.take(slice(None))
        )


def test_parts_keep_clear_of_columns_that_have_their_names():
    frame = pd.DataFrame({"d": pd.to_datetime(["2024-01-01", "2025-05-03"]), "d.year": [1.0, 2.0]})
    assert [feature.name for feature in learn_columns(frame).features] == [
        "d", "d.year_", "d.month", "d.weekday", "d.year"
    ]  # fmt: skip


def test_a_column_of_dates_must_stay_one():
    features = [Feature("d", part="date")]
    for values, came in (([1.0, 2.0], "numbers"), (["soon", "later"], "other text")):
        with pytest.raises(InvalidInputError, match=f"Column 0 .'d'. was dates when the model was fitted; got {came}"):
            encode_columns(pd.DataFrame({"d": values}), features).take(slice(None))
    for values in ([np.nan, np.nan], pd.Series([None, None], dtype="str"), pd.to_datetime([None, None])):
        assert np.isnan(encode_columns(pd.DataFrame({"d": values}), features).take(slice(None))).all()
    with pytest.raises(InvalidInputError, match="was numeric when the model was fitted; got dates"):
        encode_columns(pd.DataFrame({"a": pd.to_datetime(["2024-01-01"])}), [Feature("a")]).take(slice(None))
