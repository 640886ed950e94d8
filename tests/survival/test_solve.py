"""Newton's method for few columns against R's coxph, lifelines, scikit-survival and the conditions of a minimum."""

import json
import pathlib
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, nnls

from rulegrove.exceptions import InvalidInputError, NotConvergedWarning
from rulegrove.survival import PartialLikelihood, SurvivalTimes, solve_cox
from rulegrove.survival import solve as module
from rulegrove.survival.solve import minimise_quadratic

FOLDER = pathlib.Path(__file__).parents[1] / "reference"
R_CASES = json.loads((FOLDER / "survival_cox.json").read_text())["cases"]
CASES = json.loads((FOLDER / "survival_lifelines.json").read_text())["cases"]


def read_case(case, ties="efron"):
    entry = None if case["entry"] is None else np.array(case["entry"], dtype=float)
    times = SurvivalTimes(np.array(case["time"], dtype=float), np.array(case["event"]) == 1, entry)
    return np.array(case["x"], dtype=float), PartialLikelihood(times, np.array(case["weights"], dtype=float), ties)


def make_problem(draw_times, seed=0, n_rows=60, n_columns=5, **given):
    rng = np.random.default_rng(seed)
    times, X = draw_times(seed, n_rows, **given), rng.normal(size=(n_rows, n_columns))
    weights = rng.choice([0.0, 1.0, 2.0], n_rows)
    return X, PartialLikelihood(times, weights)


def slope_at(X, likelihood, coef, ridge=0.0, centre=0.0):
    return ridge * (coef - centre) - X.T @ likelihood.at(X @ coef).pulls() / likelihood.total_weight


@pytest.mark.parametrize("case", R_CASES, ids=lambda case: f"{case['name']}, {case['ties']}")
def test_agreement_with_coxph(case):
    """R ends where the likelihood no longer changes, which leaves its coefficients good to nine digits or more."""
    X, likelihood = read_case(case, case["ties"])
    coef, n_steps, slope_size = solve_cox(X, likelihood)
    np.testing.assert_allclose(coef, case["coef"], rtol=2e-9)
    assert likelihood.at(X @ coef).log_likelihood == pytest.approx(case["largest"], rel=1e-13)
    assert 0 < n_steps < 8
    assert slope_size < 1e-10
    if case["drawn"] is not None:
        coef, _, _ = solve_cox(X, likelihood, ridge=case["theta"] / likelihood.total_weight)
        np.testing.assert_allclose(coef, case["drawn"], rtol=2e-9)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_agreement_with_lifelines_and_scikit_survival(case):
    X, likelihood = read_case(case)
    coef, _, _ = solve_cox(X, likelihood)
    np.testing.assert_allclose(coef, case["lifelines"]["coef"], atol=2e-9)
    assert likelihood.at(X @ coef).log_likelihood == pytest.approx(case["lifelines"]["largest"], rel=1e-13)
    for other in case.get("sksurv", []):
        coef, _, _ = solve_cox(*read_case(case, other["ties"]))
        np.testing.assert_allclose(coef, other["coef"], atol=1e-11)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32), late=st.booleans(), signed=st.booleans(), size=st.sampled_from([0.01, 1.0, 100.0]))
def test_the_conditions_of_the_minimum_hold(draw_times, seed, late, signed, size):
    X, likelihood = make_problem(draw_times, seed, n_ticks=15, late=late)
    rng = np.random.default_rng(seed)
    X = size * X
    ridge, centre = size**2 * rng.choice([0.01, 1.0], 5), rng.normal(size=5) / size
    signs = rng.integers(-1, 2, 5) if signed else None
    start = rng.normal(size=5) / size
    coef, _, slope_size = solve_cox(X, likelihood, ridge, centre, signs, start)
    slope = slope_at(X, likelihood, coef, ridge, centre)
    tol = 1e-9 * size
    if signs is None:
        assert np.abs(slope).max() <= tol
    else:
        held = (signs != 0) & (coef == 0.0)
        assert np.abs(slope[~held]).max(initial=0.0) <= tol
        assert (signs * slope >= -tol)[held].all()
        assert (signs * coef >= 0.0).all()
    assert slope_size <= tol


