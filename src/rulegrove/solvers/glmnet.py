"""Glmnet: the elastic net path by coordinate descent on the Gram, of the squared or any smooth convex loss."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal, Self

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Loss, SmoothLoss, find_loss
from rulegrove.solvers import _newton as newton
from rulegrove.solvers._checking import (
    check_limits,
    check_loss,
    check_points,
    check_start,
    check_targets,
    warn_not_converged,
)
from rulegrove.solvers._constraining import settle_null
from rulegrove.solvers._penalty import Penalty
from rulegrove.solvers._polishing import polish
from rulegrove.solvers._relaxing import relax_smooth, relax_squared
from rulegrove.solvers.base import BaseSolver, Parameter, Path, Problem, Status, least_squares_path
from rulegrove.solvers.scaling import grid_below, least_ratio, penalty_grid

L1_RATIOS = (1.0, 0.5, 0.2)  # from which ``l1_ratio="cv"`` chooses


class Glmnet(BaseSolver):
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
    glmnet, and with an object of a `rulegrove.losses.SmoothLoss` it is the mean of that loss. Proximal Newton steps on
    the active terms and the violators then lead to the minimum; this needs the rows.

    Parameters
    ----------
    l1_ratio : float or "cv", default=1.0
        Share of the L1 norm in the penalty, from 0 (ridge) to 1 (lasso). "cv" leaves the choice among 1, 0.5 and 0.2 to
        the folds of an estimator.
    loss : {"squared", "logistic"} or SmoothLoss, default="squared"
        The squared error runs from sums alone; the logistic loss, for two classes, and others from the rows.
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
        Most passes over the working set for one penalty; Newton steps where the rows are needed.

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
    solves_together: ClassVar[bool] = True
    measured: ClassVar[tuple[str, ...]] = ("penalties",)

    def __init__(
        self,
        *,
        l1_ratio: float | Literal["cv"] = 1.0,
        loss: str | Loss = "squared",
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
        loss = self._smooth_loss
        if loss.sums_suffice:
            return penalty_grid(problem, self._l1_ratio, self.n_penalties, self.penalty_ratio)
        penalty = Penalty.of(problem, self._l1_ratio)
        if loss.pull_share is not None and loss.takes_intercept and not penalty.spared.size:
            # The target minus its mean is all that pulls.
            return loss.pull_share * penalty_grid(problem, self._l1_ratio, self.n_penalties, self.penalty_ratio)
        largest = newton.largest_pull(check_targets(self, loss, problem), loss, penalty)
        return grid_below(largest / least_ratio(self._l1_ratio), self.n_penalties, self.penalty_ratio)

    def takes_loss(self, loss: Loss) -> bool:
        """Whether the loss is smooth and convex."""
        return isinstance(loss, SmoothLoss)

    def variants(self, problem: Problem) -> Sequence[Self]:
        """Return the solvers to choose from: one for each mix of norms if ``l1_ratio="cv"``, else this one."""
        self.check()
        return [self._changed(l1_ratio=ratio) for ratio in L1_RATIOS] if self.l1_ratio == "cv" else [self]

    def polished(self, problem: Problem, coef: FloatArray, penalty: float) -> FloatArray | None:
        """Return the minimum to the last digit from coefficients near it; for the squared loss, not relaxed, only."""
        if self.needs_rows or self.mixes != (1.0,):
            return None
        return polish(problem, coef, penalty, self._l1_ratio)

    def as_net(self) -> "Glmnet":
        """Return this solver, with the lasso where the mix of norms was left to the folds."""
        return self._changed(l1_ratio=1.0) if self.l1_ratio == "cv" else self

    @property
    def _smooth_loss(self) -> SmoothLoss:
        """The loss as an object, after `check`."""
        loss = find_loss(self.loss)
        assert isinstance(loss, SmoothLoss)
        return loss

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
        path = (self._smooth if self.needs_rows else self._least_squares)(problem, values, start)
        reached = np.array([status is Status.CONVERGED for status in path.status])
        warn_not_converged(self, "penalty", values, path.gaps, reached)
        if self.mixes == (1.0,):
            return path
        if problem.rows is not None and self.needs_rows:
            return replace(path, relaxed=relax_smooth(problem, problem.rows, self._smooth_loss, path))
        return replace(path, relaxed=relax_squared(problem, path))

    def _least_squares(self, problem: Problem, penalties: FloatArray, start: Path | FloatArray | None) -> Path:
        """Follow the path from sums alone."""
        tol = float(self.tol) * 0.5 * problem.y_y
        began = time.perf_counter()
        penalty = Penalty.of(problem, self._l1_ratio)
        coefs, objectives, gaps, iterations = penalty.follow(
            np.ascontiguousarray(problem.gram, dtype=np.float64),
            np.ascontiguousarray(problem.x_y, dtype=np.float64),
            float(problem.y_y),
            penalties,
            tol,
            int(self.max_iter),
            check_start(settle_null(problem) if start is None else start, problem.n_terms),
        )
        seconds = time.perf_counter() - began
        shrunk = penalty.penalised(coefs)
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

    def _smooth(self, problem: Problem, penalties: FloatArray, start: Path | FloatArray | None) -> Path:
        """Follow the path from the rows."""
        loss = self._smooth_loss
        rows = check_targets(self, loss, problem)
        null, floor = loss.best_constant(rows.y, rows.weights), loss.floor(rows.y, rows.weights)
        null_objective = newton.null_risk(rows, loss)
        tol = float(self.tol) * null_objective
        began = time.perf_counter()
        penalty = Penalty.of(problem, self._l1_ratio)
        net = newton.SmoothNet(rows, loss, penalty, tol, int(self.max_iter))
        if start is None:
            coef, intercept = newton.null_fit(rows, loss, penalty)
        else:
            coef = check_start(start, problem.n_terms)
            intercept = float(start.intercepts[-1] if isinstance(start, Path) else null)
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
            risks=solutions.risks + floor,
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
