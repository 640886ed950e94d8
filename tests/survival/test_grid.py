"""Event times on a grid, and sums over batches, against the exact curves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.exceptions import InvalidInputError
from rulegrove.survival import HazardSums, SurvivalTimes, choose_grid, cumulative_hazard, on_grid


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32), n_most=st.integers(1, 50), n_ticks=st.sampled_from([None, 10]), late=st.booleans())
def test_events_move_up_to_the_grid_and_nothing_else_moves(draw_times, seed, n_most, n_ticks, late):
    times = draw_times(seed, 40, n_ticks=n_ticks, late=late)
    grid = choose_grid(times, n_most)
    moved = on_grid(times, grid)
    assert len(grid) <= n_most
    assert set(moved.time[moved.event]) <= set(grid) <= set(times.time[times.event])
    assert grid[-1] == times.time[times.event].max()
    np.testing.assert_array_equal(moved.event, times.event)
    np.testing.assert_array_equal(moved.time[~times.event], times.time[~times.event])
    assert (moved.time >= times.time).all()
    before = np.append(-np.inf, grid)[np.searchsorted(grid, moved.time[moved.event])]
    assert (before < times.time[times.event]).all()
    assert moved.entry is times.entry


def test_cells_hold_about_as_many_events_each():
    rng = np.random.default_rng(0)
    times = SurvivalTimes(rng.exponential(size=5000), rng.random(5000) < 0.5)
    moved = on_grid(times, choose_grid(times, 20))
    sizes = np.unique(moved.time[moved.event], return_counts=True)[1]
    assert len(sizes) == 20
    assert np.ptp(sizes) <= 1


@pytest.mark.kernel
@pytest.mark.parametrize("late", [False, True])
def test_sums_of_batches_are_those_of_the_whole(draw_times, late):
    times, rng = draw_times(4, 60, n_ticks=25, late=late), np.random.default_rng(0)
    weights, grid = rng.choice([0.0, 1.0, 2.0], 60), np.array([3.0, 7.0, 8.0, 20.0])
    whole = HazardSums.count(times, grid, weights)
    batch = rng.integers(0, 3, 60)
    parts = [HazardSums.count(times.take(batch == k), grid, weights[batch == k]) for k in range(3)]
    for merged in (parts[0].merge(parts[1]).merge(parts[2]), parts[2].merge(parts[0].merge(parts[1]))):
        np.testing.assert_allclose(merged.events, whole.events, rtol=1e-14)
        np.testing.assert_allclose(merged.at_risk, whole.at_risk, rtol=1e-14)
    entry = np.zeros(60) if times.entry is None else times.entry
    for k, (low, high) in enumerate(zip([-1.0, *grid[:-1]], grid, strict=True)):
        own = times.event & (low < times.time) & (times.time <= high)
        at_risk = own | ((entry < high) & (high <= times.time))
        assert whole.events[k] == weights[own].sum()
        assert whole.at_risk[k] == pytest.approx(weights[at_risk].sum(), rel=1e-13)


@pytest.mark.parametrize("late", [False, True])
def test_on_a_grid_of_all_event_times_the_hazard_is_exact(draw_times, late):
    times, rng = draw_times(7, 50, n_ticks=20, late=late), np.random.default_rng(0)
    weights = rng.choice([1.0, 2.5], 50)
    found = HazardSums.count(times, choose_grid(times, 50), weights)
    expected = cumulative_hazard(times, None, weights, "breslow")
    np.testing.assert_array_equal(found.grid, expected.x)
    np.testing.assert_allclose(np.cumsum(found.events / found.at_risk), expected.y, rtol=1e-13)


def test_a_coarse_grid_is_near(draw_times):
    times = draw_times(1, 20_000)
    grid = choose_grid(times, 500)
    sums, expected = HazardSums.count(times, grid), cumulative_hazard(times, None, None, "breslow")
    found, early = np.cumsum(sums.events / sums.at_risk), grid <= np.quantile(times.time, 0.95)
    np.testing.assert_allclose(found[early], expected(grid[early]), rtol=0.01)
    coarse = cumulative_hazard(on_grid(times, grid), None, None, "breslow")
    np.testing.assert_allclose(found, coarse.y, rtol=1e-13)


def test_events_after_the_grid_are_not_seen():
    times = SurvivalTimes(np.array([1.0, 5.0, 9.0]), np.ones(3, dtype=bool))
    moved = on_grid(times, np.array([2.0, 6.0]))
    np.testing.assert_array_equal(moved.time, [2.0, 6.0, 9.0])
    np.testing.assert_array_equal(moved.event, [True, True, False])
    sums = HazardSums.count(times, np.array([2.0, 6.0]))
    np.testing.assert_array_equal(sums.at_risk, [3.0, 2.0])
    empty = HazardSums.count(times.take(slice(0, 0)), np.array([2.0, 6.0]))
    np.testing.assert_array_equal(sums.merge(empty).events, sums.events)
    assert not on_grid(times, np.empty(0)).event.any()


def test_what_cannot_be_used_is_refused(draw_times):
    times = draw_times(0, 5)
    with pytest.raises(InvalidInputError, match="`n_most` must be at least 1; got 0"):
        choose_grid(times, 0)
    with pytest.raises(InvalidInputError, match="`grid` must be one row of ascending times"):
        on_grid(times, np.array([1.0, 1.0]))
    one, other = (HazardSums.count(times, np.array([1.0, end])) for end in (2.0, 3.0))
    with pytest.raises(InvalidInputError, match="on the same grid"):
        one.merge(other)
