"""The record of a data set and its frames."""

import dataclasses

import numpy as np
import pytest

from rulegrove.datasets import Dataset, load


@pytest.fixture
def dataset():
    return Dataset("tiny", "Two rows.", np.array([[1.0, np.nan], [2.0, 3.0]]), np.array(["no", "yes"]), ("a", "b"))


def test_repr_is_one_line(dataset):
    assert repr(dataset) == "Dataset('tiny', 2 rows, 2 features, 2 classes)"


def test_record_is_frozen(dataset):
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.name = "other"


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frame_holds_features_and_labels(dataset, backend):
    pytest.importorskip(backend)
    frame = dataset.frame(backend)
    assert type(frame).__module__.split(".")[0] == backend
    values = [np.asarray(frame[name]) for name in ("a", "b", "class")]
    np.testing.assert_array_equal(np.column_stack(values[:2]).astype(float), dataset.X)
    assert values[2].tolist() == ["no", "yes"]


def test_frame_of_a_bundled_set_has_its_names():
    pandas = pytest.importorskip("pandas")
    frame = load("breast-w").frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == [*load("breast-w").feature_names, "class"]
    assert frame["bare_nuclei"].isna().sum() == 16


def test_unpacks_as_attributes_and_labels():
    data = load("iris")
    X, y = data
    assert X is data.X
    assert y is data.y
