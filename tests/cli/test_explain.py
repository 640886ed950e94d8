"""`explain`: the parts of a score."""

import numpy as np
import pyarrow as pa
import pytest

from cli_tables import TARGET
from rulegrove import RuleEnsembleRegressor, load_model
from rulegrove.cli.reading import read_table
from rulegrove.cli.writing import write_table


def test_parts_add_up_to_the_score(run, read_json, fitted):
    model, data = fitted
    document = read_json("explain", model, data, "--row", 7)
    explanation = load_model(model).explain(read_table(data).drop_columns([TARGET]))[7]
    assert document["prediction"] == explanation.prediction
    assert document["score"] == explanation.score
    parts = [part["part"] for part in document["parts"]]
    assert parts == explanation.parts.tolist()
    assert sum(parts) + document["intercept"] == pytest.approx(document["score"], rel=1e-12)
    printed = run("explain", model, data, "--row", 7).stdout
    assert printed.startswith(f"Predicted {explanation.prediction:.6g}" if explanation.label is None else "Predicted ")
    assert printed.rstrip().endswith("intercept")


def test_the_largest_parts_with_the_values_of_the_row(run, read_json, fitted, monkeypatch):
    """All of 80 parts were printed, without what the row holds and how sure the model is."""
    monkeypatch.setenv("COLUMNS", "200")  # no cell is broken into lines
    model, data = fitted
    loaded, rows = load_model(model), read_table(data)
    document = read_json("explain", model, data, "--row", 7)
    for part in document["parts"]:
        assert part["values"] == {name: rows[name][7].as_py() for name in part["values"]}
        assert all(name in part["rule"] for name in part["values"])
    printed = " ".join(run("explain", model, data, "--row", 7, "--top", "2").stdout.split())
    hidden = [part["part"] for part in document["parts"][2:]]
    assert f"{sum(hidden):+.4g} {len(hidden)} smaller part" in printed
    first = document["parts"][0]["values"]
    told = [value if isinstance(value, str) else f"{value:.6g}" for value in first.values()]
    assert all(f"{' '.join(name.split())} = {value}" in printed for name, value in zip(first, told, strict=True))
    every = run("explain", model, data, "--row", 7, "--top", "all").stdout
    assert "smaller part" not in every
    if hasattr(loaded, "classes_"):
        sure = loaded.predict_proba(rows.drop_columns([TARGET]))[7].max()
        assert document["probability"] == sure
        assert f" with probability {sure:.1%}; score " in printed


def test_ten_parts_are_printed_unless_told(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 15))
    model = RuleEnsembleRegressor(terms="linear", selection=1e-4, random_state=0).fit(X, X.sum(axis=1))
    model.save(tmp_path / "m.json")
    write_table(pa.table({f"c{k}": X[:, k] for k in range(15)}), tmp_path / "a.csv")
    lines = run("explain", tmp_path / "m.json", tmp_path / "a.csv", "--row", 0).stdout.splitlines()
    assert len([line for line in lines if " = " in line]) == 10
    assert "5 smaller parts; --top all shows all" in lines[-2]
    for wrong in ("0", "-1", "many"):
        run("explain", tmp_path / "m.json", tmp_path / "a.csv", "--row", 0, "--top", wrong, code=2)


def test_a_class_can_be_asked_about(read_json, refuse, fitted):
    model, data = fitted
    if len(getattr(load_model(model), "classes_", ())) > 2:
        assert read_json("explain", model, data, "--row", 0, "--label", "1")["class"] == 1
        refuse("explain", model, data, "--row", 0, "--label", "11", says="`--label` names '11'")
    else:
        refuse("explain", model, data, "--row", 0, "--label", "ja", says="more than two classes")


def test_rows_that_are_not_there(run, refuse, fitted):
    refuse("explain", *fitted, "--row", 300, says="`--row` 300 is beyond the table of 300 rows; the last one is 299.")
    run("explain", *fitted, "--row", -1, code=2)
