"""Gradient boosting of small trees of random size: where the rules come from."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray, Words
from rulegrove.losses import Loss
from rulegrove.trees._kernels import LEFT, MISSING, RIGHT, Nodes, Pool
from rulegrove.trees.binning import Bins, fit_bins
from rulegrove.trees.grower import Boosting, TreeGrower, TreeLimits
from rulegrove.trees.tree import Forest

PATIENCE = 50
"""Trees in a row that cannot be split before growing stops; a sample may lack a rare class by chance."""

BATCH = 32
"""Trees that are grown by one call, if their loss is one that the kernel knows."""


def grow_forest(  # a parameter for each one of the estimators that concerns trees
    block: FloatArray,
    targets: FloatArray,
    *,
    weights: FloatArray | None = None,
    n_categories: IntArray,
    loss: Loss,
    n_rules: int,
    mean_leaves: float,
    subsample: int,
    shrinkage: float,
    max_features: int,
    min_samples_leaf: int,
    min_impurity: float,
    max_bins: int,
    are_days: BoolArray | None = None,
    max_conditions: int | None,
    max_attributes: int | None = None,
    groups: BoolArray | None = None,
    monotonic: IntArray | None = None,
    rng: np.random.Generator,
    n_threads: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> Forest:
    """Grow boosted trees until their nodes, roots aside, are `n_rules` rules.

    Each tree is grown on the pseudo-residuals of a fresh sample of rows, to a size drawn from an exponential
    distribution; then the scores of all rows move by `shrinkage` times the tree. Growing also stops when the
    residuals vanish or nothing can be split any more.

    Parameters
    ----------
    block : ndarray of shape (n_features, n_rows)
        The rows trees may draw from, one feature a row; NaN is missing, a category is its code.
    targets : ndarray of shape (n_rows, n_outputs)
        Targets; -1 and +1 for classification.
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows; None for all one.
    n_categories : ndarray of shape (n_features,)
        Categories of each feature, 0 for a numeric one.
    loss : Loss
        The loss whose negative gradients are the pseudo-residuals.
    n_rules : int
        Rules to grow; the last tree is kept small enough not to exceed it.
    mean_leaves : float
        Mean number of leaves, at least 2.
    subsample : int
        Rows of a tree, drawn without replacement.
    shrinkage : float
        How much each tree counts for those after it, the paper's nu; 0: every tree sees the targets themselves.
    max_features, min_samples_leaf, min_impurity, max_conditions, max_attributes, groups
        Limits of the splits, see `TreeLimits`; those of conditions, attributes and groups do not hold if None.
    monotonic
        As in `TreeGrower`.
    max_bins : int
        Most bins of a numeric feature.
    are_days
        As in `fit_bins`.
    rng : numpy.random.Generator
        The source of the seed that samples, sizes and features are drawn from.
    n_threads : int
        Threads that bin the features; the trees come one after the other.
    on_progress : callable or None
        Called with the rules grown and `n_rules` after every few trees.

    Returns
    -------
    Forest
        The trees, those of a single node left out.

    References
    ----------
    The paper, section 2, "Rule Generation Algorithm".

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.losses import Squared
    >>> rng = np.random.default_rng(0)
    >>> block = rng.normal(size=(3, 200))
    >>> forest = grow_forest(block, np.sign(block[:1]).T, n_categories=np.zeros(3, dtype=np.int64), loss=Squared(),
    ...                      n_rules=20, mean_leaves=3.0, subsample=100, shrinkage=0.1, max_features=3,
    ...                      min_samples_leaf=5, min_impurity=0.0, max_bins=255, max_conditions=None, rng=rng)
    >>> forest.n_nodes - forest.n_trees
    20
    """
    n_rows = len(targets)
    plain = weights is None or bool(np.all(weights == weights[0]))
    weights = np.ones(n_rows) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    bins = fit_bins(
        block,
        n_categories,
        weights=None if plain else weights,
        max_bins=max_bins,
        are_days=are_days,
        n_threads=n_threads,
    )
    limits = TreeLimits(max_features, max(1, min_samples_leaf), float(min_impurity))
    optional: dict[str, Any] = {"max_conditions": max_conditions, "max_attributes": max_attributes, "groups": groups}
    limits = limits._replace(**{name: value for name, value in optional.items() if value is not None})
    targets = np.ascontiguousarray(targets, dtype=np.float64)
    scores = np.tile(loss.best_constant(targets, weights), (n_rows, 1))
    vanished = _vanishing_size(loss, targets, scores)
    squared = loss.sums_suffice
    boosting = Boosting(n_rules, PATIENCE, _leaf_scale(mean_leaves), float(shrinkage), vanished, squared)
    grower = TreeGrower(
        bins,
        Pool(bins.transform(block), weights, targets, scores),
        limits,
        boosting,
        subsample=min(subsample, n_rows),
        monotonic=monotonic,
        seed=int(rng.integers(1, 2**63)),
    )
    growing = True
    while growing:
        if not squared:
            drawn = grower.drawn
            y, score = targets.take(drawn.rows, axis=0), scores.take(drawn.rows, axis=0)
            # Half the derivatives: those of the squared loss are then y - F and 1, and an impurity is a variance of y.
            drawn.residuals[:] = 0.5 * loss.negative_gradient(y, score)
            drawn.curvatures[:] = 0.5 * loss.curvature(y, score)
        growing = grower.grow(BATCH if squared else 1)
        if on_progress is not None:
            on_progress(grower.n_rules, n_rules)
    return _gather_forest(grower.nodes, grower.roots, bins)


def _vanishing_size(loss: Loss, targets: FloatArray, scores: FloatArray) -> float:
    """Return the size below which residuals are rounding, or so far below the first ones that nothing is left."""
    first = np.abs(loss.negative_gradient(targets, scores)).max(initial=0.0)
    return float(max(1e-10 * first, 16 * np.finfo(np.float64).eps * np.abs(targets).max(initial=0.0)))


def _leaf_scale(mean_leaves: float) -> float:
    """Return the scale at which 2 plus the whole part of an exponential is `mean_leaves` on average.

    Departure from the paper, which draws from an exponential distribution with that mean and so also gets trees of
    less than two leaves.
    """
    return 0.0 if mean_leaves <= 2.0 else float(1.0 / np.log1p(1.0 / (mean_leaves - 2.0)))


def _gather_forest(nodes: Nodes, roots: IntArray, bins: Bins) -> Forest:
    """Return the trees with bins replaced by thresholds and sides by bits."""
    feature, children, cuts, sides = nodes.features, nodes.children, nodes.cuts, nodes.sides
    root = np.repeat(roots, np.diff(roots, append=len(feature)))
    inner = feature >= 0
    numeric = inner & (cuts >= 0)
    left = np.where(inner, children + root, -1).astype(np.int32)
    right = np.where(inner, left + 1, -1).astype(np.int32)
    parent = np.full(len(feature), -1, dtype=np.int32)
    parent[left[inner]] = parent[right[inner]] = np.flatnonzero(inner)
    threshold = np.zeros(len(feature))
    threshold[numeric] = bins.thresholds[feature[numeric], cuts[numeric]]
    by_category = inner & ~numeric
    coded = sides[by_category]
    coded[:, MISSING] = 0  # never a category
    categories, right_categories = np.zeros((2, len(feature), 4), dtype=np.uint64)
    categories[by_category], right_categories[by_category] = _pack_bits(coded == LEFT), _pack_bits(coded == RIGHT)
    return Forest(
        roots=roots.copy(),
        feature=feature.copy(),
        threshold=threshold,
        categories=categories,
        right_categories=right_categories,
        missing=sides[:, MISSING].astype(np.int8),
        left=left,
        right=right,
        parent=parent,
        value=nodes.values.copy(),
        n_samples=nodes.n_rows.copy(),
    )


def _pack_bits(flags: BoolArray) -> Words:
    """Pack 256 flags a row into four words, flag 0 in the lowest bit of the first."""
    return np.packbits(flags, axis=1, bitorder="little").view("<u8").astype(np.uint64)
