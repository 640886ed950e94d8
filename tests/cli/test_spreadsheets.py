"""Cells that a spreadsheet program would run."""

import csv
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_tables import FAST
from rulegrove import load_model
from rulegrove.cli.reading import read_table
from rulegrove.cli.spreadsheets import mark_text, unmark_text
from rulegrove.cli.writing import write_table

FORMULAS = ("=cmd|'/C calc'!A0", "+SUM(A1)", "-", "@x", "\tx", "\rx")
HARMLESS = ("-5", "+1.5e-3", "a=b", "'x'", "", " =x")


def test_formulas_are_marked_and_numbers_are_not():
    table = pa.table({"=x": [*FORMULAS, *HARMLESS], "n": range(-6, 6)})
    marked = mark_text(table)
    assert marked.column_names == ["'=x", "n"]
    assert marked["'=x"].to_pylist() == [*(f"'{word}" for word in FORMULAS), *HARMLESS]
    assert marked["n"].to_pylist() == list(range(-6, 6))
    by_code = table.set_column(0, "=x", table["=x"].dictionary_encode())
    assert mark_text(by_code).to_pydict() == marked.to_pydict()


@given(st.lists(st.one_of(st.none(), st.text("=+-@'1.e\tx", max_size=5)), min_size=1, max_size=9), st.text("='x"))
def test_marks_come_off_again(cells, name):
    table = pa.table({name: pa.array(cells, pa.string())})
    assert unmark_text(mark_text(table)).to_pydict() == table.to_pydict()


@pytest.fixture
def data(tmp_path):
    """A table whose classes and categories are formulas, written as other programs do."""
    rng = np.random.default_rng(0)
    x, kind = rng.normal(size=200), rng.choice(["=1+1", "-", "x"], 200)
    label = np.where(x + (kind == "-") > 0.5, "=cmd", "no")
    path = tmp_path / "a.csv"
    write_table(pa.table({"x": x, "kind": kind, "label": label}), path, raw=True)
    return path


@pytest.mark.parametrize("parts", [False, True])
def test_predictions_are_safe_to_open_and_come_back(run, data, tmp_path, parts):
    """A class '=cmd' was written as it is, which spreadsheet programs run."""
    model, out = tmp_path / "m.json", tmp_path / "out.csv"
    run("fit", data, "-t", "label", "-o", model, *FAST)
    rows = read_table(data)
    expected = load_model(model).predict(rows.drop_columns(["label"])).tolist()
    assert "=cmd" in expected
    source = data
    if parts:
        source = tmp_path / "parts"
        source.mkdir()
        pq.write_table(rows, source / "0.parquet")
    run("predict", model, source, "-o", out, "--keep", "kind")
    with out.open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "@")) or cell == "-"]
    assert read_table(out)["prediction"].to_pylist() == expected
    assert read_table(out)["kind"].to_pylist() == rows["kind"].to_pylist()
    run("predict", model, source, "-o", out, "--keep", "kind", "--raw")
    assert "\n\"'" not in out.read_text()
    assert '"=cmd"' in out.read_text()


def test_printed_predictions_and_smaller_tables_too(run, data, tmp_path):
    run("fit", data, "-t", "label", "-o", tmp_path / "m.json", *FAST)
    printed = list(csv.DictReader(io.StringIO(run("predict", tmp_path / "m.json", data).stdout)))
    assert {row["prediction"] for row in printed} == {"'=cmd", "no"}
    out = tmp_path / "small.csv"
    votes = ("--n-candidates", "40", "--n-repeats", "2", "--min-votes", "1", "--n-jobs", "1")
    run("select", data, "-t", "label", "-o", out, *votes)
    assert '"=' not in out.read_text()
    assert read_table(out)["label"].to_pylist() == read_table(data)["label"].to_pylist()
    run("select", data, "-t", "label", "-o", out, "--raw", *votes)
    assert '"=cmd"' in out.read_text()
