"""Compiled loops of the solvers: coordinate descent along an elastic net path, from the Gram alone.

The working set holds the active terms and those outside that violate their optimality condition. From the Gram the
exact gradient of all terms costs (active terms) x (terms), so the conditions themselves decide who enters; the
sequential strong rule, made for gradients that need the rows, let in more terms and took 1.3 to 1.5 times as long over
the folds of a cross-validation (to a tight tolerance it was faster on one of two problems).

Everything the descent touches is copied into arrays in the order of that set, so a pass costs its size
times the number of moving terms, whatever the number of rows and candidates.

Memory comes from the caller and rows are addressed by index: allocations, slices and views inside a kernel each take
numba a good part of a second to compile.
"""

import numpy as np
from numba import njit

from rulegrove._typing import ByteArray, FloatArray, IntArray

Integer = int | np.int64

# Passes between two extrapolations, each of which combines as many differences of iterates.
_DEPTH = 5


@njit(cache=True, nogil=True, error_model="numpy")
def certify(
    coef: FloatArray, grad: FloatArray, linear: FloatArray, n: Integer, y_y: float, l1: float, l2: float
) -> tuple[float, float]:
    """Objective and duality gap as if the first n terms were all; ``linear`` is X'y/N and ``grad`` X'(y - Xa)/N."""
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
        over = max(abs(g) - l1, 0.0)
        excess += over * over
    rss = max(y_y - fit - slack, 0.0)
    primal = 0.5 * rss + l1 * norm_1 + 0.5 * l2 * norm_2
    # Feasible for the dual: multiples of the residual of the problem with sqrt(l2) I below X. Take the best of them.
    target = y_y - fit
    augmented = rss + l2 * norm_2
    scale = max(target, 0.0) / augmented if augmented > 0.0 else 1.0
    if scale * largest > l1:
        scale = l1 / largest
    dual = scale * target - 0.5 * scale * scale * augmented
    if l2 > 0.0:  # the residual itself is feasible too, and better where the ridge part rules
        dual = max(dual, target - 0.5 * rss - 0.5 * excess / l2)
    return primal, primal - dual


@njit(cache=True, nogil=True, error_model="numpy")
def _descend(block: FloatArray, coef: FloatArray, grad: FloatArray, n: Integer, l1: float, l2: float) -> bool:
    """One pass over the working set, changing ``coef`` and ``grad``; False if nothing moved."""
    moved = False
    for j in range(n):
        old = coef[j]
        slope = grad[j]
        if old == 0.0 and abs(slope) <= l1:
            continue
        curvature = block[j, j] + l2
        goal = slope + block[j, j] * old
        new = 0.0
        if curvature > 0.0:
            if goal > l1:
                new = (goal - l1) / curvature
            elif goal < -l1:
                new = (goal + l1) / curvature
        delta = new - old
        if delta != 0.0:
            coef[j] = new
            for k in range(n):
                grad[k] -= delta * block[j, k]
            moved = True
    return moved


@njit(cache=True, nogil=True, error_model="numpy")
def _combine(past: FloatArray, mix: FloatArray, coef: FloatArray, n: Integer) -> None:
    """Set ``coef`` to the combination of the rows of ``past`` after the first."""
    for k in range(n):
        a = 0.0
        for p in range(mix.shape[0]):
            a += mix[p] * past[p + 1, k]
        coef[k] = a


