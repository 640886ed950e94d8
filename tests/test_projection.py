"""Coefficients of lists against dense least squares, general minimisers of the same objective, and scikit-learn.

Also of `_projection_kernels.py`, whose loop brings probabilities near to their goals.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize
from scipy.special import expit, log_softmax, logit, logsumexp, softmax
from sklearn.linear_model import LogisticRegression

from rulegrove import _projection_kernels as kernels
from rulegrove._projection_kernels import SETTLED
from rulegrove.projection import (
    LEAST_PROBABILITY,
    RIDGE,
    RIDGE_OF_NUMBERS,
    Listed,
    OfNumbers,
    OfProbabilities,
    project,
)


def make_outputs(rng, n_rows, sizes, n_free=0):
    """Return outputs with terms of their own, half of them rules and half lines, the first ones free."""
    outputs = []
    for size in sizes:
        lines = rng.normal(size=(n_rows, size))
        columns = np.where(np.arange(size) % 2, lines, lines > rng.normal(size=size) / 2)
        outputs.append(Listed(columns, (np.arange(size) >= n_free).astype(float), np.zeros(size)))
    return outputs


def make_goals(rng, outputs):
    """Return probabilities that depend on the terms and on more: one column, or one for each class."""
    scores = np.column_stack([listed.columns @ rng.normal(size=len(listed.start)) for listed in outputs])
    scores += rng.normal(size=scores.shape)
    return expit(scores) if len(outputs) == 1 else softmax(scores, axis=1)


def make_weights(rng, n_rows):
    weights = rng.choice([0.5, 1.0, 3.0], n_rows)
    return weights / weights.sum()


def spreads(listed, weights):
    """Return the weighted variance of each term."""
    return weights @ (listed.columns - weights @ listed.columns) ** 2


def divergence(outputs, goals, weights, points):
    """Return the objective in plain words: cross entropy and half the ridges times squared coefficients."""
    scores = np.column_stack(
        [listed.columns @ coef + intercept for listed, (coef, intercept) in zip(outputs, points, strict=True)]
    )
    if len(outputs) == 1:
        goals = np.column_stack([1.0 - goals, goals])
        scores = np.column_stack([np.zeros(len(scores)), scores])
    fit = -weights @ np.sum(goals * log_softmax(scores, axis=1), axis=1)
    ridges = [RIDGE * listed.ridges * spreads(listed, weights) for listed in outputs]
    return fit + sum(0.5 * own @ coef**2 for own, (coef, _) in zip(ridges, points, strict=True))


def split(outputs, flat):
    """Return points from one long array: coefficients of all outputs, then intercepts."""
    sizes = [len(listed.start) for listed in outputs]
    coefs = np.split(flat[: sum(sizes)], np.cumsum(sizes)[:-1])
    return list(zip(coefs, flat[sum(sizes) :].tolist(), strict=True))


def join(points):
    return np.concatenate([*(coef for coef, _ in points), [intercept for _, intercept in points]])


def null_divergence(goals, weights):
    """Return what the shares of the classes alone leave."""
    shares = weights @ goals
    shares = np.array([1.0 - shares[0], shares[0]]) if len(shares) == 1 else shares
    return float(-shares @ np.log(shares))


def minimise(outputs, goals, weights, bounds=None):
    """Return the least divergence that a general minimiser finds, and its point."""
    n_values = sum(len(listed.start) for listed in outputs) + len(outputs)

    def objective(flat):
        return divergence(outputs, goals, weights, split(outputs, flat))

    options = {"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-14, "gtol": 1e-9}
    found = minimize(objective, np.zeros(n_values), method="L-BFGS-B", bounds=bounds, options=options)
    return found.fun, split(outputs, found.x)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), n_outputs=st.integers(1, 3), n_free=st.integers(0, 2))
def test_numbers_are_met_by_ridge_least_squares(seed, n_outputs, n_free):
    """The ridge as further rows of a dense problem, whose first column is the intercept's."""
    rng = np.random.default_rng(seed)
    outputs = make_outputs(rng, 60, rng.integers(1, 6, n_outputs), n_free)
    goals, weights = rng.normal(size=(60, n_outputs)) + 7.0, make_weights(rng, 60)
    points = OfNumbers().solve(outputs, goals, weights)
    assert len(points) == n_outputs
    for listed, goal, (coef, intercept) in zip(outputs, goals.T, points, strict=True):
        ridges = RIDGE_OF_NUMBERS * listed.ridges * spreads(listed, weights)
        centred = listed.columns - weights @ listed.columns
        dense = np.sqrt(weights)[:, None] * np.column_stack([np.ones(60), centred])
        dense = np.vstack([dense, np.column_stack([np.zeros(len(coef)), np.diag(np.sqrt(ridges))])])
        wanted = np.concatenate([np.sqrt(weights) * goal, np.zeros(len(coef))])
        twin = np.linalg.lstsq(dense, wanted, rcond=None)[0]
        np.testing.assert_allclose(coef, twin[1:], rtol=1e-6, atol=1e-8)
        assert intercept == pytest.approx(twin[0] - weights @ listed.columns @ twin[1:], rel=1e-6)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), n_outputs=st.sampled_from([1, 3]), n_free=st.integers(0, 2))
