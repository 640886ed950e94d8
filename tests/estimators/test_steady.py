"""The stable option: lists of linear terms and short rules at few thresholds, one for each family of look-alikes."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, load_model
from rulegrove.datasets import load
from rulegrove.design.bits import BitMatrix
from rulegrove.estimators._training import split_halves
from rulegrove.estimators.steady import (
    ALIKE,
    LEAST_SHARE,
    MOST_FAMILIES,
    RANKS,
    Goal,
    find_alike,
    find_cuts,
    offer_rules,
    price_terms,
)
from rulegrove.rules.rule import Condition, Rule


def jaccard(one, other):
    return np.sum(one & other) / np.sum(one | other)


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=60))
def test_cuts_divide(values):
    x = np.array([*values, np.nan])
    cuts = find_cuts(x, None)
    assert cuts.size <= len(RANKS)
    assert (np.diff(cuts) > 0).all()
    for cut in cuts:
        assert (x <= cut).any()
        assert (x > cut).any()


def test_few_values_are_told_apart_exactly():
    np.testing.assert_array_equal(find_cuts(np.array([0.0, 1.0, 0.0]), None), [0.0])
    assert find_cuts(np.full(5, 3.0), None).size == 0
    assert find_cuts(np.full(5, np.nan), None).size == 0


def test_cuts_are_near_their_quantiles():
    x = np.random.default_rng(0).normal(size=5000)
    shares = [np.mean(x <= cut) for cut in find_cuts(x, None)]
    np.testing.assert_allclose(shares, RANKS, atol=0.0125)


def test_weighted_cuts_are_those_of_repeated_rows():
    x, weights = np.random.default_rng(0).normal(size=200), np.random.default_rng(1).integers(1, 4, 200)
    np.testing.assert_array_equal(find_cuts(x, weights.astype(float)), find_cuts(np.repeat(x, weights), None))


def test_days_are_cut_at_round_dates():
    days = np.arange(np.datetime64("2019-06-20"), np.datetime64("2024-05-10"), 60).astype(np.int64)
    dates = (find_cuts(days.astype(np.float64), None, days=True) + 1.0).astype(np.int64).astype("datetime64[D]")
    np.testing.assert_array_equal(dates, dates.astype("datetime64[M]"))


@given(st.integers(2, 60), st.integers(0, 5))
def test_halves_share_no_row_and_split_every_class(n_rows, seed):
    codes = np.random.default_rng(seed).integers(0, 3, n_rows)
    one, other = split_halves(codes, np.arange(n_rows), np.random.default_rng(seed))
    assert sorted([*one, *other]) == list(range(n_rows))
    for label in range(3):
        assert abs((codes[one] == label).sum() - (codes[other] == label).sum()) <= 1


@given(st.integers(0, 100))
def test_look_alikes_hold_on_nearly_the_same_rows(seed):
    rng = np.random.default_rng(seed)
    dense = rng.random((rng.integers(1, 200), 8)) < rng.random(8)
    dense[:, 1] = dense[:, 0] ^ (rng.random(len(dense)) < 0.1)
    packed = np.packbits(np.pad(dense, ((0, -len(dense) % 64), (0, 0))), axis=0, bitorder="little")
    bits = BitMatrix(np.ascontiguousarray(packed.T).view("<u8"), len(dense))
    found = find_alike(bits)
    for one, other in itertools.product(range(8), repeat=2):
        some = (dense[:, one] | dense[:, other]).any()
        assert found[one, other] == (some and jaccard(dense[:, one], dense[:, other]) >= ALIKE)
    n_first = int(rng.integers(1, len(dense) + 1))
    np.testing.assert_array_equal(bits.first(n_first).to_dense(), dense[:n_first])


def test_a_condition_more_is_dearer_than_the_one_before():
    lines, one, two, three = price_terms(np.arange(4), 0.6)
    assert lines == 1.0
    assert one / lines > two / one > three / two
    np.testing.assert_array_equal(price_terms(np.arange(4), 0.0), np.ones(4))


def offer(block, responses, **settings):
    usual = {
        "n_categories": np.zeros(len(block), dtype=np.int64),
        "are_days": np.zeros(len(block), dtype=bool),
        "max_conditions": None,
        "steadiness": 0.3,
        "allows": lambda rule: True,
    }
    outputs = range(responses.shape[1])
    parts = settings.pop("parts", [[output] for output in outputs])
    weights = settings.pop("weights", None)
    return offer_rules(block, Goal.of(responses, weights), parts, weights, **(usual | settings))


def naive_strength(rule, block, y):
    held = rule.holds(block)
    covariance = np.mean(held * (y - y.mean()))
    return covariance**2 / (held.mean() * (1.0 - held.mean())) if covariance > 0.0 else 0.0


def test_offers_are_the_strongest_of_all_rules_by_brute_force():
    rng = np.random.default_rng(0)
    block = rng.normal(size=(3, 300))
    y = np.where((block[0] > 0.4) & (block[1] <= 0.2), 1.0, 0.0) + 0.1 * rng.normal(size=300)
    [offered] = offer(block, y[:, None])
    singles = []
    for feature, values in enumerate(block):
        for cut in find_cuts(values, None).tolist():
            singles += [Condition(feature, upper=cut), Condition(feature, lower=cut)]
    rules = [Rule((one,)) for one in singles]
    rules += [Rule((a, b)) for a, b in itertools.combinations(singles, 2) if a.feature < b.feature]
    held = {rule: rule.holds(block) for rule in rules}
    prices = price_terms(np.arange(3), 0.3)
    worth = {
        rule: prices[len(rule.conditions)] * naive_strength(rule, block, y)
        for rule in rules
        if LEAST_SHARE <= held[rule].mean() <= 1.0 - LEAST_SHARE
    }
    expected = []
    for rule in sorted(worth, key=lambda rule: -worth[rule]):
        if worth[rule] > 0.0 and not any(jaccard(held[rule], held[other]) >= ALIKE for other in expected):
            expected.append(rule)
    # Conditions that are weak by themselves are in no pair, which the first rules do not tell.
    assert list(offered[:10]) == expected[:10]
    assert len(offered) <= MOST_FAMILIES


def test_offers_speak_of_categories_and_missing_values():
    rng = np.random.default_rng(0)
    block = np.array([rng.uniform(0, 1000, 300), rng.integers(0, 3, 300).astype(float)])
    block[0, ::5] = np.nan
    y = np.isnan(block[0]) + 0.5 * (block[1] == 2)
    [offered] = offer(block, y[:, None], n_categories=np.array([0, 3]))
    assert offered[0] == Rule((Condition(0, lower=math.inf, missing=True),))
    assert Rule((Condition(1, categories=(2,)),)) in offered
    [single] = offer(block, y[:, None], n_categories=np.array([0, 3]), max_conditions=1)
    assert {len(rule.conditions) for rule in single} == {1}
    [none] = offer(block, y[:, None], n_categories=np.array([0, 3]), allows=lambda rule: False)
    assert none == ()


def test_weights_count_as_repeated_rows():
    rng = np.random.default_rng(0)
    block, weights = rng.normal(size=(3, 200)), rng.integers(1, 4, 200)
    y = block[:2].T + rng.normal(size=(200, 2))
    weighted = offer(block, y, weights=weights.astype(float))
    repeated = offer(np.repeat(block, weights, axis=1), np.repeat(y, weights, axis=0))
    assert [rules[0] for rules in weighted] == [rules[0] for rules in repeated]  # families go by rows, not by weights


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
def test_the_seed_has_less_of_a_say(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + (X[:, 1] > 0)
    y = (y > 0.5).astype(int) if kind is RuleEnsembleClassifier else y
    one, other = (kind(n_candidates=300, stable=True, max_terms=4, random_state=s, n_jobs=1).fit(X, y) for s in (0, 1))
    first, second = ({row.text for row in model.rules_} for model in (one, other))
    assert len(first & second) >= 2
    assert one.score(X, y) > 0.6


def test_one_member_a_family_in_every_list():
    X, y = load("breast-w", return_X_y=True)
    for stable in (False, True):
        model = RuleEnsembleClassifier(
            n_candidates=300, stable=stable, terms="rules", max_terms=20, random_state=0, n_jobs=1
        ).fit(X, y)
        held = model.transform_rules(X).astype(bool).T
        for one, other in itertools.combinations(held, 2):
            assert jaccard(one, other) < ALIKE


def test_more_of_it_has_fewer_conditions():
    X, y = load("pima", return_X_y=True)
    conditions = []
    for stable in (0.05, 0.9):
        model = RuleEnsembleClassifier(n_candidates=100, stable=stable, max_terms=8, random_state=0, n_jobs=1).fit(X, y)
        conditions.append(sum(len(getattr(row.term, "conditions", ())) for row in model.rules_))
    assert conditions[0] > conditions[1]


def test_limits_and_directions_hold():
    X, y = load("pima", return_X_y=True)
    model = RuleEnsembleClassifier(
        n_candidates=100,
        stable=0.05,
        terms="rules",
        max_terms=12,
        max_attributes=1,
        monotonic={1: 1},
        random_state=0,
        n_jobs=1,
    ).fit(X, y)
    lines = [line.fitted.model for line in model.front_ if 0 < line.terms <= 60]
    for line in lines:
        for term, coef in zip(line.terms, np.atleast_2d(line.coefs)[0], strict=True):
            assert len(term.features) == 1
            if term.features == (1,):
                (condition,) = term.conditions
                assert coef * (1.0 if condition.lower > -math.inf else -1.0) > 0.0


def test_several_classes_missing_values_and_categories(tmp_path):
    iris = load("iris")
    frame = pd.DataFrame(iris.X, columns=iris.feature_names)
    frame.iloc[::7, 0] = np.nan
    frame["kind"] = np.where(np.arange(150) % 2, "odd", "even")
    model = RuleEnsembleClassifier(n_candidates=60, stable=0.2, random_state=0, n_jobs=1).fit(frame, iris.y)
    assert model.score(frame, iris.y) > 0.9
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    assert loaded.stable == 0.2


def test_supports_are_those_of_the_rows():
    X, y = load("pima", return_X_y=True)
    model = RuleEnsembleClassifier(
        n_candidates=100, stable=True, terms="rules", max_terms=6, random_state=0, n_jobs=1
    ).fit(X, y)
    held = model.transform_rules(X)
    np.testing.assert_allclose(held.mean(axis=0), [row.support for row in model.rules_])


def test_linear_terms_alone():
    X, y = load("pima", return_X_y=True)
    fitted = RuleEnsembleClassifier(stable=True, terms="linear", random_state=0, n_jobs=1).fit(X, y)
    assert not any(isinstance(row.term, Rule) for row in fitted.rules_)
