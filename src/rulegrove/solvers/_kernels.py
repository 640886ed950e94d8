"""Compiled loops of the solvers: coordinate descent along an elastic net path, from the Gram alone.

The working set holds the active terms and those outside that violate their optimality condition. From the Gram the
exact gradient of all terms costs (active terms) x (terms), so the conditions themselves decide who enters; the
sequential strong rule, made for gradients that need the rows, let in more terms and took 1.3 to 1.5 times as long over
the folds of a cross-validation (to a tight tolerance it was faster on one of two problems).

Everything the descent touches is copied into arrays in the order of that set, so a pass costs its size
times the number of moving terms, whatever the number of rows and candidates.

Signs of coefficients and terms without a penalty come as `limits`, an array of shape (3, n_terms): in units of the
penalty, what a gradient must exceed to make the coefficient positive, and what to make it negative (1; 0 without a
penalty; infinite where the sign forbids it), and the inverse of the curvature. None stands for no such limits; numba
then compiles a version of the kernels without any of this.

Memory comes from the caller and rows are addressed by index: allocations, slices and views inside a kernel each take
numba a good part of a second to compile.
"""

import numpy as np

from rulegrove._kernel_cache import njit
from rulegrove._typing import ByteArray, FloatArray, IntArray

Integer = int | np.int64

# Passes between two extrapolations, each of which combines as many differences of iterates.
_DEPTH = 5


@njit(nogil=True, error_model="numpy")
def _scaled(factor: float, l1: float) -> float:
    """Return what a gradient must exceed; an infinite factor forbids it even without a penalty."""
    return factor * l1 if factor <= 1.0 else np.inf


@njit(nogil=True, error_model="numpy")
def _reach(grad: float, limits: FloatArray | None, k: Integer, l1: float) -> float:
    """Return how far a gradient exceeds what would make the coefficient of term k move from zero."""
    if limits is None:
        return abs(grad) - l1
    return max(grad - _scaled(limits[0, k], l1), -grad - _scaled(limits[1, k], l1))


@njit(nogil=True, error_model="numpy")
def _bound(
    y_y: float, fit: float, slack: float, norm_1: float, norm_2: float, largest: float, excess: float, l1: float,
    l2: float,
) -> tuple[float, float]:  # fmt: skip
    """Objective and duality gap from sums over the terms.

    These are ``a'X'y/N``, ``a'g`` for the gradient g, the two norms of a, the largest pull of the gradient less its
    ridge part, and the sum of squares by which the gradient exceeds the penalty.
    """
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


