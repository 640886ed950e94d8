"""Survival times: the target, whether the event came, and since when a row was watched."""

import re

import duckdb
import numpy as np
import onnx
import onnxruntime
import pyarrow as pa
import pytest
from openpyxl import Workbook

from rulegrove import RuleEnsembleSurvival, load_model
from rulegrove.cli.reading import read_table
from rulegrove.cli.times import Spells, find_spells

FEW = ("--n-candidates", "60", "--max-terms", "4", "--cv", "3", "--n-jobs", "1")
SETTINGS = {"n_candidates": 60, "max_terms": 4, "cv": 3, "n_jobs": 1, "random_state": 0}
STAGE = "stage; at diagnosis (1 to 4)"
NAMES = [STAGE, "age", "sex"]
OTHERS = ["died", "alive at the end", "came", "status", "code", "since"]


@pytest.fixture(scope="module")
def patients():
    """Months until death in every way to tell of it, and since when patients were watched."""
    rng, n_rows = np.random.default_rng(0), 400
    stage, age = rng.integers(1, 5, n_rows), rng.integers(30, 90, n_rows)
    months = (0.02 + rng.exponential(10 * np.exp(-1.2 * (stage > 2) - 0.5 * (age > 65)))).round(2)
    last = rng.uniform(1, 15, n_rows).round(2)
    died = months <= last
    months = np.minimum(months, last)
    return pa.table(
        {
            STAGE: stage,
            "age": pa.array(age, mask=rng.random(n_rows) < 0.05),
            "sex": rng.choice(["f", "m"], n_rows),
            "months": months,
            "died": died.astype(np.int64),
            "alive at the end": np.where(died, "No", "Yes"),
            "came": died,
            "status": np.where(died, "dead", "alive"),
            "code": np.where(died, 2, 1),
            "since": (months * 0.4 * (rng.random(n_rows) < 0.3)).round(3),
        }
    )


@pytest.fixture(scope="module")
def expected(patients):
    """The model that the command is to fit."""
    return RuleEnsembleSurvival(**SETTINGS).fit(patients.select(NAMES), (patients["months"], patients["came"]))


def drop(*used):
    """Options that leave out the other columns of events."""
    return [word for name in OTHERS if name not in used for word in ("--drop", name)]


@pytest.fixture(scope="module")
def saved(expected, tmp_path_factory):
    """The file of that model."""
    path = tmp_path_factory.mktemp("survival") / "model.json"
    expected.save(path)
    return path


def write_sheet(table, path):
    """Write a table as the first sheet of an Excel file."""
    book = Workbook()
    for row in [table.column_names, *zip(*(column.to_pylist() for column in table.columns), strict=True)]:
        book.active.append(row)
    book.save(path)


def write_european(table, path):
    """Write a table with semicolons, decimal commas and Windows' letters."""
    cells = (["" if cell is None else str(cell).replace(".", ",") for cell in column.to_pylist()] for column in table)
    head = [f'"{name}"' for name in table.column_names]
    path.write_text("\n".join(";".join(row) for row in [head, *zip(*cells, strict=True)]), encoding="cp1252")


@pytest.mark.parametrize(
    "event", ["died", "came", "alive at the end=No", "status=dead", "code=2", "code= 2", "died=1", "came=true"]
)
def test_events_are_told_in_many_ways(run, read_json, patients, expected, write, tmp_path, event):
    data, model = write(patients), tmp_path / "model.json"
    words = ("-t", "months", "--event", event, *drop(event.partition("=")[0]), *FEW)
    told = read_json("fit", data, *words, "-o", model)["data"]
    assert (told["task"], told["event"].replace(" ", ""), told["numbers"]) == (
        "survival",
        event.replace(" ", ""),
        [STAGE, "age"],
    )
    X = patients.select(NAMES)
    np.testing.assert_array_equal(load_model(model).predict(X), expected.predict(X))


