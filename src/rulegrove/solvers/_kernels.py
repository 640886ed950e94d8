"""Compiled loops of the elastic net: coordinate descent along a path from the Gram alone, for one target or several.

The working set holds the active terms and those outside that violate their optimality condition. From the Gram the
exact gradient of all terms costs (active terms) x (terms), so the conditions themselves decide who enters; the
sequential strong rule, made for gradients that need the rows, let in more terms and took 1.3 to 1.5 times as long over
the folds of a cross-validation (to a tight tolerance it was faster on one of two problems).

Everything the descent touches is copied into arrays in the order of that set, so a pass costs its size
times the number of moving terms, whatever the number of rows and candidates.

Several targets share their terms: the coefficients of a term, one for each target, are a group that is in or out as a
whole. Coefficients and gradients of one target have the shape (n_terms,), those of several (n_targets, n_terms), and
numba compiles a version of the loops for each. A row for each target lets the update of the gradients run along the
terms; the other orientation makes rows too short for vector instructions and took two to five times as long.

Signs of coefficients and terms without a penalty, for one target only, come as `limits`, an array of shape
(3, n_terms): in units of the penalty, what a gradient must exceed to make the coefficient positive, and what to make
it negative (1; 0 without a penalty; infinite where the sign forbids it), and the inverse of the curvature. None stands
for no such limits; numba then compiles a version without any of this.

Memory comes from the caller and rows are addressed by index: allocations, slices and views inside a kernel each take
numba a good part of a second to compile.
"""

import math
from typing import NamedTuple

import numpy as np

from rulegrove._kernel_cache import njit
from rulegrove._typing import ByteArray, FloatArray, IntArray

Integer = int | np.int64

# Passes between two extrapolations, each of which combines as many differences of iterates.
_DEPTH = 5

# Steps that are taken off the gradients together; `_subtract` spells them out.
_AT_ONCE = 8
_NO_ROWS = np.empty(0, dtype=np.int64)


class Workspace(NamedTuple):
    """Memory of one path; from ``members`` on in the order of the working set."""

    all_coef: FloatArray
    all_grad: FloatArray
    inside: ByteArray
    members: IntArray
    block: FloatArray
    linear: FloatArray
    coef: FloatArray
    grad: FloatArray
    limits: FloatArray | None
    rows: IntArray  # of terms whose steps wait to be taken off the gradients
    steps: FloatArray
    past: FloatArray
    system: FloatArray
    mix: FloatArray


class Solutions(NamedTuple):
    """What `follow_path` fills, one point for each penalty."""

    coefs: FloatArray
    explained: FloatArray  # of the mean square of each target; not filled for one
    objectives: FloatArray
    gaps: FloatArray
    iterations: IntArray


# --- one target or several --------------------------------------------------------------------------------------------


@njit(nogil=True, error_model="numpy")
def _n_targets(values: FloatArray) -> int:
    """Return the number of targets that the values are of."""
    if values.ndim == 1:
        return 1
    return values.shape[0]  # type: ignore[no-any-return]


@njit(nogil=True, error_model="numpy")
def _at(values: FloatArray, t: Integer, k: Integer) -> float:
    """Value of term k for target t."""
    if values.ndim == 1:
        return values[k]  # type: ignore[no-any-return]
    return values[t, k]  # type: ignore[no-any-return]


@njit(nogil=True, error_model="numpy")
def _put(values: FloatArray, t: Integer, k: Integer, value: float) -> None:
    """Set the value of term k for target t."""
    if values.ndim == 1:
        values[k] = value
    else:
        values[t, k] = value


@njit(nogil=True, error_model="numpy")
def _scaled(factor: float, l1: float) -> float:
    """Return what a gradient must exceed; an infinite factor forbids it even without a penalty."""
    return factor * l1 if factor <= 1.0 else np.inf


@njit(nogil=True, error_model="numpy")
def _reach(pull: float, limits: FloatArray | None, k: Integer, l1: float) -> float:
    """Return how far a gradient, or its length, exceeds what would move the coefficients of term k from zero."""
    if limits is None:
        return abs(pull) - l1
    return max(pull - _scaled(limits[0, k], l1), -pull - _scaled(limits[1, k], l1))


@njit(nogil=True, error_model="numpy")
def _belongs(coef: FloatArray, grad: FloatArray, k: Integer, l1: float, limits: FloatArray | None) -> bool:
    """Whether a term is active or its optimality condition asks it to be."""
    pull = 0.0
    square = 0.0
    for t in range(_n_targets(coef)):
        if _at(coef, t, k) != 0.0:
            return True
        pull = _at(grad, t, k)
        square += pull * pull
    if coef.ndim > 1:
        pull = math.sqrt(square)
    return _reach(pull, limits, k, l1) >= 0.0


