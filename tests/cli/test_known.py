"""Exposure and offset, columns beside the attributes: what every command makes of them."""

import json
import re

import duckdb
import numpy as np
import onnx
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from rulegrove import RuleEnsembleRegressor, load_model
from rulegrove.cli import places
from rulegrove.cli.evidence import describe_evidence
from rulegrove.cli.large import read_large
from rulegrove.cli.options import Columns
from rulegrove.cli.output import plain
from rulegrove.cli.reading import read_table
from rulegrove.inspection import rule_evidence
from rulegrove.report import make_report
from small_pools import shrink_pool

MILEAGE = "annual mileage as declared by the policy holder at the last renewal (km)"
EXPOSURE = "exposure; in years 🕐"
NAMES = ["age", MILEAGE, "region"]
FEW = ("--n-candidates", 60, "--max-terms", 5, "--cv", 3, "--n-jobs", 1)
RATE = ("-t", "claims", "--loss", "poisson", "--exposure", EXPOSURE)


def set_cells(table, name, cells):
    """The table with other cells in some rows of a column."""
    values = table[name].to_pylist()
    for row, cell in cells.items():
        values[row] = cell
    return table.set_column(table.column_names.index(name), name, pa.array(values))


@pytest.mark.parametrize("how", ["file", "parts"])
def test_a_fit_of_rates_is_that_of_the_library(run, rates, claims, tmp_path, how, monkeypatch):
    model, data = rates
    if how == "parts":
        data = tmp_path / "parts"
        data.mkdir()
        for start in range(0, 600, 200):
            pq.write_table(claims.slice(start, 200), data / f"{start}.parquet")
    result = run("fit", data, *RATE, "-o", tmp_path / "new.json", *FEW)
    found, expected = load_model(tmp_path / "new.json"), load_model(model)
    assert [term.text for term in found.rules_] == [term.text for term in expected.rules_]
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-9)
    y, years = (claims[name].to_numpy() for name in ("claims", EXPOSURE))
    assert "target      'claims': regression, 0 to " in result.stderr  # few values, which would be classes else
    assert "3 attributes" in result.stderr
    told = f": 0.25 to 1, mean {years.mean():.6g}; the target for each unit of it {y.sum() / years.sum():.6g}"
    assert f"  exposure    '{EXPOSURE}'{told if how == 'file' else ''}\n" in result.stderr
    assert "explained deviance (D²) " in result.stderr
    assert re.search(r"A list of \d terms?, mean deviance [\d.]+ on held-out rows; the large model", result.stderr)


