"""The walk down a path: the whole data and every fold together, in strides, until the held-out error has turned.

There is one walk for one target and for several that are solved together; how to solve and how to judge is the matter
of a `Course`. Problems and paths come as lists over the targets, folds as lists of such lists.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.rows import Rows
from rulegrove.design.statistics import Moments
from rulegrove.solvers.base import BaseSolver, Path, Problem, join_paths

FIRST_SHARE = 0.3  # of the error without terms, guessed for the first stride
FIRST_STRIDE = 0.5  # share of the grid walked at once: its sparse half costs next to nothing
STRIDE = 5  # points walked between two looks at the validation error after that
PATIENCE = 8  # points without a better validation error before the walk ends; the dense end costs the most
SETTLED = 0.25  # of a standard error: a stride that lowers the error by less ends a walk for "1se"
ROUNDING = 1e-12  # of a held-out error
FOLD_ACCURACY = 3e-3  # held-out errors are wanted to a third of a percent, far below their standard error


@dataclass(frozen=True, slots=True)
class Fold:
    """What one fold needs for one target: the problem without its rows, and its rows or their moments."""

    problem: Problem
    held_out: Moments | Rows

    def take(self, terms: IntArray) -> "Fold":
        """Return the fold for some of the terms, given in ascending order."""
        return Fold(self.problem.take(terms), self.held_out.take(terms))


class Course(Protocol):
    """What a walk asks: where the points are, how to solve at them, how good they are on held-out rows."""

    @property
    def mixes(self) -> tuple[float, ...]:
        """Shares of the penalised fit to choose among."""

    def grid(self, solver: BaseSolver, problems: Sequence[Problem]) -> FloatArray:
        """Return the points, from sparse to dense."""

    def path(
        self, solver: BaseSolver, problems: Sequence[Problem], points: FloatArray, start: Sequence[Path] | None
    ) -> list[Path]:
        """Solve at each point; there is a path for each target."""

    def errors(self, paths: Sequence[Path], held_out: Sequence[Moments | Rows]) -> FloatArray:
        """Return the loss on the rows held out, an ndarray of shape (n_mixes, n_points)."""


class Walk:
    """One solver on its way down the path, over the whole data and every fold, a stride at a time.

    Parameters
    ----------
    course : Course
    solver : BaseSolver
    problems : sequence of Problem
        The whole data, a problem for each target.
    folds : sequence of sequence of Fold
        The folds, each of them as a sequence over the targets. Without folds the whole grid is walked.
    last : float, optional
        Point to end at exactly, with all paths as fine as the solver makes them; by default the grid is the course's.
    patient : bool
        Whether to go on while the error falls by a small part of its standard error; a choice within one standard error
        needs no such patience.
    n_threads : int
        Problems solved side by side.

    Attributes
    ----------
    errors : ndarray of shape (n_mixes, n_folds, n_points)
        On the held-out rows, of the points walked so far.
    ended : bool
    """

    def __init__(
        self,
        course: Course,
        solver: BaseSolver,
        problems: Sequence[Problem],
        folds: Sequence[Sequence[Fold]],
        *,
        last: float | None = None,
        patient: bool = True,
        n_threads: int = 1,
    ) -> None:
        self.course, self.solver, self.problems, self.folds = course, solver, problems, folds
        self.last, self.patient, self.n_threads = last, patient, n_threads
        grid = course.grid(solver, problems)
        self.grid = grid if last is None else end_at(grid, last)
        self.errors = np.empty((len(course.mixes), len(folds), 0))
        self.ended = False
        self._parts: list[list[list[Path]]] = []
        self._rough = self._loosened(FIRST_SHARE)

    @property
    def n_done(self) -> int:
        """Points walked so far."""
        return sum(len(parts[0][0].coefs) for parts in self._parts)

    @property
    def paths(self) -> list[list[Path]]:
        """Paths so far, of the whole data and then of each fold, each as a list over the targets."""
        return [
            [join_paths(list(parts)) for parts in zip(*strides, strict=True)]
            for strides in zip(*self._parts, strict=True)
        ]

    @property
    def judges(self) -> list[Fold]:
        """The folds as records of the first target; the weights are those of all."""
        return [targets[0] for targets in self.folds]

    @property
    def means(self) -> FloatArray:
        """Mean held-out error so far, an ndarray of shape (n_mixes, n_points)."""
        return weighted_mean(self.errors, self.judges)

    def advance(self) -> None:
        """Walk one stride; the first is half of the grid, since its sparse half costs next to nothing."""
        first = self.n_done
        stride = STRIDE if first else max(int(FIRST_STRIDE * self.grid.size), 1)
        points = self.grid[first : first + stride]
        starts: list[list[Path] | None] = list(self._parts[-1]) if self._parts else [None] * (1 + len(self.folds))
        tasks = [functools.partial(self._follow, points, starts[0])]
        tasks += [
            functools.partial(self._follow, points, start, targets)
            for targets, start in zip(self.folds, starts[1:], strict=True)
        ]
        with one_blas_thread():
            followed = run_tasks(lambda task: task(), tasks, self.n_threads)
        self._parts.append([paths for paths, _ in followed])
        self.ended = self.n_done == self.grid.size
        if self.folds:
            self.errors = np.concatenate([self.errors, np.stack([seen for _, seen in followed[1:]], axis=1)], axis=2)
            mean = self.means.min(axis=0)
            self.ended |= mean.size - 1 - find_least(mean) >= PATIENCE
            if first and not self.patient:
                settled = SETTLED * standard_errors(self.errors, self.judges)[..., -1].min()
                self.ended |= bool(mean[first - 1] - mean[-1] < settled)
            self._rough = self._loosened(mean.min() / max(mean[0], np.finfo(np.float64).tiny))

    def _loosened(self, share: float) -> BaseSolver:
        """Return the solver for folds whose error is this share of the error without terms: no finer than they need."""
        return self.solver.loosened(FOLD_ACCURACY * share) if self.last is None else self.solver

    def _follow(
        self, points: FloatArray, start: Sequence[Path] | None, fold: Sequence[Fold] | None = None
    ) -> tuple[list[Path], FloatArray]:
        """Solve at some points for the whole data, or without a fold and score each one on its rows."""
        if fold is None:
            return self.course.path(self.solver, self.problems, points, start), np.empty((0, 0))
        paths = self.course.path(self._rough, [target.problem for target in fold], points, start)
        return paths, self.course.errors(paths, [target.held_out for target in fold])


def end_at(grid: FloatArray, point: float) -> FloatArray:
    """Return the points of a grid before a given one, then that one."""
    if grid.size == 1:
        return np.array([point], dtype=np.float64)
    rising = grid[-1] > grid[0]
    return np.append(grid[grid < point if rising else grid > point], point)


def walk_all(walks: Sequence[Walk], on_progress: Callable[[int, int], None] | None = None) -> Walk:
    """Let several walks go side by side and return the one with the least held-out error.

    After each stride those fall behind whose least error is more than one standard deviation of all least errors above
    the best of them, as in the search for a threshold of TMVA's RuleFit.

    Parameters
    ----------
    walks : sequence of Walk
    on_progress : callable, optional
        Called with the points done and the points in all.
    """
    walks = list(walks)
    n_points = max(walk.grid.size for walk in walks)
    while not all(walk.ended for walk in walks):
        for walk in walks:
            if not walk.ended:
                walk.advance()
        if len(walks) > 1:
            least = np.array([walk.means.min() for walk in walks])
            walks = [walk for walk, error in zip(walks, least, strict=True) if error <= least.min() + least.std()]
        if on_progress is not None:
            on_progress(max(walk.n_done for walk in walks), n_points)
    return min(walks, key=lambda walk: walk.means.min()) if len(walks) > 1 else walks[0]


def find_least(errors: FloatArray) -> int:
    """Return the place of the least error, the first of those that differ from it by rounding.

    A fold whose coefficients are still accurate enough at the next point keeps them, so that points share an error, and
    which of them seems to be the least must not depend on the order in which rows were added up.

    Examples
    --------
    >>> find_least(np.array([0.5, 0.3 + 1e-16, 0.3, 0.4]))
    1
    """
    least = float(errors.min())
    return int(np.argmax(errors <= least + ROUNDING * abs(least)))


def weighted_mean(fold_errors: FloatArray, folds: Sequence[Fold]) -> FloatArray:
    """Return the mean over the folds, the last axis but one, each by the weight of its rows."""
    return np.average(fold_errors, axis=-2, weights=[fold.held_out.weight for fold in folds])


def standard_errors(fold_errors: FloatArray, folds: Sequence[Fold]) -> FloatArray:
    """Return the standard error of the mean over the folds, the last axis but one."""
    means = weighted_mean(fold_errors, folds)
    spread = weighted_mean((fold_errors - means[..., None, :]) ** 2, folds)
    return np.asarray(np.sqrt(spread / max(len(folds) - 1, 1)))
