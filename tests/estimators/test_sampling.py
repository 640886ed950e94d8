"""What a fit needs of any source of rows: samples by hashes, summaries of targets, targets as numbers, folds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove._hashing import deal_folds, hash_positions
from rulegrove.estimators._sampling import (
    Chance,
    GivenFolds,
    HashFolds,
    RowCode,
    TargetCode,
    TargetSummary,
    draw_lowest,
    draw_positions,
)
from rulegrove.estimators._training import NEVER_HELD_OUT
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
    whole = TargetSummary.of(y, weights, values="classes")
    parts = [TargetSummary.of(y[here], weights[here], values="classes") for here in (slice(0, cut), slice(cut, None))]
    merged = parts[0].merge(parts[1])
    assert merged.labels.tolist() == whole.labels.tolist()
    for name in ("counts", "n_counted", "lightest", "heaviest"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))


def test_weights_vary_after_those_of_the_classes():
    y, weights = np.array(["a", "a", "b"]), np.array([1.0, 1.0, 2.0])
    summary = TargetSummary.of(y, weights, values="classes")
    assert summary.varies(None)
    assert not summary.varies(np.array([2.0, 1.0]))
    assert not summary.varies(np.array([0.0, 1.0]))


def test_unknown_classes_are_named():
    code = TargetCode(np.array(["a", "c"]))
    assert code.read(np.array(["c", "a"]), None).values.tolist() == [[1.0], [-1.0]]
    for label in ("b", "d"):
        with pytest.raises(InvalidInputError, match=f"the class '{label}', which is not one of"):
            code.read(np.array(["a", label]), None)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_without_weight_have_no_fold(weighted):
    """Whoever reads the rows: folds go by their positions, and weights that do not vary are not handed on."""
    positions, weights = np.array([40, 7, 1000, 3]), np.array([2.0, 0.0, 2.0, 1.0])
    dealt = deal_folds(5, positions, 3)
    given = np.full(1001, 9)
    given[positions] = dealt
    for folds in (HashFolds(5, 3), GivenFolds(given, 3)):
        code = RowCode((), TargetCode(offset=1.0), weighted, folds)
        values, own, found = code.read(np.array([1.0, 2.0, 4.0, 0.0]), weights, positions)
        assert values.tolist() == [[0.0], [1.0], [3.0], [-1.0]]
        assert (own is None) != weighted
        assert found.tolist() == [dealt[0], NEVER_HELD_OUT, dealt[2], dealt[3]]


def test_one_state_gives_one_set_of_random_numbers():
    one, same, other = Chance.of(4), Chance.of(np.int64(4)), Chance.of(5)
    assert (one.fold_seed, one.sample_seed) == (same.fold_seed, same.sample_seed)
    assert len({one.fold_seed, one.sample_seed, other.fold_seed, other.sample_seed}) == 4
    for name in ("growing", "regrowing", "folds"):
        draws = [getattr(chance, name).random() for chance in (one, same, other)]
        assert draws[0] == draws[1] != draws[2]