def test_what_is_printed_reads_as_factors(run, read_json, rates, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    shown = run("rules", rates[0]).stdout
    heading, _, first, *_ = shown.splitlines()
    assert heading.split()[:3] == ["importance", "support", "effect"]
    assert re.search(r"rate x \d", first)
    terms = read_json("rules", rates[0])["terms"]
    assert all(term["factor"] == pytest.approx(np.exp(term["coefficient"])) for term in terms if term["kind"] == "rule")
    assert terms[0]["effect"] in first
    assert "mean deviance" in run("shorten", rates[0], "--max-terms", 2).stderr


def test_json_tells_the_columns_and_the_figures(read_json, rates, tmp_path):
    told = read_json("fit", rates[1], *RATE, *FEW)
    assert told["data"]["exposure"] == EXPOSURE
    assert told["data"]["task"] == "regression"
    assert EXPOSURE not in told["data"]["numbers"]
    assert 0.0 < told["held_out"]["d2"] < 1.0
    assert "reliability" not in told["held_out"]
    assert "deviance" in told["front"]


def test_predictions_are_rates_or_totals(run, rates, claims, tmp_path):
    model, data = rates
    loaded, X, years = load_model(model), claims.select(NAMES), claims[EXPOSURE].to_numpy()
    for words, known in (((), {}), (("--exposure", EXPOSURE), {"exposure": years})):
        run("predict", model, data, "-o", tmp_path / "out.parquet", "--keep", "claims", *words)
        found = read_table(tmp_path / "out.parquet")
        assert found["prediction"].to_pylist() == loaded.predict(X, **known).tolist()
        assert found["claims"].to_pylist() == claims["claims"].to_pylist()


def test_predictions_in_parts_are_totals_too(run, rates, claims, tmp_path, monkeypatch):
    monkeypatch.setattr(places, "LARGE_BYTES", 1000)
    pq.write_table(claims, tmp_path / "a.parquet")
    run("predict", rates[0], tmp_path / "a.parquet", "-o", tmp_path / "out.csv", "--exposure", EXPOSURE)
    found = read_table(tmp_path / "out.csv")["prediction"].to_numpy()
    expected = load_model(rates[0]).predict(claims.select(NAMES), exposure=claims[EXPOSURE].to_numpy())
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_an_offset_adds_to_the_score(run, claims, write, tmp_path):
    table = claims.append_column("known", pa.array(np.log(claims[EXPOSURE].to_numpy())))
    data, model = write(table), tmp_path / "model.json"
    words = ("-t", "claims", "--loss", "poisson", "--offset", "known")
    told = run("fit", data, *words, "--drop", EXPOSURE, "-o", model, *FEW).stderr
    assert "  offset      'known'\n" in told
    run("predict", model, data, "--offset", "known", "-o", tmp_path / "out.csv")
    found = read_table(tmp_path / "out.csv")["prediction"].to_numpy()
    assert found.sum() == pytest.approx(claims["claims"].to_numpy().sum(), rel=0.05)


def test_explanations_multiply(run, read_json, rates, claims):
    model, data = rates
    row = int(np.argmax(claims[EXPOSURE].to_numpy() == 0.25))
    explained = load_model(model).explain(claims.select(NAMES))[row]
    plain = read_json("explain", model, data, "--row", row)
    assert plain["prediction"] == explained.prediction
    factors = [part["factor"] for part in plain["parts"]]
    assert np.exp(plain["intercept"]) * np.prod(factors) == pytest.approx(plain["prediction"])
    told = read_json("explain", model, data, "--row", row, "--exposure", EXPOSURE)
    assert told["prediction"] == pytest.approx(0.25 * explained.prediction, rel=1e-12)
    assert told["score"] == pytest.approx(explained.score + np.log(0.25))
    assert told["exposure"] == 0.25
    printed = run("explain", model, data, "--row", row, "--exposure", EXPOSURE).stdout
    assert printed.startswith(f"Predicted a total of {told['prediction']:.6g}, the product of:\n  ")
    rate = run("explain", model, data, "--row", row).stdout
    assert rate.startswith(f"Predicted a rate of {plain['prediction']:.6g}, the product of:\n  ")
    lines = [line.split() for line in printed.splitlines()]
    assert ["x", "0.25", "exposure", *EXPOSURE.split(), "=", "0.25"] in lines
    assert lines[-1] == [f"{np.exp(plain['intercept']):.4g}", "intercept"]


def test_an_offset_is_a_part_of_a_sum(run, read_json, claims, write, tmp_path):
    data, model = write(claims), tmp_path / "model.json"
    run("fit", data, "-t", "claims", "--loss", "squared", "--offset", EXPOSURE, "-o", model, *FEW)
    told = read_json("explain", model, data, "--row", 3, "--offset", EXPOSURE)
    parts = [part["part"] for part in told["parts"]]
    assert sum(parts) + told["intercept"] + told["offset"] == pytest.approx(told["prediction"])
    assert " the sum of:" in run("explain", model, data, "--row", 3, "--offset", EXPOSURE).stdout


@pytest.mark.parametrize("command", ["fit", "report"])
def test_a_page_shows_rates(run, rates, claims, tmp_path, command):
    model, data = rates
    page = tmp_path / "page.html"
    if command == "fit":
        run("fit", data, *RATE, *FEW, "--report", page)
    else:
        run("report", model, "--data", data, "-t", "claims", "--exposure", EXPOSURE, "-o", page)
    y, years = (claims[name].to_numpy() for name in ("claims", EXPOSURE))
    training = command == "fit" or None
    expected = make_report(load_model(model), claims.select(NAMES), y, exposure=years, training=training)
    found = [
        json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1]) for text in (page.read_text(), expected)
    ]
    shown = [one["lines"][one["front"]["chosen"]]["check"] for one in found]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("known", [(), ("exposure",), ("exposure", "sample_weight")])
def test_evidence_is_of_rates(read_json, rates, claims, write, known):
    weights = np.random.default_rng(0).integers(1, 3, 300)
    half = claims.slice(300).append_column("weight", pa.array(weights))
    given = {"exposure": half[EXPOSURE].to_numpy(), "sample_weight": weights}
    expected = rule_evidence(
        load_model(rates[0]), half.select(NAMES), half["claims"].to_numpy(), **{one: given[one] for one in known}
    )
    options = {"exposure": ("--exposure", EXPOSURE), "sample_weight": ("--weights", "weight")}
    told = read_json(
        "evidence", rates[0], write(half), "-t", "claims", *(word for one in known for word in options[one])
    )
    assert told == json.loads(json.dumps(plain(describe_evidence(expected))))


