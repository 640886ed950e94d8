"""How numbers become what paths and statistics are about, where they are not the numbers themselves.

A path goes by squared errors. It finds the terms that matter for another loss if its targets are that loss's pulls at a
model without terms, and these are kept one to one, so that the numbers can be had back wherever rows are judged.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from rulegrove._typing import FloatArray

BEND = 6.0  # errors of so many scales, which are near to standard deviations, pull half as much as any can


class Coding(ABC):
    """Numbers as the fit has them, and back.

    Attributes
    ----------
    offsets, scales : ndarray of shape (n_outputs,)
        What a score in the units of the fit is multiplied by, and what is added then, for the units of the user.
    unit : float
        What importances are multiplied by: one where scores have no unit in common.
    """

    offsets: FloatArray
    scales: FloatArray
    unit: float = 1.0

    @property
    def n_outputs(self) -> int:
        """Columns that a number becomes."""
        return len(self.offsets)

    @abstractmethod
    def code(self, y: FloatArray) -> FloatArray:
        """Return numbers as the fit has them, of shape (n_rows, n_outputs)."""

    @abstractmethod
    def observe(self, values: FloatArray) -> FloatArray:
        """Return numbers in the units of scores, of shape (n_rows, n_outputs), from what `code` has made of them."""


@dataclass(frozen=True, eq=False)
class Ratios(Coding):
    """Rates as multiples of their mean: the score is the logarithm of the multiple.

    Attributes
    ----------
    mean : float

    Examples
    --------
    >>> coding = Ratios(2.0)
    >>> coding.code(np.array([1.0, 4.0])).ravel(), coding.offsets.round(4)
    (array([0.5, 2. ]), array([0.6931]))
    """

    mean: float

    @property
    def offsets(self) -> FloatArray:  # type: ignore[override]
        """The logarithm of the mean."""
        return np.log([self.mean])

    @property
    def scales(self) -> FloatArray:  # type: ignore[override]
        """One."""
        return np.ones(1)

    def code(self, y: FloatArray) -> FloatArray:
        """Return multiples of the mean."""
        return np.asarray(y / self.mean)[:, None]

    def observe(self, values: FloatArray) -> FloatArray:
        """Return the multiples themselves."""
        return values


@dataclass(frozen=True, eq=False)
class Scaled(Coding):
    """Several numbers, each less its mean and over its standard deviation, so that none outweighs the others.

    Attributes
    ----------
    offsets, scales : ndarray of shape (n_outputs,)

    Examples
    --------
    >>> coding = Scaled(np.array([1.0, 0.0]), np.array([2.0, 10.0]))
    >>> coding.code(np.array([[3.0, 10.0], [-1.0, 0.0]]))
    array([[ 1.,  1.],
           [-1.,  0.]])
    """

    offsets: FloatArray
    scales: FloatArray

    def code(self, y: FloatArray) -> FloatArray:
        """Return numbers in standard deviations from the mean."""
        return np.asarray((y - self.offsets) / self.scales)

    def observe(self, values: FloatArray) -> FloatArray:
        """Return the same."""
        return values


@dataclass(frozen=True, eq=False)
class Bent(Coding):
    """Numbers bent towards a level above a quantile and towards another below it, as its pinball loss pulls.

    An error counts in full where it is small, and less and less the larger it is. What lies below weighs more the
    higher the level is, and the other way round, by the root of what the pinball loss has: its pulls are those of a
    model without terms, at which more rows lie on one side than will at a better one.

    Attributes
    ----------
    levels : tuple of float
        Of each output's quantile.
    quantiles : tuple of float
        In units of the scale.
    middle, scale : float
        What numbers are measured from and by.

    Examples
    --------
    >>> coding = Bent((0.5,), (0.0,), middle=10.0, scale=2.0)
    >>> coding.code(np.array([8.0, 10.0, 12.0, 1e9])).ravel().round(4)
    array([-0.101 ,  0.    ,  0.101 ,  0.7071])
    >>> coding.observe(coding.code(np.array([8.0, 12.0]))).ravel()
    array([-1.,  1.])
    """

    levels: tuple[float, ...]
    quantiles: tuple[float, ...]
    middle: float
    scale: float

    @property
    def offsets(self) -> FloatArray:  # type: ignore[override]
        """The middle."""
        return np.full(len(self.levels), self.middle)

    @property
    def scales(self) -> FloatArray:  # type: ignore[override]
        """The scale."""
        return np.full(len(self.levels), self.scale)

    @property
    def unit(self) -> float:  # type: ignore[override]
        """The scale, which all levels have."""
        return self.scale

    def code(self, y: FloatArray) -> FloatArray:
        """Return numbers that lie between each level minus one and the level."""
        errors = (y / self.scale - self.middle / self.scale)[:, None] - np.array(self.quantiles)
        with np.errstate(over="ignore"):
            return np.asarray(self._weigh(errors) * errors / (BEND + np.abs(errors)))

    def observe(self, values: FloatArray) -> FloatArray:
        """Return numbers in units of the scale, from the middle on."""
        shares = values / self._weigh(values)
        return np.asarray(BEND * shares / (1.0 - np.abs(shares)) + np.array(self.quantiles))

    def _weigh(self, errors: FloatArray) -> FloatArray:
        """Return how much errors of these signs weigh."""
        levels = np.array(self.levels)
        return np.sqrt(np.where(errors > 0.0, levels, 1.0 - levels))
