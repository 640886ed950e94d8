"""Rules as bit columns: a compiled set of rules, and the matrix of bits it gives on a block of rows."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rulegrove._threads import run_tasks
from rulegrove._typing import BoolArray, ByteArray, FloatArray, Int32Array, IntArray, Words
from rulegrove.design import _kernels
from rulegrove.rules.rule import Condition, Rule

_TASK_WORDS = 256  # words of a thread's task where rows are divided; a multiple of every kernel's pass


@dataclass(frozen=True, eq=False)
class BitMatrix:
    """Yes/no columns of rules, 64 rows a word.

    Examples
    --------
    >>> import numpy as np
    >>> bits = BitMatrix(words=np.array([[0b011], [0b110]], dtype=np.uint64), n_rows=3)
    >>> bits.to_dense()
    array([[1, 0],
           [1, 1],
           [0, 1]], dtype=uint8)
    >>> bits.gram()
    array([[2, 1],
           [1, 2]])
    >>> bits.dot(np.array([10.0, 1.0]))
    array([10., 11.,  1.])
    """

    # (n_rules, ceil(n_rows / 64)): bit ``i`` of word ``w`` is row ``64 * w + i``; bits beyond the last row are zero.
    words: Words
    n_rows: int  # number of rows

    @property
    def n_rules(self) -> int:
        """Number of columns."""
        return len(self.words)

    def first(self, n_rows: int) -> "BitMatrix":
        """Return the same columns for the first rows, so many of them or all there are."""
        if n_rows >= self.n_rows:
            return self
        words = self.words[:, : -(-n_rows // 64)].copy()
        words[:, -1:] &= np.uint64(2 ** (1 + (n_rows - 1) % 64) - 1)
        return BitMatrix(words, n_rows)

    def counts(self) -> IntArray:
        """Rows of each rule, an ndarray of shape (n_rules,)."""
        counts: IntArray = np.bitwise_count(self.words).sum(axis=1, dtype=np.int64)
        return counts

    def to_dense(self) -> ByteArray:
        """Give the columns as 0 and 1, an ndarray of shape (n_rows, n_rules)."""
        return np.ascontiguousarray(self.unpack().T)

    def unpack(self) -> ByteArray:
        """Give the same by rule, an ndarray of shape (n_rules, n_rows)."""
        octets = self.words.astype("<u8", copy=False).view(np.uint8)
        return np.unpackbits(octets, axis=1, count=self.n_rows, bitorder="little")

    def gram(self, n_threads: int = 1) -> IntArray:
        """Rows shared by each pair of rules, an ndarray of shape (n_rules, n_rules); exact for any `n_threads`."""
        counts = np.zeros((self.n_rules, self.n_rules), np.int64)
        self.add_gram(counts, n_threads)
        return counts

    def add_gram(self, counts: IntArray, n_threads: int = 1) -> None:
        """Add `gram` to `counts` in place."""
        panels = _kernels.pack_panels(self.words)
        run_tasks(
            lambda first: _kernels.add_pair_counts(panels, first, counts),
            range(0, len(panels), _kernels.STRIP_PANELS),
            n_threads,
        )

    def sums(self, values: FloatArray, n_threads: int = 1) -> FloatArray:
        """Return the sums of values, (n_rows, n_columns), over the rows of each rule, the same for any threads."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        sums = np.zeros((self.n_rules, values.shape[1]))
        step = max(1, -(-self.n_rules // n_threads))
        run_tasks(
            lambda start: _kernels.add_masked_sums(self.words, values, start, min(start + step, self.n_rules), sums),
            range(0, self.n_rules, step),
            n_threads,
        )
        return sums

    def dot(self, coef: FloatArray, n_threads: int = 1) -> FloatArray:
        """Return the sum of the coefficients, (n_rules,) or (n_outputs, n_rules), of the rules that hold on each row.

        Coefficients are added in the order of the rules, so a row's score does not depend on the rows around it.
        """
        coefs = np.ascontiguousarray(np.atleast_2d(coef), dtype=np.float64)
        n_words = self.words.shape[1]
        scores = np.zeros((len(coefs), 64 * n_words))
        run_tasks(
            lambda start: _kernels.add_scores(self.words, coefs, start, min(start + _TASK_WORDS, n_words), scores),
            range(0, n_words, _TASK_WORDS),
            n_threads,
        )
        return scores[:, : self.n_rows] if np.ndim(coef) == 2 else scores[0, : self.n_rows]


@dataclass(frozen=True, eq=False)
class RuleProgram:
    """A set of rules in the form that is fast to evaluate; made by `compile_rules`.

    Rules are ANDs of literals, literals are atoms or negated atoms, and each atom (``x <= threshold``, or "the code is
    one of these") is evaluated once however many rules share it.
    """

    used_features: IntArray  # (n_used,): ascending positions of the attributes that `evaluate` needs
    atom_rows: Int32Array  # (n_atoms,): position of each atom's attribute within `used_features`
    atom_missing: BoolArray  # (n_atoms,): whether a missing value satisfies the atom
    bound_starts: IntArray  # (n_atoms + 1,): where each atom's bounds begin and end
    bounds: FloatArray  # (n_bounds,): a numeric atom's threshold; for a set of codes the ends of its runs
    rule_starts: IntArray  # (n_rules + 1,): where each rule's literals begin and end
    literal_atoms: Int32Array  # (n_literals,): atom of each literal
    literal_flips: Words  # (n_literals,): all ones where the literal negates its atom, else zero

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return len(self.rule_starts) - 1

    def evaluate(self, block: FloatArray, n_threads: int = 1) -> BitMatrix:
        """Find where each rule holds; `block` has the values of `used_features`, one row each, NaN where missing."""
        block = np.ascontiguousarray(block, dtype=np.float64)
        n_rows = block.shape[1]
        n_full, n_rest = divmod(n_rows, 64)
        words = np.empty((self.n_rules, n_full + (n_rest > 0)), np.uint64)
        self._evaluate_words(block, n_full, words, n_threads)
        if n_rest:
            tail = np.zeros((len(block), 64))
            tail[:, :n_rest] = block[:, 64 * n_full :]
            last = np.empty((self.n_rules, 1), np.uint64)
            self._evaluate_words(tail, 1, last, 1)
            words[:, -1] = last[:, 0] & np.uint64((1 << n_rest) - 1)
        return BitMatrix(words, n_rows)

    def _evaluate_words(self, block: FloatArray, n_words: int, words: Words, n_threads: int) -> None:
        """Write the first `n_words` words of every rule."""
        atoms = (self.atom_rows, self.atom_missing, self.bound_starts, self.bounds)
        literals = (self.rule_starts, self.literal_atoms, self.literal_flips)
        run_tasks(
            lambda start: _kernels.evaluate_rules(
                block, *atoms, *literals, start, min(start + _TASK_WORDS, n_words), words
            ),
            range(0, n_words, _TASK_WORDS),
            n_threads,
        )


def compile_rules(rules: Sequence[Rule], n_features: int) -> RuleProgram:
    """Prepare rules for evaluation on many rows; a rule without conditions holds everywhere."""
    distinct, place = _tell_apart(rules)
    literals = _write_literals(distinct)
    used = np.unique(literals.features)
    if used.size and not 0 <= used[0] <= used[-1] < n_features:
        raise ValueError(f"Rules speak of attributes {used[0]} to {used[-1]}; the table has {n_features}.")
    lengths = np.diff(literals.starts)[place]
    starts = _starts(lengths)
    # Each condition of a rule has the literals of its distinct one, which follow each other.
    own = np.repeat(literals.starts[place] - starts[:-1], lengths) + np.arange(starts[-1])
    return RuleProgram(
        used_features=used,
        atom_rows=np.searchsorted(used, literals.features).astype(np.int32),
        atom_missing=literals.missing,
        bound_starts=_starts([len(bounds) for bounds in literals.bounds]),
        bounds=np.array(list(itertools.chain.from_iterable(literals.bounds)), dtype=np.float64),
        rule_starts=starts[_starts([len(rule.conditions) for rule in rules])],
        literal_atoms=literals.atoms[own],
        literal_flips=np.where(literals.flips[own], ~np.uint64(0), np.uint64(0)),
    )


class _Literals(NamedTuple):
    """Conditions as literals that must all hold, and the atoms that these are or negate."""

    # features, missing, bounds: of each atom. It is the XOR of ``x <= bound`` over its bounds, and `missing` where the
    # value is. One bound is a threshold; a set of codes is a union of runs, and a run ``a .. b`` is ``(x <= a - 1) XOR
    # (x <= b)``.
    features: IntArray
    missing: BoolArray
    bounds: list[tuple[float, ...]]
    starts: IntArray  # (n_conditions + 1,): where each condition's literals begin, and the end of the last
    # atoms, flips (n_literals,): atom of each literal, and whether it negates it.
    atoms: Int32Array
    flips: BoolArray


def _write_literals(conditions: Sequence[Condition]) -> _Literals:
    """Write conditions as literals, each at most an upper bound or a set, a lower bound, and that a value is known."""
    feature = np.array([one.feature for one in conditions], dtype=np.int64)
    missing = np.array([one.missing for one in conditions], dtype=bool)
    lower = np.array([one.lower for one in conditions], dtype=np.float64)
    upper = np.array([one.upper for one in conditions], dtype=np.float64)
    of_codes = np.array([one.categories is not None for one in conditions], dtype=bool)
    # Bounds by number: those of thresholds in their order, those of sets after them.
    thresholds, ranks = np.unique(np.concatenate((lower, upper, [np.inf])), return_inverse=True)
    below, above, endless = ranks[: len(conditions)], ranks[len(conditions) : -1], ranks[-1]
    runs = {one.categories: _run_bounds(one.categories) for one in conditions if one.categories is not None}
    bounds: list[tuple[float, ...]] = [*((bound,) for bound in thresholds.tolist()), *sorted(runs.values())]
    numbers = {own: number for number, own in enumerate(bounds[len(thresholds) :], len(thresholds))}
    above[of_codes] = [numbers[runs[one.categories]] for one in conditions if one.categories is not None]

    def number(may_be_missing: BoolArray | bool, bound: IntArray) -> IntArray:
        return np.asarray((2 * feature + may_be_missing) * len(bounds) + bound)

    bounded = of_codes | (upper < np.inf)
    first, or_missing = number(missing, above), number(True, below)
    is_above = ~of_codes & (lower > -np.inf)
    # A NaN satisfies "not (x <= lower)". To keep it out, negate "x <= lower or missing" where some rule has that atom
    # anyway; else ask for a value that is not missing, unless the upper bound already does.
    shares = is_above & ~missing & np.isin(or_missing, first[bounded])
    known = ~missing & ~bounded & ~shares
    table = np.stack([first, np.where(shares, or_missing, number(False, below)), number(False, endless)], axis=1)
    needed = np.stack([bounded, is_above, known], axis=1)
    atoms, of_literals = np.unique(table[needed], return_inverse=True)
    return _Literals(
        features=atoms // (2 * len(bounds)),
        missing=atoms // len(bounds) % 2 == 1,
        bounds=[bounds[rank] for rank in (atoms % len(bounds)).tolist()],
        starts=_starts(needed.sum(axis=1)),
        atoms=of_literals.astype(np.int32),
        flips=np.nonzero(needed)[1] == 1,
    )


def _run_bounds(codes: Sequence[int]) -> tuple[float, ...]:
    """Find the ends of the runs of consecutive codes."""
    members = set(codes)
    ends = [code for code in codes if code + 1 not in members]
    before = [code - 1 for code in codes if code - 1 not in members]
    return tuple(float(code) for code in sorted(ends + before))


def _tell_apart(rules: Sequence[Rule]) -> tuple[list[Condition], IntArray]:
    """Return the distinct conditions of rules, and which of them each condition of each rule is.

    Rules of trees share the very objects of their conditions, which are faster to tell apart than what they say.
    """
    spoken = [condition for rule in rules for condition in rule.conditions]
    objects = np.fromiter(map(id, spoken), np.int64, len(spoken))
    _, first, place = np.unique(objects, return_index=True, return_inverse=True)
    return [spoken[k] for k in first.tolist()], place


def _starts(lengths: Sequence[int] | IntArray) -> IntArray:
    """Where each of several runs of these lengths begins, and the end of the last."""
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
