"""Tables from files: every kind alike, guesses of CSV, and one clear line for what cannot be read."""

import contextlib
import datetime as dt
import gzip
import re
import sys

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

from cli_tables import FAST, TARGET, make_table
from rulegrove.cli.reading import find_name, read_table
from rulegrove.exceptions import InvalidInputError

TABLE = {"a b": [1, 2], 'ä"': [0.5, None], "😀": ["x", None], "ja": [True, False]}


@pytest.mark.parametrize("name", ["a.csv", "a.CSV", "a.tsv", "a.parquet", "a.feather", "a.jsonl"])
def test_every_kind_gives_the_same_table(write, name):
    assert read_table(write(pa.table(TABLE), name)).to_pydict() == TABLE
    assert read_table(write(make_table(), name)).to_pydict() == make_table().to_pydict()


def test_compressed_text_is_unpacked(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert read_table(tmp_path / "a.csv.gz").to_pydict() == {"a": [1], "b": [2]}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a;b\n1;2\n", {"a": [1], "b": [2]}),
        (b"a|b\n1|x,y\n", {"a": [1], "b": ["x,y"]}),
        (b"a\tb\n1\t2\n", {"a": [1], "b": [2]}),
        (b'"x;y;z",b\n1,2\n', {"x;y;z": [1], "b": [2]}),
        (b"a;b\n1,5;x\n-2,25;y\n", {"a": [1.5, -2.25], "b": ["x", "y"]}),  # a decimal comma
        (b"a;b\n1.5;1,2\n", {"a": [1.5], "b": ["1,2"]}),
        ("größe,b\nü,1\n".encode("cp1252"), {"größe": ["ü"], "b": [1]}),
        ("größe,b\nü,1\n".encode("utf-8-sig"), {"größe": ["ü"], "b": [1]}),
        ("größe\tb\nü\t1\n".encode("utf-16"), {"größe": ["ü"], "b": [1]}),
        (b'a,b\n"x\ny",1\n', {"a": ["x\ny"], "b": [1]}),
        (b"a,b\n?,NA\n1,x\n,y\n", {"a": [None, 1, None], "b": [None, "x", "y"]}),
        (b"a\n" + b"1\n" * 600_000 + b"1.5\n", {"a": [1.0] * 600_000 + [1.5]}),  # no integer, as its start would say
        (b"a,b\r\n1,2\r\n", {"a": [1], "b": [2]}),
    ],
)
def test_csv_is_guessed(tmp_path, content, expected):
    (tmp_path / "a.csv").write_bytes(content)
    assert read_table(tmp_path / "a.csv").to_pydict() == expected


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl"])
def test_columns_can_be_text_whatever_they_hold(tmp_path, write, name):
    table = read_table(write(pa.table({"code": [7, 12], "b": [1, 2]}), name), text=["code", "not there"])
    assert table.to_pydict() == {"code": ["7", "12"], "b": [1, 2]}
    (tmp_path / "b.csv").write_text("code\n007\n")
    assert read_table(tmp_path / "b.csv", text=["code"]).to_pydict() == {"code": ["007"]}


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\n\n", "cannot be read as CSV"),
        ("a.csv", b"a,b\n", "no rows"),
        ("a.csv", b"a,b\n1,2\n3\n", "line 3 has 1 field and the header has 2"),
        ("a.csv", b"a,a\n1,2\n", "the column 'a' more than once"),
        ("a.csv", bytes(range(256)) * 8, "cannot be read as CSV"),
        ("a.csv.gz", b"a,b\n1,2\n", "cannot be read"),
        ("a.parquet", b"PAR1 and then nothing", "cannot be read as Parquet"),
        ("a.feather", b"ARROW1 and then nothing", "cannot be read as Feather"),
        ("a.jsonl", b"[1, 2]\n", "cannot be read as JSON lines"),
        ("a.jsonl", b'{"a": 1}\n{"a": ', "cannot be read as JSON lines"),
        ("a.xls", b"PK", "must end in one of .csv"),
        ("a.xlsx", b"PK", "cannot be read as Excel"),
        ("csv", b"a,b\n1,2\n", "must end in one of .csv"),
    ],
)
def test_what_cannot_be_read_is_one_line(refuse, tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    refuse("fit", tmp_path / name, "-t", "b", says=says)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a,b\n1,2\n\n3\n", "line 4 has 1 field and the header has 2; fill up the line."),
        (
            "a;b\n1;2\n3;4;5\n",
            "line 3 has 3 fields and the header has 2; put double quotes around a cell",
        ),
        ('a,b\n"x\ny",2\n"z\nz",1,5\n', "line 4 has 3 fields"),
        ("\n\na,b\n1\n", "line 4 has 1 field"),
        ("a,b\n" + "1,2\n" * 300_000 + "3\n", "line 300002 has 1 field"),
    ],
)
def test_a_line_of_other_fields_is_named(tmp_path, content, says):
    """A ragged file was refused without a word of where."""
    (tmp_path / "a.csv").write_text(content)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content.encode()))
    for name in ("a.csv", "a.csv.gz"):
        with pytest.raises(InvalidInputError, match=re.escape(says)):
            read_table(tmp_path / name)


