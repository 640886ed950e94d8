"""Which point of a path: cross-validation over folds, and the rules of choice.

Squared error on held-out rows is a quadratic form in their moments, so no row is read again; other losses read the
held-out rows. The folds walk down the path together with the whole data and stop when the error has turned upwards. A
cap on the number of terms first lets the path pick the terms, then walks again with those alone: the few that are left
need not stay as shrunken as they were when the cap was reached.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone

from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.rows import Rows
from rulegrove.design.statistics import Moments
from rulegrove.losses import LOSSES, Loss
from rulegrove.solvers.base import Path, Problem, Solver, join_paths

FIRST_SHARE = 0.3  # of the error without terms, guessed for the first stride
FIRST_STRIDE = 0.5  # share of the grid walked at once: its sparse half costs next to nothing
STRIDE = 5  # points walked between two looks at the validation error after that
PATIENCE = 8  # points without a better validation error before the walk ends; the dense end costs the most
SETTLED = 0.25  # of a standard error: a stride that lowers the error by less ends a walk for "1se"
FOLD_ACCURACY = 3e-3  # held-out errors are wanted to a third of a percent, far below their standard error


@dataclass(frozen=True, slots=True)
class EndingAt:
    """A solver whose path ends exactly at a point."""

    solver: Solver
    point: float

    def grid(self, problem: Problem) -> FloatArray:
        """Return the solver's own points before the last one, then that one."""
        grid = self.solver.grid(problem)
        if grid.size == 1:
            return np.array([self.point], dtype=np.float64)
        rising = grid[-1] > grid[0]
        return np.append(grid[grid < self.point if rising else grid > self.point], self.point)

    def path(self, problem: Problem, points: FloatArray | None = None, start: Path | FloatArray | None = None) -> Path:
        """Solve at each point."""
        return self.solver.path(problem, points, start)


