"""Fixed-point continuation against scikit-learn and Glmnet, and the ways of its users."""

import functools
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge, enet_path

import solver_problems
from rulegrove.exceptions import InvalidInputError, NotConvergedWarning
from rulegrove.solvers import Glmnet, Solver, Status
from rulegrove.solvers.certificates import duality_gap, kkt_violation, objective
from rulegrove.solvers.fpc import Fpc
from rulegrove.solvers.scaling import fit_weight_from_penalty, largest_penalty
from solver_problems import KINDS, make_problem

METHODS = ["bb", "basic"]

# The plain method takes forever where scales differ by decades.
build = functools.partial(solver_problems.build, hardness=0.25)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.01])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_point_carries_its_certificate(kind, method, l1_ratio):
    problem = build(kind)
    path = Fpc(method=method, l1_ratio=l1_ratio, n_penalties=25, penalty_ratio=1e-2).path(problem)
    assert path.status == (Status.CONVERGED,) * 25
    assert path.gaps.max() <= Fpc().tol
    for penalty, coef, gap in zip(path.penalties, path.coefs, path.gaps, strict=True):
        assert duality_gap(problem, coef, penalty, l1_ratio) / (problem.y_y / 2) == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_tight_tolerance_meets_the_optimality_conditions(kind, method, l1_ratio):
    problem = build(kind)
    path = Fpc(method=method, l1_ratio=l1_ratio, n_penalties=8, penalty_ratio=1e-2, tol=1e-12).path(problem)
    violations = [kkt_violation(problem, c, p, l1_ratio) for p, c in zip(path.penalties, path.coefs, strict=True)]
    assert max(violations) < 1e-3


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_glmnet(kind, method, l1_ratio):
    """Support and coefficients where the minimiser is unique, the objective everywhere."""
    problem = build(kind)
    penalties = largest_penalty(problem, l1_ratio) * np.array([0.7, 0.3, 0.1, 0.03])
    ours = Fpc(method=method, l1_ratio=l1_ratio, tol=1e-11).path(problem, penalties)
    theirs = Glmnet(l1_ratio=l1_ratio, tol=1e-11).path(problem, penalties)
    for penalty, a, b in zip(penalties, ours.coefs, theirs.coefs, strict=True):
        assert objective(problem, a, penalty, l1_ratio) == pytest.approx(
            objective(problem, b, penalty, l1_ratio), abs=1e-10 * problem.y_y
        )
    np.testing.assert_allclose(ours.residuals, theirs.residuals, rtol=1e-4)
    if kind not in {"duplicated", "tree rules"} or l1_ratio < 1.0:
        np.testing.assert_allclose(ours.coefs, theirs.coefs, atol=1e-4 * np.abs(theirs.coefs).max())
        np.testing.assert_array_equal(ours.coefs != 0, theirs.coefs != 0)
        np.testing.assert_allclose(ours.intercepts, theirs.intercepts, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_agrees_with_scikit_learn(l1_ratio, method):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 10))
    y = X[:, 0] - 2.0 * X[:, 1] + rng.normal(size=50)
    problem = make_problem(X, y)
    path = Fpc(method=method, l1_ratio=l1_ratio, n_penalties=12, penalty_ratio=1e-2, tol=1e-13).path(problem)
    Xc, yc = np.asfortranarray(X - X.mean(axis=0)), y - y.mean()
    _, coefs, _ = enet_path(
        Xc, yc, l1_ratio=l1_ratio, alphas=path.penalties, precompute=Xc.T @ Xc, tol=1e-14, max_iter=100_000
    )
    np.testing.assert_allclose(path.coefs, coefs.T, atol=1e-6 * np.abs(coefs).max())


def test_ridge_alone_has_its_closed_form():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60)
    path = Fpc(l1_ratio=0.0, tol=1e-13).path(make_problem(X, y), [1.0, 0.1])
    for penalty, coef in zip(path.penalties, path.coefs, strict=True):
        np.testing.assert_allclose(coef, Ridge(alpha=60 * penalty).fit(X, y).coef_, atol=1e-6)


