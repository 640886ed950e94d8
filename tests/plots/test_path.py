import numpy as np
import pytest

from rulegrove import Glmnet, Pathbuild, RuleEnsembleClassifier, Spgl1
from rulegrove.exceptions import InvalidInputError
from rulegrove.plots import PathDisplay, SelectionDisplay


def fit(X, y, **more):
    return RuleEnsembleClassifier(n_candidates=60, cv=3, honest_cv=False, random_state=0, n_jobs=1, **more).fit(X, y)


def test_lines_are_the_path(pima):
    model = pima[2]
    display = PathDisplay.from_estimator(model, top=4)
    path, chosen = model.path_, model.selection_.index
    np.testing.assert_array_equal(display.x, path.penalties)
    used = path.coefs[:, path.coefs.any(axis=0)]
    np.testing.assert_array_equal(np.sort(display.coefs, axis=1), np.sort(used, axis=1))
    assert (np.diff(np.abs(display.coefs[chosen])) <= 0).all()
    curves = [line for line in display.ax_.lines if len(line.get_xdata()) == len(path.penalties)]
    drawn = np.array([line.get_ydata() for line in curves]).T
    # The crowd is drawn first, then the named; a term that is out of the model draws nothing.
    expected = np.concatenate([display.coefs[:, 4:], display.coefs[:, :4]], axis=1)
    np.testing.assert_array_equal(np.nan_to_num(drawn), expected)
    assert (expected[np.isnan(drawn)] == 0.0).all()
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == list(display.texts[:4])


def test_words_of_the_lines(odd):
    """The words belong to the columns: refind each term by its own coefficients."""
    model = odd[2]
    display = PathDisplay.from_estimator(model, top=3)
    by_text = {model.candidates_[0][k].text(model.model_.features): k for k in range(len(model.candidates_[0]))}
    for text, coefs in zip(display.texts, display.coefs.T, strict=True):
        np.testing.assert_array_equal(coefs, model.path_.coefs[:, by_text[text]])


@pytest.mark.parametrize("solver", [Glmnet(relax=True), Spgl1(), Pathbuild(threshold=0.8, n_steps=200)])
def test_every_solver(solver, pima):
    X, y, _ = pima
    model = fit(X, y, solver=solver)
    for drawn in (PathDisplay.from_estimator(model), SelectionDisplay.from_estimator(model)):
        drawn.figure_.draw_without_rendering()
        assert drawn.x_name == model.path_.parameter.name
        assert (drawn.ax_.get_xlim()[0] > drawn.ax_.get_xlim()[1]) == (drawn.x_name == "penalty")


@pytest.mark.parametrize("x", ["penalty", "l1_radius", "fit_weight", "residual"])
def test_every_axis(x, pima):
    model = pima[2]
    display = SelectionDisplay.from_estimator(model, x=x)
    np.testing.assert_array_equal(display.x, model.path_.values(x))
    assert PathDisplay.from_estimator(model, x=x).x_name == x


def test_unknown_axis(pima):
    with pytest.raises(InvalidInputError, match="A path knows the parameters"):
        PathDisplay.from_estimator(pima[2], x="lambda")


def test_errors_are_those_of_the_selection(pima):
    X, y, _ = pima
    model = fit(X, y, selection="1se", max_terms=None)
    display = SelectionDisplay.from_estimator(model)
    selection, ax = model.selection_, display.ax_
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), selection.errors)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), model.path_.penalties)
    best = np.argmin(selection.errors)
    limit = selection.errors[best] + selection.standard_errors[best]
    assert list(ax.lines[1].get_ydata()) == [limit, limit]
    (mark,) = (line for line in ax.lines if line.get_marker() == "o")
    assert mark.get_xydata().tolist() == [[model.path_.penalties[selection.index], selection.errors[selection.index]]]
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.min() == (selection.errors - selection.standard_errors).min()
    assert band.max() == (selection.errors + selection.standard_errors).max()
    (twin,) = (axes for axes in display.figure_.axes if axes is not ax)
    np.testing.assert_array_equal(twin.lines[0].get_ydata(), model.path_.n_terms)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[-1] == f"chosen (1se): {model.path_.n_terms[selection.index]} terms"


def test_a_given_point_has_no_held_out_error(pima):
    X, y, _ = pima
    model = fit(X, y, selection=0.05)
    display = SelectionDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.errors, model.path_.risks)
    assert display.standard_errors is None
    assert display.ax_.get_ylabel() == "Training squared error"
    assert not display.ax_.collections


@pytest.mark.parametrize("multiclass", ["ovr", "shared", "grouped"])
def test_every_class_has_its_path(multiclass, iris):
    X, y, _ = iris
    model = fit(X, y, multiclass=multiclass)
    for position, label in enumerate(model.classes_):
        display = PathDisplay.from_estimator(model, target=label)
        path = model.path_[position]
        used = path.coefs[:, path.coefs.any(axis=0)]
        np.testing.assert_array_equal(np.sort(display.coefs, axis=1), np.sort(used, axis=1))
        chosen = SelectionDisplay.from_estimator(model, target=label).chosen
        assert chosen == model.selection_[position].index
