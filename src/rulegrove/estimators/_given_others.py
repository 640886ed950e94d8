"""Whether a rule says anything that the other terms of its list do not: a score test that survives a wrong list.

The population coefficient of a rule is that of the best model of all terms of the list, by least squares for numbers
and by the log loss for a class against all others. That it is zero is tested by the rule's score at the best model
without it (Boos 1992): the sum over the rows of ``z (y - m)``, where m is what that model says and z the rule less what
the other terms tell of it. Where the list is right, the variance of the sum is what the model says; where it is wrong,
it is that of the products themselves. The larger one is taken, since the second is too small on few rows.

References
----------
Boos (1992). "On generalized score tests". The American Statistician 46(4).
White (1980). "A heteroskedasticity-consistent covariance matrix estimator and a direct test for heteroskedasticity".
Econometrica 48(4).
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit
from scipy.stats import t as student

from rulegrove._typing import FloatArray, IntArray
from rulegrove.estimators._tails import score_tails

_UNKNOWN = 1e-8  # share of a term's variation that is left beside the others, below which rows cannot tell them apart
_FREE = 1e-8  # ridge of log odds: next to none, but no coefficient is infinite
_CERTAIN = 12.0  # log odds in either direction, beyond which a coefficient has no end
_LEAST_LEFT = 0.1  # of a row's residual that is reckoned with, where the model goes by that row alone
_LEAST_BEND = 1e-300  # that is divided by
_MOST_STEPS = 60
_NEAR = 1e-9  # promise of a further step, as a share of the weight


class TargetSums(NamedTuple):
    """What some rows add up to, by weight w and target y; arrays of one shape, a place for each set of rows.

    Attributes
    ----------
    n_rows : ndarray
        Rows of positive weight.
    weight, weight2, weight3 : ndarray
        Sums of w and of its powers.
    y, y2, y3 : ndarray
        Sums of w times y and its powers.
    wy, wy2 : ndarray
        Sums of the square of w times y and its square.
    """

    n_rows: FloatArray
    weight: FloatArray
    weight2: FloatArray
    weight3: FloatArray
    y: FloatArray
    y2: FloatArray
    y3: FloatArray
    wy: FloatArray
    wy2: FloatArray

    @property
    def size(self) -> FloatArray:
        """Rows of equal weight that would tell as much."""
        return np.where(self.weight2 > 0, self.weight**2 / np.maximum(self.weight2, np.finfo(np.float64).tiny), 0.0)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return the variance of the target in each set of rows, and its third central moment."""
        mean, second, third = self.y / self.weight, self.y2 / self.weight, self.y3 / self.weight
        return np.maximum(second - mean**2, 0.0), third - 3.0 * mean * second + 2.0 * mean**3

    def residuals(self, means: FloatArray) -> FloatArray:
        """Return the weighted sums of what targets exceed means by."""
        return self.y - means * self.weight

    def squares(self, means: FloatArray) -> FloatArray:
        """Return the sums of the squares of weighted residuals."""
        return np.maximum(self.wy2 - 2.0 * means * self.wy + means**2 * self.weight2, 0.0)

    def spread(self, means: FloatArray) -> tuple[float, float]:
        """Return the mean square and the mean cube of the residuals of all rows."""
        total = self.weight.sum()
        second = self.y2 - 2.0 * means * self.y + means**2 * self.weight
        third = self.y3 - 3.0 * means * self.y2 + 3.0 * means**2 * self.y - means**3 * self.weight
        return max(float(second.sum() / total), 0.0), float(third.sum() / total)


class Fitted(NamedTuple):
    """A model of some terms, fitted to lines of rows.

    Attributes
    ----------
    coef : ndarray of shape (n_terms,)
    means : ndarray of shape (n_lines,)
        What it says of each line.
    bends : ndarray of shape (n_lines,)
        How fast that changes with the score.
    variances, thirds : ndarray of shape (n_lines,)
        Central moments of the target, if the model is right.
    """

    coef: FloatArray
    means: FloatArray
    bends: FloatArray
    variances: FloatArray
    thirds: FloatArray


class Family(Protocol):
    """What the target of a list is."""

    def fit(self, terms: FloatArray, sums: TargetSums, start: FloatArray | None = None) -> Fitted:
        """Return the best model of some terms.

        Parameters
        ----------
        terms : ndarray of shape (n_lines, n_terms)
            The first column is one.
        sums : TargetSums
        start : ndarray of shape (n_terms,), optional
            Coefficients that may be near the best.
        """
        ...

    def is_certain(self, coef: float) -> bool:
        """Whether a coefficient is so large that it may as well be infinite."""
        ...


class OfNumbers:
    """Numbers, by least squares."""

    def fit(self, terms: FloatArray, sums: TargetSums, start: FloatArray | None = None) -> Fitted:
        """Return the model of the least squared error."""
        coef = _invert(terms.T @ (sums.weight[:, None] * terms)) @ (terms.T @ sums.y)
        means = terms @ coef
        variance, third = sums.spread(means)
        ones = np.ones(len(terms))
        return Fitted(coef, means, ones, variance * ones, third * ones)

    def is_certain(self, coef: float) -> bool:
        """Return False: the least squares of finite numbers are finite."""
        return False


