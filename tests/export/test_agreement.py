"""Models drawn at random: file, Python, DuckDB, SQLite and onnxruntime all say what the model says."""

import json
from dataclasses import replace

import numpy as np
import onnxruntime
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from databases import DuckDB, SQLite
from exported_models import (
    HOSTILE,
    READ_FEATURES,
    as_records,
    as_texts,
    feed,
    fitted,
    of_terms,
    read_columns,
    read_rows,
)
from rulegrove.columns import Feature
from rulegrove.design.terms import Linear
from rulegrove.estimators.model_file import dump_model, parse_model
from rulegrove.export import to_onnx, to_python, to_sql
from rulegrove.rules.rule import Condition, Rule

TEXTS = ["a", "A", "it's", 'q"', "\\", "é🌲", "a "]
FEATURES = [
    {"name": HOSTILE},
    {"name": "x y"},
    {"name": "t", "categories": TEXTS},
    {"name": "k", "categories": [1.0, 2.5]},
]
bounds = st.sampled_from([-1e300, -1.5, -0.1, 0.0, 1e-300, 0.1, 0.3, 1 / 3, 2.0, 1e16, 1e300])
coefs = st.floats(-1e6, 1e6).filter(lambda value: abs(value) > 1e-9)


@st.composite
def conditions(draw, feature):
    missing = draw(st.booleans())
    if "categories" in FEATURES[feature]:
        size = len(FEATURES[feature]["categories"])
        codes = draw(st.lists(st.integers(0, size - 1), unique=True, min_size=0 if missing else 1))
        return {"feature": feature, "categories": sorted(codes), "missing": missing}
    low, high = sorted(draw(st.lists(bounds, min_size=2, max_size=2, unique=True)))
    kind = draw(st.sampled_from(["both", "lower", "upper", "known", "missing"]))
    if kind == "missing":
        return {"feature": feature, "lower": "inf", "missing": True}
    sides = {"both": {"lower": low, "upper": high}, "lower": {"lower": low}, "upper": {"upper": high}, "known": {}}[
        kind
    ]
    return {"feature": feature, **sides, "missing": missing}


@st.composite
def terms(draw):
    about = {"coefs": [draw(coefs)], "importance": draw(st.floats(0, 10))}
    if draw(st.integers(0, 4)) == 0:
        low, high = sorted(draw(st.lists(bounds.filter(lambda b: abs(b) < 1e17), min_size=2, max_size=2, unique=True)))
        return {"linear": {"feature": draw(st.integers(0, 1)), "lower": low, "upper": high, "fill": 0.7}, **about}
    chosen = sorted(draw(st.sets(st.integers(0, 3), min_size=1)))
    parts = [draw(conditions(feature)) for feature in chosen]
    return {"conditions": parts, "support": 0.5, "mean_target": draw(st.floats(-1e3, 1e3)), **about}


def document_of(drawn, intercept):
    """The model file of a regressor with these terms, and nothing of the path."""
    document = json.loads(dump_model(fitted("numbers, no terms")[0]))
    unique = {json.dumps({**term, "coefs": 0, "importance": 0, "mean_target": 0}): term for term in drawn}
    document["features"], document["terms"] = FEATURES, list(unique.values())
    document["intercepts"] = [intercept]
    document["candidates"] = [
        {"rules": [], "aliases": [], "linear": {"features": [], "lower": [], "upper": [], "center": [], "scale": []}}
    ]
    path = document["outputs"][0]["path"]
    path["coefs"] = [[[], []] for _ in path["coefs"]]
    del document["checksum"], document["front"]  # as one does who edits a file
    return document


def hard_rows():
    """Rows on every bound and beside it, missing, and of categories never seen."""
    rng = np.random.default_rng(0)
    edges = [-1e300, -1.5, -0.1, 0.0, 1e-300, 0.1, 0.3, 1 / 3, 2.0, 1e16, 1e300]
    near = np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), [np.nan] * 4])
    near = near[np.isfinite(near) | np.isnan(near)]
    texts = np.array([*TEXTS, "never", None, None], dtype=object)
    codes = np.array([1.0, 2.5, np.nextafter(2.5, 3), 7.0, np.nan])
    pick = {HOSTILE: near, "x y": near, "t": texts, "k": codes}
    return pd.DataFrame({name: rng.choice(values, size=120) for name, values in pick.items()})


@settings(max_examples=15, deadline=None)
@given(st.lists(terms(), max_size=8), st.floats(-1e6, 1e6))
def test_all_agree(drawn, intercept):
    document = document_of(drawn, intercept)
    model = parse_model(json.dumps(document).encode())
    again = parse_model(dump_model(model).encode())
    assert dump_model(again) == dump_model(model)
    assert again.model_.terms == model.model_.terms
    rows = hard_rows()
    truth = model.predict(rows)
    np.testing.assert_array_equal(again.predict(rows), truth)
    module = {}
    exec(to_python(model), module)
    np.testing.assert_array_equal([module["score"](record) for record in as_records(rows)], truth)
    for database in (DuckDB(), SQLite()):
        sql = to_sql(model, "t", dialect=database.dialect, keep=["row id"])
        np.testing.assert_array_equal(database.run(rows, sql, "t")["prediction"], truth)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(None, feed(session, rows))[0], truth)


