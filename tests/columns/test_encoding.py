import warnings

import numpy as np
import pandas as pd
import pytest

from rulegrove.columns import Feature, encode_columns
from rulegrove.exceptions import InvalidInputError, UnknownCategoryWarning


def test_text_where_numbers_were_is_refused():
    with pytest.raises(InvalidInputError, match=r"Column 0 \('a'\) was numeric when the model was fitted; got text"):
        encode_columns(pd.DataFrame({"a": ["x"]}), [Feature("a")]).take(slice(None))


def test_text_where_categories_were_numbers_is_refused():
    """Fitted on the categories 0, 1, 2 and asked about "0", "1", "2", all rows had an unknown category."""
    feature = Feature("a", (0, 1, 2))
    table = pd.DataFrame({"a": ["0", "1"]})
    with pytest.raises(InvalidInputError, match=r"Column 0 \('a'\) was numbers when the model was fitted; got text"):
        encode_columns(table, [feature]).take(slice(None))
    np.testing.assert_array_equal(encode_columns(table.astype(float), [feature]).take(slice(None)), [[0, 1]])


def test_pooled_categories_take_all_that_is_not_known():
    feature = Feature("town", ("Bonn", "Kiel"), pooled=True)
    frame = pd.DataFrame({"town": ["Kiel", "Rome", None, "Bonn"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = encode_columns(frame, [feature], warn=True).take(slice(None))
    np.testing.assert_array_equal(found, [[1, 2, np.nan, 0]])


def test_unknown_categories_in_every_row_are_said_once():
    columns = encode_columns(pd.DataFrame({"a": ["x", None, "y"]}), [Feature("a", ("b", "c"))], warn=True)
    with pytest.warns(UnknownCategoryWarning, match=r"Column 0 \('a'\): no row has a category.*the first is 'x'"):
        columns.take(slice(None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        columns.take(slice(None))
        encode_columns(pd.DataFrame({"a": ["x"]}), [Feature("a", ("b", "c"))], warn=True).take(slice(None))
        encode_columns(pd.DataFrame({"a": ["x", "b"]}), [Feature("a", ("b", "c"))], warn=True).take(slice(None))


def test_only_the_columns_that_are_taken_need_be_there():
    features, names = [Feature("a"), Feature("b"), Feature("c", ("u",))], ["id", "a", "b", "c"]
    columns = encode_columns(pd.DataFrame({"c": ["u", "v"], "a": [1.0, 2.0]}), features, names)
    np.testing.assert_array_equal(columns.take(slice(None), np.array([2, 0])), [[0, 1], [1, 2]])
    with pytest.raises(InvalidInputError, match="X has no column 'b', which the model needs"):
        columns.take(slice(None))


def test_an_array_goes_by_positions_whatever_was_left_out():
    features, names = [Feature("a"), Feature("b")], ["id", "a", "b"]
    X = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(encode_columns(X, features, names).take(slice(None)), X[:, 1:].T)


def test_numbers_in_text_are_read_as_in_the_fit():
    feature = Feature("rate", as_text=True)
    text = encode_columns(pd.DataFrame({"rate": ["35%", "n/a", None]}), [feature]).take(slice(None))
    np.testing.assert_array_equal(text, [[35, np.nan, np.nan]])
    np.testing.assert_array_equal(encode_columns(pd.DataFrame({"rate": [3.0]}), [feature]).take(slice(None)), [[3.0]])
