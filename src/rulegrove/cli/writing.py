"""Results to files, whole or not at all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from rulegrove._files import written_whole
from rulegrove.exceptions import InvalidInputError

BATCH_ROWS = 10_000


def check_output(path: Path | None, *, table: bool = False) -> None:
    """Refuse a place that cannot be written to, before the work and not after it.

    Parameters
    ----------
    path : path or None
        None is always well.
    table : bool
        Whether a table goes there, whose kind the end of the name tells.
    """
    if path is None:
        return
    if path.is_dir():
        raise InvalidInputError(f"'{path}' is a folder; give the name of a file in it.")
    if not path.parent.is_dir():
        raise InvalidInputError(f"There is no folder '{path.parent}' to write '{path.name}' to; make it first.")
    if table and path.suffix.lower() not in WRITERS:
        raise InvalidInputError(f"'{path}' must end in one of {', '.join(WRITERS)}, which tells how to write it.")


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table; its kind is told by the end of the file's name."""
    with written_whole(path) as draft, draft.open("wb") as file:
        WRITERS[path.suffix.lower()](table, file)


def write_csv(table: pa.Table, file: BinaryIO, delimiter: str = ",") -> None:
    """Write a table as CSV."""
    pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(delimiter=delimiter))


def _write_tsv(table: pa.Table, file: BinaryIO) -> None:
    write_csv(table, file, "\t")


def _write_json_lines(table: pa.Table, file: BinaryIO) -> None:
    for batch in table.to_batches(BATCH_ROWS):
        file.writelines(f"{json.dumps(row, ensure_ascii=False, default=str)}\n".encode() for row in batch.to_pylist())


WRITERS: dict[str, Callable[[pa.Table, BinaryIO], None]] = {
    ".csv": write_csv,
    ".tsv": _write_tsv,
    ".parquet": pyarrow.parquet.write_table,
    ".feather": pyarrow.feather.write_feather,
    ".jsonl": _write_json_lines,
}
