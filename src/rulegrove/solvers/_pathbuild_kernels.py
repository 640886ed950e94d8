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
from rulegrove.design.rows import Rows
from rulegrove.solvers._kernels import refresh

Integer = int | np.int64

_SIDE = 4  # bit columns that `_count_pairs` takes at a time, on both sides
_LANES = 8  # and words

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
    """Nanoseconds an operation takes, to choose the cheaper of two ways to results that differ by rounding only."""

    counting: float = 0.1  # the common bits of three words, counted
    adding: float = 3.0  # a number added to 64 doubles under a word as mask
    scaling: float = 0.8  # a multiple of a double from memory added to a double


class Steps(NamedTuple):
    """Which steps to take."""

    done: int  # how many led to the coefficients to begin with
    points: IntArray  # increasing numbers of steps, counted from the model without terms, at which to keep the model
    threshold: float
    step: float
    refit: bool  # whether the intercept follows
    noise: float  # largest absolute gradient of the mean loss that counts as none


class Walk(NamedTuple):
    """Where the descent stands, and the terms that step next."""

    coef: FloatArray
    pull: FloatArray  # N/2 times the negative gradient: the sum over the rows of weight, pull and term
    members: IntArray
    moves: FloatArray


class Models(NamedTuple):
    """The models at the points of a path."""

    coefs: FloatArray
    gradients: FloatArray  # largest absolute gradient of the mean loss over the terms
    risks: FloatArray  # mean loss
    squares: FloatArray  # weighted sum of squared errors
    iterations: IntArray


# The bundles below are small on purpose: a call counts a reference to each array of a bundle, needed or not.


class Design(NamedTuple):
    """The terms, in the layout of the loops, without the rows that do not count; nothing here changes."""

    words: Words  # (n_columns, n_words): bit columns
    column_words: Words  # (n_words, at least n_columns): the same words, side by side for one word of rows
    row_words: Words  # (n_columns / 64, at least n_rows): the same bits, side by side for 64 columns of a row
    linear: FloatArray  # (n_rows, n_linear)
    ones: int  # the column of the intercept
    equal: bool  # whether all weights are 0 or 1


class RowLoss(NamedTuple):
    """Targets, weights and loss of the rows, as told at the top; nothing here changes."""

    y: FloatArray
    weights: FloatArray
    lower: FloatArray
    upper: FloatArray
    tail: float


class Sides(NamedTuple):
    """Scores of the rows and where these put them."""

    scores: FloatArray
    counted: Words  # bits of the rows that have weight
    below: Words  # of those at or below `lower`
    above: Words  # and of those at or above `upper`


class Kept(NamedTuple):
    """Rows of the curved Gram that are kept; slot 0 is the intercept's."""

    gram: FloatArray  # one slot after the other
    rows: FloatArray  # the same memory, a row a slot: the compiler makes vectors of plain loops over a row only
    owners: IntArray  # the term of each slot
    slots: IntArray  # the slot of each term, or -1


class Lists(NamedTuple):
    """Memory for lists of rows."""

    turned: IntArray
    bends: FloatArray
    chosen: IntArray
    numbers: FloatArray


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
def _turn(loss: RowLoss, sides: Sides, lists: Lists) -> int:
    """Find the rows that have changed sides, and return their number.

    Each of them goes to `turned`, with its weight times what its pull is more than if it had stayed on the line or
    parabola it was on (`numbers`), and times the curvature it has gained or lost (`bends`).
    """
    scores, counted, below, above = sides
    n_turned = 0
    for w in range(counted.shape[0]):
        new_below = _at_most(scores, loss.lower, 64 * w) & counted[w]
        new_above = _at_most(loss.upper, scores, 64 * w) & counted[w]
        changed = (new_below ^ below[w]) | (new_above ^ above[w])
        n = 64 * w - 1
        while changed != _ZERO:
            n += 1
            bit = _ONE << np.uint64(n & 63)
            if changed & bit == _ZERO:
                continue
            changed ^= bit
            weight = loss.weights[n]
            old = new = loss.y[n] - scores[n]
            bend = 0.0
            if (below[w] | above[w]) & bit != _ZERO:
                old = loss.tail if below[w] & bit != _ZERO else -loss.tail
                bend += weight
            if (new_below | new_above) & bit != _ZERO:
                new = loss.tail if new_below & bit != _ZERO else -loss.tail
                bend -= weight
            lists.turned[n_turned] = n
            lists.numbers[n_turned] = weight * (new - old)
            lists.bends[n_turned] = bend
            n_turned += 1
        below[w] = new_below
        above[w] = new_above
    return n_turned


