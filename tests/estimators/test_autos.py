"""What "auto" becomes, and that a fit tells it."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1

from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.estimators.autos import (
    HELD_OUT_ROWS,
    SOLVER,
    count_features,
    count_honest,
    count_subsample,
    resolve_calibration,
    resolve_choice,
    resolve_mode,
)


@pytest.mark.parametrize("n_folds", [2, 3, 5, 10])
def test_folds_that_grow_rules_hold_out_enough_rows_and_no_fold_is_one_too_many(n_folds):
    for n_rows in [*range(2, 40), *range(1900, 12_000, 97), 65_536]:
        n_honest = count_honest(n_folds, n_rows)
        assert 1 <= n_honest <= n_folds
        assert n_honest == n_folds or n_honest * n_rows / n_folds >= HELD_OUT_ROWS
        assert n_honest == 1 or (n_honest - 1) * n_rows / n_folds < HELD_OUT_ROWS


def test_drawn_rows_share_their_rules_with_the_folds_and_have_the_least_error():
    assert resolve_choice("auto", "auto", drawn=True) == ("min", False)
    assert resolve_choice("auto", False, drawn=True) == ("min", False)
    assert resolve_choice("auto", True, drawn=True) == ("min", True)


def test_what_is_given_is_not_changed():
    assert resolve_choice("1se", True, drawn=False) == ("1se", True)
    assert resolve_choice("1se", "auto", drawn=True) == ("1se", False)
    assert resolve_choice(0.1, "auto", drawn=False) == (0.1, True)
    assert resolve_mode("grouped", grows=True) == "grouped"
    assert resolve_calibration("isotonic", "logistic") == "isotonic"
    assert resolve_calibration(None, "squared") is None


def test_a_fit_tells_what_was_settled():
    X, y = make_classification(300, 10, n_informative=4, n_classes=3, random_state=0)
    model = RuleEnsembleClassifier(n_candidates=40, random_state=0).fit(X, y)
    told = dict(model.settings_)
    assert told.pop("solver").get_params() == SOLVER.get_params() == Glmnet(l1_ratio=0.5).get_params()
    assert told.pop("max_terms") == model.front_[model.front_.chosen].terms
    ridge = told.pop("ridge")
    assert ridge.keys() == {"rules", "lines"}
    assert min(ridge.values()) > 0.0
    assert told == {
        "subsample": 150,
        "max_features": 3,
        "tree_loss": "squared",
        "selection": "min",
        "honest_cv": True,
        "multiclass": "ovr",
        "calibration": "temperature",
    }


@pytest.mark.parametrize(("n_rows", "n_folds"), [(300, 5), (5001, 2)])
def test_a_fit_tells_how_many_folds_were_held_out(n_rows, n_folds):
    X, y = make_friedman1(n_rows, random_state=0)
    model = RuleEnsembleRegressor(n_candidates=10, cv=None, random_state=0).fit(X, y)
    assert model.settings_["cv"] == n_folds == len(model.selection_.fold_points)
    all_folds = RuleEnsembleRegressor(n_candidates=10, honest_cv=True, random_state=0).fit(X, y)
    assert len(all_folds.selection_.fold_points) == 5


def test_what_was_settled_gives_the_same_fit():
    """But for the solver: terms that one that is named keeps are not solved for once more."""
    X, y = make_friedman1(300, random_state=0)
    few = {"n_candidates": 60, "honest_cv": False, "random_state": 0}  # folds that grow rules see fewer rows
    first = RuleEnsembleRegressor(cv=None, **few).fit(X, y)
    assert first.settings_["cv"] == 5
    settled = {name: value for name, value in first.settings_.items() if name not in ("solver", "ridge")}
    again = RuleEnsembleRegressor(**few).set_params(**settled).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), first.predict(X))
    assert again.settings_.keys() == {"solver", "ridge"}


def test_glmnet_by_name_is_the_lasso():
    """It stood for whatever suits the data, which was another solver than ``Glmnet()``."""
    X, y = make_classification(300, 10, n_informative=4, random_state=0)
    by_name = RuleEnsembleClassifier(solver="glmnet", n_candidates=40, random_state=0).fit(X, y)
    given = RuleEnsembleClassifier(solver=Glmnet(), n_candidates=40, random_state=0).fit(X, y)
    np.testing.assert_array_equal(by_name.predict_proba(X), given.predict_proba(X))
    assert "solver" not in by_name.settings_


@pytest.mark.parametrize(
    ("max_features", "expected"),
    [
        (None, 39),
        ("sqrt", 6),
        ("log2", 5),
        (7, 7),
        (100, 39),
        (0.5, 19),
        (0.001, 1),
        (1.0, 39),
        (1, 1),
        (np.int64(3), 3),
    ],
)
def test_attributes_tried_at_a_split(max_features, expected):
    assert count_features(max_features, 39) == expected


@pytest.mark.parametrize(("n_features", "expected"), [(1, 1), (4, 2), (9, 2), (10, 3), (39, 11)])
def test_a_third_of_the_attributes_but_two_at_least(n_features, expected):
    assert count_features("auto", n_features) == expected


@pytest.mark.parametrize(
    ("subsample", "n_rows", "expected"),
    [
        ("auto", 100, 50),
        ("auto", 2_000, 1000),
        ("auto", 10_000, 1500),
        ("auto", 1_000_000, 6100),
        ("auto", 2, 2),
        (30, 100, 30),
        (0.25, 100, 25),
        (1.0, 100, 100),
        (0.001, 100, 2),
    ],
)
def test_rows_a_tree_sees(subsample, n_rows, expected):
    """ "auto" is half, at most 1,500 or 100 + 6 sqrt(N) (Friedman and Popescu 2008), whichever is more."""
    assert count_subsample(subsample, n_rows) == expected
