"""Coefficients of a short list: those with which it comes nearest to what a large model says of each row."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import logit

from rulegrove._projection_kernels import approach
from rulegrove._typing import FloatArray, IntArray

RIDGE = 0.01  # of the variance of each term, where coefficients are log odds: draws them to zero a little
RIDGE_OF_NUMBERS = 1e-3
LEAST_PROBABILITY = 1e-4  # a probability nearer to 0 or 1 says no more, and its log odds would outweigh all others
LEAST_SURE = 0.01  # likewise where terms are chosen, by squared distances of log odds

Point = tuple[FloatArray, float]  # coefficients and intercept


@dataclass(frozen=True, eq=False)
class Listed:
    """The terms of one output of a list.

    Attributes
    ----------
    columns : ndarray of shape (n_rows, n_terms)
        The terms on the rows.
    ridges : ndarray of shape (n_terms,)
        How much of the usual ridge each term has: 1 for all of it, 0 for none.
    start : ndarray of shape (n_terms,)
        Coefficients that are near, such as those of a list with one term less.
    signs : ndarray of shape (n_terms,), optional
        1 for coefficients that may not be negative, -1 for those that may not be positive, 0 for any.
    """

    columns: FloatArray
    ridges: FloatArray
    start: FloatArray
    signs: IntArray | None = None

    def find_wrong(self, terms: IntArray, coef: FloatArray) -> int | None:
        """Return the place of the coefficient that is farthest on the wrong side, among those of some of the terms."""
        if self.signs is None or not len(terms):
            return None
        excess = -self.signs[terms] * coef * self.columns[:, terms].std(axis=0)
        worst = int(np.argmax(excess))
        return worst if excess[worst] > 0.0 else None

    def widen(self, coef: FloatArray, terms: IntArray) -> FloatArray:
        """Return coefficients of some of the terms as those of all."""
        wide = np.zeros(len(self.start))
        wide[terms] = coef
        return wide

    def take(self, terms: IntArray) -> "Listed":
        """Return some of the terms, whose signs are right."""
        return Listed(self.columns[:, terms], self.ridges[terms], self.start[terms])


class Projection(Protocol):
    """How a list is brought near to its goals: what the large model says of each row, one column for each output."""

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
        goals : ndarray of shape (n_rows, n_outputs)
        weights : ndarray of shape (n_rows,)
            They add up to one.
        """


@dataclass(frozen=True)
class OfNumbers:
    """The least squared distance from the numbers that the large model predicts.

    Examples
    --------
    >>> listed = Listed(np.array([[0.0], [1.0], [1.0]]), ridges=np.zeros(1), start=np.zeros(1))
    >>> ((coef, intercept),) = OfNumbers().solve([listed], np.array([[1.0], [2.0], [4.0]]), np.full(3, 1 / 3))
    >>> coef.round(6), round(intercept, 6)
    (array([2.]), 1.0)
    """

    def linearise(self, goals: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
        """Return the goals themselves."""
        return goals, weights

    def solve(self, outputs: Sequence[Listed], goals: FloatArray, weights: FloatArray) -> list[Point]:
        """Return coefficients and intercept of each output."""
        points = []
        for listed, goal in zip(outputs, goals.T, strict=True):
            means, centre = weights @ listed.columns, float(weights @ goal)
            centred = listed.columns - means
            curvature = (centred.T * weights) @ centred
            ridges = RIDGE_OF_NUMBERS * listed.ridges * curvature.diagonal()
            coef = _solve(curvature, ridges, centred.T @ (weights * (goal - centre)))
            points.append((coef, centre - float(means @ coef)))
        return points


@dataclass(frozen=True)
class OfProbabilities:
    """The least divergence from the probabilities that the large model gives: logistic coefficients for soft labels.

    The score of one output is the log odds of the second of two classes. Those of several are the logarithms of their
    probabilities, but for a constant that they share; Newton steps go from output to output, in sweeps.

    Examples
    --------
    >>> listed = Listed(np.array([[0.0], [1.0], [1.0]]), ridges=np.zeros(1), start=np.zeros(1))
    >>> ((coef, intercept),) = OfProbabilities().solve([listed], np.array([[0.5], [0.8], [0.6]]), np.full(3, 1 / 3))
    >>> (1 / (1 + np.exp(-intercept - listed.columns @ coef))).round(6)
    array([0.5, 0.7, 0.7])
    """

    def linearise(self, goals: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Return log odds, and weights that are larger where the probability is far from 0 and 1."""
        near = np.clip(goals, LEAST_SURE, 1.0 - LEAST_SURE)
        spreads = np.mean(near * (1.0 - near), axis=1)
        return logit(near), spreads if weights is None else weights * spreads

    def solve(self, outputs: Sequence[Listed], goals: FloatArray, weights: FloatArray) -> list[Point]:
        """Return coefficients and intercept of each output."""
        goals = np.clip(goals.T, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
        goals = np.ascontiguousarray(goals if len(outputs) == 1 else goals / goals.sum(axis=0))
        shares = goals @ weights
        odds = logit(shares) if len(outputs) == 1 else np.log(shares)
        null = np.logaddexp(0.0, odds[0]) - shares @ odds if len(outputs) == 1 else -shares @ odds
        bounds = np.cumsum([0, *(1 + len(listed.start) for listed in outputs)])
        places = list(itertools.pairwise(bounds.tolist()))
        design, ridges, coefs = np.ones((bounds[-1], len(weights))), np.zeros(bounds[-1]), np.empty(bounds[-1])
        means = [weights @ listed.columns for listed in outputs]
        for listed, centre, start, (first, last) in zip(outputs, means, odds, places, strict=True):
            terms = np.subtract(listed.columns.T, centre[:, None], out=design[first + 1 : last])
            ridges[first + 1 : last] = RIDGE * listed.ridges * (np.square(terms) @ weights)
            coefs[first], coefs[first + 1 : last] = start, listed.start
        approach(design, bounds, goals, weights.copy(), ridges, odds, float(null), coefs)
        return [
            (coefs[first + 1 : last], float(coefs[first] - centre @ coefs[first + 1 : last]))
            for centre, (first, last) in zip(means, places, strict=True)
        ]


def _solve(curvature: FloatArray, ridges: FloatArray, slope: FloatArray) -> FloatArray:
    """Solve a system that is positive definite but for rounding: terms that repeat others share their part."""
    curvature[np.diag_indices_from(curvature)] += ridges + 1e-12 * (1.0 + curvature.diagonal())
    return np.asarray(cho_solve(cho_factor(curvature, check_finite=False), slope, check_finite=False))


def project(projection: Projection, outputs: Sequence[Listed], goals: FloatArray, weights: FloatArray) -> list[Point]:
    """Solve with coefficients of given signs: the worst of a wrong sign becomes zero, and the others are found anew.

    Parameters
    ----------
    projection : Projection
    outputs, goals, weights
        As in `Projection.solve`.
    """
    kept = [np.arange(len(listed.start)) for listed in outputs]
    points = projection.solve(outputs, goals, weights)
    while True:
        wrong = [listed.find_wrong(own, coef) for listed, own, (coef, _) in zip(outputs, kept, points, strict=True)]
        if all(place is None for place in wrong):
            return [
                (listed.widen(coef, own), intercept)
                for listed, own, (coef, intercept) in zip(outputs, kept, points, strict=True)
            ]
        kept = [own if place is None else np.delete(own, place) for own, place in zip(kept, wrong, strict=True)]
        points = projection.solve([listed.take(own) for listed, own in zip(outputs, kept, strict=True)], goals, weights)
