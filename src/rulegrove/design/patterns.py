"""The pattern table: rows on which a short list of rules says the same, counted once for each fold and class.

A few rules cut even a long table into few patterns of yes and no. Rows of one fold, one class and one pattern have the
same score under every model of these rules, so that their total weight stands for them under every loss that has no
offset of its own for each row. Of numbers the sums stand for them, as far as a loss asks for no more (squared error,
Poisson, gamma, Tweedie of a fixed power).
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rulegrove._typing import AnyArray, BoolArray, FloatArray, IntArray, Words
from rulegrove.design import _pattern_kernels
from rulegrove.design.bits import BitMatrix
from rulegrove.design.rows import check_rows
from rulegrove.design.statistics import BLOCK_ROWS
from rulegrove.exceptions import InvalidInputError

_CODE_BITS = np.uint64(32)  # of the word that holds the fold and, below it, the class
_CODES = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, eq=False)
class PatternTable:
    """Lines of distinct fold, class, pattern of rules and values of linear terms, each for all the rows that share it.

    Lines are sorted, so that the table does not depend on how the rows were divided: counts and sums of integers are
    the same, other sums agree up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> bits = BitMatrix(np.array([[0b0011], [0b0111]], dtype=np.uint64), n_rows=4)
    >>> table = PatternTable.count(bits, codes=np.array([1, 1, 0, 0]))
    >>> table.patterns.ravel(), table.codes, table.counts
    (array([0, 2, 3], dtype=uint64), array([0, 0, 1]), array([1, 1, 2]))
    >>> table.merge(table).weights
    array([2., 2., 4.])
    >>> table.take(np.array([0])).counts
    array([2, 2])
    """

    n_rules: int
    n_linear: int
    # (n_lines, 1 + ceil(n_rules / 64) + n_linear): what makes a line: a word of its fold and class, its pattern, the
    # bits of its linear terms.
    keys: Words
    # (n_lines, 2 + 2 * n_numbers): what its rows add up to: their number, their weight, and by weight each number of
    # the target and its square.
    totals: FloatArray

    @classmethod
    def count(
        cls,
        bits: BitMatrix,
        linear: FloatArray | None = None,
        *,
        codes: IntArray | None = None,
        numbers: FloatArray | None = None,
        folds: IntArray | None = None,
        weights: FloatArray | None = None,
    ) -> "PatternTable":
        """Count rows by pattern.

        Classes (`codes`) and `folds` count from 0; rows of a negative fold and rows of weight 0 are left out. A target
        of numbers is one of shape (n_rows, n_numbers).
        """
        terms = np.empty((bits.n_rows, 0)) if linear is None else linear
        parts = []
        for start in range(0, max(bits.n_rows, 1), BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, bits.n_rows)
            own = BitMatrix(np.ascontiguousarray(bits.words[:, start // 64 : -(-stop // 64)]), stop - start)
            of_rows = (None if whole is None else whole[start:stop] for whole in (codes, numbers, folds, weights))
            parts.append(_as_lines(own, terms[start:stop], *of_rows)._gather())
        return _join(parts)

    @property
    def n_lines(self) -> int:
        """Number of lines."""
        return len(self.keys)

    @property
    def n_rows(self) -> int:
        """Number of rows that were counted."""
        return int(self.totals[:, 0].sum())

    @property
    def pays(self) -> bool:
        """Whether the lines are at most half as many as the rows; otherwise the rows themselves serve better."""
        return 2 * self.n_lines <= self.n_rows

    @property
    def folds(self) -> IntArray:
        """Fold of each line, an ndarray of shape (n_lines,)."""
        return (self.keys[:, 0] >> _CODE_BITS).astype(np.int64)

    @property
    def codes(self) -> IntArray:
        """Class of each line, an ndarray of shape (n_lines,); 0 where the target is numbers."""
        return (self.keys[:, 0] & _CODES).astype(np.int64)

    @property
    def patterns(self) -> Words:
        """Where rules hold, an ndarray of shape (n_lines, n_words): rule j is bit ``j % 64`` of word ``j // 64``."""
        return np.ascontiguousarray(self.keys[:, 1 : self.keys.shape[1] - self.n_linear])

    @property
    def linear(self) -> FloatArray:
        """Linear terms, an ndarray of shape (n_lines, n_linear)."""
        return np.ascontiguousarray(self.keys[:, self.keys.shape[1] - self.n_linear :]).view(np.float64)

    @property
    def counts(self) -> IntArray:
        """Rows of each line, unweighted, an ndarray of shape (n_lines,)."""
        return self.totals[:, 0].astype(np.int64)

    @property
    def weights(self) -> FloatArray:
        """Weight of each line, an ndarray of shape (n_lines,)."""
        return self.totals[:, 1].copy()

    @property
    def sums(self) -> FloatArray:
        """Weighted sums of the numbers, an ndarray of shape (n_lines, n_numbers)."""
        return np.hsplit(self.totals[:, 2:], 2)[0]

    @property
    def squares(self) -> FloatArray:
        """Weighted sums of the squares of the numbers, an ndarray of shape (n_lines, n_numbers)."""
        return np.hsplit(self.totals[:, 2:], 2)[1]

    @functools.cached_property
    def bits(self) -> BitMatrix:
        """Rules on the lines."""
        return BitMatrix(_transpose(self.patterns, self.n_rules), self.n_lines)

    def merge(self, other: "PatternTable") -> "PatternTable":
        """Return the table of all the rows together."""
        return _join([self, other])

    def take(self, terms: IntArray) -> "PatternTable":
        """Return the table of some of the terms, given in ascending order; lines that become equal are one."""
        rules, others = terms[terms < self.n_rules], terms[terms >= self.n_rules] - self.n_rules
        patterns = _transpose(self.bits.words[rules], self.n_lines)
        keys = _make_keys(self.keys[:, 0], patterns, self.linear[:, others])
        return PatternTable(len(rules), len(others), keys, self.totals.copy())._gather()._sort()

    def only(self, fold: int) -> "PatternTable":
        """Return the table of one fold, which becomes fold 0."""
        return self._where(self.folds == fold).pool()

    def without(self, fold: int) -> "PatternTable":
        """Return the table of the other folds, which become one."""
        return self._where(self.folds != fold).pool()

    def pool(self) -> "PatternTable":
        """Return the table of all folds as one."""
        keys = self.keys.copy()
        keys[:, 0] &= _CODES
        return replace(self, keys=keys, totals=self.totals.copy())._gather()._sort()

    def _where(self, chosen: BoolArray) -> "PatternTable":
        """Return some of the lines."""
        return replace(self, keys=self.keys[chosen], totals=self.totals[chosen])

    def _gather(self) -> "PatternTable":
        """Return the distinct lines; the arrays of this table are used up."""
        n_lines = _pattern_kernels.gather_lines(self.keys, self.totals)
        return replace(self, keys=self.keys[:n_lines].copy(), totals=self.totals[:n_lines].copy())

    def _sort(self) -> "PatternTable":
        """Return the lines in their order, by fold first."""
        order = np.lexsort(self.keys.T[::-1])
        return replace(self, keys=self.keys[order], totals=self.totals[order])


