"""The words at the top of a report."""

import numpy as np
import pytest

from inspected_models import fit, make_table
from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.report._given import read_given
from rulegrove.report._summary import explained_share, name_error, summarise
from rulegrove.report._tracks import follow_paths


def tell(model, X=None, y=None):
    told = summarise(model, follow_paths(model)[0], read_given(model, X, y))
    return {name: value for value, name in told["figures"]}, " ".join(told["sentences"])


def test_what_was_fitted(inspected):
    model, table, y = inspected
    figures, words = tell(model, table, y)
    assert figures["terms"] == str(len(model.rules_))
    assert figures["attributes"] == "5"
    assert figures["training rows"] == "90"
    assert "with 5 folds" in words
    assert "the point of the least held-out error was taken" in words
    assert "n_candidates=150" in words
    assert "selection='min'" in words
    assert "n_jobs" not in words
    assert "All folds share the rules" in words
    assert "On the 90 rows given" in words
    for label in getattr(model, "classes_", []):
        assert f"{label} ({int((y == label).sum())})" in words
    if not hasattr(model, "classes_"):
        assert f"from {y.min():.4g} to {y.max():.4g}" in words


def test_the_error_held_out():
    model, *_ = fit("regression")
    figures, _ = tell(model)
    chosen = model.selection_.errors[model.selection_.index]
    assert figures["held-out squared error"] == f"{chosen:.4g}"
    assert figures["less error than without any term"] == f"{1 - chosen / model.selection_.errors[0]:.1%}"
    model, *_ = fit("three classes")
    figures, words = tell(model)
    errors = [selection.errors[selection.index] for selection in model.selection_]
    assert figures["held-out squared error, mean of the classes"] == f"{np.mean(errors):.4g}"
    assert "one path for each class" in words
    share = 1 - sum(errors) / sum(selection.errors[0] for selection in model.selection_)
    assert explained_share(follow_paths(model)[0]) == pytest.approx(share, rel=1e-12)


def test_a_given_point_has_no_held_out_error():
    table, y, _ = make_table()
    model = RuleEnsembleRegressor(n_candidates=40, selection=0.05, random_state=0, n_jobs=1)
    figures, words = tell(model.fit(table.drop(columns="fixed"), y))
    assert "the point was given (penalty 0.05), without cross-validation" in words
    assert "training squared error" in figures
    assert "less error than without any term" not in figures
    assert "fold" not in words


@pytest.mark.parametrize(
    ("multiclass", "solver", "expected"),
    [
        ("grouped", Glmnet(l1_ratio=0.9), "held-out squared error, summed over the classes"),
        ("shared", Glmnet(loss="logistic"), "held-out multinomial loss"),
        ("ovr", Glmnet(loss="logistic"), "held-out logistic loss"),
    ],
)
def test_which_error_the_path_shows(multiclass, solver, expected):
    _, table, y, _ = fit("three classes")
    model = RuleEnsembleClassifier(
        multiclass=multiclass, solver=solver, n_candidates=30, honest_cv=False, random_state=0, n_jobs=1
    ).fit(table.drop(columns="fixed"), y)
    assert name_error(model, follow_paths(model)[0][0]) == expected


def test_honest_folds_are_told():
    table, y, _ = make_table()
    model = RuleEnsembleRegressor(n_candidates=40, cv=3, random_state=0, n_jobs=1).fit(table.drop(columns="fixed"), y)
    assert "grown anew without each fold" in tell(model)[1]
