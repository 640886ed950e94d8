"""Rules on all rows of a table as bits: pairs are counted over all folds, then by fold for the rules that are kept."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove.columns import Columns
from rulegrove.design.bits import BitMatrix, RuleProgram
from rulegrove.design.linear import LinearTerms
from rulegrove.design.statistics import BLOCK_ROWS, Statistics, count_folds, divide_rows

_ROWS_PER_COUNT = 8  # rows for each number among the counts of one rule by fold up to which bits are kept


@dataclass(frozen=True, eq=False)
class EvaluatedRules:
    """Rules on the rows of a table, fold by fold, all rows of weight one.

    Counted by fold, many rules take far more memory than their bits on some ten thousand rows. Most of the counts would
    go unused: those of all folds together tell which rules repeat others.
    """

    columns: Columns  # the table
    linear_terms: LinearTerms
    y: FloatArray  # (n_rows, n_outputs)
    # Blocks of each fold: their rows in the table, and the rules on them.
    folds: tuple[tuple[tuple[IntArray | slice, BitMatrix], ...], ...]
    n_threads: int  # threads to use; no result depends on it

    @property
    def total(self) -> float:
        """Number of rows of all folds together."""
        return float(sum(bits.n_rows for blocks in self.folds for _, bits in blocks))

    def shared(self) -> IntArray:
        """Rows that two rules share in all folds together, an ndarray of shape (n_rules, n_rules)."""
        words = np.concatenate([bits.words for blocks in self.folds for _, bits in blocks], axis=1)
        return BitMatrix(words, 64 * words.shape[1]).gram(self.n_threads)

    def sum_targets(self, folds: slice) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Return what rules say of the target in some folds, as `Statistics.sum_targets` does."""
        blocks = [block for fold in self.folds[folds] for block in fold]
        sums: FloatArray = np.sum([bits.sums(self.y[rows]) for rows, bits in blocks], axis=0)
        weights: FloatArray = np.sum([bits.counts() for _, bits in blocks], axis=0).astype(np.float64)
        whole: FloatArray = np.sum([self.y[rows].sum(axis=0) for rows, _ in blocks], axis=0)
        return sums, weights, whole, float(sum(bits.n_rows for _, bits in blocks))

    def keep_rules(self, kept: IntArray) -> Statistics:
        """Statistics of some of the rules, in the order of `kept`, and of all linear terms."""
        statistics = Statistics.zeros(len(self.folds), kept.size, self.linear_terms.n_terms, self.y.shape[1])

        def count(fold: int) -> None:
            for rows, bits in self.folds[fold]:
                linear = self.linear_terms.evaluate(self.columns.take(rows, self.linear_terms.features))
                statistics.update(fold, BitMatrix(bits.words[kept], bits.n_rows), linear, self.y[rows])

        with one_blas_thread():
            run_tasks(count, range(len(self.folds)), self.n_threads)
        return statistics


def fits_as_bits(n_rows: int, n_rules: int, folds: IntArray | None) -> bool:
    """Whether bits are small beside the counts of all rules by fold, and so are cheap to count twice."""
    return n_rows <= _ROWS_PER_COUNT * count_folds(folds) * n_rules


def evaluate_table(
    columns: Columns,
    program: RuleProgram,
    linear_terms: LinearTerms,
    y: FloatArray,
    folds: IntArray | None = None,
    *,
    n_threads: int = 1,
    block_rows: int = BLOCK_ROWS,
    on_progress: Callable[[int, int], None] | None = None,
) -> EvaluatedRules:
    """Evaluate the rules on all rows of a table that count, each with weight one; others as in `collect_statistics`."""
    blocks = list(divide_rows(columns.n_rows, folds, None, block_rows))

    def evaluate(block: tuple[int, IntArray | slice]) -> BitMatrix:
        return program.evaluate(columns.take(block[1], program.used_features))

    evaluated = run_tasks(evaluate, blocks, n_threads)
    if on_progress is not None:
        on_progress(columns.n_rows, columns.n_rows)
    by_fold: list[list[tuple[IntArray | slice, BitMatrix]]] = [[] for _ in range(count_folds(folds))]
    for (fold, rows), bits in zip(blocks, evaluated, strict=True):
        by_fold[fold].append((rows, bits))
    return EvaluatedRules(columns, linear_terms, y, tuple(tuple(own) for own in by_fold), n_threads)
