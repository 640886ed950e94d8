"""Explanations: parts that add up to the score to the last bit, and their words."""

import html.parser
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from inspected_models import KINDS, fit
from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.columns import Feature
from rulegrove.datasets import load
from rulegrove.estimators import model as model_module
from rulegrove.estimators.explanation import SHOWN_TERMS, _read_value
from rulegrove.exceptions import InvalidInputError

HOSTILE = "<script>alert('x')</script>"


def scores_of(model, table):
    return model.decision_function(table) if hasattr(model, "classes_") else model.predict(table)


@pytest.mark.parametrize("kind", KINDS)
def test_parts_add_up_to_the_score_exactly(kind):
    model, table, _, _ = fit(kind)
    explanation = model.explain(table)
    assert np.array_equal(explanation.scores, scores_of(model, table))
    summed = explanation.parts.sum(axis=-1) + explanation.intercept
    np.testing.assert_allclose(summed, explanation.scores, rtol=0.0, atol=1e-13)
    assert explanation.rules is model.rules_
    assert np.array_equal(explanation.intercept, model.intercept_)


def test_exact_on_many_rows_and_classes(monkeypatch):
    monkeypatch.setattr(model_module, "BLOCK_ROWS", 100)
    data = load("vehicle")
    model = RuleEnsembleClassifier(n_candidates=150, cv=2, random_state=0, n_jobs=1).fit(data.X, data.y)
    explanation = model.explain(data.X)
    assert explanation.parts.shape == (len(data.y), 4, len(model.rules_))
    assert np.array_equal(explanation.scores, model.decision_function(data.X))
    alone = model.explain(data.X[7:8])
    assert np.array_equal(alone.parts[0], explanation.parts[7])


def test_exact_with_the_logistic_loss():
    data = load("pima")
    solver = Glmnet(loss="logistic")
    model = RuleEnsembleClassifier(n_candidates=100, solver=solver, random_state=0, n_jobs=1).fit(data.X, data.y)
    assert np.array_equal(model.explain(data.X).scores, model.decision_function(data.X))


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_coefficients_times_terms(kind):
    model, table, _, _ = fit(kind)
    parts = model.explain(table).parts
    values = model.transform_rules(table)
    values = values[:, None, :] if parts.ndim == 3 else values
    np.testing.assert_array_equal(parts, values * model.coef_)
    assert not np.signbit(parts[parts == 0]).any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_tells_the_terms_that_fired(kind):
    model, table, _, _ = fit(kind)
    explanation = model.explain(table)
    predictions = model.predict(table)
    values = model.transform_rules(table)
    assert len(explanation) == len(table)
    for index, row in enumerate(explanation):
        assert row.prediction == predictions[index]
        assert (np.diff(np.abs(row.parts)) <= 0).all()
        held = {term.rank for term, value in zip(model.rules_, values[index], strict=True) if value != 0}
        assert {term.rank for term in row.terms} <= held
        assert row.parts.sum() + row.intercept == pytest.approx(row.score, abs=1e-13)
        assert len(row.sentences) == len(row.terms)
    assert explanation[-1].prediction == predictions[-1]
    assert explanation[np.int64(0)].prediction == predictions[0]
    with pytest.raises(IndexError):
        explanation[len(table)]


def test_two_classes_speak_for_the_second():
    model, table, _, _ = fit("two classes")
    explanation = model.explain(table)
    assert {row.label for row in explanation} == {"yes"}
    assert explanation.classes == ("no", "yes")
    negative = int(np.argmin(explanation.scores))
    assert explanation[negative].prediction == "no"
    probability = model.predict_proba(table)[negative, 0]
    assert explanation[negative].probability == probability
    assert repr(explanation[negative]).startswith(f"Predicted no with probability {probability:.3g}; score -")


def test_several_classes_explain_the_predicted_one_or_the_one_asked_for():
    model, table, _, _ = fit("three classes")
    explanation = model.explain(table)
    row = explanation[0]
    assert row.label == row.prediction == model.predict(table)[0]
    for place, label in enumerate(explanation.classes):
        other = explanation.row(0, label)
        assert other.label == label
        assert other.prediction == row.prediction
        assert other.score == explanation.scores[0, place]
        assert set(other.parts) == set(explanation.parts[0, place][explanation.parts[0, place] != 0])
    with pytest.raises(InvalidInputError, match=r"must be one of \['low', 'middle', 'up'\]; got 'high'"):
        explanation.row(0, "high")
    with pytest.raises(InvalidInputError, match="single score"):
        fit("two classes")[0].explain(table).row(0, "yes")


