"""Thresholds are the roundest numbers of their gaps, as a search in exact arithmetic finds them."""

import datetime as dt
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rulegrove._words import write_number
from rulegrove.trees.rounding import choose_days, choose_thresholds

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
DECIMALS = st.builds(lambda whole, shift: float(f"{whole}e{shift}"), st.integers(-9999, 9999), st.integers(-30, 30))
SINGLES = st.floats(allow_nan=False, allow_infinity=False, width=32)
POWERS = st.integers(-320, 308).map(lambda shift: float(f"1e{shift}"))


def step(value, n_steps):
    for _ in range(abs(n_steps)):
        value = math.nextafter(value, math.copysign(math.inf, n_steps))
    return value


@st.composite
def gaps(draw):
    """Two doubles: near each other or not, short decimals, powers of ten, and what arithmetic makes of them."""
    first = step(draw(DOUBLES | DECIMALS | POWERS), draw(st.integers(-3, 3)))
    near = st.integers(-6, 6).map(lambda n_steps: step(first, n_steps))
    shares = st.builds(lambda share, shift: first * (1 + share * 10.0**shift), st.floats(-1, 1), st.integers(-16, 1))
    second = draw(DOUBLES | DECIMALS | near | shares)
    low, high = sorted((first, second))
    return max(low, -1.7e308) + 0.0, min(high, 1.7e308) + 0.0


def choose(below, above):
    return float(choose_thresholds(np.array([below]), np.array([above]))[0])


def count_digits(value):
    mantissa = repr(value).partition("e")[0]
    return len(mantissa.replace(".", "").lstrip("-").strip("0"))


def list_nearest(middle, n_digits):
    """The two decimals of so many digits on both sides of a positive number, as whole numbers and powers of ten."""
    shift = len(str(middle.numerator)) - len(str(middle.denominator)) + 1
    while Fraction(10) ** shift > middle:
        shift -= 1
    shift -= n_digits - 1
    whole = middle / Fraction(10) ** shift // 1
    return [(whole, shift), (whole + 1, shift)]


def search(below, above):
    """All numbers of fewest digits in the gap that lie nearest to its middle, in exact arithmetic."""
    if below <= 0.0 < above:
        return {0.0}
    if above <= 0.0:
        mirrored = search_positive(math.nextafter(-above, math.inf), math.nextafter(-below, math.inf), -above, -below)
        return {-value for value in mirrored}
    return search_positive(below, above, below, above)


def search_positive(first, end, low, high):
    """The same for ``first <= t < end``, the middle being that of `low` and `high`."""
    middle = min((Fraction(low) + Fraction(high)) / 2, Fraction(math.nextafter(end, 0.0)))
    for n_digits in range(1, 18):
        near = list_nearest(middle, n_digits)
        numbers = {float(f"{whole}e{shift}") for whole, shift in near}
        inside = {number for number in numbers if first <= number < end}
        if inside:
            distances = {number: abs(Fraction(number) - middle) for number in inside}
            slack = Fraction(math.ulp(high)) * 4  # the middle is a double, and so is a decimal
            return {number for number, far in distances.items() if far <= min(distances.values()) + slack}
    raise AssertionError("17 digits write any double")


def as_single(value):
    with np.errstate(over="ignore"):
        return np.float32(value)


def narrow(below, above):
    """Where numbers lie that part the two as float32, too; the gap itself where there are none."""
    first, upper = max(below, float(as_single(below))), as_single(above)
    with np.errstate(over="ignore"):
        before = float(np.nextafter(upper, np.float32(-np.inf)))
    if math.isinf(upper) or math.isinf(before):
        return below, above
    end = float((Fraction(before) + Fraction(float(upper))) / 2)
    return (first, end) if first < end else (below, above)


@settings(max_examples=500, deadline=None)
@given(gaps())
@example((0.1, 0.1 + 2**-55))
@example((0.29999999999999993, 0.39999999999999997))
@example((5e-324, 1e-323))
@example((1.5e308, 1.7e308))
@example((-1e-323, -5e-324))
@example((9.999999999999998e22, 1e23))
@example((0.1 + 0.2, 0.4))
@example((-0.4, -0.1 - 0.2))
def test_no_number_in_the_gap_is_rounder(gap):
    below, above = gap
    if below >= above:
        return
    threshold = choose(below, above)
    assert below <= threshold < above
    best = search(*narrow(below, above))
    assert count_digits(threshold) == min(map(count_digits, best))
    assert threshold in best


