"""The ONNX graph, run by onnxruntime, against the model."""

from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

from exported_models import NAMES, READ_FEATURES, feed, fitted, of_terms, read_columns, read_rows, scores_of
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.columns import Feature
from rulegrove.design.terms import Linear
from rulegrove.estimators.calibration import Temperature
from rulegrove.exceptions import InvalidInputError
from rulegrove.export import to_onnx
from rulegrove.export._onnx_graph import MISSING_TIME, _label_array
from rulegrove.rules.rule import Condition, Rule


def session_of(model):
    return onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_equal_bit_for_bit(name):
    model, rows = fitted(name)
    session = session_of(model)
    outputs = dict(
        zip([one.name for one in session.get_outputs()], session.run(None, feed(session, rows)), strict=True)
    )
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(outputs["scores"], scores_of(model, rows))
        assert outputs["label"].tolist() == model.predict(rows).tolist()
        np.testing.assert_allclose(outputs["probabilities"], model.predict_proba(rows), rtol=0, atol=1e-15)
    else:
        np.testing.assert_array_equal(outputs["prediction"], scores_of(model, rows))


def test_a_saved_graph_and_a_single_row(tmp_path):
    model, rows = fitted("binary")
    path = tmp_path / "model.onnx"
    onnx.save(to_onnx(model), path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert session.run(["scores"], feed(session, rows.head(1)))[0] == scores_of(model, rows.head(1))


def test_rows_float32_would_send_the_other_way():
    """A threshold between two neighbours in float64 that are one number in float32."""
    x = np.repeat([1.0, 1.0 + 1e-12], 50)
    X = pd.DataFrame({"x": x, "noise": np.arange(100.0) % 7})
    model = RuleEnsembleRegressor(n_candidates=20, cv=3, terms="rules", random_state=0).fit(X, x > 1.0)
    assert np.ptp(model.predict(X)) > 0.5
    session = session_of(model)
    np.testing.assert_array_equal(session.run(None, feed(session, X))[0], model.predict(X))


@pytest.mark.parametrize("factor", [1.0, 1.0 + 1e-9, 1.0 - 1e-12])
def test_factors_next_to_one_and_terms_next_to_zero_count(factor):
    """Onnxruntime drops a product with 1 and a sum with 0, as float32 sees them: 1 + 1e-9 was 1, 1e-50 was 0."""
    X = pd.DataFrame({"x": np.linspace(-3.0, 3.0, 100)})
    model = RuleEnsembleClassifier(n_candidates=20, cv=3, terms="linear", random_state=0).fit(X, X["x"] > 0)
    term = Linear(0, -2.0, 2.0, 0.0)
    model.model_ = replace(
        model.model_, terms=(term,), coefs=np.array([factor]), intercept=1e-50, link=Temperature(factor)
    )
    X.iloc[0] = np.nan
    session = session_of(model)
    scores, chances = session.run(["scores", "probabilities"], feed(session, X))
    np.testing.assert_array_equal(scores, scores_of(model, X))
    assert scores[0] == 1e-50
    np.testing.assert_allclose(chances, model.predict_proba(X), rtol=0, atol=1e-15)


def test_the_empty_text_as_a_category_is_refused():
    X = pd.DataFrame({"a": ["", "b"] * 30, "c": np.arange(60.0)})
    model = RuleEnsembleClassifier(n_candidates=20, cv=3, random_state=0).fit(X, X["a"] == "b")
    with pytest.raises(InvalidInputError, match="has the empty text as a category"):
        to_onnx(model)


def test_labels_of_several_types_are_refused():
    model, _ = fitted("binary")
    with pytest.raises(InvalidInputError, match="ONNX has labels of one type"):
        _label_array([1, "a"])
    assert to_onnx(model).opset_import[0].version == 19


def test_a_part_of_a_time_is_that_of_the_calendar():
    """Whole seconds go in, with the smallest integer for a missing one, and the calendar is computed in the graph."""
    rows = read_rows()
    columns = read_columns(rows)
    for place, feature in enumerate(READ_FEATURES[:5]):
        model = of_terms(READ_FEATURES[:5], [Linear(place, -1e9, 1e9, -1.0)], [1.0], 0.0)
        session = session_of(model)
        assert [(one.name, one.type) for one in session.get_inputs()] == [("sold at", "tensor(int64)")]
        told = session.run(None, feed(session, rows))[0]
        expected = columns.take(slice(None))[place]
        np.testing.assert_array_equal(told, np.where(np.isnan(expected), -1.0, expected), err_msg=feature.name)


def test_the_model_tells_what_to_feed():
    model = of_terms(READ_FEATURES, [], [])
    description = session_of(model).get_modelmeta().description
    assert (
        f"sold at: date or time, int64, whole seconds since 1970-01-01 UTC, {MISSING_TIME} where missing" in description
    )
    assert "city: text, string, empty where missing" in description
    assert "price: number (read from text in the fit), float64, NaN where missing" in description
    model, _ = fitted("numbers")
    assert session_of(model).get_modelmeta().description.startswith("X: one column for each of these numbers")


@pytest.mark.parametrize("category", [Feature("a", ("\ud800", "b")), Feature("\ud800", ("a", "b"))])
def test_texts_that_are_not_unicode_are_refused(category):
    """Half of a pair of surrogates raised what protobuf says of it."""
    model = of_terms([category], [Rule((Condition(0, categories=(0,)),))], [1.0])
    with pytest.raises(InvalidInputError, match="holds a lone surrogate, which ONNX cannot"):
        to_onnx(model)


def test_columns_named_as_an_output_are_refused():
    """The checker of ONNX spoke of static single assignment."""
    model = of_terms([Feature("prediction", ("a", "b"))], [Rule((Condition(0, categories=(0,)),))], [1.0])
    with pytest.raises(InvalidInputError, match="cannot be that of an ONNX input"):
        to_onnx(model)


def run(model, rows, exposures=None):
    """The outputs of the graph by name; the exposures are those of its input "years"."""
    exposure = None if exposures is None else "years"
    graph = to_onnx(model, exposure=exposure).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    rows = rows if exposures is None else rows.assign(years=exposures)
    return dict(zip(names, session.run(None, feed(session, rows)), strict=True))


def test_rates_are_exponentials_of_scores_times_an_exposure(rates):
    model, rows, exposures = rates
    outputs = run(model, rows)
    assert list(outputs) == ["prediction", "scores"]
    np.testing.assert_array_equal(outputs["scores"], model.model_.score(model.read_columns(rows)))
    np.testing.assert_allclose(outputs["prediction"], model.predict(rows), rtol=1e-15)
    found = run(model, rows, exposures)["prediction"]
    np.testing.assert_allclose(found, model.predict(rows, exposure=exposures), rtol=1e-14)


def test_several_numbers_are_a_matrix(several):
    model, rows = several
    (found,) = run(model, rows).values()
    np.testing.assert_array_equal(found, model.predict(rows))


def test_hazards_are_exponentials(hazards):
    model, rows = hazards
    np.testing.assert_allclose(run(model, rows)["prediction"], model.predict(rows), rtol=1e-15)
    with pytest.raises(InvalidInputError, match="`exposure` is for models of rates"):
        to_onnx(model, exposure="years")


@pytest.mark.parametrize("times", [[0.3], [0.0, 0.25, 1e9]])
def test_survival_at_stated_times(hazards, times):
    model, rows = hazards
    graph = to_onnx(model, times=times)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_outputs()] == ["prediction", "scores", "survival"]
    found = session.run(["survival"], feed(session, rows))[0]
    expected = [[curve(time) for time in times] for curve in model.predict_survival_function(rows)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_an_exposure_beside_a_matrix_of_numbers(of_rates):
    """Where it is no number above 0 there is no prediction, and a rate too large is infinite."""
    model = of_rates([Feature("a")], [Linear(0, -1e6, 1e6, 0.0)], [1.0], 0.0)
    exposures = np.array([2.0, 1e-300, 1e300, 0.0, -1.0, np.nan, np.inf])
    session = onnxruntime.InferenceSession(to_onnx(model, exposure="a").SerializeToString())
    assert [one.name for one in session.get_inputs()] == ["X", "a"]
    told = session.get_modelmeta().description.splitlines()[-1]
    assert told == "a: number above 0, float64, the exposure that multiplies the rate"
    scores = np.array([0.0, 800.0, 700.0, 0.0, 0.0, 0.0, 0.0])
    found = session.run(["prediction"], {"X": scores[:, None], "a": exposures[:, None]})[0]
    with np.errstate(over="ignore"):
        known = np.exp(scores[:3] + np.log(exposures[:3]))
    np.testing.assert_allclose(found, [*known, *[np.nan] * 4], rtol=1e-13)


def test_an_exposure_may_be_an_attribute_too(of_rates):
    features = [Feature("city", ("Oslo", "Rome")), Feature("years")]
    model = of_rates(features, [Rule((Condition(0, categories=(0,)),)), Linear(1, 0.0, 2.0, 0.5)], [1.0, 0.5], 0.0)
    rows = pd.DataFrame({"city": ["Oslo", "Rome", None], "years": [1.0, 4.0, 0.5]})
    found = run(model, rows, rows["years"])["prediction"]
    np.testing.assert_allclose(found, np.exp([1.5, 1.0, 0.25]) * rows["years"], rtol=1e-15)


def test_names_that_an_exposure_cannot_have(of_rates):
    mixed = of_rates([Feature("city", ("Oslo", "Rome"))], [Rule((Condition(0, categories=(0,)),))], [1.0])
    numbers = of_rates([Feature("a")], [Linear(0, 0.0, 2.0, 0.5)], [1.0])
    for model, name in ((mixed, "city"), (numbers, "X")):
        with pytest.raises(InvalidInputError, match="which is not one number a row; rename it"):
            to_onnx(model, exposure=name)
    for name in ("prediction", "rg_1"):
        with pytest.raises(InvalidInputError, match="cannot be that of an ONNX input"):
            to_onnx(numbers, exposure=name)
    with pytest.raises(InvalidInputError, match="holds a lone surrogate"):
        to_onnx(numbers, exposure="\ud800")
    with pytest.raises(InvalidInputError, match="`exposure` must be the name of a column; got ''"):
        to_onnx(numbers, exposure="")
