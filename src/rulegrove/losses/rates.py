"""Losses of rates, whose logarithm is the score: of counts, of amounts and of totals of many amounts."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from rulegrove._typing import FloatArray
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses.base import LARGEST_EXPONENT, ROUNDING, TINY, SmoothLoss, bounded_exp, weighted_mean

_MAX_STEPS = 60  # of Newton's method for a conjugate, which needs about five


class _LogMean(SmoothLoss):
    """A loss of targets that are not negative, whose score estimates the logarithm of their mean."""

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the logarithm of the weighted mean; of zeros alone that of a tiny number."""
        return np.log(np.maximum(weighted_mean(y, weights), TINY))

    def mean(self, score: FloatArray) -> FloatArray:
        """Return ``exp(F)``."""
        return bounded_exp(score)

    def missing(self, y: FloatArray) -> str:
        """Return that no target may be negative and that not all may be zero, if they are."""
        return "" if y.min() >= 0.0 < y.max() < np.inf else "targets that are not negative, some of them positive"


@dataclass(frozen=True)
class Poisson(_LogMean):
    """The Poisson loss, ``exp(F) - y F``: minus the log likelihood of counts with mean ``exp(F)``, up to a constant.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Poisson()
    >>> y = np.array([0.0, 1.0, 5.0])
    >>> score = loss.best_constant(y, np.ones(3))
    >>> round(float(loss.mean(score)), 6)
    2.0
    >>> loss.negative_gradient(y, np.full(3, score)).round(6)
    array([-2., -1.,  3.])
    """

    name: ClassVar[str] = "poisson"
    pull_share: ClassVar[float | None] = 1.0

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``exp(F) - y F``."""
        return bounded_exp(score) - y * score

    def excess(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``exp(F) - y - y (F - log y)``."""
        beyond = score - _log(y)
        return _rise(y, beyond, score) - y * beyond

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``y - exp(F)``."""
        return y - bounded_exp(score)

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``exp(F)``."""
        return bounded_exp(score)

    def conjugate(self, y: FloatArray, slope: FloatArray) -> FloatArray:
        """Return ``m log m - m`` for ``m = y + slope`` that is not negative."""
        mean = y + slope
        inside = np.maximum(mean, 0.0)
        return np.where(mean >= 0.0, xlogy(inside, inside) - inside, np.inf)


@dataclass(frozen=True)
class Gamma(_LogMean):
    """The gamma loss, ``y exp(-F) + F``: minus the log likelihood of positive targets with mean ``exp(F)``.

    Errors count relative to the mean. The shape of the gamma distribution is a factor, which is left out.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Gamma()
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> score = np.full(3, np.log(2.0))
    >>> loss.negative_gradient(y, score)
    array([-0.5,  0. ,  2. ])
    >>> loss.missing(np.array([0.0, 1.0]))
    'positive targets'
    """

    name: ClassVar[str] = "gamma"

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``y exp(-F) + F``."""
        return y * bounded_exp(-score) + score

    def excess(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``exp(-G) - 1 + G`` for ``G = F - log y``."""
        beyond = score - _log(y)
        return _expm1(-beyond) + beyond

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``y exp(-F) - 1``."""
        return y * bounded_exp(-score) - 1.0

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``y exp(-F)``."""
        return y * bounded_exp(-score)

    def conjugate(self, y: FloatArray, slope: FloatArray) -> FloatArray:
        """Return ``s (log(s / y) - 1)`` for ``s = 1 - slope`` that is not negative."""
        share = 1.0 - slope
        inside = np.maximum(share, 0.0)
        return np.where(share >= 0.0, xlogy(inside, inside) - inside * (_log(y) + 1.0), np.inf)

    def missing(self, y: FloatArray) -> str:
        """Say that all targets must be positive, if they are not."""
        return "" if y.min() > 0.0 and y.max() < np.inf else "positive targets"


