r"""Coefficients of the terms that a path keeps, solved for once more with a ridge for rules and one for lines.

The path of the squared loss finds which terms matter from sums alone, but its one penalty is not the best one for their
coefficients: it shrinks what it keeps, holds slopes back where a target is nearly linear, and knows nothing of
probabilities. So the terms that it keeps, and all lines, are solved for again:

.. math::
    \frac{1}{W} \sum_i w_i L(y_i, F_i) + \frac{1}{2} \sum_k \lambda_k \sigma_k^2 a_k^2 ,

with the likelihood of the target (of classes all together) or half the squared error of numbers, the variance
:math:`\sigma_k^2` of each term, one ridge :math:`\lambda` for rules and another for lines. Rows that were held out
choose both: with a large ridge for rules the model is one of lines alone.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky

from rulegrove._likelihood_kernels import minimise, score
from rulegrove._threads import run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.bits import BitMatrix
from rulegrove.design.rows import Rows, rows_of_words
from rulegrove.design.statistics import Moments
from rulegrove.likelihoods import Likelihood
from rulegrove.projection import Point
from rulegrove.solvers.base import Problem

# Ridges from which the search chooses, 10, 3, 1, 0.3 and so on: that of rules goes down from the strongest by two
# places at a time, while that of lines has a place farther down, if there are rows enough for it.
RIDGES = tuple(float(f"{digit}e{power}") for power in range(1, -9, -1) for digit in (1, 0.3))
FIRST_OF_LINES = 7
WEAKEST = 0.1  # ridge over the number of rows at least: what few rows say of a smaller one is chance
FREE = 1e-6  # ridge of terms without a penalty: next to none, but no coefficient is infinite
BARRED = 1e12  # ridge of terms whose coefficient would have the wrong sign
ROUGH, FINE = 1e-5, 1e-6  # of the loss without terms: what a further step may promise, without folds and in the end
STARTS = (1.0, 0.3, 0.1, 0.03, 0.0)  # of the path's coefficients, the first that is no worse than none
LEAST_BEND = 1e-3  # curvature at least that is reckoned with, such as where a model is sure of all rows
CURVED_WORDS = 16  # words of 64 rows on which the curvature is exact


@dataclass(frozen=True)
class Ridge:
    """How much rules and lines are shrunk.

    Attributes
    ----------
    rules, lines : float
    """

    rules: float
    lines: float

    def scaled(self, factor: float) -> "Ridge":
        """Return both times a factor, in three digits."""
        return Ridge(*(float(f"{factor * own:.3g}") for own in (self.rules, self.lines)))


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
    coef : ndarray of shape (n_kept,)
        Their coefficients on the path.
    held_out : Moments, optional
        The same terms on rows that were held out.
    """

    columns: IntArray
    n_rules: int
    problem: Problem
    coef: FloatArray
    held_out: Moments | None = None

    def recount(self, output: int, problem: Problem, columns: IntArray, held_out: Moments | None) -> "Kept":
        """Return the same terms with what other rows tell of them.

        Parameters
        ----------
        output : int
        problem : Problem
            Of this output, for some candidates.
        columns : ndarray of shape (n_columns,)
            These candidates, the kept terms among them.
        held_out : Moments, optional
            Of these candidates.
        """
        places = np.searchsorted(columns, self.columns)
        taken = replace(problem.take(places), signs=self.problem.signs, unpenalised=self.problem.unpenalised)
        return replace(
            self, problem=taken, held_out=None if held_out is None else held_out.of_output(output).take(places)
        )

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
    >>> ((coef, intercept),) = RefitOfNumbers(Kept(np.arange(1), 1, problem, np.ones(1))).solve(Ridge(1.0, 1.0))
    >>> coef.round(6), round(intercept, 6)  # half of 2
    (array([1.]), 1.666667)
    """

    kept: Kept

    def solve(self, ridge: Ridge, tol: float = FINE) -> list[Point]:
        """Return the coefficients of the kept terms and the intercept, exactly."""
        problem, ridges = self.kept.problem, self.kept.ridges(ridge)
        while True:
            matrix = problem.gram + np.diag(ridges)
            coef = cho_solve(cho_factor(matrix, check_finite=False, overwrite_a=True), problem.x_y, check_finite=False)
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


@dataclass(frozen=True, eq=False)
class RefitOfSeveral:
    """Half the squared errors of several outputs, each by itself but for the ridges.

    Attributes
    ----------
    outputs : tuple of RefitOfNumbers
    """

    outputs: tuple[RefitOfNumbers, ...]

    def solve(self, ridge: Ridge, tol: float = FINE) -> list[Point]:
        """Return the coefficients of the kept terms and the intercept of each output."""
        return [point for own in self.outputs for point in own.solve(ridge, tol)]

    def judge(self, points: Sequence[Point]) -> float:
        """Return the mean squared error on the rows that were held out, summed over the outputs."""
        return sum(own.judge([point]) for own, point in zip(self.outputs, points, strict=True))


@dataclass(frozen=True, eq=False)
class _Part:
    """Some of the rows, in whole words: the kept terms of each output, what it should say, and weights.

    The weights add up to one, unless there are no rows.
    """

    rows: list[Rows]
    goals: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, rows: Sequence[Rows], goals: FloatArray, weights: FloatArray) -> "_Part":
        """Return the words in which any row has a weight."""
        words = np.flatnonzero(weights.reshape(-1, 64).any(axis=1))
        places = rows_of_words(words)
        own = weights[places]
        return cls(
            [one.take_words(words) for one in rows],
            np.ascontiguousarray(goals[:, places]),
            own / own.sum() if own.size else own,
        )


class RefitOfRows:
    """A likelihood over rows, of all outputs together.

    The steps are those of L-BFGS [1]_. Sums over rows are cheap, but products of pairs of terms with a weight for each
    row are not, so a step begins with a curvature that is exact on the rows that bend the loss most, where most of it
    lies, and has the mean of the others there.

    Parameters
    ----------
    likelihood : Likelihood
    kept : sequence of Kept
        One for each output.
    rows : sequence of Rows
        The kept terms of each output on the same rows, those to learn from and those held out.
    goals : ndarray of shape (n_outputs, n_rows)
        As `Likelihood.read` has them.
    weights, held_out : ndarray of shape (n_rows,)
        Weights of rows to learn from, and of rows held out.

    References
    ----------
    .. [1] Nocedal, Wright (2006). "Numerical Optimization", second edition, section 7.2.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        kept: Sequence[Kept],
        rows: Sequence[Rows],
        goals: FloatArray,
        weights: FloatArray,
        held_out: FloatArray,
    ) -> None:
        self.likelihood, self.kept = likelihood, kept
        learned, self._judged = _Part.of(rows, goals, weights), _Part.of(rows, goals, held_out)
        self._goals, self._weights = learned.goals, learned.weights
        self._layout = (
            np.concatenate([own.bits.words for own in learned.rows]),
            np.concatenate([np.ascontiguousarray(own.linear.T) for own in learned.rows]),
            np.cumsum([0, *(own.n_rules for own in kept)]),
            np.cumsum([0, *(len(own.columns) - own.n_rules for own in kept)]),
            np.concatenate([np.append(0.0, own.problem.x_mean) for own in kept]),
        )
        starts = np.cumsum([0, *(1 + len(own.columns) for own in kept)]).tolist()
        self._parts = [slice(first, last) for first, last in itertools.pairwise(starts)]
        levels = likelihood.find_levels(self._goals, self._weights)
        self._null = likelihood.null_loss(self._goals, self._weights)
        self._state, self._scores = np.zeros(starts[-1]), np.empty(self._goals.shape)
        for own, part, level in zip(kept, self._parts, levels, strict=True):
            self._state[part] = np.append(level, likelihood.unit * own.coef)
        self._begin(levels)
        self._curvatures: list[FloatArray] = []

    def solve(self, ridge: Ridge, tol: float = FINE) -> list[Point]:
        """Return the coefficients of the kept terms and the intercept of each output; begins where it last ended."""
        ridges = [own.ridges(ridge) for own in self.kept]
        if not self._curvatures or tol < ROUGH:
            self._curvatures = self._bend()
        while True:
            coefs = self._go_down(ridges, tol)
            wrong = [own.find_wrong(coef) for own, coef in zip(self.kept, coefs, strict=True)]
            if not any(own.size for own in wrong):
                levels = [float(self._state[part.start]) for part in self._parts]
                return [
                    (coef, level - float(own.problem.x_mean @ coef))
                    for own, coef, level in zip(self.kept, coefs, levels, strict=True)
                ]
            for own, places in zip(ridges, wrong, strict=True):
                own[places] = BARRED

    def judge(self, points: Sequence[Point]) -> float:
        """Return the mean loss on the rows that were held out."""
        judged = self._judged
        scores = np.array([rows.scores(*point) for rows, point in zip(judged.rows, points, strict=True)])
        return float(judged.weights @ self.likelihood.losses(scores, judged.goals))

    def _begin(self, levels: FloatArray) -> None:
        """Score the rows at the start; one that is worse than no terms at all is drawn nearer to these."""
        start, empty = self._state.copy(), np.zeros_like(self._state)
        empty[[part.start for part in self._parts]] = levels
        for share in STARTS:
            self._state[:] = empty + share * (start - empty)
            score(*self._layout, self._state, self._scores)
            with np.errstate(over="ignore"):
                losses = self.likelihood.losses(self._scores, self._goals)
            if self._weights @ np.where(self._weights > 0.0, losses, 0.0) <= self._null:
                return

    def _go_down(self, ridges: Sequence[FloatArray], tol: float) -> list[FloatArray]:
        """Go to the minimum and return the coefficients of each output."""
        bends = np.maximum(self._spreads() @ self._weights, LEAST_BEND)
        factors = []
        for own, curvature in zip(ridges, self._curvatures, strict=True):
            matrix = curvature.copy()
            matrix[np.diag_indices_from(matrix)] += own
            factors.append(cholesky(matrix, check_finite=False, overwrite_a=True).ravel())
        minimise(
            *self._layout,
            np.concatenate([np.append(0.0, own) for own in ridges]),
            self.likelihood.kind,
            self.likelihood.find_shape(len(self.kept)),
            self._goals,
            self._weights,
            np.concatenate(factors),
            bends,
            tol * self._null,
            self._state,
            self._scores,
        )
        return [
            np.where(own == BARRED, 0.0, self._state[part][1:]) for part, own in zip(self._parts, ridges, strict=True)
        ]

    def _spreads(self) -> FloatArray:
        """Return the curvature of every output and row, where the model stands."""
        return self.likelihood.spreads(self._scores, self._goals)

    def _bend(self) -> list[FloatArray]:
        """Return the curvature of the loss in the terms of each output, where the model stands."""
        rules, lines, *ends, _ = self._layout
        curvatures = []
        for output, spreads in enumerate(self._spreads() * self._weights):
            problem = self.kept[output].problem
            own_rules, own_lines = (slice(*end[output : output + 2]) for end in ends)
            words = np.sort(np.argsort(-spreads.reshape(-1, 64).sum(axis=1), kind="stable")[:CURVED_WORDS])
            places = rows_of_words(words)
            bits = BitMatrix(np.ascontiguousarray(rules[own_rules, words]), places.size)
            columns = np.hstack([bits.to_dense(), lines[own_lines, places].T]) - problem.x_mean
            columns *= np.sqrt(spreads[places])[:, None]
            rest = max(float(spreads.sum() - spreads[places].sum()), LEAST_BEND)
            curvatures.append(columns.T @ columns + rest * problem.gram)
        return curvatures


