"""Compiled loops of Pathbuild: thresholded gradient descent over rows, or over the Gram alone.

A loss of the rows is squared on a curved part and straight outside: the pull of row ``n`` (minus half the derivative of
its loss) is ``y - F`` for ``lower < F < upper``, ``tail`` at or below `lower` and ``-tail`` at or above `upper`. The
ramp and the squared hinge have tail 0, Huber's loss has its delta; no loop asks for the loss by name.

The gradient of all terms is kept up to date, not computed anew. While no row changes sides, a step ``d_j`` of term
``j`` changes the summed pull of term ``k`` by ``-d_j u_jk``, ``u_jk`` being the weighted sum of ``x_j x_k`` over the
curved rows; rows that change sides are corrected one by one. The rows ``u_j`` of the terms that step are themselves
kept and corrected, so most steps touch no bit column except those that step. With equal weights the ``u`` of rules are
counts, exact in doubles. Where the rows ``u_j`` cost more than a pass over all bit columns, that pass is made instead.

Columns, inside: the rules, one rule that holds everywhere (the intercept), empty rules up to a multiple of 64, then the
linear terms. Sums over rows are not divided by N.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import overload

from rulegrove._kernel_cache import njit
from rulegrove._typing import FloatArray, IntArray, Words
from rulegrove.design._kernels import (
    _BITS,
    _DOUBLES,
    _WORD,
    _count_pairs,
    _element,
    _load,
    _spread,
    _vector_at,
    cgutils,
    intrinsic,
)

Integer = int | np.int64

_SIDE = 4  # bit columns that `_count_pairs` takes at a time, on both sides
_LANES = 8  # and words

_PACK_ROWS = 64  # turned rows that are copied side by side: their bits fit a first-level cache

# Coefficients and scores give gradient and sides anew after so many steps. The drift is some 1e-13: an insurance.
_REFRESH = 500

# Terms step together when their gradients differ by less than rounding may add: those of complementary rules do.
_TIE = 1e-10

# For functions that compiled code alone may call: the bridges to Python would take a third of all compilation. Called
# from Python they would crash the process.
_inner = njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


class Prices(NamedTuple):
    """Nanoseconds an operation takes, to choose the cheaper of two exact ways; no result depends on them."""

    counting: float = 0.1  # the common bits of three words, counted
    adding: float = 3.0  # a number added to 64 doubles under a word as mask
    scaling: float = 0.8  # a multiple of a double from memory added to a double


def _at_most(left: FloatArray, right: FloatArray, start: int) -> np.uint64:
    """Bits of ``left <= right`` for the 64 elements from `start`."""
    held = left[start : start + 64] <= right[start : start + 64]
    return np.uint64(sum(1 << int(i) for i in np.flatnonzero(held)))


@intrinsic
def _at_most_vector(typingctx: Any, left: Any, right: Any, start: Any) -> Any:
    """Compare 64 pairs at once; the 64 one-bit results are the word."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, b = (
            _load(builder, _element(context, builder, signature.args[i], args[i], args[2]), _DOUBLES) for i in range(2)
        )
        return builder.bitcast(builder.fcmp_ordered("<=", a, b), _WORD)

    return types.uint64(left, right, types.intp), codegen


@overload(_at_most, strict=False)
def _overload_at_most(left: Any, right: Any, start: Any) -> Any:
    return lambda left, right, start: _at_most_vector(left, right, start)


def _add_members(
    words: Words,
    column: int,
    members: IntArray,
    numbers: FloatArray,
    n_members: Integer,
    target: FloatArray,
    start: Integer,
) -> None:
    """Add number ``i`` to those of the 64 elements from `start` whose bit is set in word ``[column, members[i]]``."""
    for i in range(n_members):
        octets = words[column : column + 1, members[i] : members[i] + 1].astype("<u8").view(np.uint8)
        target[start : start + 64] += numbers[i] * np.unpackbits(octets, bitorder="little")


