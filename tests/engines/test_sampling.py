"""Rows drawn from a table in parts; that these have the smallest random numbers is for every engine to show."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rulegrove._hashing import hash_positions
from rulegrove.engines import sampling
from rulegrove.engines.local import LocalEngine
from rulegrove.engines.reading import Layout
from rulegrove.engines.sampling import draw_sample, find_limit
from rulegrove.exceptions import InvalidInputError

LAYOUT = Layout(("a", "c"), "y", None, "classes")
WEIGHTED = Layout(("a", "c"), "y", "w", "classes")


def make_table(n_rows=2000):
    rng = np.random.default_rng(0)
    labels = rng.choice(["p", "qq", "rrr"], n_rows)
    attributes = {"a": rng.normal(size=n_rows), "c": rng.choice(["x", "y"], n_rows)}
    return pa.table({**attributes, "y": labels, "w": np.ones(n_rows)})


def test_few_rows_that_count_are_found_in_a_further_pass():
    table = make_table()
    counted = np.arange(2000) % 40 == 7
    table = table.set_column(3, "w", pa.array(np.where(counted, 2.0, 0.0)))
    passes = []
    engine = LocalEngine(table)
    map_reduce = engine.map_reduce
    engine.map_reduce = lambda task, on_progress=None: passes.append(task.limit) or map_reduce(task, on_progress)
    found = draw_sample(engine, WEIGHTED, 3, lambda n_rows: 30)
    own = np.flatnonzero(counted)
    assert found.positions.tolist() == sorted(own[np.argsort(hash_positions(3, own))[:30]].tolist())
    assert found.weights.tolist() == [2.0] * 30
    assert len(passes) > 1
    assert passes == sorted(passes)


def test_a_column_without_values_in_one_file_takes_its_type_from_others(tmp_path):
    table = make_table(100)
    pq.write_table(table.set_column(1, "c", pa.nulls(100)), tmp_path / "0.parquet")
    pq.write_table(table.set_column(1, "c", table["c"].dictionary_encode()), tmp_path / "1.parquet")
    found = draw_sample(LocalEngine(tmp_path), LAYOUT, 0, lambda n_rows: n_rows)
    assert found.rows["c"].to_pylist() == [None] * 100 + table["c"].to_pylist()
    assert found.y.tolist() == 2 * table["y"].to_pylist()


def test_too_many_labels_are_no_classes(monkeypatch):
    monkeypatch.setattr(sampling, "MOST_LABELS", 2)
    with pytest.raises(InvalidInputError, match="The target has more than 2 different values, too many for classes"):
        draw_sample(LocalEngine(make_table()), LAYOUT, 0, lambda n_rows: 10)


@pytest.mark.parametrize("size", [1, 100, 20_000])
def test_a_limit_leaves_room_and_not_much(size):
    n_rows = 50_000
    limit = find_limit(size, n_rows)
    below = (hash_positions(1, np.arange(n_rows)) < np.uint64(min(limit, 2**64 - 1))).sum()
    assert size <= below <= size + 12 * np.sqrt(size) + 80
    assert find_limit(n_rows, n_rows) == 2**64
