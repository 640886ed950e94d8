"""Tasks on a Dask cluster: a map over partitions, a tree of merges, errors that name the partition.

Only futures and delayed calls are used, in one graph without a barrier. Everything in it can be computed again from
what the scheduler knows, so that a worker that dies costs time and nothing else.
"""

import functools
import time
from collections import deque
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any, NoReturn

import distributed
from dask.delayed import Delayed, delayed

from rulegrove.engines.base import FAN_IN, NamedError, OnProgress, merge_states
from rulegrove.exceptions import InvalidInputError

POLL_SECONDS = 1.0
PATIENCE_SECONDS = 300.0  # without any worker: a nanny brings one back in seconds, a queue in minutes

_CLOSED = "The Dask client was closed, or its tasks were cancelled, before the work was done; start again."


def find_client(client: Any) -> Any:
    """Return the client that was given, or the one that runs; it must have a worker."""
    if client is None:
        try:
            client = distributed.default_client()  # type: ignore[no-untyped-call]
        except ValueError:
            raise InvalidInputError(
                "No Dask client is running; start one with `client = distributed.Client()` or pass `client`."
            ) from None
    is_client = isinstance(client, distributed.Client)
    if not is_client:
        raise InvalidInputError(f"`client` must be a distributed.Client; got a {type(client).__name__}.")
    if client.asynchronous:
        raise InvalidInputError("`client` is asynchronous; make one with asynchronous=False.")
    if client.status != "running":
        raise InvalidInputError(f"The Dask client is {client.status}; start a new one and pass it as `client`.")
    if not client.nthreads():
        raise InvalidInputError(
            "The Dask cluster has no worker; add some, for instance `cluster.scale(2)` and "
            "`client.wait_for_workers(1)`, and fit again."
        )
    return client


def run_each(client: Any, tasks: Sequence[Delayed], names: Sequence[str]) -> list[Any]:
    """Compute one small result a partition and return them in the order of the partitions.

    Parameters
    ----------
    client : distributed.Client
    tasks : sequence of Delayed
        One a partition.
    names : sequence of str
        What the partitions are called in errors.
    """
    futures = client.compute(list(tasks))
    for _ in _finished(client, futures, names):
        pass
    return list(client.gather(futures))


def run_tree(
    client: Any,
    tasks: Sequence[Delayed],
    names: Sequence[str],
    n_rows: Sequence[int],
    on_progress: OnProgress | None = None,
) -> Any:
    """Compute one state a partition and merge them, always the same neighbours in the same order.

    In one graph a merge comes right behind the states it needs, and a state is let go once it is merged: a few times
    `FAN_IN` states exist at a time, however many partitions there are.

    Parameters
    ----------
    client : distributed.Client
    tasks : sequence of Delayed
        One a partition, at least one.
    names : sequence of str
        What the partitions are called in errors.
    n_rows : sequence of int
        Rows of the partitions.
    on_progress : callable, optional
        Called with the rows done and the rows in all.
    """
    level = _merge_groups(tasks)  # of a single state too: it is another future, which can be let go by itself
    while len(level) > 1:
        level = _merge_groups(level)
    *states, merged = client.compute([*tasks, *level])
    done = 0
    try:
        for place in _finished(client, states, names):
            states[place].release()  # the scheduler keeps the state until it is merged, and no longer
            done += n_rows[place]
            if on_progress is not None:
                on_progress(done, sum(n_rows))
        for _ in _finished(client, [merged], ["The merge of the partitions"]):
            pass
        return client.gather(merged)
    finally:
        merged.release()


def run_in_order(
    client: Any,
    tasks: Sequence[Delayed],
    names: Sequence[str],
    n_rows: Sequence[int],
    on_progress: OnProgress | None = None,
) -> Iterator[Any]:
    """Compute one result a partition and yield them in order; only a few wait in the memory of the workers.

    Parameters
    ----------
    client, tasks, names, n_rows, on_progress
        As in `run_tree`.
    """
    n_ahead = 2 * sum(client.nthreads().values())
    ahead: deque[Any] = deque()
    done = 0
    for place, name in enumerate(names):
        while len(ahead) < n_ahead and place + len(ahead) < len(tasks):
            ahead.append(client.compute(tasks[place + len(ahead)]))
        for _ in _finished(client, [ahead[0]], [name]):
            pass
        yield client.gather(ahead.popleft())
        done += n_rows[place]
        if on_progress is not None:
            on_progress(done, sum(n_rows))


def _merge_groups(level: Sequence[Delayed]) -> list[Delayed]:
    """Return the merges of groups of neighbours."""
    return [delayed(_merge, pure=False)(*level[start : start + FAN_IN]) for start in range(0, len(level), FAN_IN)]


def _merge(*states: Any) -> Any:
    """Merge the states of neighbours."""
    return merge_states(states)


def _finished(client: Any, futures: list[Any], names: Sequence[str]) -> Iterator[int]:
    """Places of the futures as they finish; the first that fails ends all of them."""
    ends: SimpleQueue[int] = SimpleQueue()
    for place, future in enumerate(futures):
        future.add_done_callback(functools.partial(_note, ends, place))
    try:
        for _ in names:
            place = _next_end(client, ends)
            if futures[place].status in ("error", "cancelled"):
                _refuse(futures[place], names[place])
            yield place
    except BaseException:
        for future in futures:  # nobody wants them any more, so those that wait are not computed
            future.release()
        raise


def _note(ends: "SimpleQueue[int]", place: int, _: Any) -> None:
    """Put down that a future has ended."""
    ends.put(place)


def _next_end(client: Any, ends: "SimpleQueue[int]") -> int:
    """Wait for a future to end, as long as there is a worker to end it."""
    alone_since: float | None = None
    while True:
        try:
            return ends.get(timeout=POLL_SECONDS)
        except Empty:
            if client.status == "closed":
                raise ConnectionError(_CLOSED) from None
            if client.status != "running" or client.nthreads():
                alone_since = None
                continue
        now = time.monotonic()
        alone_since = now if alone_since is None else alone_since
        if now - alone_since > PATIENCE_SECONDS:
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
