"""Compiled loops of fixed-point continuation: shrinkage steps along an elastic net path, from the Gram alone.

One iteration is a step down the gradient of the smooth part followed by soft thresholding. All of it takes place in a
working set, the non-zero terms and those outside that violate their optimality condition, on a compact copy of their
Gram; the exact gradient of all terms, (non-zeros) x (terms), decides who enters and whether a point may be left.

Letters of the paper: the penalty here is ``1 / (N mu)``, ``curvature`` is the largest eigenvalue by which the paper
divides beforehand, ``factor`` its tau, and ``grad`` the negative gradient of the error, ``X'(y - Xa)/N``.
"""

from typing import NamedTuple

import numpy as np

from rulegrove._kernel_cache import njit
from rulegrove._typing import ByteArray, FloatArray, IntArray
from rulegrove.solvers._kernels import admit, certify, refresh

Integer = int | np.int64

# How a point was left, in the numbers that kernels return.
CONVERGED, LIMIT, STALLED = 0, 1, 2

# Relative duality gap at which a penalty between two points is left: it only has to lead into the right region.
_LOOSE = 1e-2
# Share of the predicted decrease that a step must reach, and weight of the past in the reference value.
_ARMIJO = 1e-3
_MEMORY = 0.85
# Longest step in units of the safe one, for along dependent columns the error may not bend at all, and halvings enough
# to take all of it back: giving up earlier, for the safe step, cost up to a hundred times the iterations on columns
# that are nearly the same.
_LONGEST = 1e10
_HALVINGS = 40
# Iterations without a new lowest objective or gap after which only rounding is at work.
_PATIENCE = 1000


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
    trial: FloatArray
    trial_grad: FloatArray
    vector: FloatArray
    image: FloatArray


class Search(NamedTuple):
    """What one iteration hands to the next."""

    step: float  # length of the next one along the gradient; 0 asks for the safe one
    curvature: float  # the most that the error is thought to bend in any direction
    ceiling: float  # the most that it can bend
    objective: float
    gap: float
    reference: float  # average of past objectives below which the next must lie
    mass: float  # sum of the weights in that average
    whole: bool  # whether the coefficients came out of a shrinkage, so zeros are exact zeros
    moved: bool  # False at a fixed point


@njit(nogil=True, error_model="numpy")
def bound_curvature(block: FloatArray, vector: FloatArray, image: FloatArray, n: Integer) -> tuple[float, float]:
    """Return an estimate of the largest eigenvalue of the first n rows and columns, and a value it cannot exceed.

    The power method, begun at ``vector`` and leaving there its last iterate, comes close from below, so the estimate is
    a little more. When it seems to stand still it may have seen nothing yet of the first eigenvector; only a ceiling
    that is near makes sure. The ceiling is the smaller of two that hold for any vector: the largest sum of absolute
    entries in a row, and, for the unit vector v with Rayleigh quotient q, the largest eigenvalue of
    ``[[q, r], [r, b]]``, where r is the length of the part of Gv across v and b the Frobenius norm of what G is on the
    other directions. Where one eigenvalue stands out, as with rules, a few iterations prove it.

    Parameters
    ----------
    block : ndarray of shape (at least n, at least n)
        Symmetric and without negative eigenvalues.
    vector : ndarray of shape (at least n,)
        Changed in place.
    image : ndarray of shape (at least n,)
        Memory.
    n : int
    """
    squares = 0.0
    widest = 0.0
    for j in range(n):
        total = 0.0
        for k in range(n):
            total += abs(block[j, k])
            squares += block[j, k] * block[j, k]
        widest = max(widest, total)
    if squares == 0.0:
        return 0.0, 0.0

    length = 0.0
    ceiling = widest
    for power in range(100):
        before = length
        norm = 0.0
        for k in range(n):
            norm += vector[k] * vector[k]
            image[k] = 0.0
        norm = np.sqrt(norm / n)
        for j in range(n):
            vector[j] /= norm
            a = vector[j]
            for k in range(n):
                image[k] += a * block[j, k]
        quotient = 0.0
        length = 0.0
        for k in range(n):
            quotient += vector[k] * image[k]
            length += image[k] * image[k]
        quotient /= n
        length = np.sqrt(length / n)
        across = max(length * length - quotient * quotient, 0.0)
        others = np.sqrt(max(squares - 2.0 * length * length + quotient * quotient, 0.0))
        proved = 0.5 * (quotient + others) + np.sqrt(0.25 * (quotient - others) ** 2 + across)
        ceiling = min(ceiling, (1.0 + 1e-12) * proved)
        if ceiling <= 1.05 * length or length == 0.0 or (power >= 10 and length <= 1.001 * before):
            break
        for k in range(n):
            vector[k] = image[k]
    return min(1.05 * length, ceiling) if length > 0.0 else ceiling, ceiling


