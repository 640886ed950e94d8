"""Trees against a search of every split in plain Python, and against scikit-learn.

Also of `_kernels.py`, whose loops grow every tree here.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from rulegrove.trees import grower as grower_module
from rulegrove.trees._kernels import LEAVES, LEFT, RIGHT, Drawn, Nodes, Pool, cut_nodes, draw_tree
from rulegrove.trees.binning import fit_bins
from rulegrove.trees.grower import Boosting, TreeGrower, TreeLimits

ONE_TREE = Boosting(n_rules=0, patience=1, leaf_scale=0.0, shrinkage=0.0, vanished=0.0, squared=False)


def grow(
    block,
    y,
    weights=None,
    *,
    n_categories=None,
    rows=None,
    max_leaves=6,
    seed=1,
    curvatures=None,
    monotonic=None,
    **limits,
):
    """Grow one tree on all rows; return the grower's bins, codes and tree."""
    n_features, n_rows = block.shape
    n_categories = np.zeros(n_features, dtype=np.int64) if n_categories is None else n_categories
    bins = fit_bins(block, n_categories, weights=None, max_bins=255)
    codes = bins.transform(block)
    rows = np.arange(n_rows) if rows is None else rows
    weights = np.ones(n_rows) if weights is None else weights
    curvatures = np.ones_like(y) if curvatures is None else curvatures
    limits.setdefault("max_features", n_features)
    pool = Pool(codes, weights, y, np.zeros_like(y))
    tree = grow_one(bins, pool, TreeLimits(**limits), rows, curvatures, max_leaves, seed=seed, monotonic=monotonic)
    return bins, codes, tree


def grow_one(bins, pool, limits, rows, curvatures, max_leaves, *, shrinkage=0.0, seed=1, monotonic=None):
    """Grow one tree on given rows, whose targets are the residuals; a single node if nothing can be split."""
    boosting = ONE_TREE._replace(n_rules=2 * (max_leaves - 1), shrinkage=shrinkage, vanished=-1.0)
    trees = TreeGrower(bins, pool, limits, boosting, subsample=len(rows), monotonic=monotonic, seed=seed)
    trees.drawn.rows[:], trees.drawn.residuals[:] = rows, pool.targets[rows]
    trees.drawn.curvatures[:] = curvatures[rows]
    trees._tally[LEAVES] = max_leaves
    trees.grow(1)
    return cut_nodes(trees._nodes, 0, max(1, len(trees.nodes.features)))


def members(tree: Nodes, codes, rows) -> list[np.ndarray]:
    """Return the rows of each node, by the sides of the codes."""
    found = {0: rows}
    for node, feature in enumerate(tree.features):
        if feature >= 0:
            side = tree.sides[node, codes[feature, found[node]]]
            found[tree.children[node]] = found[node][side == LEFT]
            found[tree.children[node] + 1] = found[node][side == RIGHT]
    return [found[node] for node in range(len(tree.features))]


def error(y, weights, rows):
    """Return the weighted squared error about the mean, summed over the outputs."""
    w = weights[rows]
    if w.sum() == 0:
        return 0.0
    mean = w @ y[rows] / w.sum()
    return float((w[:, None] * (y[rows] - mean) ** 2).sum())


def every_split(codes, n_bins, categorical, rows):
    """Yield which rows go left, for every split of one feature."""
    present = np.unique(codes[rows])
    if categorical:
        for size in range(1, len(present)):
            for subset in itertools.combinations(present, size):
                yield np.isin(codes[rows], subset)
    else:
        for cut in range(n_bins):
            yield codes[rows] <= cut
            yield (codes[rows] <= cut) | (codes[rows] == 255)


def best_gain(codes, bins, y, weights, rows, min_rows, features=None):
    """Return the largest decrease of the error over every split of every feature, or of some."""
    best = 0.0
    for f in range(len(codes)) if features is None else features:
        for left in every_split(codes[f], bins.n_bins[f], bins.n_categories[f] > 0, rows):
            if min(left.sum(), (~left).sum()) >= min_rows:
                gain = error(y, weights, rows) - error(y, weights, rows[left]) - error(y, weights, rows[~left])
                best = max(best, gain)
    return best


