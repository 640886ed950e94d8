"""A pool of rules: grown, counted, solved for, a point chosen."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from rulegrove._progress import Progress
from rulegrove._threads import run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove._warn import warn_user
from rulegrove.design.statistics import Moments
from rulegrove.design.terms import Terms
from rulegrove.estimators._design import ALL_FOLDS, TRAINED, Candidates, Counted, Design, Request, make_design
from rulegrove.estimators._growing import Growth, grow_rules
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators._units import Units
from rulegrove.exceptions import SampleWarning
from rulegrove.joint_selection import Joint
from rulegrove.projection import Point
from rulegrove.selection import Chosen, select
from rulegrove.solvers.base import BaseSolver, Problem

DRAWN_ERRORS = 5.0  # standard errors by which the squared error of drawn rows may differ from that of all
ROUNDING = 1e-9


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
    n_judged : int
        Folds without which rules are grown anew once the large model is known, to judge its lists by.
    joint : Joint or None
        How outputs are solved together, if they are.
    n_threads : int
    lines : BaseSolver, optional
        The solver for linear terms without rules, if those may have a share in the model.
    """

    growth: Growth
    solver: BaseSolver
    selection: str | float
    folds: IntArray
    n_folds: int
    honest: bool
    n_judged: int
    joint: Joint | None
    n_threads: int
    lines: BaseSolver | None = None


@dataclass(frozen=True)
class Lines:
    """The linear terms of a pool, solved for without its rules; terms without a penalty stay beside them.

    Attributes
    ----------
    outputs : list of Chosen
    columns : ndarray of shape (n_lines,)
        Their places among the candidates of the pool.
    fold_columns : list of ndarray of shape (n_lines,)
        Likewise among the candidates of each fold.
    """

    outputs: list[Chosen]
    columns: IntArray
    fold_columns: list[IntArray]


@dataclass(frozen=True)
class Pool:
    """One pool of rules, solved for its outputs.

    Attributes
    ----------
    design : Design
    fold_terms : list of Terms
        The candidates of each fold: those of the design unless they were grown anew.
    outputs : list of Chosen
    lines : Lines, optional
    share : float
        Of `lines` in the coefficients of the model; the rest is that of all candidates together.
    """

    design: Design
    fold_terms: list[Terms]
    outputs: list[Chosen]
    lines: Lines | None = None
    share: float = 0.0

    def points(self) -> list[Point]:
        """Return the coefficients of the candidates and the intercept of each output."""
        whole = [chosen.point for chosen in self.outputs]
        if self.lines is None:
            return whole
        return self._blend(whole, [chosen.point for chosen in self.lines.outputs], self.lines.columns)

    def fold_points(self, fold: int) -> list[Point]:
        """Return the same without a fold, for its candidates."""
        whole = [chosen.selection.fold_points[fold] for chosen in self.outputs]
        if self.lines is None:
            return whole
        lines = [chosen.selection.fold_points[fold] for chosen in self.lines.outputs]
        return self._blend(whole, lines, self.lines.fold_columns[fold])

    def _blend(self, whole: list[Point], lines: list[Point], columns: IntArray) -> list[Point]:
        """Return the weighted mean of the coefficients of all candidates and those of lines."""
        blended = []
        for (coef, intercept), (slopes, level) in zip(whole, lines, strict=True):
            mean = (1.0 - self.share) * coef
            mean[columns] += self.share * slopes
            blended.append((mean, (1.0 - self.share) * intercept + self.share * level))
        return blended

    def give_back(self, units: Units, selection: str | float) -> "Pool":
        """Return the pool in the user's units, who may have given the point as `selection`.

        The statistics stay as they were counted.
        """
        whole = self.design.whole
        design = replace(
            self.design,
            total=units.give_moments(self.design.total),
            whole=None if whole is None else units.give_moments(whole),
        )

        def give(outputs: list[Chosen]) -> list[Chosen]:
            return [
                Chosen(
                    units.give_path(one.path),
                    units.give_selection(one.selection, selection),
                    units.give_solver(one.solver),
                )
                for one in outputs
            ]

        lines = None if self.lines is None else replace(self.lines, outputs=give(self.lines.outputs))
        return replace(self, design=design, outputs=give(self.outputs), lines=lines)


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
    candidates: Candidates | None
    of_folds: list[Candidates]

    def requests(self) -> list[Request]:
        """Return what is to be counted: the candidates of all rows first."""
        whole = [] if self.candidates is None else [Request(*self.candidates, self.output)]
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
    columns = find_lines(design)
    fold_columns = [columns] * plan.n_folds
    if grown.of_folds:
        fold_terms, fold_columns = [], []
        for request in requests:
            regrown = _make_design(grown, request, next(counted), plan)
            fold_terms.append(regrown.terms)
            fold_columns.append(find_lines(regrown))
            held_out.append(regrown.fold(1))
    elif isinstance(plan.selection, str):
        held_out = run_tasks(design.fold, range(plan.n_folds), plan.n_threads)
    follow = partial(
        select,
        together=plan.joint,
        selection=plan.selection,
        exact=grown.data.drawn is not None,
        n_threads=plan.n_threads,
        on_progress=progress.stage("Solving"),
    )
    problems = design.problems()
    outputs = follow(plan.solver, problems, held_out)
    if design.whole is not None:
        check_drawn(design, outputs)
    if plan.lines is None or not all(own.size for own in (columns, *fold_columns)):
        return Pool(design, fold_terms, outputs)
    lines = follow(
        plan.lines,
        [problem.take(columns) for problem in problems],
        [[one.take(own) for one in fold] for fold, own in zip(held_out, fold_columns, strict=True)],
    )
    return Pool(design, fold_terms, outputs, Lines(lines, columns, fold_columns))


