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


def test_files_alone_load_no_estimator(files, tmp_path):
    code = "import sys; from rulegrove.cli.app import app; app(sys.argv[1:], standalone_mode=False); "
    code += "assert not {'sklearn', 'numba'} & set(sys.modules), sorted(sys.modules)"
    page = ["-o", str(tmp_path / "compare.html")]
    for more in ([], page):
        subprocess.run([sys.executable, "-c", code, "compare", *files[:2], *more], check=True, capture_output=True)


def test_a_page_is_written(run, read_json, files, tmp_path):
    a, b, data = files
    page = tmp_path / "compare.html"
    options = ("--data", data, "--target", TARGET, "-o", page)
    said = run("compare", a, b, *options)
    assert "They share" in said.stdout
    text = page.read_text(encoding="utf-8")
    assert f"<title>{a.name} (a) and {b.name} (b)</title>" in text
    assert "Rows that change most" in text
    assert run("compare", a, b, *options, "--quiet", "--title", "Two lists").stdout == ""
    assert "<title>Two lists</title>" in page.read_text(encoding="utf-8")
    assert read_json("compare", a, b, *options)["page"] == str(page)


def test_bad_input_is_refused(refuse, files, tmp_path):
    a, b, data = files
    refuse("compare", a, b, "--target", TARGET, says="`--target` names a column of `--data`; give both, or neither.")
    refuse("compare", a, b, "--data", data, "--target", "nothing", says="`--target` names 'nothing'")
    refuse("compare", a, data, says="")
    refuse("compare", a, b, "--title", "Two lists", says="`--title` is that of the page of `--output`")
    refuse("compare", a, b, "--output", a, says="")
    refuse("compare", a, tmp_path / "none.json", says="none.json")
