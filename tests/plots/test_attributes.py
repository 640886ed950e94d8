import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer

from rulegrove import RuleEnsembleRegressor
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import importance_band, importances, interactions
from rulegrove.plots import ImportanceDisplay, InteractionDisplay
from rulegrove.plots._display import BAND_WORDS


def test_importance_of_the_fit(pima):
    model = pima[2]
    display = ImportanceDisplay.from_estimator(model, top=5)
    largest = np.sort(model.feature_importances_)[::-1][:5]
    assert [bar.get_width() for bar in display.ax_.patches] == largest.tolist()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [f"x{k}" for k in display.order]
    assert display.ax_.get_xlabel() == "Share of the importance (5 of 8 attributes)"


def test_importance_on_rows(odd):
    X, _, model = odd
    region = (X["colour"] == "_blue").to_numpy()
    display = ImportanceDisplay.from_estimator(model, X, region=region)
    found = importances(model, X, region=region)
    assert [bar.get_width() for bar in display.ax_.patches] == [found.attributes[k] for k in display.order]
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [found.names[k].replace("$", r"\$") for k in display.order]
    assert f"on {region.sum()} rows" in display.ax_.get_xlabel()


def whiskers_of(ax):
    """Ends of the whiskers, in the order of the bars."""
    (container,) = [own for own in ax.containers if isinstance(own, ErrorbarContainer)]
    (lines,) = container.lines[2]
    return np.array([segment[:, 0] for segment in lines.get_segments()])


def check_whiskers(display, low, high):
    order, ax = display.order, display.ax_
    np.testing.assert_allclose(whiskers_of(ax), np.column_stack([low, high])[order], atol=1e-12)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [BAND_WORDS]
    bars = [bar.get_width() for bar in ax.patches if bar.get_visible()]
    assert bars == display.importances[order].tolist()
    # Numbers stand to the right of bar and whisker.
    np.testing.assert_allclose([text.xy[0] for text in ax.texts], np.maximum(high[order], bars))


@pytest.mark.parametrize("name", ["pima", "iris", "odd"])
def test_whiskers_of_the_fit(again, name):
    model = again[name][2]
    check_whiskers(ImportanceDisplay.from_estimator(model), *importance_band(model))


def test_whiskers_on_rows(again):
    X, _, model = again["odd"]
    region = (X["colour"] == "_blue").to_numpy()
    found = importances(model, X, region=region)
    check_whiskers(ImportanceDisplay.from_estimator(model, X, region=region), found.low, found.high)


def test_no_whiskers_without_other_lists(pima):
    display = ImportanceDisplay.from_estimator(pima[2])
    assert display.low is None
    assert display.ax_.get_legend() is None
    assert not any(isinstance(own, ErrorbarContainer) for own in display.ax_.containers)


def test_region_without_rows(odd):
    X, _, model = odd
    with pytest.raises(InvalidInputError, match="region without rows"):
        ImportanceDisplay.from_estimator(model, X, region=np.zeros(len(X), dtype=bool))


def test_interaction_shows_each_pair_once(odd):
    X, _, model = odd
    display = InteractionDisplay.from_estimator(model, X, top=4)
    found = interactions(model, X)
    order = display.order
    assert (np.diff(found.total[order]) <= 0).all()
    (image,) = display.ax_.images
    cells = image.get_array()
    for row in range(3):
        for column in range(3):
            if column > row:
                assert cells.mask[row, column]
            else:
                assert cells[row, column] == found.pairs[order[row + 1], order[column]]
    names = [found.names[place].replace("$", r"\$") for place in order]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == names[1:]
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == names[:-1]
    numbers = sorted(text.get_text() for text in display.ax_.texts)
    assert numbers == sorted(f"{value:.2f}" for value in cells.compressed())


@pytest.mark.parametrize("given", [False, True])
def test_sixty_attributes_do_not_overlap(given):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    y = sum(X[:, k] * X[:, k + 1] for k in range(0, 60, 2))
    model = RuleEnsembleRegressor(n_candidates=600, selection=1e-3, random_state=0, n_jobs=1).fit(X, y)
    ax = plt.subplots(2, 2, figsize=(8, 6))[1][1, 0] if given else None
    display = InteractionDisplay.from_estimator(model, X, top=60, ax=ax)
    assert len(display.order) > 50
    display.figure_.draw_without_rendering()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels() if label.get_text()]
    assert len(boxes) > 10
    assert all(above.y0 >= below.y1 - 1.0 for above, below in itertools.pairwise(boxes))
    boxes = [label.get_window_extent() for label in display.ax_.get_xticklabels() if label.get_text()]
    assert len(boxes) > 10
    assert all(left.x1 <= right.x0 + 1.0 for left, right in itertools.pairwise(boxes))
