"""The two records a rule is made of, their meaning on a block of rows, and their words."""

import functools
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import BoolArray, FloatArray
from rulegrove._words import date_of, printable, write_number
from rulegrove.columns import Feature

ANY_OTHER = "any other"  # the category of all labels that an attribute has no category of their own for
_PLAIN = re.compile(r"\w[\w.+/%-]*(?: \w[\w.+/%-]*)*")  # labels that need no quotes, unless a word has a meaning
_SAID = re.compile(r"\b(?:and|or|in|is|not|missing|known|any other)\b", re.IGNORECASE)
SPARED_DIGITS = 8  # by the number after a bound, for the bound to be told as "at least" or "less than" that number


def write_value(value: float, feature: Feature, digits: int | None = None) -> str:
    """Return a value of a numeric attribute in words: exact, unless `digits` rounds it, and a day as its date.

    Examples
    --------
    >>> write_value(10421.5, Feature("price")), write_value(19782.5, Feature("sold", part="date"))
    ('10421.5', '2024-02-29')
    """
    day = date_of(value) if feature.part == "date" else None
    return write_number(value, digits) if day is None else day.isoformat()


def write_label(label: Hashable) -> str:
    """Return a category in words: as it is where nothing can be mistaken, else in quotes.

    Examples
    --------
    >>> write_label("dark blue"), write_label("black and white"), write_label(2.0)
    ('dark blue', "'black and white'", '2')
    """
    if isinstance(label, float):
        return write_number(label)
    plain = isinstance(label, str) and _PLAIN.fullmatch(label) and not _SAID.search(label)
    return str(label) if plain else repr(label)


@functools.lru_cache(maxsize=4096)  # bounds come again, in several rules and at several lengths of text
def _round_after(value: float) -> float | None:
    """Return the double after `value` if it takes far fewer digits: ``x > value`` then reads ``x >= 40``."""
    after = math.nextafter(value, math.inf) + 0.0  # not -0.0
    rounder = after == 0.0 or _count_digits(after) + SPARED_DIGITS <= _count_digits(value)
    return after if rounder and math.isfinite(after) else None


def _month_after(bound: float) -> float | None:
    """Return the day after a bound if a month begins there: ``sold > 2023-12-31`` then reads ``sold >= 2024-01-01``."""
    after = math.floor(bound) + 1.0
    day = date_of(after)
    return after if day is not None and day.day == 1 else None


def write_bound(bound: float, feature: Feature, digits: int | None) -> tuple[bool, str]:
    """Return a bound in words, and whether they are of the number after it, or of the month that begins after a day."""
    is_day = feature.part == "date" and date_of(bound) is not None
    after = _month_after(bound) if is_day else _round_after(bound)
    return after is not None, write_value(bound if after is None else after, feature, digits)


