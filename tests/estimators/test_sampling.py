"""Tables beyond a pool in memory: who is drawn, what is learned from whom, what stays as it was."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove._hashing import hash_positions
from rulegrove.estimators._sampling import TargetCode, TargetSummary, draw_lowest, draw_positions
from rulegrove.exceptions import InvalidInputError


@given(st.lists(st.integers(0, 2**64 - 1), unique=True, min_size=1, max_size=60), st.integers(1, 70))
def test_the_lowest_are_drawn_in_order_with_their_ranks(keys, size):
    keys = np.array(keys, dtype=np.uint64)
    places, ranks = draw_lowest(keys, size)
    order = np.argsort(keys)[:size]
    assert places.tolist() == sorted(order.tolist())
    assert places[np.argsort(ranks)].tolist() == order.tolist()


def test_smaller_samples_are_within_larger_ones():
    positions = np.arange(1000) * 7
    few, _ = draw_positions(3, positions, 100)
    many, ranks = draw_positions(3, positions, 400)
    np.testing.assert_array_equal(many[ranks < 100], few)
    assert few.tolist() == sorted(positions[np.argsort(hash_positions(3, positions))[:100]].tolist())


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0.0, 0.5, 2.0])), max_size=30),
    st.integers(0, 30),
)
def test_summaries_of_parts_merge_to_that_of_all(rows, cut):
    y, weights = np.array([label for label, _ in rows], dtype="<U1"), np.array([weight for _, weight in rows])
    whole = TargetSummary.of(y, weights, classes=True)
    parts = [TargetSummary.of(y[here], weights[here], classes=True) for here in (slice(0, cut), slice(cut, None))]
    merged = parts[0].merge(parts[1])
    assert merged.labels.tolist() == whole.labels.tolist()
    for name in ("counts", "n_counted", "lightest", "heaviest"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))


def test_weights_vary_after_those_of_the_classes():
    y, weights = np.array(["a", "a", "b"]), np.array([1.0, 1.0, 2.0])
    summary = TargetSummary.of(y, weights, classes=True)
    assert summary.varies(None)
    assert not summary.varies(np.array([2.0, 1.0]))
    assert not summary.varies(np.array([0.0, 1.0]))


def test_unknown_classes_are_named():
    code = TargetCode(np.array(["a", "c"]))
    assert code.read(np.array(["c", "a"]), None).values.tolist() == [[1.0], [-1.0]]
    for label in ("b", "d"):
        with pytest.raises(InvalidInputError, match=f"the class '{label}', which is none of"):
            code.read(np.array(["a", label]), None)
