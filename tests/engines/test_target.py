"""A look at a target: what it holds does not depend on the parts that it comes in."""

import numpy as np
import pyarrow as pa
import pytest

from rulegrove.engines import target
from rulegrove.engines.local import LocalEngine
from rulegrove.engines.target import look_at
from rulegrove.exceptions import InvalidInputError


def look(values, batch_rows=7):
    return look_at(LocalEngine(pa.table({"y": values}), batch_rows=batch_rows), "y")


@pytest.mark.parametrize("batch_rows", [1, 7, 1000])
def test_words_are_counted(batch_rows):
    found = look(pa.array(["a", None, "b", "a"] * 10), batch_rows)
    assert (found.n_rows, found.n_missing, found.counts) == (40, 10, {"a": 20, "b": 10})
    assert found.task == "classification"


@pytest.mark.parametrize("batch_rows", [1, 7, 1000])
def test_numbers_are_summed(batch_rows):
    values = np.random.default_rng(0).normal(size=200)
    found = look(pa.array(np.append(values, np.nan)), batch_rows)
    assert (found.n_rows, found.n_missing, found.counts, found.task) == (201, 1, None, "regression")
    assert (found.low, found.high) == (values.min(), values.max())
    assert found.mean == pytest.approx(values.mean())


def test_few_whole_numbers_are_classes():
    found = look(pa.array([0, 1, 2, 1] * 5))
    assert found.counts == {0: 5, 1: 10, 2: 5}
    assert found.task == "classification"


def test_nothing_at_all():
    found = look(pa.nulls(5))
    assert (found.n_rows, found.n_missing, found.counts) == (5, 5, {})


def test_too_many_words_are_no_classes(monkeypatch):
    monkeypatch.setattr(target, "MOST_LABELS", 20)
    with pytest.raises(InvalidInputError, match="more than 20 different words; it is no class and no number"):
        look(pa.array([f"word {k}" for k in range(30)]))
