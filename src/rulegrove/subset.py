"""The few terms that together come nearest to a model of many: forward steps on the Gram."""

from dataclasses import dataclass

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray

RIDGE = 0.01  # of the mean variance of a term
LEAST_GAIN = 1e-9  # of what the best single term explains: less is rounding


@dataclass(frozen=True, eq=False)
class Reference:
    r"""A model of many terms as each term sees it: what a model of few is to come near to.

    With the centred Gram ``G = X'X / N`` and the covariances ``c = X'g / N`` of the terms with what the large model
    says, its goal g, the best coefficients of a subset S leave ``|g - X_S b|^2 / N``. A little ridge ``r`` keeps
    look-alikes from being set against each other; with it a subset explains

    .. math:: E(S) = c_S' (G_{SS} + r I)^{-1} c_S

    of the goal, added up over the targets. The search is for the word of a good model, not for the target: the subset
    that is best for the target also fits its noise best, of all the many [1]_ [2]_.

    Attributes
    ----------
    gram : ndarray of shape (n_terms, n_terms)
        G, which the targets share.
    pulls : ndarray of shape (n_targets, n_terms)
        c of each target.
    signs : ndarray of shape (n_terms,), optional
        What coefficients may be, as in `Problem`; a term enters with a coefficient of its sign or not at all.
    forced : ndarray of shape (n_terms,), bool, optional
        Terms that every subset has.
    ridges : ndarray of shape (n_terms,), optional
        How much of the usual ridge each term has; all of it by default.
    first : ndarray of shape (n_terms,), bool, optional
        Terms that enter before the others, as long as they add anything.
    prices : ndarray of shape (n_terms,), optional
        What a gain of each term counts; 1 by default.
    alike : ndarray of shape (n_terms, n_terms), bool, optional
        Terms of which one alone may enter, unless they are forced.

    References
    ----------
    .. [1] Piironen, Paasiniemi, Vehtari (2020). "Projective inference in high-dimensional problems: prediction and
       feature selection". Electronic Journal of Statistics 14(1), section 3.
    .. [2] Paul, Bair, Hastie, Tibshirani (2008). "Preconditioning for feature selection and regression in
       high-dimensional problems". Annals of Statistics 36(4), section 2.

    Examples
    --------
    A column that is the sum of two others stands in for both:

    >>> import numpy as np
    >>> x, z = np.random.default_rng(0).normal(size=(2, 500))
    >>> gram = np.cov([x, z, x + z], bias=True)
    >>> reference = Reference(gram, np.array([[1.0, 0.8, 0.0]]) @ gram)
    >>> order_terms(reference, 2)
    array([2, 0])
    """

    gram: FloatArray
    pulls: FloatArray
    signs: IntArray | None = None
    forced: BoolArray | None = None
    ridges: FloatArray | None = None
    first: BoolArray | None = None
    prices: FloatArray | None = None
    alike: BoolArray | None = None

    @property
    def ridge(self) -> FloatArray:
        """The ridge r of each term."""
        factors = np.ones(len(self.gram)) if self.ridges is None else self.ridges
        return RIDGE * factors * (self.gram.diagonal().mean() if len(self.gram) else 0.0)

    def gains(self, pulls: FloatArray, spreads: FloatArray) -> FloatArray:
        """Return what terms add to E, from what is left of their pulls and variances beside the terms of the subset.

        Parameters
        ----------
        pulls : ndarray of shape (n_targets, ..., n_terms)
        spreads : ndarray of shape (..., n_terms)
            With the ridge; zero for terms that do not vary.
        """
        if self.signs is not None:
            pulls = np.where(self.signs * pulls < 0.0, 0.0, pulls)
        squares = np.einsum("t...,t...->...", pulls, pulls)
        gains = np.divide(squares, spreads, out=np.zeros_like(spreads), where=spreads > 0.0)
        return np.asarray(gains if self.prices is None else gains * self.prices)


def order_terms(reference: Reference, n_terms: int) -> IntArray:
    """Return terms in the order in which they enter a growing subset: those that are forced, then the best each time.

    Of terms that are alike one alone enters.

    The terms of the subset are made orthogonal as they enter (Gram-Schmidt, which on the Gram is a pivoted Cholesky
    factorisation), so that a step costs as much as there are terms in the subset, for each candidate.

    Exchanges of terms that have entered were tried: they come nearer to the reference on the rows at hand, and no
    nearer on others (docs/defaults.md). Without them each subset holds the shorter ones.

    Parameters
    ----------
    reference : Reference
    n_terms : int
        Most terms; there are fewer where no further one adds anything.

    Returns
    -------
    ndarray of shape (n_entered,)
    """
    gram, ridge = reference.gram, reference.ridge
    spreads, pulls = gram.diagonal() + ridge, reference.pulls.copy()
    first = [] if reference.forced is None else np.flatnonzero(reference.forced).tolist()
    entered: list[int] = []
    factor = np.empty((min(max(n_terms, len(first)), len(gram)), len(gram)))
    most = float(reference.gains(pulls, spreads).max(initial=0.0))
    barred = np.zeros(len(gram), dtype=bool)
    while len(entered) < len(factor):
        gains = reference.gains(pulls, spreads)
        gains[barred] = 0.0
        if reference.first is not None and gains[reference.first].max(initial=0.0) > LEAST_GAIN * most:
            gains[~reference.first] = 0.0
        best = int(np.argmax(gains >= (1.0 - LEAST_GAIN) * gains.max(initial=0.0)))  # equal gains differ by rounding
        term = first[len(entered)] if len(entered) < len(first) else best
        if gains[term] <= LEAST_GAIN * most and len(entered) >= len(first):
            break
        row = np.zeros(len(gram))
        if spreads[term] > LEAST_GAIN * gram[term, term]:  # a forced term without a ridge may repeat the others
            row = gram[term] - factor[: len(entered), term] @ factor[: len(entered)]
            row[term] += ridge[term]
            row /= np.sqrt(spreads[term])
            pulls -= np.outer(pulls[:, term] / np.sqrt(spreads[term]), row)
            spreads -= row**2
        factor[len(entered)] = row
        entered.append(term)
        barred[term] = True
        if reference.alike is not None:
            barred |= reference.alike[term]
    return np.array(entered, dtype=np.int64)
