"""Statistics files: what is read is what was written, and a bad file is one clear sentence."""

import json
import os
import pickle
import re
import tracemalloc
import zipfile

import numpy as np
import pytest

from engine_conformance import make_model, make_rows, take
from rulegrove import engines
from rulegrove.engines import statistics_file
from rulegrove.exceptions import InvalidInputError

N_FUZZ = int(os.environ.get("RULEGROVE_FUZZ_CASES", "600"))  # a long run: RULEGROVE_FUZZ_CASES=20000


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
    with pytest.raises(InvalidInputError, match="'header' is no array of 64-bit numbers"):
        engines.load_statistics(path)
    np.savez(path, other=np.zeros(3))
    with pytest.raises(InvalidInputError, match="is no statistics file: it has no header"):
        engines.load_statistics(path)
    with pytest.raises(InvalidInputError, match="is a folder"):
        engines.load_statistics(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInputError, match="is a pipe or a device"):
        engines.load_statistics(tmp_path / "pipe")


def read(path):
    """The statistics of a file, or the words of the error."""
    try:
        return engines.load_statistics(path), ""
    except InvalidInputError as error:
        return None, str(error)


def sums_of(kept):
    """All arrays of statistics, as bytes."""
    arrays = [array for pool in kept.pools for array in (*vars(pool.statistics).values(), pool.shares)]
    return [None if array is None else (array.shape, array.dtype, array.tobytes()) for array in arrays]


def test_chance_changes_no_sum(kept, tmp_path):
    """Damaged files gave raw errors of zlib and others; now one of ours, or the same statistics."""
    path, rng = tmp_path / "bad.npz", np.random.default_rng(17)
    kept.save(path)
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        directory = archive.start_dir  # what few bytes say of all others
    for case in range(N_FUZZ // 3):
        changed = bytearray(content)
        low = directory if case % 3 == 0 else 0
        place = int(rng.integers(low, len(content)))
        if case % 4 == 0:
            del changed[place:]
        elif case % 4 == 1:
            changed[place : place + int(rng.integers(0, 5))] = rng.bytes(int(rng.integers(0, 5)))
        else:
            changed[place] ^= 1 << int(rng.integers(0, 8))
        path.write_bytes(changed)
        found, message = read(path)
        if found is None:
            assert message.startswith(f"'{path}' ")
            assert len(message) < 400 + len(str(path))
            continue
        assert found.is_like(kept)
        assert (found.n_positions, found.weights) == (kept.n_positions, kept.weights)
        assert sums_of(found) == sums_of(kept)


def test_any_change_of_a_header_or_an_array(kept, tmp_path):
    """An archive that is whole, with a header or an array that is not."""
    path, rng = tmp_path / "bad.npz", np.random.default_rng(18)
    kept.save(path)
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    for case in range(N_FUZZ // 10):
        key = "header" if case % 2 else str(rng.choice(list(arrays)))
        changed = bytearray(arrays[key].tobytes())
        changed[int(rng.integers(0, len(changed)))] ^= 1 << int(rng.integers(0, 8))
        np.savez(path, **{**arrays, key: np.frombuffer(changed, arrays[key].dtype).reshape(arrays[key].shape)})
        found, message = read(path)
        assert found is not None or message.startswith(f"'{path}' ")


def test_arrays_by_columns_and_of_other_machines(kept, tmp_path):
    path = tmp_path / "statistics.npz"
    kept.save(path)
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    changed = {key: np.asfortranarray(array) if array.ndim > 1 else array for key, array in arrays.items()}
    changed["0.weight"] = changed["0.weight"].astype(">f8")
    np.savez(path, **changed)
    found = engines.load_statistics(path)
    for field, array in vars(found.pools[0].statistics).items():
        np.testing.assert_array_equal(array, getattr(kept.pools[0].statistics, field))
        assert array.dtype.isnative


def rewrite_unweighted(tmp_path, change):
    """Statistics of rows without weights, whose counts are whole numbers, with a change."""
    table = take(make_rows(), "number").slice(0, 1500)
    model = engines.fit(make_model("number"), table, "number", keep_statistics=True)
    path = tmp_path / "bad.npz"
    model.statistics_.save(path)
    engines.load_statistics(path)
    rewrite(path, change)
    with pytest.raises(InvalidInputError) as caught:
        engines.load_statistics(path)
    return str(caught.value)


def add(key, place, value):
    """Return a change that adds to an array at a place."""

    def change(header, arrays):
        arrays[key][place] += value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (add("0.n_rows", 0, -100_000), "'0.n_rows' has negative counts"),
        (add("0.n_rows", 0, 2**62), "'0.n_rows' counts more rows than the 1500 of the table"),
        (add("0.support", (0, 0), -10_000), "'0.support' has negative counts"),
        (add("0.support", (0, 0), 10_000), "'0.support' counts more rows than the fold has"),
        (add("0.weight", 0, -1e9), "'0.weight' has negative weights"),
        (add("0.weight", 0, 1.0), "'0.weight' has other weights than the rows"),
        (add("0.rule_gram", (0, 1, 1), 1), "'0.rule_gram' disagrees with the support"),
        (add("0.rule_gram", (0, 0, 1), -10_000), "'0.rule_gram' has negative counts"),
        (add("0.rule_gram", (0, 0, 1), 10_000), "'0.rule_gram' has pairs of rules on more rows than one of the two"),
        (add("0.y_y", (0, 0), -1e12), "'0.y_y' has negative squares"),
        (add("0.linear_gram", (0, 0, 0), -1e12), "'0.linear_gram' has negative squares"),
        (add("0.linear_gram", (0, 0, 1), 1e12), "'0.linear_gram' is not symmetric"),
        (lambda header, arrays: header.update(n_positions=10), "counts more rows than the 10 of the table"),
        (lambda header, arrays: header.update(fold_seed="²"), "`fold_seed` must be an integer below 2**64"),
        (lambda header, arrays: header.update(fold_seed="1" * 5000), "`fold_seed` must be an integer below 2**64"),
        (lambda header, arrays: header.update(version=[[]]), "the layout a list of 1"),
        (lambda header, arrays: header["pools"].append(header["pools"][0]), "`pools` must be a list of 1 or 1"),
        (lambda header, arrays: arrays.update(more=np.zeros(3)), "arrays that no such file has"),
        (lambda header, arrays: arrays.update({"0.y_y": arrays["0.y_y"].astype("f4")}), "no array of 64-bit numbers"),
    ],
)
def test_sums_that_no_rows_have(tmp_path, change, words):
    """Negative supports were accepted, and so was everything else that was finite."""
    message = rewrite_unweighted(tmp_path, change)
    assert words in message
    assert "bad.npz" in message


