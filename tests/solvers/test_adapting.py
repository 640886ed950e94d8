"""Solvers of others: what they do not say is as for plain least squares, and estimators show them as they are."""

import numpy as np
import pytest

from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Logistic
from rulegrove.solvers import BaseSolver, Problem, Solver, make_solver
from solver_problems import build


class Least:
    """No more than an estimator needs."""

    def grid(self, problem):
        return Glmnet().grid(problem)

    def path(self, problem, points=None, start=None):
        return Glmnet().path(problem, points, start)


class Talkative(Least):
    """One that says more, as solvers could before there was a base class."""

    loss, needs_rows, takes_constraints, mixes = "logistic", True, True, (1.0, 0.5)

    def __init__(self):
        self.checked = 0

    def grid(self, problem):
        return self._net.grid(problem)

    def path(self, problem, points=None, start=None):
        return self._net.path(problem, points, start)

    _net = Glmnet(loss="logistic", relax=True, n_penalties=20)

    def check(self):
        self.checked += 1

    def training_loss(self, problem):
        return Logistic()

    def variants(self, problem):
        return [self, Talkative()]


def test_what_is_not_said_is_plain_least_squares():
    problem = build("random")
    solver, own = make_solver(Least()), Least()
    assert isinstance(own, Solver)
    assert not isinstance(own, BaseSolver)
    assert make_solver(own).given is own
    assert (solver.loss_name, solver.needs_rows, solver.takes_constraints, solver.mixes) == (
        "squared",
        False,
        False,
        (1.0,),
    )
    solver.check()
    assert solver.variants(problem) == [solver]
    assert solver.loosened(0.1) is solver.in_units({"penalties": 3}) is solver
    assert solver.polished(problem, np.zeros(problem.n_terms), 0.1) is None
    assert repr(solver) == repr(solver.given)
    with pytest.raises(InvalidInputError, match="take Glmnet to solve for several together"):
        solver.as_net()


def test_what_is_said_is_heard():
    own = Talkative()
    solver = make_solver(own)
    assert (solver.loss_name, solver.needs_rows, solver.takes_constraints, solver.mixes) == (
        "logistic",
        True,
        True,
        (1.0, 0.5),
    )
    solver.check()
    assert own.checked == 1
    empty = Problem(np.eye(1), np.ones(1), 2.0, np.zeros(1), 0.0, 4.0)
    assert solver.training_loss(empty) == Logistic()
    assert [type(one.given) for one in solver.variants(empty)] == [Talkative, Talkative]


@pytest.mark.parametrize(
    ("kind", "own", "twin"),
    [
        (RuleEnsembleRegressor, Least(), Glmnet(tol=1e-5)),
        (RuleEnsembleClassifier, Talkative(), Glmnet(loss="logistic", relax=[1.0, 0.5], n_penalties=20)),
    ],
)
def test_estimators_take_them_and_show_them_as_they_are(kind, own, twin):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = X[:, 0] + (X[:, 1] > 0)
    y = y > 0 if kind is RuleEnsembleClassifier else y
    options = {"n_candidates": 30, "random_state": 0, "n_jobs": 1, "honest_cv": False}
    fitted, other = (kind(solver=solver, **options).fit(X, y) for solver in (own, twin))
    assert type(fitted.solver_[0]) is type(own)
    assert fitted.solver is own
    assert fitted.score(X, y) == pytest.approx(other.score(X, y), abs=0.05)
