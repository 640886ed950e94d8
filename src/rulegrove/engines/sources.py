"""Where rows come from: Parquet files, Arrow datasets, tables and streams, in partitions that can be read again."""

import copy
import functools
import glob
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from rulegrove._files import PARQUET
from rulegrove.engines.base import BATCH_ROWS, Batch, NamedError, group_neighbours, naming
from rulegrove.exceptions import InvalidInputError

PARTITION_ROWS = 2**18  # rows of a partition, about: several for each thread, and merging states costs next to nothing


class Part(ABC):
    """Some consecutive rows of a table, which are read together."""

    name: str  # what it is called in errors
    path: Path | None = None  # the file on this machine that the rows come from, as far as that is known
    is_counted = True  # whether the number of rows is known without reading them

    @abstractmethod
    def count(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def read(self, columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield some columns of the rows, in batches of at most `batch_rows` rows."""

    def stamp(self) -> tuple[Any, ...] | None:
        """Return what tells whether a file is still the one it was; None for rows that come from none."""
        if self.path is None:
            return None
        found = self.path.stat()
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class Source:
    """A table in partitions on this machine; `files` are those that the rows come from, as far as that is known."""

    def __init__(self, schema: pa.Schema, parts: Sequence[Part]):
        self.schema = _settle_types(schema)
        self.files = list(dict.fromkeys(part.path for part in parts if part.path is not None))
        self._parts = parts
        self._stamps = [part.stamp() for part in parts]
        self._n_rows: dict[int, int] = {}

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(self._parts)

    @property
    def is_counted(self) -> bool:
        """Whether the number of rows is known without reading them."""
        return all(part.is_counted or place in self._n_rows for place, part in enumerate(self._parts))

    def count_rows(self) -> list[int]:
        """Return the number of rows of each partition; those of a stream are read once to count them."""
        for place, part in enumerate(self._parts):
            if place not in self._n_rows:
                with naming(part.name):
                    self._n_rows[place] = part.count()
        return [self._n_rows[place] for place in range(len(self._parts))]

    def name(self, partition: int) -> str:
        """Return what a partition is called in errors."""
        return self._parts[partition].name

    def batches(self, partition: int, start: int, columns: Sequence[str], batch_rows: int) -> Iterator[Batch]:
        """Yield some columns of a partition whose first row has a known position; the rows must be those of before."""
        part, n_read = self._parts[partition], 0
        self._check_unchanged(partition)
        for rows in part.read(list(columns), batch_rows):
            schema = _settle_types(rows.schema)
            yield Batch(rows if schema.equals(rows.schema) else rows.cast(schema), start + n_read)
            n_read += rows.num_rows
        n_rows = self._n_rows.setdefault(partition, n_read)
        if n_read != n_rows:
            raise InvalidInputError(
                f"{n_read:,} rows came where {n_rows:,} came before; the rows must be the same ones each time they are "
                "read"
            )
        self._check_unchanged(partition)

    def _check_unchanged(self, partition: int) -> None:
        """Refuse a file that is another one than before."""
        if self._parts[partition].stamp() != self._stamps[partition]:
            raise InvalidInputError("The file has changed since it was opened; read it again when nobody writes to it")


def _settle_types(schema: pa.Schema) -> pa.Schema:
    """Return a schema without views into strings."""
    return pa.schema([field.with_type(_without_views(field.type)) for field in schema], schema.metadata)


def _without_views(kind: pa.DataType) -> pa.DataType:
    """Return a type whose values can be filtered and taken, as those of views into strings cannot."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _without_views(kind.value_type), kind.ordered)
    return pa.large_string() if pa.types.is_string_view(kind) else kind


def open_source(source: Any, batch_rows: int = BATCH_ROWS) -> Source:
    """Return a table that can be read in partitions, as often as needed.

    Parameters
    ----------
    source : str, path, sequence of these, or table
        A Parquet file, a folder (all Parquet files in it and below, by name), a pattern such as ``"big/*.parquet"``, a
        list of files; a pyarrow Table, RecordBatch, Dataset or RecordBatchReader; a polars LazyFrame; anything with an
        Arrow stream (``__arrow_c_stream__``: DuckDB relations, data frames); or a function without arguments that
        returns one of the last three anew. The rows must be the same ones each time they are read, as far as that can
        be told cheaply: as many, from files that have not changed.
    batch_rows : int
        Most rows of a batch.

    Examples
    --------
    >>> import pyarrow as pa
    >>> source = open_source(pa.table({"a": [1, 2, 3]}))
    >>> source.count_rows()
    [3]
    """
    if isinstance(source, (str, os.PathLike)):
        return _open_files(find_files(source))
    if isinstance(source, (list, tuple)):
        if not source:
            raise InvalidInputError("The list of files is empty; give at least one.")
        return _open_files([path for item in source for path in find_files(item)])
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return Source(source.schema, [Slice(source, k) for k in range(0, max(source.num_rows, 1), PARTITION_ROWS)])
    if isinstance(source, pa.RecordBatchReader):
        return _open_stream(_once(source))
    if isinstance(source, ds.Dataset):
        return _open_dataset(source)
    if hasattr(source, "collect_batches"):  # a polars LazyFrame
        return _open_stream(functools.partial(_read_lazily, source, batch_rows), "the LazyFrame")
    if hasattr(source, "fetch_record_batch") or hasattr(source, "to_arrow_reader"):  # a DuckDB relation
        return _open_stream(functools.partial(_read_relation, source, batch_rows), "the relation")
    if hasattr(source, "__arrow_c_stream__"):
        return _open_stream(functools.partial(pa.RecordBatchReader.from_stream, source))
    if callable(source):
        return _open_stream(functools.partial(_call, source))
    raise InvalidInputError(
        f"Rows come from a Parquet file, a folder, a pattern, a list of files, or an Arrow table, dataset or stream; "
        f"got {type(source).__name__}."
    )


def find_files(source: str | os.PathLike[str]) -> list[Path]:
    """Return the Parquet files that a path, a folder or a pattern stands for, by name."""
    path = Path(source)
    if path.is_dir():
        found = sorted(
            file
            for file in path.rglob("*")
            if file.suffix.lower() in PARQUET and not any(part[0] in "._" for part in file.relative_to(path).parts)
        )
        if not found:
            raise InvalidInputError(f"'{path}' is a folder without Parquet files (*.parquet).")
        return found
    if path.exists():
        return [path]
    found = sorted(map(Path, glob.glob(str(source), recursive=True)))  # noqa: PTH207 - Path.glob takes no absolute one
    if not found:
        raise InvalidInputError(f"There is no file '{source}'.")
    return [file for item in found for file in ([item] if item.is_file() else find_files(item))]


class RowGroups(Part):
    """Some consecutive row groups of a Parquet file."""

    def __init__(self, path: Path, groups: list[int], n_rows: int, n_groups: int):
        self.path, self._groups, self._n_rows = path, groups, n_rows
        first, last = groups[0], groups[-1]
        which = f", row group {first}" if first == last else f", row groups {first} to {last}"
        self.name = f"'{path}'{which if len(groups) < n_groups else ''}"

    def count(self) -> int:
        """Return the number of rows, which the file tells."""
        return self._n_rows

    def read(self, columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield batches as they are decoded; checksums of pages are verified if the file has any."""
        with pq.ParquetFile(self.path, buffer_size=2**20, page_checksum_verification=True) as file:
            yield from file.iter_batches(batch_rows, row_groups=self._groups, columns=columns, use_threads=False)


def _open_files(paths: Sequence[Path]) -> Source:
    """Read what the ends of Parquet files tell and check that all have the same columns."""
    schema: pa.Schema | None = None
    parts: list[RowGroups] = []
    for path in paths:
        with naming(f"'{path}'"), pq.ParquetFile(path) as file:
            own = file.schema_arrow.remove_metadata()
            schema = own if schema is None else join_schemas(schema, own, paths[0])
            parts += _divide(path, file.metadata)
    return Source(schema, parts)


def _divide(path: Path, metadata: pq.FileMetaData) -> Iterator[RowGroups]:
    """Yield the row groups of a file in parts of about `PARTITION_ROWS` rows."""

    def count(group: int) -> int:
        return int(metadata.row_group(group).num_rows)

    for groups in group_neighbours(range(metadata.num_row_groups), count, PARTITION_ROWS):
        yield RowGroups(path, groups, sum(map(count, groups)), metadata.num_row_groups)


def join_schemas(known: pa.Schema, own: pa.Schema, first: Path) -> pa.Schema:
    """Return the columns of both, refusing a difference; a column without values takes the type it has elsewhere."""
    for name in known.names:
        if name not in own.names:
            raise InvalidInputError(f"There is no column '{name}' here, which '{first}' has")
    for name in own.names:
        if name not in known.names:
            raise InvalidInputError(f"There is a column '{name}' here, which '{first}' has not")
    for place, field in enumerate(known):
        kind = own.field(field.name).type
        if pa.types.is_null(field.type):
            known = known.set(place, pa.field(field.name, kind))
        elif kind != field.type and not pa.types.is_null(kind):
            raise InvalidInputError(
                f"Column '{field.name}' is {kind} here but {field.type} in '{first}'; convert it to one type"
            )
    return known


class Slice(Part):
    """Some rows of an Arrow table in memory, from one position on."""

    def __init__(self, table: pa.Table, start: int):
        self._rows = table.slice(start, PARTITION_ROWS)
        self.name = f"rows {start:,} to {start + self._rows.num_rows - 1:,}"

    def count(self) -> int:
        """Return the number of rows."""
        return int(self._rows.num_rows)

    def read(self, columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield some columns."""
        yield from self._rows.select(columns).to_batches(max_chunksize=batch_rows)


class FragmentPart(Part):
    """A fragment of a pyarrow Dataset: a file as a rule, or rows in memory."""

    def __init__(self, fragment: ds.Fragment, schema: pa.Schema, place: int):
        self._fragment, self._schema, self.name = fragment, schema, f"fragment {place}"
        self._is_file = isinstance(fragment, ds.FileFragment) and bool(fragment.path)
        if self._is_file:
            self.name = f"'{fragment.path}'"
            self.path = Path(fragment.path) if fragment.filesystem.type_name == "local" else None

    def count(self) -> int:
        """Return the number of rows."""
        return int(self._fragment.count_rows())

    def read(self, columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield some columns; checksums of pages are verified if it is a Parquet file that has any."""
        yield from self._fragment.to_batches(
            schema=self._schema,
            columns=columns,
            batch_size=batch_rows,
            batch_readahead=1,
            fragment_readahead=1,
            fragment_scan_options=verifying_options(self._fragment),
            use_threads=False,
        )

    def stamp(self) -> tuple[Any, ...] | None:
        """Return what tells whether a file is still the one it was, on another machine too."""
        if not self._is_file:
            return None
        found = self._fragment.filesystem.get_file_info(self._fragment.path)
        return found.type, found.size, found.mtime_ns


def _open_dataset(dataset: ds.Dataset) -> Source:
    """Return a dataset, a partition for each of its fragments."""
    try:
        fragments = list(dataset.get_fragments())
    except ValueError:  # pyarrow's word on datasets that are filtered
        raise InvalidInputError(
            "The dataset is filtered, so its parts are not known; pass `lambda: dataset.scanner().to_reader()`."
        ) from None
    return Source(dataset.schema, [FragmentPart(one, dataset.schema, place) for place, one in enumerate(fragments)])


def verifying_options(fragment: ds.Fragment) -> ds.ParquetFragmentScanOptions | None:
    """Return how to scan a fragment as its dataset would, with the checksums of pages verified; None if not Parquet."""
    if not isinstance(fragment, ds.ParquetFileFragment):
        return None
    given = fragment.format.default_fragment_scan_options
    options = copy.copy(given)  # the dataset's own stay as they are
    for name in ("parquet_decryption_config", "decryption_properties"):  # which are not copied along
        if getattr(given, name, None) is not None:
            setattr(options, name, getattr(given, name))
    options.page_checksum_verification = True
    return options


class Stream(Part):
    """Arrow batches from a function that returns a reader of them anew."""

    is_counted = False

    def __init__(self, read: Callable[[], pa.RecordBatchReader], name: str):
        self._read, self.name = read, name
        self._first: pa.RecordBatchReader | None = read()
        self.schema: pa.Schema = self._first.schema

    def _open(self) -> pa.RecordBatchReader:
        """Return the rows from their start; those opened for the schema at first."""
        opened, self._first = self._first, None
        if opened is not None:
            return opened
        opened = self._read()
        if not opened.schema.equals(self.schema):
            raise InvalidInputError("The columns are not those that came before; give the same rows each time")
        return opened

    def count(self) -> int:
        """Read the rows to count them, for a stream does not tell."""
        return sum(rows.num_rows for rows in self._open())

    def read(self, columns: list[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield some columns."""
        for rows in self._open():
            yield from pa.Table.from_batches([rows.select(columns)]).to_batches(max_chunksize=batch_rows)


def _open_stream(read: Callable[[], pa.RecordBatchReader], name: str = "the stream") -> Source:
    """Return a stream as one partition."""
    stream = Stream(read, name)
    return Source(stream.schema, [stream])


def _once(reader: pa.RecordBatchReader) -> Callable[[], pa.RecordBatchReader]:
    """Return a function that gives a reader out once."""
    given = iter([reader])

    def read() -> pa.RecordBatchReader:
        for found in given:
            return found
        raise NamedError(
            "A RecordBatchReader can be read once, and a fit reads its rows at least twice; pass a function that "
            "returns a new one, or write the rows to Parquet."
        )

    return read


def _call(read: Callable[[], Any]) -> pa.RecordBatchReader:
    """Return the rows that a function gives, as a reader."""
    found = read()
    if isinstance(found, pa.RecordBatchReader):
        return found
    if hasattr(found, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(found)
    raise InvalidInputError(f"The function must return an Arrow stream or table; got {type(found).__name__}.")


def _read_lazily(frame: Any, batch_rows: int) -> pa.RecordBatchReader:
    """Return the rows of a polars LazyFrame without collecting them all."""
    schema = frame.head(0).collect().to_arrow().schema

    def batches() -> Iterable[pa.RecordBatch]:
        for part in frame.collect_batches(chunk_size=batch_rows, maintain_order=True):
            yield from part.to_arrow().cast(schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def _read_relation(relation: Any, batch_rows: int) -> pa.RecordBatchReader:
    """Return the rows of a DuckDB relation, computed anew."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    return read(batch_rows)
