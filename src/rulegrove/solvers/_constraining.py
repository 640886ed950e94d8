r"""What coefficients must respect: signs, and terms that the penalty leaves alone.

Terms without a penalty and without a sign are solved for in closed form, as the intercept is: with them the gradient
vanishes, :math:`G_{UU} a_U = c_U - G_{UP} a_P`, and what is left is an elastic net of the others with the Gram
:math:`G_{PP} - G_{PU} G_{UU}^{-1} G_{UP}`. A sign is a side that coordinate descent does not go to.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import nnls

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.solvers._kernels import assess, elastic_net_path
from rulegrove.solvers.base import Problem

_NOISE = 1e-12  # of a variance: what is left of a term that those without a penalty explain is no more than rounding
_RIDGE = 1e-10  # over the diagonal of the Gram: an active set must not hold terms that depend on each other
_SHARES = (0.1, 1e-3, 1e-5)  # of the tolerance, one after the other, where the gap of the kernel is an estimate


@dataclass(frozen=True, eq=False)
class Limits:
    """What the coefficients of some terms must respect.

    Attributes
    ----------
    signs : ndarray of shape (n_terms,)
        Not negative (1), not positive (-1), anything (0).
    spared : ndarray of shape (n_terms,), bool
        Whether the penalty leaves the term alone.
    """

    signs: IntArray
    spared: BoolArray

    @classmethod
    def of(cls, problem: Problem) -> "Limits | None":
        """Return the limits of a problem; None if it has none."""
        signs, spared = problem.signs, problem.unpenalised
        if (signs is None or not signs.any()) and (spared is None or not spared.any()):
            return None
        n_terms = problem.n_terms
        return cls(
            np.zeros(n_terms, dtype=np.int64) if signs is None else signs,
            np.zeros(n_terms, dtype=bool) if spared is None else spared,
        )

    def take(self, terms: IntArray | BoolArray) -> "Limits":
        """Return the limits of some of the terms."""
        return Limits(self.signs[terms], self.spared[terms])

    def pulls(self, grad: FloatArray) -> FloatArray:
        """Return how hard a gradient pulls each coefficient to where it may go; negative if away from there."""
        return np.where(self.signs == 0, np.abs(grad), self.signs * grad)

    def wanted(self, grad: FloatArray, l1: float) -> BoolArray:
        """Return which terms belong in a working set: the penalty does not hold them at zero."""
        return self.spared | (self.pulls(grad) >= l1)

    def penalised(self, coefs: FloatArray) -> FloatArray:
        """Return coefficients with zeros where there is no penalty."""
        return np.where(self.spared, 0.0, coefs)

    def clip(self, coef: FloatArray) -> FloatArray:
        """Return coefficients with zeros for those of a forbidden sign."""
        return np.where(self.signs * coef < 0.0, 0.0, coef)

    def for_kernel(self, gram: FloatArray) -> FloatArray | None:
        """Return the limits as `elastic_net_path` wants them; None if they are none."""
        if not self.signs.any() and not self.spared.any():
            return None
        factors = np.where(self.spared, 0.0, 1.0)
        diagonal = gram.diagonal()
        return np.array(
            [
                np.where(self.signs < 0, np.inf, factors),
                np.where(self.signs > 0, np.inf, factors),
                np.divide(1.0, diagonal, out=np.zeros(len(diagonal)), where=diagonal > 0.0),
            ]
        )


@dataclass(frozen=True, eq=False)
class Profile:
    """A least squares problem with some terms solved for in closed form.

    Attributes
    ----------
    left : ndarray of shape (n_left,)
        Positions of the other terms.
    solved : ndarray of shape (n_solved,)
        Positions of these.
    gram : ndarray of shape (n_left, n_left)
    x_y : ndarray of shape (n_left,)
    y_y : float
    base : ndarray of shape (n_solved,)
        Their coefficients without the other terms.
    slopes : ndarray of shape (n_solved, n_left)
        By how much they fall with the coefficient of each other term.
    """

    left: IntArray
    solved: IntArray
    gram: FloatArray
    x_y: FloatArray
    y_y: float
    base: FloatArray
    slopes: FloatArray

    @classmethod
    def out(cls, gram: FloatArray, x_y: FloatArray, y_y: float, mask: BoolArray) -> "Profile":
        """Solve for the terms of a mask; where they depend on each other they share what they explain."""
        left, solved = np.flatnonzero(~mask), np.flatnonzero(mask)
        _, inverse = _roots(gram[np.ix_(solved, solved)])
        inner, cross = gram[np.ix_(left, left)], inverse @ gram[np.ix_(solved, left)]
        target = inverse @ x_y[solved]
        rest = inner - cross.T @ cross
        explained = rest.diagonal() <= _NOISE * inner.diagonal()
        rest[explained, :] = 0.0
        rest[:, explained] = 0.0
        pulls = np.where(explained, 0.0, x_y[left] - cross.T @ target)
        unexplained = max(y_y - float(target @ target), 0.0)
        return cls(left, solved, rest, pulls, unexplained, inverse.T @ target, inverse.T @ cross)

    def expand(self, coefs: FloatArray) -> FloatArray:
        """Return coefficients of all terms from those of the others, an ndarray of shape (..., n_terms)."""
        whole = np.zeros((*coefs.shape[:-1], len(self.left) + len(self.solved)))
        whole[..., self.left] = coefs
        whole[..., self.solved] = self.base - coefs @ self.slopes.T
        return whole


def _roots(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return R with R'R = gram, and Q with Q'Q an inverse of it, as far as there is one, and Q gram = R."""
    scales = np.sqrt(gram.diagonal())
    scales[scales == 0.0] = 1.0
    values, vectors = eigh(gram / np.outer(scales, scales))
    solid = values > _NOISE * values.max(initial=0.0)
    lengths, basis = np.sqrt(values[solid])[:, None], vectors[:, solid].T
    return lengths * basis * scales, basis / lengths / scales