def test_yes_and_no_are_events(run, patients, expected, write, tmp_path):
    place = patients.column_names.index("alive at the end")
    turned = ["yes" if came else "NO" for came in patients["came"].to_pylist()]
    data, model = write(patients.set_column(place, "dead?", pa.array(turned))), tmp_path / "model.json"
    words = ("-t", "months", "--event", "dead?", *drop("alive at the end"), "-o", model, *FEW)
    told = run("fit", data, *words).stderr
    n_events = sum(patients["came"].to_pylist())
    assert f"  event       'dead?': {n_events} events in 400 rows\n" in told
    assert re.search(rf"concordance 0\.\d+ \(guessing: 0\.5\), {n_events} events", told)
    X = patients.select(NAMES)
    np.testing.assert_array_equal(load_model(model).predict(X), expected.predict(X))


@pytest.mark.parametrize("kind", ["a.csv", "a.parquet", "a.xlsx", "european.csv"])
def test_tables_of_every_kind(run, patients, write, tmp_path, kind):
    data, model = tmp_path / kind, tmp_path / "model.json"
    if kind == "a.xlsx":
        write_sheet(patients, data)
    elif kind == "european.csv":
        write_european(patients, data)
    else:
        write(patients, kind)
    words = ("-t", "months", "--event", "came", "--entry", "since", "--ties", "breslow")
    run("fit", data, *words, *drop("came", "since"), "-o", model, "--quiet", *FEW)
    X, y = patients.select(NAMES), tuple(patients[name].to_numpy() for name in ("since", "months", "came"))
    own = RuleEnsembleSurvival(**SETTINGS, ties="breslow").fit(X, y)
    np.testing.assert_allclose(load_model(model).predict(X), own.predict(X), rtol=1e-12)


def test_predictions_are_hazard_ratios_and_survival_at_some_times(run, saved, expected, patients, write, tmp_path):
    words = ("predict", saved, write(patients), "--keep", "age", "--at", "2", "--at", "0,7.5")
    run(*words, "-o", tmp_path / "out.csv")
    found, X = read_table(tmp_path / "out.csv"), patients.select(NAMES)
    times = ["survival at 2", "survival at 0", "survival at 7.5"]
    assert found.column_names == ["age", "prediction", *times]
    np.testing.assert_allclose(found["prediction"].to_numpy(), expected.predict(X), rtol=1e-12)
    curves = expected.predict_survival_function(X)
    truth = [[curve(time) for time in (2.0, 0.0, 7.5)] for curve in curves]
    np.testing.assert_allclose(np.column_stack([found[name] for name in times]), truth, rtol=1e-12)


def test_explanations_are_products_of_hazards(run, read_json, saved, expected, patients, write):
    data = write(patients)
    told = read_json("explain", saved, data, "--row", 7)
    assert told["prediction"] == pytest.approx(expected.predict(patients.select(NAMES))[7], rel=1e-12)
    factors = [part["factor"] for part in told["parts"]]
    assert np.exp(told["intercept"]) * np.prod(factors) == pytest.approx(told["prediction"])
    printed = run("explain", saved, data, "--row", 7).stdout
    assert printed.startswith(f"Predicted a hazard ratio of {told['prediction']:.6g}, the product of:\n")


