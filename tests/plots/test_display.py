import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from rulegrove import RuleEnsembleClassifier
from rulegrove.exceptions import InvalidInputError
from rulegrove.plots import (
    CalibrationDisplay,
    ComparisonDisplay,
    DependenceDisplay,
    ExplanationDisplay,
    FrontDisplay,
    ImportanceDisplay,
    InteractionDisplay,
    PathDisplay,
    RulesDisplay,
    SelectionDisplay,
)

DRAWINGS = {
    "rules": lambda X, y, model, **more: RulesDisplay.from_estimator(model, **more),
    "comparison": lambda X, y, model, **more: ComparisonDisplay.from_estimators([model, model], **more),
    "path": lambda X, y, model, **more: PathDisplay.from_estimator(model, **more),
    "selection": lambda X, y, model, **more: SelectionDisplay.from_estimator(model, **more),
    "front": lambda X, y, model, **more: FrontDisplay.from_estimator(model, **more),
    "importance": lambda X, y, model, **more: ImportanceDisplay.from_estimator(model, X, **more),
    "interaction": lambda X, y, model, **more: InteractionDisplay.from_estimator(model, X, **more),
    "line": lambda X, y, model, **more: DependenceDisplay.from_estimator(model, X, 1, **more),
    "map": lambda X, y, model, **more: DependenceDisplay.from_estimator(model, X, (1, 5), **more),
    "explanation": lambda X, y, model, **more: ExplanationDisplay.from_estimator(model, X, **more),
    "calibration": lambda X, y, model, **more: CalibrationDisplay.from_estimator(model, X, y, **more),
}
every_drawing = pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS)


@every_drawing
def test_new_figure(draw, pima):
    display = draw(*pima)
    assert plt.get_fignums() == [display.figure_.number]
    assert display.ax_ in display.figure_.axes
    again = display.plot()
    assert again is display
    assert len(plt.get_fignums()) == 2


@every_drawing
@pytest.mark.parametrize(("layout", "style"), [(None, "default"), ("constrained", "dark_background")])
def test_given_axes(draw, layout, style, pima):
    with plt.style.context(style):
        figure, axes = plt.subplots(2, 2, layout=layout)
        display = draw(*pima, ax=axes[0, 1])
        figure.draw_without_rendering()
    assert display.ax_ is axes[0, 1]
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    assert all(not ax.has_data() for ax in (axes[0, 0], axes[1, 0], axes[1, 1]))
    colour = {"default": "black", "dark_background": "white"}[style]
    assert {text.get_color() for text in display.ax_.texts} <= {colour, "black", "white"}


@every_drawing
def test_nothing_leaves_the_place_of_the_axes(draw, pima):
    """Without a layout engine, labels and legends take their room from the axes, not from the neighbours."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 9))
    display = draw(*pima, ax=axes[0, 0])
    figure.draw_without_rendering()
    drawn = display.ax_.get_tightbbox()
    right, below = axes[0, 1].get_window_extent(), axes[1, 0].get_window_extent()
    assert drawn.x0 > 0.0
    assert drawn.x1 < right.x0
    assert drawn.y0 > below.y1


def test_axes_placed_by_hand_stay(pima):
    ax = plt.figure().add_axes((0.5, 0.2, 0.4, 0.7))
    RulesDisplay.from_estimator(pima[2], ax=ax)
    np.testing.assert_allclose(ax.get_position().bounds, (0.5, 0.2, 0.4, 0.7))


def test_drawing_twice_takes_room_once(pima):
    _, ax = plt.subplots()
    display = RulesDisplay.from_estimator(pima[2], ax=ax, top=5)
    first = ax.get_position().bounds
    display.plot(ax)
    # Left edge and width; how far the last number of the axis hangs out on the right depends on the limits.
    np.testing.assert_allclose(ax.get_position().bounds[::2], first[::2], atol=0.03)


def test_subfigures(pima):
    left, _ = plt.figure(layout="constrained").subfigures(1, 2)
    ax = left.subplots()
    assert RulesDisplay.from_estimator(pima[2], ax=ax).figure_ is left


@every_drawing
def test_array_of_axes_is_refused(draw, pima):
    _, axes = plt.subplots(1, 2)
    with pytest.raises(InvalidInputError, match=r"`ax` must be one matplotlib Axes; got ndarray\. Pick one"):
        draw(*pima, ax=axes)


@every_drawing
def test_other_models_are_refused(draw, pima):
    X, y, model = pima
    with pytest.raises(InvalidInputError, match="needs a RuleEnsembleClassifier or a RuleEnsembleRegressor; got Log"):
        draw(X, y, LogisticRegression())
    with pytest.raises(InvalidInputError, match=r"got Pipeline\. Of a pipeline pass the last step"):
        draw(X, y, make_pipeline(model))
    with pytest.raises(NotFittedError):
        draw(X, y, RuleEnsembleClassifier())


@pytest.mark.parametrize("name", ["rules", "comparison", "path", "importance", "interaction", "explanation"])
@pytest.mark.parametrize("top", [0, -1, 2.5, True, "all"])
def test_bad_top(name, top, pima):
    with pytest.raises(InvalidInputError, match="`top` must be a whole number of at least 1; got"):
        DRAWINGS[name](*pima, top=top)


@pytest.mark.parametrize("name", ["rules", "comparison", "path", "selection", "line", "map", "explanation"])
def test_target_of_one_output(name, pima, odd):
    assert DRAWINGS[name](*pima, target="tested_positive")
    with pytest.raises(InvalidInputError, match="must be 'tested_positive', for which a positive score speaks; got"):
        DRAWINGS[name](*pima, target="tested_negative")
    with pytest.raises(InvalidInputError, match="`target` of a model of one output must be None; got 'a'"):
        DRAWINGS[name](*odd, target="a")


@pytest.mark.parametrize("name", ["comparison", "path", "selection"])
def test_target_of_several_outputs_is_needed(name, iris):
    assert DRAWINGS[name](*iris, target="Iris-virginica")
    with pytest.raises(InvalidInputError, match=r"`target` must be one of the 3 classes 'Iris-setosa', .*; got None"):
        DRAWINGS[name](*iris)


@pytest.mark.parametrize("name", ["rules", "comparison", "path", "importance", "interaction"])
def test_model_without_terms(name, empty):
    X, model = empty
    display = DRAWINGS[name](X, None, model)
    (text,) = display.ax_.texts
    assert text.get_text().rstrip(".").replace("\n", " ") in {
        "The model has no terms; it is its intercept alone",
        "None of the models has any terms",
        "No term enters the path",
        "No attribute has any importance; the model is its intercept alone",
        "No two attributes interact: no rule asks about more than one",
    }


@pytest.mark.parametrize("name", ["selection", "front", "line", "map", "explanation"])
def test_model_without_terms_is_drawn(name, empty):
    X, model = empty
    assert DRAWINGS[name](X, None, model).ax_.has_data()


@every_drawing
def test_model_of_linear_terms(draw, straight, pima):
    X, model = straight
    assert draw(X, pima[1], model)


def test_matplotlib_is_imported_only_to_draw():
    code = "import sys, rulegrove, rulegrove.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_matplotlib(monkeypatch, pima):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"not installed; run pip install 'rulegrove\[plot\]'"):
        RulesDisplay.from_estimator(pima[2])
