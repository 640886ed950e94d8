r"""The elastic net of a smooth convex loss, by proximal Newton steps on a working set.

Minimises, for a loss L, weights that sum to N and an intercept that is never penalised,

.. math::
    \frac{1}{N} \sum_i w_i L(y_i, F_i) + \lambda_1 \|a\|_1 + \frac{\lambda_2}{2} \|a\|_2^2 .

A step minimises the quadratic model of the loss, which is a weighted least squares problem that the
coordinate descent of the squared loss solves from its Gram. The gradient of the model is always exact. Its curvature is
counted over the rows only when the one at hand no longer brings the solution nearer fast enough, since counting costs
(terms)^2 and a gradient only (terms) operations a row [1]_.

The loss is measured from the least that each row can have, so that an objective is never negative.

References
----------
.. [1] Lee, Sun, Saunders (2014). "Proximal Newton-type methods for minimizing composite functions". SIAM Journal on
   Optimization 24(3), section 3.3 on inexact steps.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.design.rows import Rows
from rulegrove.losses import SmoothLoss
from rulegrove.solvers._constraining import solve_bounded
from rulegrove.solvers._curvature import Curvature, sample_words
from rulegrove.solvers._penalty import Penalty

_FAST_ENOUGH = 0.2  # a step that leaves more of the gap than this share calls for a new curvature
_SLOWEST = 0.5  # and more than this in any case; of a sample it then calls for all rows
_INNER_SHARE = 0.1  # of the gap at hand, to which a step solves its quadratic model
_FINEST_SHARE = 1e-8  # and the least such share before a point that does not improve is given up
_DULL = 0.9  # a step from a new curvature of all rows that leaves more of the gap than this share hardly helps
_MAX_DULL = 50  # such steps in a row, after which a point is given up
_MAX_PASSES = 10_000  # of coordinate descent in one step
_MAX_HALVINGS = 30
_ROUNDING = 1e-14  # of an objective: smaller differences say nothing
_MAX_ROUNDS = 10  # of giving up the pull of rows, before a dual point is given up
_NULL_TOL = 1e-9  # to which a model without penalised terms is fitted, in units of the loss without any terms
_NULL_STEPS = 100  # classes that these terms separate are told apart ever better
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class Spared:
    """Terms that the penalty leaves alone, on all rows.

    Attributes
    ----------
    columns : ndarray of shape (n_rows, 1 + n_spared)
        The intercept before them.
    signs : ndarray of shape (1 + n_spared,)
        What their coefficients may be, as in `Problem`.
    """

    columns: FloatArray
    signs: IntArray

    @classmethod
    def of(cls, rows: Rows, penalty: Penalty) -> "Spared | None":
        """Return these terms of some rows; None if there are none."""
        if penalty.limits is None or not penalty.spared.size:
            return None
        part = rows.take(penalty.spared)
        columns = np.column_stack([np.ones(len(rows.y)), part.bits.to_dense(), part.linear])
        return cls(columns, np.concatenate([[0], penalty.limits.signs[penalty.spared]]))

    def balance(self, fit: "Fit", pull: FloatArray, bend: FloatArray) -> FloatArray:
        """Return a pull near the one at hand that pulls none of these terms to where it may go; zeros if none is near.

        Parameters
        ----------
        fit : Fit
        pull, bend : ndarray of shape (n_rows,)
            As `SmoothLoss.evaluate` gives them.
        """
        rows = fit.rows
        for _ in range(_MAX_ROUNDS):
            gram = self.columns.T @ (bend[:, None] * self.columns)
            step = solve_bounded(gram, self.columns.T @ pull, self.signs)
            changed = pull - bend * (self.columns @ step)
            possible = fit.loss.possible(rows.y, changed, rows.weights)
            if possible.all():
                return changed
            given_up = ~possible & (changed * pull < 0.0)  # of rows that these terms tell apart nothing may be left
            pull, bend = np.where(given_up, 0.0, pull), np.where(given_up, 0.0, bend)
        return np.zeros_like(pull)


@dataclass(frozen=True, eq=False)
class Fit:
    """What is fitted: the targets and weights of rows, under a loss.

    Attributes
    ----------
    rows : Rows
    loss : SmoothLoss
    spared : Spared, optional
        Terms that the penalty leaves alone, if there are any beside the intercept.
    """

    rows: Rows
    loss: SmoothLoss
    spared: Spared | None = None

    def at(self, coef: FloatArray, intercept: float, scores: FloatArray) -> "State":
        """Evaluate the loss at given scores."""
        rows = self.rows
        excess, pull, bend = self.loss.evaluate(rows.y, scores, rows.weights, curved=self.spared is not None)
        if not math.isfinite(excess):
            balanced = np.zeros_like(pull)
        elif self.spared is None or bend is None:
            balanced = _balance(pull)
        else:
            balanced = self.spared.balance(self, pull, bend)
        return State(self, coef, intercept, scores, excess / rows.weight, pull, balanced)


def _balance(pull: FloatArray) -> FloatArray:
    """Return a pull with its stronger side, up or down, shrunk until the two are equal."""
    total, difference = float(np.abs(pull).sum()), float(pull.sum())
    up, down = 0.5 * (total + difference), 0.5 * (total - difference)
    if min(up, down) <= 0.0:
        return np.zeros_like(pull)
    high, low = min(1.0, down / up), min(1.0, up / down)
    middle, half = 0.5 * (high + low), 0.5 * (high - low)
    return pull * np.where(pull > 0.0, middle + half, middle - half)


@dataclass
class State:
    """A point: coefficients, scores, and what follows from them.

    Attributes
    ----------
    fit : Fit
    coef : ndarray of shape (n_terms,)
    intercept : float
    scores : ndarray of shape (n_rows,)
    risk : float
        Mean loss above the least that each row can have.
    pull : ndarray of shape (n_rows,)
        Weighted negative derivative of the loss by the score.
    balanced : ndarray of shape (n_rows,)
        The pull with its stronger side shrunk until up and down are equal. Where other terms than the intercept
        have no penalty: less its part along them, weighted by the curvature of each row.
    """

    fit: Fit
    coef: FloatArray
    intercept: float
    scores: FloatArray
    risk: float
    pull: FloatArray
    balanced: FloatArray

    def of(self, coef: FloatArray) -> "State":
        """Return the same point with its coefficients given for other terms."""
        return replace(self, coef=coef)

    def objective(self, penalty: Penalty) -> float:
        """Return the penalised objective."""
        return penalty.objective(self.risk, self.coef)

    @property
    def row_weights(self) -> FloatArray:
        """Weight times curvature of each row, or of it in each of several parts, for a quadratic model."""
        rows = self.fit.rows
        return self.fit.loss.model_weights(rows.y, self.scores, rows.weights)

    @property
    def residual(self) -> float:
        """Length of the targets minus their means."""
        rows, loss = self.fit.rows, self.fit.loss
        if loss.pull_share is None:
            return float(np.sqrt(rows.weights @ loss.residual(rows.y, self.scores) ** 2))
        return float(np.sqrt((self.pull**2 / np.maximum(rows.weights, _TINY)).sum())) / loss.pull_share

    def gradient(self, rows: Rows) -> FloatArray:
        """Return ``X'pull / N`` of the balanced pull."""
        return rows.sums(self.balanced) / rows.weight

    def gap(self, grad: FloatArray, penalty: Penalty) -> float:
        """Return the duality gap over some terms, which must include all the non-zero ones.

        Dual points are pulls of the rows at which the conjugate of the loss is finite, which pull up as much as
        down, as an unpenalised intercept asks, and pull no term by more than the penalty. The pulls at hand are made
        such by shrinking the side that pulls more, then both. Where other terms have no penalty either, the pull on
        each of them must vanish, or not point to where its sign allows it to go. One Newton step on these terms, to
        first order in the pull of each row, gives a pull that does exactly that; it is a dual point if the step is
        so small that the conjugate stays finite, and otherwise the bound is zero, which no objective falls below. Of
        a penalised term with a sign the gradient counts on its side only (see `rulegrove.solvers.certificates`).

        Parameters
        ----------
        grad : ndarray of shape (n_terms,)
            As `gradient` gives it.
        penalty : Penalty
            Of these terms.
        """
        return self.objective(penalty) - penalty.bound(penalty.pulls(grad), self._dual)

    def _dual(self, scale: float) -> float:
        """Return the dual objective, the penalty aside, at the balanced pull times a number."""
        rows = self.fit.rows
        return self.fit.loss.bound(rows.y, scale * self.balanced, rows.weights) / rows.weight


