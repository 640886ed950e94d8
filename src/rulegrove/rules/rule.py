"""The two records a rule is made of, their meaning on a block of rows, and their words."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rulegrove._typing import BoolArray, FloatArray
from rulegrove.columns import Feature

SPARED_DIGITS = 8  # by the number after a bound, for the bound to be told as "at least" or "less than" that number


def _number(value: float, digits: int | None) -> str:
    """Shortest text that reads back as `value`, or `value` at so many significant digits."""
    text = repr(float(value)) if digits is None else f"{value:.{digits}g}"
    return text.removesuffix(".0")


@functools.lru_cache(maxsize=4096)  # bounds come again, in several rules and at several lengths of text
def _round_after(value: float) -> float | None:
    """Return the double after `value` if it takes far fewer digits: ``x > value`` then reads ``x >= 40``."""
    after = math.nextafter(value, math.inf) + 0.0  # not -0.0
    rounder = after == 0.0 or _count_digits(after) + SPARED_DIGITS <= _count_digits(value)
    return after if rounder and math.isfinite(after) else None


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
        Sorted codes that satisfy the condition; None for a numeric attribute.
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
            categories = tuple(code for code in self.categories if code in other.categories)
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
        """Return the condition in words; `digits` rounds the bounds for display, None keeps them exact."""
        name = feature.name
        if self.categories is not None:
            labels = feature.categories or ()
            words = f"{name} in {{{', '.join(repr(labels[code]) for code in self.categories)}}}"
            if not self.categories:
                return f"{name} is missing"
        elif self.lower == math.inf:
            return f"{name} is missing"
        else:
            words = self._interval(name, digits)
        return f"{words} or missing" if self.missing else words

    def _interval(self, name: str, digits: int | None) -> str:
        """Return the bounds of a numeric attribute in words."""
        at_least, less_than = _round_after(self.lower), _round_after(self.upper)
        low = _number(self.lower if at_least is None else at_least, digits)
        high = _number(self.upper if less_than is None else less_than, digits)
        if self.lower > -math.inf and self.upper < math.inf:
            if at_least == self.upper:
                return f"{name} == {high}"
            return f"{low} {'<' if at_least is None else '<='} {name} {'<=' if less_than is None else '<'} {high}"
        if self.lower > -math.inf:
            return f"{name} {'>' if at_least is None else '>='} {low}"
        if self.upper < math.inf:
            return f"{name} {'<=' if less_than is None else '<'} {high}"
        return f"{name} is known"


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """A product of conditions, one an attribute, sorted by attribute.

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
        """Rows that satisfy every condition; `block` has one row an attribute."""
        held = np.ones(block.shape[1], dtype=bool)
        for condition in self.conditions:
            held &= condition.holds(block[condition.feature])
        return held

    def text(self, features: Sequence[Feature], digits: int | None = None) -> str:
        """Return the rule in words, with exact thresholds unless `digits` rounds them for display."""
        parts = [condition.text(features[condition.feature], digits) for condition in self.conditions]
        if len(parts) > 1:
            parts = [f"({part})" if part.endswith(" or missing") else part for part in parts]
        return " and ".join(parts)