@pytest.mark.parametrize("known", [(), ("--exposure", EXPOSURE)])
def test_evidence_of_parts_is_that_of_the_whole_table(read_json, rates, claims, write, known):
    half = claims.slice(300).append_column("weight", pa.array([2.0] * 300))
    parts = [write(half.slice(start, 150), f"{start}.parquet") for start in (0, 150)]
    words = ("-t", "claims", "--weights", "weight", *known)
    found, truth = (read_json("evidence", rates[0], *files, *words)["rules"] for files in (parts, [write(half)]))
    assert [row["n_held"] for row in found] == [row["n_held"] for row in truth]
    for name in ("mean_target", "p_value", "p_value_given_others", "mean_target_low"):
        assert [row[name] for row in found] == pytest.approx([row[name] for row in truth])


def test_exports_multiply_by_the_exposure(run, refuse, rates, claims, tmp_path):
    model, _ = rates
    words = ("export", model, "--exposure", EXPOSURE)
    query = run(*words, "--to", "sql", "--dialect", "duckdb", "--table", "data").stdout
    database = duckdb.connect()
    database.register("data", claims)
    found = [row[0] for row in database.execute(query).fetchall()]
    expected = load_model(model).predict(claims.select(NAMES), exposure=claims[EXPOSURE].to_numpy())
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    run(*words, "--to", "onnx", "-o", tmp_path / "model.onnx")
    assert EXPOSURE in [one.name for one in onnx.load(tmp_path / "model.onnx").graph.input]
    refuse(*words, "--to", "text", says="`--exposure` is for `--to sql` and `--to onnx`")


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ({7: None}, "row 7 (the first one is 0) has nothing. Fill them in"),
        ({7: 0.0, 9: 0.0, 11: 0.0}, "row 7 (the first one is 0) has '0.0', and 2 more are like that"),
        ({8: -1.5}, "row 8 (the first one is 0) has '-1.5'"),
        ({9: np.inf}, "row 9 (the first one is 0) has 'inf'"),
    ],
)
def test_an_exposure_that_is_none_names_its_row(refuse, rates, claims, write, cells, says):
    """Rows are counted as in the file, also after those that have no target."""
    table = set_cells(set_cells(claims, EXPOSURE, cells), "claims", {2: None, 3: None})
    data = write(table, "a.parquet")
    for words in (("fit", data, *RATE), ("predict", rates[0], data, "--exposure", EXPOSURE)):
        refuse(*words, "--quiet", says="`--exposure` needs a number above 0 in every row; ")
        refuse(*words, "--quiet", says=says)


def test_text_is_read_as_numbers(run, refuse, rates, claims, tmp_path):
    """Cells such as "n/a" make text of a whole column of a CSV file."""
    cells = [f"{value:g} yr" if row == 5 else f"{value:g}" for row, value in enumerate(claims[EXPOSURE].to_pylist())]
    (tmp_path / "a.csv").write_text(
        "claims,years,age\n" + "\n".join(f"{y},{cell},{y}" for y, cell in zip(claims["claims"], cells, strict=True))
    )
    words = ("fit", tmp_path / "a.csv", "-t", "claims", "--loss", "poisson", "--exposure", "years", "--quiet")
    refuse(*words, says=f"row 5 (the first one is 0) has '{cells[5]}'. Fill them in, or leave such rows out.")
    text = claims.set_column(3, EXPOSURE, pc.cast(claims[EXPOSURE], pa.string()))
    pq.write_table(text, tmp_path / "a.parquet")
    run("predict", rates[0], tmp_path / "a.parquet", "--exposure", EXPOSURE, "-o", tmp_path / "out.csv")
    found = read_table(tmp_path / "out.csv")["prediction"].to_numpy()
    expected = load_model(rates[0]).predict(claims.select(NAMES), exposure=claims[EXPOSURE].to_numpy())
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_what_does_not_go_together_is_one_line(refuse, fitted, rates, claims, write, tmp_path, monkeypatch):
    model, data = rates
    other, others = fitted
    quiet = ("--quiet", *FEW)
    refuse("fit", data, "-t", "claims", "--exposure", EXPOSURE, *quiet, says="`--exposure` is for rates; add `--loss")
    refuse(
        "fit", data, *RATE[:4], "--exposure", "claims", *quiet, says="`--exposure` and `--target` both name 'claims'"
    )
    refuse("fit", data, *RATE[:4], "--exposure", "years", *quiet, says="`--exposure` names 'years', which is no column")
    refuse("fit", data, "-t", "claims", "--loss", "gamma", *quiet, says="`--loss gamma` is for targets of more than 0")
    refuse("fit", data, *RATE, "--number", EXPOSURE, *quiet, says="which is no attribute here")
    refuse("predict", other, others, "--exposure", "Farbe", says="`--exposure` is for models of rates")
    refuse("explain", other, others, "--row", 0, "--exposure", "Farbe", says="`--exposure` is for models of rates")
    refuse("export", other, "--to", "sql", "--exposure", "Farbe", says="`--exposure` is for models of rates")
    refuse("report", model, "--data", data, "--exposure", EXPOSURE, "-o", tmp_path / "a.html", says="give that, too")
    dates = claims.set_column(3, "day", pa.array([0] * 600, pa.date32()))
    refuse(
        *("predict", model, write(dates, "dates.parquet"), "--exposure", "day"),
        says="`--exposure` must name a column of numbers; 'day' is date32[day].",
    )


