"""Batches taken apart: rows without a target, labels of any type, and the mark that tells rows apart."""

import decimal

import numpy as np
import pyarrow as pa
import pytest

from rulegrove.engines.base import Batch
from rulegrove.engines.reading import Layout
from rulegrove.engines.values import read_labels, read_numbers
from rulegrove.exceptions import InvalidInputError

ROWS = pa.record_batch(
    {"a": [1.0, 2.0, None, 4.0], "y": ["no", None, "yes", "no"], "w": [1.0, 2.0, 0.5, 0.0], "z": [1, 2, 3, 4]}
)


def test_rows_without_a_target_are_left_out():
    found = Layout(("a",), "y", "w", "classes").read(Batch(ROWS, 100))
    assert found.rows.to_pydict() == {"a": [1.0, None, 4.0]}
    assert found.y.tolist() == ["no", "yes", "no"]
    assert found.weights.tolist() == [1.0, 0.5, 0.0]
    assert found.positions.tolist() == [100, 102, 103]


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(InvalidInputError, match="There is no column 'b' here, though there is one elsewhere"):
        Layout(("a", "b"), "y", None, "classes").read(Batch(ROWS, 0))


@pytest.mark.parametrize("weight", [-1.0, np.nan])
def test_a_weight_that_is_none_names_its_row(weight):
    rows = ROWS.set_column(2, "w", pa.array([1.0, 1.0, 1.0, weight]))
    with pytest.raises(InvalidInputError, match="column 'w' must be numbers from 0 on; row 13 has none such"):
        Layout(("a",), "y", "w", "classes").read(Batch(rows, 10))


@pytest.mark.parametrize(("target", "values"), [("y", "classes"), ("z", "classes"), ("z", "numbers")])
def test_marks_of_batches_add_up_and_tell_order(target, values):
    layout = Layout(("a",), target, None, values)
    whole = layout.read(Batch(ROWS, 5)).mark()
    parts = [layout.read(Batch(ROWS.slice(start, 2), 5 + start)).mark() for start in (0, 2)]
    assert whole == sum(parts) % 2**64
    assert layout.read(Batch(ROWS.take(pa.array([2, 1, 0, 3])), 5)).mark() != whole


def test_rows_below_a_limit_of_their_random_numbers():
    rows = Layout(("a",), "z", None, "numbers").read(Batch(ROWS, 0))
    assert rows.below(3, 2**64).all()
    assert not rows.below(3, 0).any()
    some = rows.below(3, 2**63)
    assert rows.take(some).positions.tolist() == np.flatnonzero(some).tolist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array(["b", "a"]), ["b", "a"]),
        (pa.array(["b", "a"], pa.large_string()), ["b", "a"]),
        (pa.array(["b", "a"]).dictionary_encode(), ["b", "a"]),
        (pa.array([2, 1], pa.int8()), [2, 1]),
        (pa.array([True, False]), [True, False]),
        (pa.array([decimal.Decimal("1.5")]), [1.5]),
        (pa.nulls(0), []),
    ],
)
def test_labels_of_any_type(values, expected):
    assert read_labels(values, "y").tolist() == expected


def test_what_is_neither_a_label_nor_a_number():
    with pytest.raises(InvalidInputError, match="The target 'y' must be numbers or text; got date32"):
        read_labels(pa.array([1], pa.int32()).cast(pa.date32()), "y")
    with pytest.raises(InvalidInputError, match="Column 'y' must be numbers; got string"):
        read_numbers(pa.array(["1"]), "y")
    with pytest.raises(InvalidInputError, match="Column 'y' must be finite; got an infinite value"):
        read_numbers(pa.array([np.inf]), "y")
