"""What "auto" becomes, and that a fit tells it."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1

from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.estimators.autos import (
    count_features,
    count_subsample,
    resolve_calibration,
    resolve_choice,
    resolve_mode,
    resolve_solver,
)


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "changes", "expected"),
    [
        (1000, 2, {}, Glmnet(loss="logistic", l1_ratio=0.15)),
        (4000, 2, {}, Glmnet(loss="logistic", l1_ratio=0.5)),
        (4001, 2, {}, Glmnet(l1_ratio=0.5)),
        (1000, 2, {"by_rows": False}, Glmnet(l1_ratio="cv")),
        (4000, 2, {"forced": True}, Glmnet(l1_ratio=0.5)),
        (1000, 3, {}, Glmnet(loss="logistic", l1_ratio=0.15)),
        (1000, 3, {"forced": True}, Glmnet(l1_ratio="cv")),
        (1000, 3, {"mode": "ovr"}, Glmnet(l1_ratio="cv")),
        (2666, 3, {}, Glmnet(loss="logistic", l1_ratio=0.5)),
        (2667, 3, {}, Glmnet(l1_ratio=0.5)),
        (2666, 3, {"mode": "shared"}, Glmnet(l1_ratio=0.5)),
    ],
)
def test_the_solver_for_classes(n_rows, n_classes, changes, expected):
    told = {"by_rows": True, "forced": False, "mode": resolve_mode("auto", n_rows, grows=True)}
    told |= changes
    found = resolve_solver(n_rows, n_classes, told.pop("mode"), **told)
    assert found.get_params() == expected.get_params()


def test_what_is_given_is_not_changed():
    assert resolve_choice("1se", True, 10) == ("1se", True)
    assert resolve_choice(0.1, "auto", 10) == (0.1, True)
    assert resolve_mode("grouped", 10, grows=True) == "grouped"
    assert resolve_calibration("isotonic", "logistic") == "isotonic"
    assert resolve_calibration(None, "squared") is None


def test_a_fit_tells_what_was_settled():
    X, y = make_classification(300, 10, n_informative=4, n_classes=3, random_state=0)
    model = RuleEnsembleClassifier(n_candidates=40, random_state=0).fit(X, y)
    assert model.settings_["solver"].get_params() == Glmnet(loss="logistic", l1_ratio=0.15).get_params()
    told = {name: value for name, value in model.settings_.items() if name != "solver"}
    assert told.pop("max_terms") == model.front_[model.front_.chosen].terms
    assert told == {
        "subsample": 150,
        "max_features": 3,
        "tree_loss": "squared",
        "selection": "min",
        "honest_cv": True,
        "multiclass": "shared",
        "calibration": "temperature",
    }


def test_what_was_settled_gives_the_same_fit():
    X, y = make_friedman1(300, random_state=0)
    few = {"n_candidates": 60, "honest_cv": False, "random_state": 0}  # folds that grow rules see fewer rows
    first = RuleEnsembleRegressor(cv=None, **few).fit(X, y)
    assert first.settings_["cv"] == 5
    again = RuleEnsembleRegressor(**few).set_params(**first.settings_).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), first.predict(X))
    assert again.settings_ == {}


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