def write_sheet(path, *rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    book.create_sheet("other").append(["nothing", "of this"])
    book.save(path)
    return path


def test_the_first_sheet_of_excel_is_a_table(tmp_path):
    day, time = dt.datetime(2024, 2, 29), dt.datetime(2024, 2, 29, 13, 45)
    path = write_sheet(
        tmp_path / "a.xlsx",
        [None],
        ["n", "x, y", "ja", "day", "time", "word", None],
        [1, 0.5, True, day, time, "=1+1", None],
        [None],
        [2, None, False, None, None, "NA"],
        [3, 1e-300, True, day.date(), day, 'q"\n', ""],
    )
    sheet = load_workbook(path)
    sheet.worksheets[0]["F3"].data_type = "s"
    sheet.save(path)
    table = read_table(path)
    assert table.to_pydict() == {
        "n": [1, 2, 3],
        "x, y": [0.5, None, 1e-300],
        "ja": [True, False, True],
        "day": [day.date(), None, day.date()],
        "time": [time, None, day],
        "word": ["=1+1", None, 'q"\n'],
    }
    assert read_table(path, text=["n"])["n"].to_pylist() == ["1", "2", "3"]


def test_excel_is_fitted_and_predicted(run, tmp_path):
    table = make_table()
    path = write_sheet(tmp_path / "a.xlsx", table.column_names, *zip(*table.to_pydict().values(), strict=True))
    run("fit", path, "-t", TARGET, "-o", tmp_path / "m.json", *FAST)
    run("predict", tmp_path / "m.json", path, "-o", tmp_path / "out.csv")
    assert read_table(tmp_path / "out.csv").num_rows == table.num_rows


def test_excel_without_rows_or_without_the_package(refuse, tmp_path, monkeypatch):
    path = write_sheet(tmp_path / "a.xlsx")
    refuse("fit", path, "-t", "b", says="The first sheet of ")
    refuse("fit", write_sheet(path, ["a", "b"]), "-t", "b", says="no rows")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    refuse("fit", path, "-t", "b", says="needs openpyxl; install it with: pip install 'rulegrove[excel]'")


def test_files_that_are_not_there(refuse, write, tmp_path):
    write(make_table(), "customers.csv")
    refuse("fit", tmp_path / "customer.csv", "-t", "b", says="Did you mean 'customers.csv'?")
    refuse("fit", tmp_path / "no folder" / "a.csv", "-t", "b", says="There is no file")
    (tmp_path / "folder.csv").mkdir()
    refuse("fit", tmp_path / "folder.csv", "-t", "b", says="is a folder")


@given(st.binary(max_size=300), st.sampled_from([".csv", ".tsv", ".parquet", ".feather", ".jsonl", ".xlsx"]))
def test_any_bytes_are_a_table_or_one_error(tmp_path_factory, content, suffix):
    path = tmp_path_factory.mktemp("any") / f"a{suffix}"
    path.write_bytes(content)
    with contextlib.suppress(InvalidInputError):
        assert read_table(path).num_rows


def test_accents_may_be_composed_in_another_way():
    table = pa.table({"Gro\u0308ße": [1], "a": [2]})
    assert find_name(table.column_names, "Größe", "--target") == "Gro\u0308ße"
    both = pa.table({"Gro\u0308ße": [1], "Größe": [2]})
    assert find_name(both.column_names, "Größe", "--target") == "Größe"
    with pytest.raises(InvalidInputError, match="`--target` names 'Grösse'"):
        find_name(table.column_names, "Grösse", "--target")


def test_a_column_without_a_name_gets_one(tmp_path):
    """Rules about it read " > 0.5", and nothing could name it."""
    (tmp_path / "a.csv").write_text(",x, \n0,1.5,2\n1,2.5,3\n")
    assert read_table(tmp_path / "a.csv").column_names == ["Unnamed: 0", "x", "Unnamed: 2"]
