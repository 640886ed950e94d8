"""Compiled loops over bit columns: evaluate rules, count pairs, sum rows, add scores.

A bit column packs 64 rows a word: bit ``i`` of word ``w`` is row ``64 * w + i``. The innermost step of each kernel is
written with explicit vectors, because the compiler does not find it by itself or stops at half the register width. Each
such step is an overload of a plain function, and that function is what runs when compilation is off. LLVM splits the
vectors for processors with narrower registers, so one source is right everywhere.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from rulegrove._typing import BoolArray, FloatArray, Int32Array, IntArray, Words

RULE_TILE = 64  # rules a side of a tile of the Gram matrix; a multiple of _SIDE
_SIDE = 4  # pairs are counted _SIDE x _SIDE rules at a time: 16 sums of the 32 vector registers
_LANES = 8  # words a vector
_COUNT_WORDS = 512  # words a pass: the 2 * _SIDE bit columns in flight fill 32 KB, a first-level cache
_ATOM_WORDS = 32  # words a pass: one attribute's 2,048 values fill 16 KB
_SUM_WORDS = 4  # words a pass: 256 rows of _SUM_COLUMNS values fill 32 KB
_SUM_COLUMNS = 16  # columns whose sums stay in registers
_SCORE_WORDS = 8  # words a pass: one cache line of every bit column

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

_WORD = ir.IntType(64)
_BITS = ir.VectorType(ir.IntType(1), 64)
_DOUBLES = ir.VectorType(ir.DoubleType(), 64)


def _element(context: Any, builder: Any, array_type: Any, array: Any, *indices: Any) -> Any:
    """Pointer to an element of a C-contiguous array; no bounds are checked and no index wraps around."""
    struct = context.make_array(array_type)(context, builder, array)
    offset = indices[0]
    for axis, index in enumerate(indices[1:], start=1):
        offset = builder.add(builder.mul(offset, builder.extract_value(struct.shape, axis)), index)
    return builder.gep(struct.data, [offset])


def _vector_at(builder: Any, pointer: Any, vector: Any) -> Any:
    """Pointer to the vector that starts at an element."""
    return builder.bitcast(pointer, vector.as_pointer())


def _load(builder: Any, pointer: Any, vector: Any) -> Any:
    """Vector that starts at an element; elements are aligned, vectors need not be."""
    return builder.load(_vector_at(builder, pointer, vector), align=8)


def _spread(builder: Any, number: Any) -> Any:
    """Copy a number into 64 lanes."""
    undefined = ir.Constant(_DOUBLES, ir.Undefined)
    lane = ir.Constant(ir.IntType(32), 0)
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
    return builder.shuffle_vector(builder.insert_element(undefined, number, lane), undefined, lanes)


def _llvm_function(builder: Any, name: str, result: Any, argument: Any) -> Any:
    """Declare a function of LLVM's own."""
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [argument]), name)


# --- rules into bits ---------------------------------------------------------------------------------------------------


def _compare(block: FloatArray, row: int, start: int, bound: float) -> np.uint64:
    """Bits of ``block[row, start : start + 64] <= bound``; a NaN gives 0."""
    held = block[row, start : start + 64] <= bound
    return np.uint64(sum(1 << int(i) for i in np.flatnonzero(held)))


