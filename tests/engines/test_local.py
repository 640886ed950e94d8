"""Tables on this machine: Parquet files of any division give the fit in memory."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine_conformance import EngineConformance, make_rows
from rulegrove.engines.local import LocalEngine, in_order


class TestParquetFiles(EngineConformance):
    @pytest.fixture
    def make_engine(self, tmp_path):
        numbers = itertools.count()

        def make(table, sizes):
            folder = tmp_path / str(next(numbers))
            folder.mkdir()
            stops = np.cumsum([0, *sizes])
            for number, (start, stop) in enumerate(itertools.pairwise(stops)):
                pq.write_table(table.slice(start, stop - start), folder / f"part-{number:03}.parquet")
            return LocalEngine(folder, batch_rows=700, n_threads=2)

        return make


def test_results_come_in_order_and_errors_come_through():
    assert list(in_order(abs, iter(range(-50, 0)), n_threads=3)) == list(range(50, 0, -1))
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda k: 1 / k, iter([2, 1, 0, 3]), n_threads=2))


def test_what_is_not_asked_for_is_not_worked_on():
    started = []
    results = in_order(started.append, iter(range(1000)), n_threads=2)
    next(results)
    results.close()
    assert len(started) < 20


def test_one_partition_uses_the_threads_inside(monkeypatch):
    seen = []

    class Task:
        columns = ("a",)

        def __call__(self, batches, n_threads=1):
            seen.append(n_threads)
            return State()

    class State:
        def merge(self, other):
            return self

    table = make_rows().select(["a"])
    LocalEngine(table, n_threads=2).map_reduce(Task())
    monkeypatch.setattr("rulegrove.engines.sources.PARTITION_ROWS", 500)
    LocalEngine(pa.table(table), n_threads=2).map_reduce(Task())
    assert seen == [2] + [1] * 6
