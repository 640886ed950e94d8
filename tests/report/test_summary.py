"""The words at the top of a report."""

from inspected_models import fit, make_table
from rulegrove import Glmnet, RuleEnsembleRegressor
from rulegrove.report._given import read_given
from rulegrove.report._lines import list_lines
from rulegrove.report._summary import summarise, tell_figures, tell_model


def tell(model, X=None, y=None, training=None):
    line = list_lines(model)[model.front_.chosen]
    sentences = [tell_model(model, line), *summarise(model, read_given(model, X, y, training))]
    return {name: value for value, name in tell_figures(model, line)}, " ".join(sentences)


def test_what_was_fitted(inspected):
    model, table, y = inspected
    figures, words = tell(model, table, y, training=False)
    assert figures["terms"] == str(len(model.rules_))
    assert figures["attributes"] == "5"
    assert figures["training rows"] == "90"
    assert "with 5 folds" in words
    assert "the point with the smallest held-out error was taken" in words
    assert "n_candidates=150" in words
    assert "selection='min'" in words
    assert "n_jobs" not in words
    assert ("so these figures are a little optimistic" in words) == (not model.held_out_.honest)
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
    figures, _ = tell(model)
    held_out = model.held_out_
    base = f"accuracy held out; base rate {100 * held_out.base_accuracy:.1f} %"
    assert figures[base] == f"{100 * held_out.accuracy:.1f} %"
    assert figures["AUC held out; guessing: 0.5"] == f"{held_out.auc:.3f}"
    assert figures[f"log loss held out; base rate {held_out.base_log_loss:.3f}"] == f"{held_out.log_loss:.3f}"
    assert not any("less error" in name for name in figures)


def test_a_given_point_has_no_held_out_error():
    table, y, _ = make_table()
    model = RuleEnsembleRegressor(n_candidates=40, selection=0.05, random_state=0, n_jobs=1)
    figures, words = tell(model.fit(table.drop(columns="fixed"), y))
    assert "the point was given (penalty 0.05), without cross-validation" in words
    assert not any("held out" in name for name in figures)
    assert "fold" not in words


def test_how_the_length_came_about():
    model, *_ = fit("two classes")
    words = tell(model)[1]
    assert f"The fit made a large model of {model.front_[-1].rules} terms first" in words
    assert f"Lists of up to {model.front_[-2].terms} terms were then made from it" in words
    assert f"The chosen model is the list of {len(model.rules_)} terms." in words
    model, *_ = fit("three classes")
    assert f"is the list of {model.front_[model.front_.chosen].terms} terms for each class." in tell(model)[1]
    assert "The chosen model is the large one itself." in tell(model.shorten(None))[1]
    for line in list_lines(model):
        assert f"the parts of {sum(row.kind == 'rule' for row in line.rules)} rule" in tell_model(model, line)
        assert tell_figures(model, line)[0] == [str(len(line.rules)), "terms"]


def test_honest_folds_are_told():
    table, y, _ = make_table()
    model = RuleEnsembleRegressor(n_candidates=40, cv=3, random_state=0, n_jobs=1).fit(table.drop(columns="fixed"), y)
    assert "No rule was grown on the rows that it is judged on" in tell(model)[1]


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
