"""Signs and unpenalised terms of Glmnet against R's glmnet, scikit-learn, scipy and optimality conditions."""

import json
import pathlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize, nnls
from sklearn.linear_model import ElasticNet, Lasso

from rulegrove.design.rows import Rows
from rulegrove.exceptions import InvalidInputError
from rulegrove.solvers import Fpc, Glmnet, Pathbuild, Problem, Spgl1, Status
from rulegrove.solvers._constraining import Profile, solve_bounded
from rulegrove.solvers.certificates import duality_gap, kkt_violation, objective
from rulegrove.solvers.grouped import grouped_path
from rulegrove.solvers.scaling import largest_penalty
from solver_problems import KINDS, build, make_problem, nested_rules

REFERENCE = json.loads((pathlib.Path(__file__).parents[1] / "reference" / "constraints.json").read_text())


def constrain(problem, rng, *, signs=True, spared=0.2):
    """Draw signs and terms without a penalty."""
    n_terms = problem.n_terms
    return replace(
        problem,
        signs=rng.integers(-1, 2, n_terms) if signs else None,
        unpenalised=rng.random(n_terms) < spared if spared else None,
    )


def dense(seed=0, n_rows=80, n_terms=10):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_terms)) + 0.7 * rng.normal(size=(n_rows, 1))
    return X, X @ np.r_[2.0, -1.5, 1.0, np.zeros(n_terms - 3)] + rng.normal(size=n_rows)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.01])
@pytest.mark.parametrize(("signs", "spared"), [(True, 0.0), (False, 0.2), (True, 0.2)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_point_carries_its_certificate(kind, signs, spared, l1_ratio):
    """At hardness 0.5: where terms with a sign and no penalty hardly differ, 50,000 passes may not be enough."""
    problem = constrain(build(kind, hardness=0.5), np.random.default_rng(1), signs=signs, spared=spared)
    path = Glmnet(l1_ratio=l1_ratio, n_penalties=15, penalty_ratio=1e-2).path(problem)
    assert path.status == (Status.CONVERGED,) * 15
    assert path.gaps.max() <= Glmnet().tol
    for penalty, coef, gap in zip(path.penalties, path.coefs, path.gaps, strict=True):
        assert duality_gap(problem, coef, penalty, l1_ratio) / (problem.y_y / 2) == pytest.approx(gap, abs=1e-11)
    if signs:
        assert (problem.signs * path.coefs >= 0).all()


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    l1_ratio=st.sampled_from([1.0, 0.6, 0.1]),
    signs=st.booleans(),
    spared=st.sampled_from([0.0, 0.3]),
)
def test_tight_tolerance_meets_the_optimality_conditions(seed, l1_ratio, signs, spared):
    problem = constrain(make_problem(*dense(seed % 1000)), np.random.default_rng(seed), signs=signs, spared=spared)
    path = Glmnet(l1_ratio=l1_ratio, n_penalties=6, penalty_ratio=1e-2, tol=1e-13).path(problem)
    for penalty, coef in zip(path.penalties, path.coefs, strict=True):
        assert kkt_violation(problem, coef, penalty, l1_ratio) < 1e-4


@pytest.mark.parametrize("kind", ["random", "tree rules", "duplicated"])
def test_gap_bounds_the_distance_from_the_minimum_of_scipy(kind):
    rng = np.random.default_rng(3)
    problem = constrain(build(kind), rng)
    n_terms, penalty = problem.n_terms, 0.1 * np.abs(problem.x_y).max()
    signs = problem.signs
    price = penalty * ~problem.unpenalised

    def split(values):
        up, down = np.split(values, 2)
        grad = problem.gram @ (up - down) - problem.x_y
        return objective(problem, up - down, penalty), np.concatenate([price + grad, price - grad])

    bounds = [(0, 0 if sign < 0 else None) for sign in signs] + [(0, 0 if sign > 0 else None) for sign in signs]
    options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-12}
    least = minimize(split, np.zeros(2 * n_terms), jac=True, bounds=bounds, method="L-BFGS-B", options=options).fun
    solution = Glmnet(tol=1e-10).path(problem, [penalty]).coefs[0]
    assert objective(problem, solution, penalty) == pytest.approx(least, rel=1e-7)
    for size in (0.0, 1e-3, 0.3):
        moved = solution + size * np.abs(rng.normal(size=n_terms)) * np.where(signs == 0, 1, signs)
        distance = objective(problem, moved, penalty) - objective(problem, solution, penalty)
        assert duality_gap(problem, moved, penalty) >= distance - 1e-10 * problem.y_y


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_all_positive_agrees_with_scikit_learn(l1_ratio):
    X, y = dense(4)
    problem = replace(make_problem(X, y), signs=np.ones(10, dtype=np.int64))
    for penalty in (0.5, 0.05):
        theirs = ElasticNet(alpha=penalty, l1_ratio=l1_ratio, positive=True, tol=1e-14, max_iter=100_000).fit(X, y)
        ours = Glmnet(l1_ratio=l1_ratio, tol=1e-14).path(problem, [penalty])
        np.testing.assert_allclose(ours.coefs[0], theirs.coef_, atol=1e-6)
        assert ours.intercepts[0] == pytest.approx(theirs.intercept_, abs=1e-6)
        assert (theirs.coef_ == 0).any()


