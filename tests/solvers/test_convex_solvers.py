"""Every convex solver on every kind of problem: certificates, agreement, and where there is nothing to agree on.

Beyond the mirror of the package: no one module could be blamed if two of them disagreed.
"""

import numpy as np
import pytest

from rulegrove.design.bits import compile_rules
from rulegrove.rules.rule import Condition, Rule
from rulegrove.rules.simplify import simplify
from rulegrove.solvers import Fpc, Glmnet, Problem, Spgl1, Status
from rulegrove.solvers.certificates import duality_gap, kkt_violation, objective
from rulegrove.solvers.scaling import l1_radius, largest_penalty, penalty_at, residual_norm

SOLVERS = {
    "glmnet": Glmnet(tol=1e-9),
    "spgl1": Spgl1(tol=1e-9),
    "fpc": Fpc(tol=1e-9),
    "fpc basic": Fpc(method="basic", tol=1e-9),
}
SHARES = np.array([0.5, 0.2, 0.05])  # of the largest penalty


def tree_rules(rng, n_rows, n_trees):
    """Left and right child of a root, and the two children of the left one, over and over."""
    z = rng.normal(size=(n_rows, 4))
    rules = []
    for _ in range(n_trees):
        a, b = rng.choice(4, 2, replace=False)
        s, t = rng.normal(scale=0.7, size=2)
        root = (Condition(int(a), upper=s), Condition(int(a), lower=s))
        rules += [Rule((root[0],)), Rule((root[1],))]
        rules += [Rule((root[0], Condition(int(b), upper=t))), Rule((root[0], Condition(int(b), lower=t)))]
    y = np.where(z[:, 0] + z[:, 1] * z[:, 2] + 0.5 * rng.normal(size=n_rows) > 0, 1.0, -1.0)
    return rules, compile_rules(rules, 4).evaluate(z.T).to_dense().astype(float), y


def build(kind):
    rng = np.random.default_rng(42)
    X, y, weights = rng.normal(size=(80, 12)), rng.normal(size=80), np.ones(80)
    y = y + X @ np.r_[2.0, -1.0, 0.5, np.zeros(9)]
    match kind:
        case "duplicated":
            X = np.hstack([X, X, -X[:, :3]])
        case "constant":
            X[:, 3] = 0.1
        case "all zero":
            X[:, 7] = 0.0
        case "wide":
            X = rng.normal(size=(20, 60))
            y = X[:, 0] - X[:, 5] + 0.1 * rng.normal(size=20)
            weights = np.ones(20)
        case "single informative":
            y = 3.0 * X[:, 4] + 1e-3 * rng.normal(size=80)
        case "weights":
            weights = rng.uniform(0.0, 3.0, 80)
        case "tree rules":
            _, X, y = tree_rules(rng, 300, 15)
            weights = np.ones(300)
    moments = (weights.sum(), weights @ X, (X.T * weights) @ X, X.T @ (weights * y), weights @ y, weights @ y**2)
    return Problem.from_moments(*moments)


# Where the columns of the support are linearly independent the minimiser is unique. Copies of a column, and the two
# children of a root, can share a coefficient in any proportion.
UNIQUE = ["random", "constant", "all zero", "wide", "single informative", "weights"]
MANY = ["duplicated", "tree rules"]


def solve(name, problem, penalties, reference):
    """Solve at the points that stand for these penalties: a solver over balls gets the norms of the reference."""
    solver = SOLVERS[name]
    return solver.path(problem, reference.l1_norms if name == "spgl1" else penalties)


@pytest.fixture(scope="module")
def solved():
    """All solvers on all problems."""
    paths = {}
    for kind in UNIQUE + MANY:
        problem = build(kind)
        penalties = SHARES * largest_penalty(problem)
        reference = Glmnet(tol=1e-12).path(problem, penalties)
        for name in SOLVERS:
            paths[kind, name] = problem, penalties, reference, solve(name, problem, penalties, reference)
    return paths


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("kind", UNIQUE + MANY)
def test_every_solution_is_optimal(solved, kind, name):
    problem, penalties, _, path = solved[kind, name]
    assert path.status == (Status.CONVERGED,) * 3
    assert path.gaps.max() <= 1e-9
    for penalty, coef in zip(penalties, path.coefs, strict=True):
        assert duality_gap(problem, coef, penalty) <= 1e-8 * problem.y_y
        assert kkt_violation(problem, coef, penalty) <= 1e-3


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("kind", UNIQUE)
def test_solvers_agree_where_the_minimum_is_one_point(solved, kind, name):
    _, _, reference, path = solved[kind, name]
    np.testing.assert_array_equal(path.coefs != 0, reference.coefs != 0)
    np.testing.assert_allclose(path.coefs, reference.coefs, atol=1e-4 * np.abs(reference.coefs).max())
    np.testing.assert_allclose(path.intercepts, reference.intercepts, atol=1e-4)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("kind", MANY)
