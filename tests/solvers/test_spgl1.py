"""Paths over the radius and the residual, against the package spgl1, Glmnet and certificates."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from rulegrove.exceptions import InvalidInputError, NotConvergedWarning
from rulegrove.solvers import Glmnet, Status, spgl1
from rulegrove.solvers.scaling import penalty_at, residual_norm
from rulegrove.solvers.spgl1 import Spgl1
from solver_problems import KINDS, build, make_problem, nested_rules

UNIQUE = ["random", "weights", "mixed scales", "one informative", "constant and zero columns", "wide"]


def gradient(problem, coef, l2=0.0):
    return problem.x_y - problem.gram @ coef - l2 * coef


def fit(problem, coef, l2=0.0):
    """Objective without the constraint."""
    return 0.5 * float(problem.y_y - 2.0 * problem.x_y @ coef + coef @ problem.gram @ coef + l2 * coef @ coef)


def null_residual(problem):
    return np.sqrt(problem.y_y * problem.weight)


@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("kind", KINDS)
def test_every_point_carries_its_certificate(kind, l2):
    problem = build(kind)
    path = Spgl1(n_points=25, l2_penalty=l2).path(problem)
    assert path.status == (Status.CONVERGED,) * 25
    assert path.parameter.name == "l1_radius"
    assert path.gaps.max() <= Spgl1().tol
    radii = path.parameter.values
    assert (path.l1_norms <= radii * (1 + 1e-10)).all()
    for radius, coef, gap, penalty in zip(radii, path.coefs, path.gaps, path.penalties, strict=True):
        grad = gradient(problem, coef, l2)
        assert penalty == pytest.approx(np.abs(grad).max())
        expected = (radius * np.abs(grad).max() - coef @ grad) / (problem.y_y / 2)
        assert gap == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("kind", KINDS)
def test_tight_tolerance_meets_the_optimality_conditions(kind, l2):
    """Gradients of active terms are equal but for their signs, those of all others at most as large."""
    problem = build(kind)
    path = Spgl1(n_points=8, l2_penalty=l2, tol=1e-11).path(problem)
    assert set(path.status) == {Status.CONVERGED}
    for radius, coef, penalty in zip(path.parameter.values, path.coefs, path.penalties, strict=True):
        active = coef != 0
        grad = gradient(problem, coef, l2)
        np.testing.assert_allclose(grad[active], penalty * np.sign(coef[active]), rtol=1e-3)
        assert np.abs(coef).sum() == pytest.approx(radius, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_is_the_path_of_glmnet(kind):
    """The solution at a penalty is the solution over the ball that just holds it; the penalty translates back."""
    problem = build(kind)
    lasso = Glmnet(n_penalties=15, penalty_ratio=1e-2, tol=1e-12).path(problem)
    path = Spgl1(tol=1e-11).path(problem, lasso.l1_norms)
    np.testing.assert_allclose(path.penalties, lasso.penalties, rtol=1e-3)
    np.testing.assert_allclose(path.residuals, lasso.residuals, rtol=1e-6)
    for ours, theirs in zip(path.coefs, lasso.coefs, strict=True):
        assert fit(problem, ours) == pytest.approx(fit(problem, theirs), abs=1e-9 * problem.y_y)
    if kind in UNIQUE:
        np.testing.assert_allclose(path.coefs, lasso.coefs, atol=1e-4 * np.abs(lasso.coefs).max())
        clear = np.abs(lasso.coefs) > 1e-3 * np.abs(lasso.coefs).max()
        assert (path.coefs[clear] != 0).all()
        assert (path.coefs[lasso.coefs == 0] == 0).mean() > 0.999


@pytest.mark.parametrize("kind", ["random", "tree rules", "wide"])
def test_l2_penalty_is_the_elastic_net(kind):
    problem = build(kind)
    net = Glmnet(l1_ratio=0.5, tol=1e-12).path(problem, [0.2])
    path = Spgl1(l1_radius=net.l1_norms, l2_penalty=0.1, tol=1e-11).path(problem)
    assert path.penalties[0] == pytest.approx(0.1, rel=1e-4)
    np.testing.assert_allclose(path.coefs, net.coefs, atol=1e-4 * np.abs(net.coefs).max())


def test_agrees_with_the_package_on_the_radius():
    """The package has no intercept, so it is fed centred data; a radius of 0 it takes for none at all."""
    package = pytest.importorskip("spgl1")
    rng = np.random.default_rng(3)
    X, y = nested_rules(rng, 120, 40)
    X, y = X - X.mean(axis=0), y - y.mean()
    problem = make_problem(X, y)
    for radius in (0.1, 0.5, 1.5):
        theirs, residual, _, _ = package.spg_lasso(X, y, radius, opt_tol=1e-7, verbosity=0, iter_lim=5000)
        path = Spgl1(l1_radius=radius, tol=1e-9).path(problem)
        assert np.abs(theirs).sum() <= radius * (1 + 1e-8)
        assert path.residuals[0] ** 2 == pytest.approx(residual @ residual, rel=1e-6)
        assert path.residuals[0] ** 2 <= residual @ residual * (1 + 1e-9)


def test_agrees_with_the_package_on_the_residual():
    package = pytest.importorskip("spgl1")
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60, 15)), rng.normal(size=60)
    y = y + X[:, 0] - 2.0 * X[:, 1]
    X, y = X - X.mean(axis=0), y - y.mean()
    target = 0.7 * np.linalg.norm(y)
    theirs, residual, _, _ = package.spg_bpdn(X, y, target, opt_tol=1e-8, bp_tol=1e-8, verbosity=0, iter_lim=5000)
    path = Spgl1(residual_target=target, tol=1e-9).path(make_problem(X, y))
    assert np.linalg.norm(residual) == pytest.approx(target, rel=1e-6)
    assert path.residuals[0] == pytest.approx(target, rel=1e-7)
    assert path.l1_norms[0] == pytest.approx(np.abs(theirs).sum(), rel=1e-5)
    np.testing.assert_allclose(path.coefs[0], theirs, atol=1e-4)


def test_radius_zero_is_the_null_model():
    problem = build("tree rules")
    path = Spgl1(l1_radius=0.0).path(problem)
    np.testing.assert_array_equal(path.coefs, 0.0)
    assert path.penalties[0] == np.abs(problem.x_y).max()
    assert (path.gaps[0], path.iterations[0]) == (0.0, 0)
    started = Spgl1(l1_radius=0.0).path(problem, start=np.full(60, 0.1))
    np.testing.assert_array_equal(started.coefs, 0.0)


@pytest.mark.parametrize("kind", ["random", "weights", "wide", "duplicated"])
def test_radius_beyond_least_squares_gives_least_squares(kind):
    problem = build(kind)
    exact = np.linalg.lstsq(problem.gram, problem.x_y, rcond=1e-12)[0]
    radius = 3.0 * np.abs(exact).sum()
    path = Spgl1(l1_radius=[radius, 10 * radius], tol=1e-9).path(problem)
    assert path.status == (Status.CONVERGED,) * 2
    assert fit(problem, path.coefs[1]) == pytest.approx(fit(problem, exact), abs=1e-9 * problem.y_y)
    assert path.penalties.max() < 1e-6 * np.abs(problem.x_y).max()
    if kind in UNIQUE and kind != "wide":
        np.testing.assert_allclose(path.coefs[1], exact, atol=1e-4)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "one informative"])
def test_default_radii_cover_the_range_of_glmnets_penalties(kind):
    problem = build(kind)
    solver = Spgl1(n_points=30)
    radii = solver.grid(problem)
    path = solver.path(problem)
    assert len(radii) == 30
    assert radii[0] == 0.0
    assert (np.diff(radii) >= 0).all()
    np.testing.assert_array_equal(path.parameter.values, radii)
    np.testing.assert_array_equal(radii, Spgl1(n_points=30).grid(problem))
    share = path.penalties / path.penalties[0]
    assert share[-1] < 5e-3
    assert (share[:-1] / share[1:]).max() < 4.0  # an even grid falls by 1.27 a step


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_residual_targets_are_hit(kind, l2):
    problem = build(kind)
    limit = Spgl1(n_points=20, l2_penalty=l2, tol=1e-7).path(problem).residuals[-1]
    null = null_residual(problem)
    targets = limit + (null - limit) * np.array([1.2, 1.0, 0.8, 0.4, 0.1, 0.02])
    solver = Spgl1(residual_target=targets, l2_penalty=l2)
    path = solver.path(problem)
    assert path.status == (Status.CONVERGED,) * 6
    assert path.parameter.name == "residual_target"
    np.testing.assert_allclose(path.parameter.values, targets)
    np.testing.assert_allclose(solver.grid(problem), targets / np.sqrt(problem.weight))
    np.testing.assert_array_equal(path.coefs[:2], 0.0)
    assert np.abs(path.residuals - np.minimum(targets, null)).max() <= 1e-5 * null * (1 + 1e-9)
    for coef, residual, penalty in zip(path.coefs, path.residuals, path.penalties, strict=True):
        assert residual_norm(problem, coef) == pytest.approx(residual, rel=1e-6)
        if l2 == 0.0:
            assert penalty_at(problem, coef) == pytest.approx(penalty)
    again = Spgl1(l1_radius=path.l1_norms, l2_penalty=l2, tol=1e-7).path(problem)
    assert np.abs(again.residuals - path.residuals).max() <= 1e-3 * null


def test_newtons_radii_grow_to_the_root(monkeypatch):
    """From below no step passes the root, and the last ones double the digits."""
    radii, residuals = [], []
    solve = spgl1._Walk.solve

    def record(walk, radius, tol, max_iter):
        end = solve(walk, radius, tol, max_iter)
        radii.append(radius)
        residuals.append(end.error**0.5)
        return end

    monkeypatch.setattr(spgl1._Walk, "solve", record)
    problem = build("random")
    target = 0.6 * null_residual(problem)
    Spgl1(residual_target=target, tol=1e-10).path(problem)
    excess = np.array(residuals) - target / np.sqrt(problem.weight)
    assert 3 <= len(radii) <= 12
    assert (np.diff(radii) > 0).all()
    assert (excess > -1e-9).all()
    assert excess[-1] < 1e-9


def test_residual_search_comes_back_from_a_start_beyond():
    problem = build("random")
    target = 0.8 * null_residual(problem)
    solver = Spgl1(residual_target=target, tol=1e-9)
    far = solver.path(problem, start=np.full(12, 2.0))
    np.testing.assert_allclose(far.coefs, solver.path(problem).coefs, atol=1e-6)


def test_residual_target_means_the_same_on_a_part_of_the_rows():
    """Twice the rows have root two times the residual: the points of the grid do not change, the targets do."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    one, two = make_problem(X, y), make_problem(np.vstack([X, X]), np.r_[y, y])
    solver = Spgl1(residual_target=0.95 * null_residual(two))
    points = solver.grid(two)
    small, large = solver.path(one, points), solver.path(two, points)
    np.testing.assert_allclose(small.coefs, large.coefs, atol=1e-9)
    assert large.parameter.values[0] == pytest.approx(np.sqrt(2) * small.parameter.values[0])