@intrinsic
def _compare_vector(typingctx: Any, block: Any, row: Any, start: Any, bound: Any) -> Any:
    """Compare 64 numbers at once; the 64 one-bit results are the word."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = _load(builder, _element(context, builder, signature.args[0], *args[:3]), _DOUBLES)
        return builder.bitcast(builder.fcmp_ordered("<=", values, _spread(builder, args[3])), _WORD)

    return types.uint64(block, types.intp, types.intp, types.float64), codegen


@overload(_compare, strict=False)
def _overload_compare(block: Any, row: Any, start: Any, bound: Any) -> Any:
    return lambda block, row, start, bound: _compare_vector(block, row, start, bound)


@njit(cache=True, nogil=True)
def _evaluate_atom(
    block: FloatArray,
    row: int,
    start: int,
    bounds: FloatArray,
    first_bound: int,
    last_bound: int,
    missing: bool,
    atoms: Words,
    atom: int,
    first_word: int,
    last_word: int,
) -> None:
    """Write some words of an atom from 64 values each, the first of them at ``block[row, start]``."""
    for w in range(first_word, last_word):
        begin = start + 64 * (w - first_word)
        bits = _ZERO
        for b in range(first_bound, last_bound):
            bits ^= _compare(block, row, begin, bounds[b])
        if missing:
            bits |= ~_compare(block, row, begin, np.inf)  # only a NaN is not <= inf
        atoms[atom, w] = bits


@njit(cache=True, nogil=True)
def evaluate_rules(
    block: FloatArray,
    atom_rows: Int32Array,
    atom_missing: BoolArray,
    bound_starts: IntArray,
    bounds: FloatArray,
    rule_starts: IntArray,
    literal_atoms: Int32Array,
    literal_flips: Words,
    first_word: int,
    last_word: int,
    words: Words,
) -> None:
    """Write words ``first_word .. last_word - 1`` of every rule into `words` (changed in place).

    Atom ``a`` looks at row ``atom_rows[a]`` of `block` and is the XOR of ``x <= bound`` over its bounds, or missing where
    `atom_missing` says so. A rule is the AND of its literals, a literal an atom's bits XOR its flip.
    """
    n_rows = block.shape[1]
    n_full = n_rows // 64
    n_atoms = atom_rows.shape[0]
    atoms = np.empty((n_atoms, _ATOM_WORDS), np.uint64)
    padded = np.full((1, 64), np.nan)
    for begin in range(first_word, last_word, _ATOM_WORDS):
        end = min(begin + _ATOM_WORDS, last_word)
        n_whole = min(end, n_full) - begin
        for a in range(n_atoms):
            row = atom_rows[a]
            first, last, missing = bound_starts[a], bound_starts[a + 1], atom_missing[a]
            _evaluate_atom(block, row, 64 * begin, bounds, first, last, missing, atoms, a, 0, n_whole)
            if end > n_full:
                for i in range(64 * n_full, n_rows):
                    padded[0, i - 64 * n_full] = block[row, i]
                _evaluate_atom(padded, 0, 0, bounds, first, last, missing, atoms, a, n_whole, n_whole + 1)
        for r in range(rule_starts.shape[0] - 1):
            for w in range(begin, end):
                words[r, w] = _ALL
            for k in range(rule_starts[r], rule_starts[r + 1]):
                atom, flip = literal_atoms[k], literal_flips[k]
                for w in range(begin, end):
                    words[r, w] &= atoms[atom, w - begin] ^ flip
            if end > n_full:
                words[r, n_full] &= (_ONE << np.uint64(n_rows - 64 * n_full)) - _ONE


# --- pair counts -------------------------------------------------------------------------------------------------------


def _count_pairs(left: Words, i: int, right: Words, j: int, n_words: int, counts: IntArray) -> None:
    """Write the numbers of bits that rows ``i ..`` of `left` share with rows ``j ..`` of `right`, `_SIDE` of each."""
    shared = left[i : i + _SIDE, None, :n_words] & right[None, j : j + _SIDE, :n_words]
    counts[:] = np.bitwise_count(shared).sum(axis=2, dtype=np.int64).ravel()


@intrinsic
def _count_pairs_vector(typingctx: Any, left: Any, i: Any, right: Any, j: Any, n_words: Any, counts: Any) -> Any:
    """AND and popcount with all sums in vector registers; `n_words` is a multiple of `_LANES`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(_WORD, _LANES)
        popcount = _llvm_function(builder, f"llvm.ctpop.v{_LANES}i64", vector, vector)
        add_lanes = _llvm_function(builder, f"llvm.vector.reduce.add.v{_LANES}i64", _WORD, vector)
        zero, start = ir.Constant(vector, [0] * _LANES), ir.Constant(_WORD, 0)

        def rows(array: int) -> list[Any]:
            first = [builder.add(args[array + 1], ir.Constant(_WORD, k)) for k in range(_SIDE)]
            return [_element(context, builder, signature.args[array], args[array], k, start) for k in first]

        lefts, rights = rows(0), rows(2)
        sums = [cgutils.alloca_once(builder, vector) for _ in range(_SIDE * _SIDE)]
        for total in sums:
            builder.store(zero, total)
        with cgutils.for_range_slice(builder, start, args[4], ir.Constant(_WORD, _LANES)) as (word, _):
            a, b = ([_load(builder, builder.gep(row, [word]), vector) for row in side] for side in (lefts, rights))
            for total, (x, y) in zip(sums, ((x, y) for x in a for y in b), strict=True):
                shared = builder.call(popcount, [builder.and_(x, y)])
                builder.store(builder.add(builder.load(total), shared), total)
        for k, total in enumerate(sums):
            target = _element(context, builder, signature.args[5], args[5], ir.Constant(_WORD, k))
            builder.store(builder.call(add_lanes, [builder.load(total)]), target)
        return context.get_dummy_value()

    return types.void(left, types.intp, right, types.intp, types.intp, counts), codegen


