"""Tables of every kind give the same blocks, and bad ones a clear sentence."""

import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix
from sklearn.utils import check_array

from rulegrove.columns import Feature, Reading, as_table, encode_columns, learn_columns
from rulegrove.exceptions import InvalidInputError

RECORDS = {
    "size": [1.5, None, 3.0, -2.0],
    "colour": ["red", None, "blue", "red"],
    "grade": pd.Categorical(["u", "v", "u", None], categories=["v", "u", "never"]),
    "count": pd.array([1, None, 3, 4], dtype="Int64"),
    "yes": [True, False, True, True],
    "perhaps": pd.array([True, None, False, True], dtype="boolean"),
}
EXPECTED = np.array(
    [
        [1.5, np.nan, 3.0, -2.0],
        [1, np.nan, 0, 1],
        [0, 1, 0, np.nan],
        [1, np.nan, 3, 4],
        [1, 0, 1, 1],
        [1, np.nan, 0, 1],
    ]
)


def make_pandas():
    return pd.DataFrame(RECORDS)


def make_polars():
    return pl.from_pandas(make_pandas())


def make_arrow():
    return pa.Table.from_pandas(make_pandas())


@pytest.mark.parametrize("make", [make_pandas, make_polars, make_arrow])
def test_frames_of_every_kind_give_the_same_block(make):
    columns = learn_columns(make())
    assert [feature.name for feature in columns.features] == list(RECORDS)
    assert columns.features[1].categories == ("blue", "red")
    assert columns.features[2].categories == ("u", "v")  # only those seen
    assert [feature.name for feature in columns.features if feature.boolean] == ["yes", "perhaps"]
    np.testing.assert_array_equal(columns.take(slice(None)), EXPECTED)
    np.testing.assert_array_equal(encode_columns(make(), columns.features).take(slice(None)), EXPECTED)


@given(
    st.sampled_from(["C", "F"]),
    st.sampled_from([np.float32, np.float64]),
    st.integers(1, 3000),
    st.integers(0, 10**6),
)
def test_blocks_are_the_rows_asked_for(order, dtype, n_rows, seed):
    rng = np.random.default_rng(seed)
    X = np.asarray(rng.normal(size=(n_rows, 3)), dtype=dtype, order=order)
    columns = learn_columns(X)
    rows = rng.integers(0, n_rows, rng.integers(0, 2000))
    wanted = np.array([2, 0])
    np.testing.assert_array_equal(columns.take(rows, wanted), X[rows][:, wanted].T)
    start = int(rng.integers(0, n_rows))
    np.testing.assert_array_equal(columns.take(slice(start, n_rows)), X[start:].T)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int64, np.uint16, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_of_numbers_is_a_table_as_it_stands(dtype, order):
    X = np.ones((4, 3), dtype=dtype, order=order)
    for table in (X, X[::2, 1:], X[:1]):
        assert as_table(table) is table
        assert check_array(table, dtype=None, ensure_all_finite=False) is table  # what the short way leaves out


@pytest.mark.parametrize(
    "table",
    [
        np.ones(3),
        np.ones((2, 2, 2)),
        np.array(1.0),
        np.empty((0, 2)),
        np.empty((2, 0)),
        np.ones((2, 2), dtype=complex),
        np.ones((2, 2)).view(np.matrix),
        [1.0, 2.0],
        "text",
    ],
    ids=str,
)
def test_what_is_no_table_is_refused_in_the_words_of_scikit_learn(table):
    with pytest.raises((TypeError, ValueError)) as expected:
        check_array(table, dtype=None, ensure_all_finite=False)
    with pytest.raises(type(expected.value)) as told:
        as_table(table)
    assert str(told.value) == str(expected.value)


def test_float32_is_read_in_place_and_widened_exactly():
    X = np.array([[0.1], [0.2]], dtype=np.float32)
    columns = learn_columns(X)
    assert columns.take(slice(None))[0, 0] == float(np.float32(0.1))
    X[0, 0] = 7
    assert columns.take(slice(None))[0, 0] == 7


def test_unseen_category_gets_a_code_of_its_own_and_missing_stays_missing():
    colour = Feature("colour", ("blue", "red"))
    frame = pd.DataFrame({"colour": ["green", None, "blue"]})
    np.testing.assert_array_equal(encode_columns(frame, [colour]).take(slice(None)), [[2, np.nan, 0]])


