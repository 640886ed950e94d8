"""Candidate terms: from which rows they are grown, and what limits them."""

import numpy as np
import pytest

from rulegrove import RuleEnsembleRegressor
from rulegrove.estimators import autos
from rulegrove.estimators._growing import draw_pool


def fit(**changes):
    """A model of 200 rows, and its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = 10.0 + X[:, 0] + 3.0 * ((X[:, 1] > 0) & (X[:, 0] > -1)) + 0.2 * rng.normal(size=200)
    return RuleEnsembleRegressor(**{"n_candidates": 60, "random_state": 0, "n_jobs": 1, **changes}).fit(X, y), X


def test_the_pool_of_a_large_table_is_a_sorted_sample_without_repeats(monkeypatch):
    monkeypatch.setattr(autos, "POOL_ROWS", 100)
    rows = np.arange(1000) * 3
    pool = draw_pool(rows, 5, np.random.default_rng(0))
    assert pool.size == 100
    assert set(pool) <= set(rows)
    assert (np.diff(pool) > 0).all()
    assert draw_pool(rows, 50, np.random.default_rng(0)).size == 800  # sixteen times a tree's rows
    np.testing.assert_array_equal(draw_pool(rows[:90], 5, np.random.default_rng(0)), rows[:90])


@pytest.mark.parametrize("limit", [1, 2])
def test_rules_are_no_longer_than_asked(limit):
    fitted, _ = fit(max_conditions=limit, mean_leaves=8.0)
    assert max(len(rule.conditions) for rule in fitted.candidates_.rules) == limit


def test_candidates_are_no_more_than_asked():
    for n_candidates in (2, 7, 50):
        fitted, _ = fit(n_candidates=n_candidates)
        assert 0 < len(fitted.candidates_.rules) <= n_candidates


def test_a_leaf_has_the_rows_asked_for():
    fitted, X = fit(min_samples_leaf=30, subsample=1.0)
    assert min(rule.holds(X.T).sum() for rule in fitted.candidates_.rules) >= 30
