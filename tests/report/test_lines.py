"""Lines of the front as a page has them: each scores as the shortened model does."""

import numpy as np
import pytest

from inspected_models import fit, make_table, score
from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.estimators.model import RuleModel
from rulegrove.report._lines import describe_front, describe_line, list_lines, list_terms

SETTINGS = {"n_candidates": 60, "cv": 3, "random_state": 0, "n_jobs": 1, "honest_cv": False}


def page_scores(model, table, terms, outputs):
    """Scores from what the page is told of a line."""
    coefs = np.zeros((len(outputs), len(terms)))
    for own, output in zip(coefs, outputs, strict=True):
        own[output["terms"]] = output["coefs"]
    intercepts = np.array([output["intercept"] for output in outputs])
    return RuleModel(model.model_.features, tuple(terms), coefs, intercepts).score(model.read_columns(table))


def check_scores(model, table):
    lines = list_lines(model)
    terms = list_terms(lines)
    assert len(set(terms)) == len(terms)
    for place, line in enumerate(lines):
        found = page_scores(model, table, terms, describe_line(line, terms, None))
        short = model.shorten(model.front_[place].terms, max_rules=model.front_[place].rules)
        if short.front_.chosen == place:  # else a shorter list is as good
            np.testing.assert_allclose(found, score(short, table), rtol=1e-12, atol=1e-12)
            assert [row.text for row in line.rules] == [row.text for row in short.rules_]
            assert line.held_out is short.held_out_
    chosen = describe_line(lines[model.front_.chosen], terms, None)
    np.testing.assert_allclose(page_scores(model, table, terms, chosen), score(model, table), rtol=1e-12, atol=1e-12)
    for own, output in zip(np.atleast_2d(model.coef_), chosen, strict=True):
        assert output["coefs"] == own[own != 0].tolist()


def test_every_line_scores_as_the_shortened_model(inspected):
    model, table, _ = inspected
    check_scores(model, table)


@pytest.mark.parametrize("multiclass", ["ovr", "grouped"])
def test_every_way_to_fit_classes(multiclass):
    _, table, y, _ = fit("three classes")
    table = table.drop(columns="fixed")
    model = RuleEnsembleClassifier(multiclass=multiclass, solver=Glmnet(l1_ratio=0.9), **SETTINGS).fit(table, y)
    check_scores(model, table)


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_a_page_tells_what_terms_do_to_the_base_rate_as_the_table_does(kind):
    model, *_ = fit(kind)
    base_rates, terms = model.recall_target().base_rates, list_terms(list_lines(model))
    for line in list_lines(model):
        told = {}
        for output, own in enumerate(describe_line(line, terms, base_rates)):
            told |= {(output, place): ends for place, *ends in zip(own["terms"], *own["changes"], strict=True)}
        for row, coefs in zip(line.rules, np.atleast_2d(line.model.coefs).T, strict=True):
            output = int(np.argmax(np.abs(coefs)))
            flips = coefs[output] < 0
            expected = [1.0 - own if flips else own for own in (row.probability_from, row.probability_to)]
            np.testing.assert_allclose(told[output, terms.index(row.term)], expected, atol=1e-5)


def test_what_is_told_of_the_front():
    for kind, panels in {"three classes": ["error", "log_loss"], "regression": ["error"]}.items():
        model, *_ = fit(kind)
        told, columns = describe_front(model.front_), model.front_.to_dict()
        assert told["chosen"] == model.front_.chosen
        assert told["terms"] == columns["terms"]
        assert told["rules"] == columns["rules"]
        for panel, name in zip(told["panels"], panels, strict=True):
            np.testing.assert_allclose(panel["values"], columns[name], rtol=1e-5)
            np.testing.assert_allclose(panel["standard_errors"], columns[f"{name}_se"], rtol=1e-5)
    assert [panel["share"] for panel in describe_front(fit("three classes")[0].front_)["panels"]] == [True, False]


def test_lines_that_were_not_judged():
    table, y, _ = make_table()
    model = RuleEnsembleRegressor(selection=0.02, **SETTINGS).fit(table.drop(columns="fixed"), y)
    told = describe_front(model.front_)
    assert told["panels"] == []
    assert len(told["terms"]) == len(list_lines(model)) == len(model.front_)


def test_a_model_without_a_front_is_its_only_line():
    table, y, _ = make_table()
    model = RuleEnsembleRegressor(**SETTINGS).fit(table.drop(columns="fixed"), y)
    model.front_ = None
    (line,) = list_lines(model)
    assert line.model is model.model_
    assert line.rules is model.rules_
    assert describe_front(model.front_) is None
