"""What every export writes down: the parts of the score in the order of the sum, and the way to probabilities."""

import importlib.util
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulegrove._typing import FloatArray
from rulegrove.columns import Feature
from rulegrove.design.terms import Linear, Term
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.calibration import Curves, Link, Mean, Steps
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Condition, Rule

# What `Mean` is, (F + 1) / 2 between 0 and 1: the straight line through these two points.
_MEAN = Steps(np.array([-1.0, 1.0]), np.array([0.0, 1.0]))


@dataclass(frozen=True)
class Scoring:
    """A model as a sum: ``intercept + (rules, in order) + each linear term, in order``, for each output.

    The order matters: sums of floats that are made in the same order are the same bit for bit.

    Attributes
    ----------
    features : tuple of Feature
    intercepts : ndarray of shape (n_outputs,)
    rules : tuple of Rule
    rule_coefs : ndarray of shape (n_outputs, n_rules)
    linear : tuple of Linear
    linear_coefs : ndarray of shape (n_outputs, n_linear)
    classes : tuple or None
        Labels of the classes; None for a regressor.
    link : Temperature, Curves or None
        What turns scores into probabilities; None for a regressor.
    """

    features: tuple[Feature, ...]
    intercepts: FloatArray
    rules: tuple[Rule, ...]
    rule_coefs: FloatArray
    linear: tuple[Linear, ...]
    linear_coefs: FloatArray
    classes: tuple[Any, ...] | None
    link: Link | None

    @property
    def n_outputs(self) -> int:
        """Number of scores of a row: one, or one a class."""
        return len(self.intercepts)

    @property
    def used_features(self) -> list[int]:
        """Ascending positions of the attributes that the terms ask about."""
        terms: tuple[Term, ...] = (*self.rules, *self.linear)
        return sorted({feature for term in terms for feature in term.features})

    def may_be_boolean(self, feature: int) -> bool:
        """Whether the terms ask no more of a number than whether it is 0 or 1: by one bound between them at most."""
        own = [part for rule in self.rules for part in rule.conditions if part.feature == feature]
        bounds = {bound for part in own for bound in (part.lower, part.upper) if math.isfinite(bound)}
        labels = self.features[feature].categories or ()
        is_linear = any(term.feature == feature for term in self.linear)
        told_apart = len(bounds) <= 1 and all(0 <= bound < 1 for bound in bounds)
        return not is_linear and told_apart and all(label in (0, 1) for label in labels)

    def rule_parts(self, output: int) -> Iterator[tuple[Rule, float]]:
        """Go through the rules that count for an output, in order, with their coefficients."""
        return _nonzero(self.rules, self.rule_coefs[output])

    def linear_parts(self, output: int) -> Iterator[tuple[Linear, float]]:
        """Go through the linear terms that count for an output, in order, with their coefficients."""
        return _nonzero(self.linear, self.linear_coefs[output])


def _nonzero(terms: Iterable[Any], coefs: FloatArray) -> Iterator[tuple[Any, float]]:
    return ((term, float(coef)) for term, coef in zip(terms, coefs, strict=True) if coef != 0.0)


def read_scoring(model: BaseRuleEnsemble) -> Scoring:
    """Return what an export writes down of a fitted estimator.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> X, y = load("iris", return_X_y=True)
    >>> scoring = read_scoring(RuleEnsembleClassifier(n_candidates=50, random_state=0).fit(X, y))
    >>> scoring.n_outputs, scoring.classes[0]
    (3, 'Iris-setosa')
    """
    if not isinstance(model, BaseRuleEnsemble):
        raise InvalidInputError(
            f"Only a RuleEnsembleClassifier or RuleEnsembleRegressor can be exported; got a {type(model).__name__}."
        )
    check_is_fitted(model)
    own = model.model_
    # A coefficient of 0, which a file may hold, adds nothing; without it no export has to write a term of no effect.
    places = np.flatnonzero(np.atleast_2d(own.coefs).any(axis=0))
    coefs = np.atleast_2d(own.coefs)[:, places]
    terms = [own.terms[place] for place in places]
    is_rule = np.array([isinstance(term, Rule) for term in terms], dtype=bool)
    return Scoring(
        features=own.features,
        intercepts=np.atleast_1d(np.asarray(own.intercept, dtype=np.float64)),
        rules=tuple(term for term in terms if isinstance(term, Rule)),
        rule_coefs=coefs[:, is_rule],
        linear=tuple(term for term in terms if isinstance(term, Linear)),
        linear_coefs=coefs[:, ~is_rule],
        classes=None if own.classes is None else tuple(own.classes.tolist()),
        link=_read_link(own.link),
    )


def _read_link(link: Link | None) -> Link | None:
    """Return what turns scores into probabilities, of such curves only as every export can write."""
    if not isinstance(link, Curves):
        return link
    return Curves(tuple(_MEAN if isinstance(curve, Mean) else curve for curve in link.curves))


def need_package(name: str, extra: str) -> None:
    """Say how to install a package that an export needs."""
    if importlib.util.find_spec(name) is None:
        raise ImportError(f"This export needs {name}; install it with: pip install 'rulegrove[{extra}]'")


def is_only_missing(condition: Condition) -> bool:
    """Whether a condition on a number asks for a missing value."""
    return condition.lower == np.inf or condition.upper == -np.inf


def is_text(feature: Feature) -> bool:
    """Whether an attribute has categories that are texts."""
    labels = feature.categories
    return labels is not None and (not labels or any(isinstance(label, str) for label in labels))


def split_categories(condition: Condition, feature: Feature) -> tuple[list[Any], bool]:
    """Return the categories that a condition takes, False; or those that it does not take of all there may be, True.

    The latter is how a condition is written that takes the pooled category, which has no list of labels.
    """
    labels, codes = feature.categories or (), condition.categories or ()
    others = len(labels) in codes
    return [label for code, label in enumerate(labels) if (code in codes) != others], others


def describe_columns(features: Iterable[Feature]) -> dict[str, str]:
    """Return what each column must hold that attributes are read from, in words."""
    return {feature.source: _describe(feature) for feature in features}


def _describe(feature: Feature) -> str:
    if feature.part is not None:
        return "date or time"
    if is_text(feature):
        return "text"
    return "number (read from text in the fit)" if feature.as_text else "number"


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