@pytest.mark.parametrize("kind", ["random", "weights", "strongly correlated", "tree rules"])
def test_target_below_least_squares_gives_its_limit(kind):
    problem = build(kind)
    exact = np.linalg.lstsq(problem.gram, problem.x_y, rcond=1e-12)[0]
    limit, null = residual_norm(problem, exact), null_residual(problem)
    targets = [0.5 * (limit + null), 0.9 * limit, 0.5 * limit]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = Spgl1(residual_target=targets).path(problem)
    assert [w.category for w in caught] == [NotConvergedWarning]
    assert caught[0].filename == __file__
    assert "2 of 3 values of `residual_target`" in str(caught[0].message)
    assert path.status == (Status.CONVERGED, Status.UNREACHABLE, Status.UNREACHABLE)
    np.testing.assert_allclose(path.residuals[1:], limit, atol=1e-3 * null)
    assert path.gaps.max() <= Spgl1().tol


@pytest.mark.parametrize("name", ["l1_radius", "residual_target"])
@pytest.mark.parametrize("kind", ["random", "strongly correlated", "wide"])
def test_chunks_started_warm_equal_the_whole_path(kind, name):
    problem = build(kind)
    points = Spgl1(n_points=20).grid(problem)
    if name == "residual_target":
        points = null_residual(problem) * np.linspace(1.0, 0.6, 20)
    solver = Spgl1(**{name: points}, tol=1e-10)
    grid = solver.grid(problem)
    whole = solver.path(problem)
    first = solver.path(problem, grid[:10])
    second = solver.path(problem, grid[10:], start=first)
    np.testing.assert_array_equal(first.coefs, whole.coefs[:10])
    np.testing.assert_allclose(second.coefs, whole.coefs[10:], atol=1e-4 * np.abs(whole.coefs).max())
    cold = solver.path(problem, grid[10:])
    assert second.iterations[0] <= cold.iterations[0]


