"""What every export writes down: the parts of the score in the order of the sum, and the way to predictions."""

import importlib.util
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulegrove._typing import FloatArray
from rulegrove.columns import Feature
from rulegrove.design.terms import Linear, Term
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.baseline import Baseline
from rulegrove.estimators.calibration import ClassLink, Curve, Sigmoid, Steps, Temperature
from rulegrove.estimators.model import exponentiate
from rulegrove.estimators.regressor import RuleEnsembleRegressor
from rulegrove.estimators.survival import RuleEnsembleSurvival
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Condition, Rule

# What `Mean` is, (F + 1) / 2 between 0 and 1: the straight line through these two points.
_MEAN = Steps(np.array([-1.0, 1.0]), np.array([0.0, 1.0]))


@dataclass(frozen=True)
class Logistic:
    """The curve ``1 / (1 + exp(-(slope * F + shift)))``, without a shift where that is None."""

    slope: float
    shift: float | None = None


@dataclass(frozen=True)
class Scoring:
    """A model as a sum: ``intercept + (rules, in order) + each linear term, in order``, for each output.

    The order matters: sums of floats that are made in the same order are the same bit for bit.
    """

    features: tuple[Feature, ...]
    intercepts: FloatArray  # (n_outputs,)
    rules: tuple[Rule, ...]
    rule_coefs: FloatArray  # (n_outputs, n_rules)
    linear: tuple[Linear, ...]
    linear_coefs: FloatArray  # (n_outputs, n_linear)
    classes: tuple[Any, ...]  # labels of the classes; empty for a regressor
    # The slope of several scores whose softmax are the probabilities; None where curves give them.
    softmax: float | None
    # Otherwise the curve from each score to a probability; those of several scores are divided by their sum.
    curves: tuple[Logistic | Steps, ...]
    exponential: bool = False  # whether the prediction is the exponential of the score; then there is one
    takes_exposure: bool = False  # whether this is a rate, which an exposure multiplies
    # The cumulative hazard of a score of 0, where the prediction is how many times that of a row is.
    baseline: Baseline | None = None

    @property
    def n_outputs(self) -> int:
        """Number of scores of a row: one, one for each of more than two classes, or one for each number."""
        return len(self.intercepts)

    @property
    def used(self) -> dict[int, Feature]:
        """The attributes that the terms ask about, by their ascending positions."""
        terms: tuple[Term, ...] = (*self.rules, *self.linear)
        places = {place for term in terms for place in term.features}
        return {place: self.features[place] for place in sorted(places)}

    def may_be_boolean(self, feature: int) -> bool:
        """Whether the terms ask no more of a number than whether it is 0 or 1: by one bound between them at most."""
        conditions = [part for rule in self.rules for part in rule.conditions if part.feature == feature]
        bounds = {bound for part in conditions for bound in (part.lower, part.upper) if math.isfinite(bound)}
        labels = self.features[feature].categories or ()
        is_linear = any(term.feature == feature for term in self.linear)
        told_apart = len(bounds) <= 1 and all(0 <= bound < 1 for bound in bounds)
        return not is_linear and told_apart and all(label in (0, 1) for label in labels)


def nonzero(coefs: FloatArray) -> list[tuple[int, float]]:
    """Return the positions of the coefficients that count, each with its value."""
    return [(place, coef) for place, coef in enumerate(coefs.tolist()) if coef != 0.0]


def read_scoring(model: BaseRuleEnsemble) -> Scoring:
    """Return what an export writes down of a fitted estimator."""
    if not isinstance(model, BaseRuleEnsemble):
        raise InvalidInputError(
            f"Only an estimator of rulegrove, such as a RuleEnsembleClassifier, can be exported; got a "
            f"{type(model).__name__}."
        )
    check_is_fitted(model)
    fitted = model.model_
    if fitted.inverse not in (None, exponentiate):
        raise InvalidInputError(
            f"No export writes down what turns the scores of a {type(model).__name__} into predictions; save the "
            "predictions themselves."
        )
    coefs = np.atleast_2d(fitted.coefs)
    # A coefficient of 0, which a file may hold, adds nothing; without it no export has to write a term of no effect.
    places = np.flatnonzero(coefs.any(axis=0)).tolist()
    rules = {place: term for place in places if isinstance(term := fitted.terms[place], Rule)}
    linear = {place: term for place in places if isinstance(term := fitted.terms[place], Linear)}
    softmax, curves = _read_link(fitted.link, len(coefs))
    of_rates = isinstance(model, RuleEnsembleRegressor) and fitted.inverse is not None and model.make_target().log_link
    return Scoring(
        features=fitted.features,
        intercepts=np.atleast_1d(np.asarray(fitted.intercept, dtype=np.float64)),
        rules=tuple(rules.values()),
        rule_coefs=coefs[:, [*rules]],
        linear=tuple(linear.values()),
        linear_coefs=coefs[:, [*linear]],
        classes=fitted.labels,
        softmax=softmax,
        curves=curves,
        exponential=fitted.inverse is not None,
        takes_exposure=of_rates,
        baseline=model.baseline_ if isinstance(model, RuleEnsembleSurvival) else None,
    )


