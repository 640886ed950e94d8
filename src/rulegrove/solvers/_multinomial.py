r"""The elastic net of the multinomial loss, class by class in proximal Newton steps on working sets.

Minimises, for classes :math:`c_i` in 0..J-1, scores :math:`F_{ij} = a_{0j} + x_i a_j` and intercepts that are never
penalised,

.. math::
    \frac{1}{N} \sum_i w_i \Bigl(\log \sum_j e^{F_{ij}} - F_{i c_i}\Bigr)
    + \sum_j \Bigl(\lambda_1 \|a_j\|_1 + \frac{\lambda_2}{2} \|a_j\|_2^2\Bigr) .

With the scores of the other classes fixed, the loss in the scores of class j is a constant plus the logistic loss of
"class j or not" at :math:`F_{ij} - \log \sum_{k \ne j} e^{F_{ik}}`. So a step of one class is a step of the logistic
solver, and a sweep is one such step of each class [1]_.

Sweeps find the zeros and the signs soon, but each class waits for the others to move: where two classes contend for the
same rows the rest takes dozens of sweeps, and a duality gap, which is of first order in what is left, still more. So
each sweep is followed by a Newton step of all classes at once on the coefficients that are not zero.

A common shift of a term's coefficients in all classes changes no probability, so only the penalty decides it. It is set
directly. Without ridge part and with an even number of classes there may be a whole interval of best shifts; the
one taken gives one zero more.

References
----------
.. [1] Friedman, Hastie, Tibshirani (2010). "Regularization paths for generalized linear models via coordinate descent".
   Journal of Statistical Software 33(1), section 4 (regularised multinomial regression, 4.1 on the shift).
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.special import expit

from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.rows import Rows
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Logistic
from rulegrove.solvers._curvature import Curvature, sample_words
from rulegrove.solvers._newton import Fit, Net, Solution, State, WorkingSet, newton_step
from rulegrove.solvers._penalty import Penalty

_MODEL_SHARE = 1e-3  # of the gap at hand, to which the steps of a sweep solve their quadratic models
_DRIFT = 0.5  # share by which the curvature of the rows may differ from the one in use
_MARGIN = 0.92  # of the penalty, above which terms come along with those that must, for the penalties to follow
_SLOW = 0.5  # a sweep that leaves more of the gap than this share calls for some care
_MOST_CARE = 8  # before a point that does not improve is given up
_RIDGE = 1e-8  # of a curvature's largest diagonal, for terms that are nearly dependent
_MAX_PRODUCTS = 30  # with the Hessian in one joint step
_ERROR_LEFT = 1e-3  # by them, squared
_FLAT = 1e-10  # less curvature than this, of what the classes by themselves have, is none
_SHARES = (1.0, 0.5, 0.2)  # of a joint step to try
_ROUNDING = 1e-14  # of an objective: smaller differences say nothing
_SMALLEST_RATIO = 1e-3  # of the L1 norm in the penalty, for the largest penalty; as for the squared loss
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Dual:
    r"""A feasible point of the dual problem, made from the probabilities at hand.

    Since :math:`\log\sum_j e^{F_j} = \max_q \{q \cdot F + H(q)\}` over distributions q with entropy H, the dual problem
    is to maximise the mean entropy of distributions :math:`q_i` such that the residuals :math:`e_{c_i} - q_i`, with
    :math:`e_c` the unit vector of a class, have weighted sum 0 in each class, as an intercept without penalty asks,
    and with each term in each class a weighted mean product of at most :math:`\lambda_1` in size; with a ridge part an
    excess v costs :math:`v^2 / (2 \lambda_2)` instead.

    The probabilities :math:`p_i` at hand are made such by :math:`q_i = e_{c_i} + s\, t_{c_i} (p_i - e_{c_i})`, with
    :math:`0 \le s, t \le 1`: mixtures of distributions. Let :math:`M_{cj}` be the weighted sum of :math:`p_{ij}`
    over the rows of class c. The residuals in class j then sum to s times
    :math:`t_j \sum_{k \ne j} M_{jk} - \sum_{c \ne j} t_c M_{cj}`, which is what flows out of state j less what flows
    into it, in a Markov chain with rates M and occupation t. All these are 0 for a stationary distribution, and every
    finite chain has one; it is scaled to a largest value of 1. At the best intercepts all t are equal. The factor s
    then meets the bound on the terms. With two classes this is the dual point of the logistic loss.

    Attributes
    ----------
    risk : float
        Mean loss.
    p : ndarray of shape (n_classes, n_rows)
        Probabilities at hand.
    pulls : ndarray of shape (n_classes, n_rows)
        Weighted residuals of these.
    shares : ndarray of shape (n_rows,)
        The t of each row's class.
    misses : ndarray of shape (n_rows,)
        Probability of the classes that a row is not of.
    logs : ndarray of shape (n_rows,)
        Sum of p log p over these classes.
    weights : ndarray of shape (n_rows,)
    """

    risk: float
    p: FloatArray
    pulls: FloatArray
    shares: FloatArray
    misses: FloatArray
    logs: FloatArray
    weights: FloatArray

    @classmethod
    def at(cls, scores: FloatArray, codes: IntArray, weights: FloatArray) -> "Dual":
        """Make the point that belongs to scores, an ndarray of shape (n_classes, n_rows)."""
        rows = np.arange(len(codes))
        log_p = scores - scores.max(axis=0)
        p = np.exp(log_p)
        totals = p.sum(axis=0)
        log_p -= np.log(totals)
        p /= totals
        risk = -float(weights @ log_p[codes, rows]) / float(weights.sum())
        others = p.copy()
        others[codes, rows] = 0.0
        misses, logs = others.sum(axis=0), np.einsum("ji,ji->i", others, log_p)
        rates = np.stack([others[:, codes == code] @ weights[codes == code] for code in range(len(p))])
        shares = _stationary(rates)[codes]
        others[codes, rows] = -misses
        return cls(risk, p, -weights * others, shares, misses, logs, weights)

    def entropy(self, scale: float) -> float:
        """Return the mean entropy of the distributions with s = `scale`."""
        share = scale * self.shares
        other = share * self.misses  # the probability of the other classes
        own = 1.0 - other
        entropies = -share * self.logs - other * np.log(np.maximum(share, _TINY)) - own * np.log(np.maximum(own, _TINY))
        return float(self.weights @ entropies) / float(self.weights.sum())


def _stationary(rates: FloatArray) -> FloatArray:
    """Return the stationary distribution of a Markov chain, its largest value 1, or zeros if rounding hides it.

    States are taken out one after the other, which needs no subtraction, so small values are as exact as large ones
    (Grassmann, Taksar, Heyman 1985, "Regenerative analysis and steady state distributions for Markov chains",
    Operations Research 33(5)). The diagonal does not matter.
    """
    rates, n_states = rates.copy(), len(rates)
    for k in range(n_states - 1, 0, -1):
        leaving = float(rates[k, :k].sum())
        if leaving < _TINY:
            return np.zeros(n_states)
        rates[:k, k] /= leaving
        rates[:k, :k] += np.outer(rates[:k, k], rates[k, :k])
    stationary = np.ones(n_states)
    for k in range(1, n_states):
        stationary[k] = stationary[:k] @ rates[:k, k]
    stationary /= stationary.max()
    return stationary if bool(np.isfinite(stationary).all()) else np.zeros(n_states)


def best_shifts(coefs: FloatArray, l1: float, l2: float) -> FloatArray:
    """Return what to subtract from each term's coefficients in all classes so that the penalty is smallest.

    With ``k`` coefficients below a shift c, the penalty ``sum_j l1 |a_j - c| + l2/2 (a_j - c)^2`` has slope zero at
    ``c_k = (sum_j a_j + (J - 2 k) l1 / l2) / J``; its minimum is the median of all a_j and c_k. Without ridge part
    it is a median of the a_j. Of two middle ones the smaller in size is taken, for one zero more.

    Parameters
    ----------
    coefs : ndarray of shape (n_classes, n_terms)
    l1, l2 : float
        The two parts of the penalty.

    Returns
    -------
    ndarray of shape (n_terms,)
    """
    n_classes = len(coefs)
    if l2 > 0.0:
        steps = (n_classes - 2.0 * np.arange(n_classes + 1)) * (l1 / l2)
        flat = (coefs.sum(axis=0) + steps[:, None]) / n_classes
        return np.asarray(np.sort(np.vstack([coefs, flat]), axis=0)[n_classes])
    ordered = np.sort(coefs, axis=0)
    low, high = ordered[(n_classes - 1) // 2], ordered[n_classes // 2]
    return np.asarray(np.where(np.abs(low) <= np.abs(high), low, high))


def _curved(block: WorkingSet, state: State, drift: float, words: IntArray) -> Curvature:
    """Return a curvature of a class whose rows are weighted nearly as they should be."""
    if block.curvature is not None:
        p = expit(state.scores)
        change = np.abs(block.members.weights * p * (1.0 - p) - block.curvature.row_weights).sum()
        if change <= drift * block.curvature.weight:
            return block.curvature
    block.curvature = Curvature.count(block.members, state.row_weights, words)
    return block.curvature


@dataclass
class _Point:
    """Coefficients, intercepts and scores, one row for each class; the scores up to a constant of each row of data."""

    coefs: FloatArray
    intercepts: FloatArray
    scores: FloatArray

    def penalty(self, penalty: Penalty) -> float:
        """Return the penalty paid."""
        return penalty.l1 * float(np.abs(self.coefs).sum()) + 0.5 * penalty.l2 * float((self.coefs**2).sum())


@dataclass(frozen=True)
class _Active:
    """The terms of one class that are not zero, and the curvature of the loss in them and in the intercept.

    Attributes
    ----------
    terms : ndarray of shape (n_active,)
    rows : Rows
        Of these terms.
    factor : ndarray of shape (n_active, n_active)
        Lower Cholesky factor of the curvature with the intercept profiled out.
    means : ndarray of shape (n_active,)
        Of the terms, rows weighted by their curvature.
    weight : float
        Sum of the curvatures of the rows, over N.
    """

    terms: IntArray
    rows: Rows
    factor: FloatArray
    means: FloatArray
    weight: float

    @classmethod
    def of(cls, block: WorkingSet, curvature: Curvature, coef: FloatArray, l2: float) -> "_Active":
        """Take the terms out of a working set that holds them."""
        terms = np.flatnonzero(coef)
        places = np.searchsorted(np.flatnonzero(block.inside), terms)
        gram = curvature.gram[np.ix_(places, places)]
        gram.flat[:: len(terms) + 1] += l2 + _RIDGE * float(gram.diagonal().max(initial=_TINY))
        factor = scipy.linalg.cholesky(gram, lower=True, check_finite=False) if len(terms) else gram
        rows = block.rows.take(terms)
        return cls(terms, rows, factor, curvature.sums[places] / curvature.weight, curvature.weight / rows.weight)

    def solve(self, values: FloatArray) -> FloatArray:
        """Solve with the curvature; vectors hold the coefficients, then the intercept."""
        coef = values[:-1] - self.means * values[-1]
        if len(coef):
            coef = scipy.linalg.cho_solve((self.factor, True), coef, check_finite=False)
        return np.append(coef, values[-1] / self.weight - self.means @ coef)

    def slopes(self, pull: FloatArray) -> FloatArray:
        """Return the sums over N of a pull of the rows, by coefficients and intercept."""
        return np.append(self.rows.sums(pull), pull.sum()) / self.rows.weight


@dataclass(frozen=True)
class _JointStep:
    """A Newton step of all classes on the coefficients that are not zero, their signs fixed.

    Conjugate gradients solve for it. They need the Hessian only times a vector, which costs as much as a gradient of
    these terms, where the pairs of all classes' terms would be many. The classes' own curvatures precondition it.
    """

    classes: list[_Active]
    dual: Dual
    l2: float

    def solve(self, right: list[FloatArray]) -> list[FloatArray]:
        """Return the change of each class's coefficients and intercept, given the negative slopes."""
        sizes = np.cumsum([len(part) for part in right])[:-1]
        residual = np.concatenate(right)
        step = np.zeros_like(residual)
        direction = self._precondition(np.split(residual, sizes))
        first = length = float(residual @ direction)
        for _ in range(_MAX_PRODUCTS):
            product = self._multiply(np.split(direction, sizes))
            curvature = float(direction @ product)
            if not curvature > _FLAT * length:  # as of duplicates with opposite signs, which a sweep sorts out
                break
            step += (length / curvature) * direction
            residual -= (length / curvature) * product
            conditioned = self._precondition(np.split(residual, sizes))
            before, length = length, float(residual @ conditioned)
            if not length > _ERROR_LEFT * first:
                break
            direction = conditioned + (length / before) * direction
        return np.split(step, sizes)

    def _multiply(self, vectors: list[FloatArray]) -> FloatArray:
        """Return the Hessian times a vector."""
        scores = np.stack([one.rows.scores(v[:-1], float(v[-1])) for one, v in zip(self.classes, vectors, strict=True)])
        scores -= np.einsum("ji,ji->i", self.dual.p, scores)
        scores *= self.dual.p
        scores *= self.dual.weights
        products = []
        for one, values, vector in zip(self.classes, scores, vectors, strict=True):
            product = one.slopes(values)
            product[:-1] += self.l2 * vector[:-1]
            products.append(product)
        return np.concatenate(products)

    def _precondition(self, vectors: list[FloatArray]) -> FloatArray:
        """Solve with each class's own curvature."""
        return np.concatenate([one.solve(vector) for one, vector in zip(self.classes, vectors, strict=True)])


