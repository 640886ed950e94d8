"""Local importance averaged over rows: against the equations written out row by row."""

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from inspected_models import ATTRIBUTES, KINDS, fit
from naive_bands import find_naive_band
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import importance_band, importances
from rulegrove.rules.rule import Rule

CLOSE = {"rtol": 1e-12, "atol": 1e-14}


def local_importances(model, table):
    """Equations 30 and 31 for every row, summed over the classes."""
    sizes = np.abs(np.atleast_2d(model.coef_)).sum(axis=0)
    means = [row.support if row.kind == "rule" else row.term.fill for row in model.rules_]
    return sizes * np.abs(model.transform_rules(table) - np.array(means))


@pytest.mark.parametrize("kind", KINDS)
def test_terms_and_attributes_follow_the_equations(kind):
    model, table, _, weights = fit(kind)
    local = local_importances(model, table)
    by_attribute = np.zeros((len(table), len(ATTRIBUTES)))
    for place, row in enumerate(model.rules_):
        for feature in row.term.features:
            by_attribute[:, feature] += local[:, place] / len(row.term.features)
    region = (table["age"] > 50).to_numpy()
    for mask, own_weights in ((None, None), (region, None), (None, weights), (region, weights)):
        rows = np.ones(len(table), bool) if mask is None else mask
        counted = rows.astype(float) if own_weights is None else np.where(rows, own_weights, 0.0)
        found = importances(model, table, region=mask, sample_weight=own_weights)
        np.testing.assert_allclose(found.terms, np.average(local, axis=0, weights=counted), **CLOSE)
        np.testing.assert_allclose(found.attributes, np.average(by_attribute, axis=0, weights=counted), **CLOSE)
        assert found.n_rows == rows.sum()
        assert found.names == tuple(ATTRIBUTES)


@pytest.mark.parametrize("kind", KINDS)
def test_one_row(kind):
    model, table, _, _ = fit(kind)
    found = importances(model, table.iloc[[5]])
    np.testing.assert_allclose(found.terms, local_importances(model, table.iloc[[5]])[0], **CLOSE)
    assert found.n_rows == 1


def test_over_the_training_rows_a_rule_has_twice_the_variance_of_its_part():
    """The mean of |r - s| is 2 s (1 - s); the global importance has the square root of s (1 - s)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0) + 0.2 * rng.normal(size=200)
    model = RuleEnsembleRegressor(n_candidates=40, terms="rules", random_state=0, n_jobs=1).fit(X, y)
    table = model.rules_
    spread = np.array([row.support * (1 - row.support) for row in table])
    np.testing.assert_allclose(importances(model, X).terms, 2 * np.abs(model.coef_) * spread, rtol=1e-9)
    np.testing.assert_allclose([row.importance for row in table], np.abs(model.coef_) * np.sqrt(spread), rtol=1e-9)


def test_aliases_of_a_rule_count_once():
    """A copy and a mirror image of an attribute give equal and complementary rules: one term, shared with nobody."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    X = np.column_stack([x, x, -x, rng.normal(size=200)])
    y = (x > 0.3) + 0.1 * rng.normal(size=200)
    parameters = {"n_candidates": 200, "max_features": 1, "mean_leaves": 2, "terms": "rules", "max_correlation": 1.0}
    model = RuleEnsembleRegressor(**parameters, random_state=0, n_jobs=1).fit(X, y)
    assert any(alias.startswith("not ") for row in model.rules_ for alias in row.aliases)
    assert any(not alias.startswith("not ") for row in model.rules_ for alias in row.aliases)
    columns = model.transform_rules(X).T
    distinct = {min(column.tobytes(), (1 - column).tobytes()) for column in columns}
    assert len(distinct) == len(model.rules_)
    found = importances(model, X)
    assert found.terms.size == len(model.rules_)
    np.testing.assert_allclose(found.attributes.sum(), found.terms.sum(), rtol=1e-12)