def _count_digits(value: float) -> int:
    """Digits that it takes to write a number, zeros at its ends not counted."""
    mantissa = repr(value).partition("e")[0]
    return len(mantissa.replace(".", "").lstrip("-").strip("0"))


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """One attribute's part of a rule: ``lower < x <= upper``, or a set of categories.

    Parameters
    ----------
    feature : int
        Position of the attribute.
    lower, upper : float
        Bounds of a numeric attribute; an infinite side is open.
    categories : tuple of int, optional
        Sorted codes that satisfy the condition; None for a numeric attribute. The code after those of all categories
        is that of any other label, which only a pooled attribute has rules for.
    missing : bool
        Whether a missing value satisfies the condition.

    Examples
    --------
    >>> from rulegrove.columns import Feature
    >>> Condition(0, upper=127.5).text(Feature("glucose"))
    'glucose <= 127.5'
    >>> Condition(0, lower=28.5, upper=40.5, missing=True).text(Feature("age"))
    '28.5 < age <= 40.5 or missing'
    >>> Condition(0, lower=math.nextafter(40.0, 0.0)).text(Feature("age"))
    'age >= 40'
    >>> colour = Feature("colour", ("blue", "green", "red"))
    >>> Condition(0, categories=(2,)).text(colour), Condition(0, categories=(0, 1)).text(colour)
    ('colour = red', 'colour != red')
    >>> member = Feature("is_member", boolean=True)
    >>> Condition(0, lower=0.0).text(member), Condition(0, upper=0.0).text(member)
    ('is_member', 'not is_member')
    >>> Condition(0, upper=19782.5).text(Feature("sold", part="date"))
    'sold < 2024-03-01'
    """

    feature: int
    lower: float = -math.inf
    upper: float = math.inf
    categories: tuple[int, ...] | None = None
    missing: bool = False

    def __and__(self, other: "Condition") -> "Condition":
        """Both conditions at once; the two speak of one attribute."""
        if self.categories is None or other.categories is None:
            categories = None
        else:
            categories = tuple(sorted(set(self.categories).intersection(other.categories)))
        return Condition(
            self.feature,
            max(self.lower, other.lower),
            min(self.upper, other.upper),
            categories,
            self.missing and other.missing,
        )

    def holds(self, values: FloatArray) -> BoolArray:
        """Where the condition holds; `values` are numbers or category codes, NaN where missing."""
        if self.categories is not None:
            known = np.isin(values, self.categories)
        else:
            known = ~np.isnan(values)
            if self.lower > -math.inf:
                known &= values > self.lower
            if self.upper < math.inf:
                known &= values <= self.upper
        return known | np.isnan(values) if self.missing else known

    def text(self, feature: Feature, digits: int | None = None) -> str:
        r"""Return the condition in words, exact unless `digits` rounds the bounds: rounded ones decide otherwise.

        A name that holds control characters is written with escapes, such as ``\x1b``. Of categories, ``!=``,
        ``not in`` and ``is known`` speak of those that the attribute has: a label that it does not know is none of
        them. Truth values are told by the name alone, ``is_member`` or ``not is_member``.
        """
        name = printable(feature.name)
        if self.lower == math.inf or self.categories == ():
            return f"{name} is missing"
        if self.categories is not None:
            words = self._choice(name, feature)
        elif feature.boolean and self.truth is not None and name.strip():  # a blank name alone would say nothing
            words = name if self.truth else f"not {name}"
        else:
            words = self._interval(name, feature, digits)
        return f"{words} or missing" if self.missing else words

    @property
    def truth(self) -> bool | None:
        """The one truth value that satisfies the condition, as the number 1 or 0; None if it is both or neither."""
        true, false = self.lower < 1.0 <= self.upper, self.lower < 0.0 <= self.upper
        return None if true == false else true

    def _choice(self, name: str, feature: Feature) -> str:
        """Return the categories in words, or those that are left out where that is shorter."""
        labels, inside = feature.categories or (), self.categories or ()
        outside = sorted(set(range(feature.n_categories)).difference(inside))

        def write(codes: Sequence[int]) -> str:
            return ", ".join(write_label(labels[code]) if code < len(labels) else ANY_OTHER for code in codes)

        if len(inside) == 1:
            return f"{name} = {write(inside)}"
        if not outside:
            return f"{name} is known"
        left_out = f"{name} != {write(outside)}" if len(outside) == 1 else f"{name} not in {{{write(outside)}}}"
        return min(f"{name} in {{{write(inside)}}}", left_out, key=len)

    def _interval(self, name: str, feature: Feature, digits: int | None) -> str:
        """Return the bounds of a numeric attribute in words."""
        at_least, low = write_bound(self.lower, feature, digits)
        less_than, high = write_bound(self.upper, feature, digits)
        if self.lower > -math.inf and self.upper < math.inf:
            if self._is_point(feature):
                return f"{name} = {write_value(self.upper, feature, digits)}"
            return f"{low} {'<=' if at_least else '<'} {name} {'<' if less_than else '<='} {high}"
        if self.lower > -math.inf:
            return f"{name} {'>=' if at_least else '>'} {low}"
        if self.upper < math.inf:
            return f"{name} {'<' if less_than else '<='} {high}"
        return f"{name} is known"

    def _is_point(self, feature: Feature) -> bool:
        """Whether one number lies between the bounds, or one day of an attribute of whole days."""
        first, last = (date_of(bound) if feature.part == "date" else None for bound in (self.lower, self.upper))
        if first is None or last is None:
            return math.nextafter(self.lower, math.inf) == self.upper
        return last.toordinal() - first.toordinal() == 1


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """A product of conditions, one for each attribute, sorted by attribute.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.columns import Feature
    >>> rule = Rule((Condition(0, upper=2.5), Condition(1, lower=0.0, missing=True)))
    >>> rule.text([Feature("a"), Feature("b")])
    'a <= 2.5 and (b > 0 or missing)'
    >>> rule.holds(np.array([[1.0, 2.5, 3.0], [1.0, np.nan, 1.0]]))
    array([ True,  True, False])
    """

    conditions: tuple[Condition, ...]

    @property
    def features(self) -> tuple[int, ...]:
        """Positions of the attributes the rule asks about."""
        return tuple(condition.feature for condition in self.conditions)

    def holds(self, block: FloatArray) -> BoolArray:
        """Rows that satisfy every condition; `block` has one row for each attribute."""
        held = np.ones(block.shape[1], dtype=bool)
        for condition in self.conditions:
            held &= condition.holds(block[condition.feature])
        return held

    def text(self, features: Sequence[Feature], digits: int | None = None) -> str:
        """Return the rule in words, with exact thresholds unless `digits` rounds them: see `Condition.text`."""
        parts = [condition.text(features[condition.feature], digits) for condition in self.conditions]
        if len(parts) > 1:
            parts = [f"({part})" if part.endswith(" or missing") else part for part in parts]
        return " and ".join(parts)


def move_rule(rule: Rule, places: Mapping[int, int] | Sequence[int]) -> Rule:
    """Return a rule about attributes in other places, which must be in the same order."""
    return Rule(tuple(replace(condition, feature=places[condition.feature]) for condition in rule.conditions))


@dataclass(frozen=True, slots=True)
class Alias:
    """A rule that says on the training rows what the kept one says, or the exact opposite."""

    rule: Rule
    opposite: bool

    __repr__ = short_repr