def check_exposure(scoring: Scoring, exposure: str | None) -> None:
    """Refuse the name of an exposure where there is no rate that it multiplies, and what is no name."""
    if exposure is None:
        return
    if not scoring.takes_exposure:
        raise InvalidInputError(
            "`exposure` is for models of rates, of the losses 'poisson', 'gamma' and 'tweedie', which it multiplies; "
            "leave it out."
        )
    if not isinstance(exposure, str) or not exposure:
        raise InvalidInputError(f"`exposure` must be the name of a column; got {exposure!r}.")


def state_hazards(model: BaseRuleEnsemble, times: Sequence[float]) -> tuple[float, ...]:
    """Return the cumulative hazard of a score of 0 at some times; refuse times of a model that has none."""
    if not len(times):
        return ()
    if not isinstance(model, RuleEnsembleSurvival):
        raise InvalidInputError("`times` is for models of survival times; leave it out.")
    return tuple(model.find_hazards(times).tolist())


def _read_link(link: ClassLink | None, n_outputs: int) -> tuple[float | None, tuple[Logistic | Steps, ...]]:
    """Return the slope of a softmax, or curves such as every export can write."""
    if link is None:
        return None, ()
    if not isinstance(link, Temperature):
        return None, tuple(_read_curve(curve) for curve in link.curves)
    return (link.slope, ()) if n_outputs > 1 else (None, (Logistic(link.slope),))


def _read_curve(curve: Curve) -> Logistic | Steps:
    if isinstance(curve, Sigmoid):
        return Logistic(curve.slope, curve.shift)
    return curve if isinstance(curve, Steps) else _MEAN


def need_package(name: str, extra: str) -> None:
    """Say how to install a package that an export needs."""
    if importlib.util.find_spec(name) is None:
        raise ImportError(f"This export needs {name}; install it with: pip install 'rulegrove[{extra}]'")


def is_only_missing(condition: Condition) -> bool:
    """Whether no known value satisfies a condition."""
    return condition.categories == () or condition.lower == math.inf or condition.upper == -math.inf


def kind_of(feature: Feature) -> Literal["number", "text", "time"]:
    """Return what the column of an attribute must hold."""
    if feature.part is not None:
        return "time"
    labels = feature.categories
    return "text" if labels == () or any(isinstance(label, str) for label in labels or ()) else "number"


def is_text(feature: Feature) -> bool:
    """Whether an attribute has categories that are texts."""
    return kind_of(feature) == "text"


def split_categories(condition: Condition, feature: Feature) -> tuple[list[Any], bool]:
    """Return the categories that a condition takes, False; or those that it does not take of all there may be, True.

    The latter is how a condition is written that takes the pooled category, which has no list of labels.
    """
    labels, codes = feature.categories or (), condition.categories or ()
    others = len(labels) in codes
    return [label for code, label in enumerate(labels) if (code in codes) != others], others


def describe_columns(features: Iterable[Feature]) -> dict[str, str]:
    """Return what each column must hold that attributes are read from, in words."""
    words = {"time": "date or time", "text": "text", "number": "number"}
    read = " (read from text in the fit)"
    return {feature.source: words[kind_of(feature)] + read * feature.as_text for feature in features}


def is_unicode(text: str) -> bool:
    """Whether a text can be written at all: half of a pair of surrogates cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def steps_parts(curve: Steps) -> list[tuple[float, float, float, float]]:
    """Return the pieces ``(end, slope, start, level)`` of a curve: up to `end`, ``slope * (F - start) + level``.

    Before the first piece, from its `start`, the curve has the first probability, after the last one the last.
    Slopes are those of `numpy.interp`, so that the values are the same bit for bit.
    """
    x, y = curve.scores.tolist(), curve.probabilities.tolist()
    pieces = zip(x, x[1:], y, y[1:], strict=False)
    return [(end, (high - low) / (end - start), start, low) for start, end, low, high in pieces if end > start]
