"""Losses: what an error costs, how it changes with the score, and the score that is best without any attribute.

Methods take targets `y` and scores `score` of one shape, ``(n_samples,)`` or ``(n_samples, n_outputs)``, and work
element by element. Losses of classification expect targets -1 and +1. Squares carry no factor 1/2: the objective
``loss / (2 N)`` of the solvers supplies it.

A loss of your own is a subclass of `SmoothLoss` with five methods; ``Glmnet(loss=YourLoss())`` then solves for it.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, xlogy

from rulegrove._typing import BoolArray, FloatArray
from rulegrove.exceptions import InvalidInputError

_FLATTEST = 1e-6  # curvature of a row, at least: rows that are certain must not make a quadratic model flat
_TINY = np.finfo(np.float64).tiny


class Loss(ABC):
    """What the growing of trees and the solvers ask of a loss.

    Attributes
    ----------
    name : str
        By which solvers and estimators know it.
    sums_suffice : bool
        Whether sums over the rows say all about it, so that no solver needs the rows: of the squared loss alone.
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
        """Return, for each output, the constant score of the least weighted loss."""

    def mean(self, score: FloatArray) -> FloatArray:
        """Return the mean of the target that the score stands for: the score itself unless there is a link."""
        return score


class ClassificationLoss(Loss):
    """A loss whose scores say how probable the class +1 is."""

    @abstractmethod
    def probability(self, score: FloatArray) -> FloatArray:
        """Return the probability of the class +1 that the score stands for."""


