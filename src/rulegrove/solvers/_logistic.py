r"""The elastic net of the logistic loss, by proximal Newton steps on a working set.

Minimises, for targets -1 and +1, weights that sum to N and an intercept that is never penalised,

.. math::
    \frac{1}{N} \sum_i w_i \log(1 + e^{-y_i F_i}) + \lambda_1 \|a\|_1 + \frac{\lambda_2}{2} \|a\|_2^2 .

A step minimises the quadratic model of the loss, which is a weighted least squares problem that the
coordinate descent of the squared loss solves from its Gram. The gradient of the model is always exact. Its curvature is
counted over the rows only when the one at hand no longer brings the solution nearer fast enough, since counting costs
(terms)^2 and a gradient only (terms) operations a row [1]_.

References
----------
.. [1] Lee, Sun, Saunders (2014). "Proximal Newton-type methods for minimizing composite functions". SIAM Journal on
   Optimization 24(3), section 3.3 on inexact steps.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlogy

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.design.rows import Rows
from rulegrove.losses import Logistic
from rulegrove.solvers._kernels import elastic_net_path

_FAST_ENOUGH = 0.2  # a step that leaves more of the gap than this share calls for a new curvature
_INNER_SHARE = 0.1  # of the gap at hand, to which a step solves its quadratic model
_FINEST_SHARE = 1e-8  # and the least such share before a point that does not improve is given up
_MAX_PASSES = 10_000  # of coordinate descent in one step
_SMALLEST_CURVATURE = 1e-6  # of a row, over its weight: a certain row must not make the model flat
_MAX_HALVINGS = 30
_ROUNDING = 1e-14  # of an objective: smaller differences say nothing


@dataclass
class State:
    """A point: coefficients, scores, and what follows from them.

    Attributes
    ----------
    coef : ndarray of shape (n_terms,)
    intercept : float
    scores : ndarray of shape (n_rows,)
    risk : float
        Mean loss.
    pull : ndarray of shape (n_rows,)
        Weighted negative derivative of the loss by the score.
    """

    coef: FloatArray
    intercept: float
    scores: FloatArray
    risk: float
    pull: FloatArray

    @classmethod
    def at(cls, rows: Rows, coef: FloatArray, intercept: float, scores: FloatArray) -> "State":
        """Evaluate the loss at given scores."""
        wrong = expit(-rows.y * scores)  # the probability of the other class
        risk = float(rows.weights @ np.logaddexp(0.0, -rows.y * scores)) / rows.weight
        return cls(coef, intercept, scores, risk, rows.weights * rows.y * wrong)

    def objective(self, l1: float, l2: float) -> float:
        """Return the penalised objective."""
        return self.risk + l1 * float(np.abs(self.coef).sum()) + 0.5 * l2 * float(self.coef @ self.coef)


@dataclass
class Curvature:
    """Second derivatives of the loss on a working set, of rows weighted by what they were when it was counted.

    Attributes
    ----------
    row_weights : ndarray of shape (n_rows,)
        Weight times ``p (1 - p)``.
    weight : float
        Their sum.
    sums : ndarray of shape (n_members,)
        Weighted sums of the terms.
    gram : ndarray of shape (n_members, n_members)
        Centred by these sums, over N: the intercept is profiled out.
    """

    row_weights: FloatArray
    weight: float
    sums: FloatArray
    gram: FloatArray

    @classmethod
    def count(cls, rows: Rows, members: Rows, state: State) -> "Curvature":
        """Go over the rows once."""
        probability = expit(state.scores)
        curved = np.maximum(probability * (1.0 - probability), _SMALLEST_CURVATURE)
        row_weights = rows.weights * curved
        moments = members.moments(row_weights)
        centred = (moments.gram - np.outer(moments.x_sum, moments.x_sum) / moments.weight) / rows.weight
        np.fill_diagonal(centred, np.maximum(centred.diagonal(), 0.0))
        return cls(row_weights, moments.weight, moments.x_sum, np.ascontiguousarray(centred))


def _balance(pull: FloatArray) -> FloatArray:
    """Return the pull with that of the stronger class shrunk until the two are equal."""
    up, down = float(pull[pull > 0].sum()), float(-pull[pull < 0].sum())
    if up == 0.0 or down == 0.0:
        return np.zeros_like(pull)
    return np.where(pull > 0, min(1.0, down / up), min(1.0, up / down)) * pull


def _gradient(rows: Rows, state: State) -> FloatArray:
    """Return ``X'pull / N`` of the balanced pull."""
    return rows.sums(_balance(state.pull)) / rows.weight