def test_sentences_begin_with_the_part():
    model, table, _, _ = fit("two classes")
    row = model.explain(table)[0]
    for sentence, term, part in zip(row.sentences, row.terms, row.parts, strict=True):
        assert sentence == f"{part:+.4g} for yes. {term.sentence}"
    number = max(fit("regression")[0].explain(table), key=lambda row: len(row.parts))  # on some rows no rule holds
    assert number.sentences[0] == f"{number.parts[0]:+.4g}. {number.terms[0].sentence}"


def test_any_table_gives_the_same():
    model, table, _, _ = fit("regression")
    assert np.array_equal(model.explain(pl.from_pandas(table)).parts, model.explain(table).parts)


def test_long_lists_are_cut_and_the_rest_is_added_up():
    X, y = load("pima")
    options = {"n_candidates": 400, "max_terms": None, "selection": "min", "random_state": 0, "n_jobs": 1}
    model = RuleEnsembleClassifier(**options).fit(X, y)
    row = max(model.explain(X), key=lambda row: len(row.terms))
    assert len(row.terms) > SHOWN_TERMS
    lines = repr(row).splitlines()
    assert SHOWN_TERMS == 10
    hidden = row.parts[10:]
    assert lines[-2].split(maxsplit=1) == [f"{hidden.sum():+.4g}", f"and {len(row.terms) - 10} smaller parts"]
    assert lines[-1].endswith("intercept")
    starts = [line.split()[0] for line in lines if re.match(r" *[+-]", line)]
    assert starts == [f"{part:+.4g}" for part in (*row.parts[:10], hidden.sum(), row.intercept)]
    assert "smaller part" not in row.to_text(top=len(row.terms))
    assert "and 1 smaller part\n" in row.to_text(top=len(row.terms) - 1)
    assert repr(model.explain(X)).startswith("Explanation of 768 rows by")


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_tells_its_probability_and_the_values_behind_its_terms(kind):
    model, table, _, _ = fit(kind)
    explanation = model.explain(table)
    chances = model.predict_proba(table) if hasattr(model, "classes_") else None
    for index, row in enumerate(explanation):
        if chances is None:
            assert row.probability is None
        else:
            assert row.probability == chances[index, list(model.classes_).index(row.prediction)]
        used = {model.model_.features[feature].name for term in row.terms for feature in term.term.features}
        assert set(row.values) == used
        for name, value in row.values.items():
            given = table[name].iloc[index]
            assert (value is None and pd.isna(given)) or value == given
    row = explanation[0]
    if row.terms:
        first = row.terms[0].term.features[0]
        assert next(iter(row.values)) == model.model_.features[first].name
        assert f"Values: {next(iter(row.values))} " in row.to_text(top=1)
        assert f"Values: {next(iter(row.values))} " in row._repr_html_()


def test_values_are_told_as_a_reader_knows_them():
    assert _read_value(Feature("a"), np.nan) is None
    assert _read_value(Feature("a"), 2.5) == 2.5
    assert _read_value(Feature("a", ("x", "y")), 1.0) == "y"
    assert _read_value(Feature("a", ("x", "y")), 2.0) == "a category that was not in the training rows"
    assert _read_value(Feature("a", ("x", "y"), pooled=True), 2.0) == "any other"
    assert _read_value(Feature("a.date", column="a", part="date"), 366.0) == "1971-01-02"


def test_a_model_without_terms_is_its_intercept():
    model, table, _, _ = fit("no terms")
    row = model.explain(table)[0]
    assert row.terms == ()
    assert row.sentences == []
    assert row.score == model.intercept_
    assert repr(row).splitlines()[1].endswith("intercept")


def test_html_is_escaped_and_well_formed():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({HOSTILE: rng.normal(size=80), "b": rng.normal(size=80)})
    y = np.where(table[HOSTILE].to_numpy() > 0, "<u>", "no")
    model = RuleEnsembleClassifier(n_candidates=30, random_state=0, n_jobs=1).fit(table, y)
    page = model.explain(table)[0]._repr_html_()
    assert "<script" not in page
    assert "<u>" not in page
    opened = []
    parser = html.parser.HTMLParser()
    parser.handle_starttag = lambda tag, attributes: opened.append(tag)
    parser.handle_endtag = lambda tag: opened.remove(tag)
    parser.feed(page)
    assert opened == []


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError):
        RuleEnsembleRegressor().explain(np.zeros((2, 2)))
