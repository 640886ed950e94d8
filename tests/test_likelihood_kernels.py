"""The compiled loop of log losses against dense twins in NumPy, and its minimum against that of SciPy."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.linalg import block_diag, cholesky
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from rulegrove import _likelihood_kernels as kernels
from rulegrove.design.rows import Rows

pytestmark = pytest.mark.kernel

SHAPES = {
    kernels.SHARES: (0.0, 0.0),
    kernels.RATES: (1.0, 0.0),
    kernels.LEVELS: (0.8, 0.3),
    kernels.NUMBERS: (0.4, 0.0),
}


def tilt(goals, scores):
    """Return the pinball loss of a row whose error is shaken by as much as the width, on average."""
    level, width = SHAPES[kernels.LEVELS]
    shaken = (goals - scores)[..., None] + width * (2.0 * (np.arange(20_000) + 0.5) / 20_000 - 1.0)
    return np.mean(np.where(shaken > 0.0, level, level - 1.0) * shaken, axis=-1)


def bound(goals, scores):
    (delta, _), sizes = SHAPES[kernels.NUMBERS], np.abs(goals - scores)
    return np.where(sizes <= delta, 0.5 * sizes**2, delta * (sizes - 0.5 * delta))


LOSSES = {
    kernels.RATES: lambda goals, scores: np.exp(scores) - goals * scores,
    kernels.LEVELS: tilt,
    kernels.NUMBERS: bound,
}
N_ROWS = 50  # the other 14 of the word are no rows at all
SIZES = [[(3, 0)], [(0, 2)], [(2, 2)], [(2, 1), (0, 0), (1, 2)]]  # rules and lines of each output


@dataclass
class Case:
    """Terms of each output as dense columns, centred, and what the kernels take."""

    dense: list
    layout: tuple
    ridges: np.ndarray
    goals: np.ndarray
    weights: np.ndarray
    kind: int = kernels.SHARES

    @property
    def shape(self):
        return np.tile(SHAPES[self.kind], (len(self.dense), 1))

    @property
    def bounds(self):
        return np.cumsum([0, *(1 + own.shape[1] for own in self.dense)])

    @property
    def given(self):
        return *self.layout, self.ridges, self.kind, self.shape, self.goals, self.weights

    def score(self, state):
        parts = np.split(state, self.bounds[1:-1])
        return np.array([part[0] + own @ part[1:] for own, part in zip(self.dense, parts, strict=True)])

    def value(self, state):
        """Return the mean log loss, one output against a score of 0, and half the ridges times squares."""
        scores, goals = self.score(state), self.goals
        if self.kind != kernels.SHARES:
            losses = LOSSES[self.kind](goals, scores).sum(axis=0)
            return float(self.weights @ losses + 0.5 * self.ridges @ state**2)
        if len(scores) == 1:
            scores, goals = np.vstack([0.0 * scores, scores]), np.vstack([1.0 - goals, goals])
        losses = logsumexp(scores, axis=0) - np.sum(goals * scores, axis=0)
        return float(self.weights @ losses + 0.5 * self.ridges @ state**2)

    def slope(self, state, size=1e-5):
        """Return the slope by differences."""
        steps = size * np.eye(len(state))
        return np.array([self.value(state + step) - self.value(state - step) for step in steps]) / (2.0 * size)

    def least(self):
        """Return the least value that a general minimiser finds."""
        options = {"maxiter": 10_000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-9}
        return minimize(self.value, np.zeros(self.bounds[-1]), method="L-BFGS-B", options=options).fun

    def minimise(self, state, tol=1e-13):
        """Return the state and scores at the kernel's minimum, and its steps."""
        factors, bends, state, scores = [], [], state.copy(), np.empty(self.goals.shape)
        for own, goal, first in zip(self.dense, self.goals, self.bounds, strict=False):
            bends.append(max(self.weights @ (goal * (1.0 - goal)), 0.05))
            curvature = bends[-1] * (own.T * self.weights) @ own
            curvature += np.diag(self.ridges[first + 1 : first + 1 + own.shape[1]])
            factors.append(cholesky(curvature).ravel())
        taken = kernels.minimise(*self.given, np.concatenate(factors), np.array(bends), tol, state, scores)
        return state, scores, taken


