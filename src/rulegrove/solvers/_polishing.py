"""A point of a path solved to the last digit: the same one however the sums of its rows were rounded.

A path is left at a duality gap that is small for any use, but within it the last digits of coefficients are a matter of
chance: sums that differ by rounding, as those of another division of the rows do, can lead to coefficients that differ
in the seventh digit. With the signs of the coefficients known, the elastic net is a system of linear equations.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.solvers.base import Problem

# Over the mean diagonal of the Gram. Two pairs of rules that divide the same rows in two ways depend on each other, and
# the lasso leaves open which pair has the weight; this much of the L2 norm decides, far below the gap of the path.
RIDGE = 1e-5


def polish(problem: Problem, coef: FloatArray, penalty: float, l1_ratio: float) -> FloatArray:
    """Return the minimum of the elastic net over the terms that coefficients near it use.

    From the given coefficients straight to the solution for their signs; where a coefficient would change its sign on
    the way, it stays zero there, and the rest goes on without it.

    Parameters
    ----------
    problem : Problem
    coef : ndarray of shape (n_terms,)
    penalty, l1_ratio : float
        As in `Glmnet`.

    Returns
    -------
    ndarray of shape (n_terms,)

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.eye(2), np.array([1.0, 0.3]), 2.0, np.zeros(2), 0.0, 10.0)
    >>> polish(problem, np.array([0.8, 0.1]), penalty=0.25, l1_ratio=1.0).round(4)
    array([0.75, 0.05])
    """
    active = np.flatnonzero(coef)
    spared = np.zeros(len(coef), dtype=bool) if problem.unpenalised is None else problem.unpenalised
    now = coef[active].astype(np.float64)
    while active.size:
        try:
            target = _solve_signed(problem, active, np.sign(now), spared[active], penalty, l1_ratio)
        except LinAlgError:
            return coef
        held = ~spared[active] if problem.signs is None else ~spared[active] | (problem.signs[active] != 0)
        crossing = held & (target * np.sign(now) <= 0)
        if not crossing.any():
            now = target
            break
        shares = np.full(len(active), np.inf)
        shares[crossing] = now[crossing] / (now - target)[crossing]
        first = int(np.argmin(shares))
        now = np.delete(now + shares[first] * (target - now), first)
        active = np.delete(active, first)
        active, now = active[now != 0], now[now != 0]
    polished = np.zeros_like(coef)
    polished[active] = now
    return polished


def _solve_signed(
    problem: Problem,
    active: IntArray,
    signs: FloatArray,
    spared: BoolArray,
    penalty: float,
    l1_ratio: float,
) -> FloatArray:
    """Solve for some terms whose signs are known."""
    gram = problem.gram[np.ix_(active, active)].copy()
    gram[np.diag_indices(len(active))] += np.where(spared, 0.0, penalty * (1.0 - l1_ratio)) + RIDGE * np.mean(
        gram.diagonal()
    )
    pull = problem.x_y[active] - np.where(spared, 0.0, penalty * l1_ratio * signs)
    return np.asarray(cho_solve(cho_factor(gram, lower=True), pull))