@njit(nogil=True, error_model="numpy")
def assess(
    coef: FloatArray, grad: FloatArray, linear: FloatArray, n: Integer, y_y: float, l1: float, l2: float,
    limits: FloatArray | None,
) -> tuple[float, float]:  # fmt: skip
    """Objective and duality gap as if the first n terms were all.

    ``linear`` is X'y/N and ``grad`` X'(y - Xa)/N; ``y_y`` is a sum over the targets. With limits a gradient counts only
    on the sides that they allow. A term without a penalty asks a dual point for a gradient that is exactly feasible.
    Here its gradient instead costs what a step could gain, so that with such terms the gap is an estimate; the caller
    certifies the solution anew.
    """
    fit = 0.0
    slack = 0.0
    norm_1 = 0.0
    norm_2 = 0.0
    largest = 0.0  # pull of a gradient less its ridge part; without limits its square, to the end of the loop
    excess = 0.0  # sum of the squares by which gradients exceed the penalty
    price = 0.0  # of the gradients of terms without a penalty
    for k in range(n):
        a = 0.0
        g = 0.0
        size = 0.0
        pull = 0.0
        ridge_pull = 0.0
        for t in range(_n_targets(coef)):
            a = _at(coef, t, k)
            g = _at(grad, t, k)
            fit += a * _at(linear, t, k)
            slack += a * g
            size += a * a
            pull += g * g
            ridge_pull += (g - l2 * a) * (g - l2 * a)
        if limits is None:
            largest = max(largest, ridge_pull)
        elif min(limits[0, k], limits[1, k]) == 0.0:
            push = max(_reach(g, limits, k, 0.0), 0.0)
            price += push * (2.0 * abs(a) + push * limits[2, k])
            continue
        else:
            largest = max(largest, l1 + _reach(g - l2 * a, limits, k, l1))
        if coef.ndim > 1:  # a group counts by its length
            a = math.sqrt(size)
            g = math.sqrt(pull)
        norm_1 += abs(a)
        norm_2 += size
        over = max(_reach(g, limits, k, l1), 0.0)
        excess += over * over
    if limits is None:
        largest = math.sqrt(largest)
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
    return primal, primal - dual + price


@njit(nogil=True, error_model="numpy")
def certify(
    coef: FloatArray, grad: FloatArray, linear: FloatArray, n: Integer, y_y: float, l1: float, l2: float
) -> tuple[float, float]:
    """Objective and duality gap by `assess`, without limits."""
    return assess(coef, grad, linear, n, y_y, l1, l2, None)


# --- descent in the working set ---------------------------------------------------------------------------------------


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
def _refresh(
    gram: FloatArray, x_y: FloatArray, coef: FloatArray, grad: FloatArray, rows: IntArray, steps: FloatArray, n: Integer
) -> None:
    """Compute the gradients of the first n terms afresh, from the rows of the active ones; several need the memory."""
    if coef.ndim == 1:
        for k in range(n):
            grad[k] = x_y[k]
        for j in range(n):
            a = coef[j]
            if a != 0.0:
                for k in range(n):
                    grad[k] -= a * gram[j, k]
        return
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
def refresh(gram: FloatArray, x_y: FloatArray, coef: FloatArray, grad: FloatArray, n: Integer) -> None:
    """Compute the gradient of the first n terms of one target afresh, which needs no memory."""
    _refresh(gram, x_y, coef, grad, _NO_ROWS, gram, n)


@njit(nogil=True, error_model="numpy")
def _descend(
    block: FloatArray, coef: FloatArray, grad: FloatArray, rows: IntArray, steps: FloatArray, n: Integer, l1: float,
    l2: float, limits: FloatArray | None,
) -> bool:  # fmt: skip
    """One pass over the working set, changing ``coef`` and ``grad``; False if nothing moved.

    The Hessian of a group is a multiple of the identity, so its minimiser is a shrunken copy of its goals. Steps wait
    in ``rows`` and ``steps`` until there are enough to take them off the gradients together; a term that comes up
    meanwhile takes them off its goals. For one target this saves nothing: most of its working sets are small.
    """
    moved = False
    if coef.ndim == 1:
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
    waiting: Integer = np.int64(0)
    for j in range(n):
        curvature = block[j, j]
        size = 0.0
        for t in range(coef.shape[0]):
            goal = grad[t, j] + curvature * coef[t, j]
            for i in range(waiting):
                goal -= steps[t, i] * block[rows[i], j]
            steps[t, waiting] = goal
            size += goal * goal
        size = math.sqrt(size)
        share = 0.0
        if size > l1 and curvature + l2 > 0.0:
            share = (size - l1) / (size * (curvature + l2))
        stepped = False
        for t in range(coef.shape[0]):
            new = share * steps[t, waiting] if share > 0.0 else 0.0
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
def _clip(coef: FloatArray, n: Integer, limits: FloatArray | None) -> None:
    """Set coefficients of a forbidden sign to zero."""
    if limits is None:
        return
    for k in range(n):
        if limits[1 if coef[k] < 0.0 else 0, k] > 1.0:
            coef[k] = 0.0


