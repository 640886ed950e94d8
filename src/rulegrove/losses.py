"""Losses: what an error costs, how it changes with the score, and the score that is best without any attribute.

Every method takes targets `y` and scores `score` of one shape, ``(n_samples,)`` or ``(n_samples, n_outputs)``, and
works element by element. Losses of classification expect targets -1 and +1. Squares carry no factor 1/2: the
objective ``loss / (2 N)`` of the solvers supplies it.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy.special import expit

from rulegrove._typing import FloatArray


class Loss(Protocol):
    """What the growing of trees and the solvers ask of a loss.

    Attributes
    ----------
    name : str
        By which solvers and estimators know it.
    """

    name: ClassVar[str]

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the loss of each element."""

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return minus the derivative of the loss with respect to the score."""

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the second derivative of the loss with respect to the score, where it has one."""

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return, for each output, the constant score of the least weighted loss."""


@runtime_checkable
class ClassificationLoss(Loss, Protocol):
    """A loss whose scores say how probable the class +1 is."""

    def probability(self, score: FloatArray) -> FloatArray:
        """Return the probability of the class +1 that the score stands for."""


@dataclass(frozen=True)
class Squared:
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

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``(y - F)^2``."""
        return (y - score) ** 2

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``2 (y - F)``."""
        return 2.0 * (y - score)

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return 2 everywhere."""
        return np.full_like(score, 2.0)

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weighted mean."""
        return _weighted_mean(y, weights)

    def probability(self, score: FloatArray) -> FloatArray:
        """Return ``(F + 1) / 2``, kept between 0 and 1."""
        return _probability_of_mean(score)


@dataclass(frozen=True)
class Ramp:
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

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weighted mean, which lies on the ramp."""
        return _weighted_mean(y, weights)

    def probability(self, score: FloatArray) -> FloatArray:
        """Return ``(F + 1) / 2``, kept between 0 and 1."""
        return _probability_of_mean(score)


@dataclass(frozen=True)
class SquaredHinge:
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

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weighted mean: between -1 and +1 the hinge is the squared error."""
        return _weighted_mean(y, weights)

    def probability(self, score: FloatArray) -> FloatArray:
        """Return ``(F + 1) / 2``, kept between 0 and 1."""
        return _probability_of_mean(score)


@dataclass(frozen=True)
class Huber:
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
class Logistic:
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


LOSSES: dict[str, type[Loss]] = {loss.name: loss for loss in (Squared, Ramp, SquaredHinge, Huber, Logistic)}


def _weighted_mean(y: FloatArray, weights: FloatArray) -> FloatArray:
    """Average over the rows, by plain sums whose rounding does not depend on threads."""
    w = weights if y.ndim == 1 else weights[:, None]
    return np.asarray((w * y).sum(axis=0) / weights.sum())


def _probability_of_mean(score: FloatArray) -> FloatArray:
    """Read a score that estimates ``2 p - 1``."""
    return (np.clip(score, -1.0, 1.0) + 1.0) / 2.0
