"""Which point of a path: cross-validation by fold statistics, and the rules of choice.

Squared error on held-out rows is a quadratic form in their moments, so no row is read again. The folds walk down the
path together with the whole data and stop when the error has turned upwards.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from rulegrove._threads import run_tasks
from rulegrove._typing import FloatArray
from rulegrove.design.statistics import Moments
from rulegrove.exceptions import InvalidInputError
from rulegrove.solvers.base import Parameter, Path, Problem, Solver

FIRST_STRIDE = 0.5  # share of the grid walked at once: its sparse half costs next to nothing
STRIDE = 5  # points walked between two looks at the validation error after that
PATIENCE = 8  # points without a better validation error before the walk ends; the dense end costs the most
FOLD_TOL = 3e-4  # relative duality gap in the folds: far below the standard error of a held-out error


@dataclass(frozen=True, slots=True)
class EndingAt:
    """A solver whose path ends exactly at a penalty."""

    solver: Solver
    penalty: float

    def grid(self, problem: Problem) -> FloatArray:
        """Return the solver's own penalties above the last one, then that one."""
        grid = self.solver.grid(problem)
        return np.append(grid[grid > self.penalty], self.penalty)

    def path(self, problem: Problem, penalties: FloatArray | None = None, start: FloatArray | None = None) -> Path:
        """Solve at each penalty."""
        return self.solver.path(problem, penalties, start)


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
) -> tuple[Path, FloatArray]:
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
    path : Path
        Of the whole data.
    fold_errors : ndarray of shape (n_folds, n_points)
    """
    grid = solver.grid(problem)
    rough = loosen(solver)
    solvers, problems = [solver, *[rough] * len(folds)], [problem, *(fold.problem for fold in folds)]
    starts: list[FloatArray | None] = [None] * len(problems)
    done: list[Path] = []
    errors = np.empty((len(folds), 0))
    stops = [*range(int(FIRST_STRIDE * grid.size), grid.size, STRIDE), grid.size]
    for first, last in itertools.pairwise([0, *stops]):
        part = grid[first:last]
        tasks = [functools.partial(s.path, p, part, a) for s, p, a in zip(solvers, problems, starts, strict=True)]
        paths = run_tasks(lambda task: task(), tasks, n_threads)
        starts = [path.coefs[-1] for path in paths]
        done.append(paths[0])
        if folds:
            scored = [squared_errors(path, fold.held_out) for path, fold in zip(paths[1:], folds, strict=True)]
            errors = np.hstack([errors, scored])
            mean = weighted_mean(errors, folds)
            if mean.size - 1 - int(np.argmin(mean)) >= PATIENCE:
                break
        if max_terms is not None and (paths[0].n_terms > max_terms).all():
            break
        if on_progress is not None:
            on_progress(last, grid.size)
    return _join(done), errors


def _join(paths: Sequence[Path]) -> Path:
    """Parts of one path, one after the other."""
    return Path(
        parameter=Parameter(paths[0].parameter.name, np.concatenate([path.parameter.values for path in paths])),
        penalties=np.concatenate([path.penalties for path in paths]),
        coefs=np.vstack([path.coefs for path in paths]),
        intercepts=np.concatenate([path.intercepts for path in paths]),
        gaps=np.concatenate([path.gaps for path in paths]),
        iterations=np.concatenate([path.iterations for path in paths]),
        status=tuple(status for path in paths for status in path.status),
        seconds=sum(path.seconds for path in paths),
    )


def loosen(solver: Solver) -> Solver:
    """Return the solver with a tolerance that is fine enough to compare points by their held-out error."""
    if isinstance(solver, EndingAt) or getattr(solver, "tol", FOLD_TOL) >= FOLD_TOL:
        return solver
    return clone(solver).set_params(tol=FOLD_TOL)  # type: ignore[no-any-return]


def weighted_mean(fold_errors: FloatArray, folds: Sequence[Fold]) -> FloatArray:
    """Mean over the folds, each by the weight of its rows."""
    return np.average(fold_errors, axis=0, weights=[fold.held_out.weight for fold in folds])


def choose(path: Path, fold_errors: FloatArray, folds: Sequence[Fold], rule: str, max_terms: int | None) -> Selection:
    """Pick the point of least held-out error, or the sparsest within one standard error of it.

    Parameters
    ----------
    path : Path
    fold_errors : ndarray of shape (n_folds, n_points)
    folds : sequence of Fold
    rule : {"min", "1se"}
    max_terms : int, optional
        Points with more terms are left out of the choice.

    Returns
    -------
    Selection
    """
    if rule not in ("min", "1se"):
        raise InvalidInputError(f"`selection` must be '1se', 'min' or a penalty; got {rule!r}.")
    mean = weighted_mean(fold_errors, folds)
    weights = np.array([fold.held_out.weight for fold in folds])
    spread = np.average((fold_errors - mean) ** 2, axis=0, weights=weights)
    deviation = np.sqrt(spread / max(len(folds) - 1, 1))
    allowed = np.flatnonzero(path.n_terms <= max_terms) if max_terms is not None else np.arange(mean.size)
    best = int(allowed[np.argmin(mean[allowed])])
    if rule == "1se":
        best = int(allowed[np.argmax(mean[allowed] <= mean[best] + deviation[best])])
    return Selection(best, rule, mean, deviation, fold_errors)
