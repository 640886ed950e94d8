"""Backward elimination of attributes: what the fit loses without each, in closed form from the statistics."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.solvers.base import Problem

RIDGE = 0.03  # on terms of unit variance; orders of attributes are alike from a tenth to ten times of it
BATCH = 50  # one in so many attributes goes at a time


@dataclass(frozen=True)
class RidgeFit:
    r"""The ridge fit of some terms, from which attributes can be taken away without the data.

    With terms of unit variance, Gram matrix G and penalty r the coefficients a minimise
    ``1/2 a'(G + r I) a - a'b``. Without the terms S the minimum is higher by ``1/2 a_S' (P_SS)^-1 a_S`` where
    ``P = (G + r I)^-1``, and the inverse of what is left is ``P_RR - P_RS (P_SS)^-1 P_SR``.

    Attributes
    ----------
    inverse : ndarray of shape (n_terms, n_terms)
        P.
    coefs : ndarray of shape (n_terms, n_outputs)
    uses : ndarray of shape (n_terms, n_features)
        Whether a term asks about an attribute.
    null_loss : float
        Loss of the model without terms, outputs added up.
    """

    inverse: FloatArray
    coefs: FloatArray
    uses: BoolArray
    null_loss: float

    @classmethod
    def of(cls, problems: Sequence[Problem], uses: BoolArray) -> "RidgeFit":
        """Fit the terms to one target or several that share their Gram.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(500, 3))
        >>> y = X[:, 0] + 0.1 * X[:, 1]
        >>> problem = Problem.from_moments(500.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
        >>> fit = RidgeFit.of([problem], np.eye(3, dtype=bool))
        >>> [round(fit.loss_without(feature), 2) for feature in range(3)]
        [0.96, 0.01, 0.0]
        """
        spreads = np.sqrt(problems[0].gram.diagonal())
        vary = np.flatnonzero(spreads > 0.0)
        spreads = spreads[vary]
        gram = problems[0].gram[np.ix_(vary, vary)] / np.outer(spreads, spreads)
        inverse = np.linalg.inv(gram + RIDGE * np.eye(vary.size))
        cross = np.column_stack([problem.x_y[vary] / spreads for problem in problems])
        return cls(inverse, inverse @ cross, uses[vary], 0.5 * sum(problem.y_y for problem in problems))

    def loss_without(self, feature: int) -> float:
        """Return how much the loss rises without an attribute, as a share of the loss without any terms."""
        own = np.flatnonzero(self.uses[:, feature])
        if not own.size or self.null_loss == 0.0:
            return 0.0
        coefs = self.coefs[own]
        rise = 0.5 * np.sum(coefs * np.linalg.solve(self.inverse[np.ix_(own, own)], coefs))
        return float(rise) / self.null_loss

    def without(self, feature: int) -> "RidgeFit":
        """Return the fit of the terms that do not ask about an attribute."""
        own, rest = np.flatnonzero(self.uses[:, feature]), np.flatnonzero(~self.uses[:, feature])
        if not own.size:
            return self
        between = self.inverse[np.ix_(rest, own)]
        parts = np.linalg.solve(self.inverse[np.ix_(own, own)], np.column_stack([between.T, self.coefs[own]]))
        inverse = self.inverse[np.ix_(rest, rest)] - between @ parts[:, : rest.size]
        coefs = self.coefs[rest] - between @ parts[:, rest.size :]
        return RidgeFit(inverse, coefs, self.uses[rest], self.null_loss)


@dataclass(frozen=True)
class Elimination:
    """Attributes in the order in which they can best be spared.

    Attributes
    ----------
    order : ndarray of shape (n_features,)
        The first is missed least.
    losses : ndarray of shape (n_fits, n_features)
        Rise of each fit's loss when the attribute went, as a share of the loss without terms.
    """

    order: IntArray
    losses: FloatArray


def eliminate(fits: Sequence[RidgeFit], n_features: int) -> Elimination:
    """Take attributes away one after the other, each time those that the fits miss least on average.

    Attributes that stand in for each other are cheap to spare until the last of them is left: it is then dear. Ranks by
    importance keep all of them, or none. Beyond `BATCH` attributes several go at a time, first those in no term.

    Parameters
    ----------
    fits : sequence of RidgeFit
    n_features : int

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, z, noise = rng.normal(size=(3, 500))
    >>> X, y = np.column_stack([x, x + 0.01 * noise, z]), x + 0.5 * z
    >>> problem = Problem.from_moments(500.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
    >>> eliminate([RidgeFit.of([problem], np.eye(3, dtype=bool))], 3).order
    array([1, 2, 0])
    """
    left = np.arange(n_features)
    losses = np.zeros((len(fits), n_features))
    order: list[int] = []
    while left.size:
        found = np.array([[fit.loss_without(feature) for feature in left.tolist()] for fit in fits])
        mean = found.mean(axis=0)
        n_spared = max(int(np.count_nonzero(mean == 0.0)), left.size // BATCH, 1)
        spared = np.argsort(mean, kind="stable")[:n_spared]
        losses[:, left[spared]] = found[:, spared]
        for feature in left[spared].tolist():
            order.append(feature)
            fits = [fit.without(feature) for fit in fits]
        left = np.delete(left, spared)
    return Elimination(np.array(order, dtype=np.int64), losses)
