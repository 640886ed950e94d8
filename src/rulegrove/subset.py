"""The few terms that together come nearest to a model of many: forward steps and exchanges on the Gram."""

from dataclasses import dataclass

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray

RIDGE = 0.2  # of the mean variance of a term: few rows want somewhat more, many want less
LEAST_GAIN = 1e-6  # of what the subset explains: an exchange that gains less ends the search
MAX_EXCHANGES = 100


@dataclass(frozen=True, eq=False)
class Reference:
    r"""A model of many terms as each term sees it: what a model of few is to come near to.

    With the centred Gram ``G = X'X / N`` and the coefficients ``a`` of the reference, the scores of a subset S with
    coefficients ``b`` are ``|X a - X_S b|^2 / N`` away from those of the reference. A little ridge ``r`` keeps
    look-alikes from being set against each other; with it the least distance falls short of ``a'G a`` by

    .. math:: E(S) = c_S' (G_{SS} + r I)^{-1} c_S, \qquad c = G a,

    added up over the targets. The best subset explains the most. The search is for the scores of a good model, not for
    the target: the subset that is best for the target also fits its noise best, of all the many [1]_ [2]_.

    Attributes
    ----------
    gram : ndarray of shape (n_terms, n_terms)
        G, which the targets share.
    pulls : ndarray of shape (n_targets, n_terms)
        c of each target.
    signs : ndarray of shape (n_terms,), optional
        What coefficients may be, as in `Problem`; a term enters with a coefficient of its sign or not at all.
    forced : ndarray of shape (n_terms,), bool, optional
        Terms that every subset has, as far as there is room.

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
    >>> reference = Reference.of(gram, np.array([[1.0, 0.8, 0.0]]))
    >>> find_subset(reference, 1)
    array([2])
    """

    gram: FloatArray
    pulls: FloatArray
    signs: IntArray | None = None
    forced: BoolArray | None = None

    @classmethod
    def of(
        cls, gram: FloatArray, coefs: FloatArray, signs: IntArray | None = None, forced: BoolArray | None = None
    ) -> "Reference":
        """Return the reference of a model.

        Parameters
        ----------
        gram : ndarray of shape (n_terms, n_terms)
        coefs : ndarray of shape (n_targets, n_terms)
        signs, forced
            As in `Reference`.
        """
        used = np.flatnonzero(coefs.any(axis=0))
        return cls(gram, coefs[:, used] @ gram[used], signs, forced)

    @property
    def ridge(self) -> float:
        """The ridge r."""
        return RIDGE * float(self.gram.diagonal().mean()) if len(self.gram) else 0.0

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
        return np.asarray(np.divide(squares, spreads, out=np.zeros_like(spreads), where=spreads > 0.0))


def find_subset(reference: Reference, n_terms: int) -> IntArray:
    """Return a subset that no exchange of one of its terms for another improves, in ascending order.

    Parameters
    ----------
    reference : Reference
    n_terms : int
        Most terms; there are fewer where no further one adds anything.
    """
    return np.sort(exchange_terms(reference, step_forward(reference, n_terms)))


def step_forward(reference: Reference, n_terms: int) -> IntArray:
    """Add one term after the other, each time the one that adds the most, after those that are forced.

    The terms of the subset are made orthogonal as they enter (Gram-Schmidt, which on the Gram is a pivoted Cholesky
    factorisation), so that a step costs as much as there are terms in the subset, for each candidate.

    Parameters
    ----------
    reference : Reference
    n_terms : int

    Returns
    -------
    ndarray of shape (n_entered,)
        In the order in which they enter.
    """
    gram, ridge = reference.gram, reference.ridge
    spreads, pulls = gram.diagonal() + ridge, reference.pulls.copy()
    first = [] if reference.forced is None else np.flatnonzero(reference.forced & (gram.diagonal() > 0.0)).tolist()
    entered: list[int] = []
    factor = np.empty((min(n_terms, len(gram)), len(gram)))
    while len(entered) < len(factor):
        gains = reference.gains(pulls, spreads)
        gains[entered] = 0.0
        term = first[len(entered)] if len(entered) < len(first) else int(np.argmax(gains))
        if gains[term] <= 0.0 and len(entered) >= len(first):
            break
        row = gram[term] - factor[: len(entered), term] @ factor[: len(entered)]
        row[term] += ridge
        row /= np.sqrt(spreads[term])
        pulls -= np.outer(pulls[:, term] / np.sqrt(spreads[term]), row)
        spreads -= row**2
        factor[len(entered)] = row
        entered.append(term)
    return np.array(entered, dtype=np.int64)


def exchange_terms(reference: Reference, terms: IntArray) -> IntArray:
    r"""Exchange a term of the subset for one outside while that explains more, the best exchange of all first.

    With ``P = (G_SS + r I)^-1``, ``b = P c_S``, ``H = P G_S.`` and what is left of the pulls and variances of the
    others, ``d = c - G_.S b`` and ``v``, the subset without term i explains ``b_i^2 / P_ii`` less, and with j in
    its place

    .. math:: \frac{(d_j + H_{ij} b_i / P_{ii})^2}{v_j + H_{ij}^2 / P_{ii}}

    more than that, so one product of matrices knows all exchanges.

    Parameters
    ----------
    reference : Reference
    terms : ndarray of shape (n_entered,)

    Returns
    -------
    ndarray of shape (n_entered,)

    References
    ----------
    Hazimeh, Mazumder (2020). "Fast best subset selection: coordinate descent and local combinatorial optimization
    algorithms". Operations Research 68(5), section 2.3 (swap inescapable minima).
    """
    gram, ridge, terms = reference.gram, reference.ridge, terms.copy()
    for _ in range(MAX_EXCHANGES if terms.size else 0):
        rows = gram[terms]
        inverse = np.linalg.inv(rows[:, terms] + ridge * np.eye(terms.size))
        own = inverse.diagonal()[:, None]
        coefs, shares = reference.pulls[:, terms] @ inverse, inverse @ rows
        pulls = (reference.pulls - coefs @ rows)[:, None] + coefs[:, :, None] * (shares / own)
        spreads = gram.diagonal() + ridge - np.einsum("kn,kn->n", shares, rows) + shares**2 / own
        gains = reference.gains(pulls, spreads) - np.sum(coefs**2, axis=0)[:, None] / own
        gains[:, terms] = -np.inf
        if reference.forced is not None:
            gains[reference.forced[terms]] = -np.inf
        leaves, enters = np.unravel_index(np.argmax(gains), gains.shape)
        if gains[leaves, enters] <= LEAST_GAIN * np.sum(coefs * reference.pulls[:, terms]):
            break
        terms[leaves] = enters
    return terms
