"""Dask collections as one table: which columns it has, in which partitions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pyarrow as pa
from dask.delayed import Delayed

from rulegrove.engines._dask_arrow import PartReader, arrow_type
from rulegrove.engines._dask_parquet import verify_files
from rulegrove.exceptions import InvalidInputError


@dataclass(frozen=True)
class DaskTable:
    """Attributes, target and weights of the same rows, in the same partitions.

    Attributes
    ----------
    X : dask DataFrame, or dask Array in blocks of all columns
    names : tuple of str
        Of the columns of X.
    beside : dict of str to dask Series or Array of one dimension
        Columns that are not in X.
    target : str
        Name of the target's column.
    weights : str or None
        Name of the weights' column.
    """

    X: Any
    names: tuple[str, ...]
    beside: Mapping[str, Any]
    target: str
    weights: str | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""
        return (*self.names, *self.beside)

    @property
    def has_names(self) -> bool:
        """Whether the user gave the columns their names."""
        return not is_array(self.X)

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return _count_partitions(self.X)

    def count_rows(self) -> list[int] | None:
        """Return the rows of each partition where that is known without a look at the data."""
        if self.has_names or np.isnan(self.X.chunks[0]).any():
            return None
        return [int(n_rows) for n_rows in self.X.chunks[0]]

    def types(self) -> dict[str, pa.DataType | None]:
        """Return the type of each column; None where only the values tell."""
        dtypes = dict(self.X.dtypes) if self.has_names else dict.fromkeys(self.names, self.X.dtype)
        dtypes |= {name: vector.dtype for name, vector in self.beside.items()}
        return {name: arrow_type(dtypes[name]) for name in self.columns}

    def partitions(self, columns: Iterable[str]) -> list[list[Delayed]]:
        """Return for each partition what holds the columns: some of X, if any is asked for, and what is beside it."""
        wanted = set(columns)
        inside = [name for name in self.names if name in wanted]
        parts = [_delay(self.X[inside] if self.has_names else self.X)] if inside else []
        parts += [_delay(vector) for name, vector in self.beside.items() if name in wanted]
        return [list(part) for part in zip(*parts, strict=True)]

    def reader(self, types: Mapping[str, pa.DataType | None]) -> PartReader:
        """Return what makes Arrow of what `partitions` gives for these columns."""
        inside = tuple((name, place) for place, name in enumerate(self.names) if name in types)
        beside = tuple(name for name in self.beside if name in types)
        return PartReader(inside, beside, {name: types[name] for name in self.columns if name in types})


def make_table(X: Any, y: Any, weights: Any = None) -> DaskTable:
    """Check that dask collections fit together.

    Parameters
    ----------
    X : dask DataFrame or Array of shape (n_rows, n_features)
    y : str, dask Series or Array of shape (n_rows,)
        The target, or its name in X.
    weights : str, dask Series or Array of shape (n_rows,), optional
        Weights, or their name in X.
    """
    X, names = check_attributes(X)
    X = X if is_array(X) else verify_files(X)
    beside: dict[str, Any] = {}
    target = _place(X, names, beside, y, "target")
    place = None if weights is None else _place(X, names, beside, weights, "weights")
    return DaskTable(X, names, beside, target, place)


def is_array(part: Any) -> bool:
    """Whether a collection is a dask Array."""
    return isinstance(part, da.Array)


def check_attributes(X: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a table with its columns in one block, and their names."""
    if isinstance(X, dd.DataFrame):
        names = list(X.columns)
        odd = [name for name in names if not isinstance(name, str) or names.count(name) > 1]
        if odd:
            raise InvalidInputError(
                f"Column names must be text and unique; got {odd[0]!r}. Rename with `ddf.rename(columns=...)`."
            )
        if not names:
            raise InvalidInputError("X has no columns; a fit needs at least one attribute.")
        return X, tuple(names)
    if not is_array(X):
        raise InvalidInputError(
            f"X must be a dask DataFrame or a dask Array; got {type(X).__module__}.{type(X).__name__}. Tables in "
            "memory are for RuleEnsembleClassifier and RuleEnsembleRegressor."
        )
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise InvalidInputError(
            f"X must be an array of two dimensions that holds numbers; got {X.ndim} dimensions of {X.dtype}. Text goes "
            "into a dask DataFrame."
        )
    return X.rechunk({1: -1}), tuple(f"x{place}" for place in range(X.shape[1]))


def _place(X: Any, names: tuple[str, ...], beside: dict[str, Any], values: Any, role: str) -> str:
    """Return the name of the target or the weights, which are put beside X unless they are in it."""
    if isinstance(values, str):
        if is_array(X) or values not in names:
            raise InvalidInputError(
                f"X has no column '{values}' to be the {role}; it has {', '.join(names[:20])}."
                if isinstance(X, dd.DataFrame)
                else f"X is an array, whose columns have no names; give the {role} as a dask Array."
            )
        return values
    if not isinstance(values, (dd.Series, da.Array)) or values.ndim != 1:
        raise InvalidInputError(
            f"The {role} must be a column name, a dask Series or a dask Array of one dimension; got a "
            f"{type(values).__module__}.{type(values).__name__}."
        )
    name = role
    while name in names or name in beside:
        name += "_"
    beside[name] = _align(X, values if is_array(values) else verify_files(values), role)
    return name


def _align(X: Any, vector: Any, role: str) -> Any:
    """Return a vector in the partitions of X, as far as these are known."""
    known = [is_array(part) and not np.isnan(part.chunks[0]).any() for part in (X, vector)]
    if all(known):
        if vector.shape[0] != X.shape[0]:
            raise InvalidInputError(f"X has {X.shape[0]} rows but the {role} has {vector.shape[0]}; give one a row.")
        return vector.rechunk((X.chunks[0],))
    if _count_partitions(vector) != _count_partitions(X):
        raise InvalidInputError(
            f"X has {_count_partitions(X)} partitions but the {role} has {_count_partitions(vector)}; make both from "
            "one table, so that their partitions hold the same rows."
        )
    return vector


def _count_partitions(part: Any) -> int:
    """Return the number of partitions of a collection; of an array, those of its rows."""
    return len(part.chunks[0]) if is_array(part) else int(part.npartitions)


def _delay(part: Any) -> list[Delayed]:
    """Return one delayed object a partition.

    Of a data frame only what it does not need is left out. To optimise it further would join the partitions of Parquet
    files where few columns are read, so that two columns of one table come in different partitions.
    """
    if is_array(part):
        return list(part.to_delayed().ravel())
    return list(part.simplify().to_delayed(optimize_graph=False))
