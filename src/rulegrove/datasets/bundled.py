"""The ten data sets of the paper, read from the package."""

import difflib
from dataclasses import replace
from importlib.resources import files
from typing import Literal, overload

import numpy as np

from rulegrove._typing import AnyArray, FloatArray
from rulegrove.datasets.record import Dataset
from rulegrove.datasets.waveform import make_waveform
from rulegrove.exceptions import InvalidInputError

_DESCRIPTIONS = {
    "breast-w": "Cells of breast tumours, graded 1 to 10 in nine respects; which tumours are malignant (Wisconsin).",
    "glass": "Refraction and chemistry of splinters of glass; what the glass was made for (label 4 never occurs).",
    "ion": "Radar returns from the ionosphere; which are good, that is, show structure.",
    "iris": "Sepals and petals of irises; which of three species.",
    "pendigits": "Eight points on the stroke of a pen; which digit was written (training and test part joined).",
    "phoneme": "Amplitudes of the first five harmonics of vowels; nasal (0) or oral (1).",
    "pima": "Medical measures of Pima women; who tests positive for diabetes (zeros in five columns are missing).",
    "sonar": "Sonar energy in sixty frequency bands; metal cylinder (Mine) or rock.",
    "vehicle": "Shape of the silhouettes of four vehicles; which one.",
    "waveform": "Noisy mixtures of two of three triangular waves; which two (drawn from its generator).",
}
_WAVEFORM_SEED = 1984  # the year of the book that introduced the waves


def names() -> tuple[str, ...]:
    """Return the names that `load` knows.

    Returns
    -------
    tuple of str
        Names in the order of the paper's table.

    Examples
    --------
    >>> from rulegrove import datasets
    >>> datasets.names()[:4]
    ('breast-w', 'glass', 'ion', 'iris')
    """
    return tuple(_DESCRIPTIONS)


@overload
def load(name: str, *, return_X_y: Literal[False] = False) -> Dataset: ...


@overload
def load(name: str, *, return_X_y: Literal[True]) -> tuple[FloatArray, AnyArray]: ...


@overload
def load(name: str, *, return_X_y: bool) -> Dataset | tuple[FloatArray, AnyArray]: ...


def load(name: str, *, return_X_y: bool = False) -> Dataset | tuple[FloatArray, AnyArray]:
    """Load one of the ten data sets of the paper; nothing is downloaded.

    Parameters
    ----------
    name : str
        One of `names()`. ``waveform`` is drawn from its generator with a fixed seed; the other nine are stored.
    return_X_y : bool, default=False
        Return ``(X, y)`` instead of the record.

    Returns
    -------
    Dataset or tuple of (X, y)
        The arrays are fresh at every call and belong to the caller.

    Raises
    ------
    InvalidInputError
        If there is no set of that name.

    Notes
    -----
    Values are exactly the decimals of the source files. ``breast-w`` has 16 missing cells (NaN). Rows stand in the
    order of the UCI files, except in ``pendigits``, where the source had moved a tenth of the rows to the end.

    Examples
    --------
    >>> from rulegrove.datasets import load
    >>> pima = load("pima")
    >>> pima.X.shape, pima.feature_names[1]
    ((768, 8), 'glucose')
    >>> X, y = load("vehicle", return_X_y=True)
    >>> X.shape, sorted(set(y.tolist()))
    ((846, 18), ['bus', 'opel', 'saab', 'van'])
    """
    if name not in _DESCRIPTIONS:
        close = difflib.get_close_matches(str(name).lower(), _DESCRIPTIONS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise InvalidInputError(f"`name` must be one of {', '.join(_DESCRIPTIONS)}; got {name!r}.{hint}")
    if name == "waveform":
        dataset = replace(make_waveform(random_state=_WAVEFORM_SEED), description=_DESCRIPTIONS[name])
    else:
        dataset = _read(name)
    return (dataset.X, dataset.y) if return_X_y else dataset


def _read(name: str) -> Dataset:
    """Read a stored set."""
    with files(__package__).joinpath("data", f"{name}.npz").open("rb") as file, np.load(file) as stored:
        X = _decode(stored["cells"], stored["decimals"])
        y = stored["classes"][stored["codes"]]
        feature_names = tuple(stored["feature_names"].tolist())
    return Dataset(name, _DESCRIPTIONS[name], X, y, feature_names)


def _decode(cells: AnyArray, decimals: AnyArray) -> FloatArray:
    """Turn stored integers, feature by feature, into rows of numbers.

    Each feature is divided by its power of ten; the quotient of two exactly represented numbers is the double nearest
    to the decimal, as if its text had been parsed. The smallest integer of the type marks a missing cell.
    """
    values = cells / 10.0 ** decimals[:, None]
    values[cells == np.iinfo(cells.dtype).min] = np.nan
    return np.ascontiguousarray(values.T)