def test_rules_say_what_they_multiply(run, read_json, saved, expected, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    printed = run("rules", saved).stdout
    assert "coefficient" not in printed
    for term, told in zip(expected.rules_, read_json("rules", saved)["terms"], strict=True):
        assert term.effect in printed
        assert told["effect"] == term.effect
        assert told["effect"].startswith("hazard x ")
        assert told["factor"] == pytest.approx(term.factor)
    short = run("shorten", saved, "--max-terms", 1)
    assert short.stdout.count("hazard x ") == 1
    assert re.search(r"partial deviance [\d.]+ on held-out rows; the large model", short.stderr)
    assert "hazard x " in run("export", saved, "--to", "text").stdout


def test_exports_are_of_the_risk(run, saved, expected, patients, tmp_path):
    X = patients.select(NAMES)
    query = run("export", saved, "--to", "sql", "--dialect", "duckdb", "--table", "people").stdout
    database = duckdb.connect()
    database.register("people", patients)
    found = [row[0] for row in database.execute(query).fetchall()]
    np.testing.assert_allclose(found, expected.predict(X), rtol=1e-12)
    run("export", saved, "--to", "onnx", "-o", tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_outputs()] == ["prediction", "scores"]
    truth = [[curve(time) for time in (2.0, 7.5)] for curve in expected.predict_survival_function(X)]
    query = run("export", saved, "--to", "sql", "--table", "people", "--at", 2, "--at", 7.5).stdout
    found_then = [row[1:] for row in database.execute(query).fetchall()]
    np.testing.assert_allclose(found_then, truth, rtol=1e-12)
    run("export", saved, "--to", "onnx", "-o", tmp_path / "at.onnx", "--at", "2,7.5")
    assert [one.name for one in onnx.load(tmp_path / "at.onnx").graph.output][-1] == "survival"
    module = {}
    exec(run("export", saved, "--to", "python").stdout, module)
    assert [module["predict"](row) for row in X.to_pylist()] == pytest.approx(found)
    assert [module["survival"](row, 7.5) for row in X.to_pylist()] == pytest.approx([row[1] for row in truth])


def set_cell(table, name, row, value):
    """The table with another cell."""
    cells = table[name].to_pylist()
    cells[row] = value
    return table.set_column(table.column_names.index(name), name, pa.array(cells))


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("died", None, "`--event` needs a value in every row; row 9 (the first one is 0) has nothing. Fill it in"),
        ("died", 2, "'died' has '0', '1', '2'. Say which one is the event: `--event 'died=0'` or `--event 'died=1'`"),
        ("since", None, "`--entry` needs a number in every row; row 9 (the first one is 0) has nothing"),
        ("since", 1e9, "Entry must be earlier than time; got entry 1e+09 and time"),
        ("since", 1e9, "in row 9. Drop such rows: they were never at risk"),
        ("since", -1.0, "The entry time must not be negative; got -1 in row 9"),
        ("months", -1.0, "The time must not be negative; got -1 in row 9"),
        ("months", np.inf, "row 9"),
    ],
)
def test_a_cell_that_cannot_be_is_named(refuse, patients, write, name, value, says):
    """Rows are counted as in the file, also after those without a time."""
    table = set_cell(set_cell(patients, name, 9, value), "months", 3, None)
    words = ("-t", "months", "--event", "died", "--entry", "since", "--quiet", *FEW)
    refuse("fit", write(table, "a.parquet"), *words, says=says)


def test_rows_without_a_time_are_left_out(read_json, patients, write):
    words = ("-t", "months", "--event", "came", *drop("came"), *FEW)
    told = read_json("fit", write(set_cell(patients, "months", 3, None)), *words)
    assert (told["data"]["rows"], told["data"]["rows_without_target"]) == (399, 1)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--event", "status"],
            "'status' has 'alive', 'dead'. Say which one is the event: `--event 'status=alive'` or ",
        ),
        (["--event", "code"], "'code' has '1', '2'. Say which one is the event: `--event 'code=1'` or "),
        (["--event", "status=ded"], "`--event` takes 'ded' of 'status' for the event, and no row has it; there are"),
        (["--event", "status=ded"], "Did you mean 'dead'?"),
        (["--event", "dyed"], "`--event` names 'dyed', which is no column of the table. Did you mean 'died'?"),
        (["--event", "dyed=1"], "`--event` names 'dyed', which is no column of the table. Did you mean 'died'?"),
        (["--event", "=dead"], "`--event` names '=dead', which is no column of the table."),
        (["--event", "months"], "`--event` and `--target` both name 'months'; it can be one only."),
        (["--event", "died", "--entry", "months"], "`--entry` and `--target` both name 'months'; it can be one only."),
        (
            ["--event", "died", "--entry", "sex"],
            "`--entry` needs a number in every row; row 0 (the first one is 0) has",
        ),
        (["--event", "died", "-t", "age"], "`--event` makes a survival time of one `--target`; leave the others out."),
        (["--event", "died", "--loss", "poisson"], "`--loss` is not for survival times"),
        (["--event", "died", "--quantile", "0.9"], "`--quantile` is not for survival times"),
        (["--event", "died", "--exposure", "age"], "`--exposure` is not for survival times"),
        (["--event", "died", "--offset", "age"], "`--offset` is not for survival times"),
        (["--event", "died", "--task", "regression"], "`--task` is not for survival times"),
        (["--event", "died", "--class-weight", "balanced"], "`--class-weight` is for classes, and these are survival"),
        (["--event", "died", "--evidence", "split"], "leave it out for survival times"),
        (["--event", "died", "--ties", "exact"], "The 'ties' parameter"),
        (["--ties", "efron"], "`--ties` is for survival times; name the column of events by `--event`, too."),
        (["--entry", "since"], "`--entry` is for survival times; name the column of events by `--event`, too."),
    ],
)
def test_what_does_not_go_together_is_one_line(refuse, patients, write, words, says):
    refuse("fit", write(patients), "-t", "months", *words, "--quiet", *FEW, says=says)