class MultinomialNet(Net):
    """The net of all classes; an iteration is a sweep over the classes.

    Parameters
    ----------
    rows : Rows
        Terms and weights; the targets are not used.
    codes : ndarray of shape (n_rows,), int64
        Class of each row, from 0; of rows without weight any class.
    n_classes : int
    l1_ratio : float
    tol : float
        Absolute duality gap to reach.
    max_iter : int
        Most sweeps over the classes for one penalty.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.arange(64) % 3
    >>> rows = Rows.from_dense(codes[:, None] == [0, 1], np.empty((64, 0)), np.zeros(64))
    >>> net = MultinomialNet(rows, codes, n_classes=3, l1_ratio=1.0, tol=1e-9, max_iter=1000)
    >>> top = largest_penalty(rows, codes, 3)
    >>> found = net.follow(top * np.array([1.0, 0.5]), np.zeros((3, 2)), null_intercepts(rows, codes, 3))
    >>> found.coefs[1].round(2) + 0.0
    array([[1.89, 0.  ],
           [0.  , 1.82],
           [0.  , 0.  ]])
    """

    def __init__(self, rows: Rows, codes: IntArray, n_classes: int, l1_ratio: float, tol: float, max_iter: int) -> None:
        super().__init__(Penalty(l1_ratio, 1.0 - l1_ratio), tol, max_iter)
        self.rows, self.codes, self.n_classes = rows, codes, n_classes

    def start(self, coef: FloatArray, intercept: FloatArray | float) -> None:
        """Begin at a point."""
        class_weights(self.rows, self.codes, self.n_classes)
        intercepts = np.array(intercept)
        self._here = _Point(coef.copy(), intercepts, self._scores(coef, intercepts))
        of_class = (np.where(self.codes == code, 1.0, -1.0) for code in range(self.n_classes))
        self._blocks = [WorkingSet.of(replace(self.rows, y=y)) for y in of_class]

    def solve(self, penalty: Penalty) -> Solution:
        """Sweep over the classes until the gap is small enough; of several classes there is no one residual."""
        # Neither an old curvature nor a sample of the rows nor a model solved too roughly may be what holds a sweep up;
        # with growing care there is less of all three.
        here = self._here
        care = sweeps = 0
        gap, bound = math.inf, 0.0
        while True:
            here.coefs -= best_shifts(here.coefs, penalty.l1, penalty.l2)  # the scores keep their differences
            dual = Dual.at(here.scores, self.codes, self.rows.weights)
            grads = self._gradients(dual)
            objective = dual.risk + here.penalty(penalty)
            bound = max(bound, penalty.bound(np.abs(grads), dual.entropy))
            old_gap, gap = gap, objective - bound
            if gap <= self.tol or sweeps >= self.max_iter or care > _MOST_CARE:
                intercepts = here.intercepts - here.intercepts.mean()
                return Solution(here.coefs.copy(), intercepts, dual.risk, math.nan, gap, sweeps)
            if gap > old_gap - _ROUNDING * objective:
                care += 1
            elif gap > _SLOW * old_gap:
                care = max(care, 1)
            if sweeps > 0:
                self._refine(dual, objective, penalty)
            for block, coef, grad in zip(self._blocks, here.coefs, grads, strict=True):
                block.admit(coef, grad, penalty, share=_MARGIN, surplus=3)
            self._sweep(penalty, gap, care)
            sweeps += 1

    def _gradients(self, dual: Dual) -> FloatArray:
        """Return ``X'residuals / N`` of all classes and terms, residuals as the dual point has them with s = 1."""
        residuals = dual.pulls * dual.shares
        rules = self.rows.bits.sums(residuals.T).T
        return np.hstack([rules, residuals @ self.rows.linear]) / self.rows.weight

    def _refine(self, dual: Dual, objective: float, penalty: Penalty) -> None:
        """Make a joint step if that lowers the objective."""
        here, l1, l2 = self._here, penalty.l1, penalty.l2
        active, right = [], []
        for block, coef, pull in zip(self._blocks, here.coefs, dual.pulls, strict=True):
            if block.curvature is None or (coef[~block.inside] != 0.0).any():
                return  # the next sweep will meet the terms that a shift has brought
            one = _Active.of(block, block.curvature, coef, l2)
            values = one.slopes(pull)
            values[:-1] -= l1 * np.sign(coef[one.terms]) + l2 * coef[one.terms]
            active.append(one)
            right.append(values)
        step = _JointStep(active, dual, l2).solve(right)

        change, shift = np.zeros_like(here.coefs), np.array([part[-1] for part in step])
        for row, one, part in zip(change, active, step, strict=True):
            row[one.terms] = part[:-1]
        # Beyond a zero the slope is another: stay at all the zeros that would be crossed, or stop at the first.
        crossing = (here.coefs + change) * here.coefs < 0.0
        if self._go(np.where(crossing, 0.0, here.coefs + change), shift, objective, penalty) or not crossing.any():
            return
        ways = np.where(crossing, -here.coefs / np.where(crossing, change, 1.0), math.inf)
        first = float(ways.min())
        self._go(np.where(ways == first, 0.0, here.coefs + first * change), first * shift, objective, penalty)

    def _go(self, goal: FloatArray, shift: FloatArray, objective: float, penalty: Penalty) -> bool:
        """Go towards other coefficients as far as the objective falls; False if nowhere."""
        here = self._here
        change = goal - here.coefs
        score_change = self._scores(change, shift)
        for share in _SHARES:
            coefs = goal if share == 1.0 else here.coefs + share * change
            tried = _Point(coefs, here.intercepts + share * shift, here.scores + share * score_change)
            if self._risk(tried.scores) + tried.penalty(penalty) < objective:
                here.coefs, here.intercepts, here.scores = tried.coefs, tried.intercepts, tried.scores
                return True
        return False

    def _risk(self, scores: FloatArray) -> float:
        """Return the mean loss."""
        top = scores.max(axis=0)
        losses = np.log(np.exp(scores - top).sum(axis=0)) + top - scores[self.codes, np.arange(len(self.codes))]
        return float(self.rows.weights @ losses) / self.rows.weight

    def _scores(self, coefs: FloatArray, intercepts: FloatArray) -> FloatArray:
        """Return the scores of all rows, an ndarray of shape (n_classes, n_rows)."""
        return np.stack([self.rows.scores(*model) for model in zip(coefs, intercepts, strict=True)])

    def _sweep(self, penalty: Penalty, gap: float, care: int) -> None:
        """Make a step of each class."""
        here = self._here
        words = np.arange(self.rows.bits.words.shape[1]) if care else sample_words(self.rows)
        drift, tol = _DRIFT * 0.25**care, _MODEL_SHARE * 0.1**care * gap / self.n_classes
        # log-sum-exp of the classes that come after each, and below of those that came before
        after = list(here.scores)
        for code in range(self.n_classes - 2, 0, -1):
            after[code] = _log_add(after[code], after[code + 1])
        before = here.scores[0]
        for code, block in enumerate(self._blocks):
            if code == 0:
                others = after[1]
            elif code == self.n_classes - 1:
                others = before
            else:
                others = _log_add(before, after[code + 1])
            scores = here.scores[code] - others
            fit, coef = Fit(block.rows, Logistic()), here.coefs[code, block.inside]
            state = fit.at(coef, float(here.intercepts[code]), scores)
            tried = newton_step(block.members, state, _curved(block, state, drift, words), penalty, tol)
            if tried is None:
                block.curvature = None
            else:
                here.coefs[code, block.inside], here.intercepts[code] = tried.coef, tried.intercept
                here.scores[code] = others + tried.scores
            before = here.scores[0] if code == 0 else _log_add(before, here.scores[code])


