"""`explain`: the parts of a score."""

import pytest

from cli_tables import TARGET
from rulegrove import load_model
from rulegrove.cli.reading import read_table


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