def test_large_tables_refuse_it_too(refuse, claims, tmp_path, monkeypatch):
    shrink_pool(monkeypatch, 300)
    for start in range(0, 600, 200):
        pq.write_table(set_cells(claims, EXPOSURE, {250: None}).slice(start, 200), tmp_path / f"{start}.parquet")
    words = ("fit", tmp_path, *RATE, *FEW, "--quiet")
    refuse(
        *words, says=f"200.parquet': The exposure in column '{EXPOSURE}' must be a number above 0; row 250 has none."
    )


@pytest.mark.parametrize("way", ["once for each", "commas"])
def test_quantiles_have_a_column_each(run, read_json, claims, write, tmp_path, monkeypatch, way):
    """Of several `--quantile` all but the last were forgotten."""
    monkeypatch.setenv("COLUMNS", "200")
    data, model = write(claims.drop_columns(["claims"])), tmp_path / "model.json"
    levels = ("--quantile", "0.9", "--quantile", "0.5") if way == "once for each" else ("--quantile", "0.9, 0.5")
    run("fit", data, "-t", MILEAGE, "--loss", "quantile", *levels, "-o", model, *FEW)
    X = claims.select(["age", "region", EXPOSURE])
    settings = {"n_candidates": 60, "max_terms": 5, "cv": 3, "n_jobs": 1, "random_state": 0}
    expected = RuleEnsembleRegressor(loss="quantile", quantile=[0.5, 0.9], **settings)
    expected.fit(X, claims[MILEAGE].to_numpy())
    run("predict", model, data, "-o", tmp_path / "out.csv")
    found = read_table(tmp_path / "out.csv")
    assert found.column_names == ["prediction at 0.5", "prediction at 0.9"]
    np.testing.assert_allclose(np.column_stack(found.columns), expected.predict(X), rtol=1e-12)
    told = read_json("explain", model, data, "--row", 0)
    assert told["prediction"] == pytest.approx(expected.predict(X)[0].tolist())
    assert told["level"] == 0.9
    assert read_json("rules", model)["outputs"] == [0.5, 0.9]
    assert read_json("explain", model, data, "--row", 0, "--label", "0.5")["level"] == 0.5
    printed = run("explain", model, data, "--row", 0).stdout
    assert re.match(
        r"Predicted [\d.]+ \(median\), [\d.]+ \(90 % quantile\); for the 90 % quantile it is the sum of:\n", printed
    )
    shown = run("rules", model)
    assert "coefficient" not in shown.stdout
    assert "quantile" in shown.stdout or "median" in shown.stdout or not len(expected.rules_)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--quantile", "0.1", "--quantile", "most"], "`--quantile` must be a level between 0 and 1"),
        (["--quantile", "1.5"], "`--quantile` must be a level between 0 and 1"),
        (["--quantile", "0.5", "--quantile", "0.5"], "each level once; got [0.5, 0.5]"),
        (["--quantile", "0.5", "--exposure", EXPOSURE], "`--exposure` is for rates"),
        (["--quantile", "0.5", "--power", "1.5"], "`--power` is for `--loss tweedie`"),
    ],
)
def test_levels_that_are_none(refuse, claims, write, words, says):
    refuse("fit", write(claims), "-t", MILEAGE, "--loss", "quantile", *words, "--quiet", *FEW, says=says)


def test_a_level_that_a_model_does_not_have(run, refuse, claims, write, tmp_path):
    data, model = write(claims), tmp_path / "model.json"
    run("fit", data, "-t", MILEAGE, "--loss", "quantile", "--quantile", "0.1,0.9", "-o", model, "-q", *FEW)
    says = "`--label` names 'median', which the model does not have. It has '0.1', '0.9'."
    refuse("explain", model, data, "--row", 0, "--label", "median", says=says)


def test_rows_of_parts_are_shown_with_their_exposure(claims, write):
    """Reports of parts had rates without the weights by which exposures count."""
    files = [write(claims.slice(start, 300), f"{start}.parquet") for start in (0, 300)]
    training = read_large(files, ["claims"], Columns(), {"exposure": EXPOSURE}, 1)
    rows, y, found = training.show(RuleEnsembleRegressor(loss="poisson"))
    table = claims.slice(0, 600)
    assert EXPOSURE not in rows.column_names
    np.testing.assert_array_equal(y, table["claims"].to_numpy())
    assert list(found) == ["exposure"]
    np.testing.assert_array_equal(found["exposure"], table[EXPOSURE].to_numpy())
