"""Sufficient statistics of squared-error fits: sums that add up over rows, blocks, threads and machines."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove.columns import Columns
from rulegrove.design.bits import BitMatrix, RuleProgram
from rulegrove.design.linear import LinearTerms

BLOCK_ROWS = 32768  # rows whose bits and linear terms exist at a time
MOST_WEIGHTS = 16  # up to here rows are grouped by weight and pairs are counted as integers
_STRIP_RULES = 256  # rules of a thread's task in a matrix product
_DENSE_ELEMENTS = 2**21  # bits expanded to float64 at once for general weights: 16 MB


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of one set of rows over T terms (rules first, then linear terms) and J outputs."""

    weight: float  # sum of the weights
    x_sum: FloatArray  # (T,): weighted sums of the terms
    gram: FloatArray  # (T, T): weighted sums of products of terms
    x_y: FloatArray  # (T, J): weighted sums of products of terms and outputs
    y_sum: FloatArray  # (J,): weighted sums of the outputs
    y_y: FloatArray  # (J,): weighted sums of the squared outputs

    def take(self, terms: IntArray) -> "Moments":
        """Moments of some of the terms."""
        return replace(self, x_sum=self.x_sum[terms], gram=self.gram[np.ix_(terms, terms)], x_y=self.x_y[terms])

    def __sub__(self, part: "Moments") -> "Moments":
        """Moments of the rows that are not in `part`: train = total - fold."""
        return Moments(**{field.name: getattr(self, field.name) - getattr(part, field.name) for field in fields(self)})

    def of_output(self, output: int) -> "Moments":
        """Moments with one of the outputs."""
        here = slice(output, output + 1)
        return replace(self, x_y=self.x_y[:, here], y_sum=self.y_sum[here], y_y=self.y_y[here])

    @property
    def margins(self) -> "Margins":
        """What they say of each term by itself."""
        return Margins(self.weight, self.x_sum.copy(), self.gram.diagonal().copy(), self.x_y, self.y_sum)

    def scaled(self, factor: float) -> "Moments":
        """Moments of the same rows, each with `factor` times its weight."""
        return Moments(**{field.name: factor * getattr(self, field.name) for field in fields(self)})


@dataclass(frozen=True, eq=False)
class Margins:
    """Sums of one set of rows over each of T terms and J outputs, without pairs of terms."""

    weight: float  # sum of the weights
    # x_sum, x_x (T,): weighted sums of the terms and of their squares.
    x_sum: FloatArray
    x_x: FloatArray
    x_y: FloatArray  # (T, J): weighted sums of products of terms and outputs
    y_sum: FloatArray  # (J,): weighted sums of the outputs

    @classmethod
    def zeros(cls, n_terms: int, n_outputs: int) -> "Margins":
        """Return the sums of no rows."""
        return cls(0.0, np.zeros(n_terms), np.zeros(n_terms), np.zeros((n_terms, n_outputs)), np.zeros(n_outputs))

    def merge(self, other: "Margins") -> "Margins":
        """Return the sums of both sets of rows together."""
        return Margins(**{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)})

    def recount(self, terms: IntArray, found: "Margins") -> "Margins":
        """Return the sums of all rows, of which these are some: as found for some terms, in proportion for others."""
        factor = found.weight / self.weight
        x_sum, x_x, x_y = factor * self.x_sum, factor * self.x_x, factor * self.x_y
        x_sum[terms], x_x[terms], x_y[terms] = found.x_sum, found.x_x, found.x_y
        return Margins(found.weight, x_sum, x_x, x_y, found.y_sum)

    def place(self, terms: IntArray, n_terms: int) -> "Margins":
        """Return the sums of so many terms, of which these are some; nothing is known of the others."""
        x_sum, x_x, x_y = np.zeros(n_terms), np.zeros(n_terms), np.zeros((n_terms, self.x_y.shape[1]))
        x_sum[terms], x_x[terms], x_y[terms] = self.x_sum, self.x_x, self.x_y
        return Margins(self.weight, x_sum, x_x, x_y, self.y_sum)


