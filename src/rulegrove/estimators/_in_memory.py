"""A table in memory, small or large, as the source of a fit."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rulegrove._progress import Progress
from rulegrove._typing import IntArray
from rulegrove._validation import check_groups, check_offset, check_weights, count_threads
from rulegrove.columns import Columns, as_table, count_rows, learn_columns
from rulegrove.design.statistics import Margins
from rulegrove.estimators import autos
from rulegrove.estimators._design import Counted, Request, count_requests
from rulegrove.estimators._sampling import (
    Chance,
    Folds,
    GivenFolds,
    HashFolds,
    Measure,
    RowCode,
    S,
    Sampled,
    Size,
    TargetCode,
    TargetSummary,
    draw_positions,
)
from rulegrove.estimators._training import TrainingData, assign_folds
from rulegrove.estimators.settings import Settings
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError


class TableInMemory:
    """A table, its target and its weights as a `Source`.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        Or what else `Target.check` takes.
    sample_weight : array-like of shape (n_rows,), optional
    groups : array-like of shape (n_rows,), optional
        Rows that are held out together.
    target : Target
    settings : Settings
    exposure, offset : array-like of shape (n_rows,), optional
        As in `BaseRuleEnsemble.fit`.
    whole : bool, default=False
        Whether to take all rows however many they are; otherwise rows of a large table are drawn.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        target: Target,
        settings: Settings,
        exposure: Any = None,
        offset: Any = None,
        whole: bool = False,
    ):
        self.beside = exposure, offset
        self.given = X, y, sample_weight, groups
        self.target, self.settings, self.whole = target, settings, whole

    def sample(self, chance: Chance, size: Size) -> Sampled:
        """Return all rows of a small table, or of a large one those whose random numbers are the smallest."""
        X, y, sample_weight, groups = self.given
        if y is None:
            raise InvalidInputError("A fit requires y to be passed, but the target y is None.")
        self.table = as_table(X)
        n_rows = count_rows(self.table)
        self.is_whole = self.whole or n_rows <= autos.POOL_ROWS
        if self.is_whole:
            self.columns = learn_columns(self.table, self.settings.reading)
        self.weights = check_weights(sample_weight, n_rows)
        self.y: Any = self.target.check(y, n_rows)
        offset = check_offset(*self.beside, n_rows, log_link=self.target.log_link)
        if offset is not None:
            self.y, self.weights = self.target.take_offset(self.y, self.weights, offset)
        spells, self.split_by = None, self.y
        if self.target.timed:
            self.split_by = self.y.event
            drawn = None if self.is_whole else self._draw(chance, size)[0]
            self.y, self.weights, spells = self.target.expose(self.y, self.weights, drawn)
        self.groups = check_groups(groups, n_rows)
        summary = TargetSummary.of(self.y, self.weights, values=self.target.values)
        if self.is_whole:
            return Sampled(self.table, self.columns, self.y, self.weights, np.arange(n_rows), None, summary, spells)
        positions, ranks = self._draw(chance, size)
        self.columns = learn_columns(self.table, self.settings.reading, rows=positions)
        return Sampled(
            table=self.table,
            columns=Columns(self.columns.features, list(self.columns.take(positions)), names=self.columns.names),
            y=self.y[positions],
            weights=None if self.weights is None else self.weights[positions],
            positions=positions,
            ranks=ranks,
            summary=summary,
            spells=None if spells is None else spells.take(positions),
        )

    def _draw(self, chance: Chance, size: Size) -> tuple[IntArray, IntArray]:
        """Return the positions of the rows that count whose random numbers are the smallest, and their ranks."""
        counted = np.arange(len(self.y)) if self.weights is None else np.flatnonzero(self.weights > 0)
        return draw_positions(chance.sample_seed, counted, size(counted.size))

    def deal(self, cv: Any, code: TargetCode, chance: Chance) -> Folds:
        """Deal all rows out to folds: evenly, by whole groups, as a splitter does, or many rows by chance."""
        if not self.is_whole and isinstance(cv, (int, np.integer)) and self.groups is None:
            return HashFolds(chance.fold_seed, int(cv))
        encoded = code.read(self.y, self.weights)
        data = TrainingData.of(self.columns, encoded)
        rng = chance.folds if self.is_whole else np.random.default_rng(chance.fold_seed)
        folds, n_folds = assign_folds(cv, data, encoded.codes, self.table, self.split_by, rng, self.groups)
        return GivenFolds(folds, n_folds)

    def count(self, requests: Sequence[Request], code: RowCode, progress: Progress) -> Iterator[Counted | Margins]:
        """Count candidates over all rows."""
        rows = np.arange(len(self.y))
        values, weights, folds = code.read(self.y, self.weights, rows)
        data = TrainingData(self.columns, values, np.zeros(code.target.n_outputs), weights, rows)
        return count_requests(data, requests, folds, count_threads(self.settings.n_jobs), progress)

    def judge(self, measure: Measure[S], code: RowCode, progress: Progress) -> S:
        """Measure all rows."""
        coded = code.read(self.y, self.weights, np.arange(len(self.y)))
        return measure(self.columns, *coded, count_threads(self.settings.n_jobs), progress.stage("Judging lists"))
