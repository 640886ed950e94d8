"""Compiled loops over bit columns: evaluate rules, count pairs, sum rows, add scores.

A bit column packs 64 rows a word: bit ``i`` of word ``w`` is row ``64 * w + i``. The innermost step of each kernel is
written with explicit vectors, because the compiler does not find it by itself or stops at half the register width. Each
such step is an overload of a plain function, and that function is what runs when compilation is off. LLVM splits the
vectors for processors with narrower registers, so one source is right everywhere.
"""

import functools
import inspect
import itertools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as numba_cgutils
from numba.extending import intrinsic as numba_intrinsic
from numba.extending import overload

from rulegrove._kernel_cache import njit
from rulegrove._typing import BoolArray, FloatArray, Int32Array, IntArray, Words

# The annotations that come with these two do not fit their use.
cgutils: Any = numba_cgutils
intrinsic: Any = numba_intrinsic

PANEL_RULES = 16  # rules whose words stand side by side where all pairs are counted
STRIP_PANELS = 8  # panels of a thread's task: with _COUNT_WORDS 512 KB, a share of a second-level cache
_PANEL_SIDE = 8  # rules of a panel that meet another panel at a time: 16 sums of the 32 vector registers
_SIDE = 4  # pairs of a few rules are counted _SIDE x _SIDE at a time: 16 sums as well
_LANES = 8  # words a vector
_COUNT_WORDS = 512  # words a pass: a panel's fill 64 KB
_ATOM_WORDS = 32  # words a pass: one attribute's 2,048 values fill 16 KB
_SUM_COLUMNS = 16  # columns that are summed at a time: the look-up tables of 64 rows fill 32 KB

_ZERO = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

_INDEX = types.intp
_WORD = ir.IntType(64)
_BITS = ir.VectorType(ir.IntType(1), 64)
_DOUBLES = ir.VectorType(ir.DoubleType(), 64)


def _element(context: Any, builder: Any, array_type: Any, array: Any, *indices: Any) -> Any:
    """Pointer to an element of a C-contiguous array; no bounds are checked and no index wraps around."""
    if array_type.layout != "C":
        raise TypeError(f"Kernels of bit columns take C-contiguous arrays; got layout {array_type.layout!r}.")
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


def _spread(builder: Any, number: Any, n_lanes: int = 64) -> Any:
    """Copy a number into all lanes of a vector."""
    undefined = ir.Constant(ir.VectorType(number.type, n_lanes), ir.Undefined)
    lane = ir.Constant(ir.IntType(32), 0)
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), n_lanes), [0] * n_lanes)
    return builder.shuffle_vector(builder.insert_element(undefined, number, lane), undefined, lanes)


def _llvm_function(builder: Any, name: str, result: Any, argument: Any) -> Any:
    """Declare a function of LLVM's own."""
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [argument]), name)


