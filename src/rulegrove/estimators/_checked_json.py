"""JSON that is looked at before it is believed: each value knows where it stands and refuses what it should not be."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.exceptions import InvalidInputError

MAX_DIGITS = 19  # of an integer: more is no count, and Python would take quadratic time to read it
_SHOWN = 40  # characters of a wrong value that a message quotes
_BLAME = 300  # characters of another's message
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def parse(text: str, name: str) -> "Value":
    """Read JSON strictly: no repeated keys, no NaN, no endless integers.

    Parameters
    ----------
    text : str
    name : str
        Of the file, for messages.

    Returns
    -------
    Value
    """
    try:
        raw = json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse_constant, parse_int=_short_integer)
    except RecursionError:
        raise InvalidInputError(f"{name} is no model file: its values are nested too deeply.") from None
    except ValueError as error:  # a JSONDecodeError, or one of ours
        raise InvalidInputError(f"{name} is no model file, or a damaged one: {error}.") from None
    return Value(raw, "", name)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that gives one key twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {_quote(twice)} stands twice in one object")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which JSON does not have."""
    raise ValueError(f"{name} is not JSON")


def _short_integer(text: str) -> int:
    """Read an integer of a sensible length."""
    if len(text) > MAX_DIGITS:
        raise ValueError(f"an integer of {len(text)} digits")
    return int(text)


def _quote(value: Any) -> str:
    """Return a value for a message, cut short."""
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    return f"'{_plain(value)}'" if isinstance(value, str) else json.dumps(value)


def _plain(text: str) -> str:
    """Return a text in plain characters, cut short."""
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return ascii(shown)[1:-1]


def encode_number(value: float) -> float | str:
    """Return a number as JSON has it: itself, or "inf", "-inf" or "nan"."""
    number = float(value)
    return number if math.isfinite(number) else repr(number)


def encode_numbers(values: FloatArray | Sequence[float]) -> list[float | str]:
    """Return numbers as JSON has them."""
    return [encode_number(value) for value in np.asarray(values, dtype=np.float64).tolist()]


@dataclass(frozen=True, slots=True)
class Value:
    """A JSON value, where it stands, and in which file.

    Its methods return what it should be or raise an `InvalidInputError` that names the place.
    """

    raw: Any
    place: str
    file: str

    def refuse(self, expected: str) -> NoReturn:
        """Say what was expected here and what came."""
        where = f"`{self.place}`" if self.place else "the whole"
        raise InvalidInputError(
            f"{self.file} is no valid model file: {where} must be {expected}; got {_quote(self.raw)}. "
            "Save the model anew."
        )

    def blame(self, error: Exception) -> NoReturn:
        """Say what is wrong with parameters here, in the words of who checked them."""
        words = ascii(str(error))[1:-1]
        raise InvalidInputError(f"{self.file} is no valid model file: `{self.place}`: {words[:_BLAME]}") from None

    def fields(self, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, "Value"]:
        """Return the fields of an object that has all required keys and none but these."""
        if not isinstance(self.raw, dict):
            self.refuse("an object")
        missing = [key for key in required if key not in self.raw]
        unknown = [key for key in self.raw if key not in required and key not in optional]
        if missing or unknown:
            have = f"with the field '{missing[0]}'" if missing else f"without a field {_quote(unknown[0])}"
            self.refuse(f"an object {have}")
        return self.keyed()

    def keyed(self) -> dict[str, "Value"]:
        """Return the fields of an object of any keys."""
        if not isinstance(self.raw, dict):
            self.refuse("an object")
        prefix = f"{self.place}." if self.place else ""
        return {key: Value(value, f"{prefix}{_plain(key)}", self.file) for key, value in self.raw.items()}

    def items(self, length: int | None = None) -> Iterator["Value"]:
        """Go through a list, of this length if given."""
        if not isinstance(self.raw, list) or (length is not None and len(self.raw) != length):
            self.refuse("a list" if length is None else f"a list of {length}")
        return (Value(value, f"{self.place}[{place}]", self.file) for place, value in enumerate(self.raw))

    def __len__(self) -> int:
        return len(self.raw) if isinstance(self.raw, list) else self.refuse("a list")

    @property
    def is_null(self) -> bool:
        """Whether nothing stands here."""
        return self.raw is None

    def text(self, among: Sequence[str] | None = None) -> str:
        """Return a text, one of these if given."""
        if not isinstance(self.raw, str) or (among is not None and self.raw not in among):
            self.refuse("a text" if among is None else f"one of {', '.join(among)}")
        return self.raw

    def boolean(self) -> bool:
        """Return a boolean."""
        return self.raw if isinstance(self.raw, bool) else self.refuse("true or false")

    def integer(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`."""
        if type(self.raw) is not int or not low <= self.raw <= high:
            self.refuse(f"an integer from {low} to {high}")
        return self.raw

    def number(self, low: float = -math.inf, high: float = math.inf, *, special: bool = False) -> float:
        """Return a finite number within bounds; with `special` also one of "inf", "-inf" and "nan"."""
        if special and isinstance(self.raw, str) and self.raw in _SPECIAL:
            return _SPECIAL[self.raw]
        if type(self.raw) not in (int, float) or not math.isfinite(self.raw) or not low <= self.raw <= high:
            bounds = "" if (low, high) == (-math.inf, math.inf) else f" from {low:g} to {high:g}"
            self.refuse(f"a finite number{bounds}")
        return float(self.raw)

    def numbers(
        self, length: int | None = None, low: float = -math.inf, high: float = math.inf, *, special: bool = False
    ) -> FloatArray:
        """Return a list of numbers as an array."""
        values = [item.number(low, high, special=special) for item in self.items(length)]
        return np.array(values, dtype=np.float64)

    def positions(self, size: int, length: int | None = None) -> IntArray:
        """Return ascending, distinct positions below `size`."""
        values = np.array([item.integer(0, size - 1) for item in self.items(length)], dtype=np.int64)
        if (np.diff(values) <= 0).any():
            self.refuse("positions in ascending order, each once")
        return values