@dataclass(frozen=True, slots=True)
class Fold:
    """What one fold needs: the problem without its rows, and its rows or their moments."""

    problem: Problem
    held_out: Moments | Rows


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
        Mean loss on held-out rows, squared error unless the solver has another loss, and its standard error over the
        folds; None without cross-validation.
    fold_errors : ndarray of shape (n_folds, n_points), optional
    mix : float
        Share of the penalised fit in the chosen model; the rest is the relaxed one.
    fold_points : tuple of (ndarray of shape (n_terms,), float)
        Coefficients and intercept at the chosen point, fitted without the rows of each fold.
    """

    index: int
    rule: str
    errors: FloatArray | None = None
    standard_errors: FloatArray | None = None
    fold_errors: FloatArray | None = None
    mix: float = 1.0
    fold_points: tuple[tuple[FloatArray, float], ...] = ()


def squared_errors(path: Path, held_out: Moments) -> FloatArray:
    """Mean squared error of each point of a path on rows known by their moments."""
    used = np.flatnonzero(path.coefs.any(axis=0))
    coefs, intercepts = path.coefs[:, used], path.intercepts
    gram, x_sum, x_y = held_out.gram[np.ix_(used, used)], held_out.x_sum[used], held_out.x_y[used, 0]
    fitted = np.einsum("pk,pk->p", coefs @ gram, coefs) + 2 * intercepts * (coefs @ x_sum)
    crossed = coefs @ x_y + intercepts * held_out.y_sum[0]
    total = held_out.y_y[0] - 2 * crossed + fitted + intercepts**2 * held_out.weight
    return np.asarray(np.maximum(total, 0.0) / held_out.weight)


def held_out_errors(path: Path, held_out: Moments | Rows, loss: Loss, mixes: Sequence[float] = (1.0,)) -> FloatArray:
    """Mean loss of each point of a path on held-out rows, for each share of the penalised fit.

    Parameters
    ----------
    path : Path
    held_out : Moments or Rows
        Moments know the squared error alone.
    loss : Loss
    mixes : sequence of float

    Returns
    -------
    ndarray of shape (n_mixes, n_points)
    """
    errors = np.empty((len(mixes), len(path.coefs)))
    for number, mix in enumerate(mixes):
        points = [path.point(index, mix) for index in range(len(path.coefs))]
        coefs, intercepts = np.array([coef for coef, _ in points]), np.array([intercept for _, intercept in points])
        mixed = path if mix == 1.0 else replace(path, coefs=coefs, intercepts=intercepts)
        if isinstance(held_out, Moments):
            errors[number] = squared_errors(mixed, held_out)
        else:
            errors[number] = held_out.risks(loss, mixed.coefs, mixed.intercepts)
    return errors


class Walk:
    """One solver on its way down the path, over the whole data and every fold, a stride at a time.

    Parameters
    ----------
    solver : Solver
    problem : Problem
        The whole data.
    folds : sequence of Fold
        Empty walks the whole grid.
    loss : Loss
        What held-out rows are judged by.
    max_terms : int, optional
        The walk ends once every point of a stride has more terms.
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
        solver: Solver,
        problem: Problem,
        folds: Sequence[Fold],
        *,
        loss: Loss,
        max_terms: int | None = None,
        patient: bool = True,
        n_threads: int = 1,
    ) -> None:
        self.solver, self.problem, self.folds, self.loss = solver, problem, folds, loss
        self.max_terms, self.patient, self.n_threads = max_terms, patient, n_threads
        self.mixes: tuple[float, ...] = getattr(solver, "mixes", (1.0,))
        self.grid = solver.grid(problem)
        self.errors = np.empty((len(self.mixes), len(folds), 0))
        self.ended = False
        self._parts: list[list[Path]] = []
        self._rough = loosen(solver, FIRST_SHARE)

    @property
    def n_done(self) -> int:
        """Points walked so far."""
        return sum(len(parts[0].coefs) for parts in self._parts)

    @property
    def paths(self) -> list[Path]:
        """Paths so far: of the whole data, then of each fold."""
        return [join_paths(list(parts)) for parts in zip(*self._parts, strict=True)]

    @property
    def means(self) -> FloatArray:
        """Mean held-out error so far, an ndarray of shape (n_mixes, n_points)."""
        return weighted_mean(self.errors, self.folds)

    def advance(self) -> None:
        """Walk one stride; the first is half of the grid, since its sparse half costs next to nothing."""
        first = self.n_done
        stride = STRIDE if first else max(int(FIRST_STRIDE * self.grid.size), 1)
        points = self.grid[first : first + stride]
        starts: list[Path | None] = list(self._parts[-1]) if self._parts else [None] * (1 + len(self.folds))
        tasks = [functools.partial(self._follow, self.solver, self.problem, None, points, starts[0])]
        tasks += [
            functools.partial(self._follow, self._rough, fold.problem, fold.held_out, points, start)
            for fold, start in zip(self.folds, starts[1:], strict=True)
        ]
        with one_blas_thread():
            followed = run_tasks(lambda task: task(), tasks, self.n_threads)
        self._parts.append([path for path, _ in followed])
        self.ended = self.n_done == self.grid.size
        if self.folds:
            self.errors = np.concatenate([self.errors, np.stack([seen for _, seen in followed[1:]], axis=1)], axis=2)
            mean = self.means.min(axis=0)
            self.ended |= mean.size - 1 - int(np.argmin(mean)) >= PATIENCE
            if first and not self.patient:
                settled = SETTLED * standard_errors(self.errors, self.folds)[..., -1].min()
                self.ended |= bool(mean[first - 1] - mean[-1] < settled)
            self._rough = loosen(self.solver, mean.min() / max(mean[0], np.finfo(np.float64).tiny))
        if self.max_terms is not None and (followed[0][0].n_terms > self.max_terms).all():
            self.ended = True

    def _follow(
        self, solver: Solver, problem: Problem, held_out: Moments | Rows | None, points: FloatArray, start: Path | None
    ) -> tuple[Path, FloatArray]:
        """Solve at some points and score each one on the rows held out, if there are any."""
        path = solver.path(problem, points, start)
        if held_out is None:
            return path, np.empty((0, 0))
        return path, held_out_errors(path, held_out, self.loss, self.mixes)


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


def loosen(solver: Solver, share: float) -> Solver:
    """Return the solver as fine as held-out errors need it that are this share of the error without terms."""
    tol = FOLD_ACCURACY * share
    if isinstance(solver, EndingAt) or getattr(solver, "tol", tol) >= tol:
        return solver
    return clone(solver).set_params(tol=tol)  # type: ignore[no-any-return]


def weighted_mean(fold_errors: FloatArray, folds: Sequence[Fold]) -> FloatArray:
    """Mean over the folds, the last axis but one, each by the weight of its rows."""
    return np.average(fold_errors, axis=-2, weights=[fold.held_out.weight for fold in folds])


def standard_errors(fold_errors: FloatArray, folds: Sequence[Fold]) -> FloatArray:
    """Return the standard error of the mean over the folds, the last axis but one."""
    means = weighted_mean(fold_errors, folds)
    spread = weighted_mean((fold_errors - means[..., None, :]) ** 2, folds)
    return np.asarray(np.sqrt(spread / max(len(folds) - 1, 1)))


