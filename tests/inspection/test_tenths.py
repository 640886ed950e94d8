"""Tenths equal means, shares and estimates over rows that are sorted and cut by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from rulegrove.estimators.baseline import Baseline
from rulegrove.estimators.loss_judging import deal_evenly, judge_rates
from rulegrove.inspection.tenths import choose_moment, count_below, count_means, count_survivors
from rulegrove.survival import SurvivalTimes, kaplan_meier, kaplan_meier_band


def make_numbers(n_rows=500, seed=0):
    rng = np.random.default_rng(seed)
    predicted = rng.gamma(2.0, 1.0, n_rows)
    return rng.poisson(predicted).astype(float), predicted, rng.uniform(0.1, 3.0, n_rows)


@settings(deadline=None)
@given(
    arrays(np.float64, st.integers(1, 60), elements=st.sampled_from([0.0, 0.5, 1.0, 2.5, 7.0])),
    st.integers(1, 12),
)
def test_parts_are_in_order_and_keep_ties_together(predicted, n_parts):
    parts = deal_evenly(predicted, np.ones(len(predicted)), n_parts)
    assert set(parts.tolist()) == set(range(parts.max() + 1))
    assert parts.max() < n_parts
    for one, other in zip(np.argsort(predicted), np.argsort(predicted)[1:], strict=False):
        assert parts[one] <= parts[other]
        assert predicted[one] != predicted[other] or parts[one] == parts[other]


def test_parts_of_distinct_predictions_are_even():
    observed, predicted, _ = make_numbers()
    assert count_means(observed, predicted).sizes.tolist() == [50] * 10
    weights = np.where(predicted > np.median(predicted), 3.0, 1.0)
    parts = deal_evenly(predicted, weights)
    np.testing.assert_allclose(np.bincount(parts, weights), weights.sum() / 10, atol=3.0)


def test_means_of_rates_are_those_that_the_fit_keeps():
    observed, predicted, weights = make_numbers()
    kept = judge_rates(1.0, observed, np.log(predicted), weights, base=1.0).reliability
    found = count_means(observed, predicted, weights)
    np.testing.assert_allclose(found.predicted, kept.predicted, rtol=1e-5)
    np.testing.assert_allclose(found.observed, kept.observed, rtol=1e-5)
    assert found.sizes.tolist() == kept.sizes.tolist()


def test_intervals_of_means_are_those_of_student():
    observed, predicted, _ = make_numbers()
    found = count_means(observed, predicted)
    for place, rows in enumerate(np.array_split(np.argsort(predicted, kind="stable"), 10)):
        ends = stats.t.interval(0.95, 49, observed[rows].mean(), stats.sem(observed[rows]))
        np.testing.assert_allclose([found.low[place], found.high[place]], ends, rtol=1e-9)


def test_intervals_of_rates_are_those_of_counts():
    """The sum of many counts is a count, and its rate varies by the root of itself over the exposure."""
    rng = np.random.default_rng(0)
    predicted, exposure = rng.uniform(0.5, 1.5, 40000), rng.exponential(1.0, 40000) + 0.05
    rates = rng.poisson(exposure * predicted) / exposure
    found = count_means(rates, predicted, exposure, n_parts=4)
    parts = deal_evenly(predicted, exposure, 4)
    errors = np.sqrt(found.observed / np.bincount(parts, exposure))
    np.testing.assert_allclose((found.high - found.low) / (2 * 1.96), errors, rtol=0.03)


def test_rows_without_a_weight_are_left_out():
    observed, predicted, weights = make_numbers()
    weights[predicted > np.quantile(predicted, 0.8)] = 0.0  # all that would be in two tenths
    kept = weights > 0.0
    times, baseline = SurvivalTimes(observed + 1.0, predicted > 1.0), Baseline(np.array([1.0]), np.array([0.3]))
    for found, expected in (
        (count_means(observed, predicted, weights), count_means(observed[kept], predicted[kept], weights[kept])),
        (count_below(observed, predicted, weights), count_below(observed[kept], predicted[kept], weights[kept])),
        (
            count_survivors(times, predicted, baseline, 2.0, weights),
            count_survivors(times.take(kept), predicted[kept], baseline, 2.0, weights[kept]),
        ),
    ):
        for name in ("predicted", "observed", "low", "high", "sizes"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_one_row_tells_nothing_of_others():
    found = count_means(np.array([1.0, 5.0, 6.0]), np.array([1.0, 2.0, 2.0]), n_parts=2)
    assert (found.low[0], found.high[0]) == (-np.inf, np.inf)
    assert np.isfinite(found.low[1])


def test_shares_below_a_quantile():
    observed, predicted, _ = make_numbers()
    found = count_below(observed, predicted)
    for place, rows in enumerate(np.array_split(np.argsort(predicted, kind="stable"), 10)):
        below = int((observed[rows] <= predicted[rows]).sum())
        assert found.observed[place] == below / 50
        ends = stats.binomtest(below, 50).proportion_ci(0.95, method="wilson")
        np.testing.assert_allclose([found.low[place], found.high[place]], [ends.low, ends.high], rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_survivors_are_those_of_kaplan_and_meier(weighted):
    rng = np.random.default_rng(0)
    risks, weights = np.exp(rng.normal(size=300)), rng.choice([0.5, 2.0], 300) if weighted else None
    entry = rng.uniform(0.0, 0.1, 300)
    times = SurvivalTimes(entry + rng.exponential(1.0 / risks), rng.random(300) < 0.7, entry)
    baseline = Baseline(np.array([0.2, 0.5]), np.array([0.2, 0.5]))
    found = count_survivors(times, risks, baseline, 0.4, weights, n_parts=4)
    said = np.exp(-0.2 * risks)
    parts = deal_evenly(said, np.ones(300) if weights is None else weights, 4)
    for part in range(4):
        rows = parts == part
        own = None if weights is None else weights[rows]
        assert found.predicted[part] == pytest.approx(np.average(said[rows], weights=own))
        assert found.observed[part] == pytest.approx(kaplan_meier(times.take(rows), own)(0.4))
        ends = [limit(0.4) for limit in kaplan_meier_band(times.take(rows), own)]
        np.testing.assert_allclose([found.low[part], found.high[part]], ends)
    assert found.sizes.sum() == 300


def test_what_nobody_was_watched_for_is_not_known():
    times = SurvivalTimes(np.array([1.0, 1.0, 5.0, 5.0]), np.array([True, False, True, False]))
    baseline = Baseline(np.array([1.0]), np.array([0.3]))
    found = count_survivors(times, np.array([2.0, 2.0, 1.0, 1.0]), baseline, 3.0, n_parts=2)
    assert np.isnan(found.observed[0])
    assert found.observed[1] == 1.0
    assert choose_moment(times) == 3.0
    assert choose_moment(times.take(np.array([1, 3]))) == 3.0
