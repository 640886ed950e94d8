"""Repeats among rules are found from the Gram alone, exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.rules._kernels import keep_different
from rulegrove.rules.rule import Condition, Rule
from rulegrove.rules.simplify import simplify, thin


def make_rules(lengths):
    return [Rule(tuple(Condition(f, upper=float(k)) for f in range(length))) for k, length in enumerate(lengths)]


def naive_classes(columns):
    """Sets of positions that are equal or complementary columns; constants left out."""
    classes = {}
    for k, column in enumerate(columns.T):
        if column.all() or not column.any():
            continue
        canonical = column if column[0] else ~column
        classes.setdefault(canonical.tobytes(), []).append(k)
    return sorted(classes.values())


@settings(max_examples=200)
@given(st.integers(1, 12), st.integers(2, 6), st.integers(0, 10**6), st.booleans())
def test_one_of_each_class_is_kept_and_names_the_others(n_rules, n_rows, seed, weighted):
    rng = np.random.default_rng(seed)
    columns = rng.random((n_rows, n_rules)) < 0.5
    rules = make_rules(rng.integers(1, 4, n_rules))
    weights = rng.random(n_rows) + 0.1 if weighted else np.ones(n_rows, dtype=np.int64)
    shared = (columns * weights[:, None]).T @ columns
    simplified = simplify(rules, shared, weights.sum())
    found = []
    for k, aliases in zip(simplified.kept.tolist(), simplified.aliases, strict=True):
        members = [rules.index(alias.rule) for alias in aliases]
        found.append(sorted([k, *members]))
        for alias, member in zip(aliases, members, strict=True):
            assert alias.opposite == bool((columns[:, member] != columns[:, k]).all())
            assert len(rules[k].conditions) <= len(alias.rule.conditions)
    assert sorted(found) == naive_classes(columns)


def test_larger_support_wins_among_rules_of_one_length():
    low, high = Rule((Condition(0, upper=1.0),)), Rule((Condition(0, lower=1.0),))
    assert simplify([low, high], np.array([[3, 0], [0, 7]]), 10).kept.tolist() == [1]
    assert simplify([low, high], np.array([[7, 0], [0, 3]]), 10).kept.tolist() == [0]


def test_no_rules():
    assert simplify([], np.empty((0, 0), dtype=np.int64), 5).kept.size == 0


@pytest.mark.kernel
@settings(max_examples=200, deadline=None)
@given(st.integers(1, 15), st.integers(3, 30), st.floats(0.1, 1.0), st.integers(0, 10**6), st.booleans())
def test_thinned_rules_differ_and_every_dropped_one_resembles_a_simpler_one(n_rules, n_rows, limit, seed, weighted):
    rng = np.random.default_rng(seed)
    base = rng.random((n_rows, 1)) < 0.5
    columns = base ^ (rng.random((n_rows, n_rules)) < rng.random(n_rules) / 2)
    columns = columns[:, columns.any(axis=0) & ~columns.all(axis=0)]
    rules = make_rules(rng.integers(1, 4, columns.shape[1]))
    weights = rng.random(n_rows) + 0.1 if weighted else np.ones(n_rows)
    shared = (columns * weights[:, None]).T @ columns
    kept = thin(rules, shared, weights.sum(), limit)
    assert kept.tolist() == sorted(set(kept.tolist()))
    if not rules:
        return
    deviations = columns - np.average(columns, axis=0, weights=weights)
    covariance = (deviations * weights[:, None]).T @ deviations
    correlation = np.abs(covariance / np.sqrt(np.outer(covariance.diagonal(), covariance.diagonal())))
    among = correlation[np.ix_(kept, kept)] - np.eye(len(kept))
    assert (among <= limit + 1e-9).all()
    for dropped in sorted(set(range(len(rules))) - set(kept.tolist())):
        simpler = [k for k in kept if len(rules[k].conditions) <= len(rules[dropped].conditions)]
        assert correlation[dropped, simpler].max() > limit - 1e-9


def naive_thin(order, shared, total, limit, forced):
    """One rule after the other, in order, with whole rows of correlations."""
    support = shared.diagonal() / total
    spread = np.sqrt(np.maximum(support * (1.0 - support), 0.0))
    left, kept = np.ones(len(support), dtype=bool), []
    for rule in order:
        if left[rule] or forced[rule]:
            kept.append(rule)
            left &= np.abs(shared[rule] / total - support[rule] * support) <= limit * spread[rule] * spread
    return sorted(kept)


@pytest.mark.kernel
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_compiled_thinning_is_the_naive_one(dtype):
    rng = np.random.default_rng(0)
    columns = (rng.random((60, 1)) < 0.5) ^ (rng.random((60, 40)) < rng.random(40) / 2)
    shared, order, forced = (
        (columns.T.astype(np.int64) @ columns).astype(dtype),
        rng.permutation(40),
        rng.random(40) < 0.1,
    )
    kept = keep_different(order, shared, shared.diagonal() / 60, 60.0, 0.5, forced, np.ones(40, dtype=bool))
    expected = naive_thin(order, shared, 60, 0.5, forced)
    assert np.flatnonzero(kept).tolist() == expected
    assert 1 < len(expected) < 40


def test_a_limit_of_one_keeps_all():
    rules = make_rules([1, 1])
    assert thin(rules, np.array([[40, 40], [40, 41]]), 100, 1.0).tolist() == [0, 1]
    assert thin([], np.empty((0, 0)), 100, 0.5).tolist() == []


def test_forced_rules_stand_for_simpler_ones():
    short, long = make_rules([1, 3])
    same = np.array([[5, 5], [5, 5]])
    assert simplify([short, long], same, 10).kept.tolist() == [0]
    forced = simplify([short, long], same, 10, np.array([False, True]))
    assert forced.kept.tolist() == [1]
    assert [alias.rule for alias in forced.aliases[0]] == [short]


def test_forced_rules_are_never_thinned():
    rules = make_rules([1, 2, 3])
    shared = np.array([[40, 40, 40], [40, 41, 40], [40, 40, 42]])
    assert thin(rules, shared, 100, 0.9).tolist() == [0]
    assert thin(rules, shared, 100, 0.9, np.array([False, True, True])).tolist() == [1, 2]
    assert thin(rules, shared, 100, 1.0, np.array([False, True, True])).tolist() == [0, 1, 2]


@settings(max_examples=100)
@given(st.integers(1, 12), st.integers(0, 10**6))
def test_thinning_among_some_is_thinning_these_alone(n_rules, seed):
    rng = np.random.default_rng(seed)
    columns = rng.random((30, n_rules)) < rng.random(n_rules)
    rules, shared = make_rules(rng.integers(1, 4, n_rules)), columns.T.astype(np.int64) @ columns
    among = simplify(rules, shared, 30).kept
    kept = thin(rules, shared, 30, 0.5, None, among)
    alone = thin([rules[k] for k in among], shared[np.ix_(among, among)], 30, 0.5)
    assert kept.tolist() == among[alone].tolist()


def test_rules_of_every_row_and_of_none_may_stand_beside_those_that_are_thinned():
    rules, shared = make_rules([1, 1, 1]), np.array([[0, 0, 0], [0, 3, 3], [0, 3, 10]])
    assert thin(rules, shared, 10, 0.9, None, np.array([1])).tolist() == [1]


def test_of_near_repeats_the_strongest_of_the_shortest_speaks_for_all():
    """Support decides only where nothing is known of strengths; a longer rule never speaks for a shorter one."""
    rules, shared = make_rules([1, 1, 2]), np.array([[42, 40, 40], [40, 41, 40], [40, 40, 40]])
    assert thin(rules, shared, 100, 0.9).tolist() == [0]
    assert thin(rules, shared, 100, 0.9, strengths=np.array([1.0, 2.0, 3.0])).tolist() == [1]
