"""`compare`: two fitted models, and the rows on which they differ."""

import functools
from collections.abc import Callable, Hashable
from typing import Any

import narwhals as nw
import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove._validation import find_codes
from rulegrove.columns import Feature, as_table, is_frame, list_names
from rulegrove.comparing.record import (
    ComparedRows,
    Comparison,
    Concerned,
    Errors,
    Side,
    check_sides,
    compare_sides,
    find_share,
    pair_terms,
)
from rulegrove.design.bits import BitMatrix
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.steady import Goal, find_alike, offer_rules
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import Sample, check_model, read_sample
from rulegrove.inspection.stability import TENTHS, compare_coverage, tell_deciles
from rulegrove.rules.rule import Rule

N_CONCERNED = 5  # rules that tell whom a change concerns
STEADINESS = 0.5  # of these rules: short ones are preferred
MOST_EXPLAINED = 20_000  # rows that tell whom a change concerns
LEAST_CHANCE = 1e-15


def compare(a: Any, b: Any, X: Any = None, y: Any = None) -> Comparison:
    """Compare two models, such as this year's and last year's, or an edited list and the original.

    Terms are paired one to one if they have the same words. If you give rows, they are also paired if their thresholds
    are on the same attributes, on the same sides and in the same deciles, or if they hold on nearly the same rows: both
    on at least 80 % of the rows on which one of them holds. Linear terms are paired by attribute.

    Parameters
    ----------
    a, b : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        Fitted, or read by `load_model`; of the same kind of target, with the same classes.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Rows to predict, preferably rows that neither model was fitted on. They need the columns of both models.
    y : array-like of shape (n_samples,), optional
        Their target, to compare the errors of both models, with the standard error of the difference. Not for survival
        times and quantiles.

    Returns
    -------
    Comparison

    See Also
    --------
    rulegrove.inspection.stability_report : Which rules come back when a model is fitted to other rows.

    Examples
    --------
    >>> import rulegrove
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> X, y = load("pima")
    >>> model = RuleEnsembleClassifier(n_candidates=200, max_terms=8, random_state=0).fit(X[:500], y[:500])
    >>> found = rulegrove.compare(model, model.shorten(max_terms=4), X[500:], y[500:])
    >>> found.n_a > found.n_b, len(found.rows.change)
    (True, 268)
    >>> rulegrove.compare(model, model).shared["words"]
    1.0
    """
    models = check_models(a, b)
    if X is None:
        if y is not None:
            raise InvalidInputError("`y` is the target of the rows `X`; give both, or neither.")
        return compare_sides(*map(read_side, models))
    return compare_rows(models, (_take_columns(models[0], X), _take_columns(models[1], X)), y)


def check_models(a: Any, b: Any) -> tuple[BaseRuleEnsemble, BaseRuleEnsemble]:
    """Return two models that can be compared."""
    models = (check_model(a, "A comparison"), check_model(b, "A comparison"))
    check_sides(*map(read_side, models))
    return models


def _take_columns(model: BaseRuleEnsemble, X: Any) -> Any:
    """Return the columns of a model, of a data frame that may have others for the other model."""
    table = as_table(X)
    if not (is_frame(table) and hasattr(model, "feature_names_in_")):
        return X
    known = set(list_names(table))
    return nw.from_native(table).select([name for name in model.model_.names if name in known]).to_native()


def compare_rows(models: tuple[BaseRuleEnsemble, BaseRuleEnsemble], tables: tuple[Any, Any], y: Any) -> Comparison:
    """Compare two models on rows, each with a table of its own columns; see `compare`.

    Parameters
    ----------
    models, tables : tuple of two
    y : array-like, optional
    """
    samples = (read_sample(models[0], tables[0]), read_sample(models[1], tables[1]))
    one, other = map(read_side, models)
    deciles = [_tell_terms(sample, _find_tenths(sample)) for sample in samples]
    alike = _find_alike(*samples)
    terms = pair_terms(one, other, [("words", one.words, other.words), ("deciles", deciles[0], deciles[1])], alike)
    words = np.array([[own == its for its in other.words] for own in one.words], dtype=bool).reshape(alike.shape)
    shared = {
        "words": find_share(one.words, other.words),
        "deciles": find_share(*deciles),
        "rows": compare_coverage(alike | words),
    }
    rows = _predict(models[0], samples, y)
    return Comparison(terms, len(one.ranked), len(other.ranked), shared, one.held_out, other.held_out, rows)


def read_side(model: BaseRuleEnsemble) -> Side:
    """Return what of a fitted model is compared."""
    return Side(type(model).__name__, model.model_, model.rules_, model.held_out_)


def _find_tenths(sample: Sample) -> Callable[[int], FloatArray]:
    """Return a function that gives the deciles of an attribute."""

    @functools.cache
    def tenths(feature: int) -> FloatArray:
        known = sample.known(feature)
        return np.quantile(known, TENTHS) if known.size else known

    return tenths


def _tell_terms(sample: Sample, tenths: Callable[[int], FloatArray]) -> list[Hashable]:
    """Return what is the same for terms of the same attributes, sides and deciles, whichever model they are of."""
    features = sample.model.features
    told: list[Hashable] = []
    for term in sample.model.terms:
        if not isinstance(term, Rule):
            told.append((features[term.feature].name, "line"))
            continue
        parts = tell_deciles(term, features, tenths)
        told.append(
            frozenset(
                own if isinstance(own, str) else (features[own.feature].name, own.lower, own.upper, own.missing)
                for own in parts
            )
        )
    return told