def test_solvers_agree_on_the_fit_where_the_minimum_is_many_points(solved, kind, name):
    problem, penalties, reference, path = solved[kind, name]
    for penalty, coef, other in zip(penalties, path.coefs, reference.coefs, strict=True):
        assert objective(problem, coef, penalty) == pytest.approx(objective(problem, other, penalty), rel=1e-7)
        difference = coef - other
        assert difference @ problem.gram @ difference <= 1e-7 * problem.y_y, "the fitted values are unique"


def test_the_many_points_are_truly_many(solved):
    """Coordinate descent gives all to the first of two copies, shrinkage shares it: both are right."""
    _, _, _, cyclic = solved["duplicated", "glmnet"]
    _, _, _, shared = solved["duplicated", "fpc"]
    assert np.abs(cyclic.coefs - shared.coefs).max() > 0.1
    together = (shared.coefs[:, :12] + shared.coefs[:, 12:24])[:, 3:]
    np.testing.assert_allclose(cyclic.coefs[:, 3:12] + cyclic.coefs[:, 15:24], together, atol=1e-4)


def test_solvers_agree_after_repeats_are_dropped():
    """One rule of each complementary pair and of each set of copies makes the minimum one point again."""
    rng = np.random.default_rng(7)
    rules, X, y = tree_rules(rng, 400, 12)
    kept = simplify(rules, X.T @ X, 400.0).kept
    # A child whose sibling and parent are all kept still depends on them: take the roots and one child each.
    kept = np.array([k for k in kept if k % 4 in (0, 2)])
    assert len(kept) < len(rules)
    X = X[:, kept]
    problem = Problem.from_moments(400.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
    penalties = SHARES * largest_penalty(problem)
    reference = Glmnet(tol=1e-13).path(problem, penalties)
    assert np.linalg.matrix_rank(problem.gram) == len(kept)
    for name in SOLVERS:
        path = solve(name, problem, penalties, reference)
        np.testing.assert_array_equal(path.coefs != 0, reference.coefs != 0)
        np.testing.assert_allclose(path.coefs, reference.coefs, atol=1e-4)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("kind", ["random", "weights", "tree rules"])
def test_every_parameter_translates_to_the_others(solved, kind, name):
    problem, penalties, _, path = solved[kind, name]
    np.testing.assert_allclose(path.penalties, penalties, rtol=1e-4)
    np.testing.assert_allclose(path.values("fit_weight"), 1 / (problem.weight * path.penalties))
    for point, coef in enumerate(path.coefs):
        assert path.penalties[point] == pytest.approx(penalty_at(problem, coef), rel=1e-3)
        assert path.values("l1_radius")[point] == pytest.approx(l1_radius(coef))
        assert path.residuals[point] == pytest.approx(residual_norm(problem, coef), rel=1e-7)
        assert path.risks[point] == pytest.approx(path.residuals[point] ** 2 / problem.weight)


@pytest.mark.parametrize("l2", [0.02, 0.3])
def test_solvers_agree_on_the_elastic_net(l2):
    """With the same weight on the squares the three solve one problem, each in its own terms."""
    problem = build("duplicated")
    l1 = 0.1
    penalty, ratio = l1 + l2, l1 / (l1 + l2)
    reference = Glmnet(l1_ratio=ratio, tol=1e-12).path(problem, [penalty])
    fixed_point = Fpc(l1_ratio=ratio, tol=1e-12).path(problem, [penalty])
    ball = Spgl1(l2_penalty=l2, tol=1e-12).path(problem, reference.l1_norms)
    np.testing.assert_allclose(fixed_point.coefs, reference.coefs, atol=1e-5)
    np.testing.assert_allclose(ball.coefs, reference.coefs, atol=1e-5)
    assert ball.penalties[0] == pytest.approx(l1, rel=1e-4)


@pytest.mark.parametrize("name", SOLVERS)
def test_nothing_to_fit(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    constant = Problem.from_moments(30.0, X.sum(axis=0), X.T @ X, X.sum(axis=0) * 0.5, 15.0, 7.5)
    path = SOLVERS[name].path(constant)
    assert not path.coefs.any()
    np.testing.assert_allclose(path.intercepts, 0.5)
    assert set(path.status) == {Status.CONVERGED}
    empty = Problem.from_moments(4.0, np.zeros(0), np.zeros((0, 0)), np.zeros(0), 12.0, 50.0)
    path = SOLVERS[name].path(empty)
    assert path.coefs.shape[1] == 0
    np.testing.assert_allclose(path.intercepts, 3.0)
