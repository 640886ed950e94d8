"""The stable option: readable thresholds, short rules, the same candidates whatever the seed."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import load
from rulegrove.estimators.stable import N_BINS, find_cuts, find_readable, grow_stable_rules, split_halves
from rulegrove.losses import Squared
from rulegrove.rules.rule import Rule

numbers = st.floats(-1e6, 1e6, allow_nan=False, allow_infinity=False)


@given(numbers, numbers)
def test_a_readable_number_lies_between(one, other):
    low, high = min(one, other), max(one, other)
    assert low <= find_readable(low, high) <= high


@given(st.floats(1e-3, 1e5), st.floats(1.01, 3.0))
@example(0.28, 1.03125)  # 0.28 / 0.01 is more than 28
def test_no_number_of_fewer_digits_lies_between(low, factor):
    high = low * factor
    digits = len(f"{find_readable(low, high):.14e}".split("e")[0].rstrip("0").replace(".", ""))
    for places in range(digits - 1):
        for candidate in (float(f"{low:.{places}e}"), float(f"{high:.{places}e}")):
            assert not low <= candidate <= high


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=60))
def test_cuts_divide(values):
    x = np.array([*values, np.nan])
    cuts = find_cuts(x, None)
    assert cuts.size < max(N_BINS, 2)
    assert (np.diff(cuts) > 0).all()
    for cut in cuts:
        assert (x <= cut).any()
        assert (x > cut).any()


def test_few_values_are_told_apart_exactly():
    np.testing.assert_array_equal(find_cuts(np.array([0.0, 1.0, 0.0]), None), [0.0])
    assert find_cuts(np.full(5, 3.0), None).size == 0
    assert find_cuts(np.full(5, np.nan), None).size == 0


def test_weighted_cuts_are_those_of_repeated_rows():
    x, weights = np.random.default_rng(0).normal(size=200), np.random.default_rng(1).integers(1, 4, 200)
    np.testing.assert_array_equal(find_cuts(x, weights.astype(float)), find_cuts(np.repeat(x, weights), None))


@given(st.integers(2, 60), st.integers(0, 5))
def test_halves_share_no_row_and_split_every_class(n_rows, seed):
    codes = np.random.default_rng(seed).integers(0, 3, n_rows)
    one, other = split_halves(codes, np.arange(n_rows), np.random.default_rng(seed))
    assert sorted([*one, *other]) == list(range(n_rows))
    for label in range(3):
        assert abs((codes[one] == label).sum() - (codes[other] == label).sum()) <= 1


def test_days_are_cut_at_round_dates():
    days = np.arange(np.datetime64("2019-06-20"), np.datetime64("2024-05-10"), 60).astype(np.int64)
    dates = (find_cuts(days.astype(np.float64), None, days=True) + 1.0).astype(np.int64).astype("datetime64[D]")
    np.testing.assert_array_equal(dates, dates.astype("datetime64[M]"))
    np.testing.assert_array_equal(np.searchsorted(days, dates.astype(np.int64)), np.arange(1, days.size))


def grow(block, targets, n_categories):
    return grow_stable_rules(
        block,
        targets,
        weights=None,
        n_categories=np.array(n_categories),
        are_days=np.zeros(len(block), dtype=bool),
        loss=Squared(),
        n_rules=100,
        mean_leaves=4.0,
        min_samples_leaf=5,
        min_impurity=0.0,
        max_conditions=None,
    )


def test_rules_speak_of_values_and_categories():
    rng = np.random.default_rng(0)
    block = np.array([rng.uniform(0, 1000, 300), rng.integers(0, 3, 300).astype(float)])
    block[0, ::10] = np.nan
    rules = grow(block, np.where((block[0] > 500) | (block[1] == 2), 1.0, -1.0)[:, None], [0, 3])
    cuts = find_cuts(block[0], None)
    bounds = {
        bound for rule in rules for one in rule.conditions if one.feature == 0 for bound in (one.lower, one.upper)
    }
    assert {bound for bound in bounds if np.isfinite(bound)} <= set(cuts.tolist())
    assert any(one.categories is not None for rule in rules for one in rule.conditions)
    assert max(len(rule.conditions) for rule in rules) <= 2


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
def test_the_seed_has_no_say_in_the_candidates(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + (X[:, 1] > 0)
    y = (y > 0.5).astype(int) if kind is RuleEnsembleClassifier else y
    one, other = (
        kind(n_candidates=60, stable=True, honest_cv=False, random_state=s, n_jobs=1).fit(X, y) for s in (0, 1)
    )
    assert one.candidates_.rules == other.candidates_.rules
    free = kind(n_candidates=60, honest_cv=False, random_state=0, n_jobs=1).fit(X, y)
    assert free.candidates_.rules != one.candidates_.rules
    assert one.score(X, y) > 0.8


def test_longer_rules_when_asked_for():
    X, y = load("pima", return_X_y=True)
    fitted = RuleEnsembleClassifier(
        n_candidates=100, stable=True, max_conditions=1, honest_cv=False, random_state=0, n_jobs=1
    ).fit(X, y)
    assert {len(rule.conditions) for rule in fitted.candidates_.rules} == {1}


def test_several_classes_missing_values_and_categories():
    iris = load("iris")
    frame = pd.DataFrame(iris.X, columns=iris.feature_names)
    frame.iloc[::7, 0] = np.nan
    frame["kind"] = np.where(np.arange(150) % 2, "odd", "even")
    fitted = RuleEnsembleClassifier(n_candidates=60, stable=True, honest_cv=False, random_state=0, n_jobs=1)
    assert fitted.fit(frame, iris.y).score(frame, iris.y) > 0.9


def test_linear_terms_alone():
    X, y = load("pima", return_X_y=True)
    fitted = RuleEnsembleClassifier(stable=True, terms="linear", random_state=0, n_jobs=1).fit(X, y)
    assert not any(isinstance(row.term, Rule) for row in fitted.rules_)
