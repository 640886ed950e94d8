"""What losses are, and what several of them need."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from rulegrove._typing import BoolArray, FloatArray

FLATTEST = 1e-6  # curvature of a row, at least: rows that are certain must not make a quadratic model flat
TINY = np.finfo(np.float64).tiny
LARGEST_EXPONENT = 500.0  # whose exponential can still be summed over any number of rows
ROUNDING = 1e-12  # of a sum of weights: smaller differences say nothing


class Loss(ABC):
    """A loss, as trees and solvers use it.

    Attributes
    ----------
    name : str
        The name by which solvers and estimators know it.
    sums_suffice : bool
        Whether solvers need only sums over the rows instead of the rows themselves; true only of the squared loss.
    """

    name: ClassVar[str]
    sums_suffice: ClassVar[bool] = False

    @abstractmethod
    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the loss of each element."""

    @abstractmethod
    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return minus the derivative of the loss with respect to the score."""

    @abstractmethod
    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the second derivative of the loss with respect to the score, where it has one."""

    @abstractmethod
    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return, for each output, the constant score with the smallest weighted loss."""

    def mean(self, score: FloatArray) -> FloatArray:
        """Return the mean of the target that belongs to the score: the score itself, unless there is a link."""
        return score

    def risk(self, y: FloatArray, score: FloatArray, weights: FloatArray) -> float:
        """Return the weighted mean loss of rows, arrays of shape (n_rows,)."""
        return float(weights @ self.value(y, score)) / float(weights.sum())


class ClassificationLoss(Loss):
    """A loss whose scores give the probability of the class +1."""

    @abstractmethod
    def probability(self, score: FloatArray) -> FloatArray:
        """Return the probability of the class +1 that belongs to the score."""


class SmoothLoss(Loss):
    """A convex loss with two derivatives and a smallest value, which ``Glmnet`` can minimise.

    A loss needs `value`, `negative_gradient`, `curvature`, `best_constant` and `conjugate`; the other methods follow
    from these. Override them if there is a faster way.

    Attributes
    ----------
    pull_share : float, optional
        The negative gradient divided by the target minus its mean, if this is the same number for all scores.
    takes_intercept : bool
        Whether adding a constant to all scores changes the loss. If it does not, models have an intercept of 0.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.losses import Squared
    >>> loss = Squared()
    >>> y, slope = np.array([1.0, 2.0]), np.array([-1.0, 0.0])
    >>> loss.conjugate(y, slope)
    array([-0.75,  0.  ])
    """

    pull_share: ClassVar[float | None] = None
    takes_intercept: ClassVar[bool] = True

    @abstractmethod
    def conjugate(self, y: FloatArray, slope: FloatArray) -> FloatArray:
        """Return the largest value of ``slope * F - loss(y, F)`` over all F; infinity if there is none.

        At a slope of zero it must be finite: it is minus the smallest loss of the target.
        """

    def excess(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the loss of each element minus its smallest value; for a log likelihood, half the deviance."""
        return self.value(y, score) + self.conjugate(y, np.zeros_like(y))

    def residual(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the targets minus their means."""
        if self.pull_share is None:
            return y - self.mean(score)
        return self.negative_gradient(y, score) / self.pull_share

    def floor(self, y: FloatArray, weights: FloatArray) -> float:
        """Return the weighted mean of the smallest loss that each row can have."""
        here = weights > 0
        return -float(weights[here] @ self.conjugate(y[here], np.zeros(int(here.sum())))) / float(weights.sum())

    def missing(self, y: FloatArray) -> str:
        """Return in words what the targets must be; empty if they are valid."""
        return ""

    def evaluate(
        self, y: FloatArray, score: FloatArray, weights: FloatArray, *, curved: bool = True
    ) -> tuple[float, FloatArray, FloatArray | None]:
        """Return all that a solver needs to know about a point. Rows without weight do not count.

        Parameters
        ----------
        y, score, weights : ndarray of shape (n_rows,)
        curved : bool
            Whether to return the curvatures.

        Returns
        -------
        excess : float
            Weighted sum of the loss minus the smallest loss that each row can have.
        pull : ndarray of shape (n_rows,)
            Weighted negative gradients.
        bend : ndarray of shape (n_rows,) or None
            Weighted curvatures.
        """
        here = weights > 0
        own_y, own_score, own_weights = y[here], score[here], weights[here]
        pull, bend = np.zeros_like(score), np.zeros_like(score) if curved else None
        with np.errstate(over="ignore", invalid="ignore"):  # a step that goes too far is seen by its infinite loss
            losses = self.excess(own_y, own_score)
            pull[here] = own_weights * self.negative_gradient(own_y, own_score)
            if bend is not None:
                bend[here] = own_weights * self.curvature(own_y, own_score)
        return float(own_weights @ losses), pull, bend

    def bound(self, y: FloatArray, pull: FloatArray, weights: FloatArray) -> float:
        """Return the least that the excess of `evaluate` plus ``pull * score`` can be: a point of the dual problem.

        Parameters
        ----------
        y, pull, weights : ndarray of shape (n_rows,)
        """
        here = weights > 0
        own_y, own_weights = y[here], weights[here]
        dual = self.conjugate(own_y, -pull[here] / own_weights) - self.conjugate(own_y, np.zeros_like(own_y))
        return -float(own_weights @ dual)

    def possible(self, y: FloatArray, pull: FloatArray, weights: FloatArray) -> BoolArray:
        """Return which rows have a pull at which their conjugate is finite; rows without weight have one of zero."""
        slope = -np.divide(pull, weights, out=np.zeros_like(pull), where=weights > 0)
        return np.asarray((weights == 0) | np.isfinite(self.conjugate(y, slope)))

    def model_curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the curvature for a quadratic model of the loss, of which none may vanish."""
        curvature = self.curvature(y, score)
        return np.asarray(np.maximum(curvature, FLATTEST * curvature.mean()))

    def model_weights(self, y: FloatArray, score: FloatArray, weights: FloatArray) -> FloatArray:
        """Return weight times curvature of each row for a quadratic model, in which the intercept is free.

        Parameters
        ----------
        y, score, weights : ndarray of shape (n_rows,)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_parts)
            With parts, each row stands in each of them with a weight, and each part has a free intercept of its own.
        """
        return weights * self.model_curvature(y, score)


def weighted_mean(y: FloatArray, weights: FloatArray) -> FloatArray:
    """Average over the rows, by plain sums whose rounding does not depend on threads."""
    w = weights if y.ndim == 1 else weights[:, None]
    return np.asarray((w * y).sum(axis=0) / weights.sum())


def weighted_quantile(y: FloatArray, weights: FloatArray, level: float) -> FloatArray:
    """Return the quantile of each output: the middle of all that leave no more than their share on either side."""
    here = weights > 0.0
    columns, own = (y[:, None] if y.ndim == 1 else y)[here], weights[here]
    best = []
    for column in columns.T:
        order = np.argsort(column, kind="stable")
        reached = np.cumsum(own[order])
        goal, slack = level * reached[-1], ROUNDING * reached[-1]
        low, high = np.searchsorted(reached, goal - slack), np.searchsorted(reached, goal + slack, side="right")
        best.append(0.5 * (column[order[low]] + column[order[min(int(high), len(order) - 1)]]))
    return np.asarray(best[0] if y.ndim == 1 else best)


def bounded_exp(x: FloatArray) -> FloatArray:
    """Return the exponential, which stops growing before it overflows."""
    return np.exp(np.minimum(x, LARGEST_EXPONENT))
