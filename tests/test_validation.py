"""Parameters, targets and weights: what passes unchanged and what is refused."""

import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import DataConversionWarning

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove._validation import (
    MOST_CLASSES,
    check_class_labels,
    check_groups,
    check_parameters,
    check_regression_target,
    check_weights,
    count_threads,
    find_codes,
    guess_task,
)
from rulegrove.exceptions import InvalidInputError

CLASSIFIER, REGRESSOR = RuleEnsembleClassifier(), RuleEnsembleRegressor()


def test_counted_threads():
    cores = count_threads(-1)
    assert 1 <= cores <= os.cpu_count()
    assert count_threads(-2) == max(1, cores - 1)
    assert count_threads(-10_000) == 1
    assert count_threads(3) == 3
    assert 1 <= count_threads(None) <= cores


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 1, 0],
        [-1, 1, 1, -1],
        [False, True, True, False],
        ["no", "yes", "yes", "no"],
        [2.0, 3.0, 3.0, 2.0],
    ],
)
@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, pl.Series, pa.array])
def test_labels_of_every_kind(labels, wrap):
    classes, codes = check_class_labels(CLASSIFIER, wrap(labels), 4)
    assert classes.tolist() == sorted(set(labels))
    assert codes.tolist() == [0, 1, 1, 0]


def test_a_target_in_one_column_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning):
        classes, codes = check_class_labels(CLASSIFIER, np.array([["a"], ["b"]]), 2)
    assert (classes.tolist(), codes.tolist()) == (["a", "b"], [0, 1])
    with pytest.warns(DataConversionWarning):
        assert check_regression_target(REGRESSOR, np.array([[1], [2]]), 2).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (None, "requires y to be passed"),
        ([1, 1, 1], "at least two classes; got one class only: .*1"),
        ([0.0, np.nan, 1.0], r"y contains NaN or infinity \(row 1: nan\)"),
        ([0.0, 1.0, np.inf], r"y contains NaN or infinity \(row 2: inf\)"),
        (np.array(["a", None, "b"], dtype=object), "y contains NaN: a missing label"),
        (pd.Series(["a", None, "b"]), "y contains NaN: a missing label"),
        ([0.5, 1.5, 2.25], "Unknown label type: continuous"),
        ([1, "a", 1], "y mixes labels of the types int, str; convert them all to text"),
        (np.array([True, "a", True], dtype=object), "y mixes labels of the types bool, str"),
        ([1, 10**400, 1], "y holds integers of more than 64 bits"),
        ([b"a", b"b", b"a"], "y must be labels: text, integers or booleans|holds labels of type bytes"),
        (np.array(["2020-01-01", "2020-01-02", "NaT"], dtype="datetime64[D]"), "y must be labels.*datetime64"),
        (np.array([1 + 1j, 2, 3]), "Complex data not supported"),
        (pd.DataFrame({"a": [1, 2, 1], "b": [1, 2, 1]}), "1d array"),
        (["", "", ""], "one class only: ''"),
    ],
)
def test_labels_that_cannot_be_used(labels, words):
    with pytest.raises(ValueError, match=words):
        check_class_labels(CLASSIFIER, labels, 3)


NULLABLE = {
    "pandas": lambda values: pd.Series(values, dtype="boolean" if isinstance(values[0], bool) else "Int64"),
    "pandas category": lambda values: pd.Series(values, dtype="category"),
    "pandas of Arrow": lambda values: pd.Series(values, dtype=pd.ArrowDtype(pa.array(values).type)),
    "polars": pl.Series,
    "Arrow": lambda values: pa.chunked_array([values]),
    "objects": lambda values: np.array(values, dtype=object),
}