def _gap(rows: Rows, state: State, grad: FloatArray, l1: float, l2: float) -> float:
    """Return the duality gap over the terms of `rows`, which must hold all the non-zero ones.

    Dual points are probabilities of the other class that give both classes the same total pull, as an unpenalised
    intercept asks, and no term more than the penalty. Those at hand are made such by shrinking the class that pulls
    more, then both.

    Parameters
    ----------
    rows : Rows
    state : State
    grad : ndarray of shape (n_terms,)
        As `_gradient` gives it.
    l1, l2 : float
        The two parts of the penalty.
    """
    primal = state.objective(l1, l2)
    pull = np.abs(_balance(state.pull))
    wrong = np.divide(pull, rows.weights, out=np.zeros_like(pull), where=rows.weights > 0)
    largest = float(np.abs(grad).max(initial=0.0))
    bound = _entropy(rows, wrong * min(1.0, l1 / largest) if largest > 0.0 else wrong)
    if l2 > 0.0:  # any gradient is feasible at a price
        excess = float((np.maximum(np.abs(grad) - l1, 0.0) ** 2).sum())
        bound = max(bound, _entropy(rows, wrong) - 0.5 * excess / l2)
    return primal - bound


def _entropy(rows: Rows, probability: FloatArray) -> float:
    """Return the mean entropy of a yes or no of these probabilities."""
    other = 1.0 - probability
    return float(-(rows.weights @ (xlogy(probability, probability) + xlogy(other, other)))) / rows.weight


@dataclass(frozen=True)
class Solutions:
    """What a path of penalties leads to, one row a penalty; the gaps are absolute, the iterations Newton steps."""

    coefs: FloatArray
    intercepts: FloatArray
    risks: FloatArray
    residuals: FloatArray
    gaps: FloatArray
    iterations: IntArray


