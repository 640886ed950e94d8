"""Groups of rows, and thresholds to try."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.report._grouping import MOST_CUTS, choose_cuts, group_rows


@given(st.integers(1, 9), st.integers(1, 4), st.integers(0, 5), st.integers(0, 1000))
@settings(deadline=None, max_examples=60)
def test_groups_are_large_enough_and_of_one_part(min_count, n_parts, n_rules, seed):
    rng = np.random.default_rng(seed)
    parts = np.repeat(np.arange(n_parts), rng.integers(min_count, min_count + 60, n_parts))
    patterns = (rng.random((parts.size, n_rules)) < 0.3).astype(np.int64)
    values = rng.random((parts.size, 2)).round(1)
    groups = group_rows(parts, patterns, values, min_count)
    sizes = np.bincount(groups)
    assert sizes.min() >= min_count
    for group in range(sizes.size):
        here = groups == group
        assert np.unique(parts[here]).size == 1
        assert sizes[group] < 2 * min_count or np.ptp(values[here], axis=0).max() == 0.0
    _, own, counts = np.unique(np.column_stack([parts, patterns]), axis=0, return_inverse=True, return_counts=True)
    own = own.ravel()
    for part in range(n_parts):  # but for one pattern of each part, those of enough rows are by themselves
        known = np.unique(own[(parts == part) & (counts[own] >= min_count)])
        mixed = [pattern for pattern in known if (own[np.isin(groups, groups[own == pattern])] != pattern).any()]
        assert len(mixed) <= 1


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=300), st.integers(0, 3))
@settings(deadline=None, max_examples=100)
def test_cuts_part_the_rows_and_have_the_fitted_ones(values, n_fitted):
    values = np.array(values)
    known = np.unique(values)
    fitted = known[:-1][:n_fitted]
    cuts = choose_cuts(np.append(values, np.nan), fitted)
    assert np.isin(fitted, cuts).all()
    assert (np.diff(cuts) > 0).all()
    assert len(cuts) <= max(MOST_CUTS, fitted.size)
    sides = np.searchsorted(known, cuts, side="right")
    assert np.unique(sides).size == sides.size  # each decides otherwise than the others on some row
    assert ((sides > 0) & (sides < known.size)).all()


def test_cuts_are_spread_over_the_rows():
    values = np.random.default_rng(0).lognormal(size=5000)
    shares = np.searchsorted(np.sort(values), choose_cuts(values, np.zeros(0))) / values.size
    assert len(shares) == MOST_CUTS
    assert np.diff(shares).max() < 2 / MOST_CUTS


def test_cuts_of_days_are_dates():
    days = np.arange(18_000.0, 19_000.0)
    cuts = choose_cuts(days, np.zeros(0), days=True)
    firsts = (cuts + 1).astype("datetime64[D]").astype(str)
    assert len(firsts) == MOST_CUTS
    assert sum(own.endswith("-01") for own in firsts) > MOST_CUTS / 2  # of a month, where the gap has one
