"""Which point of a path that several classes share: terms for all classes or none, or probabilities of all classes."""

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, cast

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone

from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.rows import Rows
from rulegrove.design.statistics import Moments
from rulegrove.selection import (
    FIRST_SHARE,
    FIRST_STRIDE,
    PATIENCE,
    STRIDE,
    Fold,
    Selection,
    choose,
    loosen,
    squared_errors,
    weighted_mean,
)
from rulegrove.solvers._checking import check_rows, warn_not_converged
from rulegrove.solvers._multinomial import MultinomialNet, largest_penalty, null_intercepts
from rulegrove.solvers.base import Parameter, Path, Problem, Solver, Status, join_paths
from rulegrove.solvers.glmnet import Glmnet
from rulegrove.solvers.grouped import grouped_path, grouped_penalties


class Joint(Protocol):
    """A way to solve for several targets of the same rows together."""

    def penalties(self, solver: Glmnet, problems: Sequence[Problem]) -> FloatArray:
        """Return decreasing penalties, the first one the largest useful."""

    def path(
        self, solver: Glmnet, problems: Sequence[Problem], points: FloatArray, start: Sequence[Path] | None
    ) -> list[Path]:
        """Solve at each penalty; one path a target."""

    def errors(self, paths: Sequence[Path], folds: Sequence[Fold]) -> FloatArray:
        """Return the joint loss of each point on the rows held out."""


class Grouped:
    """Squared error of all targets; a term enters for all of them or for none."""

    def penalties(self, solver: Glmnet, problems: Sequence[Problem]) -> FloatArray:
        """Return decreasing penalties, the first one the largest useful."""
        return grouped_penalties(problems, float(solver.l1_ratio), solver.n_penalties, solver.penalty_ratio)

    def path(
        self, solver: Glmnet, problems: Sequence[Problem], points: FloatArray, start: Sequence[Path] | None
    ) -> list[Path]:
        """Solve at each penalty; one path a target."""
        ratio = float(solver.l1_ratio)
        return grouped_path(problems, points, l1_ratio=ratio, tol=solver.tol, max_iter=solver.max_iter, start=start)

    def errors(self, paths: Sequence[Path], folds: Sequence[Fold]) -> FloatArray:
        """Return the squared errors summed over the targets."""
        held_out = [cast(Moments, fold.held_out) for fold in folds]
        each = [squared_errors(path, part) for path, part in zip(paths, held_out, strict=True)]
        return np.asarray(np.sum(each, axis=0), dtype=np.float64)


class Multinomial:
    """Minus the log likelihood of the classes, whose probabilities are the softmax of the scores."""

    def penalties(self, solver: Glmnet, problems: Sequence[Problem]) -> FloatArray:
        """Return decreasing penalties, the first one the largest useful."""
        largest = largest_penalty(*_rows_and_codes(solver, problems), len(problems), float(solver.l1_ratio)) or 1.0
        steps = np.arange(solver.n_penalties) / max(solver.n_penalties - 1, 1)
        return np.asarray(largest * solver.penalty_ratio**steps, dtype=np.float64)

    def path(
        self, solver: Glmnet, problems: Sequence[Problem], points: FloatArray, start: Sequence[Path] | None
    ) -> list[Path]:
        """Solve at each penalty; one path a target."""
        rows, codes = _rows_and_codes(solver, problems)
        null = null_intercepts(rows, codes, len(problems))
        null_risk = float(logsumexp(null) - np.average(null[codes], weights=rows.weights))
        if start is None:
            coefs, intercepts = np.zeros((len(problems), rows.n_terms)), null
        else:
            coefs, intercepts = np.array([p.coefs[-1] for p in start]), np.array([p.intercepts[-1] for p in start])
        began = time.perf_counter()
        net = MultinomialNet(
            rows, codes, len(problems), float(solver.l1_ratio), solver.tol * null_risk, solver.max_iter
        )
        found = net.follow(points, coefs, intercepts)
        seconds = time.perf_counter() - began
        gaps = found.gaps / null_risk
        warn_not_converged(solver, "penalty", points, gaps, gaps <= solver.tol)
        return [
            Path(
                parameter=Parameter("penalty", points),
                penalties=points,
                coefs=found.coefs[:, target],
                intercepts=found.intercepts[:, target],
                gaps=gaps,
                iterations=found.iterations,
                status=tuple(Status.CONVERGED if gap <= solver.tol else Status.MAX_ITER for gap in gaps),
                seconds=seconds,
                residuals=np.full(len(points), np.nan),
                risks=found.risks,
                weight=rows.weight,
            )
            for target in range(len(problems))
        ]

    def errors(self, paths: Sequence[Path], folds: Sequence[Fold]) -> FloatArray:
        """Return the mean loss on the rows held out."""
        held_out = [cast(Rows, fold.held_out) for fold in folds]
        words = np.flatnonzero(held_out[0].counted)
        parts = [rows.take_words(words) for rows in held_out]
        rows, codes = parts[0], np.argmax([part.y for part in parts], axis=0)
        errors = np.empty(len(paths[0].coefs))
        for point in range(len(errors)):
            scores = np.array([rows.scores(path.coefs[point], float(path.intercepts[point])) for path in paths])
            losses = logsumexp(scores, axis=0) - scores[codes, np.arange(len(codes))]
            errors[point] = rows.weights @ losses / rows.weight
        return errors


