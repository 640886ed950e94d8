import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection

from rulegrove import RuleEnsembleClassifier
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import partial_dependence
from rulegrove.plots import DependenceDisplay
from rulegrove.plots._display import BAND_WORDS


def mean_score(model, X, name, value):
    """Score every row with the attribute held at a value."""
    held = X.copy()
    if hasattr(X, "columns"):
        held[name] = value
    else:
        held[:, name] = value
    score = model.decision_function if hasattr(model, "classes_") else model.predict
    return score(held).mean(axis=0)


def test_line_is_exact_between_its_points(odd):
    """The line through the points is the function: jumps where rules jump, slopes where lines slope."""
    X, _, model = odd
    display = DependenceDisplay.from_estimator(model, X, "$cost$")
    line = display.ax_.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), display.grids[0])
    np.testing.assert_array_equal(line.get_ydata(), display.values[0])
    for value in np.random.default_rng(0).uniform(X["$cost$"].min(), X["$cost$"].max(), 20):
        drawn = np.interp(value, display.grids[0], display.values[0])
        assert drawn == pytest.approx(mean_score(model, X, "$cost$", value), abs=1e-9)
    jumps = np.diff(display.grids[0]) < 1e-9
    assert jumps.any()
    assert display.ax_.get_xlabel() == r"\$cost\$"
    assert display.ax_.get_ylabel() == "Mean prediction"


def test_missing_values_have_a_line_of_their_own(odd):
    X, _, model = odd
    display = DependenceDisplay.from_estimator(model, X, "price_$")
    assert display.missing == pytest.approx(mean_score(model, X, "price_$", np.nan), abs=1e-9)
    assert list(display.ax_.lines[1].get_ydata()) == [display.missing[0]] * 2
    assert DependenceDisplay.from_estimator(model, X, "_hidden").missing is None


def test_categories(odd):
    X, _, model = odd
    display = DependenceDisplay.from_estimator(model, X, "colour")
    drawn = dict(zip(display.grids[0], display.ax_.lines[0].get_xdata(), strict=True))
    for label in ("$red$", "_blue", "green"):
        assert drawn[label] == pytest.approx(mean_score(model, X, "colour", label), abs=1e-9)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [r"\$red\$", "_blue", "green"]


def test_every_class_has_a_line(iris):
    X, _, model = iris
    display = DependenceDisplay.from_estimator(model, X, 2)
    assert display.lines == tuple(model.classes_)
    points = display.grids[0][::7]
    expected = np.array([mean_score(model, X, 2, point) for point in points]).T
    np.testing.assert_allclose(display.values[:, ::7], expected, atol=1e-9)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == list(model.classes_)
    alone = DependenceDisplay.from_estimator(model, X, 2, target="Iris-versicolor")
    np.testing.assert_array_equal(alone.values[0], display.values[1])
    assert alone.ax_.get_legend() is None


def test_map_is_exact_in_its_cells(odd):
    X, _, model = odd
    pair = ("price_$", "$cost$")
    display = DependenceDisplay.from_estimator(model, X, pair)
    (mesh,) = [item for item in display.ax_.collections if item.get_array() is not None]
    np.testing.assert_array_equal(np.reshape(mesh.get_array(), display.values.T.shape), display.values.T)
    rng = np.random.default_rng(1)
    for _ in range(10):
        cell = [rng.integers(len(grid)) for grid in display.grids]
        held = X.assign(**{name: grid[k] for name, grid, k in zip(pair, display.grids, cell, strict=True)})
        assert display.values[tuple(cell)] == pytest.approx(model.predict(held).mean(), abs=1e-9)
    # No rule jumps inside a cell.
    for name, edges in zip(pair, display.edges, strict=True):
        place = X.columns.get_loc(name)
        bounds = [
            bound
            for term in model.model_.terms
            for condition in getattr(term, "conditions", ())
            if condition.feature == place
            for bound in (condition.lower, condition.upper)
            if edges[0] < bound < edges[-1]
        ]
        assert all(np.abs(edges - bound).min() <= 1e-9 * (edges[-1] - edges[0]) for bound in bounds)


def test_map_with_categories(odd):
    X, _, model = odd
    display = DependenceDisplay.from_estimator(model, X, ("colour", "_hidden"))
    assert display.edges[0] is None
    held = X.assign(colour="green", _hidden=display.grids[1][3])
    assert display.values[2, 3] == pytest.approx(model.predict(held).mean(), abs=1e-9)
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == [r"\$red\$", "_blue", "green"]
    swapped = DependenceDisplay.from_estimator(model, X, ("_hidden", "colour"))
    np.testing.assert_allclose(swapped.values, display.values.T, atol=1e-12)
    assert [label.get_text() for label in swapped.ax_.get_yticklabels()] == [r"\$red\$", "_blue", "green"]


def test_map_of_one_class(iris):
    X, _, model = iris
    display = DependenceDisplay.from_estimator(model, X, (2, 3), target="Iris-virginica")
    held = X.copy()
    held[:, 2], held[:, 3] = display.grids[0][5], display.grids[1][7]
    assert display.values[5, 7] == pytest.approx(model.decision_function(held)[:, 2].mean(), abs=1e-9)
    with pytest.raises(InvalidInputError, match="`target` must be one of the 3 classes"):
        DependenceDisplay.from_estimator(model, X, (2, 3))


def test_constant_attribute_in_the_rows(pima):
    X, _, model = pima
    held = X.copy()
    held[:, 1] = 120.0
    assert DependenceDisplay.from_estimator(model, held, 1).values.shape == (1, 1)
    assert DependenceDisplay.from_estimator(model, held, (1, 5)).values.shape[0] == 1


