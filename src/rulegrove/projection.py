"""Coefficients of a short list: those with which it comes nearest to what a large model says of each row."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky
from scipy.special import logit

from rulegrove._likelihood_kernels import minimise
from rulegrove._typing import FloatArray, IntArray, Words
from rulegrove.likelihoods import Likelihood, OfRates, OfShares

RIDGE = 0.01  # of the variance of each term, where coefficients are log odds: draws them to zero a little
RIDGE_OF_NUMBERS = 1e-3
LEAST_PROBABILITY = 1e-4  # a probability nearer to 0 or 1 says no more, and its log odds would outweigh all others
LEAST_RATE = 0.01  # likewise of rates, in units of their mean; as many times the mean is the most
LEVEL = 0.8  # of a weight of rows to the next larger one, where terms are chosen: 15 of them
LEAST_SURE = 0.01  # likewise where terms are chosen, by squared distances of log odds
BEND = 0.25  # curvature to begin with, the most that a row can have: no step leads too far, and later ones are longer
SOLVED_ROWS = 8192  # rows at most that coefficients are solved for on; their terms are found on all
SETTLED = 1e-4  # of the divergence of the model without terms: a step that promises less is not taken

Point = tuple[FloatArray, float]  # coefficients and intercept


@dataclass(frozen=True, eq=False)
class Listed:
    """The terms of one output of a list, rules before lines.

    Attributes
    ----------
    rules : ndarray of shape (n_rules, n_words), uint64
        Bits of the rows on which each rule holds.
    lines : ndarray of shape (n_lines, 64 * n_words)
        Linear terms on the rows.
    means, spreads : ndarray of shape (n_terms,)
        Weighted mean and variance of each term.
    gram : ndarray of shape (n_terms, n_terms)
        Covariances of the terms under the weights of `Projection.linearise`.
    pulls : ndarray of shape (n_terms,)
        Covariances with its responses.
    ridges : ndarray of shape (n_terms,)
        How much of the usual ridge each term has: 1 for all of it, 0 for none.
    start : ndarray of shape (n_terms,)
        Coefficients that are near, such as those of a list with one term less.
    level : float, optional
        Mean score of the same list, if there is one.
    signs : ndarray of shape (n_terms,), optional
        1 for coefficients that may not be negative, -1 for those that may not be positive, 0 for any.
    """

    rules: Words
    lines: FloatArray
    means: FloatArray
    spreads: FloatArray
    gram: FloatArray
    pulls: FloatArray
    ridges: FloatArray
    start: FloatArray
    level: float | None = None
    signs: IntArray | None = None

    def find_wrong(self, coef: FloatArray) -> int | None:
        """Return the place of the coefficient that is farthest on the wrong side."""
        if self.signs is None or not len(coef):
            return None
        excess = -self.signs * coef * np.sqrt(self.spreads)
        worst = int(np.argmax(excess))
        return worst if excess[worst] > 0.0 else None

    def take(self, terms: IntArray) -> "Listed":
        """Return some of the terms, given in ascending order."""
        rules, lines = terms[terms < len(self.rules)], terms[terms >= len(self.rules)] - len(self.rules)
        return Listed(
            self.rules[rules],
            self.lines[lines],
            self.means[terms],
            self.spreads[terms],
            self.gram[np.ix_(terms, terms)],
            self.pulls[terms],
            self.ridges[terms],
            self.start[terms],
            self.level,
            None if self.signs is None else self.signs[terms],
        )


class Projection(Protocol):
    """How a list is brought near to its goals: what the large model says of each row, one column for each output."""

    @property
    def most_rows(self) -> int | None:
        """How many rows coefficients are solved for on at most; None where sums over rows suffice."""

    def linearise(self, goals: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
        """Return scores and weights whose squared distance stands for the distance from goals near by.

        Parameters
        ----------
        goals : ndarray of shape (n_rows, n_outputs)
        weights : ndarray of shape (n_rows,), optional
        """

    def solve(self, outputs: Sequence[Listed], goals: FloatArray, weights: FloatArray) -> list[Point]:
        """Return coefficients and intercept of each output.

        Parameters
        ----------
        outputs : sequence of Listed
        goals : ndarray of shape (n_outputs, 64 * n_words)
        weights : ndarray of shape (64 * n_words,)
            They add up to one; rows beyond the last one have none.
        """


@dataclass(frozen=True)
class OfNumbers:
    """The least squared distance from the numbers that the large model predicts; covariances suffice for it."""

    @property
    def most_rows(self) -> int | None:
        """All rows: they have been summed up anyway."""
        return None

    def linearise(self, goals: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
        """Return the goals themselves."""
        return goals, weights

    def solve(self, outputs: Sequence[Listed], goals: FloatArray, weights: FloatArray) -> list[Point]:
        """Return coefficients and intercept of each output."""
        points = []
        for listed, goal in zip(outputs, goals, strict=True):
            curvature = listed.gram.copy()
            ridges = RIDGE_OF_NUMBERS * listed.ridges * listed.spreads + 1e-12 * (1.0 + curvature.diagonal())
            curvature[np.diag_indices_from(curvature)] += ridges  # terms that repeat others share their part
            coef = cho_solve(cho_factor(curvature, check_finite=False), listed.pulls, check_finite=False)
            points.append((coef, float(weights @ goal - listed.means @ coef)))
        return points


class _OfLikelihood(ABC):
    """The least loss where what the large model says stands for the target, which it does without noise."""

    @property
    def most_rows(self) -> int | None:
        """Rows enough, for what a large model says has no noise."""
        return SOLVED_ROWS

    @property
    @abstractmethod
    def likelihood(self) -> Likelihood:
        """The loss."""

    @abstractmethod
    def keep_near(self, goals: FloatArray) -> FloatArray:
        """Return goals, of shape (n_outputs, n_rows), that no score has to be very large for."""

    def solve(self, outputs: Sequence[Listed], goals: FloatArray, weights: FloatArray) -> list[Point]:
        """Return coefficients and intercept of each output."""
        goals, likelihood = self.keep_near(goals), self.likelihood
        found = likelihood.find_levels(goals, weights)
        ridges = [RIDGE * listed.ridges * listed.spreads for listed in outputs]
        levels = [own if listed.level is None else listed.level for own, listed in zip(found, outputs, strict=True)]
        state = np.concatenate([np.append(own, listed.start) for own, listed in zip(levels, outputs, strict=True)])
        minimise(
            np.concatenate([listed.rules for listed in outputs]),
            np.concatenate([listed.lines for listed in outputs]),
            np.cumsum([0, *(len(listed.rules) for listed in outputs)]),
            np.cumsum([0, *(len(listed.lines) for listed in outputs)]),
            np.concatenate([np.append(0.0, listed.means) for listed in outputs]),
            np.concatenate([np.append(0.0, own) for own in ridges]),
            likelihood.kind,
            likelihood.find_shape(len(outputs)),
            np.ascontiguousarray(goals),
            weights,
            np.concatenate([_factor(listed, own) for listed, own in zip(outputs, ridges, strict=True)]),
            np.full(len(outputs), BEND),
            SETTLED * abs(likelihood.null_loss(goals, weights)),
            state,
            np.empty(goals.shape),
        )
        bounds = itertools.pairwise(np.cumsum([0, *(1 + len(listed.start) for listed in outputs)]).tolist())
        return [
            (state[first + 1 : last], float(state[first] - listed.means @ state[first + 1 : last]))
            for listed, (first, last) in zip(outputs, bounds, strict=True)
        ]


def _round_levels(spreads: FloatArray) -> FloatArray:
    """Return weights of few levels, whose pairs of rules are counted and not multiplied, where rows are many."""
    if len(spreads) <= SOLVED_ROWS:
        return spreads
    return np.asarray(BEND * LEVEL ** np.rint(np.log(spreads / BEND) / np.log(LEVEL)))


@dataclass(frozen=True)
class OfProbabilities(_OfLikelihood):
    """The least divergence from the probabilities that the large model gives: logistic coefficients for soft labels.

    The score of one output is the log odds of the second of two classes. Those of several are the logarithms of their
    probabilities, but for a constant that they share.
    """

    @property
    def likelihood(self) -> Likelihood:
        """The log loss."""
        return OfShares()

    def linearise(self, goals: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Return log odds, and weights that are larger where the probability is far from 0 and 1."""
        near = np.clip(goals, LEAST_SURE, 1.0 - LEAST_SURE)
        spreads = _round_levels(np.mean(near * (1.0 - near), axis=1))
        return logit(near), spreads if weights is None else weights * spreads

    def keep_near(self, goals: FloatArray) -> FloatArray:
        """Return probabilities that are not certain."""
        goals = np.clip(goals, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
        return goals if len(goals) == 1 else np.asarray(goals / goals.sum(axis=0))


@dataclass(frozen=True)
class OfMeans(_OfLikelihood):
    """The least divergence from the rates that the large model gives, in units of the mean rate of all rows.

    Where a rule holds the list then says as much in all as the large model does.

    Attributes
    ----------
    power : float
        As in `rulegrove.likelihoods.OfRates`.
    """

    power: float

    @property
    def likelihood(self) -> Likelihood:
        """Tweedie's loss."""
        return OfRates(self.power)

    def linearise(self, goals: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Return logarithms of rates, and weights that are larger where the rates are, but of amounts."""
        near = np.clip(goals, LEAST_RATE, 1.0 / LEAST_RATE)
        spreads = _round_levels(np.mean(near, axis=1) ** (2.0 - self.power))
        return np.log(near), spreads if weights is None else weights * spreads

    def keep_near(self, goals: FloatArray) -> FloatArray:
        """Return rates that are not next to nothing."""
        return np.clip(goals, LEAST_RATE, 1.0 / LEAST_RATE)


def _factor(listed: Listed, ridges: FloatArray) -> FloatArray:
    """Return the upper Cholesky factor of an output's curvature to begin with, row by row."""
    curvature = BEND * listed.gram
    curvature[np.diag_indices_from(curvature)] += ridges + 1e-12 + 1e-9 * curvature.diagonal()
    return np.asarray(cholesky(curvature, check_finite=False).ravel())


def project(projection: Projection, outputs: Sequence[Listed], goals: FloatArray, weights: FloatArray) -> list[Point]:
    """Solve with coefficients of given signs: the worst of a wrong sign becomes zero, and the others are found anew.

    Parameters
    ----------
    projection : Projection
    outputs, goals, weights
        As in `Projection.solve`.
    """
    kept, left = [np.arange(len(listed.start)) for listed in outputs], list(outputs)
    points = projection.solve(left, goals, weights)
    while True:
        wrong = [listed.find_wrong(coef) for listed, (coef, _) in zip(left, points, strict=True)]
        if all(place is None for place in wrong):
            return [
                (_widen(coef, own, len(listed.start)), intercept)
                for listed, own, (coef, intercept) in zip(outputs, kept, points, strict=True)
            ]
        kept = [own if place is None else np.delete(own, place) for own, place in zip(kept, wrong, strict=True)]
        left = [listed.take(own) for listed, own in zip(outputs, kept, strict=True)]
        points = projection.solve(left, goals, weights)


def _widen(coef: FloatArray, terms: IntArray, n_terms: int) -> FloatArray:
    """Return coefficients of some terms as those of all."""
    wide = np.zeros(n_terms)
    wide[terms] = coef
    return wide
