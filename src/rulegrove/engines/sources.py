"""Where rows come from: Parquet files, Arrow datasets, tables and streams, in partitions that can be read again."""

import copy
import functools
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from rulegrove.engines.base import BATCH_ROWS, Batch, NamedError, cut_batches, naming
from rulegrove.exceptions import InvalidInputError

PARTITION_ROWS = 2**18  # rows of a partition, about: several for each thread, and merging states costs next to nothing
SUFFIXES = (".parquet", ".parq", ".pq")


class Source(Protocol):
    """A table in partitions on this machine."""

    @property
    def schema(self) -> pa.Schema:
        """Columns of the table."""
        ...

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        ...

    def count_rows(self) -> Sequence[int]:
        """Return the number of rows of each partition."""
        ...

    @property
    def files(self) -> Sequence[Path]:
        """Files on this machine that the rows come from, as far as that is known."""
        ...

    def name(self, partition: int) -> str:
        """Return what a partition is called in errors."""
        ...

    def batches(self, partition: int, start: int, columns: Sequence[str], batch_rows: int) -> Iterator[Batch]:
        """Yield some columns of a partition whose first row has a known position."""
        ...


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
        return ParquetFiles.of(find_files(source))
    if isinstance(source, (list, tuple)):
        if not source:
            raise InvalidInputError("The list of files is empty; give at least one.")
        return ParquetFiles.of([path for item in source for path in find_files(item)])
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return TableInParts(source)
    if isinstance(source, pa.RecordBatchReader):
        return Stream(_once(source), "the stream")
    if _is_dataset(source):
        return DatasetInParts(source)
    if hasattr(source, "collect_batches"):  # a polars LazyFrame
        return Stream(functools.partial(_read_lazily, source, batch_rows), "the LazyFrame")
    if hasattr(source, "fetch_record_batch") or hasattr(source, "to_arrow_reader"):  # a DuckDB relation
        return Stream(functools.partial(_read_relation, source, batch_rows), "the relation")
    if hasattr(source, "__arrow_c_stream__"):
        return Stream(functools.partial(pa.RecordBatchReader.from_stream, source), "the stream")
    if callable(source):
        return Stream(functools.partial(_call, source), "the stream")
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
            if file.suffix.lower() in SUFFIXES and not any(part[0] in "._" for part in file.relative_to(path).parts)
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


@dataclass(frozen=True)
class FilePart:
    """Some consecutive row groups of a file."""

    path: Path
    groups: tuple[int, ...]
    n_rows: int
    n_groups: int
    stamp: tuple[int, ...]  # of the file, when its end was read

    def name(self) -> str:
        """Return the file, and which row groups where it has others."""
        if len(self.groups) == self.n_groups:
            return f"'{self.path}'"
        first, last = self.groups[0], self.groups[-1]
        return f"'{self.path}', row group{f' {first}' if first == last else f's {first} to {last}'}"


@dataclass(frozen=True, eq=False)
class ParquetFiles:
    """Parquet files, one after the other, in parts of whole row groups."""

    schema: pa.Schema
    parts: tuple[FilePart, ...]

    @classmethod
    def of(cls, paths: Sequence[Path]) -> "ParquetFiles":
        """Read what the ends of the files tell and check that all have the same columns."""
        schema: pa.Schema | None = None
        parts: list[FilePart] = []
        for path in paths:
            with naming(f"'{path}'"), pq.ParquetFile(path) as file:
                own = file.schema_arrow.remove_metadata()
                schema = own if schema is None else join_schemas(schema, own, paths[0])
                parts.extend(_divide(path, file.metadata, _stamp(path)))
        assert schema is not None
        return cls(schema, tuple(parts))

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(self.parts)

    def count_rows(self) -> Sequence[int]:
        """Return the number of rows of each partition, which the files tell."""
        return [part.n_rows for part in self.parts]

    @property
    def files(self) -> Sequence[Path]:
        """The files."""
        return list(dict.fromkeys(part.path for part in self.parts))

    def name(self, partition: int) -> str:
        """Return the file, and which row groups."""
        return self.parts[partition].name()

    def batches(self, partition: int, start: int, columns: Sequence[str], batch_rows: int) -> Iterator[Batch]:
        """Yield some columns of a partition, decoded batch by batch; checksums of pages are verified if it has any."""
        part = self.parts[partition]
        _check_unchanged(_stamp(part.path), part.stamp)
        with pq.ParquetFile(part.path, buffer_size=2**20, page_checksum_verification=True) as file:
            batches = file.iter_batches(
                batch_rows, row_groups=list(part.groups), columns=list(columns), use_threads=False
            )
            yield from _number_batches(batches, start, part.n_rows)
        _check_unchanged(_stamp(part.path), part.stamp)


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what tells whether a file is still the one it was."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _check_unchanged(now: Any, before: Any) -> None:
    """Refuse a file that is another one than before."""
    if now != before:
        raise InvalidInputError("The file has changed since it was opened; read it again when nobody writes to it")


