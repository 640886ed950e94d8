"""Candidates counted: their statistics by fold, as problems for a solver."""

from dataclasses import dataclass, replace

import numpy as np

from rulegrove._progress import Progress
from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.bits import compile_rules
from rulegrove.design.linear import LinearTerms
from rulegrove.design.rows import Rows, collect_rows
from rulegrove.design.statistics import Moments, Statistics, collect_statistics
from rulegrove.design.terms import Terms
from rulegrove.estimators._training import TrainingData
from rulegrove.rules.rule import Rule
from rulegrove.rules.simplify import simplify, thin
from rulegrove.solvers.base import Problem
from rulegrove.walk import Fold


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
    """

    terms: Terms
    statistics: Statistics
    total: Moments
    rows: Rows | None = None
    targets: FloatArray | None = None
    starts: IntArray | None = None

    def problems(self) -> list[Problem]:
        """Return the whole data as a solver wants it, one problem an output."""
        problems = as_problems(self.total)
        if self.rows is None or self.targets is None:
            return problems
        return [
            replace(problem, rows=replace(self.rows, y=y)) for problem, y in zip(problems, self.targets.T, strict=True)
        ]

    def fold(self, fold: int) -> list[Fold]:
        """Gather what cross-validation needs of a fold, one record an output: train = total - fold."""
        held_out = self.statistics.fold_moments(fold)
        problems = as_problems(self.total - held_out)
        if self.rows is None or self.targets is None or self.starts is None:
            return [Fold(problem, held_out.of_output(output)) for output, problem in enumerate(problems)]
        kept, left_out = self.rows.hold_out(int(self.starts[fold]), int(self.starts[fold + 1]))
        return [
            Fold(replace(problem, rows=replace(kept, y=y)), replace(left_out, y=y))
            for problem, y in zip(problems, self.targets.T, strict=True)
        ]


def as_problems(moments: Moments) -> list[Problem]:
    """Return moments as a solver wants them, one problem an output; all share one Gram."""
    first = Problem.from_moments(
        moments.weight, moments.x_sum, moments.gram, moments.x_y[:, 0], float(moments.y_sum[0]), float(moments.y_y[0])
    )
    others = zip(moments.x_y.T[1:], moments.y_sum[1:], moments.y_y[1:], strict=True)
    return [first, *(first.retarget(x_y, float(y_sum), float(y_y)) for x_y, y_sum, y_y in others)]


def build_design(
    data: TrainingData,
    candidates: tuple[tuple[Rule, ...], LinearTerms],
    folds: IntArray,
    max_correlation: float,
    needs_rows: bool,
    n_threads: int,
    progress: Progress,
) -> Design:
    """One pass over the rows: statistics of all candidates, then repeats and near repeats among the rules dropped.

    A solver that needs rows gets the bits of the rules that are left by a second pass.
    """
    rules, linear = candidates
    statistics = collect_statistics(
        data.columns,
        compile_rules(rules, data.columns.n_features),
        linear,
        data.targets,
        folds,
        weights=data.weights,
        n_threads=n_threads,
        on_progress=progress,
    )
    shared, total = statistics.rule_gram.sum(axis=0), float(statistics.weight.sum())
    simplified = simplify(rules, shared, total)
    distinct = [rules[k] for k in simplified.kept]
    different = thin(distinct, shared[np.ix_(simplified.kept, simplified.kept)], total, max_correlation)
    terms = Terms(tuple(distinct[k] for k in different), linear, tuple(simplified.aliases[k] for k in different))
    statistics = statistics.keep_rules(simplified.kept[different])
    design = Design(terms, statistics, statistics.moments())
    if not needs_rows:
        return design
    program = compile_rules(terms.rules, data.columns.n_features)
    rows, targets, starts = collect_rows(
        data.columns, program, linear, data.targets, folds, weights=data.weights, n_threads=n_threads
    )
    return replace(design, rows=rows, targets=targets, starts=starts)
