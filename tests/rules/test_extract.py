"""Trees built by hand and trees grown, read off as rules."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.losses import Squared
from rulegrove.rules.extract import draw_rules, extract_rules
from rulegrove.rules.rule import Condition, Rule
from rulegrove.trees.boosting import grow_forest
from rulegrove.trees.tree import Forest

LEAF = (-1, 0.0, (), (), 0, -1)


def make_forest(*trees):
    """Build a forest of nodes (feature, threshold, codes left, codes right, side of missing, left child)."""
    nodes = [node for tree in trees for node in tree]
    roots = np.cumsum([0, *map(len, trees)])[:-1]
    starts = np.repeat(roots, [len(tree) for tree in trees])
    left = np.array([node[5] + start if node[5] >= 0 else -1 for node, start in zip(nodes, starts, strict=True)])
    parent = np.full(len(nodes), -1)
    for place, child in enumerate(left):
        if child >= 0:
            parent[[child, child + 1]] = place

    def words(codes):
        bits = sum(1 << code for code in codes)
        return [bits >> 64 * k & (2**64 - 1) for k in range(4)]

    return Forest(
        roots=roots.astype(np.int64),
        feature=np.array([node[0] for node in nodes], dtype=np.int32),
        threshold=np.array([node[1] for node in nodes]),
        categories=np.array([words(node[2]) for node in nodes], dtype=np.uint64).reshape(-1, 4),
        right_categories=np.array([words(node[3]) for node in nodes], dtype=np.uint64).reshape(-1, 4),
        missing=np.array([node[4] for node in nodes], dtype=np.int8),
        left=left.astype(np.int32),
        right=np.where(left >= 0, left + 1, -1).astype(np.int32),
        parent=parent.astype(np.int32),
        value=np.zeros((len(nodes), 1)),
        n_samples=np.ones(len(nodes), dtype=np.int64),
    )


def test_bounds_on_one_attribute_merge_and_attributes_are_sorted():
    forest = make_forest(
        [
            (2, 5.0, (), (), 0, 1),
            (0, 1.0, (), (), 0, 3),
            LEAF,
            (2, 3.0, (), (), 0, 5),
            LEAF,
            LEAF,
            LEAF,
        ]
    )
    assert extract_rules(forest) == (
        Rule((Condition(2, upper=5.0),)),
        Rule((Condition(2, lower=5.0),)),
        Rule((Condition(0, upper=1.0), Condition(2, upper=5.0))),
        Rule((Condition(0, lower=1.0), Condition(2, upper=5.0))),
        Rule((Condition(0, upper=1.0), Condition(2, upper=3.0))),
        Rule((Condition(0, upper=1.0), Condition(2, lower=3.0, upper=5.0))),
    )


def test_missing_values_go_with_the_side_that_takes_them():
    forest = make_forest([(0, 1.0, (), (), 1, 1), (0, 0.5, (), (), 2, 3), LEAF, LEAF, LEAF])
    assert extract_rules(forest) == (
        Rule((Condition(0, upper=1.0, missing=True),)),
        Rule((Condition(0, lower=1.0),)),
        Rule((Condition(0, upper=0.5),)),
        Rule((Condition(0, lower=0.5, upper=1.0, missing=True),)),
    )


def test_a_split_of_known_from_missing_values():
    known, missing = extract_rules(make_forest([(0, math.inf, (), (), 2, 1), LEAF, LEAF]))
    values = np.array([[-math.inf, 0.0, math.inf, math.nan]])
    assert known.holds(values).tolist() == [True, True, True, False]
    assert missing.holds(values).tolist() == [False, False, False, True]


def test_categories_of_every_word_and_their_intersection():
    tree = [(1, 0.0, (0, 63, 64, 200), (1, 254), 2, 1), (1, 0.0, (63, 200), (0, 64), 0, 3), LEAF, LEAF, LEAF]
    assert extract_rules(make_forest(tree)) == (
        Rule((Condition(1, categories=(0, 63, 64, 200)),)),
        Rule((Condition(1, categories=(1, 254), missing=True),)),
        Rule((Condition(1, categories=(63, 200)),)),
        Rule((Condition(1, categories=(0, 64)),)),
    )


def test_a_rule_met_twice_is_kept_where_it_was_met_first():
    low, high = [(0, 1.0, (), (), 0, 1), LEAF, LEAF], [(0, 2.0, (), (), 0, 1), LEAF, LEAF]
    rules = extract_rules(make_forest(low, high, low))
    assert rules == extract_rules(make_forest(low, high))
    assert rules[:2] == extract_rules(make_forest(low))
    # Equal bounds that another way reached are the same rule too.
    detour = [(0, 2.0, (), (), 0, 1), (0, 1.0, (), (), 0, 3), LEAF, LEAF, LEAF]
    assert extract_rules(make_forest(low, detour))[0] == Rule((Condition(0, upper=1.0),))
    assert len(extract_rules(make_forest(low, detour))) == 5  # of six nodes, x <= 1 is there twice


def test_no_trees_give_no_rules():
    assert extract_rules(make_forest()) == ()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_rules=st.integers(2, 40))
def test_a_tree_of_t_leaves_gives_two_t_minus_two_rules(seed, n_rules):
    """Before repeats between trees are dropped; each rule speaks of an attribute once, in order."""
    rng = np.random.default_rng(seed)
    block = np.vstack([rng.normal(size=(2, 70)), rng.integers(0, 6, (1, 70))])
    block[rng.random(block.shape) < 0.1] = np.nan
    forest = grow_forest(
        block,
        rng.normal(size=(70, 1)),
        n_categories=np.array([0, 0, 6]),
        loss=Squared(),
        n_rules=n_rules,
        mean_leaves=6.0,
        subsample=70,
        shrinkage=0.0,
        max_features=2,
        min_samples_leaf=2,
        min_impurity=0.0,
        max_bins=255,
        max_conditions=2,
        rng=rng,
    )
    rules = extract_rules(forest)
    leaves = np.count_nonzero(forest.feature < 0)
    assert len(rules) <= 2 * (leaves - forest.n_trees) == forest.n_nodes - forest.n_trees <= n_rules
    assert len(set(rules)) == len(rules)
    for rule in rules:
        assert list(rule.features) == sorted(set(rule.features))
        assert 1 <= len(rule.conditions) <= 2
        for condition in rule.conditions:
            assert (condition.categories is not None) == (condition.feature == 2)
            assert condition.lower < condition.upper or condition.missing


def make_stump(bound):
    return [(0, bound, (), (), 0, 1), LEAF, LEAF]


def test_drawn_rules_come_from_all_trees_alike_and_near_the_roots_first():
    deep = [(0, 0.0, (), (), 0, 1), (1, 0.0, (), (), 0, 3), LEAF, LEAF, LEAF]
    forest = make_forest(deep, *(make_stump(float(bound)) for bound in range(1, 9)))
    everything = extract_rules(forest)
    assert set(draw_rules(forest, 100)) == set(everything)
    first = draw_rules(forest, 9)
    assert all(len(rule.conditions) == 1 and rule.conditions[0].upper < math.inf for rule in first)
    assert {rule.conditions[0].upper for rule in first} == set(map(float, range(9)))
    assert [len(rule.conditions) for rule in draw_rules(forest, 20)] == [1] * 18 + [2] * 2
    assert draw_rules(forest, 0) == ()


def test_few_drawn_rules_lie_evenly_among_many_trees():
    forest = make_forest(*(make_stump(float(bound)) for bound in range(1000)))
    bounds = np.sort([rule.conditions[0].upper for rule in draw_rules(forest, 50)])
    assert bounds.size == 50
    assert np.diff([0.0, *bounds, 1000.0]).max() < 60


def test_drawn_rules_are_counted_once():
    forest = make_forest(*[make_stump(1.0)] * 20, make_stump(2.0))
    assert len(draw_rules(forest, 4)) == 4