def choose_ridge(refits: Sequence[Refit], weights: Sequence[float], n_rows: int, n_threads: int = 1) -> Ridge:
    """Return the ridges with the least mean loss on held-out rows, found by going from one to a better one.

    Parameters
    ----------
    refits : sequence of Refit
        One for each fold.
    weights : sequence of float
        Of the rows that each of them holds out.
    n_rows : int
        Rows to learn from.
    n_threads : int
        Folds side by side.

    Examples
    --------
    >>> class Bowl:
    ...     def solve(self, ridge, tol):
    ...         return [(np.log10([ridge.rules, ridge.lines]), 0.0)]
    ...     def judge(self, points):
    ...         return float(np.sum((points[0][0] - [-1.0, -3.0]) ** 2))
    >>> ridge = choose_ridge([Bowl()], [1.0], n_rows=1000)
    >>> round(ridge.rules, 6), round(ridge.lines, 6)
    (0.1, 0.003)
    """
    seen: dict[tuple[int, int], float] = {}

    def at(place: tuple[int, int]) -> Ridge:
        return Ridge(RIDGES[place[0]], RIDGES[place[1]])

    def allows(place: tuple[int, int]) -> bool:
        return min(place) >= 0 and max(place) < len(RIDGES) and RIDGES[max(place)] >= WEAKEST / n_rows

    def judge(place: tuple[int, int]) -> float:
        if not allows(place):
            return np.inf
        if place not in seen:
            losses = run_tasks(lambda refit: refit.judge(refit.solve(at(place), ROUGH)), refits, n_threads)
            seen[place] = float(np.average(losses, weights=weights))
        return seen[place]

    def descend(place: tuple[int, int], way: tuple[int, int]) -> tuple[int, int]:
        while judge(step := (place[0] + way[0], place[1] + way[1])) < judge(place):
            place = step
        return place

    first = max(lines for lines in range(FIRST_OF_LINES + 1) if allows((0, lines)))
    best = descend((0, first), (2, 0))
    for way in ((0, 2), (0, -2), (1, 0), (-1, 0)):
        best = descend(best, way)
    return at(best)
