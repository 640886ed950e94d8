"""Repeats among rules are found from the Gram alone, exactly."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.rules.rule import Condition, Rule
from rulegrove.rules.simplify import simplify


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
