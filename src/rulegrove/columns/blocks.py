"""Rows of a table by attribute, a block at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from rulegrove._typing import AnyArray, BoolArray, FloatArray, IntArray
from rulegrove.columns.feature import Feature, call_column, list_sources
from rulegrove.exceptions import InvalidInputError

CHUNK_ROWS = 1024  # rows gathered at once from a row-major array, so that the transposition stays in cache


class Columns:
    """Rows of a table by attribute.

    Its values are a float matrix, dense or sparse, or one float array an attribute; such a sequence may read an array
    when it is asked for, and then `n_rows` tells how many rows there are. `names` are the columns of the table, by
    default those that the attributes are read from.
    """

    __slots__ = ("_arrays", "_matrix", "features", "n_rows", "names")

    def __init__(
        self,
        features: Sequence[Feature],
        values: Any,
        n_rows: int | None = None,
        names: Sequence[str] | None = None,
    ):
        self.features = tuple(features)
        self.names = list_sources(features) if names is None else tuple(names)
        self._matrix: Any = None
        self._arrays: Any = ()
        self.n_rows: int = values.shape[0] if hasattr(values, "shape") else len(values[0]) if n_rows is None else n_rows
        if issparse(values):
            self._matrix = values.tocsr()
        elif isinstance(values, np.ndarray):
            self._matrix = values if values.flags.c_contiguous else None
            self._arrays = values.T
        else:
            self._arrays = values

    @property
    def n_features(self) -> int:
        """Number of attributes."""
        return len(self.features)

    @property
    def n_categories(self) -> IntArray:
        """Categories of each attribute; 0 for a numeric one."""
        return np.array([feature.n_categories for feature in self.features], dtype=np.int64)

    @property
    def are_days(self) -> BoolArray:
        """Whether each attribute is the day of a date."""
        return np.array([feature.part == "date" for feature in self.features], dtype=bool)

    def take(self, rows: IntArray | slice, features: IntArray | None = None) -> FloatArray:
        """Block of shape (len(features), n_taken): float64, one row for each attribute."""
        wanted = np.arange(self.n_features) if features is None else features
        n_taken = len(range(*rows.indices(self.n_rows))) if isinstance(rows, slice) else len(rows)
        block = np.empty((len(wanted), n_taken))
        if self._matrix is None:
            for target, feature in zip(block, wanted, strict=True):
                target[:] = self._arrays[feature][rows]
            return block
        for start in range(0, n_taken, CHUNK_ROWS):
            stop = min(start + CHUNK_ROWS, n_taken)
            part = self._matrix[_part(rows, start, stop)]
            block[:, start:stop] = (part.toarray() if issparse(part) else part).T[wanted]
        return block

    def check_finite(self) -> None:
        """Refuse infinite values in a table that is a matrix, naming the first column that holds one."""
        if issparse(self._matrix):
            stored = self._matrix.tocoo()
            infinite = np.isinf(stored.data)
            first = int(stored.col[infinite].min()) if infinite.any() else None
        elif self._matrix is None:
            first = next((k for k, values in enumerate(self._arrays) if np.isinf(values).any()), None)
        else:
            chunks = (self._matrix[start : start + CHUNK_ROWS] for start in range(0, self.n_rows, CHUNK_ROWS))
            infinite = np.any([np.isinf(chunk).any(axis=0) for chunk in chunks], axis=0)
            first = int(np.argmax(infinite)) if infinite.any() else None
        if first is not None:
            values = self.take(slice(None), np.array([first]))[0]
            check_finite(values, call_column(first, self.features[first].name))


def check_finite(values: AnyArray, told: str) -> None:
    """Refuse infinite values in a column, `told` being what it is called in messages."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise InvalidInputError(
            f"{told} must be finite or missing; got {values[row]} in row {row}. Replace infinite values by a bound or "
            "by NaN."
        )


def _part(rows: IntArray | slice, start: int, stop: int) -> IntArray | slice:
    """Positions start to stop of a selection of rows."""
    if isinstance(rows, slice):
        first, step = rows.start or 0, rows.step or 1
        return slice(first + start * step, first + stop * step, step)
    return rows[start:stop]
