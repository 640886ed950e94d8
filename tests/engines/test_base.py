"""What engines share: errors that name a partition, states merged in order, neighbours in groups."""

import itertools

import pyarrow as pa
import pytest

from rulegrove.engines.base import NamedError, check_count, cut_batches, group_neighbours, merge_states, naming
from rulegrove.exceptions import InvalidInputError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(2, "No such file or directory", "a.parquet"), "part 3: No such file or directory."),
        (pa.ArrowInvalid("bad page\nand a trace of it"), "part 3: bad page."),
        (InvalidInputError("Column 'a' must be numbers"), "part 3: Column 'a' must be numbers."),
        (TypeError("Column 'a' is of another type"), "part 3: Column 'a' is of another type."),
        (OSError("CRC checksum verification failed"), "part 3: The file is damaged (CRC checksum verification failed)"),
    ],
)
def test_what_is_wrong_with_the_data_names_its_partition(error, words):
    with pytest.raises(NamedError) as caught, naming("part 3"):
        raise error
    assert str(caught.value).startswith(words)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [TypeError("unsupported operand"), KeyError("a"), NamedError("part 1: bad page.")])
def test_errors_of_programs_and_named_ones_pass(error):
    with pytest.raises(type(error)) as caught, naming("part 3"):
        raise error
    assert caught.value is error


class Text(str):
    __slots__ = ()

    def merge(self, other):
        return Text(self + other)


def test_states_are_merged_from_the_first_to_the_last():
    assert merge_states([Text("a")]) == "a"
    assert merge_states(map(Text, "abcd")) == "abcd"


@pytest.mark.parametrize("most", [1, 3, 7, 100])
def test_groups_are_all_items_in_their_order_and_within_the_limit(most):
    sizes = [3, 0, 1, 1, 5, 2, 0, 9, 1]
    groups = list(group_neighbours(sizes, int, most))
    assert [size for group in groups for size in group] == sizes
    assert all(sum(group) <= most or len([size for size in group if size]) == 1 for group in groups)
    assert all(sum(first) + second[0] > most for first, second in itertools.pairwise(groups))


def test_batches_have_their_positions():
    table = pa.concat_tables([pa.table({"a": [1, 2, 3]}), pa.table({"a": [4, 5]})])
    batches = list(cut_batches(table, 10, batch_rows=2))
    assert [batch.start for batch in batches] == [10, 12, 13]
    assert [value for batch in batches for value in batch.rows["a"].to_pylist()] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "2", None])
def test_what_is_no_count(value):
    with pytest.raises(InvalidInputError, match="`n` must be a whole number of at least 1; got"):
        check_count(value, "n")
