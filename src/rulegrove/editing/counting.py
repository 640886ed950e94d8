"""Rows counted once for a session: lines of rows on which all terms that it knows are the same.

This is the pattern table of `design.patterns` in a form that grows: beside the lines it keeps which line each row is
on, so that a further rule parts the lines it cuts and no other rule is looked at again. Folds and classes are columns
of the sums and not lines of their own, so that the weights without each fold are solved for on the same lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rulegrove._typing import AnyArray, ByteArray, FloatArray, IntArray
from rulegrove.columns import Columns
from rulegrove.design.bits import compile_rules
from rulegrove.design.terms import Linear, Term
from rulegrove.editing.families import Family, OfClasses, OfNumbers
from rulegrove.estimators.model import BLOCK_ROWS
from rulegrove.rules.rule import Rule

HELD_AT_ONCE = 32  # rules: a byte for each of them and each row
MOST_PARTS = 2**20  # that lines may fall into at once: they are counted in cache


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a session.

    Attributes
    ----------
    columns : Columns
        The attributes of all rows of the table.
    chosen : ndarray of shape (n_rows,)
        Positions of those that count.
    y : ndarray of shape (n_rows,)
        The place of the class, or a number less `center` in units of `scale`.
    weights : ndarray of shape (n_rows,), optional
    folds : ndarray of shape (n_rows,)
    n_folds : int
        Folds that are held out; rows of a later one never are.
    family : Family
    center, scale : float
    """

    columns: Columns
    chosen: IntArray
    y: AnyArray
    weights: FloatArray | None
    folds: IntArray
    n_folds: int
    family: Family
    center: float = 0.0
    scale: float = 1.0

    @property
    def n_rows(self) -> int:
        """Rows that count."""
        return self.chosen.size

    def take(self, places: IntArray) -> "Rows":
        """Return some of them."""
        return replace(
            self,
            chosen=self.chosen[places],
            y=self.y[places],
            weights=None if self.weights is None else self.weights[places],
            folds=self.folds[places],
        )

    def give_back(self, coefs: FloatArray) -> FloatArray:
        """Return weights, intercepts first, in the units of the user, an ndarray of shape (n_outputs, 1 + n_terms)."""
        return self.family.give_back(coefs, self.center, self.scale)

    def take_over(self, coefs: FloatArray) -> FloatArray:
        """Return weights of terms, without intercepts, as they are solved for."""
        return coefs / self.scale if isinstance(self.family, OfNumbers) else coefs

    @property
    def loss_unit(self) -> float:
        """What losses are multiplied by to be those of the user."""
        with np.errstate(over="ignore", under="ignore"):  # numbers may be such that their squares are none
            return float(np.float64(self.scale) ** self.family.degree)

    @property
    def error_unit(self) -> float:
        """Likewise errors, which of numbers are roots."""
        return self.scale if isinstance(self.family, OfNumbers) else self.loss_unit

    def hold(self, rules: Sequence[Rule]) -> ByteArray:
        """Return where rules hold, an ndarray of shape (n_rules, n_rows)."""
        program = compile_rules(rules, self.columns.n_features)
        held = np.empty((len(rules), self.n_rows), np.uint8)
        whole = self.n_rows == self.columns.n_rows
        for start in range(0, self.n_rows, BLOCK_ROWS):
            here = slice(start, min(start + BLOCK_ROWS, self.n_rows))
            block = self.columns.take(here if whole else self.chosen[here], program.used_features)
            held[:, here] = program.evaluate(block).unpack()
        return held

    def follow(self, line: Linear) -> FloatArray:
        """Return a linear term on the rows."""
        return line.values(self.columns.take(self.chosen, np.array([line.feature]))[0])

    def add_up(self, places: IntArray, n_lines: int) -> tuple[FloatArray, FloatArray]:
        """Return sums of the basis by weight, and of its products by squared weight, of each line and fold."""
        n_folds, weights = int(self.folds.max()) + 1, self.weights
        cells, n_cells = places * n_folds + self.folds, n_lines * n_folds

        def add(values: FloatArray | None) -> FloatArray:
            return np.bincount(cells, values, n_cells).astype(np.float64, copy=False).reshape(n_lines, n_folds, -1)

        if isinstance(self.family, OfClasses):
            cells, n_cells = cells * self.family.n_classes + self.y, n_cells * self.family.n_classes
            sums = add(weights)
            return sums, sums if weights is None else add(weights**2)
        basis, own = self.family.expand(self.y), np.ones(self.n_rows) if weights is None else weights
        sums = np.concatenate([add(own * values) for values in basis], axis=2)
        products = [add(own**2 * basis[one] * basis[other]) for one, other in self.family.pairs]
        return sums, np.concatenate(products, axis=2)