@njit(nogil=True, error_model="numpy")
def _certify_limited(
    coef: FloatArray, grad: FloatArray, linear: FloatArray, n: Integer, y_y: float, l1: float, l2: float,
    limits: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """As `certify`, where a gradient counts only on the sides that the limits allow.

    A term without a penalty asks a dual point for a gradient that is exactly feasible. Here its gradient instead costs
    what a step could gain, so that with such terms the gap is an estimate; the caller certifies the solution anew.
    """
    fit = 0.0
    slack = 0.0
    norm_1 = 0.0
    norm_2 = 0.0
    largest = 0.0
    excess = 0.0
    price = 0.0
    for k in range(n):
        a = coef[k]
        g = grad[k]
        fit += a * linear[k]
        slack += a * g
        if min(limits[0, k], limits[1, k]) == 0.0:
            push = max(_reach(g, limits, k, 0.0), 0.0)
            price += push * (2.0 * abs(a) + push * limits[2, k])
            continue
        norm_1 += abs(a)
        norm_2 += a * a
        largest = max(largest, l1 + _reach(g - l2 * a, limits, k, l1))
        over = max(_reach(g, limits, k, l1), 0.0)
        excess += over * over
    primal, gap = _bound(y_y, fit, slack, norm_1, norm_2, largest, excess, l1, l2)
    return primal, gap + price


@njit(nogil=True, error_model="numpy")
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
    return _bound(y_y, fit, slack, norm_1, norm_2, largest, excess, l1, l2)


@njit(nogil=True, error_model="numpy")
def _descend(
    block: FloatArray, coef: FloatArray, grad: FloatArray, n: Integer, l1: float, l2: float, limits: FloatArray | None
) -> bool:
    """One pass over the working set, changing ``coef`` and ``grad``; False if nothing moved."""
    moved = False
    for j in range(n):
        old = coef[j]
        slope = grad[j]
        up = l1
        down = l1
        ridge = l2
        if limits is not None:
            up = _scaled(limits[0, j], l1)
            down = _scaled(limits[1, j], l1)
            ridge = min(limits[0, j], limits[1, j]) * l2
        if old == 0.0 and slope <= up and -slope <= down:
            continue
        curvature = block[j, j] + ridge
        goal = slope + block[j, j] * old
        new = 0.0
        if curvature > 0.0:
            if goal > up:
                new = (goal - up) / curvature
            elif goal < -down:
                new = (goal + down) / curvature
        delta = new - old
        if delta != 0.0:
            coef[j] = new
            for k in range(n):
                grad[k] -= delta * block[j, k]
            moved = True
    return moved


@njit(nogil=True, error_model="numpy")
def _clip(coef: FloatArray, n: Integer, limits: FloatArray) -> None:
    """Set coefficients of a forbidden sign to zero."""
    for k in range(n):
        if limits[1 if coef[k] < 0.0 else 0, k] > 1.0:
            coef[k] = 0.0


@njit(nogil=True, error_model="numpy")
def _combine(past: FloatArray, mix: FloatArray, coef: FloatArray, n: Integer) -> None:
    """Set ``coef`` to the combination of the rows of ``past`` after the first."""
    for k in range(n):
        a = 0.0
        for p in range(mix.shape[0]):
            a += mix[p] * past[p + 1, k]
        coef[k] = a


@njit(nogil=True, error_model="numpy")
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


@njit(nogil=True, error_model="numpy")
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


@njit(nogil=True, error_model="numpy")
def refresh(gram: FloatArray, x_y: FloatArray, coef: FloatArray, grad: FloatArray, n: Integer) -> None:
    """Compute the gradient of the first n terms afresh, from the rows of the non-zero coefficients."""
    for k in range(n):
        grad[k] = x_y[k]
    for j in range(n):
        a = coef[j]
        if a != 0.0:
            for k in range(n):
                grad[k] -= a * gram[j, k]


@njit(nogil=True, error_model="numpy")
def assess(
    coef: FloatArray, grad: FloatArray, linear: FloatArray, n: Integer, y_y: float, l1: float, l2: float,
    limits: FloatArray | None,
) -> tuple[float, float]:  # fmt: skip
    """Objective and duality gap, by the version of `certify` that is made for the limits."""
    if limits is None:
        return certify(coef, grad, linear, n, y_y, l1, l2)
    return _certify_limited(coef, grad, linear, n, y_y, l1, l2, limits)


@njit(nogil=True, error_model="numpy")
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
    limits: FloatArray | None,
) -> tuple[int, bool]:
    """Minimise over the working set, changing ``coef`` and ``grad``; returns the passes and whether the last one moved.

    An extrapolated point gets a fresh gradient. To combine the old gradients likewise would be exact on paper, but
    the weights of nearly parallel steps are large and so multiply rounding errors, until descent chases a point that is
    not there. The point may hold tiny numbers where the solution has zeros: the last step is always a pass of descent.
    """
    depth = mix.shape[0]
    objective, gap = assess(coef, grad, linear, n, y_y, l1, l2, limits)
    moved = True
    passes = 0
    row = 0
    while gap > tol and moved and passes < max_iter:
        if row == 0:
            for k in range(n):
                past[0, k] = coef[k]
        moved = _descend(block, coef, grad, n, l1, l2, limits)
        passes += 1
        row += 1
        for k in range(n):
            past[row, k] = coef[k]
        objective, gap = assess(coef, grad, linear, n, y_y, l1, l2, limits)
        if row == depth and gap > tol and passes < max_iter:
            row = 0
            if _mix(past, system, mix, n):
                _combine(past, mix, coef, n)
                if limits is not None:
                    _clip(coef, n, limits)
                refresh(block, linear, coef, grad, n)
                if not assess(coef, grad, linear, n, y_y, l1, l2, limits)[0] < objective:
                    for k in range(n):
                        coef[k] = past[depth, k]
                    refresh(block, linear, coef, grad, n)
    return passes, moved


@njit(nogil=True, error_model="numpy")
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


@njit(nogil=True, error_model="numpy")
def _admit_limits(all_limits: FloatArray, term: int, limits: FloatArray | None, n: Integer) -> None:
    """Put the limits of ``term`` at position n of those of the working set."""
    if limits is None:
        return
    for part in range(all_limits.shape[0]):
        limits[part, n] = all_limits[part, term]


@njit(nogil=True, error_model="numpy")
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
    all_limits: FloatArray | None,
    limits: FloatArray | None,
) -> None:
    """Fill the four arrays from ``coefs`` on along the penalties, beginning at ``all_coef``.

    The rest from there is memory, as is ``limits``, for those of the working set.
    """
    n_terms = x_y.shape[0]
    none: Integer = np.int64(0)  # a literal would compile all that it is passed to twice
    if all_limits is not None:
        _clip(all_coef, n_terms, all_limits)
    refresh(gram, x_y, all_coef, all_grad, n_terms)
    n = none
    for point in range(penalties.shape[0]):
        l1 = penalties[point] * l1_ratio
        l2 = penalties[point] * (1.0 - l1_ratio)

        # Rebuild the working set without the terms that are neither active nor about to be, once they are many.
        n_kept = 0
        for i in range(n):
            if all_coef[members[i]] != 0.0 or _reach(all_grad[members[i]], all_limits, members[i], l1) >= 0.0:
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
                if inside[k] == 0 and (all_coef[k] != 0.0 or _reach(all_grad[k], all_limits, k, l1) >= 0.0):
                    inside[k] = 1
                    admit(gram, x_y, k, members, block, linear, n)
                    if all_limits is not None:
                        _admit_limits(all_limits, k, limits, n)
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
                limits,
            )
            passes += done
            for i in range(n):
                all_coef[members[i]] = coef[i]
            refresh(gram, x_y, all_coef, all_grad, n_terms)
            objectives[point], gaps[point] = assess(all_coef, all_grad, x_y, n_terms, y_y, l1, l2, all_limits)
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
    limits: FloatArray | None = None,
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
    limits : ndarray of shape (3, n_terms), optional
        Signs and terms without a penalty, as told at the top.

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
        all_limits=limits,
        limits=None if limits is None else np.empty_like(limits),
    )
    return coefs, objectives, gaps, iterations