@_inner
def _bend_rows(
    design: Design, kept: Kept, lists: Lists, first: Integer, last: Integer, n_turned: Integer, n_counted: Integer
) -> None:
    """Add the `bends` of the turned rows to the kept rows in slots ``first .. last - 1``.

    What the first `n_counted` columns add to each other is there already.
    """
    row_words, linear = design.row_words, design.linear
    turned, bends, chosen, numbers = lists
    n_columns = 64 * row_words.shape[0]
    stride = n_columns + linear.shape[1]
    for slot in range(first, last):
        owner = kept.owners[slot]
        n_chosen = np.int64(0)
        for t in range(n_turned):
            n = turned[t]
            if owner >= n_columns:
                chosen[n_chosen] = n
                numbers[n_chosen] = bends[t] * linear[n, owner - n_columns]
                n_chosen += 1
            elif (row_words[owner >> 6, n] >> np.uint64(owner & 63)) & _ONE != _ZERO:
                chosen[n_chosen] = n
                numbers[n_chosen] = bends[t]
                n_chosen += 1
        if owner < n_counted:
            _add_linear(linear, chosen, numbers, n_chosen, kept.gram, slot * stride + n_columns)
        elif n_chosen > 0:
            _add_rows(row_words, linear, chosen, numbers, n_chosen, kept.gram, slot * stride)


@_inner
def _forget(owners: IntArray, slots: IntArray, n_slots: Integer) -> Integer:
    """Give up the kept rows other than the intercept's; returns how many are left."""
    for slot in range(1, n_slots):
        slots[owners[slot]] = -1
    return np.int64(1)


@_inner
def _settle(
    design: Design,
    loss: RowLoss,
    sides: Sides,
    kept: Kept,
    lists: Lists,
    pull: FloatArray,
    n_slots: Integer,
    most: float,
) -> Integer:
    """Let rows turn after the scores have changed: correct the pull of all terms and the kept rows of the curved Gram.

    Kept rows other than the intercept's are forgotten when more than `most` of them would have to be corrected, one for
    every turned row and rule that holds on it. Returns how many are left.

    The pull comes here as if each row had stayed on the line or parabola it was on, and the turned rows put it right:
    that is the correct form of the last five lines of the paper's appendix, one sum over these rows with their
    new scores. (As printed, with the column of the largest gradient where each row's score belongs, the gradient comes
    out wrong by up to 58 times itself.)
    """
    n_turned = _turn(loss, sides, lists)
    if n_turned == 0:
        return n_slots
    _add_rows(design.row_words, design.linear, lists.turned, lists.numbers, n_turned, pull, np.int64(0))
    concerned = 0.0  # kept rows that a turned row is part of, times the curvature of all rows
    for slot in range(1, n_slots):
        linear = kept.owners[slot] >= design.words.shape[0]
        concerned += kept.rows[0 if linear else slot, design.ones]
    if n_turned * concerned > most * kept.rows[0, design.ones]:
        n_slots = _forget(kept.owners, kept.slots, n_slots)
    _bend_rows(design, kept, lists, np.int64(0), n_slots, n_turned, np.int64(0))
    return n_slots


