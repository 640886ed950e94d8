"""The passes after the sample: candidates counted over all rows, and the lists made of them judged, batch by batch.

No matrix of rows times rules is ever made.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

import pyarrow as pa

from rulegrove._typing import FloatArray, IntArray
from rulegrove.columns import Columns, encode_columns, list_sources
from rulegrove.design.bits import compile_rules
from rulegrove.design.statistics import Margins, Statistics, collect_margins, collect_statistics
from rulegrove.engines.base import Batch, Engine, OnProgress, S, Task, group_neighbours
from rulegrove.engines.reading import Layout, take_attributes
from rulegrove.estimators._design import Request
from rulegrove.estimators._sampling import Measure, RowCode
from rulegrove.exceptions import InvalidInputError

STATE_BYTES = 2**27  # most memory of one state; more pools of rules are counted in further passes


@dataclass(frozen=True, eq=False)
class Marked(Generic[S]):
    """Sums over rows, and the mark of the rows (`Labelled.mark`); a state."""

    sums: tuple[S, ...]
    mark: int

    def merge(self, other: "Marked[S]") -> "Marked[S]":
        """Return the sums of both sets of rows."""
        pairs = zip(self.sums, other.sums, strict=True)
        return Marked(tuple(one.merge(two) for one, two in pairs), (self.mark + other.mark) % 2**64)


@dataclass(frozen=True)
class CodedRows:
    """What makes numbers of the rows of a partition."""

    layout: Layout
    code: RowCode
    seed: int = 0  # of the random numbers that `limit` is about
    limit: int = 2**64  # rows whose random numbers are not below it are left out; ``2**64`` takes all
    shift: int = 0  # position of the table's first row, where the table continues another one

    def read(self, batch: Batch) -> tuple[int, tuple[Columns, FloatArray, FloatArray | None, IntArray] | None]:
        """Return the mark of a batch, and its attributes, targets, weights and folds if it has any rows to take."""
        rows = self.layout.read(Batch(batch.rows, batch.start + self.shift))
        mark = rows.mark()
        if self.limit < 2**64:
            rows = rows.take(rows.below(self.seed, self.limit))
        if not rows.positions.size:
            return mark, None
        coded = self.code.read(*self.layout.beside.expose(rows.y, rows.weights), rows.positions)
        features = self.code.features
        table = pa.Table.from_batches([take_attributes(rows.rows, list_sources(features))])
        return mark, (encode_columns(table, features), *coded)


@dataclass(frozen=True)
class CountTask:
    """Count candidates."""

    rows: CodedRows
    requests: tuple[Request, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it needs."""
        return self.rows.layout.columns

    def __call__(self, batches: Iterable[Batch], n_threads: int = 1) -> Marked[Statistics | Margins]:
        """Return the counts of a partition."""
        n_features = len(self.rows.code.features)
        programs = [compile_rules(request.rules, n_features) for request in self.requests]
        counts = [self._empty(request) for request in self.requests]
        total = 0
        for mark, coded in map(self.rows.read, batches):
            total = (total + mark) % 2**64
            if coded is None:
                continue
            columns, values, weights, folds = coded
            for place, (request, program) in enumerate(zip(self.requests, programs, strict=True)):
                table = (columns, program, request.linear, values[:, request.outputs], request.sides(folds))
                onto = counts[place]
                if isinstance(onto, Margins):
                    counts[place] = onto.merge(collect_margins(*table, weights=weights, n_threads=n_threads))
                else:
                    collect_statistics(*table, weights=weights, n_threads=n_threads, onto=onto)
        return Marked(tuple(counts), total)

    def _empty(self, request: Request) -> Statistics | Margins:
        """Return the counts of no rows."""
        code = self.rows.code
        n_folds = request.count_sides(code.folds.n_folds)
        n_outputs = code.target.n_outputs if request.output is None else 1
        if not request.pairs:
            return Margins.zeros(len(request.rules) + request.linear.n_terms, n_outputs)
        return Statistics.zeros(n_folds, len(request.rules), request.linear.n_terms, n_outputs, weighted=code.weighted)


@dataclass(frozen=True)
class JudgeTask(Generic[S]):
    """Measure rows."""

    rows: CodedRows
    measure: Measure[S]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it needs."""
        return self.rows.layout.columns

    def __call__(self, batches: Iterable[Batch], n_threads: int = 1) -> Marked[S]:
        """Return what a partition has."""
        measured = Marked((self.measure.empty(),), 0)
        for mark, coded in map(self.rows.read, batches):
            here = self.measure.empty() if coded is None else self.measure(*coded, n_threads)
            measured = measured.merge(Marked((here,), mark))
        return measured


def count_over(
    engine: Engine,
    rows: CodedRows,
    requests: Sequence[Request],
    *,
    mark: int | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[Statistics | Margins]:
    """Yield the counts of one request after the other, as many from one pass as a state may hold.

    Rows of another mark than they had when they were drawn are refused.
    """

    def count_bytes(request: Request) -> int:
        n_terms = len(request.rules) + request.linear.n_terms
        return 8 * rows.code.folds.n_folds * (n_terms**2 if request.pairs else n_terms)

    for group in group_neighbours(requests, count_bytes, STATE_BYTES):
        yield from run_marked(engine, CountTask(rows, tuple(group)), rows.layout, mark, on_progress)


def run_marked(
    engine: Engine, task: Task[Marked[S]], layout: Layout, mark: int | None, on_progress: OnProgress | None
) -> tuple[S, ...]:
    """Return the sums of a pass, whose rows must be those of the mark."""
    found = engine.map_reduce(task, on_progress)
    check_mark(found.mark, mark, layout)
    return found.sums


def check_mark(found: int, mark: int | None, layout: Layout) -> None:
    """Refuse rows that have not the mark that they had before, if they had one."""
    if mark is not None and found != mark:
        raise InvalidInputError(
            f"The target '{layout.target}' had other values, or its rows another order, when the rows were read "
            "again; they must be the same each time. Sort them, or write them to Parquet first."
        )
