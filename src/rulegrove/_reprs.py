"""Records as they show themselves in a console or a notebook: one short line, whatever arrays they hold."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

MOST_LETTERS = 80  # of one value
MOST_VALUES = 8  # of one record
MOST_ITEMS = 4  # of a value that holds several


def short_repr(record: Any) -> str:
    """Return a record as one line: the name of its class, and what its fields hold.

    Records take it as their method, ``__repr__ = short_repr``. Arrays and what else has no short name is told by its
    size; what is None is left out.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> @dataclass
    ... class Found:
    ...     name: str
    ...     errors: np.ndarray
    ...     folds: dict | None = None
    ...     __repr__ = short_repr
    >>> Found("lasso", np.zeros((100, 3)))
    Found(name='lasso', errors=<100 x 3 values>)
    """
    told = [(one.name, getattr(record, one.name)) for one in fields(record) if one.repr]
    shown = [f"{name}={short_value(value)}" for name, value in told if value is not None]
    more = ["..."] if len(shown) > MOST_VALUES else []
    return f"{type(record).__name__}({', '.join([*shown[:MOST_VALUES], *more])})"


def short_value(value: Any) -> str:
    """Return what a field holds, in few letters.

    Examples
    --------
    >>> short_value(0.1234567), short_value([1, 2]), short_value(range(100)), short_value({"a": [0.5] * 9})
    ('0.1235', '[1, 2]', '<100 items>', "{'a': <9 items>}")
    """
    if isinstance(value, float):
        return f"{value:.4g}"
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"<{' x '.join(map(str, shape))} values{_tell_span(value)}>"
    if isinstance(value, Mapping) and len(value) <= MOST_ITEMS:
        words = "{" + ", ".join(f"{key!r}: {short_value(item)}" for key, item in value.items()) + "}"
    elif isinstance(value, tuple | list) and len(value) <= MOST_ITEMS and not any(map(is_dataclass, value)):
        words = ", ".join(map(short_value, value))
        words = f"[{words}]" if isinstance(value, list) else f"({words}{',' * (len(value) == 1)})"
    elif hasattr(value, "__len__") and not isinstance(value, str):
        return f"<{len(value)} item{'s' * (len(value) != 1)}>"
    else:
        words = repr(value)
    if len(words) <= MOST_LETTERS and "\n" not in words:
        return words
    return f"{words[:MOST_LETTERS]}...'" if isinstance(value, str) else f"<{type(value).__name__}>"


def _tell_span(values: Any) -> str:
    """Return between which numbers those of a vector are."""
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if kind not in ("f", "i", "u") or len(values.shape) != 1 or not len(values) or (values != values).any():
        return ""
    return f" from {values.min():.4g} to {values.max():.4g}"
