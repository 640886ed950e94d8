"""Votes of a path of rules: which have the largest coefficients, and what they say about the attributes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import FloatArray
from rulegrove.rules.rule import Rule
from rulegrove.solvers import Solver
from rulegrove.solvers.base import Problem


@dataclass(frozen=True, slots=True)
class VotedRule:
    """A rule with one of the largest coefficients in a repetition.

    Attributes
    ----------
    rule : Rule
    text : str
        The rule in words.
    repetition : int
        From 0.
    votes : int
        Number of penalties at which it was among the largest.
    """

    rule: Rule
    text: str
    repetition: int
    votes: int

    __repr__ = short_repr


def follow_points(solver: Solver, problem: Problem, n_points: int) -> FloatArray:
    """Return the coefficients at so many points of the path, evenly spread over it but for the empty first one."""
    grid = solver.grid(problem)
    places = np.unique(np.linspace(0, grid.size - 1, n_points + 1).round().astype(np.int64)[1:])
    return solver.path(problem, grid[places]).coefs


def share_matrix(rules: Sequence[Rule], n_features: int) -> FloatArray:
    """Return how each rule's importance is shared among the attributes, ndarray of shape (n_rules, n_features)."""
    shares = np.zeros((len(rules), n_features))
    for place, rule in enumerate(rules):
        shares[place, list(rule.features)] = 1.0 / len(rule.features)
    return shares


def mean_shares(coefs: Sequence[FloatArray], spreads: Sequence[FloatArray], shares: FloatArray) -> FloatArray:
    """Return the attributes' shares of the importance, the mean over the points that have terms, outputs added up."""
    n_points = min(len(own) for own in coefs)
    by_point = sum((np.abs(own[:n_points]) * spread) @ shares for own, spread in zip(coefs, spreads, strict=True))
    total = np.asarray(by_point).sum(axis=1, keepdims=True)
    filled = total[:, 0] > 0
    return np.asarray((by_point / np.where(total > 0, total, 1.0))[filled].sum(axis=0) / max(filled.sum(), 1))


def count_top(coefs: Sequence[FloatArray], n_top: int) -> Counter[int]:
    """Count the points at which each rule has one of the largest coefficients, of any output."""
    counts: Counter[int] = Counter()
    for point in zip(*coefs, strict=False):
        top = {int(k) for own in point for k in np.argsort(-np.abs(own), kind="stable")[:n_top] if own[k] != 0.0}
        counts.update(top)
    return counts
