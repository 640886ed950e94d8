"""H statistics in closed form: equal to the definition by brute force; zero where they must be."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from inspected_models import ATTRIBUTES, KINDS, brute_function, fit, score
from rulegrove import RuleEnsembleRegressor
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import _sample, h_statistics, interactions

CLOSE = {"rtol": 0.0, "atol": 1e-9}


def brute_h(model, table, names, weights=None):
    """Equations 44 and 45, and the like for three attributes, written out."""
    parts = {
        subset: brute_function(model, table, subset, weights)
        for size in range(1, len(names) + 1)
        for subset in itertools.combinations(names, size)
    }
    if len(names) == 1:
        others = [name for name in ATTRIBUTES if name not in names]
        whole = score(model, table) - np.average(score(model, table), axis=0, weights=weights)
        rest = whole - parts[names] - brute_function(model, table, others, weights)
    elif len(names) == 2:
        whole = parts[names]
        rest = whole - parts[names[:1]] - parts[names[1:]]
    else:
        whole = parts[names]
        rest = whole - sum(parts[pair] for pair in itertools.combinations(names, 2))
        rest = rest + sum(parts[(name,)] for name in names)
    squares = [np.average(values**2, axis=0, weights=weights).sum() for values in (rest, whole)]
    return np.sqrt(squares[0] / squares[1]) if squares[1] > 1e-20 else 0.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_one_attribute_and_pairs_equal_brute_force(kind, weighted):
    model, table, _, weights = fit(kind)
    table, weights = table.iloc[:40], weights[:40] if weighted else None
    found = interactions(model, table, sample_weight=weights)
    for place, name in enumerate(ATTRIBUTES):
        expected = brute_h(model, table, (name,), weights)
        np.testing.assert_allclose(found.total[place], expected, **CLOSE)
        assert h_statistics(model, table, name, sample_weight=weights) == pytest.approx(found.total[place], abs=1e-12)
    for pair in itertools.combinations(ATTRIBUTES, 2):
        places = tuple(ATTRIBUTES.index(name) for name in pair)
        np.testing.assert_allclose(found.pairs[places], brute_h(model, table, pair, weights), **CLOSE)
        assert h_statistics(model, table, pair[::-1], sample_weight=weights) == pytest.approx(
            found.pairs[places], abs=1e-12
        )
    assert np.array_equal(found.pairs, found.pairs.T)
    assert not found.pairs.diagonal().any()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["regression", "three classes", "linear only", "no terms"])
def test_triples_equal_brute_force(kind, weighted):
    model, table, _, weights = fit(kind)
    model = model.shorten(None) if kind == "three classes" else model  # that list has no rule on three attributes
    table, weights = table.iloc[:40], weights[:40] if weighted else None
    found = {}
    for triple in itertools.combinations(ATTRIBUTES[:4], 3):
        found[triple] = h_statistics(model, table, triple, sample_weight=weights)
        np.testing.assert_allclose(found[triple], brute_h(model, table, triple, weights), **CLOSE)
    assert (max(found.values()) > 0.01) == (kind in ("regression", "three classes"))


def test_spreads_are_in_the_unit_of_the_score():
    model, table, _, weights = fit("regression")
    table, weights = table.iloc[:40], weights[:40]
    found = interactions(model, table, sample_weight=weights)
    size, flag, both = (
        brute_function(model, table, names, weights) for names in (["size"], ["flag"], ["size", "flag"])
    )
    spread = np.sqrt(np.average((both - size - flag)[:, 0] ** 2, weights=weights))
    assert found.pair_spreads[0, 3] == pytest.approx(spread, abs=1e-12)
    whole = score(model, table)[:, 0]
    whole_spread = np.sqrt(np.cov(whole, aweights=weights, ddof=0))
    np.testing.assert_allclose(found.total_spreads, found.total * whole_spread, **CLOSE)


def test_only_attributes_that_share_a_rule_interact():
    model, table, _, _ = fit("two classes")
    found = interactions(model, table)
    together = {pair for row in model.rules_ for pair in itertools.combinations(row.term.features, 2)}
    for pair in itertools.combinations(range(len(ATTRIBUTES)), 2):
        if pair not in together:
            assert found.pairs[pair] == 0.0
    assert found.pairs.any()


def test_a_model_of_single_conditions_has_none():
    _, table, _, _ = fit("regression")
    y = fit("regression")[2]
    model = RuleEnsembleRegressor(max_conditions=1, n_candidates=60, random_state=0, n_jobs=1).fit(
        table[["size", "age"]], y
    )
    found = interactions(model, table[["size", "age"]])
    assert not found.total.any()
    assert not found.pairs.any()
    assert h_statistics(model, table[["size", "age"]], ("size", "age")) == 0.0
    assert len(found.to_frame()) == 0


def test_an_attribute_that_is_constant_in_the_rows_does_not_interact():
    model, table, _, weights = fit("regression")
    for value in (0.0, 1.0):
        found = interactions(model, table.assign(flag=value), sample_weight=weights)
        assert found.total[3] == 0.0
        assert not found.pairs[3].any()
        assert h_statistics(model, table.assign(flag=value), ("size", "age", "flag"), sample_weight=weights) == 0.0


def test_one_row_has_no_spread():
    model, table, _, _ = fit("three classes")
    found = interactions(model, table.iloc[[0]])
    assert not found.total.any()
    assert not found.pairs.any()


def test_an_exclusive_or_is_all_interaction():
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    X = np.repeat(corners, 25, axis=0)
    y = (X[:, 0] != X[:, 1]) * 2.0 - 1.0
    y[:25] *= 1.2  # a tree finds no first split where all are equally bad
    model = RuleEnsembleRegressor(n_candidates=40, terms="rules", selection=1e-6, random_state=0, n_jobs=1).fit(X, y)
    assert h_statistics(model, X, (0, 1)) == pytest.approx(1.0, abs=0.01)
    assert h_statistics(model, X, 0) == pytest.approx(h_statistics(model, X, (0, 1)), abs=1e-12)


def test_blocks_of_rows_add_up(monkeypatch):
    model, table, _, weights = fit("three classes")
    whole = interactions(model, table, sample_weight=weights)
    monkeypatch.setattr(_sample, "BLOCK_ROWS", 7)
    parts = interactions(model, table, sample_weight=weights)
    np.testing.assert_allclose(parts.pairs, whole.pairs, rtol=1e-12)
    np.testing.assert_allclose(parts.total, whole.total, rtol=1e-12)


def test_equal_weights_and_repeated_rows_mean_the_same():
    model, table, _, _ = fit("two classes")
    counts = np.arange(len(table)) % 3
    repeated = interactions(model, table.iloc[np.repeat(np.arange(len(table)), counts)])
    weighted = interactions(model, table, sample_weight=counts)
    np.testing.assert_allclose(weighted.pairs, repeated.pairs, **CLOSE)
    np.testing.assert_allclose(
        interactions(model, table, sample_weight=np.full(90, 0.3)).pairs, interactions(model, table).pairs, **CLOSE
    )


def test_the_frame_has_the_largest_spread_first():
    model, table, _, _ = fit("regression")
    found = interactions(model, table)
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["attribute", "with", "h", "spread"]
    assert len(frame) == np.count_nonzero(np.triu(found.pairs))
    assert (np.diff(frame["spread"]) <= 0).all()
    first = frame.iloc[0]
    places = ATTRIBUTES.index(first["attribute"]), ATTRIBUTES.index(first["with"])
    assert found.pairs[places] == first["h"]
    assert isinstance(found.to_frame("polars"), pl.DataFrame)


@pytest.mark.parametrize(
    ("features", "words"),
    [("weight", "'weight' is unknown"), (("size", 9), "9 is unknown"), ((), "empty"), ((1, "age"), "more than once")],
)
def test_bad_input_is_told_in_one_sentence(features, words):
    model, table, _, _ = fit("regression")
    with pytest.raises(InvalidInputError, match=words):
        h_statistics(model, table, features)


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError):
        interactions(RuleEnsembleRegressor(), np.zeros((3, 2)))