@dataclass(frozen=True, eq=False)
class Counts:
    """Lines of rows on which the known terms are the same.

    Attributes
    ----------
    rows : Rows
    terms : tuple of Rule or Linear
        Those that are known.
    values : ndarray of shape (n_lines, n_terms)
    places : ndarray of shape (n_rows,)
        The line of each row.
    sums : ndarray of shape (n_lines, n_folds, n_basis)
        Of the basis of the family, by weight.
    products : ndarray of shape (n_lines, n_folds, n_pairs)
        Of pairs of it, by squared weight.
    """

    rows: Rows
    terms: tuple[Term, ...]
    values: FloatArray
    places: IntArray
    sums: FloatArray
    products: FloatArray

    @classmethod
    def of(cls, rows: Rows, terms: Sequence[Term]) -> "Counts":
        """Count the rows of a list; with linear terms each row is a line of its own."""
        lines = tuple(term for term in terms if isinstance(term, Linear))
        places, n_lines = (np.arange(rows.n_rows), rows.n_rows) if lines else (np.zeros(rows.n_rows, np.int64), 1)
        values = np.array([rows.follow(line) for line in lines]).reshape(len(lines), n_lines).T
        rules = tuple(term for term in terms if isinstance(term, Rule))
        return cls(rows, lines, values, places, *rows.add_up(places, n_lines)).learn(rules)

    def learn(self, rules: Sequence[Rule]) -> "Counts":
        """Return the lines that further rules leave of these."""
        new = [rule for rule in dict.fromkeys(rules) if rule not in self.terms]
        if not new:
            return self
        places, values = self.places, self.values
        for start in range(0, len(new), HELD_AT_ONCE):
            held = self.rows.hold(new[start : start + HELD_AT_ONCE])
            while len(held):
                n_bits = min(len(held), 8, max(1, (MOST_PARTS // len(values)).bit_length() - 1))
                bits = np.arange(n_bits, dtype=np.uint8)
                parts = (places << n_bits) | np.bitwise_or.reduce(held[:n_bits] << bits[:, None])
                filled = np.bincount(parts, minlength=len(values) << n_bits) > 0
                places, lines = (np.cumsum(filled) - 1)[parts], np.flatnonzero(filled)
                values = np.hstack([values[lines >> n_bits], (lines[:, None] >> bits) & 1])
                held = held[n_bits:]
        sums, products = self.rows.add_up(places, len(values))
        return replace(self, terms=(*self.terms, *new), values=values, places=places, sums=sums, products=products)

    @property
    def n_lines(self) -> int:
        """Number of lines."""
        return len(self.values)

    def take(self, terms: Sequence[Term]) -> FloatArray:
        """Return some of the terms after a one for the intercept, an ndarray of shape (n_lines, 1 + n_taken)."""
        known = {term: column for column, term in enumerate(self.terms)}
        return np.column_stack([np.ones(self.n_lines), self.values[:, [known[term] for term in terms]]])

    def weigh(self, fold: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Return weights and mean targets of the lines: of all rows, or without those of a fold."""
        sums = self.sums if fold is None else np.delete(self.sums, fold, axis=1)
        return self.rows.family.weigh(sums.sum(axis=1))
