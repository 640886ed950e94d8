import numpy as np
import pytest
from matplotlib.colors import to_hex

from rulegrove import Fpc, Glmnet, RuleEnsembleClassifier
from rulegrove.exceptions import InvalidInputError
from rulegrove.plots import ComparisonDisplay, RulesDisplay
from rulegrove.plots._display import BLUE, VERMILION


def bars_of(ax):
    return [bar.get_width() for bar in ax.patches]


def colours_of(ax):
    return [to_hex(bar.get_facecolor()).upper() for bar in ax.patches]


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_rules_of_two_classes(pima):
    model = pima[2]
    display = RulesDisplay.from_estimator(model, top=7)
    assert bars_of(display.ax_) == [term.importance for term in model.rules_[:7]]
    assert colours_of(display.ax_) == [BLUE if term.coefficient > 0 else VERMILION for term in model.rules_[:7]]
    assert legend_of(display.ax_) == ["speaks for tested_positive", "speaks for tested_negative"]
    np.testing.assert_array_equal(display.coefs, model.coef_)
    assert display.ax_.get_xlabel() == f"Importance (7 of {len(model.rules_)} terms)"
    labels = [label.get_text().replace("\n", " ") for label in display.ax_.get_yticklabels()]
    assert labels == [term.text for term in model.rules_[:7]]


def test_rules_of_regression_with_odd_names(odd):
    display = RulesDisplay.from_estimator(odd[2], top=50)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    for label, term in zip(labels, odd[2].rules_, strict=False):
        words = label.replace("\n", " ").replace(r"\$", "$")
        assert term.text.startswith(words.removesuffix("…").rstrip())
    assert all(label.count("$") == label.count(r"\$") for label in labels)
    assert legend_of(display.ax_) == ["raises the prediction", "lowers the prediction"]


def test_rules_of_one_class_of_several(iris):
    model = iris[2]
    display = RulesDisplay.from_estimator(model, target="Iris-virginica", top=1000)
    position = model.classes_.tolist().index("Iris-virginica")
    places = [term.rank - 1 for term in display.rules]
    np.testing.assert_array_equal(display.coefs, model.coef_[position, places])
    assert (display.coefs != 0).all()
    assert (np.diff(display.importances) <= 0).all()
    # The spread of a term is the same for all classes.
    spreads = [model.rules_[k].importance / np.abs(model.coef_[:, k]).sum() for k in places]
    np.testing.assert_allclose(display.importances, np.abs(display.coefs) * spreads, rtol=1e-12)
    assert legend_of(display.ax_) == ["speaks for Iris-virginica", "speaks against Iris-virginica"]


def test_rules_of_all_classes_name_the_class(iris):
    model = iris[2]
    display = RulesDisplay.from_estimator(model, top=8)
    assert bars_of(display.ax_) == [term.importance for term in model.rules_[:8]]
    assert [text.get_text().split("  ")[1] for text in display.ax_.texts] == [
        term.speaks_for for term in model.rules_[:8]
    ]
    assert legend_of(display.ax_) == ["speaks for the class named", "speaks against the class named"]


def test_two_hundred_rules(pima):
    X, y, _ = pima
    model = RuleEnsembleClassifier(n_candidates=600, selection=1e-4, random_state=0, n_jobs=1).fit(X, y)
    display = RulesDisplay.from_estimator(model, top=200)
    assert len(display.ax_.patches) == 200
    assert display.figure_.get_size_inches()[1] <= 60.0


OTHER_ROWS = "of lists from other rows have it"


@pytest.mark.parametrize("name", ["pima", "iris", "odd"])
def test_how_often_terms_come_back_stands_beside_the_coefficient(again, name):
    model = again[name][2]
    display = RulesDisplay.from_estimator(model, top=6)
    numbers = [text.get_text().split("  ") for text in display.ax_.texts]
    assert [own[-1] for own in numbers] == [f"{term.returns:.0%}" for term in model.rules_[:6]]
    assert {len(own) for own in numbers} == {3 if name == "iris" else 2}
    assert legend_of(display.ax_)[-1] == OTHER_ROWS
    assert display.ax_.get_legend().legend_handles[-1].get_marker() == r"$\%$"
    assert bars_of(display.ax_) == [term.importance for term in model.rules_[:6]]


def test_of_one_class_the_terms_come_back_in_lists_of_all(again):
    model = again["iris"][2]
    display = RulesDisplay.from_estimator(model, target="Iris-virginica")
    numbers = [text.get_text().split("  ") for text in display.ax_.texts]
    assert [own[1] for own in numbers] == [f"{term.returns:.0%}" for term in display.rules]


def test_without_other_lists_there_are_no_percentages(pima):
    display = RulesDisplay.from_estimator(pima[2])
    assert OTHER_ROWS not in legend_of(display.ax_)
    assert not any("%" in text.get_text() for text in display.ax_.texts)


def test_comparison_of_solvers(pima):
    X, y, _ = pima
    settings = {"n_candidates": 100, "max_terms": None, "honest_cv": False, "random_state": 0, "n_jobs": 1}
    models = [RuleEnsembleClassifier(solver=solver, **settings).fit(X, y) for solver in (Glmnet(), Fpc())]
    display = ComparisonDisplay.from_estimators(models, top=4)
    assert display.names == ("Glmnet", "Fpc")
    # The unit of the solver, in which linear terms and rules weigh alike.
    for model, coefs in zip(models, display.coefs, strict=True):
        solved = model.path_.point(model.selection_.index, model.selection_.mix)[0]
        solved = np.abs(solved[solved != 0])
        np.testing.assert_allclose(np.sort(np.abs(coefs[coefs != 0])), np.sort(solved), rtol=1e-9)
    assert (np.diff(np.abs(display.coefs).max(axis=0)) <= 0).all()
    drawn = [[bar.get_width() for bar in container] for container in display.ax_.containers]
    np.testing.assert_array_equal(drawn, display.coefs[:, :4])
    assert legend_of(display.ax_) == ["Glmnet", "Fpc"]


def test_comparison_by_name_and_class(iris):
    model = iris[2]
    display = ComparisonDisplay.from_estimators({"_a$": model, "b": model}, target="Iris-setosa", top=3)
    assert legend_of(display.ax_) == [r"_a\$", "b"]
    assert "Iris-setosa" in display.ax_.get_xlabel().replace("\n", " ")
    rules = [term for term in model.rules_ if term.kind == "rule" and term.coefficients["Iris-setosa"]]
    found = dict(zip(display.texts, display.coefs[0], strict=True))
    for term in rules:
        assert found[term.text] == term.coefficients["Iris-setosa"]


def test_models_of_one_solver_are_numbered(pima):
    assert ComparisonDisplay.from_estimators([pima[2]] * 8, top=2).names == tuple(f"Glmnet {k}" for k in range(1, 9))


def test_comparison_needs_models():
    with pytest.raises(InvalidInputError, match="needs at least one model; got none"):
        ComparisonDisplay.from_estimators([])
