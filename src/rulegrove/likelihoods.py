"""What is made as small as it can be over rows once terms are chosen, for every kind of target.

The compiled loop of `rulegrove._likelihood_kernels` knows the losses themselves; a likelihood tells it which one, where
to begin, and how curved the loss is.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import entr, expit, log_softmax, logit, softmax

from rulegrove._likelihood_kernels import LEVELS, NUMBERS, RATES, SHARES
from rulegrove._typing import FloatArray
from rulegrove.losses import Huber, Quantile, Tweedie

LOG_ODDS = 3.0  # of one unit of a score that estimates 2p - 1, where p is neither 0 nor 1
LEAST_SHARE = 1e-6  # of a class that no row to learn from has
LEAST_MEAN = 1e-6  # of rates, in units of their mean, where all rows to learn from have none


class Likelihood(ABC):
    """A loss over rows, of several outputs at once.

    Attributes
    ----------
    kind : int
        As the compiled loop knows it.
    unit : float
        About what a coefficient of the path, of squared errors, becomes.
    """

    kind: ClassVar[int]
    unit: ClassVar[float] = 1.0

    def find_shape(self, n_outputs: int) -> FloatArray:
        """Return what else the compiled loop must know of each output, an ndarray of shape (n_outputs, 2)."""
        return np.zeros((n_outputs, 2))

    def read(self, targets: FloatArray) -> FloatArray:
        """Return what scores are compared with, of shape (n_outputs, n_rows), from targets as the fit has them."""
        return np.ascontiguousarray(targets.T)

    @abstractmethod
    def find_levels(self, goals: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the best score of each output without any term; weights add up to one."""

    @abstractmethod
    def spreads(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the second derivative of the loss in every score, of shape (n_outputs, n_rows)."""

    @abstractmethod
    def losses(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the loss of every row."""

    def null_loss(self, goals: FloatArray, weights: FloatArray) -> float:
        """Return the mean loss without any term."""
        levels = self.find_levels(goals, weights)
        return float(weights @ self.losses(np.broadcast_to(levels[:, None], goals.shape), goals))


class OfShares(Likelihood):
    """The log loss of two classes, or of several together; goals are members of classes or probabilities.

    Examples
    --------
    >>> OfShares().losses(np.zeros((1, 2)), np.array([[0.0, 1.0]])).round(4)
    array([0.6931, 0.6931])
    """

    kind = SHARES
    unit = LOG_ODDS

    def read(self, targets: FloatArray) -> FloatArray:
        """Return 1 where a row is of the class of an output, else 0."""
        return np.ascontiguousarray((targets > 0.0).T.astype(np.float64))

    def find_levels(self, goals: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the log odds of one class, or the logarithms of several shares."""
        shares = np.clip(goals @ weights, LEAST_SHARE, 1.0 - LEAST_SHARE)
        return np.asarray(logit(shares) if len(goals) == 1 else np.log(shares))

    def spreads(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return p (1 - p)."""
        shares = expit(scores) if len(scores) == 1 else softmax(scores, axis=0)
        return np.asarray(shares * (1.0 - shares))

    def losses(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return minus the logarithm of the probability of the row's class."""
        if len(scores) == 1:
            return np.asarray(np.logaddexp(0.0, scores[0]) - goals[0] * scores[0])
        return np.asarray(-np.sum(goals * log_softmax(scores, axis=0), axis=0))

    def null_loss(self, goals: FloatArray, weights: FloatArray) -> float:
        """Return the entropy of the shares, which goals between 0 and 1 have too."""
        shares = np.clip(goals @ weights, LEAST_SHARE, 1.0 - LEAST_SHARE)
        return float(entr(shares).sum() + (entr(1.0 - shares[0]) if len(goals) == 1 else 0.0))


@dataclass(frozen=True)
class OfRates(Likelihood):
    """Tweedie's loss of rates whose logarithm is the score: of counts, amounts, or both.

    Attributes
    ----------
    power : float
        By which the variance grows with the mean: 1 of counts, 2 of amounts.

    Examples
    --------
    >>> OfRates(1.0).losses(np.zeros((1, 2)), np.array([[0.0, 1.0]]))
    array([1., 1.])
    """

    power: float

    kind = RATES

    def find_shape(self, n_outputs: int) -> FloatArray:
        """Return the power."""
        return np.tile([self.power, 0.0], (n_outputs, 1))

    def find_levels(self, goals: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the logarithm of the mean."""
        return np.log(np.maximum(goals @ weights, LEAST_MEAN))

    def spreads(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the curvature that is expected of the mean; it is never negative."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp((2.0 - self.power) * scores))

    def losses(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the loss of every row."""
        return np.asarray(Tweedie(self.power).value(goals, scores).sum(axis=0))


@dataclass(frozen=True)
class OfLevels(Likelihood):
    """The pinball loss of one quantile an output, rounded off where the error is less than a width.

    Attributes
    ----------
    levels : tuple of float
        Of each output.
    width : float
        In units of the goals.
    observe : callable, optional
        What makes goals, of shape (n_rows, n_outputs), of targets as the fit has them.
    """

    levels: tuple[float, ...]
    width: float
    observe: Callable[[FloatArray], FloatArray] | None = None

    kind = LEVELS

    def read(self, targets: FloatArray) -> FloatArray:
        """Return the numbers themselves."""
        return super().read(targets if self.observe is None else self.observe(targets))

    def find_shape(self, n_outputs: int) -> FloatArray:
        """Return level and width of each output."""
        return np.column_stack([self.levels, np.full(n_outputs, self.width)])

    def find_levels(self, goals: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the quantiles."""
        return np.array(
            [float(Quantile(level).best_constant(own, weights)) for level, own in zip(self.levels, goals, strict=True)]
        )

    def spreads(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the curvature of the part that is rounded off."""
        return np.asarray((np.abs(goals - scores) < self.width) / (2.0 * self.width))

    def losses(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the pinball loss as it is, summed over the outputs."""
        own = [Quantile(a).value(y, f) for a, y, f in zip(self.levels, goals, scores, strict=True)]
        return np.asarray(np.sum(own, axis=0))


@dataclass(frozen=True)
class OfNumbers(Likelihood):
    """Half the squared error, and a straight line where the error is larger than a bound.

    Attributes
    ----------
    delta : float
        The bound, in units of the goals.
    observe : callable, optional
        As in `OfLevels`.
    """

    delta: float
    observe: Callable[[FloatArray], FloatArray] | None = None

    kind = NUMBERS

    def read(self, targets: FloatArray) -> FloatArray:
        """Return the numbers themselves."""
        return super().read(targets if self.observe is None else self.observe(targets))

    def find_shape(self, n_outputs: int) -> FloatArray:
        """Return the bound."""
        return np.tile([self.delta, 0.0], (n_outputs, 1))

    def find_levels(self, goals: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weighted mean of numbers that are cut off where they are far from the median."""
        return np.array([float(Huber(self.delta).best_constant(own, weights)) for own in goals])

    def spreads(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return 1 where the error is squared."""
        return (np.abs(goals - scores) <= self.delta).astype(np.float64)

    def losses(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the loss, summed over the outputs."""
        return np.asarray(0.5 * np.sum(Huber(self.delta).value(goals, scores), axis=0))
