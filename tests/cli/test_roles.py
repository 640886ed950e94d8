"""Several columns to predict, which share a list; and columns that cannot be two things."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from cli_tables import FAST
from rulegrove import RuleEnsembleRegressor, load_model
from rulegrove.cli.reading import read_table
from rulegrove.export import to_python

BOTH = ("yield, dry (t/ha)", "protein %")
FEW = ("--n-candidates", "60", "--max-terms", "4", "--cv", "3", "--n-jobs", "1")
SETTINGS = {"n_candidates": 60, "max_terms": 4, "cv": 3, "n_jobs": 1, "random_state": 0}
TARGETS = tuple(word for name in BOTH for word in ("-t", name))


@pytest.fixture(scope="module")
def fields():
    """Two numbers that depend on other attributes, rows without one of them, and a category."""
    rng, n_rows = np.random.default_rng(0), 300
    rain, sun, soil = *rng.normal(size=(2, n_rows)).round(2), rng.choice(["clay", "sand"], n_rows)
    yields = 3 + 2 * (rain > 0) + 0.2 * rng.normal(size=n_rows)
    protein = 10 - 1.5 * (rain > 0) * (soil == "clay") + (sun > 0.5) + 0.3 * rng.normal(size=n_rows)
    holed = pa.array(protein.round(3), mask=np.arange(n_rows) == 5)
    return pa.table({"rain": rain, "sun": sun, "soil": soil, BOTH[0]: yields.round(3), BOTH[1]: holed})


@pytest.fixture(scope="module")
def known(fields):
    """The rows that have both numbers."""
    return fields.filter(pa.array(np.arange(len(fields)) != 5))


@pytest.fixture(scope="module")
def expected(known):
    """The model that the command is to fit."""
    return RuleEnsembleRegressor(**SETTINGS).fit(known.drop_columns(list(BOTH)), known.select(list(BOTH)).to_pandas())


@pytest.fixture(scope="module")
def saved(expected, tmp_path_factory):
    """The file of that model."""
    path = tmp_path_factory.mktemp("several") / "model.json"
    expected.save(path)
    return path


def test_several_targets_are_several_numbers(run, read_json, fields, expected, write, tmp_path):
    """Of several `--target` all but the last became attributes."""
    data, model = write(fields), tmp_path / "model.json"
    result = run("fit", data, *TARGETS, "-o", model, *FEW)
    X = fields.drop_columns(list(BOTH))
    np.testing.assert_array_equal(load_model(model).predict(X), expected.predict(X))
    assert "299 rows, 3 attributes" in result.stderr
    for name in BOTH:
        assert f"'{name}': regression, " in result.stderr
        assert f"{name}: R² 0." in result.stderr
        assert f"{name} +" in " ".join(result.stdout.split())
    told = read_json("fit", data, *TARGETS, *FEW)
    assert told["data"]["target"] == list(BOTH)
    assert (told["data"]["rows"], told["data"]["rows_without_target"]) == (299, 1)
    assert told["held_out"]["names"] == told["outputs"] == list(BOTH)
    for place, name in enumerate(BOTH):
        found = [term[f"coefficient of {name}"] for term in told["terms"]]
        assert found == expected.model_.coefs[place].tolist()


def test_lists_may_be_apart(read_json, fields, write):
    told = read_json("fit", write(fields), *TARGETS, "--multioutput", "separate", *FEW)
    assert any(term[f"coefficient of {name}"] == 0.0 for term in told["terms"] for name in BOTH)


def test_predictions_have_a_column_each(run, saved, fields, expected, write, tmp_path):
    run("predict", saved, write(fields), "--keep", "soil", "-o", tmp_path / "out.csv")
    found = read_table(tmp_path / "out.csv")
    assert found.column_names == ["soil", *(f"prediction of {name}" for name in BOTH)]
    X = fields.drop_columns(list(BOTH))
    np.testing.assert_allclose(np.column_stack(found.columns[1:]), expected.predict(X), rtol=1e-12)


def test_each_number_is_explained(run, read_json, saved, fields, expected, write):
    data, truth = write(fields), expected.predict(fields.drop_columns(list(BOTH)))[3]
    for place, name in enumerate(BOTH):
        told = read_json("explain", saved, data, "--row", 3, "--label", name)
        assert told["number"] == name
        assert told["prediction"] == pytest.approx(truth.tolist())
        parts = [part["part"] for part in told["parts"]]
        assert told["intercept"] + sum(parts) == pytest.approx(truth[place])
    assert read_json("explain", saved, data, "--row", 3)["number"] == BOTH[0]
    assert f"; for {BOTH[0]} it is the sum of:" in run("explain", saved, data, "--row", 3).stdout


def test_lists_are_shorter_and_elsewhere(run, read_json, saved, fields, expected):
    short = read_json("shorten", saved, "--max-terms", 1)
    assert short["n_terms"] == 1
    assert all(short["terms"][0][f"coefficient of {name}"] for name in BOTH)
    query = run("export", saved, "--to", "sql", "--dialect", "duckdb", "--table", "data").stdout
    database = duckdb.connect()
    database.register("data", fields)
    truth = expected.predict(fields.drop_columns(list(BOTH)))
    np.testing.assert_array_equal(database.execute(query).fetchall(), truth)
    assert run("export", saved, "--to", "python").stdout == to_python(expected)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([*TARGETS, "-t", "soil"], "Several `--target` must all be numbers; 'soil' holds 'sand'. Fit it by itself"),
        ([*TARGETS, "-t", "same"], "The target 'same' has one value only"),
        ([*TARGETS, "-t", BOTH[0]], "`--target` names 'yield, dry (t/ha)' twice; once is enough"),
        ([*TARGETS, "-t", "proteins %"], "Did you mean 'protein %'?"),
        ([*TARGETS, "--loss", "poisson"], "`--loss poisson` is for one `--target`; fit each column by itself"),
        ([*TARGETS, "--loss", "poisson", "--exposure", "sun"], "`--loss poisson` is for one `--target`"),
        ([*TARGETS, "--exposure", "sun"], "`--exposure` is for rates"),
        ([*TARGETS, "--task", "classification"], "`--task classification` is for one `--target`"),
        ([*TARGETS, "--class-weight", "balanced"], "`--class-weight` is for classes, and this is a regression"),
        ([*TARGETS, "--evidence", "split"], "Rules are tested for one number at a time; got 2 numbers"),
        ([*TARGETS, "--weights", BOTH[0]], "`--weights` and `--target` both name 'yield, dry (t/ha)'"),
        ([*TARGETS, "--drop", BOTH[0]], "`--drop` and `--target` both name 'yield, dry (t/ha)'"),
        (
            ["-t", BOTH[0], "--multioutput", "shared"],
            "`--multioutput` is for several numbers; give `--target` once for",
        ),
        (["-t", "soil", "--power", "1.5"], "`--power` is for `--loss tweedie`"),
    ],
)
def test_what_does_not_go_together_is_one_line(refuse, fields, write, words, says):
    data = write(fields.append_column("same", pa.array([1.0] * 300)))
    refuse("fit", data, *words, "--quiet", *FEW, says=says)


def test_other_commands_take_what_they_can(refuse, saved, fields, write, tmp_path):
    data, page = write(fields), tmp_path / "a.html"
    refuse("select", data, *TARGETS, says="`--target` was given 2 times; `rulegrove select` takes one column.")
    refuse("evidence", saved, data, *TARGETS, says="`--target` was given 2 times; `rulegrove evidence` takes one")
    refuse("evidence", saved, data, "-t", BOTH[0], says="Rules are tested on classes or on one number; the model is of")
    says = "The model predicts 'yield, dry (t/ha)', 'protein %'; got 1 column by `--target`."
    refuse("report", saved, "--data", data, "-t", BOTH[0], "-o", page, says=says)
    refuse("explain", saved, data, "--row", 0, "--label", "protein", says="Did you mean 'protein %'?")
    refuse("predict", saved, data, "--exposure", "sun", says="`--exposure` is for models of rates")
    assert not page.exists()


def test_a_model_of_one_number_takes_one_target(run, refuse, fields, write, tmp_path):
    data, model = write(fields), tmp_path / "model.json"
    run("fit", data, "-t", BOTH[0], "-o", model, "-q", *FAST)
    says = "The model predicts one column; got 2 columns by `--target`."
    refuse("report", model, "--data", data, *TARGETS, "-o", tmp_path / "a.html", says=says)
