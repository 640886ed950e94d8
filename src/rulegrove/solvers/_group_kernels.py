"""Compiled loops of the grouped elastic net: block coordinate descent over terms that several targets share.

The plan is that of `rulegrove.solvers._kernels`: a working set of active terms and violators on a compact copy of
their Gram, Anderson's extrapolation inside it, the exact gradient of all terms before a point is left. A term is one
block of coefficients, one a target. The Hessian of a block is a multiple of the identity, so its exact minimiser is
a shrunken copy of its pull, and its step changes the gradients by a matrix of rank one.

Coefficients and gradients have one row a target, so that this update runs along the terms. Few targets make rows of
the other orientation too short for vector instructions: at ten targets it took two to three times as long, at three
more than five times.
"""

import math

import numpy as np

from rulegrove._kernel_cache import njit
from rulegrove._typing import ByteArray, FloatArray, IntArray
from rulegrove.solvers._kernels import solve_mix

Integer = int | np.int64

# Passes between two extrapolations, each of which combines as many differences of iterates.
_DEPTH = 5

# Steps that are taken off the gradients together; `_subtract` spells them out.
_AT_ONCE = 8


@njit(nogil=True, error_model="numpy")
def certify(
    coef: FloatArray, grad: FloatArray, linear: FloatArray, n: Integer, y_y: float, l1: float, l2: float
) -> tuple[float, float]:
    """Objective and duality gap as if the first n terms were all.

    ``linear`` is X'Y/N and ``grad`` X'(Y - XA)/N, both with one row a target; ``y_y`` is the sum over the targets.
    """
    fit = 0.0
    slack = 0.0
    norm_1 = 0.0
    norm_2 = 0.0
    largest = 0.0
    excess = 0.0
    for k in range(n):
        size = 0.0
        pull = 0.0
        ridge_pull = 0.0
        for t in range(coef.shape[0]):
            a = coef[t, k]
            g = grad[t, k]
            fit += a * linear[t, k]
            slack += a * g
            size += a * a
            pull += g * g
            ridge_pull += (g - l2 * a) * (g - l2 * a)
        norm_1 += math.sqrt(size)
        norm_2 += size
        largest = max(largest, ridge_pull)
        over = max(math.sqrt(pull) - l1, 0.0)
        excess += over * over
    largest = math.sqrt(largest)
    rss = max(y_y - fit - slack, 0.0)
    primal = 0.5 * rss + l1 * norm_1 + 0.5 * l2 * norm_2
    # Feasible for the dual: multiples of the residuals of the problem with sqrt(l2) I below X. Take the best of them.
    target = y_y - fit
    augmented = rss + l2 * norm_2
    scale = max(target, 0.0) / augmented if augmented > 0.0 else 1.0
    if scale * largest > l1:
        scale = l1 / largest
    dual = scale * target - 0.5 * scale * scale * augmented
    if l2 > 0.0:  # the residuals themselves are feasible too, and better where the ridge part rules
        dual = max(dual, target - 0.5 * rss - 0.5 * excess / l2)
    return primal, primal - dual


@njit(nogil=True, error_model="numpy")
def _subtract(
    gram: FloatArray, rows: IntArray, steps: FloatArray, n_steps: Integer, grad: FloatArray, n: Integer
) -> None:
    """Take the first ``n_steps`` (of at most eight) rows of the Gram times their steps off the gradients.

    Eight at a time take about 0.6 of the time of one by one: each gradient is fetched and stored once for all of them.
    The rest of ``rows`` and ``steps`` is overwritten.
    """
    for i in range(n_steps, rows.shape[0]):
        rows[i] = rows[0]
        for t in range(grad.shape[0]):
            steps[t, i] = 0.0
    r0, r1, r2, r3, r4, r5, r6, r7 = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7]
    for t in range(grad.shape[0]):
        s0, s1, s2, s3 = steps[t, 0], steps[t, 1], steps[t, 2], steps[t, 3]
        s4, s5, s6, s7 = steps[t, 4], steps[t, 5], steps[t, 6], steps[t, 7]
        for k in range(n):
            grad[t, k] -= ((s0 * gram[r0, k] + s1 * gram[r1, k]) + (s2 * gram[r2, k] + s3 * gram[r3, k])) + (
                (s4 * gram[r4, k] + s5 * gram[r5, k]) + (s6 * gram[r6, k] + s7 * gram[r7, k])
            )


