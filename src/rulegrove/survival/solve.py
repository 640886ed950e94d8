"""Coefficients of few columns by Newton's method: the largest partial likelihood, less a ridge, under given signs."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove._warn import warn_user
from rulegrove.exceptions import InvalidInputError, NotConvergedWarning
from rulegrove.survival.partial_likelihood import PartialLikelihood, Point

LARGEST_SPREAD = 1e6  # of what one column adds to the scores, between its least and its largest number
_MAX_STEPS = 100
_MAX_HALVINGS = 40
_MAX_STIFFER = 7
_SUFFICIENT = 1e-4  # of what a step promises, which it must keep
_ROUNDING = 1e-12  # of the objective: a step that promises less is not judged by it
_FLATTEST = 1e-14  # of the curvature that a column would have if scores were zero and events rare
_FLATTER = 1e-11  # of the curvature that it has, where columns depend on each other
_SEPARATED = 10.0  # spread of scores from which on it is asked whether they would grow for ever
_STILL_MOVING = 0.1  # spread of the next step that says so,
_SPARE_STEPS = 5  # if so many more do not end it
_CONSTANT = 1e-13  # range over mean of what is one number but for rounding
_ROUGH = 1e4  # tolerances: a slope that rounding keeps there is worth a word


class CoxSolution(NamedTuple):
    """What `solve_cox` found."""

    coef: FloatArray  # (n_columns,)
    n_steps: int
    # The largest slope of the objective, that of coefficients held to zero by their sign left out: zero at the minimum.
    slope_size: float


def solve_cox(
    X: FloatArray,
    likelihood: PartialLikelihood,
    ridge: FloatArray | float | None = None,
    centre: FloatArray | None = None,
    signs: IntArray | None = None,
    start: FloatArray | None = None,
    *,
    tol: float = 1e-10,
) -> CoxSolution:
    """Return the coefficients with the least ``-log L / sum(w) + sum_k ridge_k (coef_k - centre_k)^2 / 2``.

    Each step goes to the minimum of the quadratic model under the signs, or half as far as often as it takes. Where a
    column without a ridge parts early from late events, larger coefficients fit ever better, by less and less; then the
    search ends a few steps after the slope is within the tolerance, which is where the column spreads the scores by
    some 30, at the latest where it spreads them by `LARGEST_SPREAD`, a million. A `NotConvergedWarning` names it.

    Ridge, centre and start are zeros by default, and X has some hundred columns at most. A sign of 1 is of a
    coefficient that may not be negative, one of -1 of one that may not be positive. `tol` is how large a slope may be,
    over the standard deviation of the column.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.survival import PartialLikelihood, read_survival
    >>> likelihood = PartialLikelihood(read_survival(([1, 2, 3, 4, 5], [1, 1, 0, 1, 1])))
    >>> X = np.array([[1.0], [0.0], [1.0], [1.0], [0.0]])
    >>> solve_cox(X, likelihood).coef.round(4)
    array([0.5644])
    >>> solve_cox(X, likelihood, ridge=1.0).coef.round(4)
    array([0.0697])
    >>> solve_cox(X, likelihood, signs=np.array([-1])).coef
    array([0.])
    """
    return _Search(X, likelihood, ridge, centre, signs, tol).run(start)


class _Search:
    """The problem, and the steps to its minimum."""

    def __init__(
        self,
        X: FloatArray,
        likelihood: PartialLikelihood,
        ridge: FloatArray | float | None,
        centre: FloatArray | None,
        signs: IntArray | None,
        tol: float,
    ) -> None:
        table: FloatArray = np.asarray(X, dtype=np.float64)
        if table.ndim != 2 or len(table) != len(likelihood.times):
            raise InvalidInputError(
                f"X must have {len(likelihood.times)} rows and two dimensions; got the shape {table.shape}."
            )
        if not np.isfinite(table).all():
            column = int(np.argmin(np.isfinite(table).all(axis=0)))
            raise InvalidInputError(f"X must be finite; column {column} is not. Fill in what is missing.")
        n_columns = table.shape[1]
        weights = likelihood.weights / likelihood.total_weight
        self.columns = table - weights @ table  # a shift of all scores changes nothing but rounding
        self.likelihood = likelihood
        self.ridge = _fill(ridge, n_columns, "ridge")
        self.centre = _fill(centre, n_columns, "centre")
        self.signs = _fill(signs, n_columns, "signs")
        if (self.ridge < 0.0).any():
            raise InvalidInputError(f"`ridge` must not be negative; got {self.ridge.min():g}.")
        self.ranges = np.ptp(self.columns[weights > 0.0], axis=0)
        self.columns[:, self.ranges <= _CONSTANT * np.abs(weights @ table)] = 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            variances = weights @ self.columns**2
        if not np.isfinite(variances).all():
            column = int(np.argmin(np.isfinite(variances)))
            raise InvalidInputError(f"The squares of column {column} of X are beyond the range of floats; divide it.")
        events = float(weights @ likelihood.times.event)
        self.tols = tol * np.where(variances > 0.0, np.sqrt(variances), 1.0)
        self.least_bends = _FLATTEST * np.where(variances > 0.0, variances * events, 1.0)

    def run(self, start: FloatArray | None) -> CoxSolution:
        """Go to the minimum."""
        coef = _fill(start, len(self.signs), "start")
        coef[self.signs * coef < 0.0] = 0.0
        here = self._stand(coef)
        n_steps, n_within = 0, 0
        while True:
            n_within = n_within + 1 if (here.excess <= self.tols).all() else 0
            if n_within and np.ptp(self.columns @ here.coef) < _SEPARATED:
                break
            step = self._find_step(here)
            moving = np.abs(step) * self.ranges > _STILL_MOVING
            if n_within and not moving.any():
                break
            if n_within > _SPARE_STEPS:
                self._warn_endless(moving)
                break
            if n_steps == _MAX_STEPS:
                self._warn_unfinished(here, n_steps)
                break
            there = self._descend(here, self._shorten(here.coef, step))
            if there is None:  # rounding allows no further progress
                if (here.excess > _ROUGH * self.tols).any():
                    self._warn_unfinished(here, n_steps)
                break
            here = there
            n_steps += 1
            ended = (np.abs(here.coef) * self.ranges >= (1.0 - 1e-9) * LARGEST_SPREAD) & (self.ridge == 0.0)
            if ended.any():
                self._warn_endless(ended)
                break
        return CoxSolution(here.coef, n_steps, float(here.excess.max(initial=0.0)))

    def _stand(self, coef: FloatArray) -> "_Place":
        """Return the objective and its slope at some coefficients."""
        point = self.likelihood.at(self.columns @ coef)
        away, total = coef - self.centre, self.likelihood.total_weight
        value = 0.5 * float(self.ridge @ away**2) - point.log_likelihood / total
        return _Place(coef, point, value, self.ridge * away, self)

    def _find_step(self, here: "_Place") -> FloatArray:
        """Return the step to the minimum of the quadratic model."""
        matrix = here.point.hessian(self.columns) / self.likelihood.total_weight
        places = np.diag_indices_from(matrix)
        matrix[places] += self.ridge
        more = self.least_bends + _FLATTER * np.abs(matrix[places])
        for _ in range(_MAX_STIFFER):
            matrix[places] += more
            try:
                goal = minimise_quadratic(matrix, matrix @ here.coef - here.slope, self.signs, here.coef)
            except LinAlgError:  # by rounding
                more *= 100.0
                continue
            return np.asarray(goal - here.coef)
        raise InvalidInputError("The columns of X depend on each other too closely for any step; give a `ridge`.")

    def _shorten(self, coef: FloatArray, step: FloatArray) -> FloatArray:
        """Return the step, or the part of it with which no column spreads the scores too far."""
        beyond = (np.abs(coef + step) * self.ranges > LARGEST_SPREAD) & (self.ridge == 0.0)
        room = LARGEST_SPREAD - np.abs(coef[beyond]) * self.ranges[beyond]
        shares = room / (np.abs(step[beyond]) * self.ranges[beyond])
        return np.asarray(step * np.clip(shares.min(initial=1.0), 0.0, 1.0))

    def _descend(self, here: "_Place", step: FloatArray) -> "_Place | None":
        """Return where the step, or the part of it that lowers the objective, leads; None if no part does."""
        promised = -float(here.slope @ step)
        rounding = _ROUNDING * max(1.0, abs(here.value))
        size = 1.0
        for _ in range(_MAX_HALVINGS):
            coef = here.coef + size * step
            coef[self.signs * coef < 0.0] = 0.0  # by rounding
            there = self._stand(coef)
            if promised <= rounding:
                better = (there.excess / self.tols).max(initial=0.0) < (here.excess / self.tols).max(initial=0.0)
                return there if better else None
            if there.value <= here.value - _SUFFICIENT * size * promised:
                return there
            size *= 0.5
        return None

    def _warn_endless(self, columns: BoolArray) -> None:
        """Warn that coefficients would grow for ever."""
        places = ", ".join(map(str, np.flatnonzero(columns)))
        warn_user(
            f"Larger coefficients of the columns numbered {places} always fit better, since they part early from late "
            "events; the search stopped on the way. Give them a `ridge`, or leave them out.",
            NotConvergedWarning,
        )

    def _warn_unfinished(self, here: "_Place", n_steps: int) -> None:
        """Warn that the slope is not yet within the tolerance."""
        warn_user(
            f"After {n_steps} steps the slope is {(here.excess / self.tols).max():.2g} times the tolerance; raise "
            "`tol`, or give a `ridge`.",
            NotConvergedWarning,
        )


class _Place:
    """Coefficients on the way, and what is known there; slopes are found when asked for."""

    def __init__(self, coef: FloatArray, point: Point, value: float, drawn: FloatArray, search: _Search) -> None:
        self.coef, self.point, self.value = coef, point, value
        self._drawn, self._search = drawn, search

    @cached_property
    def slope(self) -> FloatArray:
        """The slope of the objective."""
        search = self._search
        return np.asarray(self._drawn - self.point.pulls() @ search.columns / search.likelihood.total_weight)

    @cached_property
    def excess(self) -> FloatArray:
        """The size of the slope, zero where a sign holds the coefficient against it."""
        signs = self._search.signs
        held = (signs != 0.0) & (self.coef == 0.0) & (signs * self.slope >= 0.0)
        return np.where(held, 0.0, np.abs(self.slope))


def _fill(numbers: FloatArray | IntArray | float | None, n_columns: int, name: str) -> FloatArray:
    """Return a number for each column."""
    given = np.asarray(0.0 if numbers is None else numbers, dtype=np.float64)
    if given.shape not in ((), (n_columns,)) or not np.isfinite(given).all():
        raise InvalidInputError(f"`{name}` must hold a finite number for each of {n_columns} columns; got {numbers!r}.")
    return np.array(np.broadcast_to(given, n_columns))


def minimise_quadratic(matrix: FloatArray, pulls: FloatArray, signs: FloatArray, start: FloatArray) -> FloatArray:
    """Return the x with the least ``x' matrix x / 2 - pulls' x`` under signs, by the active set of Lawson and Hanson.

    The signs of `start` must be right; the coefficients that are not zero there are tried first.

    References
    ----------
    Lawson, Hanson (1974). "Solving Least Squares Problems", chapter 23.
    """
    x, free = start.copy(), (signs == 0.0) | (start != 0.0)
    slack = 1e-12 * np.sqrt(np.diag(matrix)) * float(np.abs(pulls / np.sqrt(np.diag(matrix))).max(initial=0.0))
    for _ in range(10 * len(x) + 10):
        goal = np.zeros_like(x)
        if free.any():
            part = cho_factor(matrix[np.ix_(free, free)], check_finite=False)
            goal[free] = cho_solve(part, pulls[free], check_finite=False)
        wrong = signs * goal < 0.0
        if wrong.any():
            places = np.flatnonzero(wrong)
            shares = x[places] / (x[places] - goal[places])
            x += shares.min() * (goal - x)
            leaving = places[shares <= shares.min()]
            x[leaving], free[leaving] = 0.0, False
            continue
        x = goal
        slope = matrix @ x - pulls
        gain = np.where(free, 0.0, -signs * slope - slack) / np.sqrt(np.diag(matrix))
        if gain.max(initial=0.0) <= 0.0:
            break
        free[np.argmax(gain)] = True
    return x
