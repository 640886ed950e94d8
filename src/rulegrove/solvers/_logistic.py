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

import functools
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.design.rows import Rows, rows_of_words
from rulegrove.losses import Logistic
from rulegrove.solvers._constraining import Limits, limited_net_path, solve_bounded
from rulegrove.solvers._kernels import elastic_net_path

_FAST_ENOUGH = 0.2  # a step that leaves more of the gap than this share calls for a new curvature
_SLOWEST = 0.5  # and more than this in any case; of a sample it then calls for all rows
_INNER_SHARE = 0.1  # of the gap at hand, to which a step solves its quadratic model
_FINEST_SHARE = 1e-8  # and the least such share before a point that does not improve is given up
_MAX_PASSES = 10_000  # of coordinate descent in one step
_SMALLEST_CURVATURE = 1e-6  # of a row, over its weight: a certain row must not make the model flat
_SAMPLE_WORDS = 512  # words of rows, at most, that pairs of terms are counted on
_SHRINKAGE = 0.02  # of correlations that come from a sample
_MAX_HALVINGS = 30
_ROUNDING = 1e-14  # of an objective: smaller differences say nothing
_MAX_ROUNDS = 10  # of giving up the pull of rows, before a dual point is given up
_NULL_TOL = 1e-9  # to which a model without penalised terms is fitted, in units of the loss of an even guess
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
    def of(cls, rows: Rows, limits: Limits | None) -> "Spared | None":
        """Return these terms of some rows; None if there are none."""
        if limits is None or not limits.spared.any():
            return None
        part = rows.take(np.flatnonzero(limits.spared))
        columns = np.column_stack([np.ones(len(rows.y)), part.bits.to_dense(), part.linear])
        return cls(columns, np.concatenate([[0], limits.signs[limits.spared]]))

    def balance(self, rows: Rows, force: FloatArray, wrong: FloatArray) -> FloatArray:
        """Return a pull near the one at hand that pulls none of these terms to where it may go; zeros if none is near.

        Parameters
        ----------
        rows : Rows
        force, wrong : ndarray of shape (n_rows,)
            Absolute pull and probability of the other class.
        """
        for _ in range(_MAX_ROUNDS):
            curved = force * (1.0 - wrong)
            gram = self.columns.T @ (curved[:, None] * self.columns)
            step = solve_bounded(gram, self.columns.T @ (rows.y * force), self.signs)
            changed = force - rows.y * curved * (self.columns @ step)
            if (changed >= 0.0).all() and (changed <= rows.weights).all():
                return rows.y * changed
            force = np.where(changed < 0.0, 0.0, force)  # of rows that these terms tell apart nothing may be left
        return np.zeros_like(force)


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
    balanced : ndarray of shape (n_rows,)
        The pull with that of the stronger class shrunk until the two are equal. Where other terms than the intercept
        have no penalty: less its part along them, weighted by the curvature of each row.
    """

    coef: FloatArray
    intercept: float
    scores: FloatArray
    risk: float
    pull: FloatArray
    balanced: FloatArray

    @classmethod
    def at(
        cls, rows: Rows, coef: FloatArray, intercept: float, scores: FloatArray, spared: Spared | None = None
    ) -> "State":
        """Evaluate the loss at given scores."""
        margins = rows.y * scores
        small = np.exp(-np.abs(margins))
        risk = float(rows.weights @ (np.log(1.0 + small) + np.maximum(-margins, 0.0))) / rows.weight
        wrong = np.where(margins < 0.0, 1.0, small) / (1.0 + small)  # the probability of the other class
        force = rows.weights * wrong
        pull = rows.y * force
        if spared is not None:
            return cls(coef, intercept, scores, risk, pull, spared.balance(rows, force, wrong))
        total, difference = float(force.sum()), float(pull.sum())
        up, down = 0.5 * (total + difference), 0.5 * (total - difference)
        if min(up, down) <= 0.0:
            return cls(coef, intercept, scores, risk, pull, np.zeros_like(pull))
        high, low = min(1.0, down / up), min(1.0, up / down)
        balanced = pull * (0.5 * (high + low) + 0.5 * (high - low) * rows.y)
        return cls(coef, intercept, scores, risk, pull, balanced)

    def of(self, coef: FloatArray) -> "State":
        """Return the same point with its coefficients given for other terms."""
        return replace(self, coef=coef)

    def objective(self, l1: float, l2: float, limits: Limits | None = None) -> float:
        """Return the penalised objective."""
        coef = self.coef if limits is None else limits.penalised(self.coef)
        return self.risk + l1 * float(np.abs(coef).sum()) + 0.5 * l2 * float(coef @ coef)

    def gradient(self, rows: Rows) -> FloatArray:
        """Return ``X'pull / N`` of the balanced pull."""
        return rows.sums(self.balanced) / rows.weight

    def gap(self, rows: Rows, grad: FloatArray, l1: float, l2: float, limits: Limits | None = None) -> float:
        """Return the duality gap over the terms of `rows`, which must hold all the non-zero ones.

        Dual points are probabilities of the other class that give both classes the same total pull, as an unpenalised
        intercept asks, and no term more than the penalty. Those at hand are made such by shrinking the class that pulls
        more, then both. Where other terms have no penalty either, the pull on each of them must vanish, or not point to
        where its sign allows it to go. One Newton step on these terms, to first order in the pull of each row, gives
        a pull that does exactly that; it is a dual point if the step is so small that every probability stays between 0
        and 1, and otherwise the bound is zero, which no loss falls below. Of a penalised term with a sign the gradient
        counts on its side only (see `rulegrove.solvers.certificates`).

        Parameters
        ----------
        rows : Rows
        grad : ndarray of shape (n_terms,)
            As `gradient` gives it.
        l1, l2 : float
            The two parts of the penalty.
        limits : Limits, optional
            Of the terms of `rows`.
        """
        pulls = np.abs(grad) if limits is None else limits.penalised(limits.pulls(grad))
        largest = float(pulls.max(initial=0.0))
        bound = self._entropy(rows, min(1.0, l1 / largest) if largest > 0.0 else 1.0)
        if l2 > 0.0:  # any gradient is feasible at a price
            excess = float((np.maximum(pulls - l1, 0.0) ** 2).sum())
            bound = max(bound, self._entropy(rows, 1.0) - 0.5 * excess / l2)
        return self.objective(l1, l2, limits) - bound

    def _entropy(self, rows: Rows, scale: float) -> float:
        """Return the mean entropy of a yes or no whose probabilities are the balanced pull, scaled."""
        force = scale * np.abs(self.balanced)
        rest = rows.weights - force
        # w s log s + w (1 - s) log(1 - s) with s = force / w; rows without weight have force 0 and rest 0.
        inverse = 1.0 / np.maximum(rows.weights, _TINY)
        logs = force * np.log(np.maximum(force * inverse, _TINY)) + rest * np.log(np.maximum(rest * inverse, _TINY))
        return float(-logs.sum()) / rows.weight


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
    ratios : ndarray of shape (n_members,)
        Standard deviations over those of the sample.
    sample : ndarray of shape (n_words,)
        Words of rows that the pairs were counted on.
    first_share : float
        Share of the gap that the first step with it left; a sample allows no better.
    """

    row_weights: FloatArray
    weight: float
    sums: FloatArray
    gram: FloatArray
    ratios: FloatArray
    sample: IntArray
    first_share: float = 0.0

    @classmethod
    def count(cls, members: Rows, state: State, sample: IntArray) -> "Curvature":
        """Count pairs of terms on the rows of some words, everything else on all rows.

        With all words the curvature is exact. With some, the correlations of the terms are those of the sample, a
        little shrunk, and their variances are exact: good enough for a model whose gradient is exact.

        Parameters
        ----------
        members : Rows
            The terms of the working set.
        state : State
        sample : ndarray of shape (n_words,)
            Words to count on.
        """
        probability = expit(state.scores)
        curved = np.maximum(probability * (1.0 - probability), _SMALLEST_CURVATURE)
        row_weights = members.weights * curved
        part, part_weights = _sampled(members, row_weights, sample)
        moments = part.moments(part_weights)
        centred = moments.gram - np.outer(moments.x_sum, moments.x_sum) / moments.weight
        if part is members:
            gram = np.ascontiguousarray(centred / members.weight)
            np.fill_diagonal(gram, np.maximum(gram.diagonal(), 0.0))
            return cls(row_weights, moments.weight, moments.x_sum, gram, np.ones(len(gram)), sample)
        sums = members.sums(row_weights)
        deviations = _deviations(members, row_weights, sums)
        ratios = _over_sample(deviations, centred.diagonal())
        gram = (1.0 - _SHRINKAGE) * centred * np.outer(ratios, ratios)
        np.fill_diagonal(gram, deviations**2)
        return cls(row_weights, float(row_weights.sum()), sums, np.ascontiguousarray(gram), ratios, sample)

    def move(self, members: Rows, inside: BoolArray, wanted: BoolArray) -> "Curvature":
        """Return the curvature of another working set, counted for no more than what is new in it.

        Parameters
        ----------
        members : Rows
            The terms of the new set.
        inside, wanted : ndarray of shape (n_terms,), bool
            Both sets among all terms.
        """
        kept, new = self._take(wanted[inside]), ~inside[wanted]
        return kept._extend(members, new) if new.any() else kept

    def _take(self, terms: BoolArray) -> "Curvature":
        """Return the curvature of some of the terms."""
        gram = np.ascontiguousarray(self.gram[np.ix_(terms, terms)])
        return replace(self, sums=self.sums[terms], gram=gram, ratios=self.ratios[terms])

    def _extend(self, members: Rows, new: BoolArray) -> "Curvature":
        """Return the curvature of more terms: pairs with a new one are counted under the weights of the others.

        Parameters
        ----------
        members : Rows
            All terms, those that were there before among them.
        new : ndarray of shape (n_members,), bool
        """
        part, part_weights = _sampled(members, self.row_weights, self.sample)
        few = part.take(np.flatnonzero(new))
        weighted = np.column_stack([few.bits.to_dense(), few.linear]) * part_weights[:, None]
        crossed = np.concatenate([part.bits.sums(weighted), part.linear.T @ weighted])
        part_sums = part.sums(part_weights)
        crossed -= np.outer(part_sums, part_sums[new] / part_weights.sum())
        sums = part_sums if part is members else members.sums(self.row_weights)
        ratios = np.ones(len(new))
        if part is not members:
            deviations = _deviations(members, self.row_weights, sums)[new]
            ratios[~new], ratios[new] = self.ratios, _over_sample(deviations, crossed[new].diagonal())
            crossed *= (1.0 - _SHRINKAGE) * np.outer(ratios, ratios[new])
            crossed[new, np.arange(new.sum())] = deviations**2
        else:
            crossed /= members.weight
            crossed[new, np.arange(new.sum())] = np.maximum(crossed[new].diagonal(), 0.0)
        gram = np.empty((len(new), len(new)))
        gram[np.ix_(~new, ~new)] = self.gram
        gram[:, new] = crossed
        gram[new] = crossed.T
        return replace(self, sums=sums, gram=gram, ratios=ratios)


def _sampled(members: Rows, row_weights: FloatArray, sample: IntArray) -> tuple[Rows, FloatArray]:
    """Return the rows of some words and their weights; all as they are if these are all the words."""
    if len(sample) == members.bits.words.shape[1]:
        return members, row_weights
    return members.take_words(sample), row_weights[rows_of_words(sample)]


def _deviations(members: Rows, row_weights: FloatArray, sums: FloatArray) -> FloatArray:
    """Return the weighted standard deviations of terms, over N as the Gram is."""
    squares = np.concatenate([sums[: members.n_rules], row_weights @ members.linear**2])
    return np.asarray(np.sqrt(np.maximum(squares - sums**2 / row_weights.sum(), 0.0) / members.weight))


def _over_sample(deviations: FloatArray, squares: FloatArray) -> FloatArray:
    """Return standard deviations over the roots of centred squares in a sample, 0 for terms that do not vary there."""
    spread = np.sqrt(np.maximum(squares, 0.0))
    return np.asarray(np.divide(deviations, spread, out=np.zeros_like(spread), where=spread > 0.0))


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
    limits : Limits, optional
        What the coefficients must respect.
    """

    rows: Rows
    l1_ratio: float
    tol: float
    max_iter: int
    limits: Limits | None = None

    def follow(self, penalties: FloatArray, coef: FloatArray, intercept: float) -> "Solutions":
        """Solve at each penalty, the first from the given point, each next one from the solution before."""
        rows, limits = self.rows, self.limits
        n_points = len(penalties)
        coefs = np.empty((n_points, rows.n_terms))
        intercepts, risks, residuals, gaps = np.empty((4, n_points))
        iterations = np.empty(n_points, dtype=np.int64)
        spared = Spared.of(rows, limits)
        coef = coef if limits is None else limits.clip(coef)
        state = State.at(rows, coef, intercept, rows.scores(coef, intercept), spared)
        grad = state.gradient(rows)
        inside = np.zeros(rows.n_terms, dtype=bool)
        members = rows.take(np.flatnonzero(inside))
        curvature: Curvature | None = None
        sample = sample_words(rows)
        for point, penalty in enumerate(penalties):
            l1, l2 = penalty * self.l1_ratio, penalty * (1.0 - self.l1_ratio)
            steps = 0
            while True:
                wanted = (state.coef != 0) | (np.abs(grad) >= l1 if limits is None else limits.wanted(grad, l1))
                if (wanted & ~inside).any() or 2 * wanted.sum() < inside.sum():
                    members = rows.take(np.flatnonzero(wanted))
                    curvature = None if curvature is None else curvature.move(members, inside, wanted)
                    inside = wanted
                # The set need not be solved better than it is known to be the right one.
                gap = state.gap(rows, grad, l1, l2, limits)
                tol = max(0.5 * self.tol, _INNER_SHARE * gap)
                inner = None if limits is None else limits.take(inside)
                part, curvature, done, stuck = self._solve_inside(
                    members, state.of(state.coef[inside]), gap, curvature, sample, l1, l2, tol, self.max_iter - steps,
                    inner, spared,
                )  # fmt: skip
                coef = np.zeros(rows.n_terms)
                coef[inside] = part.coef
                state = part.of(coef)
                steps += done
                grad = state.gradient(rows)
                gaps[point] = state.gap(rows, grad, l1, l2, limits)
                missing = (~inside & (np.abs(grad) >= l1 if limits is None else limits.wanted(grad, l1))).any()
                if gaps[point] <= self.tol or steps >= self.max_iter or (stuck and not missing):
                    break
            coefs[point], intercepts[point], risks[point] = state.coef, state.intercept, state.risk
            # y minus its mean under the model, 2 p - 1, is twice the probability of the other class.
            residuals[point] = 2.0 * np.sqrt(rows.weights @ expit(-rows.y * state.scores) ** 2)
            iterations[point] = steps
        return Solutions(coefs, intercepts, risks, residuals, gaps, iterations)

    def _solve_inside(
        self,
        rows: Rows,
        here: State,
        gap: float,
        curvature: Curvature | None,
        sample: IntArray,
        l1: float,
        l2: float,
        tol: float,
        max_steps: int,
        limits: Limits | None,
        spared: Spared | None,
    ) -> tuple[State, Curvature | None, int, bool]:
        """Minimise over the terms of the working set.

        Returns
        -------
        state : State
        curvature : Curvature or None
            The last one, if it still serves.
        steps : int
        stuck : bool
            Whether rounding allows no further progress.
        """
        steps = 0
        stuck = False
        inner = _INNER_SHARE
        while gap > tol and steps < max_steps and not stuck:
            fresh = curvature is None
            if curvature is None:
                curvature = Curvature.count(rows, here, sample)
            tried = newton_step(rows, here, curvature, l1, l2, inner * gap, limits, spared)
            steps += 1
            before, old_gap = here.objective(l1, l2, limits), gap
            better = False
            if tried is not None:
                gap = tried.gap(rows, tried.gradient(rows), l1, l2, limits)
                better = gap < old_gap or tried.objective(l1, l2, limits) < before - _ROUNDING * before
                here = tried if better else here
            share = gap / old_gap
            if fresh:
                curvature.first_share = share
            if not better or share > max(_FAST_ENOUGH, min(2.0 * curvature.first_share, _SLOWEST)):
                # Neither an old curvature nor a sample nor a model solved too roughly may be what holds it up.
                whole = len(sample) == rows.bits.words.shape[1]
                stuck = fresh and not better and whole and inner < _FINEST_SHARE
                if fresh and whole:
                    inner *= 0.1
                elif fresh and (not better or share > _SLOWEST):
                    sample = np.arange(rows.bits.words.shape[1])
                curvature = None
        return here, curvature, steps, stuck


