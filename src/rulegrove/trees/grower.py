"""Growing one tree on a sample of binned rows, best split first."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rulegrove._typing import ByteArray, FloatArray, Int32Array, IntArray
from rulegrove.trees._kernels import add_tree, grow_tree
from rulegrove.trees.binning import Bins

HISTOGRAM_BYTES = 2**27
"""Most memory for the histograms of a tree's leaves; a tree that needs more counts each histogram from its rows."""


@dataclass(frozen=True)
class TreeLimits:
    """What a split must respect.

    Attributes
    ----------
    max_features : int
        Features drawn for a split; drawing goes on while none of those drawn can be split.
    min_samples_leaf : int
        Fewest rows of a node.
    min_impurity : float
        A node whose weighted variance, summed over the outputs, is not above it stays a leaf.
    max_conditions : int or None
        Most splits between the root and a node.
    """

    max_features: int
    min_samples_leaf: int = 1
    min_impurity: float = 0.0
    max_conditions: int | None = None


class GrownTree(NamedTuple):
    """One tree in terms of bins; node 0 is the root and the right child follows the left one."""

    features: Int32Array
    """Feature of each node's split, -1 for a leaf."""
    children: Int32Array
    """The left child."""
    cuts: Int32Array
    """Last bin going left, -1 for a categorical split."""
    sides: ByteArray
    """Side of each of the 256 codes: 0 neither, 1 left, 2 right."""
    n_samples: IntArray
    """Rows of the sample in each node."""
    values: FloatArray
    """Newton step of each output."""


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

    def __init__(self, bins: Bins, codes: ByteArray, limits: TreeLimits) -> None:
        self._bins = bins
        self._codes = codes
        self._limits = limits
        self._has_missing = bins.has_missing.astype(np.uint8)
        self._candidates = np.flatnonzero(bins.n_bins + bins.has_missing >= 2)
        self._first_cells = np.concatenate([[0], np.cumsum(bins.n_bins + 1)]).astype(np.int64)
        self._histograms = np.empty((0, 0, 0))

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
        bins, limits = self._bins, self._limits
        n_outputs = residuals.shape[1]
        max_leaves = min(max_leaves, len(rows))
        max_nodes = 2 * max_leaves - 1
        features, children, cuts = (np.full(max_nodes, -1, dtype=np.int32) for _ in range(3))
        sides = np.zeros((max_nodes, 256), dtype=np.uint8)
        n_samples = np.zeros(max_nodes, dtype=np.int64)
        values = np.zeros((max_nodes, n_outputs))
        n_nodes = grow_tree(
            self._codes, rows, residuals, curvatures, weights, self._candidates, self._first_cells, bins.n_bins,
            bins.n_categories, self._has_missing, bins.lows, bins.highs, max_leaves, limits.max_features,
            max(1, limits.min_samples_leaf), limits.min_impurity, self._max_depth(), np.array([seed], dtype=np.uint64),
            self._working_space(max_leaves, n_outputs), features, children, cuts, sides, n_samples, values,
        )  # fmt: skip
        return GrownTree(*(a[:n_nodes] for a in (features, children, cuts, sides, n_samples, values)))

    def add(self, tree: GrownTree, factor: float, scores: FloatArray) -> None:
        """Add `factor` times the tree to the scores of all rows of the pool, in place."""
        add_tree(
            self._codes, len(tree.features), tree.features, tree.children, tree.cuts, tree.sides, tree.values, factor,
            scores,
        )  # fmt: skip

    def _max_depth(self) -> int:
        """Splits allowed above a node; no limit is more than any tree has."""
        return np.iinfo(np.int64).max if self._limits.max_conditions is None else self._limits.max_conditions

    def _working_space(self, max_leaves: int, n_outputs: int) -> FloatArray:
        """Return room for the histograms of all leaves, or of one where that is too much or of no use."""
        n_cells = int(self._first_cells[-1])
        all_features = self._limits.max_features >= len(self._candidates)
        n_slots = max_leaves if all_features else 1
        if n_slots * n_cells * (2 + n_outputs) * 8 > HISTOGRAM_BYTES:
            n_slots = 1
        if len(self._histograms) < n_slots:
            self._histograms = np.empty((n_slots, n_cells, 2 + n_outputs))
        return self._histograms
