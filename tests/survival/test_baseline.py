"""Curves over time against R, lifelines, scikit-survival, plain loops over the times, and their own properties."""

import json
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.exceptions import InvalidInputError
from rulegrove.survival import (
    PartialLikelihood,
    StepFunction,
    SurvivalTimes,
    cumulative_hazard,
    kaplan_meier,
    kaplan_meier_band,
    solve_cox,
)

FOLDER = pathlib.Path(__file__).parents[1] / "reference"
FROM_R = json.loads((FOLDER / "survival_cox.json").read_text())
CASES = json.loads((FOLDER / "survival_lifelines.json").read_text())["cases"]


def read_case(case):
    entry = None if case["entry"] is None else np.array(case["entry"], dtype=float)
    times = SurvivalTimes(np.array(case["time"], dtype=float), np.array(case["event"]) == 1, entry)
    return times, np.array(case["weights"], dtype=float)


def count_naively(times, weights, scores):
    """Distinct event times, and the weights at risk and of the events, times exponentials of scores."""
    entry = np.full(len(times), -np.inf) if times.entry is None else times.entry
    risks = weights * np.exp(scores)
    grid = np.unique(times.time[times.event & (weights > 0)])
    at_risk = np.array([risks[(entry < now) & (now <= times.time)].sum() for now in grid])
    events = np.array([weights[times.event & (times.time == now)].sum() for now in grid])
    leaving = np.array([risks[times.event & (times.time == now)].sum() for now in grid])
    n_leaving = np.array([(times.event & (times.time == now) & (weights > 0)).sum() for now in grid])
    return grid, at_risk, events, leaving, n_leaving


@pytest.mark.parametrize("case", FROM_R["cases"], ids=lambda case: f"{case['name']}, {case['ties']}")
def test_hazards_agree_with_those_of_coxph(case):
    times, weights = read_case(case)
    X = np.array(case["x"], dtype=float)
    coef = solve_cox(X, PartialLikelihood(times, weights, case["ties"])).coef
    hazard = cumulative_hazard(times, X @ coef, weights, case["ties"])
    np.testing.assert_allclose(hazard(case["hazard_times"]), case["hazard"], rtol=2e-9, atol=1e-12)


@pytest.mark.parametrize("case", FROM_R["curves"], ids=lambda case: case["name"])
def test_curves_agree_with_survfit(case):
    times, weights = read_case(case)
    at = np.array(case["at"])
    np.testing.assert_allclose(kaplan_meier(times, weights)(at), case["surv"], atol=1e-14)
    lower, upper = kaplan_meier_band(times, weights, case["level"])
    np.testing.assert_allclose(lower(at), np.array(case["lower"], dtype=float), atol=1e-13)
    np.testing.assert_allclose(upper(at), np.array(case["upper"], dtype=float), atol=1e-13)
    np.testing.assert_allclose(cumulative_hazard(times, None, weights, "breslow")(at), case["cumhaz"], atol=1e-13)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_curves_agree_with_lifelines_and_scikit_survival(case):
    """The band of lifelines is for weights that are whole numbers; scikit-survival's baseline is always Breslow's."""
    (times, weights), curves = read_case(case), case["curves"]
    at = np.array(curves["at"])
    np.testing.assert_allclose(kaplan_meier(times, weights)(at), curves["surv"], atol=1e-14)
    np.testing.assert_allclose(cumulative_hazard(times, None, weights, "breslow")(at), curves["hazard"], atol=1e-13)
    if (weights == 1.0).all():
        lower, upper = kaplan_meier_band(times, weights, curves["level"])
        np.testing.assert_allclose(lower(at), np.array(curves["lower"], dtype=float), atol=1e-13)
        np.testing.assert_allclose(upper(at), np.array(curves["upper"], dtype=float), atol=1e-13)
    for other in case.get("sksurv", []):
        hazard = cumulative_hazard(times, np.array(case["x"]) @ other["coef"], None, "breslow")
        np.testing.assert_allclose(hazard(other["x"]), other["y"], atol=1e-12)