@dataclass
class WorkingSet:
    """The terms that a solver attends to, and the curvature of the loss in them, if one is known.

    Attributes
    ----------
    rows : Rows
        Of all terms.
    inside : ndarray of shape (n_terms,), bool
    members : Rows
        Of the terms inside.
    curvature : Curvature or None
    """

    rows: Rows
    inside: BoolArray
    members: Rows
    curvature: Curvature | None = None

    @classmethod
    def of(cls, rows: Rows) -> "WorkingSet":
        """Return a set without terms."""
        return cls(rows, np.zeros(rows.n_terms, dtype=bool), rows.take(np.empty(0, dtype=np.int64)))

    def admit(
        self, coef: FloatArray, grad: FloatArray, penalty: Penalty, *, share: float = 1.0, surplus: int = 2
    ) -> None:
        """Let in the terms that must be in, and make the set anew when it has become too large.

        Parameters
        ----------
        coef, grad : ndarray of shape (n_terms,)
        penalty : Penalty
        share : float
            Of the penalty, above which terms come along with those that must.
        surplus : int
            The set is too large when it has more than so many times the terms that must be in.
        """
        wanted = (coef != 0) | penalty.wanted(grad)
        if (wanted & ~self.inside).any() or surplus * wanted.sum() < self.inside.sum():
            wanted |= penalty.wanted(grad, share)
            self.members = self.rows.take(np.flatnonzero(wanted))
            if self.curvature is not None:
                self.curvature = self.curvature.move(self.members, self.inside, wanted)
            self.inside = wanted