@njit(nogil=True, error_model="numpy")
def _descend(
    block: FloatArray,
    coef: FloatArray,
    grad: FloatArray,
    rows: IntArray,
    steps: FloatArray,
    goals: FloatArray,
    n: Integer,
    l1: float,
    l2: float,
) -> bool:
    """One pass over the working set, changing ``coef`` and ``grad``; False if nothing moved.

    Steps wait in ``rows`` and ``steps`` until there are enough to take them off the gradients together; a term that
    comes up meanwhile adds them to its own gradient. ``goals`` is memory for one term.
    """
    moved = False
    waiting: Integer = np.int64(0)
    for j in range(n):
        curvature = block[j, j]
        size = 0.0
        for t in range(coef.shape[0]):
            goal = grad[t, j] + curvature * coef[t, j]
            for i in range(waiting):
                goal -= steps[t, i] * block[rows[i], j]
            goals[t] = goal
            size += goal * goal
        size = math.sqrt(size)
        share = 0.0
        if size > l1 and curvature + l2 > 0.0:
            share = (size - l1) / (size * (curvature + l2))
        stepped = False
        for t in range(coef.shape[0]):
            new = share * goals[t] if share > 0.0 else 0.0
            steps[t, waiting] = new - coef[t, j]
            if new != coef[t, j]:
                coef[t, j] = new
                stepped = True
        if stepped:
            moved = True
            rows[waiting] = j
            waiting += 1
        if waiting == rows.shape[0] or (j == n - 1 and waiting > 0):
            _subtract(block, rows, steps, waiting, grad, n)
            waiting = np.int64(0)
    return moved


@njit(nogil=True, error_model="numpy")
def _mix(past: FloatArray, system: FloatArray, mix: FloatArray, n: Integer) -> bool:
    """Set ``mix`` to Anderson's weights of the iterates in ``past`` after the first; False if there are none.

    ``system`` is memory for the products of the steps.
    """
    depth = mix.shape[0]
    for p in range(depth):
        for q in range(p + 1):
            total = 0.0
            for t in range(past.shape[1]):
                for k in range(n):
                    total += (past[p + 1, t, k] - past[p, t, k]) * (past[q + 1, t, k] - past[q, t, k])
            system[p, q] = total
            system[q, p] = total
    return solve_mix(system, mix)


@njit(nogil=True, error_model="numpy")
def _combine(past: FloatArray, mix: FloatArray, coef: FloatArray, n: Integer) -> None:
    """Set ``coef`` to the combination of the iterates in ``past`` after the first."""
    for t in range(coef.shape[0]):
        for k in range(n):
            a = 0.0
            for p in range(mix.shape[0]):
                a += mix[p] * past[p + 1, t, k]
            coef[t, k] = a


@njit(nogil=True, error_model="numpy")
def _keep(past: FloatArray, row: Integer, coef: FloatArray, n: Integer) -> None:
    """Store an iterate."""
    for t in range(coef.shape[0]):
        for k in range(n):
            past[row, t, k] = coef[t, k]


@njit(nogil=True, error_model="numpy")
def refresh(
    gram: FloatArray,
    x_y: FloatArray,
    coef: FloatArray,
    grad: FloatArray,
    rows: IntArray,
    steps: FloatArray,
    n: Integer,
) -> None:
    """Compute the gradients of the first n terms afresh, from the rows of the non-zero coefficients."""
    for t in range(coef.shape[0]):
        for k in range(n):
            grad[t, k] = x_y[t, k]
    waiting: Integer = np.int64(0)
    for j in range(n):
        active = False
        for t in range(coef.shape[0]):
            steps[t, waiting] = coef[t, j]
            if coef[t, j] != 0.0:
                active = True
        if active:
            rows[waiting] = j
            waiting += 1
        if waiting == rows.shape[0] or (j == n - 1 and waiting > 0):
            _subtract(gram, rows, steps, waiting, grad, n)
            waiting = np.int64(0)


