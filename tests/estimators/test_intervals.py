"""Intervals of shares, lifts and means: coverage by simulation, order by random counts, edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove.estimators._intervals import estimate_lifts, estimate_means, estimate_shares


def lift_of_counts(here, n_here, there, n_there, level=0.95):
    """Lift from events and rows where rules hold and where they do not."""
    here, n_here, there, n_there = (np.asarray(counts, dtype=float) for counts in (here, n_here, there, n_there))
    total = n_here + n_there
    shares = estimate_shares(here, n_here, n_here, level), estimate_shares(there, n_there, n_there, level)
    return estimate_lifts(*shares, n_here / total, (here + there) / total)


@pytest.mark.parametrize(
    ("support", "here", "there"), [(0.2, 0.5, 0.2), (0.05, 0.9, 0.3), (0.5, 0.1, 0.1), (0.3, 0.02, 0.4)]
)
def test_the_interval_of_the_lift_covers_as_often_as_it_says(support, here, there):
    rng = np.random.default_rng(0)
    n_rows, n_trials = 300, 20_000
    n_here = rng.binomial(n_rows, support, n_trials)
    found = lift_of_counts(rng.binomial(n_here, here), n_here, rng.binomial(n_rows - n_here, there), n_rows - n_here)
    truth = here / (support * here + (1 - support) * there)
    covered = ((found.low <= truth) & (truth <= found.high)).mean()
    assert 0.93 < covered < 0.98


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_a_lift_lies_in_its_interval(here, others_here, there, others_there):
    n_here, n_there = here + others_here, there + others_there
    if n_here + n_there == 0:
        return
    found = lift_of_counts([here], [n_here], [there], [n_there])
    assert 0.0 <= found.low[0] <= found.high[0]
    if here + there == 0 or n_here == 0:
        assert np.isnan(found.values[0])
        return
    assert found.low[0] <= found.values[0] <= found.high[0]
    assert found.high[0] <= (n_here + n_there) / n_here * (1 + 1e-12)  # 1 / support


def test_a_share_without_rows_is_not_known():
    found = estimate_shares(np.zeros(1), np.zeros(1), np.zeros(1), 0.95)
    assert np.isnan(found.values[0])
    assert (found.low[0], found.high[0]) == (0.0, 1.0)


def test_a_mean_of_one_row_has_no_end():
    ones = np.ones(1)
    found = estimate_means(3 * ones, 9 * ones, ones, ones, 0.95)
    assert found.values[0] == 3.0
    assert (found.low[0], found.high[0]) == (-np.inf, np.inf)