def make_case(sizes, *, steepness=1.0, hard=False, ridge=0.01):
    """Return a word of rows, some of weight zero, with goals that follow the terms."""
    rng = np.random.default_rng([len(sizes), *sizes[0]])
    weights = rng.choice([0.0, 1.0, 3.0], N_ROWS)
    rules = [rng.random((N_ROWS, n_rules)) < 0.4 for n_rules, _ in sizes]
    lines = [rng.normal(size=(N_ROWS, n_lines)) + 2.0 for _, n_lines in sizes]
    rows = [Rows.from_dense(*own, np.zeros(N_ROWS), weights) for own in zip(rules, lines, strict=True)]
    weights = rows[0].weights / rows[0].weights.sum()
    raw = [np.hstack([own.bits.to_dense(), own.linear]) for own in rows]
    means = [weights @ own for own in raw]
    dense = [own - mean for own, mean in zip(raw, means, strict=True)]
    scores = np.array([steepness * own @ rng.choice([-1.5, 1.0], own.shape[1]) for own in dense])
    goals = softmax(np.vstack([0.0 * scores, scores]) if len(sizes) == 1 else scores, axis=0)[-len(sizes) :]
    if hard:
        goals = (goals > 0.5 if len(sizes) == 1 else goals == goals.max(axis=0)).astype(float)
    layout = (
        np.concatenate([own.bits.words for own in rows]),
        np.concatenate([np.ascontiguousarray(own.linear.T) for own in rows]),
        np.cumsum([0, *(n_rules for n_rules, _ in sizes)]),
        np.cumsum([0, *(n_lines for _, n_lines in sizes)]),
        np.concatenate([np.append(0.0, mean) for mean in means]),
    )
    ridges = np.concatenate([np.append(0.0, ridge * (1.0 + np.arange(own.shape[1]))) for own in dense])
    return Case(dense, layout, ridges, np.ascontiguousarray(goals), weights)


def draw_state(case, scale):
    return scale * np.random.default_rng(1).normal(size=case.bounds[-1])


def evaluate(case, state):
    """Return the value, the scores, their slopes and the slope, written over what was there."""
    scores, pulls = (np.full(case.goals.shape, np.nan) for _ in range(2))
    slope = np.full(len(state), np.nan)
    return kernels.evaluate(*case.given, state, scores, pulls, slope), scores, pulls, slope


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("scale", [0.0, 1.0, 20.0])
def test_values_and_slopes_are_those_of_a_dense_twin(sizes, scale):
    case = make_case(sizes)
    state = draw_state(case, scale)
    value, scores, pulls, slope = evaluate(case, state)
    expected = case.score(state)
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)
    assert value == pytest.approx(case.value(state), rel=1e-12)
    told = softmax(np.vstack([0.0 * expected, expected]) if len(sizes) == 1 else expected, axis=0)[-len(sizes) :]
    np.testing.assert_allclose(pulls, case.weights * (told - case.goals), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(slope, case.slope(state), rtol=1e-6, atol=1e-8)
    alone = np.full(case.goals.shape, np.nan)
    kernels.score(*case.layout, state, alone)
    np.testing.assert_array_equal(alone, scores)


@pytest.mark.parametrize("sizes", SIZES)
def test_rows_without_weight_count_nowhere(sizes):
    """Neither those among the others nor those that fill up the word."""
    case = make_case(sizes)
    nothing = case.weights == 0.0
    assert nothing[:N_ROWS].any()
    words, lines, *rest = case.layout
    moved = np.where(nothing, 1e3, lines)
    others = replace(case, layout=(words, moved, *rest), goals=np.where(nothing, 0.25, case.goals))
    state = draw_state(case, 1.0)
    (value, _, _, slope), (other, _, _, twin) = evaluate(case, state), evaluate(others, state)
    assert value == other
    np.testing.assert_array_equal(slope, twin)


def test_scores_that_no_exponential_can_hold():
    case = make_case([(2, 2)])
    state = np.array([0.0, 3e4, -2e4, 0.0, 1e3])
    value, _, pulls, slope = evaluate(case, state)
    assert value == pytest.approx(case.value(state), rel=1e-12)
    assert np.isfinite(slope).all()
    assert (np.abs(pulls) <= case.weights).all()


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("sizes", SIZES)
def test_other_losses_are_those_of_their_formulas(kind, sizes):
    case = replace(make_case(sizes), kind=kind)
    state = draw_state(case, 0.3)
    value, _, pulls, slope = evaluate(case, state)
    assert value == pytest.approx(case.value(state), rel=1e-9)
    np.testing.assert_allclose(slope, case.slope(state), rtol=1e-4, atol=1e-7)
    assert (pulls[:, case.weights == 0.0] == 0.0).all()
    found, _, _ = case.minimise(state, tol=1e-10)
    assert case.value(found) <= case.least() + 1e-6


def test_curvatures_of_all_outputs_are_divided_by():
    rng = np.random.default_rng(0)
    roots = [rng.normal(size=(n, n + 2)) for n in (3, 0, 5)]
    blocks, bends = [root @ root.T for root in roots], np.array([0.5, 2.0, 7.0])
    parts = [
        np.diag([bend]) if not len(own) else block_diag(bend, own) for bend, own in zip(bends, blocks, strict=True)
    ]
    values = rng.normal(size=11)
    expected = np.linalg.solve(block_diag(*parts), values)
    factors = np.concatenate([cholesky(own).ravel() if len(own) else np.empty(0) for own in blocks])
    kernels._precondition(factors, bends, np.array([3, 0, 5]), values)
    np.testing.assert_allclose(values, expected, rtol=1e-9)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0])
