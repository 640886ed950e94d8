"""Proximal Newton steps for any smooth loss.

The logistic loss is checked against R's glmnet, scikit-learn, optimality conditions and a naive duality gap; a loss of
a user's own is one class, certified like the others.
"""

import json
import pathlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, xlogy
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from row_problems import KINDS, build, make_problem
from rulegrove.design.rows import Rows
from rulegrove.losses import Logistic, SmoothLoss
from rulegrove.solvers import Glmnet, Problem, Status

REFERENCE = pathlib.Path(__file__).parents[1] / "reference" / "logistic.json"


class Poisson(SmoothLoss):
    """Counts whose mean is ``exp(F)``."""

    name = "poisson"

    def value(self, y, score):
        return np.exp(score) - y * score

    def negative_gradient(self, y, score):
        return y - np.exp(score)

    def curvature(self, y, score):
        return np.exp(score)

    def best_constant(self, y, weights):
        return np.log(weights @ y / weights.sum())

    def mean(self, score):
        return np.exp(score)

    def conjugate(self, y, slope):
        mean = y + slope
        return np.where(mean >= 0, xlogy(mean, np.maximum(mean, 0)) - mean, np.inf)


def make_counts(kind="plain", seed=0):
    """A problem of counts, its dense terms, targets and weights."""
    rng = np.random.default_rng(seed)
    n_rows = 250
    rules, linear = (rng.random((n_rows, 15)) < 0.4).astype(float), 0.5 * rng.normal(size=(n_rows, 3))
    rate = np.exp(0.3 + 0.9 * rules[:, 0] - 0.8 * rules[:, 4] * rules[:, 5] + 0.7 * linear[:, 0])
    if kind == "rare":
        rate *= 0.05
    y = rng.poisson(1e4 * rate if kind == "many" else rate).astype(float)
    weights = rng.uniform(0.0, 3.0, n_rows) * (rng.random(n_rows) < 0.8) if kind == "weights" else np.ones(n_rows)
    problem = Problem.from_rows(Rows.from_dense(rules, linear, y, weights))
    return problem, np.hstack([rules, linear]), y, weights


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("kind", ["plain", "rare", "many", "weights"])
def test_a_loss_of_ones_own_is_solved_and_certified(kind, l1_ratio):
    """The optimality conditions in plain NumPy; objectives of this loss may be negative."""
    problem, X, y, weights = make_counts(kind)
    path = Glmnet(loss=Poisson(), l1_ratio=l1_ratio, n_penalties=15, penalty_ratio=0.02, tol=1e-10).path(problem)
    assert set(path.status) == {Status.CONVERGED}
    assert path.n_terms[0] == 0 < path.n_terms[-1]
    assert (path.gaps >= -1e-12).all()
    share = weights / weights.sum()
    assert path.intercepts[0] == pytest.approx(np.log(share @ y))
    for point, penalty in enumerate(path.penalties):
        coef, score = path.coefs[point], path.intercepts[point] + X @ path.coefs[point]
        l1 = penalty * l1_ratio
        pull = share * (y - np.exp(score))
        grad = X.T @ pull - penalty * (1 - l1_ratio) * coef
        off = np.where(coef == 0, np.maximum(np.abs(grad) - l1, 0), np.abs(grad - l1 * np.sign(coef)))
        assert off.max() <= 2e-3 * l1
        assert abs(pull.sum()) <= 2e-3 * l1
        assert path.risks[point] == pytest.approx(share @ (np.exp(score) - y * score))
        assert path.residuals[point] == pytest.approx(np.sqrt(weights @ (y - np.exp(score)) ** 2))