def _writes(plain: Any, result: Any, *arguments: Any) -> Any:
    """Return a decorator of what writes the vector code that calls of a plain function compile to.

    `result` and `arguments` are the types of its signature; None is an array, of whatever type it comes. The decorated
    function takes a builder, a function that gives the pointer to an element of an array, and the arguments.
    """

    def decorate(write: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = {id(value): kind for value, kind in zip(args, signature.args, strict=True)}
            written = write(builder, lambda array, *i: _element(context, builder, kinds[id(array)], array, *i), *args)
            return context.get_dummy_value() if written is None else written

        def describe(typingctx: Any, *given: Any) -> Any:
            own = (came if wanted is None else wanted for came, wanted in zip(given, arguments, strict=True))
            return result(*own), codegen

        names = ("typingctx", *inspect.signature(plain).parameters)  # numba asks for all of them
        parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        describe.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        step = intrinsic(describe)
        overload(plain, strict=False)(lambda *args: lambda *args: step(*args))
        return write

    return decorate


def _constant(number: int) -> Any:
    """Return a whole number of 64 bits."""
    return ir.Constant(_WORD, number)


# --- rules into bits --------------------------------------------------------------------------------------------------


def _compare(block: FloatArray, row: int, start: int, bound: float) -> np.uint64:
    """Bits of ``block[row, start : start + 64] <= bound``; a NaN gives 0."""
    held = block[row, start : start + 64] <= bound
    return np.uint64(sum(1 << int(i) for i in np.flatnonzero(held)))


@_writes(_compare, types.uint64, None, _INDEX, _INDEX, types.float64)
def _compare_vector(builder: Any, at: Any, block: Any, row: Any, start: Any, bound: Any) -> Any:
    """Compare 64 numbers at once; the 64 one-bit results are the word."""
    values = _load(builder, at(block, row, start), _DOUBLES)
    return builder.bitcast(builder.fcmp_ordered("<=", values, _spread(builder, bound)), _WORD)


@njit(nogil=True)
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
    """Write words ``first_word .. last_word - 1`` of every rule, all 64 rows of each, into `words` (changed in place).

    Atom ``a`` looks at row ``atom_rows[a]`` of `block` and is the XOR of ``x <= bound`` over its bounds; missing values
    are added where `atom_missing` says so. A rule is the AND of its literals, a literal an atom's bits XOR its flip.
    """
    n_atoms = atom_rows.shape[0]
    atoms = np.empty((n_atoms, _ATOM_WORDS), np.uint64)
    for begin in range(first_word, last_word, _ATOM_WORDS):
        end = min(begin + _ATOM_WORDS, last_word)
        for a in range(n_atoms):
            for w in range(begin, end):
                bits = _ZERO
                for k in range(bound_starts[a], bound_starts[a + 1]):
                    bits ^= _compare(block, atom_rows[a], 64 * w, bounds[k])
                if atom_missing[a]:
                    bits |= ~_compare(block, atom_rows[a], 64 * w, np.inf)  # only a NaN is not <= inf
                atoms[a, w - begin] = bits
        for r in range(rule_starts.shape[0] - 1):
            for w in range(begin, end):
                words[r, w] = _ALL
            for k in range(rule_starts[r], rule_starts[r + 1]):
                atom, flip = literal_atoms[k], literal_flips[k]
                for w in range(begin, end):
                    words[r, w] &= atoms[atom, w - begin] ^ flip


# --- pair counts ------------------------------------------------------------------------------------------------------


def _count_pairs(
    left: Words, i: int, right: Words, j: int, start: int, n_words: int, counts: IntArray, column: int
) -> None:
    """Write the numbers of bits that rows ``i ..`` of `left` share with rows ``j ..`` of `right`, `_SIDE` of each.

    The words of `left` begin at 0, those of `right` at `start`; the counts go to rows ``i ..``, columns ``column ..``.
    """
    shared = left[i : i + _SIDE, None, :n_words] & right[None, j : j + _SIDE, start : start + n_words]
    counts[i : i + _SIDE, column : column + _SIDE] = np.bitwise_count(shared).sum(axis=2, dtype=np.int64)


@_writes(_count_pairs, types.void, None, _INDEX, None, _INDEX, _INDEX, _INDEX, None, _INDEX)
def _count_pairs_vector(
    builder: Any, at: Any, left: Any, i: Any, right: Any, j: Any, start: Any, n_words: Any, counts: Any, column: Any
) -> None:
    """AND and popcount with all sums in vector registers; `n_words` is a multiple of `_LANES`."""
    vector = ir.VectorType(_WORD, _LANES)
    popcount = _llvm_function(builder, f"llvm.ctpop.v{_LANES}i64", vector, vector)
    add_lanes = _llvm_function(builder, f"llvm.vector.reduce.add.v{_LANES}i64", _WORD, vector)
    steps = [_constant(k) for k in range(_SIDE)]
    lefts = [at(left, builder.add(i, k), _constant(0)) for k in steps]
    rights = [at(right, builder.add(j, k), start) for k in steps]
    sums = [cgutils.alloca_once(builder, vector) for _ in range(_SIDE * _SIDE)]
    for total in sums:
        builder.store(ir.Constant(vector, [0] * _LANES), total)
    with cgutils.for_range_slice(builder, _constant(0), n_words, _constant(_LANES)) as (word, _):
        a, b = ([_load(builder, builder.gep(row, [word]), vector) for row in side] for side in (lefts, rights))
        for total, (x, y) in zip(sums, itertools.product(a, b), strict=True):
            shared = builder.call(popcount, [builder.and_(x, y)])
            builder.store(builder.add(builder.load(total), shared), total)
    for total, (a, b) in zip(sums, itertools.product(steps, steps), strict=True):
        target = at(counts, builder.add(i, a), builder.add(column, b))
        builder.store(builder.call(add_lanes, [builder.load(total)]), target)


def _count_panels(panels: Words, left: int, i: int, right: int, begin: int, end: int, counts: IntArray) -> None:
    """Write the numbers of bits that `_PANEL_SIDE` rules of a panel, from its rule `i` on, share with those of another.

    Words ``begin .. end - 1`` are counted; the numbers go to rows ``i ..`` of `counts`.
    """
    shared = panels[left, begin:end, i : i + _PANEL_SIDE, None] & panels[right, begin:end, None, :]
    counts[i : i + _PANEL_SIDE] = np.bitwise_count(shared).sum(axis=0, dtype=np.int64)


@_writes(_count_panels, types.void, None, _INDEX, _INDEX, _INDEX, _INDEX, _INDEX, None)
def _count_panels_vector(
    builder: Any, at: Any, panels: Any, left: Any, i: Any, right: Any, begin: Any, end: Any, counts: Any
) -> None:
    """AND and popcount with all sums in vector registers, as `_count_pairs`, but with a rule in each lane.

    No sum goes across a vector, which costs more than the counting where a table has few words.
    """
    vector = ir.VectorType(_WORD, _LANES)
    popcount = _llvm_function(builder, f"llvm.ctpop.v{_LANES}i64", vector, vector)
    own = [builder.add(i, _constant(k)) for k in range(_PANEL_SIDE)]
    parts = [_constant(k) for k in range(0, PANEL_RULES, _LANES)]
    sums = [cgutils.alloca_once(builder, vector) for _ in itertools.product(own, parts)]
    for total in sums:
        builder.store(ir.Constant(vector, [0] * _LANES), total)
    with cgutils.for_range_slice(builder, begin, end, _constant(1)) as (word, _):
        a = [_spread(builder, builder.load(at(panels, left, word, k)), _LANES) for k in own]
        b = [_load(builder, at(panels, right, word, k), vector) for k in parts]
        for total, (x, y) in zip(sums, itertools.product(a, b), strict=True):
            shared = builder.call(popcount, [builder.and_(x, y)])
            builder.store(builder.add(builder.load(total), shared), total)
    for total, place in zip(sums, itertools.product(own, parts), strict=True):
        builder.store(builder.load(total), _vector_at(builder, at(counts, *place), vector), align=8)


def _add_block(tile: IntArray, i: int, j: int, counts: IntArray, a: int, b: int) -> None:
    """Add `_LANES` x `_LANES` numbers of `tile` to `counts` at (a, b), and mirrored at (b, a) (changed in place)."""
    block = tile[i : i + _LANES, j : j + _LANES]
    counts[a : a + _LANES, b : b + _LANES] += block
    counts[b : b + _LANES, a : a + _LANES] += block.T


@_writes(_add_block, types.void, None, _INDEX, _INDEX, None, _INDEX, _INDEX)
def _add_block_vector(builder: Any, at: Any, tile: Any, i: Any, j: Any, counts: Any, a: Any, b: Any) -> None:
    """Add whole vectors; what takes time of a small table's counts is to write them, above all the mirrored half."""
    vector = ir.VectorType(_WORD, _LANES)
    steps = [_constant(k) for k in range(_LANES)]
    rows = [_load(builder, at(tile, builder.add(i, k), j), vector) for k in steps]
    for row, column, lines in ((a, b, rows), (b, a, _transpose(builder, rows))):
        for k, line in zip(steps, lines, strict=True):
            target = at(counts, builder.add(row, k), column)
            added = builder.add(line, _load(builder, target, vector))
            builder.store(added, _vector_at(builder, target, vector), align=8)


def _transpose(builder: Any, rows: list[Any]) -> list[Any]:
    """Return the columns of as many vectors as a vector has lanes: halves change places, then quarters, and so on."""
    size = half = len(rows)
    while half := half // 2:
        low = [k if k % (2 * half) < half else size + k - half for k in range(size)]
        high = [k + half if k % (2 * half) < half else size + k for k in range(size)]
        masks = [ir.Constant(ir.VectorType(ir.IntType(32), size), lanes) for lanes in (low, high)]
        rows = [
            builder.shuffle_vector(rows[k & ~half], rows[k | half], masks[1 if k & half else 0]) for k in range(size)
        ]
    return rows


@njit(nogil=True)
def pack_panels(words: Words) -> Words:
    """Lay rules side by side, `PANEL_RULES` a panel: shape (n_panels, n_words, PANEL_RULES), zeros after the last."""
    n_rules, n_words = words.shape
    panels = np.zeros((-(-n_rules // PANEL_RULES), n_words, PANEL_RULES), np.uint64)
    for r in range(n_rules):
        panel, place = r // PANEL_RULES, r % PANEL_RULES
        for w in range(n_words):
            panels[panel, w, place] = words[r, w]
    return panels


@njit(nogil=True)
def _add_tile(tile: IntArray, a: int, b: int, counts: IntArray) -> None:
    """Add the counts of two panels to `counts` at (a, b), and mirrored unless they are one (changed in place)."""
    n_rules = counts.shape[0]
    whole = a < b and b + PANEL_RULES <= n_rules
    for i in range(0, PANEL_RULES if whole else 0, _LANES):
        for j in range(0, PANEL_RULES, _LANES):
            _add_block(tile, i, j, counts, a + i, b + j)
    for i in range(0 if whole else min(PANEL_RULES, n_rules - a)):
        for j in range(min(PANEL_RULES, n_rules - b)):
            counts[a + i, b + j] += tile[i, j]
            if a < b:
                counts[b + j, a + i] += tile[i, j]


@njit(nogil=True)
def add_pair_counts(panels: Words, first: int, counts: IntArray) -> None:
    """Add a strip of the Gram matrix to `counts` (changed in place): panels ``first .. first + STRIP_PANELS - 1``.

    The strip runs from the diagonal to the last rule and is mirrored, so the strips at multiples of `STRIP_PANELS`
    together fill the matrix and touch disjoint entries.
    """
    n_panels, n_words, _ = panels.shape
    tile = np.empty((PANEL_RULES, PANEL_RULES), np.int64)
    for begin in range(0, n_words, _COUNT_WORDS):
        end = min(begin + _COUNT_WORDS, n_words)
        for right in range(first, n_panels):
            for left in range(first, min(first + STRIP_PANELS, right + 1)):
                for i in range(0, PANEL_RULES, _PANEL_SIDE):
                    _count_panels(panels, left, i, right, begin, end, tile)
                _add_tile(tile, PANEL_RULES * left, PANEL_RULES * right, counts)


# --- sums over the rows of a rule -------------------------------------------------------------------------------------


def _fill_table(rows: FloatArray, k: int, tables: FloatArray) -> None:
    """Write table `k`: entry ``e`` is the sum of the rows ``4 * k + i`` for which bit ``i`` of ``e`` is set."""
    for entry in range(16):
        tables[k, entry] = sum((rows[4 * k + i] for i in range(4) if entry >> i & 1), np.zeros(_SUM_COLUMNS))


@_writes(_fill_table, types.void, None, _INDEX, None)
def _fill_table_vector(builder: Any, at: Any, rows: Any, k: Any, tables: Any) -> None:
    """Add each entry's highest row to the entry without it."""
    vector = ir.VectorType(ir.DoubleType(), _SUM_COLUMNS)
    sums: list[Any] = [ir.Constant(vector, [0.0] * _SUM_COLUMNS)]
    for i in range(4):
        row = builder.add(builder.mul(k, _constant(4)), _constant(i))
        added = _load(builder, at(rows, row, _constant(0)), vector)
        sums += [builder.fadd(total, added) for total in sums]
    for entry, total in enumerate(sums):
        target = at(tables, k, _constant(entry), _constant(0))
        builder.store(total, _vector_at(builder, target, vector), align=8)


def _add_lookups(word: np.uint64, tables: FloatArray, sums: FloatArray, row: int) -> None:
    """Add the sums of a word's chosen rows to ``sums[row]``, four rows a look-up (changed in place)."""
    for k in range(16):
        sums[row] += tables[k, (int(word) >> (4 * k)) & 15]


@_writes(_add_lookups, types.void, types.uint64, None, None, _INDEX)
def _add_lookups_vector(builder: Any, at: Any, word: Any, tables: Any, sums: Any, row: Any) -> None:
    """Look up 16 vectors; four chains of additions, so that one need not wait for another."""
    vector = ir.VectorType(ir.DoubleType(), _SUM_COLUMNS)
    found = []
    for k in range(16):
        entry = builder.and_(builder.lshr(word, _constant(4 * k)), _constant(15))
        found.append(_load(builder, at(tables, _constant(k), entry, _constant(0)), vector))
    target = at(sums, row, _constant(0))
    chains = [functools.reduce(builder.fadd, found[k::4]) for k in range(4)]
    total = functools.reduce(builder.fadd, [*chains, _load(builder, target, vector)])
    builder.store(total, _vector_at(builder, target, vector), align=8)


@njit(nogil=True)
def add_masked_sums(words: Words, values: FloatArray, first: int, last: int, sums: FloatArray) -> None:
    """Add the sums of `values` over the rows of rules ``first .. last - 1`` to `sums` (changed in place).

    For each group of four rows the sums of all 16 choices are made once, then every rule looks up its own. The order of
    addition depends on neither `first` nor `last`.
    """
    n_rules, n_words = last - first, words.shape[1]
    n_rows, n_columns = values.shape
    tables = np.empty((16, 16, _SUM_COLUMNS))
    rows = np.zeros((64, _SUM_COLUMNS))
    lines = np.empty((_LANES, n_rules), np.uint64)
    panel = np.empty((n_rules, _SUM_COLUMNS))
    for column in range(0, n_columns, _SUM_COLUMNS):
        width = min(_SUM_COLUMNS, n_columns - column)
        for r in range(n_rules):
            for c in range(_SUM_COLUMNS):
                panel[r, c] = 0.0
        for w in range(n_words):
            if w % _LANES == 0:
                # Bit columns often lie a power of two apart, where a cache can hold few of them: read each line once.
                for r in range(n_rules):
                    for k in range(min(_LANES, n_words - w)):
                        lines[k, r] = words[first + r, w + k]
            for i in range(min(64, n_rows - 64 * w)):  # bits beyond the last row are zero, so old rows do no harm there
                for c in range(width):
                    rows[i, c] = values[64 * w + i, column + c]
            for k in range(16):
                _fill_table(rows, k, tables)
            for r in range(n_rules):
                _add_lookups(lines[w % _LANES, r], tables, panel, r)
        for r in range(n_rules):
            for c in range(width):
                sums[first + r, column + c] += panel[r, c]


# --- sums of one column -----------------------------------------------------------------------------------------------


def _sum_where(words: Words, rule: int, first_word: int, last_word: int, values: FloatArray) -> float:
    """Sum of the values whose bit is set in words ``first_word .. last_word - 1`` of a rule."""
    octets = words[rule : rule + 1, first_word:last_word].astype("<u8").view(np.uint8)
    chosen = np.unpackbits(octets, bitorder="little").astype(bool)
    return float(values[64 * first_word : 64 * last_word][chosen].sum())


@_writes(_sum_where, types.float64, None, _INDEX, _INDEX, _INDEX, None)
def _sum_where_vector(
    builder: Any, at: Any, words: Any, rule: Any, first_word: Any, last_word: Any, values: Any
) -> Any:
    """Use each word as the mask of 64 additions into 64 sums that stay in registers."""
    total = cgutils.alloca_once(builder, _DOUBLES)
    builder.store(ir.Constant(_DOUBLES, [0.0] * 64), total)
    with cgutils.for_range_slice(builder, first_word, last_word, _constant(1)) as (word, _):
        mask = builder.load(at(words, rule, word))
        place = at(values, builder.mul(word, _constant(64)))
        old = builder.load(total)
        new = builder.fadd(old, _load(builder, place, _DOUBLES))
        builder.store(builder.select(builder.bitcast(mask, _BITS), new, old), total)
    lanes = builder.load(total)
    half = 32
    while half:
        undefined = ir.Constant(lanes.type, ir.Undefined)
        index = ir.VectorType(ir.IntType(32), half)
        low = builder.shuffle_vector(lanes, undefined, ir.Constant(index, list(range(half))))
        high = builder.shuffle_vector(lanes, undefined, ir.Constant(index, list(range(half, 2 * half))))
        lanes = builder.fadd(low, high)
        half //= 2
    return builder.extract_element(lanes, ir.Constant(ir.IntType(32), 0))


@njit(nogil=True)
def sum_rows(words: Words, values: FloatArray, sums: FloatArray) -> None:
    """Write the sum of `values` over the rows of every rule to `sums`; `values` has 64 entries a word."""
    n_words = words.shape[1]
    for r in range(words.shape[0]):
        sums[r] = 0.0
    for begin in range(0, n_words, _ATOM_WORDS):
        end = min(begin + _ATOM_WORDS, n_words)
        for r in range(words.shape[0]):
            sums[r] += _sum_where(words, r, begin, end, values)


# --- scores -----------------------------------------------------------------------------------------------------------


def _add_where(
    words: Words, rules: IntArray, n_rules: int, word: int, numbers: FloatArray, scores: FloatArray, start: int
) -> None:
    """Add the numbers of some rules to those of the 64 scores from `start` whose bit is set (changed in place)."""
    for place in range(n_rules):
        bits = int(words[rules[place], word])
        for i in range(64):
            if (bits >> i) & 1:
                scores[start + i] += numbers[place]


@_writes(_add_where, types.void, None, None, _INDEX, _INDEX, None, None, _INDEX)
def _add_where_vector(
    builder: Any, at: Any, words: Any, rules: Any, n_rules: Any, word: Any, numbers: Any, scores: Any, start: Any
) -> None:
    """Use each word as the mask of 64 additions into 64 scores that stay in registers."""
    target = at(scores, start)
    total = cgutils.alloca_once(builder, _DOUBLES)
    builder.store(_load(builder, target, _DOUBLES), total)
    with cgutils.for_range_slice(builder, _constant(0), n_rules, _constant(1)) as (place, _):
        mask = builder.load(at(words, builder.load(at(rules, place)), word))
        old = builder.load(total)
        new = builder.fadd(old, _spread(builder, builder.load(at(numbers, place))))
        builder.store(builder.select(builder.bitcast(mask, _BITS), new, old), total)
    builder.store(builder.load(total), _vector_at(builder, target, _DOUBLES), align=8)


@njit(nogil=True)
def add_scores(words: Words, coefs: FloatArray, first_word: int, last_word: int, scores: FloatArray) -> None:
    """Add every rule's coefficients to the scores of its rows (changed in place), rule by rule in order.

    `coefs` and `scores` have a row an output. `scores` has 64 entries a word; those outside
    ``first_word .. last_word - 1`` are left alone.
    """
    n_rules = words.shape[0]
    rules, numbers = np.empty(n_rules, np.int64), np.empty(n_rules)
    for output in range(coefs.shape[0]):
        n_used = 0
        for r in range(n_rules):
            if coefs[output, r] != 0.0:  # each output of several has few rules of its own
                rules[n_used], numbers[n_used] = r, coefs[output, r]
                n_used += 1
        for w in range(first_word, last_word):
            _add_where(words, rules, n_used, w, numbers, scores[output], 64 * w)
