"""The engine over dask collections: partitions as Arrow batches, tasks on a cluster."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from dask.delayed import Delayed, delayed

from rulegrove.engines._dask_arrow import PartReader, join_types, plain_type
from rulegrove.engines._dask_running import run_each, run_in_order, run_tree
from rulegrove.engines._dask_tables import DaskTable
from rulegrove.engines.base import (
    BATCH_ROWS,
    Batch,
    BatchTask,
    Engine,
    NamedError,
    OnProgress,
    S,
    Task,
    check_count,
    cut_batches,
    naming,
)
from rulegrove.exceptions import InvalidInputError


class DaskEngine(Engine):
    """A table of dask collections and the client whose workers go through it.

    Each pass computes the partitions anew, reading only the columns that it needs; persist the collections to keep
    them in the memory of the workers.

    Parameters
    ----------
    table : DaskTable
    client : distributed.Client
    batch_rows : int
        Most rows that a task has at once.
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
        """Return the number of a partition, and of how many."""
        return f"Partition {partition} (counted from 0, of {self.table.n_partitions})"

    def map_reduce(self, task: Task[S], on_progress: OnProgress | None = None) -> S:
        """Run a task on every partition and merge the states, `FAN_IN` neighbours at a time."""
        state: S = run_tree(self.client, self._tasks(_run_task, task), self._names, self.count_rows(), on_progress)
        return state

    def map_batches(self, task: BatchTask, on_progress: OnProgress | None = None) -> Iterator[pa.RecordBatch]:
        """Run a task on every batch; a few partitions ahead of what is asked for."""
        tasks = self._tasks(_map_batches, task)
        for batches in run_in_order(self.client, tasks, self._names, self.count_rows(), on_progress):
            yield from batches

    @functools.cached_property
    def _found(self) -> tuple[list[int], dict[str, pa.DataType]]:
        """Rows of each partition and type of each column, with a look at the data only where dask does not know."""
        table = self.table
        types, n_rows = table.types(), table.count_rows()
        unclear = [name for name, kind in types.items() if kind is None]
        if unclear or n_rows is None:
            columns = unclear or list(table.names[:1])
            reader = table.reader(dict.fromkeys(columns))
            tasks = [
                delayed(_look, pure=False)(reader, name, *parts)
                for name, parts in zip(self._names, table.partitions(columns), strict=True)
            ]
            looks = run_each(self.client, tasks, self._names)
            n_rows = [look.pop(0) for look in looks]
            for place, column in enumerate(columns if unclear else ()):
                types[column] = self._join([look[place] for look in looks], column)
        plain = {table.target, table.weights}
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

    def _tasks(self, run: Callable[..., Any], task: Any) -> list[Delayed]:
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
