"""Boosting: what it reproduces, when it stops, and that it always does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.losses import Huber, Logistic, Ramp, Squared, SquaredHinge
from rulegrove.trees.binning import fit_bins
from rulegrove.trees.boosting import BATCH, PATIENCE, grow_forest

OPTIONS = {
    "loss": Squared(),
    "n_rules": 60,
    "mean_leaves": 4.0,
    "subsample": 100,
    "shrinkage": 0.1,
    "max_features": 4,
    "min_samples_leaf": 3,
    "min_impurity": 0.0,
    "max_bins": 255,
    "max_conditions": None,
}


def table(seed=0, n_rows=300):
    rng = np.random.default_rng(seed)
    block = rng.normal(size=(4, n_rows))
    y = np.where(block[0] * block[1] + 0.3 * rng.normal(size=n_rows) > 0, 1.0, -1.0)[:, None]
    return block, y


def grow(block, y, seed=0, **changes):
    changes.setdefault("n_categories", np.zeros(len(block), dtype=np.int64))
    return grow_forest(block, y, rng=np.random.default_rng(seed), **(OPTIONS | changes))


def n_rules(forest):
    return forest.n_nodes - forest.n_trees


def same(one, two):
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in vars(one))


@pytest.mark.kernel
def test_one_seed_one_forest():
    block, y = table(n_rows=60)
    options = {"n_rules": 12, "max_features": 2, "subsample": 30}
    assert same(grow(block, y, **options), grow(block, y, **options))
    assert not same(grow(block, y, **options), grow(block, y, seed=1, **options))


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    max_attributes=st.sampled_from([None, 1, 2]),
    max_features=st.sampled_from([1, 2, 4]),
    loss=st.sampled_from([Squared(), Logistic()]),
)
def test_every_path_keeps_to_groups_and_to_the_number_of_attributes(seed, max_attributes, max_features, loss):
    block, y = table(seed=1, n_rows=120)
    block[3] = np.arange(120) % 5
    block[1, ::6] = np.nan
    groups = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]], dtype=bool)
    limits = {"max_attributes": max_attributes, "groups": groups, "max_features": max_features}
    forest = grow(block, y, seed=seed, n_categories=np.array([0, 0, 0, 5]), loss=loss, **limits)
    asked = {node: set() for node in forest.roots}
    for node in np.flatnonzero(forest.feature >= 0):  # parents come before their children
        for child in (forest.left[node], forest.right[node]):
            asked[child] = asked[node] | {forest.feature[node]}
            assert len(asked[child]) <= (max_attributes or 4)
            assert groups[:, list(asked[child])].all(axis=1).any()
    assert n_rules(forest) == 60


@pytest.mark.parametrize("loss", [Squared(), Ramp(), SquaredHinge(), Huber(0.5), Logistic()], ids=lambda x: repr(x))
def test_scores_of_the_forest_lower_the_loss(loss):
    block, y = table()
    forest = grow(block, y, loss=loss, n_rules=300)
    start = loss.best_constant(y, np.ones(len(y)))
    final = forest.predict(block, initial=start, shrinkage=0.1)
    assert loss.value(y, final).mean() < 0.7 * loss.value(y, np.tile(start, (len(y), 1))).mean()


@pytest.mark.kernel
def test_each_tree_is_grown_on_what_the_ones_before_left():
    """With all rows in each tree, the leaves hold the mean residuals of the scores so far."""
    block, y = table(n_rows=40)
    block[0, ::7] = np.nan
    block[3] = np.arange(40) % 5
    n_categories = np.array([0, 0, 0, 5])
    forest = grow(block, y, n_categories=n_categories, subsample=40, n_rules=12)
    scores = np.tile(y.mean(axis=0), (40, 1))
    for places in forest.apply(block):
        for node in np.unique(places):
            assert forest.value[node, 0] == pytest.approx((y - scores)[places == node].mean())
        scores += 0.1 * forest.value[places]


def test_no_shrinkage_gives_trees_on_the_targets():
    block, y = table()
    forest = grow(block, y, shrinkage=0.0, subsample=300, mean_leaves=2.0)
    assert forest.n_trees == 30
    np.testing.assert_array_equal(forest.feature.reshape(30, 3), np.tile(forest.feature[:3], (30, 1)))


@settings(max_examples=25, deadline=None)
@given(wanted=st.integers(2, 90), mean_leaves=st.floats(2.0, 12.0), seed=st.integers(0, 2**32))
def test_the_wanted_rules_are_met_but_never_exceeded(wanted, mean_leaves, seed):
    block, y = table(n_rows=150)
    forest = grow(block, y, seed=seed, n_rules=wanted, mean_leaves=mean_leaves)
    assert n_rules(forest) == wanted - wanted % 2


@pytest.mark.parametrize("mean_leaves", [2.0, 2.5, 4.0, 9.0])
def test_tree_sizes_have_the_wanted_mean(mean_leaves):
    block = np.random.default_rng(0).normal(size=(2, 60))
    y = np.random.default_rng(1).normal(size=(60, 1))
    forest = grow(block, y, shrinkage=0.0, n_rules=60_000, subsample=60, mean_leaves=mean_leaves, min_samples_leaf=1)
    sizes = np.add.reduceat(forest.feature < 0, forest.roots)[:-1]  # the last one may be kept small
    assert sizes.min() == 2
    assert sizes.mean() == pytest.approx(mean_leaves, rel=0.03)


@pytest.mark.parametrize(
    "change",
    [
        lambda block, y: (np.zeros_like(block), y),
        lambda block, y: (np.full_like(block, np.nan), y),
        lambda block, y: (block, np.full_like(y, 0.1)),
        lambda block, y: (block[:0], y),
    ],
    ids=["constant features", "all missing", "constant target", "no feature"],
)
@pytest.mark.parametrize("loss", [Squared(), Ramp(), Logistic(), Huber()], ids=lambda x: type(x).__name__)
def test_nothing_to_split_ends_with_no_tree(change, loss):
    block, y = change(*table())
    forest = grow(block, y, loss=loss)
    assert forest.n_trees == forest.n_nodes == 0
    assert forest.apply(block).shape == (0, block.shape[1])
    assert forest.predict(block).shape == (300, 1)


def test_stops_when_the_residuals_vanish():
    block, _ = table()
    forest = grow(block, np.sign(block[:1].T), shrinkage=1.0, subsample=300, min_samples_leaf=1)
    assert forest.n_trees == 1


def test_a_rare_class_missing_from_some_samples_does_not_end_growing():
    block, _ = table(n_rows=2000)
    y = np.where(block[:1].T > 2.5, 1.0, -1.0)
    assert 0 < np.count_nonzero(y > 0) < 20
    assert n_rules(grow(block, y, subsample=100, shrinkage=0.0)) == 60
    assert PATIENCE >= 10


@pytest.mark.kernel
def test_weights_equal_repeated_rows():
    block, y = table(n_rows=60)
    y = y + 0.01 * np.random.default_rng(5).normal(size=y.shape)  # no ties
    times = np.arange(60) % 3 + 1
    options = {"mean_leaves": 3.0, "n_rules": 8, "min_samples_leaf": 1}
    one = grow(block, y, weights=times.astype(float), subsample=60, **options)
    two = grow(np.repeat(block, times, axis=1), np.repeat(y, times, axis=0), subsample=times.sum(), **options)
    np.testing.assert_array_equal(one.feature, two.feature)
    np.testing.assert_allclose(one.threshold, two.threshold)
    np.testing.assert_allclose(one.value, two.value, atol=1e-12)


def test_unit_weights_change_nothing():
    block, y = table()
    assert same(grow(block, y), grow(block, y, weights=np.ones(300)))


def test_scale_of_the_weights_does_not_matter():
    block, y = table()
    weights = np.random.default_rng(3).uniform(0.5, 2, size=300)
    one, two = grow(block, y, weights=weights), grow(block, y, weights=1024 * weights)
    assert same(one, two)


def test_each_tree_sees_its_own_sample():
    block, y = table()
    forest = grow(block, y, subsample=77)
    np.testing.assert_array_equal(forest.n_samples[forest.roots], 77)
    assert len(np.unique(forest.value[forest.roots, 0])) > 10


def test_thresholds_are_those_of_the_bins():
    block, y = table()
    forest = grow(block, y, max_bins=16)
    bins = fit_bins(block, np.zeros(4, dtype=np.int64), weights=None, max_bins=16)
    assert {0, 1, 2, 3} >= set(forest.feature[forest.feature >= 0]) != set()
    for f in range(4):
        assert set(forest.threshold[forest.feature == f]) <= set(bins.thresholds[f, :15])


def test_monotone_change_leaves_the_trees_alone():
    block, y = table()
    one, two = grow(block, y), grow(np.exp(block), y)
    np.testing.assert_array_equal(one.feature, two.feature)
    np.testing.assert_array_equal(one.apply(block), two.apply(np.exp(block)))


def test_several_outputs():
    block, y = table()
    y = np.hstack([y, np.sign(block[2:3].T), -y])
    forest = grow(block, y, n_rules=200)
    assert forest.value.shape == (forest.n_nodes, 3)
    np.testing.assert_allclose(forest.value[:, 0], -forest.value[:, 2], atol=1e-12)
    assert {0, 1, 2} <= set(forest.feature)


@pytest.mark.parametrize(("loss", "n_told"), [(Squared(), 2), (Logistic(), 45)], ids=["squared", "logistic"])
def test_progress_is_told(loss, n_told):
    block, y = table()
    told = []
    forest = grow(block, y, loss=loss, mean_leaves=2.0, n_rules=90, on_progress=lambda *both: told.append(both))
    assert forest.n_trees == 45 < 2 * BATCH
    assert n_told <= len(told) <= n_told + 1
    assert told[-1] == (90, 90)
    assert told == sorted(told)


class OwnSquared(Squared):
    """The squared loss, as a loss that the kernel does not know."""

    sums_suffice = False


@pytest.mark.kernel
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_kernel_takes_the_residuals_of_the_squared_loss_as_it_does(n_outputs, weighted):
    block, _ = table(n_rows=50)
    rng = np.random.default_rng(2)
    y, weights = rng.normal(size=(50, n_outputs)), rng.uniform(0.5, 2, size=50) if weighted else None
    options = {"weights": weights, "n_rules": 16, "subsample": 30, "max_features": 2}
    assert same(grow(block, y, **options), grow(block, y, loss=OwnSquared(), **options))
