"""The engine over dask collections: tasks on a cluster, a tree of merges, errors that name the partition.

Only futures and delayed calls are used, in one graph without a barrier. Everything in it can be computed again from
what the scheduler knows, so that a worker that dies costs time and nothing else.
"""

import functools
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any, NoReturn

import distributed
import pyarrow as pa
from dask.delayed import Delayed, delayed

from rulegrove.engines._dask_tables import DaskTable, PartReader, join_types, plain_type
from rulegrove.engines.base import (
    BATCH_ROWS,
    FAN_IN,
    Batch,
    BatchTask,
    Engine,
    NamedError,
    OnProgress,
    RowCounter,
    S,
    Task,
    check_count,
    cut_batches,
    merge_states,
    naming,
)
from rulegrove.exceptions import InvalidInputError

POLL_SECONDS = 1.0
PATIENCE_SECONDS = 300.0  # without any worker: a nanny brings one back in seconds, a queue in minutes

_CLOSED = "The Dask client was closed, or its tasks were cancelled, before the work was done; start again."


def find_client(client: Any) -> distributed.Client:
    """Return the client that was given, or the one that runs; it must have a worker."""
    if client is None:
        try:
            client = distributed.default_client()  # type: ignore[no-untyped-call]
        except ValueError:
            raise InvalidInputError(
                "No Dask client is running; start one with `client = distributed.Client()` or pass `client`."
            ) from None
    if not isinstance(client, distributed.Client):
        raise InvalidInputError(f"`client` must be a distributed.Client; got a {type(client).__name__}.")
    if client.asynchronous:
        raise InvalidInputError("`client` is asynchronous; make one with asynchronous=False.")
    if client.status != "running":
        raise InvalidInputError(f"The Dask client is {client.status}; start a new one and pass it as `client`.")
    if not client.nthreads():  # type: ignore[no-untyped-call]
        raise InvalidInputError(
            "The Dask cluster has no worker; add some, for instance `cluster.scale(2)` and "
            "`client.wait_for_workers(1)`, and fit again."
        )
    return client


class DaskEngine(Engine):
    """A table of dask collections and the client whose workers go through it.

    Each pass computes the partitions anew, reading only the columns that it needs; persist the collections to keep them
    in the memory of the workers.
    """

    def __init__(self, table: DaskTable, client: Any, batch_rows: int = BATCH_ROWS):
        self.table = table
        self.client = client
        self.batch_rows = check_count(batch_rows, "batch_rows")

    @property
    def schema(self) -> pa.Schema:
        """Columns of the table."""
        _, types = self._found
        return pa.schema(list(types.items()))

    def count_rows(self) -> Sequence[int]:
        """Return the number of rows of each partition; counted on the workers, if need be, and once."""
        n_rows, _ = self._found
        return n_rows

    def name_partition(self, partition: int) -> str:
        """Return the number of a partition, and how many there are."""
        return f"Partition {partition} (counted from 0, of {self.table.n_partitions})"

    def map_reduce(self, task: Task[S], on_progress: OnProgress | None = None) -> S:
        """Run a task on every partition and merge the states, `FAN_IN` neighbours at a time.

        In one graph a merge comes right behind the states it needs, and a state is let go once it is merged: a few
        times `FAN_IN` states exist at a time, however many partitions there are.
        """
        tasks = self._delay(_run_task, task)
        level = _merge_groups(tasks)  # of a single state too: it is another future, which can be let go by itself
        while len(level) > 1:
            level = _merge_groups(level)
        *states, merged = self.client.compute([*tasks, *level])
        counter = RowCounter(on_progress, self.n_rows)
        try:
            for place in _finished(self.client, states, self._names):
                states[place].release()  # the scheduler keeps the state until it is merged, and no longer
                counter.add(self.count_rows()[place])
            state: S = self._result(merged, "The merge of the partitions")
            return state
        finally:
            merged.release()

    def map_batches(self, task: BatchTask, on_progress: OnProgress | None = None) -> Iterator[pa.RecordBatch]:
        """Run a task on every batch; the results of only a few partitions wait in the memory of the workers."""
        tasks = iter(self._delay(_map_batches, task))
        n_ahead = 2 * sum(self.client.nthreads().values())
        ahead = deque(map(self.client.compute, itertools.islice(tasks, n_ahead)))
        counter = RowCounter(on_progress, self.n_rows)
        for name, n_rows in zip(self._names, self.count_rows(), strict=True):
            batches = self._result(ahead.popleft(), name)
            ahead.extend(map(self.client.compute, itertools.islice(tasks, 1)))
            yield from batches
            counter.add(n_rows)

    def _result(self, future: "distributed.Future[Any]", name: str) -> Any:
        """Wait for one future and return its result."""
        for _ in _finished(self.client, [future], [name]):
            pass
        return self.client.gather(future)

    @functools.cached_property
    def _found(self) -> tuple[list[int], dict[str, pa.DataType]]:
        """Rows of each partition and type of each column, with a look at the data only where dask does not know."""
        table = self.table
        types, n_rows = table.types(), table.count_rows()
        unclear = [name for name, kind in types.items() if kind is None]
        if unclear or n_rows is None:
            columns = unclear or list(table.names[:1])
            reader = table.reader(dict.fromkeys(columns))
            places = zip(self._names, table.partitions(columns), strict=True)
            futures = self.client.compute([delayed(_look, pure=False)(reader, name, *parts) for name, parts in places])
            for _ in _finished(self.client, futures, self._names):
                pass
            looks = self.client.gather(futures)
            n_rows = [look.pop(0) for look in looks]
            for place, column in enumerate(columns if unclear else ()):
                types[column] = self._join([look[place] for look in looks], column)
        plain = {*table.targets, *table.given.values()}
        return n_rows, {name: plain_type(kind) if name in plain else kind for name, kind in types.items()}

    def _join(self, found: Sequence[pa.DataType], column: str) -> pa.DataType:
        """Return the type of a column from those it has in the partitions."""
        kind, odd = join_types(found)
        if odd is not None:
            raise NamedError(
                f"{self.name_partition(odd)}: Column '{column}' is {found[odd]} here but {kind} before; "
                "convert it to one type."
            )
        return pa.float64() if pa.types.is_null(kind) else kind  # no values at all

    @property
    def _names(self) -> list[str]:
        """What the partitions are called."""
        return [self.name_partition(partition) for partition in range(self.table.n_partitions)]

    def _delay(self, run: Callable[..., Any], task: Task[Any] | BatchTask) -> list[Delayed]:
        """Return what runs a task on each partition.

        The task itself is in the graph once; a worker that lost it gets it again from the scheduler.
        """
        columns = task.columns or self.table.names[:1]
        _, types = self._found
        reader = self.table.reader({name: types[name] for name in columns})
        shared = delayed((task, reader, self.batch_rows), pure=False, traverse=False)
        places = zip(self._names, self.starts(), self.count_rows(), self.table.partitions(columns), strict=True)
        return [delayed(run, pure=False)(shared, name, (start, n), *parts) for name, start, n, parts in places]


