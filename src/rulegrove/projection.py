"""Coefficients of a short list: those with which it comes nearest to what a large model says of each row."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import logit

from rulegrove._projection_kernels import approach
from rulegrove._typing import BoolArray, FloatArray, IntArray

RIDGE = 0.01  # of the variance of each term, where coefficients are log odds
RIDGE_OF_NUMBERS = 1e-3
LEAST_PROBABILITY = 1e-4  # a probability nearer to 0 or 1 says no more, and its log odds would outweigh all others

Point = tuple[FloatArray, float]  # coefficients and intercept


@dataclass(frozen=True, eq=False)
class Listed:
    """The terms of one output of a list.

    Attributes
    ----------
    columns : ndarray of shape (n_rows, n_terms)
        The terms on the rows.
    free : ndarray of shape (n_terms,), bool
        Terms without a ridge.
    start : ndarray of shape (n_terms,)
        Coefficients that are near, such as those of a list with one term less.
    signs : ndarray of shape (n_terms,), optional
        1 for coefficients that may not be negative, -1 for those that may not be positive, 0 for any.
    """

    columns: FloatArray
    free: BoolArray
    start: FloatArray
    signs: IntArray | None = None

    def has_signs(self, terms: IntArray, coef: FloatArray) -> BoolArray:
        """Return which coefficients of some of the terms have the right sign."""
        return np.ones(len(coef), dtype=bool) if self.signs is None else self.signs[terms] * coef >= 0.0

    def widen(self, coef: FloatArray, terms: IntArray) -> FloatArray:
        """Return coefficients of some of the terms as those of all."""
        wide = np.zeros(len(self.start))
        wide[terms] = coef
        return wide

    def take(self, terms: IntArray) -> "Listed":
        """Return some of the terms, whose signs are right."""
        return Listed(self.columns[:, terms], self.free[terms], self.start[terms])


class Projection(Protocol):
    """How a list is brought near to its goals: what the large model says of each row, one column for each output."""

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
    >>> listed = Listed(np.array([[0.0], [1.0], [1.0]]), free=np.array([True]), start=np.zeros(1))
    >>> ((coef, intercept),) = OfNumbers().solve([listed], np.array([[1.0], [2.0], [4.0]]), np.full(3, 1 / 3))
    >>> coef.round(6), round(intercept, 6)
    (array([2.]), 1.0)
    """

    def solve(self, outputs: Sequence[Listed], goals: FloatArray, weights: FloatArray) -> list[Point]:
        """Return coefficients and intercept of each output."""
        points = []
        for listed, goal in zip(outputs, goals.T, strict=True):
            means, centre = weights @ listed.columns, float(weights @ goal)
            centred = listed.columns - means
            curvature = (centred.T * weights) @ centred
            ridges = _ridges(curvature.diagonal(), listed.free, RIDGE_OF_NUMBERS)
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
    >>> listed = Listed(np.array([[0.0], [1.0], [1.0]]), free=np.array([True]), start=np.zeros(1))
    >>> ((coef, intercept),) = OfProbabilities().solve([listed], np.array([[0.5], [0.8], [0.6]]), np.full(3, 1 / 3))
    >>> (1 / (1 + np.exp(-intercept - listed.columns @ coef))).round(6)
    array([0.5, 0.7, 0.7])
    """

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
            ridges[first + 1 : last] = _ridges(np.square(terms) @ weights, listed.free, RIDGE)
            coefs[first], coefs[first + 1 : last] = start, listed.start
        approach(design, bounds, goals, weights.copy(), ridges, odds, float(null), coefs)
        return [
            (coefs[first + 1 : last], float(coefs[first] - centre @ coefs[first + 1 : last]))
            for centre, (first, last) in zip(means, places, strict=True)
        ]


def _ridges(variances: FloatArray, free: BoolArray, ridge: float) -> FloatArray:
    """Return what is added to the curvature of each term, so that coefficients are drawn to zero a little."""
    return np.where(free, 0.0, ridge) * variances


def _solve(curvature: FloatArray, ridges: FloatArray, slope: FloatArray) -> FloatArray:
    """Solve a system that is positive definite but for rounding: terms that repeat others share their part."""
    curvature[np.diag_indices_from(curvature)] += ridges + 1e-12 * (1.0 + curvature.diagonal())
    return np.asarray(cho_solve(cho_factor(curvature, check_finite=False), slope, check_finite=False))


def project(projection: Projection, outputs: Sequence[Listed], goals: FloatArray, weights: FloatArray) -> list[Point]:
    """Solve with coefficients of given signs: one of the wrong sign becomes zero, and the others are found anew.

    Parameters
    ----------
    projection : Projection
    outputs, goals, weights
        As in `Projection.solve`.
    """
    kept = [np.arange(len(listed.start)) for listed in outputs]
    points = projection.solve(outputs, goals, weights)
    while True:
        right = [listed.has_signs(own, coef) for listed, own, (coef, _) in zip(outputs, kept, points, strict=True)]
        if all(one.all() for one in right):
            return [
                (listed.widen(coef, own), intercept)
                for listed, own, (coef, intercept) in zip(outputs, kept, points, strict=True)
            ]
        kept = [own[one] for own, one in zip(kept, right, strict=True)]
        points = projection.solve([listed.take(own) for listed, own in zip(outputs, kept, strict=True)], goals, weights)
