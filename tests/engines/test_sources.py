"""Rows from anywhere are the same rows, and what cannot be read is named."""

import os
import re

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from damaged_files import flip_bit, write_checked
from rulegrove.engines import sources
from rulegrove.engines.sources import find_files, open_source
from rulegrove.exceptions import InvalidInputError

TABLE = pa.table(
    {"a": np.arange(1000.0), "b": np.arange(1000) % 7, "c": [f"word {k % 3}" if k % 11 else None for k in range(1000)]}
)


@pytest.fixture
def folder(tmp_path):
    """Three files, the last one in a folder of its own, beside what is no data."""
    (tmp_path / "sub").mkdir()
    pq.write_table(TABLE.slice(0, 300), tmp_path / "a.parquet", row_group_size=100)
    pq.write_table(TABLE.slice(300, 0), tmp_path / "b.parquet")
    pq.write_table(TABLE.slice(300, 700), tmp_path / "sub" / "c.parquet", row_group_size=90)
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden.parquet").write_text("")
    (tmp_path / "notes.txt").write_text("no data")
    return tmp_path


def read_all(source, columns=("a", "c"), batch_rows=64):
    """All rows, with checks of positions and sizes."""
    position, found = 0, []
    for partition, n_rows in enumerate(source.count_rows()):
        before = position
        for batch in source.batches(partition, position, columns, batch_rows):
            assert batch.start == position
            assert batch.rows.num_rows <= batch_rows
            position += batch.rows.num_rows
            found.append(pa.Table.from_batches([batch.rows]).select(list(columns)))
        assert position - before == n_rows
    types = pa.schema([(name, pa.string() if name == "c" else pa.float64()) for name in columns])
    return pa.concat_tables([part.cast(types) for part in found])


def make_sources(folder):
    whole = folder.parent / "whole.parquet"
    pq.write_table(TABLE, whole)
    return {
        "file": whole,
        "folder": str(folder),
        "pattern": f"{folder}/**/*.parquet",
        "list": [folder / "a.parquet", folder / "sub"],
        "table": TABLE,
        "batch": TABLE.combine_chunks().to_batches()[0],
        "reader": lambda: TABLE.to_reader(170),
        "dataset": ds.dataset([folder / "a.parquet", folder / "sub" / "c.parquet"]),
        "duckdb": duckdb.sql(f"select * from '{whole}'"),
        "lazy": pl.scan_parquet(whole),
        "polars": pl.DataFrame(TABLE),
    }


KINDS = ("file", "folder", "pattern", "list", "table", "batch", "reader", "dataset", "duckdb", "lazy", "polars")


@pytest.mark.parametrize("kind", KINDS)
def test_all_rows_in_their_order_again_and_again(folder, monkeypatch, kind):
    monkeypatch.setattr(sources, "PARTITION_ROWS", 200)
    source = open_source(make_sources(folder)[kind])
    assert source.schema.names == ["a", "b", "c"]
    assert sum(source.count_rows()) == 1000
    assert source.n_partitions == len(source.count_rows())
    expected = TABLE.select(["a", "c"])
    for _ in range(2):
        assert read_all(source).to_pylist() == expected.to_pylist()


def test_files_are_divided_into_whole_row_groups(folder, monkeypatch):
    monkeypatch.setattr(sources, "PARTITION_ROWS", 200)
    source = open_source(folder)
    assert source.count_rows() == [200, 100, 0, 180, 180, 180, 160]  # a file without rows has a part too
    assert source.name(0) == f"'{folder / 'a.parquet'}', row groups 0 to 1"
    assert source.name(1) == f"'{folder / 'a.parquet'}', row group 2"


def test_a_reader_can_be_read_once():
    source = open_source(TABLE.to_reader(100))
    assert sum(batch.rows.num_rows for batch in source.batches(0, 0, ["a"], 64)) == 1000
    with pytest.raises(InvalidInputError, match="can be read once"):
        list(source.batches(0, 0, ["a"], 64))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: folder / "none.parquet", "There is no file"),
        (lambda folder: folder / "*.csv", "There is no file"),
        (lambda folder: [], "list of files is empty"),
        (lambda folder: 7, "got int"),
        (lambda folder: lambda: 7, "got int"),
    ],
)
def test_what_is_no_source(folder, make, words):
    with pytest.raises(InvalidInputError, match=words):
        open_source(make(folder))


def test_a_folder_without_data(tmp_path):
    with pytest.raises(InvalidInputError, match="folder without Parquet files"):
        find_files(tmp_path)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (TABLE.drop_columns(["b"]), "There is no column 'b' here, which"),
        (TABLE.append_column("z", TABLE["a"]), "There is a column 'z' here, which"),
        (TABLE.set_column(1, "b", TABLE["b"].cast(pa.string())), "Column 'b' is string here but int64 in"),
    ],
)
def test_files_with_other_columns_are_named(folder, table, words):
    pq.write_table(table, folder / "odd.parquet")
    with pytest.raises(InvalidInputError, match=words) as caught:
        open_source(folder)
    assert str(caught.value).startswith(f"'{folder / 'odd.parquet'}': ")