class Solution(NamedTuple):
    """Where one penalty was left: the gap is absolute, the risk measured from the least that rows can have.

    Attributes
    ----------
    coef : ndarray of shape (n_terms,) or (n_classes, n_terms)
    intercept : float or ndarray of shape (n_classes,)
    risk, residual, gap : float
        Mean loss, length of the residual, duality gap.
    iterations : int
    """

    coef: FloatArray
    intercept: FloatArray | float
    risk: float
    residual: float
    gap: float
    iterations: int


class Solutions(NamedTuple):
    """The solutions of a path of penalties: of each field of `Solution` an array with a row for each penalty."""

    coefs: FloatArray
    intercepts: FloatArray
    risks: FloatArray
    residuals: FloatArray
    gaps: FloatArray
    iterations: IntArray


class Net(ABC):
    """An elastic net at all its penalties, each solved from the solution before.

    Parameters
    ----------
    penalty : Penalty
        Of size one.
    tol : float
        Absolute duality gap to reach.
    max_iter : int
        Most iterations for one penalty.
    """

    def __init__(self, penalty: Penalty, tol: float, max_iter: int) -> None:
        self.penalty, self.tol, self.max_iter = penalty, tol, max_iter

    def follow(self, penalties: FloatArray, coef: FloatArray, intercept: FloatArray | float) -> Solutions:
        """Solve at each penalty, the first from the given point.

        Parameters
        ----------
        penalties : ndarray of shape (n_points,)
        coef : ndarray of shape (n_terms,) or (n_classes, n_terms)
        intercept : float or ndarray of shape (n_classes,)
        """
        self.start(coef, intercept)
        found = [self.solve(self.penalty.at(size)) for size in penalties]
        return Solutions(*(np.array(values) for values in zip(*found, strict=True)))

    @abstractmethod
    def start(self, coef: FloatArray, intercept: FloatArray | float) -> None:
        """Begin at a point."""

    @abstractmethod
    def solve(self, penalty: Penalty) -> Solution:
        """Go from where the last penalty was left to the minimum with this one."""


class SmoothNet(Net):
    """The net of one target; an iteration is a Newton step.

    Parameters
    ----------
    rows : Rows
    loss : SmoothLoss
    penalty, tol, max_iter
        As in `Net`.
    """

    def __init__(self, rows: Rows, loss: SmoothLoss, penalty: Penalty, tol: float, max_iter: int) -> None:
        super().__init__(penalty, tol, max_iter)
        self.fit = Fit(rows, loss, Spared.of(rows, penalty))

    def start(self, coef: FloatArray, intercept: FloatArray | float) -> None:
        """Begin at a point."""
        rows = self.fit.rows
        coef = self.penalty.clip(coef)
        self._state = self.fit.at(coef, float(intercept), rows.scores(coef, float(intercept)))
        self._grad = self._state.gradient(rows)
        self._terms, self._sample = WorkingSet.of(rows), sample_words(rows)

    def solve(self, penalty: Penalty) -> Solution:
        """Minimise over working sets until the gap of all terms is small enough."""
        rows, terms = self.fit.rows, self._terms
        steps = 0
        gap = self._state.gap(self._grad, penalty)
        while True:
            terms.admit(self._state.coef, self._grad, penalty)
            # The set need not be solved better than it is known to be the right one.
            tol = max(0.5 * self.tol, _INNER_SHARE * gap)
            part, taken, stuck = self._solve_inside(gap, penalty.take(terms.inside), tol, self.max_iter - steps)
            coef = np.zeros(rows.n_terms)
            coef[terms.inside] = part.coef
            self._state = part.of(coef)
            self._grad = self._state.gradient(rows)
            steps += taken
            gap = self._state.gap(self._grad, penalty)
            missing = (~terms.inside & penalty.wanted(self._grad)).any()
            if gap <= self.tol or steps >= self.max_iter or (stuck and not missing):
                break
        state = self._state
        intercept = state.intercept if self.fit.loss.takes_intercept else 0.0
        return Solution(state.coef, intercept, state.risk, state.residual, gap, steps)

    def _solve_inside(self, gap: float, penalty: Penalty, tol: float, max_steps: int) -> tuple[State, int, bool]:
        """Minimise over the terms of the working set: the point, the steps, whether rounding stopped them."""
        terms, members = self._terms, self._terms.members
        here = self._state.of(self._state.coef[terms.inside])
        everything = np.arange(members.bits.words.shape[1])
        sample = self._sample
        steps, dull, stuck, inner = 0, 0, False, _INNER_SHARE
        while gap > tol and steps < max_steps and not stuck:
            fresh = terms.curvature is None
            curvature = terms.curvature or Curvature.count(members, here.row_weights, sample)
            tried = newton_step(members, here, curvature, penalty, inner * gap)
            steps += 1
            before, old_gap = here.objective(penalty), gap
            better = False
            if tried is not None:
                gap = tried.gap(tried.gradient(members), penalty)
                better = gap < old_gap or tried.objective(penalty) < before - _ROUNDING * before
                here = tried if better else here
            share = gap / old_gap
            if fresh:
                curvature.first_share = share
            terms.curvature = curvature
            if not better or share > max(_FAST_ENOUGH, min(2.0 * curvature.first_share, _SLOWEST)):
                # Neither an old curvature nor a sample nor a model solved too roughly may be what holds it up.
                whole = len(sample) == len(everything)
                dull = dull + (fresh and whole) if share > _DULL else 0
                stuck = dull > _MAX_DULL or (fresh and not better and whole and inner < _FINEST_SHARE)
                if fresh and whole:
                    inner *= 0.1
                elif fresh and (not better or share > _SLOWEST):
                    sample = everything
                terms.curvature = None
        return here, steps, stuck