def test_a_start_at_the_minimum_takes_no_step(draw_times):
    X, likelihood = make_problem(draw_times)
    coef, _, _ = solve_cox(X, likelihood)
    again, n_steps, _ = solve_cox(X, likelihood, start=coef)
    assert n_steps == 0
    np.testing.assert_array_equal(again, coef)


def test_a_far_start_comes_back(draw_times):
    X, likelihood = make_problem(draw_times)
    coef, _, _ = solve_cox(X, likelihood)
    far, _, _ = solve_cox(X, likelihood, start=np.array([40.0, -40.0, 30.0, 0.0, 5.0]))
    np.testing.assert_allclose(far, coef, rtol=1e-8)


def test_wrong_signs_become_zero_and_the_others_are_solved_for_without_them(draw_times):
    X, likelihood = make_problem(draw_times, seed=4)
    free, _, _ = solve_cox(X, likelihood)
    signs = np.where(np.arange(5) < 2, -np.sign(free), 0.0).astype(int)
    held, _, _ = solve_cox(X, likelihood, signs=signs)
    assert not held[:2].any()
    np.testing.assert_allclose(held[2:], solve_cox(X[:, 2:], likelihood).coef, rtol=1e-9)
    right, _, _ = solve_cox(X, likelihood, signs=np.sign(free).astype(int), start=-free)
    np.testing.assert_allclose(right, free, rtol=1e-8)


