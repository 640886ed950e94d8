"""Growing trees one after the other on samples of one pool of binned rows, best split first."""

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.trees._kernels import (
    NODES,
    TREES,
    Boosting,
    Drawn,
    FeatureTable,
    Nodes,
    Pool,
    TreeLimits,
    cut_nodes,
    draw_tree,
    grow_trees,
    make_nodes,
)
from rulegrove.trees.binning import Bins

__all__ = ["Boosting", "TreeGrower", "TreeLimits"]

HISTOGRAM_BYTES = 2**27
"""Most memory for the histograms of a tree's leaves; a tree that needs more counts each histogram from its rows."""

ROWS_PER_CELL = 6
"""Rows for each bin below which counting, with one feature's bins at hand, is faster than subtracting histograms."""


class TreeGrower:
    """Grow trees on samples of one pool of binned rows, each on what those before it left.

    Parameters
    ----------
    bins : Bins
        The bins of the pool.
    pool : Pool
        The rows; trees change their scores.
    limits : TreeLimits
        What every split must respect.
    boosting : Boosting
        How trees follow each other.
    subsample : int
        Rows of a tree, drawn without replacement.
    monotonic : ndarray of shape (n_features,), optional
        Whether the target rises (1) or falls (-1) with a numeric feature, 0 for either. Splits that contradict it are
        not made, nor a second one on such a feature on the way to a node. For one output.
    seed : int
        Positive seed of the samples, sizes and features drawn.

    Attributes
    ----------
    drawn : Drawn
        What the next tree is grown on; to be completed by its residuals and curvatures, unless the loss is squared.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.trees.binning import fit_bins
    >>> block, y = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([[0.0], [0.0], [3.0], [3.0]])
    >>> bins = fit_bins(block, np.array([0]), weights=None, max_bins=255)
    >>> pool = Pool(bins.transform(block), np.ones(4), y, np.zeros((4, 1)))
    >>> boosting = Boosting(n_rules=2, patience=1, leaf_scale=0.0, shrinkage=1.0, vanished=0.0, squared=True)
    >>> grower = TreeGrower(bins, pool, TreeLimits(max_features=1), boosting, subsample=4, seed=1)
    >>> grower.grow(1), grower.n_rules
    (True, 2)
    >>> grower.nodes.features, grower.nodes.cuts[0], grower.nodes.values[:, 0]
    (array([ 0, -1, -1], dtype=int32), np.int32(1), array([1.5, 0. , 3. ]))
    """

    def __init__(
        self,
        bins: Bins,
        pool: Pool,
        limits: TreeLimits,
        boosting: Boosting,
        *,
        subsample: int,
        monotonic: IntArray | None = None,
        seed: int,
    ) -> None:
        n_pool, n_outputs = pool.targets.shape
        n_columns = 2 + n_outputs if boosting.squared else 2 + 2 * n_outputs
        most_trees = boosting.n_rules // 2
        self._bins, self._pool, self._limits, self._boosting = bins, pool, limits, boosting
        self._candidates = np.flatnonzero(bins.n_bins + bins.has_missing >= 2)
        # The cells of a feature: its bins, then the missing values.
        first_cells = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(bins.n_bins + 1)]) * (2 + n_outputs)
        ways = np.zeros(len(bins.n_bins), dtype=np.int64) if monotonic is None else monotonic
        self._table = FeatureTable(2 + n_outputs, first_cells, bins.n_bins, bins.n_categories, ways, bins.has_missing)
        self._work = np.empty((subsample, n_columns))
        self._histograms = self._working_space(subsample, 1 + most_trees)
        self._nodes = make_nodes(boosting.n_rules + most_trees + 1, n_outputs, n_columns)
        self._roots = np.empty(most_trees, dtype=np.int64)
        self._tally = np.zeros(4, dtype=np.int64)
        self._state = np.array([seed], dtype=np.uint64)
        residuals, curvatures = np.empty((2, subsample, n_outputs))
        self.drawn = Drawn(np.empty(subsample, dtype=np.int64), residuals, curvatures, np.zeros(n_pool, dtype=np.uint8))
        draw_tree(boosting, self.drawn, self._tally, self._state)

    @property
    def n_rules(self) -> int:
        """Nodes that have been grown, roots not counted."""
        return int(self._tally[NODES] - self._tally[TREES])

    @property
    def roots(self) -> IntArray:
        """First node of each tree."""
        return self._roots[: self._tally[TREES]]

    @property
    def nodes(self) -> Nodes:
        """Nodes of all trees, one tree after the other."""
        return cut_nodes(self._nodes, 0, int(self._tally[NODES]))

    def grow(self, n_trees: int) -> bool:
        """Grow so many trees, or as many as there are to grow; return whether there may be more."""
        return grow_trees(
            n_trees, self._boosting, self._pool, self.drawn, self._work, self._table, self._limits, self._candidates,
            self._state, self._histograms, self._nodes, self._roots, self._tally,
        )  # fmt: skip

    def _working_space(self, n_rows: int, most_leaves: int) -> FloatArray:
        """Return room for the histograms of all leaves, or of one where that is too much or of no use.

        Nothing is written into it yet, so it takes as much memory as the largest tree needs.
        """
        size = int(self._table.first_cells[-1])
        drawn = self._limits.max_features < len(self._candidates)
        sparse = n_rows * len(self._bins.n_bins) < ROWS_PER_CELL * size // self._table.stride
        n_slots = 1 if drawn or sparse else max(1, min(most_leaves, HISTOGRAM_BYTES // (8 * max(size, 1))))
        return np.empty((n_slots, size))
