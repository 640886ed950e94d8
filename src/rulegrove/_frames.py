"""Columns of numbers and words as the data frame that the user has."""

from collections.abc import Mapping
from typing import Any, Literal

from rulegrove.exceptions import InvalidInputError

Backend = Literal["pandas", "polars", "pyarrow"]


def make_frame(columns: Mapping[str, Any], backend: Backend | None = None) -> Any:
    """Return columns as a data frame.

    Parameters
    ----------
    columns : mapping of str to list or ndarray
        Columns by name, all of one length.
    backend : {"pandas", "polars", "pyarrow"}, optional
        Which kind; None takes the first of them that is installed.

    Examples
    --------
    >>> make_frame({"a": [1, 2], "b": ["x", "y"]}, "pandas")["a"].tolist()
    [1, 2]
    """
    import narwhals as nw

    candidates: tuple[Backend, ...] = ("pandas", "polars", "pyarrow") if backend is None else (backend,)
    for name in candidates:
        try:
            return nw.from_dict(dict(columns), backend=name).to_native()
        except ImportError:
            continue
    raise InvalidInputError(f"to_frame() needs one of {', '.join(candidates)}; install one or use the record's arrays.")
