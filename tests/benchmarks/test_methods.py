"""Words of other libraries read as conditions; sizes."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.adapters import Size, read_bounds, read_interval
from benchmarks.methods import CUBIST, METHODS, ONLY_TABLES, named


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X3 <= 1.5 and X0 > 2", ((3, "<=", 1.5), (0, ">", 2.0))),
        ("X12 < -0.25", ((12, "<=", -0.25),)),
        ("X1 >= 1e-05", ((1, ">", 1e-5),)),
        ("(X1 >= .5) & (X2<3.)", ((1, ">", 0.5), (2, "<=", 3.0))),
        ("", ()),
    ],
)
def test_bounds_are_read(text, expected):
    assert read_bounds(text, r"X(\d+)") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("147.0-167.0", ((2, ">", 147.0), (2, "<=", 167.0))),
        ("-1.5--0.5", ((2, ">", -1.5), (2, "<=", -0.5))),
        ("-1e-05-2.0", ((2, ">", -1e-5), (2, "<=", 2.0))),
        ("<8.5", ((2, "<=", 8.5),)),
        (">-41.5", ((2, ">", -41.5),)),
        (">=41.5", ((2, ">", 41.5),)),
    ],
)
def test_intervals_are_read(text, expected):
    assert read_interval("2", text) == expected


def test_sizes_of_parts_add_up():
    rules = [((0, "<=", 1.0),), ((1, ">", 2.0), (0, "<=", 3.0))]
    whole = Size.of(rules, n_linear=2) + Size.of(rules[:1])
    assert (whole.terms, whole.conditions, len(whole.rules)) == (5, 4, 3)
    assert (Size(3) + Size.of(rules)).conditions is None


def test_every_method_has_a_kind_and_an_environment():
    assert {method.kind for method in METHODS.values()} == {"ours", "rules", "glass box", "black box"}
    assert {method.environment for method in METHODS.values()} == {"own", "peers"}
    assert all(name == method.name for name, method in METHODS.items())


def test_methods_of_the_real_tables_stay_out_of_the_other_groups():
    assert set(ONLY_TABLES) < set(METHODS)
    assert set(named(lambda method: True)) == set(METHODS) - set(ONLY_TABLES)


class _Recorder:
    """Keeps what it is given, as Cubist would be."""

    def fit(self, X, y):
        self.feature_names_in_, self.X = np.array(X.columns), X
        return self

    def predict(self, X):
        return X


def test_cubist_is_spared_what_it_refuses():
    """Dots and commas in names and words, columns of one category, and categories that the fit has not seen."""
    kinds = ["Good, 90.", "Poor", None, "never seen"]
    X = pd.DataFrame(
        {
            "1st. floor": [1.0, np.nan, 3.0, 4.0],
            "utilities": pd.Categorical(["all", "all", None, "none"]),
            "kind": pd.Categorical(kinds, kinds[:2] + kinds[3:]),
        }
    )
    method = METHODS[CUBIST]
    model = method.fit(_Recorder(), X[:3], np.zeros(3))
    assert list(model.X) == ["X0", "X2"]
    assert model.X["X2"].tolist()[:2] == ["v0", "v1"]
    assert model.X["X2"].isna().tolist() == [False, False, True]
    told = method.predict(model, X)
    assert list(told) == ["X0", "X2"]
    assert told["X2"].isna().tolist() == [False, False, True, True]
