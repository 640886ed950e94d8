"""A pool of rules: grown, counted, solved for, a point chosen."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import numpy as np

from rulegrove._progress import Progress
from rulegrove._threads import run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove._warn import warn_user
from rulegrove.design.statistics import Moments
from rulegrove.design.terms import Terms
from rulegrove.estimators._design import ALL_FOLDS, TRAINED, Candidates, Counted, Design, Outline, Request, make_design
from rulegrove.estimators._growing import Growth, grow_rules
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators._units import Units
from rulegrove.exceptions import SampleWarning
from rulegrove.joint_selection import Joint
from rulegrove.projection import Point
from rulegrove.refit import Kept
from rulegrove.selection import Chosen, select
from rulegrove.solvers.base import BaseSolver, Problem
from rulegrove.walk import Fold

DRAWN_ERRORS = 5.0  # standard errors by which the squared error of drawn rows may differ from that of all
ROUNDING = 1e-9
MOST_LINES = 100  # that are solved for once more though the path has dropped them


@dataclass(frozen=True)
class Plan:
    """What to do with a pool of rules: how to grow them, solve for them and choose among the points.

    Attributes
    ----------
    growth : Growth
    solver : BaseSolver
    selection : {"1se", "min"} or float
        As in `select`.
    folds : ndarray of shape (n_rows,)
        Fold of each row.
    n_folds : int
    honest : bool
        Whether rules are grown anew without each fold.
    joint : Joint or None
        How outputs are solved together, if they are.
    n_threads : int
    refits : bool
        Whether the terms that the path keeps are solved for once more (`rulegrove.refit`).
    keeps : bool
        Whether the statistics of solved pools are kept.
    """

    growth: Growth
    solver: BaseSolver
    selection: str | float
    folds: IntArray
    n_folds: int
    honest: bool
    joint: Joint | None
    n_threads: int
    refits: bool = False
    keeps: bool = False


@dataclass(frozen=True)
class Pool:
    """One pool of rules, solved for its outputs.

    Attributes
    ----------
    design : Outline
    fold_terms : list of Terms
        The candidates of each fold: those of the design unless they were grown anew.
    outputs : list of Chosen
    kept : list of list of Kept
        What is to be solved for once more, if anything: the terms of each output in the whole data, then without each
        fold.
    """

    design: Outline
    fold_terms: list[Terms]
    outputs: list[Chosen]
    kept: list[list[Kept]]

    def points(self) -> list[Point]:
        """Return the coefficients of the candidates and the intercept of each output."""
        return [chosen.point for chosen in self.outputs]

    def fold_points(self, fold: int) -> list[Point]:
        """Return the same without a fold, for its candidates."""
        return [chosen.selection.fold_points[fold] for chosen in self.outputs]

    def give_back(self, units: Units, selection: str | float) -> "Pool":
        """Return the pool in the user's units, who may have given the point as `selection`.

        The statistics stay as they were counted.
        """
        design = replace(self.design, margins=units.give_margins(self.design.margins))
        outputs = [
            Chosen(
                units.give_path(one.path),
                units.give_selection(one.selection, selection),
                units.give_solver(one.solver),
                None if one.refitted is None else units.give_point(one.refitted),
            )
            for one in self.outputs
        ]
        return replace(self, design=design, outputs=outputs)


def spawn_pairs(
    rngs: Sequence[np.random.Generator], n_pools: int
) -> list[tuple[np.random.Generator, np.random.Generator]]:
    """Two generators for each pool of rules; a single pool gets those that are given."""
    first, second = rngs
    return [(first, second)] if n_pools == 1 else list(zip(first.spawn(n_pools), second.spawn(n_pools), strict=True))


@dataclass(frozen=True)
class Grown:
    """The candidates of a pool, not yet counted: those of all rows and those grown without each fold, as far as any."""

    data: TrainingData
    output: int | None
    candidates: Candidates
    of_folds: list[Candidates]

    def requests(self) -> list[Request]:
        """Return what is to be counted: the candidates of all rows first."""
        whole = [Request(*self.candidates, self.output, apart=not self.of_folds)]
        return whole + [Request(*own, self.output, fold) for fold, own in enumerate(self.of_folds)]


Item = TypeVar("Item")
Count = Callable[[Sequence[Request], Progress], Iterator[Counted]]


def fit_pools(
    parts: Sequence[TrainingData],
    plan: Plan,
    pairs: Sequence[tuple[np.random.Generator, np.random.Generator]],
    count: Count,
    progress: Progress,
) -> list[Pool]:
    """Grow the rules of all pools, count them, solve for their coefficients.

    Parameters
    ----------
    parts : sequence of TrainingData
        One for each pool of a run: all outputs, or one.
    plan : Plan
    pairs : sequence of pairs of Generator
        For each pool one for its rules and one for those of its folds; a multiple of the parts, run after run.
    count : callable
        What counts candidates, over all rows of the table.
    progress : Progress
    """
    grown = [
        grow_pool(part, _output_of(place, parts), plan, *pair, progress)
        for place, part, pair in cycle_parts(parts, pairs)
    ]
    counted = count([request for pool in grown for request in pool.requests()], progress)
    return [solve_pool(pool, plan, counted, progress) for pool in grown]


def cycle_parts(parts: Sequence[TrainingData], others: Sequence[Item]) -> Iterator[tuple[int, TrainingData, Item]]:
    """Yield the place and the data of each pool, with something of its own, run after run."""
    for number, own in enumerate(others):
        place = number % len(parts)
        yield place, parts[place], own


def _output_of(place: int, parts: Sequence[TrainingData]) -> int | None:
    """Return the only output that a pool serves; None if it serves all."""
    return None if len(parts) == 1 else place


def grow_pool(
    data: TrainingData,
    output: int | None,
    plan: Plan,
    rng: np.random.Generator,
    fold_rng: np.random.Generator,
    progress: Progress,
) -> Grown:
    """Grow the rules of a pool; without each fold too, which is honest and as many times the work, if asked to."""
    candidates = grow_rules(data, data.rows, plan.growth, rng, progress.stage("Growing trees"), plan.n_threads)
    if not (isinstance(plan.selection, str) and plan.honest):
        return Grown(data, output, candidates, [])
    return Grown(data, output, candidates, _regrow(data, plan, fold_rng, progress))


def _regrow(data: TrainingData, plan: Plan, rng: np.random.Generator, progress: Progress) -> list[Candidates]:
    """Grow rules without each fold."""
    stage = progress.stage("Regrowing in folds")
    return [
        grow_rules(data, np.flatnonzero((plan.folds >= 0) & (plan.folds != fold)), plan.growth, own_rng, stage)
        for fold, own_rng in enumerate(rng.spawn(plan.n_folds))
    ]


def solve_pool(grown: Grown, plan: Plan, counted: Iterator[Counted], progress: Progress) -> Pool:
    """Solve for the rules of a pool, whose statistics come in the order of its requests."""
    requests = iter(grown.requests())
    design = _make_design(grown, next(requests), next(counted), plan)
    fold_terms, held_out = [design.terms] * plan.n_folds, []
    if grown.of_folds:
        fold_terms = []
        for request in requests:
            regrown = _make_design(grown, request, next(counted), plan)
            fold_terms.append(regrown.terms)
            held_out.append(regrown.fold(1))
    elif isinstance(plan.selection, str):
        held_out = run_tasks(design.fold, range(plan.n_folds), plan.n_threads)
    problems = design.problems()
    outputs = select(
        plan.solver,
        problems,
        held_out,
        together=plan.joint,
        selection=plan.selection,
        exact=grown.data.drawn is not None,
        n_threads=plan.n_threads,
        on_progress=progress.stage("Solving"),
    )
    if design.whole is not None:
        check_drawn(design, outputs)
    kept = _keep(design.terms, problems, fold_terms, held_out, outputs) if plan.refits else []
    return Pool(design.outline(keeps=plan.keeps), fold_terms, outputs, kept)


def _keep(
    terms: Terms,
    problems: Sequence[Problem],
    fold_terms: Sequence[Terms],
    folds: Sequence[Sequence[Fold]],
    outputs: Sequence[Chosen],
) -> list[list[Kept]]:
    """Return what is to be solved for once more: the terms that paths keep, and lines."""

    def keep(terms: Terms, problem: Problem, point: Point, held_out: Moments | None = None) -> Kept:
        columns, n_rules = find_kept(terms, problem, point[0])
        taken = None if held_out is None else held_out.take(columns)
        return Kept(columns, n_rules, problem.take(columns), point[0][columns], taken)

    whole = [keep(terms, problem, chosen.point) for problem, chosen in zip(problems, outputs, strict=True)]
    return [whole] + [
        [
            keep(own, one.problem, chosen.selection.fold_points[fold], cast(Moments, one.held_out))
            for one, chosen in zip(targets, outputs, strict=True)
        ]
        for fold, (own, targets) in enumerate(zip(fold_terms, folds, strict=True))
    ]


def find_kept(terms: Terms, problem: Problem, coef: FloatArray) -> tuple[IntArray, int]:
    """Return the columns of a path's terms, of lines and of terms without a penalty, and how many of them are rules.

    Of very many lines those come along that say most of the target by themselves.
    """
    lines = np.arange(len(terms.rules), len(terms))
    spreads = np.sqrt(np.maximum(problem.gram.diagonal()[lines], np.finfo(np.float64).tiny))
    strongest = np.argsort(-np.abs(problem.x_y[lines]) / spreads, kind="stable")[:MOST_LINES]
    kept = coef != 0
    kept[lines[strongest]] = True
    columns = np.flatnonzero(kept if problem.unpenalised is None else kept | problem.unpenalised)
    return columns, int(np.searchsorted(columns, len(terms.rules)))


def _make_design(grown: Grown, request: Request, counted: Counted, plan: Plan) -> Design:
    """Return the design of counted candidates."""
    return make_design(
        grown.data,
        (request.rules, request.linear),
        counted,
        request.sides(plan.folds),
        plan.growth.settings.max_correlation,
        plan.solver.needs_rows,
        plan.n_threads,
        plan.growth.constraints,
        ALL_FOLDS if request.held_out is None else TRAINED,
    )


def check_drawn(design: Design, outputs: Sequence[Chosen]) -> None:
    """Warn where a model fitted on rows drawn from a table errs otherwise on the whole table than on those rows.

    The squared error of the whole table comes from its moments, that of the rows from the rows, which tell by how much
    chance lets the two differ.
    """
    assert design.whole is not None
    assert design.rows is not None
    assert design.targets is not None
    counted = design.rows.weights > 0
    weights = design.rows.weights[counted]
    for output, chosen in enumerate(outputs):
        coef, intercept = chosen.point
        scores = design.rows.scores(coef, intercept)[counted]
        losses = (design.targets[counted, output] - scores) ** 2
        mean = float(np.average(losses, weights=weights))
        noise = float(np.sqrt(np.sum(weights**2 * (losses - mean) ** 2)) / weights.sum())
        whole = squared_error(design.whole.of_output(output), coef, intercept)
        if abs(whole - mean) > DRAWN_ERRORS * noise + ROUNDING * (mean + whole):
            warn_user(
                f"The model was fitted on a sample of {counted.sum():,} rows, where its mean squared error is "
                f"{mean:.4g}; over all rows it is {whole:.4g}, {abs(whole - mean) / max(noise, 1e-300):.1f} standard "
                "errors away. Take a solver with the squared loss, which goes by all rows.",
                SampleWarning,
            )


def squared_error(moments: Moments, coef: FloatArray, intercept: float) -> float:
    """Return the mean of ``(y - intercept - x coef)**2`` from the moments of one output."""
    used = np.flatnonzero(coef)
    own = moments.take(used)
    coef = coef[used]
    fit = coef @ own.gram @ coef + 2 * intercept * (own.x_sum @ coef) + intercept**2 * own.weight
    cross = own.x_y[:, 0] @ coef + intercept * own.y_sum[0]
    return float((own.y_y[0] - 2 * cross + fit) / own.weight)
