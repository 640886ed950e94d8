"""Candidate terms: from which rows they are grown, and what limits them."""

import numpy as np
import pytest

from rulegrove import RuleEnsembleRegressor
from rulegrove.estimators import _growing, autos
from rulegrove.estimators._growing import draw_pool
from rulegrove.trees.screening import find_strongest


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


def test_a_very_wide_table_is_learned_from_its_strongest_attributes(monkeypatch):
    """Trees that searched 20,000 columns took minutes, and pairs of as many lines gigabytes."""
    monkeypatch.setattr(autos, "MOST_SPLIT", 12)
    monkeypatch.setattr(autos, "MOST_LINEAR", 5)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 60))
    y = 3.0 * (np.abs(X[:, 57]) > 0.7) + X[:, 58] + 0.1 * rng.normal(size=150)
    fitted = RuleEnsembleRegressor(n_candidates=80, random_state=0, n_jobs=1, monotonic={58: 1}).fit(X, y)
    used = {feature for rule in fitted.candidates_.rules for feature in rule.features}
    assert {57, 58} <= used
    assert len(used) <= 12
    assert fitted.candidates_.linear.n_terms == 5
    assert 58 in fitted.candidates_.linear.features
    assert fitted.score(X, y) > 0.8


def test_folds_choose_the_strongest_attributes_by_their_own_rows(monkeypatch):
    """Attributes that were chosen by rows that are held out would look too good on these."""
    monkeypatch.setattr(autos, "MOST_SPLIT", 5)
    seen = []

    def watch(block, targets, *arguments, **options):
        seen.append(targets.shape[0])
        return find_strongest(block, targets, *arguments, **options)

    monkeypatch.setattr(_growing, "find_strongest", watch)
    X = np.random.default_rng(0).normal(size=(100, 20))
    RuleEnsembleRegressor(n_candidates=20, random_state=0, n_jobs=1, max_terms=None).fit(X, X[:, 0])
    assert seen == [100, 80, 80, 80, 80, 80]
