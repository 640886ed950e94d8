"""The terms of a model, and which column of the design is which term."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import FloatArray, IntArray
from rulegrove._words import printable
from rulegrove.columns import Feature
from rulegrove.design.linear import LinearTerms
from rulegrove.rules.rule import Alias, Rule, write_value


@dataclass(frozen=True, slots=True, order=True)
class Linear:
    """An attribute as a straight line between two winsor points: ``clip(x, lower, upper)``.

    A missing value counts as `fill`, the mean of the winsorised attribute.

    Examples
    --------
    >>> from rulegrove.columns import Feature
    >>> Linear(0, 74.0, 179.0, 120.9).text([Feature("glucose")])
    'glucose (linear from 74 to 179)'
    """

    feature: int
    lower: float
    upper: float
    fill: float

    @property
    def features(self) -> tuple[int]:
        """Position of the attribute."""
        return (self.feature,)

    def values(self, x: FloatArray) -> FloatArray:
        """Return the term on values of its attribute, in the attribute's own unit."""
        values = np.clip(x, self.lower, self.upper)
        return np.where(np.isnan(values), self.fill, values)

    def text(self, features: Sequence[Feature], digits: int | None = None) -> str:
        """Return the term in words, with exact bounds unless `digits` rounds them."""
        feature = features[self.feature]
        low, high = (write_value(bound, feature, digits) for bound in (self.lower, self.upper))
        return f"{printable(feature.name)} (linear from {low} to {high})"


Term = Rule | Linear


@dataclass(frozen=True)
class Terms:
    """Columns of the design, rules first and linear terms after them.

    Attributes
    ----------
    rules : tuple of Rule
    linear : LinearTerms
    aliases : tuple of tuple of Alias
        For each rule the others that are the same column of the training rows.
    """

    rules: tuple[Rule, ...]
    linear: LinearTerms
    aliases: tuple[tuple[Alias, ...], ...]

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.rules) + self.linear.features.size

    def __getitem__(self, column: int) -> Term:
        if column < len(self.rules):
            return self.rules[column]
        k = column - len(self.rules)
        linear = self.linear
        return Linear(int(linear.features[k]), float(linear.lower[k]), float(linear.upper[k]), float(linear.center[k]))

    def take(self, columns: IntArray) -> "Terms":
        """Return some of the columns, given in ascending order."""
        n_rules = len(self.rules)
        rules = columns[columns < n_rules].tolist()
        return Terms(
            tuple(self.rules[column] for column in rules),
            self.linear.take(columns[columns >= n_rules] - n_rules),
            tuple(self.aliases[column] for column in rules),
        )

    def aliases_of(self, column: int) -> tuple[Alias, ...]:
        """Other names of a column; a linear term has none."""
        return self.aliases[column] if column < len(self.rules) else ()

    def count_conditions(self) -> IntArray:
        """Return how many conditions each term has; a linear term has none."""
        return np.array([len(rule.conditions) for rule in self.rules] + [0] * self.linear.n_terms, dtype=np.int64)

    @property
    def scales(self) -> FloatArray:
        """Design units in one unit of each term: 1 for a rule, the scale of a linear term."""
        return np.concatenate([np.ones(len(self.rules)), self.linear.scale])

    @property
    def centers(self) -> FloatArray:
        """What the design subtracts from each term, in the term's own unit: 0 for a rule."""
        return np.concatenate([np.zeros(len(self.rules)), self.linear.center])
