"""Problems, paths and what all solvers have from their base."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.exceptions import InvalidInputError
from rulegrove.solvers import SOLVERS, Glmnet, Parameter, Path, Problem, Solver, Status, make_solver


def moments(X, y, weights):
    return weights.sum(), weights @ X, (X.T * weights) @ X, X.T @ (weights * y), weights @ y, weights @ y**2


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(0, 6))
def test_problem_is_the_centred_data(seed, n_rows, n_terms):
    rng = np.random.default_rng(seed)
    X, y, weights = rng.normal(2.0, 1.0, (n_rows, n_terms)), rng.normal(5.0, 1.0, n_rows), rng.uniform(0.5, 2.0, n_rows)
    problem = Problem.from_moments(*moments(X, y, weights))
    share = weights / weights.sum()
    Xc, yc = X - share @ X, y - share @ y
    np.testing.assert_allclose(problem.gram, (Xc.T * share) @ Xc, atol=1e-12)
    np.testing.assert_allclose(problem.x_y, Xc.T @ (share * yc), atol=1e-12)
    assert problem.y_y == pytest.approx(share @ yc**2, abs=1e-12)
    assert problem.weight == pytest.approx(weights.sum())
    assert problem.n_terms == n_terms
    coef = rng.normal(size=n_terms)
    assert problem.intercept(coef) == pytest.approx(share @ (y - X @ coef))


def test_integer_moments_give_a_float_problem():
    X, y = np.array([[0, 1], [1, 1], [1, 0]]), np.array([1.0, 2.0, 4.0])
    problem = Problem.from_moments(3, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
    assert problem.gram.dtype == np.float64
    np.testing.assert_allclose(problem.gram, np.cov(X.T, bias=True))


def test_constants_leave_no_rounding_noise():
    """The variance of a constant column of 0.1 came out as 1e-18, and with it a largest penalty made of noise."""
    rng = np.random.default_rng(0)
    n = 1001
    X = np.column_stack([np.full(n, 0.1), rng.normal(size=n), np.full(n, 1e6 / 3), np.ones(n), np.zeros(n)])
    problem = Problem.from_moments(*moments(X, rng.normal(size=n), np.full(n, 0.7)))
    for k in (0, 2, 3, 4):
        assert not problem.gram[k].any()
        assert not problem.gram[:, k].any()
        assert problem.x_y[k] == 0.0
    assert problem.gram[1, 1] > 0.5

    constant = Problem.from_moments(*moments(X, np.full(n, 0.1), np.full(n, 0.7)))
    assert constant.y_y == 0.0
    assert not constant.x_y.any()


def test_small_spread_on_a_large_mean_is_kept():
    X = 1000.0 + np.array([[0.0], [1.0], [0.0], [1.0]]) * 0.01
    problem = Problem.from_moments(*moments(X, X[:, 0], np.ones(4)))
    assert problem.gram[0, 0] == pytest.approx(0.25e-4, rel=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gram": np.eye(3)}, r"number of terms; got shapes \(3, 3\)"),
        ({"x_mean": np.zeros(1)}, "number of terms"),
        ({"x_y": np.array([np.nan, 0.0])}, "finite"),
        ({"gram": np.diag([1.0, np.inf])}, "finite"),
        ({"y_y": np.nan}, "finite"),
    ],
)
def test_problem_refuses_what_does_not_fit(change, message):
    fields = {"gram": np.eye(2), "x_y": np.ones(2), "y_y": 1.0, "x_mean": np.zeros(2), "y_mean": 0.0, "weight": 2.0}
    with pytest.raises(InvalidInputError, match=message):
        Problem(**(fields | change))


@pytest.mark.parametrize("n_terms", [1, 5, 20])
def test_curvature_is_safe(n_terms):
    rng = np.random.default_rng(5)
    X = rng.normal(0.5, 1.0, size=(30, n_terms)) * np.logspace(0, 1, n_terms)
    problem = Problem.from_moments(*moments(X, rng.normal(size=30), np.ones(30)))
    for matrix, estimate in ((np.cov(X.T, bias=True), problem.curvature), (X.T @ X / 30, problem.raw_curvature)):
        truth = np.linalg.eigvalsh(np.atleast_2d(matrix))[-1]
        assert 0.9 * truth < estimate <= truth * (1 + 1e-12)


@pytest.mark.parametrize("n_terms", [0, 3])
def test_nothing_has_no_curvature(n_terms):
    problem = Problem(np.zeros((n_terms, n_terms)), np.zeros(n_terms), 1.0, np.zeros(n_terms), 0.0, 2.0)
    assert problem.curvature == problem.raw_curvature == 0.0


def test_problem_needs_rows():
    with pytest.raises(InvalidInputError, match="positive; got 0"):
        Problem.from_moments(0.0, np.zeros(1), np.zeros((1, 1)), np.zeros(1), 0.0, 0.0)


def test_path_counts_terms_and_norms():
    values = np.array([2.0, 1.0])
    path = Path(
        parameter=Parameter("penalty", values),
        penalties=values,
        coefs=np.array([[0.0, 0.0, 0.0], [1.0, 0.0, -2.5]]),
        intercepts=np.zeros(2),
        gaps=np.zeros(2),
        iterations=np.ones(2, dtype=np.int64),
        status=(Status.CONVERGED, Status.MAX_ITER),
        seconds=0.0,
        residuals=np.array([4.0, 3.0]),
        risks=np.array([1.6, 0.9]),
        weight=10.0,
    )
    np.testing.assert_array_equal(path.n_terms, [0, 2])
    np.testing.assert_array_equal(path.l1_norms, [0.0, 3.5])
    np.testing.assert_allclose(path.fit_weights, [0.05, 0.1])
    for name, expected in [
        ("penalty", values),
        ("l1_radius", [0.0, 3.5]),
        ("fit_weight", [0.05, 0.1]),
        ("residual", [4.0, 3.0]),
    ]:
        np.testing.assert_allclose(path.values(name), expected)
        assert path.plot(name).x_name == name
    with pytest.raises(InvalidInputError, match="fit_weight, l1_radius, penalty, residual; got 'lambda'"):
        path.values("lambda")
    curves = path.plot()
    np.testing.assert_array_equal(curves.terms, [2, 0])
    np.testing.assert_array_equal(curves.coefs, [[0.0, 0.0], [-2.5, 1.0]])
    assert curves.log_x


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_every_solver_is_made_by_name_and_keeps_the_protocol(name):
    assert isinstance(make_solver(name), SOLVERS[name])
    assert isinstance(make_solver(name), Solver)


def test_make_solver_returns_the_instance():
    solver = Glmnet(l1_ratio=0.5)
    assert make_solver(solver) is solver


@pytest.mark.parametrize("wrong", ["lars", Glmnet, None, 3])
def test_make_solver_refuses_others(wrong):
    with pytest.raises(InvalidInputError, match=r"`solver` must be one of \[.*'glmnet'.*got"):
        make_solver(wrong)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"signs": np.array([1, 0])}, r"`signs` must have one entry for each of 3 terms; got \(2,\)"),
        ({"unpenalised": np.array([True])}, r"`unpenalised` must have one entry for each of 3 terms; got \(1,\)"),
        ({"signs": np.array([1, 0, 2])}, "`signs` must be -1, 0 or 1; got 2"),
    ],
)
def test_constraints_must_fit_the_terms(limits, message):
    with pytest.raises(InvalidInputError, match=message):
        Problem(np.eye(3), np.zeros(3), 1.0, np.zeros(3), 0.0, 4.0, **limits)


def test_constraints_stay_with_their_terms():
    signs, unpenalised = np.array([1, 0, -1]), np.array([False, True, False])
    problem = Problem(np.eye(3), np.zeros(3), 1.0, np.zeros(3), 0.0, 4.0, signs=signs, unpenalised=unpenalised)
    part = problem.take(np.array([1, 2]))
    np.testing.assert_array_equal(part.signs, [0, -1])
    np.testing.assert_array_equal(part.unpenalised, [True, False])
    other = problem.retarget(np.ones(3), 1.0, 4.0)
    assert other.signs is signs
    assert other.unpenalised is unpenalised