def test_a_time_is_a_number(refuse, patients, write):
    says = "With `--event` the target is a number, such as the days until the event; 'sex' holds text alone."
    refuse("fit", write(patients), "-t", "sex", "--event", "died", says=says)
    dates = patients.append_column("day", pa.array(range(400), pa.date32()))
    says = "the days until the event; 'day' holds date32[day]."
    refuse("fit", write(dates, "a.parquet"), "-t", "day", "--event", "died", says=says)
    says = "The target 'empty' has no value in any row"
    empty = write(patients.append_column("empty", pa.nulls(400, pa.string())), "b.parquet")
    refuse("fit", empty, "-t", "empty", "--event", "died", says=says)
    refuse("fit", write(patients), "-t", "age", "--event", "months", says="yes or no; 'months' has ")


def test_other_commands_refuse_what_a_model_has_no_use_for(refuse, saved, fitted, patients, write, tmp_path):
    data, (other, others), page = write(patients), fitted, tmp_path / "a.html"
    refuse("predict", saved, data, "--exposure", "age", says="`--exposure` is not for models of survival times")
    refuse("explain", saved, data, "--row", 0, "--offset", "age", says="`--offset` is not for models of survival times")
    refuse("predict", saved, data, "--at", "1,soon", says="`--at` must be a time from 0 on, given once for each")
    refuse("predict", saved, data, "--at", "1", "--at", "1", says="`--at` must be a time from 0 on")
    refuse("predict", other, others, "--at", "1", says="`--at` is for models of survival times, and this is none")
    refuse("evidence", saved, data, "-t", "months", says="Rules are tested on classes or on one number; the model is")
    refuse("export", other, "--to", "sql", "--at", "1", says="`--at` is for models of survival times, and this is none")
    refuse("export", saved, "--to", "text", "--at", "1", says="`--at` is for `--to sql` and `--to onnx`; what Python")
    refuse("export", saved, "--to", "sql", "--exposure", "age", says="`--exposure` is for models of rates")
    refuse("select", data, "-t", "months", "--event", "died", says="take `fit` with `--event`, whose rules tell")
    words = ("report", saved, "--data", data, "-t", "months", "-o", page)
    refuse(*words, says="The model is of survival times; name the column of events by `--event`.")
    words = ("report", other, "--data", others, "-t", "Farbe", "--event", "Farbe", "-o", page)
    refuse(*words, says="`--event` is for models of survival times, and this is none; leave it out.")
    assert not page.exists()


def test_a_column_may_have_an_equals_sign():
    names = ["a=b", "status"]
    assert find_spells(names, "a=b", None) == Spells("a=b")
    assert find_spells(names, "a=b=c", None) == Spells("a=b", None, "c")
    assert find_spells(names, None, "status") == Spells(None, "status")
