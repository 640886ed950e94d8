"""Fpc: the elastic net path by fixed-point continuation, from the Gram."""

import time
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.solvers._checking import check_limits, check_points, check_start, check_unconstrained, warn_not_converged
from rulegrove.solvers._fpc_kernels import CONVERGED, fixed_point_path
from rulegrove.solvers.base import BaseSolver, Parameter, Path, Problem, Status, least_squares_path
from rulegrove.solvers.scaling import fit_weight_from_penalty, penalty_from_fit_weight, penalty_grid

# The numbers that the kernel has for its ends.
_ENDS = (Status.CONVERGED, Status.MAX_ITER, Status.STALLED)


class Fpc(BaseSolver):
    r"""L1-penalised least squares by fixed-point continuation.

    Minimises, with an intercept that is never penalised,

    .. math::
        \|a\|_1 + \frac{\text{fit\_weight}}{2} \|y - a_0 - X a\|^2

    along increasing weights of the error [1]_. That is the lasso of the common objective with
    ``penalty = 1 / (N * fit_weight)``; with ``l1_ratio`` below 1 it is the elastic net with that penalty.

    An iteration is a step down the gradient of the error and a shrinkage of every coefficient towards zero; the
    minimum is its fixed point. Small weights of the error take few iterations, so the first point is approached through
    a sequence of them, each begun at the solution before, and the points of the path continue that sequence.
    Iterations are restricted to a working set, on a compact copy of its Gram; all terms are checked before a point is
    left, which happens at a duality gap of ``tol``.

    Parameters
    ----------
    fit_weight : float or sequence of float, default=None
        Weight of the error, or increasing weights. By default they follow from `n_penalties` and `penalty_ratio`.
    method : {"bb", "basic"}, default="bb"
        Length of the steps. "bb": Barzilai and Borwein's with a non-monotone line search [2]_, [3]_. "basic": constant,
        as in [1]_; kept for comparison, on rules it takes about a hundred times the iterations.
    l1_ratio : float, default=1.0
        Share of the L1 norm in the penalty, from 0 (ridge) to 1 (lasso).
    n_penalties : int, default=100
        Points of the default grid.
    penalty_ratio : float, default=1e-3
        Smallest over largest penalty of the default grid.
    continuation : float, default=4.0
        The most by which the weight of the error is multiplied at once.
    tol : float, default=1e-5
        Duality gap to reach, relative to the objective of the model without terms.
    max_iter : int, default=100000
        Most iterations for one point.

    Notes
    -----
    Two departures from the papers. Their constant step, ``2.665 - 1.665 N / K`` for N rows and K terms in units of one
    over the largest eigenvalue of the Gram, is meant for fewer rows than terms and negative for many more; here it is
    never below 1. And both K and the eigenvalue are those of the working set, which makes for longer steps.

    References
    ----------
    .. [1] Hale, Yin, Zhang (2008). "Fixed-point continuation for l1-minimization: methodology and convergence". SIAM
       Journal on Optimization 19(3), 1107-1130.
    .. [2] Hale, Yin, Zhang (2010). "Fixed-point continuation applied to compressed sensing: implementation and
       numerical experiments". Journal of Computational Mathematics 28(2), 170-194.
    .. [3] Zhang, Hager (2004). "A nonmonotone line search technique and its application to unconstrained
       optimization". SIAM Journal on Optimization 14(4), 1043-1056.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.solvers import Fpc, Problem
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), np.array([1.0, 2.0, 4.0, 0.0])
    >>> problem = Problem.from_moments(4.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
    >>> path = Fpc(fit_weight=[0.3, 0.5, 2.5]).path(problem)
    >>> path.coefs.round(2)
    array([[0. , 0. ],
           [0.5, 0. ],
           [2.1, 1.1]])
    >>> path.penalties.round(2), path.status[-1]
    (array([0.83, 0.5 , 0.1 ]), <Status.CONVERGED: 'reached `tol`'>)
    """

    measured: ClassVar[tuple[str, ...]] = ("fit_weight",)

    def __init__(
        self,
        *,
        fit_weight: float | Sequence[float] | FloatArray | None = None,
        method: Literal["bb", "basic"] = "bb",
        l1_ratio: float = 1.0,
        n_penalties: int = 100,
        penalty_ratio: float = 1e-3,
        continuation: float = 4.0,
        tol: float = 1e-5,
        max_iter: int = 100_000,
    ) -> None:
        self.fit_weight = fit_weight
        self.method = method
        self.l1_ratio = l1_ratio
        self.n_penalties = n_penalties
        self.penalty_ratio = penalty_ratio
        self.continuation = continuation
        self.tol = tol
        self.max_iter = max_iter

    def grid(self, problem: Problem) -> FloatArray:
        """Return the decreasing penalties that `path` follows when none are given.

        A given `fit_weight` is translated with the weight of this problem; the penalties mean the same on a part of it.

        Parameters
        ----------
        problem : Problem

        Returns
        -------
        ndarray of shape (n_points,)
        """
        self.check()
        if self.fit_weight is None:
            return penalty_grid(problem, self.l1_ratio, self.n_penalties, self.penalty_ratio)
        fit_weights = check_points(self.fit_weight, "fit_weight", increasing=True)
        return np.array([penalty_from_fit_weight(value, problem.weight) for value in fit_weights])

    def path(
        self,
        problem: Problem,
        points: Sequence[float] | FloatArray | None = None,
        start: Path | FloatArray | None = None,
    ) -> Path:
        """Solve at each penalty, the first one from the end of ``start``, each next one from the solution before.

        Parameters
        ----------
        problem : Problem
        points : sequence of float, default=None
            Decreasing penalties; those of `grid` by default.
        start : Path or ndarray of shape (n_terms,), default=None
            A path to go on from, or coefficients, best those of the next larger penalty. Zeros by default.

        Returns
        -------
        Path
            Its parameter is the `fit_weight`.

        Warns
        -----
        NotConvergedWarning
            Once, when some points were left above ``tol``.
        """
        check_unconstrained(type(self).__name__, problem)
        values = self.grid(problem) if points is None else check_points(points, "points", increasing=False)
        self.check()
        began = time.perf_counter()
        coefs, objectives, gaps, iterations, ends = fixed_point_path(
            np.ascontiguousarray(problem.gram, dtype=np.float64),
            np.ascontiguousarray(problem.x_y, dtype=np.float64),
            float(problem.y_y),
            values,
            float(self.l1_ratio),
            float(self.continuation),
            float(problem.weight),
            self.method == "bb",
            float(self.tol) * 0.5 * problem.y_y,
            int(self.max_iter),
            check_start(start, problem.n_terms),
        )
        seconds = time.perf_counter() - began
        fit_weights = np.array([fit_weight_from_penalty(value, problem.weight) for value in values])
        norms = self.l1_ratio * np.abs(coefs).sum(axis=1) + 0.5 * (1.0 - self.l1_ratio) * (coefs**2).sum(axis=1)
        path = least_squares_path(
            problem,
            Parameter("fit_weight", fit_weights),
            penalties=values,
            coefs=coefs,
            errors=2.0 * (objectives - values * norms),
            gaps=gaps,
            iterations=iterations,
            status=tuple(_ENDS[end] for end in ends),
            seconds=seconds,
        )
        warn_not_converged(self, "fit_weight", fit_weights, path.gaps, ends == CONVERGED)
        return path

    def check(self) -> None:
        """Raise on a parameter outside its limits."""
        if self.fit_weight is not None:
            check_points(self.fit_weight, "fit_weight", increasing=True)
        check_limits(
            self,
            {
                "method": (self.method in ("bb", "basic"), "'bb' or 'basic'"),
                "l1_ratio": (0.0 <= self.l1_ratio <= 1.0, "between 0 and 1"),
                "n_penalties": (self.n_penalties >= 1, "at least 1"),
                "penalty_ratio": (0.0 < self.penalty_ratio < 1.0, "between 0 and 1, both excluded"),
                "continuation": (1.0 < self.continuation < np.inf, "above 1 and finite"),
                "tol": (self.tol > 0.0, "positive"),
                "max_iter": (self.max_iter >= 1, "at least 1"),
            },
        )