@dataclass(frozen=True)
class Tweedie(_LogMean):
    """The Tweedie loss: half the deviance of a Tweedie distribution with mean ``exp(F)``, up to a constant.

    The variance is proportional to the mean raised to a `power` p, from 1 (counts, as with `Poisson`) to 2 (as with
    `Gamma`). In between, targets may be zero or any positive number, like the total of a random number of random
    amounts. The loss is ``y exp((1 - p) F) / (p - 1) + exp((2 - p) F) / (2 - p)``.

    Parameters
    ----------
    power : float, default=1.5

    References
    ----------
    Jorgensen (1987). "Exponential dispersion models". Journal of the Royal Statistical Society B 49(2).

    Examples
    --------
    >>> import numpy as np
    >>> loss = Tweedie(1.5)
    >>> loss.negative_gradient(np.array([0.0, 4.0, 8.0]), np.full(3, np.log(4.0)))
    array([-2.,  0.,  2.])
    >>> loss.excess(np.array([0.0, 4.0]), np.full(2, np.log(4.0)))
    array([4., 0.])
    >>> Tweedie(3.0)
    Traceback (most recent call last):
    rulegrove.exceptions.InvalidInputError: `power` of Tweedie must be between 1 and 2; got 3.0.
    """

    name: ClassVar[str] = "tweedie"

    power: float = 1.5

    def __post_init__(self) -> None:
        """Refuse powers that are no law of this kind."""
        if not 1.0 <= self.power <= 2.0:
            raise InvalidInputError(f"`power` of Tweedie must be between 1 and 2; got {self.power!r}.")

    @property
    def _edge(self) -> SmoothLoss | None:
        """The loss at either end of the powers, where the formulas have other limits."""
        return Poisson() if self.power == 1.0 else Gamma() if self.power == 2.0 else None

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``y exp((1 - p) F) / (p - 1) + exp((2 - p) F) / (2 - p)``."""
        if self._edge is not None:
            return self._edge.value(y, score)
        down, up = self.power - 1.0, 2.0 - self.power
        return y * bounded_exp(-down * score) / down + bounded_exp(up * score) / up

    def excess(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the loss less what it is at ``F = log y``, without cancellation near it."""
        if self._edge is not None:
            return self._edge.excess(y, score)
        down, up = self.power - 1.0, 2.0 - self.power
        beyond, scale = score - _log(y), y**up
        return scale * _expm1(-down * beyond) / down + _rise(scale, up * beyond, up * score) / up

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``y exp((1 - p) F) - exp((2 - p) F)``."""
        return y * bounded_exp((1.0 - self.power) * score) - bounded_exp((2.0 - self.power) * score)

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``(p - 1) y exp((1 - p) F) + (2 - p) exp((2 - p) F)``."""
        down, up = self.power - 1.0, 2.0 - self.power
        return down * y * bounded_exp(-down * score) + up * bounded_exp(up * score)

    def conjugate(self, y: FloatArray, slope: FloatArray) -> FloatArray:
        """Return the conjugate by Newton's method; of a target of zero no slope may be negative.

        With ``F = log y + G`` the loss is ``y^(2 - p)`` times that of a target of one at G, so that one function of one
        number, ``slope / y^(2 - p)``, is all there is to solve for.
        """
        if self._edge is not None:
            return self._edge.conjugate(y, slope)
        down, up = self.power - 1.0, 2.0 - self.power
        rising = np.maximum(slope, 0.0)
        at_zero = np.where(slope >= 0.0, (xlogy(rising, rising) - rising) / up, np.inf)
        positive = y > 0.0
        own = np.where(positive, y, 1.0)
        scale = own**up
        steep = slope / scale
        rises = steep >= 0.0
        size = _lift(np.abs(steep), np.where(rises, up, down), np.where(rises, down, up))
        best = np.where(rises, size, -size)
        inside = steep * best - bounded_exp(-down * best) / down - bounded_exp(up * best) / up
        return np.where(positive, slope * np.log(own) + scale * inside, at_zero)

    def missing(self, y: FloatArray) -> str:
        """Return what is wrong with the targets, as the loss of that power says it."""
        return super().missing(y) if self._edge is None else self._edge.missing(y)


def _expm1(x: FloatArray) -> FloatArray:
    """Return ``exp(x) - 1``, which stops growing before it overflows."""
    return np.expm1(np.minimum(x, LARGEST_EXPONENT))


def _log(y: FloatArray) -> FloatArray:
    """Return the logarithm, of zero that of a tiny number."""
    return np.log(np.maximum(y, TINY))


def _rise(scale: FloatArray, beyond: FloatArray, score: FloatArray) -> FloatArray:
    """Return ``exp(score) - scale`` where ``exp(beyond)`` is ``exp(score) / scale``, without cancellation."""
    return np.where(beyond < 1.0, scale * np.expm1(np.minimum(beyond, 1.0)), bounded_exp(score) - scale)


def _lift(slope: FloatArray, up: FloatArray, down: FloatArray) -> FloatArray:
    """Return the G at which ``exp(up G) - exp(-down G)`` is a slope that is not negative.

    In logarithms, ``up G - log(slope + exp(-down G))``, the equation is concave and rising in G, so that Newton's steps
    from a point below the solution never pass it.
    """
    lift = np.log(np.maximum(slope, 1.0)) / up
    for _ in range(_MAX_STEPS):
        fallen = np.exp(-down * lift)
        total = slope + fallen
        step = (np.log(total) - up * lift) / (up + down * fallen / total)
        lift = lift + step
        if not (step > ROUNDING * (1.0 + lift)).any():
            break
    return lift
