"""Requests counted in one pass or several; that counts are those of NumPy is for every engine to show."""

import numpy as np
import pyarrow as pa
import pytest

from rulegrove._hashing import hash_positions
from rulegrove.columns import Feature
from rulegrove.design.linear import fit_linear_terms
from rulegrove.engines import counting
from rulegrove.engines.counting import CodedRows, JudgeTask, count_over, run_marked
from rulegrove.engines.local import LocalEngine
from rulegrove.engines.reading import Layout
from rulegrove.estimators._design import Request
from rulegrove.estimators._sampling import HashFolds, RowCode, TargetCode
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Condition, Rule

TABLE = pa.table({"a": np.arange(100.0), "y": np.arange(100.0) % 7})
LAYOUT = Layout(("a",), "y", None, "numbers")
CODE = RowCode((Feature("a"),), TargetCode(), False, HashFolds(0, 2))
LINES = fit_linear_terms(np.empty((1, 0)), None, np.zeros(1, dtype=np.int64))
REQUESTS = [Request((Rule((Condition(0, upper=10.0 * k),)),), LINES) for k in range(1, 5)]


def count(mark=None, **options):
    passes = []
    engine = LocalEngine(TABLE, batch_rows=30)
    map_reduce = engine.map_reduce
    engine.map_reduce = lambda task, on_progress=None: passes.append(len(task.requests)) or map_reduce(task)
    return list(count_over(engine, CodedRows(LAYOUT, CODE, **options), REQUESTS, mark=mark)), passes


def test_states_that_would_be_too_large_take_several_passes(monkeypatch):
    whole, passes = count()
    assert passes == [4]
    assert [int(found.support.sum()) for found in whole] == [11, 21, 31, 41]
    monkeypatch.setattr(counting, "STATE_BYTES", 2 * 8 * 2 * (1 + LINES.n_terms) ** 2)
    parts, passes = count()
    assert passes == [2, 2]
    for found, expected in zip(parts, whole, strict=True):
        for name, values in vars(expected).items():
            np.testing.assert_array_equal(getattr(found, name), values)


def test_a_limit_leaves_rows_out():
    [found, *_], _ = count(seed=1, limit=2**62)
    assert 0 < found.n_rows.sum() < 50


def test_folds_go_by_positions_after_the_rows_before():
    [plain, *_], _ = count()
    [shifted, *_], _ = count(shift=1000)
    assert plain.n_rows.sum() == shifted.n_rows.sum() == 100
    assert plain.support.sum() == shifted.support.sum()
    assert (plain.support != shifted.support).any()


def test_other_rows_than_were_drawn_are_refused():
    with pytest.raises(InvalidInputError, match="The target 'y' had other values, or its rows another order"):
        count(mark=1)


class Listed:
    """Targets of rows; a state."""

    def __init__(self, targets=()):
        self.targets = list(targets)

    def merge(self, other):
        return Listed(self.targets + other.targets)


class Listing:
    """A measure that lists the targets."""

    empty = Listed

    def __call__(self, columns, targets, weights, folds, n_threads=1, on_progress=None):
        return Listed(targets[:, 0])


def test_all_rows_are_measured_or_those_below_a_limit():
    engine = LocalEngine(TABLE, batch_rows=30)
    found = {}
    for limit in (2**64, 2**62, 1):
        task = JudgeTask(CodedRows(LAYOUT, CODE, seed=1, limit=limit), Listing())
        [found[limit]] = run_marked(engine, task, LAYOUT, None, None)
        with pytest.raises(InvalidInputError, match="The target 'y' had other values, or its rows another order"):
            run_marked(engine, task, LAYOUT, 1, None)
    assert found[2**64].targets == TABLE["y"].to_pylist()
    below = hash_positions(1, np.arange(100)) < np.uint64(2**62)
    assert found[2**62].targets == TABLE["y"].filter(pa.array(below)).to_pylist()
    assert found[1].targets == []
