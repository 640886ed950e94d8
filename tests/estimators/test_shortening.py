"""A fit with a length and a model that is shortened to it are the same list, whatever else was asked of the fit."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from rulegrove import Glmnet, Pathbuild, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import load
from rulegrove.estimators._file_figures import encode_figures
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Condition, Rule

SMALL = {"n_candidates": 40, "cv": 2, "honest_cv": False, "random_state": 0, "n_jobs": 1}
KNOWN = [Rule((Condition(1, lower=126.0),)), Rule((Condition(5, lower=30.0), Condition(7, lower=40.0)))]
_PIMA = tuple(values[::2] for values in load("pima", return_X_y=True))
_IRIS = load("iris", return_X_y=True)
_NUMBERS = make_friedman1(200, random_state=0)
_FOREST = RandomForestClassifier(10, max_depth=3, random_state=0).fit(*_PIMA)
_TREES = RandomForestRegressor(10, max_depth=3, random_state=0).fit(*_NUMBERS)
TABLES = {"two": _PIMA, "three": _IRIS, "number": _NUMBERS}
ASKED = {
    "nothing else": ("two", {}),
    "two runs": ("two", {"n_runs": 2}),
    "two runs, three classes": ("three", {"n_runs": 2, "multiclass": "ovr"}),
    "honest folds": ("two", {"honest_cv": True}),
    "trees": ("two", {"trees": _FOREST}),
    "trees of numbers": ("number", {"trees": _TREES}),
    "forced rules": ("two", {"rules": KNOWN, "force_rules": True}),
    "falling and rising": ("two", {"monotonic": {1: 1, 7: -1}}),
    "rising number": ("number", {"monotonic": {3: 1}}),
    "a point of the path": ("two", {"selection": 0.01}),
    "a point of the path, numbers": ("number", {"selection": 0.01}),
    "pathbuild": ("two", {"solver": Pathbuild(threshold=0.6)}),
    "pathbuild, ramp": ("two", {"solver": Pathbuild(loss="ramp", threshold=0.6)}),
    "pathbuild, numbers": ("number", {"solver": "pathbuild"}),
    "spgl1": ("two", {"solver": "spgl1"}),
    "fpc": ("two", {"solver": "fpc"}),
    "fpc, numbers": ("number", {"solver": "fpc"}),
    "logistic": ("two", {"solver": Glmnet(loss="logistic")}),
    "class weights": ("two", {"class_weight": "balanced", "calibration": "isotonic"}),
    "no calibration": ("two", {"calibration": None}),
    "three classes": ("three", {}),
    "rules of each class": ("three", {"multiclass": "ovr", "calibration": "sigmoid"}),
    "a term for all classes": ("three", {"multiclass": "grouped"}),
    "three classes, fpc": ("three", {"multiclass": "shared", "solver": "fpc", "selection": 0.05}),
    "rules alone": ("number", {"terms": "rules"}),
    "lines alone": ("number", {"terms": "linear"}),
}


def make(target, **parameters):
    kind = RuleEnsembleRegressor if target == "number" else RuleEnsembleClassifier
    return kind(**{**SMALL, **parameters})


def assert_same_model(one, other, X):
    """Whether two models predict the same bits, and tell the same of themselves."""
    assert list(one.rules_) == list(other.rules_)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.model_.score(one.read_columns(X)), other.model_.score(other.read_columns(X)))
    if one.model_.labels:
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)
    assert repr(one.settings_) == repr(other.settings_)
    assert repr(one.get_params(deep=False)) == repr(other.get_params(deep=False))
    assert repr(one.front_) == repr(other.front_)
    assert encode_figures(one.held_out_) == encode_figures(other.held_out_)


@pytest.mark.parametrize("name", ASKED)
def test_a_fit_with_a_length_is_the_shortened_one(name):
    target, asked = ASKED[name]
    X, y = TABLES[target]
    large = make(target, max_terms=None, **asked).fit(X, y)
    own = make(target, max_terms=5, **asked).fit(X, y)
    assert_same_model(large.shorten(5), own, X)
    assert_same_model(own.shorten(None), large, X)
    assert 1 <= np.count_nonzero(np.atleast_2d(own.coef_), axis=1).max() <= 5
    assert own.front_[own.front_.chosen].rules == len(own.rules_)


@pytest.mark.parametrize("target", TABLES)
def test_lists_go_by_the_weights(target):
    X, y = TABLES[target]
    weights = np.random.default_rng(0).choice([0.0, 1.0, 3.0], len(y))
    large = make(target, max_terms=None).fit(X, y, weights)
    own = make(target, max_terms=5).fit(X, y, weights)
    assert_same_model(large.shorten(5), own, X)
    values = own.transform_rules(X)
    for ranked in own.rules_:
        if ranked.kind == "rule":
            assert ranked.support == pytest.approx(np.average(values[:, ranked.rank - 1], weights=weights), abs=1e-12)


def test_auto_is_shortened_to_as_well():
    X, y = _PIMA
    large, own = make("two", max_terms=None).fit(X, y), make("two").fit(X, y)
    assert_same_model(large.shorten(), own, X)
    assert own.settings_["max_terms"] == own.front_[own.front_.chosen].terms < large.front_[-1].terms
    assert "max_terms" not in own.shorten(5).settings_
    assert list(own.shorten(np.int64(2)).rules_) == list(own.shorten(2).rules_)  # as a grid of NumPy has it
    few = make("three", max_rules=4).fit(*_IRIS)
    assert 1 <= len(few.rules_) <= 4
    assert_same_model(make("three").fit(*_IRIS).shorten(max_rules=4), few, _IRIS[0])


def test_forced_rules_are_in_every_list():
    X, y = _PIMA
    model = make("two", rules=KNOWN, force_rules=True).fit(X, y)
    for line in model.front_:
        assert set(KNOWN) <= set(line.fitted.model.terms)
    assert model.front_[0].terms == 2
    with pytest.raises(InvalidInputError, match="The shortest list has 2 terms for one class and 2 in all"):
        model.shorten(1)


def test_rules_that_are_all_forced_are_the_only_list():
    X, y = _PIMA
    model = RuleEnsembleClassifier.from_rules(KNOWN, forced=True, terms="rules", cv=3).fit(X, y)
    assert {ranked.term for ranked in model.rules_} == set(KNOWN)
    assert len(model.front_) == 1


@pytest.mark.parametrize(("target", "directions"), [("two", {1: 1, 7: -1}), ("number", {3: 1, 0: 1})])
def test_every_list_goes_in_the_directions_asked_for(target, directions):
    X, y = TABLES[target]
    model = make(target, monotonic=directions, max_terms=None).fit(X, y)
    for max_terms in (1, 2, 5, 12):
        short = model.shorten(max_terms)
        for column, direction in directions.items():
            along = np.repeat(X[:30], 40, axis=0)
            along[:, column] = np.tile(np.linspace(X[:, column].min() - 1, X[:, column].max() + 1, 40), 30)
            steps = np.diff(short.model_.score(short.read_columns(along)).reshape(30, 40), axis=1)
            assert (direction * steps >= -1e-12).all()


def test_without_held_out_rows_the_longest_list_is_taken():
    """There is nothing to choose by: a number is then all that decides."""
    X, y = _PIMA
    model = make("two", selection=0.01).fit(X, y)
    assert model.held_out_ is None
    assert model.front_.chosen == len(model.front_) - 1
    assert [len(model.shorten(max_terms).rules_) for max_terms in (0, 1, 4, 9)] == [0, 1, 4, 9]