@njit(nogil=True, error_model="numpy")
def safe_factor(weight: float, n: Integer) -> float:
    """Return the constant step for n terms and rows of some weight, in units of one over the largest curvature.

    The paper's formula is meant for fewer rows than terms and negative for many more; so it never counts below 1. It
    gets the terms of the working set, whose curvature is the unit: with the number of all terms the step would nearly
    always be close to 2, where the iteration swings from one side to the other and hardly comes nearer.
    """
    return min(max(2.665 - 1.665 * weight / n, 1.0), 1.999)


@njit(nogil=True, error_model="numpy")
def find_fraction(slope: float, bend: float, slack: float) -> float:
    """Return the part of a step to take: the first of 1, 1/2, 1/4, ... with enough decrease; 0 if there is none.

    Along the step the objective is at most ``objective + fraction * slope + fraction**2 * bend / 2``, because the L1
    norm is convex; ``slack`` is how far the reference value lies above the objective.
    """
    fraction = 1.0
    for _ in range(_HALVINGS):
        if fraction * (1.0 - _ARMIJO) * slope + 0.5 * fraction * fraction * bend <= slack:
            return fraction
        fraction *= 0.5
    return 0.0


@njit(nogil=True, error_model="numpy")
def average(reference: float, mass: float, objective: float) -> tuple[float, float]:
    """Return the reference value of Zhang and Hager after one more objective, and its mass; never below either."""
    new_mass = _MEMORY * mass + 1.0
    return max((_MEMORY * mass * reference + objective) / new_mass, objective), new_mass


@njit(nogil=True, error_model="numpy")
def iterate(
    memory: Workspace,
    n: Integer,
    y_y: float,
    l1: float,
    l2: float,
    factor: float,
    spectral: bool,
    careful: bool,
    now: Search,
) -> Search:
    """Take one step in the working set, changing ``coef`` and ``grad`` there; the safe one if ``careful``.

    The safe step always decreases the objective if ``curvature`` is as large as the error bends. Where a step meets
    more, it is not taken and the curvature raised instead, so an estimate that was too low cannot make it diverge.
    """
    coef, grad, trial, trial_grad = memory.coef, memory.grad, memory.trial, memory.trial_grad
    safe = careful or now.step == 0.0
    curvature = now.curvature
    step = factor / (curvature + l2) if safe else now.step
    slope = 0.0
    squares = 0.0
    for k in range(n):
        old = coef[k]
        down = grad[k] - l2 * old
        goal = old + step * down
        new = 0.0
        if goal > step * l1:
            new = goal - step * l1
        elif goal < -step * l1:
            new = goal + step * l1
        trial[k] = new
        delta = new - old
        slope += l1 * (abs(new) - abs(old)) - delta * down
        squares += delta * delta
    if squares == 0.0:
        return Search(0.0, curvature, now.ceiling, now.objective, now.gap, now.reference, now.mass, True, False)

    refresh(memory.block, memory.linear, trial, trial_grad, n)
    bend = l2 * squares
    for k in range(n):
        bend += (trial[k] - coef[k]) * (grad[k] - trial_grad[k])
    fraction = 1.0
    if not safe:
        fraction = find_fraction(slope, bend, now.reference - now.objective)
    elif slope + 0.5 * bend > 0.0 and curvature < now.ceiling:
        fraction = 0.0
        curvature = min(max(1.1 * bend / squares - l2, 1.1 * curvature), now.ceiling)
    if fraction == 0.0:
        return Search(0.0, curvature, now.ceiling, now.objective, now.gap, now.reference, now.mass, now.whole, True)
    for k in range(n):
        if fraction == 1.0:
            coef[k] = trial[k]
            grad[k] = trial_grad[k]
        else:
            coef[k] += fraction * (trial[k] - coef[k])
            grad[k] += fraction * (trial_grad[k] - grad[k])
    objective, gap = certify(coef, grad, memory.linear, n, y_y, l1, l2)
    reference, mass = average(now.reference, now.mass, objective)
    step = 0.0
    if spectral and bend > 0.0:
        step = min(max(squares / bend, 1.0 / (curvature + l2)), _LONGEST / (curvature + l2))
    return Search(step, curvature, now.ceiling, objective, gap, reference, mass, fraction == 1.0, True)