def parted(n_rows=40):
    """A column that is one for the earlier half of the events, and one that says nothing."""
    times = SurvivalTimes(np.arange(1.0, n_rows + 1), np.ones(n_rows, dtype=bool))
    X = np.column_stack([np.arange(n_rows) < n_rows // 2, np.random.default_rng(0).normal(size=n_rows)]).astype(float)
    return X, PartialLikelihood(times)


def test_columns_that_part_early_from_late_events_are_named():
    X, likelihood = parted()
    with pytest.warns(NotConvergedWarning, match="columns numbered 0 always fit better") as caught:
        coef, n_steps, slope_size = solve_cox(X, likelihood)
    assert pathlib.Path(caught[0].filename).name == pathlib.Path(__file__).name
    assert 10.0 < coef[0] < 40.0
    assert n_steps < 50
    assert slope_size < 1e-9
    halves = [PartialLikelihood(likelihood.times.take(half)) for half in (slice(0, 20), slice(20, 40))]
    pulls = np.concatenate(
        [own.at(coef[1] * part).pulls() for own, part in zip(halves, (X[:20, 1], X[20:, 1]), strict=True)]
    )
    assert abs(pulls @ X[:, 1]) < 1e-6  # the other column is where it would be in each half


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), n_columns=st.integers(1, 4), signed=st.booleans(), tied=st.booleans())
def test_the_warning_comes_where_some_direction_parts(seed, n_columns, signed, tied):
    """Where a linear program finds one along which every event's score is the highest of those at risk."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, n_columns)) if rng.random() < 0.5 else (rng.random((12, n_columns)) < 0.3).astype(float)
    time, event = rng.exponential(size=12), rng.random(12) < 0.5
    time, event[0] = np.ceil(4.0 * time) if tied else time, True
    signs = rng.integers(-1, 2, n_columns) if signed else np.zeros(n_columns, dtype=int)
    pairs = np.array([X[i] - X[j] for i in np.flatnonzero(event) for j in np.flatnonzero(time >= time[i])])
    bounds = [(0 if sign > 0 else -1, 0 if sign < 0 else 1) for sign in signs]
    best = linprog(-pairs.sum(axis=0), A_ub=-pairs, b_ub=np.zeros(len(pairs)), bounds=bounds)
    assume(not 1e-9 < -best.fun < 1e-3)  # else it is a matter of rounding
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        coef, n_steps, _ = solve_cox(X, PartialLikelihood(SurvivalTimes(time, event)), signs=signs)
    assert {one.category for one in caught} == ({NotConvergedWarning} if -best.fun > 1e-9 else set())
    assert np.isfinite(coef).all()
    assert n_steps < 60


def test_a_ridge_or_a_sign_holds_what_parts():
    X, likelihood = parted()
    coef, _, slope_size = solve_cox(X, likelihood, ridge=np.array([1e-4, 0.0]))
    assert 3.0 < coef[0] < 15.0
    assert slope_size < 1e-10
    assert solve_cox(X, likelihood, signs=np.array([-1, 0])).coef[0] == 0.0


def test_the_bound_on_what_a_column_adds(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_SPREAD", 5.0)
    X, likelihood = parted()
    with pytest.warns(NotConvergedWarning, match="numbered 0 always"):
        coef, _, _ = solve_cox(X, likelihood)
    assert coef[0] == pytest.approx(5.0)


def test_too_few_steps_are_told(draw_times, monkeypatch):
    monkeypatch.setattr(module, "_MAX_STEPS", 1)
    with pytest.warns(NotConvergedWarning, match="After 1 steps the slope is"):
        solve_cox(*make_problem(draw_times))


def test_an_outlier_that_dies_first_is_no_parting():
    """Its scores are a hundred thousand above the others; all the same there is one best coefficient."""
    times = SurvivalTimes(np.arange(1.0, 41.0), np.ones(40, dtype=bool))
    X = np.random.default_rng(3).normal(size=(40, 1)) - 0.02 * np.arange(40)[:, None]
    X[0] = 1e6
    coef, _, slope_size = solve_cox(X, PartialLikelihood(times))
    rest = solve_cox(X[1:], PartialLikelihood(times.take(slice(1, None)))).coef
    np.testing.assert_allclose(coef, rest, rtol=1e-6)
    assert slope_size < 1e-4  # of a column with a standard deviation of 1.6e5


def test_columns_that_are_constant_equal_or_not_there(draw_times):
    X, likelihood = make_problem(draw_times)
    coef, _, _ = solve_cox(X, likelihood)
    more, _, _ = solve_cox(np.column_stack([X, np.full(60, 3.0), X[:, 0]]), likelihood)
    np.testing.assert_allclose(more[1:5], coef[1:], rtol=1e-6)
    assert more[5] == 0.0
    assert more[0] + more[6] == pytest.approx(coef[0], rel=1e-6)
    none = solve_cox(np.empty((60, 0)), likelihood)
    assert (none.coef.shape, none.n_steps, none.slope_size) == ((0,), 0, 0.0)


def test_what_cannot_be_used_is_refused(draw_times):
    X, likelihood = make_problem(draw_times)
    with pytest.raises(InvalidInputError, match=r"X must have 60 rows and two dimensions; got the shape \(59, 5\)"):
        solve_cox(X[1:], likelihood)
    with pytest.raises(InvalidInputError, match="X must be finite; column 3 is not"):
        solve_cox(np.where(np.arange(5) == 3, np.inf, X), likelihood)
    with pytest.raises(InvalidInputError, match="squares of column 1 of X are beyond the range of floats"):
        solve_cox(np.where(np.arange(5) == 1, 1e200, 1.0) * X, likelihood)
    with pytest.raises(InvalidInputError, match="`centre` must hold a finite number for each of 5 columns"):
        solve_cox(X, likelihood, centre=np.zeros(4))
    with pytest.raises(InvalidInputError, match="`ridge` must not be negative; got -1"):
        solve_cox(X, likelihood, ridge=-1.0)


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32), n=st.integers(1, 8))
def test_quadratics_under_signs_are_those_of_non_negative_least_squares(seed, n):
    rng = np.random.default_rng(seed)
    root, target = rng.normal(size=(n + 2, n)), rng.normal(size=n + 2)
    expected, _ = nnls(root, target)
    for start in (np.zeros(n), rng.random(n)):
        found = minimise_quadratic(root.T @ root, root.T @ target, np.ones(n), start)
        np.testing.assert_allclose(found, expected, atol=1e-7)
        turned = minimise_quadratic(root.T @ root, -root.T @ target, -np.ones(n), -start)
        np.testing.assert_allclose(turned, -expected, atol=1e-7)
