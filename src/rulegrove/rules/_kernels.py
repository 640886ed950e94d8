"""Compiled loop over the pair counts of rules: which of them differ from all that were kept before."""

import numpy as np

from rulegrove._kernel_cache import njit
from rulegrove._typing import BoolArray, FloatArray, IntArray


@njit(nogil=True, error_model="numpy")
def keep_different(
    order: IntArray,
    shared: IntArray | FloatArray,
    support: FloatArray,
    total: float,
    max_correlation: float,
    forced: BoolArray,
    left: BoolArray,
) -> BoolArray:
    """Return which rules are kept, taken in `order` if they are still left or are forced (`left` is changed in place).

    A rule that is kept takes those out of `left` whose correlation with it is above the limit, either way. `support` is
    the share of all rows, `shared` counts them or adds up their weight, of which `total` is all.
    """
    spread = np.sqrt(np.maximum(support * (1.0 - support), 0.0))
    kept = np.zeros(len(support), dtype=np.bool_)
    for rule in order:
        if not (left[rule] or forced[rule]):
            continue
        kept[rule] = True
        both, own, limit = shared[rule], support[rule], max_correlation * spread[rule]
        for other in range(len(support)):  # without a branch, so that it is done in vectors
            left[other] &= abs(both[other] / total - own * support[other]) <= limit * spread[other]
    return kept