def sample_words(rows: Rows) -> IntArray:
    """Return the words of rows that pairs of terms are counted on first: all, or a fixed draw of many."""
    words = np.flatnonzero(rows.counted)
    if len(words) <= _SAMPLE_WORDS:
        return np.arange(rows.bits.words.shape[1])
    return np.sort(np.random.default_rng(0).choice(words, _SAMPLE_WORDS, replace=False))


def newton_step(
    rows: Rows,
    state: State,
    curvature: Curvature,
    l1: float,
    l2: float,
    tol: float,
    limits: Limits | None = None,
    spared: Spared | None = None,
) -> State | None:
    """Minimise the quadratic model, then go towards its minimum as far as the objective falls; None if nowhere."""
    total = float(state.pull.sum())
    slope = (rows.sums(state.pull) - curvature.sums * (total / curvature.weight)) / rows.weight
    target = slope + curvature.gram @ state.coef
    # A working response with this pull and curvature. Correlations from a sample may ask for a longer one; its
    # length only tells the descent how exact to be.
    spread = float((state.pull**2 / np.maximum(curvature.row_weights, _TINY)).sum())
    y_y = float(state.coef @ (target + slope)) + 2.0 * spread / rows.weight
    penalty = l1 + l2
    solve = elastic_net_path if limits is None else functools.partial(limited_net_path, limits=limits)
    coefs, _, _, _ = solve(
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

    goal = state.of(coefs[0]).objective(l1, l2, limits)
    old = state.objective(l1, l2, limits)
    fall = goal - old - float(state.pull @ score_change) / rows.weight
    slack = _ROUNDING * old
    if fall > slack:
        return None
    share = 1.0
    for _ in range(_MAX_HALVINGS):
        coef = coefs[0] if share == 1.0 else state.coef + share * change
        tried = State.at(rows, coef, state.intercept + share * shift, state.scores + share * score_change, spared)
        if tried.objective(l1, l2, limits) <= old + 1e-4 * share * fall + slack:
            return tried
        share *= 0.5
    return None


def null_intercept(rows: Rows) -> float:
    """Return the log odds of the classes."""
    return float(Logistic().best_constant(rows.y, rows.weights))


def null_fit(rows: Rows, limits: Limits | None) -> tuple[FloatArray, float]:
    """Return coefficients and intercept of the model without penalised terms."""
    coef, intercept = np.zeros(rows.n_terms), null_intercept(rows)
    if limits is None or not limits.spared.any():
        return coef, intercept
    part, inner = rows.take(np.flatnonzero(limits.spared)), limits.take(limits.spared)
    net = LogisticNet(part, 1.0, _NULL_TOL * float(np.log(2.0)), _NULL_STEPS, inner)
    solution = net.follow(np.ones(1), coef[limits.spared], intercept)
    coef[limits.spared] = solution.coefs[0]
    return coef, float(solution.intercepts[0])


def largest_pull(rows: Rows, limits: Limits) -> float:
    """Return how hard the gradient pulls any penalised term where it may go, once the others are fitted."""
    coef, intercept = null_fit(rows, limits)
    pull = State.at(rows, coef, intercept, rows.scores(coef, intercept)).pull
    return float(limits.penalised(limits.pulls(rows.sums(pull) / rows.weight)).max(initial=0.0))
