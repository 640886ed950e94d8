import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove.columns.numbers import read_number, read_numbers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("35%", 35.0),
        ("35 %", 35.0),
        ("$1,234", 1234.0),
        ("-$5", -5.0),
        ("$-5", -5.0),
        ("€ 12.5", 12.5),
        ("12.5 EUR", 12.5),
        ("USD 7", 7.0),
        ("1 234 567", 1234567.0),
        ("1'234.5", 1234.5),
        ("(1,234)", -1234.0),
        (" 4 ", 4.0),
        ("1e-3", 0.001),
    ],
)
def test_numbers_as_people_write_them(text, number):
    assert read_number(text) == number


@pytest.mark.parametrize(
    "text", ["", "-", "unknown", "1,23", "12,34,567", "1.2.3", "nan", "inf", "0x1f", "1_000", "(5", "--5", "5 of 7"]
)
def test_other_words_are_no_numbers(text):
    assert np.isnan(read_number(text))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_a_program_writes_is_read_to_the_last_bit(number):
    assert read_number(repr(number)) == number


@given(st.integers(-(10**12), 10**12))
def test_thousands_may_be_set_apart(number):
    assert read_number(f"{number:,}") == number


def test_a_column_of_text_and_numbers():
    found = read_numbers(np.array(["1,234", None, "n/a", 5, 0.5], dtype=object))
    np.testing.assert_array_equal(found, [1234, np.nan, np.nan, 5, 0.5])
