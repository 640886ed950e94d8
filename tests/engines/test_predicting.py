"""Predictions from file to file: equal to those in memory, written whole or not at all."""

import resource

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from damaged_files import flip_bit, write_checked
from engine_conformance import in_memory, make_model, make_rows, take
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, engines
from rulegrove.engines import predicting
from rulegrove.exceptions import InvalidInputError

TABLE = take(make_rows(), "two").slice(0, 2000)
X = TABLE.drop_columns(["two"])


@pytest.fixture(scope="module")
def model():
    return in_memory(make_model("two", n_candidates=30), TABLE, "two")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(TABLE, path, row_group_size=300)
    return path


READERS = {".parquet": pq.read_table, ".csv": pyarrow.csv.read_csv, ".feather": pyarrow.feather.read_table}


@pytest.mark.parametrize("suffix", READERS)
def test_predictions_are_those_in_memory(model, source, tmp_path, suffix):
    out = tmp_path / f"out{suffix}"
    assert engines.predict(model, source, out, keep=["b"], batch_rows=170, n_threads=2) == 2000
    found = READERS[suffix](out)
    assert found.column_names == ["b", "prediction", "probability of no", "probability of yes"]
    assert found["prediction"].to_pylist() == model.predict(X).tolist()
    assert found["b"].to_pylist() == TABLE["b"].to_pylist()
    np.testing.assert_array_equal(found["probability of yes"].to_numpy(), model.predict_proba(X)[:, 1])


def test_scores_may_be_asked_for(model, source, tmp_path):
    engines.predict(model, source, tmp_path / "a.parquet", columns=["score"])
    found = pq.read_table(tmp_path / "a.parquet")
    np.testing.assert_array_equal(found["score"].to_numpy(), model.decision_function(X))


def test_only_what_the_terms_speak_of_is_read(tmp_path):
    rng = np.random.default_rng(0)
    table = pa.table({name: rng.normal(size=500) for name in "abc"})
    y = (table["b"].to_numpy() > 0).astype(float)
    model = RuleEnsembleRegressor(n_candidates=4, max_terms=1, random_state=0).fit(table, y)
    engines.predict(model, table.select(["b"]), tmp_path / "a.parquet")
    np.testing.assert_array_equal(pq.read_table(tmp_path / "a.parquet")["prediction"].to_numpy(), model.predict(table))


def test_a_model_without_terms_predicts(tmp_path):
    model = make_model("two", selection=1e6)
    in_memory(model, TABLE, "two")
    assert len(model.rules_) == 0
    for table in (TABLE, TABLE.select(["two"])):  # without any attribute too
        assert engines.predict(model, table, tmp_path / "a.parquet") == 2000
        found = pq.read_table(tmp_path / "a.parquet")
        assert found["prediction"].to_pylist() == model.predict(X).tolist()
        np.testing.assert_array_equal(found["probability of yes"].to_numpy(), model.predict_proba(X)[:, 1])
        assert engines.score(model, table, "two") == pytest.approx(model.score(X, TABLE["two"].to_pylist()))


def test_a_stream_is_read_once(model, tmp_path):
    assert engines.predict(model, TABLE.to_reader(100), tmp_path / "a.parquet") == 2000
    y = TABLE["two"].to_pylist()
    assert engines.score(model, TABLE.to_reader(100), "two") == pytest.approx(model.score(X, y))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"out": "a.txt"}, "must end in one of"),
        ({"out": "none/a.parquet"}, "There is no folder"),
        ({"keep": ["zz"]}, "`keep` names the column 'zz'"),
        ({"columns": ["odds"]}, "`columns` must be some of"),
        ({"batch_rows": 0}, "`batch_rows` must be a whole number of at least 1; got 0"),
        ({"batch_rows": "many"}, "`batch_rows` must be a whole number of at least 1; got 'many'"),
        ({"n_threads": -2}, "`n_threads` must be a whole number of at least 1; got -2"),
        ({"source": X.drop_columns(["a"])}, "needs the column 'a'"),
    ],
)
def test_bad_arguments_are_told_before_the_work(model, tmp_path, arguments, words):
    arguments = {"source": TABLE, "out": "a.parquet", **arguments}
    source, out = arguments.pop("source"), tmp_path / arguments.pop("out")
    with pytest.raises(InvalidInputError, match=words):
        engines.predict(model, source, out, **arguments)
    assert not list(tmp_path.iterdir())


def test_a_kept_column_must_not_hide_a_result(model, tmp_path):
    with pytest.raises(InvalidInputError, match="a column of the result itself"):
        engines.predict(model, TABLE.append_column("prediction", TABLE["a"]), tmp_path / "a.csv", keep=["prediction"])


def test_models_without_names_are_refused(tmp_path):
    model = RuleEnsembleRegressor(n_candidates=4).fit(np.arange(40.0).reshape(20, 2), np.arange(20.0))
    with pytest.raises(InvalidInputError, match="without names"):
        engines.predict(model, TABLE, tmp_path / "a.parquet")