@settings(max_examples=500, deadline=None)
@given(gaps() | st.tuples(SINGLES, SINGLES).map(sorted))
def test_values_keep_their_sides_as_float32(gap):
    """A table of float64 whose float32 twin went another way at ``x <= 1.7``, 1.7 being 1.7000000476837158 there."""
    below, above = gap
    if below >= above or as_single(below) == as_single(above) or not np.isfinite(as_single([below, above])).all():
        return
    threshold = choose(below, above)
    assert float(as_single(below)) <= threshold < float(as_single(above))
    assert as_single(threshold) < as_single(above)


@given(SINGLES, SINGLES)
def test_values_that_were_float32_keep_their_sides_as_text(first, second):
    """The 0.4 of a float32 table is 0.4000000059604645: ``x <= 0.4`` would be false of it, and true of a CSV's 0.4."""
    below, above = sorted((first, second))
    if below < above:
        written = [float(str(np.float32(value))) for value in (below, above)]
        assert written[0] <= choose(below, above) < written[1]


@pytest.mark.parametrize(
    ("below", "above", "words"),
    [
        (4.0, 5.0, "4"),
        (5.0, 6.0, "5"),
        (4049.0, 4050.0, "4049"),
        (4049.0, 4051.0, "4050"),
        (0.0, 1.0, "0"),
        (0.0, 1000.0, "0"),
        (-0.0, 1.0, "0"),
        (-3.0, 0.0, "-1"),
        (-3.0, 0.5, "0"),
        (1.0, 10.0, "5"),
        (0.5, 100.0, "50"),
        (96.0, 101.0, "100"),
        (0.527, 0.528, "0.5275"),
        (1.4, 1.5, "1.4"),
        (1.7, 1.8, "1.75"),
        (16777216.0, 16777217.0, "16777216"),
        (3e38, 4e38, "3e+38"),
        (-4e38, -3e38, "-4e+38"),
        (0.8475298817908362, 0.8475301, "0.84753"),
        (0.1 + 0.2, 0.4, "0.35"),
        (0.1 + 0.2, 0.7, "0.5"),
        (-0.2, -0.1, "-0.2"),
        (float(np.float32(0.3)), float(np.float32(0.4)), "0.35"),
        (1e300, 1.2e300, "1e+300"),
        (1e-310, 3e-310, "2e-310"),
        (1.0, math.nextafter(1.0, 2.0), "1"),
        (math.nextafter(1.0, 2.0), step(1.0, 2), "1.0000000000000002"),
        (5e-324, 1e-323, "5e-324"),
        (-5e-324, 0.0, "-5e-324"),
        (-1.7e308, 1.7e308, "0"),
    ],
)
def test_thresholds_read_well(below, above, words):
    assert write_number(choose(below, above)) == words


@given(st.lists(gaps().filter(lambda gap: gap[0] < gap[1]), min_size=1, max_size=30))
@settings(deadline=None)
def test_many_gaps_at_once_are_each_gap_alone(pairs):
    below, above = np.array(pairs).T
    np.testing.assert_array_equal(
        choose_thresholds(below, above), [choose(low, high) for low, high in zip(below, above, strict=True)]
    )


def test_no_gap_has_no_threshold():
    assert choose_thresholds(np.empty(0), np.empty(0)).shape == (0,)


def rank_date(day):
    """Roundness of the date of a day: 3 for the first of a year, 2 of a quarter, 1 of a month, else 0."""
    date = dt.date(1970, 1, 1) + dt.timedelta(day)
    return 0 if date.day > 1 else 3 if date.month == 1 else 2 if date.month in (4, 7, 10) else 1


@settings(max_examples=200, deadline=None)
@given(st.integers(-100_000, 100_000), st.integers(1, 20) | st.integers(1, 1500))
def test_days_are_parted_at_the_roundest_date(below, width):
    above = below + width
    threshold = float(choose_days(np.array([float(below)]), np.array([float(above)]))[0])
    assert threshold.is_integer()
    assert below <= threshold < above
    dates = range(below + 1, above + 1)
    best = max(map(rank_date, dates))
    middle = (below + 1 + above) / 2
    nearest = min(abs(date - middle) for date in dates if rank_date(date) == best)
    assert rank_date(int(threshold) + 1) == best
    assert abs(threshold + 1 - middle) == nearest


def test_many_gaps_of_days_at_once_are_those_one_by_one():
    days = np.unique(np.random.default_rng(0).integers(-20_000, 20_000, 300)).astype(np.float64)
    below, above = days[:-1], days[1:]
    each = [choose_days(below[k : k + 1], above[k : k + 1])[0] for k in range(len(below))]
    np.testing.assert_array_equal(choose_days(below, above), each)
    assert choose_days(np.empty(0), np.empty(0)).shape == (0,)