def find_lines(design: Design) -> IntArray:
    """Return the columns of linear terms, and those of terms without a penalty."""
    kept = np.arange(len(design.terms)) >= len(design.terms.rules)
    return np.flatnonzero(kept if design.unpenalised is None else kept | design.unpenalised)


def judge_pools(
    parts: Sequence[TrainingData],
    pools: Sequence[Pool],
    plan: Plan,
    rngs: Sequence[np.random.Generator],
    count: Count,
    progress: Progress,
) -> list[Pool]:
    """Return pools whose folds are few, and whose fold models have rules of their own at the points that were chosen.

    Parameters
    ----------
    parts : sequence of TrainingData
        One for each pool.
    pools : sequence of Pool
        With folds that share the rules of the whole.
    plan : Plan
    rngs : sequence of Generator
        For the rules of the folds of each pool.
    count, progress
        As in `fit_pools`.
    """
    if not isinstance(plan.selection, str):
        return list(pools)
    anew = replace(plan, honest=True, n_folds=plan.n_judged)
    grown = [
        Grown(part, _output_of(place, parts), None, _regrow(part, anew, rng, progress))
        for place, part, rng in cycle_parts(parts, rngs)
    ]
    counted = count([request for pool in grown for request in pool.requests()], progress)
    return [_solve_again(pool, own, anew, counted) for pool, own in zip(pools, grown, strict=True)]


def _solve_again(pool: Pool, grown: Grown, plan: Plan, counted: Iterator[Counted]) -> Pool:
    """Return a pool with the models of folds that have rules of their own, at the points that were chosen."""
    terms, columns = [], []
    points: list[list[Point]] = []
    slopes: list[list[Point]] = []
    for request in grown.requests():
        regrown = _make_design(grown, request, next(counted), plan)
        terms.append(regrown.terms)
        columns.append(find_lines(regrown))
        problems = [target.problem for target in regrown.fold(1)]
        points.append(_solve_at(pool.outputs, problems, plan))
        if pool.lines is not None and columns[-1].size:
            slopes.append(_solve_at(pool.lines.outputs, [problem.take(columns[-1]) for problem in problems], plan))
    again = replace(pool, fold_terms=terms, outputs=_give_points(pool.outputs, points), lines=None)
    if pool.lines is None or len(slopes) < len(terms):
        return again
    return replace(again, lines=Lines(_give_points(pool.lines.outputs, slopes), pool.lines.columns, columns))


def _solve_at(outputs: Sequence[Chosen], problems: Sequence[Problem], plan: Plan) -> list[Point]:
    """Solve other problems at the points that were chosen for outputs."""
    given = [_point_of(one) for one in outputs]
    if plan.joint is not None and len(problems) > 1:
        solver = outputs[0].solver
        found = select(solver, problems, [], together=plan.joint, selection=given[0], n_threads=plan.n_threads)
    else:
        found = [
            one
            for chosen, problem, point in zip(outputs, problems, given, strict=True)
            for one in select(chosen.solver, [problem], [], selection=point)
        ]
    return [one.path.point(one.selection.index) for one in found]


def _give_points(outputs: Sequence[Chosen], points: Sequence[Sequence[Point]]) -> list[Chosen]:
    """Return outputs with the coefficients of other folds."""
    return [
        replace(chosen, selection=replace(chosen.selection, fold_points=tuple(own[place] for own in points)))
        for place, chosen in enumerate(outputs)
    ]


def _point_of(chosen: Chosen) -> float:
    """Return the chosen point as the solver takes points, which it may tell as what they are for all rows together."""
    path, index = chosen.path, chosen.selection.index
    told = float(path.parameter.values[index])
    if path.parameter.name == "fit_weight":
        return float(path.penalties[index])
    return told / float(np.sqrt(path.weight)) if path.parameter.name == "residual_target" else told


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
