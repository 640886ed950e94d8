"""Values of a JSON file that refuse what they should not be; whole files are damaged in test_model_file.py."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove.estimators._checked_json import Value, encode, parse
from rulegrove.exceptions import InvalidInputError


def outcome(read):
    """What reading gives: an array as a list, or the words of the error."""
    try:
        return np.asarray(read()).tolist()
    except InvalidInputError as error:
        return str(error)


NUMBERS = st.one_of(
    st.integers(-(10**18), 10**18),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
    st.sampled_from(["inf", "-inf", "nan", "1", ""]),
)


@given(st.lists(NUMBERS, max_size=4), st.booleans(), st.sampled_from([(-np.inf, np.inf), (0.0, 1.0), (-5.0, 1e9)]))
def test_a_list_of_numbers_is_read_as_each_of_them(raw, special, bounds):
    """A list is checked at once where it can be: the result, or the place of the error, is that of one by one."""
    value = Value(raw, "file")
    one_by_one = outcome(lambda: [item.number(*bounds, special=special) for item in value.items()])
    np.testing.assert_equal(outcome(lambda: value.numbers(None, *bounds, special=special)), one_by_one)


@given(st.lists(NUMBERS, max_size=4), st.sampled_from([(0, 3), (-10, 10**18), (0, -1)]))
def test_a_list_of_integers_is_read_as_each_of_them(raw, bounds):
    value = Value(raw, "file")
    one_by_one = outcome(lambda: [item.integer(*bounds) for item in value.items()])
    assert outcome(lambda: value.integers(*bounds)) == one_by_one


def test_an_error_names_the_way_to_its_place():
    document = parse(b'{"outputs": [{"path": {"a\\nb": [1, "x"]}}]}', "model.json")
    path = next(document.keyed()["outputs"].items()).keyed()["path"]
    with pytest.raises(InvalidInputError, match=r"`outputs\[0\].path.a\\nb\[1\]` must be a finite number; got 'x'"):
        path.keyed()["a\nb"].numbers()
    with pytest.raises(InvalidInputError, match="the whole must be a list; got an object of 1"):
        document.items()


def test_optional_fields_have_defaults():
    value = Value({"a": 1}, "file")
    fields = value.fields(["a"], {"b": 2, "c": None})
    assert (fields["a"].raw, fields["b"].raw, fields["b"].place) == (1, 2, "b")
    assert fields["c"].maybe(Value.text) is None
    assert fields["b"].maybe(lambda b: b.integer(0, 5)) == 2
    for required, words in [(["a", "z"], "with the field 'z'"), ([], "without a field 'a'")]:
        with pytest.raises(InvalidInputError, match=words):
            value.fields(required, {"b": 2})


@dataclass(frozen=True)
class Point:
    """A record."""

    x: float
    others: tuple[float, ...]


def test_records_are_encoded_by_their_fields():
    encoded = encode(Point(np.float64(0.1), (np.inf, -np.inf, np.nan)))
    assert json.dumps(encoded, allow_nan=False) == '{"x": 0.1, "others": ["inf", "-inf", "nan"]}'
    assert encode(np.array([[1.5, np.nan], [2.0, 3.0]])) == [[1.5, "nan"], [2.0, 3.0]]
    assert encode((True, 3, "text", None)) == [True, 3, "text", None]