def choose(fold_errors: FloatArray, folds: Sequence[Fold], rule: str, mixes: Sequence[float] = (1.0,)) -> Selection:
    """Pick the point of least held-out error, or the sparsest within one standard error of it, and the best mix there.

    Parameters
    ----------
    fold_errors : ndarray of shape (n_mixes, n_folds, n_points)
    folds : sequence of Fold
    rule : {"min", "1se"}
    mixes : sequence of float
        Shares of the penalised fit.

    Returns
    -------
    Selection
    """
    means = weighted_mean(fold_errors, folds)
    deviations = standard_errors(fold_errors, folds)
    mix, index = (int(place) for place in np.unravel_index(np.argmin(means), means.shape))
    if rule == "1se":
        limit = means[mix, index] + deviations[mix, index]
        index = int(np.argmax((means <= limit).any(axis=0)))
        mix = int(np.argmin(means[:, index]))
    return Selection(index, rule, means[mix], deviations[mix], fold_errors[mix], float(mixes[mix]))


def select(
    solver: Solver,
    problem: Problem,
    folds: Sequence[Fold],
    *,
    selection: str | float,
    max_terms: int | None = None,
    n_threads: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[Path, Selection, Solver]:
    """Follow the path and choose a point of it.

    Parameters
    ----------
    solver : Solver
        One that has `variants` is replaced by the best of them.
    problem : Problem
        The whole data.
    folds : sequence of Fold
        What to validate on; not needed for a given point.
    selection : {"1se", "min"} or float
        A rule of choice, or the point itself (a penalty, a radius, a number of steps: what the solver varies), which is
        then the last of the path.
    max_terms : int, optional
        Most terms. Where the choice has more, the whole data and every fold keep the most important terms of the first
        point that has so many, and walk again with these alone.
    n_threads : int
        Problems solved side by side.
    on_progress : callable, optional
        Called with the points done and the points in all.

    Returns
    -------
    path : Path
        Of the whole data; no point has more than `max_terms` terms if the cap had to act.
    selection : Selection
    solver : Solver
        The one that was given, or its best variant.
    """
    variants: list[Solver] = solver.variants(problem) if folds and hasattr(solver, "variants") else [solver]
    loss = LOSSES[getattr(solver, "loss", "squared")]()
    if hasattr(solver, "training_loss"):
        loss = solver.training_loss(problem)

    def attempt(candidates: Sequence[Solver], cap: int | None) -> tuple[list[Path], Selection, Solver]:
        ending = [one if isinstance(selection, str) else EndingAt(one, selection) for one in candidates]
        patient = selection != "1se"
        walks = [
            Walk(one, problem, folds, loss=loss, max_terms=cap, patient=patient, n_threads=n_threads) for one in ending
        ]
        walk = walk_all(walks, on_progress)
        paths, best = walk.paths, candidates[walks.index(walk)]
        if isinstance(selection, str):
            choice = choose(walk.errors, folds, selection, walk.mixes)
            points = tuple(path.point(choice.index, choice.mix) for path in paths[1:])
            return paths, replace(choice, fold_points=points), best
        return paths, Selection(len(paths[0].coefs) - 1, f"{paths[0].parameter.name} {selection:g}"), best

    paths, choice, best = attempt(variants, max_terms)
    if max_terms is None or paths[0].n_terms[choice.index] <= max_terms:
        return paths[0], choice, best
    problems = [problem, *(fold.problem for fold in folds)]
    supports = [_support(path, part, max_terms) for path, part in zip(paths, problems, strict=True)]
    problem = problem.take(supports[0])
    folds = [
        Fold(fold.problem.take(support), fold.held_out.take(support))
        for fold, support in zip(folds, supports[1:], strict=True)
    ]
    paths, choice, best = attempt([best], None)
    points = tuple(
        (_widen(coef, support, part.n_terms), intercept)
        for (coef, intercept), support, part in zip(choice.fold_points, supports[1:], problems[1:], strict=False)
    )
    return _spread(paths[0], supports[0], problems[0].n_terms), replace(choice, fold_points=points), best


def _widen(coefs: FloatArray, terms: IntArray, n_terms: int) -> FloatArray:
    """Return coefficients of some of the terms as those of all."""
    wide = np.zeros((*coefs.shape[:-1], n_terms))
    wide[..., terms] = coefs
    return wide


def _spread(path: Path, terms: IntArray, n_terms: int) -> Path:
    """Return the path of some of the terms as one of all."""
    relaxed = None if path.relaxed is None else _spread(path.relaxed, terms, n_terms)
    return replace(path, coefs=_widen(path.coefs, terms, n_terms), relaxed=relaxed)


def _support(path: Path, problem: Problem, max_terms: int) -> IntArray:
    """Return the `max_terms` most important terms where the path first has that many."""
    reached = path.n_terms >= max_terms
    coefs = path.coefs[int(np.argmax(reached)) if reached.any() else -1]
    importance = np.abs(coefs) * np.sqrt(problem.gram.diagonal())
    terms = np.argsort(-importance, kind="stable")[:max_terms]
    return np.sort(terms[coefs[terms] != 0])
