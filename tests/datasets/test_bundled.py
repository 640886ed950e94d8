"""The bundled sets: shape, exact values, and equality with independent copies where those are at hand."""

import csv
from collections import Counter
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from rulegrove.datasets import Dataset, load, make_waveform, names
from rulegrove.exceptions import InvalidInputError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
STORED = [name for name in names() if name != "waveform"]
SHAPES = {
    "breast-w": (699, 9, {"benign": 458, "malignant": 241}),
    "glass": (214, 9, {1: 70, 2: 76, 3: 17, 5: 13, 6: 9, 7: 29}),
    "ion": (351, 34, {"g": 225, "b": 126}),
    "iris": (150, 4, {"Iris-setosa": 50, "Iris-versicolor": 50, "Iris-virginica": 50}),
    "pendigits": (
        10992,
        16,
        {0: 1143, 1: 1143, 2: 1144, 3: 1055, 4: 1144, 5: 1055, 6: 1056, 7: 1142, 8: 1055, 9: 1055},
    ),
    "phoneme": (5404, 5, {0: 3818, 1: 1586}),
    "pima": (768, 8, {"tested_negative": 500, "tested_positive": 268}),
    "sonar": (208, 60, {"Mine": 111, "Rock": 97}),
    "vehicle": (846, 18, {"bus": 218, "saab": 217, "opel": 212, "van": 199}),
}


def test_there_are_the_ten_sets_of_the_paper():
    assert len(names()) == 10
    assert set(names()) == {*SHAPES, "waveform"}


@pytest.mark.parametrize("name", STORED)
def test_shape_and_classes(name):
    dataset = load(name)
    n_rows, n_features, counts = SHAPES[name]
    assert dataset.X.shape == (n_rows, n_features)
    assert dataset.X.dtype == np.float64
    assert dataset.X.flags.c_contiguous
    assert len(set(dataset.feature_names)) == n_features
    assert Counter(dataset.y.tolist()) == counts
    assert dataset.name == name


@pytest.mark.parametrize("name", STORED)
def test_only_breast_w_lacks_cells(name):
    dataset = load(name)
    missing = np.isnan(dataset.X).sum(axis=0)
    expected = np.zeros_like(missing)
    if name == "breast-w":
        expected[dataset.feature_names.index("bare_nuclei")] = 16
    np.testing.assert_array_equal(missing, expected)


@pytest.mark.parametrize("name", STORED)
def test_same_rows_as_the_shared_copy(name):
    path = SHARED / f"{name}.csv"
    if not path.exists():
        pytest.skip("no independent copy at hand: ../shared/data is absent")
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    dataset = load(name)
    assert list(dataset.feature_names) == header[:-1]
    # NaN never equals NaN, None does.
    theirs = Counter((*(float(cell) if cell else None for cell in row[:-1]), row[-1]) for row in rows)
    ours = Counter(
        (*(None if np.isnan(cell) else cell for cell in row), str(label))
        for row, label in zip(dataset.X.tolist(), dataset.y.tolist(), strict=True)
    )
    assert ours == theirs


def test_first_rows_stand_in_the_order_of_the_source():
    assert load("glass").X[0].tolist() == [1.52101, 13.64, 4.49, 1.1, 71.78, 0.06, 8.75, 0.0, 0.0]
    assert load("pima").X[0].tolist() == [6, 148, 72, 35, 0, 33.6, 0.627, 50]
    assert load("phoneme").X[0].tolist() == [1.24, 0.875, -0.205, -0.078, 0.067]


def test_bundle_is_small():
    data = files("rulegrove.datasets").joinpath("data")
    stored = [entry for entry in data.iterdir() if entry.name.endswith(".npz")]
    assert {entry.name for entry in stored} == {f"{name}.npz" for name in STORED}
    assert sum(len(entry.read_bytes()) for entry in stored) < 1_000_000


@pytest.mark.parametrize("name", names())
def test_origins_tell_of_every_set(name):
    assert name in files("rulegrove.datasets").joinpath("data", "ORIGINS.md").read_text(encoding="utf-8")


def test_waveform_is_always_the_same_draw():
    first, second = load("waveform"), load("waveform")
    assert first.X.shape == (5000, 21)
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)
    assert not np.array_equal(first.X, make_waveform(random_state=0).X)


def test_return_X_y_gives_the_arrays_of_the_record():
    X, y = load("iris", return_X_y=True)
    dataset = load("iris")
    assert isinstance(dataset, Dataset)
    np.testing.assert_array_equal(X, dataset.X)
    np.testing.assert_array_equal(y, dataset.y)


def test_arrays_belong_to_the_caller():
    load("iris").X[:] = 0.0
    assert load("iris").X[0, 0] == 5.1


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("Pima", "pima"), ("breastw", "breast-w"), ("vehicles", "vehicle"), ("pen-digits", "pendigits")],
)
def test_unknown_name_suggests_the_closest(wrong, meant):
    with pytest.raises(InvalidInputError, match=f"Did you mean '{meant}'") as error:
        load(wrong)
    assert all(name in str(error.value) for name in names())


@pytest.mark.parametrize("wrong", ["../secret", "", "zzz", None])
def test_unknown_name_without_a_likeness(wrong):
    with pytest.raises(InvalidInputError, match=r"must be one of breast-w, glass.*got [^.]*") as error:
        load(wrong)
    assert "Did you mean" not in str(error.value)
