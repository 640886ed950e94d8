"""Glmnet: the elastic net path by coordinate descent on the Gram, of the squared or the logistic loss."""

import functools
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Logistic
from rulegrove.solvers import _logistic as logistic
from rulegrove.solvers._checking import (
    check_classes,
    check_limits,
    check_loss,
    check_points,
    check_start,
    warn_not_converged,
)
from rulegrove.solvers._constraining import Limits, limited_net_path, settle_null
from rulegrove.solvers._kernels import elastic_net_path
from rulegrove.solvers._relaxing import relax_path
from rulegrove.solvers.base import Parameter, Path, Problem, Status, least_squares_path
from rulegrove.solvers.scaling import grid_below, least_ratio, penalty_grid

L1_RATIOS = (1.0, 0.5, 0.2)  # from which ``l1_ratio="cv"`` chooses


class Glmnet(BaseEstimator):
    r"""Elastic net path by cyclic coordinate descent.

    Minimises, with an intercept that is never penalised,

    .. math::
        \frac{1}{2N} \|y - a_0 - X a\|^2 + \text{penalty} \left(\text{l1\_ratio}\, \|a\|_1
        + \frac{1 - \text{l1\_ratio}}{2} \|a\|_2^2\right)

    along decreasing penalties [1]_. Each point starts from the one before; only active terms and those that violate
    their optimality condition are visited, on a compact copy of their Gram; Anderson's extrapolation [2]_ shortens the
    tail; all terms are checked before a point is left, which happens at a duality gap of ``tol``. Coefficients keep the
    `signs` of the problem, and terms that it leaves `unpenalised` are no part of the norms.

    With ``loss="logistic"`` the first part is the mean of ``log(1 + exp(-y F))`` over targets -1 and +1, as in R's
    glmnet, and proximal Newton steps on the active terms and the violators lead to the minimum; this needs the rows.

    Parameters
    ----------
    l1_ratio : float or "cv", default=1.0
        Share of the L1 norm in the penalty, from 0 (ridge) to 1 (lasso). "cv" leaves the choice among 1, 0.5 and 0.2 to
        the folds of an estimator.
    loss : {"squared", "logistic"}, default="squared"
        The squared error runs from sums alone; the logistic loss, for two classes, from the rows.
    relax : bool or sequence of float, default=False
        Fit the terms of each point once more without shrinking them [3]_, and let the folds choose how the two fits are
        mixed: fewer terms at equal error. A sequence gives the shares of the penalised fit to try; True tries
        0, 0.25, 0.5, 0.75 and 1.
    n_penalties : int, default=100
        Points of the default grid.
    penalty_ratio : float, default=1e-3
        Smallest over largest penalty of the default grid.
    penalties : sequence of float, default=None
        Decreasing penalties to use instead of the default grid.
    tol : float, default=1e-5
        Duality gap to reach, relative to the objective of the model without terms.
    max_iter : int, default=50000
        Most passes over the working set for one penalty; Newton steps with the logistic loss.

    References
    ----------
    .. [1] Friedman, Hastie, Tibshirani (2010). "Regularization paths for generalized linear models via coordinate
       descent". Journal of Statistical Software 33(1), section 2.2 (covariance updates).
    .. [2] Bertrand, Massias (2021). "Anderson acceleration of coordinate descent". AISTATS, algorithm 4.
    .. [3] Hastie, Tibshirani, Tibshirani (2020). "Best subset, forward stepwise or lasso?". Statistical Science 35(4),
       section 2.3 (the simplified relaxed lasso).

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

    A first coefficient that may not be positive, a second one that is not penalised:

    >>> from dataclasses import replace
    >>> limited = replace(problem, signs=np.array([-1, 0]), unpenalised=np.array([False, True]))
    >>> Glmnet(penalties=[0.7, 0.1]).path(limited).coefs.round(2)
    array([[0. , 1.5],
           [0. , 1.5]])
    """

    takes_constraints = True

    def __init__(
        self,
        *,
        l1_ratio: float | Literal["cv"] = 1.0,
        loss: str = "squared",
        relax: bool | Sequence[float] = False,
        n_penalties: int = 100,
        penalty_ratio: float = 1e-3,
        penalties: Sequence[float] | FloatArray | None = None,
        tol: float = 1e-5,
        max_iter: int = 50_000,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.loss = loss
        self.relax = relax
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
        self.check()
        if self.penalties is not None:
            return check_points(self.penalties, "penalties", increasing=False)
        limits = Limits.of(problem)
        if self.loss == "logistic" and limits is not None and limits.spared.any():
            largest = logistic.largest_pull(check_classes(self, problem), limits) / least_ratio(self._l1_ratio)
            return grid_below(largest, self.n_penalties, self.penalty_ratio)
        grid = penalty_grid(problem, self._l1_ratio, self.n_penalties, self.penalty_ratio)
        # Without terms the logistic loss pulls with y - (2 p - 1) over 2.
        return grid if self.loss == "squared" else 0.5 * grid

    @property
    def needs_rows(self) -> bool:
        """Whether the problem must hold its rows."""
        return self.loss != "squared"

    def variants(self, problem: Problem) -> list[Self]:
        """Return the solvers to choose from: one for each mix of norms if ``l1_ratio="cv"``, else this one."""
        self.check()
        if self.l1_ratio != "cv":
            return [self]
        return [clone(self).set_params(l1_ratio=ratio) for ratio in L1_RATIOS]

    @property
    def _l1_ratio(self) -> float:
        """The mix of norms as a number."""
        if isinstance(self.l1_ratio, str):
            raise InvalidInputError(
                "Glmnet(l1_ratio='cv') chooses its mix of norms on folds; give it to an estimator, or give a number."
            )
        return float(self.l1_ratio)

    @property
    def mixes(self) -> tuple[float, ...]:
        """Shares of the penalised fit among which a choice is made."""
        if isinstance(self.relax, (bool, np.bool_)):
            return (1.0, 0.75, 0.5, 0.25, 0.0) if self.relax else (1.0,)
        return tuple(float(share) for share in self.relax)

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
            Once, when some points were left above ``tol``.
        """
        values = self.grid(problem) if points is None else check_points(points, "points", increasing=False)
        self.check()
        path = (self._least_squares if self.loss == "squared" else self._logistic)(problem, values, start)
        reached = np.array([status is Status.CONVERGED for status in path.status])
        warn_not_converged(self, "penalty", values, path.gaps, reached)
        if self.mixes == (1.0,):
            return path
        return replace(path, relaxed=relax_path(problem, path, self.loss))

    def _least_squares(self, problem: Problem, penalties: FloatArray, start: Path | FloatArray | None) -> Path:
        """Follow the path from sums alone."""
        tol = float(self.tol) * 0.5 * problem.y_y
        began = time.perf_counter()
        limits = Limits.of(problem)
        solve = elastic_net_path if limits is None else functools.partial(limited_net_path, limits=limits)
        coefs, objectives, gaps, iterations = solve(
            np.ascontiguousarray(problem.gram, dtype=np.float64),
            np.ascontiguousarray(problem.x_y, dtype=np.float64),
            float(problem.y_y),
            penalties,
            self._l1_ratio,
            tol,
            int(self.max_iter),
            check_start(settle_null(problem) if start is None else start, problem.n_terms),
        )
        seconds = time.perf_counter() - began
        shrunk = coefs if limits is None else limits.penalised(coefs)
        norms = self._l1_ratio * np.abs(shrunk).sum(axis=1) + 0.5 * (1.0 - self._l1_ratio) * (shrunk**2).sum(axis=1)
        return least_squares_path(
            problem,
            Parameter("penalty", penalties),
            penalties=penalties,
            coefs=coefs,
            errors=2.0 * (objectives - penalties * norms),
            gaps=gaps,
            iterations=iterations,
            status=_status(gaps <= tol, iterations, self.max_iter),
            seconds=seconds,
        )

    def _logistic(self, problem: Problem, penalties: FloatArray, start: Path | FloatArray | None) -> Path:
        """Follow the path from the rows."""
        rows = check_classes(self, problem)
        null = logistic.null_intercept(rows)
        null_objective = float(rows.risks(Logistic(), np.zeros((1, rows.n_terms)), np.array([null]))[0])
        tol = float(self.tol) * null_objective
        began = time.perf_counter()
        limits = Limits.of(problem)
        net = logistic.LogisticNet(rows, self._l1_ratio, tol, int(self.max_iter), limits)
        if start is None:
            coef, intercept = logistic.null_fit(rows, limits)
        else:
            coef = check_start(start, problem.n_terms)
            intercept = float(start.intercepts[-1]) if isinstance(start, Path) else null
        solutions = net.follow(penalties, coef, intercept)
        return Path(
            parameter=Parameter("penalty", penalties),
            penalties=penalties,
            coefs=solutions.coefs,
            intercepts=solutions.intercepts,
            gaps=solutions.gaps / null_objective,
            iterations=solutions.iterations,
            status=_status(solutions.gaps <= tol, solutions.iterations, self.max_iter),
            seconds=time.perf_counter() - began,
            residuals=solutions.residuals,
            risks=solutions.risks,
            weight=rows.weight,
        )

    def check(self) -> None:
        """Raise on a parameter outside its limits."""
        check_loss(self)
        if self.penalties is not None:
            check_points(self.penalties, "penalties", increasing=False)
        check_limits(
            self,
            {
                "relax": (
                    len(self.mixes) > 0 and all(0.0 <= share <= 1.0 for share in self.mixes),
                    "a bool or a sequence of shares between 0 and 1",
                ),
                "l1_ratio": (
                    self.l1_ratio == "cv" if isinstance(self.l1_ratio, str) else 0.0 <= self.l1_ratio <= 1.0,
                    "between 0 and 1 or 'cv'" if isinstance(self.l1_ratio, str) else "between 0 and 1",
                ),
                "n_penalties": (self.n_penalties >= 1, "at least 1"),
                "penalty_ratio": (0.0 < self.penalty_ratio < 1.0, "between 0 and 1, both excluded"),
                "tol": (self.tol > 0.0, "positive"),
                "max_iter": (self.max_iter >= 1, "at least 1"),
            },
        )


def _status(reached: BoolArray, iterations: IntArray, max_iter: int) -> tuple[Status, ...]:
    """Say in words how each point was left."""
    return tuple(
        Status.CONVERGED if done else Status.MAX_ITER if spent >= max_iter else Status.STALLED
        for done, spent in zip(reached, iterations, strict=True)
    )