@njit(cache=True, nogil=True, error_model="numpy")
def solve_mix(system: FloatArray, mix: FloatArray) -> bool:
    """Set ``mix`` to Anderson's weights from the products of the steps, U U', which is overwritten; False if none.

    They sum to one and make the combined step smallest: solve U U' z = 1 for the steps U and divide by the sum.
    """
    depth = mix.shape[0]
    trace = 0.0
    for p in range(depth):
        trace += system[p, p]
        mix[p] = 1.0
    if trace <= 0.0:
        return False
    for p in range(depth):
        system[p, p] += 1e-12 * trace  # nearly parallel steps: prefer small weights
    for p in range(depth):  # Gauss-Jordan; positive definite, so no pivoting
        if system[p, p] <= 0.0:
            return False
        for q in range(depth):
            if q != p:
                ratio = system[q, p] / system[p, p]
                mix[q] -= ratio * mix[p]
                for r in range(p, depth):
                    system[q, r] -= ratio * system[p, r]
    total = 0.0
    for p in range(depth):
        mix[p] /= system[p, p]
        total += mix[p]
    if total == 0.0:
        return False
    for p in range(depth):
        mix[p] /= total
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _mix(past: FloatArray, system: FloatArray, mix: FloatArray, n: Integer) -> bool:
    """Set ``mix`` to Anderson's weights of the rows of ``past`` after the first; False if there are none.

    ``system`` is memory for the products of the steps.
    """
    depth = mix.shape[0]
    for p in range(depth):
        for q in range(p + 1):
            total = 0.0
            for k in range(n):
                total += (past[p + 1, k] - past[p, k]) * (past[q + 1, k] - past[q, k])
            system[p, q] = total
            system[q, p] = total
    return solve_mix(system, mix)


@njit(cache=True, nogil=True, error_model="numpy")
def refresh(gram: FloatArray, x_y: FloatArray, coef: FloatArray, grad: FloatArray, n: Integer) -> None:
    """Compute the gradient of the first n terms afresh, from the rows of the non-zero coefficients."""
    for k in range(n):
        grad[k] = x_y[k]
    for j in range(n):
        a = coef[j]
        if a != 0.0:
            for k in range(n):
                grad[k] -= a * gram[j, k]