def test_without_penalty_to_speak_of_it_is_non_negative_least_squares():
    X, y = dense(5)
    X_c, y_c = X - X.mean(axis=0), y - y.mean()
    problem = replace(make_problem(X, y), signs=np.ones(10, dtype=np.int64))
    path = Glmnet(tol=1e-13).path(problem, [1e-9])
    np.testing.assert_allclose(path.coefs[0], nnls(X_c, y_c)[0], atol=1e-6)


def test_unpenalised_terms_are_regressed_out():
    """Frisch, Waugh and Lovell: the lasso of the other terms on what these leave of them and of y."""
    X, y = dense(6)
    spared = np.arange(10) < 3
    path = Glmnet(tol=1e-14).path(replace(make_problem(X, y), unpenalised=spared), [0.3, 0.05])
    basis = np.column_stack([np.ones(len(y)), X[:, spared]])

    def rest(values):
        return values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0]

    for penalty, coef, intercept in zip(path.penalties, path.coefs, path.intercepts, strict=True):
        lasso = Lasso(alpha=penalty, fit_intercept=False, tol=1e-14, max_iter=100_000)
        others = lasso.fit(rest(X[:, ~spared]), rest(y)).coef_
        own = np.linalg.lstsq(basis, y - X[:, ~spared] @ others, rcond=None)[0]
        np.testing.assert_allclose(coef[~spared], others, atol=1e-6)
        np.testing.assert_allclose([intercept, *coef[spared]], own, atol=1e-6)


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: case["name"])
def test_agrees_with_r(case):
    """R's glmnet divides y by its standard deviation s, so its L2 part weighs 1/s times ours (see the README there)."""
    rules, linear, y = (np.array(REFERENCE["data"][name], dtype=float) for name in ("rules", "linear", "y"))
    problem = replace(
        Problem.from_rows(Rows.from_dense(rules, linear, y)),
        signs=np.array(case["signs"], dtype=np.int64),
        unpenalised=np.array(case["unpenalised"]),
    )
    logistic = case["family"] == "binomial"
    l1, l2 = case["alpha"], (1.0 - case["alpha"]) / (1.0 if logistic else np.sqrt(problem.y_y))
    solver = Glmnet(l1_ratio=l1 / (l1 + l2), loss="logistic" if logistic else "squared", tol=1e-11)
    path = solver.path(problem, np.array(case["lambda"]) * (l1 + l2))
    expected = np.array(case["coefs"])
    assert np.count_nonzero(expected[-1]) >= 4
    atol = (5e-5 if logistic else 2e-6) * np.abs(expected).max()
    np.testing.assert_allclose(path.coefs, expected, atol=atol)
    np.testing.assert_allclose(path.intercepts, case["intercepts"], atol=2 * atol)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize(("signs", "spared"), [(True, 0.0), (False, 0.2), (True, 0.2)])
def test_grid_starts_where_the_first_penalised_term_enters(signs, spared, loss):
    X, y = nested_rules(np.random.default_rng(0), 200, 24)
    drawn = Problem.from_rows(Rows.from_dense(X, np.empty((200, 0)), y))
    problem = constrain(drawn, np.random.default_rng(8), signs=signs, spared=spared)
    solver = Glmnet(loss=loss, tol=1e-10)
    top = solver.grid(problem)[0]
    path = solver.path(problem, [top, 0.98 * top])
    penalised = np.ones(24, dtype=bool) if problem.unpenalised is None else ~problem.unpenalised
    assert np.abs(path.coefs[0, penalised]).max() < 1e-6
    assert np.abs(path.coefs[1, penalised]).max() > 1e-4


def test_all_terms_without_a_penalty_are_least_squares():
    X, y = dense(9)
    problem = replace(make_problem(X, y), unpenalised=np.ones(10, dtype=bool))
    assert largest_penalty(problem) == 0.0
    path = Glmnet(n_penalties=3).path(problem)
    expected = np.linalg.lstsq(np.column_stack([np.ones(len(y)), X]), y, rcond=None)[0]
    np.testing.assert_allclose(path.coefs, np.tile(expected[1:], (3, 1)), atol=1e-10)