def test_probabilities_are_met_as_nearly_as_by_a_general_minimiser(seed, n_outputs, n_free):
    """One output or several with terms of their own, some of them free."""
    rng = np.random.default_rng(seed)
    outputs = make_outputs(rng, 80, rng.integers(1, 5, n_outputs), n_free)
    goals, weights = make_goals(rng, outputs), make_weights(rng, 80)
    goals = np.clip(goals, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    goals = goals if n_outputs == 1 else goals / goals.sum(axis=1, keepdims=True)
    points = OfProbabilities().solve(outputs, goals, weights)
    least, _ = minimise(outputs, goals, weights)
    excess = divergence(outputs, goals, weights, points) - least
    assert excess <= SETTLED * null_divergence(goals, weights)


def solve_plainly(outputs, goals, weights):
    """Return the points of the same sweeps in NumPy, with the scores of all outputs at each step."""
    goals = np.clip(goals, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY).T
    goals = goals if len(goals) == 1 else goals / goals.sum(axis=0)
    odds = logit(goals @ weights) if len(goals) == 1 else np.log(goals @ weights)
    means = [weights @ listed.columns for listed in outputs]
    designs = [
        np.column_stack([np.ones(len(weights)), listed.columns - own])
        for listed, own in zip(outputs, means, strict=True)
    ]
    ridges = [np.append(0.0, RIDGE * listed.ridges * spreads(listed, weights)) for listed in outputs]

    def score(coefs):
        return np.array([design @ coef for design, coef in zip(designs, coefs, strict=True)])

    def level(scores):
        return np.logaddexp(0.0, scores[0]) if len(scores) == 1 else logsumexp(scores, axis=0)

    def risk(coefs):
        scores = score(coefs)
        fit = weights @ (level(scores) - (goals * scores).sum(axis=0))
        return fit + sum(0.5 * own @ coef**2 for own, coef in zip(ridges, coefs, strict=True))

    empty = [np.append(start, 0.0 * listed.start) for start, listed in zip(odds, outputs, strict=True)]
    coefs = [np.append(start, listed.start) for start, listed in zip(odds, outputs, strict=True)]
    coefs, null = (coefs if risk(coefs) <= risk(empty) else empty), risk(empty)
    for _ in range(10):
        tried, promised = list(coefs), 0.0
        for place, design in enumerate(designs):
            scores = score(tried)
            told = np.exp(scores[place] - level(scores))
            slope = design.T @ (weights * (told - goals[place])) + ridges[place] * tried[place]
            curvature = (design.T * (weights * told * (1.0 - told))) @ design
            curvature += np.diag(ridges[place] + 1e-12 * (1.0 + curvature.diagonal()))
            step = np.linalg.solve(curvature, slope)
            tried[place], promised = tried[place] - step, promised + slope @ step
        halvings = 0
        while risk(tried) > risk(coefs) and halvings < 10:
            tried = [0.5 * (one + other) for one, other in zip(coefs, tried, strict=True)]
            halvings += 1
        if risk(tried) > risk(coefs):
            break
        coefs = tried
        if promised <= SETTLED * null:
            break
    return [(coef[1:], coef[0] - own @ coef[1:]) for coef, own in zip(coefs, means, strict=True)]


@pytest.mark.kernel
@pytest.mark.parametrize("scale", [0.0, 0.3, 20.0])
@pytest.mark.parametrize("sizes", [[1], [5], [0, 4], [3, 1, 6], [2, 2, 2, 2]])
def test_probabilities_equal_those_of_plain_sweeps(sizes, scale):
    """Outputs of unlike sizes, from nowhere, from a start that is near and from one that is worse than none."""
    rng = np.random.default_rng([len(sizes), sizes[0]])
    outputs = make_outputs(rng, 60, sizes, n_free=1)
    outputs = [replace(listed, start=scale * rng.normal(size=len(listed.start))) for listed in outputs]
    goals, weights = make_goals(rng, outputs), make_weights(rng, 60)
    found, expected = (solve(outputs, goals, weights) for solve in (OfProbabilities().solve, solve_plainly))
    np.testing.assert_allclose(join(found), join(expected), rtol=1e-8, atol=1e-8)


@pytest.mark.kernel
def test_halved_steps_equal_those_of_plain_sweeps():
    """All but certain goals from a start that is too certain of them, where the curvature is small: steps overshoot."""
    (listed,) = make_outputs(np.random.default_rng(2), 60, [3])
    goals = (listed.columns[:, :1] > 0).astype(np.float64)
    certain = replace(listed, ridges=np.zeros(3), start=np.array([20.0, 0.0, 0.0]))
    weights = np.full(60, 1 / 60)
    found, expected = (solve([certain], goals, weights) for solve in (OfProbabilities().solve, solve_plainly))
    np.testing.assert_allclose(join(found), join(expected), rtol=1e-8, atol=1e-8)


@pytest.mark.kernel
def test_systems_are_solved_as_by_numpy():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    matrix, values = root @ root.T, rng.normal(size=6)
    expected = np.linalg.solve(matrix, values)
    kernels._solve(matrix, values, 6)
    np.testing.assert_allclose(values, expected)


@pytest.mark.kernel
def test_a_term_without_a_pivot_does_not_move():
    """A term that another repeats, without anything that tells them apart."""
    values = np.array([2.0, 2.0, 3.0])
    kernels._solve(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), values, 3)
    np.testing.assert_array_equal(values, [2.0, 0.0, 3.0])


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_a_further_step_would_gain_nothing(seed, n_outputs):
    """By the slope and the curvature of the objective at the point, both from differences."""
    rng = np.random.default_rng(seed)
    outputs = make_outputs(rng, 80, [4] * n_outputs)
    goals, weights = make_goals(rng, outputs), make_weights(rng, 80)
    flat = join(OfProbabilities().solve(outputs, goals, weights))

    def objective(values):
        return divergence(outputs, goals, weights, split(outputs, values))

    size, steps = 1e-3, np.eye(len(flat)) * 1e-3
    slope = np.array([objective(flat + step) - objective(flat - step) for step in steps]) / (2 * size)
    curvature = np.array(
        [
            [
                objective(flat + one + two)
                - objective(flat + one - two)
                - objective(flat - one + two)
                + objective(flat - one - two)
                for two in steps
            ]
            for one in steps
        ]
    ) / (4 * size**2)
    promised = slope @ np.linalg.pinv(curvature, rcond=1e-6, hermitian=True) @ slope
    assert promised <= SETTLED * null_divergence(goals, weights)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_soft_labels_are_hard_ones_by_their_weights(n_classes):
    """Against scikit-learn on every row once for each class; columns of unit variance share one ridge."""
    rng = np.random.default_rng(n_classes)
    columns = rng.normal(size=(120, 4))
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    goals = softmax(columns @ rng.normal(size=(4, n_classes)) + 0.5 * rng.normal(size=(120, n_classes)), axis=1)
    goals = 0.9 * goals + 0.1 / n_classes
    listed = Listed(columns, np.ones(4), np.zeros(4))
    outputs = [listed] * (1 if n_classes == 2 else n_classes)
    weights = np.full(120, 1 / 120)
    points = OfProbabilities().solve(outputs, goals[:, -len(outputs) :], weights)
    twin = LogisticRegression(C=1.0 / RIDGE, tol=1e-10, max_iter=10_000)
    twin.fit(np.tile(columns, (n_classes, 1)), np.repeat(np.arange(n_classes), 120), goals.T.ravel() / 120)
    expected = list(zip(twin.coef_, twin.intercept_, strict=True))
    found, least = (divergence(outputs, goals[:, -len(outputs) :], weights, one) for one in (points, expected))
    null = null_divergence(goals, weights)
    # Classes that share their terms meet slowly where all their coefficients move together, which hardly matters.
    assert abs(found - least) <= (SETTLED * null if n_classes == 2 else 1e-3 * (null - least))


