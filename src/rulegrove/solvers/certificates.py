r"""How good a solution is, whoever found it: plain NumPy, independent of every solver.

The objective is the one of :mod:`rulegrove.solvers.scaling`. With :math:`g = X'(y - Xa)/N`,
:math:`\lambda_1` and :math:`\lambda_2` the two parts of the penalty, any :math:`\theta` gives the lower bound

.. math::
    \min_a P(a) \ge \frac{\theta'y}{N} - \frac{\theta'\theta}{2N}
        - \frac{1}{2 \lambda_2} \sum_k \left(\frac{|x_k'\theta|}{N} - \lambda_1\right)_+^2,

where for :math:`\lambda_2 = 0` the last sum must be empty. The bounds used here take multiples of the residual.
"""

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.solvers.base import Problem


def objective(problem: Problem, coef: FloatArray, penalty: float, l1_ratio: float = 1.0) -> float:
    """Return the penalised objective at ``coef`` with the best intercept.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.eye(1), np.array([1.0]), 2.0, np.zeros(1), 0.0, 4.0)
    >>> objective(problem, np.array([0.5]), penalty=0.5)
    0.875
    """
    rss = float(problem.y_y - 2.0 * problem.x_y @ coef + coef @ problem.gram @ coef)
    norm = l1_ratio * float(np.abs(coef).sum()) + 0.5 * (1.0 - l1_ratio) * float(coef @ coef)
    return 0.5 * max(rss, 0.0) + penalty * norm


def duality_gap(problem: Problem, coef: FloatArray, penalty: float, l1_ratio: float = 1.0) -> float:
    """Return an upper bound on how far the objective at ``coef`` lies above its minimum.

    The bound is absolute; `Path.gaps` holds it over the objective of the empty model, ``problem.y_y / 2``.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.eye(1), np.array([1.0]), 2.0, np.zeros(1), 0.0, 4.0)
    >>> duality_gap(problem, np.array([0.5]), penalty=0.5)
    0.0
    >>> duality_gap(problem, np.array([0.0]), penalty=0.5)
    0.25
    """
    l1, l2 = penalty * l1_ratio, penalty * (1.0 - l1_ratio)
    grad = problem.x_y - problem.gram @ coef
    fit = float(problem.x_y @ coef)
    rss = max(problem.y_y - fit - float(coef @ grad), 0.0)
    # theta = s * residual of the problem with sqrt(l2 N) I below X, which turns the elastic net into a lasso.
    longest = float(np.abs(grad - l2 * coef).max(initial=0.0))
    augmented_rss = rss + l2 * float(coef @ coef)
    best = max(problem.y_y - fit, 0.0) / augmented_rss if augmented_rss > 0.0 else 1.0
    scale = best if best * longest <= l1 else l1 / longest
    bound = scale * (problem.y_y - fit) - 0.5 * scale**2 * augmented_rss
    if l2 > 0.0:  # theta = residual, feasible for any gradient
        excess = float((np.maximum(np.abs(grad) - l1, 0.0) ** 2).sum())
        bound = max(bound, problem.y_y - fit - 0.5 * rss - 0.5 * excess / l2)
    return objective(problem, coef, penalty, l1_ratio) - bound


def kkt_violation(problem: Problem, coef: FloatArray, penalty: float, l1_ratio: float = 1.0) -> float:
    """Return the largest distance of any coordinate from its optimality condition, in units of the penalty.

    Zero is optimal: on non-zero coefficients the gradient of the smooth part is ``-penalty * l1_ratio * sign(coef)``,
    elsewhere at most that large.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.eye(2), np.array([1.0, 0.2]), 2.0, np.zeros(2), 0.0, 4.0)
    >>> kkt_violation(problem, np.array([0.5, 0.0]), penalty=0.5)
    0.0
    >>> kkt_violation(problem, np.array([0.0, 0.0]), penalty=0.5)
    1.0
    """
    l1, l2 = penalty * l1_ratio, penalty * (1.0 - l1_ratio)
    grad = problem.x_y - problem.gram @ coef - l2 * coef
    off = np.where(coef == 0.0, np.maximum(np.abs(grad) - l1, 0.0), np.abs(grad - l1 * np.sign(coef)))
    return float(off.max(initial=0.0)) / penalty
