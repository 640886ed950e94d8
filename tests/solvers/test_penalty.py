"""The record of a penalty against plain sums and the kernel it calls."""

from dataclasses import replace

import numpy as np
import pytest

from rulegrove.solvers import Glmnet
from rulegrove.solvers._penalty import Penalty
from solver_problems import build


@pytest.fixture
def problem():
    return build("random")


def test_the_objective_spares_what_is_not_penalised(problem):
    coef = np.random.default_rng(0).normal(size=problem.n_terms)
    free = np.arange(problem.n_terms) % 3 == 0
    penalty = Penalty.of(replace(problem, unpenalised=free), 0.25).at(2.0)
    shrunk = coef[~free]
    assert (penalty.l1, penalty.l2) == (0.5, 1.5)
    assert penalty.objective(1.0, coef) == pytest.approx(1.0 + 0.5 * np.abs(shrunk).sum() + 0.75 * shrunk @ shrunk)
    some = np.flatnonzero(free)
    assert penalty.take(some).objective(1.0, coef[some]) == 1.0


def test_pulls_count_where_a_coefficient_may_go(problem):
    signs, free = np.zeros(problem.n_terms, dtype=np.int64), np.zeros(problem.n_terms, dtype=bool)
    signs[:2], free[2] = [1, -1], True
    penalty = Penalty.of(replace(problem, signs=signs, unpenalised=free), 1.0)
    grad = np.full(problem.n_terms, -3.0)
    assert penalty.pulls(grad)[:4].tolist() == [-3.0, 3.0, 0.0, 3.0]
    assert penalty.at(3.0).wanted(grad)[:4].tolist() == [False, True, True, True]
    assert penalty.at(3.1).wanted(grad)[:4].tolist() == [False, False, True, False]
    assert penalty.at(3.1).wanted(grad, share=0.9)[:4].tolist() == [False, True, True, True]


@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
def test_the_minimum_is_that_of_glmnet(problem, l1_ratio):
    penalty, start = Penalty(l1_ratio, 1.0 - l1_ratio), np.zeros(problem.n_terms)
    (found,), *_ = penalty.at(0.1).follow(problem.gram, problem.x_y, problem.y_y, np.ones(1), 1e-12, 10_000, start)
    expected = Glmnet(l1_ratio=l1_ratio, tol=1e-12).path(problem, [0.1]).coefs[0]
    np.testing.assert_allclose(found, expected, atol=1e-5)