def find_asked(tree: Nodes) -> list[set[int]]:
    """Return the features asked on the way to each node."""
    asked = [set() for _ in tree.features]
    for node, feature in enumerate(tree.features):
        if feature >= 0:
            for child in (tree.children[node], tree.children[node] + 1):
                asked[child] = asked[node] | {int(feature)}
    return asked


def open_features(asked, n_features, groups, max_attributes):
    """Return the features that may be asked beside others: with them they are few enough and in one group."""
    return [
        f
        for f in range(n_features)
        if len(asked | {f}) <= max_attributes and any(group[list(asked | {f})].all() for group in groups)
    ]


def draw_groups(rng, n_features):
    """Return groups that may overlap; what is in none of them is the last."""
    groups = rng.random((3, n_features)) < 0.5
    return np.vstack([groups, ~groups.any(axis=0)])


def random_table(rng, n_rows, n_features, *, missing=False, categories=False, n_values=6):
    """Return a block of few distinct values and its numbers of categories."""
    block = rng.integers(0, n_values, size=(n_features, n_rows)).astype(np.float64)
    n_categories = np.zeros(n_features, dtype=np.int64)
    if categories:
        n_categories[rng.random(n_features) < 0.6] = n_values
    block[n_categories == 0] = block[n_categories == 0] ** 2 / 3
    if missing:
        block[rng.random(block.shape) < 0.15] = np.nan
    return block, n_categories


def check_every_split_is_best(
    seed, *, n_rows, missing, categories, n_outputs, weighted, min_rows, max_attributes=9, grouped=False
):
    """Grow a tree and compare each split, and the order of the splits, with a search of all of them."""
    rng = np.random.default_rng(seed)
    block, n_categories = random_table(rng, n_rows, 3, missing=missing, categories=categories, n_values=5)
    y = rng.normal(size=(n_rows, n_outputs)) + np.nan_to_num(block[:1].T)
    weights = rng.integers(0, 4, size=n_rows) / 2 if weighted else np.ones(n_rows)
    groups = draw_groups(rng, 3) if grouped else np.ones((1, 3), dtype=bool)
    limits = {"max_attributes": max_attributes, **({"groups": groups} if grouped else {})}
    bins, codes, tree = grow(
        block, y, weights, n_categories=n_categories, min_samples_leaf=min_rows, max_leaves=5, **limits
    )  # fmt: skip
    nodes = members(tree, codes, np.arange(n_rows))
    scale = error(y, weights, nodes[0])
    best = [
        best_gain(codes, bins, y, weights, rows, min_rows, open_features(asked, 3, groups, max_attributes))
        for rows, asked in zip(nodes, find_asked(tree), strict=True)
    ]
    open_nodes = {0}
    for node in np.argsort(np.where(tree.children < 0, len(nodes), tree.children)):
        if tree.features[node] < 0:
            continue
        child = tree.children[node]
        gain = error(y, weights, nodes[node]) - sum(error(y, weights, nodes[c]) for c in (child, child + 1))
        assert gain == pytest.approx(max(best[k] for k in open_nodes), abs=1e-9 * scale)
        open_nodes = open_nodes - {node} | {child, child + 1}
    if len(open_nodes) < 5:
        assert max(best[k] for k in open_nodes) <= 1e-9 * scale
    for node, rows in enumerate(nodes):
        assert tree.n_rows[node] == len(rows) >= (min_rows if node else 1)
        if weights[rows].sum() > 0:
            np.testing.assert_allclose(tree.values[node], weights[rows] @ y[rows] / weights[rows].sum(), atol=1e-9)


@pytest.mark.kernel
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), missing=st.booleans(), weighted=st.booleans(), n_outputs=st.integers(1, 3))
def test_numeric_splits_equal_a_search_of_all(seed, missing, weighted, n_outputs):
    check_every_split_is_best(
        seed, n_rows=20, missing=missing, categories=False, n_outputs=n_outputs, weighted=weighted, min_rows=2
    )


@pytest.mark.kernel
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), missing=st.booleans(), weighted=st.booleans())
def test_category_subsets_equal_a_search_of_all(seed, missing, weighted):
    """One output and leaves of any size: the order by means is then known to contain the best subset."""
    check_every_split_is_best(
        seed, n_rows=20, missing=missing, categories=True, n_outputs=1, weighted=weighted, min_rows=1
    )


