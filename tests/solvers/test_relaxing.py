"""Relaxed fits against plain refits, and what they are for: fewer terms at equal error."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import make_waveform
from rulegrove.design.rows import Rows
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Logistic, Squared
from rulegrove.selection import Fold, choose, held_out_errors
from rulegrove.solvers import Problem


def draw(seed=0, n_rows=300):
    rng = np.random.default_rng(seed)
    rules = (rng.random((n_rows, 12)) < 0.4).astype(float)
    linear = rng.normal(size=(n_rows, 2))
    signal = 2.0 * rules[:, 0] - 1.5 * rules[:, 3] + linear[:, 0]
    y = np.where(signal + rng.logistic(size=n_rows) > 0, 1.0, -1.0)
    return rules, linear, y, np.hstack([rules, linear])


def test_squared_refit_is_least_squares_on_the_support():
    rules, linear, y, X = draw()
    problem = Problem.from_rows(Rows.from_dense(rules, linear, y))
    path = Glmnet(relax=True, n_penalties=20).path(problem)
    relaxed = path.relaxed
    np.testing.assert_array_equal(relaxed.coefs != 0, path.coefs != 0)
    for point in range(20):
        support = path.coefs[point] != 0
        if not support.any():
            np.testing.assert_allclose(relaxed.risks[point], problem.y_y)
            continue
        plain = LinearRegression().fit(X[:, support], y)
        np.testing.assert_allclose(relaxed.coefs[point, support], plain.coef_, rtol=1e-4, atol=1e-5)
        assert relaxed.intercepts[point] == pytest.approx(plain.intercept_, abs=1e-4)
        assert relaxed.risks[point] == pytest.approx(np.mean((y - plain.predict(X[:, support])) ** 2))
        assert relaxed.risks[point] <= path.risks[point] + 1e-12


def test_logistic_refit_is_maximum_likelihood_on_the_support():
    rules, linear, y, X = draw()
    problem = Problem.from_rows(Rows.from_dense(rules, linear, y))
    path = Glmnet(loss="logistic", relax=True, n_penalties=10, penalty_ratio=0.1).path(problem)
    for point in (4, 9):
        support = path.coefs[point] != 0
        plain = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X[:, support], y)
        np.testing.assert_allclose(path.relaxed.coefs[point, support], plain.coef_[0], rtol=0.05, atol=0.02)
        assert path.relaxed.risks[point] < path.risks[point]


def test_dependent_terms_share():
    rules, linear, y, _ = draw()
    rules = np.hstack([rules, rules[:, :1]])
    problem = Problem.from_rows(Rows.from_dense(rules, linear, y))
    start = np.zeros(problem.n_terms)
    start[[0, 12]] = 0.2
    path = Glmnet(relax=True, tol=1e9).path(problem, [1e-3], start=start)
    assert path.relaxed.coefs[0, 0] == pytest.approx(path.relaxed.coefs[0, 12])


@pytest.mark.parametrize("loss", [Squared(), Logistic()])
def test_mixed_errors_are_those_of_the_rows(loss):
    rules, linear, y, X = draw()
    problem = Problem.from_rows(Rows.from_dense(rules, linear, y))
    path = Glmnet(relax=[1.0, 0.3], n_penalties=5).path(problem)
    held_out = problem.rows.moments() if isinstance(loss, Squared) else problem.rows
    errors = held_out_errors(path, held_out, loss, (1.0, 0.3))
    coefs = 0.3 * path.coefs + 0.7 * path.relaxed.coefs
    intercepts = 0.3 * path.intercepts + 0.7 * path.relaxed.intercepts
    np.testing.assert_allclose(errors[1], loss.value(y, intercepts[:, None] + coefs @ X.T).mean(axis=1))
    np.testing.assert_allclose(errors[0], loss.value(y, path.intercepts[:, None] + path.coefs @ X.T).mean(axis=1))
    coef, intercept = path.point(3, 0.3)
    np.testing.assert_allclose(coef, coefs[3])
    assert intercept == pytest.approx(intercepts[3])


def test_a_mix_needs_a_relaxed_path():
    rules, linear, y, _ = draw()
    path = Glmnet(n_penalties=3).path(Problem.from_rows(Rows.from_dense(rules, linear, y)))
    with pytest.raises(InvalidInputError, match=r"relax=True"):
        path.point(1, 0.5)


def test_the_choice_takes_the_sparsest_point_of_any_mix():
    rules, linear, y, _ = draw()
    rows = Rows.from_dense(rules, linear, y)
    folds = [Fold(None, rows), Fold(None, rows)]
    lasso = np.array([[9.0, 5.0, 2.0, 0.9], [9.2, 5.2, 2.2, 1.5]])
    relaxed = np.array([[9.0, 1.15, 1.5, 2.0], [9.2, 1.35, 1.7, 2.2]])
    chosen = choose(np.array([lasso, relaxed]), folds, "1se", (1.0, 0.0))
    assert (chosen.index, chosen.mix) == (1, 0.0)
    np.testing.assert_allclose(chosen.errors, relaxed.mean(axis=0))
    least = choose(np.array([lasso, relaxed]), folds, "min", (1.0, 0.0))
    assert (least.index, least.mix) == (3, 1.0)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_relaxing_needs_fewer_terms_for_the_same_error(loss):
    X, y = make_waveform(1500, random_state=0)
    y = y == y[0]
    train, test = slice(0, 700), slice(700, None)
    plain, relaxed = (
        RuleEnsembleClassifier(
            n_candidates=300,
            solver=Glmnet(loss=loss, relax=relax),
            honest_cv=False,
            selection="1se",
            max_terms=None,
            random_state=5,
        ).fit(X[train], y[train])
        for relax in (False, True)
    )
    assert relaxed.selection_.mix < 1.0
    assert len(relaxed.rules_) < 0.9 * len(plain.rules_)
    assert relaxed.score(X[test], y[test]) > plain.score(X[test], y[test]) - 0.015


def test_capped_and_relaxed():
    X, y = make_waveform(600, random_state=0)
    target = np.asarray(y == y[0], dtype=float) + X[:, 0]
    model = RuleEnsembleRegressor(n_candidates=200, max_terms=6, solver=Glmnet(relax=True), random_state=0)
    model.fit(X, target)
    assert 0 < len(model.rules_) <= 6
    scores = model.intercept_ + model.transform_rules(X) @ model.coef_
    np.testing.assert_allclose(model.predict(X), scores)
