"""Tail probabilities: against SciPy's, against permutations, against the formula of Benjamini and Yekutieli."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact, hypergeom, norm

from rulegrove.estimators._tails import adjust, count_tail, score_tails


@st.composite
def tables(draw):
    """Counts of events and of rows held that fit each other."""
    n_rows = draw(st.integers(1, 200))
    n_events, n_held = draw(st.integers(0, n_rows)), draw(st.integers(0, n_rows))
    found = draw(st.integers(max(0, n_held + n_events - n_rows), min(n_held, n_events)))
    return found, n_held, n_events, n_rows


@given(tables())
def test_counts_have_fishers_exact_tail(counts):
    found, n_held, n_events, n_rows = counts
    tail = count_tail(*counts)
    table = [[found, n_held - found], [n_events - found, n_rows - n_held - n_events + found]]
    assert sum(tail) == pytest.approx(fisher_exact(table, alternative="greater").pvalue, abs=1e-12)
    assert tail.equal == pytest.approx(hypergeom.pmf(found, n_rows, n_events, n_held), rel=1e-9)


def test_counts_of_a_hundred_million_rows_take_no_time():
    tail = count_tail(30_005_000, 60_000_000, 50_000_000, 100_000_000)
    spread = np.sqrt(0.6 * 0.4 * 0.25 * 1e8)
    assert tail.more == pytest.approx(norm.sf((5000 + 0.5) / spread), rel=1e-3)


@pytest.mark.parametrize("n_held", [10, 60])
def test_sums_of_skewed_parts_are_no_less_likely_than_permutations_say(n_held):
    rng = np.random.default_rng(0)
    y = rng.exponential(size=200)
    y -= y.mean()
    sums = np.array([rng.permutation(y)[:n_held].sum() for _ in range(40_000)])
    share = n_held / 200
    variance = y.var() * 200 / 199 * (n_held * (1 - share) ** 2 + (200 - n_held) * share**2)
    third = (y**3).mean() * (n_held * (1 - share) ** 3 - (200 - n_held) * share**3)
    for share in (0.1, 0.05, 0.01):
        for sign in (1.0, -1.0):
            reached = np.quantile(sign * sums, 1.0 - share)
            p_value = score_tails(np.array([reached]), np.array([variance]), np.array([sign * third]))[0]
            assert 0.85 * share < p_value < 3.0 * share


def test_sums_without_variance_tell_nothing():
    assert score_tails(np.array([3.0]), np.array([0.0]), np.array([0.0])) == 1.0


@given(st.lists(st.floats(1e-12, 1.0), max_size=12))
def test_adjusted_p_values_follow_benjamini_and_yekutieli(values):
    p_values = np.array(values)
    m = p_values.size
    factor = sum(1.0 / k for k in range(1, m + 1)) * m
    expected = [
        min(1.0, min(factor * other / (p_values <= other).sum() for other in values if other >= own)) for own in values
    ]
    np.testing.assert_allclose(adjust(p_values), expected, rtol=1e-12)