def test_the_gap_bounds_what_is_left():
    """Points left early are no further above the minimum than their gaps say."""
    problem, _, y, _ = make_counts()
    exact = Glmnet(loss=Poisson(), l1_ratio=0.7, n_penalties=8, tol=1e-12).path(problem)
    rough = Glmnet(loss=Poisson(), l1_ratio=0.7, tol=0.1).path(problem, exact.penalties)

    def objectives(path):
        norms = 0.7 * np.abs(path.coefs).sum(axis=1) + 0.15 * (path.coefs**2).sum(axis=1)
        return path.risks + path.penalties * norms

    mean = y.mean()
    null = np.mean(xlogy(y, np.maximum(y, 1) / mean))  # above the least that each row can have
    excess = objectives(rough) - objectives(exact)
    assert excess.max() > 1e-6
    assert (excess <= rough.gaps * null + 1e-12).all()


def test_the_ridge_end_is_that_of_scikit_learn():
    problem, X, y, weights = make_counts("weights")
    path = Glmnet(loss=Poisson(), l1_ratio=0.0, tol=1e-13).path(problem, [1.0, 0.1])
    for penalty, coef, intercept in zip(path.penalties, path.coefs, path.intercepts, strict=True):
        twin = PoissonRegressor(alpha=penalty, tol=1e-10, max_iter=10_000).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(coef, twin.coef_, atol=1e-5)
        assert intercept == pytest.approx(twin.intercept_, abs=1e-5)


def test_signs_and_terms_without_a_penalty_hold_for_any_loss():
    problem, X, y, _ = make_counts()
    signs, free = np.zeros(18, dtype=np.int64), np.zeros(18, dtype=bool)
    signs[[0, 4, 15]], free[[4, 16]] = [-1, 1, 1], True
    limited = Problem(**{**vars(problem), "signs": signs, "unpenalised": free})
    path = Glmnet(loss=Poisson(), n_penalties=6, penalty_ratio=0.05, tol=1e-9).path(limited)
    assert set(path.status) == {Status.CONVERGED}
    assert (signs * path.coefs >= 0).all()

    def objective(parameters, penalty):
        coef, score = parameters[1:19] - parameters[19:], parameters[0] + X @ (parameters[1:19] - parameters[19:])
        norm = np.where(free, 0.0, parameters[1:19] + parameters[19:]).sum()
        return np.mean(np.exp(score) - y * score) + penalty * norm, coef

    bounds = [
        (None, None),
        *((0, 0 if sign < 0 else None) for sign in signs),
        *((0, 0 if s > 0 else None) for s in signs),
    ]
    for point, penalty in list(enumerate(path.penalties))[::2]:
        coef = path.coefs[point]
        here = objective(np.r_[path.intercepts[point], np.maximum(coef, 0), np.maximum(-coef, 0)], penalty)[0]
        found = minimize(
            lambda p, penalty=penalty: objective(p, penalty)[0],
            np.zeros(37),
            bounds=bounds,
            options={"maxfun": 100_000},
        )
        assert here <= found.fun + 1e-7


def test_relaxed_fits_and_warm_starts_of_any_loss():
    problem, X, y, _ = make_counts()
    path = Glmnet(loss=Poisson(), relax=True, n_penalties=8, penalty_ratio=0.1).path(problem)
    support = path.coefs[-1] != 0
    plain = PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=10_000).fit(X[:, support], y)
    np.testing.assert_allclose(path.relaxed.coefs[-1, support], plain.coef_, atol=0.05)
    assert path.relaxed.risks[-1] < path.risks[-1]
    solver = Glmnet(loss=Poisson(), tol=1e-11)
    again = solver.path(problem, path.penalties[4:], start=solver.path(problem, path.penalties[:4]))
    np.testing.assert_allclose(again.coefs, solver.path(problem, path.penalties[4:]).coefs, atol=1e-6)


def test_an_object_of_a_known_loss_is_its_name():
    problem, _ = make_problem(*build("random"))
    one, other = (Glmnet(loss=loss, n_penalties=5).path(problem) for loss in ("logistic", Logistic()))
    np.testing.assert_array_equal(one.coefs, other.coefs)