@dataclass(eq=False)
class Statistics:
    """Sums over the rows of each of F folds, for R rules, Q linear terms and J outputs.

    As long as every weight is one, `rule_gram` holds integers: exact, and the same for any division of the rows into
    blocks. Outputs far from zero lose digits when the sums are centred later; shift them first.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.design.bits import BitMatrix
    >>> statistics = Statistics.zeros(n_folds=1, n_rules=2, n_linear=0, n_outputs=1)
    >>> bits = BitMatrix(np.array([[0b011], [0b110]], dtype=np.uint64), n_rows=3)
    >>> statistics.update(0, bits, np.empty((3, 0)), np.array([[1.0], [1.0], [-1.0]]))
    >>> statistics.moments().gram
    array([[2., 1.],
           [1., 2.]])
    >>> statistics.merge(statistics).moments().x_y
    array([[4.],
           [0.]])
    """

    n_rows: IntArray  # (F,): rows, unweighted
    support: IntArray  # (F, R): rows of each rule, unweighted
    weight: FloatArray  # (F,): sum of the weights
    rule_gram: AnyArray  # (F, R, R): rows shared by two rules; their weight, as float64, once a weight differs from one
    rule_linear: FloatArray  # (F, R, Q): weighted sums of linear terms over each rule's rows
    linear_gram: FloatArray  # (F, Q, Q): weighted sums of products of linear terms
    linear_sum: FloatArray  # (F, Q): weighted sums of linear terms
    x_y: FloatArray  # (F, R + Q, J): weighted sums of products of terms and outputs
    # y_sum, y_y (F, J): weighted sums of outputs and of squared outputs.
    y_sum: FloatArray
    y_y: FloatArray

    @classmethod
    def zeros(
        cls, n_folds: int, n_rules: int, n_linear: int, n_outputs: int, *, weighted: bool = False
    ) -> "Statistics":
        """Statistics of no rows; `weighted` prepares for weights other than one."""
        return cls(
            n_rows=np.zeros(n_folds, np.int64),
            support=np.zeros((n_folds, n_rules), np.int64),
            weight=np.zeros(n_folds),
            rule_gram=np.zeros((n_folds, n_rules, n_rules), np.float64 if weighted else np.int64),
            rule_linear=np.zeros((n_folds, n_rules, n_linear)),
            linear_gram=np.zeros((n_folds, n_linear, n_linear)),
            linear_sum=np.zeros((n_folds, n_linear)),
            x_y=np.zeros((n_folds, n_rules + n_linear, n_outputs)),
            y_sum=np.zeros((n_folds, n_outputs)),
            y_y=np.zeros((n_folds, n_outputs)),
        )

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.n_rows)

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return int(self.support.shape[1])

    @property
    def n_terms(self) -> int:
        """Number of rules and linear terms."""
        return int(self.x_y.shape[1])

    def update(
        self,
        fold: int,
        bits: BitMatrix,
        linear: FloatArray,
        y: FloatArray,
        weights: FloatArray | None = None,
        n_threads: int = 1,
    ) -> None:
        """Add a block of rows, all of weight one by default, to a fold; outputs are of shape (n_rows, J)."""
        if bits.n_rows == 0:
            return
        common = 1.0
        if weights is not None and bool((weights == weights[0]).all()):
            common, weights = float(weights[0]), None
        self.n_rows[fold] += bits.n_rows
        self.support[fold] += bits.counts()
        # One thread for BLAS: its sums would depend on the number, and it stalls where cores are shared.
        with one_blas_thread():
            self._add_values(fold, bits, np.hstack((linear, y)), common, weights, n_threads)
            if weights is None:
                self._add_counts(fold, bits, common, n_threads)
            else:
                self._add_pair_weights(fold, bits, weights, n_threads)

    def _add_values(
        self, fold: int, bits: BitMatrix, values: FloatArray, common: float, weights: FloatArray | None, n_threads: int
    ) -> None:
        """Add all sums but those of pairs of rules; `values` are the linear terms and the outputs."""
        n_rules, n_linear = self.n_rules, self.n_terms - self.n_rules
        if weights is None:
            self.weight[fold] += common * bits.n_rows
            totals = common * values.sum(axis=0)
            products = common * (values.T @ values)
            rule_sums = common * bits.sums(values, n_threads)
        else:
            self.weight[fold] += weights.sum()
            totals = weights @ values
            rule_sums = bits.sums(values * weights[:, None], n_threads)
            values = values * np.sqrt(weights)[:, None]
            products = values.T @ values
        self.rule_linear[fold] += rule_sums[:, :n_linear]
        self.linear_gram[fold] += products[:n_linear, :n_linear]
        self.linear_sum[fold] += totals[:n_linear]
        self.x_y[fold, :n_rules] += rule_sums[:, n_linear:]
        self.x_y[fold, n_rules:] += products[:n_linear, n_linear:]
        self.y_sum[fold] += totals[n_linear:]
        self.y_y[fold] += np.diagonal(products)[n_linear:]

    def _add_counts(self, fold: int, bits: BitMatrix, weight: float, n_threads: int) -> None:
        """Add pair counts times one weight."""
        if weight != 1.0:
            self.rule_gram = self.rule_gram.astype(np.float64, copy=False)
        if self.rule_gram.dtype == np.int64:
            bits.add_gram(self.rule_gram[fold], n_threads)
        else:
            gram, counts = self.rule_gram[fold], bits.gram(n_threads)
            for strip in (slice(start, start + _STRIP_RULES) for start in range(0, self.n_rules, _STRIP_RULES)):
                gram[strip] += weight * counts[strip]

    def _add_pair_weights(self, fold: int, bits: BitMatrix, weights: FloatArray, n_threads: int) -> None:
        """Add weights of pairs by matrix products of the expanded bits."""
        self.rule_gram = self.rule_gram.astype(np.float64, copy=False)
        gram = self.rule_gram[fold]
        step = 64 * max(1, _DENSE_ELEMENTS // (64 * max(1, self.n_rules)))
        for start in range(0, bits.n_rows, step):
            stop = min(start + step, bits.n_rows)
            part = BitMatrix(bits.words[:, start // 64 : -(-stop // 64)], stop - start)
            dense = np.multiply(part.to_dense(), np.sqrt(weights[start:stop])[:, None])
            run_tasks(functools.partial(_add_strip, dense, gram), range(0, self.n_rules, _STRIP_RULES), n_threads)

    def merge(self, other: "Statistics") -> "Statistics":
        """Statistics of both sets of rows together."""
        return Statistics(
            **{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)}
        )

    @property
    def total(self) -> float:
        """Weight of all folds together."""
        return float(self.weight.sum())

    def shared(self) -> AnyArray:
        """Rows, or their weight, that two rules share in all folds together, an ndarray of shape (R, R)."""
        return _add_up(self.rule_gram)

    def sum_targets(self, folds: slice) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Return what rules say of the target in some folds.

        That are the sums of the target (R, J) and of the weights (R,) where each rule holds, and over all rows.
        """
        weights = np.diagonal(self.rule_gram[folds], axis1=1, axis2=2).sum(axis=0, dtype=np.float64)
        sums = self.x_y[folds, : self.n_rules].sum(axis=0)
        return sums, weights, self.y_sum[folds].sum(axis=0), float(self.weight[folds].sum())

    def keep_rules(self, kept: IntArray) -> "Statistics":
        """Statistics of some of the rules, in the order of `kept`, and of all linear terms."""
        terms = np.concatenate((kept, np.arange(self.n_rules, self.n_terms)))
        square = np.empty((self.n_folds, kept.size, kept.size), self.rule_gram.dtype)
        for fold, gram in enumerate(self.rule_gram):
            square[fold] = gram[np.ix_(kept, kept)]
        return replace(
            self,
            support=self.support[:, kept],
            rule_gram=square,
            rule_linear=self.rule_linear[:, kept],
            x_y=self.x_y[:, terms],
        )

    def moments(self) -> Moments:
        """Moments of all folds together."""
        return self._moments(slice(None))

    def fold_moments(self, fold: int) -> Moments:
        """Moments of one fold alone."""
        return self._moments(slice(fold, fold + 1))

    def _moments(self, folds: slice) -> Moments:
        """Sum some folds and assemble the terms; integers stay integers until they are added."""
        rules = slice(0, self.n_rules)
        linear = slice(self.n_rules, self.n_terms)
        gram = np.empty((self.n_terms, self.n_terms))
        gram[rules, rules] = _add_up(self.rule_gram[folds])
        gram[rules, linear] = _add_up(self.rule_linear[folds])
        gram[linear, rules] = gram[rules, linear].T
        gram[linear, linear] = _add_up(self.linear_gram[folds])
        # A rule is 0 or 1, its own square: the diagonal holds its sum.
        x_sum = np.concatenate((np.diagonal(gram)[rules], self.linear_sum[folds].sum(axis=0)))
        return Moments(
            weight=float(self.weight[folds].sum()),
            x_sum=x_sum,
            gram=gram,
            x_y=self.x_y[folds].sum(axis=0),
            y_sum=self.y_sum[folds].sum(axis=0),
            y_y=self.y_y[folds].sum(axis=0),
        )


def _add_up(parts: AnyArray) -> AnyArray:
    """Sum over the folds, the first axis; what a single fold has is not copied."""
    total: AnyArray = parts[0] if len(parts) == 1 else parts.sum(axis=0)
    return total


def _add_strip(dense: FloatArray, gram: FloatArray, start: int) -> None:
    """Add a strip of ``dense.T @ dense`` from the diagonal to the last column, and its mirror, to `gram`."""
    stop = min(start + _STRIP_RULES, dense.shape[1])
    square = dense[:, start:stop].T @ dense[:, start:stop]
    rest = dense[:, start:stop].T @ dense[:, stop:]
    gram[start:stop, start:stop] += square
    gram[start:stop, stop:] += rest
    gram[stop:, start:stop] += rest.T


def collect_statistics(
    columns: Columns,
    program: RuleProgram,
    linear_terms: LinearTerms,
    y: FloatArray,
    folds: IntArray | None = None,
    *,
    weights: FloatArray | None = None,
    n_threads: int = 1,
    block_rows: int = BLOCK_ROWS,
    on_progress: Callable[[int, int], None] | None = None,
    onto: Statistics | None = None,
) -> Statistics:
    """Go through a table once and collect the statistics of its rules and linear terms.

    Bits and linear terms exist for one block of rows at a time, so memory does not grow with the table. Folds count
    from 0, and a row of fold -1 or of weight 0 is left out. With few distinct weights the pairs are counted as integers
    for each weight; with many, matrix products take about ten times as long. What is there already `onto` is added to
    in place.
    """
    weighted = weights is not None and bool((weights != 1.0).any())
    statistics = onto or Statistics.zeros(
        count_folds(folds), program.n_rules, linear_terms.n_terms, y.shape[1], weighted=weighted
    )
    done = 0
    for fold, rows in divide_rows(columns.n_rows, folds, weights if weighted else None, block_rows):
        bits, linear = evaluate_terms(columns, rows, program, linear_terms, n_threads)
        row_weights = weights[rows] if weighted and weights is not None else None
        statistics.update(fold, bits, linear, y[rows], row_weights, n_threads)
        done += bits.n_rows
        if on_progress is not None:
            on_progress(done, columns.n_rows)
    return statistics


def collect_margins(
    columns: Columns,
    program: RuleProgram,
    linear_terms: LinearTerms,
    y: FloatArray,
    folds: IntArray | None = None,
    *,
    weights: FloatArray | None = None,
    n_threads: int = 1,
    block_rows: int = BLOCK_ROWS,
    on_progress: Callable[[int, int], None] | None = None,
) -> Margins:
    """Return the sums of each term by itself over all folds, without the pairs that take most of a pass.

    Parameters
    ----------
    columns, program, linear_terms, y, folds, weights, n_threads, block_rows, on_progress
        As in `collect_statistics`.

    Examples
    --------
    >>> from rulegrove.columns import learn_columns
    >>> from rulegrove.design.bits import compile_rules
    >>> from rulegrove.design.linear import fit_linear_terms
    >>> from rulegrove.rules.rule import Condition, Rule
    >>> columns = learn_columns(np.array([[1.0], [2.0], [3.0]]))
    >>> program = compile_rules([Rule((Condition(0, upper=2.5),))], n_features=1)
    >>> linear = fit_linear_terms(np.empty((0, 3)), None, np.empty(0, dtype=np.int64))
    >>> margins = collect_margins(columns, program, linear, np.array([[1.0], [2.0], [5.0]]))
    >>> margins.x_sum, margins.x_y
    (array([2.]), array([[3.]]))
    """
    weighted = weights is not None and bool((weights != 1.0).any())
    margins, done = Margins.zeros(program.n_rules + linear_terms.n_terms, y.shape[1]), 0
    with one_blas_thread():
        for _, rows in divide_rows(columns.n_rows, folds, weights if weighted else None, block_rows):
            bits, linear = evaluate_terms(columns, rows, program, linear_terms, n_threads)
            own = weights[rows] if weighted and weights is not None else np.ones(bits.n_rows)
            margins = margins.merge(_sum_block(bits, linear, y[rows], own, n_threads))
            done += bits.n_rows
            if on_progress is not None:
                on_progress(done, columns.n_rows)
    return margins


def _sum_block(bits: BitMatrix, linear: FloatArray, y: FloatArray, weights: FloatArray, n_threads: int) -> Margins:
    """Return the sums of one block; where all weights are the same, rows are counted."""
    targets = weights[:, None] * y
    if bits.n_rows and (weights == weights[0]).all():
        rule_sums = weights[0] * bits.counts()
        rule_targets = bits.sums(targets, n_threads)
    else:
        sums = bits.sums(np.column_stack((weights, targets)), n_threads)
        rule_sums, rule_targets = sums[:, 0], sums[:, 1:]
    return Margins(
        float(weights.sum()),
        np.concatenate((rule_sums, weights @ linear)),
        np.concatenate((rule_sums, weights @ linear**2)),  # a rule is 0 or 1, its own square
        np.vstack((rule_targets, linear.T @ targets)),
        targets.sum(axis=0),
    )


def evaluate_terms(
    columns: Columns, rows: IntArray | slice, program: RuleProgram, linear_terms: LinearTerms, n_threads: int
) -> tuple[BitMatrix, FloatArray]:
    """Return rules and linear terms on some rows, whose attributes are read once."""
    features = np.union1d(program.used_features, linear_terms.features)
    block = columns.take(rows, features)
    bits = program.evaluate(block[np.searchsorted(features, program.used_features)], n_threads)
    return bits, linear_terms.evaluate(block[np.searchsorted(features, linear_terms.features)])


def count_folds(folds: IntArray | None) -> int:
    """Return the number of folds; one if none are told apart."""
    return 1 if folds is None else int(folds.max(initial=0)) + 1


def divide_rows(
    n_rows: int, folds: IntArray | None, weights: FloatArray | None, block_rows: int
) -> Iterator[tuple[int, IntArray | slice]]:
    """Folds and rows of each block; a block is of one fold and, where distinct weights are few, of one weight."""
    if folds is None and weights is None:
        for start in range(0, n_rows, block_rows):
            yield 0, slice(start, min(start + block_rows, n_rows))
        return
    groups = np.zeros(n_rows, np.int64) if folds is None else folds.astype(np.int64)
    n_distinct = 1
    if weights is not None:
        distinct, positions = np.unique(weights, return_inverse=True)
        if len(distinct) <= MOST_WEIGHTS:
            n_distinct = len(distinct)
            groups = groups * n_distinct + positions
    for group in np.unique(groups[groups >= 0]):
        rows = np.flatnonzero(groups == group)
        if weights is not None:
            rows = rows[weights[rows] != 0]
        for start in range(0, len(rows), block_rows):
            yield int(group) // n_distinct, rows[start : start + block_rows]
