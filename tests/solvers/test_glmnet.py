"""The squared loss of Glmnet against R's glmnet, scikit-learn and its own certificates."""

import json
import pathlib
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge, enet_path

from rulegrove.exceptions import InvalidInputError, NotConvergedWarning
from rulegrove.solvers import Glmnet, Status
from rulegrove.solvers.certificates import duality_gap, kkt_violation, objective
from solver_problems import KINDS, build, make_problem, nested_rules

REFERENCE = pathlib.Path(__file__).parents[1] / "reference" / "glmnet.json"


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.01])
@pytest.mark.parametrize("kind", KINDS)
def test_every_point_carries_its_certificate(kind, l1_ratio):
    problem = build(kind)
    path = Glmnet(l1_ratio=l1_ratio, n_penalties=25, penalty_ratio=1e-2).path(problem)
    assert path.status == (Status.CONVERGED,) * 25
    assert path.gaps.max() <= Glmnet().tol
    for penalty, coef, gap in zip(path.penalties, path.coefs, path.gaps, strict=True):
        assert duality_gap(problem, coef, penalty, l1_ratio) / (problem.y_y / 2) == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_tight_tolerance_meets_the_optimality_conditions(kind, l1_ratio):
    problem = build(kind)
    path = Glmnet(l1_ratio=l1_ratio, n_penalties=8, penalty_ratio=1e-2, tol=1e-13).path(problem)
    violations = [kkt_violation(problem, c, p, l1_ratio) for p, c in zip(path.penalties, path.coefs, strict=True)]
    assert max(violations) < 1e-3


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("kind", ["random", "weights", "mixed scales", "one informative", "constant and zero columns"])
def test_agrees_with_scikit_learn(kind, l1_ratio):
    """Where the minimiser is unique; ties and dependent columns are compared by objective below."""
    problem = build(kind)
    path = Glmnet(l1_ratio=l1_ratio, n_penalties=15, penalty_ratio=1e-2, tol=1e-14).path(problem)
    root = np.linalg.cholesky(problem.gram + 1e-300 * np.eye(12)) if kind != "constant and zero columns" else None
    if root is None:
        values, vectors = np.linalg.eigh(problem.gram)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
    design = np.asfortranarray(root.T * np.sqrt(12))  # any rows with this Gram: scikit-learn wants some
    target = np.linalg.lstsq(design.T, 12 * problem.x_y, rcond=None)[0]
    _, coefs, _ = enet_path(
        design,
        target,
        l1_ratio=l1_ratio,
        alphas=path.penalties,
        precompute=12 * problem.gram,
        Xy=12 * problem.x_y,
        tol=1e-14,
        max_iter=100_000,
    )
    np.testing.assert_allclose(path.coefs, coefs.T, atol=1e-6 * np.abs(coefs).max())


@pytest.mark.parametrize("kind", ["duplicated", "tree rules", "wide"])
def test_objective_is_as_low_as_scikit_learns(kind):
    """On dependent columns the coefficients may differ, the objective may not."""
    rng = np.random.default_rng(1)
    X, y = nested_rules(rng, 150, 48) if kind == "tree rules" else (rng.normal(size=(15, 40)), rng.normal(size=15))
    if kind == "duplicated":
        X = np.hstack([X[:, :6], X[:, :6]])
    problem = make_problem(X, y)
    path = Glmnet(n_penalties=20, penalty_ratio=1e-2, tol=1e-10).path(problem)
    Xc, yc = np.asfortranarray(X - X.mean(axis=0)), y - y.mean()
    _, coefs, _ = enet_path(
        Xc, yc, l1_ratio=1.0, alphas=path.penalties, precompute=Xc.T @ Xc, tol=1e-10, max_iter=100_000
    )
    for penalty, ours, theirs in zip(path.penalties, path.coefs, coefs.T, strict=True):
        assert objective(problem, ours, penalty) == pytest.approx(objective(problem, theirs, penalty), rel=1e-8)


def reference_cases():
    return json.loads(REFERENCE.read_text())["cases"]


@pytest.mark.parametrize("case", reference_cases(), ids=lambda case: case["name"])
def test_agrees_with_r(case):
    """R's glmnet divides y by its standard deviation s, so its L2 part weighs 1/s times ours (see the README there)."""
    X, y, weights = (np.array(case[name], dtype=float) for name in ("x", "y", "weights"))
    problem = make_problem(X, y, weights)
    l1, l2 = case["alpha"], (1.0 - case["alpha"]) / np.sqrt(problem.y_y)
    penalties = np.array(case["lambda"]) * (l1 + l2)
    path = Glmnet(l1_ratio=l1 / (l1 + l2), tol=1e-14).path(problem, penalties)
    expected = np.array(case["coefs"])
    assert np.count_nonzero(expected[-1]) >= 4
    np.testing.assert_allclose(path.coefs, expected, atol=2e-6 * np.abs(expected).max())
    np.testing.assert_allclose(path.intercepts, case["intercepts"], atol=1e-5)


def test_ridge_alone_has_its_closed_form():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60)
    problem = make_problem(X, y)
    path = Glmnet(l1_ratio=0.0, tol=1e-13).path(problem, [1.0, 0.1])
    for penalty, coef, intercept in zip(path.penalties, path.coefs, path.intercepts, strict=True):
        ridge = Ridge(alpha=60 * penalty).fit(X, y)
        np.testing.assert_allclose(coef, ridge.coef_, atol=1e-6)
        assert intercept == pytest.approx(ridge.intercept_, abs=1e-6)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
