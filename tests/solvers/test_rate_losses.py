"""Paths of counts, amounts and hazards against R's glmnet and the conditions of a minimum."""

import json
import pathlib

import numpy as np
import pytest

from rulegrove.design.rows import Rows
from rulegrove.losses import Cox, Gamma, Poisson, Tweedie
from rulegrove.solvers import Glmnet, Problem, Status
from rulegrove.survival import PartialLikelihood, SurvivalTimes

FOLDER = pathlib.Path(__file__).parents[1] / "reference"
RATES = json.loads((FOLDER / "rates.json").read_text())["cases"]
TIMES = json.loads((FOLDER / "cox.json").read_text())["cases"]
LOSSES = {"poisson": Poisson(), "gamma": Gamma()}


def read_case(case):
    rules, linear = (np.array(case[part], dtype=float) for part in ("rules", "linear"))
    linear = linear.reshape(len(rules), -1)
    y, weights = np.array(case["y"], dtype=float), np.array(case["weights"], dtype=float)
    return Problem.from_rows(Rows.from_dense(rules, linear, y, weights)), np.hstack([rules, linear]), y, weights


def solve(case, loss, tol):
    problem, X, y, weights = read_case(case)
    path = Glmnet(loss=loss, l1_ratio=case["alpha"], tol=tol).path(problem, case["lambda"])
    assert set(path.status) == {Status.CONVERGED}
    assert (path.gaps <= tol).all()
    assert path.n_terms[0] == 0 < path.n_terms[-1]
    return path, X, y, weights


def violation(X, pulls, coef, penalty, l1_ratio):
    """How far the slopes of the smooth part are from what the penalty allows, over the penalty."""
    l1 = penalty * l1_ratio
    slopes = X.T @ pulls - penalty * (1.0 - l1_ratio) * coef
    off = np.where(coef == 0, np.maximum(np.abs(slopes) - l1, 0.0), np.abs(slopes - l1 * np.sign(coef)))
    return off.max() / l1


def name(case):
    return case["name"]


@pytest.mark.parametrize("case", RATES, ids=name)
def test_counts_and_amounts_agree_with_glmnet(case):
    loss = LOSSES[case["loss"]]
    path, X, y, weights = solve(case, loss, 1e-13)
    np.testing.assert_allclose(path.coefs, case["coefs"], atol=1e-5)
    np.testing.assert_allclose(path.intercepts, case["intercepts"], atol=1e-5)
    share = weights / weights.sum()
    for penalty, coef, intercept in zip(path.penalties, path.coefs, path.intercepts, strict=True):
        pulls = share * loss.negative_gradient(y, intercept + X @ coef)
        assert violation(X, pulls, coef, penalty, case["alpha"]) <= 1e-5
        assert abs(pulls.sum()) <= 1e-5 * penalty


@pytest.mark.parametrize("case", TIMES, ids=name)
def test_hazards_agree_with_glmnet(case):
    """The likelihoods at R's coefficients are those of its coxph, told apart from the solver."""
    path, X, y, weights = solve(case, Cox(), 1e-13)
    np.testing.assert_allclose(path.coefs, case["coefs"], atol=1e-5)
    assert not path.intercepts.any()
    likelihood = PartialLikelihood(SurvivalTimes(np.abs(y), y > 0), weights, "breslow")
    for coef, known in zip(np.array(case["coefs"], dtype=float), case["likelihoods"], strict=True):
        risk = Cox().risk(y, X @ coef, weights)
        assert -risk * weights.sum() == pytest.approx(known, rel=1e-10)
        assert likelihood.at(X @ coef).log_likelihood == pytest.approx(known, rel=1e-10)
    for penalty, coef in zip(path.penalties, path.coefs, strict=True):
        pulls = likelihood.at(X @ coef).pulls() / weights.sum()
        assert violation(X, pulls, coef, penalty, case["alpha"]) <= 1e-5


@pytest.mark.parametrize("power", [1.2, 1.5, 1.9])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_totals_of_many_amounts_reach_their_minimum(power, l1_ratio):
    """No package has stored paths of these powers; the conditions say all. Conjugates are by Newton's method."""
    problem, X, y, weights = read_case(RATES[2])
    loss = Tweedie(power)
    path = Glmnet(loss=loss, l1_ratio=l1_ratio, n_penalties=6, penalty_ratio=0.05, tol=1e-13).path(problem)
    assert set(path.status) == {Status.CONVERGED}
    assert (path.gaps >= -1e-12).all()
    share = weights / weights.sum()
    assert path.intercepts[0] == pytest.approx(np.log(share @ y))
    for penalty, coef, intercept in zip(path.penalties, path.coefs, path.intercepts, strict=True):
        pulls = share * loss.negative_gradient(y, intercept + X @ coef)
        assert violation(X, pulls, coef, penalty, l1_ratio) <= 1e-5
        assert abs(pulls.sum()) <= 1e-5 * penalty


@pytest.mark.parametrize("loss", [Gamma(), Tweedie(1.5), Cox()], ids=repr)
def test_gaps_bound_what_a_rough_path_leaves(loss):
    case = TIMES[2] if isinstance(loss, Cox) else RATES[5]
    problem, _, y, weights = read_case(case)
    exact = Glmnet(loss=loss, l1_ratio=0.8, n_penalties=6, penalty_ratio=0.05, tol=1e-12).path(problem)
    rough = Glmnet(loss=loss, l1_ratio=0.8, tol=0.1).path(problem, exact.penalties)

    def objectives(path):
        norms = 0.8 * np.abs(path.coefs).sum(axis=1) + 0.1 * (path.coefs**2).sum(axis=1)
        return path.risks + path.penalties * norms

    null = loss.risk(y, np.full_like(y, float(loss.best_constant(y, weights))), weights) - loss.floor(y, weights)
    excess = objectives(rough) - objectives(exact)
    assert excess.max() > 1e-7
    assert (excess <= rough.gaps * null + 1e-12).all()


def test_targets_that_a_loss_is_not_for_are_refused():
    X = np.random.default_rng(0).random((20, 2)) < 0.5
    for loss, y, words in (
        (Gamma(), np.arange(20.0), "positive targets"),
        (Poisson(), np.arange(20.0) - 1.0, "targets that are not negative"),
        (Cox(), -1.0 - np.arange(20.0), "times of events"),
    ):
        problem = Problem.from_rows(Rows.from_dense(X.astype(float), np.empty((20, 0)), y, np.ones(20)))
        with pytest.raises(Exception, match=words):
            Glmnet(loss=loss).path(problem)
