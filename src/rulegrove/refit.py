r"""Coefficients of the terms that a path keeps, solved for once more with a ridge for rules and one for lines.

The path of the squared loss finds which terms matter from sums alone, but its one penalty is not the best one for their
coefficients: it shrinks what it keeps, holds slopes back where a target is nearly linear, and knows nothing of
probabilities. So the terms that it keeps, and all lines, are solved for again:

.. math::
    \frac{1}{W} \sum_i w_i L(y_i, F_i) + \frac{1}{2} \sum_k \lambda_k \sigma_k^2 a_k^2 ,

with the log loss of classes (all of them together) or half the squared error of numbers, the variance
:math:`\sigma_k^2` of each term, one ridge :math:`\lambda` for rules and another for lines. Rows that were held out
choose both: with a large ridge for rules the model is one of lines alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, log_softmax

from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.bits import BitMatrix
from rulegrove.design.rows import Rows
from rulegrove.design.statistics import Moments
from rulegrove.projection import Point
from rulegrove.solvers.base import Problem

STRONGEST = 10.0  # ridge of rules from which the search goes down,
STEP = 10**-0.5  # by this factor,
PATIENCE = 2  # until so many in a row are no better
FIRST_OF_LINES = 7  # steps down of the ridge of lines meanwhile
WEAKEST = 0.1  # ridge over the number of rows at least: what few rows say of a smaller one is chance
FREE = 1e-6  # ridge of terms without a penalty: next to none, but no coefficient is infinite
BARRED = 1e12  # ridge of terms whose coefficient would have the wrong sign
ROUGH, FINE = 1e-5, 1e-10  # of the loss without terms: what a further step may promise at most, in the search and last
MAX_STEPS = 200
MEMORY = 8  # steps that the next one goes by
SUFFICIENT = 1e-4  # of what a step promises, which it must keep
MAX_HALVINGS = 30


@dataclass(frozen=True)
class Ridge:
    """How much rules and lines are shrunk.

    Attributes
    ----------
    rules, lines : float
    """

    rules: float
    lines: float


@dataclass(frozen=True, eq=False)
class Kept:
    """Terms of one output that are solved for again.

    Attributes
    ----------
    columns : ndarray of shape (n_kept,)
        Their places among the candidates, ascending.
    n_rules : int
        How many of them are rules; lines come after these.
    problem : Problem
        Of these terms alone, with what their coefficients must respect.
    held_out : Moments, optional
        The same terms on rows that were held out.
    """

    columns: IntArray
    n_rules: int
    problem: Problem
    held_out: Moments | None = None

    def ridges(self, ridge: Ridge) -> FloatArray:
        """Return the ridge of each term, in units of its variance times the loss."""
        relative = np.where(np.arange(len(self.columns)) < self.n_rules, ridge.rules, ridge.lines)
        if self.problem.unpenalised is not None:
            relative = np.where(self.problem.unpenalised, FREE, relative)
        variances = self.problem.gram.diagonal()
        return np.asarray(relative * np.where(variances > 0.0, variances, 1.0))

    def find_wrong(self, coef: FloatArray) -> IntArray:
        """Return the terms whose coefficients have a sign that they must not have."""
        signs = self.problem.signs
        return np.empty(0, dtype=np.int64) if signs is None else np.flatnonzero(signs * coef < 0.0)


class Refit(Protocol):
    """Terms that are solved for again, in the whole data or without a fold."""

    def solve(self, ridge: Ridge, tol: float = FINE) -> list[Point]:
        """Return the coefficients of the kept terms and the intercept of each output."""

    def judge(self, points: Sequence[Point]) -> float:
        """Return the mean loss of such coefficients on the rows that were held out."""


@dataclass(frozen=True, eq=False)
class RefitOfNumbers:
    """Half the squared error, from the statistics alone.

    Attributes
    ----------
    kept : Kept

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [1.0]]), np.array([1.0, 2.0, 4.0])
    >>> problem = Problem.from_moments(3.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
    >>> ((coef, intercept),) = RefitOfNumbers(Kept(np.arange(1), 1, problem)).solve(Ridge(1.0, 1.0))
    >>> coef.round(6), round(intercept, 6)  # half of 2
    (array([1.]), 1.666667)
    """

    kept: Kept

    def solve(self, ridge: Ridge, tol: float = FINE) -> list[Point]:
        """Return the coefficients of the kept terms and the intercept, exactly."""
        problem, ridges = self.kept.problem, self.kept.ridges(ridge)
        while True:
            coef = _factor(problem.gram, ridges)(problem.x_y)
            wrong = self.kept.find_wrong(np.where(ridges == BARRED, 0.0, coef))
            if not wrong.size:
                coef[ridges == BARRED] = 0.0
                return [(coef, problem.intercept(coef))]
            ridges[wrong] = BARRED

    def judge(self, points: Sequence[Point]) -> float:
        """Return the mean squared error on the rows that were held out."""
        (coef, intercept), held_out = points[0], self.kept.held_out
        assert held_out is not None
        crossed = coef @ held_out.x_y[:, 0] + intercept * held_out.y_sum[0]
        fitted = coef @ held_out.gram @ coef + 2.0 * intercept * (held_out.x_sum @ coef)
        total = held_out.y_y[0] - 2.0 * crossed + fitted + intercept**2 * held_out.weight
        return float(total / held_out.weight)


def _factor(gram: FloatArray, ridges: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return what solves a system with a Gram and ridges."""
    matrix = gram.copy()
    matrix[np.diag_indices_from(matrix)] += ridges
    factor = cho_factor(matrix, check_finite=False, overwrite_a=True)
    return lambda values: np.asarray(cho_solve(factor, values, check_finite=False))


class RefitOfClasses:
    """The log loss of two classes, or of several together, over rows.

    The steps are those of L-BFGS [1]_ that begin with the Gram times the mean curvature: sums over rows are cheap, but
    products of pairs of terms with a weight for each row are not.

    Parameters
    ----------
    kept : sequence of Kept
        One for each output.
    rows : sequence of Rows
        The kept terms of each output on the same rows, those to learn from and those held out.
    members : ndarray of shape (n_outputs, n_rows)
        1 where a row is of the class of an output, else 0.
    weights, held_out : ndarray of shape (n_rows,)
        Weights of rows to learn from, and of rows held out.

    References
    ----------
    .. [1] Nocedal, Wright (2006). "Numerical Optimization", second edition, section 7.2.
    """

    def __init__(
        self,
        kept: Sequence[Kept],
        rows: Sequence[Rows],
        members: FloatArray,
        weights: FloatArray,
        held_out: FloatArray,
    ) -> None:
        self.kept, self.rows, self.members = kept, rows, members
        self.weights, self.held_out = weights / weights.sum(), held_out
        bounds = np.cumsum([0, *(1 + len(own.columns) for own in kept)]).tolist()
        self._parts = [slice(first, last) for first, last in zip(bounds[:-1], bounds[1:], strict=True)]
        self._means = [own.problem.x_mean for own in kept]
        shares = np.clip(members @ self.weights, 1e-6, 1.0 - 1e-6)
        self._null = float(-shares @ np.log(shares))
        self._state = np.zeros(bounds[-1])
        for part, share in zip(self._parts, shares, strict=True):
            self._state[part.start] = np.log(share / (1.0 - share)) if len(kept) == 1 else np.log(share)

    def solve(self, ridge: Ridge, tol: float = FINE) -> list[Point]:
        """Return the coefficients of the kept terms and the intercept of each output; begins where it last ended."""
        ridges = [own.ridges(ridge) for own in self.kept]
        while True:
            self._state = self._minimise(ridges, tol * self._null)
            coefs = [
                np.where(own == BARRED, 0.0, self._state[part][1:])
                for part, own in zip(self._parts, ridges, strict=True)
            ]
            wrong = [own.find_wrong(coef) for own, coef in zip(self.kept, coefs, strict=True)]
            if not any(own.size for own in wrong):
                starts = [float(self._state[part.start]) for part in self._parts]
                return [
                    (coef, start - float(means @ coef))
                    for coef, start, means in zip(coefs, starts, self._means, strict=True)
                ]
            for own, places in zip(ridges, wrong, strict=True):
                own[places] = BARRED

    def judge(self, points: Sequence[Point]) -> float:
        """Return the mean log loss on the rows that were held out."""
        scores = np.array([_score(rows, *point) for rows, point in zip(self.rows, points, strict=True)])
        return float(self.held_out @ _losses(scores, self.members) / self.held_out.sum())

    def _minimise(self, ridges: Sequence[FloatArray], tol: float) -> FloatArray:
        """Return intercepts (of centred terms) and coefficients of all outputs at the minimum."""
        state = self._state.copy()
        value, slope, bends = self._evaluate(state, ridges)
        solves = [
            _factor(bend * own.problem.gram, ridge) for own, ridge, bend in zip(self.kept, ridges, bends, strict=True)
        ]

        def precondition(slope: FloatArray) -> FloatArray:
            step = np.empty_like(slope)
            for part, solve, bend in zip(self._parts, solves, bends, strict=True):
                step[part.start] = slope[part.start] / bend
                step[part.start + 1 : part.stop] = solve(slope[part][1:])
            return step

        steps: list[tuple[FloatArray, FloatArray]] = []
        for _ in range(MAX_STEPS):
            direction = -_go_by(steps, slope, precondition)
            promised = -float(slope @ direction)
            if promised <= tol:
                break
            size = 1.0
            for _ in range(MAX_HALVINGS):
                moved = state + size * direction
                after, new_slope, _ = self._evaluate(moved, ridges)
                if after <= value - SUFFICIENT * size * promised:
                    break
                size *= 0.5
            else:  # rounding allows no further progress
                break
            steps = [*steps[1 - MEMORY :], (moved - state, new_slope - slope)]
            state, value, slope = moved, after, new_slope
        return state

    def _evaluate(self, state: FloatArray, ridges: Sequence[FloatArray]) -> tuple[float, FloatArray, FloatArray]:
        """Return the objective, its slope, and the mean curvature of the loss in the score of each output."""
        scores = np.empty(self.members.shape)
        for own, part, means, rows in zip(scores, self._parts, self._means, self.rows, strict=True):
            coef = state[part][1:]
            own[:] = _score(rows, coef, float(state[part.start] - means @ coef))
        value = float(self.weights @ _losses(scores, self.members))
        shares = expit(scores) if len(scores) == 1 else np.exp(log_softmax(scores, axis=0))
        pulls = self.weights * (shares - self.members)
        slope = np.empty_like(state)
        for pull, part, means, rows, ridge in zip(pulls, self._parts, self._means, self.rows, ridges, strict=True):
            coef, total = state[part][1:], float(pull.sum())
            slope[part.start] = total
            slope[part.start + 1 : part.stop] = rows.sums(pull) - total * means + ridge * coef
            value += 0.5 * float(ridge @ coef**2)
        return value, slope, np.maximum((shares * (1.0 - shares)) @ self.weights, 1e-3)


def _score(rows: Rows, coef: FloatArray, intercept: float) -> FloatArray:
    """Return the scores of rows."""
    bits: BitMatrix = rows.bits
    return np.asarray(intercept + bits.dot(coef[: rows.n_rules]) + rows.linear @ coef[rows.n_rules :])


def _losses(scores: FloatArray, members: FloatArray) -> FloatArray:
    """Return the log loss of every row."""
    if len(scores) == 1:
        return np.asarray(np.logaddexp(0.0, scores[0]) - members[0] * scores[0])
    return np.asarray(-np.sum(members * log_softmax(scores, axis=0), axis=0))


def _go_by(
    steps: Sequence[tuple[FloatArray, FloatArray]],
    slope: FloatArray,
    precondition: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Return the slope times an inverse curvature that agrees with earlier steps and the changes of slope they made."""
    known = [(step, change, 1.0 / (step @ change)) for step, change in steps if step @ change > 0.0]
    rest, parts = slope.copy(), []
    for step, change, scale in reversed(known):
        parts.append(scale * (step @ rest))
        rest -= parts[-1] * change
    moved = precondition(rest)
    for (step, change, scale), part in zip(known, reversed(parts), strict=True):
        moved += (part - scale * (change @ moved)) * step
    return moved


def choose_ridge(refits: Sequence[Refit], weights: Sequence[float], n_rows: int) -> Ridge:
    """Return the ridges with the least mean loss on held-out rows, found by going from one to a better one.

    Parameters
    ----------
    refits : sequence of Refit
        One for each fold.
    weights : sequence of float
        Of the rows that each of them holds out.
    n_rows : int
        Rows to learn from.

    Examples
    --------
    >>> class Bowl:
    ...     def solve(self, ridge, tol):
    ...         return [(np.log10([ridge.rules, ridge.lines]), 0.0)]
    ...     def judge(self, points):
    ...         return float(np.sum((points[0][0] - [-1.0, -3.0]) ** 2))
    >>> ridge = choose_ridge([Bowl()], [1.0], n_rows=1000)
    >>> round(ridge.rules, 6), round(ridge.lines, 6)
    (0.1, 0.001)
    """
    seen: dict[tuple[int, int], float] = {}

    def at(place: tuple[int, int]) -> Ridge:
        return Ridge(STRONGEST * STEP ** place[0], STRONGEST * STEP ** place[1])

    def judge(place: tuple[int, int]) -> float:
        if place not in seen:
            ridge = at(place)
            inside = min(place) >= 0 and min(ridge.rules, ridge.lines) >= WEAKEST / n_rows
            losses = [refit.judge(refit.solve(ridge, ROUGH)) for refit in refits] if inside else [np.inf]
            seen[place] = float(np.average(losses, weights=weights if inside else None))
        return seen[place]

    def descend(place: tuple[int, int], way: tuple[int, int], patience: int) -> tuple[int, int]:
        best, waited = place, 0
        while waited < patience:
            place = (place[0] + way[0], place[1] + way[1])
            best, waited = (place, 0) if judge(place) < judge(best) else (best, waited + 1)
        return best

    best = descend((0, FIRST_OF_LINES), (1, 0), PATIENCE)
    for way in ((0, 1), (0, -1), (-1, 0), (1, 0)):
        best = descend(best, way, 1)
    return at(best)
