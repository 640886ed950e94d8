"""A pool of rules: grown, counted, solved for, a point chosen."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import numpy as np

from rulegrove._progress import Progress
from rulegrove._threads import run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove._warn import warn_user
from rulegrove.design.linear import join_linear
from rulegrove.design.statistics import Margins, Moments
from rulegrove.design.terms import Terms
from rulegrove.estimators._design import (
    ALL_FOLDS,
    TRAINED,
    Candidates,
    Counted,
    Design,
    Outline,
    Request,
    as_problems,
    count_candidates,
    make_design,
)
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
MOST_NUMBERS = 2**27  # that the tables of rules which are grown side by side hold together: 1 GB
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
        Whether no rule may have seen the rows that are held out.
    joint : Joint or None
        How outputs are solved together, if they are.
    n_threads : int
    refits : bool
        Whether the terms that the path keeps are solved for once more (`rulegrove.refit`).
    by_rows : bool
        Whether these are solved for over rows, so that nothing but sums of each by itself is needed of all rows.
    keeps : bool
        Whether the statistics of solved pools are kept.
    screens : bool
        Whether rows drawn from a larger table, or rows whose weights are rounded, choose these terms, which alone are
        then counted over all rows as they are.
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
    by_rows: bool = False
    keeps: bool = False
    screens: bool = False

    @property
    def validates(self) -> bool:
        """Whether folds choose the point."""
        return isinstance(self.selection, str)

    @property
    def only_fold(self) -> int | None:
        """The fold that is held out, where it is the only one of several."""
        return 0 if self.validates and self.n_folds == 1 else None

    @property
    def spares(self) -> bool:
        """Whether the rules of the model are grown without the only fold, which so many rows can do without."""
        return self.honest and self.only_fold is not None

    @property
    def regrows(self) -> bool:
        """Whether rules are grown anew without each fold."""
        return self.honest and self.validates and not self.spares

    def grown_from(self, rows: IntArray) -> IntArray:
        """Return those of the rows that the rules of the model are grown from."""
        return rows[self.folds[rows] != self.only_fold] if self.spares else rows

    @property
    def counted_folds(self) -> range:
        """The folds that are held out, as counts tell them apart that all folds share."""
        return range(self.n_folds) if self.only_fold is None else range(1, 2)


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

    def find_kept(self, *, shared: bool) -> list[IntArray]:
        """Return the columns that any output keeps, of the whole data and each fold, or of all together if `shared`."""
        several = [list(itertools.chain(*self.kept))] if shared else self.kept
        return [np.unique(np.concatenate([own.columns for own in outputs])) for outputs in several]

    def points(self) -> list[Point]:
        """Return the coefficients of the candidates and the intercept of each output."""
        return [chosen.point for chosen in self.outputs]

    def fold_points(self, fold: int) -> list[Point]:
        """Return the same without a fold, for its candidates."""
        return [chosen.selection.fold_points[fold] for chosen in self.outputs]

    def settle(self, settle: Callable[[Terms, list[Point]], list[Point]]) -> "Pool":
        """Return the pool with coefficients that go together, as far as several outputs were solved for once more."""
        if len(self.outputs) == 1 or self.outputs[0].refitted is None:
            return self
        whole = settle(self.design.terms, self.points())
        folds = [settle(terms, self.fold_points(fold)) for fold, terms in enumerate(self.fold_terms)]
        outputs = [
            replace(one, refitted=own, selection=replace(one.selection, fold_points=tuple(of_folds)))
            for one, own, *of_folds in zip(self.outputs, whole, *folds, strict=True)
        ]
        return replace(self, outputs=outputs)

    def stretch(self, slope: float) -> "Pool":
        """Return the pool with coefficients times a factor, as far as they were solved for once more."""

        def times(point: Point) -> Point:
            return slope * point[0], slope * point[1]

        outputs = [
            one
            if one.refitted is None
            else replace(
                one,
                refitted=times(one.refitted),
                selection=replace(one.selection, fold_points=tuple(map(times, one.selection.fold_points))),
            )
            for one in self.outputs
        ]
        return replace(self, outputs=outputs)

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

    def requests(self, plan: Plan) -> list[Request]:
        """Return what is to be counted: the candidates of all rows first, with the folds told apart that share them."""
        if not self.of_folds:
            return [Request(*self.candidates, self.output, held_out=plan.only_fold)]
        whole = [Request(*self.candidates, self.output, apart=False)]
        return whole + [Request(*own, self.output, fold) for fold, own in enumerate(self.of_folds)]

    def keep(self, pool: "Pool") -> "Grown":
        """Return the same with those of the candidates alone that are to be solved for once more."""
        terms = [pool.design.terms, *(pool.fold_terms if self.of_folds else [])]
        taken = [
            own.take(columns) for own, columns in zip(terms, pool.find_kept(shared=not self.of_folds), strict=True)
        ]
        whole, *of_folds = [(own.rules, own.linear) for own in taken]
        return replace(self, candidates=whole, of_folds=of_folds)


Item = TypeVar("Item")
Count = Callable[[Sequence[Request], Progress], Iterator[Counted | Margins]]


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
    grown = grow_pools(parts, plan, pairs, progress)
    if not plan.screens and parts[0].drawn is not None:
        counted = count_pairs(count, grown, plan, progress)
        return [solve_pool(pool, plan, counted, progress) for pool in grown]
    pools = solve_pools(grown, plan, progress)
    if not plan.screens:
        return pools
    if plan.by_rows:
        return tally_pools(grown, pools, count, progress)
    kept = [own.keep(pool) for own, pool in zip(grown, pools, strict=True)]
    counted = count_pairs(count, kept, plan, progress)
    return [recount_pool(pool, own, plan, counted) for pool, own in zip(pools, kept, strict=True)]


def count_pairs(count: Count, grown: Sequence[Grown], plan: Plan, progress: Progress) -> Iterator[Counted]:
    """Yield the counts of all requests of some pools."""
    requests = [request for own in grown for request in own.requests(plan)]
    return cast(Iterator[Counted], count(requests, progress))


def tally_pools(grown: Sequence[Grown], pools: Sequence[Pool], count: Count, progress: Progress) -> list[Pool]:
    """Return pools with what all rows of the table tell of each rule that is to be solved for once more.

    Of lines the rows in memory tell enough: their means and spreads are shown nowhere and weigh importances alone.
    """
    columns = [np.unique(np.concatenate([own.columns[: own.n_rules] for own in pool.kept[0]])) for pool in pools]
    requests = [
        Request(pool.design.terms.take(kept).rules, join_linear([]), own.output, pairs=False)
        for pool, kept, own in zip(pools, columns, grown, strict=True)
    ]
    tallied = []
    for pool, kept, found in zip(pools, columns, count(requests, progress), strict=True):
        margins = pool.design.margins.recount(kept, cast(Margins, found))
        tallied.append(replace(pool, design=replace(pool.design, margins=margins)))
    return tallied


def solve_pools(grown: Sequence[Grown], plan: Plan, progress: Progress) -> list[Pool]:
    """Count all pools over the rows in memory and solve for them, several pools side by side."""
    if len(grown) == 1 or plan.n_threads == 1:
        return [solve_pool(own, plan, count_rows(own, plan, progress), progress) for own in grown]
    alone, stage, done = replace(plan, n_threads=1), progress.stage("Solving"), [0]

    def solve(own: Grown) -> Pool:
        pool = solve_pool(own, alone, count_rows(own, alone, Progress()), Progress())
        done[0] += 1
        stage(done[0], len(grown))
        return pool

    return run_tasks(solve, grown, plan.n_threads)


def count_rows(grown: Grown, plan: Plan, progress: Progress) -> Iterator[Counted]:
    """Yield the counts of the requests of a pool over the rows in memory: nearly so where these only screen."""
    data = grown.data.level_weights() if plan.screens else grown.data
    for request in grown.requests(plan):
        stage = progress.stage("Screening rules" if plan.screens else "Counting rules")
        candidates, sides = (request.rules, request.linear), request.sides(plan.folds)
        yield count_candidates(data, candidates, sides, plan.n_threads, stage)


def recount_pool(pool: Pool, grown: Grown, plan: Plan, counted: Iterator[Counted]) -> Pool:
    """Return a pool with what all rows of the table tell of the terms that drawn rows have chosen."""
    columns = pool.find_kept(shared=not grown.of_folds)
    whole, *others = [next(counted).keep_rules(np.arange(len(request.rules))) for request in grown.requests(plan)]
    total = whole.moments()
    parts: list[tuple[Moments, Moments | None]] = [(total, None)]
    if others:
        parts += [(own.fold_moments(0), own.fold_moments(1)) for own in others]
    else:
        held_out = [whole.fold_moments(fold) for fold in plan.counted_folds]
        columns = columns * (1 + plan.n_folds)
        parts += [(total - own, own) for own in held_out]
    kept = [
        [
            own.recount(output, problem, taken, held_out)
            for output, (own, problem) in enumerate(zip(outputs, as_problems(learned), strict=True))
        ]
        for outputs, (learned, held_out), taken in zip(pool.kept, parts, columns, strict=True)
    ]
    design = replace(pool.design, margins=total.margins.place(columns[0], len(pool.design.terms)))
    return replace(pool, design=design, kept=kept)


def cycle_parts(parts: Sequence[TrainingData], others: Sequence[Item]) -> Iterator[tuple[int, TrainingData, Item]]:
    """Yield the place and the data of each pool, with something of its own, run after run."""
    for number, own in enumerate(others):
        place = number % len(parts)
        yield place, parts[place], own


def _output_of(place: int, parts: Sequence[TrainingData]) -> int | None:
    """Return the only output that a pool serves; None if it serves all."""
    return None if len(parts) == 1 else place


def grow_pools(
    parts: Sequence[TrainingData],
    plan: Plan,
    pairs: Sequence[tuple[np.random.Generator, np.random.Generator]],
    progress: Progress,
) -> list[Grown]:
    """Grow the rules of all pools; without each fold too, which is honest and as many times the work, if asked to.

    Pools and folds are grown side by side.
    """
    n_regrown = plan.n_folds if plan.regrows else 0
    others = [np.flatnonzero((plan.folds >= 0) & (plan.folds != fold)) for fold in range(n_regrown)]
    tasks = [
        (part, rows, own)
        for _, part, (rng, fold_rng) in cycle_parts(parts, pairs)
        for rows, own in zip([plan.grown_from(part.rows), *others], [rng, *fold_rng.spawn(len(others))], strict=True)
    ]
    numbers = max(rows.size * part.columns.n_features for part, rows, _ in tasks)
    n_threads = min(plan.n_threads, len(tasks), max(1, MOST_NUMBERS // max(1, numbers)))
    stage, done = progress.stage("Growing trees"), [0] * len(tasks)

    def grow(task: int) -> Candidates:
        def tell(own: int, total: int) -> None:
            done[task] = own
            stage(sum(done), total * len(tasks))

        data, rows, rng = tasks[task]
        return grow_rules(data, rows, plan.growth, rng, tell, plan.n_threads if n_threads == 1 else 1)

    candidates = iter(run_tasks(grow, range(len(tasks)), n_threads))
    return [
        Grown(part, _output_of(place, parts), next(candidates), list(itertools.islice(candidates, len(others))))
        for place, part, _ in cycle_parts(parts, pairs)
    ]


def solve_pool(grown: Grown, plan: Plan, counted: Iterator[Counted], progress: Progress) -> Pool:
    """Solve for the rules of a pool, whose statistics come in the order of its requests."""
    requests = iter(grown.requests(plan))
    design = _make_design(grown, next(requests), next(counted), plan)
    fold_terms, held_out = [design.terms] * plan.n_folds, []
    if grown.of_folds:
        fold_terms = []
        for request in requests:
            regrown = _make_design(grown, request, next(counted), plan)
            fold_terms.append(regrown.terms)
            held_out.append(regrown.fold(1))
    elif plan.validates:
        held_out = run_tasks(design.fold, plan.counted_folds, plan.n_threads)
    problems = design.problems()
    outputs = select(
        plan.solver,
        problems,
        held_out,
        together=plan.joint,
        selection=plan.selection,
        exact=grown.data.drawn is not None and not plan.screens,
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
                "errors away. Use a solver with the squared loss, which learns from all rows.",
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
