"""`compare`: two files, with and without rows."""

import json
import subprocess
import sys

import pyarrow.csv
import pytest

import rulegrove
from cli_tables import TARGET
from rulegrove import load_model


@pytest.fixture
def files(fitted, tmp_path):
    """A model, and a shorter list of it."""
    path, data = fitted
    load_model(path).shorten(max_terms=2).save(tmp_path / "short.json")
    return path, tmp_path / "short.json", data


def test_files_are_compared_by_their_terms(run, read_json, files):
    a, b, _ = files
    expected = rulegrove.compare(load_model(a), load_model(b))
    printed = run("compare", a, b).stdout
    assert all(words in printed for words in expected.sentences)
    found = read_json("compare", a, b)
    assert found["sentences"] == expected.sentences
    assert [term["how"] for term in found["terms"]] == [term.how for term in expected.terms]
    assert "rows" not in found


def test_rows_are_those_of_the_library(run, read_json, files):
    a, b, data = files
    table = pyarrow.csv.read_csv(data)
    X, y = table.drop_columns([TARGET]), table[TARGET].to_numpy()
    for options, target in (((), None), (("--target", TARGET), y)):
        expected = rulegrove.compare(load_model(a), load_model(b), X, target)
        found = read_json("compare", a, b, "--data", data, *options)
        assert found["sentences"] == expected.sentences
        assert found["shared"] == json.loads(json.dumps(expected.shared))
        assert [row["row"] for row in found["rows"]] == expected.to_dict("rows")["row"]
        assert "Rows that change most" in run("compare", a, b, "--data", data, *options).stdout


def test_files_alone_load_no_estimator(files):
    code = "import sys; from rulegrove.cli.app import app; app(sys.argv[1:], standalone_mode=False); "
    code += "assert not {'sklearn', 'numba'} & set(sys.modules), sorted(sys.modules)"
    subprocess.run([sys.executable, "-c", code, "compare", *files[:2]], check=True, capture_output=True)


def test_bad_input_is_refused(refuse, files, tmp_path):
    a, b, data = files
    refuse("compare", a, b, "--target", TARGET, says="`--target` names a column of `--data`; give both, or neither.")
    refuse("compare", a, b, "--data", data, "--target", "nothing", says="`--target` names 'nothing'")
    refuse("compare", a, data, says="")
    refuse("compare", a, tmp_path / "none.json", says="none.json")
