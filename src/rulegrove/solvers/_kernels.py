"""Compiled loops of the solvers: coordinate descent along an elastic net path, from the Gram alone.

Layout. The terms that may be non-zero form the working set ``members[:n]``; everything the descent touches lives in
compact arrays in that order: ``block[:n, :n]`` the Gram, ``linear`` X'y/N, ``weights`` the coefficients, ``grad``
X'(y - Xa)/N. A pass then costs n times the number of moving terms, whatever the number of rows or candidate terms.
"""

import numpy as np
from numba import njit

from rulegrove._typing import FloatArray, IntArray

# Passes between two extrapolations, and the number of differences combined in one (Anderson's depth).
_DEPTH = 5


@njit(cache=True, nogil=True)
def _copy(source: FloatArray, target: FloatArray, n: int) -> None:
    """Copy the first n entries; a loop, since slice assignments take numba seconds to compile."""
    for k in range(n):
        target[k] = source[k]


@njit(cache=True, nogil=True)
def _certify(
    coef: FloatArray, grad: FloatArray, linear: FloatArray, y_y: float, l1: float, l2: float, n: int
) -> tuple[float, float]:
    """Objective and duality gap over the first n entries, where ``grad = linear - G coef``."""
    fit = 0.0
    slack = 0.0
    norm_1 = 0.0
    norm_2 = 0.0
    largest = 0.0
    excess = 0.0
    for k in range(n):
        a = coef[k]
        g = grad[k]
        fit += a * linear[k]
        slack += a * g
        norm_1 += abs(a)
        norm_2 += a * a
        largest = max(largest, abs(g - l2 * a))
        over = abs(g) - l1
        if over > 0.0:
            excess += over * over
    rss = max(y_y - fit - slack, 0.0)
    primal = 0.5 * rss + l1 * norm_1 + 0.5 * l2 * norm_2
    # A multiple of the residual of the problem with sqrt(l2) I below X is feasible for the dual; take the best multiple.
    target = y_y - fit
    augmented = rss + l2 * norm_2
    scale = target / augmented if augmented > 0.0 else 1.0
    if scale * largest > l1:
        scale = l1 / largest
    dual = scale * target - 0.5 * scale * scale * augmented
    if l2 > 0.0:  # the residual itself is feasible too, and better where the ridge part rules
        dual = max(dual, target - 0.5 * rss - 0.5 * excess / l2)
    return primal, primal - dual


@njit(cache=True, nogil=True)
def _descend(block: FloatArray, weights: FloatArray, grad: FloatArray, l1: float, l2: float, n: int) -> float:
    """One pass over the working set, in place; returns the largest decrease of the objective's model by one term."""
    moved = 0.0
    for j in range(n):
        old = weights[j]
        g = grad[j]
        if old == 0.0 and abs(g) <= l1:
            continue
        diagonal = block[j, j]
        curvature = diagonal + l2
        if curvature <= 0.0:
            continue
        z = g + diagonal * old
        new = 0.0
        if z > l1:
            new = (z - l1) / curvature
        elif z < -l1:
            new = (z + l1) / curvature
        delta = new - old
        if delta != 0.0:
            weights[j] = new
            row = block[j]
            for k in range(n):
                grad[k] -= delta * row[k]
            moved = max(moved, delta * delta * curvature)
    return moved


@njit(cache=True, nogil=True)
def _extrapolate(past: FloatArray, past_grad: FloatArray, weights: FloatArray, grad: FloatArray, n: int) -> bool:
    """Write Anderson's combination of the last iterates to ``weights`` and ``grad``; False if it does not exist.

    The combination with coefficients summing to one that makes the combined step smallest. The gradient is affine in
    the coefficients, so the same combination of gradients is exact and no product with the Gram is needed.
    """
    normal = np.empty((_DEPTH, _DEPTH))
    mix = np.ones(_DEPTH)
    trace = 0.0
    for p in range(_DEPTH):
        for q in range(p + 1):
            total = 0.0
            for k in range(n):
                total += (past[p + 1, k] - past[p, k]) * (past[q + 1, k] - past[q, k])
            normal[p, q] = total
            normal[q, p] = total
        trace += normal[p, p]
    if trace <= 0.0:
        return False
    for p in range(_DEPTH):
        normal[p, p] += 1e-12 * trace
    for p in range(_DEPTH):  # elimination without pivoting: the matrix is symmetric positive definite
        if normal[p, p] <= 0.0:
            return False
        for q in range(p + 1, _DEPTH):
            ratio = normal[q, p] / normal[p, p]
            for s in range(p, _DEPTH):
                normal[q, s] -= ratio * normal[p, s]
            mix[q] -= ratio * mix[p]
    total = 0.0
    for p in range(_DEPTH - 1, -1, -1):
        for q in range(p + 1, _DEPTH):
            mix[p] -= normal[p, q] * mix[q]
        mix[p] /= normal[p, p]
        total += mix[p]
    if total == 0.0:
        return False
    for k in range(n):
        a = 0.0
        g = 0.0
        for p in range(_DEPTH):
            a += mix[p] * past[p + 1, k]
            g += mix[p] * past_grad[p + 1, k]
        weights[k] = a / total
        grad[k] = g / total
    return True