def test_a_column_without_values_may_have_no_type(folder):
    pq.write_table(TABLE.slice(0, 5).set_column(2, "c", pa.nulls(5)), folder / "0.parquet")
    source = open_source(folder)
    assert source.schema.field("c").type == pa.string()
    assert sum(source.count_rows()) == 1005


def test_a_damaged_file_is_named(folder):
    damaged = folder / "b.parquet"
    damaged.write_bytes(b"PAR1 and then nothing of use")
    with pytest.raises(InvalidInputError, match=re.escape(f"'{damaged}': ")):
        open_source(folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read_is_named(folder):
    (folder / "a.parquet").chmod(0)
    with pytest.raises(InvalidInputError, match=r"a\.parquet': Permission denied"):
        open_source(folder)


@pytest.mark.parametrize("kind", ["file", "dataset"])
def test_a_flipped_bit_is_found_by_the_checksum_of_its_page(tmp_path, kind):
    """Pages were read without a look at their checksums, so that damaged numbers were taken for data."""
    path = tmp_path / "a.parquet"
    write_checked(TABLE, path, row_group_size=300)
    flip_bit(path, group=1)
    assert pq.read_table(path)["a"] != TABLE["a"]
    source = open_source(path if kind == "file" else ds.dataset(path))
    assert read_all(source, ["b"])["b"].to_pylist() == TABLE["b"].to_pylist()  # pages that nobody reads do no harm
    with pytest.raises((InvalidInputError, OSError), match="CRC checksum verification failed"):
        read_all(source)


def test_options_of_a_dataset_are_kept_and_not_changed(tmp_path):
    write_checked(TABLE, tmp_path / "a.parquet")
    options = ds.ParquetFragmentScanOptions(buffer_size=4096, use_buffered_stream=True)
    form = ds.ParquetFileFormat(default_fragment_scan_options=options)
    [fragment] = ds.dataset(tmp_path / "a.parquet", format=form).get_fragments()
    found = sources.verifying_options(fragment)
    assert (found.page_checksum_verification, found.buffer_size, found.use_buffered_stream) == (True, 4096, True)
    assert not fragment.format.default_fragment_scan_options.page_checksum_verification
    assert sources.verifying_options(next(ds.dataset(TABLE).get_fragments())) is None


@pytest.mark.parametrize("kind", ["file", "dataset"])
def test_a_file_that_changes_between_two_readings_is_refused(tmp_path, kind):
    """Other rows of the same number were taken for those of the first reading."""
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path)
    source = open_source(path if kind == "file" else ds.dataset(path))
    read_all(source)
    pq.write_table(TABLE.take(list(range(999, -1, -1))), path)
    with pytest.raises(InvalidInputError, match="The file has changed since it was opened"):
        read_all(source)


@pytest.mark.parametrize(
    ("later", "words"), [(900, "900 rows came where 1,000"), (1100, "1,100 rows came where 1,000")]
)
@pytest.mark.parametrize("counted", [True, False])
def test_a_stream_of_another_length_is_refused(later, words, counted):
    """A stream that ended earlier the second time was taken for the same rows."""
    long = pa.concat_tables([TABLE, TABLE])
    lengths = iter([1000, later])
    source = open_source(lambda: long.slice(0, next(lengths)).to_reader(170))
    if counted:
        assert source.count_rows() == [1000]
    else:
        assert len(list(source.batches(0, 0, ["a"], 2000))) == 6
    with pytest.raises(InvalidInputError, match=words):
        list(source.batches(0, 0, ["a"], 64))


def test_a_stream_of_other_columns_is_refused():
    tables = iter([TABLE, TABLE.drop_columns(["a"])])
    source = open_source(lambda: next(tables))
    source.count_rows()
    with pytest.raises(InvalidInputError, match="The columns are not those that came before"):
        list(source.batches(0, 0, ["a"], 64))


def test_a_filtered_dataset_goes_as_a_stream(folder):
    dataset = ds.dataset(folder / "a.parquet").filter(ds.field("a") >= 250)
    with pytest.raises(InvalidInputError, match=r"pass `lambda: dataset\.scanner\(\)\.to_reader\(\)`"):
        open_source(dataset)
    assert open_source(lambda: dataset.scanner().to_reader()).count_rows() == [50]


def test_text_of_polars_can_be_filtered():
    """Rows without a target are filtered out, and Arrow has no such function for views into strings."""
    table = pl.DataFrame({"a": ["x", None, "z"], "y": [1.0, 2.0, 3.0]})
    source = open_source(table)
    assert source.schema.field("a").type == pa.large_string()
    [batch] = source.batches(0, 0, ["a", "y"], 10)
    assert batch.rows.filter(pa.array([True, False, True]))["a"].to_pylist() == ["x", "z"]
