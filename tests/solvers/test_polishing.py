"""A settled point is the minimum, and rounding of the sums does not move it."""

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet

from rulegrove import Fpc, Glmnet
from rulegrove.selection import Chosen, Selection
from rulegrove.solvers._polishing import RIDGE, polish
from rulegrove.solvers.base import Problem


def make_problem(X, y, **limits):
    X = X - X.mean(axis=0)
    n = len(y)
    y_mean = y.mean()
    return Problem(
        X.T @ X / n,
        X.T @ (y - y_mean) / n,
        float(((y - y_mean) ** 2).mean()),
        np.zeros(X.shape[1]),
        y_mean,
        n,
        **limits,
    )


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 12)) < 0.4).astype(float)
    return X, X @ rng.normal(size=12) + rng.normal(size=400)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_it_is_the_minimum_that_others_find(data, l1_ratio):
    X, y = data
    problem = make_problem(X, y)
    path = Glmnet(l1_ratio=l1_ratio, tol=1e-4).path(problem, [0.2, 0.05])
    found = polish(problem, path.coefs[1], 0.05, l1_ratio)
    exact = ElasticNet(alpha=0.05, l1_ratio=l1_ratio, tol=1e-14, max_iter=100_000).fit(X, y).coef_
    np.testing.assert_allclose(found, exact, rtol=0, atol=20 * RIDGE)
    assert np.abs(path.coefs[1] - exact).max() > np.abs(found - exact).max()


def test_a_coefficient_that_would_change_its_sign_becomes_zero(data):
    X, y = data
    problem = make_problem(X, y)
    exact = polish(problem, Glmnet(tol=1e-12).path(problem, [0.3, 0.1]).coefs[1], 0.1, 1.0)
    start = exact.copy()
    wrong = int(np.flatnonzero(exact == 0)[0]) if (exact == 0).any() else 0
    start[wrong] = 1e-3 if problem.x_y[wrong] < 0 else -1e-3
    np.testing.assert_allclose(polish(problem, start, 0.1, 1.0), exact * (np.arange(12) != wrong), atol=1e-9)


def test_two_ways_to_divide_the_same_rows_are_told_apart_for_good():
    """Rules a, b and c, d with a + b = c + d: the lasso leaves the weights open, rounding must not decide."""
    rng = np.random.default_rng(1)
    parent, one, two = rng.random(3000) < 0.5, rng.random(3000) < 0.5, rng.random(3000) < 0.4
    X = np.column_stack([parent & one, parent & ~one, parent & two, parent & ~two]).astype(float)
    y = X @ np.array([1.0, 0.8, 0.9, 0.7]) + rng.normal(size=3000)
    problem = make_problem(X, y)
    start = Glmnet(tol=1e-6).path(problem, [0.1, 0.01]).coefs[1]
    start = np.where(start == 0, 0.01, start)
    noise = 1.0 + 1e-15 * rng.normal(size=4)
    shaken = Problem(problem.gram * np.outer(noise, noise), problem.x_y * noise, problem.y_y, problem.x_mean, 0.0, 3000)
    np.testing.assert_allclose(polish(problem, start, 0.01, 1.0), polish(shaken, start, 0.01, 1.0), rtol=0, atol=1e-9)


def test_terms_without_a_penalty_and_with_a_sign_keep_them(data):
    X, y = data
    unpenalised = np.arange(12) == 3
    problem = make_problem(X, y, unpenalised=unpenalised)
    found = polish(problem, Glmnet(tol=1e-9).path(problem, [0.3, 0.1]).coefs[1], 0.1, 1.0)
    slope = problem.x_y - problem.gram @ found
    assert abs(slope[3]) < 1e-5
    used = (found != 0) & ~unpenalised
    np.testing.assert_allclose(np.abs(slope[used]), 0.1, atol=1e-5)


def test_other_solvers_are_left_as_they_are(data):
    problem = make_problem(*data)
    for solver in (Fpc(), Glmnet(relax=True)):
        path, choice = solver.path(problem), Selection(5, "given")
        chosen = Chosen(path, choice, solver)
        assert chosen.polished(problem, []) is chosen
    nothing = np.zeros(12)
    np.testing.assert_array_equal(polish(problem, nothing, 0.1, 1.0), nothing)
