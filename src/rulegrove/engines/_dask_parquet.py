"""Parquet files that dask reads: with the checksums of their pages verified, where they have any.

Dask has no option for it. Its readers are exchanged for these in the expression of a collection, before it is computed.
"""

from typing import Any

import pyarrow.parquet as pq
from dask._task_spec import Task
from dask.dataframe.dask_expr.io.parquet import ReadParquetFSSpec, ReadParquetPyarrowFS
from dask.dataframe.io.parquet.arrow import ArrowDatasetEngine

from rulegrove.engines.base import naming
from rulegrove.engines.sources import verifying_options


def verify_files(collection: Any) -> Any:
    """Return a dask DataFrame or Series that verifies the checksums of the Parquet files it comes from.

    Fits and scores do so by themselves. Predictions are lazy and read what the collection reads, so give them this one.

    Parameters
    ----------
    collection : dask DataFrame or Series

    Returns
    -------
    dask DataFrame or Series
        The same rows in the same partitions. Computing it fails with a sentence that names the file where one is
        damaged; pages without checksums, and files that dask has read already, are taken as they are.

    Examples
    --------
    >>> import tempfile
    >>> import dask.dataframe as dd, pyarrow as pa, pyarrow.parquet as pq
    >>> path = tempfile.mkdtemp() + "/new.parquet"
    >>> pq.write_table(pa.table({"a": [1.0, 2.0]}), path, write_page_checksum=True)
    >>> verify_files(dd.read_parquet(path)).npartitions
    1
    """
    expression = collection.expr
    for read in expression.find_operations((ReadParquetFSSpec, ReadParquetPyarrowFS)):
        if isinstance(read, ReadParquetPyarrowFS):
            verifying = VerifyingArrow(*read.operands)  # type: ignore[no-untyped-call]
        elif read.engine is ArrowDatasetEngine:
            verifying = read.substitute_parameters({"engine": VerifyingEngine})
        else:
            continue  # an engine of the user's own
        expression = expression.substitute(read, verifying)
    return type(collection)(expression)


class VerifyingEngine(ArrowDatasetEngine):
    """How dask reads Parquet files by default, page by page verified."""

    @classmethod
    def _read_table(
        cls,
        path_or_frag: Any,
        fs: Any,
        row_groups: Any,
        columns: Any,
        schema: Any,
        filters: Any,
        partitions: Any,
        partition_keys: Any,
        **kwargs: Any,
    ) -> Any:
        """Return row groups of a file; what is more than plain columns dask reads again, after this look."""
        path = getattr(path_or_frag, "path", path_or_frag)
        with naming(f"'{path}'"), fs.open(path, mode="rb", cache_type="none") as opened:
            file = pq.ParquetFile(opened, pre_buffer=True, page_checksum_verification=True)
            table = file.read_row_groups(
                list(range(file.num_row_groups)) if row_groups == [None] else list(row_groups),
                columns=[name for name in columns if name is not None],
                use_threads=False,
                use_pandas_metadata=True,
            )
        options = any(kwargs.get("read", {}).values())
        if isinstance(path_or_frag, str) and not (filters or partitions or options):
            return table
        read: Any = super()._read_table
        return read(path_or_frag, fs, row_groups, columns, schema, filters, partitions, partition_keys, **kwargs)


class VerifyingArrow(ReadParquetPyarrowFS):
    """How dask reads Parquet files with ``filesystem="arrow"``, page by page verified."""

    def _tune_up(self, parent: Any) -> None:
        """Leave the files apart; joined ones would be read by dask itself."""

    def _filtered_task(self, name: Any, index: int) -> Task:
        task = super()._filtered_task(name, index)
        [read] = task.args
        task.args = (Task(None, _read_fragment, **read.kwargs),)
        return task


def _read_fragment(fragment_wrapper: Any, filters: Any, columns: Any, schema: Any) -> Any:
    """Return the rows of a file."""
    fragment = getattr(fragment_wrapper, "fragment", fragment_wrapper)
    with naming(f"'{fragment.path}'"):
        return fragment.to_table(
            schema=schema,
            columns=columns,
            filter=pq.filters_to_expression(filters) if isinstance(filters, list) else filters,
            batch_size=10_000_000,
            fragment_scan_options=verifying_options(fragment),
        )
