"""Statistics files: what is read is what was written, and a bad file is one clear sentence."""

import json
import pickle
import re

import numpy as np
import pytest

from engine_conformance import make_model, make_rows, take
from rulegrove import engines
from rulegrove.exceptions import InvalidInputError


@pytest.fixture(scope="module", params=["number", "two", "three"])
def kept(request):
    table = take(make_rows(), request.param, "floats").slice(0, 1500)
    model = make_model(request.param, multiclass="ovr") if request.param == "three" else make_model(request.param)
    return engines.fit(model, table, request.param, weights="floats", keep_statistics=True).statistics_


def test_what_is_read_is_what_was_written(kept, tmp_path):
    path = tmp_path / "statistics.npz"
    kept.save(path)
    found = engines.load_statistics(path)
    assert found.is_like(kept)
    assert found.n_positions == kept.n_positions
    for own, others in zip(found.pools, kept.pools, strict=True):
        assert own.terms.aliases == others.terms.aliases
        for name, values in vars(others.statistics).items():
            np.testing.assert_array_equal(getattr(own.statistics, name), values)
    assert found.merge(kept).n_rows == 2 * kept.n_rows


def rewrite(path, change):
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda header, arrays: header.update(format="other"), "is no statistics file"),
        (lambda header, arrays: header.update(version=9), "the layout 9"),
        (lambda header, arrays: header.pop("features"), "with the field 'features'"),
        (lambda header, arrays: header.update(n_folds=-1), "`n_folds` must be an integer"),
        (lambda header, arrays: header.update(fold_seed="x"), "`fold_seed` must be"),
        (lambda header, arrays: arrays.pop("0.x_y"), "no array '0.x_y'"),
        (lambda header, arrays: arrays.update({"0.y_y": np.zeros(7)}), "must have the shape"),
        (lambda header, arrays: arrays.update({"0.x_y": arrays["0.x_y"] * np.nan}), "not finite"),
    ],
)
def test_bad_files_are_named_and_told(tmp_path, kept, change, words):
    path = tmp_path / "bad.npz"
    kept.save(path)
    rewrite(path, change)
    with pytest.raises(InvalidInputError, match=re.escape(words)) as caught:
        engines.load_statistics(path)
    assert "bad.npz" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_something_else(tmp_path):
    with pytest.raises(InvalidInputError, match="cannot be read"):
        engines.load_statistics(tmp_path / "none.npz")
    path = tmp_path / "a.npz"
    for content in (b"", b"PK\x03\x04 but not much of it", pickle.dumps([1, 2])):
        path.write_bytes(content)
        with pytest.raises(InvalidInputError, match="is no statistics file"):
            engines.load_statistics(path)
    np.savez(path, header=np.array([object()]))
    with pytest.raises(InvalidInputError, match="is no statistics file"):
        engines.load_statistics(path)
