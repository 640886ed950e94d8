"""Bands of lists from other rows by their words: the list, and nine of ten differences of two halves either way."""

import numpy as np

from rulegrove.estimators.recurrence import WIDER


def find_naive_band(own, others, least=-np.inf, most=np.inf):
    """Return the ends of the band about what a list says, from what lists of pairs of halves say."""
    differences = [np.abs(np.subtract(*others[first : first + 2])) for first in range(0, len(others) - 1, 2)]
    spread = WIDER * np.quantile(differences, 0.9, axis=0)
    return np.clip([own - spread, own + spread], least, most)