@intrinsic
def _add_members_vector(
    typingctx: Any, words: Any, column: Any, members: Any, numbers: Any, n_members: Any, target: Any, start: Any
) -> Any:
    """Keep the 64 elements in registers while each word masks 64 additions to them."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words, column, members, numbers, n_members, target, start = args
        place = _vector_at(builder, _element(context, builder, signature.args[5], target, start), _DOUBLES)
        total = cgutils.alloca_once(builder, _DOUBLES)
        builder.store(builder.load(place, align=8), total)
        zero, one = ir.Constant(_WORD, 0), ir.Constant(_WORD, 1)
        with cgutils.for_range_slice(builder, zero, n_members, one) as (i, _):
            member = builder.load(_element(context, builder, signature.args[2], members, i))
            number = builder.load(_element(context, builder, signature.args[3], numbers, i))
            mask = builder.load(_element(context, builder, signature.args[0], words, column, member))
            old = builder.load(total)
            new = builder.fadd(old, _spread(builder, number))
            builder.store(builder.select(builder.bitcast(mask, _BITS), new, old), total)
        builder.store(builder.load(total), place, align=8)
        return context.get_dummy_value()

    index = types.intp
    return types.void(words, index, members, numbers, index, target, index), codegen


@overload(_add_members, strict=False)
def _overload_add_members(
    words: Any, column: Any, members: Any, numbers: Any, n_members: Any, target: Any, start: Any
) -> Any:
    return lambda words, column, members, numbers, n_members, target, start: _add_members_vector(
        words, column, members, numbers, n_members, target, start
    )


@njit(nogil=True, error_model="numpy")
def transpose_bits(words: Words, row_words: Words) -> None:
    """Write the bits row by row: bit ``r`` of ``row_words[b, n]`` is row ``n`` of bit column ``64 * b + r``.

    Blocks of 64 x 64 bits; halves, then quarters, and so on, trade places across the diagonal.
    """
    block = np.empty(64, np.uint64)
    for b in range(row_words.shape[0]):
        for w in range(words.shape[1]):
            for r in range(64):
                block[r] = words[64 * b + r, w]
            size = 32
            mask = np.uint64(0xFFFFFFFF)
            while size > 0:
                shift = np.uint64(size)
                for k in range(64):
                    if k & size == 0:
                        traded = ((block[k] >> shift) ^ block[k + size]) & mask
                        block[k + size] ^= traded
                        block[k] ^= traded << shift
                size >>= 1
                mask ^= mask << np.uint64(size)
            for i in range(64):
                row_words[b, 64 * w + i] = block[i]


@_inner
def _add_linear(
    linear: FloatArray, rows: IntArray, numbers: FloatArray, n_rows: Integer, target: FloatArray, start: Integer
) -> None:
    """Add multiples of rows of linear terms to ``target[start:]``."""
    for i in range(n_rows if linear.shape[1] > 0 else 0):
        for c in range(linear.shape[1]):
            target[start + c] += numbers[i] * linear[rows[i], c]


@_inner
def _add_rows(
    row_words: Words,
    linear: FloatArray,
    rows: IntArray,
    numbers: FloatArray,
    n_rows: Integer,
    target: FloatArray,
    start: Integer,
) -> None:
    """Add multiples of rows of the design to ``target[start:]``."""
    n_blocks = row_words.shape[0]
    for b in range(n_blocks):
        _add_members(row_words, b, rows, numbers, n_rows, target, start + 64 * b)
    _add_linear(linear, rows, numbers, n_rows, target, start + 64 * n_blocks)


@_inner
def _turn(
    y: FloatArray,
    weights: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    tail: float,
    counted: Words,
    scores: FloatArray,
    below: Words,
    above: Words,
    turned: IntArray,
    shifts: FloatArray,
    bends: FloatArray,
) -> int:
    """Find the rows that have changed sides, and return their number.

    Each of them goes to `turned`, with its weight times what its pull is more than if it had stayed on the line or
    parabola it was on (`shifts`), and times the curvature it has gained or lost (`bends`).
    """
    n_turned = 0
    for w in range(counted.shape[0]):
        new_below = _at_most(scores, lower, 64 * w) & counted[w]
        new_above = _at_most(upper, scores, 64 * w) & counted[w]
        changed = (new_below ^ below[w]) | (new_above ^ above[w])
        if changed == _ZERO:
            continue
        for i in range(64):
            bit = _ONE << np.uint64(i)
            if changed & bit == _ZERO:
                continue
            n = 64 * w + i
            old = new = y[n] - scores[n]
            bend = 0.0
            if (below[w] | above[w]) & bit != _ZERO:
                old = tail if below[w] & bit != _ZERO else -tail
                bend += weights[n]
            if (new_below | new_above) & bit != _ZERO:
                new = tail if new_below & bit != _ZERO else -tail
                bend -= weights[n]
            turned[n_turned] = n
            shifts[n_turned] = weights[n] * (new - old)
            bends[n_turned] = bend
            n_turned += 1
        below[w] = new_below
        above[w] = new_above
    return n_turned


@_inner
def _correct_rows(
    row_words: Words,
    linear: FloatArray,
    turned: IntArray,
    bends: FloatArray,
    n_turned: Integer,
    owners: IntArray,
    n_slots: Integer,
    gram: FloatArray,
    packed_words: Words,
    packed_linear: FloatArray,
    chosen: IntArray,
    numbers: FloatArray,
) -> None:
    """Put the kept rows of the curved Gram right after rows have turned; the last four arrays are memory.

    The turned rows are copied side by side first, some at a time, since every kept row asks for them.
    """
    n_columns = 64 * row_words.shape[0]
    stride = n_columns + linear.shape[1]
    for begin in range(0, n_turned, _PACK_ROWS):
        n_packed = min(_PACK_ROWS, n_turned - begin)
        for b in range(row_words.shape[0]):
            for t in range(n_packed):
                packed_words[b, t] = row_words[b, turned[begin + t]]
        for t in range(n_packed):
            for c in range(linear.shape[1]):
                packed_linear[t, c] = linear[turned[begin + t], c]
        for slot in range(n_slots):
            owner = owners[slot]
            n_chosen = np.int64(0)
            for t in range(n_packed):
                if owner >= n_columns:
                    chosen[n_chosen] = t
                    numbers[n_chosen] = bends[begin + t] * packed_linear[t, owner - n_columns]
                    n_chosen += 1
                elif (packed_words[owner >> 6, t] >> np.uint64(owner & 63)) & _ONE != _ZERO:
                    chosen[n_chosen] = t
                    numbers[n_chosen] = bends[begin + t]
                    n_chosen += 1
            if n_chosen > 0:
                _add_rows(packed_words, packed_linear, chosen, numbers, n_chosen, gram, slot * stride)


@_inner
def _settle(
    row_words: Words,
    linear: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    tail: float,
    counted: Words,
    scores: FloatArray,
    below: Words,
    above: Words,
    pull: FloatArray,
    owners: IntArray,
    slots: IntArray,
    n_slots: Integer,
    gram: FloatArray,
    ones: int,
    most: float,
    turned: IntArray,
    shifts: FloatArray,
    bends: FloatArray,
    packed_words: Words,
    packed_linear: FloatArray,
    chosen: IntArray,
) -> Integer:
    """Let rows turn after the scores have changed: correct the pull of all terms and the kept rows of the curved Gram.

    Kept rows other than the intercept's are forgotten when more than `most` of them would have to be corrected, one for
    every turned row and rule that holds on it. Returns how many are left.

    The pull comes here as if each row had stayed on the line or parabola it was on, and the turned rows put it right:
    that is the correct form of the last five lines of the paper's appendix, one sum over these rows with their
    new scores. (As printed, with the column of the largest gradient where each row's score belongs, the gradient comes
    out wrong by up to 58 times itself.)
    """
    stride = pull.shape[0]
    n_turned = _turn(y, weights, lower, upper, tail, counted, scores, below, above, turned, shifts, bends)
    if n_turned == 0:
        return n_slots
    _add_rows(row_words, linear, turned, shifts, n_turned, pull, np.int64(0))
    concerned = 0.0  # kept rows that a turned row is part of, times the curvature of all rows
    for slot in range(1, n_slots):
        concerned += gram[ones] if owners[slot] >= 64 * row_words.shape[0] else gram[slot * stride + ones]
    if n_turned * concerned > most * gram[ones]:
        for slot in range(1, n_slots):
            slots[owners[slot]] = -1
        n_slots = np.int64(1)
    _correct_rows(
        row_words, linear, turned, bends, n_turned, owners, n_slots, gram, packed_words, packed_linear, chosen, shifts
    )
    return n_slots


@_inner
def _make_rows(
    words: Words,
    row_words: Words,
    linear: FloatArray,
    weights: FloatArray,
    equal: bool,
    counted: Words,
    below: Words,
    above: Words,
    owners: IntArray,
    first: Integer,
    last: Integer,
    gram: FloatArray,
    masks: Words,
    counts: IntArray,
    chosen: IntArray,
    numbers: FloatArray,
) -> None:
    """Make the rows of the curved Gram in slots ``first .. last - 1``, of the terms that own them.

    The last four arrays are memory.
    """
    n_columns, n_words = words.shape
    stride = n_columns + linear.shape[1]
    for begin in range(first, last if equal else first, _SIDE):  # rules with rules: counting is the fastest way
        for i in range(_SIDE):
            owner = owners[min(begin + i, last - 1)]
            for w in range(n_words):
                masks[i, w] = words[owner, w] & ~(below[w] | above[w]) if owner < n_columns else _ZERO
        for k in range(0, n_columns, _SIDE):
            _count_pairs(masks, 0, words, k, 0, n_words, counts, k)
        for i in range(min(_SIDE, last - begin)):
            for k in range(n_columns):
                gram[(begin + i) * stride + k] = counts[i, k]
    for slot in range(first, last):
        owner = owners[slot]
        by_counts = equal and owner < n_columns
        if by_counts and linear.shape[1] == 0:
            continue
        n_chosen = np.int64(0)
        for n in range(weights.shape[0]):
            bit = _ONE << np.uint64(n & 63)
            if counted[n >> 6] & ~(below[n >> 6] | above[n >> 6]) & bit == _ZERO:
                continue
            if owner >= n_columns:
                chosen[n_chosen] = n
                numbers[n_chosen] = weights[n] * linear[n, owner - n_columns]
                n_chosen += 1
            elif words[owner, n >> 6] & bit != _ZERO:
                chosen[n_chosen] = n
                numbers[n_chosen] = weights[n]
                n_chosen += 1
        for k in range(n_columns if by_counts else 0, stride):
            gram[slot * stride + k] = 0.0
        if by_counts:
            _add_linear(linear, chosen, numbers, n_chosen, gram, slot * stride + n_columns)
        else:
            _add_rows(row_words, linear, chosen, numbers, n_chosen, gram, slot * stride)


@_inner
def _pull_rows(
    y: FloatArray,
    weights: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    tail: float,
    scores: FloatArray,
    chosen: IntArray,
    numbers: FloatArray,
) -> tuple[int, float]:
    """List the rows that pull, with weight times pull; return how many these are, and the sum."""
    n_chosen = 0
    total = 0.0
    for n in range(y.shape[0]):
        pull = y[n] - scores[n]
        if scores[n] <= lower[n]:
            pull = tail
        elif scores[n] >= upper[n]:
            pull = -tail
        pull *= weights[n]
        if pull != 0.0:
            chosen[n_chosen] = n
            numbers[n_chosen] = pull
            n_chosen += 1
            total += pull
    return n_chosen, total


@_inner
def _move_scores(
    column_words: Words,
    n_columns: Integer,
    linear: FloatArray,
    members: IntArray,
    moves: FloatArray,
    n_members: Integer,
    scores: FloatArray,
) -> None:
    """Add the moves of some terms, in ascending order, to the scores of their rows."""
    n_bits = n_members
    while n_bits > 0 and members[n_bits - 1] >= n_columns:
        n_bits -= 1
    for w in range(column_words.shape[0]):
        _add_members(column_words, w, members, moves, n_bits, scores, 64 * w)
    for i in range(n_bits, n_members):
        for n in range(scores.shape[0]):
            scores[n] += moves[i] * linear[n, members[i] - n_columns]


@_inner
def _largest(values: FloatArray, left_out: Integer) -> float:
    """Largest absolute value, one element aside."""
    largest = 0.0
    for k in range(values.shape[0]):
        if k != left_out:
            largest = max(largest, abs(values[k]))
    return largest


@_inner
def _choose(
    pull: FloatArray,
    left_out: Integer,
    smallest: float,
    step: float,
    coef: FloatArray,
    members: IntArray,
    moves: FloatArray,
) -> int:
    """Move the coefficients whose pull is at least `smallest`, and return how many those are.

    The paper's outline prints the cases the other way round, and compares gradients instead of their sizes.
    """
    n_members = 0
    for k in range(pull.shape[0]):
        size = abs(pull[k])
        if size >= smallest and size > 0.0 and k != left_out:
            members[n_members] = k
            moves[n_members] = step * pull[k]
            coef[k] += moves[n_members]
            n_members += 1
    return n_members


@_inner
def _risk(
    y: FloatArray, weights: FloatArray, lower: FloatArray, upper: FloatArray, tail: float, scores: FloatArray
) -> tuple[float, float]:
    """Weighted sum of the losses, and of the squared errors."""
    risk = 0.0
    squares = 0.0
    for n in range(y.shape[0]):
        inside = min(max(scores[n], lower[n]), upper[n])
        error = y[n] - inside
        risk += weights[n] * (error * error + 2.0 * tail * abs(scores[n] - inside))
        squares += weights[n] * (y[n] - scores[n]) ** 2
    return risk, squares


@njit(nogil=True, error_model="numpy")
def follow_rows(
    words: Words,
    column_words: Words,
    row_words: Words,
    linear: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    equal: bool,
    counted: Words,
    lower: FloatArray,
    upper: FloatArray,
    tail: float,
    ones: int,
    prices: FloatArray,
    done: int,
    points: IntArray,
    threshold: float,
    step: float,
    refit: bool,
    noise: float,
    coef: FloatArray,
    pull: FloatArray,
    scores: FloatArray,
    below: Words,
    above: Words,
    gram: FloatArray,
    rows: FloatArray,
    owners: IntArray,
    slots: IntArray,
    members: IntArray,
    moves: FloatArray,
    turned: IntArray,
    shifts: FloatArray,
    bends: FloatArray,
    packed_words: Words,
    packed_linear: FloatArray,
    chosen: IntArray,
    numbers: FloatArray,
    masks: Words,
    counts: IntArray,
    coefs: FloatArray,
    largests: FloatArray,
    risks: FloatArray,
    squares: FloatArray,
    iterations: IntArray,
) -> None:
    """Fill the last five arrays at the given numbers of steps, from `coef`, which `done` steps led to.

    Parameters
    ----------
    words : ndarray of shape (n_columns, n_words)
        Bit columns, a multiple of 64 of them, without the rows that do not count.
    column_words : ndarray of shape (n_words, at least n_columns)
        The same words, side by side for one word of rows.
    row_words : ndarray of shape (n_columns / 64, at least n_rows)
        The same bits, row by row: side by side for 64 rules.
    linear : ndarray of shape (n_rows, n_linear)
    equal : bool
        Whether all weights are 0 or 1.
    counted : ndarray of shape (n_words,)
    ones : int
        The column of the intercept.
    prices : ndarray of shape (3,)
        Those of `Prices`.
    points : ndarray of shape (n_points,)
    noise : float
        A pull of at most this counts as none.
    pull : ndarray of shape (n_columns + n_linear,)
        Memory for N/2 times the negative gradient: the sum over the rows of weight, pull and term.
    below, above : ndarray of shape (n_words,)
        Zeros; memory for the rows at or below `lower` and at or above `upper`.
    gram : ndarray of shape (n_slots * (n_columns + n_linear),)
        Memory for the rows of the curved Gram that are kept; slot 0 is the intercept's.
    rows : ndarray of shape (n_slots, n_columns + n_linear)
        The same memory: the compiler makes vectors of plain loops over a row only.
    owners : ndarray of shape (n_slots,)
        Memory for the terms they belong to.
    slots : ndarray of shape (n_columns + n_linear,)
        Minus ones; memory for the slot of each term.

    Notes
    -----
    Rows of the curved Gram are made once the passes over all bit columns that they would have spared have cost as much,
    and forgotten when it costs more to correct them than to make those of a step anew: so neither way can cost much
    more than the other would have.
    """
    n_columns, n_words = words.shape
    stride = pull.shape[0]
    total = 0.0
    for n in range(weights.shape[0]):
        total += weights[n]
    mean_weight = total / weights.shape[0]
    none: Integer = np.int64(0)  # a literal would compile all that it is passed to twice
    one: Integer = np.int64(1)
    count_cost = prices[0] * n_columns * n_words
    add_cost = prices[1] * row_words.shape[0]
    full_cost = add_cost * y.shape[0]
    scale_cost = prices[2] * stride
    owners[0] = ones
    slots[ones] = 0
    n_slots = none
    n_members = none
    spared = 0.0
    largest = 0.0
    keep = False
    refresh = True
    for point in range(points.shape[0]):
        before = done
        while True:
            if refresh:
                n_members = none
                for k in range(stride):
                    if coef[k] != 0.0:
                        members[n_members] = k
                        moves[n_members] = coef[k]
                        n_members += 1
                for n in range(scores.shape[0]):
                    scores[n] = 0.0
                _move_scores(column_words, n_columns, linear, members, moves, n_members, scores)
                n_slots = _settle(
                    row_words,
                    linear,
                    y,
                    weights,
                    lower,
                    upper,
                    tail,
                    counted,
                    scores,
                    below,
                    above,
                    pull,
                    owners,
                    slots,
                    n_slots,
                    gram,
                    ones,
                    1e300,
                    turned,
                    shifts,
                    bends,
                    packed_words,
                    packed_linear,
                    chosen,
                )
                if n_slots == 0 or not equal or linear.shape[1] > 0:  # none are kept, or they are no exact counts
                    for slot in range(1, n_slots):
                        slots[owners[slot]] = -1
                    n_slots = one
                    _make_rows(
                        words,
                        row_words,
                        linear,
                        weights,
                        equal,
                        counted,
                        below,
                        above,
                        owners,
                        none,
                        one,
                        gram,
                        masks,
                        counts,
                        chosen,
                        numbers,
                    )
            if refresh or not keep:
                n_chosen, _ = _pull_rows(y, weights, lower, upper, tail, scores, chosen, numbers)
                for k in range(stride):
                    pull[k] = 0.0
                _add_rows(row_words, linear, chosen, numbers, n_chosen, pull, none)
            fresh = refresh
            refresh = False
            largest = _largest(pull, ones)
            if largest <= 1e3 * noise and not fresh:  # so small that the drift may show
                refresh = True
                continue
            if done >= points[point] or largest <= noise:
                break

            n_members = _choose(pull, ones, threshold * (1.0 - _TIE) * largest, step, coef, members, moves)
            n_kept = n_slots
            member_cost = 0.0
            make_cost = 0.0
            n_missing = 0
            for i in range(n_members):
                cost = count_cost
                if members[i] >= n_columns:
                    cost = full_cost
                elif not equal:
                    cost = add_cost * rows[0, members[i]] / mean_weight
                member_cost += cost
                if slots[members[i]] < 0:
                    make_cost += cost
                    n_missing += 1
            gain = full_cost - scale_cost * n_members
            keep = gain > 0.0 and make_cost <= spared + gain
            if keep:  # the smooth part of the change, with the curvature from before the step
                if n_missing > 0:
                    spared = max(0.0, spared + gain - make_cost)
                    for i in range(n_members):
                        if slots[members[i]] < 0:
                            owners[n_slots] = members[i]
                            slots[members[i]] = n_slots
                            n_slots += 1
                    _make_rows(
                        words,
                        row_words,
                        linear,
                        weights,
                        equal,
                        counted,
                        below,
                        above,
                        owners,
                        n_kept,
                        n_slots,
                        gram,
                        masks,
                        counts,
                        chosen,
                        numbers,
                    )
                for i in range(n_members):
                    slot = slots[members[i]]
                    for k in range(stride):
                        pull[k] -= moves[i] * rows[slot, k]
            else:
                spared += max(gain, 0.0)
            most = min(full_cost, member_cost) / add_cost
            for phase in range(2 if refit else 1):  # the terms that step, then the intercept
                if phase == 0:
                    _move_scores(column_words, n_columns, linear, members, moves, n_members, scores)
                else:
                    if not keep:
                        _, pull[ones] = _pull_rows(y, weights, lower, upper, tail, scores, chosen, numbers)
                    # With the curvature of half the rows at least, the risk cannot rise: R(a0 + e) <= R - g0 e + e^2.
                    move = pull[ones] / max(gram[ones], 0.5 * total)
                    coef[ones] += move
                    for n in range(scores.shape[0]):
                        scores[n] += move
                    for k in range(stride):
                        pull[k] -= move * rows[0, k]
                n_slots = _settle(
                    row_words,
                    linear,
                    y,
                    weights,
                    lower,
                    upper,
                    tail,
                    counted,
                    scores,
                    below,
                    above,
                    pull,
                    owners,
                    slots,
                    n_slots,
                    gram,
                    ones,
                    most,
                    turned,
                    shifts,
                    bends,
                    packed_words,
                    packed_linear,
                    chosen,
                )
            done += 1
            refresh = done % _REFRESH == 0

        iterations[point] = done - before
        largests[point] = largest
        risks[point], squares[point] = _risk(y, weights, lower, upper, tail, scores)
        for k in range(stride):
            coefs[point, k] = coef[k]


@njit(nogil=True, error_model="numpy")
def follow_gram(
    gram: FloatArray,
    x_y: FloatArray,
    y_y: float,
    done: int,
    points: IntArray,
    threshold: float,
    step: float,
    noise: float,
    coef: FloatArray,
    grad: FloatArray,
    members: IntArray,
    moves: FloatArray,
    coefs: FloatArray,
    largests: FloatArray,
    risks: FloatArray,
    iterations: IntArray,
) -> None:
    """Fill the last four arrays for the squared error, from `coef`, which `done` steps led to; the rest is memory.

    `grad` holds half the negative gradient, ``x_y - gram @ coef``.
    """
    n_terms = x_y.shape[0]
    stale = True
    largest = 0.0
    for point in range(points.shape[0]):
        before = done
        while True:
            if stale or (largest <= 1e3 * noise and done % _REFRESH != 0):
                for k in range(n_terms):
                    grad[k] = x_y[k]
                for j in range(n_terms):
                    if coef[j] != 0.0:
                        for k in range(n_terms):
                            grad[k] -= coef[j] * gram[j, k]
            largest = _largest(grad, np.int64(-1))
            stale = False
            if done >= points[point] or largest <= noise:
                break
            n_members = _choose(
                grad, np.int64(-1), threshold * (1.0 - _TIE) * largest, 2.0 * step, coef, members, moves
            )
            for i in range(n_members):
                for k in range(n_terms):
                    grad[k] -= moves[i] * gram[members[i], k]
            done += 1
            stale = done % _REFRESH == 0
        iterations[point] = done - before
        largests[point] = largest
        risk = y_y
        for k in range(n_terms):
            risk -= coef[k] * (x_y[k] + grad[k])
            coefs[point, k] = coef[k]
        risks[point] = max(risk, 0.0)


def _empty(size: int) -> FloatArray:
    """Return memory for doubles that begins at a cache line, so that no vector of eight lies across two."""
    memory = np.empty(size + 7)
    first = -(memory.ctypes.data // 8) % 8
    return memory[first : first + size]


def rows_path(
    words: Words,
    counted: Words,
    linear: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    tail: float,
    coef: FloatArray,
    intercept: float,
    done: int,
    points: IntArray,
    threshold: float,
    step: float,
    refit: bool,
    noise: float,
    prices: Prices = Prices(),  # noqa: B008
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, IntArray]:
    """Follow the thresholded descent over rows; nothing passed in is changed.

    Parameters
    ----------
    words : ndarray of shape (n_rules, n_words), uint64
    counted : ndarray of shape (n_words,), uint64
        Bits of the rows that have weight.
    linear : ndarray of shape (n_rows, n_linear)
    y, weights : ndarray of shape (n_rows,)
    lower, upper : ndarray of shape (n_rows,)
        Scores between which the loss of each row is curved.
    tail : float
        Pull beyond.
    coef : ndarray of shape (n_terms,)
        Where to begin.
    intercept : float
    done : int
        Steps that led there.
    points : ndarray of shape (n_points,), int64
        Increasing numbers of steps, counted from the model without terms.
    threshold, step : float
    refit : bool
        Whether the intercept follows.
    noise : float
        Largest absolute gradient of the mean loss that counts as none.
    prices : Prices
        What operations cost; it decides between ways to the same result.

    Returns
    -------
    coefs : ndarray of shape (n_points, n_terms)
    intercepts : ndarray of shape (n_points,)
    gradients : ndarray of shape (n_points,)
        Largest absolute gradient of the mean loss over the terms.
    risks : ndarray of shape (n_points,)
        Mean loss.
    squares : ndarray of shape (n_points,)
        Weighted sum of squared errors.
    iterations : ndarray of shape (n_points,)
    """
    n_rules, n_linear = len(words), linear.shape[1]
    here = np.flatnonzero(counted)  # words in which no row counts are left out
    places = (64 * here[:, None] + np.arange(64)).ravel()
    n_words = _LANES * max(1, -(-len(here) // _LANES))
    n_columns = 64 * (n_rules // 64 + 1)
    stride = n_columns + n_linear

    def of_rows(values: FloatArray) -> FloatArray:
        """Rows of the words that stay, and zeros."""
        kept = _empty(64 * n_words * values[0].size).reshape(64 * n_words, *values.shape[1:])
        kept[len(places) :] = 0.0
        kept[: len(places)] = values[places]
        return kept

    columns = np.zeros((n_columns, n_words), dtype=np.uint64)
    columns[:n_rules, : len(here)] = words[:, here] & counted[here]
    columns[n_rules, : len(here)] = counted[here]
    # Lines of an odd number of cache lines: lines a power of two apart would fight for the same part of a cache.
    column_words = np.zeros((n_words, n_columns + _LANES), dtype=np.uint64)
    column_words[:, :n_columns] = columns.T
    row_words = np.zeros((n_columns // 64, 64 * n_words + _LANES), dtype=np.uint64)
    transpose_bits(columns, row_words)
    # The path depends on the ratios of the weights only, and weights of 1 make the counts exact.
    unit = float(weights.max(initial=0.0))
    row_weights = of_rows(weights / unit)
    total = float(row_weights.sum())
    # The system commits only pages that are touched, so this costs as many rows as there are terms that step.
    gram = _empty((n_rules + n_linear + 1) * stride)
    gram[:stride] = 0.0
    pull = _empty(stride)
    pull[:] = 0.0
    current = np.zeros(stride)
    current[:n_rules], current[n_rules], current[n_columns:] = coef[:n_rules], intercept, coef[n_rules:]
    n_points = len(points)
    coefs = np.empty((n_points, stride))
    largests, risks, squares = np.empty(n_points), np.empty(n_points), np.empty(n_points)
    iterations = np.empty(n_points, dtype=np.int64)
    follow_rows(
        columns,
        column_words,
        row_words,
        of_rows(linear),
        of_rows(y),
        row_weights,
        bool(((row_weights == 0.0) | (row_weights == 1.0)).all()),
        columns[n_rules].copy(),
        of_rows(lower),
        of_rows(upper),
        float(tail),
        n_rules,
        np.array(prices),
        done,
        points,
        float(threshold),
        2.0 / total * step,
        refit,
        0.5 * total * noise,
        coef=current,
        pull=pull,
        scores=_empty(64 * n_words),
        below=np.zeros(n_words, dtype=np.uint64),
        above=np.zeros(n_words, dtype=np.uint64),
        gram=gram,
        rows=gram.reshape(-1, stride),
        owners=np.empty(n_rules + n_linear + 1, dtype=np.int64),
        slots=np.full(stride, -1, dtype=np.int64),
        members=np.empty(stride, dtype=np.int64),
        moves=np.empty(stride),
        turned=np.empty(64 * n_words, dtype=np.int64),
        shifts=np.empty(64 * n_words),
        bends=np.empty(64 * n_words),
        packed_words=np.empty((n_columns // 64, _PACK_ROWS + _LANES), dtype=np.uint64),
        packed_linear=np.empty((_PACK_ROWS, n_linear)),
        chosen=np.empty(64 * n_words, dtype=np.int64),
        numbers=np.empty(64 * n_words),
        masks=np.empty((_SIDE, n_words), dtype=np.uint64),
        counts=np.empty((_SIDE, n_columns), dtype=np.int64),
        coefs=coefs,
        largests=largests,
        risks=risks,
        squares=squares,
        iterations=iterations,
    )
    return (
        np.hstack([coefs[:, :n_rules], coefs[:, n_columns:]]),
        coefs[:, n_rules].copy(),
        2.0 / total * largests,
        risks / total,
        unit * squares,
        iterations,
    )
