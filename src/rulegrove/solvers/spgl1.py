"""Spgl1: least squares over l1 balls, or down to residuals, by spectral projected gradient on the Gram."""

import math
import time
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove._warn import warn_user
from rulegrove.exceptions import InvalidInputError, NotConvergedWarning
from rulegrove.solvers._checking import check_limits, check_points, check_start, check_unconstrained, warn_not_converged
from rulegrove.solvers._kernels import elastic_net_path
from rulegrove.solvers._spgl1_kernels import Integer, make_memory, solve_ball
from rulegrove.solvers.base import BaseSolver, Parameter, Path, Problem, Status, least_squares_path
from rulegrove.solvers.scaling import penalty_grid

# The default grid: radii of so many penalties, solved to this gap, place all of its points to half a step.
_KNOTS, _KNOT_TOL, _KNOT_ITER = 20, 1e-4, 1000

# The numbers that the kernel has for its ends.
_ENDS = (Status.CONVERGED, Status.MAX_ITER, Status.STALLED)

# Limits of the search for a radius: Newton's steps, how far one may go beyond the last radius, and the share of a ball
# below which a solution that leaves room in it counts as free of it.
_SEARCH_STEPS, _GROWTH, _FREE = 100, 4.0, 0.5


class Spgl1(BaseSolver):
    r"""Least squares over l1 balls of growing radius, by spectral projected gradient.

    Solves, with an intercept that is free,

    .. math::
        \min_a \frac{1}{2N} \|y - a_0 - X a\|^2 + \frac{\text{l2\_penalty}}{2} \|a\|_2^2
        \quad \text{subject to} \quad \|a\|_1 \le \text{l1\_radius}

    at each of several radii, or at the smallest radius whose residual :math:`\|y - a_0 - X a\|` is at most a target
    [1]_. Steps along the gradient, their length taken from the step before [2]_, are projected onto the ball; once they
    settle on a face of it, conjugate gradients minimise over the face, a hybrid as in [3]_. A residual target
    is reached by Newton's method on the residual as a function of the radius. Each point starts from the one before.

    Parameters
    ----------
    l1_radius : float or sequence of float, default=None
        Radius or increasing radii, zero allowed, to use instead of the default grid: 0 and growing radii, as many as
        ``n_points``, which a quick elastic net at 20 penalties places such that the penalties they stand for
        fall evenly on the log scale down to a thousandth of the largest useful one.
    residual_target : float or sequence of float, default=None
        Residual (Euclidean norm over the rows, with the roots of their weights) or decreasing residuals to reach
        instead of radii. They are reached to ``tol`` times the residual of the model without terms.
    l2_penalty : float, default=0.0
        Weight of the squared coefficients.
    n_points : int, default=100
        Points of the default grid.
    tol : float, default=1e-5
        Duality gap to reach, relative to the objective of the model without terms.
    max_iter : int, default=20000
        Most steps for one point.

    References
    ----------
    .. [1] van den Berg, Friedlander (2008). "Probing the Pareto frontier for basis pursuit solutions". SIAM Journal on
       Scientific Computing 31(2), sections 2 to 4.
    .. [2] Birgin, Martínez, Raydan (2000). "Nonmonotone spectral projected gradient methods on convex sets". SIAM
       Journal on Optimization 10(4), algorithm 2.2.
    .. [3] van den Berg (2020). "A hybrid quasi-Newton projected-gradient method with application to Lasso and
       basis-pursuit denoising". Mathematical Programming Computation 12.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.solvers import Problem, Spgl1
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), np.array([1.0, 2.0, 4.0, 0.0])
    >>> problem = Problem.from_moments(4.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
    >>> path = Spgl1(l1_radius=[0.0, 0.5, 3.2]).path(problem)
    >>> path.coefs.round(2)
    array([[0. , 0. ],
           [0.5, 0. ],
           [2.1, 1.1]])
    >>> path.penalties.round(2)
    array([0.62, 0.5 , 0.1 ])
    >>> Spgl1(residual_target=1.0).path(problem).l1_norms.round(2)
    array([2.78])
    """

    measured: ClassVar[tuple[str, ...]] = ("l1_radius", "residual_target")

    def __init__(
        self,
        *,
        l1_radius: float | Sequence[float] | FloatArray | None = None,
        residual_target: float | Sequence[float] | FloatArray | None = None,
        l2_penalty: float = 0.0,
        n_points: int = 100,
        tol: float = 1e-5,
        max_iter: int = 20_000,
    ) -> None:
        self.l1_radius = l1_radius
        self.residual_target = residual_target
        self.l2_penalty = l2_penalty
        self.n_points = n_points
        self.tol = tol
        self.max_iter = max_iter

    def grid(self, problem: Problem) -> FloatArray:
        """Return the points that `path` follows when none are given.

        Parameters
        ----------
        problem : Problem

        Returns
        -------
        ndarray of shape (n_points,)
            Increasing radii; with ``residual_target``, decreasing root mean square residuals, which mean the same for
            a part of the rows.
        """
        self.check()
        if self.residual_target is not None:
            targets = check_points(self.residual_target, "residual_target", increasing=False, zero=True)
            return np.asarray(targets / math.sqrt(problem.weight), dtype=np.float64)
        if self.l1_radius is not None:
            return check_points(self.l1_radius, "l1_radius", increasing=True, zero=True)
        return _radius_grid(problem, self.l2_penalty, self.n_points)

    def path(
        self,
        problem: Problem,
        points: Sequence[float] | FloatArray | None = None,
        start: Path | FloatArray | None = None,
    ) -> Path:
        """Solve at each point, the first one from the end of ``start``, each next one from the solution before.

        Parameters
        ----------
        problem : Problem
        points : sequence of float, default=None
            Increasing radii or, with ``residual_target``, decreasing root mean square residuals; those of `grid` by
            default.
        start : Path or ndarray of shape (n_terms,), default=None
            A path to go on from, or coefficients, best those of the next smaller radius. Zeros by default.

        Returns
        -------
        Path
            Its parameter is ``l1_radius``, or ``residual_target`` as a norm over the rows.

        Warns
        -----
        NotConvergedWarning
            Once, when some points stopped before ``tol``, or some targets lie below every residual.
        """
        check_unconstrained(type(self).__name__, problem)
        to_residual = self.residual_target is not None
        if points is None:
            values = self.grid(problem)
        else:
            self.check()
            values = check_points(points, "points", increasing=not to_residual, zero=True)
        coef = check_start(start, problem.n_terms)
        began = time.perf_counter()
        walk = _Walk(problem, float(self.l2_penalty), coef)
        ends = []
        coefs = np.empty((len(values), problem.n_terms))
        for point, value in enumerate(values):
            if to_residual:
                ends.append(_search_radius(walk, float(value), float(self.tol), int(self.max_iter)))
            else:
                ends.append(walk.solve(float(value), float(self.tol) * walk.null_objective, int(self.max_iter)))
            coefs[point] = walk.coef
        seconds = time.perf_counter() - began

        name = "residual_target" if to_residual else "l1_radius"
        shown = values * math.sqrt(problem.weight) if to_residual else values
        status = tuple(end.status for end in ends)
        path = least_squares_path(
            problem,
            Parameter(name, shown),
            penalties=np.array([end.penalty for end in ends]),
            coefs=coefs,
            errors=np.array([end.error for end in ends]),
            gaps=np.array([end.gap for end in ends]),
            iterations=np.array([end.iterations for end in ends], dtype=np.int64),
            status=status,
            seconds=seconds,
        )
        reached = np.array([end in {Status.CONVERGED, Status.UNREACHABLE} for end in status])
        if reached.all() and Status.UNREACHABLE in status:
            first = status.index(Status.UNREACHABLE)
            warn_user(
                f"Least squares itself leaves a residual of {path.residuals[-1]:.6g}, so Spgl1 gave its limit for "
                f"{status.count(Status.UNREACHABLE)} of {len(status)} values of `residual_target`, from "
                f"{shown[first]:.6g} on. Raise them.",
                NotConvergedWarning,
            )
        warn_not_converged(self, name, shown, path.gaps, reached)
        return path

    def check(self) -> None:
        """Raise on a parameter outside its limits."""
        if self.l1_radius is not None and self.residual_target is not None:
            raise InvalidInputError(
                "Spgl1 takes `l1_radius` or `residual_target`, not both; "
                f"got {self.l1_radius!r} and {self.residual_target!r}."
            )
        if self.l1_radius is not None:
            check_points(self.l1_radius, "l1_radius", increasing=True, zero=True)
        if self.residual_target is not None:
            check_points(self.residual_target, "residual_target", increasing=False, zero=True)
        check_limits(
            self,
            {
                "l2_penalty": (0.0 <= self.l2_penalty < math.inf, "zero or positive"),
                "n_points": (self.n_points >= 1, "at least 1"),
                "tol": (self.tol > 0.0, "positive"),
                "max_iter": (self.max_iter >= 1, "at least 1"),
            },
        )


