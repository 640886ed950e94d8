"""Losses of targets -1 and +1, of which the squared one is that of numbers, too."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, xlogy

from rulegrove._typing import FloatArray
from rulegrove.losses.base import FLATTEST, TINY, ClassificationLoss, SmoothLoss, weighted_mean


class _MeanScore(ClassificationLoss):
    """A loss of targets -1 and +1 whose score estimates their mean, ``2 p - 1``."""

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weighted mean of the targets."""
        return weighted_mean(y, weights)

    def probability(self, score: FloatArray) -> FloatArray:
        """Return ``(F + 1) / 2``, kept between 0 and 1."""
        return (np.clip(score, -1.0, 1.0) + 1.0) / 2.0


@dataclass(frozen=True)
class Squared(_MeanScore, SmoothLoss):
    """The squared error ``(y - F)^2``; for targets -1 and +1 the score estimates ``2 p - 1``.

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
    """The squared error ramp ``(y - clip(F, -1, 1))^2`` for targets -1 and +1, whose gradient is 0 beyond the ramp.

    References
    ----------
    The paper, section 3 and appendix: the derivative is used where ``|F| < 1``.

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
    """The squared hinge ``max(0, 1 - y F)^2`` for targets -1 and +1; the score estimates ``2 p - 1``.

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
class Logistic(ClassificationLoss, SmoothLoss):
    """The logistic loss ``log(1 + exp(-y F))`` for targets -1 and +1; the score estimates the log odds.

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
        """Return the weighted log odds; for one class alone, those of a billion to one."""
        share = np.clip((1.0 + weighted_mean(y, weights)) / 2.0, 1e-9, 1.0 - 1e-9)
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
        inverse = 1.0 / np.maximum(weights, TINY)
        logs = force * np.log(np.maximum(force * inverse, TINY)) + rest * np.log(np.maximum(rest * inverse, TINY))
        return float(-logs.sum())

    def model_curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``p (1 - p)`` from one exponential; what it loses near 1 lies far below its least value."""
        probability = expit(score)
        return np.asarray(np.maximum(probability * (1.0 - probability), FLATTEST))