@pytest.mark.kernel
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    missing=st.booleans(),
    categories=st.booleans(),
    max_attributes=st.integers(1, 3),
    grouped=st.booleans(),
)
def test_splits_within_limits_equal_a_search_of_all_that_are_open(seed, missing, categories, max_attributes, grouped):
    check_every_split_is_best(
        seed, n_rows=20, missing=missing, categories=categories, n_outputs=1, weighted=False, min_rows=1,
        max_attributes=max_attributes, grouped=grouped,
    )  # fmt: skip


@pytest.mark.kernel
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), max_attributes=st.integers(1, 3), max_features=st.integers(2, 4))
def test_features_are_drawn_among_those_that_are_open(seed, max_attributes, max_features):
    """Where no more are open than are drawn, the split is the best of all of them."""
    rng = np.random.default_rng(seed)
    block, _ = random_table(rng, 40, 8)
    y, groups, rows = rng.normal(size=(40, 1)), draw_groups(rng, 8), np.arange(40)
    limits = {"max_features": max_features, "max_attributes": max_attributes, "groups": groups}
    bins, codes, tree = grow(block, y, max_leaves=6, seed=1 + seed, **limits)
    nodes = members(tree, codes, rows)
    for node, asked in enumerate(find_asked(tree)):
        assert len(asked) <= max_attributes
        allowed = open_features(asked, 8, groups, max_attributes)
        assert allowed
        if tree.features[node] >= 0:
            assert tree.features[node] in allowed
        if tree.features[node] >= 0 and len(allowed) <= max_features:
            child = tree.children[node]
            gain = error(y, np.ones(40), nodes[node]) - sum(error(y, np.ones(40), nodes[c]) for c in (child, child + 1))
            assert gain == pytest.approx(best_gain(codes, bins, y, np.ones(40), nodes[node], 1, allowed))