@njit(cache=True, nogil=True)
def _full_gradient(gram: FloatArray, x_y: FloatArray, coef: FloatArray, grad: FloatArray) -> None:
    """Set ``grad`` to ``x_y - gram @ coef``, touching only the rows of non-zero coefficients."""
    for k in range(x_y.shape[0]):
        grad[k] = x_y[k]
    for j in range(coef.shape[0]):
        a = coef[j]
        if a != 0.0:
            row = gram[j]
            for k in range(row.shape[0]):
                grad[k] -= a * row[k]


@njit(cache=True, nogil=True)
def elastic_net_path(
    gram: FloatArray,
    x_y: FloatArray,
    y_y: float,
    penalties: FloatArray,
    l1_ratio: float,
    start: FloatArray,
    tol: float,
    max_iter: int,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Follow the elastic net along ``penalties``; nothing passed in is changed.

    Returns
    -------
    coefs : ndarray of shape (n_penalties, n_terms)
    gaps : ndarray of shape (n_penalties,)
        Absolute duality gaps.
    iterations : ndarray of shape (n_penalties,)
        Passes over the working set.
    """
    n_terms = x_y.shape[0]
    n_penalties = penalties.shape[0]
    coefs = np.zeros((n_penalties, n_terms))
    gaps = np.zeros(n_penalties)
    iterations = np.zeros(n_penalties, dtype=np.int64)

    coef = start.copy()
    full_grad = np.empty(n_terms)
    _full_gradient(gram, x_y, coef, full_grad)

    # An odd number of cache lines a row spreads the rows over all sets of the cache. Pages are committed when touched.
    stride = 8 * (((n_terms + 7) // 8) | 1)
    block = np.empty((n_terms, stride))
    members = np.empty(n_terms, dtype=np.int64)
    inside = np.zeros(n_terms, dtype=np.bool_)
    linear = np.empty(n_terms)
    weights = np.empty(n_terms)
    grad = np.empty(n_terms)
    past = np.empty((_DEPTH + 1, n_terms))
    past_grad = np.empty((_DEPTH + 1, n_terms))
    n = 0

    # The penalty that `start` solves, if it solves one: every active term has |gradient| = penalty * (...).
    l1_before = 0.0
    if l1_ratio > 0.0:
        for k in range(n_terms):
            l1_before = max(l1_before, abs(full_grad[k]) / (l1_ratio + (1.0 - l1_ratio) * abs(coef[k])))
        l1_before *= l1_ratio

    for point in range(n_penalties):
        l1 = penalties[point] * l1_ratio
        l2 = penalties[point] * (1.0 - l1_ratio)
        edge = 2.0 * l1 - l1_before  # sequential strong rule
        l1_before = l1

        # prune
        kept = 0
        for i in range(n):
            k = members[i]
            if coef[k] != 0.0 or abs(full_grad[k]) >= edge:
                kept += 1
        if n > kept + kept // 4 + 8:
            kept = 0
            for i in range(n):
                k = members[i]
                if coef[k] != 0.0 or abs(full_grad[k]) >= edge:
                    members[kept] = k
                    kept += 1
                else:
                    inside[k] = False
            n = 0
            for i in range(kept):
                k = members[i]
                for j in range(n + 1):
                    value = gram[k, members[j]]
                    block[n, j] = value
                    block[j, n] = value
                linear[n] = x_y[k]
                n += 1

        inner_tol = 0.5 * tol
        passes = 0
        objective = 0.0
        gap = 0.0
        while True:
            for k in range(n_terms):
                if not inside[k] and (coef[k] != 0.0 or abs(full_grad[k] - l2 * coef[k]) >= edge):
                    inside[k] = True
                    members[n] = k
                    for j in range(n + 1):
                        value = gram[k, members[j]]
                        block[n, j] = value
                        block[j, n] = value
                    linear[n] = x_y[k]
                    n += 1
            for i in range(n):
                weights[i] = coef[members[i]]
                grad[i] = full_grad[members[i]]

            objective, gap = _certify(weights, grad, linear, y_y, l1, l2, n)
            step = 0
            while gap > inner_tol and passes < max_iter:
                if step == 0:
                    _copy(weights, past[0], n)
                    _copy(grad, past_grad[0], n)
                moved = _descend(block, weights, grad, l1, l2, n)
                passes += 1
                step += 1
                _copy(weights, past[step], n)
                _copy(grad, past_grad[step], n)
                objective, gap = _certify(weights, grad, linear, y_y, l1, l2, n)
                if moved == 0.0:
                    break
                if step == _DEPTH and gap > inner_tol:
                    step = 0
                    if _extrapolate(past, past_grad, weights, grad, n):
                        new_objective, new_gap = _certify(weights, grad, linear, y_y, l1, l2, n)
                        if new_objective < objective:
                            objective, gap = new_objective, new_gap
                        else:
                            _copy(past[_DEPTH], weights, n)
                            _copy(past_grad[_DEPTH], grad, n)
            for i in range(n):
                coef[members[i]] = weights[i]
            _full_gradient(gram, x_y, coef, full_grad)
            objective, gap = _certify(coef, full_grad, x_y, y_y, l1, l2, n_terms)
            if gap <= tol or passes >= max_iter:
                break
            edge = l1
            found = False
            for k in range(n_terms):
                if not inside[k] and abs(full_grad[k]) > l1:
                    found = True
            if not found:
                inner_tol *= 0.1
                if moved == 0.0:
                    break
        _copy(coef, coefs[point], n_terms)
        gaps[point] = gap
        iterations[point] = passes
    return coefs, gaps, iterations