class _End(NamedTuple):
    """Where one ball was left."""

    radius: float
    error: float  # mean square of the residual
    gap: float
    penalty: float
    iterations: int
    status: Status


class _Walk:
    """The way through one ball after the other, each from the solution of the last."""

    def __init__(self, problem: Problem, l2: float, start: FloatArray) -> None:
        self.gram = np.ascontiguousarray(problem.gram, dtype=np.float64)
        self.x_y = np.ascontiguousarray(problem.x_y, dtype=np.float64)
        self.y_y = float(problem.y_y)
        self.l2 = l2
        # A y without variation needs no search: from anywhere else the solution, zero, is reached only in the limit.
        self.memory = make_memory(start if self.y_y > 0.0 else np.zeros(len(start)))
        self.n_members: Integer = 0

    @property
    def null_objective(self) -> float:
        """Objective of the model without terms."""
        return 0.5 * self.y_y

    @property
    def coef(self) -> FloatArray:
        """Coefficients now; the next ball changes them in place."""
        return self.memory.all_coef

    def solve(self, radius: float, tol: float, max_iter: int) -> _End:
        """Minimise over a ball to an absolute gap."""
        self.n_members, iterations, gap, penalty, status = solve_ball(
            self.gram, self.x_y, self.y_y, radius, self.l2, tol, max_iter, self.memory, self.n_members
        )
        # The gradient holds the part of the l2 penalty, the residual does not.
        error = self.y_y - float(self.coef @ (self.x_y + self.memory.all_grad + self.l2 * self.coef))
        return _End(radius, max(error, 0.0), gap, penalty, iterations, _ENDS[status])


