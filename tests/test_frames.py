"""Data frames of whichever library is there."""

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rulegrove._frames import make_frame
from rulegrove.exceptions import InvalidInputError

COLUMNS = {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("backend", "kind"),
    [(None, pd.DataFrame), ("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)],
)
def test_every_kind_of_frame(backend, kind):
    frame = make_frame(COLUMNS, backend)
    assert isinstance(frame, kind)
    assert nw.from_native(frame).to_dict(as_series=False) == COLUMNS


def test_a_missing_library_is_told(monkeypatch):
    def fail(*arguments, **options):
        raise ImportError

    monkeypatch.setattr(nw, "from_dict", fail)
    with pytest.raises(InvalidInputError, match="needs one of pandas, polars, pyarrow; install one"):
        make_frame(COLUMNS)
