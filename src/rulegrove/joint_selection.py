"""How several targets are solved for together: each term in for all or none, or probabilities of all classes."""

import time
from collections.abc import Sequence
from typing import TypeAlias, cast

import numpy as np
from scipy.special import logsumexp

from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.rows import Rows
from rulegrove.design.statistics import Moments
from rulegrove.selection import squared_errors
from rulegrove.solvers._checking import check_rows, check_unconstrained, warn_not_converged
from rulegrove.solvers._multinomial import MultinomialNet, largest_penalty, null_intercepts
from rulegrove.solvers.base import BaseSolver, Parameter, Path, Problem, Status
from rulegrove.solvers.grouped import grouped_path, grouped_penalties
from rulegrove.solvers.scaling import grid_below
from rulegrove.walk import Course

Joint: TypeAlias = Course  # a way to solve for several targets of the same rows together


class Grouped:
    """Squared error of all targets; a term enters for all of them or for none."""

    mixes = (1.0,)

    def grid(self, solver: BaseSolver, problems: Sequence[Problem]) -> FloatArray:
        """Return decreasing penalties: those of the solver, or from the largest useful one down."""
        net = solver.as_net()
        if net.penalties is not None:
            return net.grid(problems[0])
        return grouped_penalties(problems, float(net.l1_ratio), net.n_penalties, net.penalty_ratio)

    def path(
        self, solver: BaseSolver, problems: Sequence[Problem], points: FloatArray, start: Sequence[Path] | None
    ) -> list[Path]:
        """Solve at each penalty; there is a path for each target."""
        net = solver.as_net()
        ratio = float(net.l1_ratio)
        return grouped_path(problems, points, l1_ratio=ratio, tol=net.tol, max_iter=net.max_iter, start=start)

    def errors(self, paths: Sequence[Path], held_out: Sequence[Moments | Rows]) -> FloatArray:
        """Return the squared errors summed over the targets."""
        moments = [cast(Moments, part) for part in held_out]
        each = [squared_errors(path, part) for path, part in zip(paths, moments, strict=True)]
        return np.asarray(np.sum(each, axis=0, keepdims=True), dtype=np.float64)


class Multinomial:
    """Minus the log likelihood of the classes, whose probabilities are the softmax of the scores."""

    mixes = (1.0,)

    def grid(self, solver: BaseSolver, problems: Sequence[Problem]) -> FloatArray:
        """Return decreasing penalties: those of the solver, or from the largest useful one down."""
        net = solver.as_net()
        if net.penalties is not None:
            return net.grid(problems[0])
        largest = largest_penalty(*_rows_and_codes(net, problems), len(problems), float(net.l1_ratio))
        return grid_below(largest, net.n_penalties, net.penalty_ratio)

    def path(
        self, solver: BaseSolver, problems: Sequence[Problem], points: FloatArray, start: Sequence[Path] | None
    ) -> list[Path]:
        """Solve at each penalty; there is a path for each target."""
        settings = solver.as_net()
        rows, codes = _rows_and_codes(settings, problems)
        null = null_intercepts(rows, codes, len(problems))
        null_risk = float(logsumexp(null) - np.average(null[codes], weights=rows.weights))
        if start is None:
            coefs, intercepts = np.zeros((len(problems), rows.n_terms)), null
        else:
            coefs, intercepts = np.array([p.coefs[-1] for p in start]), np.array([p.intercepts[-1] for p in start])
        began = time.perf_counter()
        ratio, tol = float(settings.l1_ratio), settings.tol
        net = MultinomialNet(rows, codes, len(problems), ratio, tol * null_risk, settings.max_iter)
        found = net.follow(points, coefs, intercepts)
        seconds = time.perf_counter() - began
        gaps = found.gaps / null_risk
        warn_not_converged(settings, "penalty", points, gaps, gaps <= tol)
        return [
            Path(
                parameter=Parameter("penalty", points),
                penalties=points,
                coefs=found.coefs[:, target],
                intercepts=found.intercepts[:, target],
                gaps=gaps,
                iterations=found.iterations,
                status=tuple(Status.CONVERGED if gap <= tol else Status.MAX_ITER for gap in gaps),
                seconds=seconds,
                residuals=found.residuals,
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


def _rows_and_codes(solver: BaseSolver, problems: Sequence[Problem]) -> tuple[Rows, IntArray]:
    """Return the rows, and of each the class whose target is +1."""
    check_unconstrained("A multinomial fit", problems[0])
    rows = [check_rows(solver, problem) for problem in problems]
    return rows[0], np.argmax([part.y for part in rows], axis=0)
