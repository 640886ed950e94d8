"""Checks of the arguments that the generators share."""

from numbers import Integral
from typing import Any

from rulegrove.exceptions import InvalidInputError


def check_count(name: str, value: Any, minimum: int = 0) -> int:
    """Return a count of rows as a plain integer, or say what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        raise InvalidInputError(f"`{name}` must be an integer of at least {minimum}; got {value!r}.")
    return int(value)
