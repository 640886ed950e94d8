"""The penalty of an elastic net at one point of its path, with what the coefficients must respect."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.solvers._constraining import Limits, limited_net_path
from rulegrove.solvers._kernels import elastic_net_path
from rulegrove.solvers.base import Problem


@dataclass(frozen=True, eq=False)
class Penalty:
    """``l1 |a|_1 + l2 / 2 |a|_2^2`` over the penalised terms, with the signs that coefficients must have.

    Attributes
    ----------
    l1, l2 : float
    limits : Limits, optional
        Signs of coefficients and terms without a penalty, if there are any of either.
    """

    l1: float
    l2: float
    limits: Limits | None = None

    @classmethod
    def of(cls, problem: Problem, l1_ratio: float) -> "Penalty":
        """Return the penalty of size one of a problem."""
        return cls(l1_ratio, 1.0 - l1_ratio, Limits.of(problem))

    def at(self, size: float) -> "Penalty":
        """Return this penalty times a number."""
        return replace(self, l1=size * self.l1, l2=size * self.l2)

    def take(self, terms: IntArray | BoolArray) -> "Penalty":
        """Return the penalty of some of the terms."""
        return self if self.limits is None else replace(self, limits=self.limits.take(terms))

    @property
    def spared(self) -> IntArray:
        """Positions of the terms without a penalty."""
        return np.empty(0, dtype=np.int64) if self.limits is None else np.flatnonzero(self.limits.spared)

    def penalised(self, coefs: FloatArray) -> FloatArray:
        """Return coefficients with zeros where there is no penalty."""
        return coefs if self.limits is None else self.limits.penalised(coefs)

    def clip(self, coef: FloatArray) -> FloatArray:
        """Return coefficients with zeros for those of a forbidden sign."""
        return coef if self.limits is None else self.limits.clip(coef)

    def objective(self, risk: float, coef: FloatArray) -> float:
        """Return a risk with the penalty of coefficients added."""
        shrunk = self.penalised(coef)
        return risk + self.l1 * float(np.abs(shrunk).sum()) + 0.5 * self.l2 * float(shrunk @ shrunk)

    def pulls(self, grad: FloatArray) -> FloatArray:
        """Return how hard a gradient pulls each penalised coefficient to where it may go."""
        return np.abs(grad) if self.limits is None else self.limits.penalised(self.limits.pulls(grad))

    def wanted(self, grad: FloatArray, share: float = 1.0) -> BoolArray:
        """Return which terms this share of the penalty does not hold at zero."""
        l1 = share * self.l1
        return np.asarray(np.abs(grad) >= l1) if self.limits is None else self.limits.wanted(grad, l1)

    def bound(self, pulls: FloatArray, dual: Callable[[float], float]) -> float:
        """Return a lower bound of the objective from a dual point and its multiples.

        Parameters
        ----------
        pulls : ndarray
            How hard the dual point pulls each penalised coefficient to where it may go.
        dual : callable
            The dual objective, the penalty aside, at the point times a number from 0 to 1.
        """
        largest = float(pulls.max(initial=0.0))
        bound = dual(min(1.0, self.l1 / largest) if largest > 0.0 else 1.0)
        if self.l2 > 0.0:  # any pull is feasible at a price
            excess = float((np.maximum(pulls - self.l1, 0.0) ** 2).sum())
            bound = max(bound, dual(1.0) - 0.5 * excess / self.l2)
        return bound

    def follow(
        self,
        gram: FloatArray,
        x_y: FloatArray,
        y_y: float,
        sizes: FloatArray,
        tol: float,
        max_iter: int,
        start: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """Minimise ``y_y / 2 - x_y'a + a'gram a / 2`` with this penalty times each of some decreasing numbers.

        Returns
        -------
        coefs : ndarray of shape (n_sizes, n_terms)
        objectives, gaps, iterations : ndarray of shape (n_sizes,)
        """
        norm = self.l1 + self.l2
        setting = gram, x_y, y_y, norm * sizes, self.l1 / norm, tol, max_iter, start
        return elastic_net_path(*setting) if self.limits is None else limited_net_path(*setting, limits=self.limits)
