"""Glmnet: the elastic net path by coordinate descent on the Gram."""

import time
from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator

from rulegrove._typing import FloatArray
from rulegrove.solvers._checking import check_limits, check_points, check_start, warn_not_converged
from rulegrove.solvers._kernels import elastic_net_path
from rulegrove.solvers.base import Parameter, Path, Problem, Status, least_squares_path
from rulegrove.solvers.scaling import penalty_grid


class Glmnet(BaseEstimator):
    r"""Elastic net path by cyclic coordinate descent.

    Minimises, with an intercept that is never penalised,

    .. math::
        \frac{1}{2N} \|y - a_0 - X a\|^2 + \text{penalty} \left(\text{l1\_ratio}\, \|a\|_1
        + \frac{1 - \text{l1\_ratio}}{2} \|a\|_2^2\right)

    along decreasing penalties [1]_. Each point starts from the one before; only active terms and those that violate
    their optimality condition are visited, on a compact copy of their Gram; Anderson's extrapolation [2]_ shortens the
    tail; all terms are checked before a point is left, which happens at a duality gap of ``tol``.

    Parameters
    ----------
    l1_ratio : float, default=1.0
        Share of the L1 norm in the penalty, from 0 (ridge) to 1 (lasso).
    n_penalties : int, default=100
        Points of the default grid.
    penalty_ratio : float, default=1e-3
        Smallest over largest penalty of the default grid.
    penalties : sequence of float, default=None
        Decreasing penalties to use instead of the default grid.
    tol : float, default=1e-5
        Duality gap to reach, relative to the objective of the model without terms.
    max_iter : int, default=50000
        Most passes over the working set for one penalty.

    References
    ----------
    .. [1] Friedman, Hastie, Tibshirani (2010). "Regularization paths for generalized linear models via coordinate
       descent". Journal of Statistical Software 33(1), section 2.2 (covariance updates).
    .. [2] Bertrand, Massias (2021). "Anderson acceleration of coordinate descent". AISTATS, algorithm 4.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.solvers import Glmnet, Problem
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), np.array([1.0, 2.0, 4.0, 0.0])
    >>> problem = Problem.from_moments(4.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
    >>> path = Glmnet(penalties=[0.7, 0.5, 0.1]).path(problem)
    >>> path.coefs.round(2)
    array([[0. , 0. ],
           [0.5, 0. ],
           [2.1, 1.1]])
    >>> path.status[-1]
    <Status.CONVERGED: 'reached `tol`'>
    """

    def __init__(
        self,
        *,
        l1_ratio: float = 1.0,
        n_penalties: int = 100,
        penalty_ratio: float = 1e-3,
        penalties: Sequence[float] | FloatArray | None = None,
        tol: float = 1e-5,
        max_iter: int = 50_000,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.n_penalties = n_penalties
        self.penalty_ratio = penalty_ratio
        self.penalties = penalties
        self.tol = tol
        self.max_iter = max_iter

    def grid(self, problem: Problem) -> FloatArray:
        """Return the decreasing penalties that `path` follows when none are given.

        Parameters
        ----------
        problem : Problem

        Returns
        -------
        ndarray of shape (n_penalties,)
        """
        self._check()
        if self.penalties is not None:
            return check_points(self.penalties, "penalties", increasing=False)
        return penalty_grid(problem, self.l1_ratio, self.n_penalties, self.penalty_ratio)

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

        Warns
        -----
        NotConvergedWarning
            Once, when some points stopped at ``max_iter``.
        """
        values = self.grid(problem) if points is None else check_points(points, "points", increasing=False)
        self._check()
        null_objective = 0.5 * problem.y_y
        began = time.perf_counter()
        coefs, objectives, gaps, iterations = elastic_net_path(
            np.ascontiguousarray(problem.gram, dtype=np.float64),
            np.ascontiguousarray(problem.x_y, dtype=np.float64),
            float(problem.y_y),
            values,
            float(self.l1_ratio),
            float(self.tol) * null_objective,
            int(self.max_iter),
            check_start(start, problem.n_terms),
        )
        seconds = time.perf_counter() - began
        norms = self.l1_ratio * np.abs(coefs).sum(axis=1) + 0.5 * (1.0 - self.l1_ratio) * (coefs**2).sum(axis=1)
        reached = gaps <= self.tol * null_objective
        path = least_squares_path(
            problem,
            Parameter("penalty", values),
            penalties=values,
            coefs=coefs,
            errors=2.0 * (objectives - values * norms),
            gaps=gaps,
            iterations=iterations,
            status=tuple(Status.CONVERGED if done else Status.MAX_ITER for done in reached),
            seconds=seconds,
        )
        warn_not_converged(self, "penalty", values, path.gaps, reached)
        return path

    def _check(self) -> None:
        """Raise on a parameter outside its limits."""
        check_limits(
            self,
            {
                "l1_ratio": (0.0 <= self.l1_ratio <= 1.0, "between 0 and 1"),
                "n_penalties": (self.n_penalties >= 1, "at least 1"),
                "penalty_ratio": (0.0 < self.penalty_ratio < 1.0, "between 0 and 1, both excluded"),
                "tol": (self.tol > 0.0, "positive"),
                "max_iter": (self.max_iter >= 1, "at least 1"),
            },
        )