@pytest.mark.parametrize("wrap", NULLABLE.values(), ids=NULLABLE)
@pytest.mark.parametrize("values", [[True, False, True], [7, 3, 7]])
def test_booleans_are_booleans_and_integers_integers(wrap, values):
    """Nullable columns became floats: the classes of a truth were 0.0 and 1.0."""
    classes, codes = check_class_labels(CLASSIFIER, wrap(values), 3)
    assert classes.dtype.kind == ("b" if values[0] is True else "i")
    assert classes.tolist() == sorted(set(values))
    assert codes.tolist() == [1, 0, 1]
    assert guess_task(wrap(values)) == "classification"


@pytest.mark.parametrize("dtype", ["string", "boolean", "Int64"])
def test_a_missing_label_of_a_nullable_column_is_named(dtype):
    """`pd.NA` compared with itself has no truth value: "boolean value of NA is ambiguous" said nothing about y."""
    labels = pd.Series({"string": ["a", pd.NA, "b"]}.get(dtype, [0, pd.NA, 1]), dtype=dtype)
    with pytest.raises(ValueError, match="y contains NaN"):
        check_class_labels(CLASSIFIER, labels, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint16, bool, object])
def test_numeric_targets_become_floats(dtype):
    values = np.array([0, 1, 1], dtype=dtype)
    read = check_regression_target(REGRESSOR, values, 3)
    assert read.dtype == np.float64
    assert read.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (None, "requires y to be passed"),
        ([1.0, np.nan], r"y contains NaN or infinity \(row 1: nan\)"),
        ([-np.inf, 1.0], r"y contains NaN or infinity \(row 0: -inf\)"),
        (["a", "b"], "y must be numeric; got text such as 'a'. Use RuleEnsembleClassifier"),
        (np.array([1.0, "b"], dtype=object), "got text such as 'b'. Use RuleEnsembleClassifier"),
        ([1, 10**400], "y holds an integer beyond the range of floats in row 1"),
        ([object()], "y must be numeric; got object in row 0"),
        ([[1.0], [1.0, 2.0]], "rows of different lengths"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "y must be numeric; got datetime64"),
        (np.array([1 + 1j, 2]), "Complex data not supported"),
        (np.ones((3, 2)), "1d array"),
    ],
)
def test_targets_that_cannot_be_used(target, words):
    with pytest.raises(ValueError, match=words):
        check_regression_target(REGRESSOR, target, 0 if target is None else len(target))


@given(st.lists(st.floats(0, 1e6), min_size=1).filter(any))
def test_weights_pass_unchanged(weights):
    assert check_weights(weights, len(weights)).tolist() == weights
    assert check_weights(None, 7) is None


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, 2.0], r"one weight for each of the 3 rows; got .*\(2,\)"),
        ([[1.0], [2.0], [3.0]], r"one weight for each of the 3 rows; got .*\(3, 1\)"),
        ([1.0, -2.0, 1.0], r"`sample_weight` must not be negative; got -2.0 in row 1"),
        ([0.0, 0.0, 0.0], "`sample_weight` is zero for every row"),
        ([1.0, np.nan, 1.0], "sample_weight contains NaN"),
        ([1.0, np.inf, 1.0], "sample_weight contains infinity"),
    ],
)
def test_weights_that_cannot_be_used(weights, words):
    with pytest.raises(ValueError, match=words):
        check_weights(weights, 3)


def test_a_target_of_another_length_is_refused():
    for check, estimator in ((check_class_labels, CLASSIFIER), (check_regression_target, REGRESSOR)):
        with pytest.raises(InvalidInputError, match="X has 3 rows but y has 2"):
            check(estimator, np.array([0, 1]), 3)


def test_parameters_are_compared_with_their_table():
    check_parameters(CLASSIFIER)
    with pytest.raises(ValueError, match=r"'shrinkage' parameter of RuleEnsembleClassifier .* Got 1.5 instead"):
        check_parameters(RuleEnsembleClassifier(shrinkage=1.5))


