"""The second pass: candidates counted over all rows, batch by batch; no matrix of rows times rules is ever made."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rulegrove.design.bits import compile_rules
from rulegrove.design.statistics import Statistics, collect_statistics
from rulegrove.engines.base import Batch, Engine, OnProgress, group_neighbours
from rulegrove.engines.reading import Layout, encode_rows
from rulegrove.estimators._design import Request
from rulegrove.estimators._sampling import RowCode
from rulegrove.exceptions import InvalidInputError

STATE_BYTES = 2**27  # most memory of one state; more pools of rules are counted in further passes


@dataclass(frozen=True, eq=False)
class Counts:
    """Statistics of several requests, and the mark of the rows (`Labelled.mark`); a state."""

    statistics: tuple[Statistics, ...]
    mark: int

    def merge(self, other: "Counts") -> "Counts":
        """Return the statistics of both sets of rows."""
        pairs = zip(self.statistics, other.statistics, strict=True)
        return Counts(tuple(one.merge(two) for one, two in pairs), (self.mark + other.mark) % 2**64)


@dataclass(frozen=True)
class CountTask:
    """Count candidates.

    Attributes
    ----------
    layout : Layout
    code : RowCode
    requests : tuple of Request
    seed : int
        Of the random numbers that `limit` is about.
    limit : int
        Rows whose random numbers are not below it are left out; ``2**64`` takes all.
    shift : int
        Position of the table's first row, where the table continues another one.
    """

    layout: Layout
    code: RowCode
    requests: tuple[Request, ...]
    seed: int = 0
    limit: int = 2**64
    shift: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it needs."""
        return self.layout.columns

    def __call__(self, batches: Iterable[Batch], n_threads: int = 1) -> Counts:
        """Return the statistics of a partition."""
        n_features = len(self.code.features)
        programs = [compile_rules(request.rules, n_features) for request in self.requests]
        statistics = [self._empty(request) for request in self.requests]
        mark = 0
        for batch in batches:
            rows = self.layout.read(Batch(batch.rows, batch.start + self.shift))
            mark = (mark + rows.mark()) % 2**64
            if self.limit < 2**64:
                rows = rows.take(rows.below(self.seed, self.limit))
            if not rows.positions.size:
                continue
            columns = encode_rows(rows.rows, self.code.features)
            values, weights, folds = self.code.read(rows.y, rows.weights, rows.positions)
            for request, program, onto in zip(self.requests, programs, statistics, strict=True):
                collect_statistics(
                    columns,
                    program,
                    request.linear,
                    values[:, request.outputs],
                    request.sides(folds),
                    weights=weights,
                    n_threads=n_threads,
                    onto=onto,
                )
        return Counts(tuple(statistics), mark)

    def _empty(self, request: Request) -> Statistics:
        """Return statistics of no rows."""
        n_folds = self.code.folds.n_folds if request.held_out is None else 2
        n_outputs = self.code.target.n_outputs if request.output is None else 1
        return Statistics.zeros(
            n_folds, len(request.rules), request.linear.n_terms, n_outputs, weighted=self.code.weighted
        )


def count_over(
    engine: Engine,
    layout: Layout,
    code: RowCode,
    requests: Sequence[Request],
    *,
    seed: int = 0,
    limit: int = 2**64,
    shift: int = 0,
    mark: int | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[Statistics]:
    """Yield the statistics of one request after the other, as many from one pass as a state may hold.

    Parameters
    ----------
    engine : Engine
    layout, code, requests, seed, limit, shift
        As in `CountTask`.
    mark : int, optional
        Of the rows when they were drawn; others are refused.
    on_progress : callable, optional
    """

    def count_bytes(request: Request) -> int:
        return 8 * code.folds.n_folds * (len(request.rules) + request.linear.n_terms) ** 2

    for group in group_neighbours(requests, count_bytes, STATE_BYTES):
        task = CountTask(layout, code, tuple(group), seed, limit, shift)
        counts = engine.map_reduce(task, on_progress)
        if mark is not None and counts.mark != mark:
            raise InvalidInputError(
                f"The target '{layout.target}' had other values, or its rows another order, when the rows were read "
                "again; they must be the same each time. Sort them, or write them to Parquet first."
            )
        yield from counts.statistics
