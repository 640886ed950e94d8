"""Growing one tree on a sample of binned rows, best split first."""

from typing import NamedTuple

import numpy as np

from rulegrove._typing import ByteArray, FloatArray, Int32Array, IntArray
from rulegrove.trees._kernels import TINY, FeatureTable, Nodes, Sample, TreeLimits, add_tree, grow_tree, make_nodes
from rulegrove.trees.binning import Bins

__all__ = ["GrownTree", "TreeGrower", "TreeLimits"]

HISTOGRAM_BYTES = 2**27
"""Most memory for the histograms of a tree's leaves; a tree that needs more counts each histogram from its rows."""

ROWS_PER_CELL = 6
"""Rows for each bin below which counting, with one feature's bins at hand, is faster than subtracting histograms."""


class GrownTree(NamedTuple):
    """One tree in terms of bins; node 0 is the root and the right child follows the left one.

    Attributes
    ----------
    features : ndarray of shape (n_nodes,)
        Feature of each node's split, -1 for a leaf.
    children : ndarray of shape (n_nodes,)
        The left child.
    cuts : ndarray of shape (n_nodes,)
        Last bin going left, -1 for a categorical split.
    sides : ndarray of shape (n_nodes, 256)
        Side of each code: 0 neither, 1 left, 2 right.
    n_samples : ndarray of shape (n_nodes,)
        Rows of the sample in each node.
    values : ndarray of shape (n_nodes, n_outputs)
        Newton step of each output.
    """

    features: Int32Array
    children: Int32Array
    cuts: Int32Array
    sides: ByteArray
    n_samples: IntArray
    values: FloatArray


class TreeGrower:
    """Grow trees on one pool of binned rows, with working space that is used again.

    Parameters
    ----------
    bins : Bins
        The bins of the pool.
    codes : ndarray of shape (n_features, n_rows)
        The pool, binned.
    limits : TreeLimits
        What every split must respect.
    monotonic : ndarray of shape (n_features,), optional
        Whether the target rises (1) or falls (-1) with a numeric feature, 0 for either. Splits that contradict it are
        not made, nor a second one on such a feature on the way to a node. For one output.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.trees.binning import fit_bins
    >>> block = np.array([[1.0, 2.0, 3.0, 4.0]])
    >>> bins = fit_bins(block, np.array([0]), weights=None, max_bins=255)
    >>> grower = TreeGrower(bins, bins.transform(block), TreeLimits(max_features=1))
    >>> y = np.array([[0.0], [0.0], [3.0], [3.0]])
    >>> tree = grower.grow(np.arange(4), y, np.ones((4, 1)), np.ones(4), max_leaves=4, seed=1)
    >>> tree.features, tree.cuts[0], tree.values[:, 0]
    (array([ 0, -1, -1], dtype=int32), np.int32(1), array([1.5, 0. , 3. ]))
    """

    def __init__(self, bins: Bins, codes: ByteArray, limits: TreeLimits, monotonic: IntArray | None = None) -> None:
        self._bins = bins
        self._codes = codes
        self._limits = limits
        self._ways = np.zeros(len(bins.n_bins), dtype=np.int64) if monotonic is None else monotonic
        self._candidates = np.flatnonzero(bins.n_bins + bins.has_missing >= 2)
        # The cells of a feature: its bins, then the missing values.
        self._first_cells = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(bins.n_bins + 1)])
        self._table = FeatureTable(self._first_cells, bins.n_bins, bins.n_categories, self._ways, bins.has_missing)
        self._histograms = np.zeros((0, 0))
        self._nodes = make_nodes(0, 0)

    def grow(
        self,
        rows: IntArray,
        residuals: FloatArray,
        curvatures: FloatArray,
        weights: FloatArray,
        *,
        max_leaves: int,
        seed: int,
    ) -> GrownTree:
        """Grow one tree.

        Parameters
        ----------
        rows : ndarray of shape (n_sample,)
            The rows of the pool to grow on.
        residuals, curvatures : ndarray of shape (n_sample, n_outputs)
            Negative gradient and curvature of the loss on those rows.
        weights : ndarray of shape (n_sample,)
            Their weights.
        max_leaves : int
            Leaves at which to stop.
        seed : int
            Positive seed of the features drawn.

        Returns
        -------
        GrownTree
            The tree; a single node if nothing could be split.
        """
        n_outputs = residuals.shape[1]
        max_leaves = min(max_leaves, len(rows))
        level, work = _centre(residuals, curvatures, weights)
        table = self._table._replace(first_cells=self._first_cells * (2 + n_outputs))
        histograms = self._working_space(len(rows), max_leaves, int(table.first_cells[-1]))
        nodes = self._room(2 * max_leaves - 1, work.shape[1])
        values = np.empty((2 * max_leaves - 1, n_outputs))
        n = grow_tree(
            Sample(self._codes, rows.copy(), work), table, self._limits, max_leaves, self._candidates.copy(),
            np.array([seed], dtype=np.uint64), histograms, nodes, level, values,
        )  # fmt: skip
        return GrownTree(
            nodes.features[:n].copy(),
            nodes.children[:n].copy(),
            nodes.cuts[:n].copy(),
            nodes.sides[:n].copy(),
            nodes.n_rows[:n].copy(),
            values[:n],
        )

    def add(self, tree: GrownTree, factor: float, scores: FloatArray) -> None:
        """Add `factor` times the tree to the scores of all rows of the pool, in place."""
        add_tree(self._codes, tree.features, tree.children, tree.cuts, tree.sides, tree.values, factor, scores)

    def _room(self, n_nodes: int, n_columns: int) -> Nodes:
        """Return room for the nodes of a tree, that of earlier trees where it is enough."""
        n_had, n_had_columns = self._nodes.sums.shape
        if n_had < n_nodes or n_had_columns != n_columns:
            self._nodes = make_nodes(2 * n_nodes, n_columns)
        return self._nodes

    def _working_space(self, n_rows: int, max_leaves: int, size: int) -> FloatArray:
        """Return room for the histograms of all leaves, or of one where that is too much or of no use."""
        drawn = self._limits.max_features < len(self._candidates)
        n_cells = int(self._first_cells[-1])
        sparse = n_rows * len(self._bins.n_bins) < ROWS_PER_CELL * n_cells
        n_slots = 1 if drawn or sparse or max_leaves * size * 8 > HISTOGRAM_BYTES else max_leaves
        if self._histograms.shape[0] < n_slots or self._histograms.shape[1] != size:
            self._histograms = np.zeros((n_slots, size))
        return self._histograms[:n_slots]


def _centre(residuals: FloatArray, curvatures: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean residual of each output, and what the kernel sums: w, w r, w h, w r^2, with centred residuals.

    Centred, sums of squares lose no digits to a level that all residuals share.
    """
    n_outputs = residuals.shape[1]
    w = weights[:, None]
    level = (w * residuals).sum(axis=0) / max(weights.sum(), TINY)
    centred = residuals - level
    work = np.empty((len(weights), 2 + 2 * n_outputs))
    work[:, 0] = weights
    weighted = np.multiply(w, centred, out=work[:, 1 : 1 + n_outputs])
    np.multiply(w, curvatures, out=work[:, 1 + n_outputs : -1])
    (weighted * centred).sum(axis=1, out=work[:, -1])
    return level, work
