"""Which attributes of a very wide table trees may split on: those that say most of the target by one split."""

import numpy as np

from rulegrove._threads import run_tasks
from rulegrove._typing import FloatArray, IntArray

_CHUNK_VALUES = 2**18  # of the table, times the outputs, that are sorted at once: 2 MB in each array


def find_strongest(
    block: FloatArray,
    targets: FloatArray,
    weights: FloatArray | None,
    n_categories: IntArray,
    *,
    min_rows: int,
    most: int,
    n_threads: int = 1,
) -> IntArray:
    """Return the attributes that say most of the target by a single split, all of them if there are few.

    Parameters
    ----------
    block : ndarray of shape (n_features, n_rows)
        Values, one row for each attribute; NaN where missing.
    targets : ndarray of shape (n_rows, n_outputs)
        Each output counts by its variance.
    weights : ndarray of shape (n_rows,), optional
    n_categories : ndarray of shape (n_features,)
        Categories of each attribute, 0 for a numeric one.
    min_rows : int
        Rows at least on either side of a split.
    most : int
        How many attributes to return at most.
    n_threads : int
        Attributes worked on side by side.

    Returns
    -------
    ndarray of shape (n_strongest,)
        Ascending positions.

    Examples
    --------
    >>> import numpy as np
    >>> block = np.array([[0.0, 1.0, 2.0, 3.0], [3.0, 0.0, 2.0, 1.0], [0.0, 9.0, 9.0, 0.0]])
    >>> targets, numeric = np.array([[0.0], [1.0], [1.0], [0.0]]), np.zeros(3, dtype=np.int64)
    >>> find_strongest(block, targets, None, numeric, min_rows=1, most=1)
    array([2])
    """
    n_features, n_rows = block.shape
    if n_features <= most:
        return np.arange(n_features)
    own = np.ones(n_rows) if weights is None else weights
    centred = targets - np.average(targets, axis=0, weights=own)
    spread = np.sqrt(np.average(centred**2, axis=0, weights=own))
    pulls = own * (centred / np.where(spread > 0.0, spread, 1.0)).T

    def measure(start: int) -> FloatArray:
        part = slice(start, start + step)
        return _best_splits(_order_values(block[part], n_categories[part], pulls, own), pulls, own, min_rows)

    step = max(1, _CHUNK_VALUES // (n_rows * len(pulls)))
    strengths = np.concatenate(run_tasks(measure, range(0, n_features, step), n_threads))
    return np.sort(np.argsort(-strengths, kind="stable")[:most])


def _order_values(block: FloatArray, n_categories: IntArray, pulls: FloatArray, weights: FloatArray) -> FloatArray:
    """Return values of which a split takes the lower ones: categories stand for their mean target, as trees sort them.

    Of several outputs the first that varies sorts the categories.
    """
    categorical = np.flatnonzero(n_categories)
    if not categorical.size:
        return block
    values, pull = block.copy(), pulls[int(np.argmax(np.abs(pulls).max(axis=1) > 0.0))]
    for f in categorical:
        known = ~np.isnan(block[f])
        codes = block[f, known].astype(np.int64)
        sums, sizes = np.bincount(codes, pull[known]), np.bincount(codes, weights[known])
        values[f, known] = (sums / np.where(sizes > 0.0, sizes, 1.0))[codes]
    return values


def _best_splits(values: FloatArray, pulls: FloatArray, weights: FloatArray, min_rows: int) -> FloatArray:
    """Return by how much the best split of each row of values lowers the squared error; missing ones are the largest.

    `pulls` are centred targets times weights, of shape (n_outputs, n_rows).
    """
    n_rows = values.shape[1]
    order = np.argsort(values, axis=1)
    arranged = np.take_along_axis(values, order, axis=1)
    left, right = arranged[:, :-1], arranged[:, 1:]
    allowed = (left < right) | (np.isnan(right) & ~np.isnan(left))
    sizes = np.arange(1, n_rows)
    allowed &= (sizes >= min_rows) & (n_rows - sizes >= min_rows)
    below = np.cumsum(weights[order], axis=1)
    shares = below[:, :-1] * (below[:, -1:] - below[:, :-1])
    gains = np.zeros(left.shape)
    for pull in pulls:
        gains += np.cumsum(pull[order], axis=1)[:, :-1] ** 2
    found: FloatArray = np.divide(gains, shares, out=np.zeros_like(gains), where=allowed & (shares > 0.0)).max(
        axis=1, initial=0.0
    )
    return found
