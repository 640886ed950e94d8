"""The partial likelihood against sums over all pairs of rows, finite differences, R's coxph and its own symmetries."""

import json
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from rulegrove.exceptions import InvalidInputError
from rulegrove.survival import PartialLikelihood, SurvivalTimes

REFERENCE = pathlib.Path(__file__).parents[1] / "reference" / "survival_cox.json"
R_CASES = json.loads(REFERENCE.read_text())["cases"]
TIES = ["efron", "breslow"]


def sum_naively(times, weights, ties, scores):
    """Value, slopes and all second derivatives with the sign turned, one event after the other."""
    n_rows = len(times)
    entry = np.full(n_rows, -np.inf) if times.entry is None else times.entry
    own = times.event & (weights > 0)
    value, slope, bend = float(weights[own] @ scores[own]), np.where(own, weights, 0.0), np.zeros((n_rows, n_rows))
    for now in np.unique(times.time[own]):
        at_risk = (entry < now) & (now <= times.time) & (weights > 0)
        leaving = own & (times.time == now)
        n_leaving = int(leaving.sum()) if ties == "efron" else 1
        weight = weights[leaving].sum() / n_leaving
        for j in range(n_leaving):
            left = weights[at_risk] * np.where(leaving[at_risk], 1.0 - j / n_leaving, 1.0)
            logarithm = logsumexp(scores[at_risk], b=left)
            share = np.zeros(n_rows)
            share[at_risk] = left * np.exp(scores[at_risk] - logarithm)
            value -= weight * logarithm
            slope -= weight * share
            bend += weight * (np.diag(share) - np.outer(share, share))
    return value, slope, bend


def draw_weights(seed, n_rows):
    return np.random.default_rng([seed, 1]).choice([0.0, 0.5, 1.0, 2.25], n_rows, p=[0.15, 0.25, 0.3, 0.3])


def slope_of(function, scores, size=1e-5):
    steps = size * np.eye(len(scores))
    return np.array([(function(scores + step) - function(scores - step)) / (2.0 * size) for step in steps])


def read_case(case):
    entry = None if case["entry"] is None else np.array(case["entry"], dtype=float)
    times = SurvivalTimes(np.array(case["time"], dtype=float), np.array(case["event"]) == 1, entry)
    return times, np.array(case["weights"], dtype=float), np.array(case["x"], dtype=float)


@pytest.mark.kernel
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("n_ticks", [None, 12, 1])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 3000.0])
def test_sums_are_those_over_all_pairs(draw_times, ties, late, n_ticks, spread):
    """Scores as far apart as 3000 make shares that no exponential of theirs can tell."""
    times, rng = draw_times(3, 40, n_ticks=n_ticks, late=late), np.random.default_rng(5)
    scores, X = spread * rng.normal(size=40) + 7.0, rng.normal(size=(40, 3)) + 4.0
    for weights in (np.ones(40), draw_weights(2, 40)):
        likelihood = PartialLikelihood(times, weights, ties)
        value, slope, bend = sum_naively(times, weights, ties, scores)
        assert likelihood.at(scores).log_likelihood == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(likelihood.at(scores).pulls(), slope, atol=1e-11)
        np.testing.assert_allclose(likelihood.at(scores).hessian(X), X.T @ bend @ X, atol=1e-9)


@pytest.mark.kernel
def test_digits_where_a_row_with_a_huge_score_comes_late():
    """Running sums over the whole time would have none: the hazard up to then is exp(40), that after it exp(-40)."""
    time, entry = np.array([1.0, 1.5, 3.0, 4.0, 5.0, 6.0]), np.array([0.0, 0.0, 0.0, 2.0, 2.0, 2.0])
    times = SurvivalTimes(time, np.array([True, True, True, True, True, True]), entry)
    scores = np.array([-40.0, -40.5, -39.0, 40.0, 40.5, 41.0])
    value, slope, _ = sum_naively(times, np.ones(6), "efron", scores)
    likelihood = PartialLikelihood(times)
    assert likelihood.at(scores).log_likelihood == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(likelihood.at(scores).pulls(), slope, rtol=1e-13, atol=1e-15)


