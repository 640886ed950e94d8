"""A table in memory as the source of a fit: who is drawn from a large one, what is learned from whom, whole groups."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor, walk
from rulegrove._hashing import deal_folds
from rulegrove.estimators import _in_memory, autos
from rulegrove.estimators._sampling import Chance, draw_positions
from rulegrove.estimators._training import assign_folds
from rulegrove.exceptions import InvalidInputError
from small_pools import shrink_pool
from solver_problems import make_problem

N_ROWS = 2000


@pytest.fixture
def small_pool(monkeypatch):
    shrink_pool(monkeypatch, 500)


def make_data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 4))
    return X, X[:, 0] + 2 * (X[:, 1] > 0) + rng.normal(size=N_ROWS) / 2


@pytest.mark.usefixtures("small_pool")
def test_statistics_are_of_all_rows_and_rules_of_the_drawn():
    X, y = make_data()
    model = RuleEnsembleRegressor(n_candidates=30, random_state=0, n_jobs=1).fit(X, y)
    rules = [row for row in model.rules_ if row.kind == "rule"]
    assert rules
    for row in rules:
        assert row.support == pytest.approx(row.term.holds(X.T).mean(), abs=1e-15)
    drawn, ranks = draw_positions(Chance.of(0).sample_seed, np.arange(N_ROWS), 700)
    values = {float(value) for value in X[drawn[ranks < 500]].ravel()}
    for term in model.candidates_.linear.lower, model.candidates_.linear.upper:
        assert set(term.tolist()) <= values  # winsor points are values of rows in the pool


def test_a_fit_from_a_pool_uses_all_rows_for_its_statistics(monkeypatch):
    monkeypatch.setattr(autos, "POOL_ROWS", 50)
    monkeypatch.setattr(autos, "POOL_SUBSAMPLES", 1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + (X[:, 1] > 0)
    options = {"n_candidates": 20, "max_terms": None, "subsample": 40, "random_state": 0, "n_jobs": 1}
    fitted = RuleEnsembleRegressor(**options).fit(X, y)
    rules = [ranked for ranked in fitted.rules_ if ranked.kind == "rule"]
    assert len(rules) > 3
    for ranked in rules:
        assert ranked.support == pytest.approx(ranked.term.holds(X.T).mean())


@pytest.mark.usefixtures("small_pool")
def test_the_fit_does_not_depend_on_threads_or_the_kind_of_table():
    X, y = make_data()
    models = [
        RuleEnsembleClassifier(n_candidates=40, random_state=1, n_jobs=n_jobs).fit(table, y > 1)
        for n_jobs, table in ((1, X), (2, X), (1, pd.DataFrame(X)))
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        assert [row.term for row in model.rules_] == [row.term for row in models[0].rules_]


@pytest.mark.usefixtures("small_pool")
def test_held_out_errors_are_those_of_folds_by_position(monkeypatch):
    """All 2,000 rows are dealt out by the hashes of their positions; the errors are recomputed from dense columns."""
    monkeypatch.setattr(walk, "FOLD_ACCURACY", 0.0)  # folds as exact as the whole
    X, y = make_data()
    solver = Glmnet(tol=1e-12)
    options = {"n_candidates": 30, "random_state": 0, "n_jobs": 1, "cv": 4}
    model = RuleEnsembleRegressor(solver=solver, honest_cv=False, **options).fit(X, y)  # the same rules in all folds
    rules, linear, chosen = model.candidates_.rules, model.candidates_.linear, model.selection_
    dense = np.column_stack([*(rule.holds(X.T) for rule in rules), linear.evaluate(X.T[linear.features])])
    folds = deal_folds(Chance.of(0).fold_seed, np.arange(N_ROWS), 4)
    assert len(chosen.fold_errors) == 4
    for fold, errors in enumerate(chosen.fold_errors):
        here = folds == fold
        path = solver.path(make_problem(dense[~here], y[~here]), model.path_.penalties)
        expected = ((y[here, None] - path.intercepts - dense[here] @ path.coefs.T) ** 2).mean(axis=0)
        np.testing.assert_allclose(errors, expected, rtol=1e-4)
    np.testing.assert_allclose(chosen.errors, np.average(chosen.fold_errors, axis=0, weights=np.bincount(folds)))


@pytest.mark.usefixtures("small_pool")
def test_rows_of_weight_zero_do_not_count():
    X, y = make_data()
    weights = np.ones(N_ROWS)
    weights[::3] = 0.0
    spoiled = y.copy()
    spoiled[::3] = 1e6
    models = [
        RuleEnsembleRegressor(n_candidates=30, random_state=0, n_jobs=1).fit(X, target, weights)
        for target in (y, spoiled)
    ]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=1e-9)


@pytest.mark.usefixtures("small_pool")
def test_a_class_too_rare_to_be_dealt_out_is_named():
    X, _ = make_data()
    labels = np.zeros(N_ROWS, dtype=int)
    labels[:3] = 1
    with pytest.raises(InvalidInputError, match="Class 1 has 3 of 2,000 rows"):
        RuleEnsembleClassifier(n_candidates=20).fit(X, labels)


@pytest.mark.usefixtures("small_pool")
def test_bad_input_is_told_as_ever():
    X, y = make_data()
    with pytest.raises(InvalidInputError, match="one target for each row"):
        RuleEnsembleRegressor().fit(X, y[:-1])
    with pytest.raises(InvalidInputError, match="contains NaN"):
        RuleEnsembleRegressor().fit(X, np.where(np.arange(N_ROWS) == 7, np.nan, y))
    with pytest.raises(InvalidInputError, match="one class only"):
        RuleEnsembleClassifier().fit(X, np.ones(N_ROWS))
    with pytest.raises(InvalidInputError, match="must not be negative"):
        RuleEnsembleRegressor().fit(X, y, -np.ones(N_ROWS))
    with pytest.raises(InvalidInputError, match="must be finite"):
        RuleEnsembleRegressor().fit(np.where(X > 3, np.inf, X), y)
    with pytest.raises(InvalidInputError, match="`subsample` asks for"):
        RuleEnsembleRegressor(subsample=5000).fit(X, y)


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
@pytest.mark.parametrize("cv", [4, GroupKFold(4)])
@pytest.mark.parametrize("pool", [None, 100])
def test_groups_are_held_out_whole(monkeypatch, kind, cv, pool):
    """Whatever the way: rows of a group are alike, and a row whose sisters are trained on is no test."""
    if pool is not None:
        shrink_pool(monkeypatch, pool)
    dealt = []

    def watch(*arguments):
        dealt.append(assign_folds(*arguments))
        return dealt[-1]

    monkeypatch.setattr(_in_memory, "assign_folds", watch)
    rng = np.random.default_rng(0)
    groups = rng.integers(30, size=300)
    X = np.column_stack([groups, rng.normal(size=300)])
    y = (groups % 2 + (X[:, 1] > 0) > 1).astype(int) if kind is RuleEnsembleClassifier else groups % 7 + X[:, 1]
    model = kind(n_candidates=30, cv=cv, random_state=0, n_jobs=1).fit(X, y, groups=[f"g{k}" for k in groups])
    [(folds, n_folds)] = dealt
    assert n_folds == len(model.selection_.fold_points) == 4
    assert all(np.unique(folds[groups == group]).size == 1 for group in range(30))
    plain = kind(n_candidates=30, cv=4, random_state=0, n_jobs=1).fit(X, y)
    assert (model.selection_.errors[:5] != plain.selection_.errors[:5]).any()


def test_groups_do_not_matter_without_cross_validation():
    X, y = (rows[:150] for rows in make_data())
    one = RuleEnsembleRegressor(n_candidates=20, selection=0.1, random_state=0).fit(X, y, groups=np.arange(150) % 2)
    other = RuleEnsembleRegressor(n_candidates=20, selection=0.1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)