@pytest.mark.parametrize("kind", ["random", "strongly correlated", "wide"])
def test_chunks_started_warm_equal_the_whole_path(kind, l1_ratio):
    problem = build(kind)
    solver = Glmnet(l1_ratio=l1_ratio, n_penalties=20, penalty_ratio=1e-2, tol=1e-12)
    whole = solver.path(problem)
    first = solver.path(problem, whole.penalties[:10])
    second = solver.path(problem, whole.penalties[10:], start=first.coefs[-1])
    np.testing.assert_array_equal(first.coefs, whole.coefs[:10])
    np.testing.assert_allclose(second.coefs, whole.coefs[10:], atol=1e-5 * np.abs(whole.coefs).max())
    cold = solver.path(problem, whole.penalties[10:])
    assert second.iterations[0] <= cold.iterations[0]


def test_start_at_the_solution_takes_no_pass():
    problem = build("random")
    solver = Glmnet(penalties=[0.05])
    once = solver.path(problem)
    again = solver.path(problem, start=once.coefs[0])
    assert again.iterations[0] == 0
    np.testing.assert_array_equal(again.coefs, once.coefs)


@pytest.mark.parametrize("kind", ["random", "constant and zero columns", "tree rules"])
def test_any_start_leads_to_the_minimum(kind):
    problem = build(kind)
    start = 10.0 * np.random.default_rng(0).normal(size=problem.n_terms)
    before = start.copy()
    solver = Glmnet(penalties=[0.05, 0.01], tol=1e-9)
    far, near = solver.path(problem, start=start), solver.path(problem)
    assert far.gaps.max() <= 1e-9
    np.testing.assert_array_equal(start, before)
    for penalty, a, b in zip(far.penalties, far.coefs, near.coefs, strict=True):
        assert objective(problem, a, penalty) == pytest.approx(objective(problem, b, penalty), rel=1e-8)


def test_threads_share_nothing():
    problem = build("tree rules")
    solver = Glmnet(n_penalties=30, penalty_ratio=1e-2)
    alone = solver.path(problem)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: solver.path(problem), range(8)))
    for path in together:
        np.testing.assert_array_equal(path.coefs, alone.coefs)


def test_fit_improves_along_the_path():
    problem = build("tree rules")
    path = Glmnet(n_penalties=40, penalty_ratio=1e-2).path(problem)
    fits = [objective(problem, coef, 0.0) for coef in path.coefs]
    assert np.diff(fits).max() <= 1e-6 * problem.y_y
    assert path.n_terms[0] == 0
    assert path.n_terms[-1] > 10
    assert path.l1_norms[-1] == path.l1_norms.max()
    assert path.parameter.name == "penalty"
    np.testing.assert_array_equal(path.parameter.values, path.penalties)


def test_constant_target_gives_the_constant_model():
    X = np.random.default_rng(0).normal(size=(30, 3))
    path = Glmnet(n_penalties=5).path(make_problem(X, np.full(30, 0.1)))
    assert not path.coefs.any()
    np.testing.assert_allclose(path.intercepts, 0.1)
    assert set(path.status) == {Status.CONVERGED}


def test_no_terms_gives_the_constant_model():
    path = Glmnet(n_penalties=3).path(make_problem(np.empty((4, 0)), np.array([1.0, 2.0, 3.0, 6.0])))
    assert path.coefs.shape == (3, 0)
    np.testing.assert_allclose(path.intercepts, 3.0)


def test_single_column_is_soft_thresholding():
    X, y = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0.0, 2.0, 0.0, 2.0])
    path = Glmnet(tol=1e-15).path(make_problem(X, y), [0.6, 0.3, 0.1])
    np.testing.assert_allclose(path.coefs[:, 0], [0.0, 0.8, 1.6])
    np.testing.assert_allclose(path.intercepts, [1.0, 0.6, 0.2])


def test_limit_warns_once_and_reports_how_far():
    problem = build("strongly correlated")
    solver = Glmnet(n_penalties=10, penalty_ratio=1e-4, max_iter=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = solver.path(problem)
    assert [w.category for w in caught] == [NotConvergedWarning]
    late = [status is Status.MAX_ITER for status in path.status]
    assert f"left {sum(late)} of 10" in str(caught[0].message)
    assert f"{path.gaps.max():.1e}" in str(caught[0].message)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(path.gaps > Glmnet().tol, late)
    assert path.iterations.max() == 2


def test_clone_keeps_parameters():
    solver = clone(Glmnet(l1_ratio=0.5, penalties=[0.2, 0.1], tol=1e-8))
    assert solver.get_params()["penalties"] == [0.2, 0.1]
    np.testing.assert_array_equal(solver.path(build("random")).penalties, [0.2, 0.1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l1_ratio": 1.5}, "`l1_ratio` of Glmnet must be between 0 and 1; got 1.5"),
        ({"n_penalties": 0}, "`n_penalties`"),
        ({"penalty_ratio": 1.0}, "`penalty_ratio`"),
        ({"tol": 0.0}, "`tol`"),
        ({"max_iter": 0}, "`max_iter`"),
        ({"penalties": [0.1, 0.5]}, "must be decreasing; got 0.1 before 0.5"),
        ({"penalties": [0.1, 0.0]}, "positive and finite"),
        ({"penalties": [np.nan]}, "positive and finite"),
        ({"penalties": []}, "one row of numbers"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        Glmnet(**parameters).path(build("random"))