def solve_bounded(gram: FloatArray, x_y: FloatArray, signs: IntArray) -> FloatArray:
    """Minimise ``a'gram a / 2 - x_y'a`` where coefficients have the given signs (0: any), by an active set.

    The gradient ``x_y - gram a`` is then zero for a free coefficient and pulls none to where it may go.

    Examples
    --------
    >>> import numpy as np
    >>> solve_bounded(np.eye(3), np.array([1.0, -1.0, -2.0]), np.array([1, 1, 0]))
    array([ 1.,  0., -2.])
    """
    profile = Profile.out(gram, x_y, 0.0, signs == 0)
    coefs = np.zeros(len(profile.left))
    varying = np.flatnonzero(profile.gram.diagonal())  # a root of the others is rounding, which must not be fitted
    if varying.size:
        own = signs[profile.left[varying]].astype(np.float64)
        inner = profile.gram[np.ix_(varying, varying)]
        root, inverse = _roots(inner + np.diag(_RIDGE * inner.diagonal()))
        coefs[varying] = own * nnls(root * own, inverse @ profile.x_y[varying])[0]
    return profile.expand(coefs)


def settle(gram: FloatArray, x_y: FloatArray, coef: FloatArray, limits: Limits) -> FloatArray:
    """Return coefficients whose gradients pull no term without a penalty to where it may go; the others stay.

    These are not the best such coefficients: what is added to those at hand has the right signs.
    """
    terms = np.flatnonzero(limits.spared)
    if not len(terms):
        return coef
    grad = x_y[terms] - gram[terms] @ coef
    settled = coef.copy()
    settled[terms] += solve_bounded(gram[np.ix_(terms, terms)], grad, limits.signs[terms])
    return settled


def settle_null(problem: Problem) -> FloatArray | None:
    """Return the coefficients of the model without penalised terms; None if all are penalised."""
    limits = Limits.of(problem)
    if limits is None or not limits.spared.any():
        return None
    return settle(problem.gram, problem.x_y, np.zeros(problem.n_terms), limits)


def largest_pull(problem: Problem) -> float:
    """Return how hard the gradient pulls any penalised term where it may go, once the others are fitted."""
    limits = Limits.of(problem)
    if limits is None:
        return float(np.abs(problem.x_y).max(initial=0.0))
    grad = problem.x_y - problem.gram @ settle(problem.gram, problem.x_y, np.zeros(problem.n_terms), limits)
    noise = _NOISE * np.sqrt(problem.gram.diagonal() * problem.y_y)
    return float(np.where(limits.spared | (np.abs(grad) <= noise), 0.0, limits.pulls(grad)).max(initial=0.0))


def limited_net_path(
    gram: FloatArray,
    x_y: FloatArray,
    y_y: float,
    penalties: FloatArray,
    l1_ratio: float,
    tol: float,
    max_iter: int,
    start: FloatArray,
    limits: Limits,
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Follow the elastic net as `elastic_net_path` does, with limits.

    Of terms with a sign and no penalty the kernel knows the gap by estimate only. Such paths are certified here, and
    followed once more to a tighter tolerance if one point did not reach its own.
    """
    solved = limits.spared & (limits.signs == 0)
    if solved.any():
        profile = Profile.out(gram, x_y, y_y, solved)
        left = profile.left
        pulls = profile.x_y if profile.y_y > _NOISE * y_y else np.zeros(len(left))  # noise, of an explained target
        coefs, objectives, gaps, iterations = limited_net_path(
            np.ascontiguousarray(profile.gram), pulls, profile.y_y, penalties, l1_ratio, tol, max_iter, start[left],
            limits.take(left),
        )  # fmt: skip
        return profile.expand(coefs), objectives, gaps, iterations
    factors = limits.for_kernel(gram)
    if not limits.spared.any():
        return elastic_net_path(gram, x_y, y_y, penalties, l1_ratio, tol, max_iter, start, factors)
    for share in _SHARES:
        coefs, objectives, gaps, iterations = elastic_net_path(
            gram, x_y, y_y, penalties, l1_ratio, share * tol, max_iter, start, factors
        )
        for point, (coef, penalty) in enumerate(zip(coefs, penalties, strict=True)):
            at = settle(gram, x_y, coef, limits)
            l1, l2 = penalty * l1_ratio, penalty * (1.0 - l1_ratio)
            primal, gap = assess(at, x_y - gram @ at, x_y, len(at), y_y, l1, l2, factors)
            gaps[point] = objectives[point] - (primal - gap)
        if (gaps <= tol).all():
            break
    return coefs, objectives, gaps, iterations
