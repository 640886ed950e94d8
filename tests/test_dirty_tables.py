"""A dirty table from end to end: the same scores in memory, from every kind of table, file, engine and export.

It stands beside the mirror of the package because it goes through all of it.
"""

import datetime as dt
import sqlite3

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dirty_tables import make_dirty
from rulegrove import RuleAttributeSelector, RuleEnsembleClassifier, RuleEnsembleRegressor, engines, load_model
from rulegrove.exceptions import RulegroveWarning
from rulegrove.export import to_onnx, to_python, to_sql
from rulegrove.inspection import partial_dependence, stability_report
from rulegrove.report import write_report
from small_pools import shrink_pool

SMALL = {"n_candidates": 120, "terms": "rules", "honest_cv": False, "cv": 3, "random_state": 0, "n_jobs": 1}


@pytest.fixture(scope="module")
def fitted():
    frame, y = make_dirty()
    with pytest.warns(RulegroveWarning) as caught:
        model = RuleEnsembleRegressor(max_bins=60, numeric_features=["amount"], **SMALL).fit(frame, y)
    assert {str(warning.message).split("'")[1] for warning in caught} == {"Unnamed: 0", "customer", "town", "amount"}
    assert {"sold", "town", "amount", "member", "first visit"} <= set(model.model_.used_names)
    return model, frame, y


def clean(frame):
    """The table as a database would hold it: amounts are numbers."""
    amounts = pd.to_numeric(frame["amount"].str.replace(r"[$,]", "", regex=True), errors="coerce")
    return frame.assign(amount=amounts)


def test_it_finds_what_made_the_target(fitted):
    model, frame, y = fitted
    assert model.score(frame, y) > 0.8
    importances = dict(zip(model.feature_names_in_, model.feature_importances_, strict=True))
    assert importances["Unnamed: 0"] == importances["customer"] == 0.0
    assert any("sold.month > 6" in row.text or "sold.month <= 6" in row.text for row in model.rules_)
    town = next(k for k, feature in enumerate(model.model_.features) if feature.name == "town")
    asked = [part.categories for row in model.rules_ for part in row.term.conditions if part.feature == town]
    assert any(len(model.model_.features[town].categories) in codes for codes in asked), (
        "the pooled towns are asked for"
    )


def test_every_kind_of_table_and_the_model_file_give_the_same(fitted, tmp_path):
    model, frame, _ = fitted
    expected = model.predict(frame)
    for table in (pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.astype({"sold": "datetime64[s]"})):
        np.testing.assert_array_equal(model.predict(table), expected)
    np.testing.assert_array_equal(model.predict(frame[list(model.model_.used_names)[::-1]]), expected)
    np.testing.assert_array_equal(model.predict(clean(frame)), expected)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(frame), expected)
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    assert [row.text for row in loaded.rules_] == [row.text for row in model.rules_]


def test_exports_give_the_same(fitted):
    model, frame, _ = fitted
    expected, table = model.predict(frame), clean(frame)
    with duckdb.connect() as connection:
        connection.register("t", pa.Table.from_pandas(table, preserve_index=False))
        found = connection.execute(to_sql(model, table="t", dialect="duckdb")).fetchdf()["prediction"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    with sqlite3.connect(":memory:") as connection:
        table.assign(sold=table["sold"].astype(str).replace("NaT", None)).to_sql("t", connection, index=False)
        rows = connection.execute(to_sql(model, table="t", dialect="sqlite")).fetchall()
    np.testing.assert_allclose([row[0] for row in rows], expected, rtol=1e-12)
    space = {}
    exec(to_python(model), space)
    found = [space["predict"](row) for row in table.head(60).to_dict("records")]
    np.testing.assert_allclose(found, expected[:60], rtol=1e-12)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    feeds = {}
    for name in (source.name for source in session.get_inputs()):
        values = table[name]
        if values.dtype.kind == "M" or name == "first visit":
            seconds = pd.to_datetime(values).to_numpy().astype("datetime64[s]").astype(np.int64)
            feeds[name] = seconds[:, None]
        elif name == "town":
            feeds[name] = values.fillna("").to_numpy(dtype=object)[:, None]
        else:
            feeds[name] = values.to_numpy(dtype=np.float64)[:, None]
    found = session.run(None, feeds)[0]
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-9)


def test_a_table_in_parts_and_a_large_one_are_read_alike(monkeypatch, tmp_path):
    shrink_pool(monkeypatch, 400)
    frame, y = make_dirty(3000)
    table = pa.Table.from_pandas(frame.assign(y=y), preserve_index=False)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=700)
    told = {"max_bins": 60, "numeric_features": ["amount"], **SMALL}
    with pytest.warns(RulegroveWarning):
        in_memory = RuleEnsembleRegressor(**told).fit(frame, y)
    with pytest.warns(RulegroveWarning):
        in_parts = engines.fit(RuleEnsembleRegressor(**told), tmp_path / "t.parquet", "y")
    assert [row.text for row in in_parts.rules_] == [row.text for row in in_memory.rules_]
    np.testing.assert_allclose(in_parts.predict(frame), in_memory.predict(frame), rtol=1e-9)
    engines.predict(in_parts, tmp_path / "t.parquet", tmp_path / "p.parquet")
    np.testing.assert_array_equal(pq.read_table(tmp_path / "p.parquet")["prediction"], in_parts.predict(frame))


def test_tools_speak_of_columns_and_their_parts(fitted, tmp_path):
    model, frame, y = fitted
    write_report(model, tmp_path / "r.html", frame, y)
    assert "sold.month" in (tmp_path / "r.html").read_text()
    assert partial_dependence(model, frame, "sold.month").values.shape[-1] > 1
    assert partial_dependence(model, frame, "town").values.shape[-1] > 1
    explained = model.explain(frame.head(3))
    np.testing.assert_array_equal(explained.scores, model.predict(frame.head(3)))
    assert repr(explained[0])
    with pytest.warns(RulegroveWarning):
        report = stability_report(model, frame, y, n_repeats=2, random_state=0)
    assert report.names == tuple(frame)
    selector = RuleAttributeSelector(n_candidates=100, max_bins=60, numeric_features=["amount"], random_state=0)
    with pytest.warns(RulegroveWarning):
        selector.fit(frame, y)
    kept = set(selector.get_feature_names_out())
    assert {"sold", "town", "amount", "member"} <= kept
    assert not kept & {"customer", "Unnamed: 0"}
    assert selector.transform(frame).shape[1] == len(kept)


def test_rules_of_ones_own_may_speak_of_dates_and_pooled_towns():
    frame, y = make_dirty()
    own = ["sold > 1970-01-01", "6.5 < sold.month <= 9.5", "town != any other"]
    model = RuleEnsembleClassifier.from_rules(own, forced=True, max_bins=60, numeric_features=["amount"])
    with pytest.warns(RulegroveWarning):
        model.fit(frame, y > np.median(y))
    held = model.transform_rules(frame)[:, [row.text for row in model.rules_].index("sold > 1970-01-01")]
    expected = (frame["sold"] >= dt.datetime(1970, 1, 2)).to_numpy()
    np.testing.assert_array_equal(held, expected)
