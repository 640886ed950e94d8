"""`predict`: predictions of the model file, bit for bit, beside the columns to keep."""

import csv
import io

import numpy as np
import pyarrow as pa
import pytest

from cli_tables import FAST, NAMES, TARGET, make_table
from rulegrove import load_model
from rulegrove.cli.reading import read_table


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet", "out.feather", "out.jsonl"])
def test_writes_what_the_model_predicts(run, fitted, tmp_path, name):
    model, data = fitted
    result = run("predict", model, data, "-o", tmp_path / name, "--keep", NAMES[4])
    assert f"300 predictions written to '{tmp_path / name}'" in result.stderr.replace("\n", "")
    table, rows, loaded = read_table(tmp_path / name), read_table(data), load_model(model)
    X = rows.drop_columns([TARGET])
    assert table[NAMES[4]].to_pylist() == rows[NAMES[4]].to_pylist()
    assert table["prediction"].to_pylist() == loaded.predict(X).tolist()
    if hasattr(loaded, "classes_"):
        shares = np.column_stack([table[f"probability of {label}"] for label in loaded.classes_])
        np.testing.assert_array_equal(shares, loaded.predict_proba(X))


def test_prints_csv_and_json(run, read_json, fitted):
    model, data = fitted
    printed = list(csv.DictReader(io.StringIO(run("predict", model, data, "--keep", NAMES[0]).stdout)))
    records = read_json("predict", model, data, "--keep", NAMES[0])["predictions"]
    assert [row["prediction"] for row in printed] == [str(row["prediction"]) for row in records]
    assert [float(row[NAMES[0]]) for row in printed] == [row[NAMES[0]] for row in records]


def test_json_beside_a_file_says_where_it_is(read_json, fitted, tmp_path):
    model, data = fitted
    document = read_json("predict", model, data, "-o", tmp_path / "out.csv")
    assert document == {"predictions": 300, "output": str(tmp_path / "out.csv")}


def test_columns_go_by_name_and_categories_stay_text(run, write, tmp_path):
    """A file in which all codes happen to be digits has integers to read, but the model knows them as words."""
    rng = np.random.default_rng(0)
    code = rng.choice(["1", "2", "x"], 200)
    table = pa.table({"code": code, "x": rng.normal(size=200), "y": code == "2"})
    model = tmp_path / "model.json"
    run("fit", write(table), "-t", "y", "-o", model, *FAST)
    digits = table.filter(pa.array(code != "x"))
    run("predict", model, write(digits.select(["y", "x", "code"]), "digits.csv"), "-o", tmp_path / "out.csv")
    predicted = read_table(tmp_path / "out.csv")["prediction"].to_pylist()
    assert predicted == load_model(model).predict(digits.select(["code", "x"])).tolist()


def test_what_cannot_be_done_is_one_line(refuse, fitted, write, tmp_path):
    model, data = fitted
    table = make_table()
    refuse("predict", model.with_name("modl.json"), data, says="Did you mean 'model.json'?")
    refuse("predict", data, data, says="is not a model file, or it is damaged")
    (tmp_path / "other.json").write_text('{"format": "other"}')
    refuse("predict", tmp_path / "other.json", data, says="is not a rulegrove model")
    (tmp_path / "half.json").write_bytes(model.read_bytes()[:500])
    refuse("predict", tmp_path / "half.json", data, says="half.json")
    refuse("predict", model, write(table.drop_columns(["Farbe"]), "b.csv"), says="The table lacks 'Farbe', which")
    few = write(table.select([TARGET]), "c.csv")
    refuse("predict", model, few, says="The table lacks 'Größe \"x\"', ")
    words = table.set_column(0, NAMES[0], pa.array(["word"] * 300))
    refuse("predict", model, write(words, "d.csv"), says="was numeric when the model was fitted; got text")
    refuse("predict", model, data, "--keep", "farbe", says="Did you mean 'Farbe'?")
    refuse("predict", model, data, "-o", tmp_path / "no" / "out.csv", says="There is no folder")
    refuse("predict", model, data, "-o", tmp_path / "out.xlsx", says="must end in one of .csv")
    renamed = table.append_column("prediction", table[TARGET])
    refuse("predict", model, write(renamed, "e.csv"), "--keep", "prediction", says="a column of the result itself")
