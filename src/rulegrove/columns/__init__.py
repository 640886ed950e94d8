"""The table as the stages see it: named attributes, read a block of rows at a time.

Whatever the user holds (array, sparse matrix, pandas, polars, Arrow), a `Columns` gives blocks of float64 with one row
an attribute: numbers as they are (float32 widened exactly), categories as codes, parts of dates as numbers, NaN where
missing. The user's memory is read in place; only text, categories and dates are encoded into new arrays.
"""

from typing import TYPE_CHECKING

from rulegrove._lazy import load_later
from rulegrove.columns.feature import Feature, Part, call_column, list_sources, locate_sources

if TYPE_CHECKING:
    from rulegrove.columns.blocks import CHUNK_ROWS, Columns
    from rulegrove.columns.encoding import encode_columns
    from rulegrove.columns.learning import Reading, learn_columns
    from rulegrove.columns.tables import as_table, count_rows, is_frame, list_names

__all__ = [
    "CHUNK_ROWS",
    "Columns",
    "Feature",
    "Part",
    "Reading",
    "as_table",
    "call_column",
    "count_rows",
    "encode_columns",
    "is_frame",
    "learn_columns",
    "list_names",
    "list_sources",
    "locate_sources",
]

# Rules speak of attributes; what reads tables needs scikit-learn, which whoever reads rules need not wait for.
_HOMES = {
    "CHUNK_ROWS": "blocks",
    "Columns": "blocks",
    "Reading": "learning",
    "as_table": "tables",
    "count_rows": "tables",
    "encode_columns": "encoding",
    "is_frame": "tables",
    "learn_columns": "learning",
    "list_names": "tables",
}
__getattr__ = load_later(globals(), {name: f"rulegrove.columns.{home}" for name, home in _HOMES.items()})