@pytest.mark.kernel
@pytest.mark.parametrize("late", [False, True])
def test_a_heavy_score_that_leaves_first(late):
    """After it the others are as they are among themselves, however far below."""
    entry = np.zeros(4) if late else None
    times = SurvivalTimes(np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, True, False]), entry)
    likelihood = PartialLikelihood(times)
    scores = np.array([5e4, 0.0, 1.0, -1.0])
    rest = PartialLikelihood(times.take(np.array([1, 2, 3])))
    assert likelihood.at(scores).log_likelihood == pytest.approx(rest.at(scores[1:]).log_likelihood, rel=1e-10)
    np.testing.assert_allclose(likelihood.at(scores).pulls()[1:], rest.at(scores[1:]).pulls(), rtol=1e-10)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("n_ticks", [None, 6])
def test_derivatives_match_finite_differences(draw_times, ties, late, n_ticks):
    times, scores = draw_times(8, 25, n_ticks=n_ticks, late=late), np.random.default_rng(1).normal(size=25)
    likelihood = PartialLikelihood(times, draw_weights(4, 25), ties)
    np.testing.assert_allclose(
        likelihood.at(scores).pulls(), slope_of(lambda own: likelihood.at(own).log_likelihood, scores), atol=1e-8
    )
    bend = -slope_of(lambda own: likelihood.at(own).pulls(), scores)
    np.testing.assert_allclose(likelihood.at(scores).hessian(np.eye(25)), bend, atol=1e-8)


@pytest.mark.parametrize("case", R_CASES, ids=lambda case: f"{case['name']}, {case['ties']}")
def test_agreement_with_coxph(case):
    times, weights, X = read_case(case)
    likelihood = PartialLikelihood(times, weights, case["ties"])
    scores = X @ case["beta"]
    assert likelihood.at(scores).log_likelihood == pytest.approx(case["log_likelihood"], rel=1e-13)
    np.testing.assert_allclose(likelihood.at(scores).pulls() / weights, case["residuals"], atol=1e-12)
    np.testing.assert_allclose(X.T @ likelihood.at(scores).pulls(), case["slopes"], atol=1e-11)
    np.testing.assert_allclose(likelihood.at(scores).hessian(X), case["hessian"], rtol=1e-11, atol=1e-11)


seeds = st.integers(0, 2**32)
ticks = st.sampled_from([None, 2, 8])


@settings(deadline=None, max_examples=40)
@given(seed=seeds, n_rows=st.integers(2, 25), n_ticks=ticks, late=st.booleans())
def test_a_weight_counts_as_so_many_rows(draw_times, seed, n_rows, n_ticks, late):
    """In Breslow's way; Efron's lets tied rows leave one by one, so there it matters how many they are."""
    times, rng = draw_times(seed, n_rows, n_ticks=n_ticks, late=late), np.random.default_rng(seed)
    counts, scores = rng.integers(0, 4, n_rows), rng.normal(size=n_rows)
    counts[rng.integers(n_rows)] += 1
    rows = np.repeat(np.arange(n_rows), counts)
    weighted = PartialLikelihood(times, counts.astype(float), "breslow")
    repeated = PartialLikelihood(times.take(rows), None, "breslow")
    assert weighted.at(scores).log_likelihood == pytest.approx(repeated.at(scores[rows]).log_likelihood, abs=1e-10)
    pulls = np.bincount(rows, weights=repeated.at(scores[rows]).pulls(), minlength=n_rows)
    np.testing.assert_allclose(weighted.at(scores).pulls(), pulls, atol=1e-10)
    assert weighted.total_weight == len(rows)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, n_ticks=ticks, late=st.booleans(), ties=st.sampled_from(TIES), shift=st.floats(-1e3, 1e3))
