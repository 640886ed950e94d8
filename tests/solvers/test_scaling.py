"""Grids of penalties, and the four parameters that name one solution."""

import numpy as np
import pytest

from rulegrove.solvers import Glmnet, Problem, scaling


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 4))
    y = X @ np.array([2.0, -1.0, 0.5, 0.0]) + rng.normal(size=50)
    return Problem.from_moments(50.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.01])
def test_largest_penalty_is_the_smallest_that_empties_the_model(problem, l1_ratio):
    largest = scaling.largest_penalty(problem, l1_ratio)
    path = Glmnet(l1_ratio=l1_ratio, tol=1e-12).path(problem, [largest * (1 + 1e-9), largest * 0.999])
    np.testing.assert_array_equal(path.n_terms, [0, 1])


def test_largest_penalty_of_ridge_is_guarded(problem):
    assert scaling.largest_penalty(problem, 0.0) == pytest.approx(1000 * scaling.largest_penalty(problem, 1.0))


def test_grid_is_geometric(problem):
    grid = scaling.penalty_grid(problem, 0.5, n_penalties=7, ratio=1e-2)
    assert grid[0] == pytest.approx(scaling.largest_penalty(problem, 0.5))
    np.testing.assert_allclose(grid[1:] / grid[:-1], 1e-2 ** (1 / 6))
    assert scaling.penalty_grid(problem, n_penalties=1) == pytest.approx([scaling.largest_penalty(problem)])


def test_grid_without_correlation_starts_at_one():
    problem = Problem(np.eye(2), np.zeros(2), 0.0, np.zeros(2), 1.0, 5.0)
    np.testing.assert_allclose(scaling.penalty_grid(problem, n_penalties=2, ratio=0.1), [1.0, 0.1])


def test_four_parameters_name_one_solution(problem):
    """The lasso at a penalty, its fit weight, its l1 radius and its residual describe the same point."""
    penalty = 0.2 * scaling.largest_penalty(problem)
    coef = Glmnet(tol=1e-14).path(problem, [penalty]).coefs[0]
    assert scaling.penalty_at(problem, coef) == pytest.approx(penalty, rel=1e-6)

    fit_weight = scaling.fit_weight_from_penalty(penalty, problem.weight)
    assert scaling.penalty_from_fit_weight(fit_weight, problem.weight) == pytest.approx(penalty)
    # Stationarity of |a|_1 + fit_weight/2 * rss on the active terms.
    grad = problem.weight * (problem.x_y - problem.gram @ coef)
    active = coef != 0
    np.testing.assert_allclose(fit_weight * grad[active], np.sign(coef[active]), rtol=1e-6)

    assert scaling.l1_radius(coef) == pytest.approx(np.abs(coef).sum())


def test_residual_norm_is_that_of_the_rows():
    rng = np.random.default_rng(5)
    X, y, coef = rng.normal(size=(20, 3)), rng.normal(size=20), rng.normal(size=3)
    problem = Problem.from_moments(20.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
    residual = y - X @ coef - problem.intercept(coef)
    assert scaling.residual_norm(problem, coef) == pytest.approx(np.linalg.norm(residual))