def test_the_plain_methods_of_a_loss_lead_to_the_same_path():
    """What `Logistic` overrides for speed against what every loss inherits."""

    class Plain(Logistic):
        evaluate, bound, model_curvature = SmoothLoss.evaluate, SmoothLoss.bound, SmoothLoss.model_curvature
        pull_share = None

    for kind in ("random", "weights"):
        problem, _ = make_problem(*build(kind))
        free = np.arange(problem.n_terms) == 3
        for own in (problem, Problem(**{**vars(problem), "unpenalised": free})):
            fast, plain = (
                Glmnet(loss=loss, n_penalties=6, penalty_ratio=0.05, tol=1e-9).path(own)
                for loss in (Logistic(), Plain())
            )
            np.testing.assert_allclose(plain.penalties, fast.penalties)
            np.testing.assert_allclose(plain.coefs, fast.coefs, atol=1e-4)
            np.testing.assert_allclose(plain.residuals, fast.residuals, rtol=1e-4)


def naive_gap(X, y, weights, coef, intercept, penalty, l1_ratio):
    """Primal minus the dual value of the probabilities at hand, made feasible."""
    l1, l2 = penalty * l1_ratio, penalty * (1 - l1_ratio)
    share = weights / weights.sum()
    margin = y * (intercept + X @ coef)
    primal = share @ np.logaddexp(0, -margin) + l1 * np.abs(coef).sum() + l2 / 2 * coef @ coef
    s = expit(-margin)
    up, down = (share * s)[y > 0].sum(), (share * s)[y < 0].sum()
    s = np.where(y > 0, s * min(1, down / up), s * min(1, up / down))
    grad = X.T @ (share * y * s)
    bounds = []
    for scale in (min(1.0, l1 / np.abs(grad).max()), 1.0):
        excess = np.maximum(scale * np.abs(grad) - l1, 0)
        if l2 > 0 or excess.max() <= 1e-15:
            price = (excess**2).sum() / (2 * l2) if l2 > 0 else 0.0
            bounds.append(-share @ (xlogy(scale * s, scale * s) + xlogy(1 - scale * s, 1 - scale * s)) - price)
    return primal - max(bounds)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_every_point_carries_its_certificate(kind, l1_ratio):
    rules, linear, y, weights = build(kind)
    problem, X = make_problem(rules, linear, y, weights)
    path = Glmnet(loss="logistic", l1_ratio=l1_ratio, n_penalties=15, penalty_ratio=0.02, tol=1e-9).path(problem)
    assert set(path.status) == {Status.CONVERGED}
    assert path.n_terms[0] == 0
    assert path.n_terms[-1] > 0
    share = weights / weights.sum()
    null = share @ np.logaddexp(0, -y * path.intercepts[0])
    for penalty, coef, intercept, gap, risk in zip(
        path.penalties, path.coefs, path.intercepts, path.gaps, path.risks, strict=True
    ):
        score = intercept + X @ coef
        assert risk == pytest.approx(share @ np.logaddexp(0, -y * score))
        assert gap * null == pytest.approx(naive_gap(X, y, weights, coef, intercept, penalty, l1_ratio), abs=1e-9)
        grad = X.T @ (share * y * expit(-y * score)) - penalty * (1 - l1_ratio) * coef
        l1 = penalty * l1_ratio
        violation = np.where(coef == 0, np.maximum(np.abs(grad) - l1, 0), np.abs(grad - l1 * np.sign(coef)))
        assert violation.max() <= 1e-3 * l1
        assert abs(share @ (y * expit(-y * score))) <= 1e-3 * l1


