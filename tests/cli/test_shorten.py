"""`shorten`: the list that a fit of that length has, from a model file alone."""

import json

import numpy as np
import pyarrow.csv
import pytest

from cli_tables import TARGET
from rulegrove import load_model


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ((), {}),
        (("--max-terms", 2), {"max_terms": 2}),
        (("--max-terms", "none"), {"max_terms": None}),
        (("--max-rules", 3), {"max_rules": 3}),
    ],
)
def test_is_what_the_estimator_does(run, fitted, tmp_path, options, parameters):
    path, data = fitted
    before = path.read_bytes()
    result = run("shorten", path, *options, "-o", tmp_path / "short.json")
    expected = load_model(path).shorten(**parameters)
    short = load_model(tmp_path / "short.json")
    expected.save(tmp_path / "expected.json")
    assert (tmp_path / "short.json").read_bytes() == (tmp_path / "expected.json").read_bytes()
    X = pyarrow.csv.read_csv(data).drop_columns([TARGET])
    np.testing.assert_array_equal(short.predict(X), expected.predict(X))
    assert list(short.rules_) == list(expected.rules_)
    assert (short.max_terms, short.max_rules) == (expected.max_terms, expected.max_rules)
    assert f"Model saved to '{tmp_path / 'short.json'}'." in result.stderr
    assert path.read_bytes() == before


def test_prints_the_list(run, read_json, fitted, tmp_path):
    result = run("shorten", fitted[0], "--max-terms", 2)
    assert "Not saved; -o short.json keeps the model." in result.stderr
    assert {"coefficient", "support", "rule"} <= set(result.stdout.splitlines()[0].split())
    document = read_json("shorten", fitted[0], "--max-terms", 2, "-o", tmp_path / "short.json")
    short = load_model(tmp_path / "short.json")
    assert [term["rule"] for term in document["terms"]] == [term.text for term in short.rules_]
    assert document["front"]["terms"] == short.front_.to_dict()["terms"]
    assert document["front"]["chosen"] == short.front_.chosen
    assert document["model"] == str(tmp_path / "short.json")
    result = run("shorten", fitted[0], "-o", tmp_path / "short.json", "-q")
    assert (result.stdout, result.stderr) == ("", "")


def test_what_cannot_be_shortened_says_so(refuse, fitted, tmp_path):
    for word in ("few", "-1", "2.5"):
        refuse("shorten", fitted[0], "--max-terms", word, says=f"a number from 0 on; got '{word}'")
    refuse("shorten", fitted[0], "-o", fitted[0], says="which is read")
    document = json.loads(fitted[0].read_text())
    del document["front"], document["checksum"]
    (tmp_path / "old.json").write_text(json.dumps(document))
    refuse("shorten", tmp_path / "old.json", "--max-terms", 2, says="no front of shorter lists")
