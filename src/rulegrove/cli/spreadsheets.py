"""Text that spreadsheet programs would run as a formula, marked as text in CSV files and unmarked again when read.

A cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line end is a formula to a spreadsheet program, which may
start programs and send data away. A single quote before it makes it text [1]_. Numbers are left as they are.

.. [1] OWASP, "CSV Injection".
"""

import re
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

T = TypeVar("T", pa.Table, pa.RecordBatch)

_FORMULA = "[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"  # the last four are the wide forms of the first four
_MARKED = f"^'+{_FORMULA}"
_UNSAFE = f"^{_FORMULA}"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def mark_text(table: T) -> T:
    """Return a table whose cells of text, and names, are no formulas.

    A cell that has such a mark already gets one more, so that `unmark_text` gives every cell back.

    Examples
    --------
    >>> mark_text(pa.table({"a": ["=1+1", "-5", "-", "x"], "b": [-1, 2, 3, 4]})).to_pydict()
    {'a': ["'=1+1", '-5', "'-", 'x'], 'b': [-1, 2, 3, 4]}
    """
    arrays = [_mark(column.cast(pa.large_string())) if holds_text(column.type) else column for column in table.columns]
    return type(table).from_arrays(arrays, names=_mark(pa.array(table.schema.names, pa.string())).to_pylist())


def unmark_text(table: T) -> T:
    """Return a table without the marks of `mark_text`.

    Examples
    --------
    >>> unmark_text(pa.table({"a": ["'=1+1", "'x'"]})).to_pydict()
    {'a': ['=1+1', "'x'"]}
    """
    arrays = [
        pc.if_else(pc.match_substring_regex(cells, _MARKED), pc.utf8_slice_codeunits(cells, 1), cells)
        if holds_text(cells.type)
        else cells
        for cells in table.columns
    ]
    # Not as an array: making one of a list loads pandas, and names are few.
    names = [name[1:] if re.match(_MARKED, name) else name for name in table.schema.names]
    return type(table).from_arrays(arrays, names=names)


def _mark(cells: pa.Array) -> pa.Array:
    formula = pc.and_not(pc.match_substring_regex(cells, _UNSAFE), pc.match_substring_regex(cells, _NUMBER))
    marked = pc.or_(formula, pc.match_substring_regex(cells, _MARKED))
    mark, nothing = (pa.scalar(text, cells.type) for text in ("'", ""))
    return pc.if_else(marked, pc.binary_join_element_wise(mark, cells, nothing), cells)


def holds_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds words, also where they are kept by their codes."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
