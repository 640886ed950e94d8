"""JSON that is looked at before it is believed: each value knows where it stands and refuses what it should not be."""

import codecs
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NoReturn, TypeVar

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.exceptions import InvalidInputError

MAX_BYTES = 2**28  # 256 MB: the largest models (ten classes, 5,000 terms, 14,000 candidates) take 8.5 MB
MAX_MEMORY = 2**30  # of the values once they are read, by the estimate below: 12 times that of these models
MAX_DIGITS = 19  # of an integer: more is no count, and Python would take quadratic time to read it
_SHOWN = 40  # characters of a wrong value that a message quotes
_BLAME = 300  # characters of another's message
# Bytes that Python takes for what stands behind each character, at most: a number or a place in a list; half a text; a
# pair of an object while it is built; a list; an object. Three bytes of `[],` would take 64.
_COSTS = {b",": 40, b'"': 30, b":": 130, b"[": 90, b"{": 70}
T = TypeVar("T")
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def parse(content: bytes, name: str, kind: str = "model") -> "Value":
    """Read JSON strictly, in linear time and bounded memory: no repeated keys, no NaN, no endless integers.

    Parameters
    ----------
    content : bytes
        UTF-8, with or without a byte order mark.
    name : str
        Of the file, for messages.
    kind : str
        Of the file, for messages: "model" or "statistics".

    Returns
    -------
    Value
    """
    check_size(content, name, kind)
    if not content or content.isspace():
        raise InvalidInputError(f"{name} is empty, so it is not a {kind} file.")
    try:
        text = content.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        utf16 = content[:2] in (b"\xff\xfe", b"\xfe\xff")
        words = "it is text in UTF-16; convert it to UTF-8" if utf16 else str(error)
        raise InvalidInputError(f"{name} is not a {kind} file, or it is damaged: {words}.") from None
    try:
        raw = json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse_constant, parse_int=_short_integer)
    except RecursionError:
        raise InvalidInputError(f"{name} is not a {kind} file: its values are nested too deeply.") from None
    except ValueError as error:  # a JSONDecodeError, or one of ours
        raise InvalidInputError(f"{name} is not a {kind} file, or it is damaged: {error}.") from None
    return Value(raw, name, kind)


def check_size(content: bytes, name: str, kind: str = "model") -> None:
    """Refuse JSON that is too long, or whose values would take too much memory, before any of them is made."""
    if len(content) > MAX_BYTES:
        raise InvalidInputError(f"{name} is larger than {MAX_BYTES} bytes; no {kind} file is.")
    if (needed := sum(cost * content.count(mark) for mark, cost in _COSTS.items())) > MAX_MEMORY:
        raise InvalidInputError(
            f"{name} would take about {needed / 2**30:.1f} GB of memory once it is read; a {kind} file may take "
            f"{MAX_MEMORY / 2**30:g} GB."
        )


