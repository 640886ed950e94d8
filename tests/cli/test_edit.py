"""`edit`: a script does on the command line what it does in Python."""

import json

import numpy as np
import pyarrow.csv
import pytest

from cli_tables import TARGET
from rulegrove import load_model


@pytest.fixture
def script(tmp_path):
    """Write a script and give its path."""

    def write(*steps):
        path = tmp_path / f"edits{len(list(tmp_path.iterdir()))}.json"
        path.write_text(json.dumps(steps))
        return path

    return write


DROP = {"operation": "drop", "number": 1, "note": "no sense", "author": "Dr. Lee"}


def test_is_what_a_session_does(run, read_json, fitted, tmp_path, script):
    path, data = fitted
    before, output = path.read_bytes(), tmp_path / "edited.json"
    words = ["edit", path, "--script", script(DROP), "--data", data, "--target", TARGET, "-o", output]
    result = run(*words)
    table = pyarrow.csv.read_csv(data)
    X, y = table.drop_columns([TARGET]), np.array(table[TARGET].to_pylist(), dtype=object)
    session = load_model(path).edit(X, y)
    session.drop(1, note="no sense", author="Dr. Lee")
    edited, expected = load_model(output), session.finish()
    np.testing.assert_array_equal(edited.predict(X), expected.predict(X))
    np.testing.assert_array_equal(edited.coef_, expected.coef_)
    assert [edit.step for edit in edited.edits_] == [edit.step for edit in expected.edits_]
    assert "Dropped 1:" in result.stdout
    assert "Dr. Lee: no sense" in result.stdout
    assert "because the list is edited by looking at them" in result.stderr
    assert f"1 edit made; model saved to '{output}'." in result.stderr
    assert path.read_bytes() == before
    document = read_json(*words)
    assert [own["step"] for own in document["edits"]] == [edit.step for edit in edited.edits_]
    assert [term["rule"] for term in document["terms"]] == [row.text for row in edited.rules_]
    result = run(*words, "-q")
    assert (result.stdout, result.stderr) == ("", "")


def test_without_a_table_terms_are_dropped(run, fitted, tmp_path, script):
    path, _ = fitted
    result = run("edit", path, "-s", script(DROP), "-o", tmp_path / "edited.json")
    model, edited = load_model(path), load_model(tmp_path / "edited.json")
    assert [row.text for row in edited.rules_] == [row.text for row in model.rules_][1:]
    assert "log loss" not in result.stdout
    assert "not saved; -o edited.json" in run("edit", path, "-s", script(DROP)).stderr


def test_what_cannot_be_done_says_so_and_writes_nothing(refuse, fitted, tmp_path, script):
    path, data = fitted
    output, bad = tmp_path / "edited.json", tmp_path / "bad.json"
    bad.write_text('[{"operation": "drop",')
    add = {"operation": "add", "rule": "nothing > 3"}
    rows = ("--data", data, "--target", TARGET)
    for words, says in (
        (("-s", bad), "bad.json is not a script file"),
        (("-s", tmp_path / "none.json"), "There is no file"),
        (("-s", script({"operation": "drop"})), "Step 1 of the script: 'drop' lacks 'number'"),
        (("-s", script(DROP, DROP)), "Step 2 of the script: There is no term 1"),
        (("-s", script({"operation": "explode"})), "'explode' is not an operation"),
        (("-s", script(add)), "give it a table by `--data`"),
        (("-s", script(add), *rows), "'nothing' is no column"),
        (("-s", script(DROP), "--data", data), "`--data` needs `--target`"),
        (("-s", script(DROP), "--target", TARGET), "give the table as well"),
    ):
        refuse("edit", path, *words, "-o", output, says=says)
        assert not output.exists()
    refuse("edit", path, "-s", script(DROP), "-o", path, says="which is read")
