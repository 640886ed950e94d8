"""The grown forest: all trees in flat arrays, thresholds exact, nothing of the growing left."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rulegrove._typing import BoolArray, FloatArray, Int32Array, IntArray, Words
from rulegrove.trees._kernels import find_nodes


@dataclass(frozen=True)
class Forest:
    """Trees as arrays over all their nodes; a node's number is its place, and children come after their parent.

    Attributes
    ----------
    roots : ndarray of shape (n_trees,)
        The first node of each tree.
    feature : ndarray of shape (n_nodes,)
        Feature of the split, -1 for a leaf.
    threshold : ndarray of shape (n_nodes,)
        A numeric split sends ``x <= threshold`` left. Infinite where it parts the missing values (right) from all
        others.
    categories, right_categories : ndarray of shape (n_nodes, 4)
        Bit ``c`` of the 256 is set if code ``c`` goes left, or right; all zero for a numeric split. A code in neither
        stays at the node.
    missing : ndarray of shape (n_nodes,)
        Where a missing value goes: 0 it stays, 1 left, 2 right.
    left, right, parent : ndarray of shape (n_nodes,)
        Neighbouring nodes, -1 for none.
    value : ndarray of shape (n_nodes, n_outputs)
        What a row that ends at the node gets.
    n_samples : ndarray of shape (n_nodes,)
        Rows of the tree's own sample in the node.
    """

    roots: IntArray
    feature: Int32Array
    threshold: FloatArray
    categories: Words
    right_categories: Words
    missing: npt.NDArray[np.int8]
    left: Int32Array
    right: Int32Array
    parent: Int32Array
    value: FloatArray
    n_samples: IntArray

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, roots included; every node but a root is a rule."""
        return len(self.feature)

    @property
    def is_categorical(self) -> BoolArray:
        """Whether each node splits on categories."""
        return np.asarray((self.categories | self.right_categories).any(axis=1))

    def apply(self, block: FloatArray) -> Int32Array:
        """Return the node of each tree where each row ends.

        Parameters
        ----------
        block : ndarray of shape (n_features, n_rows)
            Values, one feature a row; NaN is missing, a category is its code.

        Returns
        -------
        ndarray of shape (n_trees, n_rows)
            Node numbers: leaves, or inner nodes whose split the row's value cannot pass.
        """
        places = np.empty((self.n_trees, block.shape[1]), dtype=np.int32)
        find_nodes(
            np.ascontiguousarray(block, dtype=np.float64), self.roots, self.feature, self.threshold,
            self.is_categorical.astype(np.uint8), self.categories, self.right_categories, self.missing, self.left,
            self.right, places,
        )  # fmt: skip
        return places

    def predict(self, block: FloatArray, *, initial: FloatArray | float = 0.0, shrinkage: float = 1.0) -> FloatArray:
        """Return ``initial + shrinkage * (sum of the trees' values)``, trees added in order.

        Parameters
        ----------
        block : ndarray of shape (n_features, n_rows)
            Values, one feature a row.
        initial : float or ndarray of shape (n_outputs,)
            The constant the first tree started from.
        shrinkage : float
            Factor of each tree.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
            The scores.
        """
        scores = np.zeros((block.shape[1], self.value.shape[1])) + initial
        for places in self.apply(block):
            scores += shrinkage * self.value[places]
        return scores
