"""Figures of rates, quantiles and several numbers against scikit-learn and plain loops."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    d2_pinball_score,
    d2_tweedie_score,
    mean_pinball_loss,
    mean_squared_error,
    mean_tweedie_deviance,
    r2_score,
)

from rulegrove.estimators.loss_judging import RateAgreement, divide_evenly, judge_levels, judge_rates, judge_several

POWERS = (1.0, 1.4, 2.0)


def draw(power, n_rows=60, seed=0):
    """Rates, their predictions and weights."""
    rng = np.random.default_rng(seed)
    predicted = rng.gamma(2.0, 1.0, n_rows) + 0.1
    y = rng.gamma(2.0, predicted / 2.0) if power == 2.0 else rng.poisson(predicted).astype(float)
    return y, predicted, rng.uniform(0.1, 3.0, n_rows)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("power", POWERS)
def test_deviances_are_those_of_scikit_learn(power, weighted):
    deviance = partial(mean_tweedie_deviance, power=power)
    y, predicted, weights = draw(power)
    own = weights if weighted else None
    figures = judge_rates(power, y, np.log(predicted), own, base=1.3)
    assert figures.deviance == pytest.approx(deviance(y, predicted, sample_weight=own), rel=1e-12)
    assert figures.base_deviance == pytest.approx(deviance(y, np.full(60, 1.3), sample_weight=own), rel=1e-12)
    assert figures.d2 == pytest.approx(1.0 - figures.deviance / figures.base_deviance)
    assert figures.mean == pytest.approx(np.average(y, weights=own))
    assert figures.predicted_mean == pytest.approx(np.average(predicted, weights=own))
    assert (figures.n_rows, figures.weighted) == (60, weighted)


@pytest.mark.parametrize("power", POWERS)
def test_parts_agree_as_the_score_of_scikit_learn_on_all_rows_does(power):
    y, predicted, weights = draw(power)
    parts = [RateAgreement.of(power, y[rows], predicted[rows], weights[rows]) for rows in (slice(0, 7), slice(7, 60))]
    nothing = RateAgreement.of(power, y[:0], predicted[:0], weights[:0])
    expected = d2_tweedie_score(y, predicted, sample_weight=weights, power=power)
    for merged in (parts[0].merge(parts[1]), parts[1].merge(parts[0]), nothing.merge(parts[0]).merge(parts[1])):
        assert merged.score == pytest.approx(expected, rel=1e-10)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32), power=st.sampled_from(POWERS))
def test_a_weight_counts_as_so_many_rows(seed, power):
    y, predicted, _ = draw(power, 20, seed)
    counts = np.random.default_rng(seed).integers(0, 4, 20)
    counts[:2] = 2
    rows = np.repeat(np.arange(20), counts)
    here = counts > 0
    one = judge_rates(power, y[here], np.log(predicted[here]), counts[here].astype(float), base=1.0)
    two = judge_rates(power, y[rows], np.log(predicted[rows]), None, base=1.0)
    for name in ("d2", "deviance", "base_deviance", "mean", "predicted_mean"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-9)
    agreed = [
        RateAgreement.of(power, y, predicted, counts.astype(float)),
        RateAgreement.of(power, y[rows], predicted[rows], np.ones(len(rows))),
    ]
    assert agreed[0].score == pytest.approx(agreed[1].score, rel=1e-9, abs=1e-12)
    levels = np.column_stack([predicted - 1.0, predicted])
    base = np.array([0.5, 1.0])
    first = judge_levels((0.2, 0.7), y[here], levels[here], counts[here].astype(float), base=base)
    second = judge_levels((0.2, 0.7), y[rows], levels[rows], None, base=base)
    assert first.d2 == pytest.approx(second.d2, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(first.below, second.below)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("value", [1.0, 1.1, np.e, 3e-9, 4e12])
def test_rates_that_are_one_are_met_or_not(power, value):
    """What there is to explain was a rounding error, by which that of the predictions was divided."""
    y, weights = np.full(30, value), np.linspace(0.1, 2.0, 30)
    for predicted, expected in ((y * (1.0 + 1e-15), 1.0), (y * 1.5, 0.0)):
        assert RateAgreement.of(power, y, predicted, weights).score == expected
        figures = judge_rates(power, y, np.log(predicted), weights, base=value * (1.0 - 1e-15))
        assert figures.d2 == expected


@pytest.mark.parametrize("power", [1.0, 1.4])
def test_rows_of_which_none_had_an_event_are_judged(power):
    y = np.zeros(5)
    assert RateAgreement.of(power, y, y + 0.5, np.ones(5)).score == 0.0
    figures = judge_rates(power, y, np.log(y + 0.5), None, base=0.0)
    assert (figures.d2, figures.base_deviance) == (0.0, 0.0)
    assert np.isfinite(figures.deviance)


def test_huge_scores_are_judged_without_a_warning():
    figures = judge_rates(1.0, np.array([1.0, 2.0]), np.array([0.0, 400.0]), None, base=1.5)
    assert figures.d2 < -1e100


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5), st.integers(1, 3)), min_size=1, max_size=60),
)
def test_tenths_are_of_weight_and_add_up_to_all(rows):
    predicted, observed, weights = np.array(rows, dtype=float).T
    found = divide_evenly(predicted, observed, weights)
    assert int(found.sizes.sum()) == len(rows)
    assert (np.diff(found.predicted) >= 0.0).all()
    assert len(found.sizes) <= 10
    if len(rows) % 10 == 0:
        predicted = predicted + 0.01 * np.arange(len(rows))  # rows of one prediction would stay together
        even = divide_evenly(predicted, observed, None)
        order = np.argsort(predicted, kind="stable").reshape(10, -1)
        np.testing.assert_allclose(even.predicted, predicted[order].mean(axis=1), rtol=1e-3)
        np.testing.assert_allclose(even.observed, observed[order].mean(axis=1), rtol=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_pinball_losses_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(0)
    y, levels = rng.normal(size=50), (0.1, 0.5, 0.9)
    said = y[:, None] + rng.normal(size=(50, 3)) + [-1.0, 0.0, 1.0]
    weights = rng.uniform(0.1, 3.0, 50) if weighted else None
    base = np.array([-1.0, 0.1, 1.5])
    figures = judge_levels(levels, y, said, weights, base=base)

    def lose(own):
        return sum(
            mean_pinball_loss(y, own[:, k], sample_weight=weights, alpha=level) for k, level in enumerate(levels)
        )

    assert figures.pinball == pytest.approx(lose(said), rel=1e-12)
    assert figures.base_pinball == pytest.approx(lose(np.tile(base, (50, 1))), rel=1e-12)
    assert figures.d2 == pytest.approx(1.0 - figures.pinball / figures.base_pinball)
    np.testing.assert_allclose(figures.below, np.average(y[:, None] <= said, axis=0, weights=weights))
    if not weighted:
        own_base = np.quantile(y, [0.8], method="inverted_cdf")
        one = judge_levels((0.8,), y, said[:, 2:], None, base=own_base)
        assert one.d2 == pytest.approx(d2_pinball_score(y, said[:, 2], alpha=0.8), abs=5e-3)


def test_quantiles_that_are_one_are_met_or_not():
    y = np.full(4, 0.3)
    for said, expected in ((0.3, 1.0), (0.5, 0.0)):
        assert judge_levels((0.5,), y, np.full((4, 1), said), None, base=np.array([0.3])).d2 == expected


@pytest.mark.parametrize("weighted", [False, True])
def test_several_numbers_are_judged_each_in_its_unit(weighted):
    rng = np.random.default_rng(0)
    y = rng.normal(size=(40, 3)) * [1.0, 1e6, 1e-6]
    said = y + 0.3 * rng.normal(size=(40, 3)) * [1.0, 1e6, 1e-6]
    weights = rng.uniform(0.1, 2.0, 40) if weighted else None
    figures = judge_several(("a", "b", "c"), y, said, weights)
    scores = r2_score(y, said, sample_weight=weights, multioutput="raw_values")
    np.testing.assert_allclose([own.r2 for own in figures.each], scores, rtol=1e-9)
    assert figures.r2 == pytest.approx(np.mean(scores))
    errors = np.sqrt(mean_squared_error(y, said, sample_weight=weights, multioutput="raw_values"))
    np.testing.assert_allclose([own.rmse for own in figures.each], errors, rtol=1e-9)