def test_start_at_the_solution_takes_no_step():
    problem = build("random")
    solver = Spgl1(l1_radius=1.5)
    once = solver.path(problem)
    again = solver.path(problem, start=once.coefs[0])
    assert again.iterations[0] == 0
    np.testing.assert_array_equal(again.coefs, once.coefs)


@pytest.mark.parametrize("kind", ["random", "constant and zero columns", "tree rules"])
def test_any_start_leads_to_the_minimum(kind):
    problem = build(kind)
    start = 10.0 * np.random.default_rng(0).normal(size=problem.n_terms)
    before, gram = start.copy(), problem.gram.copy()
    solver = Spgl1(l1_radius=[0.5, 1.0], tol=1e-9)
    far, near = solver.path(problem, start=start), solver.path(problem)
    assert far.gaps.max() <= 1e-9
    np.testing.assert_array_equal(start, before)
    np.testing.assert_array_equal(problem.gram, gram)
    for a, b in zip(far.coefs, near.coefs, strict=True):
        assert fit(problem, a) == pytest.approx(fit(problem, b), rel=1e-8)


def test_threads_share_nothing():
    problem = build("tree rules")
    solver = Spgl1(n_points=30)
    alone = solver.path(problem)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: solver.path(problem), range(8)))
    for path in together:
        np.testing.assert_array_equal(path.coefs, alone.coefs)