@_inner
def _make_rows(
    design: Design,
    weights: FloatArray,
    sides: Sides,
    kept: Kept,
    lists: Lists,
    masks: Words,
    counts: IntArray,
    first: Integer,
    last: Integer,
) -> None:
    """Make the rows of the curved Gram in slots ``first .. last - 1``, of the terms that own them.

    The arrays `masks` and `counts` are memory.
    """
    words, below, above, rows = design.words, sides.below, sides.above, kept.rows
    n_columns, n_words = words.shape
    n_counted = n_columns if design.equal else np.int64(0)
    for slot in range(first, last):
        for k in range(n_counted if kept.owners[slot] < n_columns else 0, rows.shape[1]):
            rows[slot, k] = 0.0
    for begin in range(first, last if n_counted > 0 else first, _SIDE):  # rules with rules: counting is the fastest way
        for i in range(_SIDE):
            owner = kept.owners[min(begin + i, last - 1)]
            for w in range(n_words):
                masks[i, w] = words[owner, w] & ~(below[w] | above[w]) if owner < n_columns else _ZERO
        for k in range(0, n_columns, _SIDE):
            _count_pairs(masks, 0, words, k, 0, n_words, counts, k)
        for i in range(min(_SIDE, last - begin)):
            for k in range(n_columns):
                rows[begin + i, k] = counts[i, k]
    if n_counted > 0 and design.linear.shape[1] == 0:
        return
    n_curved = np.int64(0)  # a row of the Gram is what it would be if all curved rows had just turned
    for n in range(weights.shape[0]):
        curved = sides.counted[n >> 6] & ~(below[n >> 6] | above[n >> 6])
        if (curved >> np.uint64(n & 63)) & _ONE != _ZERO:
            lists.turned[n_curved] = n
            lists.bends[n_curved] = weights[n]
            n_curved += 1
    _bend_rows(design, kept, lists, first, last, n_curved, n_counted)


@_inner
def _pull_rows(loss: RowLoss, scores: FloatArray, chosen: IntArray, numbers: FloatArray) -> tuple[int, float]:
    """List the rows that pull, with weight times pull; return how many these are, and the sum."""
    y, weights, lower, upper, tail = loss
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
def _choose(walk: Walk, left_out: Integer, smallest: float, step: float) -> int:
    """Move the coefficients whose pull is at least `smallest`, and return how many those are.

    The paper's outline prints the cases the other way round, and compares gradients instead of their sizes.
    """
    coef, pull, members, moves = walk
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
def _list_moves(walk: Walk) -> int:
    """Let the non-zero coefficients themselves be the moves, and return how many these are."""
    coef, _, members, moves = walk
    n_members = 0
    for k in range(coef.shape[0]):
        if coef[k] != 0.0:
            members[n_members] = k
            moves[n_members] = coef[k]
            n_members += 1
    return n_members


@_inner
def _refit(walk: Walk, scores: FloatArray, rows: FloatArray, ones: Integer, total: float) -> None:
    """Move the intercept by its pull; the first of the `rows` is its row of the curved Gram.

    With the curvature of half the rows at least, the risk cannot rise: R(a0 + e) <= R - g0 e + e^2.
    """
    pull = walk.pull
    move = pull[ones] / max(rows[0, ones], 0.5 * total)
    walk.coef[ones] += move
    for n in range(scores.shape[0]):
        scores[n] += move
    for k in range(pull.shape[0]):
        pull[k] -= move * rows[0, k]


@_inner
def _risk(loss: RowLoss, scores: FloatArray) -> tuple[float, float]:
    """Weighted sum of the losses, and of the squared errors."""
    y, weights, lower, upper, tail = loss
    risk = 0.0
    squares = 0.0
    for n in range(y.shape[0]):
        inside = min(max(scores[n], lower[n]), upper[n])
        error = y[n] - inside
        risk += weights[n] * (error * error + 2.0 * tail * abs(scores[n] - inside))
        squares += weights[n] * (y[n] - scores[n]) ** 2
    return risk, squares


@_inner
def _weigh(
    design: Design, members: IntArray, n_members: Integer, kept: Kept, mean_weight: float, prices: Prices
) -> tuple[float, float]:
    """Return what it costs to make the rows of the curved Gram of all members, and of those that are not kept."""
    n_columns, n_words = design.words.shape
    add_cost = prices.adding * design.row_words.shape[0]
    all_cost = 0.0
    make_cost = 0.0
    for i in range(n_members):
        cost = prices.counting * n_columns * n_words
        if members[i] >= n_columns:
            cost = add_cost * design.linear.shape[0]
        elif not design.equal:
            cost = add_cost * kept.rows[0, members[i]] / mean_weight
        all_cost += cost
        if kept.slots[members[i]] < 0:
            make_cost += cost
    return all_cost, make_cost


