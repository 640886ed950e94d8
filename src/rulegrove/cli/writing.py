"""Results to files, whole or not at all, and never over what is read."""

import fnmatch
import functools
import glob
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from rulegrove._files import written_whole
from rulegrove.cli.spreadsheets import mark_text
from rulegrove.exceptions import InvalidInputError

BATCH_ROWS = 10_000


def check_outputs(
    outputs: Mapping[str, Path | None], inputs: Iterable[Path | None] = (), *, table: bool = False
) -> None:
    """Refuse places that cannot be written to, or are read from, before the work and not after it.

    Parameters
    ----------
    outputs : mapping of str to path or None
        Files to write by the options that name them.
    inputs : iterable of path or None
        Files, folders and patterns that are read.
    table : bool
        Whether tables go there, whose kind the end of the name tells.
    """
    given = {option: path for option, path in outputs.items() if path is not None}
    for option, path in given.items():
        if table and path.suffix.lower() not in WRITERS:
            raise InvalidInputError(f"'{path}' must end in one of {', '.join(WRITERS)}, which tells how to write it.")
        _check_place(option, path)
    check_apart(given, inputs)


def check_apart(outputs: Mapping[str, Path], inputs: Iterable[Path | None] = ()) -> None:
    """Refuse to write what is read, and to write one file twice; parameters as in `check_outputs`."""
    files = {option: path for option, path in outputs.items() if path.is_file() or not path.exists()}
    sources = [source for source in inputs if source is not None]
    seen: dict[str, Path] = {}
    for option, path in files.items():
        for other, written in seen.items():
            if _is_same(path, written):
                raise InvalidInputError(f"`{other}` and `{option}` both name '{path}'; give each a file of its own.")
        for source in sources:
            if _is_read(path, source):
                where = "is read here" if _is_same(path, source) else f"belongs to '{source}', which is read here"
                raise InvalidInputError(f"`{option}` names '{path}', which {where}; choose another name for it.")
        seen[option] = path


def _is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, over links of either kind too."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return one.exists() and other.exists() and one.samefile(other)


def _is_read(path: Path, source: Path) -> bool:
    """Whether a file is, or would be when it is written, among those that are read from a file, folder or pattern."""
    if source.is_dir():
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(source))
    if source.exists() or not glob.has_magic(str(source)):
        return _is_same(path, source)
    found = map(Path, glob.glob(str(source), recursive=True))  # noqa: PTH207 - Path.glob takes no absolute one
    return _matches(path, source) or any(_is_read(path, file) for file in found)


def _matches(path: Path, pattern: Path) -> bool:
    """Whether a file that need not be there, or a folder above it, fits a pattern."""
    n_fixed = next(place for place, part in enumerate(pattern.parts) if glob.has_magic(part))
    base, wanted = Path(os.path.realpath(Path(*pattern.parts[:n_fixed]))), pattern.parts[n_fixed:]
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(base):
        return False
    if "**" in wanted:
        return fnmatch.fnmatch(target.name, wanted[-1])
    parts = target.relative_to(base).parts
    return len(parts) >= len(wanted) and all(map(fnmatch.fnmatch, parts, wanted))


def _check_place(option: str, path: Path) -> None:
    """Refuse a place that cannot be written to; nothing is left there."""
    target = Path(os.path.realpath(path))  # the file behind a link, which is what gets written
    try:
        if target.is_dir():
            raise InvalidInputError(f"'{path}' is a folder; give the name of a file in it.")
        if not target.parent.is_dir():
            if target.parent.exists():
                raise InvalidInputError(f"'{path.parent}' is no folder, so '{path.name}' cannot be written to it.")
            raise InvalidInputError(f"There is no folder '{path.parent}' to write '{path.name}' to; make it first.")
        if target.exists() and not os.access(target, os.W_OK):
            raise InvalidInputError(f"'{path}' is protected against writing; choose another name for `{option}`.")
        if target.is_file() or not target.exists():
            tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise InvalidInputError(
            f"'{path}' cannot be written: {error.strerror}. Choose another place for `{option}`."
        ) from None


def needs_marks(path: Path, raw: bool) -> bool:
    """Whether a table is for spreadsheet programs, which would run some text as formulas, and is not wanted raw."""
    return not raw and path.suffix.lower() in (".csv", ".tsv")


def write_table(table: pa.Table, path: Path, *, raw: bool = False) -> None:
    """Write a table; its kind is told by the end of the file's name.

    Parameters
    ----------
    table : pyarrow.Table
    path : path
    raw : bool
        Whether text in CSV stays as it is, even if a spreadsheet program would run it as a formula.
    """
    with written_whole(path) as draft, draft.open("wb") as file:
        WRITERS[path.suffix.lower()](mark_text(table) if needs_marks(path, raw) else table, file)


def write_csv(table: pa.Table, file: BinaryIO, delimiter: str = ",") -> None:
    """Write a table as CSV."""
    pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(delimiter=delimiter))


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
