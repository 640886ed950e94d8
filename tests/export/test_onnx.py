"""The ONNX graph, run by onnxruntime, against the model."""

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

from exported_models import NAMES, fitted, scores_of
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.design.terms import Linear
from rulegrove.estimators.calibration import Temperature
from rulegrove.estimators.model import RuleModel
from rulegrove.exceptions import InvalidInputError
from rulegrove.export import to_onnx
from rulegrove.export._onnx_graph import _label_array


def session_of(model):
    return onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])


def feed(session, rows):
    """What a user feeds: one matrix, or one column an attribute."""
    if [one.name for one in session.get_inputs()] == ["X"]:
        return {"X": rows.to_numpy(dtype=np.float64)}
    return {
        one.name: rows[[one.name]].fillna("").to_numpy(dtype=object)
        if one.type == "tensor(string)"
        else rows[[one.name]].to_numpy(dtype=np.float64)
        for one in session.get_inputs()
    }


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
    model._model = RuleModel(model._model.features, (term,), np.array([factor]), 1e-50)
    model.calibration_ = Temperature(factor)
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
