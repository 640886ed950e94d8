"""Coefficients of lists against dense least squares, general minimisers of the same objective, and scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression

from dense_lists import NEAR, columns_of, divergence, fill_words, list_terms, null_divergence
from rulegrove.projection import (
    LEAST_PROBABILITY,
    LEAST_SURE,
    RIDGE,
    RIDGE_OF_NUMBERS,
    SOLVED_ROWS,
    OfNumbers,
    OfProbabilities,
    project,
)

N_ROWS = 80  # a word and a quarter


def make_weights(rng, n_rows=N_ROWS):
    weights = rng.choice([0.5, 1.0, 3.0], n_rows)
    return weights / weights.sum()


def make_columns(rng, sizes, n_rows=N_ROWS):
    """Return rules and lines of each output, about half of each."""
    columns = [rng.normal(size=(n_rows, size)) for size in sizes]
    return [(own[:, ::2] > rng.normal(size=own[:, ::2].shape[1]) / 2, own[:, 1::2]) for own in columns]


def make_goals(rng, columns):
    """Return probabilities that depend on the terms and on more, nearly certain ones among them."""
    scores = np.array([np.hstack(own) @ rng.normal(size=np.hstack(own).shape[1]) for own in columns])
    scores += rng.normal(size=scores.shape)
    return clip(expit(scores) if len(columns) == 1 else softmax(scores, axis=0))


def clip(goals):
    """Return goals that are certain of nothing, as lists are told them."""
    goals = np.clip(goals, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    return goals if len(goals) == 1 else goals / goals.sum(axis=0)


def make_lists(rng, sizes, n_free=0, signed=False):
    """Return outputs with terms of their own, some of them free, and probabilities and weights of rows."""
    columns, weights = make_columns(rng, sizes), make_weights(rng)
    goals = make_goals(rng, columns)
    outputs = [
        list_terms(
            *own,
            goal,
            weights,
            ridges=rng.permutation(size) >= n_free,
            signs=rng.choice([-1, 0, 1], size) if signed else None,
        )
        for own, goal, size in zip(columns, goals, sizes, strict=True)
    ]
    return outputs, fill_words(goals), fill_words(weights)


def split(outputs, flat):
    """Return points from one long array: coefficients of all outputs, then intercepts."""
    sizes = [len(listed.start) for listed in outputs]
    coefs = np.split(flat[: sum(sizes)], np.cumsum(sizes)[:-1])
    return list(zip(coefs, flat[sum(sizes) :].tolist(), strict=True))


def join(points):
    return np.concatenate([*(coef for coef, _ in points), [intercept for _, intercept in points]])


def find_least(outputs, goals, weights, bounds=None):
    """Return the least divergence that a general minimiser finds."""
    n_values = sum(len(listed.start) for listed in outputs) + len(outputs)

    def objective(flat):
        return divergence(outputs, goals, weights, split(outputs, flat))

    options = {"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-12, "gtol": 1e-7}
    return minimize(objective, np.zeros(n_values), method="L-BFGS-B", bounds=bounds, options=options).fun


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), n_outputs=st.integers(1, 3), n_free=st.integers(0, 2))
def test_numbers_are_met_by_ridge_least_squares(seed, n_outputs, n_free):
    """The ridge as further rows of a dense problem, whose first column is the intercept's."""
    rng = np.random.default_rng(seed)
    sizes, weights = rng.integers(1, 6, n_outputs), make_weights(rng)
    goals = rng.normal(size=(n_outputs, N_ROWS)) + 7.0
    outputs = [
        list_terms(*own, goal, weights, ridges=rng.permutation(size) >= n_free)
        for own, goal, size in zip(make_columns(rng, sizes), goals, sizes, strict=True)
    ]
    points = OfNumbers().solve(outputs, fill_words(goals), fill_words(weights))
    assert len(points) == n_outputs
    for listed, goal, (coef, intercept) in zip(outputs, goals, points, strict=True):
        columns = columns_of(listed)[:N_ROWS]
        centred = columns - weights @ columns
        ridges = RIDGE_OF_NUMBERS * listed.ridges * (weights @ centred**2)
        dense = np.sqrt(weights)[:, None] * np.column_stack([np.ones(N_ROWS), centred])
        dense = np.vstack([dense, np.column_stack([np.zeros(len(coef)), np.diag(np.sqrt(ridges))])])
        wanted = np.concatenate([np.sqrt(weights) * goal, np.zeros(len(coef))])
        twin = np.linalg.lstsq(dense, wanted, rcond=None)[0]
        np.testing.assert_allclose(coef, twin[1:], rtol=1e-6, atol=1e-8)
        assert intercept == pytest.approx(twin[0] - weights @ columns @ twin[1:], rel=1e-6)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), n_outputs=st.sampled_from([1, 3]), n_free=st.integers(0, 2))