def test_the_frame_ranks_the_attributes():
    model, table, _, _ = fit("two classes")
    found = importances(model, table)
    frame = found.to_frame()
    assert list(frame.columns) == ["attribute", "importance", "share"]
    assert (np.diff(frame["importance"]) <= 0).all()
    assert frame["share"].sum() == pytest.approx(1.0, abs=1e-12)
    assert dict(zip(frame["attribute"], frame["importance"], strict=True)) == dict(
        zip(found.names, found.attributes, strict=True)
    )
    assert isinstance(found.to_frame("polars"), pl.DataFrame)


def test_a_model_without_terms_has_no_importance():
    model, table, _, _ = fit("no terms")
    found = importances(model, table)
    assert found.terms.size == 0
    assert not found.attributes.any()
    assert not found.to_frame()["share"].any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"region": np.zeros(90, bool)}, "region without rows"),
        ({"region": np.arange(90)}, "True or False for each of the 90 rows; got int64"),
        ({"region": np.ones(5, bool)}, r"for each of the 90 rows; got bool of the shape \(5,\)"),
        ({"region": np.arange(90) < 3, "sample_weight": np.arange(90) > 5}, "rows of weight zero only"),
        ({"sample_weight": -np.ones(90)}, "must not be negative"),
    ],
)
def test_bad_input_is_told_in_one_sentence(options, words):
    model, table, _, _ = fit("regression")
    with pytest.raises(InvalidInputError, match=words):
        importances(model, table, **options)


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError):
        importances(RuleEnsembleClassifier(), np.zeros((3, 2)))


def share(terms, values):
    """Every attribute has an equal share of each of its terms."""
    shares = np.zeros(len(ATTRIBUTES))
    for term, value in zip(terms, values, strict=True):
        for feature in term.features:
            shares[feature] += value / len(term.features)
    return shares


def local_importances_of(own, model, table):
    """The equations for every row, of a list from other rows."""
    block = model.read_columns(table).take(slice(None))
    parts = []
    for place, (term, support) in enumerate(zip(own.model.terms, own.supports, strict=True)):
        values = term.holds(block) if isinstance(term, Rule) else term.values(block[term.feature])
        mean = support if isinstance(term, Rule) else term.fill
        parts.append(np.abs(np.atleast_2d(own.model.coefs)[:, place]).sum() * np.abs(values - mean))
    return np.array(parts).reshape(len(parts), len(table))


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
def test_bands_follow_the_equations(kind):
    model, table, _, weights = fit(kind, 6)
    region = (table["age"] > 50).to_numpy()
    for mask, own_weights in ((None, None), (region, weights)):
        rows = np.ones(len(table), bool) if mask is None else mask
        counted = np.where(rows, 1.0 if own_weights is None else own_weights, 0.0)
        found = importances(model, table, region=mask, sample_weight=own_weights)
        of_lists = [
            share(own.model.terms, np.average(local_importances_of(own, model, table), axis=1, weights=counted))
            for own in model.front_.remade
        ]
        low, high = find_naive_band(found.attributes, of_lists, 0.0)
        np.testing.assert_allclose(found.low, low, **CLOSE)
        np.testing.assert_allclose(found.high, high, **CLOSE)
    frame = found.to_frame()
    assert frame.columns.to_list() == ["attribute", "importance", "share", "low", "high"]
    assert frame["low"].tolist() == [found.low[ATTRIBUTES.index(name)] for name in frame["attribute"]]


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
def test_the_band_of_shares_is_that_of_the_lists(kind):
    model = fit(kind, 6)[0]
    of_lists = [share(own.model.terms, own.importances) for own in model.front_.remade]
    of_lists = [shares / shares.sum() for shares in of_lists]
    low, high = importance_band(model)
    expected = find_naive_band(model.feature_importances_, of_lists, 0.0, 1.0)
    np.testing.assert_allclose([low, high], expected, **CLOSE)
    assert ((low >= 0.0) & (high <= 1.0)).all()


def test_without_other_lists_no_band_is_known():
    model, table, _, _ = fit("two classes")
    assert importance_band(model) == (None, None)
    found = importances(model, table)
    assert found.low is None
    assert found.high is None
    assert "low" not in found.to_frame()
    with pytest.raises(InvalidInputError, match="importance_band needs a RuleEnsembleClassifier"):
        importance_band("model")