def test_zeros_are_exact():
    """Of terms that do not matter none keeps a small remainder: what is not zero is far from it."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 40)) + rng.normal(size=(100, 1))
    problem = make_problem(X, X[:, :4].sum(axis=1) + 0.1 * rng.normal(size=100))
    for method in METHODS:
        path = Fpc(method=method, n_penalties=20, penalty_ratio=0.1).path(problem)
        assert path.n_terms.max() < 20
        used = np.abs(path.coefs[path.coefs != 0])
        assert used.min() > 1e-5
        assert not path.coefs[0].any()


def test_own_objective_is_the_papers():
    """``|a|_1 + fit_weight/2 * rss`` at its minimum: no small change lowers it."""
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(40, 6)), rng.normal(size=40)
    y = y + X[:, 0]
    path = Fpc(fit_weight=0.2, tol=1e-14).path(make_problem(X, y))

    def value(coef, intercept):
        return np.abs(coef).sum() + 0.1 * ((y - intercept - X @ coef) ** 2).sum()

    coef, intercept = path.coefs[0], path.intercepts[0]
    assert 0 < np.count_nonzero(coef) < 6
    for _ in range(50):
        moved = value(coef + 1e-3 * rng.normal(size=6), intercept + 1e-3 * rng.normal())
        assert moved > value(coef, intercept)


def test_fit_weight_is_a_penalty_both_ways():
    problem = build("weights")
    fit_weights = [0.02, 0.1, 1.0]
    solver = Fpc(fit_weight=fit_weights)
    penalties = 1.0 / (problem.weight * np.array(fit_weights))
    np.testing.assert_allclose(solver.grid(problem), penalties)
    path = solver.path(problem)
    assert path.parameter.name == "fit_weight"
    np.testing.assert_allclose(path.parameter.values, fit_weights)
    np.testing.assert_allclose(path.penalties, penalties)
    np.testing.assert_allclose(path.values("penalty"), penalties)
    np.testing.assert_array_equal(Fpc().path(problem, penalties).coefs, path.coefs)


def test_grid_is_one_of_penalties_that_a_fold_shares():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    whole, part = make_problem(X, y), make_problem(X[:30], y[:30])
    np.testing.assert_array_equal(
        Fpc(n_penalties=7, penalty_ratio=0.1).grid(whole), Glmnet(n_penalties=7, penalty_ratio=0.1).grid(whole)
    )
    points = Fpc(fit_weight=[0.1, 0.2]).grid(whole)
    path = Fpc(fit_weight=[0.1, 0.2]).path(part, points)
    np.testing.assert_array_equal(path.penalties, points)
    np.testing.assert_allclose(path.parameter.values, [0.2, 0.4])


@pytest.mark.parametrize("method", METHODS)
def test_penalty_that_outweighs_all_gives_exact_zeros(method):
    problem = build("tree rules")
    largest = largest_penalty(problem)
    path = Fpc(method=method).path(problem, [2.0 * largest, largest, 0.9 * largest], start=np.ones(60))
    assert not path.coefs[:2].any()
    assert path.coefs[2].any()
    assert path.iterations[0] == path.iterations[1] == 0
    at_the_limit = fit_weight_from_penalty(largest, problem.weight)
    assert not Fpc(method=method, fit_weight=0.999 * at_the_limit).path(problem).coefs.any()


@pytest.mark.parametrize("method", METHODS)
def test_continuation_leads_to_the_same_minimum(method):
    problem = build("tree rules")
    point = [0.02 * largest_penalty(problem)]
    values = [
        objective(problem, Fpc(method=method, continuation=factor, tol=1e-9).path(problem, point).coefs[0], point[0])
        for factor in (1.5, 4.0, 1e6)
    ]
    np.testing.assert_allclose(values, values[0], atol=1e-9 * problem.y_y)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["random", "strongly correlated", "wide"])
def test_chunks_started_warm_equal_the_whole_path(kind, method, l1_ratio):
    problem = build(kind)
    solver = Fpc(method=method, l1_ratio=l1_ratio, n_penalties=20, penalty_ratio=1e-2, tol=1e-11)
    whole = solver.path(problem)
    first = solver.path(problem, whole.penalties[:10])
    second = solver.path(problem, whole.penalties[10:], start=first)
    np.testing.assert_array_equal(first.coefs, whole.coefs[:10])
    np.testing.assert_allclose(second.coefs, whole.coefs[10:], atol=1e-4 * np.abs(whole.coefs).max())
    np.testing.assert_array_equal(solver.path(problem, whole.penalties[10:], start=first.coefs[-1]).coefs, second.coefs)
    cold = solver.path(problem, whole.penalties[10:])
    assert second.iterations[0] <= cold.iterations[0]


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_start_at_the_solution_takes_no_iteration(l1_ratio):
    problem = build("random")
    solver = Fpc(l1_ratio=l1_ratio)
    once = solver.path(problem, [0.05])
    again = solver.path(problem, [0.05], start=once)
    assert again.iterations[0] == 0
    np.testing.assert_array_equal(again.coefs, once.coefs)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["random", "constant and zero columns", "tree rules"])
def test_any_start_leads_to_the_minimum(kind, method):
    problem = build(kind)
    start = 10.0 * np.random.default_rng(0).normal(size=problem.n_terms)
    before = start.copy()
    solver = Fpc(method=method, tol=1e-9)
    far, near = solver.path(problem, [0.05, 0.01], start=start), solver.path(problem, [0.05, 0.01])
    assert far.gaps.max() <= 1e-9
    np.testing.assert_array_equal(start, before)
    for penalty, a, b in zip(far.penalties, far.coefs, near.coefs, strict=True):
        assert objective(problem, a, penalty) == pytest.approx(objective(problem, b, penalty), rel=1e-8)


def test_problem_is_left_alone():
    problem = build("tree rules")
    gram, x_y = problem.gram.copy(), problem.x_y.copy()
    points = np.array([0.1, 0.01])
    Fpc().path(problem, points)
    np.testing.assert_array_equal(problem.gram, gram)
    np.testing.assert_array_equal(problem.x_y, x_y)
    np.testing.assert_array_equal(points, [0.1, 0.01])


def test_threads_share_nothing():
    problem = build("tree rules")
    solver = Fpc(n_penalties=30, penalty_ratio=1e-2)
    alone = solver.path(problem)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: solver.path(problem), range(8)))
    for path in together:
        np.testing.assert_array_equal(path.coefs, alone.coefs)


@pytest.mark.parametrize("method", METHODS)
def test_constant_target_gives_the_constant_model(method):
    X = np.random.default_rng(0).normal(size=(30, 3))
    path = Fpc(method=method, n_penalties=5).path(make_problem(X, np.full(30, 0.1)), start=np.ones(3))
    assert not path.coefs.any()
    assert not path.gaps.any()
    np.testing.assert_allclose(path.intercepts, 0.1)
    assert set(path.status) == {Status.CONVERGED}


def test_no_terms_gives_the_constant_model():
    path = Fpc(n_penalties=3).path(make_problem(np.empty((4, 0)), np.array([1.0, 2.0, 3.0, 6.0])))
    assert path.coefs.shape == (3, 0)
    np.testing.assert_allclose(path.intercepts, 3.0)
    assert set(path.status) == {Status.CONVERGED}


@pytest.mark.parametrize("method", METHODS)
def test_single_column_is_soft_thresholding(method):
    X, y = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0.0, 2.0, 0.0, 2.0])
    path = Fpc(method=method, tol=1e-15).path(make_problem(X, y), [0.6, 0.3, 0.1])
    np.testing.assert_allclose(path.coefs[:, 0], [0.0, 0.8, 1.6])
    np.testing.assert_allclose(path.intercepts, [1.0, 0.6, 0.2])


def test_tolerance_below_rounding_stalls_and_says_so():
    problem = build("tree rules")
    with pytest.warns(NotConvergedWarning, match=r"above tol=1\.0e-30"):
        path = Fpc(tol=1e-30, n_penalties=5, penalty_ratio=0.05).path(problem)
    assert Status.STALLED in path.status
    assert Status.MAX_ITER not in path.status
    assert path.gaps.max() < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_limit_warns_once_and_reports_how_far(method):
    problem = build("tree rules")
    solver = Fpc(method=method, n_penalties=10, penalty_ratio=1e-3, max_iter=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = solver.path(problem)
    assert [w.category for w in caught] == [NotConvergedWarning]
    late = np.array([status is Status.MAX_ITER for status in path.status])
    message = str(caught[0].message)
    assert f"Fpc left {late.sum()} of 10 points" in message
    assert "max_iter=2" in message
    assert f"{path.gaps.max():.1e}" in message
    assert f"at fit_weight {path.parameter.values[np.argmax(path.gaps)]:.3g}" in message
    assert "Raise `max_iter` or `tol`" in message
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(path.gaps > Fpc().tol, late)
    assert path.iterations.max() == 2


def test_is_a_solver_and_clones():
    solver = Fpc(l1_ratio=0.5, fit_weight=[0.1, 0.2], tol=1e-8)
    assert isinstance(solver, Solver)
    assert clone(solver).get_params() == solver.get_params()
    assert clone(solver).get_params()["fit_weight"] == [0.1, 0.2]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "as"}, "`method` of Fpc must be 'bb' or 'basic'; got 'as'"),
        ({"fit_weight": -1.0}, "`fit_weight` must be positive and finite; got -1"),
        ({"fit_weight": 0.0}, "`fit_weight` must be positive and finite; got 0"),
        ({"fit_weight": [1.0, np.inf]}, "`fit_weight` must be positive and finite"),
        ({"fit_weight": [1.0, 0.5]}, "`fit_weight` must be increasing; got 1 before 0.5"),
        ({"fit_weight": []}, "one row of numbers"),
        ({"l1_ratio": 1.5}, "`l1_ratio` of Fpc must be between 0 and 1; got 1.5"),
        ({"n_penalties": 0}, "`n_penalties`"),
        ({"penalty_ratio": 1.0}, "`penalty_ratio`"),
        ({"continuation": 1.0}, "`continuation` of Fpc must be above 1 and finite; got 1.0"),
        ({"continuation": np.inf}, "`continuation`"),
        ({"tol": 0.0}, "`tol`"),
        ({"max_iter": 0}, "`max_iter`"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        Fpc(**parameters).path(build("random"))


def test_points_must_decrease():
    with pytest.raises(InvalidInputError, match=r"`points` must be decreasing; got 0\.1 before 0\.5"):
        Fpc().path(build("random"), [0.1, 0.5])


@pytest.mark.parametrize("start", [np.zeros(3), np.full(12, np.nan)])
def test_start_must_fit(start):
    with pytest.raises(InvalidInputError, match="12 finite coefficients"):
        Fpc().path(build("random"), start=start)