def test_probabilities_are_met_as_nearly_as_by_a_general_minimiser(seed, n_outputs, n_free):
    """One output or several with terms of their own, some of them free; from nowhere or from any start."""
    rng = np.random.default_rng(seed)
    outputs, goals, weights = make_lists(rng, rng.integers(1, 5, n_outputs), n_free)
    least, null = find_least(outputs, goals, weights), null_divergence(goals, weights)
    for scale in (0.0, 0.3, 5.0):
        moved = [replace(listed, start=scale * rng.normal(size=len(listed.start))) for listed in outputs]
        points = OfProbabilities().solve(moved, goals, weights)
        assert divergence(outputs, goals, weights, points) - least <= NEAR * null


@pytest.mark.parametrize("n_classes", [2, 3])
def test_soft_labels_are_hard_ones_by_their_weights(n_classes):
    """Against scikit-learn on every row once for each class; columns of unit variance share one ridge."""
    rng = np.random.default_rng(n_classes)
    columns = rng.normal(size=(128, 4))
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    goals = softmax(rng.normal(size=(n_classes, 4)) @ columns.T + 0.5 * rng.normal(size=(n_classes, 128)), axis=0)
    goals = 0.9 * goals + 0.1 / n_classes
    own, weights = goals[-1:] if n_classes == 2 else goals, np.full(128, 1 / 128)
    outputs = [list_terms(np.empty((128, 0)), columns, goal, weights) for goal in own]
    points = OfProbabilities().solve(outputs, own, weights)
    twin = LogisticRegression(C=1.0 / RIDGE, tol=1e-10, max_iter=10_000)
    twin.fit(np.tile(columns, (n_classes, 1)), np.repeat(np.arange(n_classes), 128), goals.ravel() / 128)
    expected = list(zip(twin.coef_, twin.intercept_, strict=True))
    found, least = (divergence(outputs, own, weights, one) for one in (points, expected))
    assert abs(found - least) <= NEAR * null_divergence(own, weights)


