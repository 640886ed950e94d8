"""What rows lose by their scores, in sums that stand for all rows of a line."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, log_softmax, softmax

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.losses import Tweedie

MOVED = 0.1  # of a standard deviation of the target, or of a rate: a row is then predicted otherwise


class Family(ABC):
    """A loss that is linear in what is counted of a row, its `basis`, so that sums of it stand for many rows.

    Attributes
    ----------
    pairs : tuple of (int, int)
        Products of the basis that are counted for standard errors; all others are zero.
    """

    pairs: ClassVar[tuple[tuple[int, int], ...]] = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    n_outputs: int = 1

    @property
    def one(self) -> FloatArray:
        """What the basis is multiplied by to give 1, an ndarray of shape (n_basis,)."""
        return np.array([0.0, 1.0, 0.0])

    @property
    def degree(self) -> float:
        """By which power of the unit of the target losses grow."""
        return 0.0

    def give_back(self, coefs: FloatArray, center: float, scale: float) -> FloatArray:
        """Return weights, intercepts first, of a target less a center in units of a scale in its own units."""
        return coefs

    @abstractmethod
    def expand(self, y: FloatArray) -> FloatArray:
        """Return the basis of rows, an ndarray of shape (n_basis, n_rows)."""

    def weigh(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return weights of lines and mean targets, of shape (n_lines, n_outputs), from sums of the basis."""
        weights = sums[:, 1]
        goals = np.divide(sums[:, 2], weights, out=np.zeros_like(weights), where=weights > 0.0)
        return weights, goals[:, None]

    @abstractmethod
    def find_level(self, mean: FloatArray) -> FloatArray:
        """Return the best scores without terms, from the mean target of each output."""

    @abstractmethod
    def lose(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the loss of every line that is made small; both are of shape (n_lines, n_outputs)."""

    @abstractmethod
    def slope(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return its first derivatives, of shape (n_lines, n_outputs)."""

    @abstractmethod
    def bend(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return its second derivatives, of shape (n_lines, n_outputs, n_outputs)."""

    @abstractmethod
    def tell(self, scores: FloatArray) -> FloatArray:
        """Return the loss and the error that are told of rows by their basis, of shape (2, n_lines, n_basis)."""

    @abstractmethod
    def differ(self, before: FloatArray, after: FloatArray) -> BoolArray:
        """Return the lines that are predicted otherwise, an ndarray of shape (n_lines,)."""


@dataclass(frozen=True)
class OfClasses(Family):
    """The log loss, of two classes by one score or of several together; rows are the places of their classes.

    Examples
    --------
    >>> family = OfClasses(2)
    >>> family.tell(np.zeros((1, 1))).round(3).tolist()  # loss and error of a row of either class
    [[[0.693, 0.693]], [[0.0, 1.0]]]
    """

    n_classes: int

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:  # type: ignore[override]
        """Each class by itself: a row is of one."""
        return tuple((own, own) for own in range(self.n_classes))

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """One for two classes."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def one(self) -> FloatArray:
        """Each row is of one class."""
        return np.ones(self.n_classes)

    def expand(self, y: FloatArray) -> FloatArray:
        """Return which class each row is of."""
        return np.asarray(y == np.arange(self.n_classes)[:, None], dtype=np.float64)

    def weigh(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return weights of lines and shares of classes, of two of the second."""
        weights = sums.sum(axis=1)
        shares = np.divide(sums, weights[:, None], out=np.zeros_like(sums), where=weights[:, None] > 0.0)
        return weights, shares[:, 1:] if self.n_classes == 2 else shares

    def find_level(self, mean: FloatArray) -> FloatArray:
        """Return the log odds of one class, or the logarithms of several shares."""
        near = np.clip(mean, 1e-6, 1.0 - 1e-6)
        return np.asarray(np.log(near) - np.log1p(-near) if self.n_outputs == 1 else np.log(near))

    def lose(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the log loss."""
        if self.n_outputs == 1:
            return np.asarray(np.logaddexp(0.0, scores[:, 0]) - goals[:, 0] * scores[:, 0])
        return np.asarray(-np.sum(goals * log_softmax(scores, axis=1), axis=1))

    def slope(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return what probabilities exceed the shares by."""
        return np.asarray((expit(scores) if self.n_outputs == 1 else softmax(scores, axis=1)) - goals)

    def bend(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the covariances of classes by these scores."""
        if self.n_outputs == 1:
            means = expit(scores)
            return np.asarray(means * (1.0 - means))[:, :, None]
        means = softmax(scores, axis=1)
        return np.asarray(means[:, :, None] * (np.eye(self.n_classes) - means[:, None, :]))

    def _choose(self, scores: FloatArray) -> IntArray:
        """Return the place of the class that is said."""
        return np.asarray((scores[:, 0] > 0.0).astype(np.int64) if self.n_outputs == 1 else np.argmax(scores, axis=1))

    def tell(self, scores: FloatArray) -> FloatArray:
        """Return the log loss, and whether the class is a wrong one."""
        both = np.column_stack([np.zeros(len(scores)), scores]) if self.n_outputs == 1 else scores
        wrong = self._choose(scores)[:, None] != np.arange(self.n_classes)
        return np.array([-log_softmax(both, axis=1), wrong.astype(np.float64)])

    def differ(self, before: FloatArray, after: FloatArray) -> BoolArray:
        """Return where the class is another one."""
        return np.asarray(self._choose(before) != self._choose(after))


@dataclass(frozen=True)
class OfNumbers(Family):
    """Half the squared error of numbers, in standard deviations from their mean; the squared error is told.

    Examples
    --------
    >>> family, y = OfNumbers(), np.array([1.0, 3.0])
    >>> (family.tell(np.array([[2.0]]))[0] @ family.expand(y)).tolist()
    [[1.0, 1.0]]
    """

    @property
    def degree(self) -> float:
        """Squares."""
        return 2.0

    def give_back(self, coefs: FloatArray, center: float, scale: float) -> FloatArray:
        """Return weights in the units of the numbers."""
        return scale * coefs + np.eye(1, coefs.shape[1]) * center

    def expand(self, y: FloatArray) -> FloatArray:
        """Return the squares, ones and the numbers."""
        return np.array([y**2, np.ones_like(y), y])

    def find_level(self, mean: FloatArray) -> FloatArray:
        """Return the mean."""
        return mean

    def lose(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return half the squared distance."""
        return np.asarray(0.5 * np.sum((scores - goals) ** 2, axis=1))

    def slope(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the distance."""
        return scores - goals

    def bend(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return 1."""
        return np.ones((len(scores), 1, 1))

    def tell(self, scores: FloatArray) -> FloatArray:
        """Return the squared error."""
        own = np.column_stack([np.ones(len(scores)), scores[:, 0] ** 2, -2.0 * scores[:, 0]])
        return np.array([own, own])

    def differ(self, before: FloatArray, after: FloatArray) -> BoolArray:
        """Return where the number moves by more than a tenth of the standard deviation."""
        return np.asarray(np.abs(after - before)[:, 0] > MOVED)


@dataclass(frozen=True)
class OfRates(Family):
    """Tweedie's loss of rates whose logarithm is the score; the deviance is told.

    Attributes
    ----------
    power : float

    Examples
    --------
    >>> family, y = OfRates(1.0), np.array([1.0])
    >>> (family.tell(np.array([[0.0]]))[0] @ family.expand(y)).round(9).tolist()
    [[0.0]]
    """

    power: float

    @property
    def _loss(self) -> Tweedie:
        return Tweedie(self.power)

    @property
    def degree(self) -> float:
        """Two less the power of the variance."""
        return 2.0 - self.power

    def give_back(self, coefs: FloatArray, center: float, scale: float) -> FloatArray:
        """Return weights of the logarithms of rates."""
        return np.asarray(coefs + np.eye(1, coefs.shape[1]) * np.log(scale))

    def expand(self, y: FloatArray) -> FloatArray:
        """Return what deviances have whatever the score is, ones and the rates."""
        return np.array([2.0 * self._loss.conjugate(y, np.zeros_like(y)), np.ones_like(y), y])

    def find_level(self, mean: FloatArray) -> FloatArray:
        """Return the logarithm of the mean."""
        return np.log(np.maximum(mean, 1e-6))

    def lose(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return Tweedie's loss."""
        return self._loss.value(goals[:, 0], scores[:, 0])

    def slope(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return its first derivative."""
        return -self._loss.negative_gradient(goals, scores)

    def bend(self, scores: FloatArray, goals: FloatArray) -> FloatArray:
        """Return its second derivative."""
        return self._loss.curvature(goals, scores)[:, :, None]

    def tell(self, scores: FloatArray) -> FloatArray:
        """Return the deviance."""
        at = scores[:, 0]
        none, one = self._loss.value(np.zeros_like(at), at), self._loss.value(np.ones_like(at), at)
        own = np.column_stack([np.ones(len(at)), 2.0 * none, 2.0 * (one - none)])
        return np.array([own, own])

    def differ(self, before: FloatArray, after: FloatArray) -> BoolArray:
        """Return where the rate moves by more than a tenth."""
        return np.asarray(np.abs(np.expm1(after - before))[:, 0] > MOVED)
