"""The terms of each point of a path once more, without the shrinkage that chose them."""

from dataclasses import replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from rulegrove._typing import FloatArray
from rulegrove.design.rows import Rows
from rulegrove.losses import SmoothLoss
from rulegrove.solvers._constraining import solve_bounded
from rulegrove.solvers._newton import SmoothNet
from rulegrove.solvers._penalty import Penalty
from rulegrove.solvers.base import Path, Problem

_RIDGE = 1e-6  # over the mean diagonal of the Gram: terms that depend on each other share what they explain
_SMOOTH_RIDGE = 1e-2  # over the penalty of the point: where the terms separate the classes the fit would run away
_SMOOTH_TOL = 2e-3  # of the risk of the first point
_SMOOTH_STEPS = 50


def relax_squared(problem: Problem, path: Path) -> Path:
    """Return the path with the same supports, each solved by its normal equations without a penalty."""
    coefs = np.zeros_like(path.coefs)
    errors = np.full(len(coefs), problem.y_y)
    for point, support in enumerate(path.coefs != 0):
        if not support.any():
            continue
        if point and np.array_equal(support, path.coefs[point - 1] != 0):
            coefs[point], errors[point] = coefs[point - 1], errors[point - 1]
            continue
        terms = np.flatnonzero(support)
        gram, x_y = problem.gram[np.ix_(terms, terms)], problem.x_y[terms]
        ridge = _RIDGE * gram.trace() / len(terms)
        solid = gram + ridge * np.eye(len(terms))
        coef = cho_solve(cho_factor(solid, lower=True), x_y)
        if problem.signs is not None and (problem.signs[terms] * coef < 0.0).any():
            coef = solve_bounded(solid, x_y, problem.signs[terms])
        coefs[point, terms] = coef
        errors[point] = max(problem.y_y - coef @ (2.0 * x_y - gram @ coef), 0.0)
    return replace(
        path,
        coefs=coefs,
        intercepts=problem.y_mean - coefs @ problem.x_mean,
        gaps=np.full(len(coefs), np.nan),
        residuals=np.sqrt(problem.weight * errors),
        risks=errors,
    )


def relax_smooth(problem: Problem, rows: Rows, loss: SmoothLoss, path: Path) -> Path:
    """Return the path with the same supports and next to no penalty, by Newton steps from one to the next."""
    floor = loss.floor(rows.y, rows.weights)
    tol = _SMOOTH_TOL * (float(path.risks[0]) - floor)
    ridge = Penalty.of(replace(problem, unpenalised=None), 0.0)
    coefs = np.zeros_like(path.coefs)
    intercepts, residuals, risks = path.intercepts.copy(), path.residuals.copy(), path.risks.copy()
    before: FloatArray = np.zeros(problem.n_terms)
    for point, support in enumerate(path.coefs != 0):
        terms = np.flatnonzero(support)
        if not len(terms):
            continue
        net = SmoothNet(rows.take(terms), loss, ridge.take(terms), tol, _SMOOTH_STEPS)
        start = np.where(before != 0, before, path.coefs[point])[terms]
        solution = net.follow(np.array([_SMOOTH_RIDGE * path.penalties[point]]), start, float(intercepts[point]))
        coefs[point, terms] = solution.coefs[0]
        intercepts[point] = solution.intercepts[0]
        residuals[point], risks[point] = solution.residuals[0], solution.risks[0] + floor
        before = coefs[point]
    return replace(
        path,
        coefs=coefs,
        intercepts=intercepts,
        gaps=np.full(len(coefs), np.nan),
        residuals=residuals,
        risks=risks,
    )