def checksum(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document but for its own field `checksum`.

    It is that of the values: layout and the order of keys do not matter, as the keys are sorted and white space is left
    out before.
    """
    values = {key: value for key, value in document.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that gives one key twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {quote(twice)} appears twice in one object")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which JSON does not have."""
    raise ValueError(f"{name} is not JSON")


def _short_integer(text: str) -> int:
    """Read an integer of a sensible length."""
    if len(text) > MAX_DIGITS:
        raise ValueError(f"an integer of {len(text)} digits")
    return int(text)


def quote(value: Any) -> str:
    """Return a value for a message, cut short."""
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    return f"'{_plain(value)}'" if isinstance(value, str) else json.dumps(value)


def _plain(text: str) -> str:
    """Return a text in plain characters, cut short."""
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return ascii(shown)[1:-1]


def encode(value: Any) -> Any:
    """Return numbers, arrays, sequences and records as JSON has them: an infinite number as "inf", NaN as "nan"."""
    if isinstance(value, float):  # NumPy's float64 is one
        return float(value) if math.isfinite(value) else repr(float(value))
    if isinstance(value, np.ndarray):
        return encode(value.tolist())
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    return value


@dataclass(slots=True)  # a frozen one takes twice as long to make, and large files make millions
class Value:
    """A JSON value, in which file it stands, and the way to it: keys and positions.

    Its methods return what it should be or raise an `InvalidInputError` that names the place.
    """

    raw: Any
    file: str
    kind: str = "model"
    way: tuple[str | int, ...] = ()

    @property
    def place(self) -> str:
        """The way in words, such as `outputs[0].path`."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{_plain(step)}" for step in self.way)
        return "".join(steps).removeprefix(".")

    def refuse(self, expected: str) -> NoReturn:
        """Say what was expected here and what came."""
        where = f"`{self.place}`" if self.way else "the whole"
        raise InvalidInputError(
            f"{self.file} is not a valid {self.kind} file: {where} must be {expected}; got {quote(self.raw)}. Save "
            f"the {self.kind} anew."
        )

    def blame(self, error: Exception) -> NoReturn:
        """Say what is wrong with parameters here, in the words of who checked them."""
        words = ascii(str(error))[1:-1]
        raise InvalidInputError(
            f"{self.file} is not a valid {self.kind} file: `{self.place}`: {words[:_BLAME]}"
        ) from None

    def fields(self, required: Sequence[str], optional: Mapping[str, Any] | None = None) -> dict[str, "Value"]:
        """Return the fields of an object that has all required keys; an optional one that it lacks has its default."""
        found, defaults = self.keyed(), optional or {}
        missing = [key for key in required if key not in found]
        unknown = [key for key in found if key not in required and key not in defaults]
        if missing or unknown:
            have = f"with the field '{missing[0]}'" if missing else f"without a field {quote(unknown[0])}"
            self.refuse(f"an object {have}")
        return {**{key: self._inner(value, key) for key, value in defaults.items()}, **found}

    def keyed(self) -> dict[str, "Value"]:
        """Return the fields of an object of any keys."""
        if not isinstance(self.raw, dict):
            self.refuse("an object")
        return {key: self._inner(value, key) for key, value in self.raw.items()}

    def _inner(self, raw: Any, step: str | int) -> "Value":
        return Value(raw, self.file, self.kind, (*self.way, step))

    def items(self, length: int | None = None) -> Iterator["Value"]:
        """Go through a list, of this length if given."""
        if not isinstance(self.raw, list) or (length is not None and len(self.raw) != length):
            self.refuse("a list" if length is None else f"a list of {length}")
        return (self._inner(value, place) for place, value in enumerate(self.raw))

    def __len__(self) -> int:
        return len(self.raw) if isinstance(self.raw, list) else self.refuse("a list")

    @property
    def is_null(self) -> bool:
        """Whether nothing stands here."""
        return self.raw is None

    def maybe(self, read: Callable[["Value"], T]) -> T | None:
        """Read the value, or return None where nothing stands."""
        return None if self.raw is None else read(self)

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
        items = self.items(length)
        if set(map(type, self.raw)) <= {int, float}:  # the usual list is checked at once
            values = np.array(self.raw, dtype=np.float64)
            if (np.isfinite(values) & (values >= low) & (values <= high)).all():
                return values
        return np.array([item.number(low, high, special=special) for item in items], dtype=np.float64)

    def integers(self, low: int, high: int, length: int | None = None) -> IntArray:
        """Return a list of integers from `low` to `high` as an array."""
        items = self.items(length)
        if (
            set(map(type, self.raw)) <= {int}
            and low <= min(self.raw, default=low)
            and max(self.raw, default=low) <= high
        ):
            return np.array(self.raw, dtype=np.int64)
        return np.array([item.integer(low, high) for item in items], dtype=np.int64)

    def positions(self, size: int) -> IntArray:
        """Return ascending, distinct positions below `size`."""
        values = self.integers(0, size - 1)
        if (np.diff(values) <= 0).any():
            self.refuse("positions in ascending order, each once")
        return values
