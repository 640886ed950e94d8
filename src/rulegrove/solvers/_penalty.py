"""The penalty of an elastic net at one point of its path, with what the coefficients must respect."""

from dataclasses import dataclass, replace

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.solvers._constraining import Limits, limited_net_path
from rulegrove.solvers.base import Problem


@dataclass(frozen=True, eq=False)
class Penalty:
    """``l1 |a|_1 + l2 / 2 |a|_2^2`` over the penalised terms.

    Attributes
    ----------
    l1, l2 : float
    limits : Limits
        Signs of coefficients and terms without a penalty; none of either where there are no limits.
    """

    l1: float
    l2: float
    limits: Limits

    @classmethod
    def of(cls, problem: Problem, l1_ratio: float) -> "Penalty":
        """Return the penalty of size one of a problem."""
        return cls(l1_ratio, 1.0 - l1_ratio, Limits.of(problem) or Penalty.free(problem.n_terms, l1_ratio).limits)

    @classmethod
    def free(cls, n_terms: int, l1_ratio: float) -> "Penalty":
        """Return the penalty of size one without limits."""
        limits = Limits(np.zeros(n_terms, dtype=np.int64), np.zeros(n_terms, dtype=bool))
        return cls(l1_ratio, 1.0 - l1_ratio, limits)

    def at(self, size: float) -> "Penalty":
        """Return this penalty times a number."""
        return replace(self, l1=size * self.l1, l2=size * self.l2)

    def take(self, terms: IntArray | BoolArray) -> "Penalty":
        """Return the penalty of some of the terms."""
        return replace(self, limits=self.limits.take(terms))

    def objective(self, risk: float, coef: FloatArray) -> float:
        """Return a risk with the penalty of coefficients added."""
        shrunk = self.limits.penalised(coef)
        return risk + self.l1 * float(np.abs(shrunk).sum()) + 0.5 * self.l2 * float(shrunk @ shrunk)

    def pulls(self, grad: FloatArray) -> FloatArray:
        """Return how hard a gradient pulls each penalised coefficient to where it may go."""
        return self.limits.penalised(self.limits.pulls(grad))

    def wanted(self, grad: FloatArray, share: float = 1.0) -> BoolArray:
        """Return which terms this share of the penalty does not hold at zero."""
        return self.limits.wanted(grad, share * self.l1)

    def minimise(
        self, gram: FloatArray, x_y: FloatArray, y_y: float, tol: float, max_iter: int, start: FloatArray
    ) -> FloatArray:
        """Return the coefficients that minimise ``y_y / 2 - x_y'a + a'gram a / 2`` with this penalty."""
        size = self.l1 + self.l2
        coefs, *_ = limited_net_path(
            gram, x_y, y_y, np.array([size]), self.l1 / size, tol, max_iter, start, limits=self.limits
        )
        return np.asarray(coefs[0])
