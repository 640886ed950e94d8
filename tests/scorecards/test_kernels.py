"""The compiled search against SciPy's minimum and plain loops."""

import numpy as np
import pytest
from scipy.optimize import minimize

from rulegrove.scorecards._kernels import change_points, measure_points, solve_curve

pytestmark = pytest.mark.kernel


def draw(seed, n_rules=3, n_lines=12):
    rng = np.random.default_rng(seed)
    held = rng.integers(0, 2, (n_rules, n_lines)).astype(np.uint8)
    weights = rng.integers(1, 40, n_lines).astype(float)
    odds = rng.normal(size=n_rules) @ held + rng.normal(scale=0.5, size=n_lines)
    return held, weights, weights / (1.0 + np.exp(-odds))


def naive_loss(curve, scores, weights, goals):
    odds = curve[0] + curve[1] * scores
    return np.sum(weights * np.logaddexp(0.0, odds) - goals * odds)


def least_loss(scores, weights, goals):
    bounds = [(None, None), (0.0, None)]
    found = minimize(
        naive_loss, [0.0, 0.1], (scores, weights, goals), "L-BFGS-B", bounds=bounds, options={"ftol": 1e-15}
    )
    return found.fun


@pytest.mark.parametrize("seed", range(20))
def test_the_curve_has_the_least_loss(seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 50, 9).astype(float)
    weights[4] = 10.0
    goals = weights * rng.uniform(0.05, 0.95, 9)
    curve = rng.normal(size=2)  # wherever it begins
    loss = solve_curve(weights, goals, curve)
    assert curve[1] >= 0.0
    assert loss == pytest.approx(naive_loss(curve, np.arange(9), weights, goals), rel=1e-12)
    assert loss == pytest.approx(least_loss(np.arange(9), weights, goals), rel=1e-7)


def test_a_curve_that_would_fall_is_level():
    curve = np.zeros(2)
    solve_curve(np.full(3, 10.0), np.array([8.0, 5.0, 2.0]), curve)
    np.testing.assert_allclose(curve, 0.0, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_points_are_measured_by_their_totals(seed):
    held, weights, goals = draw(seed)
    points, curve = np.random.default_rng(seed).integers(-5, 6, 3), np.array([0.3, 0.2])
    loss = measure_points(held, weights, goals, points, curve)
    assert loss == pytest.approx(least_loss(points @ held, weights, goals), rel=1e-7)
    assert loss == pytest.approx(naive_loss(curve, points @ held, weights, goals), rel=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_no_change_of_one_rule_or_of_two_helps(seed):
    held, weights, goals = draw(seed, n_rules=4)
    points, curve = np.zeros(4, np.int64), np.zeros(2)
    loss = change_points(held, weights, goals, -2, 3, points, curve)
    assert loss == pytest.approx(measure_points(held, weights, goals, points, np.zeros(2)), rel=1e-9)
    others = [np.where(np.arange(4) == rule, value, points) for rule in range(4) for value in range(-2, 4)]
    steps = np.eye(4, dtype=np.int64)
    for one in range(4):
        for other in range(one):
            others += [points + a * steps[one] + b * steps[other] for a in (-1, 1) for b in (-1, 1)]
    for changed in others:
        if changed.min() >= -2 and changed.max() <= 3:
            assert measure_points(held, weights, goals, changed, np.zeros(2)) >= loss - 1e-9 * weights.sum()
