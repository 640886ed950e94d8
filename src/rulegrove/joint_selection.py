"""Which point of a path that several classes share: terms for all classes or none, or probabilities of all classes."""

import time
from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone

from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.rows import Rows
from rulegrove.design.statistics import Moments
from rulegrove.selection import Selection, follow_and_choose, squared_errors
from rulegrove.solvers._checking import check_rows, check_unconstrained, warn_not_converged
from rulegrove.solvers._multinomial import MultinomialNet, largest_penalty, null_intercepts
from rulegrove.solvers.base import Parameter, Path, Problem, Status
from rulegrove.solvers.glmnet import Glmnet
from rulegrove.solvers.grouped import grouped_path, grouped_penalties
from rulegrove.walk import Course, Fold

Joint: TypeAlias = Course[Glmnet]  # a way to solve for several targets of the same rows together


class Grouped:
    """Squared error of all targets; a term enters for all of them or for none."""

    mixes = (1.0,)

    def grid(self, solver: Glmnet, problems: Sequence[Problem]) -> FloatArray:
        """Return decreasing penalties: those of the solver, or from the largest useful one down."""
        if solver.penalties is not None:
            return solver.grid(problems[0])
        return grouped_penalties(problems, float(solver.l1_ratio), solver.n_penalties, solver.penalty_ratio)

    def path(
        self, solver: Glmnet, problems: Sequence[Problem], points: FloatArray, start: Sequence[Path] | None
    ) -> list[Path]:
        """Solve at each penalty; one path a target."""
        ratio = float(solver.l1_ratio)
        return grouped_path(problems, points, l1_ratio=ratio, tol=solver.tol, max_iter=solver.max_iter, start=start)

    def errors(self, paths: Sequence[Path], held_out: Sequence[Moments | Rows]) -> FloatArray:
        """Return the squared errors summed over the targets."""
        moments = [cast(Moments, part) for part in held_out]
        each = [squared_errors(path, part) for path, part in zip(paths, moments, strict=True)]
        return np.asarray(np.sum(each, axis=0, keepdims=True), dtype=np.float64)


class Multinomial:
    """Minus the log likelihood of the classes, whose probabilities are the softmax of the scores."""

    mixes = (1.0,)

    def grid(self, solver: Glmnet, problems: Sequence[Problem]) -> FloatArray:
        """Return decreasing penalties: those of the solver, or from the largest useful one down."""
        if solver.penalties is not None:
            return solver.grid(problems[0])
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

    def errors(self, paths: Sequence[Path], held_out: Sequence[Moments | Rows]) -> FloatArray:
        """Return the mean loss on the rows held out."""
        targets = [cast(Rows, part) for part in held_out]
        words = np.flatnonzero(targets[0].counted)
        parts = [rows.take_words(words) for rows in targets]
        rows, codes = parts[0], np.argmax([part.y for part in parts], axis=0)
        errors = np.empty(len(paths[0].coefs))
        for point in range(len(errors)):
            scores = np.array([rows.scores(path.coefs[point], float(path.intercepts[point])) for path in paths])
            losses = logsumexp(scores, axis=0) - scores[codes, np.arange(len(codes))]
            errors[point] = rows.weights @ losses / rows.weight
        return errors[None]


def _rows_and_codes(solver: Glmnet, problems: Sequence[Problem]) -> tuple[Rows, IntArray]:
    """Return the rows, and of each the class whose target is +1."""
    check_unconstrained("A multinomial fit", problems[0])
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
) -> list[tuple[Path, Selection, Glmnet]]:
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
        Most terms over all targets together. It acts as in `select`: the subset is one for all targets, whose distances
        add up.
    n_threads : int
        Problems solved side by side.
    on_progress : callable, optional
        Called with the points done and the points in all.

    Returns
    -------
    list of (Path, Selection, Glmnet)
        One a target.
    """
    solver = solver if solver.l1_ratio != "cv" else clone(solver).set_params(l1_ratio=1.0)
    return follow_and_choose(
        joint,
        [solver],
        problems,
        folds,
        selection=selection,
        max_terms=max_terms,
        n_threads=n_threads,
        on_progress=on_progress,
    )
