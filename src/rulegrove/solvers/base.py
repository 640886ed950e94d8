"""What every solver shares: the problem it is given, the path it returns, the word for how it ended."""

import enum
from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.exceptions import InvalidInputError


class Status(enum.Enum):
    """How a solver left one point of its path."""

    RUNNING = "still running"
    CONVERGED = "reached `tol`"
    MAX_ITER = "stopped at `max_iter` before `tol`; raise one of the two"


@dataclass(frozen=True, eq=False)
class Problem:
    """Least squares with an unpenalised intercept, as sufficient statistics.

    With weighted means taken over the N rows (N is the total weight), ``X`` and ``y`` centred:

    Attributes
    ----------
    gram : ndarray of shape (n_terms, n_terms)
        ``X'X / N``, symmetric.
    x_y : ndarray of shape (n_terms,)
        ``X'y / N``.
    y_y : float
        ``y'y / N``: twice the objective of the model without terms.
    x_mean : ndarray of shape (n_terms,)
    y_mean : float
    weight : float
        N, the total weight of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [1.0]]), np.array([1.0, 2.0, 4.0])
    >>> problem = Problem.from_moments(3.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
    >>> round(problem.intercept(np.array([2.0])), 6)
    1.0
    """

    gram: FloatArray
    x_y: FloatArray
    y_y: float
    x_mean: FloatArray
    y_mean: float
    weight: float

    def __post_init__(self) -> None:
        n_terms = len(self.x_y)
        if self.gram.shape != (n_terms, n_terms) or self.x_mean.shape != (n_terms,):
            raise InvalidInputError(
                f"`gram`, `x_y` and `x_mean` must agree on the number of terms; "
                f"got shapes {self.gram.shape}, {self.x_y.shape} and {self.x_mean.shape}."
            )
        # |G_jk| <= sqrt(G_jj G_kk), so the diagonal speaks for the whole Gram.
        if not (np.isfinite(self.gram.diagonal()).all() and np.isfinite(self.x_y).all() and np.isfinite(self.y_y)):
            raise InvalidInputError("The statistics of the problem must be finite; got NaN or infinity. Check X and y.")

    @classmethod
    def from_moments(
        cls, weight: float, x_sum: FloatArray, gram: FloatArray, x_y: FloatArray, y_sum: float, y_y: float
    ) -> Self:
        """Centre the raw (weighted) sums of one output and divide them by the total weight.

        Parameters
        ----------
        weight : float
            Sum of the weights, or the number of rows.
        x_sum : ndarray of shape (n_terms,)
            ``X'1``.
        gram : ndarray of shape (n_terms, n_terms)
            ``X'X``.
        x_y : ndarray of shape (n_terms,)
            ``X'y``.
        y_sum, y_y : float
            ``1'y`` and ``y'y``.

        Notes
        -----
        Centring leaves rounding noise where a column, or y, is constant. Such noise is set to exact zero, or the
        largest penalty of a constant y would be a number without meaning. A y whose mean is a million times its spread
        loses its digits here: subtract a constant from it before summing.
        """
        if not weight > 0:
            raise InvalidInputError(f"The total weight of the rows must be positive; got {weight}.")
        x_mean = np.asarray(x_sum, dtype=np.float64) / weight
        y_mean = float(y_sum) / weight
        centred = np.divide(gram, weight, dtype=np.float64)
        raw_squares = centred.diagonal().copy()
        centred -= np.outer(x_mean, x_mean)
        cross = np.asarray(x_y, dtype=np.float64) / weight - x_mean * y_mean
        raw_square = float(y_y) / weight
        variance = raw_square - y_mean**2

        noise = 1e-13  # a sum over many rows is good to some hundred units in the last place
        constant = centred.diagonal() <= noise * raw_squares
        centred[constant, :] = 0.0
        centred[:, constant] = 0.0
        cross[constant] = 0.0
        if variance <= noise * raw_square:
            variance = 0.0
            cross[:] = 0.0
        return cls(np.ascontiguousarray(centred), cross, variance, x_mean, y_mean, float(weight))

    def take(self, terms: IntArray) -> Self:
        """Return the problem of some of the terms."""
        gram = np.ascontiguousarray(self.gram[np.ix_(terms, terms)])
        return replace(self, gram=gram, x_y=self.x_y[terms], x_mean=self.x_mean[terms])

    @property
    def n_terms(self) -> int:
        """Number of candidate terms."""
        return len(self.x_y)

    def intercept(self, coef: FloatArray) -> float:
        """Return the best intercept for given coefficients."""
        return float(self.y_mean - self.x_mean @ coef)


@dataclass(frozen=True, eq=False)
class Parameter:
    """What a solver varied along its path: its name and one value a point."""

    name: str
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Path:
    """Solutions from the sparsest to the densest, the same record from every solver.

    Attributes
    ----------
    parameter : Parameter
        What was varied, in the solver's own terms.
    penalties : ndarray of shape (n_points,)
        The same points as penalties of the common objective.
    coefs : ndarray of shape (n_points, n_terms)
    intercepts : ndarray of shape (n_points,)
    gaps : ndarray of shape (n_points,)
        Duality gap at each point over the objective of the model without terms: the objective is at most
        that far above its minimum.
    iterations : ndarray of shape (n_points,)
    status : tuple of Status
    seconds : float
        Wall time of the whole path.
    """

    parameter: Parameter
    penalties: FloatArray
    coefs: FloatArray
    intercepts: FloatArray
    gaps: FloatArray
    iterations: IntArray
    status: tuple[Status, ...]
    seconds: float

    @property
    def n_terms(self) -> IntArray:
        """Number of non-zero coefficients at each point."""
        return np.asarray(np.count_nonzero(self.coefs, axis=1), dtype=np.int64)

    @property
    def l1_norms(self) -> FloatArray:
        """Sum of the absolute coefficients at each point."""
        return np.asarray(np.abs(self.coefs).sum(axis=1), dtype=np.float64)


@runtime_checkable
class Solver(Protocol):
    """What an estimator asks of a solver."""

    def grid(self, problem: Problem) -> FloatArray:
        """Return the decreasing penalties that `path` follows when none are given."""

    def path(self, problem: Problem, penalties: FloatArray | None = None, start: FloatArray | None = None) -> Path:
        """Solve at each penalty, the first one from ``start``, each next one from the solution before."""
