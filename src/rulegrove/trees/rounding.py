"""Thresholds that people can read: the roundest number or date between two neighbouring values."""

import numpy as np

from rulegrove._typing import FloatArray, IntArray

MOST_DIGITS = 15  # of whole numbers that doubles hold and multiply without loss
MOST_DOUBLE_DIGITS = 17  # that it takes to write any double
POWERS = 10.0 ** np.arange(23)  # of ten that are doubles, all there are
LOWEST, HIGHEST = MOST_DIGITS - len(POWERS), len(POWERS) - 1  # exponents of numbers that these powers suffice for


def choose_thresholds(below: FloatArray, above: FloatArray) -> FloatArray:
    """Return the roundest number t with ``below <= t < above`` for each pair of neighbouring values.

    That is zero where it lies there, else the number of fewest significant digits, and of equally short ones the one
    nearest to the middle. It is a double whose shortest text has just these digits, so that words, which write a
    threshold out, decide as the model does.

    Both values keep their side in a table of float32, too, where float32 tells them apart: ``x <= 1.7`` would be false
    of 1.7 there, which is 1.7000000476837158, so that 1.75 is the roundest number between 1.7 and 1.8. And no t is
    chosen that float32 rounds to the upper value.

    Parameters
    ----------
    below, above : ndarray of shape (n_gaps,)
        Finite numbers, ``below < above``.

    Returns
    -------
    ndarray of shape (n_gaps,)

    Examples
    --------
    >>> below = np.array([157.0, 1.4, 1.7, 4.0, -0.3, 0.8475298817908362])
    >>> above = np.array([163.0, 1.5, 1.8, 5.0, 7.9, 0.8475311])
    >>> choose_thresholds(below, above).tolist()
    [160.0, 1.4, 1.75, 4.0, 0.0, 0.84753]
    """
    below, above = _narrow(below, above)
    middle = below / 2 + above / 2
    middle = np.where((middle < below) | (middle >= above), below, middle)
    chosen = np.where((below <= 0.0) & (above > 0.0), 0.0, np.nan)
    open_ones = np.flatnonzero(np.isnan(chosen))
    exponents = np.floor(np.log10(np.abs(middle[open_ones]))).astype(np.int64)
    plain = (exponents >= LOWEST) & (exponents <= HIGHEST)
    places, exponents = open_ones[plain], exponents[plain]
    for n_digits in range(1, MOST_DIGITS + 1):
        found = _round(below[places], above[places], middle[places], n_digits, exponents)
        chosen[places] = found
        left = np.isnan(found)
        places, exponents = places[left], exponents[left]
        if not places.size:
            break
    for place in np.flatnonzero(np.isnan(chosen)).tolist():
        chosen[place] = _search(float(below[place]), float(above[place]), float(middle[place]))
    return chosen


def choose_days(below: FloatArray, above: FloatArray) -> FloatArray:
    """Return the last day before the roundest date t with ``below < t <= above`` for each pair of neighbouring days.

    That is the first day of a year where there is one, else of a quarter, else of a month, and of equally round ones
    the one nearest to the middle; where there is none, it is the day in the middle. Values up to the threshold lie
    before the date and the others do not, which is how people divide time: before 2024, and from 2024 on.

    Parameters
    ----------
    below, above : ndarray of shape (n_gaps,)
        Whole days since 1970-01-01, ``below < above``.

    Returns
    -------
    ndarray of shape (n_gaps,)

    Examples
    --------
    >>> dates = np.array(["2023-11-20", "2024-02-10", "2024-02-20", "2024-03-09", "2024-03-15"], dtype="datetime64[D]")
    >>> days = dates.astype(np.int64).astype(np.float64)
    >>> (choose_days(days[:-1], days[1:]) + 1).astype("datetime64[D]").astype(str).tolist()
    ['2024-01-01', '2024-02-15', '2024-03-01', '2024-03-12']
    """
    middle = (below + 1.0 + above) / 2.0
    chosen = np.floor(middle)
    month = chosen.astype(np.int64).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    for n_months in (1, 3, 12):  # the rounder ones come later and win
        firsts = month // n_months * n_months + np.array([[0], [n_months]])  # the last up to the middle, and the next
        dates = firsts.astype("datetime64[M]").astype("datetime64[D]").astype(np.float64)
        distances = np.where((below < dates) & (dates <= above), np.abs(dates - middle), np.inf)
        nearest = dates[np.argmin(distances, axis=0), np.arange(len(middle))]
        chosen = np.where(np.isfinite(distances).any(axis=0), nearest, chosen)
    return chosen - 1.0


def _narrow(below: FloatArray, above: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ends of gaps that part the values as float32 just as they do as float64, where any do."""
    with np.errstate(over="ignore"):
        first = np.maximum(below, below.astype(np.float32))
        single = above.astype(np.float32)
        before = np.nextafter(single, np.float32(-np.inf)).astype(np.float64)
        end = before / 2 + single.astype(np.float64) / 2  # from here on float32 rounds to the upper value
    apart = (first < end) & (end <= above)
    return np.where(apart, first, below), np.where(apart, end, above)


def _round(below: FloatArray, above: FloatArray, middle: FloatArray, n_digits: int, exponents: IntArray) -> FloatArray:
    """Return the numbers of so many digits in the gaps that lie nearest to the middle; NaN where there are none.

    If there is one, it is the last before the middle or the first after it. A whole number below 2**53 and a power of
    ten up to 22 are doubles, so their product and quotient are the doubles that the decimal number is read as.
    """
    shifts = n_digits - 1 - exponents
    up, down = POWERS[np.maximum(shifts, 0)], POWERS[np.maximum(-shifts, 0)]
    near = np.rint(np.abs(middle) * up / down)
    steps = np.array([[-1.0], [0.0], [1.0]])
    numbers = np.copysign((near + steps) * down / up, middle)
    inside = (below <= numbers) & (numbers < above) & (near + steps <= POWERS[n_digits])
    distances = np.where(inside, np.abs(numbers - middle), np.inf)
    nearest = numbers[np.argmin(distances, axis=0), np.arange(len(middle))]
    return np.where(inside.any(axis=0), nearest, np.nan)


def _search(below: float, above: float, middle: float) -> float:
    """Return the roundest number in a gap of any size, by way of its text."""
    for n_more in range(MOST_DOUBLE_DIGITS - 1):
        text = f"{middle:.{n_more}e}"
        mantissa, _, exponent = text.partition("e")
        near, whole, shift = float(text), int(mantissa.replace(".", "")), int(exponent) - n_more
        toward_zero = abs(near) > abs(middle)
        if toward_zero and abs(whole) == 10**n_more:  # 1.00 comes after 0.999, not 0.99
            whole, shift = 10 * whole, shift - 1
        other = float(f"{whole + (-1 if near > middle else 1)}e{shift}")
        for number in (near, other):
            if below <= number < above:
                return number
    return middle
