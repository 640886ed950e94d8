"""Curves with limits and rows at risk equal counts in plain loops, and estimates that lifelines has stored."""

import json
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.survival import SurvivalTimes, count_at_risk, estimate_curve

FOLDER = pathlib.Path(__file__).parents[1] / "reference"
CASES = json.loads((FOLDER / "survival_lifelines.json").read_text())["cases"]


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32), n_rows=st.integers(1, 30), n_ticks=st.sampled_from([None, 5]), late=st.booleans())
def test_rows_at_risk_are_those_of_a_loop(draw_times, seed, n_rows, n_ticks, late):
    times = draw_times(seed, n_rows, n_ticks=n_ticks, late=late)
    entry = np.zeros(n_rows) if times.entry is None else times.entry
    moments = np.unique(np.concatenate([[0.0, 0.3], times.time, entry, times.time + 1.0]))
    counted = [
        sum(
            (begin < moment or begin == moment == 0.0) and moment <= end
            for begin, end in zip(entry, times.time, strict=True)
        )
        for moment in moments
    ]
    np.testing.assert_array_equal(count_at_risk(times, moments), counted)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_curves_are_those_of_lifelines(case):
    entry = None if case["entry"] is None else np.array(case["entry"], dtype=float)
    times = SurvivalTimes(np.array(case["time"], dtype=float), np.array(case["event"]) == 1, entry)
    weights, known = np.array(case["weights"], dtype=float), case["curves"]
    curve = estimate_curve(times, weights, known["level"])
    assert curve.x[0] == 0.0
    assert curve.x[-1] == times.time.max()
    assert curve.share[0] == curve.low[0] == curve.high[0] == 1.0
    places = np.searchsorted(curve.x, known["at"])
    np.testing.assert_array_equal(curve.x[places], known["at"])
    np.testing.assert_allclose(curve.share[places], known["surv"], atol=1e-14)
    if (weights == 1.0).all():  # of other weights lifelines has other limits
        np.testing.assert_allclose(curve.low[places], np.array(known["lower"], dtype=float), atol=1e-13)
        np.testing.assert_allclose(curve.high[places], np.array(known["upper"], dtype=float), atol=1e-13)


def test_rows_without_a_weight_are_left_out(draw_times):
    times, weights = draw_times(0, 20, late=True), np.arange(20.0) % 3
    curve, other = estimate_curve(times, weights), estimate_curve(times.take(weights > 0), weights[weights > 0])
    assert len(curve.times) == np.count_nonzero(weights)
    np.testing.assert_array_equal([curve.x, curve.share, curve.low], [other.x, other.share, other.low])
