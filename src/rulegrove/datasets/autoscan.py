"""The Dark Energy Survey's table of real candidates, which may not be bundled."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rulegrove.datasets.record import Dataset
from rulegrove.exceptions import InvalidInputError

#: The 38 statistics of a candidate, in the alphabetical order of the published table.
AUTOSCAN_FEATURES: tuple[str, ...] = (
    "AMP",
    "A_IMAGE",
    "A_REF",
    "BAND",
    "B_IMAGE",
    "B_REF",
    "CCDID",
    "COLMEDS",
    "DIFFSUMRN",
    "ELLIPTICITY",
    "FLAGS",
    "FLUX_RATIO",
    "GAUSS",
    "GFLUX",
    "L1",
    "LACOSMIC",
    "MAG",
    "MAGDIFF",
    "MAGLIM",
    "MAG_FROM_LIMIT",
    "MAG_REF",
    "MAG_REF_ERR",
    "MASKFRAC",
    "MIN_DISTANCE_TO_EDGE_IN_NEW",
    "N2SIG3",
    "N2SIG3SHIFT",
    "N2SIG5",
    "N2SIG5SHIFT",
    "N3SIG3",
    "N3SIG3SHIFT",
    "N3SIG5",
    "N3SIG5SHIFT",
    "NN_DIST_RENORM",
    "NUMNEGRN",
    "SCALE",
    "SNR",
    "SPREADERR_MODEL",
    "SPREAD_MODEL",
)
_HEADER = (*AUTOSCAN_FEATURES, "class")


def load_autoscan(path: str | os.PathLike[str]) -> Dataset:
    """Read candidates for supernovae of the Dark Energy Survey from a CSV file.

    The table comes from the training set of ``autoscan`` [1]_: 38 statistics of the search, template and difference
    images of a candidate; +1 is a transient (mostly supernovae put into real images), -1 an artefact.

    Parameters
    ----------
    path : str or path-like
        CSV file with a header: the 38 names of the published table in alphabetical order, then ``class``. Empty cells
        are missing values.

    Returns
    -------
    Dataset
        Missing cells are NaN; labels are -1 and +1.

    Raises
    ------
    InvalidInputError
        If the header, the length of a row, a cell or a label is not as above; the message names the line.

    References
    ----------
    .. [1] D. Goldstein et al., *Automated Transient Identification in the Dark Energy Survey*, AJ 150:82, 2015.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> from rulegrove.datasets import AUTOSCAN_FEATURES, load_autoscan
    >>> lines = [",".join(AUTOSCAN_FEATURES) + ",class", "0.5," * 38 + "1", "," * 38 + "-1"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "candidates.csv"
    ...     _ = path.write_text(os.linesep.join(lines))
    ...     candidates = load_autoscan(path)
    >>> candidates
    Dataset('des_autoscan', 2 rows, 38 features, 2 classes)
    >>> candidates.X[:, 0]
    array([0.5, nan])
    """
    path = Path(path)
    if not path.is_file():
        raise InvalidInputError(f"`path` must be the CSV file of the candidates; there is no file {str(path)!r}.")
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = csv.reader(file)
        _check_header(next(lines, []))
        rows = [_row(number, line) for number, line in enumerate(lines, start=2) if line]
    table = np.array(rows, dtype=np.float64).reshape(-1, len(_HEADER))
    if not len(table):
        raise InvalidInputError(f"{str(path)!r} has a header but no rows.")
    return Dataset(
        name="des_autoscan",
        description="Statistics of images of candidates in the Dark Energy Survey; transient (+1) or artefact (-1).",
        X=np.ascontiguousarray(table[:, :-1]),
        y=table[:, -1].astype(np.int64),
        feature_names=AUTOSCAN_FEATURES,
    )


def _check_header(header: Sequence[str]) -> None:
    """Refuse a header that is not the one of the published table."""
    if tuple(header) == _HEADER:
        return
    missing = [name for name in _HEADER if name not in header]
    unknown = [name for name in header if name not in _HEADER]
    found = f"{len(header)} columns" + (f", without {', '.join(missing[:5])}" if missing else "")
    found += f", with the unknown {', '.join(map(repr, unknown[:5]))}" if unknown else ""
    found += "" if missing or unknown else ", in another order or repeated"
    raise InvalidInputError(
        f"The header must be the {len(AUTOSCAN_FEATURES)} names of `AUTOSCAN_FEATURES`, then 'class'; got {found}."
    )


def _row(number: int, line: list[str]) -> list[float]:
    """Turn one line into numbers, empty cells into NaN."""
    if len(line) != len(_HEADER):
        raise InvalidInputError(f"Line {number} must have {len(_HEADER)} cells like the header; got {len(line)}.")
    values = [_number(number, name, cell) for name, cell in zip(_HEADER, line, strict=True)]
    if values[-1] not in (-1.0, 1.0):
        raise InvalidInputError(f"'class' must be -1 or 1; got {line[-1]!r} on line {number}.")
    return values


def _number(line: int, name: str, cell: str) -> float:
    """Turn one cell into a number."""
    try:
        return float(cell) if cell.strip() else np.nan
    except ValueError:
        raise InvalidInputError(f"{name!r} must be a number or empty; got {cell!r} on line {line}.") from None
