"""A fit as a function. Also of `target.py`: what every kind of target does alike shows in whole fits of two kinds."""

import dataclasses
import functools

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import load
from rulegrove.estimators._file_figures import encode_figures
from rulegrove.estimators._in_memory import TableInMemory
from rulegrove.estimators._lists import list_lengths
from rulegrove.estimators.classes import Classes
from rulegrove.estimators.number import Number
from rulegrove.estimators.pipeline import fit_source, read_names
from rulegrove.estimators.settings import Settings

X, Y = load("pima", return_X_y=True)
SETTINGS = Settings(n_candidates=40, cv=3, random_state=0, n_jobs=1)


def fit(target, y, settings=SETTINGS, **options):
    return fit_source(TableInMemory(X, y, target=target, settings=settings), target, settings, **options)


def test_the_record_is_what_the_estimator_takes_over():
    found = fit(Number(), X[:, 0])
    model = RuleEnsembleRegressor(n_candidates=40, cv=3, random_state=0, n_jobs=1).fit(X, X[:, 0])
    np.testing.assert_array_equal(found.model.coefs, model.coef_)
    assert found.model.intercept == model.intercept_
    assert repr(found.settled) == repr(model.settings_)
    assert found.rules.to_frame().equals(model.rules_.to_frame())
    assert found.n_columns == model.n_features_in_
    assert found.names is None


def test_the_same_arguments_give_the_same_record_and_stay_as_they_are():
    target = Classes()
    before = dataclasses.asdict(SETTINGS)
    first, second = fit(target, Y), fit(target, Y)
    np.testing.assert_array_equal(first.model.coefs, second.model.coefs)
    assert first.held_out.log_loss == second.held_out.log_loss
    assert dataclasses.asdict(SETTINGS) == before
    assert target.code.classes is None
    assert first.target.labels.tolist() == sorted(set(Y))


def test_the_record_cannot_be_changed():
    found = fit(Classes(), Y)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.model = None


def test_by_statistics_alone_the_model_is_the_point_of_the_path():
    again, alone = fit(Classes(), Y), fit(Classes(), Y, by_rows=False)
    assert repr(again.solvers) == repr(alone.solvers)
    assert "ridge" in again.settled
    assert "ridge" not in alone.settled
    (chosen,) = alone.pools[0].outputs
    assert chosen.refitted is None
    np.testing.assert_array_equal(chosen.point[0], again.pools[0].outputs[0].path.point(chosen.selection.index)[0])


def test_all_that_was_left_open_is_told():
    """Parameters that say "auto", or nothing at all, and the ridges of the second solve; no others."""
    settings = dataclasses.replace(SETTINGS, cv=None, subsample=100, max_features="auto")
    settled = fit(Classes(multiclass="shared"), Y, settings).settled
    told = {"solver", "selection", "honest_cv", "max_features", "tree_loss", "cv", "calibration", "max_terms"}
    assert settled.keys() == told | {"ridge"}


def test_names_are_those_that_scikit_learn_knows():
    assert read_names(X) == (None, 8)
    names, n_columns = read_names(pd.DataFrame(X[:3, :2], columns=["a", "b"]))
    assert (names.tolist(), n_columns) == (["a", "b"], 2)


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
def test_a_fit_leaves_nothing_of_an_earlier_one_and_all_that_is_not_fitted(kind):
    y = Y if kind is RuleEnsembleClassifier else X[:, 0]
    with config_context(enable_metadata_routing=True):
        model = kind(n_candidates=20, random_state=0).set_fit_request(sample_weight=True).fit(X, y)
        model.stale_ = "of an earlier fit"
        assert not hasattr(model.fit(X, y), "stale_")
        assert model.get_metadata_routing().fit.requests["sample_weight"] is True


@functools.cache
def make_case(name):
    """Return a fitted estimator, which is not changed, with its table and weights."""
    estimator, table, y, weights = choose_case(name)
    return estimator.fit(table, y, sample_weight=weights), table, y, weights