@njit(nogil=True, error_model="numpy")
def follow_rows(
    design: Design,
    loss: RowLoss,
    sides: Sides,
    kept: Kept,
    lists: Lists,
    masks: Words,
    counts: IntArray,
    steps: Steps,
    prices: Prices,
    walk: Walk,
    models: Models,
) -> None:
    """Fill the models at the points; the walk begins at its `coef`. The pull stands for the gradient in `steps`.

    Rows of the curved Gram are made once the passes over all bit columns that they would have spared have cost as much,
    and forgotten when it costs more to correct them than to make those of a step anew: so neither way can cost much
    more than the other would have.
    """
    column_words, row_words, linear, ones = design.column_words, design.row_words, design.linear, design.ones
    coef, pull, members, moves = walk
    owners, slots, scores = kept.owners, kept.slots, sides.scores
    n_columns = design.words.shape[0]
    total = 0.0
    for n in range(scores.shape[0]):
        total += loss.weights[n]
    mean_weight = total / scores.shape[0]
    add_cost = prices.adding * row_words.shape[0]
    full_cost = add_cost * scores.shape[0]
    scale_cost = prices.scaling * pull.shape[0]
    none: Integer = np.int64(0)  # a literal would compile all that it is passed to twice
    owners[0] = ones
    slots[ones] = 0
    n_slots = none
    done = steps.done
    spared = 0.0
    largest = 0.0
    keep = False
    stale = True
    for point in range(steps.points.shape[0]):
        before = done
        while True:
            if stale:  # scores and sides from the coefficients, and rows of the Gram that are no exact counts
                for n in range(scores.shape[0]):
                    scores[n] = 0.0
                _move_scores(column_words, n_columns, linear, members, moves, _list_moves(walk), scores)
                n_slots = _settle(design, loss, sides, kept, lists, pull, n_slots, 1e300)
                if n_slots == 0 or not design.equal or linear.shape[1] > 0:
                    n_slots = _forget(owners, slots, n_slots)
                    _make_rows(design, loss.weights, sides, kept, lists, masks, counts, none, n_slots)
            if stale or not keep:  # a pass over all bit columns
                n_chosen, _ = _pull_rows(loss, scores, lists.chosen, lists.numbers)
                for k in range(pull.shape[0]):
                    pull[k] = 0.0
                _add_rows(row_words, linear, lists.chosen, lists.numbers, n_chosen, pull, none)
            fresh = stale
            largest = _largest(pull, ones)
            stale = largest <= 1e3 * steps.noise and not fresh  # so small that the drift may show
            if stale:
                continue
            if done >= steps.points[point] or largest <= steps.noise:
                break

            n_members = _choose(walk, ones, steps.threshold * (1.0 - _TIE) * largest, steps.step)
            all_cost, make_cost = _weigh(design, members, n_members, kept, mean_weight, prices)
            gain = full_cost - scale_cost * n_members
            keep = gain > 0.0 and make_cost <= spared + gain
            if keep:  # the smooth part of the change, with the curvature from before the step
                n_kept = n_slots
                for i in range(n_members):
                    if slots[members[i]] < 0:
                        owners[n_slots] = members[i]
                        slots[members[i]] = n_slots
                        n_slots += 1
                if n_slots > n_kept:
                    spared = max(0.0, spared + gain - make_cost)
                    _make_rows(design, loss.weights, sides, kept, lists, masks, counts, n_kept, n_slots)
                for i in range(n_members):
                    slot = slots[members[i]]
                    for k in range(pull.shape[0]):
                        pull[k] -= moves[i] * kept.rows[slot, k]
            else:
                spared += max(gain, 0.0)
            for phase in range(2 if steps.refit else 1):  # the terms that step, then the intercept
                if phase == 0:
                    _move_scores(column_words, n_columns, linear, members, moves, n_members, scores)
                else:
                    if not keep:
                        _, pull[ones] = _pull_rows(loss, scores, lists.chosen, lists.numbers)
                    _refit(walk, scores, kept.rows, ones, total)
                most = min(full_cost, all_cost) / add_cost
                n_slots = _settle(design, loss, sides, kept, lists, pull, n_slots, most)
            done += 1
            stale = done % _REFRESH == 0
        models.iterations[point] = done - before
        models.gradients[point] = largest
        models.risks[point], models.squares[point] = _risk(loss, scores)
        for k in range(pull.shape[0]):
            models.coefs[point, k] = coef[k]


