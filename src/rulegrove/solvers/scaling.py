r"""One path, several parametrisations: the only place where one is turned into another.

The objective everywhere is, for centred X and y and total weight N,

.. math::
    \frac{1}{2N} \|y - X a\|^2 + \text{penalty} \left(\text{l1\_ratio}\, \|a\|_1
    + \frac{1 - \text{l1\_ratio}}{2} \|a\|_2^2\right).

The conversions between parameters hold for the lasso, ``l1_ratio = 1``.
"""

import math

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.solvers._constraining import largest_pull
from rulegrove.solvers.base import Problem

# No finite penalty empties a ridge model; below this ratio the grid starts where this ratio would have it.
_SMALLEST_RATIO = 1e-3


def largest_penalty(problem: Problem, l1_ratio: float = 1.0) -> float:
    """Return the smallest penalty at which every coefficient is zero, those of terms without a penalty aside.

    As in R's glmnet, an ``l1_ratio`` below 0.001 counts as 0.001.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.eye(2), np.array([0.5, -2.0]), 5.0, np.zeros(2), 0.0, 10.0)
    >>> largest_penalty(problem), largest_penalty(problem, l1_ratio=0.5)
    (2.0, 4.0)
    """
    return largest_pull(problem) / least_ratio(l1_ratio)


def least_ratio(l1_ratio: float) -> float:
    """Return the ratio that decides where a grid starts."""
    return max(l1_ratio, _SMALLEST_RATIO)


def penalty_grid(problem: Problem, l1_ratio: float = 1.0, n_penalties: int = 100, ratio: float = 1e-3) -> FloatArray:
    """Return ``n_penalties`` penalties from the largest useful one down to ``ratio`` times it, evenly on the log scale.

    When no term is correlated with y every penalty gives the empty model; the grid then starts at one.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.eye(2), np.array([0.5, -2.0]), 5.0, np.zeros(2), 0.0, 10.0)
    >>> penalty_grid(problem, n_penalties=3, ratio=0.01)
    array([2.  , 0.2 , 0.02])
    """
    return grid_below(largest_penalty(problem, l1_ratio), n_penalties, ratio)


def grid_below(largest: float, n_penalties: int = 100, ratio: float = 1e-3) -> FloatArray:
    """Return penalties from the largest down to ``ratio`` times it, evenly on the log scale; from one if it is zero.

    Examples
    --------
    >>> grid_below(2.0, n_penalties=3, ratio=0.01)
    array([2.  , 0.2 , 0.02])
    """
    steps = np.arange(n_penalties) / max(n_penalties - 1, 1)
    return np.asarray((largest or 1.0) * ratio**steps, dtype=np.float64)


def fit_weight_from_penalty(penalty: float, weight: float) -> float:
    """Return the weight of the error in ``|a|_1 + fit_weight/2 * rss`` that gives the same solution.

    Examples
    --------
    >>> fit_weight_from_penalty(0.02, weight=100.0)
    0.5
    """
    return 1.0 / (weight * penalty)


def penalty_from_fit_weight(fit_weight: float, weight: float) -> float:
    """Return the penalty with the solution of ``|a|_1 + fit_weight/2 * rss``.

    Examples
    --------
    >>> penalty_from_fit_weight(0.5, weight=100.0)
    0.02
    """
    return 1.0 / (weight * fit_weight)


def penalty_at(problem: Problem, coef: FloatArray) -> float:
    """Return the penalty that a lasso solution belongs to: the largest absolute correlation with its residual.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.eye(2), np.array([0.5, -2.0]), 5.0, np.zeros(2), 0.0, 10.0)
    >>> penalty_at(problem, np.array([0.0, -1.25]))
    0.75
    """
    return float(np.abs(problem.x_y - problem.gram @ coef).max(initial=0.0))


def l1_radius(coef: FloatArray) -> float:
    """Return the radius of the smallest l1 ball that holds the coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> l1_radius(np.array([1.0, -2.0]))
    3.0
    """
    return float(np.abs(coef).sum())


def residual_norm(problem: Problem, coef: FloatArray) -> float:
    """Return the Euclidean length of the (weighted) residual, ``|y - X a|``.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.eye(1), np.array([1.0]), 5.0, np.zeros(1), 0.0, 4.0)
    >>> residual_norm(problem, np.array([1.0]))
    4.0
    """
    mean_square = problem.y_y - 2.0 * float(problem.x_y @ coef) + float(coef @ problem.gram @ coef)
    return math.sqrt(max(mean_square, 0.0) * problem.weight)