class OfShares:
    """A class against all others, whose target is one or zero, by the log loss."""

    def fit(self, terms: FloatArray, sums: TargetSums, start: FloatArray | None = None) -> Fitted:
        """Return the model of the least log loss, by Newton's steps, halved where they go too far."""
        total, ridge = sums.weight.sum(), _FREE * np.eye(terms.shape[1])

        def lose(coef: FloatArray) -> float:
            scores = terms @ coef
            losses = sums.weight @ np.logaddexp(0.0, scores) - sums.y @ scores
            return float(losses / total + 0.5 * _FREE * coef @ coef)

        coef = np.zeros(terms.shape[1])
        if start is not None and lose(start) < lose(coef):
            coef = start
        loss = lose(coef)
        for _ in range(_MOST_STEPS):
            means = expit(terms @ coef)
            slope = terms.T @ sums.residuals(means) / total - _FREE * coef
            curved = terms.T @ ((sums.weight * means * (1.0 - means))[:, None] * terms) / total + ridge
            step = np.linalg.solve(curved, slope)
            if step @ slope < _NEAR:
                break
            while (new := lose(coef + step)) > loss:
                step /= 2.0
            coef, loss = coef + step, new
        means = expit(terms @ coef)
        variances = means * (1.0 - means)
        return Fitted(coef, means, variances, variances, variances * (1.0 - 2.0 * means))

    def is_certain(self, coef: float) -> bool:
        """Whether the odds of a class are beyond all reckoning."""
        return abs(coef) > _CERTAIN


class GivenOthers(NamedTuple):
    """What rows say of some rules beside the other terms of their list.

    Attributes
    ----------
    p_values : ndarray of shape (n_rules,)
        Of no coefficient against one of the rule's own sign.
    coefs, errors : ndarray of shape (n_rules,)
        Coefficients of all terms fitted together, and their standard errors; NaN where the rows do not tell.
    freedom : float
        Rows less terms.
    """

    p_values: FloatArray
    coefs: FloatArray
    errors: FloatArray
    freedom: float

    def reach(self, level: float) -> FloatArray:
        """Return how far the intervals of the coefficients go either way; infinite where the rows do not tell."""
        half = student.isf((1.0 - level) / 2.0, self.freedom) * self.errors
        return np.where(np.isnan(half), np.inf, half)


def weigh_beside(
    family: Family, terms: FloatArray, sums: TargetSums, rules: IntArray, signs: Sequence[float] | FloatArray
) -> GivenOthers:
    """Test some of the terms of a list beside all others.

    Parameters
    ----------
    family : Family
    terms : ndarray of shape (n_lines, n_terms)
        Of lines of rows on which they are the same.
    sums : TargetSums
        Of the rows of each line.
    rules : ndarray of shape (n_rules,)
        Places of the terms to be tested.
    signs : sequence of float
        Of their coefficients: a rule is to bear these out.
    """
    centred = terms - np.average(terms, axis=0, weights=sums.weight)
    scales = np.abs(centred).max(axis=0)
    columns = np.column_stack([np.ones(len(terms)), centred / np.where(scales > 0.0, scales, 1.0)])
    size = sums.weight.sum() ** 2 / sums.weight2.sum()  # rows of equal weight that would tell as much
    freedom = max(size - columns.shape[1], 1.0)
    whole, p_values, coefs, errors = family.fit(columns, sums), [], [], []
    inverse = _invert(((whole.bends * sums.weight)[:, None] * columns).T @ columns)
    stretched = _stretch(columns, sums, whole, inverse)
    for place, sign in zip((rules + 1).tolist(), signs, strict=True):
        own, others = columns[:, place], np.delete(columns, place, axis=1)
        start = whole.coef - whole.coef[place] * inverse[place] / max(inverse[place, place], _LEAST_BEND)
        without = family.fit(others, sums, np.delete(start, place))
        _, total, variance, third = _score(own, others, sums, without)
        grown = variance * size / freedom
        p_values.append(score_tails(*(np.array([part]) for part in (sign * total, grown, sign * third)))[0])
        bend, _, variance, _ = _score(own, others, sums, whole, stretched)
        scale = scales[place - 1]
        known = bend > 0.0 and variance > 0.0 and not family.is_certain(whole.coef[place] / scale)
        coefs.append(whole.coef[place] / scale if known else np.nan)
        errors.append(np.sqrt(variance * size / freedom) / bend / scale if known else np.nan)
    return GivenOthers(np.array(p_values), np.array(coefs), np.array(errors), freedom)


def _stretch(columns: FloatArray, sums: TargetSums, fitted: Fitted, inverse: FloatArray) -> FloatArray:
    """Return how much larger a squared residual of each line would be, had the model not seen its row (HC3).

    A row is one of usual weight, so that lines of equal terms may be one.
    """
    usual = sums.weight2.sum() / sums.weight.sum()
    leverages = np.sum(columns @ inverse * columns, axis=1) * fitted.bends * usual
    return np.asarray(1.0 / np.maximum(1.0 - leverages, _LEAST_LEFT) ** 2)


def _score(
    own: FloatArray, others: FloatArray, sums: TargetSums, fitted: Fitted, stretched: FloatArray | float = 1.0
) -> tuple[float, float, float, float]:
    """Return how a term bends the loss beside the others, its score, and the variance and third moment of that."""
    bends = sums.weight * fitted.bends
    turned = (bends[:, None] * others).T
    left = own - others @ (_invert(turned @ others) @ (turned @ own))
    bend = float(bends @ left**2)
    if bend <= _UNKNOWN * float(bends @ own**2):
        return 0.0, 0.0, 0.0, 0.0
    plain = left**2 @ (fitted.variances * sums.weight2)
    robust = left**2 @ (stretched * sums.squares(fitted.means))
    third = left**3 @ (fitted.thirds * sums.weight3)
    return bend, float(left @ sums.residuals(fitted.means)), float(max(plain, robust)), float(third)


def _invert(gram: FloatArray) -> FloatArray:
    """Return the inverse of a symmetric matrix, of terms that follow from each other as well as can be."""
    return np.asarray(np.linalg.pinv(gram, rcond=1e-10, hermitian=True))
