"""A table in memory beyond a pool of rows, read as one out of memory is."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rulegrove._progress import Progress
from rulegrove._typing import AnyArray
from rulegrove._validation import check_groups, check_weights
from rulegrove.columns import Columns, Reading, count_rows, learn_columns
from rulegrove.estimators._design import Counted, Request, count_requests
from rulegrove.estimators._sampling import (
    Folds,
    GivenFolds,
    HashFolds,
    RowCode,
    Sampled,
    Size,
    TargetCode,
    TargetSummary,
    draw_positions,
)
from rulegrove.estimators._training import TrainingData, assign_folds


class TableInMemory:
    """A table, its target and its weights as a `Source`.

    Parameters
    ----------
    table : array or data frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    sample_weight : array-like of shape (n_rows,), optional
    groups : array-like of shape (n_rows,), optional
        Rows that are held out together.
    read_labels : callable
        What checks the target and returns it as an array: ``read_labels(y, n_rows)``.
    classes : bool
        Whether the target is classes.
    reading : Reading
        What the user says about the columns.
    n_threads : int
    """

    def __init__(
        self,
        table: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        *,
        read_labels: Callable[[Any, int], AnyArray],
        classes: bool,
        reading: Reading,
        n_threads: int,
    ):
        n_rows = count_rows(table)
        self.table, self.n_threads = table, n_threads
        self.weights = check_weights(sample_weight, n_rows)
        self.y = read_labels(y, n_rows)
        self.groups = check_groups(groups, n_rows)
        self.classes, self.reading = classes, reading
        self.columns: Columns | None = None

    def sample(self, seed: int, size: Size) -> Sampled:
        """Draw the rows whose random numbers are the smallest."""
        counted = np.arange(len(self.y)) if self.weights is None else np.flatnonzero(self.weights > 0)
        positions, ranks = draw_positions(seed, counted, size(counted.size))
        self.columns = learn_columns(self.table, self.reading, rows=positions)
        return Sampled(
            table=self.table,
            columns=Columns(self.columns.features, list(self.columns.take(positions)), names=self.columns.names),
            y=self.y[positions],
            weights=None if self.weights is None else self.weights[positions],
            positions=positions,
            ranks=ranks,
            summary=TargetSummary.of(self.y, self.weights, classes=self.classes),
        )

    def deal(self, cv: Any, code: TargetCode, seed: int) -> Folds:
        """Deal all rows out to folds: by their random numbers, by whole groups, or as a splitter does."""
        if isinstance(cv, (int, np.integer)) and (self.groups is None or cv == 1):
            return HashFolds(seed, int(cv))
        assert self.columns is not None
        target = code.read(self.y, self.weights)
        data = TrainingData.of(self.columns, target)
        rng = np.random.default_rng(seed)
        folds, n_folds = assign_folds(cv, data, target.codes, self.table, self.y, rng, self.groups)
        return GivenFolds(folds, n_folds)

    def count(self, requests: Sequence[Request], code: RowCode, progress: Progress) -> Iterator[Counted]:
        """Count candidates over all rows."""
        assert self.columns is not None
        rows = np.arange(len(self.y))
        values, weights, folds = code.read(self.y, self.weights, rows)
        data = TrainingData(self.columns, values, code.target.offset, weights, rows)
        return count_requests(data, requests, folds, self.n_threads, progress)
