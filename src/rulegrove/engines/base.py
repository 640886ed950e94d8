"""What a fit asks of an engine: a table in partitions, and three calls.

An engine holds a table whose rows have an order: partition after partition, and within a partition row after row. A
row's position in that order is all that chance goes by (`rulegrove._hashing`), so any division of the rows into
partitions and batches gives the same samples, the same folds and the same counts. Tasks and states are plain records
of top-level classes that pickle can carry to other processes.
"""

import contextlib
import functools
import itertools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import pyarrow as pa

from rulegrove.exceptions import InvalidInputError

BATCH_ROWS = 65536  # rows that a task has at once
FAN_IN = 8  # states that are merged at once where they are merged by a tree

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows."""

    rows: pa.RecordBatch  # at least the columns that the task asked for, in any order
    start: int  # position of the first of them in the whole table


class State(Protocol):
    """What a task knows about some rows; picklable, and a state of no rows is one too."""

    def merge(self, other: Self) -> Self:
        """Return the state of both sets of rows, `other` being those that come later in the table."""
        ...


Item = TypeVar("Item")
S = TypeVar("S", bound=State)
S_co = TypeVar("S_co", bound=State, covariant=True)


class Task(Protocol[S_co]):
    """Work on a partition; picklable."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it needs, for the engine to read no others."""
        ...

    def __call__(self, batches: Iterable[Batch], n_threads: int = 1) -> S_co:
        """Return the state of a partition.

        Parameters
        ----------
        batches : iterable of Batch
            The rows of the partition, in their order, each batch of at most `BATCH_ROWS` rows or what the engine was
            told; possibly none at all, and possibly batches without rows. Read once, one after the other.
        n_threads : int
            Threads that the task may use by itself; the state does not depend on it.
        """
        ...


class BatchTask(Protocol):
    """Work on each batch alone, which gives rows; picklable."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it needs."""
        ...

    @property
    def schema(self) -> pa.Schema:
        """Columns of what it returns."""
        ...

    def __call__(self, batch: Batch) -> pa.RecordBatch:
        """Return as many rows as there are in the batch, in their order."""
        ...


class Engine(ABC):
    """A table in partitions and the means to go through it.

    A subclass says what the columns are (`schema`), how many rows each partition has (`count_rows`), what a partition
    is called in errors (`name_partition`), and runs tasks (`map_reduce`, `map_batches`).
    """

    batch_rows: int = BATCH_ROWS
    files: Sequence[Path] = ()  # on this machine that the rows come from, as far as the engine knows

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """Columns of the table."""

    @abstractmethod
    def count_rows(self) -> Sequence[int]:
        """Return the number of rows of each partition, in their order; counted once, however often it is asked."""

    @abstractmethod
    def name_partition(self, partition: int) -> str:
        """Return what a partition is called in errors: its file and part of it, or its number."""

    @abstractmethod
    def map_reduce(self, task: Task[S], on_progress: OnProgress | None = None) -> S:
        """Run a task on every partition and merge the states in the order of the partitions.

        Merging is associative up to rounding, so any tree over consecutive partitions will do, but the same one
        whenever the partitions are the same: `merge_states` of `FAN_IN` neighbours at a time, say, or one after the
        other. A task that fails raises `InvalidInputError` whose message begins with the name of the partition
        (`naming`); a task that got lost runs again.

        Parameters
        ----------
        task : Task
        on_progress : callable, optional
            Called with the rows done and the rows in all.
        """

    @abstractmethod
    def map_batches(self, task: BatchTask, on_progress: OnProgress | None = None) -> Iterator[pa.RecordBatch]:
        """Run a task on every batch; yield the results in the order of the rows, few at a time in memory."""

    def starts(self) -> list[int]:
        """Return the position of each partition's first row."""
        return list(itertools.accumulate(self.count_rows(), initial=0))[:-1]

    @property
    def n_rows(self) -> int:
        """Rows of the whole table."""
        return sum(self.count_rows())


def merge_states(states: Iterable[S]) -> S:
    """Merge the states of neighbours, from the first to the last; at least one."""
    return functools.reduce(lambda merged, state: merged.merge(state), states)


class RowCounter:
    """Rows done, from several threads; nobody knows how many there are in all where `total` is 0."""

    def __init__(self, on_progress: OnProgress | None, total: int):
        self._on_progress, self._total = on_progress, total
        self._done, self._lock = 0, threading.Lock()

    def add(self, n_rows: int) -> None:
        """Count some rows."""
        if self._on_progress is not None:
            with self._lock:
                self._done += n_rows
                self._on_progress(self._done, self._total)


def group_neighbours(items: Iterable[Item], size: Callable[[Item], int], most: int) -> Iterator[list[Item]]:
    """Yield neighbours together as long as their sizes add up to no more than `most`; a larger item stays alone."""
    group: list[Item] = []
    total = 0
    for item in items:
        if group and total + size(item) > most:
            yield group
            group, total = [], 0
        group.append(item)
        total += size(item)
    if group:
        yield group


def check_count(value: Any, name: str, least: int = 1) -> int:
    """Return a number of rows or threads, refusing what is none."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidInputError(f"`{name}` must be a whole number of at least {least:,}; got {value!r}.")
    return int(value)


def cut_batches(table: pa.Table, start: int, batch_rows: int = BATCH_ROWS) -> Iterator[Batch]:
    """Yield a table that is in memory as batches; `start` is the position of its first row in the whole table."""
    for batch in table.to_batches(max_chunksize=batch_rows):
        yield Batch(batch, start)
        start += batch.num_rows


@contextlib.contextmanager
def naming(partition: str) -> Iterator[None]:
    """Turn what goes wrong with a partition's data inside the block into an error that begins with its name."""
    try:
        yield
    except NamedError:
        raise
    except (InvalidInputError, pa.ArrowException, OSError, TypeError) as error:
        if isinstance(error, TypeError) and not str(error).startswith("Column"):
            raise  # not about the data but about a program
        told = error.strerror if isinstance(error, OSError) else None
        reason = str(told or error).strip().split("\n", 1)[0].rstrip(".")
        if "CRC checksum" in reason:
            reason = f"The file is damaged ({reason}); copy it or write it again"
        raise NamedError(f"{partition}: {reason}.") from error


class NamedError(InvalidInputError):
    """An error that names its partition already."""