def test_fit_improves_along_the_path():
    problem = build("tree rules")
    path = Spgl1(n_points=40).path(problem)
    assert np.diff(path.residuals).max() <= 1e-5 * null_residual(problem)
    assert np.diff(path.penalties).max() <= 1e-3 * path.penalties[0]
    assert path.n_terms[0] == 0
    assert 10 < path.n_terms[-1] < 60


@pytest.mark.parametrize("parameters", [{}, {"l1_radius": [0.0, 1.0]}, {"residual_target": [0.5, 0.0]}])
def test_constant_target_gives_the_constant_model(parameters):
    X = np.random.default_rng(0).normal(size=(30, 3))
    path = Spgl1(**parameters).path(make_problem(X, np.full(30, 0.1)), start=np.ones(3))
    assert not path.coefs.any()
    np.testing.assert_allclose(path.intercepts, 0.1)
    np.testing.assert_array_equal(path.gaps, 0.0)
    assert set(path.status) == {Status.CONVERGED}
    np.testing.assert_array_equal(Spgl1().grid(make_problem(X, np.full(30, 0.1))), [0.0])


@pytest.mark.parametrize("parameters", [{}, {"l1_radius": [0.0, 1.0]}, {"residual_target": [5.0]}])
def test_no_terms_gives_the_constant_model(parameters):
    path = Spgl1(**parameters).path(make_problem(np.empty((4, 0)), np.array([1.0, 2.0, 3.0, 6.0])))
    assert path.coefs.shape == (len(path.status), 0)
    np.testing.assert_allclose(path.intercepts, 3.0)
    assert set(path.status) == {Status.CONVERGED}


def test_single_column_takes_the_radius():
    X, y = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0.0, 2.0, 0.0, 2.0])
    path = Spgl1(l1_radius=[0.0, 0.8, 1.6, 5.0], tol=1e-12).path(make_problem(X, y))
    np.testing.assert_allclose(path.coefs[:, 0], [0.0, 0.8, 1.6, 2.0])
    np.testing.assert_allclose(path.penalties, [0.5, 0.3, 0.1, 0.0], atol=1e-12)
    np.testing.assert_allclose(path.intercepts, [1.0, 0.6, 0.2, 0.0], atol=1e-12)


@pytest.mark.parametrize("name", ["l1_radius", "residual_target"])
def test_limit_warns_once_and_reports_how_far(name):
    problem = build("tree rules")
    values = [1.0, 2.0, 3.0] if name == "l1_radius" else null_residual(problem) * np.array([0.9, 0.8, 0.7])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = Spgl1(**{name: values}, max_iter=3).path(problem)
    assert [w.category for w in caught] == [NotConvergedWarning]
    late = [status is Status.MAX_ITER for status in path.status]
    assert f"Spgl1 left {sum(late)} of 3 points" in str(caught[0].message)
    assert "max_iter=3 " in str(caught[0].message)
    assert f"{path.gaps.max():.1e}" in str(caught[0].message)
    assert f"at {name}" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert path.iterations.max() == 3


def test_clone_keeps_parameters():
    solver = clone(Spgl1(l1_radius=[0.2, 0.4], l2_penalty=0.1, tol=1e-8))
    assert solver.get_params()["l1_radius"] == [0.2, 0.4]
    np.testing.assert_array_equal(solver.path(build("random")).parameter.values, [0.2, 0.4])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l2_penalty": -1.0}, "`l2_penalty` of Spgl1 must be zero or positive; got -1.0"),
        ({"n_points": 0}, "`n_points`"),
        ({"tol": 0.0}, "`tol`"),
        ({"max_iter": 0}, "`max_iter`"),
        ({"l1_radius": [0.5, 0.1]}, "`l1_radius` must be increasing; got 0.5 before 0.1"),
        ({"l1_radius": -0.1}, "`l1_radius` must be zero or positive and finite"),
        ({"l1_radius": [np.nan]}, "zero or positive and finite"),
        ({"l1_radius": []}, "one row of numbers"),
        ({"residual_target": [0.1, 0.5]}, "`residual_target` must be decreasing; got 0.1 before 0.5"),
        ({"residual_target": np.inf}, "`residual_target` must be zero or positive and finite"),
        ({"l1_radius": 1.0, "residual_target": 2.0}, "`l1_radius` or `residual_target`, not both; got 1.0 and 2.0"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        Spgl1(**parameters).path(build("random"))


@pytest.mark.parametrize("start", [np.zeros(3), np.full(12, np.nan)])
def test_start_must_fit(start):
    with pytest.raises(InvalidInputError, match="12 finite coefficients"):
        Spgl1().path(build("random"), start=start)
