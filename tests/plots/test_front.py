import numpy as np
import pytest

from rulegrove import RuleEnsembleRegressor
from rulegrove.exceptions import InvalidInputError
from rulegrove.plots import FrontDisplay


@pytest.mark.parametrize("measure", ["error", "loss"])
def test_lines_are_the_front(measure, pima):
    model = pima[2]
    display = FrontDisplay.from_estimator(model, measure=measure)
    columns, ax = model.front_.to_dict(), display.ax_
    name = {"error": "error", "loss": "log_loss"}[measure]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), columns["terms"])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), columns[name])
    low, high = (np.array(columns[name]) + sign * np.array(columns[f"{name}_se"]) for sign in (-1, 1))
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (low.min(), high.max())
    words = {"error": "Share of wrong classes held out", "loss": "Log loss held out"}
    assert ax.get_ylabel() == words[measure]


def test_chosen_and_large_models_are_marked(pima):
    model = pima[2]
    display = FrontDisplay.from_estimator(model)
    front, ax = model.front_, display.ax_
    large, chosen = (next(line for line in ax.lines if line.get_marker() == mark) for mark in "Do")
    assert chosen.get_xydata().tolist() == [[len(model.rules_), front[front.chosen].error]]
    assert large.get_xydata().tolist() == [[front[-1].terms, front[-1].error]]
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[-2:] == [f"large model: {front[-1].terms} terms", f"chosen: {len(model.rules_)} terms"]


def test_classes_tell_how_many_rules_there_are_in_all(iris):
    model = iris[2]
    display = FrontDisplay.from_estimator(model)
    line = model.front_[model.front_.chosen]
    words = [" ".join(text.get_text().split()) for text in display.ax_.get_legend().get_texts()]
    noun = "terms" if line.terms != 1 else "term"
    assert words[-1] == f"chosen: {line.terms} {noun} a class, {len(model.rules_)} different in all"
    assert display.ax_.get_xlabel() == "Terms of a class"


def test_numbers_have_a_root_mean_squared_error(pima):
    X, y, _ = pima
    model = RuleEnsembleRegressor(n_candidates=60, honest_cv=False, random_state=0, n_jobs=1)
    display = FrontDisplay.from_estimator(model.fit(X, (y == y[0]).astype(float)))
    assert display.errors[display.chosen] == pytest.approx(model.held_out_.rmse, rel=1e-12)
    assert display.ax_.get_ylabel() == "Root mean squared error held out"


def test_nothing_to_draw_is_said(odd, pima):
    def words(model):
        (text,) = FrontDisplay.from_estimator(model).ax_.texts
        return " ".join(text.get_text().split())

    assert words(odd[2]) == "No list was judged: with a given `selection` no rows are held out."
    short = pima[2].shorten(3)
    short.front_ = None
    assert words(short).startswith("No shorter lists: this model comes from an older file or from `engines.refit`.")


def test_unknown_measure(pima):
    with pytest.raises(InvalidInputError, match="`measure` must be 'error' or 'loss'; got 'auc'"):
        FrontDisplay.from_estimator(pima[2], measure="auc")
