"""A fit as a function. Also of `target.py`: what every kind of target does alike shows in whole fits of two kinds."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import load
from rulegrove.estimators._in_memory import TableInMemory
from rulegrove.estimators.classes import Classes
from rulegrove.estimators.number import Number
from rulegrove.estimators.pipeline import fit_source, read_names
from rulegrove.estimators.settings import Settings

X, Y = load("pima", return_X_y=True)
SETTINGS = Settings(n_candidates=40, random_state=0, n_jobs=1)


def fit(target, y, settings=SETTINGS, **options):
    return fit_source(TableInMemory(X, y, target=target, settings=settings), target, settings, **options)


def test_the_record_is_what_the_estimator_takes_over():
    found = fit(Number(), X[:, 0])
    model = RuleEnsembleRegressor(n_candidates=40, random_state=0, n_jobs=1).fit(X, X[:, 0])
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


def test_by_statistics_alone_no_solver_that_needs_rows_is_chosen():
    assert fit(Classes(), Y).solvers[0].loss == "logistic"
    assert fit(Classes(), Y, by_rows=False).solvers[0].loss == "squared"


def test_all_that_was_left_open_is_told():
    """Parameters that say "auto", or nothing at all, and no others."""
    settings = dataclasses.replace(SETTINGS, cv=None, subsample=100, max_features="auto")
    settled = fit(Classes(multiclass="shared"), Y, settings).settled
    assert settled.keys() == {"solver", "selection", "honest_cv", "max_features", "tree_loss", "cv", "calibration"}


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
