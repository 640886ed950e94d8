"""Losses against finite differences, numerical minimisers and their own definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from rulegrove.losses import ClassificationLoss, Huber, Logistic, Loss, Ramp, Squared, SquaredHinge

CLASSIFICATION = [Squared(), Ramp(), SquaredHinge(), Logistic()]
LOSSES = [*CLASSIFICATION, Huber(delta=0.7)]


def name(loss: Loss) -> str:
    return type(loss).__name__


@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_derivatives_match_finite_differences(loss):
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], size=(400, 2))
    score = rng.uniform(-2, 2, size=(400, 2))
    # Away from the kinks, where there is no derivative to compare with.
    for kink in (np.abs(score) - 1, y * score - 1, np.abs(y - score) - 0.7):
        score = np.where(np.abs(kink) < 1e-3, score + 5e-3, score)
    h = 1e-5
    slope = (loss.value(y, score + h) - loss.value(y, score - h)) / (2 * h)
    np.testing.assert_allclose(loss.negative_gradient(y, score), -slope, atol=1e-8)
    bend = (loss.negative_gradient(y, score - h) - loss.negative_gradient(y, score + h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(y, score), bend, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=name)
@settings(deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 30))
def test_best_constant_minimises_weighted_loss(loss, seed, n):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], size=n)
    y[:2] = -1.0, 1.0
    if isinstance(loss, Huber):
        y += rng.normal(size=n) * rng.choice([0.1, 10.0])
    weights = rng.integers(1, 4, size=n) * rng.choice([0.5, 1.0])
    best = float(loss.best_constant(y, weights))
    found = minimize_scalar(lambda c: weights @ loss.value(y, np.full(n, c)), bounds=(-40, 40), method="bounded")
    assert weights @ loss.value(y, np.full(n, best)) <= found.fun + 1e-9 * abs(found.fun)


@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_outputs_are_treated_alone(loss):
    rng = np.random.default_rng(1)
    y = rng.choice([-1.0, 1.0], size=(50, 3))
    score = rng.normal(size=(50, 3))
    weights = rng.uniform(size=50)
    for j in range(3):
        assert loss.best_constant(y, weights)[j] == pytest.approx(loss.best_constant(y[:, j], weights))
        for part in (loss.value, loss.negative_gradient, loss.curvature):
            np.testing.assert_array_equal(part(y, score)[:, j], part(y[:, j], score[:, j]))


@pytest.mark.parametrize("loss", CLASSIFICATION, ids=name)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_best_constant_reads_as_share_of_the_class(loss, share):
    assert isinstance(loss, ClassificationLoss)
    y = np.where(np.arange(100) < 100 * share, 1.0, -1.0)
    assert loss.probability(loss.best_constant(y, np.ones(100))) == pytest.approx(share)


@pytest.mark.parametrize("loss", CLASSIFICATION, ids=name)
def test_one_class_alone_gives_a_finite_certain_score(loss):
    best = loss.best_constant(np.ones(5), np.ones(5))
    assert np.isfinite(best)
    assert loss.probability(best) == pytest.approx(1.0)


def test_huber_has_no_probability():
    assert not isinstance(Huber(), ClassificationLoss)


def test_huber_takes_the_middle_of_equal_minima():
    assert Huber(delta=1.0).best_constant(np.array([-10.0, 10.0]), np.ones(2)) == pytest.approx(0.0)


def test_huber_lies_between_mean_and_median():
    y = np.array([0.0, 1.0, 2.0, 3.0, 100.0])
    assert Huber(delta=1e6).best_constant(y, np.ones(5)) == pytest.approx(y.mean())
    assert Huber(delta=1e-6).best_constant(y, np.ones(5)) == pytest.approx(np.median(y), abs=1e-5)


def test_ramp_forgets_what_lies_beyond_it():
    y = np.array([1.0, 1.0, 1.0])
    score = np.array([-1.0, -5.0, 1.0])
    np.testing.assert_array_equal(Ramp().negative_gradient(y, score), 0.0)
    np.testing.assert_array_equal(Ramp().value(y, score), [4.0, 4.0, 0.0])


def test_logistic_does_not_overflow():
    y = np.array([1.0, -1.0])
    score = np.array([-1e4, -1e4])
    np.testing.assert_allclose(Logistic().value(y, score), [1e4, 0.0])
    np.testing.assert_allclose(Logistic().negative_gradient(y, score), [1.0, 0.0])
