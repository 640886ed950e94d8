"""Checks and words that all solvers share, as their users meet them."""

import warnings

import numpy as np
import pytest

from row_problems import build as build_rows
from row_problems import make_problem as make_row_problem
from rulegrove.exceptions import InvalidInputError, NotConvergedWarning
from rulegrove.solvers import Fpc, Glmnet, Problem, Spgl1, Status
from solver_problems import build


@pytest.mark.parametrize("solver", [Glmnet(max_iter=1), Spgl1(max_iter=1), Fpc(max_iter=1)], ids=lambda s: str(s))
def test_a_limit_is_never_silent(solver):
    problem = build("tree rules")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = solver.path(problem)
    assert [w.category for w in caught] == [NotConvergedWarning]
    assert type(solver).__name__ in str(caught[0].message)
    assert "Raise `max_iter` or `tol`" in str(caught[0].message)
    late = [status is not Status.CONVERGED for status in path.status]
    np.testing.assert_array_equal(path.gaps > solver.tol, late)


@pytest.mark.parametrize(
    ("solver", "points"),
    [
        (Glmnet(), [0.1, 0.2]),
        (Fpc(), [0.1, 0.2]),
        (Spgl1(), [2.0, 1.0]),
        (Glmnet(), [-1.0]),
        (Fpc(), [0.0]),
        (Spgl1(), [-1.0]),
        (Glmnet(), [np.nan]),
        (Spgl1(), [np.inf]),
        (Fpc(), []),
    ],
)
def test_points_in_the_wrong_order_or_place_are_refused(solver, points):
    with pytest.raises(InvalidInputError, match="`points` must be"):
        solver.path(build("random"), points)


def test_a_limit_of_the_logistic_loss_warns_once():
    problem, _ = make_row_problem(*build_rows("random"))
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
        ({"loss": "absolute"}, "Glmnet cannot take loss=.absolute"),
        ({"relax": [0.5, 1.5]}, "`relax` of Glmnet"),
        ({"relax": []}, "`relax` of Glmnet"),
    ],
)
def test_wrong_losses_and_parameters_are_named(parameters, message):
    problem, _ = make_row_problem(*build_rows("random"))
    with pytest.raises(InvalidInputError, match=message):
        Glmnet(**parameters).path(problem)


def test_sums_alone_do_not_do():
    problem = Problem(np.eye(1), np.ones(1), 2.0, np.zeros(1), 0.0, 4.0)
    with pytest.raises(InvalidInputError, match="needs the rows, not sums alone"):
        Glmnet(loss="logistic").path(problem)


@pytest.mark.parametrize("y", [np.ones(200), np.linspace(0, 1, 200)])
def test_targets_must_be_two_classes(y):
    rules, linear, _, weights = build_rows("random")
    problem, _ = make_row_problem(rules, linear, y, weights)
    with pytest.raises(InvalidInputError, match=r"needs targets -1 and \+1, some of each; got \["):
        Glmnet(loss="logistic").path(problem)


@pytest.mark.parametrize("start", [np.zeros(3), np.full(12, np.nan)])
def test_start_must_fit(start):
    with pytest.raises(InvalidInputError, match="12 finite coefficients"):
        Glmnet().path(build("random"), start=start)