def _number_batches(batches: Iterable[pa.RecordBatch], start: int, n_rows: int | None) -> Iterator[Batch]:
    """Yield batches with their positions; refuse another number of rows than came before, if that is known."""
    n_read = 0
    for rows in batches:
        yield Batch(rows, start + n_read)
        n_read += rows.num_rows
    if n_rows is not None and n_read != n_rows:
        raise InvalidInputError(
            f"{n_read:,} rows came where {n_rows:,} came before; the rows must be the same ones each time they are read"
        )


def _divide(path: Path, metadata: Any, stamp: tuple[int, ...]) -> Iterator[FilePart]:
    """Yield the row groups of a file in parts of about `PARTITION_ROWS` rows."""
    groups: list[int] = []
    n_rows = 0
    for group in range(metadata.num_row_groups):
        own = metadata.row_group(group).num_rows
        if groups and n_rows + own > PARTITION_ROWS:
            yield FilePart(path, tuple(groups), n_rows, metadata.num_row_groups, stamp)
            groups, n_rows = [], 0
        groups.append(group)
        n_rows += own
    if groups:
        yield FilePart(path, tuple(groups), n_rows, metadata.num_row_groups, stamp)


def join_schemas(known: pa.Schema, own: pa.Schema, first: Path) -> pa.Schema:
    """Return the columns of both, refusing a difference; a column without values takes the type it has elsewhere."""
    missing = [name for name in known.names if name not in own.names]
    if missing:
        raise InvalidInputError(f"There is no column '{missing[0]}' here, which '{first}' has")
    more = [name for name in own.names if name not in known.names]
    if more:
        raise InvalidInputError(f"There is a column '{more[0]}' here, which '{first}' has not")
    for place, field in enumerate(known):
        kind = own.field(field.name).type
        if pa.types.is_null(field.type):
            known = known.set(place, pa.field(field.name, kind))
        elif kind != field.type and not pa.types.is_null(kind):
            raise InvalidInputError(
                f"Column '{field.name}' is {kind} here but {field.type} in '{first}'; convert it to one type"
            )
    return known


@dataclass(frozen=True, eq=False)
class TableInParts:
    """An Arrow table in memory."""

    table: pa.Table
    files: Sequence[Path] = ()

    @property
    def schema(self) -> pa.Schema:
        """Columns of the table."""
        return self.table.schema

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(self.count_rows())

    def count_rows(self) -> Sequence[int]:
        """Return the number of rows of each partition."""
        left = self.table.num_rows
        return [min(PARTITION_ROWS, left - start) for start in range(0, max(left, 1), PARTITION_ROWS)]

    def name(self, partition: int) -> str:
        """Return which rows."""
        start = partition * PARTITION_ROWS
        return f"rows {start:,} to {min(start + PARTITION_ROWS, self.table.num_rows) - 1:,}"

    def batches(self, partition: int, start: int, columns: Sequence[str], batch_rows: int) -> Iterator[Batch]:
        """Yield some columns of a partition."""
        part = self.table.slice(partition * PARTITION_ROWS, PARTITION_ROWS).select(list(columns))
        yield from cut_batches(part, start, batch_rows)


