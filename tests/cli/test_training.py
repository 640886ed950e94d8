"""A table with a target: what columns are, and the options that say otherwise."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli_tables import FAST
from rulegrove import RuleAttributeSelector, RuleEnsembleClassifier, RuleEnsembleRegressor, load_model
from rulegrove.cli.reading import read_table

VOTES = ("--n-candidates", "60", "--n-repeats", "2", "--min-votes", "1", "--n-jobs", "1")


@pytest.fixture
def table():
    """A date, a time, a percentage with a word among the numbers, an identifier, patients and a target of each kind."""
    rng = np.random.default_rng(0)
    start = dt.datetime(2024, 1, 1, 8)
    times = [start + dt.timedelta(hours=int(hours)) for hours in rng.integers(0, 9_000, 300)]
    share = rng.integers(0, 100, 300)
    score = share / 50 + (np.array([time.month for time in times]) > 6)
    return pa.table(
        {
            "day": [time.date() for time in times],
            "time": times,
            "share": [f"{value}%" for value in share[:-1]] + ["unknown"],
            "key": [f"id{k}" for k in range(300)],
            "patient": rng.integers(0, 40, 300),
            "x": rng.normal(size=300),
            "y": score > 1.4,
            "z": score,
        }
    )


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "parts"])
def test_dates_are_attributes(run, read_json, write, tmp_path, table, name):
    """Columns of dates were refused, or counted as categories."""
    chosen = table.select(["day", "time", "x", "z"])
    if name == "parts":
        (tmp_path / name).mkdir()
        pq.write_table(chosen, tmp_path / name / "0.parquet")
    else:
        write(chosen, name)
    model, out = tmp_path / "m.json", tmp_path / "out.parquet"
    told = read_json("fit", tmp_path / name, "-t", "z", "-o", model, *FAST)
    assert told["data"]["dates"] == ["day", "time"]
    assert told["data"]["numbers"] == ["x"]
    assert not told["data"]["categories"]
    rules = [term["rule"] for term in told["terms"]]
    assert any(rule.startswith(("day", "time")) for rule in rules)
    run("predict", model, tmp_path / name, "-o", out)
    expected = load_model(model).predict(chosen.drop_columns(["z"]))
    np.testing.assert_array_equal(read_table(out)["prediction"].to_numpy(), expected)
    if name != "parts":
        assert "dates       'day', 'time'" in run("fit", tmp_path / name, "-t", "z", *FAST).stderr
        parts = read_json("explain", model, tmp_path / name, "--row", 5)["parts"]
        assert {name.partition(".")[0] for part in parts for name in part["values"]} <= {"day", "time", "x"}
        assert run("explain", model, tmp_path / name, "--row", 5).stdout.rstrip().endswith("intercept")
        small = run("select", tmp_path / name, "-t", "z", "-o", tmp_path / "small.csv", *VOTES)
        assert "dates       'day', 'time'" in small.stderr


def test_a_date_is_no_target(refuse, write, table):
    refuse("fit", write(table), "-t", "day", "-q", says="The target 'day' must be numbers or text; got date32")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("kind", ["whole", "parts"])
def test_text_can_be_numbers(run, read_json, write, tmp_path, table, kind):
    chosen = table.select(["share", "x", "z"])
    data = write(chosen, "a.parquet" if kind == "parts" else "a.csv")
    paths = [data, write(chosen.slice(0, 0), "b.parquet")] if kind == "parts" else [data]
    told = run("fit", *paths, "-t", "z", *FAST).stderr
    assert "list the column in `--number`" in told
    model = tmp_path / "m.json"
    document = read_json("fit", *paths, "-t", "z", "--number", "share", "-o", model, *FAST)
    assert document["data"]["numbers"] == ["share", "x"]
    X = chosen.drop_columns(["z"])
    settings = {"n_candidates": 60, "selection": 0.02, "random_state": 0}
    expected = RuleEnsembleRegressor(**settings, numeric_features=["share"]).fit(X, chosen["z"].to_numpy())
    np.testing.assert_allclose(load_model(model).predict(X), expected.predict(X), rtol=0, atol=1e-9)
    run("predict", model, data, "-o", tmp_path / "out.csv")
    document = read_json("select", data, "-t", "z", "--number", "share", *VOTES)
    assert document["attributes"][0]["attribute"] == "share"


@pytest.mark.filterwarnings("default")
def test_identifiers_are_left_out_unless_kept(run, read_json, write, table):
    data = write(table.select(["key", "x", "y"]))
    told = run("fit", data, "-t", "y", *FAST).stderr
    assert "Warning: Column 0 ('key') " in told
    kept = run("fit", data, "-t", "y", "--keep-identifiers", *FAST).stderr
    assert "left out" not in kept
    assert "left out" not in run("select", data, "-t", "y", "--keep-identifiers", *VOTES).stderr


@pytest.mark.filterwarnings("ignore::rulegrove.exceptions.RulegroveWarning")
def test_groups_are_held_out_together(run, write, tmp_path, table, monkeypatch):
    seen = {}

    def fit(self, X, y, sample_weight=None, groups=None):
        seen.update(names=X.column_names, groups=groups)
        return plain(self, X, y, sample_weight=sample_weight, groups=groups)

    plain = RuleEnsembleClassifier.fit
    monkeypatch.setattr(RuleEnsembleClassifier, "fit", fit)
    data = write(table.select(["x", "share", "patient", "y"]))
    told = run("fit", data, "-t", "y", "--groups", "patient", "--number", "share", "--n-candidates", "60").stderr
    assert "groups      'patient': 40 groups, each in one fold" in told
    assert seen["names"] == ["x", "share"]
    codes = table["patient"].to_numpy()
    assert len({*zip(codes, seen["groups"], strict=True)}) == len(set(codes)) == len(set(seen["groups"]))


def test_groups_that_cannot_be(refuse, write, table):
    holed = table.append_column("hole", pa.array([None, *range(299)]))
    few = holed.append_column("few", pa.array([1, 2] * 150)).select(["x", "hole", "few", "y"])
    data = write(few)
    refuse("fit", data, "-t", "y", "-q", "--groups", "hole", says="'hole', which has no value in 1 row; every row")
    refuse("fit", data, "-t", "y", "-q", "--groups", "few", says="folds need at least 5 groups; `--groups` has 2")
    refuse("fit", data, "-t", "y", "-q", "--groups", "non", says="`--groups` names 'non'")
    parts = [write(few, "1.parquet"), write(few, "2.parquet")]
    refuse("fit", *parts, "-t", "y", "--groups", "few", says="`--groups` is for one table that is read whole")


@pytest.mark.parametrize("kind", ["whole", "parts"])
def test_columns_are_one_thing(refuse, write, table, kind):
    """Of a table in parts the fit refused them, in words of Python and after what was read was told."""
    data = [write(table)] if kind == "whole" else [write(table, "1.parquet"), write(table, "2.parquet")]
    both = ("--number", "share", "--categorical", "share")
    refuse("fit", *data, "-t", "y", *both, says="`--categorical` and `--number` both name 'share'; it can be one only.")
    for option in ("--drop", "--weights"):
        says = "`--number` names 'x', which is no attribute here; leave one of the two out."
        refuse("fit", *data, "-t", "y", option, "x", "--number", "x", says=says)
    refuse("fit", *data, "-t", "y", "--number", "shar", says="Did you mean 'share'?")


def test_words_that_are_to_be_numbers_leave_no_target(refuse, write, table):
    refuse("fit", write(table), "-t", "key", "--number", "key", says="The target 'key' has no value in any row of ")


def test_numbers_that_are_text_are_no_classes(refuse, read_json, write, tmp_path):
    """One 'unknown' made a target of 99 numbers 100 classes, and prices took minutes for one class each."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    prices = [*(f"${1000 * value:,.2f}" for value in np.exp(x[:99])), "unknown"]
    data = write(pa.table({"x": x, "y": prices}))
    says = f"is text, such as '{prices[0]}', but 99 of 100 values are numbers; `--number` for it reads the numbers"
    refuse("fit", data, "-t", "y", "-q", says=says)
    says = "holds text, such as 'unknown', so it cannot be a regression; `--number` for it"
    refuse("fit", data, "-t", "y", "-q", "--task", "regression", says=says)
    parts = [write(read_table(data), name) for name in ("1.parquet", "2.parquet")]
    refuse("fit", *parts, "-t", "y", says="but 99 of 100 values are numbers")
    refuse("fit", *parts, "-t", "y", "--number", "y", says="is for one table that is read whole")
    model, page = tmp_path / "m.json", tmp_path / "page.html"
    told = read_json("fit", data, "-t", "y", "--number", "y", "-o", model, *FAST)["data"]
    assert (told["task"], told["rows"], told["rows_without_target"]) == ("regression", 99, 1)
    assert told["numbers"] == ["x"]
    assert read_json("report", model, "--data", data, "-t", "y", "-o", page)["rows"] == 99


def test_the_selector_has_the_parameters_of_columns():
    selector = RuleAttributeSelector(numeric_features=["a"], identifiers=None)
    assert (selector.numeric_features, selector.identifiers) == (["a"], None)
