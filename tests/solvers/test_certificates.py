"""Duality gaps and optimality conditions of solutions that are known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rulegrove.solvers import Problem
from rulegrove.solvers.certificates import duality_gap, kkt_violation, objective


def draw(seed, n_rows=30, n_terms=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_terms))
    y = X @ rng.normal(size=n_terms) + rng.normal(size=n_rows)
    X -= X.mean(axis=0)
    y -= y.mean()
    problem = Problem(X.T @ X / n_rows, X.T @ y / n_rows, y @ y / n_rows, np.zeros(n_terms), 0.0, float(n_rows))
    return problem, X, y, rng


def by_proximal_gradient(problem, penalty, l1_ratio, n_steps=20_000):
    """Minimise with a method that shares nothing with the solver."""
    l1, l2 = penalty * l1_ratio, penalty * (1 - l1_ratio)
    step = 1.0 / (np.linalg.eigvalsh(problem.gram)[-1] + l2)
    coef = np.zeros(problem.n_terms)
    for _ in range(n_steps):
        goal = coef + step * (problem.x_y - problem.gram @ coef - l2 * coef)
        new = np.sign(goal) * np.maximum(np.abs(goal) - step * l1, 0.0)
        if np.array_equal(new, coef):
            break
        coef = new
    return coef


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3, 1.0])
def test_objective_is_that_of_the_rows(l1_ratio):
    problem, X, y, rng = draw(0)
    coef = rng.normal(size=6)
    rows = ((y - X @ coef) ** 2).sum() / (2 * len(y))
    norm = l1_ratio * np.abs(coef).sum() + (1 - l1_ratio) / 2 * (coef**2).sum()
    assert objective(problem, coef, 0.2, l1_ratio) == pytest.approx(rows + 0.2 * norm)


@settings(max_examples=40, deadline=None)
@example(seed=77, l1_ratio=0.0, penalty=0.25, noise=1.0)  # beyond the fit the best multiple of the residual is negative
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.05, 0.5, 0.95, 1.0]), st.floats(0.01, 2.0), st.floats(0.0, 2.0))
def test_gap_bounds_the_distance_from_the_minimum(seed, l1_ratio, penalty, noise):
    problem, _, _, rng = draw(seed)
    best = by_proximal_gradient(problem, penalty, l1_ratio)
    minimum = objective(problem, best, penalty, l1_ratio)
    coef = best + noise * rng.normal(size=problem.n_terms)
    distance = objective(problem, coef, penalty, l1_ratio) - minimum
    assert duality_gap(problem, coef, penalty, l1_ratio) >= distance - 1e-12
    assert duality_gap(problem, best, penalty, l1_ratio) == pytest.approx(0.0, abs=1e-10)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.01, 2.0))
def test_kkt_violation_vanishes_at_the_minimum_alone(seed, l1_ratio, penalty):
    problem, _, _, rng = draw(seed)
    best = by_proximal_gradient(problem, penalty, l1_ratio)
    assert kkt_violation(problem, best, penalty, l1_ratio) == pytest.approx(0.0, abs=1e-9)
    assert kkt_violation(problem, best + 0.1 * rng.normal(size=6), penalty, l1_ratio) > 1e-4


def test_kkt_violation_sees_a_wrong_sign():
    problem = Problem(np.eye(1), np.array([1.0]), 2.0, np.zeros(1), 0.0, 1.0)
    assert kkt_violation(problem, np.array([-0.5]), 0.5) == pytest.approx(4.0)


def test_no_terms_is_optimal():
    problem = Problem(np.empty((0, 0)), np.empty(0), 2.0, np.empty(0), 0.0, 1.0)
    nothing = np.empty(0)
    assert objective(problem, nothing, 0.5) == 1.0
    assert duality_gap(problem, nothing, 0.5) == 0.0
    assert kkt_violation(problem, nothing, 0.5) == 0.0


def test_a_gradient_counts_where_the_coefficient_may_go():
    """Two terms at right angles, pulled up and down; the third is not penalised and already fitted."""
    x_y = np.array([1.0, -1.0, 0.5])
    problem = Problem(np.eye(3), x_y, 4.0, np.zeros(3), 0.0, 9.0, unpenalised=np.array([False, False, True]))
    fitted = np.array([0.0, 0.0, 0.5])
    for signs, violation, gap in (([1, 1, 0], 1.0, 0.125), ([-1, 1, 0], 0.0, 0.0), ([0, 0, 0], 1.0, 0.25)):
        signed = replace(problem, signs=np.array(signs))
        assert kkt_violation(signed, fitted, 0.5) == violation
        best = np.where(np.array(signs) * x_y < 0, 0.0, np.sign(x_y) * np.maximum(np.abs(x_y) - [0.5, 0.5, 0.0], 0.0))
        assert objective(signed, fitted, 0.5) - objective(signed, best, 0.5) == pytest.approx(gap)
        assert duality_gap(signed, fitted, 0.5) >= gap - 1e-12
        assert duality_gap(signed, best, 0.5) == pytest.approx(0.0, abs=1e-12)
    assert kkt_violation(replace(problem, signs=np.array([-1, 0, 0])), np.array([0.1, 0.0, 0.5]), 0.5) == np.inf
    assert kkt_violation(problem, np.array([0.5, -0.5, 0.4]), 0.5) == pytest.approx(0.2)
