"""Which point of a path: cross-validation over folds, and the rules of choice.

Squared error on held-out rows is a quadratic form in their moments, so no row is read again; other losses read the
held-out rows. A cap on the number of terms first lets the path choose a model of many, then looks for the few that come
nearest to it and walks again with those alone: they need not stay as shrunken as they were among the many.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.rows import Rows
from rulegrove.design.statistics import Moments
from rulegrove.losses import Loss
from rulegrove.solvers.base import BaseSolver, Path, Problem
from rulegrove.subset import Reference, find_subset
from rulegrove.walk import Course, Fold, Walk, count_terms, standard_errors, walk_all, weighted_mean

REFERENCE_TERMS = 200  # beyond the cap: a model of so many more terms is a good reference for one of few


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen point of a path and the evidence.

    Attributes
    ----------
    index : int
        The chosen point.
    rule : str
        How it was chosen; of a model with a cap on its terms, how the model was that these come nearest to.
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


@dataclass(frozen=True)
class Chosen:
    """What was found for one target: its path, the chosen point of it, and the solver that was used.

    Attributes
    ----------
    path : Path
    selection : Selection
    solver : BaseSolver
        The one that was given, its best variant, or the one that solved for the few terms of a cap.
    """

    path: Path
    selection: Selection
    solver: BaseSolver

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
    mix, index = (int(place) for place in np.unravel_index(np.argmin(means), means.shape))
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
    max_terms: int | None = None,
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
    max_terms : int, optional
        Most terms, of one target or of all that are solved together. Where the choice has more, the whole data and
        every fold keep the subset of all candidates whose scores come nearest to those of their chosen model
        (`find_subset`; the distances of several targets add up), and walk again with these alone: to the given point,
        else to the least held-out error, where Glmnet's penalty is nearly the ridge's if none are given.
    exact : bool
        Whether the chosen points of targets that are solved for by themselves are polished to the last digit.
    n_threads : int
        Problems solved side by side.
    on_progress : callable, optional
        Called with the points done and the points in all, unless several targets run side by side.

    Returns
    -------
    list of Chosen
        One for each target; no point of a path has more than `max_terms` terms if the cap had to act.

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
    follow = functools.partial(follow_and_choose, selection=selection, max_terms=max_terms)
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
    max_terms: int | None,
    n_threads: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Chosen]:
    """Follow one course, over one target or several together, and choose one point for all.

    Parameters
    ----------
    course : Course
    solvers : sequence of BaseSolver
        The one of least held-out error is taken.
    problems, folds, selection, max_terms, n_threads, on_progress
        As in `select`.
    """

    def attempt(
        rule: str | float,
        solvers: Sequence[BaseSolver],
        problems: Sequence[Problem],
        folds: Sequence[Sequence[Fold]],
        cap: int | None,
    ) -> tuple[Walk, Selection]:
        last = None if isinstance(rule, str) else rule
        set_out = functools.partial(Walk, last=last, max_terms=cap, patient=rule != "1se", n_threads=n_threads)
        walk = walk_all([set_out(course, solver, problems, folds) for solver in solvers], on_progress)
        if isinstance(rule, str):
            return walk, choose(walk.errors, walk.judges, rule, course.mixes)
        return walk, Selection(walk.n_done - 1, f"{walk.paths[0][0].parameter.name} {rule:g}")

    reach = None if max_terms is None else max_terms + REFERENCE_TERMS
    walk, choice = attempt(selection, solvers, problems, folds, reach)
    paths = walk.paths
    if max_terms is None or count_terms(paths[0])[choice.index] <= max_terms:
        return _share_choice(paths, choice, walk.solver)
    sets = [problems, *([target.problem for target in fold] for fold in folds)]
    with one_blas_thread():
        references = (_refer(own, parts, choice) for own, parts in zip(paths, sets, strict=True))
        supports = [find_subset(reference, max_terms) for reference in references]
    few = _take_problems(problems, supports[0])
    few_folds = [_take_fold(fold, support) for fold, support in zip(folds, supports[1:], strict=True)]
    if isinstance(selection, str):  # the cap has settled how many terms there are: no point is wanted for its sparsity
        walk, choice = attempt("min", [walk.solver.softened(problems)], few, few_folds, None)
        choice = replace(choice, rule=selection)
    else:
        walk, choice = attempt(selection, [walk.solver], few, few_folds, None)
    chosen = _share_choice(walk.paths, choice, walk.solver)
    return [_spread(one, supports, [parts[0].n_terms for parts in sets]) for one in chosen]


def _share_choice(paths: Sequence[Sequence[Path]], choice: Selection, solver: BaseSolver) -> list[Chosen]:
    """Return the choice of each target, with its coefficients in the folds."""
    whole, *parts = paths
    points = [tuple(own[target].point(choice.index, choice.mix) for own in parts) for target in range(len(whole))]
    return [Chosen(path, replace(choice, fold_points=own), solver) for path, own in zip(whole, points, strict=True)]


def _refer(paths: Sequence[Path], problems: Sequence[Problem], choice: Selection) -> Reference:
    """Return the chosen model of all targets as what a subset of terms is to come near to."""
    coefs = np.array([path.point(choice.index, choice.mix)[0] for path in paths])
    # What the penalty never weighs against the others is not dropped for them.
    return Reference.of(problems[0].gram, coefs, problems[0].signs, problems[0].unpenalised)


def _take_problems(problems: Sequence[Problem], terms: IntArray) -> list[Problem]:
    """Return the problems of some of the terms; what the targets have in common is copied once."""
    first = problems[0].take(terms)
    taken = [first]
    for problem in problems[1:]:
        rows = None if first.rows is None or problem.rows is None else replace(first.rows, y=problem.rows.y)
        taken.append(replace(first, x_y=problem.x_y[terms], y_y=problem.y_y, y_mean=problem.y_mean, rows=rows))
    return taken


def _take_fold(fold: Sequence[Fold], terms: IntArray) -> list[Fold]:
    """Return a fold with some of the terms; the rows of all targets are copied once."""
    problems = _take_problems([target.problem for target in fold], terms)
    first = fold[0].held_out.take(terms)
    return [
        Fold(problem, replace(first, y=own.y) if isinstance(first, Rows) and isinstance(own, Rows) else own.take(terms))
        for problem, own in zip(problems, [target.held_out for target in fold], strict=True)
    ]


def _spread(chosen: Chosen, supports: Sequence[IntArray], n_terms: Sequence[int]) -> Chosen:
    """Return what was found with some of the terms, of the whole data and of each fold, in terms of all."""
    choice = chosen.selection
    points = tuple(
        (_widen(coef, support, width), intercept)
        for (coef, intercept), support, width in zip(choice.fold_points, supports[1:], n_terms[1:], strict=True)
    )
    path = _widen_path(chosen.path, supports[0], n_terms[0])
    return replace(chosen, path=path, selection=replace(choice, fold_points=points))


def _widen(coefs: FloatArray, terms: IntArray, n_terms: int) -> FloatArray:
    """Return coefficients of some of the terms as those of all."""
    wide = np.zeros((*coefs.shape[:-1], n_terms))
    wide[..., terms] = coefs
    return wide


def _widen_path(path: Path, terms: IntArray, n_terms: int) -> Path:
    """Return the path of some of the terms as one of all."""
    relaxed = None if path.relaxed is None else _widen_path(path.relaxed, terms, n_terms)
    return replace(path, coefs=_widen(path.coefs, terms, n_terms), relaxed=relaxed)