@pytest.mark.kernel
@pytest.mark.parametrize("max_features", [2, 4])
def test_limits_that_allow_everything_grow_the_same_tree(max_features):
    rng = np.random.default_rng(0)
    block, n_categories = random_table(rng, 60, 4, missing=True, categories=True)
    y = rng.normal(size=(60, 1))
    plain = grow(block, y, n_categories=n_categories, max_leaves=12, max_features=max_features)[2]
    for limits in ({"max_attributes": 4}, {"groups": np.array([[1, 1, 0, 0], [1, 1, 1, 1]], dtype=bool)}):
        limited = grow(block, y, n_categories=n_categories, max_leaves=12, max_features=max_features, **limits)[2]
        for ours, theirs in zip(plain, limited, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.kernel
def test_categories_with_several_outputs_follow_the_main_direction():
    """The means of the categories lie on a line, where the order along it contains the best subset."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, size=120)
    place = np.array([3.0, -1.0, 0.5, 2.0, -2.0, 1.0])[codes]
    y = np.column_stack([place, -2 * place, np.zeros(120)]) + 1e-3 * rng.normal(size=(120, 3))
    bins, coded, tree = grow(codes[None, :].astype(float), y, n_categories=np.array([6]), max_leaves=2)
    nodes = members(tree, coded, np.arange(120))
    gain = error(y, np.ones(120), nodes[0]) - error(y, np.ones(120), nodes[1]) - error(y, np.ones(120), nodes[2])
    assert gain == pytest.approx(best_gain(coded, bins, y, np.ones(120), nodes[0], 1))


@pytest.mark.parametrize("seed", range(60))
def test_equals_scikit_learn_split_for_split(seed):
    """The same nodes, features and cuts as scikit-learn's best-first tree.

    Equality ends at ties: two features may part a node's rows alike, and scikit-learn then takes either, we the first,
    so such nodes are compared by their rows. And several thresholds part a node's rows alike: scikit-learn takes the
    middle of the node's values, we the roundest number between values of the table, so cuts are compared by the rows
    on both sides.
    """
    rng = np.random.default_rng(seed)
    n_rows, n_outputs = int(rng.integers(40, 300)), int(rng.choice([1, 1, 3]))
    block, _ = random_table(rng, n_rows, 5, n_values=int(rng.integers(3, 40)))
    block = block.astype(np.float32).astype(np.float64)
    y = rng.normal(size=(n_rows, n_outputs)) + block[:2].T @ rng.normal(size=(2, n_outputs))
    weights = rng.uniform(0.1, 3, size=n_rows) if seed % 2 else np.ones(n_rows)
    min_rows, max_leaves = int(rng.integers(1, 9)), int(rng.integers(2, 15))
    bins, codes, tree = grow(block, y, weights, min_samples_leaf=min_rows, max_leaves=max_leaves)
    other = DecisionTreeRegressor(max_leaf_nodes=max_leaves, min_samples_leaf=min_rows, random_state=0)
    other.fit(block.T, y, sample_weight=weights)
    paths = other.decision_path(block.T).toarray().T.astype(bool)
    theirs = {tuple(np.flatnonzero(path)): k for k, path in enumerate(paths)}
    ours = {tuple(rows): k for k, rows in enumerate(members(tree, codes, np.arange(n_rows)))}
    assert theirs.keys() == ours.keys()
    for rows, k in ours.items():
        f, node = tree.features[k], theirs[rows]
        np.testing.assert_allclose(tree.values[k], np.ravel(other.tree_.value[node]), atol=1e-9)
        if f >= 0 and f == other.tree_.feature[node]:
            ours_at, theirs_at = bins.thresholds[f, tree.cuts[k]], other.tree_.threshold[node]
            x = block[f, list(rows)]
            np.testing.assert_array_equal(x <= ours_at, x <= theirs_at)
        elif f >= 0:
            tied = other.tree_.feature[node]
            assert f < tied
            left = tree.sides[k, codes[f, list(rows)]] == LEFT
            their_left = block[tied, list(rows)] <= other.tree_.threshold[node]
            assert np.array_equal(left, their_left) or np.array_equal(left, ~their_left)


@pytest.mark.kernel
def test_cut_lies_in_the_middle_of_bins_without_rows():
    block = np.arange(8.0)[None, :]
    y = np.where(block.T < 4, 0.0, 1.0)
    assert grow(block, y, rows=np.array([0, 1, 6, 7]), max_leaves=2)[2].cuts[0] == 3


@pytest.mark.kernel
def test_ties_go_to_the_first_feature_and_the_lowest_threshold():
    x = np.array([0.0, 1.0, 2.0, 3.0])
    y = np.array([[0.0], [1.0], [1.0], [0.0]])
    _, _, tree = grow(np.stack([np.zeros(4), -x, x, x]), y, max_leaves=2)
    assert tree.features[0] == 1
    assert tree.cuts[0] == 0


@pytest.mark.kernel
@pytest.mark.parametrize("side", [LEFT, RIGHT])
def test_missing_values_go_where_they_belong(side):
    x = np.array([0.0, 0.0, 1.0, 1.0, np.nan, np.nan])
    y = np.array([0.0, 0.1, 1.0, 1.1, 0.05, 0.05] if side == LEFT else [0.0, 0.1, 1.0, 1.1, 1.05, 1.05])[:, None]
    _, _, tree = grow(x[None, :], y, max_leaves=2)
    assert tree.cuts[0] == 0
    assert tree.sides[0, 255] == side


@pytest.mark.kernel
def test_missing_values_alone_can_be_a_child():
    x = np.array([0.0, 1.0, 2.0, np.nan, np.nan])
    y = np.array([[0.0], [0.1], [0.0], [5.0], [5.0]])
    bins, _, tree = grow(x[None, :], y, max_leaves=2)
    assert bins.thresholds[0, tree.cuts[0]] == np.inf
    assert tree.sides[0, 255] == RIGHT
    assert list(tree.n_rows) == [5, 3, 2]


@pytest.mark.kernel
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_missing_category_alone_goes_right(sign):
    """Else the left side would be without categories, as that of a numeric split is."""
    x = np.array([0.0, 1.0, 2.0, np.nan, np.nan])
    y = sign * np.array([[0.0], [0.1], [0.0], [5.0], [5.0]])
    _, _, tree = grow(x[None, :], y, n_categories=np.array([3]), max_leaves=2)
    np.testing.assert_array_equal(tree.sides[0, [0, 1, 2, 255]], [LEFT, LEFT, LEFT, RIGHT])
    assert tree.values[1, 0] == pytest.approx(sign * 0.1 / 3)


@pytest.mark.kernel
def test_categories_of_targets_that_add_up_to_a_constant():
    """One target a class: means differ only at right angles to the direction of equal parts."""
    classes = np.repeat([0, 1, 2, 3], 5)
    y = np.where(classes[:, None] // 2 == np.arange(2), 1.0, -1.0)
    _, _, tree = grow(classes[None, :].astype(float), y, n_categories=np.array([4]), max_leaves=2)
    assert tree.sides[0, 0] == tree.sides[0, 1] != tree.sides[0, 2] == tree.sides[0, 3]


@pytest.mark.kernel
def test_missing_side_without_missing_rows_is_the_heavier_child():
    x = np.array([0.0, 0.0, 0.0, 1.0, np.nan])
    y = np.array([0.0, 0.0, 0.0, 1.0, 0.0])[:, None]
    rows = np.arange(4)
    assert grow(x[None, :], y, rows=rows, max_leaves=2)[2].sides[0, 255] == LEFT
    weights = np.array([1.0, 1.0, 1.0, 9.0, 1.0])
    assert grow(x[None, :], y, weights, rows=rows, max_leaves=2)[2].sides[0, 255] == RIGHT
    assert grow(x[None, :4], y[:4], max_leaves=2)[2].sides[0, 255] == 0


@pytest.mark.kernel
def test_absent_categories_go_to_the_heavier_child_and_unknown_ones_nowhere():
    x = np.array([0.0, 0.0, 1.0, 3.0])
    y = np.array([[0.0], [0.0], [1.0], [0.1]])
    _, _, tree = grow(x[None, :], y, n_categories=np.array([4]), max_leaves=2)
    assert tree.cuts[0] == -1
    np.testing.assert_array_equal(tree.sides[0, :6], [LEFT, RIGHT, LEFT, LEFT, 0, 0])
    assert tree.sides[0, 255] == 0


@pytest.mark.kernel
@pytest.mark.parametrize("max_features", [1, 2, 4])
def test_histograms_kept_or_counted_give_the_same_tree(max_features, monkeypatch):
    rng = np.random.default_rng(5)
    block, n_categories = random_table(rng, 60, 4, missing=True, categories=True)
    y = rng.normal(size=(60, 2))
    monkeypatch.setattr(grower_module, "ROWS_PER_CELL", 0)
    one = grow(block, y, n_categories=n_categories, max_leaves=6, max_features=max_features)[2]
    monkeypatch.setattr(grower_module, "HISTOGRAM_BYTES", 0)
    two = grow(block, y, n_categories=n_categories, max_leaves=6, max_features=max_features)[2]
    for a, b in zip(one[:6], two[:6], strict=True):  # the slots of the histograms differ
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.kernel
def test_drawing_goes_on_until_a_feature_can_be_split():
    rng = np.random.default_rng(0)
    block = np.zeros((30, 20))
    block[:, 0] = np.nan  # so that no feature is constant in the table, but 29 of them in these rows
    block[17, 10:] = 1.0
    y = block[17][:, None] + 0.1 * rng.normal(size=(20, 1))
    for seed in range(1, 6):
        tree = grow(block, y, rows=np.arange(1, 20), max_leaves=2, max_features=1, seed=seed)[2]
        assert tree.features[0] == 17


@pytest.mark.kernel
def test_each_feature_is_drawn_equally_often():
    rng = np.random.default_rng(0)
    block = rng.normal(size=(4, 12))
    y = rng.normal(size=(12, 1))
    seeds = rng.integers(1, 2**63, size=400)
    drawn = [grow(block, y, max_leaves=2, max_features=1, seed=int(s))[2].features[0] for s in seeds]
    counts = np.bincount(drawn, minlength=4)
    assert ((counts - 100) ** 2 / 100).sum() < 16.3  # chi-squared of 3 degrees, one in a thousand


@pytest.mark.kernel
def test_limits_are_respected():
    rng = np.random.default_rng(1)
    block = rng.normal(size=(3, 100))
    y = np.sin(3 * block[:1].T)
    deep = grow(block, y, max_leaves=20)[2]
    assert len(deep.features) == 39
    flat = grow(block, y, max_leaves=20, max_conditions=2)[2]
    assert len(flat.features) == 7
    assert len(grow(block, y, max_leaves=20, max_conditions=0)[2].features) == 1
    calm = grow(block, y, max_leaves=50, min_impurity=0.05)[2]
    rows = members(calm, fit_bins(block, np.zeros(3, dtype=np.int64), weights=None, max_bins=255).transform(block),
                   np.arange(100))  # fmt: skip
    for node, feature in enumerate(calm.features):
        assert (y[rows[node]].var() > 0.05) == (feature >= 0)


@pytest.mark.kernel
@pytest.mark.parametrize("y", [np.ones((8, 1)), np.full((8, 1), 1e9 / 3)])
def test_constant_target_is_not_split(y):
    assert len(grow(np.arange(8.0)[None, :], y)[2].features) == 1


@pytest.mark.kernel
def test_constant_features_and_zero_weights_are_not_split():
    y = np.arange(8.0)[:, None]
    assert len(grow(np.ones((2, 8)), y)[2].features) == 1
    assert len(grow(np.full((1, 8), np.nan), y)[2].features) == 1
    assert len(grow(np.arange(8.0)[None, :], y, np.zeros(8))[2].features) == 1


def test_a_common_level_of_the_target_does_not_matter():
    rng = np.random.default_rng(2)
    block = rng.normal(size=(4, 200))
    y = np.round(rng.normal(size=(200, 1)), 3)
    low, high = grow(block, y)[2], grow(block, y + 2.0**30)[2]
    np.testing.assert_array_equal(low.features, high.features)
    np.testing.assert_array_equal(low.cuts, high.cuts)


@pytest.mark.kernel
def test_values_are_newton_steps_and_mean_residuals_where_the_loss_is_flat():
    x = np.array([[0.0, 0.0, 1.0, 1.0]])
    y = np.array([[1.0], [2.0], [7.0], [9.0]])
    curvatures = np.array([[0.5], [1.0], [0.0], [0.0]])
    weights = np.array([1.0, 3.0, 1.0, 1.0])
    tree = grow(x, y, weights, curvatures=curvatures, max_leaves=2)[2]
    np.testing.assert_allclose(tree.values[1:, 0], [(1 + 6) / (0.5 + 3), 8.0])


@pytest.mark.kernel
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_adding_a_tree_adds_the_value_of_each_row_s_node(seed):
    rng = np.random.default_rng(seed)
    block, n_categories = random_table(rng, 40, 3, missing=True, categories=True)
    y = rng.normal(size=(40, 2))
    bins = fit_bins(block, n_categories, weights=None, max_bins=255)
    codes = bins.transform(block)
    rows, scores = np.sort(rng.choice(40, 25, replace=False)), np.ones((40, 2))
    pool = Pool(codes, np.ones(40), y, scores)
    tree = grow_one(bins, pool, TreeLimits(max_features=3), rows, np.ones((40, 2)), 5, shrinkage=0.5)
    for node, found in enumerate(members(tree, codes, np.arange(40))):
        if tree.features[node] < 0:
            np.testing.assert_array_equal(scores[found], np.broadcast_to(1 + 0.5 * tree.values[node], (len(found), 2)))


def goes_the_right_way(y, weights, rows, left, known, way):
    """Whether the mean of a side with known values is not on the wrong side of the other's; no way is always right."""
    if way == 0 or (known[left].sum() == known.sum() and not left[~known].any()):
        return True
    means = [np.average(y[part, 0], weights=weights[part]) for part in (rows[left], rows[~left])]
    return way * (means[0] - means[1]) <= 1e-12


@pytest.mark.kernel
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), missing=st.booleans(), min_rows=st.integers(1, 3))
def test_monotone_root_equals_a_search_of_all_splits_that_go_the_right_way(seed, missing, min_rows):
    rng = np.random.default_rng(seed)
    block, _ = random_table(rng, 20, 3, missing=missing, n_values=5)
    y, weights, ways = rng.normal(size=(20, 1)), np.ones(20), rng.integers(-1, 2, 3)
    bins, codes, tree = grow(block, y, max_leaves=2, min_samples_leaf=min_rows, monotonic=ways)
    rows, best = np.arange(20), 0.0
    for f in range(3):
        for left in every_split(codes[f], bins.n_bins[f], False, rows):
            if min(left.sum(), (~left).sum()) >= min_rows and goes_the_right_way(
                y, weights, rows, left, codes[f] != 255, ways[f]
            ):
                gain = error(y, weights, rows) - error(y, weights, rows[left]) - error(y, weights, rows[~left])
                best = max(best, gain)
    nodes = members(tree, codes, rows)
    gain = error(y, weights, rows) - sum(error(y, weights, part) for part in nodes[1:]) if len(nodes) > 1 else 0.0
    assert gain == pytest.approx(best, abs=1e-9)