@dataclass(frozen=True)
class LogisticNet:
    """The problem at all its penalties.

    Parameters
    ----------
    rows : Rows
        Targets -1 and +1.
    l1_ratio : float
    tol : float
        Absolute duality gap to reach.
    max_iter : int
        Most Newton steps for one penalty.
    """

    rows: Rows
    l1_ratio: float
    tol: float
    max_iter: int

    def follow(self, penalties: FloatArray, coef: FloatArray, intercept: float) -> "Solutions":
        """Solve at each penalty, the first from the given point, each next one from the solution before."""
        rows = self.rows
        n_points = len(penalties)
        coefs = np.empty((n_points, rows.n_terms))
        intercepts, risks, residuals, gaps = np.empty((4, n_points))
        iterations = np.empty(n_points, dtype=np.int64)
        state = State.at(rows, coef, intercept, rows.scores(coef, intercept))
        grad = _gradient(rows, state)
        inside = np.zeros(rows.n_terms, dtype=bool)
        curvature: Curvature | None = None
        for point, penalty in enumerate(penalties):
            l1, l2 = penalty * self.l1_ratio, penalty * (1.0 - self.l1_ratio)
            steps = 0
            while True:
                wanted = (state.coef != 0) | (np.abs(grad) >= l1)
                if curvature is None or (wanted & ~inside).any() or 2 * wanted.sum() < inside.sum():
                    inside, curvature = wanted, None
                # The set need not be solved better than it is known to be the right one.
                tol = max(0.5 * self.tol, _INNER_SHARE * _gap(rows, state, grad, l1, l2))
                state, curvature, done, stuck = self._solve_inside(
                    state, inside, curvature, l1, l2, tol, self.max_iter - steps
                )
                steps += done
                grad = _gradient(rows, state)
                gaps[point] = _gap(rows, state, grad, l1, l2)
                missing = (~inside & (np.abs(grad) >= l1)).any()
                if gaps[point] <= self.tol or steps >= self.max_iter or (stuck and not missing):
                    break
            coefs[point], intercepts[point], risks[point] = state.coef, state.intercept, state.risk
            # y minus its mean under the model, 2 p - 1, is twice the probability of the other class.
            residuals[point] = 2.0 * np.sqrt(rows.weights @ expit(-rows.y * state.scores) ** 2)
            iterations[point] = steps
        return Solutions(coefs, intercepts, risks, residuals, gaps, iterations)

    def _solve_inside(
        self,
        state: State,
        inside: BoolArray,
        curvature: Curvature | None,
        l1: float,
        l2: float,
        tol: float,
        max_steps: int,
    ) -> tuple[State, Curvature | None, int, bool]:
        """Minimise over the working set.

        Returns
        -------
        state : State
        curvature : Curvature or None
            The last one, if it still serves.
        steps : int
        stuck : bool
            Whether rounding allows no further progress.
        """
        members = np.flatnonzero(inside)
        rows = self.rows.take(members)
        here = State(state.coef[members], state.intercept, state.scores, state.risk, state.pull)
        gap = _gap(rows, here, _gradient(rows, here), l1, l2)
        steps = 0
        stuck = False
        inner = _INNER_SHARE
        while gap > tol and steps < max_steps and not stuck:
            fresh = curvature is None
            if curvature is None:
                curvature = Curvature.count(self.rows, rows, here)
            tried = self._step(rows, here, curvature, l1, l2, inner * gap)
            steps += 1
            before, old_gap = here.objective(l1, l2), gap
            better = False
            if tried is not None:
                gap = _gap(rows, tried, _gradient(rows, tried), l1, l2)
                better = gap < old_gap or tried.objective(l1, l2) < before - _ROUNDING * before
                here = tried if better else here
            if not better or gap > _FAST_ENOUGH * old_gap:
                # Neither an old curvature nor a model solved too roughly may be what holds it up.
                stuck = fresh and not better and inner < _FINEST_SHARE
                inner *= 0.1 if fresh else 1.0
                curvature = None
        coef = np.zeros_like(state.coef)
        coef[members] = here.coef
        return State(coef, here.intercept, here.scores, here.risk, here.pull), curvature, steps, stuck

    def _step(self, rows: Rows, state: State, curvature: Curvature, l1: float, l2: float, tol: float) -> State | None:
        """Minimise the quadratic model, then go towards its minimum as far as the objective falls; None if nowhere."""
        total = float(state.pull.sum())
        slope = (rows.sums(state.pull) - curvature.sums * (total / curvature.weight)) / rows.weight
        target = slope + curvature.gram @ state.coef
        seen = rows.weights > 0
        spread = float((state.pull[seen] ** 2 / curvature.row_weights[seen]).sum()) - total**2 / curvature.weight
        y_y = float(state.coef @ (target + slope)) + max(spread, 0.0) / rows.weight
        penalty = l1 + l2
        coefs, _, _, _ = elastic_net_path(
            curvature.gram,
            target,
            y_y,
            np.array([penalty]),
            l1 / penalty,
            tol,
            _MAX_PASSES,
            state.coef,
        )
        change = coefs[0] - state.coef
        shift = (total - float(curvature.sums @ change)) / curvature.weight
        score_change = rows.scores(change, shift)

        goal = State(coefs[0], 0.0, state.scores, state.risk, state.pull).objective(l1, l2)
        old = state.objective(l1, l2)
        fall = goal - old - float(state.pull @ score_change) / rows.weight
        slack = _ROUNDING * old
        if fall > slack:
            return None
        share = 1.0
        for _ in range(_MAX_HALVINGS):
            coef = coefs[0] if share == 1.0 else state.coef + share * change
            tried = State.at(rows, coef, state.intercept + share * shift, state.scores + share * score_change)
            if tried.objective(l1, l2) <= old + 1e-4 * share * fall + slack:
                return tried
            share *= 0.5
        return None


def null_intercept(rows: Rows) -> float:
    """Return the log odds of the classes."""
    return float(Logistic().best_constant(rows.y, rows.weights))