@pytest.mark.parametrize("projection", [OfNumbers(), OfProbabilities()])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_weights_are_repeated_rows(projection, n_outputs):
    rng = np.random.default_rng(5)
    outputs = make_outputs(rng, 50, [3] * n_outputs, n_free=1)
    goals, times = make_goals(rng, outputs), rng.integers(1, 4, 50)
    weighted = projection.solve(outputs, goals, times / times.sum())
    longer = [replace(listed, columns=np.repeat(listed.columns, times, axis=0)) for listed in outputs]
    repeated = projection.solve(longer, np.repeat(goals, times, axis=0), np.full(times.sum(), 1 / times.sum()))
    np.testing.assert_allclose(join(weighted), join(repeated), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("projection", [OfNumbers(), OfProbabilities()])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_where_it_starts_does_not_matter(projection, n_outputs):
    rng = np.random.default_rng(6)
    outputs = make_outputs(rng, 80, [4] * n_outputs)
    goals, weights = make_goals(rng, outputs), make_weights(rng, 80)
    plain = projection.solve(outputs, goals, weights)
    for scale in (0.3, 3.0):
        moved = [replace(listed, start=scale * rng.normal(size=4)) for listed in outputs]
        points = projection.solve(moved, goals, weights)
        if isinstance(projection, OfNumbers):
            np.testing.assert_array_equal(join(points), join(plain))
            continue
        one, other = (divergence(outputs, goals, weights, found) for found in (plain, points))
        assert abs(one - other) <= SETTLED * null_divergence(goals, weights)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("free", [False, True])
def test_goals_that_a_term_separates_leave_coefficients_finite(n_outputs, free):
    """Certain probabilities are as good as nearly certain ones; a free term says just those."""
    codes = np.repeat(np.arange(max(n_outputs, 2)), 30)
    hard = (codes[:, None] == np.arange(codes.max() + 1)).astype(np.float64)[:, -n_outputs:]
    outputs = [Listed(own[:, None].copy(), np.array([0.0 if free else 1.0]), np.zeros(1)) for own in hard.T]
    points = OfProbabilities().solve(outputs, hard, np.full(len(codes), 1 / len(codes)))
    assert np.isfinite(join(points)).all()
    scores = np.column_stack(
        [own.columns @ coef + intercept for own, (coef, intercept) in zip(outputs, points, strict=True)]
    )
    told = expit(scores) if n_outputs == 1 else softmax(scores, axis=1)
    np.testing.assert_array_equal(told > 0.5, hard > 0.5)
    assert np.abs(told - hard).max() < (2e-3 if free else 0.1)
    assert np.abs(told - hard).min() > LEAST_PROBABILITY / 10


@pytest.mark.parametrize("free", [False, True])
def test_look_alikes_and_constants_are_solved_for(free):
    """Terms that repeat others share their part, free ones too; a constant changes nothing to speak of."""
    rng = np.random.default_rng(8)
    column = rng.normal(size=(40, 1))
    goals, weights = 2.0 * column + rng.normal(size=(40, 1)), np.full(40, 1 / 40)
    listed = Listed(np.hstack([column, column, np.ones((40, 1))]), np.full(3, 0.0 if free else 1.0), np.zeros(3))
    for projection, own in ((OfNumbers(), goals), (OfProbabilities(), expit(goals))):
        ((coef, intercept),) = projection.solve([listed], own, weights)
        assert coef[0] == pytest.approx(coef[1], rel=1e-3)
        ((twice, other),) = projection.solve([listed.take(np.array([0, 1]))], own, weights)
        np.testing.assert_allclose(listed.columns @ coef + intercept, 2.0 * column[:, 0] * twice[0] + other, atol=1e-3)


def test_no_terms_say_the_mean():
    empty = Listed(np.empty((4, 0)), np.empty(0), np.empty(0))
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    goals = np.array([[0.1, 0.9], [0.3, 0.7], [0.8, 0.2], [0.5, 0.5]])
    ((_, intercept),) = OfNumbers().solve([empty], goals[:, :1], weights)
    assert intercept == pytest.approx(weights @ goals[:, 0])
    ((_, intercept),) = OfProbabilities().solve([empty], goals[:, 1:], weights)
    assert expit(intercept) == pytest.approx(weights @ goals[:, 1])
    points = OfProbabilities().solve([empty, empty], goals, weights)
    np.testing.assert_allclose(softmax([intercept for _, intercept in points]), weights @ goals)


@pytest.mark.parametrize("seed", range(5))
def test_signs_of_numbers_against_bounded_least_squares(seed):
    """Where terms do not overlap, to leave out those of the wrong sign is to hold them to it."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(60, 6))
    columns = np.sqrt(60) * np.linalg.qr(columns - columns.mean(axis=0))[0]
    signs, goal, weights = rng.choice([-1, 0, 1], 6), rng.normal(size=60), np.full(60, 1 / 60)
    ((coef, intercept),) = project(
        OfNumbers(), [Listed(columns, np.ones(6), np.zeros(6), signs)], goal[:, None], weights
    )
    dense = np.vstack([np.column_stack([np.ones(60), columns]) / np.sqrt(60), np.eye(7)[1:] * RIDGE_OF_NUMBERS**0.5])
    low = np.concatenate([[-np.inf], np.where(signs > 0, 0.0, -np.inf)])
    high = np.concatenate([[np.inf], np.where(signs < 0, 0.0, np.inf)])
    twin = lsq_linear(dense, np.concatenate([goal / np.sqrt(60), np.zeros(6)]), (low, high), tol=1e-13).x
    assert (signs * coef >= 0).all()
    np.testing.assert_allclose(coef, twin[1:], atol=1e-6)
    assert intercept == pytest.approx(twin[0], abs=1e-6)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), n_outputs=st.sampled_from([1, 3]))
def test_signs_of_probabilities_against_a_bounded_minimiser(seed, n_outputs):
    """All signs are right, the terms that are left have their best coefficients, and next to nothing is lost."""
    rng = np.random.default_rng(seed)
    outputs = make_outputs(rng, 80, [4] * n_outputs)
    goals, weights = make_goals(rng, outputs), make_weights(rng, 80)
    goals = np.clip(goals, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    goals = goals if n_outputs == 1 else goals / goals.sum(axis=1, keepdims=True)
    signed = [replace(listed, signs=rng.choice([-1, 0, 1], 4)) for listed in outputs]
    points = project(OfProbabilities(), signed, goals, weights)
    assert all((listed.signs * coef >= 0).all() for listed, (coef, _) in zip(signed, points, strict=True))
    signs = np.concatenate([listed.signs for listed in signed])
    bounds = [(0.0 if sign > 0 else None, 0.0 if sign < 0 else None) for sign in signs] + [(None, None)] * n_outputs
    null, found = null_divergence(goals, weights), divergence(outputs, goals, weights, points)
    least, _ = minimise(outputs, goals, weights, bounds)
    assert found >= least - 1e-7
    assert found - least <= 0.02 * (null - least) + SETTLED * null
    kept = [listed.take(np.flatnonzero(coef)) for listed, (coef, _) in zip(outputs, points, strict=True)]
    alone, _ = minimise(kept, goals, weights)
    assert found - alone <= SETTLED * null