@pytest.mark.parametrize("case", json.loads(REFERENCE.read_text())["cases"], ids=lambda case: case["name"])
def test_path_is_that_of_r(case):
    rules, linear, y, weights = (np.array(case[key], dtype=float) for key in ("rules", "linear", "y", "weights"))
    problem, _ = make_problem(rules, linear.reshape(len(y), -1), y, weights)
    path = Glmnet(loss="logistic", l1_ratio=case["alpha"], tol=1e-9).path(problem, case["lambda"])
    scale = np.abs(case["coefs"]).max()
    np.testing.assert_allclose(path.coefs, case["coefs"], atol=2e-5 * scale)
    np.testing.assert_allclose(path.intercepts, case["intercepts"], atol=2e-5 * scale)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_path_is_that_of_scikit_learn(l1_ratio):
    rules, linear, y, weights = build("weights")
    problem, X = make_problem(rules, linear, y, weights)
    path = Glmnet(loss="logistic", l1_ratio=l1_ratio, n_penalties=5, penalty_ratio=0.05, tol=1e-13).path(problem)
    for penalty, coef, intercept in list(zip(path.penalties, path.coefs, path.intercepts, strict=True))[1:]:
        model = LogisticRegression(
            C=1 / (weights.sum() * penalty), l1_ratio=l1_ratio, solver="saga", tol=1e-10, max_iter=100_000
        )
        model.fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(coef, model.coef_[0], atol=1e-5)
        assert intercept == pytest.approx(model.intercept_[0], abs=1e-5)


def test_a_weight_of_two_is_a_row_twice():
    rules, linear, y, _ = build("random")
    twice = np.arange(200) % 3 == 0
    heavy, _ = make_problem(rules, linear, y, 1.0 + twice)
    order = np.r_[np.arange(200), np.flatnonzero(twice)]
    repeated, _ = make_problem(rules[order], linear[order], y[order], np.ones(len(order)))
    solver = Glmnet(loss="logistic", n_penalties=6, penalty_ratio=0.05, tol=1e-11)
    np.testing.assert_allclose(solver.path(heavy).coefs, solver.path(repeated).coefs, atol=1e-6)


def test_held_out_rows_count_nowhere():
    rules, linear, y, weights = build("random")
    problem, _ = make_problem(rules, linear, y, weights)
    kept, _ = problem.rows.hold_out(64, 128)
    inside = np.r_[0:64, 128:200]
    alone, _ = make_problem(rules[inside], linear[inside], y[inside], weights[inside])
    solver = Glmnet(loss="logistic", n_penalties=6, penalty_ratio=0.05, tol=1e-11)
    np.testing.assert_allclose(solver.path(Problem.from_rows(kept)).coefs, solver.path(alone).coefs, atol=1e-6)


def test_chunks_started_warm_equal_the_whole_path():
    problem, _ = make_problem(*build("random"))
    solver = Glmnet(loss="logistic", n_penalties=12, penalty_ratio=0.03, tol=1e-11)
    whole = solver.path(problem)
    first = solver.path(problem, whole.penalties[:6])
    second = solver.path(problem, whole.penalties[6:], start=first)
    np.testing.assert_allclose(np.vstack([first.coefs, second.coefs]), whole.coefs, atol=1e-6)
    assert second.iterations[0] <= solver.path(problem, whole.penalties[6:]).iterations[0]


def test_threads_share_nothing():
    problem, _ = make_problem(*build("random"))
    solver = Glmnet(loss="logistic", n_penalties=8)
    alone = solver.path(problem)
    with ThreadPoolExecutor(4) as pool:
        for path in pool.map(lambda _: solver.path(problem), range(8)):
            np.testing.assert_array_equal(path.coefs, alone.coefs)


def test_residuals_are_of_the_predicted_mean():
    rules, linear, y, weights = build("weights")
    problem, X = make_problem(rules, linear, y, weights)
    path = Glmnet(loss="logistic", n_penalties=4).path(problem)
    for coef, intercept, residual in zip(path.coefs, path.intercepts, path.residuals, strict=True):
        mean = 2 * expit(intercept + X @ coef) - 1
        assert residual == pytest.approx(np.sqrt(weights @ (y - mean) ** 2))