@njit(nogil=True, error_model="numpy")
def _solve_block(
    block: FloatArray,
    linear: FloatArray,
    coef: FloatArray,
    grad: FloatArray,
    rows: IntArray,
    steps: FloatArray,
    goals: FloatArray,
    past: FloatArray,
    system: FloatArray,
    mix: FloatArray,
    n: Integer,
    y_y: float,
    l1: float,
    l2: float,
    tol: float,
    max_iter: Integer,
) -> tuple[int, bool]:
    """Minimise over the working set, changing ``coef`` and ``grad``; returns the passes and whether the last one moved.

    An extrapolated point gets a fresh gradient, because the weights of nearly parallel steps are large and would
    multiply the rounding errors of combined ones. The point may hold tiny numbers where the solution has zeros: the
    last step is always a pass of descent.
    """
    depth = mix.shape[0]
    none: Integer = np.int64(0)  # a literal would compile all that it is passed to twice
    objective, gap = certify(coef, grad, linear, n, y_y, l1, l2)
    moved = True
    passes = 0
    row = none
    while gap > tol and moved and passes < max_iter:
        if row == 0:
            _keep(past, row, coef, n)
        moved = _descend(block, coef, grad, rows, steps, goals, n, l1, l2)
        passes += 1
        row += 1
        _keep(past, row, coef, n)
        objective, gap = certify(coef, grad, linear, n, y_y, l1, l2)
        if row == depth and gap > tol and passes < max_iter:
            row = none
            if _mix(past, system, mix, n):
                _combine(past, mix, coef, n)
                refresh(block, linear, coef, grad, rows, steps, n)
                if not certify(coef, grad, linear, n, y_y, l1, l2)[0] < objective:
                    for t in range(coef.shape[0]):
                        for k in range(n):
                            coef[t, k] = past[depth, t, k]
                    refresh(block, linear, coef, grad, rows, steps, n)
    return passes, moved


@njit(nogil=True, error_model="numpy")
def _belongs(coef: FloatArray, grad: FloatArray, term: int, l1: float) -> bool:
    """Whether a term is active or its optimality condition asks it to be."""
    pull = 0.0
    for t in range(coef.shape[0]):
        if coef[t, term] != 0.0:
            return True
        pull += grad[t, term] * grad[t, term]
    return math.sqrt(pull) >= l1


@njit(nogil=True, error_model="numpy")
def _admit(
    gram: FloatArray, x_y: FloatArray, term: int, members: IntArray, block: FloatArray, linear: FloatArray, n: Integer
) -> None:
    """Put ``term`` at position n of the working set."""
    members[n] = term
    for t in range(x_y.shape[0]):
        linear[t, n] = x_y[t, term]
    for i in range(n + 1):
        value = gram[term, members[i]]
        block[n, i] = value
        block[i, n] = value


@njit(nogil=True, error_model="numpy")
def follow_groups(
    gram: FloatArray,
    x_y: FloatArray,
    y_y: FloatArray,
    penalties: FloatArray,
    l1_ratio: float,
    tol: float,
    max_iter: int,
    all_coef: FloatArray,
    all_grad: FloatArray,
    inside: ByteArray,
    members: IntArray,
    block: FloatArray,
    linear: FloatArray,
    coef: FloatArray,
    grad: FloatArray,
    rows: IntArray,
    steps: FloatArray,
    goals: FloatArray,
    past: FloatArray,
    system: FloatArray,
    mix: FloatArray,
    coefs: FloatArray,
    errors: FloatArray,
    gaps: FloatArray,
    iterations: IntArray,
) -> None:
    """Fill the last four arrays along the penalties, beginning at ``all_coef``; the rest from there is memory."""
    n_targets, n_terms = x_y.shape
    none: Integer = np.int64(0)  # a literal would compile all that it is passed to twice
    total_y_y = 0.0
    for t in range(n_targets):
        total_y_y += y_y[t]
    refresh(gram, x_y, all_coef, all_grad, rows, steps, n_terms)
    n = none
    for point in range(penalties.shape[0]):
        l1 = penalties[point] * l1_ratio
        l2 = penalties[point] * (1.0 - l1_ratio)

        # Rebuild the working set without the terms that are neither active nor about to be, once they are many.
        n_kept = 0
        for i in range(n):
            if _belongs(all_coef, all_grad, members[i], l1):
                n_kept += 1
        if 4 * n > 5 * n_kept + 32:
            for i in range(n):
                inside[members[i]] = 0
            n = none

        passes = none
        rounds = 0
        moved = True
        inner_tol = 0.99 * tol
        while True:
            n_before = n
            for k in range(n_terms):
                if inside[k] == 0 and _belongs(all_coef, all_grad, k, l1):
                    inside[k] = 1
                    _admit(gram, x_y, k, members, block, linear, n)
                    n += 1
            if n == n_before and rounds > 0:  # no term is missing, so only accuracy inside the set can be
                if not moved or inner_tol < 1e-3 * tol:  # as accurate as rounding allows
                    break
                inner_tol *= 0.5
            rounds += 1
            for t in range(n_targets):
                for i in range(n):
                    coef[t, i] = all_coef[t, members[i]]
                    grad[t, i] = all_grad[t, members[i]]
            done, moved = _solve_block(
                block,
                linear,
                coef,
                grad,
                rows,
                steps,
                goals,
                past,
                system,
                mix,
                n,
                total_y_y,
                l1,
                l2,
                inner_tol,
                max_iter - passes,
            )
            passes += done
            for t in range(n_targets):
                for i in range(n):
                    all_coef[t, members[i]] = coef[t, i]
            refresh(gram, x_y, all_coef, all_grad, rows, steps, n_terms)
            gaps[point] = certify(all_coef, all_grad, x_y, n_terms, total_y_y, l1, l2)[1]
            if gaps[point] <= tol or passes >= max_iter:
                break
        iterations[point] = passes
        for t in range(n_targets):
            explained = 0.0
            for k in range(n_terms):
                coefs[t, point, k] = all_coef[t, k]
                explained += all_coef[t, k] * (x_y[t, k] + all_grad[t, k])
            errors[t, point] = y_y[t] - explained


