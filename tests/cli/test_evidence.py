"""`evidence`: what the library says of rows that did not choose the rules, and `fit --evidence split`."""

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from cli_tables import FAST, TARGET, make_table
from rulegrove import load_model
from rulegrove.cli.writing import write_table
from rulegrove.inspection import rule_evidence


def test_is_what_the_library_says(run, read_json, fitted):
    model, data = fitted
    table = pyarrow.csv.read_csv(data)
    X, y = table.drop_columns([TARGET]), np.array(table[TARGET].to_pylist())
    expected = rule_evidence(load_model(model), X, y, level=0.9, false_discovery_rate=0.05)
    asked = ("--target", TARGET, "--level", 0.9, "--false-discovery-rate", 0.05)
    result = run("evidence", model, data, *asked)
    for sentence in expected.sentences:
        assert sentence in result.stdout
    found = read_json("evidence", model, data, *asked)
    assert found["sentences"] == list(expected.sentences)
    assert [rule["established"] for rule in found["rules"]] == expected.established.tolist()
    np.testing.assert_allclose([rule["p_value"] for rule in found["rules"]], expected.p_value)


def test_files_in_parts(run, read_json, fitted, tmp_path):
    model, data = fitted
    table = pyarrow.csv.read_csv(data)
    for place in range(2):
        pq.write_table(table.slice(150 * place, 150), tmp_path / f"{place}.parquet")
    whole, parts = (read_json("evidence", model, source, "--target", TARGET) for source in (data, tmp_path))
    assert whole["sentences"] == parts["sentences"]
    for one, other in zip(whole["rules"], parts["rules"], strict=True):
        assert one["p_value"] == pytest.approx(other["p_value"], rel=1e-6)


def test_a_fit_sets_rows_apart(run, read_json, tmp_path):
    write_table(make_table(), tmp_path / "data.csv")
    words = ("fit", tmp_path / "data.csv", "--target", TARGET, *FAST, "--evidence", "split")
    result = run(*words, "-o", tmp_path / "model.json")
    model = load_model(tmp_path / "model.json")
    assert model.evidence_.n_rows == 150
    for sentence in model.evidence_.sentences:
        assert f"{sentence}\n" in result.stderr
    assert read_json(*words)["evidence"]["sentences"] == list(model.evidence_.sentences)


def test_a_column_that_is_not_there(refuse, fitted):
    model, data = fitted
    refuse("evidence", model, data, "--target", "nothing", says="`--target` names 'nothing'")
    refuse("evidence", model, data, "--target", TARGET, "--level", 7, says="`level` must lie between 0 and 1")
