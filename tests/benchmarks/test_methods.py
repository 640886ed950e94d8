"""Words of other libraries read as conditions; sizes."""

import pytest
from benchmarks.adapters import Size, read_bounds, read_interval
from benchmarks.methods import METHODS


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
