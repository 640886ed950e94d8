"""Candidates counted: their statistics by fold, as problems for a solver."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rulegrove._progress import Progress
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.design.bits import compile_rules
from rulegrove.design.evaluated import EvaluatedRules, evaluate_table, fits_as_bits
from rulegrove.design.linear import LinearTerms
from rulegrove.design.rows import Rows, collect_rows
from rulegrove.design.statistics import Margins, Moments, Statistics, collect_margins, collect_statistics
from rulegrove.design.terms import Terms
from rulegrove.estimators._constraints import NO_CONSTRAINTS, Constraints
from rulegrove.estimators._training import NEVER_HELD_OUT, TrainingData
from rulegrove.rules.rule import Rule
from rulegrove.rules.simplify import simplify, thin
from rulegrove.solvers.base import Problem
from rulegrove.walk import Fold

Candidates = tuple[tuple[Rule, ...], LinearTerms]
ALL_FOLDS = slice(None)
TRAINED = slice(1)  # where a single fold is told apart from the others
Counted = Statistics | EvaluatedRules  # candidates whose pairs are counted


@dataclass(frozen=True)
class Request:
    """Candidates to be counted.

    Attributes
    ----------
    rules : tuple of Rule
    linear : LinearTerms
    output : int, optional
        The only output that they serve; all by default.
    held_out : int, optional
        The only fold that is told apart from the others.
    apart : bool
        Whether all folds are told apart, where none is the only one.
    pairs : bool
        Whether pairs of terms are counted, too; without them the counts are `Margins` of all folds.
    """

    rules: tuple[Rule, ...]
    linear: LinearTerms
    output: int | None = None
    held_out: int | None = None
    apart: bool = True
    pairs: bool = True

    @property
    def outputs(self) -> slice:
        """Columns of the target that they serve."""
        return slice(None) if self.output is None else slice(self.output, self.output + 1)

    def sides(self, folds: IntArray) -> IntArray:
        """Return the folds as the request tells them apart."""
        if self.held_out is None and self.apart:
            return folds
        return np.where(folds < 0, NEVER_HELD_OUT, (folds == self.held_out).astype(np.int64))

    def count_sides(self, n_folds: int) -> int:
        """Return how many folds the request tells apart of so many."""
        if self.held_out is not None:
            return 2
        return n_folds if self.apart else 1


@dataclass(frozen=True)
class Outline:
    """What is left of a design that is solved: pairs of many terms take far more memory than all else in a fit.

    Attributes
    ----------
    terms : Terms
    margins : Margins
        What all rows of the table say of each of them.
    statistics : Statistics, optional
        Those of the whole table, where they are kept to be merged with those of later rows.
    """

    terms: Terms
    margins: Margins
    statistics: Statistics | None = None


@dataclass(frozen=True)
class Design:
    """Candidate terms, their statistics by fold and the moments of all folds.

    Attributes
    ----------
    terms : Terms
    statistics : Statistics
    total : Moments
    rows : Rows, optional
        The rows themselves, fold after fold, for a solver whose loss needs them.
    targets : ndarray of shape (n_rows, n_outputs), optional
        The outputs of these rows.
    starts : ndarray of shape (n_folds + 1,), optional
        Where each fold begins among the rows.
    signs : ndarray of shape (n_terms,), optional
        Signs that the coefficients must have, as in `Problem`.
    unpenalised : ndarray of shape (n_terms,), optional
        Terms that the penalty leaves alone, as in `Problem`.
    whole : Moments, optional
        Moments of the whole table, where the statistics are those of rows drawn from it.
    """

    terms: Terms
    statistics: Statistics
    total: Moments
    rows: Rows | None = None
    targets: FloatArray | None = None
    starts: IntArray | None = None
    signs: IntArray | None = None
    unpenalised: BoolArray | None = None
    whole: Moments | None = None

    def outline(self, *, keeps: bool = False) -> Outline:
        """Return what is needed of the design once it is solved; `keeps` asks for statistics of the whole table."""
        moments = self.total if self.whole is None else self.whole
        return Outline(self.terms, moments.margins, self.statistics if keeps and self.whole is None else None)

    def problems(self) -> list[Problem]:
        """Return the whole data as a solver wants it, one problem an output."""
        problems = self._constrain(as_problems(self.total))
        if self.rows is None or self.targets is None:
            return problems
        return [
            replace(problem, rows=replace(self.rows, y=y)) for problem, y in zip(problems, self.targets.T, strict=True)
        ]

    def fold(self, fold: int) -> list[Fold]:
        """Gather what cross-validation needs of a fold, one record for each output: train = total - fold."""
        held_out = self.statistics.fold_moments(fold)
        problems = self._constrain(as_problems(self.total - held_out))
        if self.rows is None or self.targets is None or self.starts is None:
            return [Fold(problem, held_out.of_output(output)) for output, problem in enumerate(problems)]
        kept, left_out = self.rows.hold_out(int(self.starts[fold]), int(self.starts[fold + 1]))
        return [
            Fold(replace(problem, rows=replace(kept, y=y)), replace(left_out, y=y))
            for problem, y in zip(problems, self.targets.T, strict=True)
        ]

    def _constrain(self, problems: list[Problem]) -> list[Problem]:
        """Return problems with what their coefficients must respect."""
        if self.signs is None and self.unpenalised is None:
            return problems
        return [replace(problem, signs=self.signs, unpenalised=self.unpenalised) for problem in problems]


def as_problems(moments: Moments) -> list[Problem]:
    """Return moments as a solver wants them, one problem an output; all share one Gram."""
    first = Problem.from_moments(
        moments.weight, moments.x_sum, moments.gram, moments.x_y[:, 0], float(moments.y_sum[0]), float(moments.y_y[0])
    )
    others = zip(moments.x_y.T[1:], moments.y_sum[1:], moments.y_y[1:], strict=True)
    return [first, *(first.retarget(x_y, float(y_sum), float(y_y)) for x_y, y_sum, y_y in others)]


def build_design(
    data: TrainingData,
    candidates: Candidates,
    folds: IntArray,
    max_correlation: float,
    needs_rows: bool,
    n_threads: int,
    progress: Progress,
    constraints: Constraints = NO_CONSTRAINTS,
) -> Design:
    """Count the candidates and make a design of them."""
    counted = count_candidates(data, candidates, folds, n_threads, progress)
    return make_design(data, candidates, counted, folds, max_correlation, needs_rows, n_threads, constraints)


def make_design(
    data: TrainingData,
    candidates: Candidates,
    counted: Counted,
    folds: IntArray,
    max_correlation: float,
    needs_rows: bool,
    n_threads: int,
    constraints: Constraints = NO_CONSTRAINTS,
    strong_in: slice = ALL_FOLDS,
) -> Design:
    """Drop repeats among counted candidates; a solver that needs rows gets the bits of what is left.

    Where the data are rows drawn from a larger table, such a solver has these alone: their moments stand beside their
    bits, and those of the whole table are kept to tell of the terms. `strong_in` are the folds whose targets may tell
    which of two near repeats is the stronger one.
    """
    design = choose_terms(candidates, counted, max_correlation, constraints, strong_in)
    if not needs_rows:
        return design
    program = compile_rules(design.terms.rules, data.columns.n_features)
    rows, targets, starts = collect_rows(
        data.columns, program, design.terms.linear, data.targets, folds, weights=data.weights, n_threads=n_threads
    )
    design = replace(design, rows=rows, targets=targets, starts=starts)
    if data.drawn is None:
        return design
    rules, linear = design.terms.rules, design.terms.linear
    drawn = count_candidates(data, (rules, linear), folds, n_threads, Progress()).keep_rules(np.arange(len(rules)))
    return replace(design, statistics=drawn, total=drawn.moments(), whole=design.total)


def count_requests(
    data: TrainingData, requests: Sequence[Request], folds: IntArray, n_threads: int, progress: Progress
) -> Iterator[Counted | Margins]:
    """Yield the counts of one request after the other, each from one pass over the rows when it is asked for."""
    for request in requests:
        part = replace(data, targets=data.targets[:, request.outputs])
        stage, candidates = progress.stage("Counting rules"), (request.rules, request.linear)
        if request.pairs:
            yield count_candidates(part, candidates, request.sides(folds), n_threads, stage)
        else:
            yield count_alone(part, candidates, request.sides(folds), n_threads, stage)


def count_alone(
    data: TrainingData, candidates: Candidates, folds: IntArray, n_threads: int, progress: Progress
) -> Margins:
    """Return what all rows tell of each candidate by itself."""
    rules, linear = candidates
    program = compile_rules(rules, data.columns.n_features)
    table = (data.columns, program, linear, data.targets, folds)
    return collect_margins(*table, weights=data.weights, n_threads=n_threads, on_progress=progress)


def count_candidates(
    data: TrainingData, candidates: Candidates, folds: IntArray, n_threads: int, progress: Progress
) -> Counted:
    """Return the statistics of all candidates from one pass over the rows, or the bits to count them from."""
    rules, linear = candidates
    program = compile_rules(rules, data.columns.n_features)
    table = (data.columns, program, linear, data.targets, folds)
    if data.weights is None and fits_as_bits(data.columns.n_rows, len(rules), folds):
        return evaluate_table(*table, n_threads=n_threads, on_progress=progress)
    return collect_statistics(*table, weights=data.weights, n_threads=n_threads, on_progress=progress)


def find_strengths(counted: Counted, folds: slice) -> FloatArray:
    """Return how much each rule says of the target: its covariance with it, over the rule's own spread.

    Seven digits are enough, and the same however the rows are divided.
    """
    sums, weights, whole, total = counted.sum_targets(folds)
    spreads = np.sqrt(weights * np.maximum(1.0 - weights / total, 0.0))
    covariances = np.linalg.norm(sums - np.outer(weights, whole / total), axis=1)
    strengths = np.divide(covariances, spreads, out=np.zeros_like(spreads), where=spreads > 0.0)
    return np.asarray(strengths.astype(np.float32), dtype=np.float64)


def choose_terms(
    candidates: Candidates,
    counted: Counted,
    max_correlation: float,
    constraints: Constraints = NO_CONSTRAINTS,
    folds: slice = ALL_FOLDS,
) -> Design:
    """Return the candidates without repeats and near repeats among the rules, which the counts tell.

    Of near repeats the one stays that says most of the target, in the folds that may be asked for it.
    """
    rules, linear = candidates
    shared, total = counted.shared(), counted.total
    forced = constraints.find_forced(rules)
    simplified = simplify(rules, shared, total, forced)
    kept = thin(rules, shared, total, max_correlation, forced, simplified.kept, find_strengths(counted, folds))
    aliases = dict(zip(simplified.kept.tolist(), simplified.aliases, strict=True))
    terms = Terms(tuple(rules[k] for k in kept), linear, tuple(aliases[k] for k in kept.tolist()))
    statistics = counted.keep_rules(kept)
    signs, unpenalised = constraints.signs(terms), constraints.unpenalised(terms)
    return Design(terms, statistics, statistics.moments(), signs=signs, unpenalised=unpenalised)