def test_the_minimum_is_found_from_anywhere(sizes, scale):
    case = make_case(sizes)
    state, scores, taken = case.minimise(draw_state(case, scale))
    assert 0 < taken < kernels._MAX_STEPS
    assert case.value(state) <= case.least() + 1e-10
    assert np.abs(case.slope(state)).max() < 1e-5
    np.testing.assert_allclose(scores, case.score(state), rtol=1e-12, atol=1e-12)
    again, _, steps = case.minimise(state, tol=1e-9)
    assert steps == 0
    np.testing.assert_array_equal(again, state)


@pytest.mark.parametrize("sizes", [[(2, 2)], [(1, 1), (0, 2), (1, 1)]])
@pytest.mark.parametrize(("given", "ridge"), [({"steepness": 20.0}, 1e-5), ({"hard": True}, 0.01)])
def test_steep_lines_and_classes_that_terms_separate(sizes, given, ridge):
    """The ridge keeps coefficients finite; the curvature at the start is far from the one at the end."""
    case = make_case(sizes, ridge=ridge, **given)
    state, _, _ = case.minimise(np.zeros(case.bounds[-1]))
    value = case.value(state)
    assert value <= case.least() + 1e-8
    assert np.abs(case.slope(state)).max() < 1e-4
    assert 0.5 * case.ridges @ state**2 <= case.value(np.zeros(len(state)))


def test_a_wide_tolerance_takes_fewer_steps():
    case = make_case([(2, 2)])
    start = draw_state(case, 1.0)
    loose, tight = (case.minimise(start, tol=tol) for tol in (1e-3, 1e-13))
    assert loose[2] < tight[2]
    assert case.value(tight[0]) < case.value(loose[0]) < case.value(start)


@pytest.mark.parametrize("slope", [0.1, 1.0, 30.0])
def test_sums_that_a_temperature_is_found_by(slope):
    rng = np.random.default_rng(0)
    scores, weights = rng.normal(size=(40, 3)), rng.random(40)
    shares = softmax(slope * scores, axis=1)
    means = np.sum(shares * scores, axis=1)
    below = scores - scores.max(axis=1, keepdims=True)
    found = kernels.pull_slope(below, weights, slope)
    variances = np.sum(shares * scores**2, axis=1) - means**2
    np.testing.assert_allclose(found, (weights @ (means - scores.max(axis=1)), weights @ variances), atol=1e-12)