@pytest.mark.parametrize("projection", [OfNumbers(), OfProbabilities()])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_weights_are_repeated_rows(projection, n_outputs):
    rng = np.random.default_rng(5)
    columns, times = make_columns(rng, [3] * n_outputs), rng.integers(1, 4, N_ROWS)
    goals, rows = make_goals(rng, columns), np.repeat(np.arange(N_ROWS), times)
    found = []
    for taken, weights in ((np.arange(N_ROWS), times), (rows, np.ones(len(rows)))):
        outputs = [
            list_terms(rules[taken], lines[taken], goal[taken], weights)
            for (rules, lines), goal in zip(columns, goals, strict=True)
        ]
        found.append(projection.solve(outputs, fill_words(goals[:, taken]), fill_words(weights / weights.sum())))
    np.testing.assert_allclose(join(found[0]), join(found[1]), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("free", [False, True])
def test_goals_that_a_term_separates_leave_coefficients_finite(n_outputs, free):
    """Certain probabilities are as good as nearly certain ones; a free term says just those."""
    codes = np.repeat(np.arange(max(n_outputs, 2)), 64)
    hard = (codes == np.arange(codes.max() + 1)[:, None]).astype(np.float64)[-n_outputs:]
    weights, no_lines = np.full(len(codes), 1 / len(codes)), np.empty((len(codes), 0))
    outputs = [list_terms(own[:, None], no_lines, own, weights, ridges=0.0 if free else 1.0) for own in hard]
    points = OfProbabilities().solve(outputs, hard, weights)
    assert np.isfinite(join(points)).all()
    scores = np.array([own * coef + intercept for own, (coef, intercept) in zip(hard, points, strict=True)])
    told = expit(scores) if n_outputs == 1 else softmax(scores, axis=0)
    np.testing.assert_array_equal(told > 0.5, hard > 0.5)
    assert np.abs(told - hard).max() < (2e-3 if free else 0.1)
    assert np.abs(told - hard).min() > LEAST_PROBABILITY / 10


@pytest.mark.parametrize("free", [False, True])
def test_look_alikes_and_constants_are_solved_for(free):
    """Terms that repeat others share their part, free ones too; a constant changes nothing to speak of."""
    rng = np.random.default_rng(8)
    rule, weights = rng.random((64, 1)) < 0.4, np.full(64, 1 / 64)
    goals = 2.0 * rule[:, 0] + rng.normal(size=64)
    for projection, goal in ((OfNumbers(), goals), (OfProbabilities(), expit(goals))):
        rules = np.hstack([rule, rule, np.ones((64, 1))])
        listed = list_terms(rules, np.empty((64, 0)), goal, weights, ridges=0.0 if free else 1.0)
        ((coef, intercept),) = projection.solve([listed], goal[None], weights)
        assert coef[0] == pytest.approx(coef[1], rel=1e-3)
        ((twice, other),) = projection.solve([listed.take(np.array([0, 1]))], goal[None], weights)
        np.testing.assert_allclose(rules @ coef + intercept, 2.0 * rule[:, 0] * twice[0] + other, atol=2e-3)


def test_no_terms_say_the_mean():
    goals, weights = np.array([[0.1, 0.3, 0.8, 0.5], [0.9, 0.7, 0.2, 0.5]]), np.array([0.1, 0.2, 0.3, 0.4])
    empty = list_terms(np.empty((4, 0)), np.empty((4, 0)), goals[0], weights)
    means, goals, weights = goals @ weights, fill_words(goals), fill_words(weights)
    ((_, intercept),) = OfNumbers().solve([empty], goals[:1], weights)
    assert intercept == pytest.approx(means[0])
    ((_, intercept),) = OfProbabilities().solve([empty], goals[1:], weights)
    assert expit(intercept) == pytest.approx(means[1])
    points = OfProbabilities().solve([empty, empty], np.where(weights > 0.0, goals, 0.5), weights)
    np.testing.assert_allclose(softmax([intercept for _, intercept in points]), means)


@pytest.mark.parametrize("seed", range(5))
def test_signs_of_numbers_against_bounded_least_squares(seed):
    """Where terms do not overlap, to leave out those of the wrong sign is to hold them to it."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(64, 6))
    columns = np.sqrt(64) * np.linalg.qr(columns - columns.mean(axis=0))[0]
    signs, goal, weights = rng.choice([-1, 0, 1], 6), rng.normal(size=64), np.full(64, 1 / 64)
    listed = list_terms(np.empty((64, 0)), columns, goal, weights, signs=signs)
    ((coef, intercept),) = project(OfNumbers(), [listed], goal[None], weights)
    dense = np.vstack([np.column_stack([np.ones(64), columns]) / np.sqrt(64), np.eye(7)[1:] * RIDGE_OF_NUMBERS**0.5])
    low = np.concatenate([[-np.inf], np.where(signs > 0, 0.0, -np.inf)])
    high = np.concatenate([[np.inf], np.where(signs < 0, 0.0, np.inf)])
    twin = lsq_linear(dense, np.concatenate([goal / np.sqrt(64), np.zeros(6)]), (low, high), tol=1e-13).x
    assert (signs * coef >= 0).all()
    np.testing.assert_allclose(coef, twin[1:], atol=1e-6)
    assert intercept == pytest.approx(twin[0], abs=1e-6)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_signs_of_probabilities_against_a_bounded_minimiser(seed, n_outputs):
    """All signs are right, the terms that are left have their best coefficients, and next to nothing is lost."""
    outputs, goals, weights = make_lists(np.random.default_rng(seed), [4] * n_outputs, signed=True)
    points = project(OfProbabilities(), outputs, goals, weights)
    assert all((listed.signs * coef >= 0).all() for listed, (coef, _) in zip(outputs, points, strict=True))
    signs = np.concatenate([listed.signs for listed in outputs])
    bounds = [(0.0 if sign > 0 else None, 0.0 if sign < 0 else None) for sign in signs] + [(None, None)] * n_outputs
    null, found = null_divergence(goals, weights), divergence(outputs, goals, weights, points)
    least = find_least(outputs, goals, weights, bounds)
    assert found >= least - 1e-7
    assert found - least <= 0.02 * (null - least) + NEAR * null
    kept = [listed.take(np.flatnonzero(coef)) for listed, (coef, _) in zip(outputs, points, strict=True)]
    assert found - find_least(kept, goals, weights) <= NEAR * null


def test_weights_of_many_rows_have_few_levels():
    """So that pairs of rules are counted; none is more than an eighth off, and those of few rows are as they are."""
    goals = np.random.default_rng(0).random((SOLVED_ROWS + 1, 1))
    near = np.clip(goals, LEAST_SURE, 1.0 - LEAST_SURE)[:, 0]
    exact = near * (1.0 - near)
    _, many = OfProbabilities().linearise(goals, None)
    assert np.unique(many.round(12)).size <= 15
    np.testing.assert_allclose(many, exact, rtol=0.125)
    _, few = OfProbabilities().linearise(goals[1:], None)
    np.testing.assert_allclose(few, exact[1:], rtol=1e-12)
    _, weighted = OfProbabilities().linearise(goals, np.full(SOLVED_ROWS + 1, 3.0))
    np.testing.assert_allclose(weighted, 3.0 * many, rtol=1e-12)
