"""A pool of rules: what weights of rows mean to those grown, to their counts and coefficients; errors by moments."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso
from sklearn.model_selection import KFold

from rulegrove import Fpc, Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.estimators import _fitting
from rulegrove.estimators._fitting import squared_error
from rulegrove.estimators._in_memory import TableInMemory
from rulegrove.estimators.classes import Classes
from rulegrove.estimators.number import Number
from rulegrove.estimators.pipeline import fit_source
from rulegrove.estimators.settings import Settings
from small_designs import make_design

LAWS = {"subsample": 1.0, "random_state": 0, "n_jobs": 1, "n_candidates": 30, "shrinkage": 0.1}
AT_ONE_POINT = Glmnet(penalties=[0.05])


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


def make_targets(kind, n_rows=300):
    """Return attributes and whole numbers, two classes or three, whose sums no order of the rows changes."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, 3))
    score = X[:, 0] + 1.5 * (X[:, 1] > 0.2) + 0.5 * rng.normal(size=n_rows)
    if kind == "numbers":
        return X, np.round(10 * score)
    return X, np.searchsorted([0.6] if kind == "two classes" else [0.0, 1.2], score)


def fit_pools_of(kind, X, y, folds, solver=AT_ONE_POINT, n_jobs=1):
    """Return the pools of a fit, by default at one given penalty, so that nothing is chosen by the held-out rows."""
    target = Number() if kind == "numbers" else Classes()
    settings = Settings(n_candidates=30, random_state=0, n_jobs=n_jobs, solver=solver, selection="min", cv=folds)
    return fit_source(TableInMemory(X, y, target=target, settings=settings), target, settings).pools


@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])
def test_models_that_lists_are_judged_by_have_not_seen_their_fold(kind):
    """Other targets in the first fold change all models but the one without that fold."""
    X, y = make_targets(kind)
    folds = list(KFold(2, shuffle=True, random_state=0).split(X))
    held_out = folds[0][1]
    other = y.copy()
    other[held_out] = np.random.default_rng(8).permutation(y[held_out])
    plain, changed = (fit_pools_of(kind, X, target, folds) for target in (y, other))
    assert len(plain) == (3 if kind == "three classes" else 1)
    for one, two in zip(plain, changed, strict=True):
        assert len(one.fold_terms) == 2
        assert one.fold_terms[0].rules == two.fold_terms[0].rules
        assert one.fold_terms[0].rules != one.design.terms.rules
        assert one.fold_terms[1].rules != two.fold_terms[1].rules
        assert one.design.terms.rules != two.design.terms.rules
        for left, right in zip(one.outputs, two.outputs, strict=True):
            (coef, intercept), _ = left.selection.fold_points
            (twin, same), _ = right.selection.fold_points
            assert coef.any()
            np.testing.assert_allclose(coef, twin, rtol=1e-7)  # the rows of the fold are subtracted from the sums
            assert intercept == pytest.approx(same, rel=1e-7)


@pytest.mark.parametrize("kind", ["numbers", "three classes"])
def test_rules_do_not_depend_on_the_threads_that_grow_them(kind, monkeypatch):
    """Nor on how many are grown at a time, lest their tables take too much memory."""
    X, y = make_targets(kind)

    def grow(n_jobs):
        pools = fit_pools_of(kind, X, y, 3, n_jobs=n_jobs)
        return [(pool.design.terms.rules, [terms.rules for terms in pool.fold_terms]) for pool in pools]

    alone = grow(1)
    assert grow(3) == alone
    monkeypatch.setattr(_fitting, "MOST_NUMBERS", 1)
    assert grow(3) == alone


@pytest.mark.parametrize("solver", [AT_ONE_POINT, Fpc(n_penalties=15, penalty_ratio=0.1)], ids=str)
def test_folds_that_lists_are_judged_by_are_solved_at_the_chosen_point(solver):
    """By scikit-learn with the rules of a fold at the penalty of the whole; Fpc tells its points as fit weights."""
    X, y = make_targets("numbers")
    folds = list(KFold(2, shuffle=True, random_state=0).split(X))
    (pool,) = fit_pools_of("numbers", X, y, folds, solver)
    (chosen,) = pool.outputs
    penalty = float(chosen.path.penalties[chosen.selection.index])
    for terms, (train, _), (coef, _) in zip(pool.fold_terms, folds, chosen.selection.fold_points, strict=True):
        dense = np.column_stack(
            [
                *(rule.holds(X[train].T) for rule in terms.rules),
                terms.linear.evaluate(X[train].T[terms.linear.features]),
            ]
        )
        twin = Lasso(alpha=penalty, tol=1e-10, max_iter=100_000).fit(dense, y[train])
        value, least, null = (
            np.var(y[train] - dense @ own) / 2 + penalty * np.abs(own).sum() for own in (coef, twin.coef_, 0.0 * coef)
        )
        assert value - least <= AT_ONE_POINT.tol * null


@pytest.mark.parametrize(("n_rows", "n_judged"), [(900, 900), (2500, 2000)])
@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
def test_held_out_figures_are_honest_whatever_the_number_of_rows(kind, n_rows, n_judged):
    """Of all rows, or of as many folds as hold out 2,000 of them."""
    X, y, _ = make_rows(n_rows)
    y = (y > 1).astype(int) if kind is RuleEnsembleClassifier else y
    model = kind(n_candidates=30, random_state=0, n_jobs=1).fit(X, y)
    assert model.held_out_.honest
    assert model.held_out_.n_rows == n_judged
    assert all(line.held_out.honest for line in model.front_)


def test_solved_pools_keep_no_pairs_of_terms():
    """Of 89 classes the statistics of all candidates took gigabytes, and nothing read them again."""
    X, _, _ = make_rows()
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    settings, target = Settings(n_candidates=40, random_state=0, n_jobs=1), Classes()

    def fit(**options):
        return fit_source(TableInMemory(X, y, target=target, settings=settings), target, settings, **options)

    for pool in fit().pools:
        n_terms = len(pool.design.terms)
        assert pool.design.statistics is None
        assert pool.design.margins.x_y.shape == (n_terms, 1)
        assert pool.design.margins.x_x.shape == (n_terms,)
        assert all(coef.base is None for coef, _ in pool.outputs[0].selection.fold_points)  # no part of a whole path
    kept = fit(by_rows=False, lists=False).pools
    assert all(pool.design.statistics.moments().gram.shape == 2 * (len(pool.design.terms),) for pool in kept)