@pytest.mark.parametrize("chosen", [["b"], [1], [False, True]])
def test_numbers_become_categories_when_asked(chosen):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [10, 30, 20]})
    columns = learn_columns(frame, Reading(categorical=chosen))
    assert columns.features[1].categories == (10.0, 20.0, 30.0)
    assert columns.features[0].categories is None
    np.testing.assert_array_equal(columns.take(slice(None))[1], [0, 2, 1])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "must be unique; got 'a' more than once"),
        (pa.table([[1], [2]], names=["a", "a"]), "must be unique; got 'a' more than once"),
        (
            pd.DataFrame({"wait": pd.to_timedelta([3], unit="h")}),
            r"Column 0 \('wait'\) is neither numeric nor categorical nor a date",
        ),
        (pl.DataFrame({"many": [[1]]}), r"Column 0 \('many'\) is neither numeric nor categorical"),
        (pd.DataFrame({"a": [0.0], "b": [np.inf]}), r"Column 1 \('b'\) must be finite or missing; got inf in row 0"),
        (np.array([[1.0, -np.inf]]), r"Column 1 \('x1'\) must be finite"),
        (pd.DataFrame(), "0 sample"),
        (pd.DataFrame({"a": []}), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        (np.array([["a"]]), "array of text"),
        (pl.LazyFrame({"a": [1]}), "collect"),
        (np.array([["3"]], dtype="timedelta64[h]"), "timedelta64"),
        (pd.DataFrame({"a": [1, 10**400]}), r"Column 0 \('a'\) holds a number beyond 1.8e308"),
    ],
)
def test_bad_tables_get_one_clear_sentence(table, words):
    with pytest.raises(ValueError, match=words):
        learn_columns(table)


@pytest.mark.parametrize("values", [[{"a": 1}], [1, "a"]])
def test_objects_that_are_neither_numbers_nor_text_are_refused(values):
    with pytest.raises(TypeError, match=r"Column 0 \('t'\) is neither numeric nor categorical"):
        learn_columns(pd.DataFrame({"t": pd.Series(values, dtype=object)}))


@pytest.mark.parametrize("kind", [csr_array, csc_array, coo_array, csr_matrix])
def test_sparse_matrices_are_read_as_dense_ones(kind):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((3000, 4)) < 0.8, 0.0, rng.normal(size=(3000, 4)))
    columns = learn_columns(kind(X))
    rows, wanted = rng.integers(0, 3000, 1500), np.array([3, 1])
    np.testing.assert_array_equal(columns.take(rows, wanted), X[rows][:, wanted].T)
    np.testing.assert_array_equal(encode_columns(kind(X), columns.features).take(slice(5, 2000)), X[5:2000].T)
    X[7, 2] = np.inf
    with pytest.raises(InvalidInputError, match=r"Column 2 \('x2'\) must be finite or missing; got inf in row 7"):
        learn_columns(kind(X))


def test_masked_values_are_missing():
    """The mask of a masked array was ignored, and what lay below it was fitted."""
    X = np.ma.MaskedArray([[1, -999], [2, 5]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(learn_columns(X).take(slice(None)), [[1, 2], [np.nan, 5]])
    labels = np.ma.MaskedArray(np.array([["a"], ["b"]], dtype=object), mask=[[False], [True]])
    np.testing.assert_array_equal(learn_columns(labels).take(slice(None)), [[0, np.nan]])


def test_many_columns_take_time_in_proportion():
    """Each name was counted among all names: a row of 20,000 columns took 13 s."""

    def measure(n_columns):
        """Return processor seconds, in which other work of the machine does not count; the least of three."""
        names = [f"c{k}" for k in range(n_columns)]
        frame, seconds = pd.DataFrame(np.zeros((1, n_columns)), columns=names), []
        for _ in range(3):
            start = time.thread_time()
            encode_columns(frame, [Feature(name) for name in names]).take(slice(None), np.array([3, n_columns - 1]))
            seconds.append(time.thread_time() - start)
        return min(seconds)

    assert measure(20_000) < 100 * measure(2000)  # it was some thousand times


def test_truth_values_are_known_in_arrays_too():
    truths = np.array([[True, False], [False, False]])
    assert [feature.boolean for feature in learn_columns(truths).features] == [True, True]
    objects = np.array([[True, 1, None], [None, False, None]], dtype=object)
    assert [feature.boolean for feature in learn_columns(objects).features] == [True, False, False]
    assert not learn_columns(truths.astype(float)).features[0].boolean
    np.testing.assert_array_equal(learn_columns(truths).take(slice(None)), truths.T)
