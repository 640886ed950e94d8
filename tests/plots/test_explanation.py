import numpy as np
import pytest

from rulegrove.exceptions import InvalidInputError
from rulegrove.plots import ExplanationDisplay


def test_bars_lead_from_the_intercept_to_the_score(pima):
    X, _, model = pima
    display = ExplanationDisplay.from_estimator(model, X, 7, top=4)
    score = model.decision_function(X[7:8])[0]
    starts = [bar.get_x() for bar in display.ax_.patches]
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert widths[0] == model.intercept_
    assert widths[-1] == pytest.approx(score, abs=1e-12)
    np.testing.assert_allclose(starts[1:-1], np.cumsum(widths)[:-2], atol=1e-12)
    assert starts[-1] == 0.0
    assert sum(widths[:-1]) == pytest.approx(score, abs=1e-12)
    parts = model.coef_ * model.transform_rules(X[7:8])[0]
    largest = sorted(parts[parts != 0], key=lambda part: -abs(part))
    np.testing.assert_allclose(widths[1:5], largest[:4], atol=1e-12)
    assert widths[5] == pytest.approx(sum(largest[4:]), abs=1e-12)
    assert display.texts[-2:] == [f"{len(largest) - 4} other terms", "score for tested_positive"]


def test_one_term_left_over_has_its_own_bar(pima):
    X, _, model = pima
    n_fired = len(model.explain(X[:1])[0].terms)
    display = ExplanationDisplay.from_estimator(model, X, top=n_fired - 1)
    assert len(display.texts) == n_fired + 2
    assert not any("other terms" in text for text in display.texts)


def test_class_of_several(iris):
    X, _, model = iris
    scores = model.decision_function(X[60:61])[0]
    display = ExplanationDisplay.from_estimator(model, X, 60)
    assert display.parts[-1] == pytest.approx(scores.max(), abs=1e-12)
    assert display.row.label == model.predict(X[60:61])[0]
    for position, label in enumerate(model.classes_):
        other = ExplanationDisplay.from_estimator(model, X, 60, target=label)
        assert other.parts[-1] == pytest.approx(scores[position], abs=1e-12)
        assert f"Score for {label} (predicted: {display.row.label})" in other.ax_.get_xlabel().replace("\n", " ")
    with pytest.raises(InvalidInputError, match="`target` must be one of the 3 classes"):
        ExplanationDisplay.from_estimator(model, X, target="rose")


def test_regression_and_odd_names(odd):
    X, _, model = odd
    display = ExplanationDisplay.from_estimator(model, X, -1)
    assert display.parts[-1] == pytest.approx(model.predict(X.iloc[-1:])[0], abs=1e-12)
    assert display.texts[-1] == "prediction"
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert all(label.count("$") == label.count(r"\$") for label in labels)


@pytest.mark.parametrize("row", [768, -769])
def test_row_out_of_reach(row, pima):
    with pytest.raises(InvalidInputError, match=f"`row` must be the position of one of the 768 rows; got {row}"):
        ExplanationDisplay.from_estimator(pima[2], pima[0], row)
