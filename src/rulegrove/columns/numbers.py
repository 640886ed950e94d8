"""Numbers that are written as text: percentages, amounts of money, thousands set apart."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from rulegrove._typing import AnyArray, FloatArray

_CURRENCY = r"(?:[$€£¥₹₩₽₺]|[A-Z]{3}(?=[\s\d.+-]))?"
_NUMBER = re.compile(
    rf"""(?P<open>\()? \s* (?P<sign>[+-]?) \s* {_CURRENCY} \s* (?P<inner>[+-]?)
    (?P<digits>\d{{1,3}}(?:(?P<mark>[,'\u2019\u00a0\u202f ])\d{{3}})(?:(?P=mark)\d{{3}})*(?:\.\d*)?   # 1,234,567.8
      | (?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)                                               # 1234567.8, 1e3
    \s* (?:%|[$€£¥₹₩₽₺]|[A-Z]{{3}})? \s* (?P<close>\))?""",
    re.VERBOSE,
)
_MARKS = re.compile(r"[,'\u2019\u00a0\u202f ]")


def read_number(text: str) -> float:
    """Return the number that a text writes, NaN if it writes none.

    A percent sign, a currency and separators of thousands are left out; amounts in brackets are negative.

    Examples
    --------
    >>> [read_number(text) for text in ("35%", "$1,234.50", "-7e-2", "(12)", "unknown", "1,23")]
    [35.0, 1234.5, -0.07, -12.0, nan, nan]
    """
    found = _NUMBER.fullmatch(text.strip())
    if found is None or bool(found["open"]) != bool(found["close"]) or (found["sign"] and found["inner"]):
        return np.nan
    value = float(_MARKS.sub("", found["digits"]))
    negative = bool(found["open"]) != ("-" in (found["sign"], found["inner"]))
    return -value if negative else value


def is_marked(text: Any) -> bool:
    """Whether a text is more than a number as a program writes it: a unit, separators of thousands, a word."""
    try:
        float(text)
    except ValueError:
        return True
    return False


def read_numbers(values: AnyArray) -> FloatArray:
    """Return a column of text, or of text and numbers, as numbers; NaN where a cell is missing or no number."""
    known = read_distinct(value for value in values if value is not None)
    return np.array([np.nan if value is None else known[value] for value in values], dtype=np.float64)


def read_distinct(values: Iterable[Any]) -> dict[Any, float]:
    """Return the number of each value that occurs."""
    return {value: read_number(value) if isinstance(value, str) else float(value) for value in set(values)}