def test_a_damaged_part_leaves_nothing_behind(model, source, tmp_path):
    content = bytearray(source.read_bytes())
    column = pq.ParquetFile(source).metadata.row_group(5).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    content[start : start + 40] = b"\xff" * 40
    source.write_bytes(content)
    out = tmp_path / "out.parquet"
    out.write_text("the one before")
    with pytest.raises(InvalidInputError, match=r"rows\.parquet'"):
        engines.predict(model, source, out, batch_rows=100)
    assert out.read_text() == "the one before"
    assert {path.name for path in tmp_path.iterdir()} == {"rows.parquet", "out.parquet"}


def test_a_full_disk_leaves_nothing_behind(model, tmp_path, monkeypatch):
    monkeypatch.setattr(predicting, "GROUP_ROWS", 100)
    out = tmp_path / "out.parquet"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limits[1]))
    try:
        with pytest.raises(InvalidInputError, match=r"out\.parquet' cannot be written: File too large"):
            engines.predict(model, TABLE, out, batch_rows=100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())


def test_nothing_to_score(model):
    with pytest.raises(InvalidInputError, match="nothing to score"):
        engines.score(model, TABLE.slice(0, 0), "two")


def test_scores_need_the_columns_that_terms_speak_of_and_no_others():
    rules = ["b > 2 and e <= 0.5", "a > 1"]
    own = in_memory(RuleEnsembleClassifier.from_rules(rules, forced=True, terms="rules"), TABLE, "two")
    expected = own.score(X, TABLE["two"].to_pylist())
    for names in (["two", "e", "b", "a"], ["a", "two", "b", "c", "e"]):
        assert engines.score(own, TABLE.select(names), "two") == pytest.approx(expected)
    with pytest.raises(InvalidInputError, match="needs the column 'b'"):
        engines.score(own, TABLE.select(["a", "two"]), "two")
    with pytest.raises(InvalidInputError, match="`target` names 'to', which is no column; there are 'a', 'b', 'c'"):
        engines.score(own, TABLE, "to")


@pytest.mark.parametrize("arguments", [{"batch_rows": 0}, {"n_threads": 1.0}])
def test_counts_that_are_none_are_told(model, arguments):
    with pytest.raises(InvalidInputError, match="must be a whole number of at least 1; got"):
        engines.score(model, TABLE, "two", **arguments)


@pytest.mark.parametrize("kind", ["file", "dataset"])
def test_a_flipped_bit_ends_predictions_and_scores(model, tmp_path, kind):
    path, out = tmp_path / "rows.parquet", tmp_path / "out.parquet"
    write_checked(TABLE, path, row_group_size=300)
    flip_bit(path, group=2)
    source = path if kind == "file" else ds.dataset(path)
    for call in (lambda: engines.predict(model, source, out), lambda: engines.score(model, source, "two")):
        with pytest.raises(InvalidInputError, match=r"rows\.parquet'.*The file is damaged"):
            call()
    assert not out.exists()


@pytest.mark.parametrize("how", ["path", "list", "pattern", "folder", "dataset", "link", "hard link", "detour"])
def test_what_is_read_is_never_overwritten(model, source, tmp_path, how):
    """Predictions were put in the place of the rows they were made from."""
    content, out, rows = source.read_bytes(), source, source
    if how == "link":
        out = tmp_path / "link.parquet"
        out.symlink_to(source)
    elif how == "hard link":
        out = tmp_path / "link.parquet"
        out.hardlink_to(source)
    elif how == "detour":
        (tmp_path / "sub").mkdir()
        out = tmp_path / "sub" / ".." / "rows.parquet"
    else:
        pattern = str(tmp_path / "*.parquet")
        kinds = {"list": [source], "pattern": pattern, "folder": tmp_path, "dataset": ds.dataset(source)}
        rows = kinds.get(how, source)
    with pytest.raises(InvalidInputError, match="is one of the files to read, which would be lost; write to another"):
        engines.predict(model, rows, out)
    assert source.read_bytes() == content


def test_a_folder_is_no_file_to_write(model, tmp_path):
    folder = tmp_path / "rows.parquet"
    folder.mkdir()
    pq.write_table(TABLE, folder / "part.parquet")
    with pytest.raises(InvalidInputError, match=r"rows\.parquet' is a folder; give the name of a file"):
        engines.predict(model, folder, folder)
    assert [path.name for path in folder.iterdir()] == ["part.parquet"]


def test_a_place_that_cannot_be_written_is_told_before_a_row_is_read(model, monkeypatch, tmp_path):
    def batches():
        pytest.fail("a row was read")
        yield

    def mkstemp(**options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", mkstemp)
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    with pytest.raises(InvalidInputError, match=r"out\.parquet' cannot be written: Permission denied"):
        engines.predict(model, reader, tmp_path / "out.parquet")