@njit(nogil=True, error_model="numpy")
def _keep(past: FloatArray, row: Integer, coef: FloatArray, n: Integer) -> None:
    """Store an iterate."""
    for t in range(_n_targets(coef)):
        for k in range(n):
            past[row, t, k] = _at(coef, t, k)


@njit(nogil=True, error_model="numpy")
def _combine(past: FloatArray, mix: FloatArray, coef: FloatArray, n: Integer) -> None:
    """Set ``coef`` to the combination of the iterates in ``past`` after the first."""
    for t in range(_n_targets(coef)):
        for k in range(n):
            a = 0.0
            for p in range(mix.shape[0]):
                a += mix[p] * past[p + 1, t, k]
            _put(coef, t, k, a)


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
def _solve_block(
    work: Workspace, n: Integer, y_y: float, l1: float, l2: float, tol: float, max_iter: Integer
) -> tuple[int, bool]:
    """Minimise over the working set, changing ``coef`` and ``grad``; returns the passes and whether the last one moved.

    An extrapolated point gets a fresh gradient. To combine the old gradients likewise would be exact on paper, but
    the weights of nearly parallel steps are large and so multiply rounding errors, until descent chases a point that is
    not there. The point may hold tiny numbers where the solution has zeros: the last step is always a pass of descent.
    """
    block, linear, coef, grad, limits = work.block, work.linear, work.coef, work.grad, work.limits
    rows, steps, past, mix = work.rows, work.steps, work.past, work.mix  # once, as fetching counts references
    none: Integer = np.int64(0)  # a literal would compile all that it is passed to twice
    objective, gap = assess(coef, grad, linear, n, y_y, l1, l2, limits)
    moved = True
    passes = 0
    row = none
    while gap > tol and moved and passes < max_iter:
        if row == 0:
            _keep(past, row, coef, n)
        moved = _descend(block, coef, grad, rows, steps, n, l1, l2, limits)
        passes += 1
        row += 1
        _keep(past, row, coef, n)
        objective, gap = assess(coef, grad, linear, n, y_y, l1, l2, limits)
        if row == mix.shape[0] and gap > tol and passes < max_iter:
            if _mix(past, work.system, mix, n):
                _combine(past, mix, coef, n)
                _clip(coef, n, limits)
                _refresh(block, linear, coef, grad, rows, steps, n)
                if not assess(coef, grad, linear, n, y_y, l1, l2, limits)[0] < objective:
                    for t in range(past.shape[1]):
                        for k in range(n):
                            _put(coef, t, k, past[row, t, k])
                    _refresh(block, linear, coef, grad, rows, steps, n)
            row = none
    return passes, moved


# --- the working set --------------------------------------------------------------------------------------------------


