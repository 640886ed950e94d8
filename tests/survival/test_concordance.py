"""Harrell's concordance against a loop over all pairs, lifelines, scikit-survival and R."""

import json
import math
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.exceptions import InvalidInputError
from rulegrove.survival import SurvivalTimes, concordance

FOLDER = pathlib.Path(__file__).parents[1] / "reference"
R_CASES = json.loads((FOLDER / "survival_cox.json").read_text())["cases"]
CASES = json.loads((FOLDER / "survival_lifelines.json").read_text())["cases"]


def count_naively(times, scores, weights):
    """One pair after the other."""
    total = right = 0.0
    for i in np.flatnonzero(times.event):
        for j in range(len(times)):
            later = times.time[j] > times.time[i] or (times.time[j] == times.time[i] and not times.event[j])
            there = times.entry is None or times.entry[j] < times.time[i]
            if later and there:
                total += weights[i] * weights[j]
                right += weights[i] * weights[j] * (0.5 * (scores[i] == scores[j]) + (scores[i] > scores[j]))
    return right / total if total else math.nan


def read_case(case):
    entry = None if case["entry"] is None else np.array(case["entry"], dtype=float)
    return SurvivalTimes(np.array(case["time"], dtype=float), np.array(case["event"]) == 1, entry)


@pytest.mark.kernel
@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    n_rows=st.integers(1, 30),
    n_ticks=st.sampled_from([None, 1, 6]),
    late=st.booleans(),
    weighted=st.booleans(),
)
def test_pairs_are_counted_as_by_a_loop(draw_times, seed, n_rows, n_ticks, late, weighted):
    times, rng = draw_times(seed, n_rows, n_ticks=n_ticks, late=late), np.random.default_rng(seed)
    scores = rng.integers(0, 6, n_rows).astype(float) if rng.random() < 0.7 else rng.normal(size=n_rows)
    weights = rng.choice([0.0, 0.3, 1.0, 2.7], n_rows) if weighted else np.ones(n_rows)
    weights[0] = 1.0
    found = concordance(times, scores, weights if weighted else None)
    np.testing.assert_allclose(found, count_naively(times, scores, weights), atol=1e-12)
    np.testing.assert_allclose(concordance(times, -scores, weights), 1.0 - found, atol=1e-12)
    counts = rng.integers(1, 3, n_rows)
    rows = np.repeat(np.arange(n_rows), counts)
    np.testing.assert_allclose(
        concordance(times, scores, counts), concordance(times.take(rows), scores[rows]), atol=1e-12
    )
    moved = SurvivalTimes(np.exp(times.time), times.event, None if times.entry is None else np.exp(times.entry))
    assert math.isnan(found) or concordance(moved, 3.0 * scores + 1.0, weights) == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_the_unit_of_weights_does_not_matter(unit):
    """Products of weights were no numbers."""
    rng = np.random.default_rng(0)
    times = SurvivalTimes(rng.exponential(size=50), rng.random(50) < 0.7)
    scores, weights = rng.normal(size=50), rng.uniform(0.1, 2.0, 50)
    assert concordance(times, scores, unit * weights) == pytest.approx(concordance(times, scores, weights), rel=1e-12)


@pytest.mark.parametrize("case", R_CASES[::2], ids=lambda case: case["name"])
def test_agreement_with_r(case):
    scores = np.array(case["x"], dtype=float) @ case["beta"]
    found = concordance(read_case(case), scores, np.array(case["weights"], dtype=float))
    assert found == pytest.approx(case["concordance"], abs=1e-14)


@pytest.mark.parametrize("case", [case for case in CASES if "concordance" in case], ids=lambda case: case["name"])
def test_agreement_with_lifelines_and_scikit_survival(case):
    found = concordance(read_case(case), case["scores"])
    assert found == pytest.approx(case["concordance"], abs=1e-14)
    assert found == pytest.approx(case["concordance_sksurv"], abs=1e-14)


@pytest.mark.parametrize(
    ("time", "event"), [([1.0, 2.0], [False, False]), ([1.0, 1.0], [True, True]), ([2.0, 1.0], [True, False])]
)
def test_no_comparable_pair(time, event):
    assert math.isnan(concordance(SurvivalTimes(np.array(time), np.array(event)), [1.0, 2.0]))


def test_pairs_that_have_left_leave_nothing_behind():
    """Weights that come and go leave a rest in their sums; where nobody is at risk, no pair is counted for it."""
    entry = np.array([0.0, 2.0, 2.0, 2.0])
    times = SurvivalTimes(np.array([1.0, 3.0, 4.0, 5.0]), np.array([True, False, False, False]), entry)
    assert math.isnan(concordance(times, [1.0, 2.0, 3.0, 4.0], np.array([1.0, 0.1, 0.2, 0.3])))


def test_scores_that_cannot_be_used_are_refused(draw_times):
    with pytest.raises(InvalidInputError, match=r"each of 5 rows; got the shape \(4,\)"):
        concordance(draw_times(0, 5), np.zeros(4))
    with pytest.raises(InvalidInputError, match="some that are not finite"):
        concordance(draw_times(0, 5), np.full(5, np.nan))
