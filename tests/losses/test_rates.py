"""Losses of rates, quantiles and hazards against finite differences, scikit-learn's deviances and plain sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.metrics import (
    mean_absolute_error,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_tweedie_deviance,
)

from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Absolute, Cox, Gamma, Loss, Poisson, Quantile, SmoothLoss, Tweedie, find_loss

RATES = [Poisson(), Gamma(), Tweedie(1.2), Tweedie(1.5), Tweedie(1.9), Tweedie(1.0), Tweedie(2.0)]
KINKED = [Quantile(0.5), Quantile(0.9), Quantile(0.05), Absolute()]


def name(loss: Loss) -> str:
    return repr(loss)


def positive_only(loss):
    return isinstance(loss, Gamma) or getattr(loss, "power", 0.0) == 2.0


def draw_targets(loss, rng, n, spread=1.0):
    y = np.exp(spread * rng.normal(size=n))
    return y if positive_only(loss) else np.where(rng.random(n) < 0.3, 0.0, y)


def naive_deviance(loss, y, mean, weights):
    if isinstance(loss, Poisson):
        return mean_poisson_deviance(y, mean, sample_weight=weights)
    if isinstance(loss, Gamma):
        return mean_gamma_deviance(y, mean, sample_weight=weights)
    return mean_tweedie_deviance(y, mean, power=loss.power, sample_weight=weights)


@pytest.mark.parametrize("loss", RATES, ids=name)
def test_slopes_and_curvatures_are_those_of_finite_differences(loss):
    rng = np.random.default_rng(0)
    y, score, h = draw_targets(loss, rng, 400), rng.uniform(-2.0, 2.0, 400), 1e-5
    slope = (loss.value(y, score + h) - loss.value(y, score - h)) / (2 * h)
    np.testing.assert_allclose(loss.negative_gradient(y, score), -slope, atol=1e-7)
    bend = (loss.negative_gradient(y, score - h) - loss.negative_gradient(y, score + h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(y, score), bend, atol=1e-7)
    assert (loss.curvature(y, score) > 0.0).all()
    np.testing.assert_allclose(loss.residual(y, score), y - np.exp(score), atol=1e-12)


@pytest.mark.parametrize("loss", RATES, ids=name)
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_twice_the_excess_is_the_deviance_of_scikit_learn(loss, seed):
    rng = np.random.default_rng(seed)
    y, score = draw_targets(loss, rng, 30, 2.0), 2.0 * rng.normal(size=30)
    weights = rng.uniform(0.1, 3.0, 30)
    here = 2.0 * weights @ loss.excess(y, score) / weights.sum()
    assert here == pytest.approx(naive_deviance(loss, y, np.exp(score), weights), rel=1e-9)
    assert (loss.excess(y, score) >= 0.0).all()
    least = loss.excess(y, score) - loss.value(y, score)  # what a row's best score has is taken off
    np.testing.assert_allclose(least, SmoothLoss.excess(loss, y, score) - loss.value(y, score), atol=1e-9)


@pytest.mark.parametrize("loss", RATES, ids=name)
@pytest.mark.parametrize("size", [1e-9, 1e-7, 1e-5])
def test_the_excess_keeps_its_digits_near_the_best_score(loss, size):
    """There it is half the curvature times the square of the distance; a difference of losses would be rounding."""
    y = np.array([1e-3, 1.0, 1e4])
    best = np.log(y)
    expected = 0.5 * size**2 * loss.curvature(y, best)
    np.testing.assert_allclose(loss.excess(y, best + size), expected, rtol=1e-4 + 1e-15 / size)


@pytest.mark.parametrize("loss", RATES, ids=name)
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 20))
def test_the_best_constant_of_rates_is_the_logarithm_of_their_mean(loss, seed, n):
    rng = np.random.default_rng(seed)
    y, weights = draw_targets(loss, rng, n), rng.integers(0, 3, n) * 0.5
    y[0], weights[0] = 1.0, 1.0
    best = loss.best_constant(y, weights)
    assert np.exp(best) == pytest.approx(np.average(y, weights=weights))
    found = minimize_scalar(lambda c: weights @ loss.value(y, np.full(n, c)), bounds=(-20, 20), method="bounded")
    assert weights @ loss.value(y, np.full(n, best)) <= found.fun + 1e-9 * (1.0 + abs(found.fun))


@pytest.mark.parametrize("loss", RATES, ids=name)
@settings(deadline=None, max_examples=30)
@given(y=st.floats(0.0, 50.0), eighths=st.integers(-24, 240))
def test_conjugates_are_the_largest_distance_from_a_line(loss, y, eighths):
    slope = eighths / 8.0
    y = max(y, 1e-3) if positive_only(loss) else (0.0 if y < 1e-3 else y)
    found = float(loss.conjugate(np.array([y]), np.array([slope]))[0])
    gap = slope - 1.0 if positive_only(loss) else -slope - y if _is_poisson(loss) else -slope if y == 0.0 else -1.0
    if gap > 1e-9:  # the line falls or rises faster than the loss ever does
        assert np.isinf(found)
        return
    if abs(gap) <= 1e-9:
        return
    found_by_search = minimize_scalar(
        lambda f: float(loss.value(np.array([y]), np.array([f]))[0]) - slope * f,
        bounds=(-40, 60),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert found == pytest.approx(-found_by_search.fun, rel=1e-6, abs=1e-6)


def _is_poisson(loss):
    return isinstance(loss, Poisson) or getattr(loss, "power", 0.0) == 1.0


@pytest.mark.parametrize("loss", RATES, ids=name)
def test_the_bound_of_rates_is_below_the_loss_and_meets_it_at_the_pulls_of_the_scores(loss):
    rng = np.random.default_rng(3)
    y, score, other = draw_targets(loss, rng, 60), rng.normal(size=60), rng.normal(size=60)
    weights = rng.uniform(0.5, 2.0, 60) * (np.arange(60) % 4 > 0)
    excess, pull, bend = loss.evaluate(y, score, weights)
    assert excess == pytest.approx(weights @ loss.excess(y, score))
    np.testing.assert_allclose(pull, weights * loss.negative_gradient(y, score))
    np.testing.assert_allclose(bend, weights * loss.curvature(y, score))
    assert loss.possible(y, pull, weights).all()
    assert loss.bound(y, pull, weights) == pytest.approx(excess + pull @ score, rel=1e-9)
    assert loss.bound(y, pull, weights) <= loss.evaluate(y, other, weights, curved=False)[0] + pull @ other


@pytest.mark.parametrize("loss", RATES, ids=name)
def test_scores_far_out_make_no_nonsense(loss):
    """Warnings are errors here: what overflows is as large as can be, and nothing is NaN."""
    y = np.array([0.5, 1.0, 1e6])
    for score in (-1e4, -700.0, 700.0, 1e4):
        for own in (loss.value, loss.excess, loss.negative_gradient, loss.curvature):
            assert not np.isnan(own(y, np.full(3, score))).any()
    for pull in (y * 0.0, y * 1e-12):
        assert np.isfinite(loss.bound(y, pull, np.ones(3)))


def test_tweedie_meets_poisson_and_gamma_at_its_ends():
    rng = np.random.default_rng(1)
    y, score = np.exp(rng.normal(size=50)), rng.normal(size=50)
    for power, edge in ((1.0, Poisson()), (2.0, Gamma())):
        near = Tweedie(1.0 + 1e-7 if power == 1.0 else 2.0 - 1e-7)
        for own in ("excess", "negative_gradient", "curvature"):
            expected = getattr(edge, own)(y, score)
            np.testing.assert_allclose(getattr(Tweedie(power), own)(y, score), expected, rtol=1e-12)
            np.testing.assert_allclose(getattr(near, own)(y, score), expected, rtol=1e-4, atol=1e-6)
    assert Tweedie(2.0).missing(np.array([0.0, 1.0])) == "positive targets"
    assert Tweedie(1.4).missing(np.array([0.0, 1.0])) == ""
    assert Poisson().missing(np.zeros(2)) == "targets that are not negative, some of them positive"
    assert Poisson().missing(np.array([-1.0, 2.0])) != ""


@pytest.mark.parametrize("loss", RATES, ids=name)
def test_the_loss_of_a_total_is_that_of_its_rate_times_a_power_of_the_exposure(loss):
    """What lets an exposure be taken out at the door, for totals whose mean is the exposure times ``exp(F)``."""
    rng = np.random.default_rng(2)
    total, offset, score = draw_targets(loss, rng, 40), rng.normal(size=40), rng.normal(size=40)
    power = getattr(loss, "power", 2.0 if isinstance(loss, Gamma) else 1.0)
    factor = np.exp((2.0 - power) * offset)
    for own in (loss.excess, loss.negative_gradient, loss.curvature):
        expected = own(total, score + offset)
        np.testing.assert_allclose(factor * own(total * np.exp(-offset), score), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", KINKED, ids=name)
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32), n=st.integers(1, 15))
def test_quantiles_are_those_of_the_least_pinball_loss(loss, seed, n):
    rng = np.random.default_rng(seed)
    y, weights = np.round(2.0 * rng.normal(size=n), 1), rng.integers(0, 4, n) * 0.25
    weights[0] = 1.0
    level = getattr(loss, "level", 0.5)
    best = float(loss.best_constant(y, weights))
    losses = [weights @ loss.value(y, np.full(n, c)) for c in y[weights > 0]]  # a least one is at some target
    assert weights @ loss.value(y, np.full(n, best)) == pytest.approx(min(losses), abs=1e-12)
    assert weights[y < best].sum() <= level * weights.sum() + 1e-9
    assert weights[y > best].sum() <= (1.0 - level) * weights.sum() + 1e-9
    whole = np.repeat(y, (4 * weights).astype(int))  # weights are repeats
    assert float(loss.best_constant(whole, np.ones(len(whole)))) == pytest.approx(best)


@pytest.mark.parametrize("loss", KINKED, ids=name)
def test_pinball_losses_are_those_of_scikit_learn(loss):
    rng = np.random.default_rng(4)
    y, score, weights, h = rng.normal(size=200), rng.normal(size=200), rng.uniform(size=200), 1e-7
    mean = loss.risk(y, score, weights)
    if isinstance(loss, Quantile):
        assert mean == pytest.approx(mean_pinball_loss(y, score, alpha=loss.level, sample_weight=weights))
    else:
        assert mean == pytest.approx(mean_absolute_error(y, score, sample_weight=weights))
    slope = (loss.value(y, score + h) - loss.value(y, score - h)) / (2 * h)
    np.testing.assert_allclose(loss.negative_gradient(y, score), -slope, atol=1e-6)
    assert not loss.curvature(y, score).any()


@pytest.mark.parametrize("loss", [*RATES, *KINKED], ids=name)
def test_outputs_are_treated_alone(loss):
    rng = np.random.default_rng(5)
    y, score = np.exp(rng.normal(size=(50, 3))), rng.normal(size=(50, 3))
    weights = rng.uniform(size=50)
    for j in range(3):
        assert loss.best_constant(y, weights)[j] == pytest.approx(float(loss.best_constant(y[:, j], weights)))
        for part in (loss.value, loss.negative_gradient, loss.curvature):
            np.testing.assert_array_equal(part(y, score)[:, j], part(y[:, j], score[:, j]))


@pytest.mark.parametrize(
    "given", [(Tweedie, 0.9), (Tweedie, 2.1), (Quantile, 0.0), (Quantile, 1.0), (Quantile, np.nan)]
)
def test_parameters_that_are_no_loss_are_refused(given):
    kind, parameter = given
    with pytest.raises(InvalidInputError, match=f"of {kind.__name__} must be between"):
        kind(parameter)


def test_the_new_losses_are_found_by_name():
    for own in (Poisson(), Gamma(), Tweedie(), Absolute(), Quantile(), Cox()):
        assert find_loss(own.name) == own


def draw_times(seed, n, ticks=6):
    """Signed times, many of which are equal."""
    rng = np.random.default_rng(seed)
    y = np.ceil(ticks * rng.random(n)) * np.where(rng.random(n) < 0.6, 1.0, -1.0)
    y[np.argmin(np.abs(y))] = np.abs(y).min()
    return y, rng


def naive_cox(y, score, weights):
    """Breslow's partial likelihood, one event after the other."""
    time = np.abs(y)
    return sum(
        weights[i] * (np.log(np.sum(weights * np.exp(score) * (time >= time[i]))) - score[i])
        for i in np.flatnonzero(y > 0)
    )


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 20))
def test_the_loss_of_hazards_is_the_partial_likelihood_of_breslow(seed, n):
    y, rng = draw_times(seed, n)
    score, weights, loss, h = rng.normal(size=n), rng.choice([0.5, 1.0, 2.0], n), Cox(), 1e-5
    assert loss.risk(y, score, weights) * weights.sum() == pytest.approx(naive_cox(y, score, weights))
    assert loss.value(y, score).sum() == pytest.approx(naive_cox(y, score, np.ones(n)))
    excess, pull, bend = loss.evaluate(y, score, weights)
    assert excess == pytest.approx(naive_cox(y, score, weights) - loss.floor(y, weights) * weights.sum(), abs=1e-9)
    steps = h * np.eye(n)
    slopes = [(naive_cox(y, score + e, weights) - naive_cox(y, score - e, weights)) / (2 * h) for e in steps]
    np.testing.assert_allclose(pull, -np.array(slopes), atol=1e-7)
    pulls = [
        loss.evaluate(y, score - e, weights)[1][i] - loss.evaluate(y, score + e, weights)[1][i]
        for i, e in enumerate(steps)
    ]
    np.testing.assert_allclose(bend, np.array(pulls) / (2 * h), atol=1e-6)
    moved = loss.evaluate(y, score + 3.0, weights)  # a constant changes nothing
    assert moved[0] == pytest.approx(excess, abs=1e-9)
    assert loss.bound(y, pull, weights) == pytest.approx(excess + pull @ score, abs=1e-8)
    other = rng.normal(size=n)
    assert loss.bound(y, pull, weights) <= loss.evaluate(y, other, weights)[0] + pull @ other + 1e-8


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32), n=st.integers(3, 15))
def test_the_quadratic_model_of_hazards_lies_nowhere_below_the_curvature(seed, n):
    """``z' H z`` with the exact second derivatives, against the variances of z within each span of time."""
    y, rng = draw_times(seed, n)
    score, weights, loss, h = rng.normal(size=n), rng.choice([0.5, 1.0], n), Cox(), 1e-5
    columns = [
        (loss.evaluate(y, score - h * e, weights)[1] - loss.evaluate(y, score + h * e, weights)[1]) / (2 * h)
        for e in np.eye(n)
    ]
    parts = loss.model_weights(y, score, weights)
    parts = parts[:, None] if parts.ndim == 1 else parts
    for _ in range(5):
        z = rng.normal(size=n)
        exact = z @ np.array(columns) @ z
        means = (z @ parts) / np.maximum(parts.sum(axis=0), 1e-300)  # there may be no event in a span
        assert exact <= float(np.sum(parts * (z[:, None] - means) ** 2)) + 1e-6


def test_rows_without_weight_count_for_nothing_at_any_time():
    y, rng = draw_times(3, 30)
    weights = np.where(np.arange(30) % 3 > 0, 1.0, 0.0)
    score, here, loss = rng.normal(size=30), weights > 0, Cox()
    excess, pull, bend = loss.evaluate(y, score, weights)
    few = loss.evaluate(y[here], score[here], weights[here])
    assert excess == pytest.approx(few[0])
    np.testing.assert_allclose(pull[here], few[1])
    np.testing.assert_allclose(bend[here], few[2])
    assert not pull[~here].any()


def test_hazards_say_which_targets_they_miss():
    for y in ([-1.0, -2.0], [2.0, -1.0], [0.0, 1.0, 2.0], [1.0]):
        assert Cox().missing(np.array(y)).startswith("times of events")
    for y in ([1.0, -2.0], [1.0, 2.0], [1.0, -1.0]):
        assert Cox().missing(np.array(y)) == ""