def test_a_target_that_unpenalised_terms_explain_leaves_nothing_to_the_others():
    X, _ = dense(10)
    problem = replace(make_problem(X, X[:, 0] - 2 * X[:, 1]), unpenalised=np.arange(10) < 2)
    path = Glmnet(n_penalties=5).path(problem)
    np.testing.assert_allclose(path.coefs, np.tile(np.r_[1.0, -2.0, np.zeros(8)], (5, 1)), atol=1e-9)
    assert not path.coefs[:, 2:].any()


def test_dependent_unpenalised_terms_share_what_they_explain():
    X, y = dense(11)
    X = np.column_stack([X, X[:, 0], 1.0 - X[:, 1], np.ones(len(y))])
    problem = replace(make_problem(X, y), unpenalised=np.isin(np.arange(13), [0, 1, 10, 11, 12]))
    path = Glmnet(n_penalties=5, penalty_ratio=1e-2).path(problem)
    assert path.status == (Status.CONVERGED,) * 5
    np.testing.assert_allclose(path.coefs[:, 0], path.coefs[:, 10], atol=1e-8)
    assert not path.coefs[:, 12].any()


def logistic_minimum(X, y, penalty, l1_ratio, signs, spared):
    """Return the least objective by L-BFGS-B on coefficients split into their two sides."""
    n_rows, n_terms = X.shape
    l1, l2 = penalty * l1_ratio * ~spared, penalty * (1 - l1_ratio) * ~spared

    def value(values):
        up, down, intercept = values[:n_terms], values[n_terms:-1], values[-1]
        coef = up - down
        margins = y * (X @ coef + intercept)
        risk = np.logaddexp(0, -margins).mean() + l1 @ (up + down) + 0.5 * l2 @ coef**2
        slopes = -y / (1 + np.exp(margins)) / n_rows
        grad = X.T @ slopes + l2 * coef
        return risk, np.concatenate([grad + l1, l1 - grad, [slopes.sum()]])

    bounds = [(0, 0 if sign < 0 else None) for sign in signs] + [(0, 0 if sign > 0 else None) for sign in signs]
    options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10}
    start = np.zeros(2 * n_terms + 1)
    return minimize(value, start, jac=True, bounds=[*bounds, (None, None)], method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
@pytest.mark.parametrize(("signs", "spared"), [(True, 0.0), (False, 0.2), (True, 0.2)])
def test_logistic_loss_agrees_with_scipy(signs, spared, l1_ratio):
    X, y = nested_rules(np.random.default_rng(2), 200, 20)
    drawn = Problem.from_rows(Rows.from_dense(X, np.empty((200, 0)), y))
    problem = constrain(drawn, np.random.default_rng(5), signs=signs, spared=spared)
    own_signs = np.zeros(20, dtype=np.int64) if problem.signs is None else problem.signs
    own_spared = np.zeros(20, dtype=bool) if problem.unpenalised is None else problem.unpenalised
    path = Glmnet(loss="logistic", l1_ratio=l1_ratio, n_penalties=6, penalty_ratio=5e-2, tol=1e-7).path(problem)
    assert path.status == (Status.CONVERGED,) * 6
    assert (own_signs * path.coefs >= 0).all()
    for point in (1, 5):
        penalty, coef = path.penalties[point], path.coefs[point, ~own_spared]
        norm = l1_ratio * np.abs(coef).sum() + 0.5 * (1 - l1_ratio) * coef @ coef
        least = logistic_minimum(X, y, penalty, l1_ratio, own_signs, own_spared)
        assert path.risks[point] + penalty * norm == pytest.approx(least, rel=1e-6)
        assert path.risks[point] + penalty * norm - path.gaps[point] * np.log(2) <= least


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_classes_that_an_unpenalised_term_tells_apart_are_left_in_finite_time(share):
    """Its coefficient grows without end; the gap still falls to the tolerance, and the others fit what is left."""
    rng = np.random.default_rng(0)
    X, y = nested_rules(rng, 300, 12)
    X[:, 0] = (y > 0) & (rng.random(300) <= share)
    drawn = Problem.from_rows(Rows.from_dense(X, np.empty((300, 0)), y))
    path = Glmnet(loss="logistic", n_penalties=8).path(replace(drawn, unpenalised=np.arange(12) == 0))
    assert path.status == (Status.CONVERGED,) * 8
    assert path.coefs[:, 0].min() > 5
    assert path.iterations.sum() < 200


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_relaxed_fit_keeps_the_signs(loss):
    X, y = nested_rules(np.random.default_rng(3), 200, 24)
    drawn = Problem.from_rows(Rows.from_dense(X, np.empty((200, 0)), y))
    problem = constrain(drawn, np.random.default_rng(6), spared=0.1)
    path = Glmnet(loss=loss, relax=True, n_penalties=12, penalty_ratio=1e-2).path(problem)
    assert (problem.signs * path.relaxed.coefs >= 0).all()
    assert (path.relaxed.risks <= path.risks + 1e-4).all()
    free = Glmnet(loss=loss, relax=True, n_penalties=12, penalty_ratio=1e-2).path(replace(problem, signs=None))
    assert (problem.signs * free.relaxed.coefs < 0).any()


def test_relaxed_fit_is_bounded_least_squares_on_the_support():
    X, y = dense(12)
    problem = replace(make_problem(X, y), signs=np.array([1, 1, 1, -1, -1, 1, 0, 0, 1, -1]))
    path = Glmnet(relax=True, n_penalties=10, penalty_ratio=1e-3).path(problem)
    X_c, y_c = X - X.mean(axis=0), y - y.mean()
    for coef, relaxed in zip(path.coefs[1:], path.relaxed.coefs[1:], strict=True):
        terms = np.flatnonzero(coef)
        lower = np.where(problem.signs[terms] > 0, 0.0, -np.inf)
        upper = np.where(problem.signs[terms] < 0, 0.0, np.inf)
        expected = lsq_linear(X_c[:, terms], y_c, (lower, upper), tol=1e-12).x
        np.testing.assert_allclose(relaxed[terms], expected, atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), n_rows=st.integers(1, 12), n_terms=st.integers(1, 8))
