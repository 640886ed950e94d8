"""Glmnet: the elastic net path by coordinate descent on the Gram."""

import time
import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator

from rulegrove._typing import FloatArray
from rulegrove.exceptions import InvalidInputError, NotConvergedWarning
from rulegrove.solvers._kernels import elastic_net_path
from rulegrove.solvers.base import Parameter, Path, Problem, Status
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
        self._check_parameters()
        if self.penalties is not None:
            return _check_penalties(self.penalties)
        return penalty_grid(problem, self.l1_ratio, self.n_penalties, self.penalty_ratio)

    def path(
        self,
        problem: Problem,
        penalties: Sequence[float] | FloatArray | None = None,
        start: FloatArray | None = None,
    ) -> Path:
        """Solve at each penalty, the first one from ``start``, each next one from the solution before.

        Parameters
        ----------
        problem : Problem
        penalties : sequence of float, default=None
            Decreasing; those of `grid` by default.
        start : ndarray of shape (n_terms,), default=None
            Coefficients to begin with, best those of the next larger penalty. Zeros by default.

        Returns
        -------
        Path

        Warns
        -----
        NotConvergedWarning
            Once, when some points stopped at ``max_iter``.
        """
        self._check_parameters()
        values = self.grid(problem) if penalties is None else _check_penalties(penalties)
        null_objective = 0.5 * problem.y_y
        began = time.perf_counter()
        coefs, gaps, iterations = elastic_net_path(
            np.ascontiguousarray(problem.gram, dtype=np.float64),
            np.ascontiguousarray(problem.x_y, dtype=np.float64),
            float(problem.y_y),
            values,
            float(self.l1_ratio),
            float(self.tol) * null_objective,
            int(self.max_iter),
            np.zeros(problem.n_terms) if start is None else _check_start(start, problem.n_terms),
        )
        seconds = time.perf_counter() - began

        relative = gaps / null_objective if null_objective > 0.0 else gaps
        reached = relative <= self.tol
        if not reached.all():
            self._warn(values, relative, reached)
        return Path(
            parameter=Parameter("penalty", values),
            penalties=values,
            coefs=coefs,
            intercepts=problem.y_mean - coefs @ problem.x_mean,
            gaps=relative,
            iterations=iterations,
            status=tuple(Status.CONVERGED if done else Status.MAX_ITER for done in reached),
            seconds=seconds,
        )

    def _check_parameters(self) -> None:
        """Raise on a parameter outside its limits."""
        limits = {
            "l1_ratio": (0.0 <= self.l1_ratio <= 1.0, "between 0 and 1"),
            "n_penalties": (self.n_penalties >= 1, "at least 1"),
            "penalty_ratio": (0.0 < self.penalty_ratio < 1.0, "between 0 and 1, both excluded"),
            "tol": (self.tol > 0.0, "positive"),
            "max_iter": (self.max_iter >= 1, "at least 1"),
        }
        for name, (valid, expected) in limits.items():
            if not valid:
                raise InvalidInputError(f"`{name}` of Glmnet must be {expected}; got {getattr(self, name)!r}.")

    def _warn(self, penalties: FloatArray, gaps: FloatArray, reached: np.ndarray) -> None:
        """Say once how many points missed the tolerance, and by how much."""
        worst = int(np.argmax(gaps))
        warnings.warn(
            f"Glmnet left {int((~reached).sum())} of {len(penalties)} penalties at max_iter={self.max_iter} passes; "
            f"the worst relative duality gap is {gaps[worst]:.1e} against tol={self.tol:.1e}, at penalty "
            f"{penalties[worst]:.3g}. Raise `max_iter` or `tol`, or stop at a larger penalty.",
            NotConvergedWarning,
            stacklevel=3,
        )


def _check_penalties(penalties: Sequence[float] | FloatArray) -> FloatArray:
    """Return the penalties as a new array, positive and decreasing."""
    values = np.array(penalties, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise InvalidInputError(f"`penalties` must be one row of numbers; got an array of shape {values.shape}.")
    if not (np.isfinite(values).all() and values.min() > 0.0):
        raise InvalidInputError(f"`penalties` must be positive and finite; got {values[~(values > 0.0)][:1]}.")
    rises = np.flatnonzero(np.diff(values) > 0.0)
    if len(rises):
        low, high = values[rises[0]], values[rises[0] + 1]
        raise InvalidInputError(
            f"`penalties` must be decreasing; got {low:g} before {high:g}. Sort it or leave it to `n_penalties`."
        )
    return values


def _check_start(start: FloatArray, n_terms: int) -> FloatArray:
    """Return the coefficients to begin with, if they fit the problem."""
    values = np.asarray(start, dtype=np.float64)
    if values.shape != (n_terms,) or not np.isfinite(values).all():
        raise InvalidInputError(f"`start` must hold {n_terms} finite coefficients; got shape {values.shape}.")
    return values
