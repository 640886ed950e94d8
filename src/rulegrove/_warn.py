"""Warnings that point at the user's line, however deep inside the package they are raised."""

import sys
import warnings
from pathlib import Path

_HERE = str(Path(__file__).parent)


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the first line of the call stack that is not of this package.

    Parameters
    ----------
    message : str
    category : type of Warning

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("Column 3 ('age') is constant; no term uses it.", UserWarning)
    >>> caught[0].filename.endswith("_warn.py")
    False
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
