"""The words at the top of a report."""

import pytest

from inspected_models import fit, make_table
from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.report._given import read_given
from rulegrove.report._summary import name_error, summarise
from rulegrove.report._tracks import follow_paths


def tell(model, X=None, y=None, training=None):
    told = summarise(model, follow_paths(model)[0], read_given(model, X, y, training))
    return {name: value for value, name in told["figures"]}, " ".join(told["sentences"])


def test_what_was_fitted(inspected):
    model, table, y = inspected
    figures, words = tell(model, table, y, training=False)
    assert figures["terms"] == str(len(model.rules_))
    assert figures["attributes"] == "5"
    assert figures["training rows"] == "90"
    assert "with 5 folds" in words
    assert "the point of the least held-out error was taken" in words
    assert "n_candidates=150" in words
    assert "selection='min'" in words
    assert "n_jobs" not in words
    assert ("so this is a little optimistic" in words) == (model.terms != "linear")
    assert "On the 90 rows given" in words
    for label in getattr(model, "classes_", []):
        assert f"{label} ({int((y == label).sum())})" in words
    if not hasattr(model, "classes_"):
        assert f"from {y.min():.4g} to {y.max():.4g}" in words


def test_the_error_held_out():
    """The figures were a loss and how much less of it there was than without terms, which tell nobody anything."""
    model, *_ = fit("regression")
    figures, _ = tell(model)
    held_out = model.held_out_
    assert figures["R² held out"] == f"{held_out.r2:.3f}"
    named = f"root mean squared error held out; the target's standard deviation is {held_out.deviation:.4g}"
    assert figures[named] == f"{held_out.rmse:.4g}"
    model, *_ = fit("three classes")
    figures, words = tell(model)
    held_out = model.held_out_
    base = f"accuracy held out; base rate {100 * held_out.base_accuracy:.1f} %"
    assert figures[base] == f"{100 * held_out.accuracy:.1f} %"
    assert figures["AUC held out; 0.5 by chance"] == f"{held_out.auc:.3f}"
    assert figures[f"log loss held out; base rate {held_out.base_log_loss:.3f}"] == f"{held_out.log_loss:.3f}"
    assert "one path for each class" in words
    assert not any("less error" in name for name in figures)


def test_a_given_point_has_no_held_out_error():
    table, y, _ = make_table()
    model = RuleEnsembleRegressor(n_candidates=40, selection=0.05, random_state=0, n_jobs=1)
    figures, words = tell(model.fit(table.drop(columns="fixed"), y))
    assert "the point was given (penalty 0.05), without cross-validation" in words
    assert "training squared error" in figures
    assert not any("held out" in name for name in figures)
    assert "fold" not in words


@pytest.mark.parametrize(
    ("multiclass", "solver", "expected"),
    [
        ("grouped", Glmnet(l1_ratio=0.9), "held-out squared error, summed over the classes"),
        ("shared", Glmnet(loss="logistic"), "held-out multinomial loss"),
        ("ovr", Glmnet(loss="logistic"), "held-out logistic loss"),
    ],
)
def test_which_error_the_path_shows(multiclass, solver, expected):
    _, table, y, _ = fit("three classes")
    model = RuleEnsembleClassifier(
        multiclass=multiclass, solver=solver, n_candidates=30, honest_cv=False, random_state=0, n_jobs=1
    ).fit(table.drop(columns="fixed"), y)
    assert name_error(model, follow_paths(model)[0][0]) == expected


def test_honest_folds_are_told():
    table, y, _ = make_table()
    model = RuleEnsembleRegressor(n_candidates=40, cv=3, random_state=0, n_jobs=1).fit(table.drop(columns="fixed"), y)
    assert "No rule was grown with the rows that it is judged on" in tell(model)[1]


def test_training_rows_are_called_so(inspected):
    model, table, y = inspected
    words = tell(model, table, y, training=True)[1]
    assert "This report was made with 90 rows that the model was fitted on" in words
    assert "rows given" not in words


def test_fractions_of_settings_are_short():
    """A fit that chose the mix of norms told `l1_ratio=0.018000350897724997`."""
    table, y, _ = make_table()
    solver = Glmnet(l1_ratio=0.018000350897724997)
    model = RuleEnsembleRegressor(n_candidates=40, cv=3, shrinkage=0.123456789, solver=solver, random_state=0, n_jobs=1)
    words = tell(model.fit(table.drop(columns="fixed"), y))[1]
    assert words.count("Glmnet(l1_ratio=0.018)") == 2
    assert "shrinkage=0.1235" in words
    assert "0.01800035" not in words
