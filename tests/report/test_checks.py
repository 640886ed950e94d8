"""Figures on the rows given equal those of scikit-learn and of the library."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import confusion_matrix, mean_absolute_error, r2_score, root_mean_squared_error

from inspected_models import fit
from rulegrove.inspection import partial_dependence
from rulegrove.report._checks import MAX_CURVES, check_classes, check_numbers, draw_dependence
from rulegrove.report._given import read_given


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_classes(kind):
    model, table, y, _ = fit(kind)
    predicted, shares = model.predict(table), model.predict_proba(table)
    check = check_classes(model, read_given(model, table, y), predicted, shares)
    assert check["counts"] == confusion_matrix(y, predicted, labels=model.classes_).tolist()
    assert check["error"] == (predicted != y).mean()
    labels = model.classes_[1:] if kind == "two classes" else model.classes_
    for label, curve in zip(labels, check["calibration"], strict=True):
        own = shares[:, model.classes_.tolist().index(label)]
        observed, mean = calibration_curve(y == label, own, n_bins=10)
        np.testing.assert_allclose(curve["observed"], observed, rtol=1e-5)
        np.testing.assert_allclose(curve["predicted"], mean, rtol=1e-5)
        assert sum(curve["sizes"]) == len(y)
        ends = np.array([curve["low"], curve["observed"], curve["high"]])
        assert (np.diff(ends, axis=0) >= 0).all()


def test_numbers():
    model, table, y, _ = fit("regression")
    predicted = model.predict(table)
    check = check_numbers(read_given(model, table, y), predicted, np.random.default_rng(0))
    assert check["root_mean_square"] == pytest.approx(root_mean_squared_error(y, predicted), rel=1e-12)
    assert check["mean_absolute"] == pytest.approx(mean_absolute_error(y, predicted), rel=1e-12)
    assert check["explained"] == pytest.approx(r2_score(y, predicted), rel=1e-12)
    np.testing.assert_allclose(check["observed"], y, rtol=1e-5)
    np.testing.assert_allclose(check["predicted"], predicted, rtol=1e-5)
    flat = check_numbers(read_given(model, table, np.ones(len(y))), predicted, np.random.default_rng(0))
    assert flat["explained"] is None


def test_dependence(inspected):
    model, table, y = inspected
    curves = draw_dependence(model, table, read_given(model, table, y))
    order = np.argsort(-model.feature_importances_, kind="stable").tolist()
    used = [place for place in order if model.feature_importances_[place] > 0]
    assert [curve["feature"] for curve in curves] == used[:MAX_CURVES]
    for curve in curves:
        expected = partial_dependence(model, table, curve["feature"])
        np.testing.assert_allclose(curve["values"], np.atleast_2d(expected.values), rtol=1e-5, atol=1e-9)
        assert len(curve["grid"]) == len(expected.grids[0])
        assert curve["categories"] == (model._model.features[curve["feature"]].categories is not None)


def test_an_attribute_that_is_missing_everywhere_is_not_drawn():
    model, table, y, _ = fit("regression")
    empty = table.assign(age=np.nan)
    curves = draw_dependence(model, empty, read_given(model, empty, y))
    names = [model._model.features[curve["feature"]].name for curve in curves]
    assert "age" not in names
    assert len(names) > 0
