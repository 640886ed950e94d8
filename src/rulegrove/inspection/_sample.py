"""A fitted model and the rows it is looked at on: what every inspection begins with."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulegrove._typing import FloatArray
from rulegrove._validation import check_weights
from rulegrove.columns import Columns
from rulegrove.design.bits import BitMatrix, RuleProgram, compile_rules
from rulegrove.design.terms import Linear
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.model import BLOCK_ROWS, RuleModel
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule

SHOWN_NAMES = 8  # attributes that an error message lists


@dataclass(frozen=True, eq=False)
class Sample:
    """A fitted model and the rows it is looked at on.

    Attributes
    ----------
    model : RuleModel
    columns : Columns
    weights : ndarray of shape (n_rows,) or None
        Adding up to one; None for rows that count alike.
    """

    model: RuleModel
    columns: Columns
    weights: FloatArray | None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return tuple(feature.name for feature in self.model.features)

    @property
    def coefs(self) -> FloatArray:
        """Coefficients with one row an output."""
        return np.atleast_2d(self.model.coefs)

    @cached_property
    def rules(self) -> tuple[tuple[int, Rule], ...]:
        """The rules of the model and their places among its terms."""
        return tuple((place, term) for place, term in enumerate(self.model.terms) if isinstance(term, Rule))

    @cached_property
    def lines(self) -> tuple[tuple[int, Linear], ...]:
        """The linear terms of the model and their places among its terms."""
        return tuple((place, term) for place, term in enumerate(self.model.terms) if isinstance(term, Linear))

    @property
    def blocks(self) -> list[slice]:
        """The rows in blocks whose bits stay small."""
        return [slice(start, start + BLOCK_ROWS) for start in range(0, self.columns.n_rows, BLOCK_ROWS)]

    def weights_of(self, rows: slice) -> FloatArray:
        """Weights of a block of rows."""
        if self.weights is None:
            return np.full(len(range(*rows.indices(self.columns.n_rows))), 1.0 / self.columns.n_rows)
        return self.weights[rows]

    def attribute(self, feature: int, rows: slice = slice(None)) -> FloatArray:
        """Values of an attribute: numbers or codes, NaN where missing."""
        values: FloatArray = self.columns.take(rows, np.array([feature]))[0]
        return values

    def average(self, values: FloatArray) -> float:
        """Weighted mean of one number a row."""
        return float(values.mean() if self.weights is None else values @ self.weights)

    def positions(self, features: Any) -> tuple[int, ...]:
        """Find the attributes that are named or given by their positions, one or a sequence of them."""
        listed = [features] if isinstance(features, (str, int, np.integer)) else list(features)
        places = tuple(self._position(item) for item in listed)
        if not places:
            raise InvalidInputError("`features` is empty; name at least one attribute.")
        for place in places:
            if places.count(place) > 1:
                raise InvalidInputError(f"`features` names '{self.names[place]}' more than once; name it once.")
        return places

    def _position(self, item: Any) -> int:
        names = self.names
        if isinstance(item, str) and item in names:
            return names.index(item)
        if isinstance(item, (int, np.integer)) and not isinstance(item, bool) and 0 <= int(item) < len(names):
            return int(item)
        more = ", ..." if len(names) > SHOWN_NAMES else ""
        raise InvalidInputError(
            f"Attribute {item!r} is unknown; give a name ({', '.join(names[:SHOWN_NAMES])}{more}) "
            f"or a position from 0 to {len(names) - 1}."
        )


def read_sample(model: Any, X: Any, sample_weight: Any = None) -> Sample:
    """Check the model, the table and the weights."""
    if not isinstance(model, BaseRuleEnsemble):
        raise InvalidInputError(
            f"`model` must be a RuleEnsembleClassifier or a RuleEnsembleRegressor; got {type(model).__name__}. "
            "Of a pipeline pass the last step, and X as that step sees it."
        )
    check_is_fitted(model)
    columns = model._columns(X)
    weights = check_weights(sample_weight, columns.n_rows)
    return Sample(model.model_, columns, None if weights is None else weights / weights.sum())


def read_classes(model: Any) -> tuple[Any, ...] | None:
    """Labels of a classifier, in the order of its outputs; None for a regressor."""
    return tuple(model.classes_.tolist()) if hasattr(model, "classes_") else None


def evaluate_rules(sample: Sample, program: RuleProgram, rows: slice) -> BitMatrix:
    """Find where compiled rules hold in a block of rows."""
    return program.evaluate(sample.columns.take(rows, program.used_features))


def _weigh(sample: Sample, program: RuleProgram) -> FloatArray:
    """Return the weighted share of the rows on which each compiled rule holds."""
    sums = np.zeros(program.n_rules)
    for rows in sample.blocks if program.n_rules else []:
        bits = evaluate_rules(sample, program, rows)
        sums += bits.counts() if sample.weights is None else bits.sums(sample.weights[rows, None])[:, 0]
    return sums / sample.columns.n_rows if sample.weights is None else sums


def measure_shares(sample: Sample, rules: Sequence[Rule]) -> FloatArray:
    """Return the weighted share of the rows on which each rule holds; one without conditions holds everywhere."""
    return _weigh(sample, compile_rules(rules, sample.columns.n_features))


@dataclass(frozen=True, eq=False)
class Parts:
    """Conjunctions of conditions, each once, and the weighted shares of rows on which they hold.

    Attributes
    ----------
    places : dict of Rule to int
        Position of each conjunction.
    shares : ndarray of shape (n_parts,)
    program : RuleProgram
    """

    places: dict[Rule, int]
    shares: FloatArray
    program: RuleProgram

    def share(self, part: Rule) -> float:
        """Share of the rows on which a conjunction holds."""
        return float(self.shares[self.places[part]])


def measure_parts(sample: Sample, parts: Iterable[Rule]) -> Parts:
    """Evaluate conjunctions on the rows, each once however often it is named."""
    distinct = list(dict.fromkeys(parts))
    program = compile_rules(distinct, sample.columns.n_features)
    return Parts({part: place for place, part in enumerate(distinct)}, _weigh(sample, program), program)


def split_rule(rule: Rule, features: Iterable[int]) -> tuple[Rule, Rule]:
    """Split a rule into its conditions on some attributes and those on all others."""
    chosen = set(features)
    inside = tuple(condition for condition in rule.conditions if condition.feature in chosen)
    outside = tuple(condition for condition in rule.conditions if condition.feature not in chosen)
    return Rule(inside), Rule(outside)