def _search_radius(walk: _Walk, target: float, tol: float, max_iter: int) -> _End:
    """Find the smallest radius whose root mean square residual is at most the target, from the ball of now.

    The residual is a convex, falling function of the radius with slope ``-penalty / residual`` [1]_, so Newton's steps
    from below come ever nearer without passing the root. An l2 penalty makes the residual fall faster than that; the
    slope is then the one between the last two radii. A step that leaves the bracket of radii known to be too small and
    too large is replaced by halving that, with more exact solutions from there on.

    References
    ----------
    .. [1] van den Berg, Friedlander (2008), theorem 2.1 (see `Spgl1`).
    """
    null = math.sqrt(walk.y_y)
    share = min(max(target / null, 0.01), 1.0) if null > 0.0 else 1.0  # small residuals need small gaps
    gap_tol = tol * share * walk.null_objective
    finest = 1e-4 * gap_tol
    low, high = 0.0, math.inf
    radius = 0.0 if target >= null else float(np.abs(walk.coef).sum())
    used = 0
    last_radius, last_residual = radius, null
    for _ in range(_SEARCH_STEPS):
        end = walk.solve(radius, gap_tol, max_iter - used)
        used += end.iterations
        end = end._replace(iterations=used)
        residual = math.sqrt(end.error)
        excess = residual - target
        if end.status is Status.MAX_ITER or target >= null or abs(excess) <= tol * null:
            return end
        if excess > 0.0:
            low = radius
            if end.penalty == 0.0 or 0.0 < radius * _FREE >= float(np.abs(walk.coef).sum()):
                return end._replace(status=Status.UNREACHABLE)
        else:
            high = radius
        if used >= max_iter or (high < math.inf and high - low <= 1e-15 * high):
            break
        step = residual * excess / end.penalty if end.penalty > 0.0 else math.inf
        if walk.l2 > 0.0 and (last_residual - residual) * (radius - last_radius) > 0.0:
            step = excess * (radius - last_radius) / (last_residual - residual)
        last_radius, last_residual = radius, residual
        radius = min(radius + step, _GROWTH * radius) if radius > 0.0 else step
        if not low < radius < high:
            radius = 0.5 * (low + high) if high < math.inf else _GROWTH * low
            gap_tol = max(0.1 * gap_tol, finest)
    return end._replace(status=Status.MAX_ITER if used >= max_iter else Status.STALLED)


def _radius_grid(problem: Problem, l2: float, n_points: int) -> FloatArray:
    """Return zero and growing radii whose penalties fall evenly on the log scale, as those of a penalty grid do."""
    if problem.y_y == 0.0 or not np.any(problem.x_y):
        return np.zeros(1)
    gram = np.array(problem.gram, dtype=np.float64, order="C")
    gram[np.diag_indices_from(gram)] += l2
    coefs, *_ = elastic_net_path(
        gram,
        np.ascontiguousarray(problem.x_y, dtype=np.float64),
        float(problem.y_y),
        penalty_grid(problem, n_penalties=_KNOTS),
        1.0,
        _KNOT_TOL * 0.5 * float(problem.y_y),
        _KNOT_ITER,
        np.zeros(problem.n_terms),
    )
    radii = np.maximum.accumulate(np.abs(coefs).sum(axis=1))
    return np.asarray(np.interp(np.linspace(0, _KNOTS - 1, n_points), np.arange(_KNOTS), radii), dtype=np.float64)
