"""Rules counted on rows that did not choose them: sums that add up over blocks, batches and machines.

One pass is enough. For each rule there are sums over the rows where it holds, for the tests against the base rate. For
those given the others there is the pattern table of the list, whose lines are few unless it has linear terms; then
rows of a very large table are drawn, by random numbers that belong to their positions.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rulegrove._hashing import hash_positions
from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove.columns import Columns
from rulegrove.design.bits import BitMatrix, compile_rules
from rulegrove.design.patterns import PatternTable
from rulegrove.design.terms import Linear
from rulegrove.estimators.model import BLOCK_ROWS, RuleModel
from rulegrove.rules.rule import Rule

GIVEN_ROWS = 65_536  # of a list with linear terms, each row a line of its own, that enter the tests given the others
_SEED = 11  # of the random numbers that draw them: others than those of folds


@dataclass(frozen=True, eq=False)
class EvidenceCounts:
    """What some rows tell of the rules of a list; a state.

    Attributes
    ----------
    held : ndarray of shape (n_rules, n_columns)
        Sums over the rows on which each rule holds: `TargetSums` for numbers; for classes number of rows, sums of
        weights, their squares and cubes, then weights and squared weights of each class.
    everywhere : ndarray of shape (n_columns,)
        The same over all rows.
    table : PatternTable
        The list on the rows for tests given the others, with sums of weights and targets.
    """

    held: FloatArray
    everywhere: FloatArray
    table: PatternTable

    def merge(self, other: "EvidenceCounts") -> "EvidenceCounts":
        """Return the counts of both sets of rows."""
        return EvidenceCounts(self.held + other.held, self.everywhere + other.everywhere, self.table.merge(other.table))

    @property
    def n_rows(self) -> int:
        """Rows of positive weight."""
        return int(np.rint(self.everywhere[0]))


@dataclass(frozen=True, eq=False)
class EvidenceCounter:
    """What counts the rules of a list on some rows; picklable, for the rows may be on another machine.

    Attributes
    ----------
    model : RuleModel
    center, scale : float
        Numbers are counted less a center and in units of a scale, so that their powers lose no digits.
    limit : int
        Rows whose random numbers are below it enter the tests given the others; ``2**64`` takes all.
    """

    model: RuleModel
    center: float = 0.0
    scale: float = 1.0
    limit: int = 2**64

    @classmethod
    def of(cls, model: RuleModel, n_rows: int, center: float = 0.0, scale: float = 1.0) -> "EvidenceCounter":
        """Return the counter of a list on so many rows."""
        drawn = n_rows > GIVEN_ROWS and any(isinstance(term, Linear) for term in model.terms)
        return cls(model, center, scale, int(GIVEN_ROWS / n_rows * 2.0**64) if drawn else 2**64)

    @property
    def rules(self) -> list[Rule]:
        """The rules of the list."""
        return [term for term in self.model.terms if isinstance(term, Rule)]

    @property
    def lines(self) -> list[Linear]:
        """The linear terms of the list."""
        return [term for term in self.model.terms if isinstance(term, Linear)]

    def empty(self) -> EvidenceCounts:
        """Return the counts of no rows."""
        nothing = np.empty(0)
        held = np.zeros((len(self.rules), self._expand(nothing.astype(np.int64), nothing).shape[1]))
        bits = BitMatrix(np.empty((len(self.rules), 0), dtype=np.uint64), 0)
        table = self._tabulate(bits, np.empty((0, len(self.lines))), nothing, nothing)
        return EvidenceCounts(held, held.sum(axis=0), table)

    def __call__(
        self, columns: Columns, y: AnyArray, weights: FloatArray | None, positions: IntArray
    ) -> EvidenceCounts:
        """Count some rows.

        Parameters
        ----------
        columns : Columns
        y : ndarray of shape (n_rows,)
            Places of the classes among those of the model, or numbers.
        weights : ndarray of shape (n_rows,), optional
        positions : ndarray of shape (n_rows,)
            In the whole table.
        """
        own = np.ones(len(y)) if weights is None else weights
        values = self._expand(y, own)
        counts = self.empty()
        held, table = counts.held, counts.table
        for rows, bits, linear in self._evaluate(columns):
            held += bits.sums(values[rows])
            here = own[rows]
            if self.limit < 2**64:
                here = here * (hash_positions(_SEED, positions[rows]) < np.uint64(self.limit))
            table = table.merge(self._tabulate(bits, linear, y[rows], here))
        return EvidenceCounts(held, values.sum(axis=0), table)

    def _evaluate(self, columns: Columns) -> Iterator[tuple[slice, BitMatrix, FloatArray]]:
        """Yield the rows in blocks, with the rules and the linear terms on each."""
        program, lines = compile_rules(self.rules, columns.n_features), self.lines
        features = np.array([line.feature for line in lines], dtype=np.int64)
        for start in range(0, columns.n_rows, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, columns.n_rows))
            bits = program.evaluate(columns.take(rows, program.used_features))
            block = columns.take(rows, features)
            linear = [line.values(values) for line, values in zip(lines, block, strict=True)]
            yield rows, bits, np.array(linear).reshape(len(lines), bits.n_rows).T

    def _expand(self, y: AnyArray, weights: FloatArray) -> FloatArray:
        """Return the columns to be added up; see `EvidenceCounts.held`."""
        first = np.column_stack([weights > 0, weights, weights**2, weights**3])
        if self.model.labels:
            members = np.eye(len(self.model.labels))[y]
            return np.hstack([first, weights[:, None] * members, (weights**2)[:, None] * members])
        numbers = self._center(y, weights)
        powers = [weights * numbers, weights * numbers**2, weights * numbers**3]
        return np.column_stack([first, *powers, weights**2 * numbers, weights**2 * numbers**2])

    def _center(self, y: AnyArray, weights: FloatArray) -> FloatArray:
        """Return numbers less the center; those without weight may be anything."""
        return np.where(weights > 0, (np.asarray(y, dtype=np.float64) - self.center) / self.scale, 0.0)

    def _tabulate(self, bits: BitMatrix, linear: FloatArray, y: AnyArray, weights: FloatArray) -> PatternTable:
        """Count rows by pattern, with sums that make `TargetSums` of each line."""
        if self.model.labels:
            return PatternTable.count(bits, linear, codes=y.astype(np.int64), numbers=weights[:, None], weights=weights)
        own = self._center(y, weights)
        numbers = np.column_stack([own, own**3, weights, weights * own, weights * own**2])
        return PatternTable.count(bits, linear, numbers=numbers, weights=weights)