@pytest.mark.parametrize(
    "name", ["selection", "max_terms", "n_candidates", "cv", "subsample", "n_jobs", "mean_leaves", "max_features"]
)
@pytest.mark.parametrize("value", [True, np.True_])
def test_a_bool_is_no_number(name, value):
    """`selection=True` was a penalty of 1, `max_terms=True` a cap of one term."""
    with pytest.raises(ValueError, match=rf"['`]{name}['`]"):
        check_parameters(RuleEnsembleRegressor(**{name: value}))


def test_bools_that_are_meant_pass():
    check_parameters(RuleEnsembleClassifier(stable=True, force_rules=False, honest_cv=True, verbose=True))


class Widened(RuleEnsembleRegressor):
    def __init__(self, *, own=True):
        super().__init__()
        self.own = own


def test_a_parameter_of_a_subclass_needs_no_limits():
    check_parameters(Widened())


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (None, None),
        ([7, 3, 7], [1, 0, 1]),
        (["b", "a", "b"], [1, 0, 1]),
        (np.array(["b", 2, "b"], dtype=object), [0, 1, 0]),
        (pd.Series(["b", "a", "b"], dtype="category"), [1, 0, 1]),
        (pl.Series([2.5, 1.0, 2.5]), [1, 0, 1]),
    ],
)
def test_groups_become_numbers(groups, expected):
    found = check_groups(groups, 3)
    assert found is None if expected is None else found.tolist() == expected


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([1, 2], r"`groups` must hold one group for each of the 3 rows; got \(2,\)"),
        ([[1], [2], [3]], r"`groups` must hold one group for each of the 3 rows; got \(3, 1\)"),
        ([1.0, np.nan, 2.0], "`groups` has no group for row 1"),
        (["a", "b", None], "`groups` has no group for row 2"),
    ],
)
def test_groups_that_cannot_be_used(groups, words):
    with pytest.raises(InvalidInputError, match=words):
        check_groups(groups, 3)


@pytest.mark.parametrize("estimator", [CLASSIFIER, REGRESSOR])
def test_every_parameter_has_limits_and_the_constructor_only_stores(estimator):
    assert set(estimator._parameter_constraints) == set(estimator.get_params())
    marked = {name: object() for name in estimator.get_params()}
    assert type(estimator)(**marked).get_params(deep=False) == marked


TARGETS = st.one_of(
    arrays(np.int64, 30, elements=st.integers(-20, 20)),
    arrays(np.float64, 30, elements=st.sampled_from([0.0, 1.0, 2.0, 2.5])),
    arrays(np.bool_, 30),
    arrays("U3", 30, elements=st.sampled_from(["ja", "no"])),
)


@given(TARGETS.filter(lambda y: len(np.unique(y)) > 1))
def test_the_task_is_guessed_from_the_values(y):
    numbers = y.dtype.kind in "iuf"
    many = numbers and (len(np.unique(y)) > MOST_CLASSES or (y != np.round(y)).any())
    assert guess_task(y) == ("regression" if many else "classification")


def test_masked_targets_and_weights_are_missing():
    """Their mask was ignored."""
    masked = np.ma.MaskedArray([1.0, 2.0, 3.0], mask=[False, True, False])
    with pytest.raises(InvalidInputError, match="Input y contains NaN: row 1 is masked"):
        check_regression_target(None, masked, 3)
    with pytest.raises(InvalidInputError, match="Input sample_weight contains NaN: row 1 is masked"):
        check_weights(masked, 3)
    np.testing.assert_array_equal(check_weights(np.ma.MaskedArray([1.0, 2.0]), 2), [1.0, 2.0])


def test_codes_are_places_among_the_classes():
    assert find_codes(["a", "b", "c"], ["c", "a", "c"], 3).tolist() == [2, 0, 2]
    with pytest.raises(InvalidInputError, match="`y` holds 'd' in row 1, which is not a class of the model"):
        find_codes(["a", "b"], ["a", "d"], 2)
    with pytest.raises(InvalidInputError, match=r"one class for each of the 2 rows; got the shape \(3,\)"):
        find_codes(["a", "b"], ["a", "b", "a"], 2)
