"""A pool of rules: what weights of rows mean to those grown, to their counts and coefficients; errors by moments."""

import numpy as np
import pytest

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.estimators._fitting import squared_error
from small_designs import make_design

LAWS = {"subsample": 1.0, "random_state": 0, "n_jobs": 1, "n_candidates": 30, "shrinkage": 0.1}


def make_rows(n_rows=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(2)
    return X, X[:, 0] + 2.0 * (X[:, 1] > 0.2) + 0.3 * rng.normal(size=n_rows), rng


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
@pytest.mark.parametrize("weight", [1.0, 0.3, 7.0])
def test_equal_weights_are_no_weights(kind, weight):
    X, y, _ = make_rows()
    y = (y > 1).astype(int) if kind is RuleEnsembleClassifier else y
    plain = kind(n_candidates=40, random_state=0, n_jobs=1).fit(X, y)
    weighted = kind(n_candidates=40, random_state=0, n_jobs=1).fit(X, y, sample_weight=np.full(150, weight))
    assert plain.candidates_.rules == weighted.candidates_.rules
    np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-6)
    assert weighted.intercept_ == pytest.approx(plain.intercept_, rel=1e-6)


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
@pytest.mark.parametrize("selection", [0.05, "min"])
def test_rows_of_weight_zero_are_rows_left_out(kind, selection):
    """Whatever stands in those rows: rows are drawn by their place among those that count."""
    X, y, rng = make_rows()
    y = (y > 1).astype(int) if kind is RuleEnsembleClassifier else y
    weights = (rng.random(150) < 0.7).astype(np.float64)
    spoilt = np.where(weights[:, None] > 0, X, 99.0)
    options = {"n_candidates": 40, "selection": selection, "random_state": 0, "n_jobs": 1}
    zeros = kind(**options).fit(spoilt, y, sample_weight=weights)
    removed = kind(**options).fit(X[weights > 0], y[weights > 0])
    assert zeros.candidates_.rules == removed.candidates_.rules
    np.testing.assert_allclose(zeros.coef_, removed.coef_, rtol=1e-9)
    assert zeros.intercept_ == pytest.approx(removed.intercept_, rel=1e-9)


def test_the_same_holds_with_weights_on_the_other_rows():
    X, y, rng = make_rows()
    weights = rng.choice([0.0, 1.0, 2.5], 150)
    kept = weights > 0
    options = {"n_candidates": 40, "random_state": 0, "n_jobs": 1}
    zeros = RuleEnsembleRegressor(**options).fit(X, y, sample_weight=weights)
    removed = RuleEnsembleRegressor(**options).fit(X[kept], y[kept], sample_weight=weights[kept])
    assert zeros.candidates_.rules == removed.candidates_.rules
    np.testing.assert_allclose(zeros.coef_, removed.coef_, rtol=1e-9)


def test_a_whole_weight_is_a_repeated_row_where_no_row_is_drawn():
    """With every row in every tree, and a leaf's minimum in rows out of the way, weights and repeats are the same."""
    X, y, rng = make_rows()
    repeats = rng.integers(1, 4, 150)
    options = {**LAWS, "selection": 0.02, "min_samples_leaf": 1, "mean_leaves": 3.0}
    weighted = RuleEnsembleRegressor(**options).fit(X, y, sample_weight=repeats)
    repeated = RuleEnsembleRegressor(**options).fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-3)
    assert {r.text for r in weighted.rules_ if r.kind == "rule"} == {
        r.text for r in repeated.rules_ if r.kind == "rule"
    }


def test_only_the_proportions_of_weights_matter():
    X, y, rng = make_rows()
    weights = rng.random(150) + 0.5
    options = {"n_candidates": 40, "random_state": 0, "n_jobs": 1}
    one = RuleEnsembleRegressor(**options).fit(X, y, sample_weight=weights)
    two = RuleEnsembleRegressor(**options).fit(X, y, sample_weight=4.0 * weights)
    assert one.candidates_.rules == two.candidates_.rules
    np.testing.assert_allclose(one.predict(X), two.predict(X), rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_squared_error_of_moments_is_that_of_the_rows(weighted):
    rng = np.random.default_rng(0)
    weights = rng.random(150) + 0.5 if weighted else None
    design, dense, y, _ = make_design(0, weights=weights)
    coef = np.where(rng.random(dense.shape[1]) < 0.6, rng.normal(size=dense.shape[1]), 0.0)
    expected = np.average((y - 0.7 - dense @ coef) ** 2, weights=weights)
    assert squared_error(design.total.of_output(0), coef, 0.7) == pytest.approx(expected)