def _find_alike(a: Sample, b: Sample) -> BoolArray:
    """Return which terms of two models hold on nearly the same rows; lines have none."""
    alike = np.zeros((len(a.model.terms), len(b.model.terms)), dtype=bool)
    bits = [_evaluate(sample, [rule for _, rule in sample.rules]) for sample in (a, b)]
    found = find_alike(BitMatrix(np.concatenate([own.words for own in bits]), bits[0].n_rows))
    places = [np.array([place for place, _ in sample.rules], dtype=np.int64) for sample in (a, b)]
    alike[np.ix_(*places)] = found[: len(places[0]), len(places[0]) :]
    return alike


def _evaluate(sample: Sample, rules: list[Rule]) -> BitMatrix:
    """Find where rules hold on all rows."""
    program = sample.compile(rules)
    return program.evaluate(sample.columns.take(slice(None), program.used_features))


def _predict(model: BaseRuleEnsemble, samples: tuple[Sample, Sample], y: Any) -> ComparedRows:
    """Predict rows by both models, and tell how and for whom they differ."""
    scores = [sample.model.score(sample.columns) for sample in samples]
    predicted = [sample.model.decide(own) for sample, own in zip(samples, scores, strict=True)]
    chances = [sample.model.probabilities(own) for sample, own in zip(samples, scores, strict=True)]
    first, second = chances
    if first is not None and second is not None:
        change = np.abs(first - second).max(axis=1)
        otherwise = np.asarray(predicted[0] != predicted[1])
    else:
        change = np.abs(predicted[0] - predicted[1]).reshape(len(predicted[0]), -1).mean(axis=1)
        otherwise = (change > 0.0) & (change >= np.quantile(change, 0.9))
    errors = () if y is None else tuple(_find_errors(model, predicted, chances, y))
    amount = otherwise.astype(np.float64) if first is not None else change
    return ComparedRows(
        predicted_a=predicted[0],
        predicted_b=predicted[1],
        change=change,
        otherwise=otherwise,
        observed=y,
        classes=first is not None,
        concerned=_find_concerned(samples, amount),
        errors=errors,
    )


def _find_errors(model: BaseRuleEnsemble, predicted: list[Any], chances: list[Any], y: Any) -> list[Errors]:
    """Return what both models lose on rows whose target is known."""
    labels, target = model.model_.labels, model.recall_target()
    if labels:
        codes = find_codes(list(labels), y, len(predicted[0]))
        places = np.arange(len(codes))
        classes = np.asarray(model.model_.classes)[codes]
        wrong = (np.asarray(own != classes, dtype=np.float64) for own in predicted)
        surprise = (-np.log(np.maximum(own[places, codes], LEAST_CHANCE)) for own in chances)
        return [_pair_errors("Share of wrong classes", *wrong), _pair_errors("Log loss", *surprise)]
    if target.timed or (model.model_.outputs and not model.model_.numbers):
        raise InvalidInputError(
            "Errors can be compared for classes and numbers only; leave `y` out for this kind of target."
        )
    values = np.asarray(target.check(y, len(predicted[0])), dtype=np.float64).reshape(predicted[0].shape)
    if not model.model_.numbers:
        return [_pair_errors("Mean squared error", *((own - values) ** 2 for own in predicted))]
    spreads = np.maximum(values.var(axis=0), np.finfo(np.float64).tiny)
    parts = (np.mean((own - values) ** 2 / spreads, axis=1) for own in predicted)
    return [_pair_errors("Mean squared error, each number in units of its variance", *parts)]


def _pair_errors(name: str, a: FloatArray, b: FloatArray) -> Errors:
    """Return means of two losses, and of their difference with its standard error."""
    differences = a - b
    error = float(differences.std(ddof=1) / np.sqrt(len(a))) if len(a) > 1 else np.nan
    return Errors(name, float(a.mean()), float(b.mean()), float(differences.mean()), error)


def _find_concerned(samples: tuple[Sample, Sample], amount: FloatArray) -> tuple[Concerned, ...]:
    """Return short rules about rows that change more than others, the ones that say most first."""
    if np.ptp(amount) == 0.0:
        return ()
    rows: IntArray = np.arange(len(amount))
    if rows.size > MOST_EXPLAINED:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_EXPLAINED, replace=False))
    asked: dict[str, tuple[Feature, FloatArray]] = {}  # what the terms of either model ask about
    for sample in samples:
        for place in sorted({place for term in sample.model.terms for place in term.features}):
            feature = sample.model.features[place]
            asked.setdefault(feature.name, (feature, sample.attribute(place)))
    features, block = [feature for feature, _ in asked.values()], np.array([values for _, values in asked.values()])
    [offered] = offer_rules(
        block[:, rows],
        Goal.of(amount[rows, None], None),
        [[0]],
        None,
        n_categories=np.array([feature.n_categories for feature in features]),
        are_days=np.array([feature.part == "date" for feature in features]),
        max_conditions=2,
        steadiness=STEADINESS,
        allows=lambda rule: True,
    )
    found = [(rule, rule.holds(block)) for rule in offered[:N_CONCERNED]]
    return tuple(
        Concerned(rule.text(features), int(held.sum()), float(amount[held].mean()), float(amount[~held].mean()))
        for rule, held in found
        if 0 < held.sum() < len(held)
    )
