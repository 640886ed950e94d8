"""The compiled loops of coordinate descent against plain twins; small enough to run without compilation too."""

from dataclasses import replace

import numpy as np
import pytest

from rulegrove.solvers import _kernels
from rulegrove.solvers._constraining import Limits
from rulegrove.solvers.certificates import duality_gap, objective
from solver_problems import draw

pytestmark = pytest.mark.kernel


def plain_descent(problem, penalty, l1_ratio, coef, tol):
    """Cyclic coordinate descent over all terms, nothing clever."""
    l1, l2 = penalty * l1_ratio, penalty * (1 - l1_ratio)
    coef = coef.copy()
    while duality_gap(problem, coef, penalty, l1_ratio) > tol:
        for j in range(problem.n_terms):
            goal = problem.x_y[j] - problem.gram[j] @ coef + problem.gram[j, j] * coef[j]
            coef[j] = np.sign(goal) * max(abs(goal) - l1, 0.0) / (problem.gram[j, j] + l2)
    return coef


@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
@pytest.mark.parametrize("seed", [0, 1])
def test_path_equals_plain_descent(seed, l1_ratio):
    problem, _ = draw(seed)
    penalties = np.array([2.0, 0.5, 0.1, 0.02])
    tol = 1e-10
    coefs, _, gaps, iterations = _kernels.elastic_net_path(
        problem.gram, problem.x_y, problem.y_y, penalties, l1_ratio, tol, 10_000, np.zeros(problem.n_terms)
    )
    assert gaps.max() <= tol
    assert iterations[-1] > 1
    expected = np.zeros(problem.n_terms)
    for penalty, coef in zip(penalties, coefs, strict=True):
        expected = plain_descent(problem, penalty, l1_ratio, expected, tol)
        np.testing.assert_allclose(coef, expected, atol=2e-4)
        np.testing.assert_array_equal(coef != 0, expected != 0)


def draw_limits(rng, n_terms):
    """Signs, terms without a penalty, and both as the kernels want them."""
    signs, spared = rng.integers(-1, 2, n_terms), rng.random(n_terms) < 0.2
    return Limits(signs, spared), Limits(signs, np.zeros(n_terms, dtype=bool))


def plain_limited_descent(problem, l1, l2, limits, n_passes):
    """Cyclic coordinate descent that goes nowhere a sign forbids."""
    coef = np.zeros(problem.n_terms)
    for _ in range(n_passes):
        for j in range(problem.n_terms):
            goal = problem.x_y[j] - problem.gram[j] @ coef + problem.gram[j, j] * coef[j]
            own_l1, own_l2 = (0.0, 0.0) if limits.spared[j] else (l1, l2)
            new = np.sign(goal) * max(abs(goal) - own_l1, 0.0) / (problem.gram[j, j] + own_l2)
            coef[j] = 0.0 if limits.signs[j] * new < 0 else new
    return coef


@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_limited_path_equals_plain_descent(seed, l1_ratio):
    problem, rng = draw(seed)
    penalties = np.array([0.5, 0.1, 0.02])
    for limits in draw_limits(rng, problem.n_terms):
        coefs, objectives, _, _ = _kernels.elastic_net_path(
            problem.gram, problem.x_y, problem.y_y, penalties, l1_ratio, 1e-12, 10_000, np.zeros(problem.n_terms),
            limits.for_kernel(problem.gram),
        )  # fmt: skip
        limited = replace(problem, signs=limits.signs, unpenalised=limits.spared)
        for penalty, coef, value in zip(penalties, coefs, objectives, strict=True):
            expected = plain_limited_descent(problem, penalty * l1_ratio, penalty * (1 - l1_ratio), limits, 1000)
            np.testing.assert_allclose(coef, expected, atol=1e-4)
            assert value == pytest.approx(objective(limited, coef, penalty, l1_ratio))


@pytest.mark.parametrize(("l1", "l2"), [(0.3, 0.0), (0.3, 0.2), (0.0, 0.5), (5.0, 0.0)])
def test_limited_certificate_equals_the_certificates(l1, l2):
    problem, rng = draw(3)
    _, limits = draw_limits(rng, problem.n_terms)
    coef = limits.clip(rng.normal(size=problem.n_terms) * (rng.random(problem.n_terms) < 0.6))
    grad = problem.x_y - problem.gram @ coef
    primal, gap = _kernels.assess(
        coef, grad, problem.x_y, problem.n_terms, problem.y_y, l1, l2, limits.for_kernel(problem.gram)
    )
    signed, penalty, l1_ratio = replace(problem, signs=limits.signs), l1 + l2, l1 / (l1 + l2)
    assert primal == pytest.approx(objective(signed, coef, penalty, l1_ratio))
    assert gap == pytest.approx(duality_gap(signed, coef, penalty, l1_ratio))


def test_limits_that_forbid_nothing_change_nothing():
    """To the last bit, though another version of the kernels runs."""
    problem, _ = draw(4)
    arguments = (problem.gram, problem.x_y, problem.y_y, np.array([0.5, 0.05]), 0.7, 1e-9, 1000, np.zeros(9))
    free = np.ones((3, problem.n_terms))
    plain, limited = _kernels.elastic_net_path(*arguments), _kernels.elastic_net_path(*arguments, free)
    np.testing.assert_array_equal(plain[0], limited[0])
    np.testing.assert_array_equal(plain[3], limited[3])