@njit(nogil=True, error_model="numpy")
def follow_gram(gram: FloatArray, x_y: FloatArray, y_y: float, steps: Steps, walk: Walk, models: Models) -> None:
    """Fill the models of the squared error at the points; the walk begins at its `coef`.

    Its pull is half the negative gradient, ``x_y - gram @ coef``, which stands for the gradient in `steps`.
    """
    coef, pull = walk.coef, walk.pull
    n_terms = x_y.shape[0]
    done = steps.done
    stale = True
    largest = 0.0
    for point in range(steps.points.shape[0]):
        before = done
        while True:
            if stale or (largest <= 1e3 * steps.noise and done % _REFRESH != 0):
                refresh(gram, x_y, coef, pull, n_terms)
            largest = _largest(pull, np.int64(-1))
            stale = False
            if done >= steps.points[point] or largest <= steps.noise:
                break
            n_members = _choose(walk, np.int64(-1), steps.threshold * (1.0 - _TIE) * largest, steps.step)
            for i in range(n_members):
                for k in range(n_terms):
                    pull[k] -= walk.moves[i] * gram[walk.members[i], k]
            done += 1
            stale = done % _REFRESH == 0
        models.iterations[point] = done - before
        models.gradients[point] = largest
        risk = y_y
        for k in range(n_terms):
            risk -= coef[k] * (x_y[k] + pull[k])
            models.coefs[point, k] = coef[k]
        models.risks[point] = models.squares[point] = max(risk, 0.0)


