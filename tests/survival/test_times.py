"""Survival times in all forms that are read, and in those that are refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rulegrove.exceptions import InvalidInputError
from rulegrove.survival import SurvivalTimes, read_survival

TIME, EVENT, ENTRY = [5.0, 3.0, 8.0], [True, False, True], [0.0, 1.0, 2.0]
NUMBERS = [1, 0, 1]


def structured(fields, *columns):
    return np.array(list(zip(*columns, strict=True)), dtype=fields)


TWO = {
    "tuple": (TIME, EVENT),
    "tuple of numbers": ([5, 3, 8], NUMBERS),
    "tuple of series": (pd.Series(TIME), pl.Series(EVENT)),
    "tuple of objects": (np.array([5, 3.0, 8], dtype=object), np.array(EVENT, dtype=object)),
    "nullable": (pd.Series([5, 3, 8], dtype="Int64"), pd.Series(EVENT, dtype="boolean")),
    "array": np.column_stack([TIME, NUMBERS]),
    "list of rows": [[5, 1], [3, 0], [8, 1]],
    "list of mixed rows": [(5.0, True), (3.0, False), (8.0, True)],
    "objects": np.array([[5.0, True], [3.0, False], [8.0, True]], dtype=object),
    "objects, event first": np.array([[True, 5.0], [False, 3.0], [True, 8.0]], dtype=object),
    "scikit-survival": structured([("Status", "?"), ("Survival_in_days", "f8")], EVENT, TIME),
    "structured, time first": structured([("a", "f4"), ("b", "?")], TIME, EVENT),
    "structured, misleading names": structured([("time", "?"), ("censored", "f8")], EVENT, TIME),
    "structured numbers": structured([("event", "i4"), ("time", "f8")], NUMBERS, TIME),
    "pandas": pd.DataFrame({"status": NUMBERS, "stop": TIME}),
    "pandas, names of place": pd.DataFrame({"event": EVENT, "days": TIME}, index=[7, 8, 9]),
    "pandas, one name": pd.DataFrame({"Event": NUMBERS, "months": TIME}),
    "pandas, other name": pd.DataFrame({"x": NUMBERS, "Time": TIME}),
    "pandas, unknown names": pd.DataFrame({"a": TIME, "b": NUMBERS}),
    "pandas, numbered": pd.DataFrame(np.column_stack([TIME, NUMBERS])),
    "pandas, nullable": pd.DataFrame({"event": pd.array(EVENT, dtype="boolean"), "t": pd.array([5, 3, 8], "Int32")}),
    "polars": pl.DataFrame({"died": EVENT, "years": TIME}),
    "pyarrow": pa.table({"time_to_event": TIME, "death": NUMBERS}),
    "own record": SurvivalTimes(np.array(TIME), np.array(EVENT)),
    "own columns": SurvivalTimes(np.array(TIME), np.array(EVENT)).to_columns(),
}
THREE = {
    "tuple": (ENTRY, TIME, EVENT),
    "array": np.column_stack([ENTRY, TIME, NUMBERS]),
    "structured": structured([("a", "f8"), ("b", "f8"), ("c", "?")], ENTRY, TIME, EVENT),
    "structured, event first": structured([("c", "?"), ("a", "f8"), ("b", "f8")], EVENT, ENTRY, TIME),
    "pandas": pd.DataFrame({"event": NUMBERS, "tstop": TIME, "tstart": ENTRY}),
    "pandas, two names": pd.DataFrame({"event": NUMBERS, "time": TIME, "since": ENTRY}),
    "pandas, unknown names": pd.DataFrame({"a": ENTRY, "b": TIME, "c": NUMBERS}),
    "polars": pl.DataFrame({"stop": TIME, "start": ENTRY, "fell": EVENT}),
    "own record": SurvivalTimes(np.array(TIME), np.array(EVENT), np.array(ENTRY)),
}


def check(times, entry):
    np.testing.assert_array_equal(times.time, TIME)
    np.testing.assert_array_equal(times.event, EVENT)
    assert (times.time.dtype, times.event.dtype) == (np.float64, np.bool_)
    if entry is None:
        assert times.entry is None
    else:
        np.testing.assert_array_equal(times.entry, entry)


@pytest.mark.parametrize("form", TWO)
def test_two_columns_of_any_form(form):
    check(read_survival(TWO[form], 3), None)


@pytest.mark.parametrize("form", THREE)
def test_three_columns_of_any_form(form):
    check(read_survival(THREE[form], 3), ENTRY)


def test_what_was_read_is_a_copy():
    time, event = np.array(TIME), np.array(EVENT)
    times = read_survival((time, event))
    time[0], event[0] = -1.0, False
    check(times, None)


def test_rows_are_taken_by_places_masks_and_slices():
    times = read_survival((ENTRY, TIME, EVENT))
    for rows in (np.array([0, 2]), np.array([True, False, True]), slice(0, 3, 2)):
        taken = times.take(rows)
        assert len(taken) == 2
        np.testing.assert_array_equal(taken.to_columns(), [[0.0, 5.0, 1.0], [2.0, 8.0, 1.0]])
    assert times.take(np.array([1])).to_columns().shape == (1, 3)


REFUSED = {
    "nothing": (None, "y is None; survival times are a tuple"),
    "no number": (([1.0, np.nan], [1, 0]), "time of row 1 is missing or infinite"),
    "None": (([1.0, None], [1, 0]), "time of row 1 is missing or infinite"),
    "NA": (pd.DataFrame({"time": pd.array([None, 1], dtype="Int64"), "event": [1, 0]}), "time of row 0 is missing"),
    "infinite": (([np.inf, 1.0], [1, 0]), r"time of row 0 is missing or infinite \(inf\)"),
    "negative": (([1.0, -2.0], [1, 0]), "time must not be negative; got -2 in row 1"),
    "negative entry": (([0.0, -2.0], [1.0, 2.0], [1, 0]), "entry time must not be negative; got -2 in row 1"),
    "late entry": (([0.0, 3.0], [1.0, 3.0], [1, 0]), "earlier than time; got entry 3 and time 3 in row 1"),
    "text": ((["a", "b"], [1, 0]), "time must be numbers; got values such as 'a'"),
    "text as objects": ((np.array(["a", 1], dtype=object), [1, 0]), "time must be numbers; got values such as 'a'"),
    "truth values": (([True, False], [True, False]), "time must be numbers; got truth values"),
    "durations": ((np.array([1, 2], "timedelta64[D]"), [1, 0]), r"Divide durations by a unit"),
    "codes 1 and 2": (([1.0, 2.0], [1, 2]), "got 1 and 2. Subtract 1"),
    "codes 2 alone": (([1.0, 2.0], [2, 2]), "got 1 and 2. Subtract 1"),
    "kinds": (([1.0, 2.0, 3.0], [0, 1, 3]), "must be 1 or 0; got 3.*give 1 to the one"),
    "exchanged": (
        np.array([[1, 7.5], [0, 3.5]]),
        r"must be 1 or 0; got 3\.5. If these are the times, exchange the two",
    ),
    "missing event": (([1.0, 2.0], [1, np.nan]), "event of row 1 is missing"),
    "event as text": (([1.0, 2.0], ["yes", "no"]), "Events must be True or False, or 1 or 0; got values such as 'yes'"),
    "no event": (([1.0, 2.0], [0, 0]), "No row has an event"),
    "no row": (([], []), "at least one row"),
    "lengths": (([1.0, 2.0], [1]), r"must be of one length; got \[2, 1\]"),
    "one column": ([1.0, 2.0], r"shape \(2,\); survival times are"),
    "columns as rows": ([[1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0]], r"shape \(2, 4\); survival times are"),
    "ragged": ([[1.0, 1], [2.0]], "rows of different lengths"),
    "nested": (([[1.0], [2.0]], [1, 0]), r"one dimension; got the shape \(2, 1\)"),
    "four columns": (pd.DataFrame(np.ones((2, 4))), "y has 4 columns; survival times are"),
    "no event column": (pd.DataFrame({"start": [0, 1], "stop": [1, 2]}), "do not tell which is which"),
    "two times": (pd.DataFrame({"time": [0, 1], "stop": [1, 2], "x": [0, 1]}), "do not tell which is which"),
    "reversed": (pd.DataFrame({"time": [0, 1], "is_censored": [1, 0]}), "'is_censored' tells who was censored"),
    "lazy": (pl.LazyFrame({"time": [0, 1], "event": [1, 0]}), "LazyFrame; call .collect()"),
    "masked": (np.ma.MaskedArray([[1.0, 1.0], [2.0, 0.0]], [[True, False], [False, False]]), "must not be masked"),
    "masked column": ((np.ma.MaskedArray([1.0, 2.0], [True, False]), [1, 0]), "must not be masked"),
}


@pytest.mark.parametrize("form", REFUSED)
def test_what_cannot_be_read_is_refused(form):
    y, message = REFUSED[form]
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_survival(y)
    assert len(str(caught.value)) < 250


def test_batches_may_lack_events_and_must_have_their_rows():
    assert not read_survival(([1.0, 2.0], [0, 0]), need_events=False).event.any()
    with pytest.raises(InvalidInputError, match="X has 4 rows but y has 3"):
        read_survival((TIME, EVENT), 4)
