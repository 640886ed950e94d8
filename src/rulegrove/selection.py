"""Which point of a path: cross-validation by fold statistics, and the rules of choice.

Squared error on held-out rows is a quadratic form in their moments, so no row is read again. The folds walk down the
path together with the whole data and stop when the error has turned upwards. A cap on the number of terms first lets
the path pick the terms, then walks again with those alone: the few that are left need not stay as shrunken as they
were when the cap was reached.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone

from rulegrove._threads import run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.statistics import Moments
from rulegrove.solvers.base import Path, Problem, Solver, join_paths

FIRST_SHARE = 0.3  # of the error without terms, guessed for the first stride
FIRST_STRIDE = 0.5  # share of the grid walked at once: its sparse half costs next to nothing
STRIDE = 5  # points walked between two looks at the validation error after that
PATIENCE = 8  # points without a better validation error before the walk ends; the dense end costs the most
FOLD_ACCURACY = 3e-3  # held-out errors are wanted to a third of a percent, far below their standard error


@dataclass(frozen=True, slots=True)
class EndingAt:
    """A solver whose path ends exactly at a penalty."""

    solver: Solver
    penalty: float

    def grid(self, problem: Problem) -> FloatArray:
        """Return the solver's own penalties above the last one, then that one."""
        grid = self.solver.grid(problem)
        return np.append(grid[grid > self.penalty], self.penalty)

    def path(self, problem: Problem, points: FloatArray | None = None, start: Path | FloatArray | None = None) -> Path:
        """Solve at each point."""
        return self.solver.path(problem, points, start)