class SmoothLoss(Loss):
    """A convex loss with two derivatives and a least value, which ``Glmnet`` solves for from the rows.

    A loss needs `value`, `negative_gradient`, `curvature`, `best_constant` and `conjugate`; the other methods follow
    from these, and are there to be overridden where a loss knows a faster way.

    Attributes
    ----------
    pull_share : float, optional
        The negative gradient over the target minus its mean, where that is one number for all scores.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Squared()
    >>> y, slope = np.array([1.0, 2.0]), np.array([-1.0, 0.0])
    >>> loss.conjugate(y, slope)
    array([-0.75,  0.  ])
    """

    pull_share: ClassVar[float | None] = None

    @abstractmethod
    def conjugate(self, y: FloatArray, slope: FloatArray) -> FloatArray:
        """Return the largest value of ``slope * F - loss(y, F)`` over all F; infinity where there is none.

        At a slope of zero it must be finite: every target has a least loss, which the conjugate there is minus.
        """

    def residual(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the targets minus their means."""
        if self.pull_share is None:
            return y - self.mean(score)
        return self.negative_gradient(y, score) / self.pull_share

    def floor(self, y: FloatArray, weights: FloatArray) -> float:
        """Return the weighted mean of the least loss that each row can have."""
        here = weights > 0
        return -float(weights[here] @ self.conjugate(y[here], np.zeros(int(here.sum())))) / float(weights.sum())

    def missing(self, y: FloatArray) -> str:
        """Return in words what the targets would have to be; empty if they will do."""
        return ""

    def evaluate(
        self, y: FloatArray, score: FloatArray, weights: FloatArray, *, curved: bool = True
    ) -> tuple[float, FloatArray, FloatArray | None]:
        """Return all that a solver asks of a point: rows without weight count for nothing.

        Parameters
        ----------
        y, score, weights : ndarray of shape (n_rows,)
        curved : bool
            Whether the curvatures are wanted.

        Returns
        -------
        excess : float
            Weighted sum of the loss less the least that each row can have.
        pull : ndarray of shape (n_rows,)
            Weighted negative gradients.
        bend : ndarray of shape (n_rows,) or None
            Weighted curvatures.
        """
        here = weights > 0
        own_y, own_score, own_weights = y[here], score[here], weights[here]
        pull, bend = np.zeros_like(score), np.zeros_like(score) if curved else None
        with np.errstate(over="ignore", invalid="ignore"):  # a step that goes too far is seen by its infinite loss
            losses = self.value(own_y, own_score) + self.conjugate(own_y, np.zeros_like(own_y))
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
        return np.asarray(np.maximum(curvature, _FLATTEST * curvature.mean()))


class _MeanScore(ClassificationLoss):
    """A loss of targets -1 and +1 whose score estimates their mean, ``2 p - 1``."""

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weighted mean of the targets."""
        return _weighted_mean(y, weights)

    def probability(self, score: FloatArray) -> FloatArray:
        """Return ``(F + 1) / 2``, kept between 0 and 1."""
        return (np.clip(score, -1.0, 1.0) + 1.0) / 2.0


@dataclass(frozen=True)
class Squared(_MeanScore, SmoothLoss):
    """The squared error ``(y - F)^2``; on targets -1 and +1 the score estimates ``2 p - 1``.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Squared()
    >>> y = np.array([-1.0, 1.0, 1.0, 1.0])
    >>> float(loss.best_constant(y, np.ones(4)))
    0.5
    >>> loss.negative_gradient(y, np.full(4, 0.5))
    array([-3.,  1.,  1.,  1.])
    >>> loss.probability(np.array([-2.0, 0.5]))
    array([0.  , 0.75])
    """

    name: ClassVar[str] = "squared"
    sums_suffice: ClassVar[bool] = True
    pull_share: ClassVar[float | None] = 2.0

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``(y - F)^2``."""
        return (y - score) ** 2

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``2 (y - F)``."""
        return 2.0 * (y - score)

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return 2 everywhere."""
        return np.full_like(score, 2.0)

    def conjugate(self, y: FloatArray, slope: FloatArray) -> FloatArray:
        """Return ``slope (y + slope / 4)``."""
        return slope * (y + 0.25 * slope)


@dataclass(frozen=True)
class Ramp(_MeanScore):
    """The squared error ramp ``(y - clip(F, -1, 1))^2`` of targets -1 and +1: beyond the ramp nothing pulls any more.

    References
    ----------
    The paper, section 3 and its appendix: the derivative counts where ``|F| < 1``.

    Examples
    --------
    >>> import numpy as np
    >>> Ramp().negative_gradient(np.array([1.0, 1.0]), np.array([0.5, -3.0]))
    array([1., 0.])
    """

    name: ClassVar[str] = "ramp"

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``(y - clip(F, -1, 1))^2``."""
        return (y - np.clip(score, -1.0, 1.0)) ** 2

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``2 (y - F)`` on the ramp and 0 outside."""
        return 2.0 * (y - score) * (np.abs(score) < 1.0)

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return 2 on the ramp and 0 outside."""
        return np.where(np.abs(score) < 1.0, 2.0, 0.0)


@dataclass(frozen=True)
class SquaredHinge(_MeanScore):
    """The squared hinge ``max(0, 1 - y F)^2`` of targets -1 and +1; the score estimates ``2 p - 1``.

    Examples
    --------
    >>> import numpy as np
    >>> SquaredHinge().value(np.array([1.0, 1.0, -1.0]), np.array([3.0, 0.0, 1.0]))
    array([0., 1., 4.])
    """

    name: ClassVar[str] = "squared_hinge"

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``max(0, 1 - y F)^2``."""
        return np.maximum(0.0, 1.0 - y * score) ** 2

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``2 y max(0, 1 - y F)``."""
        return 2.0 * y * np.maximum(0.0, 1.0 - y * score)

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return 2 inside the margin and 0 outside."""
        return np.where(y * score < 1.0, 2.0, 0.0)


@dataclass(frozen=True)
class Huber(Loss):
    """Squared error up to `delta`, then linear: ``r^2`` for ``|r| <= delta``, else ``delta (2 |r| - delta)``.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Huber(delta=1.0)
    >>> loss.value(np.array([0.5, 3.0]), np.zeros(2))
    array([0.25, 5.  ])
    >>> round(float(loss.best_constant(np.array([0.0, 0.0, 1.0, 100.0]), np.ones(4))), 4)
    0.6667
    """

    name: ClassVar[str] = "huber"

    delta: float = 1.0

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the loss of each element."""
        size = np.abs(y - score)
        return np.where(size <= self.delta, size**2, self.delta * (2.0 * size - self.delta))

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``2 clip(y - F, -delta, delta)``."""
        return 2.0 * np.clip(y - score, -self.delta, self.delta)

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return 2 where the error is squared and 0 where it is linear."""
        return np.where(np.abs(y - score) <= self.delta, 2.0, 0.0)

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the constant where the clipped errors balance, exactly."""
        columns = y[:, None] if y.ndim == 1 else y
        best = np.array([self._balance(column, weights) for column in columns.T])
        return best[0] if y.ndim == 1 else best

    def _balance(self, y: FloatArray, weights: FloatArray) -> float:
        """Find the zero of the falling, piecewise linear pull; the middle where it is zero on an interval."""
        knots = np.unique(np.concatenate([y - self.delta, y + self.delta]))

        def pull(c: float) -> float:
            return float((weights * np.clip(y - c, -self.delta, self.delta)).sum())

        # The pull is at least 0 at the first knot and at most 0 at the last one: search the two around its zeros.
        low, high = 0, len(knots) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if pull(knots[middle]) > 0.0 else (low, middle)
        last = high
        while last + 1 < len(knots) and pull(knots[high]) == 0.0 == pull(knots[last + 1]):
            last += 1
        if last > high:
            return float((knots[high] + knots[last]) / 2)
        above, below = pull(knots[low]), pull(knots[high])
        share = above / (above - below) if above > below else 0.5
        return float(knots[low] + share * (knots[high] - knots[low]))


@dataclass(frozen=True)
class Logistic(ClassificationLoss, SmoothLoss):
    """The logistic loss ``log(1 + exp(-y F))`` of targets -1 and +1; the score estimates the log odds.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Logistic()
    >>> y = np.array([-1.0, 1.0, 1.0, 1.0])
    >>> odds = loss.best_constant(y, np.ones(4))
    >>> round(float(np.exp(odds)), 6), round(float(loss.probability(odds)), 6)
    (3.0, 0.75)
    """

    name: ClassVar[str] = "logistic"
    pull_share: ClassVar[float | None] = 0.5  # the mean of y is 2 p - 1

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``log(1 + exp(-y F))`` without overflow."""
        return np.logaddexp(0.0, -y * score)

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``y / (1 + exp(y F))``."""
        gradient: FloatArray = y * expit(-y * score)
        return gradient

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``p (1 - p)``."""
        curvature: FloatArray = expit(score) * expit(-score)
        return curvature

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weighted log odds; one class alone gives those of a billion to one."""
        share = np.clip((1.0 + _weighted_mean(y, weights)) / 2.0, 1e-9, 1.0 - 1e-9)
        return np.log(share) - np.log1p(-share)

    def probability(self, score: FloatArray) -> FloatArray:
        """Return ``1 / (1 + exp(-F))``."""
        probability: FloatArray = expit(score)
        return probability

    def mean(self, score: FloatArray) -> FloatArray:
        """Return ``2 p - 1``."""
        return np.tanh(0.5 * score)

    def conjugate(self, y: FloatArray, slope: FloatArray) -> FloatArray:
        """Return ``s log s + (1 - s) log(1 - s)`` for ``s = -y * slope`` between 0 and 1."""
        share = -y * slope
        inside = np.clip(share, 0.0, 1.0)
        entropy: FloatArray = xlogy(inside, inside) + xlogy(1.0 - inside, 1.0 - inside)
        return np.where(inside == share, entropy, np.inf)

    def missing(self, y: FloatArray) -> str:
        """Return that both classes are needed, if they are not what the targets are."""
        return "" if np.array_equal(np.unique(y), [-1.0, 1.0]) else "targets -1 and +1, some of each"

    def evaluate(
        self, y: FloatArray, score: FloatArray, weights: FloatArray, *, curved: bool = True
    ) -> tuple[float, FloatArray, FloatArray | None]:
        """Return the total loss, the pulls and the curvatures, from one exponential and one logarithm a row."""
        margins = y * score
        small = np.exp(-np.abs(margins))
        total = float(weights @ (np.log(1.0 + small) + np.maximum(-margins, 0.0)))
        wrong = np.where(margins < 0.0, 1.0, small) / (1.0 + small)  # the probability of the other class
        force = weights * wrong
        return total, y * force, force * (1.0 - wrong) if curved else None

    def bound(self, y: FloatArray, pull: FloatArray, weights: FloatArray) -> float:
        """Return the total entropy of a yes or no whose probabilities are the pulls over the weights."""
        force = np.abs(pull)
        rest = weights - force
        # w s log s + w (1 - s) log(1 - s) with s = force / w; rows without weight have force 0 and rest 0.
        inverse = 1.0 / np.maximum(weights, _TINY)
        logs = force * np.log(np.maximum(force * inverse, _TINY)) + rest * np.log(np.maximum(rest * inverse, _TINY))
        return float(-logs.sum())

    def model_curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``p (1 - p)`` from one exponential; what it loses near 1 lies far below its least value."""
        probability = expit(score)
        return np.asarray(np.maximum(probability * (1.0 - probability), _FLATTEST))


LOSSES: dict[str, type[Loss]] = {loss.name: loss for loss in (Squared, Ramp, SquaredHinge, Huber, Logistic)}


def find_loss(loss: str | Loss) -> Loss:
    """Return the loss of that name, or the object that was given.

    Examples
    --------
    >>> find_loss("logistic"), find_loss(Huber(delta=2.0))
    (Logistic(), Huber(delta=2.0))
    """
    if isinstance(loss, Loss):
        return loss
    if loss not in LOSSES:
        raise InvalidInputError(f"`loss` must be one of {', '.join(LOSSES)} or an object of a `Loss`; got {loss!r}.")
    return LOSSES[loss]()


def _weighted_mean(y: FloatArray, weights: FloatArray) -> FloatArray:
    """Average over the rows, by plain sums whose rounding does not depend on threads."""
    w = weights if y.ndim == 1 else weights[:, None]
    return np.asarray((w * y).sum(axis=0) / weights.sum())