def _log_add(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return ``log(exp(a) + exp(b))``; NumPy's own has no vector instructions."""
    return np.maximum(a, b) + np.log(1.0 + np.exp(-np.abs(a - b)))


def class_weights(rows: Rows, codes: IntArray, n_classes: int) -> FloatArray:
    """Return the total weight of each class, or raise where the classes do not fit the rows.

    Parameters
    ----------
    rows : Rows
    codes : ndarray of shape (n_rows,), int64
    n_classes : int

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    if n_classes < 2:
        raise InvalidInputError(f"`n_classes` must be at least 2; got {n_classes}.")
    if codes.shape != rows.weights.shape:
        raise InvalidInputError(f"`codes` must hold one class for each of {len(rows.weights)} rows; got {codes.shape}.")
    if codes.size and not 0 <= codes.min() <= codes.max() < n_classes:
        raise InvalidInputError(
            f"`codes` must be from 0 to {n_classes - 1}; got {codes.min()} to {codes.max()} for {n_classes} classes."
        )
    weights: FloatArray = np.bincount(codes, rows.weights, n_classes).astype(np.float64)
    if not (weights > 0.0).all():
        raise InvalidInputError(f"Every class needs rows with weight; class {int(np.argmin(weights > 0.0))} has none.")
    return weights


def null_intercepts(rows: Rows, codes: IntArray, n_classes: int) -> FloatArray:
    """Return the logarithms of the classes' shares, less their mean: the model without terms.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Rows.from_dense(np.zeros((64, 0)), np.empty((64, 0)), np.zeros(64))
    >>> null_intercepts(rows, np.arange(64) % 2, 2)
    array([0., 0.])
    """
    logs = np.log(class_weights(rows, codes, n_classes))
    return np.asarray(logs - logs.mean(), dtype=np.float64)


def largest_penalty(rows: Rows, codes: IntArray, n_classes: int, l1_ratio: float = 1.0) -> float:
    """Return the smallest penalty at which every coefficient is zero; ``l1_ratio`` below 0.001 counts as 0.001.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.arange(64) % 2
    >>> rows = Rows.from_dense(codes[:, None] == [0], np.empty((64, 0)), np.zeros(64))
    >>> largest_penalty(rows, codes, 2)
    0.25
    """
    shares = class_weights(rows, codes, n_classes) / rows.weight
    pulls = rows.weights[:, None] * ((codes[:, None] == np.arange(n_classes)) - shares)
    largest = max(
        float(np.abs(rows.bits.sums(pulls)).max(initial=0.0)),
        float(np.abs(rows.linear.T @ pulls).max(initial=0.0)),
    )
    return largest / rows.weight / max(l1_ratio, _SMALLEST_RATIO)