def test_rug_holds_values_of_the_data(odd):
    X, _, model = odd
    (rug,) = DependenceDisplay.from_estimator(model, X, "_hidden").rugs
    assert np.isin(rug, X["_hidden"]).all()
    assert {rug.min(), rug.max()} == {X["_hidden"].min(), X["_hidden"].max()}


@pytest.mark.parametrize("features", ["age", 99, ("age", "_hidden"), ("_hidden", "_hidden"), (0, 1, 2), ()])
def test_bad_attributes(features, odd):
    X, _, model = odd
    with pytest.raises(InvalidInputError, match=r"unknown|more than once|one attribute or two|empty"):
        DependenceDisplay.from_estimator(model, X, features)


def test_classes_with_linear_terms(iris):
    """Linear terms of other attributes shift all points of a class alike, whatever the length of the grid."""
    X, y, _ = iris
    model = RuleEnsembleClassifier(terms="linear", random_state=0, n_jobs=1).fit(X, y)
    display = DependenceDisplay.from_estimator(model, X, 2)
    expected = np.array([mean_score(model, X, 2, point) for point in display.grids[0]]).T
    np.testing.assert_allclose(display.values, expected, atol=1e-9)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize(("name", "feature"), [("pima", 1), ("iris", 2), ("odd", "$cost$")])
def test_bands_are_those_of_the_inspection(again, name, feature):
    X, _, model = again[name]
    display = DependenceDisplay.from_estimator(model, X, feature)
    found = partial_dependence(model, X, feature, grid=display.grids[0])
    np.testing.assert_allclose(display.band[0], np.atleast_2d(found.low), atol=1e-9)
    np.testing.assert_allclose(display.band[1], np.atleast_2d(found.high), atol=1e-9)
    drawn = [own for own in display.ax_.collections if isinstance(own, PolyCollection)]
    assert len(drawn) == len(display.lines)
    for polygon, low, high in zip(drawn, *display.band, strict=True):
        corners = {tuple(point) for point in polygon.get_paths()[0].vertices.tolist()}
        for ends in (low, high):
            assert set(zip(display.grids[0].tolist(), ends.tolist(), strict=True)) <= corners
    classes = list(model.classes_) if name == "iris" else []
    assert legend_of(display.ax_) == [*classes, BAND_WORDS]


def test_missing_values_have_a_whisker_at_the_edge(again):
    X, _, model = again["odd"]
    display = DependenceDisplay.from_estimator(model, X, "price_$")
    found = partial_dependence(model, X, "price_$", grid=[None])
    np.testing.assert_allclose(display.missing_band[:, 0], [found.low[0], found.high[0]], atol=1e-9)
    drawn = [line.get_ydata() for line in display.ax_.lines if np.allclose(line.get_xdata(), 0.995)]
    np.testing.assert_array_equal(drawn, [display.missing_band[:, 0]])


def test_categories_have_whiskers(again):
    X, _, model = again["odd"]
    X = X.assign(colour=X["colour"].where(np.arange(len(X)) % 9 > 0, None))
    display = DependenceDisplay.from_estimator(model, X, "colour")
    found = partial_dependence(model, X, "colour", grid=["$red$", "_blue", "green", None])
    whiskers = [own for own in display.ax_.collections if isinstance(own, LineCollection)][-1]
    drawn = np.array([segment[:, 0] for segment in whiskers.get_segments()])
    np.testing.assert_allclose(drawn, np.column_stack([found.low, found.high]), atol=1e-9)
    assert legend_of(display.ax_) == [BAND_WORDS]
    assert [label.get_text() for label in display.ax_.get_yticklabels()][-1] == "missing"


def test_a_value_without_width_has_its_whisker_beside_it():
    """The band of zero of a flag was a line as thin as none, under the jump."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 2)).astype(float)
    settings = {"n_candidates": 40, "terms": "rules", "n_resamples": 4, "random_state": 0, "n_jobs": 1}
    model = RuleEnsembleClassifier(**settings).fit(X, X[:, 0] + 0.4 * rng.normal(size=200) > 0.5)
    display = DependenceDisplay.from_estimator(model, X, 0)
    assert np.diff(display.grids[0])[0] < 1e-9
    whisker, dot = (line for line in display.ax_.lines if line.get_xdata()[0] == 0.0 and len(line.get_xdata()) < 3)
    np.testing.assert_array_equal(whisker.get_ydata(), display.band[:, 0, 0])
    np.testing.assert_array_equal(dot.get_ydata(), display.values[0, :1])
    zero, drawn = (own.transform((0.0, 0.0))[0] for own in (display.ax_.transData, dot.get_transform()))
    assert drawn < zero


def test_a_constant_attribute_has_a_whisker(again):
    X, _, model = again["pima"]
    held = X.copy()
    held[:, 1] = 120.0
    display = DependenceDisplay.from_estimator(model, held, 1)
    assert display.band.shape == (2, 1, 1)
    assert any(np.array_equal(line.get_ydata(), display.band[:, 0, 0]) for line in display.ax_.lines)


def test_a_heat_map_has_no_band(again):
    X, _, model = again["odd"]
    display = DependenceDisplay.from_estimator(model, X, ("colour", "_hidden"))
    assert display.band is None
    assert display.ax_.get_legend() is None


@pytest.mark.parametrize("feature", ["colour", "price_$"])
def test_without_other_lists_there_is_no_band(odd, feature):
    X, _, model = odd
    display = DependenceDisplay.from_estimator(model, X, feature)
    assert display.band is None
    assert display.missing_band is None
    assert display.ax_.get_legend() is None
    assert not any(isinstance(own, PolyCollection) for own in display.ax_.collections)