@st.composite
def read_conditions(draw, place):
    """A condition on an attribute of `READ_FEATURES`, the pooled category among the others."""
    feature, missing = READ_FEATURES[place], draw(st.booleans())
    if feature.n_categories:
        codes = draw(st.sets(st.integers(0, feature.n_categories - 1), min_size=0 if missing else 1))
        return Condition(place, categories=tuple(sorted(codes)), missing=missing)
    edges = {"date": [-719.0, -1.0, 0.0, 19_782.0], "year": [1969.0, 1970.0, 2023.5], "month": [2.0, 11.0]}
    edges |= {"weekday": [1.0, 5.5], "hour": [0.0, 12.0], None: [0.1, 20.0]}
    lower = draw(st.sampled_from([-np.inf, *edges[feature.part]]))
    upper = draw(st.sampled_from([np.inf, *(edge for edge in edges[feature.part] if edge > lower)]))
    return Condition(place, lower, upper, missing=missing)


@st.composite
def read_terms(draw):
    if draw(st.integers(0, 3)) == 0:
        place = draw(st.sampled_from([0, 1, 4, 5, 8]))
        return Linear(place, -30_000.0, draw(st.sampled_from([3.0, 1999.0, 30_000.0])), 0.7)
    places = sorted(draw(st.sets(st.integers(0, len(READ_FEATURES) - 1), min_size=1, max_size=4)))
    return Rule(tuple(draw(read_conditions(place)) for place in places))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(read_terms(), coefs), max_size=8))
def test_parts_of_dates_and_pooled_categories_agree(drawn):
    """Attributes that are read from a column in another way than as they are; the truth is computed by NumPy."""
    model = of_terms(READ_FEATURES, [term for term, _ in drawn], [coef for _, coef in drawn])
    rows = read_rows()
    truth = model.model_.score(read_columns(rows))
    module = {}
    exec(to_python(model), module)
    np.testing.assert_array_equal([module["score"](record) for record in as_records(rows)], truth)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(None, feed(session, rows))[0], truth)
    written = rows.assign(**{"sold at": as_texts(rows["sold at"]), "born": as_texts(rows["born"], "%Y-%m-%d")})
    for database, kinds in ((DuckDB(), {"sold at": "TIMESTAMP", "born": "DATE"}), (DuckDB(), {}), (SQLite(), {})):
        sql = to_sql(model, "t", dialect=database.dialect, keep=["row id"])
        np.testing.assert_array_equal(database.run(written, sql, "t", kinds)["prediction"], truth)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(read_terms(), st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3)), max_size=8),
    st.integers(1, 3),
)
def test_rates_and_several_numbers_agree(of_rates, drawn, n_outputs):
    """One rate, or several numbers, of rows that have exposures of many sizes."""
    # Dates are in the ten thousands, and a rate is no number if its logarithm is.
    slopes = [1e-3 if isinstance(term, Linear) else 1.0 for term, _ in drawn]
    own = np.array([own[:n_outputs] for _, own in drawn]).reshape(len(drawn), n_outputs).T * slopes
    exponential = n_outputs == 1
    coefs, intercept = (own[0], 0.5) if exponential else (own, np.array([0.5, -1.5, 0.1])[:n_outputs])
    model = of_rates(READ_FEATURES, [term for term, _ in drawn], coefs, intercept)
    model.model_ = model.model_ if exponential else replace(model.model_, inverse=None)
    rows, exposure = read_rows(), "years" if exponential else None
    exposures = np.random.default_rng(0).lognormal(0.0, 3.0, size=len(rows))
    scores = model.model_.score(read_columns(rows))
    logarithms = scores + np.log(exposures) if exponential else scores
    truth = model.model_.decide(logarithms)
    close = {"rtol": 1e-13 if exponential else 0.0}
    module = {}
    exec(to_python(model), module)
    records = as_records(rows)
    np.testing.assert_array_equal([module["score"](record) for record in records], scores)
    more = [{"exposure": one} if exponential else {} for one in exposures.tolist()]
    found = [module["predict"](record, **known) for record, known in zip(records, more, strict=True)]
    np.testing.assert_allclose(found, truth, **close)
    graph = to_onnx(model, exposure=exposure).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    found = session.run(None, feed(session, rows.assign(years=exposures)))
    np.testing.assert_allclose(found[0], truth, **close)
    np.testing.assert_array_equal(found[-1], scores)
    written = rows.assign(**{"sold at": as_texts(rows["sold at"]), "born": as_texts(rows["born"], "%Y-%m-%d")})
    names = ["prediction"] if n_outputs == 1 else [f"prediction_{k}" for k in range(n_outputs)]
    bounded = model.model_.decide(np.clip(logarithms, -700.0, 709.0)) if exponential else truth
    for database in (DuckDB(), SQLite()):
        sql = to_sql(model, "t", dialect=database.dialect, keep=["row id"], exposure=exposure)
        result = database.run(written.assign(years=exposures), sql, "t")[names].to_numpy()
        np.testing.assert_allclose(result.reshape(truth.shape), bounded, **close)


def test_long_numbers_of_categories_are_not_rounded():
    """Whole numbers up to 2**53, such as keys of customers, are categories apart wherever they go."""
    labels = [2**53 - 1 - k for k in range(4)]
    model = of_terms([Feature("key", tuple(labels))], [Rule((Condition(0, categories=(1, 3)),))], [1.0], 0.0)
    rows = pd.DataFrame({"key": np.array(labels, dtype=np.float64)})
    module = {}
    exec(to_python(model), module)
    assert [module["score"]({"key": label}) for label in labels] == [0.0, 1.0, 0.0, 1.0]
    for database, kind in ((DuckDB(), "BIGINT"), (SQLite(), "INTEGER")):
        sql = to_sql(model, "t", dialect=database.dialect, keep=["row id"])
        assert database.run(rows, sql, "t", {"key": kind})["prediction"].tolist() == [0.0, 1.0, 0.0, 1.0]
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    assert session.run(None, feed(session, rows))[0].tolist() == [0.0, 1.0, 0.0, 1.0]
