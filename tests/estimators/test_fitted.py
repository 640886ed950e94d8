"""What is made of the chosen points: ranks, importances, shares of rows and classes, scores of held-out rows."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from noisy_rule import make, make_data
from rulegrove import Glmnet, RuleEnsembleRegressor


@pytest.mark.parametrize("max_terms", [None, 3])
def test_support_confidence_and_importance_are_counts_of_rows(max_terms):
    X, y = make_data()
    fitted = make(max_terms=max_terms).fit(X, y)
    importances = [ranked.importance for ranked in fitted.rules_]
    assert importances == sorted(importances, reverse=True)
    assert [ranked.rank for ranked in fitted.rules_] == list(range(1, len(importances) + 1))
    kinds = set()
    for ranked, coef in zip(fitted.rules_, fitted.coef_, strict=True):
        kinds.add(ranked.kind)
        assert ranked.coefficient == coef
        assert ranked.speaks_for == (coef > 0)
        if ranked.kind == "linear":
            assert (ranked.confidence, ranked.support) == (None, 1.0)
            spread = ranked.term.values(X[:, ranked.term.feature]).std()
            assert ranked.importance == pytest.approx(abs(coef) * spread)
            continue
        held = ranked.term.holds(X.T)
        assert ranked.support == pytest.approx(held.sum() / 200)
        assert ranked.confidence == pytest.approx((y[held] == ranked.speaks_for).mean())
        share = held.mean()
        assert ranked.importance == pytest.approx(abs(coef) * np.sqrt(share * (1 - share)))
        assert ranked.mean_target is None
    assert "rule" in kinds
    assert max_terms is not None or "linear" in kinds


def test_attributes_share_the_importance_of_their_terms():
    X, y = make_data()
    fitted = make().fit(X, y)
    expected = np.zeros(3)
    for ranked in fitted.rules_:
        for feature in ranked.term.features:
            expected[feature] += ranked.importance / len(ranked.term.features)
    np.testing.assert_allclose(fitted.feature_importances_, expected / expected.sum())
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    assert fitted.feature_importances_.argmin() == 2  # the one that says nothing


def test_statistics_of_terms_are_weighted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3)).round(2)
    y = X[:, 0] + 2.0 * (X[:, 1] > 0.2) + 0.3 * rng.normal(size=150)
    weights = rng.random(150) + 0.5
    options = {"n_candidates": 40, "random_state": 0, "n_jobs": 1, "terms": "rules"}
    fitted = RuleEnsembleRegressor(max_terms=None, **options).fit(X, y, weights)
    assert len(fitted.rules_) > 5
    for ranked in fitted.rules_:
        held = ranked.term.holds(X.T)
        assert ranked.support == pytest.approx(np.average(held, weights=weights))
        assert ranked.mean_target == pytest.approx(np.average(y[held], weights=weights[held]))
    residual = np.average(y - fitted.predict(X), weights=weights)
    assert residual == pytest.approx(0.0, abs=1e-10)  # the intercept is never penalised


def test_held_out_figures_are_of_the_models_of_the_folds():
    """Linear terms with given folds: models fitted by hand without each fold say the same of its rows."""
    X, y = make_friedman1(300, random_state=0)
    folds = list(KFold(3).split(X))
    options = {"terms": "linear", "solver": Glmnet(tol=1e-9), "max_terms": None, "random_state": 0}
    model = RuleEnsembleRegressor(cv=folds, selection="min", **options).fit(X, y)
    predicted = np.empty(len(y))
    penalty = float(model.path_.penalties[model.selection_.index])
    for train, test in folds:
        predicted[test] = RuleEnsembleRegressor(selection=penalty, **options).fit(X[train], y[train]).predict(X[test])
    assert model.held_out_.n_rows == 300
    assert model.held_out_.honest  # there are no rules
    assert model.held_out_.r2 == pytest.approx(r2_score(y, predicted), abs=2e-3)  # winsor points of fewer rows
    assert model.held_out_.rmse**2 == pytest.approx(model.selection_.errors[model.selection_.index], rel=1e-6)
