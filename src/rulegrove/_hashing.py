"""Random numbers that belong to rows: the same for a row however the table is divided."""

import numpy as np

from rulegrove._typing import IntArray, Words

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def hash_positions(seed: int, positions: IntArray | Words) -> Words:
    """Return 64 random bits for each row, from a seed and the row's position in the whole table.

    The numbers of SplitMix64 (Steele, Lea, Flood 2014, figure 12), started from the mixed seed and asked out of turn.

    Parameters
    ----------
    seed : int
        From 0 to ``2**64 - 1``.
    positions : ndarray of shape (n_rows,)

    Returns
    -------
    ndarray of shape (n_rows,), uint64

    Examples
    --------
    >>> import numpy as np
    >>> whole = hash_positions(7, np.arange(100))
    >>> bool((hash_positions(7, np.arange(60, 100)) == whole[60:]).all())
    True
    """
    start = _mix(np.array([seed], dtype=np.uint64))
    return _mix(start + (np.asarray(positions).astype(np.uint64, copy=False) + np.uint64(1)) * _STEP)


def _mix(bits: Words) -> Words:
    """Return well mixed bits."""
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))


def deal_folds(seed: int, positions: IntArray | Words, n_folds: int) -> IntArray:
    """Return the fold of each row: its random number modulo the number of folds.

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(deal_folds(0, np.arange(10_000), 5)).tolist()
    [1935, 2027, 2000, 1973, 2065]
    """
    return (hash_positions(seed, positions) % np.uint64(n_folds)).astype(np.int64)