def test_asymmetric_counts_are_refused(tmp_path):
    def change(header, arrays):
        gram = arrays["0.rule_gram"][0]
        one, other = np.argwhere(np.triu(gram, 1) > 0)[0]
        gram[one, other] -= 1

    assert "'0.rule_gram' is not symmetric" in rewrite_unweighted(tmp_path, change)


def test_small_files_cannot_ask_for_much_memory(kept, tmp_path):
    """A file of 1.5 MB took 1.6 GB, zeros that compress well, in an array that nobody had asked for."""
    path = tmp_path / "bomb.npz"
    kept.save(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("more.npy", "w") as stream:
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (200 * 2**17,)})
        for _ in range(200):
            stream.write(bytes(2**20))
    tracemalloc.start()
    with pytest.raises(InvalidInputError, match="arrays that no such file has"):
        engines.load_statistics(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50 * 2**20


def test_a_header_cannot_promise_more_than_a_machine_has(kept, tmp_path):
    path = tmp_path / "bomb.npz"
    kept.save(path)

    def promise(header, arrays):
        header["n_folds"] = 10_000
        for pool in header["pools"]:
            candidates = pool["candidates"]
            candidates["rules"] = candidates["rules"] * 100
            candidates["aliases"] = candidates["aliases"] * 100

    rewrite(path, promise)
    with pytest.raises(InvalidInputError, match="`pools` must be rules and folds of no more than"):
        engines.load_statistics(path)


def test_what_could_not_be_read_is_not_written(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(statistics_file, "MOST_NUMBERS", 1000)
    with pytest.raises(InvalidInputError, match="a statistics file may have 1000"):
        kept.save(tmp_path / "a.npz")
    assert list(tmp_path.iterdir()) == []
