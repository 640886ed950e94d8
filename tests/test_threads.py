"""Results in order, errors passed on, one pool a number of threads."""

import threading

import pytest

from rulegrove._threads import _pool, run_tasks


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_keep_the_order_of_the_items(n_threads):
    assert run_tasks(lambda k: k * k, range(100), n_threads) == [k * k for k in range(100)]
    assert run_tasks(str, iter([]), n_threads) == []


def test_two_threads_run_at_the_same_time():
    """Each task waits for the other: one thread alone would never come back."""
    barrier = threading.Barrier(2, timeout=20)
    names = run_tasks(lambda _: (barrier.wait(), threading.current_thread().name)[1], [0, 1], n_threads=2)
    assert len(set(names)) == 2
    assert all(name.startswith("rulegrove") for name in names)


def test_one_thread_or_one_item_stays_in_the_caller():
    here = threading.current_thread()
    for items, n_threads in (([1, 2, 3], 1), ([1], 4)):
        assert set(run_tasks(lambda _: threading.current_thread(), items, n_threads)) == {here}


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_reaches_the_caller_and_the_pool_lives_on(n_threads):
    with pytest.raises(ZeroDivisionError):
        run_tasks(lambda k: 1 / k, [1, 0, 2], n_threads)
    assert run_tasks(abs, [-1, -2], n_threads) == [1, 2]


def test_pools_are_kept_and_a_forked_process_gets_its_own():
    assert _pool(2, 11) is _pool(2, 11)
    assert _pool(2, 11) is not _pool(2, 12)
