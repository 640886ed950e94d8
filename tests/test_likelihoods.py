"""Likelihoods against scikit-learn's metrics, finite differences and searches for the least loss."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.metrics import log_loss, mean_pinball_loss, mean_tweedie_deviance

from rulegrove.likelihoods import LEAST_MEAN, OfLevels, OfNumbers, OfRates, OfShares

N_ROWS = 40
CASES = {
    "two classes": (OfShares(), 1),
    "three classes": (OfShares(), 3),
    "counts": (OfRates(1.0), 1),
    "totals": (OfRates(1.5), 1),
    "amounts": (OfRates(2.0), 1),
    "levels": (OfLevels((0.1, 0.5, 0.9), 0.1), 3),
    "numbers": (OfNumbers(0.8), 1),
}


def draw(name, seed):
    likelihood, n_outputs = CASES[name]
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 2.0, N_ROWS)
    if isinstance(likelihood, OfShares):
        codes = rng.integers(max(n_outputs, 2), size=N_ROWS)
        goals = (codes[None] == (np.arange(n_outputs)[:, None] if n_outputs > 1 else 1)).astype(float)
    elif isinstance(likelihood, OfRates):
        goals = np.exp(rng.normal(size=(1, N_ROWS)))
    else:
        goals = np.tile(rng.normal(size=N_ROWS), (n_outputs, 1))
    return likelihood, goals, weights / weights.sum(), rng


@pytest.mark.parametrize("name", CASES)
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_levels_have_the_least_loss_without_any_term(name, seed):
    """Each output is moved by itself; the loss there is the null loss."""
    likelihood, goals, weights, _ = draw(name, seed)
    levels = likelihood.find_levels(goals, weights)
    assert levels.shape == (len(goals),)
    null = likelihood.null_loss(goals, weights)
    for output in range(len(goals)):

        def lose(level, output=output):
            own = np.array(levels)
            own[output] = level
            return weights @ likelihood.losses(np.tile(own[:, None], N_ROWS), goals)

        found = minimize_scalar(lose, bracket=(levels[output] - 0.3, levels[output] + 0.3))
        assert null <= found.fun + 1e-9
        assert lose(levels[output]) == pytest.approx(null, rel=1e-9)


@pytest.mark.parametrize("name", ["two classes", "three classes", "numbers"])
def test_spreads_are_second_derivatives(name):
    likelihood, goals, _weights, rng = draw(name, 0)
    scores, h = 0.3 * rng.normal(size=goals.shape), 1e-4
    near = np.abs(np.abs(goals - scores) - 0.8) < 1e-3  # where Huber's loss has no second derivative
    scores = np.where(near, scores + 5e-3, scores)
    for output in range(len(goals)):
        step = h * (np.arange(len(goals)) == output)[:, None]
        losses = [likelihood.losses(scores + way * step, goals) for way in (1, 0, -1)]
        bend = (losses[0] - 2.0 * losses[1] + losses[2]) / h**2
        np.testing.assert_allclose(likelihood.spreads(scores, goals)[output], bend, atol=1e-6)


@pytest.mark.parametrize("power", [1.0, 1.3, 1.7, 2.0])
def test_spreads_of_rates_are_expected_second_derivatives(power):
    """At the rate itself; elsewhere targets would make them larger or smaller."""
    scores, h = np.linspace(-2.0, 2.0, 9)[None], 1e-4
    likelihood, goals = OfRates(power), np.exp(scores)
    losses = [likelihood.losses(scores + way, goals) for way in (h, 0.0, -h)]
    bend = (losses[0] - 2.0 * losses[1] + losses[2]) / h**2
    np.testing.assert_allclose(likelihood.spreads(scores, goals)[0], bend, rtol=1e-5)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_losses_of_classes_are_log_losses(n_outputs):
    likelihood, goals, weights, rng = draw("two classes" if n_outputs == 1 else "three classes", 1)
    scores = rng.normal(size=goals.shape)
    told = softmax(np.vstack([0.0 * scores, scores]) if n_outputs == 1 else scores, axis=0)
    codes = goals[0] if n_outputs == 1 else np.argmax(goals, axis=0)
    expected = log_loss(codes, told.T, sample_weight=weights)
    assert weights @ likelihood.losses(scores, goals) == pytest.approx(expected)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
def test_losses_of_rates_differ_as_half_the_deviances_do(power):
    likelihood, goals, weights, rng = draw("amounts", 2)
    one, other = rng.normal(size=(2, 1, N_ROWS))
    likelihood = OfRates(power)
    found = weights @ (likelihood.losses(one, goals) - likelihood.losses(other, goals))
    deviances = [
        mean_tweedie_deviance(goals[0], np.exp(own[0]), power=power, sample_weight=weights) for own in (one, other)
    ]
    assert found == pytest.approx(0.5 * (deviances[0] - deviances[1]))


def test_losses_of_levels_are_sums_of_pinball_losses():
    likelihood, goals, weights, rng = draw("levels", 3)
    scores = rng.normal(size=goals.shape)
    expected = sum(
        mean_pinball_loss(y, own, alpha=level, sample_weight=weights)
        for level, y, own in zip((0.1, 0.5, 0.9), goals, scores, strict=True)
    )
    assert weights @ likelihood.losses(scores, goals) == pytest.approx(expected)
    np.testing.assert_array_equal(likelihood.find_shape(3), [[0.1, 0.1], [0.5, 0.1], [0.9, 0.1]])
    assert not likelihood.spreads(goals + 0.11, goals).any()
    np.testing.assert_allclose(likelihood.spreads(goals, goals), 1.0 / (2.0 * 0.1))


def test_rates_that_are_all_zero_have_a_level_that_is_finite():
    levels = OfRates(1.0).find_levels(np.zeros((1, 5)), np.full(5, 0.2))
    assert levels == pytest.approx([np.log(LEAST_MEAN)])


def test_classes_of_rows_are_read_from_signs_and_numbers_by_what_observes_them():
    targets = np.array([[-1.0, 1.0], [1.0, -1.0]])
    np.testing.assert_array_equal(OfShares().read(targets), [[0.0, 1.0], [1.0, 0.0]])
    observed = OfNumbers(1.0, observe=lambda values: 2.0 * values).read(targets)
    np.testing.assert_array_equal(observed, 2.0 * targets.T)
    assert observed.flags.c_contiguous
    np.testing.assert_array_equal(OfRates(1.0).read(targets), targets.T)
