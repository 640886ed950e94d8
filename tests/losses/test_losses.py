"""Losses against finite differences, numerical minimisers and their own definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import (
    ClassificationLoss,
    Huber,
    Logistic,
    Loss,
    Ramp,
    SmoothLoss,
    Squared,
    SquaredHinge,
    find_loss,
)

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


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=name)
def test_conjugates_are_the_largest_difference_from_a_line(loss):
    y = np.tile([-1.0, 1.0], 20)
    slope = -y * np.linspace(0.0, 1.0, 40)
    scores = np.linspace(-40, 40, 160_001)[:, None]
    largest = (slope * scores - loss.value(y, scores)).max(axis=0)
    np.testing.assert_allclose(loss.conjugate(y, slope), largest, atol=1e-6)
    np.testing.assert_allclose(loss.conjugate(y, np.zeros(40)), 0.0)
    if isinstance(loss, Logistic):
        assert np.isinf(loss.conjugate(y, 0.1 * y)).all()
        assert np.isinf(loss.conjugate(y, -1.1 * y)).all()


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=name)
def test_what_a_solver_asks_for_at_once_is_what_the_methods_say(loss):
    """The fused methods against those that every smooth loss inherits, with rows that have no weight."""
    rng = np.random.default_rng(0)
    y, score = rng.choice([-1.0, 1.0], 60), 3.0 * rng.normal(size=60)
    weights = rng.uniform(0.5, 2.0, 60) * (np.arange(60) % 4 > 0)
    total, pull, bend = loss.evaluate(y, score, weights)
    assert total == pytest.approx(weights @ loss.value(y, score))
    np.testing.assert_allclose(pull, weights * loss.negative_gradient(y, score))
    np.testing.assert_allclose(bend, weights * loss.curvature(y, score), atol=1e-15)
    here = weights > 0
    expected = -weights[here] @ loss.conjugate(y[here], -pull[here] / weights[here])
    assert loss.bound(y, pull, weights) == pytest.approx(expected)
    assert SmoothLoss.bound(loss, y, pull, weights) == pytest.approx(expected)
    assert loss.bound(y, pull, weights) - (pull @ score) <= total + 1e-9
    assert loss.possible(y, pull, weights).all()
    if isinstance(loss, Logistic):
        assert not loss.possible(y, 1.01 * weights * y, weights)[weights > 0].any()
        assert not loss.possible(y, -pull, weights)[weights > 0].any()
    np.testing.assert_allclose(loss.residual(y, score), y - loss.mean(score), atol=1e-15)
    np.testing.assert_allclose(loss.model_curvature(y, score), loss.curvature(y, score), atol=1e-6)
    assert loss.floor(y, weights) == 0.0


def test_losses_are_found_by_name_or_are_what_they_are():
    assert find_loss("ramp") == Ramp()
    own = Huber(delta=3.0)
    assert find_loss(own) is own
    assert [loss.sums_suffice for loss in LOSSES] == [True, False, False, False, False]
    with pytest.raises(InvalidInputError, match=r"`loss` must be one of squared, .* or a `Loss` object; got 'odd'"):
        find_loss("odd")


def test_the_logistic_loss_says_which_targets_it_misses():
    assert Logistic().missing(np.array([-1.0, 1.0, 1.0])) == ""
    assert Logistic().missing(np.ones(3)) == "targets -1 and +1, some of each"
    assert Squared().missing(np.ones(3)) == ""