def _rows_and_codes(solver: Glmnet, problems: Sequence[Problem]) -> tuple[Rows, IntArray]:
    """Return the rows, and of each the class whose target is +1."""
    rows = [check_rows(solver, problem) for problem in problems]
    return rows[0], np.argmax([part.y for part in rows], axis=0)


def select_joint(
    joint: Joint,
    solver: Glmnet,
    problems: Sequence[Problem],
    folds: Sequence[Sequence[Fold]],
    *,
    selection: str | float,
    max_terms: int | None = None,
    n_threads: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[tuple[Path, Selection, Solver]]:
    """Follow the path of several targets together, and choose one point for all.

    Parameters
    ----------
    joint : Joint
    solver : Glmnet
        Its grid, mix of norms (1 if that is left to the folds) and tolerance are taken.
    problems : sequence of Problem
        One a target, on the same rows.
    folds : sequence of sequence of Fold
        For each fold one record a target.
    selection : {"1se", "min"} or float
        A rule of choice on the joint errors, or the penalty itself.
    max_terms : int, optional
        Most terms over all targets; the choice is among the points with no more.
    n_threads : int
        Problems solved side by side.
    on_progress : callable, optional
        Called with the points done and the points in all.

    Returns
    -------
    list of (Path, Selection, Solver)
        One a target.
    """
    solver = solver if solver.l1_ratio != "cv" else clone(solver).set_params(l1_ratio=1.0)
    grid = joint.penalties(solver, problems) if solver.penalties is None else solver.grid(problems[0])
    if not isinstance(selection, str):
        grid = np.append(grid[grid > selection], selection)
    sets = [problems, *([fold.problem for fold in targets] for targets in folds)]
    weights = [targets[0] for targets in folds]
    rough = solver
    if isinstance(selection, str):
        rough = cast(Glmnet, loosen(solver, FIRST_SHARE))
    starts: list[Sequence[Path] | None] = [None] * len(sets)
    parts: list[list[list[Path]]] = []
    errors = np.empty((len(folds), 0))
    done = 0
    while done < grid.size:
        points = grid[done : done + (STRIDE if done else max(int(FIRST_STRIDE * grid.size), 1))]
        tasks = [
            functools.partial(joint.path, rough if number else solver, own, points, start)
            for number, (own, start) in enumerate(zip(sets, starts, strict=True))
        ]
        with one_blas_thread():
            followed = run_tasks(lambda task: task(), tasks, n_threads)
        parts.append(followed)
        starts = list(followed)
        done += points.size
        if on_progress is not None:
            on_progress(done, grid.size)
        if folds:
            seen = [joint.errors(paths, targets) for paths, targets in zip(followed[1:], folds, strict=True)]
            errors = np.hstack([errors, np.array(seen)])
            mean = weighted_mean(errors, weights)
            if mean.size - 1 - int(np.argmin(mean)) >= PATIENCE:
                break
            rough = cast(Glmnet, loosen(solver, mean.min() / max(mean[0], np.finfo(np.float64).tiny)))
        if max_terms is not None and (_count_terms(followed[0]) > max_terms).all():
            break
    paths = [[join_paths(list(pieces)) for pieces in zip(*own, strict=True)] for own in zip(*parts, strict=True)]
    allowed = len(paths[0][0].coefs)
    if max_terms is not None:
        allowed = max(int(np.count_nonzero(np.maximum.accumulate(_count_terms(paths[0])) <= max_terms)), 1)
    if not isinstance(selection, str):
        choice = Selection(allowed - 1, f"penalty {selection:g}")
        return [(path, choice, solver) for path in paths[0]]
    choice = choose(errors[None, :, :allowed], weights, selection)
    return [
        (path, replace(choice, fold_points=tuple(own[target].point(choice.index) for own in paths[1:])), solver)
        for target, path in enumerate(paths[0])
    ]


def _count_terms(paths: Sequence[Path]) -> IntArray:
    """Terms that any target uses at each point."""
    used = np.any([path.coefs != 0 for path in paths], axis=0)
    return np.asarray(np.count_nonzero(used, axis=1), dtype=np.int64)