@pytest.mark.parametrize(("l1", "l2"), [(0.3, 0.0), (0.3, 0.2), (0.0, 0.5), (5.0, 0.0)])
def test_certify_equals_the_certificates(l1, l2):
    problem, rng = draw(3)
    coef = rng.normal(size=problem.n_terms) * (rng.random(problem.n_terms) < 0.6)
    grad = problem.x_y - problem.gram @ coef
    primal, gap = _kernels.certify(coef, grad, problem.x_y, problem.n_terms, problem.y_y, l1, l2)
    penalty, l1_ratio = l1 + l2, l1 / (l1 + l2)
    assert primal == pytest.approx(objective(problem, coef, penalty, l1_ratio))
    assert gap == pytest.approx(duality_gap(problem, coef, penalty, l1_ratio))


def test_mix_minimises_the_combined_step():
    rng = np.random.default_rng(4)
    depth, n = 5, 8
    past = rng.normal(size=(depth + 1, n + 2))
    mix = np.empty(depth)
    assert _kernels._mix(past, np.empty((depth, depth)), mix, n)
    steps = np.diff(past[:, :n], axis=0)
    expected = np.linalg.solve(steps @ steps.T, np.ones(depth))
    np.testing.assert_allclose(mix, expected / expected.sum(), rtol=1e-6)
    coef = np.zeros(n + 2)
    _kernels._combine(past, mix, coef, n)
    np.testing.assert_allclose(coef[:n], mix @ past[1:, :n])
    np.testing.assert_array_equal(coef[n:], 0.0)


def test_mix_gives_up_on_iterates_that_stand_still():
    past = np.ones((6, 4))
    assert not _kernels._mix(past, np.empty((5, 5)), np.empty(5), 4)


def test_extrapolation_shortens_the_tail(monkeypatch):
    """Without it nearly collinear terms take several times the passes."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, 6))
    y = X @ np.array([1.0, -1.0, 1.0, 0.0, 0.0, 0.0]) + 0.1 * rng.normal(size=60)
    X -= X.mean(axis=0)
    y -= y.mean()
    gram, x_y, y_y = X.T @ X / 60, X.T @ y / 60, float(y @ y / 60)
    arguments = (gram, x_y, y_y, np.array([1e-3]), 1.0, 1e-9 * y_y, 5000, np.zeros(6))
    _, _, gaps, fast = _kernels.elastic_net_path(*arguments)
    monkeypatch.setattr(_kernels, "_DEPTH", 5000)
    _, _, slow_gaps, slow = _kernels.elastic_net_path(*arguments)
    assert max(gaps[0], slow_gaps[0]) <= 1e-9 * y_y
    assert 3 * fast[0] < slow[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_does_not_drift_from_its_coefficients(seed):
    """Extrapolated gradients were combined from old ones and not computed afresh; some paths then stalled.

    On such a block of nearly collinear terms the gradient was off by a thousand times rounding and more.
    """
    rng = np.random.default_rng(seed)
    n = 12
    X = rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, n))
    y = X @ rng.normal(size=n) + 0.1 * rng.normal(size=60)
    X -= X.mean(axis=0)
    y -= y.mean()
    block, linear, y_y = X.T @ X / 60, X.T @ y / 60, float(y @ y / 60)
    coef, grad = np.zeros(n), linear.copy()
    memory = np.empty((6, n)), np.empty((5, 5)), np.empty(5)
    l1 = 1e-3 * np.abs(linear).max()
    passes, moved = _kernels._solve_block(block, linear, coef, grad, *memory, n, y_y, l1, 0.0, 0.0, 203, None)
    assert (passes, moved) == (203, True)  # 40 extrapolations, then three passes more
    rounding = np.finfo(np.float64).eps * (np.abs(linear).max() + block.max() * np.abs(coef).max())
    assert np.abs(grad - (linear - block @ coef)).max() < 20 * rounding


def test_term_that_no_screening_foresees_is_found():
    """Strong rules would discard term 0, which the solution holds; the check over all terms brings it in."""
    X = np.array([[0.0, 0.8, -0.6], [-0.2, -1.4, -0.8], [2.8, 1.0, -0.8]])
    y = np.array([-1.3, -1.0, 0.0])
    gram, x_y, y_y = X.T @ X / 3, X.T @ y / 3, float(y @ y / 3)
    penalties = np.array([0.9, 0.6]) * np.abs(x_y).max()
    coefs, _, gaps, _ = _kernels.elastic_net_path(gram, x_y, y_y, penalties, 1.0, 1e-13, 1000, np.zeros(3))
    before = np.abs(x_y - gram @ coefs[0])
    assert before[0] < 2 * penalties[1] - penalties[0]
    assert coefs[0, 0] == 0.0
    assert coefs[1, 0] == pytest.approx(0.0102, abs=1e-4)
    assert gaps.max() <= 1e-13