@njit(nogil=True, error_model="numpy")
def _minimise(
    memory: Workspace,
    n: Integer,
    y_y: float,
    l1: float,
    l2: float,
    weight: float,
    spectral: bool,
    tol: float,
    max_iter: Integer,
) -> tuple[int, bool]:
    """Minimise over the working set, changing its ``coef`` and ``grad``; returns the iterations and if they moved.

    A point reached by part of a step holds remains of coefficients on their way to zero. So whatever ends the
    iteration, the last step is a whole one, the safe step.
    """
    objective, gap = certify(memory.coef, memory.grad, memory.linear, n, y_y, l1, l2)
    if gap <= tol:
        return 0, True
    curvature, ceiling = bound_curvature(memory.block, memory.vector, memory.image, n)
    factor = safe_factor(weight, n)
    now = Search(0.0, max(curvature, 1e-100), max(ceiling, 1e-100), objective, gap, objective, 1.0, True, True)
    lowest = objective
    smallest = gap
    idle = 0
    done = 0
    while not now.whole or (now.moved and now.gap > tol and done < max_iter and idle < _PATIENCE):
        careful = bool(now.gap <= tol or done >= max_iter - 1 or idle >= _PATIENCE)
        now = iterate(memory, n, y_y, l1, l2, factor, spectral, careful, now)
        done += 1
        idle += 1
        if now.objective < lowest - 1e-15 * y_y or now.gap < smallest:
            lowest = min(lowest, now.objective)
            smallest = min(smallest, now.gap)
            idle = 0
    return done, now.moved and idle < _PATIENCE


@njit(nogil=True, error_model="numpy")
def _solve(
    gram: FloatArray,
    x_y: FloatArray,
    y_y: float,
    l1: float,
    l2: float,
    weight: float,
    spectral: bool,
    tol: float,
    max_iter: Integer,
    memory: Workspace,
    n: Integer,
) -> tuple[Integer, Integer, int, float, float]:
    """Minimise over all terms, changing ``all_coef`` and ``all_grad``.

    Returns the size of the working set, the iterations, how it ended, the objective and the gap.
    """
    all_coef, all_grad, members = memory.all_coef, memory.all_grad, memory.members
    n_terms = x_y.shape[0]
    none: Integer = np.int64(0)  # a literal would compile all that it is passed to twice

    # Rebuild the working set without the terms that are neither active nor about to be, once they are many.
    n_kept = 0
    for i in range(n):
        if all_coef[members[i]] != 0.0 or abs(all_grad[members[i]]) >= l1:
            n_kept += 1
    if 4 * n > 5 * n_kept + 32:
        for i in range(n):
            memory.inside[members[i]] = 0
        n = none

    done = none
    inner_tol = 0.99 * tol
    moved = True
    rounds = 0
    while True:
        objective, gap = certify(all_coef, all_grad, x_y, n_terms, y_y, l1, l2)
        if gap <= tol:
            return n, done, CONVERGED, objective, gap
        if done >= max_iter:
            return n, done, LIMIT, objective, gap
        n_before = n
        for k in range(n_terms):
            if memory.inside[k] == 0 and (all_coef[k] != 0.0 or abs(all_grad[k]) >= l1):
                memory.inside[k] = 1
                # The power method may begin anywhere but across the first eigenvector: multiples of the golden ratio.
                memory.vector[n] = (0.6180339887498949 * k) % 1.0 - 0.5
                admit(gram, x_y, k, members, memory.block, memory.linear, n)
                n += 1
        if n == n_before and rounds > 0:  # no term is missing, so only accuracy inside the set can be
            if not moved or inner_tol < 1e-3 * tol:
                return n, done, STALLED, objective, gap
            inner_tol *= 0.5
        rounds += 1
        for i in range(n):
            memory.coef[i] = all_coef[members[i]]
            memory.grad[i] = all_grad[members[i]]
        some, moved = _minimise(memory, n, y_y, l1, l2, weight, spectral, inner_tol, max_iter - done)
        done += some
        for i in range(n):
            all_coef[members[i]] = memory.coef[i]
        refresh(gram, x_y, all_coef, all_grad, n_terms)