def grouped_net_path(
    gram: FloatArray,
    x_y: FloatArray,
    y_y: FloatArray,
    penalties: FloatArray,
    l1_ratio: float,
    tol: float,
    max_iter: int,
    start: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Follow the grouped elastic net along decreasing penalties; nothing passed in is changed.

    Parameters
    ----------
    gram : ndarray of shape (n_terms, n_terms)
    x_y : ndarray of shape (n_targets, n_terms)
    y_y : ndarray of shape (n_targets,)
    penalties : ndarray of shape (n_points,)
    l1_ratio : float
    tol : float
        Absolute duality gap to reach.
    max_iter : int
        Most passes for one penalty.
    start : ndarray of shape (n_targets, n_terms)
        Coefficients to begin with.

    Returns
    -------
    coefs : ndarray of shape (n_targets, n_points, n_terms)
    errors : ndarray of shape (n_targets, n_points)
        Mean squared errors.
    gaps : ndarray of shape (n_points,)
        Absolute duality gaps over all terms and targets.
    iterations : ndarray of shape (n_points,)
        Passes over the working set.
    """
    n_targets, n_terms = x_y.shape
    coefs = np.empty((n_targets, len(penalties), n_terms))
    errors, gaps = np.empty((n_targets, len(penalties))), np.empty(len(penalties))
    iterations = np.empty(len(penalties), dtype=np.int64)
    # An odd number of cache lines a row spreads the rows over all sets of the cache. The system commits only pages
    # that are touched, so the block costs the square of the largest working set, not of the number of terms.
    stride = 8 * (((n_terms + 7) // 8) | 1)
    follow_groups(
        gram,
        x_y,
        y_y,
        penalties,
        l1_ratio,
        tol,
        max_iter,
        all_coef=start.copy(),
        all_grad=np.empty((n_targets, n_terms)),
        inside=np.zeros(n_terms, dtype=np.uint8),
        members=np.empty(n_terms, dtype=np.int64),
        block=np.empty((n_terms, stride)),
        linear=np.empty((n_targets, stride)),
        coef=np.empty((n_targets, stride)),
        grad=np.empty((n_targets, stride)),
        rows=np.empty(_AT_ONCE, dtype=np.int64),
        steps=np.empty((n_targets, _AT_ONCE)),
        goals=np.empty(n_targets),
        past=np.empty((_DEPTH + 1, n_targets, stride)),
        system=np.empty((_DEPTH, _DEPTH)),
        mix=np.empty(_DEPTH),
        coefs=coefs,
        errors=errors,
        gaps=gaps,
        iterations=iterations,
    )
    return coefs, errors, gaps, iterations
