"""The rows themselves, as bit columns and linear terms: for losses that no sums can stand for."""

import functools
from dataclasses import dataclass, replace

import numpy as np

from rulegrove._typing import FloatArray, IntArray, Words
from rulegrove.columns import Columns
from rulegrove.design import _kernels
from rulegrove.design.bits import BitMatrix, RuleProgram
from rulegrove.design.linear import LinearTerms
from rulegrove.design.statistics import BLOCK_ROWS, Moments, Statistics, divide_rows, evaluate_terms
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Loss


@dataclass(frozen=True, eq=False)
class Rows:
    """Rules and linear terms of rows, one target and the weights.

    A row of weight 0 counts nowhere. That is how rows are held out without a copy of the bits, and how each fold fills
    whole words. `Rows.from_dense` and `collect_rows` check that all values are finite; copies of their rows need not.
    """

    bits: BitMatrix  # rules on the rows, their number a multiple of 64
    linear: FloatArray  # (n_rows, n_linear)
    y: FloatArray  # (n_rows,)
    weights: FloatArray  # (n_rows,)

    def __post_init__(self) -> None:
        n_rows = self.bits.n_rows
        if n_rows % 64 or not len(self.linear) == len(self.y) == len(self.weights) == n_rows:
            raise InvalidInputError(
                f"Rows come in whole words of 64, as many of each kind; got {n_rows} of bits, {len(self.linear)} of "
                f"linear terms, {len(self.y)} targets and {len(self.weights)} weights."
            )

    @classmethod
    def from_dense(
        cls, rules: FloatArray | IntArray, linear: FloatArray, y: FloatArray, weights: FloatArray | None = None
    ) -> "Rows":
        """Return the rows of 0/1 columns and linear terms, all of weight one by default."""
        n_rows, n_words = len(y), -(-len(y) // 64)
        octets = np.packbits(np.asarray(rules).astype(bool), axis=0, bitorder="little").T
        words = np.zeros((octets.shape[0], n_words), dtype="<u8")
        words.view(np.uint8)[:, : octets.shape[1]] = octets
        bits = BitMatrix(words.astype(np.uint64, copy=False), 64 * n_words)
        padding = 64 * n_words - n_rows
        weights = np.ones(n_rows) if weights is None else weights
        check_rows(linear, y, weights)
        return cls(
            bits,
            np.pad(linear, ((0, padding), (0, 0))),
            np.pad(np.asarray(y, dtype=np.float64), (0, padding)),
            np.pad(np.asarray(weights, dtype=np.float64), (0, padding)),
        )

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return self.bits.n_rules

    @property
    def n_terms(self) -> int:
        """Number of rules and linear terms."""
        return self.n_rules + int(self.linear.shape[1])

    @functools.cached_property
    def weight(self) -> float:
        """Total weight."""
        return float(self.weights.sum())

    @functools.cached_property
    def counted(self) -> Words:
        """Bits of the rows that have weight, an ndarray of shape (n_words,)."""
        octets = np.packbits(self.weights > 0, bitorder="little")
        return octets.view("<u8").astype(np.uint64, copy=False)

    @functools.cached_property
    def common_weight(self) -> float:
        """Weight of every row that has any, or 0 if weights differ."""
        positive = self.weights[self.weights > 0]
        return float(positive[0]) if positive.size and bool((positive == positive[0]).all()) else 0.0

    def take(self, terms: IntArray) -> "Rows":
        """Return some of the terms, given in ascending order, so that rules stay before linear terms."""
        rules, others = terms[terms < self.n_rules], terms[terms >= self.n_rules] - self.n_rules
        linear = np.ascontiguousarray(self.linear[:, others])
        return replace(self, bits=BitMatrix(self.bits.words[rules], self.bits.n_rows), linear=linear)

    def take_words(self, words: IntArray) -> "Rows":
        """Return the rows of some words of 64."""
        places = rows_of_words(words)
        bits = BitMatrix(np.ascontiguousarray(self.bits.words[:, words]), 64 * len(words))
        return Rows(bits, self.linear[places], self.y[places], self.weights[places])

    def hold_out(self, first: int, last: int) -> tuple["Rows", "Rows"]:
        """Return the rows without those of positions ``first .. last - 1``, and these alone; bits are shared."""
        kept, held_out = self.weights.copy(), np.zeros_like(self.weights)
        kept[first:last] = 0.0
        held_out[first:last] = self.weights[first:last]
        return replace(self, weights=kept), replace(self, weights=held_out)

    def scores(self, coef: FloatArray, intercept: float) -> FloatArray:
        """Return F of every row, an ndarray of shape (n_rows,)."""
        used = np.flatnonzero(coef[: self.n_rules])
        rules = BitMatrix(self.bits.words[used], self.bits.n_rows)
        return intercept + rules.dot(coef[used]) + self.linear @ coef[self.n_rules :]

    def sums(self, values: FloatArray) -> FloatArray:
        """Return ``X'values``, an ndarray of shape (n_terms,)."""
        sums = np.empty(self.n_terms)
        _kernels.sum_rows(self.bits.words, np.ascontiguousarray(values), sums)
        sums[self.n_rules :] = values @ self.linear
        return sums

    def moments(self, weights: FloatArray | None = None) -> Moments:
        """Return the moments of the terms and the target, under other weights if given."""
        weights = self.weights if weights is None else weights
        statistics = Statistics.zeros(1, self.n_rules, self.n_terms - self.n_rules, 1)
        if weights is self.weights and self.common_weight:
            here = (self.weights > 0)[:, None]
            bits = BitMatrix(self.bits.words & self.counted, self.bits.n_rows)
            statistics.update(0, bits, self.linear * here, self.y[:, None] * here)
            statistics.weight[:] = here.sum()
            common = self.common_weight
            moments = statistics.moments()
            return moments if common == 1.0 else moments.scaled(common)
        statistics.update(0, self.bits, self.linear, self.y[:, None], weights)
        return statistics.moments()

    def risks(self, loss: Loss, coefs: FloatArray, intercepts: FloatArray) -> FloatArray:
        """Return the mean loss of several models, whose coefficients are the rows of `coefs`."""
        used = np.flatnonzero(coefs.any(axis=0))
        part = self.take(used).take_words(np.flatnonzero(self.counted))
        return np.array(
            [
                part.weights @ loss.value(part.y, part.scores(coef[used], intercept)) / self.weight
                for coef, intercept in zip(coefs, intercepts, strict=True)
            ]
        )


def check_rows(linear: FloatArray, targets: FloatArray, weights: FloatArray) -> None:
    """Raise unless all is finite and no weight negative."""
    if not (np.isfinite(targets).all() and np.isfinite(weights).all() and np.isfinite(linear).all()):
        raise InvalidInputError("Rows must be finite; got NaN or infinity among targets, weights or linear terms.")
    if (np.asarray(weights) < 0).any():
        raise InvalidInputError("Weights of rows must not be negative.")


def rows_of_words(words: IntArray) -> IntArray:
    """Return the positions of the rows of some words of 64."""
    return (64 * words[:, None] + np.arange(64)).ravel()


def collect_rows(
    columns: Columns,
    program: RuleProgram,
    linear_terms: LinearTerms,
    y: FloatArray,
    folds: IntArray,
    weights: FloatArray | None = None,
    n_threads: int = 1,
) -> tuple[Rows, FloatArray, IntArray]:
    """Evaluate the terms on every row that counts, fold by fold; a row of fold -1 is left out.

    Each fold is filled up to whole words with rows of weight 0. Returned are the rows with the first output, all
    outputs in that order, and where each fold begins, with the end of the last.
    """
    sizes = np.bincount(folds[folds >= 0])
    starts = np.cumsum([0, *(64 * -(-sizes // 64))], dtype=np.int64)
    n_rows, places = int(starts[-1]), starts.copy()
    words = np.zeros((program.n_rules, n_rows // 64), dtype=np.uint64)
    linear = np.zeros((n_rows, linear_terms.n_terms))
    targets, row_weights = np.zeros((n_rows, y.shape[1])), np.zeros(n_rows)
    for fold, rows in divide_rows(columns.n_rows, folds, None, BLOCK_ROWS):
        bits, terms = evaluate_terms(columns, rows, program, linear_terms, n_threads)
        place = int(places[fold])
        places[fold] += bits.n_rows
        here = slice(place, place + bits.n_rows)
        words[:, place // 64 : place // 64 + bits.words.shape[1]] = bits.words
        linear[here], targets[here] = terms, y[rows]
        row_weights[here] = 1.0 if weights is None else weights[rows]
    check_rows(linear, targets, row_weights)
    return Rows(BitMatrix(words, n_rows), linear, targets[:, 0].copy(), row_weights), targets, starts