@njit(cache=True, nogil=True, error_model="numpy")
def _solve_block(
    block: FloatArray,
    linear: FloatArray,
    coef: FloatArray,
    grad: FloatArray,
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

    An extrapolated point gets a fresh gradient. To combine the old gradients likewise would be exact on paper, but
    the weights of nearly parallel steps are large and so multiply rounding errors, until descent chases a point that is
    not there. The point may hold tiny numbers where the solution has zeros: the last step is always a pass of descent.
    """
    depth = mix.shape[0]
    objective, gap = certify(coef, grad, linear, n, y_y, l1, l2)
    moved = True
    passes = 0
    row = 0
    while gap > tol and moved and passes < max_iter:
        if row == 0:
            for k in range(n):
                past[0, k] = coef[k]
        moved = _descend(block, coef, grad, n, l1, l2)
        passes += 1
        row += 1
        for k in range(n):
            past[row, k] = coef[k]
        objective, gap = certify(coef, grad, linear, n, y_y, l1, l2)
        if row == depth and gap > tol and passes < max_iter:
            row = 0
            if _mix(past, system, mix, n):
                _combine(past, mix, coef, n)
                refresh(block, linear, coef, grad, n)
                if not certify(coef, grad, linear, n, y_y, l1, l2)[0] < objective:
                    for k in range(n):
                        coef[k] = past[depth, k]
                    refresh(block, linear, coef, grad, n)
    return passes, moved


@njit(cache=True, nogil=True, error_model="numpy")
def admit(
    gram: FloatArray, x_y: FloatArray, term: int, members: IntArray, block: FloatArray, linear: FloatArray, n: Integer
) -> None:
    """Put ``term`` at position n of the working set."""
    members[n] = term
    linear[n] = x_y[term]
    for i in range(n + 1):
        value = gram[term, members[i]]
        block[n, i] = value
        block[i, n] = value


@njit(cache=True, nogil=True, error_model="numpy")
def follow_path(
    gram: FloatArray,
    x_y: FloatArray,
    y_y: float,
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
    past: FloatArray,
    system: FloatArray,
    mix: FloatArray,
    coefs: FloatArray,
    objectives: FloatArray,
    gaps: FloatArray,
    iterations: IntArray,
) -> None:
    """Fill the last four arrays along the penalties, beginning at ``all_coef``; the rest from there is memory."""
    n_terms = x_y.shape[0]
    none: Integer = np.int64(0)  # a literal would compile all that it is passed to twice
    refresh(gram, x_y, all_coef, all_grad, n_terms)
    n = none
    for point in range(penalties.shape[0]):
        l1 = penalties[point] * l1_ratio
        l2 = penalties[point] * (1.0 - l1_ratio)

        # Rebuild the working set without the terms that are neither active nor about to be, once they are many.
        n_kept = 0
        for i in range(n):
            if all_coef[members[i]] != 0.0 or abs(all_grad[members[i]]) >= l1:
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
                if inside[k] == 0 and (all_coef[k] != 0.0 or abs(all_grad[k]) >= l1):
                    inside[k] = 1
                    admit(gram, x_y, k, members, block, linear, n)
                    n += 1
            if n == n_before and rounds > 0:  # no term is missing, so only accuracy inside the set can be
                if not moved or inner_tol < 1e-3 * tol:  # as accurate as rounding allows
                    break
                inner_tol *= 0.5
            rounds += 1
            for i in range(n):
                coef[i] = all_coef[members[i]]
                grad[i] = all_grad[members[i]]
            done, moved = _solve_block(
                block,
                linear,
                coef,
                grad,
                past,
                system,
                mix,
                n,
                y_y,
                l1,
                l2,
                inner_tol,
                max_iter - passes,
            )
            passes += done
            for i in range(n):
                all_coef[members[i]] = coef[i]
            refresh(gram, x_y, all_coef, all_grad, n_terms)
            objectives[point], gaps[point] = certify(all_coef, all_grad, x_y, n_terms, y_y, l1, l2)
            if gaps[point] <= tol or passes >= max_iter:
                break
        iterations[point] = passes
        for k in range(n_terms):
            coefs[point, k] = all_coef[k]


def elastic_net_path(
    gram: FloatArray,
    x_y: FloatArray,
    y_y: float,
    penalties: FloatArray,
    l1_ratio: float,
    tol: float,
    max_iter: int,
    start: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Follow the elastic net along decreasing penalties; nothing passed in is changed.

    Parameters
    ----------
    gram : ndarray of shape (n_terms, n_terms)
    x_y : ndarray of shape (n_terms,)
    y_y : float
    penalties : ndarray of shape (n_points,)
    l1_ratio : float
    tol : float
        Absolute duality gap to reach.
    max_iter : int
        Most passes for one penalty.
    start : ndarray of shape (n_terms,)
        Coefficients to begin with.

    Returns
    -------
    coefs : ndarray of shape (n_points, n_terms)
    objectives : ndarray of shape (n_points,)
    gaps : ndarray of shape (n_points,)
        Absolute duality gaps over all terms.
    iterations : ndarray of shape (n_points,)
        Passes over the working set.
    """
    n_terms = len(x_y)
    coefs = np.empty((len(penalties), n_terms))
    objectives, gaps = np.empty(len(penalties)), np.empty(len(penalties))
    iterations = np.empty(len(penalties), dtype=np.int64)
    # An odd number of cache lines a row spreads the rows over all sets of the cache. The system commits only pages
    # that are touched, so the block costs the square of the largest working set, not of the number of terms.
    stride = 8 * (((n_terms + 7) // 8) | 1)
    follow_path(
        gram,
        x_y,
        y_y,
        penalties,
        l1_ratio,
        tol,
        max_iter,
        all_coef=start.copy(),
        all_grad=np.empty(n_terms),
        inside=np.zeros(n_terms, dtype=np.uint8),
        members=np.empty(n_terms, dtype=np.int64),
        block=np.empty((n_terms, stride)),
        linear=np.empty(n_terms),
        coef=np.empty(n_terms),
        grad=np.empty(n_terms),
        past=np.empty((_DEPTH + 1, n_terms)),
        system=np.empty((_DEPTH, _DEPTH)),
        mix=np.empty(_DEPTH),
        coefs=coefs,
        objectives=objectives,
        gaps=gaps,
        iterations=iterations,
    )
    return coefs, objectives, gaps, iterations
