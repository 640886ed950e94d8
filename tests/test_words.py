"""Words that say exactly what is meant and that any terminal can print."""

import math
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove._words import date_of, days_to, printable, write_number


@given(st.text())
def test_nothing_reaches_a_terminal_but_letters(words):
    shown = printable(words)
    assert shown.replace("\u200c", "").replace("\u200d", "").isprintable()
    assert printable(shown) == shown
    assert shown == words or not words.isprintable()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back(value):
    assert float(write_number(value)) == value
    if 1e-4 <= abs(value) < 1e16:
        assert "e" not in write_number(value)


@given(st.dates(), st.floats(0.0, 0.999))
def test_a_day_and_any_time_of_it_are_that_day(day, time):
    assert date_of(days_to(day) + time) == day


@pytest.mark.parametrize("days", [days_to(date.min) - 1e-3, days_to(date.max) + 1.0, math.inf, -math.inf, 1e300])
def test_no_calendar_goes_so_far(days):
    assert date_of(days) is None