@njit(nogil=True, error_model="numpy")
def admit(
    gram: FloatArray, x_y: FloatArray, term: int, members: IntArray, block: FloatArray, linear: FloatArray, n: Integer
) -> None:
    """Put ``term`` at position n of the working set."""
    members[n] = term
    for t in range(_n_targets(x_y)):
        _put(linear, t, n, _at(x_y, t, term))
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
    limits: FloatArray | None,
    work: Workspace,
    found: Solutions,
) -> None:
    """Fill ``found`` along the penalties, beginning at ``work.all_coef``."""
    n_terms: Integer = gram.shape[0]
    none: Integer = np.int64(0)  # a literal would compile all that it is passed to twice
    all_coef, all_grad, inside, members = work.all_coef, work.all_grad, work.inside, work.members
    coef, grad, coefs = work.coef, work.grad, found.coefs
    if limits is not None:
        _clip(all_coef, n_terms, limits)
    _refresh(gram, x_y, all_coef, all_grad, work.rows, work.steps, n_terms)
    n = none
    for point in range(penalties.shape[0]):
        l1 = penalties[point] * l1_ratio
        l2 = penalties[point] * (1.0 - l1_ratio)

        # Rebuild the working set without the terms that are neither active nor about to be, once they are many.
        n_kept = 0
        for i in range(n):
            if _belongs(all_coef, all_grad, members[i], l1, limits):
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
                if inside[k] == 0 and _belongs(all_coef, all_grad, k, l1, limits):
                    inside[k] = 1
                    admit(gram, x_y, k, members, work.block, work.linear, n)
                    if limits is not None:
                        _admit_limits(limits, k, work.limits, n)
                    n += 1
            if n == n_before and rounds > 0:  # no term is missing, so only accuracy inside the set can be
                if not moved or inner_tol < 1e-3 * tol:  # as accurate as rounding allows
                    break
                inner_tol *= 0.5
            rounds += 1
            for t in range(_n_targets(x_y)):
                for i in range(n):
                    _put(coef, t, i, _at(all_coef, t, members[i]))
                    _put(grad, t, i, _at(all_grad, t, members[i]))
            done, moved = _solve_block(work, n, y_y, l1, l2, inner_tol, max_iter - passes)
            passes += done
            for t in range(_n_targets(x_y)):
                for i in range(n):
                    _put(all_coef, t, members[i], _at(coef, t, i))
            _refresh(gram, x_y, all_coef, all_grad, work.rows, work.steps, n_terms)
            found.objectives[point], found.gaps[point] = assess(all_coef, all_grad, x_y, n_terms, y_y, l1, l2, limits)
            if found.gaps[point] <= tol or passes >= max_iter:
                break
        found.iterations[point] = passes
        for t in range(_n_targets(x_y)):
            for k in range(n_terms):
                coefs[t, point, k] = _at(all_coef, t, k)
        if x_y.ndim > 1:  # the objective of one target leads to its error, that of several does not
            for t in range(x_y.shape[0]):
                explained = 0.0
                for k in range(n_terms):
                    explained += all_coef[t, k] * (x_y[t, k] + all_grad[t, k])
                found.explained[t, point] = explained


def _follow(
    gram: FloatArray,
    x_y: FloatArray,
    y_y: float,
    penalties: FloatArray,
    l1_ratio: float,
    tol: float,
    max_iter: int,
    start: FloatArray,
    limits: FloatArray | None,
) -> Solutions:
    """Run `follow_path` in memory of its own."""
    *several, n_terms = x_y.shape
    n_targets, n_points = several[0] if several else 1, len(penalties)
    # An odd number of cache lines a row spreads the rows over all sets of the cache. The system commits only pages
    # that are touched, so the block costs the square of the largest working set, not of the number of terms.
    stride = 8 * (((n_terms + 7) // 8) | 1)
    work = Workspace(
        all_coef=start.copy(),
        all_grad=np.empty(x_y.shape),
        inside=np.zeros(n_terms, dtype=np.uint8),
        members=np.empty(n_terms, dtype=np.int64),
        block=np.empty((n_terms, stride)),
        linear=np.empty((*several, stride)),
        coef=np.empty((*several, stride)),
        grad=np.empty((*several, stride)),
        limits=None if limits is None else np.empty_like(limits),
        rows=np.empty(_AT_ONCE, dtype=np.int64),
        steps=np.empty((n_targets, _AT_ONCE)),
        past=np.empty((_DEPTH + 1, n_targets, stride)),
        system=np.empty((_DEPTH, _DEPTH)),
        mix=np.empty(_DEPTH),
    )
    found = Solutions(
        coefs=np.empty((n_targets, n_points, n_terms)),
        explained=np.empty((n_targets, n_points)),
        objectives=np.empty(n_points),
        gaps=np.empty(n_points),
        iterations=np.empty(n_points, dtype=np.int64),
    )
    follow_path(gram, x_y, y_y, penalties, l1_ratio, tol, max_iter, limits, work, found)
    return found


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
    found = _follow(gram, x_y, y_y, penalties, l1_ratio, tol, max_iter, start, limits)
    return found.coefs[0], found.objectives, found.gaps, found.iterations


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
    """Follow the elastic net of several targets as `elastic_net_path` does; the targets share their terms.

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
    found = _follow(gram, x_y, float(y_y.sum()), penalties, l1_ratio, tol, max_iter, start, None)
    return found.coefs, y_y[:, np.newaxis] - found.explained, found.gaps, found.iterations
