"""Tables to files, whole or not at all, and as CSV to standard output."""

import functools
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from rulegrove._files import written_whole
from rulegrove.cli.output import print_text
from rulegrove.cli.spreadsheets import mark_text

BATCH_ROWS = 10_000


def needs_marks(path: Path, raw: bool) -> bool:
    """Whether a table is for spreadsheet programs, which would run some text as formulas, and is not wanted raw."""
    return not raw and path.suffix.lower() in (".csv", ".tsv")


def write_table(table: pa.Table, path: Path, *, raw: bool = False) -> None:
    """Write a table; its kind is told by the end of the file's name.

    With `raw`, text in CSV stays as it is, even if a spreadsheet program would run it as a formula.
    """
    with written_whole(path) as draft, draft.open("wb") as file:
        WRITERS[path.suffix.lower()](mark_text(table) if needs_marks(path, raw) else table, file)


def write_csv(table: pa.Table, file: BinaryIO, delimiter: str = ",") -> None:
    """Write a table as CSV."""
    pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(delimiter=delimiter))


def print_csv(table: pa.Table, *, raw: bool = False) -> None:
    """Print a table as CSV; `raw` as for `write_table`."""
    safe = table if raw else mark_text(table)
    if sys.stdout.isatty():
        lines = io.BytesIO()
        write_csv(safe, lines)
        print_text(lines.getvalue().decode())
    else:
        write_csv(safe, sys.stdout.buffer)


def _write_json_lines(table: pa.Table, file: BinaryIO) -> None:
    for batch in table.to_batches(BATCH_ROWS):
        file.writelines(f"{json.dumps(row, ensure_ascii=False, default=str)}\n".encode() for row in batch.to_pylist())


WRITERS: dict[str, Callable[[pa.Table, BinaryIO], None]] = {
    ".csv": write_csv,
    ".tsv": functools.partial(write_csv, delimiter="\t"),
    ".parquet": pyarrow.parquet.write_table,
    ".feather": pyarrow.feather.write_feather,
    ".jsonl": _write_json_lines,
}