def _make_keys(heads: Words, patterns: Words, linear: FloatArray) -> Words:
    """Return what makes lines; a linear term of -0 is one of 0."""
    return np.hstack([heads[:, None], patterns, (linear + 0.0).view(np.uint64)])


def _transpose(words: Words, n_columns: int) -> Words:
    """Return the columns of a matrix of bits as rows."""
    turned = np.empty((n_columns, -(-len(words) // 64)), np.uint64)
    _pattern_kernels.transpose_bits(words, turned)
    return turned


def _join(tables: Sequence[PatternTable]) -> PatternTable:
    """Return the distinct lines of several tables in their order."""
    first = tables[0]
    for table in tables:
        terms = (table.n_rules, table.n_linear, table.totals.shape[1])
        if terms != (first.n_rules, first.n_linear, first.totals.shape[1]):
            raise InvalidInputError(
                f"Pattern tables must have the same terms and numbers to be merged; got {first.n_rules} rules and "
                f"{first.n_linear} linear terms, then {table.n_rules} and {table.n_linear}. Count them alike."
            )
    keys, totals = (np.concatenate([vars(table)[name] for table in tables]) for name in ("keys", "totals"))
    return replace(first, keys=keys, totals=totals)._gather()._sort()


def _as_lines(
    bits: BitMatrix,
    linear: FloatArray,
    codes: AnyArray | None,
    numbers: AnyArray | None,
    folds: AnyArray | None,
    weights: AnyArray | None,
) -> PatternTable:
    """Return a table with a line for each row that counts."""
    n_rows, n_numbers = bits.n_rows, 0 if numbers is None else numbers.shape[1]
    totals = np.ones((n_rows, 2 + 2 * n_numbers))
    if weights is not None:
        totals[:, 1] = weights
    if numbers is not None:
        totals[:, 2:] = totals[:, 1:2] * np.hstack([numbers, numbers**2])
    check_rows(linear, totals, totals[:, 1])
    heads = np.zeros(n_rows, np.int64) if codes is None else codes
    counted = totals[:, 1] > 0
    if folds is not None:
        heads = heads | folds << int(_CODE_BITS)
        counted &= folds >= 0
    keys = _make_keys(heads.astype(np.uint64), _transpose(bits.words, n_rows), linear)
    table = PatternTable(bits.n_rules, linear.shape[1], keys, totals)
    return table if counted.all() else table._where(counted)
