"""Where a session stands: a frozen record, so that to undo is to take an earlier one."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rulegrove._threads import one_blas_thread
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.columns import Feature
from rulegrove.design.terms import Term
from rulegrove.editing.counting import Counts
from rulegrove.editing.solving import Layout, solve
from rulegrove.estimators._constraints import Constraints
from rulegrove.refit import RIDGES, WEAKEST

STRONGEST = 0.1  # ridge that is looked at


@dataclass(frozen=True, eq=False)
class Listed:
    """A term of the list.

    Attributes
    ----------
    term : Rule or Linear
    coefs : ndarray of shape (n_outputs,)
        Its weights in the units of the user; 0 of a rule that is new.
    free : ndarray of shape (n_outputs,), bool
        Of which outputs it has a weight.
    fixed : ndarray of shape (n_outputs,)
        Weights that somebody has fixed; NaN elsewhere.
    """

    term: Term
    coefs: FloatArray
    free: BoolArray
    fixed: FloatArray


@dataclass(frozen=True, eq=False)
class State:
    """A list in a session.

    Attributes
    ----------
    features : tuple of Feature
    terms : mapping of int to Listed
        By the numbers that people know them by.
    intercepts : ndarray of shape (n_outputs,)
    next_number : int
        Of the next rule that is added.
    forbidden : frozenset of int
        Attributes that no rule may speak of.
    directions : ndarray of shape (n_features,)
        As `Constraints.monotonic`.
    counts : Counts, optional
        The rows, if there are any.
    ridge : float
    solved : ndarray of shape (1 + n_folds, n_outputs, 1 + n_terms), optional
        Weights given the terms, intercepts first, as they are solved for: of all rows, and without each fold.
    """

    features: tuple[Feature, ...]
    terms: Mapping[int, Listed]
    intercepts: FloatArray
    next_number: int
    forbidden: frozenset[int]
    directions: IntArray
    counts: Counts | None = None
    ridge: float = 0.0
    solved: FloatArray | None = None

    @property
    def constraints(self) -> Constraints:
        """What directions of attributes ask of weights."""
        return Constraints(self.directions if self.directions.any() else None)

    @property
    def n_outputs(self) -> int:
        """Scores of a row."""
        return len(self.intercepts)

    @cached_property
    def values(self) -> FloatArray:
        """The terms on the lines, after a one for the intercept."""
        assert self.counts is not None
        return self.counts.take([own.term for own in self.terms.values()])

    def view(self, counts: Counts) -> FloatArray:
        """Return the same on the lines of a later state."""
        return counts.take([own.term for own in self.terms.values()])

    @cached_property
    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Weighted mean and variance of each term on the rows."""
        assert self.counts is not None
        weights, _ = self.counts.weigh()
        means = weights @ self.values[:, 1:] / weights.sum()
        return means, weights @ (self.values[:, 1:] - means) ** 2 / weights.sum()

    @cached_property
    def layout(self) -> Layout:
        """What is solved for, with ridges of 1."""
        own = list(self.terms.values())
        free = [term.free & np.isnan(term.fixed) for term in own]
        signs = np.array([0, *(self.constraints.sign(term.term) or 0 for term in own)])
        variances = self.moments[1]
        return Layout(
            self.values,
            np.append(0.0, np.where(variances > 0.0, variances, 1.0)),
            np.column_stack([np.ones(self.n_outputs, dtype=bool), *free]),
            np.where(signs > 0, 0.0, -np.inf),
            np.where(signs < 0, 0.0, np.inf),
        )

    def solve(self, ridge: float, before: "State | None" = None) -> "State":
        """Return the list with its weights solved for on the rows, all of them and without each fold.

        Parameters
        ----------
        ridge : float
        before : State, optional
            One with weights that are near.
        """
        assert self.counts is not None
        rows, layout = self.counts.rows, self.layout.scale(ridge)
        starts = self._start(before)
        solved: list[FloatArray] = []
        with one_blas_thread():  # the matrices are small
            for part, fold in enumerate([None, *range(rows.n_folds)]):
                weights, goals = self.counts.weigh(fold)
                if part < len(starts):
                    start = starts[part]
                elif solved:
                    start = solved[0]
                else:
                    start = self._begin()
                    start[:, 0] = rows.family.find_level(weights @ goals / weights.sum())
                solved.append(solve(rows.family, layout, weights, goals, start))
        own = rows.give_back(solved[0])
        terms = {
            number: replace(term, coefs=np.where(np.isnan(term.fixed), coefs, term.fixed))
            for (number, term), coefs in zip(self.terms.items(), own.T[1:], strict=True)
        }
        return replace(self, terms=terms, intercepts=own[:, 0], ridge=ridge, solved=np.array(solved))

    def _begin(self) -> FloatArray:
        """Return weights of zero, but for those that are fixed."""
        assert self.counts is not None
        fixed = [np.nan_to_num(term.fixed) for term in self.terms.values()]
        return np.column_stack([np.zeros(self.n_outputs), *map(self.counts.rows.take_over, fixed)])

    def _start(self, before: "State | None") -> FloatArray:
        """Return the weights of another list, as far as it has the terms; none if it has no weights."""
        if before is None or before.solved is None:
            return np.empty((0, self.n_outputs, 1 + len(self.terms)))
        starts = np.repeat(self._begin()[None], len(before.solved), axis=0)
        starts[:, :, 0] = before.solved[:, :, 0]
        places = {number: place for place, number in enumerate(before.terms, start=1)}
        for place, (number, term) in enumerate(self.terms.items(), start=1):
            if number in places:
                known = before.solved[:, :, places[number]]
                starts[:, :, place] = np.where(np.isnan(term.fixed), known * term.free, starts[:, :, place])
        return starts

    def choose_ridge(self) -> "State":
        """Return the list solved for with the ridge of the least loss on the rows that each fold holds out."""
        assert self.counts is not None
        rows = self.counts.rows
        allowed = [own for own in RIDGES if WEAKEST / rows.n_rows <= own <= STRONGEST] or [STRONGEST]
        found = list(itertools.accumulate(allowed, lambda before, own: self.solve(own, before), initial=self))[1:]
        return min(found, key=State._judge)

    def _judge(self) -> float:
        """Return the loss on the rows that each fold holds out."""
        assert self.counts is not None
        assert self.solved is not None
        family, loss = self.counts.rows.family, 0.0
        for fold, coefs in enumerate(self.solved[1:]):
            weights, goals = family.weigh(self.counts.sums[:, fold])
            loss += float(weights @ family.lose(self.values @ coefs.T, goals))
        return loss
