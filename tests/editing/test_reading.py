"""Rows are read, weighed and dealt as a fit does it, and drawn where they are many."""

import numpy as np
import pytest
from sklearn.base import clone

from edited_lists import draw, fit
from rulegrove import RuleEnsembleClassifier
from rulegrove.editing import reading
from rulegrove.editing.reading import count_rows, read_rows
from rulegrove.estimators import autos
from rulegrove.estimators._in_memory import TableInMemory
from rulegrove.estimators._sampling import Chance
from rulegrove.exceptions import InvalidInputError


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("kind", ["two", "three", "number", "poisson"])
@pytest.mark.parametrize("grouped", [False, True])
def test_folds_are_those_of_the_fit(kind, grouped, small, monkeypatch):
    model, (X, y) = fit(kind), draw(kind)
    if not small:
        monkeypatch.setattr(autos, "POOL_ROWS", 100)
    groups = np.arange(len(y)) // 3 if grouped else None
    rows = read_rows(model, X, y, None, groups, None, None)
    settings, target = model.read_parameters(y)
    source, chance = TableInMemory(X, y, None, groups, target=target, settings=settings), Chance.of(model.random_state)
    sampled = source.sample(chance, lambda n: n)
    code = target.learn(sampled, validates=True).code
    dealt = source.deal(model.cv, code, chance)
    np.testing.assert_array_equal(rows.folds, dealt.of(np.arange(len(y))))
    assert rows.n_folds == dealt.n_folds


def test_classes_weigh_as_in_the_fit():
    X, y = draw("two")
    few = {"terms": "rules", "n_candidates": 50, "max_terms": 3, "honest_cv": False, "random_state": 0}
    balanced = RuleEnsembleClassifier(class_weight="balanced", **few).fit(X, y)
    own = np.where(y == "sick", 0.5 / np.mean(y == "sick"), 0.5 / np.mean(y == "well"))
    plain = RuleEnsembleClassifier(**few).fit(X, y)
    sessions = [balanced.edit(X, y), balanced.set_params(class_weight=None).edit(X, y, sample_weight=own)]
    for session in sessions:
        session.drop(1)
    np.testing.assert_allclose(*(session.finish().coef_ for session in sessions), atol=1e-9)
    assert len(plain.edit(X, y).rules) == len(plain.rules_)


def test_rows_without_weight_count_for_nothing():
    model, (X, y) = fit("number"), draw("number")
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    wrong = np.where(weights > 0, y, 1e6)
    session = model.edit(X, wrong, sample_weight=weights)
    session.drop(1)
    assert session.log[-1].change.n_rows == int(weights.sum())
    assert session.log[-1].after.error < 30.0
    with pytest.raises(InvalidInputError, match="zero for every row"):
        model.edit(X, y, sample_weight=np.zeros(len(y)))


@pytest.mark.parametrize("kind", ["lines", "two"])
def test_few_of_many_rows_are_drawn_where_they_share_no_lines(kind, monkeypatch):
    monkeypatch.setattr(reading, "DRAWN_ROWS", 100)
    monkeypatch.setattr(reading, "MOST_LINES", 3)
    model, (X, y) = fit(kind), draw(kind)
    rows = read_rows(model, X, y, None, None, None, None)
    counts = count_rows(rows, model.model_.terms)
    assert counts.rows.n_rows == 100
    session = model.edit(X, y)
    assert session.log[0].words.startswith("Opened on 100 rows drawn from 240")
    session.drop(1)
    assert session.log[-1].change.n_rows == 100
    monkeypatch.setattr(reading, "MOST_LINES", 50_000)
    assert model.edit(X, y).log[0].step["rows"] == (100 if kind == "lines" else 240)


def test_numbers_of_any_unit_have_the_same_session():
    model, (X, y) = fit("number"), draw("number")
    costs = []
    for unit in (1.0, 2.0**700, 2.0**-700):
        session = clone(model).fit(X, unit * y).edit(X, unit * y)
        session.drop(1)
        costs.append(session.log[-1].after.error / unit)
        assert repr(session)
        assert np.ptp(session.finish().predict(X)) > unit
    np.testing.assert_allclose(costs, costs[0], rtol=1e-6)
