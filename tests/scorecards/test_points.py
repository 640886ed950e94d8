"""Points against every card there is, and exact weights against scikit-learn."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from rulegrove.design.bits import BitMatrix
from rulegrove.design.patterns import PatternTable
from rulegrove.scorecards import points as search
from rulegrove.scorecards._kernels import measure_points
from rulegrove.scorecards.points import Patterns, find_points, weigh_rules


def draw(seed, n_rules=4, n_lines=40):
    rng = np.random.default_rng(seed)
    held = rng.integers(0, 2, (n_lines, n_rules)).astype(float)
    weights = rng.integers(1, 60, n_lines).astype(float)
    odds = held @ rng.normal(scale=1.5, size=n_rules) + rng.normal(scale=0.7, size=n_lines) - 0.5
    return Patterns(held, weights, weights / (1.0 + np.exp(-odds)))


def find_least(patterns, low, high):
    """The least loss of all cards."""
    held = np.ascontiguousarray(patterns.held.T).astype(np.uint8)
    ways = itertools.product(range(low, high + 1), repeat=len(held))
    return min(measure_points(held, patterns.weights, patterns.goals, np.array(way), np.zeros(2)) for way in ways)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("n_rules", "low", "high"), [(4, -3, 3), (3, -5, 5), (4, 0, 4), (5, -2, 2)])
def test_points_are_the_best_of_all_cards(seed, n_rules, low, high):
    patterns = draw(seed, n_rules)
    found = find_points(patterns, low, high)
    assert found.loss == pytest.approx(find_least(patterns, low, high), rel=1e-9)
    assert low <= found.points.min() <= found.points.max() <= high


def test_search_is_better_than_rounding():
    """On some table the rounded weights alone are worse; on none are they better."""
    gains = []
    for seed in range(10):
        patterns = draw(seed, n_rules=8, n_lines=120)
        coef = weigh_rules(patterns).coef
        rounded = np.rint(3.0 * coef / np.abs(coef).max()).astype(np.int64)
        held = np.ascontiguousarray(patterns.held.T).astype(np.uint8)
        plain = measure_points(held, patterns.weights, patterns.goals, rounded, np.zeros(2))
        gains.append(plain - find_points(patterns, -3, 3).loss)
    assert min(gains) >= -1e-9
    assert max(gains) > 0.1


def test_points_have_no_common_factor():
    held = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    odds = held @ [1.0, 1.0] - 1.0
    found = find_points(Patterns(held, np.full(4, 50.0), 50.0 / (1.0 + np.exp(-odds))), -5, 5)
    np.testing.assert_array_equal(found.points, [1, 1])
    assert found.slope == pytest.approx(1.0, rel=1e-3)


def test_rules_that_say_nothing_have_no_points():
    held = np.array([[0.0], [1.0]])
    assert find_points(Patterns(held, np.full(2, 10.0), np.full(2, 4.0)), -5, 5).points.tolist() == [0]
    assert find_points(Patterns(np.empty((1, 0)), np.full(1, 10.0), np.full(1, 4.0)), -5, 5).points.size == 0


@pytest.mark.parametrize("seed", range(5))
def test_exact_weights_are_those_of_logistic_regression(seed, monkeypatch):
    monkeypatch.setattr(search, "RIDGE", 0.0)
    patterns = draw(seed)
    design, classes = np.vstack([patterns.held] * 2), np.repeat([1, 0], len(patterns.held))
    weights = np.append(patterns.goals, patterns.weights - patterns.goals)
    expected = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(design, classes, weights)
    found = weigh_rules(patterns)
    np.testing.assert_allclose(found.coef, expected.coef_[0], atol=1e-3)
    assert found.intercept == pytest.approx(expected.intercept_[0], abs=1e-3)


def test_a_table_of_patterns_has_the_sums_of_its_rows():
    rng = np.random.default_rng(0)
    dense, goals = rng.integers(0, 2, (100, 3)), rng.random(100)
    words = np.zeros((3, 2), np.uint64)
    for row, rule in zip(*np.nonzero(dense), strict=True):
        words[rule, row // 64] |= np.uint64(1) << np.uint64(row % 64)
    found = Patterns.of(PatternTable.count(BitMatrix(words, 100), numbers=goals[:, None]))
    for pattern, weight, goal in zip(found.held, found.weights, found.goals, strict=True):
        own = (dense == pattern).all(axis=1)
        assert weight == own.sum()
        assert goal == pytest.approx(goals[own].sum())
    assert len(found.held) == len(np.unique(dense, axis=0))
