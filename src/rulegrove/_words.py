"""Names, numbers and days in words that any terminal can print and that say exactly what is meant."""

import math
from datetime import date

MOST_LETTERS = 400  # of a rule in a table: one that lists hundreds of categories would hide the others
_JOINERS = "\u200c\u200d"  # hold the parts of one emoji or letter together
_EPOCH = date(1970, 1, 1).toordinal()


def printable(words: str) -> str:
    r"""Return words without line breaks, escape sequences or other control characters, which names may hold.

    Examples
    --------
    >>> print(printable("a\tb\x1b[31mé"))
    a\tb\x1b[31mé
    """
    if words.isprintable():
        return words
    return "".join(c if c.isprintable() or c in _JOINERS else ascii(c)[1:-1] for c in words)


def cut(words: str, letters: int = MOST_LETTERS) -> str:
    """Return words as a table shows them: what is longer ends after a word, and says so.

    Examples
    --------
    >>> cut("town in {'Bonn', 'Kiel', 'Rome'}", 20)
    "town in {'Bonn', ... (16 more letters)"
    """
    if len(words) <= letters:
        return words
    shown = words[:letters].rpartition(" ")[0] or words[:letters]
    return f"{shown} ... ({len(words) - len(shown):,} more letters)"


def write_number(value: float, digits: int | None = None) -> str:
    """Return the shortest text that reads back as `value`, or `value` at so many significant digits.

    Examples
    --------
    >>> write_number(10421.5), write_number(3.0), write_number(10421.5, digits=3)
    ('10421.5', '3', '1.04e+04')
    """
    text = repr(float(value)) if digits is None else f"{value:.{digits}g}"
    return text.removesuffix(".0")


def date_of(days: float) -> date | None:
    """Return the day that a number of days since 1970-01-01 falls on; None beyond the years 1 to 9999.

    Examples
    --------
    >>> date_of(19782.5), date_of(1e9)
    (datetime.date(2024, 2, 29), None)
    """
    if not date.min.toordinal() <= days + _EPOCH < date.max.toordinal() + 1:
        return None
    return date.fromordinal(math.floor(days) + _EPOCH)


def days_to(day: date) -> int:
    """Return the whole days from 1970-01-01 to a day.

    Examples
    --------
    >>> days_to(date(2024, 2, 29))
    19782
    """
    return day.toordinal() - _EPOCH
