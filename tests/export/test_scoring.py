"""What every export writes down of a model."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from exported_models import READ_FEATURES, fitted, of_terms
from rulegrove import Glmnet, RuleEnsembleRegressor
from rulegrove.columns import Feature
from rulegrove.design.terms import Linear
from rulegrove.estimators.calibration import Curves, Mean, Sigmoid, Steps, Temperature
from rulegrove.estimators.model_file import dump_model, parse_model
from rulegrove.exceptions import InvalidInputError
from rulegrove.export import to_python, to_text
from rulegrove.export._scoring import (
    Logistic,
    check_exposure,
    describe_columns,
    is_only_missing,
    kind_of,
    nonzero,
    read_scoring,
    split_categories,
    steps_parts,
)
from rulegrove.rules.rule import Condition, Rule


def linked(name, link):
    """A model whose scores become probabilities by another link."""
    model = copy.copy(fitted(name)[0])
    model.model_ = replace(model.model_, link=link)
    return read_scoring(model)


def test_terms_that_add_nothing_are_left_out():
    terms = [Rule((Condition(0, upper=1.0),)), Linear(1, 0.0, 1.0, 0.5), Rule((Condition(2, lower=3.0),))]
    scoring = read_scoring(of_terms([Feature("a"), Feature("b"), Feature("c")], terms, [0.0, 2.0, -1.0]))
    assert scoring.rules == (terms[2],)
    assert scoring.linear == (terms[1],)
    assert (scoring.rule_coefs.tolist(), scoring.linear_coefs.tolist()) == ([[-1.0]], [[2.0]])
    assert [feature.name for feature in scoring.used.values()] == ["b", "c"]
    assert list(scoring.used) == [1, 2]
    assert (scoring.classes, scoring.softmax, scoring.curves) == ((), None, ())


def test_links_are_a_softmax_or_curves():
    assert linked("binary", Temperature(2.0)).curves == (Logistic(2.0),)
    several = linked("iris, shared", Temperature(2.0))
    assert (several.softmax, several.curves) == (2.0, ())
    steps = Steps(np.array([0.0, 1.0]), np.array([0.2, 0.9]))
    mixed = linked("iris, shared", Curves((Sigmoid(1.0, 0.5), steps, Mean())))
    assert mixed.softmax is None
    assert mixed.curves[:2] == (Logistic(1.0, 0.5), steps)
    scores = np.linspace(-2.0, 2.0, 9)
    np.testing.assert_array_equal(mixed.curves[2](scores), Mean()(scores))


def test_scores_of_a_list_are_log_odds_whatever_the_large_model_has():
    """Both large models have the squared loss, whose scores are none."""
    model, rows = fitted("binary, list")
    (curve,) = read_scoring(model).curves
    assert curve == Logistic(model.calibration_.slope)
    chances = model.predict_proba(rows)
    odds = np.log(chances[:, 1] / chances[:, 0])
    np.testing.assert_allclose(odds, curve.slope * model.decision_function(rows), rtol=1e-9, atol=1e-12)
    model, rows = fitted("iris, list")
    scoring = read_scoring(model)
    assert (scoring.softmax, scoring.curves) == (model.calibration_.slope, ())
    np.testing.assert_allclose(
        model.predict_proba(rows), softmax(scoring.softmax * model.decision_function(rows), axis=1), atol=1e-12
    )
    assert read_scoring(fitted("iris, list, raw scores")[0]).softmax == 1.0


def test_pieces_follow_the_curve():
    curve = Steps(np.array([-1.0, 0.5, 2.0]), np.array([0.1, 0.4, 0.8]))
    for end, slope, start, level in steps_parts(curve):
        for score in np.linspace(start, end, 5, endpoint=False):
            assert slope * (score - start) + level == np.interp(score, curve.scores, curve.probabilities)


def test_columns_are_numbers_texts_or_times():
    kinds = {feature.name: kind_of(feature) for feature in READ_FEATURES}
    assert {kind for name, kind in kinds.items() if "." in name} == {"time"}
    assert [kinds[name] for name in ("city", "grade", "price")] == ["text", "number", "number"]
    assert kind_of(Feature("none known", ())) == "text"
    assert describe_columns(READ_FEATURES)["price"] == "number (read from text in the fit)"


def test_conditions_as_exports_write_them():
    city = READ_FEATURES[6]
    assert split_categories(Condition(6, categories=(0, 2)), city) == (["Oslo", "日本 🌲"], False)
    assert split_categories(Condition(6, categories=(0, 3)), city) == (["it's", "日本 🌲"], True)
    only = [Condition(0, np.inf, np.inf, None, True), Condition(0, -np.inf, -np.inf), Condition(6, categories=())]
    assert all(is_only_missing(condition) for condition in only)
    assert not is_only_missing(Condition(0, missing=True))
    assert nonzero(np.array([0.0, 1.5, -0.0, -2.0])) == [(1, 1.5), (3, -2.0)]


def test_only_a_bound_between_0_and_1_is_asked_of_a_boolean():
    features = [Feature("yes"), Feature("count"), Feature("both")]
    terms = [Rule((Condition(0, lower=0.5), Condition(1, upper=3.0))), Linear(2, 0.0, 1.0, 0.5)]
    scoring = read_scoring(of_terms(features, terms, [1.0, 1.0]))
    assert [scoring.may_be_boolean(place) for place in range(3)] == [True, False, False]


def test_what_is_no_model_says_so():
    with pytest.raises(InvalidInputError, match="can be exported; got a Glmnet"):
        read_scoring(Glmnet())


def test_predictions_that_are_not_scores_are_refused():
    model = RuleEnsembleRegressor(n_candidates=0, rules=["x0 > 0"], selection=0.1)
    model.fit(np.linspace(-1, 1, 20)[:, None], np.arange(20.0))
    model.model_ = replace(model.model_, inverse=np.exp)
    with pytest.raises(InvalidInputError, match="turns the scores of a RuleEnsembleRegressor into predictions"):
        read_scoring(model)


def test_exponentials_and_exposures(rates, several, hazards):
    scorings = [read_scoring(model) for model, *_ in (rates, several, hazards, fitted("binary"))]
    assert [one.exponential for one in scorings] == [True, False, True, False]
    assert [one.takes_exposure for one in scorings] == [True, False, False, False]
    assert scorings[1].n_outputs == 3
    check_exposure(scorings[0], "years")
    for scoring in scorings:
        check_exposure(scoring, None)
    with pytest.raises(InvalidInputError, match="`exposure` is for models of rates"):
        check_exposure(scorings[2], "years")


def test_models_from_a_file_are_exported_as_before(poisson, shared, quantiles, hazards):
    for model, *_ in (poisson, shared, quantiles, hazards):
        again = parse_model(dump_model(model).encode())
        assert to_python(again) == to_python(model)
        assert to_text(again) == to_text(model)
