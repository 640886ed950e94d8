"""The cumulative hazard of a row whose score is 0."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import FloatArray
from rulegrove.estimators._checked_json import Value


@dataclass(frozen=True, eq=False)
class Baseline:
    """A cumulative hazard that rises in steps.

    Attributes
    ----------
    times, hazards : ndarray of shape (n_times,)
        The times, rising, and the cumulative hazard from each time on, which never falls.

    Examples
    --------
    >>> baseline = Baseline(np.array([1.0, 3.0]), np.array([0.1, 0.4]))
    >>> baseline(np.array([0.5, 1.0, 2.0, 9.0]))
    array([0. , 0.1, 0.1, 0.4])
    """

    times: FloatArray
    hazards: FloatArray

    __repr__ = short_repr

    @classmethod
    def thinned(cls, times: FloatArray, hazards: FloatArray, most: int) -> Self:
        """Return a hazard with at most this many steps, of about equal height."""
        rises = np.flatnonzero(np.diff(hazards, prepend=0.0) > 0.0)
        if rises.size > most:
            wanted = np.linspace(hazards[rises[0]], hazards[rises[-1]], most)
            rises = np.unique(rises[np.searchsorted(hazards[rises], wanted)])
        return cls(times[rises].astype(np.float64), hazards[rises].astype(np.float64))

    def __call__(self, times: FloatArray) -> FloatArray:
        """Return the cumulative hazard at some times."""
        return np.concatenate([[0.0], self.hazards])[np.searchsorted(self.times, times, side="right")]

    @classmethod
    def decode(cls, value: Value) -> Self:
        """Return the hazard of a model file."""
        fields = value.fields(["times", "hazards"])
        times = fields["times"].numbers(None, 0.0)
        hazards = fields["hazards"].numbers(len(times), 0.0)
        if (np.diff(times) <= 0.0).any() or (np.diff(hazards) < 0.0).any():
            value.refuse("rising times, and hazards that do not fall")
        return cls(times, hazards)
