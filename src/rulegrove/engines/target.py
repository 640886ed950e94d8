"""A look at a target before a fit: what it is, and which values it has."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulegrove._validation import MOST_CLASSES, guess_task
from rulegrove.engines.base import Batch, Engine, OnProgress
from rulegrove.engines.sampling import MOST_LABELS
from rulegrove.engines.values import read_labels, take_column
from rulegrove.exceptions import InvalidInputError

Label = str | float  # whole numbers and truth values too


@dataclass(frozen=True)
class TargetLook:
    """What a target's column holds; a state."""

    n_rows: int = 0
    n_missing: int = 0
    counts: dict[Label, int] | None = None  # rows of each value; None where they are too many to be classes
    # low, high, total: of numbers.
    low: float = np.inf
    high: float = -np.inf
    total: float = 0.0

    def merge(self, other: "TargetLook") -> "TargetLook":
        """Return the look at both sets of rows."""
        counts = None
        if self.counts is not None and other.counts is not None:
            counts = _if_few(dict(Counter(self.counts) + Counter(other.counts)))
        return TargetLook(
            self.n_rows + other.n_rows,
            self.n_missing + other.n_missing,
            counts,
            min(self.low, other.low),
            max(self.high, other.high),
            self.total + other.total,
        )

    @property
    def task(self) -> str:
        """Whether it is classes: "classification" or "regression"."""
        if self.counts is None:
            return "regression"
        return guess_task(np.repeat(np.array(list(self.counts)), 3))  # three rows of each, for labels repeat

    @property
    def mean(self) -> float:
        """Mean of numbers."""
        return self.total / max(self.n_rows - self.n_missing, 1)


def _if_few(counts: dict[Label, int]) -> dict[Label, int] | None:
    """Return counts of values, or None where they are too many to be classes."""
    text = any(isinstance(label, str) for label in counts)
    if text and len(counts) > MOST_LABELS:
        raise InvalidInputError(
            f"The target has more than {MOST_LABELS:,} different words; it is no class and no number."
        )
    return counts if text or len(counts) <= MOST_CLASSES else None


@dataclass(frozen=True)
class LookTask:
    """Look at a column."""

    target: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it needs."""
        return (self.target,)

    def __call__(self, batches: Iterable[Batch], n_threads: int = 1) -> TargetLook:
        """Return what a partition holds."""
        found = TargetLook(counts={})
        for batch in batches:
            found = found.merge(self._look(take_column(batch.rows, self.target)))
        return found

    def _look(self, column: pa.Array) -> TargetLook:
        """Return what a batch holds."""
        values = read_labels(column.filter(pc.invert(pc.is_null(column, nan_is_null=True))), self.target)
        n_rows, n_missing = len(column), len(column) - len(values)
        if not len(values):
            return TargetLook(n_rows, n_missing, {})
        labels, counts = np.unique(values, return_counts=True)
        found = _if_few(dict(zip(labels.tolist(), counts.tolist(), strict=True)))
        if values.dtype.kind == "U":
            return TargetLook(n_rows, n_missing, found)
        return TargetLook(n_rows, n_missing, found, float(labels[0]), float(labels[-1]), float(values.sum()))


def look_at(engine: Engine, target: str, on_progress: OnProgress | None = None) -> TargetLook:
    """Return what a target's column holds; one pass over that column alone."""
    return engine.map_reduce(LookTask(target), on_progress)
