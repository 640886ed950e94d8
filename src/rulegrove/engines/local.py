"""Tables on this machine, larger than its memory: Parquet files and Arrow streams, read in threads."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from numbers import Integral
from typing import Any, TypeVar

import pyarrow as pa

from rulegrove._threads import one_blas_thread
from rulegrove._validation import count_threads
from rulegrove.engines.base import (
    BATCH_ROWS,
    Batch,
    BatchTask,
    Engine,
    Item,
    OnProgress,
    RowCounter,
    S,
    Task,
    check_count,
    merge_states,
    naming,
)
from rulegrove.engines.sources import open_source
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.exceptions import InvalidInputError

Result = TypeVar("Result")

AHEAD = 1  # results that may wait for those before them, beside one for each thread


class LocalEngine(Engine):
    """A table on this machine, of any `source` that `open_source` takes, its partitions worked on by threads."""

    def __init__(self, source: Any, *, batch_rows: int = BATCH_ROWS, n_threads: int = 1):
        self.batch_rows, self.n_threads = check_count(batch_rows, "batch_rows"), check_count(n_threads, "n_threads")
        self.source = open_source(source, self.batch_rows)
        self.files = self.source.files

    @property
    def schema(self) -> pa.Schema:
        """Columns of the table."""
        return self.source.schema

    def count_rows(self) -> Sequence[int]:
        """Return the number of rows of each partition."""
        return self.source.count_rows()

    def name_partition(self, partition: int) -> str:
        """Return the file, and the part of it."""
        return self.source.name(partition)

    @property
    def _known_rows(self) -> int:
        """Number of rows, or 0 for a stream that would have to be read to tell."""
        return self.n_rows if self.source.is_counted else 0

    def map_reduce(self, task: Task[S], on_progress: OnProgress | None = None) -> S:
        """Run a task on every partition, some at a time, and merge one state after the other."""
        counter = RowCounter(on_progress, self._known_rows)
        columns = task.columns or self.schema.names[:1]  # one at least, for the rows are counted by it
        n_partitions = self.source.n_partitions
        starts = self.starts() if n_partitions > 1 else [0]
        # With fewer partitions than threads the kernels inside a task use the threads.
        alone = n_partitions < self.n_threads or self.n_threads == 1
        inner = self.n_threads if alone else 1

        def work(partition: int) -> S:
            with naming(self.name_partition(partition)):
                batches = self.source.batches(partition, starts[partition], columns, self.batch_rows)
                return task(_watch(batches, counter), inner)

        if not n_partitions:
            return task((), 1)
        with one_blas_thread():
            return merge_states(in_order(work, range(n_partitions), 1 if alone else self.n_threads))

    def map_batches(self, task: BatchTask, on_progress: OnProgress | None = None) -> Iterator[pa.RecordBatch]:
        """Run a task on every batch, some at a time; yield the results in the order of the rows."""
        counter = RowCounter(on_progress, self._known_rows)
        columns = task.columns or self.schema.names[:1]

        def batches() -> Iterator[tuple[int, Batch]]:
            start = 0
            for partition in range(self.source.n_partitions):
                with naming(self.name_partition(partition)):
                    for batch in self.source.batches(partition, start, columns, self.batch_rows):
                        start += batch.rows.num_rows
                        yield partition, batch

        def work(item: tuple[int, Batch]) -> pa.RecordBatch:
            partition, batch = item
            with naming(self.name_partition(partition)):
                return task(batch)

        for result in in_order(work, batches(), self.n_threads):
            counter.add(result.num_rows)
            yield result


def _watch(batches: Iterable[Batch], counter: RowCounter) -> Iterator[Batch]:
    """Pass batches on and count each when the next one is asked for."""
    for batch in batches:
        yield batch
        counter.add(batch.rows.num_rows)


def choose_threads(model: BaseRuleEnsemble, n_threads: int | None) -> int:
    """Return the number of threads: the one asked for, or that of the model's `n_jobs`."""
    if n_threads is not None:
        return check_count(n_threads, "n_threads")
    n_jobs: Any = model.n_jobs
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise InvalidInputError(f"`n_jobs` must be None or a whole number other than 0; got {n_jobs!r}.")
    return count_threads(None if n_jobs is None else int(n_jobs))


def in_order(work: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> Iterator[Result]:
    """Yield the results of some work in the order of the items, with few of either in memory."""
    if n_threads == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(n_threads, thread_name_prefix="rulegrove-engine") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) >= n_threads + AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
