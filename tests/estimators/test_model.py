"""The score of a fitted model against a plain sum over its terms."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.columns import Columns, Feature
from rulegrove.design.terms import Linear
from rulegrove.estimators import model as model_module
from rulegrove.estimators.model import RuleModel
from rulegrove.rules.rule import Condition, Rule

FEATURES = (Feature("a"), Feature("b"), Feature("colour", ("blue", "green", "red")))


def random_model(rng, n_terms):
    """Rules and linear terms in mixed order, categories and missing values included."""
    terms = []
    for _ in range(n_terms):
        if rng.random() < 0.3:
            lower = float(rng.normal())
            terms.append(Linear(int(rng.integers(2)), lower, lower + 1.0, lower + 0.4))
            continue
        conditions = [
            Condition(0, upper=round(rng.normal(), 1), missing=bool(rng.random() < 0.5)),
            Condition(1, lower=round(rng.normal(), 1), missing=bool(rng.random() < 0.5)),
            Condition(2, categories=tuple(np.flatnonzero(rng.random(3) < 0.5).tolist()), missing=True),
        ]
        terms.append(Rule(tuple(c for c in conditions if rng.random() < 0.6)))
    return RuleModel(FEATURES, tuple(terms), rng.normal(size=n_terms), float(rng.normal()))


def random_columns(rng, n_rows):
    values = np.column_stack([rng.normal(size=(n_rows, 2)).round(1), rng.integers(0, 4, n_rows)])
    values[rng.random(values.shape) < 0.15] = np.nan
    return Columns(FEATURES, values)


def plain_values(model, columns):
    block = columns.take(slice(None))
    values = [t.holds(block) if isinstance(t, Rule) else t.values(block[t.feature]) for t in model.terms]
    return np.array(values, dtype=np.float64).reshape(len(model.terms), columns.n_rows).T


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_terms=st.integers(0, 12), n_rows=st.integers(1, 200))
def test_values_and_scores_are_those_of_the_terms(seed, n_terms, n_rows):
    rng = np.random.default_rng(seed)
    model, columns = random_model(rng, n_terms), random_columns(rng, n_rows)
    expected = plain_values(model, columns)
    np.testing.assert_array_equal(model.values(columns), expected)
    np.testing.assert_allclose(model.score(columns), model.intercept + expected @ model.coefs, atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), block_rows=st.integers(1, 130))
def test_a_row_scores_the_same_in_any_company(seed, block_rows):
    """To the last bit: alone, in any block, in any thread."""
    rng = np.random.default_rng(seed)
    model, columns = random_model(rng, 8), random_columns(rng, 150)
    scores, values = model.score(columns), model.values(columns)
    whole = columns.take(slice(None)).T
    alone = [model.score(Columns(FEATURES, whole[k : k + 1].copy()))[0] for k in range(0, 150, 13)]
    np.testing.assert_array_equal(alone, scores[::13])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_module, "BLOCK_ROWS", block_rows)
        np.testing.assert_array_equal(model.score(columns, n_threads=1), scores)
        np.testing.assert_array_equal(model.score(columns, n_threads=3), scores)
        np.testing.assert_array_equal(model.values(columns), values)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_terms=st.integers(0, 12), n_rows=st.integers(1, 70))
def test_each_of_several_outputs_is_a_model_of_its_own(seed, n_terms, n_rows):
    """To the last bit, though an output lacks some of the terms of the others."""
    rng = np.random.default_rng(seed)
    first, columns = random_model(rng, n_terms), random_columns(rng, n_rows)
    coefs = rng.normal(size=(3, n_terms)) * (rng.random((3, n_terms)) < 0.6)
    intercepts = rng.normal(size=3)
    model = dataclasses.replace(first, coefs=coefs, intercept=intercepts)
    scores = model.score(columns)
    assert scores.shape == (n_rows, 3)
    for own_scores, own, intercept in zip(scores.T, coefs, intercepts, strict=True):
        alone = dataclasses.replace(first, coefs=own, intercept=float(intercept))
        np.testing.assert_array_equal(own_scores, alone.score(columns))


def test_scores_follow_coefficients_that_are_changed_in_place():
    """What is kept between calls is made of the terms alone: `coef_` is the array that scores are made with."""
    rng = np.random.default_rng(3)
    model, columns = random_model(rng, 7), random_columns(rng, 20)
    before = model.score(columns)
    model.coefs[:] *= 3.0
    scores = model.score(columns)
    assert (scores != before).any()
    np.testing.assert_array_equal(scores, dataclasses.replace(model).score(columns))


def test_a_model_without_terms_is_its_intercept():
    columns = random_columns(np.random.default_rng(0), 5)
    model = RuleModel(FEATURES, (), np.empty(0), 2.5)
    assert model.score(columns).tolist() == [2.5] * 5
    assert model.values(columns).shape == (5, 0)


def test_infinite_values_are_beyond_every_threshold():
    model = RuleModel(
        FEATURES[:1], (Rule((Condition(0, upper=1.0),)), Linear(0, -2.0, 3.0, 0.5)), np.array([1.0, 10.0]), 0.0
    )
    columns = Columns(FEATURES[:1], np.array([[-np.inf], [np.inf], [np.nan]]))
    assert model.values(columns).tolist() == [[1.0, -2.0], [0.0, 3.0], [0.0, 0.5]]
    assert model.score(columns).tolist() == [-19.0, 30.0, 5.0]


def test_a_model_is_frozen_and_survives_a_pickle():
    rng = np.random.default_rng(1)
    model, columns = random_model(rng, 6), random_columns(rng, 40)
    scores = model.score(columns)  # compiles its rules, which travel or are made again
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.score(columns), scores)
    assert twin.terms == model.terms
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.intercept = 0.0


def test_an_inverse_turns_scores_into_predictions():
    model = RuleModel(FEATURES, (), np.empty(0), 0.0, inverse=np.exp)
    assert model.decide(np.array([0.0, 1.0])).tolist() == [1.0, np.exp(1.0)]
    assert dataclasses.replace(model, inverse=None).decide(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]
