"""Losses: what an error costs, how it changes with the score, and the score that is best without any attribute.

Methods take targets `y` and scores `score` of one shape, ``(n_samples,)`` or ``(n_samples, n_outputs)``, and work
element by element. Losses of classification expect targets -1 and +1. Squares carry no factor 1/2: the objective
``loss / (2 N)`` of the solvers supplies it.

A loss of your own is a subclass of `SmoothLoss` with five methods; ``Glmnet(loss=YourLoss())`` then solves for it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, xlogy

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.exceptions import InvalidInputError

_FLATTEST = 1e-6  # curvature of a row, at least: rows that are certain must not make a quadratic model flat
_TINY = np.finfo(np.float64).tiny
_LARGEST_EXPONENT = 500.0  # whose exponential can still be summed over any number of rows
_ROUNDING = 1e-12  # of a sum of weights: smaller differences say nothing
_SPANS = 32, 128  # of time, in each of which a quadratic model of a partial likelihood has one set of rows at risk
_CELLS = 2**22  # rows times spans, above which there are no more spans than the first number
_MAX_STEPS = 60  # of Newton's method for a conjugate, which needs about five


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

    def risk(self, y: FloatArray, score: FloatArray, weights: FloatArray) -> float:
        """Return the weighted mean loss of rows, arrays of shape (n_rows,)."""
        return float(weights @ self.value(y, score)) / float(weights.sum())


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
    takes_intercept : bool
        Whether a constant added to all scores changes the loss; where it does not, models have an intercept of 0.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Squared()
    >>> y, slope = np.array([1.0, 2.0]), np.array([-1.0, 0.0])
    >>> loss.conjugate(y, slope)
    array([-0.75,  0.  ])
    """

    pull_share: ClassVar[float | None] = None
    takes_intercept: ClassVar[bool] = True

    @abstractmethod
    def conjugate(self, y: FloatArray, slope: FloatArray) -> FloatArray:
        """Return the largest value of ``slope * F - loss(y, F)`` over all F; infinity where there is none.

        At a slope of zero it must be finite: every target has a least loss, which the conjugate there is minus.
        """

    def excess(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the loss of each element less the least that it can have; half the deviance of a log likelihood."""
        return self.value(y, score) + self.conjugate(y, np.zeros_like(y))

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
        return np.asarray(np.maximum(curvature, _FLATTEST * curvature.mean()))

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


class _LogMean(SmoothLoss):
    """A loss of targets that are not negative, whose score estimates the logarithm of their mean."""

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the logarithm of the weighted mean; of zeros alone that of a tiny number."""
        return np.log(np.maximum(_weighted_mean(y, weights), _TINY))

    def mean(self, score: FloatArray) -> FloatArray:
        """Return ``exp(F)``."""
        return _exp(score)

    def missing(self, y: FloatArray) -> str:
        """Return that no target may be negative and that not all may be zero, if they are."""
        return "" if y.min() >= 0.0 < y.max() < np.inf else "targets that are not negative, some of them positive"


@dataclass(frozen=True)
class Poisson(_LogMean):
    """Minus the log likelihood of counts whose mean is ``exp(F)``, up to a constant: ``exp(F) - y F``.

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
        return _exp(score) - y * score

    def excess(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``exp(F) - y - y (F - log y)``."""
        beyond = score - _log(y)
        return _rise(y, beyond, score) - y * beyond

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``y - exp(F)``."""
        return y - _exp(score)

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``exp(F)``."""
        return _exp(score)

    def conjugate(self, y: FloatArray, slope: FloatArray) -> FloatArray:
        """Return ``m log m - m`` for ``m = y + slope`` that is not negative."""
        mean = y + slope
        inside = np.maximum(mean, 0.0)
        return np.where(mean >= 0.0, xlogy(inside, inside) - inside, np.inf)


@dataclass(frozen=True)
class Gamma(_LogMean):
    """Minus the log likelihood of positive targets under a gamma law of mean ``exp(F)``: ``y exp(-F) + F``.

    Errors count in proportion to the mean. The shape of the law is a factor, which is left out.

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
        return y * _exp(-score) + score

    def excess(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``exp(-G) - 1 + G`` for ``G = F - log y``."""
        beyond = score - _log(y)
        return _expm1(-beyond) + beyond

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``y exp(-F) - 1``."""
        return y * _exp(-score) - 1.0

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``y exp(-F)``."""
        return y * _exp(-score)

    def conjugate(self, y: FloatArray, slope: FloatArray) -> FloatArray:
        """Return ``s (log(s / y) - 1)`` for ``s = 1 - slope`` that is not negative."""
        share = 1.0 - slope
        inside = np.maximum(share, 0.0)
        return np.where(share >= 0.0, xlogy(inside, inside) - inside * (_log(y) + 1.0), np.inf)

    def missing(self, y: FloatArray) -> str:
        """Return that all targets must be positive, if they are not."""
        return "" if y.min() > 0.0 and y.max() < np.inf else "positive targets"


@dataclass(frozen=True)
class Tweedie(_LogMean):
    """Half the deviance of Tweedie's laws of mean ``exp(F)``, up to what the score does not change.

    The variance grows as the mean to a `power` p, from 1 (counts, as `Poisson`) to 2 (as `Gamma`). Between the two the
    targets may be zero or any positive number, as the total of a random number of random amounts is. The loss is
    ``y exp((1 - p) F) / (p - 1) + exp((2 - p) F) / (2 - p)``.

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
        return y * _exp(-down * score) / down + _exp(up * score) / up

    def excess(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the loss less what it is at ``F = log y``, without cancellation near it."""
        if self._edge is not None:
            return self._edge.excess(y, score)
        down, up = self.power - 1.0, 2.0 - self.power
        beyond, scale = score - _log(y), y**up
        return scale * _expm1(-down * beyond) / down + _rise(scale, up * beyond, up * score) / up

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``y exp((1 - p) F) - exp((2 - p) F)``."""
        return y * _exp((1.0 - self.power) * score) - _exp((2.0 - self.power) * score)

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return ``(p - 1) y exp((1 - p) F) + (2 - p) exp((2 - p) F)``."""
        down, up = self.power - 1.0, 2.0 - self.power
        return down * y * _exp(-down * score) + up * _exp(up * score)

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
        inside = steep * best - _exp(-down * best) / down - _exp(up * best) / up
        return np.where(positive, slope * np.log(own) + scale * inside, at_zero)

    def missing(self, y: FloatArray) -> str:
        """Return what is wrong with the targets, as the loss of that power says it."""
        return super().missing(y) if self._edge is None else self._edge.missing(y)


@dataclass(frozen=True)
class Cox(SmoothLoss):
    """Minus Cox's partial log likelihood, with Breslow's way of counting events at one time; scores are log hazards.

    A target is a time with a sign: above zero an event at that time, below zero a row that was last seen then without
    one. Censored rows are still at risk at the time of their censoring. The loss, ``sum_i w_i (log sum_j w_j exp(F_j) -
    F_i)`` over events i and the rows j at risk when they happen, is no sum over the rows taken alone. So `evaluate`,
    `bound` and the others that are given weights speak of the rows together; methods without weights take all that they
    are given for one table of rows of weight one, and return for each row its share of a sum.

    A constant added to all scores changes nothing, so there is no intercept.

    References
    ----------
    Breslow (1974). "Covariance analysis of censored survival data". Biometrics 30, 89-99.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Cox()
    >>> y = np.array([1.0, 2.0, -3.0])
    >>> loss.value(y, np.zeros(3)).round(4)  # log 3, log 2 and nothing
    array([1.0986, 0.6931, 0.    ])
    >>> loss.negative_gradient(y, np.zeros(3)).round(4)
    array([ 0.6667,  0.1667, -0.8333])
    """

    name: ClassVar[str] = "cox"
    pull_share: ClassVar[float | None] = 1.0  # events less those expected
    takes_intercept: ClassVar[bool] = False

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return for each event the logarithm of all hazards over its own, and 0 for other rows."""
        return _by_output(_RiskSets.values, y, score)

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the events of each row, 0 or 1, less those expected until its time."""
        return _by_output(_RiskSets.pulls, y, score)

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the second derivative of the whole loss in the score of each row alone."""
        return _by_output(_RiskSets.bends, y, score)

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return 0."""
        return np.zeros(y.shape[1:])

    def mean(self, score: FloatArray) -> FloatArray:
        """Return ``exp(F)``, the hazard over that of a score of 0."""
        return _exp(score)

    def conjugate(self, y: FloatArray, slope: FloatArray) -> FloatArray:
        """Return for each row its share of the conjugate of the whole loss; infinity where that has no value.

        A slope is what is expected of a row less its events. Let all expectations of a time be M, the events d, and P
        the events until then that no earlier time expects. The conjugate is ``sum_j m_j log m_j - sum (P log P - (P -
        M) log(P - M))``, first over rows, then over times; it needs ``P >= M`` at every time, and equality at the last.
        """
        return _by_output(_RiskSets.conjugates, y, slope)

    def floor(self, y: FloatArray, weights: FloatArray) -> float:
        """Return the mean loss if each event had been certain to come next: only ties cost anything."""
        return _RiskSets.of(y, weights).least / float(weights.sum())

    def risk(self, y: FloatArray, score: FloatArray, weights: FloatArray) -> float:
        """Return minus the partial log likelihood of the rows over their weight."""
        sets = _RiskSets.of(y, weights)
        return float(sets.weights @ sets.values(sets.pick(score))) / float(weights.sum())

    def missing(self, y: FloatArray) -> str:
        """Return that a row must be at risk beside some event, and that times have a sign, if it is not so."""
        events = y[y > 0.0]
        if (y != 0.0).all() and len(events) and ((np.abs(y) > events.min()) | (y == -events.min())).any():
            return ""
        return "times of events and minus the times of rows without one, and a row at risk beside the first event"

    def evaluate(
        self, y: FloatArray, score: FloatArray, weights: FloatArray, *, curved: bool = True
    ) -> tuple[float, FloatArray, FloatArray | None]:
        """Return the loss above its least value, events less those expected, and the diagonal of the curvature."""
        sets = _RiskSets.of(y, weights)
        own = sets.pick(score)
        with np.errstate(over="ignore", invalid="ignore"):
            bend = sets.spread(sets.bends(own)) if curved else None
            return sets.excess(own), sets.spread(sets.pulls(own)), bend

    def bound(self, y: FloatArray, pull: FloatArray, weights: FloatArray) -> float:
        """Return minus the conjugate of the whole loss; pulls times a number from 0 to 1 have one if the pulls have."""
        sets = _RiskSets.of(y, weights)
        return -float(sets.conjugates(-sets.pick(pull)).sum()) - sets.least

    def possible(self, y: FloatArray, pull: FloatArray, weights: FloatArray) -> BoolArray:
        """Return which rows expect no less than nothing, at times until which no more is expected than has happened."""
        sets = _RiskSets.of(y, weights)
        possible = np.ones(len(y), dtype=bool)
        possible[sets.rows] = sets.possible(-sets.pick(pull))
        return possible

    def model_weights(self, y: FloatArray, score: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the events expected of each row in each of some spans of time.

        The second derivatives of the loss are a sum over times of variances among the rows at risk, which a variance
        over a span of times is never less than: the model lies nowhere below the loss, and the shorter the spans, the
        nearer to it.
        """
        sets = _RiskSets.of(y, weights)
        parts = sets.parts(sets.pick(score))
        everywhere = np.zeros((len(y), parts.shape[1]))
        everywhere[sets.rows] = parts
        return everywhere


@dataclass(frozen=True, eq=False)
class _RiskSets:
    """Rows by their times: at risk at a time are those whose own time is not before it.

    Rows without weight are left out. Sums over risk sets are kept as logarithms, so that no scores are too far apart.

    Attributes
    ----------
    n_rows : int
        Those without weight included.
    rows : ndarray of shape (n_counted,)
        Positions of the rows with weight.
    weights, events : ndarray of shape (n_counted,)
        Their weights, and the same where they have an event and 0 where not.
    order : ndarray of shape (n_counted,)
        From the first time to the last.
    firsts : ndarray of shape (n_times,)
        Where in that order each time begins.
    places : ndarray of shape (n_counted,)
        Number of the time of each row.
    deaths : ndarray of shape (n_times,)
        Sums of `events`.
    """

    n_rows: int
    rows: IntArray
    weights: FloatArray
    events: FloatArray
    order: IntArray
    firsts: IntArray
    places: IntArray
    deaths: FloatArray

    @classmethod
    def of(cls, y: FloatArray, weights: FloatArray) -> "_RiskSets":
        """Sort the rows that have a weight by their times."""
        rows = np.flatnonzero(weights > 0.0)
        times, own = np.abs(y[rows]), weights[rows]
        order = np.argsort(times, kind="stable")
        begins = np.diff(times[order], prepend=-1.0) > 0.0
        places = np.empty_like(order)
        places[order] = np.cumsum(begins) - 1
        events, firsts = np.where(y[rows] > 0.0, own, 0.0), np.flatnonzero(begins)
        deaths: FloatArray = np.bincount(places, events, len(firsts)).astype(np.float64)
        return cls(len(y), rows, own, events, order, firsts, places, deaths)

    def pick(self, values: FloatArray) -> FloatArray:
        """Return the values of the rows that count."""
        return values[self.rows]

    def spread(self, values: FloatArray) -> FloatArray:
        """Return values of the rows that count for all rows, 0 for the others."""
        everywhere = np.zeros(self.n_rows)
        everywhere[self.rows] = values
        return everywhere

    @property
    def least(self) -> float:
        """The least value of the loss: at each time all hazard is that of the events."""
        return float(xlogy(self.deaths, self.deaths).sum())

    def _log_sums(self, score: FloatArray) -> FloatArray:
        """Return the logarithm of the sum of all hazards at each time."""
        logs = (score + np.log(self.weights))[self.order]
        sums: FloatArray = np.logaddexp.accumulate(logs[::-1])[::-1]
        return sums[self.firsts]

    def _log_deaths(self) -> FloatArray:
        """Return the logarithms of `deaths`."""
        return np.log(self.deaths, out=np.full(len(self.deaths), -np.inf), where=self.deaths > 0.0)

    def values(self, score: FloatArray) -> FloatArray:
        """Return the loss of each row of weight one: of its event, if it has one."""
        return np.where(self.events > 0.0, self._log_sums(score)[self.places] - score, 0.0)

    def excess(self, score: FloatArray) -> float:
        """Return the whole loss less its least value."""
        here = self.deaths > 0.0
        deaths = self.deaths[here]
        at_risk = deaths * (self._log_sums(score)[here] - np.log(deaths))
        return float(at_risk.sum()) - float((self.events * score).sum())

    def _expected(self, score: FloatArray) -> FloatArray:
        """Return the events expected of each row until its time."""
        log_hazards = np.logaddexp.accumulate(self._log_deaths() - self._log_sums(score))
        return np.asarray(self.weights * np.exp(score + log_hazards[self.places]))

    def pulls(self, score: FloatArray) -> FloatArray:
        """Return the events of each row less those expected."""
        return self.events - self._expected(score)

    def bends(self, score: FloatArray) -> FloatArray:
        """Return the diagonal of the second derivatives."""
        log_squares = np.logaddexp.accumulate(self._log_deaths() - 2.0 * self._log_sums(score))
        own = np.exp(2.0 * (score + np.log(self.weights)) + log_squares[self.places])
        bends: FloatArray = np.maximum(self._expected(score) - own, 0.0)
        return bends

    def parts(self, score: FloatArray) -> FloatArray:
        """Return the events expected of each row in each span of time, in all of which no row may expect nothing."""
        log_rates = self._log_deaths() - self._log_sums(score)
        # Spans with about as many events; the times of one span follow one another.
        before = np.cumsum(self.deaths) - self.deaths
        n_spans = int(np.clip(_CELLS // len(score), *_SPANS))
        numbers = np.minimum(np.floor(n_spans * before / self.deaths.sum()), n_spans - 1)
        spans = np.unique(numbers, return_inverse=True)[1]
        begins = np.flatnonzero(np.diff(spans, prepend=-1))
        ends = np.append(begins[1:], len(spans))
        log_hazards = np.full((len(begins), len(spans)), -np.inf)
        for span, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            log_hazards[span, begin:end] = np.logaddexp.accumulate(log_rates[begin:end])
            log_hazards[span, end:] = log_hazards[span, end - 1]
        parts = np.exp(score[:, None] + np.log(self.weights)[:, None] + log_hazards.T[self.places])
        least = _FLATTEST * self.weights * (parts.sum() / self.weights.sum())
        parts[:, 0] += np.maximum(least - parts.sum(axis=1), 0.0)
        return np.asarray(parts)

    def _flow(self, slope: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what is expected of each row and at each time, and the events left after each time for later ones."""
        expected = self.events + slope
        sums: FloatArray = np.bincount(self.places, expected, len(self.deaths)).astype(np.float64)
        return expected, sums, np.cumsum(self.deaths - sums)

    def possible(self, slope: FloatArray) -> BoolArray:
        """Return which rows have a slope at which the conjugate may be finite, but for rounding."""
        expected, _, left = self._flow(slope)
        slack = _ROUNDING * float(self.deaths.sum())
        return np.asarray((expected >= -slack) & (np.abs(left[-1]) <= slack) & (left >= -slack)[self.places])

    def conjugates(self, slope: FloatArray) -> FloatArray:
        """Return the conjugate of the loss as a sum over the rows; see `Cox.conjugate`."""
        expected, sums, left = self._flow(slope)
        expected, sums, left = np.maximum(expected, 0.0), np.maximum(sums, 0.0), np.maximum(left, 0.0)
        before = sums + left
        # P log P - (P - M) log(P - M), without cancellation where many events are left and where hardly any are.
        few = np.divide(sums, left, out=np.ones_like(sums), where=sums < left)
        many = np.divide(before, left, out=np.ones_like(sums), where=left > 0.0)
        pooled = xlogy(sums, before) + left * np.where(sums < left, np.log1p(few), np.log(many))
        own = xlogy(expected, expected / self.weights) - (pooled / np.bincount(self.places))[self.places]
        return np.where(self.possible(slope), own, np.inf)


@dataclass(frozen=True)
class Quantile(Loss):
    """The pinball loss: ``level (y - F)`` where the score is too low, ``(1 - level) (F - y)`` where it is too high.

    Parameters
    ----------
    level : float, default=0.5
        Share of the targets that is to lie below the score, between 0 and 1, both excluded.

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
        """Return the weighted quantile, exactly; the middle where all between two targets are as good."""
        return _weighted_quantile(y, weights, self.level)


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
        """Return the weighted median, exactly; the middle where all between two targets are as good."""
        return _weighted_quantile(y, weights, 0.5)


LOSSES: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (Squared, Ramp, SquaredHinge, Huber, Logistic, Poisson, Gamma, Tweedie, Absolute, Quantile, Cox)
}


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


def _by_output(
    method: Callable[["_RiskSets", FloatArray], FloatArray], y: FloatArray, values: FloatArray
) -> FloatArray:
    """Return what risk sets say of each output, all rows having a weight of one."""
    ones = np.ones(len(y))
    if y.ndim == 1:
        return method(_RiskSets.of(y, ones), values)
    columns = [method(_RiskSets.of(own, ones), column) for own, column in zip(y.T, values.T, strict=True)]
    return np.column_stack(columns)


def _weighted_quantile(y: FloatArray, weights: FloatArray, level: float) -> FloatArray:
    """Return the quantile of each output: the middle of all that leave no more than their share on either side."""
    here = weights > 0.0
    columns, own = (y[:, None] if y.ndim == 1 else y)[here], weights[here]
    best = []
    for column in columns.T:
        order = np.argsort(column, kind="stable")
        reached = np.cumsum(own[order])
        goal, slack = level * reached[-1], _ROUNDING * reached[-1]
        low, high = np.searchsorted(reached, goal - slack), np.searchsorted(reached, goal + slack, side="right")
        best.append(0.5 * (column[order[low]] + column[order[min(int(high), len(order) - 1)]]))
    return np.asarray(best[0] if y.ndim == 1 else best)


def _exp(x: FloatArray) -> FloatArray:
    """Return the exponential, which stops growing before it overflows."""
    return np.exp(np.minimum(x, _LARGEST_EXPONENT))


def _expm1(x: FloatArray) -> FloatArray:
    """Return ``exp(x) - 1``, which stops growing before it overflows."""
    return np.expm1(np.minimum(x, _LARGEST_EXPONENT))


def _log(y: FloatArray) -> FloatArray:
    """Return the logarithm, of zero that of a tiny number."""
    return np.log(np.maximum(y, _TINY))


def _rise(scale: FloatArray, beyond: FloatArray, score: FloatArray) -> FloatArray:
    """Return ``exp(score) - scale`` where ``exp(beyond)`` is ``exp(score) / scale``, without cancellation."""
    return np.where(beyond < 1.0, scale * np.expm1(np.minimum(beyond, 1.0)), _exp(score) - scale)


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
        if not (step > _ROUNDING * (1.0 + lift)).any():
            break
    return lift
