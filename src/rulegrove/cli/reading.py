"""Tables from files: CSV, TSV, Parquet, Feather, JSON lines, Excel, read into Arrow tables."""

import codecs
import csv
import datetime as dt
import functools
import io
import unicodedata
import warnings
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.json
import pyarrow.parquet

from rulegrove._typing import FloatArray
from rulegrove.cli.places import check_file
from rulegrove.cli.spreadsheets import holds_text, unmark_text
from rulegrove.cli.words import count, list_names, suggest
from rulegrove.columns.numbers import read_numbers
from rulegrove.exceptions import InvalidInputError

COMPRESSED = (".gz", ".bz2", ".zst")
DELIMITERS = (",", ";", "\t", "|")
CHUNK_BYTES = 2**20
MISSING = [*pyarrow.csv.ConvertOptions().null_values, "?"]  # the last one by custom of the UCI repository


def read_table(path: Path, text: Collection[str] = ()) -> pa.Table:
    """Read a table of different column names and at least one row; its kind is told by the end of the file's name.

    Of CSV the delimiter, the encoding, a decimal comma and the types are guessed. Empty cells, ``NA``, ``NaN``,
    ``null`` and ``?`` are missing values, and the mark that `spreadsheets` sets before text is taken off. Of an Excel
    file the first sheet is read, as if it were CSV. A column without a name gets one, as pandas does it. Columns that
    `text` names are taken as text whatever they hold.
    """
    check_file(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] in COMPRESSED else "".join(suffixes[-1:])
    if kind not in READERS:
        raise InvalidInputError(f"'{path}' must end in one of {', '.join(READERS)}, which tells how to read it.")
    name, read = READERS[kind]
    try:
        table = read(path, text)
        names = [column if column.strip() else f"Unnamed: {k}" for k, column in enumerate(table.column_names)]
    except (pa.ArrowException, OSError, UnicodeError, csv.Error) as error:
        reason = (getattr(error, "strerror", None) or str(error)).split("\n", 1)[0].rstrip(".")
        raise InvalidInputError(f"'{path}' cannot be read as {name}: {reason}.") from None
    repeated = sorted({column for column in names if names.count(column) > 1})
    if repeated:
        raise InvalidInputError(f"'{path}' has the column '{repeated[0]}' more than once; rename one of them.")
    if not names or not table.num_rows:
        raise InvalidInputError(f"'{path}' has a header at most, but no rows.")
    return _as_text(table.rename_columns(names), text)


def match_name(names: Sequence[str], name: str) -> str | None:
    """Return one of the names of columns as it is spelled there, None where it is not among them.

    Accents may be composed in another way.
    """
    if name in names:
        return name
    alike = [known for known in names if unicodedata.normalize("NFC", known) == unicodedata.normalize("NFC", name)]
    return alike[0] if len(alike) == 1 else None


def find_name(names: Sequence[str], name: str, option: str) -> str:
    """Return one of the names of columns as it is spelled there; what an option names without it is refused."""
    found = match_name(names, name)
    if found is None:
        hint = suggest(name, names) or f" It has {list_names(names)}."
        raise InvalidInputError(f"`{option}` names '{name}', which is no column of the table.{hint}")
    return found


def find_targets(table: pa.Table, names: Sequence[str]) -> pa.ChunkedArray:
    """Return which rows have a value in each of some columns."""
    columns = (pc.invert(pc.is_null(table[name], nan_is_null=True)) for name in names)
    return functools.reduce(pc.and_, columns)


def convert_to_numbers(table: pa.Table, name: str) -> pa.Table:
    """Return the table with a column of text read as numbers; other words are missing."""
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not holds_text(column.type):
        return table
    numbers = pa.array(read_numbers(np.array(column.to_pylist(), dtype=object)), from_pandas=True)
    return table.set_column(table.column_names.index(name), name, numbers)


def read_floats(table: pa.Table, name: str, option: str) -> FloatArray:
    """Return a column as float64, NaN where it is missing; one that is no numbers is refused by its option."""
    try:
        return np.asarray(table[name].cast(pa.float64()).to_numpy(), dtype=np.float64)
    except pa.ArrowException:
        raise InvalidInputError(
            f"`--{option}` must name a column of numbers; '{name}' is {table[name].type}."
        ) from None


def _as_text(table: pa.Table, text: Collection[str]) -> pa.Table:
    """Return the table with some columns as text, where files of their own types had them otherwise."""
    for place, field in enumerate(table.schema):
        if field.name in text and not (pa.types.is_string(field.type) or pa.types.is_dictionary(field.type)):
            table = table.set_column(place, field.name, table.column(place).cast(pa.string()))
    return table


