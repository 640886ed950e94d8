"""Pathbuild: thresholded gradient descent from the model without terms."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal, Self

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.rows import Rows
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Huber, Loss, find_loss
from rulegrove.solvers._checking import (
    check_limits,
    check_loss,
    check_points,
    check_rows,
    check_start,
    check_unconstrained,
)
from rulegrove.solvers._pathbuild_kernels import Models, Steps, gram_path, rows_path
from rulegrove.solvers.base import BaseSolver, Parameter, Path, Problem, Status

# A gradient this far below the largest that the target could cause is rounding.
_NOISE = 1e-13


class Pathbuild(BaseSolver):
    r"""Thresholded gradient descent on the mean loss, step by step from the model without terms.

    With :math:`g` the negative gradient of

    .. math::
        R(a) = \frac{1}{N} \sum_i w_i L(y_i, F_i), \qquad F_i = a_0 + \sum_k a_k x_{ik},

    each step moves the coefficients whose gradient is large,

    .. math::
        a_k \leftarrow a_k + \text{step}\, g_k \quad \text{where} \quad
        |g_k| \ge \text{threshold} \cdot \max_j |g_j| .

    A threshold of 1 moves one coefficient at a time, which resembles the lasso; 0 moves all of them, which resembles
    ridge regression [1]_. The number of steps is the amount of fit; no penalised objective is minimised.

    The gradient is updated, not computed anew: exactly, whatever moves and however many rows cross a kink of the loss.

    Parameters
    ----------
    threshold : float or "cv", default=0.4
        Share of the largest gradient that a gradient must reach for its coefficient to move, from 0 to 1. "cv" leaves
        the choice among 0, 0.1, ..., 1 to an estimator.
    step : float, default=0.01
        Length of a step in units of the gradient; shortened to what keeps the training risk from rising where needed.
    loss : {"ramp", "squared_hinge", "squared", "huber"} or Loss, default="ramp"
        What an error costs, by its name or as an object of `rulegrove.losses`; the first two are for targets -1 and +1.
        "squared" needs no rows.
    intercept : {"refit", "fixed"}, default="refit"
        Whether the intercept follows each step, or stays at the best constant, as in [2]_.
    n_steps : int, default=5000
        Last point of the default grid.
    n_points : int, default=50
        Most points of the default grid.
    huber_delta : float, default=None
        Error from which on Huber's loss is linear. By default nine tenths of the targets are nearer to their median.

    References
    ----------
    .. [1] Friedman, Popescu (2004). "Gradient directed regularization for linear regression and classification".
       Technical report, Stanford University.
    .. [2] DeMasi, Meza, Bailey. "Dimension reduction using rule ensemble machine learning methods: a numerical study
       of three ensemble methods". Figure "Outline of Pathbuild method" and the appendix, with these corrections: the
       gradient is the negative one, the cases of its test are not swapped, sizes are compared, and the sum over the
       rows that cross a kink holds each row's own score.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.design.rows import Rows
    >>> from rulegrove.solvers import Pathbuild, Problem
    >>> X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]]), np.array([-1.0, 1.0, 1.0, -1.0])
    >>> problem = Problem.from_rows(Rows.from_dense(X, np.empty((4, 0)), y))
    >>> path = Pathbuild(threshold=1.0, step=0.1).path(problem, points=[0, 1, 10, 100])
    >>> path.coefs.round(2)
    array([[0.  , 0.  ],
           [0.1 , 0.  ],
           [0.8 , 0.  ],
           [1.99, 0.  ]])
    >>> path.intercepts.round(2) + 0.0
    array([ 0.  , -0.05, -0.4 , -0.99])
    """

    counts_steps: ClassVar[bool] = True

    def __init__(
        self,
        *,
        threshold: float | Literal["cv"] = 0.4,
        step: float = 0.01,
        loss: str | Loss = "ramp",
        intercept: Literal["refit", "fixed"] = "refit",
        n_steps: int = 5000,
        n_points: int = 50,
        huber_delta: float | None = None,
    ) -> None:
        self.threshold = threshold
        self.step = step
        self.loss = loss
        self.intercept = intercept
        self.n_steps = n_steps
        self.n_points = n_points
        self.huber_delta = huber_delta

    def takes_loss(self, loss: Loss) -> bool:
        """Whether the loss is of the few whose curvature is constant between kinks."""
        return loss.name in {"ramp", "squared_hinge", "squared", "huber"}

    def variants(self, problem: Problem) -> list[Self]:
        """Return the solvers to choose from, ready for the folds of a problem.

        One for each threshold 0, 0.1, ..., 1 if ``threshold="cv"``, else this one; all with the same `huber_delta`.
        """
        self.check()
        loss = self.training_loss(problem)
        delta = loss.delta if isinstance(loss, Huber) else self.huber_delta
        thresholds = [tenths / 10 for tenths in range(11)] if self.threshold == "cv" else [self.threshold]
        return [self._changed(threshold=threshold, huber_delta=delta) for threshold in thresholds]

    def training_loss(self, problem: Problem) -> Loss:
        """Return the loss of a problem, Huber's with its delta."""
        check_loss(self)
        return Huber(self._delta(check_rows(self, problem))) if self.loss == "huber" else find_loss(self.loss)

    def grid(self, problem: Problem) -> FloatArray:
        """Return the increasing numbers of steps that `path` stops at when none are given: 0, then evenly in logs.

        Parameters
        ----------
        problem : Problem

        Returns
        -------
        ndarray of shape (at most n_points,)
        """
        self.check()
        if self.n_points == 1:
            return np.array([float(self.n_steps)])
        counts = np.geomspace(1.0, self.n_steps, self.n_points - 1)
        return np.unique(np.concatenate([[0.0], np.rint(counts)]))

    def path(
        self,
        problem: Problem,
        points: Sequence[float] | FloatArray | None = None,
        start: Path | FloatArray | None = None,
    ) -> Path:
        """Take steps and keep the model at the given numbers of them.

        Parameters
        ----------
        problem : Problem
        points : sequence of int, default=None
            Increasing numbers of steps, counted from the model without terms; those of `grid` by default.
        start : Path, default=None
            A path of this solver to go on from. The model without terms by default.

        Returns
        -------
        Path
            Its penalties are half the largest gradients, its gaps NaN.
        """
        check_unconstrained(type(self).__name__, problem)
        self.check()
        if self.threshold == "cv":
            raise InvalidInputError(
                "Pathbuild(threshold='cv') chooses its threshold on folds; give it to an estimator, or give a number."
            )
        counts = _check_counts(self.grid(problem) if points is None else points)
        coef, intercept, done = self._check_start(start, problem, int(counts[0]))
        limit = _NOISE * 2.0 * math.sqrt(problem.y_y + problem.y_mean**2) * math.sqrt(_largest_square(problem))
        refit = self.intercept == "refit"
        step = self._safe_step(problem.curvature if refit and not self.needs_rows else problem.raw_curvature)
        steps = Steps(done, counts, float(self.threshold), step, refit, limit)
        began = time.perf_counter()
        follow = self._follow_rows if self.needs_rows else self._follow_gram
        models, intercepts = follow(problem, steps, coef, intercept)
        return Path(
            parameter=Parameter("steps", counts.astype(np.float64)),
            penalties=0.5 * models.gradients,
            coefs=models.coefs,
            intercepts=intercepts,
            gaps=np.full(len(counts), np.nan),
            iterations=models.iterations,
            status=tuple(Status.STATIONARY if size <= limit else Status.ON_THE_WAY for size in models.gradients),
            seconds=time.perf_counter() - began,
            residuals=np.sqrt(models.squares),
            risks=models.risks,
            weight=problem.weight,
        )

    def _follow_rows(
        self, problem: Problem, steps: Steps, coef: FloatArray, intercept: float | None
    ) -> tuple[Models, FloatArray]:
        """Descend over the rows: the models at the points, and their intercepts."""
        rows = check_rows(self, problem)
        here = rows.weights > 0
        rows = replace(rows, y=np.where(here, rows.y, 0.0))
        loss = self.training_loss(problem)
        tail = 0.0
        if isinstance(loss, Huber):
            tail = loss.delta
            lower, upper = rows.y - tail, rows.y + tail
        else:
            _check_classes(self, rows.y[here])
            # Beyond -1 and +1 the ramp is level on both sides, the squared hinge on the right side only.
            far = 1.0 if loss.name == "ramp" else np.inf
            lower, upper = np.where(rows.y > 0, -far, -1.0), np.where(rows.y > 0, 1.0, far)
        if intercept is None:
            intercept = float(loss.best_constant(rows.y[here], rows.weights[here]))
        return rows_path(rows, lower, upper, tail, steps, coef, intercept)

    def _follow_gram(
        self, problem: Problem, steps: Steps, coef: FloatArray, intercept: float | None
    ) -> tuple[Models, FloatArray]:
        """Descend from the statistics; to refit the intercept after each step is to centre the terms."""
        gram = problem.gram if steps.refit else problem.gram + np.outer(problem.x_mean, problem.x_mean)
        models = gram_path(
            np.ascontiguousarray(gram, dtype=np.float64),
            np.ascontiguousarray(problem.x_y, dtype=np.float64),
            float(problem.y_y),
            steps,
            coef,
        )
        centred = problem.x_mean if steps.refit else np.zeros(problem.n_terms)
        return models._replace(squares=problem.weight * models.squares), problem.y_mean - models.coefs @ centred

    def _safe_step(self, curvature: float) -> float:
        """Return the step, no longer than one over the largest curvature of the mean loss.

        The risk falls with every step below two over it, for each of the losses, across their kinks and for every set
        of terms; so an estimate that is more than half of the truth will do.
        """
        return float(self.step) if 2.0 * curvature * self.step <= 1.0 else 0.5 / curvature

    def _delta(self, rows: Rows) -> float:
        """Return the error from which on Huber's loss is linear."""
        if self.huber_delta is not None:
            return float(self.huber_delta)
        here = rows.weights > 0
        y, weights = rows.y[here], rows.weights[here]
        sizes = np.abs(y - np.quantile(y, 0.5, weights=weights, method="inverted_cdf"))
        delta = float(np.quantile(sizes, 0.9, weights=weights, method="inverted_cdf"))
        # Nine tenths of the targets may be equal; then no error is large.
        return delta if delta > 0.0 else float(sizes.max()) or 1.0

    def _check_start(self, start: object, problem: Problem, first: int) -> tuple[FloatArray, float | None, int]:
        """Return the coefficients to begin with, the intercept unless it is to be found, and the steps so far."""
        if start is None:
            return np.zeros(problem.n_terms), None, 0
        if not isinstance(start, Path) or start.parameter.name != "steps":
            raise InvalidInputError(
                "`start` of Pathbuild must be a path of Pathbuild, which knows its intercept and its steps; "
                f"got {'a path of another solver' if isinstance(start, Path) else type(start).__name__}."
            )
        done = int(start.parameter.values[-1])
        if first < done:
            raise InvalidInputError(f"`points` must not lie before the end of `start`; got {first} after {done} steps.")
        return check_start(start, problem.n_terms), float(start.intercepts[-1]), done

    def check(self) -> None:
        """Raise on a parameter outside its limits."""
        check_loss(self)
        threshold = self.threshold
        check_limits(
            self,
            {
                "threshold": (
                    threshold == "cv" if isinstance(threshold, str) else 0.0 <= threshold <= 1.0,
                    "between 0 and 1, or 'cv'",
                ),
                "step": (0.0 < self.step < np.inf, "positive and finite"),
                "intercept": (self.intercept in {"refit", "fixed"}, "'refit' or 'fixed'"),
                "n_steps": (self.n_steps >= 1, "at least 1"),
                "n_points": (self.n_points >= 1, "at least 1"),
                "huber_delta": (
                    self.huber_delta is None or 0.0 < self.huber_delta < np.inf,
                    "positive and finite, or None",
                ),
            },
        )


def _check_counts(points: Sequence[float] | FloatArray) -> IntArray:
    """Return numbers of steps."""
    values = check_points(points, "points", increasing=True, zero=True)
    broken = values[values != np.rint(values)]
    if len(broken):
        raise InvalidInputError(f"`points` of Pathbuild must be whole numbers of steps; got {broken[0]:g}.")
    return values.astype(np.int64)


def _check_classes(solver: Pathbuild, y: FloatArray) -> None:
    """Raise on targets other than -1 and +1: the proof that the risk falls, and the hinge itself, hold for no other."""
    wrong = y[np.abs(y) != 1.0]
    if len(wrong):
        raise InvalidInputError(
            f"Pathbuild(loss={solver.loss!r}) needs targets -1 and +1; got {wrong[0]:g}. "
            "Take loss='squared' or loss='huber' for other targets."
        )


def _largest_square(problem: Problem) -> float:
    """Return the largest mean square of a term."""
    return float((problem.gram.diagonal() + problem.x_mean**2).max(initial=0.0))