@dataclass(frozen=True, slots=True)
class Fold:
    """What one fold needs: the problem without its rows, and the moments of its rows."""

    problem: Problem
    held_out: Moments


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen point of a path and the evidence.

    Attributes
    ----------
    index : int
        The chosen point.
    rule : str
        How it was chosen.
    errors, standard_errors : ndarray of shape (n_points,), optional
        Mean squared error on held-out rows, and its standard error over the folds; None without cross-validation.
    fold_errors : ndarray of shape (n_folds, n_points), optional
    """

    index: int
    rule: str
    errors: FloatArray | None = None
    standard_errors: FloatArray | None = None
    fold_errors: FloatArray | None = None


def squared_errors(path: Path, held_out: Moments) -> FloatArray:
    """Mean squared error of each point of a path on rows known by their moments."""
    used = np.flatnonzero(path.coefs.any(axis=0))
    coefs, intercepts = path.coefs[:, used], path.intercepts
    gram, x_sum, x_y = held_out.gram[np.ix_(used, used)], held_out.x_sum[used], held_out.x_y[used, 0]
    fitted = np.einsum("pk,pk->p", coefs @ gram, coefs) + 2 * intercepts * (coefs @ x_sum)
    crossed = coefs @ x_y + intercepts * held_out.y_sum[0]
    total = held_out.y_y[0] - 2 * crossed + fitted + intercepts**2 * held_out.weight
    return np.asarray(np.maximum(total, 0.0) / held_out.weight)


def walk(
    solver: Solver,
    problem: Problem,
    folds: Sequence[Fold],
    *,
    max_terms: int | None = None,
    n_threads: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Path], FloatArray]:
    """Walk the whole data and all folds down the path until held-out error has turned upwards.

    Parameters
    ----------
    solver : Solver
    problem : Problem
        The whole data.
    folds : sequence of Fold
        Empty walks the whole grid.
    max_terms : int, optional
        The walk ends once every point of a stride has more terms.
    n_threads : int
        Problems solved side by side.
    on_progress : callable, optional
        Called with the points done and the points in all.

    Returns
    -------
    paths : list of Path
        Of the whole data, then of each fold.
    fold_errors : ndarray of shape (n_folds, n_points)
    """
    grid = solver.grid(problem)
    rough = _loosen(solver, FIRST_SHARE)
    starts: list[Path | None] = [None] * (1 + len(folds))
    done: list[list[Path]] = []
    errors = np.empty((len(folds), 0))
    stops = [*range(max(int(FIRST_STRIDE * grid.size), 1), grid.size, STRIDE), grid.size]
    for first, last in itertools.pairwise([0, *stops]):
        part = grid[first:last]
        tasks = [functools.partial(_follow, solver, problem, None, part, starts[0])]
        tasks += [
            functools.partial(_follow, rough, fold.problem, fold.held_out, part, start)
            for fold, start in zip(folds, starts[1:], strict=True)
        ]
        followed = run_tasks(lambda task: task(), tasks, n_threads)
        paths = [path for path, _ in followed]
        starts = list(paths)
        done.append(paths)
        if folds:
            errors = np.hstack([errors, [scored for _, scored in followed[1:]]])
            mean = weighted_mean(errors, folds)
            if mean.size - 1 - int(np.argmin(mean)) >= PATIENCE:
                break
            rough = _loosen(solver, mean.min() / max(mean[0], np.finfo(np.float64).tiny))
        if max_terms is not None and (paths[0].n_terms > max_terms).all():
            break
        if on_progress is not None:
            on_progress(last, grid.size)
    return [join_paths(list(parts)) for parts in zip(*done, strict=True)], errors


def _follow(
    solver: Solver, problem: Problem, held_out: Moments | None, points: FloatArray, start: Path | None
) -> tuple[Path, FloatArray]:
    """Solve along some penalties and score each point on the rows held out, if there are any."""
    path = solver.path(problem, points, start)
    return path, np.empty(0) if held_out is None else squared_errors(path, held_out)


def _loosen(solver: Solver, share: float) -> Solver:
    """Return the solver as fine as held-out errors need it that are this share of the error without terms."""
    tol = FOLD_ACCURACY * share
    if isinstance(solver, EndingAt) or getattr(solver, "tol", tol) >= tol:
        return solver
    return clone(solver).set_params(tol=tol)  # type: ignore[no-any-return]


def weighted_mean(fold_errors: FloatArray, folds: Sequence[Fold]) -> FloatArray:
    """Mean over the folds, each by the weight of its rows."""
    return np.average(fold_errors, axis=0, weights=[fold.held_out.weight for fold in folds])


def choose(fold_errors: FloatArray, folds: Sequence[Fold], rule: str) -> Selection:
    """Pick the point of least held-out error, or the sparsest within one standard error of it.

    Parameters
    ----------
    fold_errors : ndarray of shape (n_folds, n_points)
    folds : sequence of Fold
    rule : {"min", "1se"}

    Returns
    -------
    Selection
    """
    mean = weighted_mean(fold_errors, folds)
    weights = [fold.held_out.weight for fold in folds]
    spread = np.average((fold_errors - mean) ** 2, axis=0, weights=weights)
    deviation = np.sqrt(spread / max(len(folds) - 1, 1))
    best = int(np.argmin(mean))
    if rule == "1se":
        best = int(np.argmax(mean <= mean[best] + deviation[best]))
    return Selection(best, rule, mean, deviation, fold_errors)


def select(
    solver: Solver,
    problem: Problem,
    folds: Sequence[Fold],
    *,
    selection: str | float,
    max_terms: int | None = None,
    n_threads: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[Path, Selection]:
    """Follow the path and choose a point of it.

    Parameters
    ----------
    solver : Solver
    problem : Problem
        The whole data.
    folds : sequence of Fold
        What to validate on; not needed for a given penalty.
    selection : {"1se", "min"} or float
        A rule of choice, or the penalty itself, which is then the last point of the path.
    max_terms : int, optional
        Most terms. Where the choice has more, the whole data and every fold keep the most important terms of the first
        point that has so many, and walk again with these alone.
    n_threads, on_progress
        As in `walk`.

    Returns
    -------
    path : Path
        Of the whole data; no point has more than `max_terms` terms if the cap had to act.
    selection : Selection
    """
    ending = solver if isinstance(selection, str) else EndingAt(solver, selection)

    def attempt(cap: int | None) -> tuple[list[Path], Selection]:
        paths, errors = walk(ending, problem, folds, max_terms=cap, n_threads=n_threads, on_progress=on_progress)
        if isinstance(selection, str):
            return paths, choose(errors, folds, selection)
        return paths, Selection(len(paths[0].penalties) - 1, f"penalty {selection:g}")

    paths, choice = attempt(max_terms)
    if max_terms is None or paths[0].n_terms[choice.index] <= max_terms:
        return paths[0], choice
    problems = [problem, *(fold.problem for fold in folds)]
    supports = [_support(path, part, max_terms) for path, part in zip(paths, problems, strict=True)]
    problem, n_terms = problem.take(supports[0]), problem.n_terms
    folds = [
        Fold(fold.problem.take(support), fold.held_out.take(support))
        for fold, support in zip(folds, supports[1:], strict=True)
    ]
    paths, choice = attempt(None)
    coefs = np.zeros((len(paths[0].coefs), n_terms))
    coefs[:, supports[0]] = paths[0].coefs
    return replace(paths[0], coefs=coefs), choice


def _support(path: Path, problem: Problem, max_terms: int) -> IntArray:
    """Return the `max_terms` most important terms where the path first has that many."""
    reached = path.n_terms >= max_terms
    coefs = path.coefs[int(np.argmax(reached)) if reached.any() else -1]
    importance = np.abs(coefs) * np.sqrt(problem.gram.diagonal())
    terms = np.argsort(-importance, kind="stable")[:max_terms]
    return np.sort(terms[coefs[terms] != 0])