def choose_case(name):
    """Return an estimator, not fitted, with a table and weights."""
    options = {"n_candidates": 60, "cv": 3, "random_state": 0, "n_jobs": 1}
    if name == "two classes":
        return RuleEnsembleClassifier(**options), X, Y, None
    if name == "three classes":
        table, labels = load("iris", return_X_y=True)
        return RuleEnsembleClassifier(**options), table, labels, None
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(X)) if name == "weights" else None
    return RuleEnsembleRegressor(**options), np.delete(X, 1, axis=1), X[:, 1], weights


CASES = ["two classes", "three classes", "numbers", "weights"]


def assert_alike(one, other, table):
    """Bit for bit the same model, with the same words and figures."""
    np.testing.assert_array_equal(one.predict(table), other.predict(table))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)
    if isinstance(one, RuleEnsembleClassifier):
        np.testing.assert_array_equal(one.predict_proba(table), other.predict_proba(table))
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)
    pd.testing.assert_frame_equal(one.rules_.to_frame("pandas"), other.rules_.to_frame("pandas"))
    assert encode_figures(one.held_out_) == encode_figures(other.held_out_)
    assert repr(one.front_) == repr(other.front_)
    assert repr(one.settings_) == repr(other.settings_)
    assert one.get_params() == other.get_params()


@pytest.mark.parametrize("case", CASES)
def test_a_model_made_shorter_is_the_fit_of_that_length(case):
    """From a default fit to other lengths, and back again."""
    model, table, y, weights = make_case(case)
    for options in ({"max_terms": 0}, {"max_terms": 1}, {"max_terms": 7}, {"max_terms": None}, {"max_rules": 6}):
        fitted = clone(model).set_params(**options).fit(table, y, sample_weight=weights)
        short = model.shorten(**options)
        assert_alike(short, fitted, table)
        assert short is not model
        assert_alike(fitted.shorten(), model, table)


@pytest.mark.parametrize("case", CASES)
def test_the_front_does_not_depend_on_threads(case):
    model, table, y, weights = make_case(case)
    other = clone(model).set_params(n_jobs=2).fit(table, y, sample_weight=weights)
    assert_alike(model, other.set_params(n_jobs=1), table)
    for one, two in zip(model.front_, other.front_, strict=True):
        np.testing.assert_array_equal(one.fitted.model.coefs, two.fitted.model.coefs)
        assert one.fitted.model.terms == two.fitted.model.terms


@pytest.mark.parametrize("case", CASES)
def test_lines_of_the_front_are_as_long_as_they_say_and_end_with_the_large_model(case):
    """Lists rise by one term of a class at a time at first; the path is that of the large model."""
    model, table, y, weights = make_case(case)
    large = clone(model).set_params(max_terms=None).fit(table, y, sample_weight=weights)
    *lines, last = model.front_
    lengths = list_lengths(last.terms, 0)
    assert len(lines) == len(lengths)
    for line, length in zip(lines, lengths, strict=True):
        coefs = np.atleast_2d(line.fitted.model.coefs)
        assert np.count_nonzero(coefs, axis=1).max(initial=0) == line.terms <= length
        assert coefs.any(axis=0).all()
        assert line.rules == coefs.shape[1]
    np.testing.assert_array_equal(last.fitted.model.coefs, large.coef_ if large.coef_.ndim == 1 else large.model_.coefs)
    assert last.fitted.model.terms == large.model_.terms
    assert model.front_[model.front_.chosen].fitted.model is model.model_
    assert len(model.shorten(max_terms=3).rules_) < len(large.rules_)
    for path, twin in zip(model.path_, large.path_, strict=True):
        np.testing.assert_array_equal(path.coefs, twin.coefs)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
def test_a_table_made_by_one_rule_gets_that_rule_and_no_variants_of_it(kind, seed):
    """The true threshold is found among its many look-alikes; a second term at most is due to chance."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(500, 4))
    holds = table[:, 0] > 0.3
    y = holds ^ (rng.random(500) < 0.05) if kind is RuleEnsembleClassifier else holds + rng.normal(0.0, 0.2, 500)
    model = kind(n_candidates=500, random_state=seed, n_jobs=1).fit(table, y)
    for short in (model, model.shorten(max_terms=10)):
        assert 1 <= len(short.rules_) <= 2
        (condition,) = short.rules_[0].term.conditions
        assert condition.feature == 0
        bound = condition.lower if np.isfinite(condition.lower) else condition.upper
        assert bound == pytest.approx(0.3, abs=0.05)
