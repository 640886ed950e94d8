"""The rows that a model is applied to: which columns it needs, and how they are found."""

import numpy as np
import pyarrow as pa
import pytest

from cli_tables import SETTINGS, TARGET
from rulegrove import RuleEnsembleClassifier, load_model
from rulegrove.cli.reading import read_table
from rulegrove.cli.scoring import label_words, take_attributes
from rulegrove.exceptions import InvalidInputError


def test_models_without_names_go_by_position(run, write, tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = RuleEnsembleClassifier(**SETTINGS).fit(X, X[:, 0] > 0)
    model.save(tmp_path / "model.json")
    data = write(pa.table({"one": X[:, 0], "two": X[:, 1]}))
    run("predict", tmp_path / "model.json", data, "-o", tmp_path / "out.csv")
    assert read_table(tmp_path / "out.csv")["prediction"].to_pylist() == model.predict(X).tolist()


@pytest.mark.parametrize("fitted", ["classes", "number"], indirect=True)
def test_only_columns_that_the_rules_speak_of_are_needed(run, read_json, fitted, write, tmp_path):
    """A table without a column that no rule has was refused."""
    model, data = fitted
    loaded, rows = load_model(model), read_table(data)
    names = [feature.name for feature in loaded.model_.features]
    used = {names[feature] for term in loaded.model_.terms for feature in term.features}
    assert len(used) < len(names)
    run("predict", model, write(rows.select(sorted(used)), "few.csv"), "-o", tmp_path / "out.parquet")
    expected = loaded.predict(rows.drop_columns([TARGET])).tolist()
    assert read_table(tmp_path / "out.parquet")["prediction"].to_pylist() == expected
    assert read_json("explain", model, tmp_path / "few.csv", "--row", 3)["prediction"] == expected[3]


def test_a_table_of_other_width_cannot_go_by_position():
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = RuleEnsembleClassifier(**SETTINGS).fit(X, X[:, 0] > 0)
    with pytest.raises(InvalidInputError, match="on 2 columns without names; the table has 1"):
        take_attributes(model, pa.table({"one": X[:, 0]}))


def test_classes_go_by_their_words(fitted):
    model = load_model(fitted[0])
    expected = {str(label): label for label in getattr(model, "classes_", np.empty(0)).tolist()}
    assert label_words(model) == expected
