"""A fitted model and the rows it is looked at on: what every inspection begins with."""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
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
from rulegrove.estimators.recurrence import Remade, find_band
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule

SHOWN_NAMES = 8  # attributes that an error message lists


@dataclass(frozen=True, eq=False)
class Sample:
    """A fitted model and the rows it is looked at on."""

    model: RuleModel
    columns: Columns
    weights: FloatArray | None  # (n_rows,): they add up to one; None for rows that all count the same
    # Lists from other rows in place of the model, as far as the fit has made any (`n_resamples`).
    remade: tuple[Remade, ...] = ()

    def band(
        self,
        own: FloatArray,
        look: Callable[["Sample"], FloatArray],
        bounds: tuple[float, float] = (-math.inf, math.inf),
    ) -> tuple[FloatArray, FloatArray] | tuple[None, None]:
        """Return between what nine of ten lists from other rows lie, about what the model has, looked at as it is."""
        if len(self.remade) < 2:
            return None, None
        others = np.array([look(replace(self, model=one.model, remade=(one,))) for one in self.remade])
        return find_band(own, others, bounds)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return tuple(feature.name for feature in self.model.features)

    @property
    def coefs(self) -> FloatArray:
        """Coefficients, an ndarray of shape (n_outputs, n_terms)."""
        return np.atleast_2d(self.model.coefs)

    @cached_property
    def rules(self) -> tuple[tuple[int, Rule], ...]:
        """The rules of the model and their places among its terms."""
        return tuple((place, term) for place, term in enumerate(self.model.terms) if isinstance(term, Rule))

    @cached_property
    def lines(self) -> tuple[tuple[int, Linear], ...]:
        """The linear terms of the model and their places among its terms."""
        return tuple((place, term) for place, term in enumerate(self.model.terms) if isinstance(term, Linear))

    def of_output(self, output: int) -> "Sample":
        """Return the same with one of several outputs alone."""
        remade = tuple(replace(one, model=_take_output(one.model, output)) for one in self.remade)
        return replace(self, model=_take_output(self.model, output), remade=remade)

    def compile(self, rules: Sequence[Rule]) -> RuleProgram:
        """Prepare rules to be evaluated on the rows."""
        return compile_rules(rules, self.columns.n_features)

    def evaluate(self, program: RuleProgram) -> Iterator[tuple[slice, BitMatrix]]:
        """Yield the rows in blocks whose bits stay small, and where compiled rules hold in each block."""
        for start in range(0, self.columns.n_rows, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            yield rows, program.evaluate(self.columns.take(rows, program.used_features))

    def add_up(self, rules: Sequence[Rule], values: FloatArray) -> FloatArray:
        """Add columns up over the rows on which each rule holds, an ndarray of shape (n_rules, n_columns)."""
        sums = np.zeros((len(rules), values.shape[1]))
        for rows, bits in self.evaluate(self.compile(rules)):
            sums += bits.sums(values[rows])
        return sums

    def shares(self, program: RuleProgram) -> FloatArray:
        """Return the weighted share of the rows on which each compiled rule holds."""
        sums = np.zeros(program.n_rules)
        for rows, bits in self.evaluate(program):
            sums += bits.counts() if self.weights is None else bits.sums(self.weights[rows, None])[:, 0]
        return sums / self.columns.n_rows if self.weights is None else sums

    def attribute(self, feature: int, rows: slice = slice(None)) -> FloatArray:
        """Values of an attribute: numbers or codes, NaN where missing."""
        values: FloatArray = self.columns.take(rows, np.array([feature]))[0]
        return values

    def known(self, feature: int) -> FloatArray:
        """Values of an attribute where it is not missing."""
        values = self.attribute(feature)
        return values[~np.isnan(values)]

    def average(self, values: FloatArray) -> float:
        """Weighted mean of one number for each row."""
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
        """Find one attribute."""
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


def check_model(model: Any, what: str, *, fitted: bool = True) -> BaseRuleEnsemble:
    """Refuse what is not a rule ensemble, or is not fitted."""
    if not isinstance(model, BaseRuleEnsemble):
        raise InvalidInputError(
            f"{what} needs a RuleEnsembleClassifier or a RuleEnsembleRegressor; got {type(model).__name__}. "
            "Of a pipeline pass the last step, and X as that step sees it."
        )
    if fitted:
        check_is_fitted(model)
    return model


def check_target(model: BaseRuleEnsemble, target: Any) -> int:
    """Return the position of a class, a level or a number's name among the outputs.

    A model of one output needs none; one of several numbers takes the middle quantile, or the first number.
    """
    labels = list(model.model_.score_labels)
    if target is None and (len(labels) == 1 or not model.model_.labels):
        return model.model_.main_output
    if target is not None and target in labels:
        return labels.index(target)
    if len(labels) > 1:
        what = "classes" if model.model_.labels else "numbers" if model.model_.numbers else "levels"
        words = ", ".join(map(repr, labels))
        raise InvalidInputError(f"`target` must be one of the {len(labels)} {what} {words}; got {target!r}.")
    only = "None" if labels[0] is None else f"{labels[0]!r}, for which a positive score speaks"
    raise InvalidInputError(f"`target` of a model of one output must be {only}; got {target!r}.")


def name_output(model: BaseRuleEnsemble, output: int) -> str:
    """Return what an output is, in words: "prediction", "rate", "hazard ratio", "90 % quantile" or a name."""
    words = model.model_.score_words[output]
    return words if words is not None else model.recall_target().meaning.predicted


def refer_to(model: BaseRuleEnsemble, output: int) -> str:
    """Return the same as words within a sentence: "the rate", "the 90 % quantile", or a name."""
    name = name_output(model, output)
    return name if model.model_.numbers else f"the {name}"


def name_lists(model: BaseRuleEnsemble) -> str:
    """Return what has a list of its own, "class" or "number"; empty where there is one list."""
    if len(model.model_.score_labels) == 1:
        return ""
    if model.model_.labels:
        return "class"
    return "" if model.recall_target().shares_terms else "number"


def read_output(model: Any, X: Any, target: Any, sample_weight: Any = None) -> Sample:
    """Read rows to look at one output on, or at all outputs that are on one scale if none is named."""
    sample = read_sample(model, X, sample_weight)
    if target is not None:
        place = check_target(model, target)
        return sample.of_output(place) if len(sample.coefs) > 1 else sample
    if numbers := sample.model.numbers:
        raise InvalidInputError(
            f"The model predicts {len(numbers)} numbers, each in a unit of its own, so that they cannot be added up; "
            f"set `target` to one of {', '.join(map(repr, numbers))}."
        )
    return sample


def read_sample(model: Any, X: Any, sample_weight: Any = None) -> Sample:
    """Check the model, the table and the weights."""
    columns = check_model(model, "An inspection").read_columns(X)
    weights = check_weights(sample_weight, columns.n_rows)
    remade = () if model.front_ is None else model.front_.remade
    return Sample(model.model_, columns, None if weights is None else weights / weights.sum(), remade)


def _take_output(model: RuleModel, output: int) -> RuleModel:
    """Return a model of one of several outputs, whose score that is."""
    intercept = float(np.atleast_1d(model.intercept)[output])
    return replace(model, coefs=np.atleast_2d(model.coefs)[output], intercept=intercept, outputs=())


def split_rule(rule: Rule, features: Collection[int]) -> tuple[Rule, Rule]:
    """Split a rule into its conditions on some attributes and those on all others."""
    inside = tuple(condition for condition in rule.conditions if condition.feature in features)
    outside = tuple(condition for condition in rule.conditions if condition.feature not in features)
    return Rule(inside), Rule(outside)
