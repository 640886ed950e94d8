"""The cumulative hazard of a score of 0."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove.estimators._checked_json import encode, parse
from rulegrove.estimators.baseline import Baseline
from rulegrove.exceptions import InvalidInputError


@given(
    steps=st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3)), min_size=1, max_size=30),
    asked=st.lists(st.floats(0.0, 200.0), min_size=1, max_size=10),
)
def test_the_hazard_at_a_time_is_that_of_the_last_step(steps, asked):
    times, rises = np.cumsum(np.array(steps), axis=0).astype(float).T
    found = Baseline(times, rises)(np.array(asked))
    expected = [max((h for t, h in zip(times, rises, strict=True) if t <= at), default=0.0) for at in asked]
    np.testing.assert_array_equal(found, expected)


@given(rises=st.lists(st.floats(0.0, 5.0), min_size=1, max_size=60), most=st.integers(2, 70))
def test_a_thinned_hazard_keeps_some_of_its_steps_and_the_last_one(rises, most):
    hazards = np.cumsum(rises)
    times = np.arange(len(rises)) + 1.0
    thin = Baseline.thinned(times, hazards, most)
    kept = np.flatnonzero(np.diff(hazards, prepend=0.0) > 0.0)
    assert set(thin.times) <= set(times[kept])
    assert len(thin.times) == kept.size if kept.size <= most else 1 <= len(thin.times) <= most
    np.testing.assert_array_equal(thin.hazards, hazards[thin.times.astype(int) - 1])
    if kept.size:
        assert thin.hazards[-1] == hazards[-1]
        gaps = np.diff(thin.hazards, prepend=thin.hazards[0])
        largest = np.diff(hazards, prepend=0.0).max()
        assert gaps.max() <= (hazards[-1] - hazards[kept[0]]) / (most - 1) + largest + 1e-9


def test_there_and_back_through_a_file():
    baseline = Baseline(np.array([0.5, 1.0, 7.25]), np.array([0.1, 0.1, 2.0 / 3.0]))
    again = Baseline.decode(parse(json.dumps(encode(baseline)).encode(), "model.json"))
    np.testing.assert_array_equal(again.times, baseline.times)
    np.testing.assert_array_equal(again.hazards, baseline.hazards)


@pytest.mark.parametrize(
    ("times", "hazards"),
    [([1.0, 1.0], [0.1, 0.2]), ([2.0, 1.0], [0.1, 0.2]), ([1.0, 2.0], [0.2, 0.1]), ([-1.0, 2.0], [0.1, 0.2])],
)
def test_a_file_with_no_hazard_in_it_is_refused(times, hazards):
    with pytest.raises(InvalidInputError, match=r"rising times, and hazards that do not fall|number from 0"):
        Baseline.decode(parse(json.dumps({"times": times, "hazards": hazards}).encode(), "model.json"))
