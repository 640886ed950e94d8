"""Tables with categories as arrays that any environment can read, and back; needs NumPy and pandas alone."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

Columns = tuple[tuple[str, tuple[str, ...] | None], ...]  # of each column its name, and its categories if it has any


def pack(frame: pd.DataFrame) -> tuple[np.ndarray, Columns]:
    """Return the numbers of a table, categories as their places, NaN where a cell is empty; and what they mean."""
    values, columns = [], []
    for name, column in frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes = column.cat.codes.to_numpy(np.float64)
            values.append(np.where(codes < 0, np.nan, codes))
            columns.append((str(name), tuple(map(str, column.cat.categories))))
        else:
            values.append(column.to_numpy(np.float64))
            columns.append((str(name), None))
    return np.column_stack(values), tuple(columns)


def unpack(X: np.ndarray, columns: Sequence[tuple[str, Sequence[str] | None]]) -> pd.DataFrame:
    """Return the table; categories are words."""
    frame = {}
    for values, (name, categories) in zip(X.T, columns, strict=True):
        if categories is None:
            frame[name] = pd.Series(values)
        else:
            codes = np.where(np.isnan(values), -1, values).astype(np.int64)
            frame[name] = pd.Series(pd.Categorical.from_codes(codes, list(categories)))
    return pd.DataFrame(frame)
