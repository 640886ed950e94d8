"""`report`, and `--report` of `fit`: the page of the library, from files."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cli_tables import FAST, NAMES, TARGET, make_table
from rulegrove import load_model
from rulegrove.cli.reading import read_table
from rulegrove.report import make_report


def read_data(path):
    page = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_equals_the_report_of_the_library(run, read_json, fitted, tmp_path):
    model, data = fitted
    output = tmp_path / "report.html"
    result = run("report", model, "--data", data, "--target", TARGET, "-o", output)
    assert result.stdout == ""
    assert result.stderr == f"Written to '{output}'; open it in a browser.\n"
    table = read_table(data)
    X, y = table.drop_columns([TARGET]), np.asarray(table[TARGET].to_pylist())
    expected = make_report(load_model(model), X, y, title=f"Rules for {TARGET}")
    assert output.read_text(encoding="utf-8") == expected
    document = read_json("report", model, "-o", output, "--quiet")
    assert document == {"report": str(output), "rows": None, "bytes": output.stat().st_size}
    assert output.read_text(encoding="utf-8") == make_report(load_model(model), title="Rules of model.json")


def test_without_a_target(run, fitted, tmp_path):
    model, data = fitted
    run("report", model, "--data", data, "-o", tmp_path / "report.html", "--title", "<b>")
    found = read_data(tmp_path / "report.html")
    assert all(line["check"] is None for line in found["lines"])
    assert found["n_given"] == 300
    assert found["title"] == "<b>"
    assert found["features"] == [*NAMES, "Farbe"]


def test_fit_writes_one_on_its_training_rows(run, read_json, write, tmp_path):
    data, output = write(make_table(target="three")), tmp_path / "report.html"
    document = read_json("fit", data, "-t", TARGET, "--report", output, *FAST)
    assert document["report"] == str(output)
    assert document["model"] is None
    found = read_data(output)
    assert found["title"] == f"Rules for {TARGET}"
    assert found["n_given"] == 300
    charts = found["lines"][found["front"]["chosen"]]["check"]["charts"]
    assert np.sum(charts["counts"]) == 300
    assert found["given_name"] == charts["rows"] == "training rows"  # there was no cross-validation
    assert len(found["outputs"]) == 3
    assert f"Report written to '{output}'" in run("fit", data, "-t", TARGET, "--report", output, *FAST).stderr


def test_rows_without_a_target_are_left_out(run, fitted, write, tmp_path):
    model, data = fitted
    table = read_table(data)
    known = pc.greater(pa.array(np.arange(300)), 20)
    holed = table.set_column(table.column_names.index(TARGET), TARGET, pc.if_else(known, table[TARGET], None))
    run("report", model, "--data", write(holed, "holed.parquet"), "-t", TARGET, "-o", tmp_path / "report.html")
    assert read_data(tmp_path / "report.html")["n_given"] == 279


@pytest.mark.parametrize("fitted", ["classes", "three"], indirect=True)
def test_classes_are_known_by_their_words(run, fitted, write, tmp_path):
    """A file of its own types may spell the classes 0 and 1 as text."""
    model, data = fitted
    table = read_table(data)
    place = table.column_names.index(TARGET)
    spelled = table.set_column(place, TARGET, table[TARGET].cast(pa.string()))
    run("report", model, "--data", write(spelled, "a.parquet"), "-t", TARGET, "-o", tmp_path / "report.html")
    found = read_data(tmp_path / "report.html")
    assert np.sum(found["lines"][found["front"]["chosen"]]["check"]["charts"]["counts"]) == 300


def test_a_workbench(run, refuse, fitted, tmp_path):
    """Asked for, the page is that of the library with a workbench of so many rows a line; never without rows."""
    model, data = fitted
    output = tmp_path / "report.html"
    table = read_table(data)
    X, y = table.drop_columns([TARGET]), np.asarray(table[TARGET].to_pylist())
    rows = ("--data", data, "--target", TARGET)
    for options, min_count in ((("--workbench",), 5), (("--workbench", "--min-count", "9"), 9)):
        run("report", model, *rows, *options, "-o", output)
        expected = make_report(load_model(model), X, y, title=f"Rules for {TARGET}", workbench=min_count)
        assert output.read_text(encoding="utf-8") == expected
        assert read_data(output)["workbench"]["min_count"] == min_count
    other = tmp_path / "other.html"
    refuse("report", model, "--data", data, "--workbench", "-o", other, says="give `--data` and `--target` as well")
    refuse("report", model, *rows, "--min-count", "9", "-o", other, says="`--min-count` is about the rows of a")
    assert not other.exists()


def test_errors(refuse, run, fitted, write, tmp_path):
    model, data = fitted
    output = tmp_path / "report.html"
    refuse("report", model, "--target", TARGET, "-o", output, says="`--target` names a column of `--data`; give both")
    refuse("report", model, "--data", data, "-t", "Zeil", "-o", output, says="`--target` names 'Zeil'")
    refuse("report", model, "-o", tmp_path / "none" / "report.html", says="There is no folder")
    refuse("fit", data, "-t", TARGET, "--report", tmp_path, says="is a folder")
    empty = make_table().append_column("leer", pa.nulls(300))
    missing = ("report", model, "--data", write(empty, "a.parquet"), "-t", "leer", "-o", output)
    refuse(*missing, says="The target 'leer' has no value in any row")
    run("report", model, code=2)
    assert not output.exists()


def test_survival_times_and_several_numbers_have_pages(run, write, tmp_path):
    """Of new rows the columns of the target are named as for the fit, in any order."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 300)).round(2)
    years, came = rng.exponential(np.exp(-1.0 * (x > 0))).round(3) + 0.001, rng.random(300) < 0.7
    table = pa.table({"x": x, "z": z, "years": years, "state": np.where(came, "dead", "alive"), "a": x + z, "b": -x})
    data, model, page = write(table), tmp_path / "m.json", tmp_path / "page.html"
    X, few = table.select(["x", "z"]), ("--n-candidates", "60", "--cv", "3", "--n-jobs", "1", "-q")
    timed, both = ("-t", "years", "--event", "state=dead"), ("-t", "b", "-t", "a")
    for words, dropped, y in (
        (timed, ("a", "b"), (years, came)),
        (both, ("years", "state"), table.select(["b", "a"])),
    ):
        leave_out = [word for name in dropped for word in ("--drop", name)]
        run("fit", data, *words, *leave_out, "-o", model, "--report", tmp_path / "fit.html", *few)
        loaded, title = load_model(model), "Rules for years" if words is timed else "Rules for b and a"
        expected = make_report(loaded, X, y, training=True, title=title)
        assert (tmp_path / "fit.html").read_text(encoding="utf-8") == expected
        turned = ("-t", "a", "-t", "b") if words is both else words
        run("report", model, "--data", data, *turned, "-o", page, "--title", title)
        assert page.read_text(encoding="utf-8") == make_report(loaded, X, y, title=title)