@pytest.mark.kernel
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), missing=st.booleans())
def test_a_monotone_feature_is_cut_once_on_the_way_to_a_node_and_the_right_way(seed, missing):
    rng = np.random.default_rng(seed)
    block, _ = random_table(rng, 60, 3, missing=missing, n_values=8)
    y = np.nan_to_num(block[:1].T) - np.nan_to_num(block[1:2].T) + rng.normal(size=(60, 1))
    ways = np.array([1, -1, 0])
    bins, codes, tree = grow(block, y, max_leaves=10, monotonic=ways)
    nodes = members(tree, codes, np.arange(60))
    asked = {0: set()}
    for node, feature in enumerate(tree.features):
        if feature < 0:
            continue
        child = tree.children[node]
        cuts_values = ways[feature] != 0 and tree.cuts[node] < bins.n_bins[feature] - 1
        assert not (cuts_values and feature in asked[node])
        asked[child] = asked[child + 1] = asked[node] | ({int(feature)} if cuts_values else set())
        if cuts_values:
            means = [y[nodes[part], 0].mean() for part in (child, child + 1)]
            assert ways[feature] * (means[0] - means[1]) <= 1e-9


def test_no_ways_at_all_grow_the_same_tree():
    rng = np.random.default_rng(0)
    block, y = rng.normal(size=(4, 200)), rng.normal(size=(200, 1))
    _, _, plain = grow(block, y, max_leaves=12)
    _, _, zeros = grow(block, y, max_leaves=12, monotonic=np.zeros(4, dtype=np.int64))
    for ours, theirs in zip(plain, zeros, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def draw(n_pool, n_sample, state, leaf_scale=0.0):
    """Draw a sample and a number of leaves."""
    drawn = Drawn(np.empty(n_sample, dtype=np.int64), *np.empty((2, 0, 0)), np.zeros(n_pool, dtype=np.uint8))
    tally = np.zeros(4, dtype=np.int64)
    draw_tree(ONE_TREE._replace(leaf_scale=leaf_scale), drawn, tally, state)
    assert not drawn.marks.any()
    return drawn.rows, tally[LEAVES]


@pytest.mark.kernel
@pytest.mark.parametrize("n_sample", [1, 3, 6, 7])
def test_every_row_is_drawn_once_at_most_and_as_often_as_others(n_sample):
    state, n_draws = np.array([12345], dtype=np.uint64), 700
    counts, pairs = np.zeros(7), np.zeros((7, 7))
    for _ in range(n_draws):
        rows, n_leaves = draw(7, n_sample, state)
        assert n_leaves == 2
        assert list(rows) == sorted(set(rows.tolist()))
        counts[rows] += 1
        pairs[np.ix_(rows, rows)] += 1
    share = n_sample / 7
    np.testing.assert_allclose(counts / n_draws, share, atol=0.08)
    np.testing.assert_allclose(pairs[np.triu_indices(7, 1)] / n_draws, share * (n_sample - 1) / 6, atol=0.08)


@pytest.mark.kernel
def test_a_draw_equals_its_plain_twin():
    """The twin counts with whole numbers of any length."""
    state, x = np.array([2**61 + 5], dtype=np.uint64), 2**61 + 5

    def draw_word():
        nonlocal x
        x ^= x << 13 & 2**64 - 1
        x ^= x >> 7
        x ^= x << 17 & 2**64 - 1
        return x

    for _ in range(20):
        rows, n_leaves = draw(50, 20, state, leaf_scale=3.5)
        assert n_leaves == 2 + int(-3.5 * math.log(1.0 - (draw_word() >> 11) / 2**53))
        chosen = set()
        for last in range(30, 50):
            row = (draw_word() >> 32) * (last + 1) >> 32
            chosen.add(last if row in chosen else row)
        assert rows.tolist() == sorted(chosen)