@pytest.mark.kernel
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("n_ticks", [None, 6])
def test_curves_are_those_of_loops(draw_times, late, n_ticks):
    times, rng = draw_times(5, 40, n_ticks=n_ticks, late=late), np.random.default_rng(0)
    scores, weights = rng.normal(size=40), rng.choice([0.0, 0.5, 2.0], 40)
    grid, at_risk, events, leaving, n_leaving = count_naively(times, weights, scores)
    hazard = cumulative_hazard(times, scores, weights, "breslow")
    np.testing.assert_array_equal(hazard.x, grid)
    np.testing.assert_allclose(hazard.y, np.cumsum(events / at_risk), rtol=1e-12)
    steps = [
        sum(total / count / (risk - j / count * gone) for j in range(count))
        for risk, total, gone, count in zip(at_risk, events, leaving, n_leaving, strict=True)
    ]
    np.testing.assert_allclose(cumulative_hazard(times, scores, weights).y, np.cumsum(steps), rtol=1e-12)
    grid, at_risk, events, _, _ = count_naively(times, weights, np.zeros(40))
    np.testing.assert_allclose(kaplan_meier(times, weights).y, np.cumprod(1.0 - events / at_risk), atol=1e-14)
    np.testing.assert_allclose(
        cumulative_hazard(times, None, weights, "breslow").y, np.cumsum(events / at_risk), rtol=1e-12
    )


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32), n_rows=st.integers(1, 25), n_ticks=st.sampled_from([None, 5]), late=st.booleans())
def test_a_weight_counts_as_so_many_rows(draw_times, seed, n_rows, n_ticks, late):
    times, rng = draw_times(seed, n_rows, n_ticks=n_ticks, late=late), np.random.default_rng(seed)
    counts = rng.integers(1, 4, n_rows)
    rows = times.take(np.repeat(np.arange(n_rows), counts))
    pairs = [(kaplan_meier(times, counts), kaplan_meier(rows))]
    pairs += zip(kaplan_meier_band(times, counts), kaplan_meier_band(rows), strict=True)
    pairs.append((cumulative_hazard(times, None, counts, "breslow"), cumulative_hazard(rows, None, None, "breslow")))
    for weighted, repeated in pairs:
        np.testing.assert_array_equal(weighted.x, repeated.x)
        np.testing.assert_allclose(weighted.y, repeated.y, atol=1e-11)
    survival, (lower, upper) = (pairs[0][0], kaplan_meier_band(times, counts))
    assert (np.diff(survival.y, prepend=1.0) <= 0.0).all()
    assert ((lower.y <= survival.y + 1e-15) & (survival.y <= upper.y + 1e-15)).all()


def test_a_shift_of_all_scores_is_a_factor_of_the_hazard(draw_times):
    times, scores = draw_times(0, 30, n_ticks=8), np.random.default_rng(0).normal(size=30)
    one, other = (cumulative_hazard(times, own).y for own in (scores, scores + 400.0))
    np.testing.assert_allclose(np.log(other), np.log(one) - 400.0, rtol=1e-13)


def test_where_all_have_the_event_nothing_is_left():
    """The sums of these weights at risk and with an event differ in the last digit, by their order."""
    times = SurvivalTimes(np.array([1.0, 2.0, 2.0, 2.0]), np.ones(4, dtype=bool))
    weights = np.array([1.0, 0.1, 0.2, 0.3])
    survival, (lower, upper) = kaplan_meier(times, weights), kaplan_meier_band(times, weights)
    assert survival(2) == 0.0
    assert lower(2) == 0.0
    assert upper(2) == upper(1) < 1.0
    alone = SurvivalTimes(np.array([1.0]), np.array([True]))
    assert [own(1) for own in kaplan_meier_band(alone)] == [0.0, 1.0]


def test_curves_without_events_are_flat():
    times = SurvivalTimes(np.array([1.0, 2.0]), np.zeros(2, dtype=bool))
    assert kaplan_meier(times)(2) == 1.0
    assert [own(1.5) for own in kaplan_meier_band(times)] == [1.0, 1.0]
    assert cumulative_hazard(times)(2) == 0.0


def test_step_functions_are_continuous_from_the_right():
    steps = StepFunction(np.array([1.0, 2.0]), np.array([5.0, 7.0]), start=3.0)
    assert [steps(t) for t in (0.0, np.nextafter(1.0, 0.0), 1.0, 1.9, 2.0, 1e9)] == [3.0, 3.0, 5.0, 5.0, 7.0, 7.0]
    assert isinstance(steps(1), float)
    np.testing.assert_array_equal(steps([[0, 1], [2, 3]]), [[3.0, 5.0], [7.0, 7.0]])
    assert steps([]).shape == (0,)


@pytest.mark.parametrize("asked", [-1.0, 9.5, np.nan, [1.0, 10.0]])
def test_outside_of_the_data_nothing_is_told(asked):
    hazard = cumulative_hazard(SurvivalTimes(np.array([3.0, 9.0]), np.array([True, False])))
    assert hazard.domain == (0.0, 9.0)
    with pytest.raises(InvalidInputError, match="must lie from 0 to 9; got"):
        hazard(asked)


def test_a_level_that_is_none(draw_times):
    with pytest.raises(InvalidInputError, match="`level` must lie between 0 and 1; got 95"):
        kaplan_meier_band(draw_times(0, 5), level=95)