def _look(reader: PartReader, name: str, *parts: Any) -> list[Any]:
    """Return the number of rows of a partition and the types of its columns."""
    with naming(name):
        table = reader.read(parts)
    return [table.num_rows, *table.schema.types]


def _run_task(shared: tuple[Task[S], PartReader, int], name: str, place: tuple[int, int], *parts: Any) -> S:
    """Return the state of a partition whose first row and number of rows are known."""
    task, reader, batch_rows = shared
    with naming(name):
        return task(_read_again(reader, parts, place, batch_rows))


def _map_batches(
    shared: tuple[BatchTask, PartReader, int], name: str, place: tuple[int, int], *parts: Any
) -> list[pa.RecordBatch]:
    """Return what a task makes of the batches of a partition."""
    task, reader, batch_rows = shared
    with naming(name):
        return [task(batch) for batch in _read_again(reader, parts, place, batch_rows)]


def _read_again(reader: PartReader, parts: Sequence[Any], place: tuple[int, int], batch_rows: int) -> Iterator[Batch]:
    """Return the batches of a partition, which must have as many rows as when they were counted."""
    table, (start, n_rows) = reader.read(parts), place
    if table.num_rows != n_rows:
        raise InvalidInputError(
            f"{table.num_rows:,} rows came where {n_rows:,} came before; call `persist` on a collection that is not "
            "the same each time it is computed"
        )
    return cut_batches(table, start, batch_rows)


def _merge_groups(level: Sequence[Delayed]) -> list[Delayed]:
    """Return the merges of groups of neighbours, always the same ones in the same order."""
    starts = range(0, len(level), FAN_IN)
    return [delayed(merge_states, pure=False)(level[start : start + FAN_IN]) for start in starts]


def _finished(client: Any, futures: Sequence[Any], names: Sequence[str]) -> Iterator[int]:
    """Yield the places of futures as they finish; the first that fails ends all of them."""
    ends: SimpleQueue[int] = SimpleQueue()
    for place, future in enumerate(futures):
        future.add_done_callback(lambda _, place=place: ends.put(place))
    try:
        for _ in futures:
            place = _next_end(client, ends)
            if futures[place].status in ("error", "cancelled"):
                _refuse(futures[place], names[place])
            yield place
    except BaseException:
        for future in futures:  # nobody wants them any more, so those that wait are not computed
            future.release()
        raise


def _next_end(client: Any, ends: "SimpleQueue[int]") -> int:
    """Wait for a future to end, as long as there is a worker to end it."""
    seen = time.monotonic()  # when there was a worker
    while True:
        try:
            return ends.get(timeout=POLL_SECONDS)
        except Empty:
            if client.status == "closed":
                raise ConnectionError(_CLOSED) from None
            if client.status != "running" or client.nthreads():
                seen = time.monotonic()
        if time.monotonic() - seen > PATIENCE_SECONDS:
            raise ConnectionError(
                f"The Dask cluster has had no worker for {PATIENCE_SECONDS:.0f} seconds; add workers and start again."
            )


def _refuse(future: Any, name: str) -> NoReturn:
    """Say what failed and why."""
    if future.status == "cancelled":
        raise ConnectionError(_CLOSED)
    error = future.exception()
    if isinstance(error, distributed.KilledWorker):
        raise NamedError(
            f"{name} ended every worker that ran it, most likely for lack of memory; make the partitions smaller "
            "or the workers larger."
        ) from error
    if isinstance(error, NamedError):
        raise error
    reason = str(error).strip().split("\n", 1)[0]
    raise NamedError(f"{name} cannot be computed: {type(error).__name__}: {reason}") from error
