"""The logistic loss of Glmnet against R's glmnet, scikit-learn, optimality conditions and a naive duality gap."""

import json
import pathlib
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.special import expit, xlogy
from sklearn.linear_model import LogisticRegression

from row_problems import KINDS, build, make_problem
from rulegrove.exceptions import InvalidInputError, NotConvergedWarning
from rulegrove.solvers import Glmnet, Problem, Status

REFERENCE = pathlib.Path(__file__).parents[1] / "reference" / "logistic.json"


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


def test_limit_warns_once():
    problem, _ = make_problem(*build("random"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = Glmnet(loss="logistic", n_penalties=5, max_iter=1, tol=1e-9).path(problem)
    assert [w.category for w in caught] == [NotConvergedWarning]
    assert "Raise `max_iter` or `tol`" in str(caught[0].message)
    assert Status.MAX_ITER in path.status


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "ramp"}, r"Glmnet cannot take loss='ramp'; Pathbuild\(loss='ramp'\) can"),
        ({"loss": "absolute"}, "`loss` of Glmnet must be one of squared, ramp, .* got 'absolute'"),
        ({"relax": [0.5, 1.5]}, "`relax` of Glmnet"),
        ({"relax": []}, "`relax` of Glmnet"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    problem, _ = make_problem(*build("random"))
    with pytest.raises(InvalidInputError, match=message):
        Glmnet(**parameters).path(problem)


def test_sums_alone_do_not_do():
    problem = Problem(np.eye(1), np.ones(1), 2.0, np.zeros(1), 0.0, 4.0)
    with pytest.raises(InvalidInputError, match="needs the rows, not sums alone"):
        Glmnet(loss="logistic").path(problem)


@pytest.mark.parametrize("y", [np.ones(200), np.linspace(0, 1, 200)])
def test_targets_must_be_two_classes(y):
    rules, linear, _, weights = build("random")
    problem, _ = make_problem(rules, linear, y, weights)
    with pytest.raises(InvalidInputError, match=r"needs targets -1 and \+1, some of each; got \["):
        Glmnet(loss="logistic").path(problem)
