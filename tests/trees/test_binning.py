"""Bins against NumPy, and what they promise: a cut of bins is a cut of values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rulegrove.exceptions import InvalidInputError
from rulegrove.trees.binning import fit_bins
from rulegrove.trees.rounding import choose_days, choose_thresholds

NUMERIC = np.zeros(1, dtype=np.int64)
columns = hnp.arrays(
    np.float64, st.integers(1, 60), elements=st.floats(-1e9, 1e9) | st.integers(-3, 3).map(float) | st.just(np.nan)
)


def numeric_bins(x, max_bins=255, weights=None):
    return fit_bins(x[None, :], NUMERIC, weights=weights, max_bins=max_bins)


@pytest.mark.kernel
@settings(deadline=None)
@given(x=columns, max_bins=st.integers(2, 255))
def test_codes_count_the_thresholds_below(x, max_bins):
    bins = numeric_bins(x, max_bins)
    codes = bins.transform(x[None, :])[0]
    for value, code in zip(x, codes, strict=True):
        assert code == (255 if np.isnan(value) else np.count_nonzero(bins.thresholds[0] < value))


@settings(deadline=None)
@given(x=columns, max_bins=st.integers(2, 255))
def test_bins_hold_their_values_in_order(x, max_bins):
    bins = numeric_bins(x, max_bins)
    n = bins.n_bins[0]
    codes = bins.transform(x[None, :])[0]
    assert n <= max_bins
    assert set(codes) - {255} == set(range(n))
    for b in range(n - 1):
        below, above = x[codes == b].max(), x[codes == b + 1].min()
        assert bins.thresholds[0, b] == choose_thresholds(np.array([below]), np.array([above]))[0]
        assert below <= bins.thresholds[0, b] < above
    assert np.all(np.isinf(bins.thresholds[0, max(n - 1, 0) :]))
    assert bins.has_missing[0] == np.isnan(x).any()


@settings(deadline=None)
@given(x=columns)
def test_few_distinct_values_get_a_bin_each(x):
    values = np.unique(x[~np.isnan(x)])
    bins = numeric_bins(x)
    assert bins.n_bins[0] == len(values)
    np.testing.assert_array_equal(bins.thresholds[0, : len(values[:-1])], choose_thresholds(values[:-1], values[1:]))


def test_days_are_cut_at_round_dates_and_other_numbers_are_not():
    days = np.unique(np.random.default_rng(0).integers(15_000, 20_000, 100)).astype(np.float64)
    bins = fit_bins(
        np.array([days, days]), np.zeros(2, np.int64), weights=None, max_bins=255, are_days=np.array([True, False])
    )
    for found, choose in zip(bins.thresholds, (choose_days, choose_thresholds), strict=True):
        np.testing.assert_array_equal(found[: days.size - 1], choose(days[:-1], days[1:]))


def test_many_values_are_cut_at_quantiles():
    x = np.random.default_rng(0).permutation(10_000).astype(np.float64)
    bins = numeric_bins(x, 10)
    np.testing.assert_array_equal(np.bincount(bins.transform(x[None, :])[0]), np.full(10, 1000))


def test_weights_move_the_quantiles():
    x = np.arange(1000.0)
    weights = np.where(x < 500, 9.0, 1.0)
    bins = numeric_bins(x, 10, weights)
    shares = np.bincount(bins.transform(x[None, :])[0], weights=weights)
    np.testing.assert_allclose(shares, weights.sum() / 10, atol=10)


def test_a_frequent_value_does_not_eat_the_bins_of_others():
    """Half the rows are zero: the plain quantiles would leave only half the bins for the rest."""
    x = np.concatenate([np.zeros(5000), np.arange(1.0, 5001.0)])
    bins = numeric_bins(x, 100)
    codes = bins.transform(x[None, :])[0]
    assert bins.n_bins[0] >= 99
    assert np.count_nonzero(codes == 0) == 5000
    assert np.bincount(codes)[1:].max() <= 60


@pytest.mark.kernel
def test_categories_are_their_own_bins():
    block = np.array([[0.0, 2.0, np.nan, 1.0]])
    bins = fit_bins(block, np.array([5]), weights=None, max_bins=255)
    assert bins.n_bins[0] == 5
    np.testing.assert_array_equal(bins.transform(block), [[0, 2, 255, 1]])


def test_unknown_category_is_refused():
    bins = fit_bins(np.array([[0.0, 1.0]]), np.array([2]), weights=None, max_bins=255)
    with pytest.raises(InvalidInputError, match="Feature 0 has 2 categories"):
        bins.transform(np.array([[2.0]]))


def test_monotone_change_leaves_the_codes_alone():
    x = np.random.default_rng(3).normal(size=2000)
    np.testing.assert_array_equal(
        numeric_bins(x, 50).transform(x[None, :]), numeric_bins(np.exp(x), 50).transform(np.exp(x)[None, :])
    )


def test_all_missing_has_no_bin():
    bins = numeric_bins(np.full(4, np.nan))
    assert bins.n_bins[0] == 0
    assert bins.has_missing[0]


def test_all_weights_zero_still_gives_bins():
    bins = numeric_bins(np.arange(1000.0), 10, np.zeros(1000))
    assert bins.n_bins[0] == 10