def test_only_order_and_differences_count(draw_times, seed, n_ticks, late, ties, shift):
    """The order of times, and the differences of scores; the order of rows and their scale do not."""
    times, rng = draw_times(seed, 20, n_ticks=n_ticks, late=late), np.random.default_rng(seed)
    scores, weights = rng.normal(size=20), draw_weights(seed, 20)
    weights[0] = 1.0
    point = PartialLikelihood(times, weights, ties).at(scores)
    pulls = point.pulls()
    moved = SurvivalTimes(times.time**3 + 5.0, times.event, None if times.entry is None else times.entry**3 + 5.0)
    np.testing.assert_allclose(PartialLikelihood(moved, weights, ties).at(scores).pulls(), pulls, atol=1e-12)
    shifted = PartialLikelihood(times, weights, ties).at(scores + shift)
    assert shifted.log_likelihood == pytest.approx(point.log_likelihood, abs=1e-9)
    np.testing.assert_allclose(shifted.pulls(), pulls, atol=1e-10)
    order = rng.permutation(20)
    mixed = PartialLikelihood(times.take(order), 3.0 * weights[order], ties).at(scores[order])
    np.testing.assert_allclose(mixed.pulls(), 3.0 * pulls[order], atol=1e-12)
    assert pulls.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("ties", TIES)
def test_entry_before_all_events_is_none(draw_times, ties):
    times, scores = draw_times(1, 30, n_ticks=8), np.random.default_rng(0).normal(size=30)
    early = SurvivalTimes(times.time, times.event, np.zeros(30))
    one, other = (PartialLikelihood(own, draw_weights(0, 30), ties).at(scores) for own in (times, early))
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-13)
    np.testing.assert_allclose(one.pulls(), other.pulls(), rtol=1e-13, atol=1e-14)


def test_rows_without_weight_are_not_there(draw_times):
    """Nor do they count among the tied events of Efron's way, or with a score that is far above all others."""
    times, weights = draw_times(6, 30, n_ticks=5, late=True), draw_weights(7, 30)
    here, scores = weights > 0, np.random.default_rng(0).normal(size=30)
    scores[~here] = 1e5
    whole, part = PartialLikelihood(times, weights), PartialLikelihood(times.take(here), weights[here])
    assert whole.at(scores).log_likelihood == part.at(scores[here]).log_likelihood
    np.testing.assert_array_equal(whole.at(scores).pulls()[here], part.at(scores[here]).pulls())
    assert not whole.at(scores).pulls()[~here].any()


def test_the_ties_differ_by_ties_alone(draw_times):
    scores = np.random.default_rng(0).normal(size=30)
    for n_ticks, equal in ((None, True), (4, False)):
        values = [
            PartialLikelihood(draw_times(2, 30, n_ticks=n_ticks), None, one).at(scores).log_likelihood for one in TIES
        ]
        assert (abs(values[0] - values[1]) < 1e-12) == equal


@pytest.mark.kernel
@pytest.mark.parametrize("entry", [None, np.zeros(3)])
def test_without_events_there_is_nothing_to_say(entry):
    times = SurvivalTimes(np.array([1.0, 2.0, 3.0]), np.zeros(3, dtype=bool), entry)
    likelihood = PartialLikelihood(times)
    assert likelihood.at(np.ones(3)).log_likelihood == 0.0
    assert not likelihood.at(np.ones(3)).pulls().any()
    assert not likelihood.at(np.ones(3)).hessian(np.eye(3)).any()


def test_what_cannot_be_used_is_refused(draw_times):
    times = draw_times(0, 5)
    with pytest.raises(InvalidInputError, match="'efron' or 'breslow'; got 'exact'"):
        PartialLikelihood(times, None, "exact")
    with pytest.raises(InvalidInputError, match="one weight for each of the 5 rows"):
        PartialLikelihood(times, np.ones(4))
    likelihood = PartialLikelihood(times)
    with pytest.raises(InvalidInputError, match=r"each of 5 rows; got the shape \(4,\)"):
        likelihood.at(np.zeros(4))
    with pytest.raises(InvalidInputError, match="some that are not finite"):
        likelihood.at(np.array([0.0, 1.0, np.nan, 0.0, 0.0]))
    with pytest.raises(InvalidInputError, match=r"X must have 5 rows and two dimensions; got the shape \(5,\)"):
        likelihood.at(np.zeros(5)).hessian(np.zeros(5))