def _empty(size: int) -> FloatArray:
    """Return memory for doubles that begins at a cache line, so that no vector of eight lies across two."""
    memory = np.empty(size + 7)
    first = -(memory.ctypes.data // 8) % 8
    return memory[first : first + size]


def _make_models(n_points: int, n_terms: int) -> Models:
    """Return memory for models."""
    gradients, risks, squares = np.empty((3, n_points))
    return Models(np.empty((n_points, n_terms)), gradients, risks, squares, np.empty(n_points, dtype=np.int64))


def _lay_out(
    rows: Rows, lower: FloatArray, upper: FloatArray, tail: float
) -> tuple[Design, RowLoss, Sides, Kept, Lists]:
    """Return rows in the layout of the loops, the largest weight as 1, and memory with no row of the Gram kept."""
    n_rules, n_linear = rows.bits.n_rules, rows.linear.shape[1]
    here = np.flatnonzero(rows.counted)  # words in which no row counts are left out
    places = (64 * here[:, None] + np.arange(64)).ravel()
    n_words = _LANES * max(1, -(-len(here) // _LANES))
    n_rows, n_columns = 64 * n_words, 64 * (n_rules // 64 + 1)

    def of_rows(values: FloatArray) -> FloatArray:
        """Rows of the words that stay, and zeros."""
        kept = _empty(n_rows * values[0].size).reshape(n_rows, *values.shape[1:])
        kept[len(places) :] = 0.0
        kept[: len(places)] = values[places]
        return kept

    words = np.zeros((n_columns, n_words), dtype=np.uint64)
    words[:n_rules, : len(here)] = rows.bits.words[:, here] & rows.counted[here]
    words[n_rules, : len(here)] = rows.counted[here]
    # Lines of an odd number of cache lines: lines a power of two apart would fight for the same part of a cache.
    column_words = np.zeros((n_words, n_columns + _LANES), dtype=np.uint64)
    column_words[:, :n_columns] = words.T
    row_words = np.zeros((n_columns // 64, n_rows + _LANES), dtype=np.uint64)
    transpose_bits(words, row_words)
    # The path depends on the ratios of the weights only, and weights of 1 make the counts exact.
    weights = of_rows(rows.weights / rows.weights.max(initial=0.0))
    equal = bool(((weights == 0.0) | (weights == 1.0)).all())
    # The system commits only pages that are touched, so this costs as many rows as there are terms that step.
    n_slots, stride = n_rules + n_linear + 1, n_columns + n_linear
    gram = _empty(n_slots * stride)
    gram[:stride] = 0.0
    owners, slots = np.empty(n_slots, dtype=np.int64), np.full(stride, -1, dtype=np.int64)
    return (
        Design(words, column_words, row_words, of_rows(rows.linear), n_rules, equal),
        RowLoss(of_rows(rows.y), weights, of_rows(lower), of_rows(upper), float(tail)),
        Sides(_empty(n_rows), words[n_rules].copy(), *np.zeros((2, n_words), dtype=np.uint64)),
        Kept(gram, gram.reshape(-1, stride), owners, slots),
        Lists(np.empty(n_rows, dtype=np.int64), np.empty(n_rows), np.empty(n_rows, dtype=np.int64), np.empty(n_rows)),
    )


def rows_path(
    rows: Rows,
    lower: FloatArray,
    upper: FloatArray,
    tail: float,
    steps: Steps,
    coef: FloatArray,
    intercept: float,
    prices: Prices = Prices(),  # noqa: B008
) -> tuple[Models, FloatArray]:
    """Follow the thresholded descent over rows; nothing passed in is changed.

    Parameters
    ----------
    rows : Rows
    lower, upper : ndarray of shape (n_rows,)
        Scores between which the loss of each row is curved.
    tail : float
        Pull beyond.
    steps : Steps
    coef : ndarray of shape (n_terms,)
        Where to begin.
    intercept : float
    prices : Prices
        What operations cost; it decides between ways to the same result.

    Returns
    -------
    models : Models
    intercepts : ndarray of shape (n_points,)
    """
    design, loss, sides, kept, lists = _lay_out(rows, lower, upper, tail)
    n_rules, (n_columns, n_words) = rows.bits.n_rules, design.words.shape
    stride = kept.rows.shape[1]
    total = float(loss.weights.sum())
    current, pull = np.zeros(stride), _empty(stride)
    current[:n_rules], current[n_rules], current[n_columns:] = coef[:n_rules], intercept, coef[n_rules:]
    pull[:] = 0.0
    models = _make_models(len(steps.points), stride)
    follow_rows(
        design,
        loss,
        sides,
        kept,
        lists,
        np.empty((_SIDE, n_words), dtype=np.uint64),
        np.empty((_SIDE, n_columns), dtype=np.int64),
        steps._replace(step=2.0 / total * steps.step, noise=0.5 * total * steps.noise),
        prices,
        Walk(current, pull, np.empty(stride, dtype=np.int64), np.empty(stride)),
        models,
    )
    coefs, gradients, risks, squares, iterations = models
    own, unit = np.hstack([coefs[:, :n_rules], coefs[:, n_columns:]]), float(rows.weights.max(initial=0.0))
    return Models(own, 2.0 / total * gradients, risks / total, unit * squares, iterations), coefs[:, n_rules].copy()


def gram_path(gram: FloatArray, x_y: FloatArray, y_y: float, steps: Steps, coef: FloatArray) -> Models:
    """Follow the thresholded descent of the squared error from the Gram; nothing passed in is changed.

    The intercept that follows is no matter of this: `gram` and `x_y` are centred or not. The squared errors have the
    total weight 1.
    """
    n_terms = len(x_y)
    models = _make_models(len(steps.points), n_terms)
    walk = Walk(coef.copy(), np.empty(n_terms), np.empty(n_terms, dtype=np.int64), np.empty(n_terms))
    follow_gram(gram, x_y, y_y, steps._replace(step=2.0 * steps.step, noise=0.5 * steps.noise), walk, models)
    return models._replace(gradients=2.0 * models.gradients)