@example(seed=1059, n_rows=2, n_terms=8)  # free terms explain all of others
def test_bounded_least_squares_meets_its_conditions(seed, n_rows, n_terms):
    """Also where terms depend on each other, as more terms than rows do."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-1, 2, size=(n_rows, n_terms)).astype(float), rng.normal(size=n_rows)
    signs = rng.integers(-1, 2, n_terms)
    coef = solve_bounded(X.T @ X, X.T @ y, signs)
    grad = X.T @ (y - X @ coef)
    assert (signs * coef >= 0).all()
    np.testing.assert_allclose(grad[(signs == 0) | (coef != 0)], 0.0, atol=1e-7)
    assert (signs * grad <= 1e-7).all()


def test_profile_leaves_the_problem_of_the_others():
    X, y = dense(13, n_terms=6)
    X_c, y_c = X - X.mean(axis=0), y - y.mean()
    mask = np.array([True, False, True, False, False, False])
    profile = Profile.out(X_c.T @ X_c, X_c.T @ y_c, y_c @ y_c, mask)
    own, others = X_c[:, mask], X_c[:, ~mask]
    project = np.eye(len(y)) - own @ np.linalg.pinv(own)
    np.testing.assert_allclose(profile.gram, others.T @ project @ others, atol=1e-9)
    np.testing.assert_allclose(profile.x_y, others.T @ project @ y_c, atol=1e-9)
    assert profile.y_y == pytest.approx(y_c @ project @ y_c)
    whole = profile.expand(np.array([[1.0, -1.0, 0.5, 0.0]]))
    np.testing.assert_allclose(own.T @ (y_c - X_c @ whole[0]), 0.0, atol=1e-9)


@pytest.mark.parametrize("solver", [Spgl1(), Fpc(), Pathbuild()])
@pytest.mark.parametrize("field", [{"signs": np.ones(12, dtype=np.int64)}, {"unpenalised": np.ones(12, dtype=bool)}])
def test_other_solvers_say_that_they_cannot(solver, field):
    with pytest.raises(InvalidInputError, match=f"{type(solver).__name__} knows no signs"):
        solver.path(replace(build("random"), **field), [0.1])


def test_a_grouped_fit_says_that_it_cannot():
    problem = replace(build("random"), signs=np.ones(12, dtype=np.int64))
    with pytest.raises(InvalidInputError, match="A grouped fit knows no signs"):
        grouped_path([problem], [0.1])


def test_start_of_a_forbidden_sign_is_not_kept():
    X, y = dense(14)
    problem = replace(make_problem(X, y), signs=np.ones(10, dtype=np.int64))
    path = Glmnet().path(problem, [0.1], start=np.full(10, -1.0))
    np.testing.assert_allclose(path.coefs, Glmnet().path(problem, [0.1]).coefs, atol=1e-2)
    assert (path.coefs >= 0).all()
