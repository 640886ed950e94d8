"""What is known of terms: from the training rows, whichever line has them."""

import numpy as np
import pytest

from inspected_models import fit
from rulegrove.design.terms import Linear
from rulegrove.report._lines import list_lines, list_terms
from rulegrove.report._terms import describe_terms
from rulegrove.rules.rule import Rule


def describe(model):
    lines = list_lines(model)
    terms = list_terms(lines)
    return lines, terms, describe_terms(lines, terms)


def test_importances_are_those_of_every_line(inspected):
    model, *_ = inspected
    lines, terms, told = describe(model)
    spreads = dict(zip(terms, told["spreads"], strict=True))
    for line in lines:
        sizes = np.abs(np.atleast_2d(line.model.coefs)).sum(axis=0)
        found = [size * spreads[term] for size, term in zip(sizes, line.model.terms, strict=True)]
        np.testing.assert_allclose(found, [row.importance for row in line.rules], rtol=1e-9)
    shared = np.zeros(len(model.model_.features))
    for row in model.rules_:
        own = np.abs(np.atleast_2d(model.coef_))[:, row.rank - 1].sum() * spreads[row.term]
        shared[list(row.term.features)] += own / len(row.term.features)
    np.testing.assert_allclose(shared / (shared.sum() or 1.0), model.feature_importances_, rtol=1e-9)


def test_supports_and_means_are_those_of_the_training(inspected):
    """The rules of all lines, not only those of the chosen one, were seen in training."""
    model, _, y = inspected
    _, terms, told = describe(model)
    table = fit("regression")[1].drop(columns="fixed").assign(fixed=np.arange(len(y)) % 2)
    block = model.read_columns(table).take(slice(None))
    classes = getattr(model, "classes_", None)
    targets = y[:, None] if classes is None else y[:, None] == (classes[1:] if len(classes) == 2 else classes)
    for place, term in enumerate(terms):
        if not isinstance(term, Rule):
            assert told["supports"][place] is None
            continue
        held = term.holds(block)
        assert told["supports"][place] == pytest.approx(held.mean(), rel=1e-12)
        assert told["spreads"][place] == pytest.approx(held.std(), rel=1e-9)
        np.testing.assert_allclose([own[place] for own in told["means"]], targets[held].mean(axis=0), rtol=1e-5)


def test_spreads_of_linear_terms():
    """A linear term's spread is that of the winsorised attribute."""
    model, table, y, _ = fit("linear only")
    _, terms, told = describe(model)
    block = model.read_columns(table.assign(fixed=np.arange(len(y)) % 2)).take(slice(None))
    lines = [place for place, term in enumerate(terms) if isinstance(term, Linear)]
    assert len(lines) > 0
    for place in lines:
        values = terms[place].values(block[terms[place].feature])
        assert told["spreads"][place] == pytest.approx(values.std(), rel=1e-9)


def test_words_for_the_page():
    model, *_ = fit("regression")
    _, terms, told = describe(model)
    assert set(told["texts"]) >= {row.text for row in model.rules_}
    assert told["texts"] == [term.text(model.model_.features) for term in terms]
    assert told["features"] == [list(term.features) for term in terms]
    assert {int(place) for place in told["lines"]} == {k for k, term in enumerate(terms) if isinstance(term, Linear)}
