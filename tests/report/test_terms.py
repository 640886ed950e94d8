"""What is known of terms: from training for those of the model, from the rows given for the others."""

import numpy as np
import pytest
from sklearn.base import clone

from inspected_models import fit
from rulegrove.design.terms import Linear
from rulegrove.report._given import read_given
from rulegrove.report._terms import MAX_LETTERS, _cut, describe_terms, gather_facts
from rulegrove.report._tracks import follow_paths
from rulegrove.rules.rule import Rule


def gather(model, table=None, y=None):
    terms = follow_paths(model)[1]
    return terms, gather_facts(model, terms, read_given(model, table, y))


def test_importances_of_the_chosen_point_are_those_of_the_model(inspected):
    model, table, y = inspected
    terms, facts = gather(model, table, y)
    n_own, n_features = len(model.rules_), len(model.model_.features)
    importances = np.abs(np.atleast_2d(model.coef_)).sum(axis=0) * facts.spreads[:n_own]
    np.testing.assert_allclose(importances, [row.importance for row in model.rules_], rtol=1e-12)
    shared = np.zeros(n_features)
    for term, importance in zip(terms, importances, strict=False):
        shared[list(term.features)] += importance / len(term.features)
    np.testing.assert_allclose(shared / (shared.sum() or 1.0), model.feature_importances_, rtol=1e-12)


def test_rules_beyond_the_model_are_measured(inspected):
    model, table, y = inspected
    terms, facts = gather(model, table, y)
    block = model.read_columns(table).take(slice(None))
    targets = read_given(model, table, y).targets
    for place, term in enumerate(terms):
        if place < len(model.rules_) or not isinstance(term, Rule):
            continue
        held = term.holds(block)
        assert facts.supports[place] == pytest.approx(held.mean(), rel=1e-12)
        assert facts.spreads[place] == pytest.approx(held.std(), rel=1e-9)
        if held.any():
            np.testing.assert_allclose(facts.means[:, place], targets[held].mean(axis=0), rtol=1e-12, atol=1e-12)


def test_without_rows_the_model_speaks_for_its_own_terms():
    capped, table, y, _ = fit("two classes")
    model = clone(capped).set_params(max_terms=None, selection="1se").fit(table.assign(fixed=np.arange(len(y)) % 2), y)
    terms, facts = gather(model)
    n_own = len(model.rules_)
    rules = [row for row in model.rules_ if row.kind == "rule"]
    places = [row.rank - 1 for row in rules]
    assert facts.supports[places].tolist() == [row.support for row in rules]
    assert facts.means[0, places].tolist() == [row.confidences["yes"] for row in rules]
    others = [place for place in range(n_own, len(terms)) if isinstance(terms[place], Rule)]
    assert len(others) > 0
    assert np.isnan(facts.supports[others]).all()
    assert (facts.spreads[others] == 0.4).all()
    assert np.isnan(gather(model, table)[1].means[0, others]).all()


def test_spreads_of_linear_terms():
    """A linear term's spread is that of the winsorised attribute, whether or not it is in the model."""
    model, table, y, _ = fit("linear only")
    terms, facts = gather(model, table, y)
    block = model.read_columns(table).take(slice(None))
    lines = [place for place, term in enumerate(terms) if isinstance(term, Linear) and not np.isnan(block).any()]
    for place in lines:
        term = terms[place]
        assert facts.spreads[place] == pytest.approx(term.values(block[term.feature]).std(), rel=1e-9)


def test_words_for_the_page():
    model, table, y, _ = fit("regression")
    terms, facts = gather(model, table, y)
    told = describe_terms(model, terms, facts)
    assert told["texts"][: told["n_own"]] == [row.text for row in model.rules_]
    assert told["features"] == [list(term.features) for term in terms]
    assert {int(place) for place in told["lines"]} == {k for k, term in enumerate(terms) if isinstance(term, Linear)}
    assert len(_cut("x" * 1000)) == MAX_LETTERS
