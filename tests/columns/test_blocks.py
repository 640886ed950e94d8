import numpy as np

from rulegrove.columns import Columns, Feature


def test_columns_of_arrays_and_of_a_matrix_agree():
    X = np.arange(6.0).reshape(3, 2)
    features = [Feature("a"), Feature("b")]
    by_array = Columns(features, list(X.T))
    np.testing.assert_array_equal(by_array.take(np.array([2, 0])), Columns(features, X).take(np.array([2, 0])))


def test_the_columns_of_the_table_are_those_that_attributes_are_read_from():
    features = [Feature("sold", part="date"), Feature("sold.year", column="sold", part="year"), Feature("size")]
    nothing = np.empty(0)
    assert Columns(features, [nothing] * 3).names == ("sold", "size")
    assert Columns(features, [nothing] * 3, names=["id", "sold", "size"]).names == ("id", "sold", "size")