class DatasetInParts:
    """A pyarrow Dataset, a partition for each of its fragments."""

    def __init__(self, dataset: Any):
        self.schema: pa.Schema = dataset.schema
        try:
            self._fragments = list(dataset.get_fragments())
        except ValueError:  # pyarrow's word on datasets that are filtered
            raise InvalidInputError(
                "The dataset is filtered, so its parts are not known; pass `lambda: dataset.scanner().to_reader()`."
            ) from None
        self._stamps = [_stamp_fragment(fragment) for fragment in self._fragments]

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(self._fragments)

    def count_rows(self) -> Sequence[int]:
        """Return the number of rows of each fragment."""
        return self._counts

    @functools.cached_property
    def _counts(self) -> list[int]:
        counts = []
        for partition, fragment in enumerate(self._fragments):
            with naming(self.name(partition)):
                counts.append(fragment.count_rows())
        return counts

    @property
    def files(self) -> Sequence[Path]:
        """Files on this machine."""
        return [
            Path(fragment.path)
            for fragment in self._fragments
            if getattr(getattr(fragment, "filesystem", None), "type_name", "") == "local" and fragment.path
        ]

    def name(self, partition: int) -> str:
        """Return the file of a fragment, or its number."""
        path = getattr(self._fragments[partition], "path", None)
        return f"'{path}'" if path else f"fragment {partition}"

    def batches(self, partition: int, start: int, columns: Sequence[str], batch_rows: int) -> Iterator[Batch]:
        """Yield some columns of a fragment; checksums of pages are verified if it is a Parquet file that has any."""
        fragment = self._fragments[partition]
        _check_unchanged(_stamp_fragment(fragment), self._stamps[partition])
        batches = fragment.to_batches(
            schema=self.schema,
            columns=list(columns),
            batch_size=batch_rows,
            batch_readahead=1,
            fragment_readahead=1,
            fragment_scan_options=verifying_options(fragment),
            use_threads=False,
        )
        yield from _number_batches(batches, start, self._counts[partition])
        _check_unchanged(_stamp_fragment(fragment), self._stamps[partition])


def _stamp_fragment(fragment: Any) -> tuple[Any, ...] | None:
    """Return what tells whether the file of a fragment is still the one it was; None for rows in memory."""
    path, system = getattr(fragment, "path", None), getattr(fragment, "filesystem", None)
    if not path or system is None:
        return None
    found = system.get_file_info(path)
    return found.type, found.size, found.mtime_ns


def verifying_options(fragment: Any) -> Any:
    """Return how to scan a fragment as its dataset would, with the checksums of pages verified; None if not Parquet.

    Parameters
    ----------
    fragment : pyarrow.dataset.Fragment
    """
    given = getattr(getattr(fragment, "format", None), "default_fragment_scan_options", None)
    if not hasattr(given, "page_checksum_verification"):
        return None
    options: Any = copy.copy(given)  # the dataset's own stay as they are
    for name in ("parquet_decryption_config", "decryption_properties"):  # which are not copied along
        if getattr(given, name, None) is not None:
            setattr(options, name, getattr(given, name))
    options.page_checksum_verification = True
    return options


class Stream:
    """Arrow batches from a function that returns them anew: one partition.

    Parameters
    ----------
    read : callable
        Returns a RecordBatchReader, or another iterable of batches with a `schema`.
    name : str
    """

    n_partitions = 1
    files: Sequence[Path] = ()

    def __init__(self, read: Callable[[], pa.RecordBatchReader], name: str):
        self._read, self._name = read, name
        self._first: pa.RecordBatchReader | None = read()
        self.schema: pa.Schema = self._first.schema
        self._n_rows: int | None = None

    @property
    def is_counted(self) -> bool:
        """Whether the number of rows is known without reading them."""
        return self._n_rows is not None

    def _open(self) -> pa.RecordBatchReader:
        """Return the rows from their start; those opened for the schema at first."""
        opened, self._first = self._first, None
        if opened is not None:
            return opened
        opened = self._read()
        if not opened.schema.equals(self.schema):
            raise InvalidInputError("The columns are not those that came before; give the same rows each time")
        return opened

    def count_rows(self) -> Sequence[int]:
        """Return the number of rows; a stream does not tell, so that it is read once to count them."""
        if self._n_rows is None:
            with naming(self._name):
                self._n_rows = sum(rows.num_rows for rows in self._open())
        return [self._n_rows]

    def name(self, partition: int) -> str:
        """Return what it is."""
        return self._name

    def batches(self, partition: int, start: int, columns: Sequence[str], batch_rows: int) -> Iterator[Batch]:
        """Yield some columns; there must be as many rows as at the first reading."""
        parts = (part.rows for rows in self._open() for part in cut_batches(rows.select(list(columns)), 0, batch_rows))
        n_read = 0
        for batch in _number_batches(parts, start, self._n_rows):
            yield batch
            n_read += batch.rows.num_rows
        self._n_rows = n_read


def _is_dataset(source: Any) -> bool:
    return type(source).__module__.startswith("pyarrow._dataset") and hasattr(source, "get_fragments")


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
    if isinstance(found, pa.RecordBatch):
        found = pa.Table.from_batches([found])
    if isinstance(found, pa.Table):
        return found.to_reader()
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
