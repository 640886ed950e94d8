"""`export`: what the library's exports give, printed or written."""

import duckdb
import onnx
import pytest

from cli_tables import NAMES, TARGET
from rulegrove import export as exports
from rulegrove import load_model
from rulegrove.cli.reading import read_table


@pytest.mark.parametrize(
    ("options", "make"),
    [
        (["--to", "text", "--top", 2], lambda model: exports.to_text(model, top=2)),
        (["--to", "markdown"], exports.to_markdown),
        (["--to", "python"], exports.to_python),
        (["--to", "sql", "--table", "a.b"], lambda model: exports.to_sql(model, ("a", "b")) + "\n"),
        (
            ["--to", "sql", "--dialect", "sqlite", "--keep", NAMES[0]],
            lambda model: exports.to_sql(model, "data", dialect="sqlite", keep=[NAMES[0]]) + "\n",
        ),
    ],
)
def test_prints_or_writes_what_the_library_gives(run, read_json, fitted, tmp_path, options, make):
    expected = make(load_model(fitted[0]))
    assert run("export", fitted[0], *options).stdout == expected
    result = run("export", fitted[0], *options, "-o", tmp_path / "file")
    assert result.stdout == ""
    assert (tmp_path / "file").read_text(encoding="utf-8") == expected
    assert read_json("export", fitted[0], *options)["text"] == expected


def test_json_is_the_model_file(run, fitted):
    assert run("export", fitted[0], "--to", "json").stdout == fitted[0].read_text()


def test_sql_runs_where_the_data_are(run, fitted):
    model, data = fitted
    query = run("export", model, "--to", "sql", "--dialect", "duckdb", "--table", "data", "--keep", NAMES[4]).stdout
    database = duckdb.connect()
    database.register("data", read_table(data))
    found = database.execute(query).fetchall()
    loaded = load_model(model)
    X = read_table(data).drop_columns([TARGET])
    expected = loaded.predict(X).tolist()
    place = 1 if not hasattr(loaded, "classes_") else 2 if len(loaded.classes_) == 2 else 4
    assert [row[place] for row in found] == expected


def test_onnx_needs_a_file(run, refuse, fitted, tmp_path):
    refuse("export", fitted[0], "--to", "onnx", says="-o model.onnx")
    run("export", fitted[0], "--to", "onnx", "-o", tmp_path / "model.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "model.onnx"))


def test_what_cannot_be_done_is_one_line(run, refuse, fitted, tmp_path):
    refuse("export", tmp_path / "no.json", "--to", "text", says="There is no file")
    refuse("export", fitted[0], "--to", "text", "-o", tmp_path / "no" / "a.txt", says="There is no folder")
    refuse("export", fitted[0], "--to", "sql", "--keep", "score", says="`--keep` has 'score'")
    run("export", fitted[0], "--to", "excel", code=2)
    run("export", fitted[0], code=2)


def test_a_missing_package_is_one_line(refuse, fitted, monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    refuse("export", fitted[0], "--to", "sql", says="pip install 'rulegrove[sql]'")