def _read_csv(path: Path, text: Collection[str]) -> pa.Table:
    """Read a CSV file, guessing what it does not say."""
    with pa.input_stream(str(path)) as stream:
        encoding, start = _guess_encoding(stream)
    delimiter = max(
        DELIMITERS, key=lambda one: len(next(csv.reader(io.StringIO(start, newline=""), delimiter=one), []))
    )
    try:
        table = _parse_csv(path, text, encoding, delimiter)
        if delimiter == ";" and _count_texts(table):
            with_comma = _parse_csv(path, text, encoding, delimiter, decimal_point=",")
            table = with_comma if _count_texts(with_comma) < _count_texts(table) else table
    except pa.ArrowInvalid:
        _refuse_ragged(path, encoding, delimiter)
        raise
    return unmark_text(table)


def _refuse_ragged(path: Path, encoding: str, delimiter: str) -> None:
    """Name the first line that has other fields than the header, if there is one."""
    with pa.input_stream(str(path)) as stream:
        rows = csv.reader(io.TextIOWrapper(stream, encoding, errors="replace", newline=""), delimiter=delimiter)
        header = next((row for row in rows if row), [])
        line = rows.line_num + 1
        for row in rows:
            if row and len(row) != len(header):
                quotes = f"put double quotes around a cell that holds '{delimiter}'"
                raise InvalidInputError(
                    f"'{path}' cannot be read as CSV: line {line} has {count(len(row), 'field')} and the header has "
                    f"{len(header)}; {'fill up the line' if len(row) < len(header) else quotes}."
                )
            line = rows.line_num + 1


def _guess_encoding(stream: pa.NativeFile) -> tuple[str, str]:
    """Return the encoding of text, and its start."""
    chunk = stream.read(CHUNK_BYTES)
    encoding = "utf-16" if chunk[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    start = chunk.decode(encoding, errors="replace").lstrip("\r\n")
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while chunk:
            decoder.decode(chunk)
            chunk = stream.read(CHUNK_BYTES)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        encoding = "cp1252"  # what spreadsheets of the West write
    return encoding, start


def _parse_csv(
    source: Path | io.BytesIO, text: Collection[str], encoding: str, delimiter: str, decimal_point: str = "."
) -> pa.Table:
    return pyarrow.csv.read_csv(
        source,
        read_options=pyarrow.csv.ReadOptions(encoding="utf8" if encoding == "utf-8-sig" else encoding),
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(text, pa.string()),
            null_values=MISSING,
            strings_can_be_null=True,
            decimal_point=decimal_point,
        ),
    )


def _count_texts(table: pa.Table) -> int:
    return sum(pa.types.is_string(kind) for kind in table.schema.types)


def _read_parquet(path: Path, text: Collection[str]) -> pa.Table:
    # `read_table` would make columns of folders named "a=b".
    with pyarrow.parquet.ParquetFile(path, page_checksum_verification=True) as file:
        return file.read()


def _read_excel(path: Path, text: Collection[str]) -> pa.Table:
    """Read the first sheet of an Excel file; types are guessed from its cells as from those of a CSV file."""
    try:
        import openpyxl
    except ImportError:
        raise ImportError(f"Reading '{path}' needs openpyxl; install it with: pip install 'rulegrove[excel]'") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of drop-down lists and styles, which are not read
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            rows = [row for row in book.worksheets[0].iter_rows(values_only=True) if any(map(_is_filled, row))]
            book.close()
    except Exception as error:  # whatever the file makes the packages for zip and XML raise
        raise InvalidInputError(f"'{path}' cannot be read as Excel: {error or type(error).__name__}.") from None
    if not rows:
        raise InvalidInputError(f"The first sheet of '{path}' is empty.")
    width = max(place + 1 for row in rows for place, cell in enumerate(row) if _is_filled(cell))
    lines = io.StringIO(newline="")
    csv.writer(lines).writerows([_spell(cell) for cell in (*row, *[None] * width)[:width]] for row in rows)
    return _parse_csv(io.BytesIO(lines.getvalue().encode()), text, "utf8", ",")


def _is_filled(cell: Any) -> bool:
    return cell is not None and cell != ""


def _spell(cell: Any) -> Any:
    """Return the cell of a sheet as CSV has it."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, dt.datetime):
        return cell.date().isoformat() if cell.time() == dt.time() else cell.isoformat(" ")
    return cell


_KINDS: tuple[tuple[str, str, Callable[[Path, Collection[str]], pa.Table]], ...] = (
    ("CSV", ".csv .tsv .txt", _read_csv),
    ("Parquet", ".parquet", _read_parquet),
    ("Feather", ".feather .arrow", lambda path, text: pyarrow.feather.read_table(path)),
    ("JSON lines", ".jsonl .ndjson", lambda path, text: pyarrow.json.read_json(path)),
    ("Excel", ".xlsx .xlsm", _read_excel),
)
READERS = {suffix: (name, read) for name, suffixes, read in _KINDS for suffix in suffixes.split()}
