"""The grown forest walked by hand, and rows that cannot pass a split."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.losses import Squared
from rulegrove.trees.boosting import grow_forest
from rulegrove.trees.tree import Forest


def has_bit(words, code):
    return bool(int(words[code // 64]) >> (code % 64) & 1)


def walk(forest: Forest, tree: int, row) -> int:
    """Walk one row down one tree, as the fields of the forest are documented."""
    node = int(forest.roots[tree])
    while forest.feature[node] >= 0:
        x = row[forest.feature[node]]
        if np.isnan(x):
            side = int(forest.missing[node])
        elif not forest.is_categorical[node]:
            side = 1 if x <= forest.threshold[node] else 2
        elif has_bit(forest.categories[node], int(x)):
            side = 1
        else:
            side = 2 if has_bit(forest.right_categories[node], int(x)) else 0
        if side == 0:
            return node
        node = int(forest.left[node] if side == 1 else forest.right[node])
    return node


def mixed_forest(seed, *, missing=True, n_rows=80, **changes):
    """Grow a forest on two numeric and two categorical features."""
    rng = np.random.default_rng(seed)
    n_categories = np.array([0, 5, 0, 200])
    block = np.stack([rng.normal(size=n_rows), rng.integers(0, 5, n_rows), rng.integers(0, 4, n_rows),
                      rng.integers(0, 200, n_rows)]).astype(np.float64)  # fmt: skip
    y = rng.normal(size=(n_rows, 2)) + block[:1].T
    if missing:
        block[rng.random(block.shape) < 0.1] = np.nan
    options = {
        "n_categories": n_categories,
        "loss": Squared(),
        "n_rules": 20,
        "mean_leaves": 4.0,
        "subsample": n_rows // 2,
        "shrinkage": 0.1,
        "max_features": 2,
        "min_samples_leaf": 2,
        "min_impurity": 0.0,
        "max_bins": 255,
        "max_conditions": None,
        "rng": rng,
    }
    return block, y, grow_forest(block, y, **(options | changes))


@pytest.mark.kernel
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), missing=st.booleans())
def test_apply_walks_each_tree(seed, missing):
    block, _, forest = mixed_forest(seed, missing=missing)
    rng = np.random.default_rng(seed)
    strange = block[:, :30].copy()
    strange[rng.random(strange.shape) < 0.2] = np.nan
    strange[0, :3] = -np.inf, np.inf, 0.0
    strange[1, :3] = 5.0, 255.0, 4.0  # the first two are categories the trees never saw
    on_threshold = forest.threshold[forest.feature == 2]
    strange[2, : min(len(on_threshold), 30)] = on_threshold[:30]
    places = forest.apply(strange)
    for tree in range(forest.n_trees):
        assert [walk(forest, tree, row) for row in strange.T] == list(places[tree])


def test_rows_that_cannot_pass_stay_at_the_node():
    block, _, forest = mixed_forest(3, missing=False)
    unknown = np.tile(np.array([[np.nan], [5.0], [np.nan], [200.0]]), 2)
    np.testing.assert_array_equal(forest.apply(unknown), np.stack([forest.roots, forest.roots], axis=1))
    assert np.all(forest.missing == 0)
    assert np.all(forest.feature[forest.apply(block)] < 0)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), missing=st.booleans())
def test_structure_is_a_forest(seed, missing):
    _, _, forest = mixed_forest(seed, missing=missing)
    inner = forest.feature >= 0
    nodes = np.arange(forest.n_nodes)
    assert np.all(forest.parent[forest.left[inner]] == nodes[inner])
    assert np.all(forest.parent[forest.right[inner]] == nodes[inner])
    assert set(nodes[forest.parent < 0]) == set(forest.roots)
    assert np.all(forest.left[~inner] == -1)
    assert np.all(forest.right[~inner] == -1)
    assert np.all(forest.left[inner] > nodes[inner])
    assert not np.any(forest.categories & forest.right_categories)
    assert not np.any(forest.is_categorical[~inner])
    assert set(forest.feature[forest.is_categorical]) <= {1, 3}
    assert set(forest.feature[inner & ~forest.is_categorical]) <= {0, 2}
    assert np.all(forest.n_samples[inner] == (forest.n_samples[forest.left] + forest.n_samples[forest.right])[inner])
    for node in nodes[inner]:
        known = [0, 5, 0, 200][forest.feature[node]]
        sent = forest.categories[node] | forest.right_categories[node]
        assert sum(int(word).bit_count() for word in sent) == known
    assert forest.n_trees == len(forest.roots)


@pytest.mark.kernel
def test_predict_adds_the_values_of_the_nodes():
    block, _, forest = mixed_forest(1)
    expected = 2.0 + 0.1 * sum(forest.value[places] for places in forest.apply(block))
    np.testing.assert_allclose(forest.predict(block, initial=2.0, shrinkage=0.1), expected)


def test_forest_is_frozen():
    _, _, forest = mixed_forest(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        forest.roots = np.zeros(1, dtype=np.int64)
