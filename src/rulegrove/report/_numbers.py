"""Numbers as JSON has them."""

from typing import Any

import numpy as np

DIGITS = 6  # of numbers that are only looked at


def shorten(values: Any, digits: int | None = DIGITS) -> list[Any]:
    """Return numbers, rounded to so many significant digits, as (nested) lists; what is not finite is None.

    Parameters
    ----------
    values : array-like
    digits : int or None
        None keeps every bit.

    Examples
    --------
    >>> shorten([0.123456789, 2.0, float("nan")])
    [0.123457, 2, None]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim > 1:
        return [shorten(part, digits) for part in array]
    return [_shorten(value, digits) for value in array.tolist()]


def _shorten(value: float, digits: int | None) -> float | int | None:
    if not np.isfinite(value):
        return None
    rounded = value if digits is None else float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
