"""A pool of rules: grown, counted, weighted, a point chosen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rulegrove._progress import Progress
from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import IntArray
from rulegrove.design.terms import Terms
from rulegrove.estimators._design import Design, build_design
from rulegrove.estimators._growing import Growth, grow_rules
from rulegrove.estimators._training import NEVER_HELD_OUT, TrainingData
from rulegrove.joint_selection import Joint, select_joint
from rulegrove.selection import Selection, select
from rulegrove.solvers import Glmnet
from rulegrove.solvers.base import Path, Solver
from rulegrove.walk import Fold

HONEST_ROWS = 1000  # up to here rules are grown anew in each fold unless told otherwise


@dataclass(frozen=True)
class Weighted:
    """One output with its terms weighted: the path, the chosen point of it, the solver that was used."""

    path: Path
    selection: Selection
    solver: Solver


@dataclass(frozen=True)
class Plan:
    """What to do with a pool of rules: how to grow them, weight them and choose among the points.

    Attributes
    ----------
    growth : Growth
    solver : Solver
    selection, max_terms
        As in `select`.
    folds : ndarray of shape (n_rows,)
        Fold of each row.
    n_folds : int
    honest : bool
        Whether rules are grown anew without each fold.
    joint : Joint or None
        How outputs are solved together, if they are.
    n_threads : int
    """

    growth: Growth
    solver: Solver
    selection: str | float
    max_terms: int | None
    folds: IntArray
    n_folds: int
    honest: bool
    joint: Joint | None
    n_threads: int


@dataclass(frozen=True)
class Pool:
    """One pool of rules, weighted for its outputs.

    Attributes
    ----------
    design : Design
    fold_terms : list of Terms
        The candidates of each fold: those of the design unless they were grown anew.
    outputs : list of Weighted
    """

    design: Design
    fold_terms: list[Terms]
    outputs: list[Weighted]


def resolve_choice(selection: str | float, honest: bool | str, n_rows: int) -> tuple[str | float, bool]:
    """Return the rule of choice and whether folds grow rules of their own.

    Rules that have seen a fold look too good on it. Up to some hundred rows that spoils the choice, and growing
    rules anew is cheap; with more rows it fades, and the sparser of two nearly equal points makes up for the rest.
    """
    honestly = n_rows <= HONEST_ROWS if isinstance(honest, str) else bool(honest)
    if selection == "auto":
        return ("min" if honestly else "1se"), honestly
    return selection, honestly


def spawn_pairs(
    rngs: Sequence[np.random.Generator], n_pools: int
) -> list[tuple[np.random.Generator, np.random.Generator]]:
    """Two generators for each pool of rules; a single pool gets those that are given."""
    first, second = rngs
    return [(first, second)] if n_pools == 1 else list(zip(first.spawn(n_pools), second.spawn(n_pools), strict=True))


def fit_pool(
    data: TrainingData, plan: Plan, rng: np.random.Generator, fold_rng: np.random.Generator, progress: Progress
) -> Pool:
    """Grow rules, count them, weight them."""
    needs_rows = bool(getattr(plan.solver, "needs_rows", False))
    candidates = grow_rules(data, data.rows, plan.growth, rng, progress.stage("Growing trees"))
    counting = progress.stage("Counting rules")
    limit = plan.growth.max_correlation
    constraints = plan.growth.constraints
    design = build_design(data, candidates, plan.folds, limit, needs_rows, plan.n_threads, counting, constraints)
    fold_terms = [design.terms] * plan.n_folds
    held_out: list[list[Fold]] = []
    if isinstance(plan.selection, str) and plan.honest:
        regrowing, rngs = progress.stage("Regrowing in folds"), fold_rng.spawn(plan.n_folds)
        fold_terms, held_out = regrown_folds(
            data, plan.folds, plan.n_folds, plan.growth, rngs, needs_rows, plan.n_threads, regrowing
        )
    elif isinstance(plan.selection, str):
        held_out = run_tasks(design.fold, range(plan.n_folds), plan.n_threads)
    outputs = weight_terms(
        plan.solver,
        design,
        held_out,
        selection=plan.selection,
        max_terms=plan.max_terms,
        joint=plan.joint,
        n_threads=plan.n_threads,
        progress=progress.stage("Weighting rules"),
    )
    return Pool(design, fold_terms, outputs)


def regrown_folds(
    data: TrainingData,
    folds: IntArray,
    n_folds: int,
    growth: Growth,
    rngs: list[np.random.Generator],
    needs_rows: bool,
    n_threads: int,
    progress: Progress,
) -> tuple[list[Terms], list[list[Fold]]]:
    """Folds whose rules were grown without their rows: honest, and as many times the work.

    Returns
    -------
    terms : list of Terms
        The candidates of each fold.
    folds : list of list of Fold
        For each fold one record an output.
    """
    terms, regrown = [], []
    for fold in range(n_folds):
        candidates = grow_rules(data, np.flatnonzero((folds >= 0) & (folds != fold)), growth, rngs[fold], progress)
        sides = np.where(folds < 0, NEVER_HELD_OUT, (folds == fold).astype(np.int64))
        design = build_design(
            data, candidates, sides, growth.max_correlation, needs_rows, n_threads, progress, growth.constraints
        )
        terms.append(design.terms)
        regrown.append(design.fold(1))
    return terms, regrown


def weight_terms(
    solver: Solver,
    design: Design,
    held_out: Sequence[Sequence[Fold]],
    *,
    selection: str | float,
    max_terms: int | None,
    joint: Joint | None,
    n_threads: int,
    progress: Progress,
) -> list[Weighted]:
    """Follow the path of every output of a design and choose a point; many outputs run side by side.

    Parameters
    ----------
    solver : Solver
    design : Design
    held_out : sequence of sequence of Fold
        For each fold one record an output.
    selection, max_terms, n_threads
        As in `select`; the cap is on the terms of one output, or of all outputs if they are solved together.
    joint : Joint, optional
        How the outputs are solved together; the solver must then be a Glmnet. Each on its own by default.
    progress : Progress
    """
    problems = design.problems()
    if joint is not None and len(problems) > 1:
        assert isinstance(solver, Glmnet)
        chosen = select_joint(
            joint,
            solver,
            problems,
            held_out,
            selection=selection,
            max_terms=max_terms,
            n_threads=n_threads,
            on_progress=progress,
        )
        return [Weighted(*parts) for parts in chosen]

    def weight(output: int, threads: int, on_progress: Callable[[int, int], None] | None) -> Weighted:
        folds = [fold[output] for fold in held_out]
        return Weighted(
            *select(
                solver,
                problems[output],
                folds,
                selection=selection,
                max_terms=max_terms,
                n_threads=threads,
                on_progress=on_progress,
            )
        )

    if len(problems) == 1:
        return [weight(0, n_threads, progress)]
    with one_blas_thread():
        return run_tasks(lambda output: weight(output, 1, None), range(len(problems)), n_threads)
