"""What the columns of dirty tables are taken for, and that every doubt is said once."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rulegrove.columns import Reading, learn_columns
from rulegrove.exceptions import (
    DoubtfulColumnWarning,
    DroppedColumnWarning,
    InvalidInputError,
    PooledCategoriesWarning,
)

RNG = np.random.default_rng(0)


def learn(frame, **told):
    return learn_columns(frame, Reading(**told))


def names(columns):
    return [feature.name for feature in columns.features]


def make_water():
    values = [str(value) for value in RNG.integers(100, 400, 1030)]
    values[7] = "unknown"
    return pd.DataFrame({"water": values, "a": RNG.normal(size=1030)})


def test_a_word_among_numbers_is_named():
    """One "unknown" among 1,030 numbers made 206 categories without a word."""
    words = r"Column 0 \('water'\): 1,029 of 1,030 values are numbers; row 7 has 'unknown'.*`numeric_features`"
    with pytest.warns(DoubtfulColumnWarning, match=words) as caught:
        columns = learn(make_water())
    assert len(caught) == 1
    assert columns.features[0].categories is not None


def test_a_word_among_numbers_is_missing_when_told():
    frame = make_water()
    with pytest.warns(
        DoubtfulColumnWarning, match="1 of 1,030 values is not a number and counts as missing.*'unknown'"
    ):
        columns = learn(frame, numeric=["water"])
    assert columns.features[0].as_text
    expected = [np.nan if text == "unknown" else float(text) for text in frame["water"]]
    np.testing.assert_array_equal(columns.take(slice(None))[0], expected)


@pytest.mark.parametrize("write", ["{:.0f}%", "${:,.0f}", "{:,.0f}"])
def test_percent_currency_and_thousands_are_read_when_told(write):
    numbers = RNG.integers(1000, 9000, 50).astype(float)
    frame = pd.DataFrame({"rate": [write.format(number) for number in numbers], "a": RNG.normal(size=50)})
    with pytest.warns(DoubtfulColumnWarning, match="50 of 50 values are numbers; row 0 has"):
        learn(frame, categorical="auto", identifiers=None)
    np.testing.assert_array_equal(learn(frame, numeric=[0]).take(slice(None))[0], numbers)


def test_codes_that_are_numbers_as_text_are_categories_without_a_word():
    frame = pd.DataFrame({"grade": list("123") * 10, "zip": [f"{k:05d}" for k in range(15)] * 2})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(learn(frame).features[1].categories) == 15


def test_numbers_among_text_of_objects_are_refused_unless_told():
    frame = pd.DataFrame({"a": pd.Series([1, 2.5, "n/a"], dtype=object), "b": [1.0, 2.0, 3.0]})
    with pytest.raises(TypeError, match="List it in `numeric_features`"):
        learn(frame)
    with pytest.warns(DoubtfulColumnWarning, match="'n/a'"):
        np.testing.assert_array_equal(learn(frame, numeric=["a"]).take(slice(None))[0], [1, 2.5, np.nan])


def test_many_categories_are_pooled_and_said():
    """More than 255 categories refused the whole fit."""
    towns = [f"town {k}" for k in range(400) for _ in range(k // 40 + 1)]
    frame = pd.DataFrame({"town": towns, "a": RNG.normal(size=len(towns))})
    with pytest.warns(PooledCategoriesWarning, match=r"Column 0 \('town'\) has 400 categories; the 254 most frequent"):
        columns = learn(frame)
    town = columns.features[0]
    assert town.pooled
    assert town.n_categories == columns.n_categories[0] == 255
    codes = columns.take(slice(None))[0]
    expected = [town.categories.index(label) if label in town.categories else 254 for label in towns]
    np.testing.assert_array_equal(codes, expected)
    with pytest.warns(PooledCategoriesWarning, match="the 9 most frequent"):
        assert learn(frame, max_categories=10).features[0].n_categories == 10


def test_few_categories_stay_however_rare_they_are():
    frame = pd.DataFrame({"town": [f"town {k % 30}" for k in range(90)] + ["once"], "a": np.zeros(91)})
    assert not learn(frame).features[0].pooled


def test_text_that_differs_in_every_row_is_left_out():
    frame = pd.DataFrame({"name": [f"patient {k}" for k in range(40)], "a": RNG.normal(size=40)})
    with pytest.warns(
        DroppedColumnWarning, match=r"Column 0 \('name'\) has a different text in every row.*`categorical_f"
    ):
        columns = learn(frame)
    assert names(columns) == ["a"]
    assert columns.names == ("name", "a")
    assert names(learn(frame, categorical=["name"])) == ["name", "a"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_whole_numbers_that_count_the_rows_are_left_out(make):
    order = RNG.permutation(40) + 1000
    frame = make({"a": RNG.normal(size=40), "row": order})
    with pytest.warns(DroppedColumnWarning, match=r"Column 1 \('row'\) numbers the rows.*`identifiers` to None"):
        assert names(learn(frame)) == ["a"]
    assert names(learn(frame, identifiers=None)) == ["a", "row"]
    assert names(learn(frame, identifiers=["a"])) == ["row"]


def test_numbers_that_carry_information_are_never_left_out():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = pd.DataFrame({"even": np.arange(0, 80, 2), "float": np.arange(40.0), "again": [1, *range(1, 40)]})
        assert names(learn(frame)) == list(frame)
        assert names(learn(pd.DataFrame({"only": np.arange(40)}))) == ["only"]
        assert names(learn(np.column_stack([np.arange(40), np.arange(40)]))) == ["x0", "x1"]
        assert names(learn(pd.DataFrame({"few": np.arange(5), "a": np.ones(5)}))) == ["few", "a"]


def test_a_likely_identifier_and_a_column_without_a_name_are_told():
    numbers = RNG.permutation(10_000)[:40]
    with pytest.warns(
        DoubtfulColumnWarning, match=r"Column 0 \('customer_id'\) has a different whole number in every row"
    ):
        assert names(learn(pd.DataFrame({"customer_id": numbers, "a": RNG.normal(size=40)}))) == ["customer_id", "a"]
    with pytest.warns(DroppedColumnWarning, match=r"Column 0 \('Unnamed: 0'\) numbers the rows"):
        assert names(learn(pd.DataFrame({"Unnamed: 0": numbers, "a": RNG.normal(size=40)}))) == ["a"]


def test_an_identifier_is_found_in_a_sample_of_the_rows():
    drawn = np.sort(RNG.choice(100_000, 5000, replace=False))
    frame = pd.DataFrame({"row": drawn, "a": RNG.normal(size=5000)})
    with pytest.warns(DroppedColumnWarning, match="numbers the rows"):
        assert names(learn_columns(frame, n_rows=100_000)) == ["a"]
    assert names(learn(frame)) == ["row", "a"]


def test_integers_that_a_float_would_round_are_no_categories():
    """2**53 and 2**53 + 1 were two categories for Python and one for DuckDB and ONNX."""
    frame = pd.DataFrame({"code": [2**53, 2**53 + 1] * 5, "a": np.arange(10.0)})
    with pytest.raises(InvalidInputError, match=r"Column 0 \('code'\) has categories.*2\*\*53 or more.*to text"):
        learn(frame, categorical=["code"])
    with pytest.raises(InvalidInputError, match=r"2\*\*53 or more"):
        learn(pd.DataFrame({"code": pd.Categorical([2**53, 2**53 + 1] * 5), "a": np.arange(10.0)}))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"categorical": ["nope"]}, "`categorical_features` names 'nope', which is not a column"),
        ({"categorical": [0.5]}, "`categorical_features` names 0.5, which is not a column"),
        ({"categorical": [True]}, "mask `categorical_features` has 1 entries for 2 columns"),
        ({"categorical": []}, "holds text but is not in `categorical_features`=[]"),
        ({"categorical": None}, "holds text but is not in `categorical_features`=None"),
        ({"numeric": ["c"]}, "`numeric_features` names 'c', which is not a column"),
        ({"identifiers": [7]}, "`identifiers` names 7, which is not a column"),
        ({"identifiers": ["a", "b"]}, "`identifiers` leaves out every column"),
        ({"categorical": ["b"], "numeric": ["b"]}, "is in both `categorical_features` and `numeric_features`"),
    ],
)
def test_bad_words_about_columns_are_refused(told, words):
    with pytest.raises(InvalidInputError, match=re.escape(words)):
        learn(pd.DataFrame({"a": [1.0], "b": ["x"]}), **told)


def test_categories_that_hardly_ever_come_twice_are_told():
    frame = pd.DataFrame({"bird": [f"N{k // 2}" for k in range(299)], "a": RNG.normal(size=299)})
    with pytest.warns(DoubtfulColumnWarning, match=r"'bird'\) has 150 categories on 299 rows.*`identifiers`"):
        assert names(learn(frame)) == ["bird", "a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn(frame, identifiers=None)
        learn(frame, categorical=["bird"])


def test_dates_that_begin_with_the_day_or_the_month_are_told():
    frame = pd.DataFrame({"day": [None, *(f"{k % 12 + 1}/{k % 28 + 1}/2020" for k in range(39))], "a": np.arange(40.0)})
    with pytest.warns(DoubtfulColumnWarning, match=r"Column 0 \('day'\) looks like dates such as '1/1/2020'"):
        assert names(learn(frame)) == ["day", "a"]
