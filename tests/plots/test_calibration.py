from statistics import NormalDist

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from rulegrove.exceptions import InvalidInputError
from rulegrove.plots import CalibrationDisplay


def test_curve_is_that_of_scikit_learn(pima):
    X, y, model = pima
    display = CalibrationDisplay.from_estimator(model, X, y, n_bins=8)
    probability = model.predict_proba(X)[:, 1]
    observed, predicted = calibration_curve(y, probability, pos_label="tested_positive", n_bins=8)
    curve = display.ax_.containers[1].lines[0]
    np.testing.assert_array_equal(curve.get_xdata(), predicted)
    np.testing.assert_array_equal(curve.get_ydata(), observed)
    counts = np.histogram(probability, np.linspace(0, 1, 9))[0]
    np.testing.assert_array_equal(display.counts, counts)
    heights = [bar.get_height() for bar in display.ax_.containers[0]]
    np.testing.assert_allclose(np.array(heights) / max(heights), counts / counts.max())


def test_wilson_intervals(pima):
    X, y, model = pima
    display = CalibrationDisplay.from_estimator(model, X, y)
    z = NormalDist().inv_cdf(0.975)
    sizes = display.counts[display.counts > 0]
    middle = (display.observed + z**2 / (2 * sizes)) / (1 + z**2 / sizes)
    half = z / (1 + z**2 / sizes) * np.sqrt(display.observed * (1 - display.observed) / sizes + z**2 / (4 * sizes**2))
    np.testing.assert_allclose(display.intervals, np.column_stack([middle - half, middle + half]), atol=1e-9)


def test_other_class(pima):
    X, y, model = pima
    display = CalibrationDisplay.from_estimator(model, X, y, pos_label="tested_negative")
    assert display.target == "tested_negative"
    whole = CalibrationDisplay.from_estimator(model, X, y)
    assert display.counts.tolist() == whole.counts[::-1].tolist()


def test_predicted_class_of_several(iris):
    X, y, model = iris
    display = CalibrationDisplay.from_estimator(model, X, y, n_bins=1)
    assert display.target is None
    assert display.observed.tolist() == [model.score(X, y)]
    assert display.predicted[0] == pytest.approx(model.predict_proba(X).max(axis=1).mean())
    one = CalibrationDisplay.from_estimator(model, X, y, pos_label="Iris-virginica", n_bins=1)
    assert one.observed.tolist() == [(y == "Iris-virginica").mean()]


def test_held_out_rows_are_those_of_the_figures(pima, iris):
    model = pima[2]
    display = CalibrationDisplay.from_estimator(model)
    kept = model.held_out_.reliabilities[0]
    np.testing.assert_array_equal([display.predicted, display.observed], [kept.predicted, kept.observed])
    assert display.counts.sum() == model.held_out_.n_rows
    places = np.flatnonzero(display.counts)
    assert ((display.predicted >= places / 10) & (display.predicted <= (places + 1) / 10)).all()
    other = CalibrationDisplay.from_estimator(model, pos_label="tested_negative")
    np.testing.assert_allclose(other.observed, 1.0 - display.observed[::-1])
    np.testing.assert_allclose(other.intervals, 1.0 - display.intervals[::-1, ::-1])
    assert other.counts.tolist() == display.counts[::-1].tolist()
    one = CalibrationDisplay.from_estimator(iris[2], pos_label="Iris-virginica")
    np.testing.assert_array_equal(one.predicted, iris[2].held_out_.reliabilities[2].predicted)
    with pytest.raises(InvalidInputError, match=r"Without `X` and `y` held-out rows are drawn.*`pos_label` must name"):
        CalibrationDisplay.from_estimator(iris[2])


def test_bad_input(pima, odd):
    X, y, model = pima
    with pytest.raises(InvalidInputError, match="`pos_label` must be one of the classes"):
        CalibrationDisplay.from_estimator(model, X, y, pos_label="yes")
    with pytest.raises(InvalidInputError, match="`pos_label` is for classes; leave it out for a RuleEnsembleRegressor"):
        CalibrationDisplay.from_estimator(odd[2], odd[0], odd[1], pos_label="yes")
    with pytest.raises(InvalidInputError, match="`exposure` does not go with classes"):
        CalibrationDisplay.from_estimator(model, X, y, exposure=np.ones(len(X)))
    with pytest.raises(InvalidInputError, match=r"one class for each of the 768 rows; got the shape \(10,\)"):
        CalibrationDisplay.from_estimator(model, X, y[:10])