def newton_step(rows: Rows, state: State, curvature: Curvature, penalty: Penalty, tol: float) -> State | None:
    """Minimise the quadratic model, then go towards its minimum as far as the objective falls; None if nowhere."""
    total = float(state.pull.sum())
    slope = (rows.sums(state.pull) - curvature.sums * (total / curvature.weight)) / rows.weight
    target = slope + curvature.gram @ state.coef
    # A working response with this pull and curvature. Correlations from a sample may ask for a longer one; its
    # length only tells the descent how exact to be.
    spread = float((state.pull**2 / np.maximum(curvature.row_weights, _TINY)).sum())
    y_y = float(state.coef @ (target + slope)) + 2.0 * spread / rows.weight
    (goal,), *_ = penalty.follow(curvature.gram, target, y_y, np.ones(1), tol, _MAX_PASSES, state.coef)
    change = goal - state.coef
    shift = (total - float(curvature.sums @ change)) / curvature.weight
    score_change = rows.scores(change, shift)

    old = state.objective(penalty)
    fall = state.of(goal).objective(penalty) - old - float(state.pull @ score_change) / rows.weight
    slack = _ROUNDING * old
    if fall > slack:
        return None
    share = 1.0
    for _ in range(_MAX_HALVINGS):
        coef = goal if share == 1.0 else state.coef + share * change
        tried = state.fit.at(coef, state.intercept + share * shift, state.scores + share * score_change)
        if tried.objective(penalty) <= old + 1e-4 * share * fall + slack:
            return tried
        share *= 0.5
    return None


def null_risk(rows: Rows, loss: SmoothLoss) -> float:
    """Return the mean loss of the best constant above the least that each row can have."""
    scores = np.full(len(rows.y), float(loss.best_constant(rows.y, rows.weights)))
    return loss.evaluate(rows.y, scores, rows.weights, curved=False)[0] / rows.weight


def null_fit(rows: Rows, loss: SmoothLoss, penalty: Penalty) -> tuple[FloatArray, float]:
    """Return coefficients and intercept of the model without penalised terms."""
    coef, intercept = np.zeros(rows.n_terms), float(loss.best_constant(rows.y, rows.weights))
    spared = penalty.spared
    if not spared.size:
        return coef, intercept
    tol = _NULL_TOL * null_risk(rows, loss)
    inner = replace(penalty.take(spared), l1=1.0, l2=0.0)
    solution = SmoothNet(rows.take(spared), loss, inner, tol, _NULL_STEPS).follow(np.ones(1), coef[spared], intercept)
    coef[spared] = solution.coefs[0]
    return coef, float(solution.intercepts[0])


def largest_pull(rows: Rows, loss: SmoothLoss, penalty: Penalty) -> float:
    """Return how hard the gradient pulls any penalised term where it may go, once the others are fitted."""
    coef, intercept = null_fit(rows, loss, penalty)
    pull = Fit(rows, loss).at(coef, intercept, rows.scores(coef, intercept)).pull
    return float(penalty.pulls(rows.sums(pull) / rows.weight).max(initial=0.0))