@overload(_count_pairs, strict=False)
def _overload_count_pairs(left: Any, i: Any, right: Any, j: Any, n_words: Any, counts: Any) -> Any:
    return lambda left, i, right, j, n_words, counts: _count_pairs_vector(left, i, right, j, n_words, counts)


@njit(cache=True, nogil=True)
def _pack(words: Words, first: int, begin: int, tile: Words) -> None:
    """Copy `RULE_TILE` rules x `_COUNT_WORDS` words into `tile`, zeros beyond the edges."""
    n_rules, n_words = words.shape
    end = min(begin + _COUNT_WORDS, n_words)
    for r in range(first, first + RULE_TILE):
        if r < n_rules:
            for w in range(begin, end):
                tile[r - first, w - begin] = words[r, w]
            for w in range(end, begin + _COUNT_WORDS):
                tile[r - first, w - begin] = _ZERO
        else:
            for w in range(_COUNT_WORDS):
                tile[r - first, w] = _ZERO


@njit(cache=True, nogil=True)
def add_pair_counts(words: Words, first: int, counts: IntArray) -> None:
    """Add a strip of the Gram matrix to `counts` (changed in place): rules ``first .. first + RULE_TILE - 1``.

    The strip runs from the diagonal to the last rule and is mirrored, so the strips at multiples of `RULE_TILE`
    together fill the matrix and touch disjoint entries.
    """
    n_rules, n_words = words.shape
    left = np.empty((RULE_TILE, _COUNT_WORDS), np.uint64)
    right = np.empty((RULE_TILE, _COUNT_WORDS), np.uint64)
    block = np.empty(_SIDE * _SIDE, np.int64)
    n_left = min(RULE_TILE, n_rules - first)
    for begin in range(0, n_words, _COUNT_WORDS):
        n_counted = -(-min(_COUNT_WORDS, n_words - begin) // _LANES) * _LANES
        _pack(words, first, begin, left)
        for second in range(first, n_rules, RULE_TILE):
            n_right = min(RULE_TILE, n_rules - second)
            _pack(words, second, begin, right)
            for i in range(0, n_left, _SIDE):
                for j in range(0, n_right, _SIDE):
                    _count_pairs(left, i, right, j, n_counted, block)
                    for k in range(_SIDE * _SIDE):
                        a, b = i + k // _SIDE, j + k % _SIDE
                        if a < n_left and b < n_right:
                            counts[first + a, second + b] += block[k]
                            if second > first:
                                counts[second + b, first + a] += block[k]


# --- sums over the rows of a rule --------------------------------------------------------------------------------------


def _sum_rows(words: Words, rule: int, first_word: int, last_word: int, values: FloatArray, sums: FloatArray) -> None:
    """Write the sums of the rows of `values` that the rule's bits choose; row 0 is bit 0 of `first_word`."""
    sums[:] = 0.0
    for w in range(first_word, last_word):
        for i in range(64):
            if (int(words[rule, w]) >> i) & 1:
                sums += values[64 * (w - first_word) + i]


@intrinsic
def _sum_rows_vector(
    typingctx: Any, words: Any, rule: Any, first_word: Any, last_word: Any, values: Any, sums: Any
) -> Any:
    """Jump from set bit to set bit with the sums of all columns in vector registers."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.DoubleType(), _SUM_COLUMNS)
        zero = ir.Constant(_WORD, 0)
        totals = cgutils.alloca_once(builder, vector)
        rest = cgutils.alloca_once(builder, _WORD)
        builder.store(ir.Constant(vector, [0.0] * _SUM_COLUMNS), totals)
        with cgutils.for_range_slice(builder, args[2], args[3], ir.Constant(_WORD, 1)) as (word, _):
            source = _element(context, builder, signature.args[0], args[0], args[1], word)
            row = builder.mul(builder.sub(word, args[2]), ir.Constant(_WORD, 64))
            builder.store(builder.load(source), rest)
            test = builder.append_basic_block("test")
            body = builder.append_basic_block("body")
            done = builder.append_basic_block("done")
            builder.branch(test)
            builder.position_at_end(test)
            bits = builder.load(rest)
            builder.cbranch(builder.icmp_unsigned("!=", bits, zero), body, done)
            builder.position_at_end(body)
            bit = builder.cttz(bits, ir.Constant(ir.IntType(1), 1))
            builder.store(builder.and_(bits, builder.sub(bits, ir.Constant(_WORD, 1))), rest)
            chosen = _element(context, builder, signature.args[4], args[4], builder.add(row, bit), zero)
            builder.store(builder.fadd(builder.load(totals), _load(builder, chosen, vector)), totals)
            builder.branch(test)
            builder.position_at_end(done)
        target = _vector_at(builder, _element(context, builder, signature.args[5], args[5], zero), vector)
        builder.store(builder.load(totals), target, align=8)
        return context.get_dummy_value()

    return types.void(words, types.intp, types.intp, types.intp, values, sums), codegen


@overload(_sum_rows, strict=False)
def _overload_sum_rows(words: Any, rule: Any, first_word: Any, last_word: Any, values: Any, sums: Any) -> Any:
    return lambda words, rule, first_word, last_word, values, sums: _sum_rows_vector(
        words, rule, first_word, last_word, values, sums
    )


@njit(cache=True, nogil=True)
def add_masked_sums(words: Words, values: FloatArray, first: int, last: int, sums: FloatArray) -> None:
    """Add the sums of `values` over the rows of rules ``first .. last - 1`` to `sums` (changed in place).

    Rows are added in passes of `_SUM_WORDS` words, whatever the range of rules.
    """
    n_words = words.shape[1]
    n_rows, n_columns = values.shape
    tile = np.zeros((64 * _SUM_WORDS, _SUM_COLUMNS))
    part = np.empty(_SUM_COLUMNS)
    for column in range(0, n_columns, _SUM_COLUMNS):
        width = min(_SUM_COLUMNS, n_columns - column)
        tile[:] = 0.0
        for begin in range(0, n_words, _SUM_WORDS):
            end = min(begin + _SUM_WORDS, n_words)
            for i in range(64 * begin, min(64 * end, n_rows)):
                for c in range(width):
                    tile[i - 64 * begin, c] = values[i, column + c]
            for r in range(first, last):
                _sum_rows(words, r, begin, end, tile, part)
                for c in range(width):
                    sums[r, column + c] += part[c]


# --- scores ------------------------------------------------------------------------------------------------------------


def _add_where(word: np.uint64, number: float, scores: FloatArray, start: int) -> None:
    """Add a number to those of the 64 scores from `start` whose bit is set (changed in place)."""
    for i in range(64):
        if (int(word) >> i) & 1:
            scores[start + i] += number


@intrinsic
def _add_where_vector(typingctx: Any, word: Any, number: Any, scores: Any, start: Any) -> Any:
    """Use the word as the mask of 64 additions."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target = _element(context, builder, signature.args[2], args[2], args[3])
        old = _load(builder, target, _DOUBLES)
        new = builder.fadd(old, _spread(builder, args[1]))
        chosen = builder.select(builder.bitcast(args[0], _BITS), new, old)
        builder.store(chosen, _vector_at(builder, target, _DOUBLES), align=8)
        return context.get_dummy_value()

    return types.void(types.uint64, types.float64, scores, types.intp), codegen


@overload(_add_where, strict=False)
def _overload_add_where(word: Any, number: Any, scores: Any, start: Any) -> Any:
    return lambda word, number, scores, start: _add_where_vector(word, number, scores, start)


@njit(cache=True, nogil=True)
def add_scores(words: Words, coefs: FloatArray, first_word: int, last_word: int, scores: FloatArray) -> None:
    """Add every rule's coefficient to the scores of its rows (changed in place), rule by rule in order.

    `scores` has 64 entries a word; those outside ``first_word .. last_word - 1`` are left alone.
    """
    for begin in range(first_word, last_word, _SCORE_WORDS):
        for r in range(words.shape[0]):
            for w in range(begin, min(begin + _SCORE_WORDS, last_word)):
                _add_where(words[r, w], coefs[r], scores, 64 * w)
