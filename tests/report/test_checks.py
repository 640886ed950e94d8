"""Figures of held-out rows and of those given equal those of scikit-learn and of the library."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    confusion_matrix,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)

from inspected_models import fit, make_table
from rulegrove import RuleEnsembleClassifier
from rulegrove.estimators.figures import UNKNOWN
from rulegrove.inspection import partial_dependence
from rulegrove.report._checks import MAX_CURVES, check, draw_dependence
from rulegrove.report._given import predict_given, read_given
from rulegrove.report._lines import list_lines


def own_line(model):
    return list_lines(model)[model.front_.chosen]


def check_of(model, table=None, y=None, training=None):
    """What the page is told of the rows held out and of those given."""
    line, given = own_line(model), read_given(model, table, y, training)
    return check(line, given, None if given is None else predict_given(model, line, given))


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_classes_of_new_rows(kind):
    model, table, y, _ = fit(kind)
    predicted, shares = model.predict(table), model.predict_proba(table)
    found = check_of(model, table, y, training=False)
    charts = found["charts"]
    assert charts["rows"] == "rows given"
    assert charts["counts"] == confusion_matrix(y, predicted, labels=model.classes_).tolist()
    assert found["table"]["heads"] == ["", f"Held-out rows ({model.held_out_.n_rows})", "Rows given (90)"]
    accuracy, base = (predicted == y).mean(), np.unique(y, return_counts=True)[1].max() / 90
    told = {line[0]: line[1:] for line in found["table"]["lines"]}
    assert told["Accuracy (base rate)"][1] == f"{100 * accuracy:.1f}\xa0% ({100 * base:.1f}\xa0%)"
    assert told["AUC"][0] == f"{model.held_out_.auc:.3f}"
    labels = model.classes_[1:] if kind == "two classes" else model.classes_
    for label, curve, roc in zip(labels, charts["calibration"], charts["roc"], strict=True):
        own = shares[:, model.classes_.tolist().index(label)]
        observed, mean = calibration_curve(y == label, own, n_bins=10)
        np.testing.assert_allclose(curve["observed"], observed, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(curve["predicted"], mean, rtol=1e-5, atol=1e-6)
        assert sum(curve["sizes"]) == len(y)
        ends = np.array([curve["low"], curve["observed"], curve["high"]])
        assert (np.diff(ends, axis=0) >= 0).all()
        assert roc["area"] == pytest.approx(roc_auc_score(y == label, own), rel=1e-5)


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_charts_are_of_held_out_rows_unless_new_ones_are_given(kind):
    """The confusion matrix was of the training rows, and nothing said so."""
    model, table, y, _ = fit(kind)
    for given in ((), (table,), (table, y, True)):
        charts = check_of(model, *given)["charts"]
        assert charts["rows"] == "held-out rows"
        assert charts["counts"] == model.held_out_.counts.tolist()
    found = check_of(model, table, y, True)
    assert found["table"]["heads"] == ["", f"Held-out rows ({model.held_out_.n_rows})", "Training rows (90)"]
    assert "better than they will be on new rows" in found["about"]


def test_training_rows_are_known_again():
    """Rows on which every rule holds as often as in the training are those of the training, and called so."""
    table, y, _ = make_table()
    table, y = table.drop(columns="fixed"), np.where(y > 0, "yes", "no")
    model = RuleEnsembleClassifier(n_candidates=60, random_state=0, n_jobs=1).fit(table, y)
    assert read_given(model, table, y).training
    assert read_given(model, table, y).name == "training rows"
    assert not read_given(model, table, y, False).training
    assert not read_given(model, table[:80], y[:80]).training
    other = table.assign(age=table["age"].to_numpy()[::-1])
    assert not read_given(model, other, y).training


def test_without_cross_validation_training_rows_are_marked():
    table, y, _ = make_table()
    table, labels = table.drop(columns="fixed"), np.where(y > 0, "yes", "no")
    model = RuleEnsembleClassifier(n_candidates=40, selection=0.02, random_state=0, n_jobs=1).fit(table, labels)
    assert check_of(model) is None
    found = check_of(model, table, labels)
    assert found["charts"]["rows"] == "training rows"
    assert found["table"]["heads"] == ["", "Training rows (90)"]


def test_numbers():
    model, table, y, _ = fit("regression")
    predicted = model.predict(table)
    found = check_of(model, table, y, training=False)
    told = {line[0]: line[1:] for line in found["table"]["lines"]}
    assert told["R²"] == [f"{model.held_out_.r2:.3f}", f"{r2_score(y, predicted):.3f}"]
    error = root_mean_squared_error(y, predicted)
    assert told["Root mean squared error (standard deviation of the target)"][1] == f"{error:.4g} ({y.std():.4g})"
    assert told["Mean absolute error"][1] == f"{mean_absolute_error(y, predicted):.4g}"
    assert found["charts"] is None
    flat = check_of(model, table, np.ones(len(y)), training=False)
    assert flat["table"]["lines"][0][2] == UNKNOWN


def test_every_line_has_its_own_figures():
    model, table, y, _ = fit("two classes")
    given = read_given(model, table, y, training=True)
    for line in list_lines(model):
        found = check(line, given, predict_given(model, line, given))
        assert found["charts"]["counts"] == line.held_out.counts.tolist()
        right = (line.model.decide(line.model.score(given.columns)) == y).mean()
        assert f"{100 * right:.1f}\xa0%" in found["table"]["lines"][0][2]


def test_dependence(inspected):
    model, table, y = inspected
    curves = draw_dependence(own_line(model), read_given(model, table, y))
    order = np.argsort(-model.feature_importances_, kind="stable").tolist()
    used = [place for place in order if model.feature_importances_[place] > 0]
    assert [curve["feature"] for curve in curves] == used[:MAX_CURVES]
    for curve in curves:
        expected = partial_dependence(model, table, curve["feature"])
        np.testing.assert_allclose(curve["values"], np.atleast_2d(expected.values), rtol=1e-5, atol=1e-9)
        assert len(curve["grid"]) == len(expected.grids[0])
        assert curve["categories"] == (model.model_.features[curve["feature"]].categories is not None)


def test_an_attribute_that_is_missing_everywhere_is_not_drawn():
    model, table, y, _ = fit("regression")
    empty = table.assign(age=np.nan)
    curves = draw_dependence(own_line(model), read_given(model, empty, y))
    names = [model.model_.features[curve["feature"]].name for curve in curves]
    assert "age" not in names
    assert len(names) > 0
