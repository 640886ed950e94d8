"""Which point of a path: cross-validation over folds, and the rules of choice.

Squared error on held-out rows is a quadratic form in their moments, so no row is read again; other losses read the
held-out rows.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import FloatArray
from rulegrove.design.rows import Rows
from rulegrove.design.statistics import Moments
from rulegrove.losses import Loss
from rulegrove.solvers.base import BaseSolver, Path, Problem
from rulegrove.walk import Course, Fold, Walk, find_least, standard_errors, walk_all, weighted_mean


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

    __repr__ = short_repr


@dataclass(frozen=True)
class Chosen:
    """What was found for one target: its path, the chosen point of it, and the solver that was used.

    Attributes
    ----------
    path : Path
    selection : Selection
    solver : BaseSolver
        The one that was given, or its best variant.
    refitted : (ndarray of shape (n_terms,), float), optional
        Coefficients and intercept of the terms of the chosen point, and of lines, solved for once more.
    """

    path: Path
    selection: Selection
    solver: BaseSolver
    refitted: tuple[FloatArray, float] | None = None

    @property
    def point(self) -> tuple[FloatArray, float]:
        """Coefficients and intercept of the model."""
        if self.refitted is not None:
            return self.refitted
        return self.path.point(self.selection.index, self.selection.mix)

    def polished(self, problem: Problem, folds: Sequence[Fold]) -> "Chosen":
        """Return the choice solved to the last digit, in the whole data and the folds, where the solver can.

        Parameters
        ----------
        problem : Problem
            The whole data.
        folds : sequence of Fold
            Those that the choice was made with; none where a point was given.
        """
        index, penalty = self.selection.index, float(self.path.penalties[self.selection.index])
        coef = self.solver.polished(problem, self.path.coefs[index], penalty)
        if coef is None:
            return self
        coefs, intercepts = self.path.coefs.copy(), self.path.intercepts.copy()
        coefs[index], intercepts[index] = coef, problem.intercept(coef)
        points = []
        for fold, (own, _) in zip(folds, self.selection.fold_points, strict=True):
            exact = self.solver.polished(fold.problem, own, penalty)
            assert exact is not None
            points.append((exact, fold.problem.intercept(exact)))
        path = replace(self.path, coefs=coefs, intercepts=intercepts)
        return replace(self, path=path, selection=replace(self.selection, fold_points=tuple(points)))


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


@dataclass(frozen=True, slots=True)
class Alone:
    """The course of one target: the path of any solver, judged by a loss.

    Parameters
    ----------
    loss : Loss
    mixes : tuple of float
    """

    loss: Loss
    mixes: tuple[float, ...] = (1.0,)

    def grid(self, solver: BaseSolver, problems: Sequence[Problem]) -> FloatArray:
        """Return the points of the solver."""
        return solver.grid(problems[0])

    def path(
        self, solver: BaseSolver, problems: Sequence[Problem], points: FloatArray, start: Sequence[Path] | None
    ) -> list[Path]:
        """Solve at each point."""
        return [solver.path(problems[0], points, None if start is None else start[0])]

    def errors(self, paths: Sequence[Path], held_out: Sequence[Moments | Rows]) -> FloatArray:
        """Return the mean loss on the rows held out."""
        return held_out_errors(paths[0], held_out[0], self.loss, self.mixes)


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
    mix, index = (int(place) for place in np.unravel_index(find_least(means), means.shape))
    if rule == "1se":
        limit = means[mix, index] + deviations[mix, index]
        index = int(np.argmax((means <= limit).any(axis=0)))
        mix = int(np.argmin(means[:, index]))
    return Selection(index, rule, means[mix], deviations[mix], fold_errors[mix], float(mixes[mix]))


def select(
    solver: BaseSolver,
    problems: Sequence[Problem],
    folds: Sequence[Sequence[Fold]],
    *,
    together: Course | None = None,
    selection: str | float,
    exact: bool = False,
    n_threads: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Chosen]:
    """Follow the path of every target and choose a point of it.

    Parameters
    ----------
    solver : BaseSolver
        Where it has `variants`, the best of them is taken.
    problems : sequence of Problem
        The whole data, a problem for each target.
    folds : sequence of sequence of Fold
        What to validate on: the folds, each of them as a sequence over the targets. Not needed for a given point.
    together : Course, optional
        How several targets are solved together, such as `rulegrove.joint_selection.Grouped`; one point is then chosen
        for all of them. By default each target is solved for by itself, several of them side by side.
    selection : {"1se", "min"} or float
        A rule of choice, or the point itself (a penalty, a radius, a number of steps: what the solver varies), which is
        then the last of the path.
    exact : bool
        Whether the chosen points of targets that are solved for by themselves are polished to the last digit.
    n_threads : int
        Problems solved side by side.
    on_progress : callable, optional
        Called with the points done and the points in all, unless several targets run side by side.

    Returns
    -------
    list of Chosen
        One for each target.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.solvers import Glmnet
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), np.array([1.0, 2.0, 4.0, 0.0])
    >>> problem = Problem.from_moments(4.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
    >>> (chosen,) = select(Glmnet(), [problem], [], selection=0.1)
    >>> chosen.selection.rule, chosen.path.coefs[chosen.selection.index].round(2)
    ('penalty 0.1', array([2.1, 1.1]))
    """
    follow = functools.partial(follow_and_choose, selection=selection)
    if together is not None and len(problems) > 1:
        return follow(together, [solver.as_net()], problems, folds, n_threads=n_threads, on_progress=on_progress)

    def select_one(target: int, n_threads: int, on_progress: Callable[[int, int], None] | None) -> Chosen:
        problem, own_folds = problems[target], [[fold[target]] for fold in folds]
        course = Alone(solver.training_loss(problem), solver.mixes if isinstance(selection, str) else (1.0,))
        variants = solver.variants(problem) if folds else [solver]
        (chosen,) = follow(course, variants, [problem], own_folds, n_threads=n_threads, on_progress=on_progress)
        return chosen.polished(problem, [fold for (fold,) in own_folds]) if exact else chosen

    if len(problems) == 1:
        return [select_one(0, n_threads, on_progress)]
    with one_blas_thread():
        return run_tasks(lambda target: select_one(target, 1, None), range(len(problems)), n_threads)


def follow_and_choose(
    course: Course,
    solvers: Sequence[BaseSolver],
    problems: Sequence[Problem],
    folds: Sequence[Sequence[Fold]],
    *,
    selection: str | float,
    n_threads: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Chosen]:
    """Follow one course, over one target or several together, and choose one point for all.

    Parameters
    ----------
    course : Course
    solvers : sequence of BaseSolver
        The one of least held-out error is taken.
    problems, folds, selection, n_threads, on_progress
        As in `select`.
    """
    last = None if isinstance(selection, str) else selection
    set_out = functools.partial(Walk, last=last, patient=selection != "1se", n_threads=n_threads)
    walk = walk_all([set_out(course, solver, problems, folds) for solver in solvers], on_progress)
    if isinstance(selection, str):
        choice = choose(walk.errors, walk.judges, selection, course.mixes)
    else:
        choice = Selection(walk.n_done - 1, f"{walk.paths[0][0].parameter.name} {selection:g}")
    return _share_choice(walk.paths, choice, walk.solver)


def _share_choice(paths: Sequence[Sequence[Path]], choice: Selection, solver: BaseSolver) -> list[Chosen]:
    """Return the choice of each target, with its coefficients in the folds, whose paths need not be kept for them."""
    whole, *parts = paths
    found = [[own[target].point(choice.index, choice.mix) for own in parts] for target in range(len(whole))]
    points = [tuple((coef.copy(), intercept) for coef, intercept in own) for own in found]
    return [Chosen(path, replace(choice, fold_points=own), solver) for path, own in zip(whole, points, strict=True)]