@njit(nogil=True, error_model="numpy")
def follow_path(  # memory as single arrays: a bundle of them is counted anew at each call
    gram: FloatArray,
    x_y: FloatArray,
    y_y: float,
    penalties: FloatArray,
    l1_ratio: float,
    continuation: float,
    weight: float,
    spectral: bool,
    tol: float,
    max_iter: int,
    memory: Workspace,
    coefs: FloatArray,
    objectives: FloatArray,
    gaps: FloatArray,
    iterations: IntArray,
    ends: IntArray,
) -> None:
    """Fill the last five arrays along the penalties, beginning at ``all_coef`` of the memory."""
    n_terms = x_y.shape[0]
    all_coef, all_grad = memory.all_coef, memory.all_grad
    n: Integer = np.int64(0)
    refresh(gram, x_y, all_coef, all_grad, n_terms)
    largest = 0.0
    level = 0.0
    for k in range(n_terms):
        largest = max(largest, abs(x_y[k]))
        level = max(level, abs(all_grad[k]))
    level = min(level, largest) / max(l1_ratio, 1e-3)
    loose = max(_LOOSE * 0.5 * y_y, tol)
    for point in range(penalties.shape[0]):
        goal = penalties[point]
        if goal * l1_ratio >= largest:  # nothing outweighs the penalty
            for k in range(n_terms):
                all_coef[k] = 0.0
                all_grad[k] = x_y[k]
        gap = certify(all_coef, all_grad, x_y, n_terms, y_y, goal * l1_ratio, goal * (1.0 - l1_ratio))[1]
        if gap <= loose:  # close enough to go there at once
            level = goal
        iterations[point] = 0
        while True:
            level = max(level / continuation, goal)
            n, some, ends[point], objectives[point], gaps[point] = _solve(
                gram,
                x_y,
                y_y,
                level * l1_ratio,
                level * (1.0 - l1_ratio),
                weight,
                spectral,
                loose if level > goal else tol,
                max_iter - iterations[point],
                memory,
                n,
            )
            iterations[point] += some
            if level == goal:
                break
        for k in range(n_terms):
            coefs[point, k] = all_coef[k]


def fixed_point_path(
    gram: FloatArray,
    x_y: FloatArray,
    y_y: float,
    penalties: FloatArray,
    l1_ratio: float,
    continuation: float,
    weight: float,
    spectral: bool,
    tol: float,
    max_iter: int,
    start: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray, IntArray]:
    """Follow the elastic net along decreasing penalties; nothing passed in is changed.

    Parameters
    ----------
    gram : ndarray of shape (n_terms, n_terms)
    x_y : ndarray of shape (n_terms,)
    y_y : float
    penalties : ndarray of shape (n_points,)
    l1_ratio : float
    continuation : float
        The most by which a penalty is divided at once.
    weight : float
        N, which with the number of terms sets the constant step.
    spectral : bool
        Whether steps after the first are Barzilai and Borwein's.
    tol : float
        Absolute duality gap to reach.
    max_iter : int
        Most iterations for one point.
    start : ndarray of shape (n_terms,)
        Coefficients to begin with.

    Returns
    -------
    coefs : ndarray of shape (n_points, n_terms)
    objectives : ndarray of shape (n_points,)
    gaps : ndarray of shape (n_points,)
        Absolute duality gaps over all terms.
    iterations : ndarray of shape (n_points,)
    ends : ndarray of shape (n_points,)
        `CONVERGED`, `LIMIT` or `STALLED`.
    """
    n_terms, n_points = len(x_y), len(penalties)
    coefs = np.empty((n_points, n_terms))
    objectives, gaps = np.empty(n_points), np.empty(n_points)
    iterations, ends = np.empty(n_points, dtype=np.int64), np.empty(n_points, dtype=np.int64)
    # A column of zeros has no use for a coefficient; the others need not wait until shrinkage has worn it away.
    used = np.where(gram.diagonal() > 0.0, start, 0.0)
    # As in the kernels of Glmnet: an odd number of cache lines a row, and pages that are committed when touched.
    stride = 8 * (((n_terms + 7) // 8) | 1)
    memory = Workspace(
        used,
        np.empty(n_terms),
        np.zeros(n_terms, dtype=np.uint8),
        np.empty(n_terms, dtype=np.int64),
        np.empty((n_terms, stride)),
        *(np.empty(n_terms) for _ in range(7)),
    )
    follow_path(
        gram,
        x_y,
        y_y,
        penalties,
        l1_ratio,
        continuation,
        weight,
        spectral,
        tol,
        max_iter,
        memory,
        coefs,
        objectives,
        gaps,
        iterations,
        ends,
    )
    return coefs, objectives, gaps, iterations, ends
