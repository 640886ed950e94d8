r"""How good a solution is, whoever found it: plain NumPy, independent of every solver.

The objective is the one of :mod:`rulegrove.solvers.scaling`. With :math:`g = X'(y - Xa)/N`,
:math:`\lambda_1` and :math:`\lambda_2` the two parts of the penalty, any :math:`\theta` gives the lower bound

.. math::
    \min_a P(a) \ge \frac{\theta'y}{N} - \frac{\theta'\theta}{2N}
        - \frac{1}{2 \lambda_2} \sum_k \left(\frac{|x_k'\theta|}{N} - \lambda_1\right)_+^2,

where for :math:`\lambda_2 = 0` the last sum must be empty. The bounds used here take multiples of the residual.

Signs and terms without a penalty change the conjugate of a term's share of the penalty. If its coefficient may not
be negative, :math:`h_k(a) = \lambda_1 a + \lambda_2 a^2 / 2` on :math:`a \ge 0` and infinite elsewhere, then
:math:`h_k^*(g) = (g - \lambda_1)_+^2 / 2 \lambda_2`: only the side that pulls it up counts, and
:math:`|x_k'\theta|` becomes :math:`x_k'\theta` (:math:`-x_k'\theta` if it may not be positive). Without a penalty
:math:`h_k^*` is zero or infinite: a free coefficient asks for :math:`x_k'\theta = 0`, one that may not be negative
for :math:`x_k'\theta \le 0`. The residual at hand is made such by projecting it onto these half-spaces, that is by
subtracting its least squares fit on the terms without a penalty, with coefficients of their signs: the optimality
conditions of that fit are the conditions on :math:`\theta`. What is left is the residual of other coefficients,
:math:`\tilde a`, which differ from a in these terms alone, so the bounds are those above with :math:`\tilde a` in
the place of a. At the minimum the two are the same and the gap is zero.
"""

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.solvers._constraining import Limits, settle
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
    shrunk = coef if problem.unpenalised is None else np.where(problem.unpenalised, 0.0, coef)
    norm = l1_ratio * float(np.abs(shrunk).sum()) + 0.5 * (1.0 - l1_ratio) * float(shrunk @ shrunk)
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
    limits = Limits.of(problem)
    at = coef if limits is None else settle(problem.gram, problem.x_y, coef, limits)
    grad = problem.x_y - problem.gram @ at
    fit = float(problem.x_y @ at)
    rss = max(problem.y_y - fit - float(at @ grad), 0.0)
    shrunk = at if limits is None else limits.penalised(at)
    pulls, ridge_pulls = np.abs(grad), np.abs(grad - l2 * shrunk)
    if limits is not None:
        pulls, ridge_pulls = (limits.penalised(limits.pulls(own)) for own in (grad, grad - l2 * shrunk))
    # theta = s * residual of the problem with sqrt(l2 N) I below X, which turns the elastic net into a lasso.
    longest = float(ridge_pulls.max(initial=0.0))
    augmented_rss = rss + l2 * float(shrunk @ shrunk)
    best = max(problem.y_y - fit, 0.0) / augmented_rss if augmented_rss > 0.0 else 1.0
    scale = best if best * longest <= l1 else l1 / longest
    bound = scale * (problem.y_y - fit) - 0.5 * scale**2 * augmented_rss
    if l2 > 0.0:  # theta = residual, feasible for any gradient
        excess = float((np.maximum(pulls - l1, 0.0) ** 2).sum())
        bound = max(bound, problem.y_y - fit - 0.5 * rss - 0.5 * excess / l2)
    return objective(problem, coef, penalty, l1_ratio) - bound


def kkt_violation(problem: Problem, coef: FloatArray, penalty: float, l1_ratio: float = 1.0) -> float:
    """Return the largest distance of any coordinate from its optimality condition, in units of the penalty.

    Zero is optimal: on non-zero coefficients the gradient of the smooth part is ``-penalty * l1_ratio * sign(coef)``,
    elsewhere at most that large; with a sign that counts only where the coefficient may go, and without a penalty it
    is zero. A coefficient of a forbidden sign is infinitely far off.

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
    limits = Limits.of(problem)
    grad = problem.x_y - problem.gram @ coef - l2 * (coef if limits is None else limits.penalised(coef))
    pulls, forces = np.abs(grad), np.full(len(coef), l1)
    if limits is not None:
        if (limits.signs * coef < 0.0).any():
            return np.inf
        pulls, forces = limits.pulls(grad), limits.penalised(forces)
    off = np.where(coef == 0.0, np.maximum(pulls - forces, 0.0), np.abs(grad - forces * np.sign(coef)))
    return float(off.max(initial=0.0)) / penalty
