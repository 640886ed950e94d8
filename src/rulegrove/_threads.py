"""Threads outside the kernels: one pool for each number of threads, started on first use and kept."""

import functools
import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


@functools.cache
def _pool(n_threads: int, process: int) -> "ThreadPoolExecutor":
    """Return the pool of a process; a forked child gets one of its own, for threads do not survive a fork."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(n_threads, thread_name_prefix="rulegrove")


def run_tasks(task: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> list[Result]:
    """Call `task` on every item and return the results in their order; a task must not call this again.

    Examples
    --------
    >>> run_tasks(abs, [-1, 2, -3], n_threads=2)
    [1, 2, 3]
    """
    items = list(items)
    if n_threads == 1 or len(items) < 2:
        return [task(item) for item in items]
    return list(_pool(n_threads, os.getpid()).map(task, items))


@functools.cache
def _blas() -> "ThreadpoolController":
    """Handle on BLAS; finding it takes some milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Hold BLAS to one thread: its sums would depend on the number, and its threads stall where cores are shared.

    Around tasks that run side by side, not inside each: the last one to leave would restore what the first had set.
    """
    limit: AbstractContextManager[object] = _blas().limit(limits=1, user_api="blas")
    return limit
