"""Tables in parts: folders, several files and large ones are read part by part, with the same models as result."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli_tables import FAST, NAMES, SETTINGS, TARGET, make_table
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, RuleEnsembleSurvival, load_model
from rulegrove.cli import places
from rulegrove.cli.large import read_large
from rulegrove.cli.options import Columns
from small_pools import shrink_pool


@pytest.fixture
def folder(tmp_path):
    """A table in three files."""
    parts = tmp_path / "parts"
    parts.mkdir()
    table = make_table()
    for number, start in enumerate(range(0, 300, 100)):
        pq.write_table(table.slice(start, 100), parts / f"{number}.parquet")
    return parts


@pytest.fixture
def small_pool(monkeypatch):
    shrink_pool(monkeypatch, 150)


@pytest.mark.parametrize("pool", ["small", "large"])
@pytest.mark.parametrize("how", ["folder", "files", "pattern"])
def test_a_fit_is_the_one_in_memory(run, folder, tmp_path, request, how, pool):
    if pool == "small":
        request.getfixturevalue("small_pool")
    words = {"folder": [folder], "files": sorted(folder.iterdir()), "pattern": [folder / "*.parquet"]}[how]
    result = run("fit", *words, "-t", TARGET, "-o", tmp_path / "model.json", *FAST)
    assert "300 rows in 3 parts, 6 attributes; read part by part" in result.stderr
    assert f"'{TARGET}': classification, ja (" in result.stderr
    table = make_table()
    X = table.drop_columns([TARGET])
    expected = RuleEnsembleClassifier(**SETTINGS).fit(X, np.asarray(table[TARGET].to_pylist()))
    model = load_model(tmp_path / "model.json")
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), rtol=0, atol=1e-9)


def test_a_large_file_is_read_part_by_part(run, write, monkeypatch):
    monkeypatch.setattr(places, "LARGE_BYTES", 1000)
    result = run("fit", write(make_table(target="number"), "a.parquet"), "-t", TARGET, *FAST)
    assert "read part by part" in result.stderr
    assert "regression, " in result.stderr


@pytest.mark.parametrize("pool", ["small", "large"])
def test_a_fit_of_times_is_the_one_in_memory(run, read_json, folder, tmp_path, request, pool):
    if pool == "small":
        request.getfixturevalue("small_pool")
    table, rng = make_table(), np.random.default_rng(0)
    X = table.drop_columns([TARGET])
    years = rng.exponential(np.where(np.asarray(table[TARGET].to_pylist()) == "ja", 0.5, 2.0))
    died, years, since = years < 1.5, np.minimum(years, 1.5), 0.1 * years.clip(max=1.0)
    for number, start in enumerate(range(0, 300, 100)):
        here = slice(start, start + 100)
        part = X.slice(start, 100).append_column("years", pa.array(years[here]))
        part = part.append_column("status", pa.array(np.where(died[here], "dead", "alive")))
        part = part.append_column("since", pa.array(since[here]))
        pq.write_table(part, folder / f"{number}.parquet")
    words = ["-t", "years", "--event", "status=dead", "--entry", "since"]
    result = run("fit", folder, *words, "-o", tmp_path / "model.json", *FAST, "--selection", "min")
    assert "'years': survival times, " in result.stderr
    assert "  event       'status=dead'\n" in result.stderr
    expected = RuleEnsembleSurvival(**{**SETTINGS, "selection": "min"}).fit(X, (since, years, died))
    model = load_model(tmp_path / "model.json")
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-9)
    training = read_large([folder], ["years"], Columns(), {"event": "status=dead", "entry": "since"}, 1)
    rows, times, _ = training.show(model)  # for a report
    assert rows.column_names == X.column_names
    np.testing.assert_array_equal(times.to_columns(), np.column_stack([since, years, died]))
    out = tmp_path / "out.parquet"
    read_json("predict", tmp_path / "model.json", folder, "--at", "1", "-o", out)
    shares = expected.predict_survival_function(X, return_array=True)[:, expected.event_times_ <= 1.0][:, -1]
    np.testing.assert_allclose(pq.read_table(out)["survival at 1"].to_numpy(), shares, rtol=1e-9)


@pytest.mark.usefixtures("small_pool")
def test_several_targets_are_those_in_memory(run, refuse, folder, tmp_path):
    table = make_table(target="number")
    y = table[TARGET].to_numpy()
    two = table.append_column("other", pa.array(-2.0 * y + 1.0, mask=np.arange(300) == 7))
    for number, start in enumerate(range(0, 300, 100)):
        pq.write_table(two.slice(start, 100), folder / f"{number}.parquet")
    result = run("fit", folder, "-t", TARGET, "-t", "other", "-o", tmp_path / "model.json", *FAST)
    assert "299 rows in 3 parts, 6 attributes; read part by part" in result.stderr
    assert "1 row without a target" in result.stderr
    X, kept = table.drop_columns([TARGET]), np.arange(300) != 7
    weights = kept.astype(float)
    expected = RuleEnsembleRegressor(**SETTINGS).fit(X, np.column_stack([y, -2.0 * y + 1.0]), weights)
    np.testing.assert_allclose(load_model(tmp_path / "model.json").predict(X), expected.predict(X), rtol=1e-9)
    refuse("fit", folder, "-t", TARGET, "-t", "Farbe", says="must all be numbers; 'Farbe' holds")


def test_json_report_weights_and_categories(read_json, tmp_path, small_pool):
    table = make_table(target="three").append_column("w", pa.array(np.linspace(0.5, 1.5, 300)))
    table = table.append_column("code", pa.array(np.arange(300) % 4))
    labels = table[TARGET].to_pylist()
    table = table.set_column(table.column_names.index(TARGET), TARGET, pa.array([None, *labels[1:]]))
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table.slice(0, 0), tmp_path / "b.parquet")
    page = tmp_path / "page.html"
    words = ["--weights", "w", "--drop", NAMES[4], "--categorical", "code", "--report", page]
    words += ["--class-weight", '{"0": 1, "1": 2, "2": 1}']
    told = read_json("fit", tmp_path / "a.parquet", tmp_path / "b.parquet", "-t", TARGET, *words, *FAST)
    assert told["data"]["rows"] == 299
    assert told["data"]["rows_without_target"] == 1
    assert told["data"]["categories"] == ["Farbe", "code"]
    assert NAMES[4] not in told["data"]["numbers"]
    assert page.stat().st_size > 10_000


def test_predictions_go_to_a_file(run, read_json, folder, tmp_path):
    run("fit", folder, "-t", TARGET, "-o", tmp_path / "model.json", *FAST)
    out = tmp_path / "out.parquet"
    told = read_json("predict", tmp_path / "model.json", folder, "-o", out, "--keep", "Farbe")
    assert told == {"predictions": 300, "output": str(out)}
    found = pq.read_table(out)
    X = make_table().drop_columns([TARGET])
    assert found["prediction"].to_pylist() == load_model(tmp_path / "model.json").predict(X).tolist()
    assert found["Farbe"].to_pylist() == X["Farbe"].to_pylist()


def test_what_does_not_work(run, refuse, folder, tmp_path, write):
    run("fit", folder, "-t", TARGET, "-o", tmp_path / "model.json", *FAST)
    refuse("predict", tmp_path / "model.json", folder, says="give `-o predictions.parquet`")
    refuse("fit", folder, "-t", "Ziel", says="`--target` names 'Ziel'")
    refuse("fit", folder, write(make_table()), "-t", TARGET, says="must all be Parquet")
    refuse("fit", folder, "-t", TARGET, "--task", "regression", says="take `--task classification`")
    refuse("fit", folder, folder / "none.parquet", "-t", TARGET, says="There is no file")
    pq.write_table(make_table().drop_columns(["Farbe"]), folder / "odd.parquet")
    refuse("fit", folder, "-t", TARGET, says="odd.parquet': There is no column 'Farbe' here")
    (folder / "odd.parquet").write_text("no Parquet at all")
    refuse("fit", folder, "-t", TARGET, says="odd.parquet': ")


def test_a_target_of_one_value(refuse, tmp_path):
    table = pa.table({"a": [1.0, 2.0], "y": ["x", "x"]})
    for name in ("1.parquet", "2.parquet"):
        pq.write_table(table, tmp_path / name)
    refuse("fit", tmp_path, "-t", "y", says="The target 'y' has one value only, 'x'")
