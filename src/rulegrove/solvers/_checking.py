"""Checks and words that all solvers share."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rulegrove._typing import BoolArray, FloatArray
from rulegrove._warn import warn_user
from rulegrove.design.rows import Rows
from rulegrove.exceptions import InvalidInputError, NotConvergedWarning
from rulegrove.losses import LOSSES, Absolute, Loss, Quantile, SmoothLoss, find_loss
from rulegrove.solvers.base import BaseSolver, Path, Problem


def check_limits(solver: object, limits: Mapping[str, tuple[bool, str]]) -> None:
    """Raise on the first parameter outside its limits: each name has whether it is valid and what is expected."""
    for name, (valid, expected) in limits.items():
        if not valid:
            raise InvalidInputError(
                f"`{name}` of {type(solver).__name__} must be {expected}; got {getattr(solver, name)!r}."
            )


def check_loss(solver: BaseSolver) -> None:
    """Raise on a loss that the solver cannot take, and name the solver that can."""
    name, loss = type(solver).__name__, solver.loss
    if not isinstance(loss, Loss) and loss not in LOSSES:
        raise InvalidInputError(f"`loss` of {name} must be one of {', '.join(LOSSES)}; got {loss!r}.")
    own = find_loss(loss)
    if not solver.takes_loss(own):
        if isinstance(own, (Absolute, Quantile)):
            raise InvalidInputError(
                f"{name} cannot take loss={loss!r}, nor can any other solver; RuleEnsembleRegressor(loss={own.name!r}) "
                "solves for it by itself."
            )
        able = "Glmnet" if isinstance(own, SmoothLoss) else "Pathbuild"
        way_out = f"{able}(loss={loss!r}) can" if own.name in LOSSES else f"{able} takes others, see `rulegrove.losses`"
        raise InvalidInputError(f"{name} cannot take loss={loss!r}; {way_out}.")


def check_rows(solver: BaseSolver, problem: Problem) -> Rows:
    """Return the rows of a problem, or say that this loss needs them."""
    if problem.rows is None:
        raise InvalidInputError(
            f"{type(solver).__name__}(loss={solver.loss!r}) needs the rows, not sums alone; make the problem with "
            "Problem.from_rows, or take loss='squared'."
        )
    return problem.rows


def check_targets(solver: BaseSolver, loss: SmoothLoss, problem: Problem) -> Rows:
    """Return the rows of a problem, whose targets must be such as the loss is made for."""
    rows = check_rows(solver, problem)
    found = np.unique(rows.y[rows.weights > 0])
    if missing := loss.missing(found):
        raise InvalidInputError(
            f"{type(solver).__name__}(loss={solver.loss!r}) needs {missing}; got "
            f"{found[:3].tolist()}{' ...' if len(found) > 3 else ''}."
        )
    return rows


def check_unconstrained(name: str, problem: Problem) -> None:
    """Raise on a problem with signs or unpenalised terms, for a solver that would pass over them."""
    if problem.signs is not None or problem.unpenalised is not None:
        raise InvalidInputError(f"{name} knows no signs and no unpenalised terms; only Glmnet, for one target, does.")


def check_points(
    points: float | Sequence[float] | FloatArray, name: str, *, increasing: bool, zero: bool = False
) -> FloatArray:
    """Return points of a path as a new array: finite, positive (or zero), in order from sparse to dense."""
    values = np.atleast_1d(np.array(points, dtype=np.float64))
    if values.ndim != 1 or len(values) == 0:
        raise InvalidInputError(f"`{name}` must be one row of numbers; got an array of shape {values.shape}.")
    valid = np.isfinite(values) & ((values >= 0.0) if zero else (values > 0.0))
    if not valid.all():
        sign = "zero or positive" if zero else "positive"
        raise InvalidInputError(f"`{name}` must be {sign} and finite; got {values[~valid][0]:g}.")
    wrong = np.flatnonzero(np.diff(values if increasing else -values) < 0.0)
    if len(wrong):
        first, second = values[wrong[0]], values[wrong[0] + 1]
        order = "increasing" if increasing else "decreasing"
        raise InvalidInputError(f"`{name}` must be {order}; got {first:g} before {second:g}. Sort it.")
    return values


def check_start(start: Path | FloatArray | None, n_terms: int) -> FloatArray:
    """Return a copy of the coefficients to begin with: given, those at the end of a path, or zeros."""
    if start is None:
        return np.zeros(n_terms)
    values = np.array(start.coefs[-1] if isinstance(start, Path) else start, dtype=np.float64)
    if values.shape != (n_terms,) or not np.isfinite(values).all():
        raise InvalidInputError(f"`start` must hold {n_terms} finite coefficients; got shape {values.shape}.")
    return values


def warn_not_converged(solver: Any, name: str, values: FloatArray, gaps: FloatArray, reached: BoolArray) -> None:
    """Say once how many points missed the tolerance, by how much, and what to raise; nothing if all reached it.

    Parameters
    ----------
    solver : object with `max_iter` and `tol`
    name : str
        What the points are, in the singular.
    values, gaps : ndarray of shape (n_points,)
    reached : ndarray of shape (n_points,), bool
    """
    if reached.all():
        return
    worst = int(np.argmax(np.where(reached, -np.inf, gaps)))
    warn_user(
        f"{type(solver).__name__} left {int((~reached).sum())} of {len(values)} points above tol={solver.tol:.1e} "
        f"within max_iter={solver.max_iter} iterations; the worst relative duality gap is {gaps[worst]:.1e}, at {name} "
        f"{values[worst]:.3g}. Raise `max_iter` or `tol`, or stop at a sparser point.",
        NotConvergedWarning,
    )
