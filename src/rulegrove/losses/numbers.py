"""Losses of numbers whose outliers count less than their squares: Huber's, and those of quantiles."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses.base import Loss, weighted_quantile


@dataclass(frozen=True)
class Huber(Loss):
    """The Huber loss, squared up to `delta`, then linear: ``r^2`` for ``|r| <= delta``, else ``delta (2 |r| - delta)``.

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
class Quantile(Loss):
    """The pinball loss: ``level (y - F)`` where the score is too low, ``(1 - level) (F - y)`` where it is too high.

    Parameters
    ----------
    level : float, default=0.5
        The share of targets that should lie below the score, between 0 and 1, both excluded.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Quantile(0.75)
    >>> y = np.array([1.0, 2.0, 3.0, 10.0, 50.0])
    >>> float(loss.best_constant(y, np.ones(5)))
    10.0
    >>> loss.negative_gradient(y, np.full(5, 10.0))
    array([-0.25, -0.25, -0.25,  0.  ,  0.75])
    """

    name: ClassVar[str] = "quantile"

    level: float = 0.5

    def __post_init__(self) -> None:
        """Refuse levels at which the loss has no least value."""
        if not 0.0 < self.level < 1.0:
            raise InvalidInputError(f"`level` of Quantile must be between 0 and 1, both excluded; got {self.level!r}.")

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the loss of each element."""
        error = y - score
        return np.maximum(self.level * error, (self.level - 1.0) * error)

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return `level` below the target, ``level - 1`` above it and 0 where the two are equal."""
        return np.where(y > score, self.level, np.where(y < score, self.level - 1.0, 0.0))

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return 0: the loss is linear but for its kink."""
        return np.zeros_like(score)

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the exact weighted quantile: the middle, if everything between two targets is equally good."""
        return weighted_quantile(y, weights, self.level)


@dataclass(frozen=True)
class Absolute(Loss):
    """The absolute error ``|y - F|``, whose best constant is the median.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Absolute()
    >>> y = np.array([1.0, 2.0, 4.0, 100.0])
    >>> float(loss.best_constant(y, np.ones(4)))
    3.0
    >>> loss.negative_gradient(y, np.full(4, 4.0))
    array([-1., -1.,  0.,  1.])
    """

    name: ClassVar[str] = "absolute"

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``|y - F|``."""
        return np.abs(y - score)

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the sign of ``y - F``."""
        return np.sign(y - score)

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return 0: the loss is linear but for its kink."""
        return np.zeros_like(score)

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the exact weighted median: the middle, if everything between two targets is equally good."""
        return weighted_quantile(y, weights, 0.5)
