"""A table with a target: what `fit` and `select` learn from."""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove._validation import MOST_CLASSES, guess_task
from rulegrove.cli.output import note
from rulegrove.cli.reading import convert_to_numbers, find_column, read_table
from rulegrove.cli.words import count, list_names
from rulegrove.columns.dates import parse_times
from rulegrove.columns.numbers import is_marked, read_distinct
from rulegrove.exceptions import InvalidInputError

SHOWN_CLASSES = 6


@dataclass(frozen=True)
class Training:
    """A table taken apart.

    Attributes
    ----------
    X : pyarrow.Table
        The attributes.
    y : ndarray of shape (n_rows,)
        The target.
    weights : ndarray of shape (n_rows,) or None
    weights_name : str or None
        Name of their column.
    groups : ndarray of shape (n_rows,) or None
        Number of each row's group.
    groups_name : str or None
        Name of their column.
    as_numbers : tuple of str
        Attributes of text that are to be read as numbers.
    target : str
        Name of the target's column.
    task : {"classification", "regression"}
    n_left_out : int
        Rows without a target.
    """

    X: pa.Table
    y: AnyArray
    weights: FloatArray | None
    weights_name: str | None
    groups: IntArray | None
    groups_name: str | None
    as_numbers: tuple[str, ...]
    target: str
    task: str
    n_left_out: int

    @property
    def numbers(self) -> list[str]:
        """Names of the attributes that are numbers."""
        others = {*self.categories, *self.dates}
        return [name for name in self.X.column_names if name not in others]

    @functools.cached_property
    def dates(self) -> list[str]:
        """Names of the attributes that are dates or times, also those written as text."""
        return [field.name for field in self.X.schema if self._is_date(field)]

    def _is_date(self, field: pa.Field) -> bool:
        if pa.types.is_temporal(field.type):
            return True
        return pa.types.is_string(field.type) and parse_times(self.X[field.name].to_numpy()) is not None

    @property
    def categories(self) -> dict[str, int]:
        """Number of categories of each attribute that has some."""
        others = {*self.as_numbers, *self.dates}
        texts = [field.name for field in self.X.schema if _is_text(field.type) and field.name not in others]
        return {name: int(pc.count_distinct(self.X[name], mode="only_valid").as_py()) for name in texts}

    @property
    def labels(self) -> dict[str, Any]:
        """Classes by their words."""
        return {str(label): label for label in np.unique(self.y).tolist()}

    def fit(self, model: Any) -> None:
        """Fit a model."""
        grouped = {} if self.groups is None else {"groups": self.groups}
        model.fit(self.X, self.y, sample_weight=self.weights, **grouped)

    def show(self) -> tuple[Any, Any]:
        """Return attributes and target of rows to show a model on: all of them."""
        return self.X, self.y

    def describe(self) -> dict[str, Any]:
        """Return what was read and guessed, for JSON."""
        found = {"rows": self.X.num_rows, "rows_without_target": self.n_left_out, "target": self.target}
        kinds = {"numbers": self.numbers, "dates": self.dates, "categories": self.categories}
        return {**found, "task": self.task, **kinds}

    def tell(self, *, quiet: bool) -> None:
        """Say what was read and guessed."""
        note(f"{count(self.X.num_rows, 'row')}, {count(self.X.num_columns, 'attribute')}", quiet=quiet)
        if self.numbers:
            note(f"  numbers     {list_names(self.numbers)}", quiet=quiet)
        if self.dates:
            note(f"  dates       {list_names(self.dates)}", quiet=quiet)
        if self.categories:
            words = [f"{name} ({n})" for name, n in self.categories.items()]
            note(f"  categories  {list_names(words)}", quiet=quiet)
        note(f"  target      '{self.target}': {self.task}, {self._tell_target()}", quiet=quiet)
        if self.groups is not None:
            told = count(len(np.unique(self.groups)), "group")
            note(f"  groups      '{self.groups_name}': {told}, each in one fold", quiet=quiet)
        if self.n_left_out:
            note(f"  left out    {count(self.n_left_out, 'row')} without a target", quiet=quiet)

    def _tell_target(self) -> str:
        """Say which values the target has."""
        if self.task == "regression":
            return f"{self.y.min():.6g} to {self.y.max():.6g}, mean {self.y.mean():.6g}"
        labels, counts = np.unique(self.y, return_counts=True)
        shown = [f"{label} ({n:,})" for label, n in zip(labels, counts, strict=True)][:SHOWN_CLASSES]
        hidden = len(labels) - len(shown)
        return ", ".join(shown) + (f" and {hidden} more classes" if hidden > 0 else "")


def read_training(
    path: Path,
    target: str,
    *,
    task: str = "auto",
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numbers: Sequence[str] = (),
    weights: str | None = None,
    groups: str | None = None,
) -> Training:
    """Read a table and take it apart.

    Parameters
    ----------
    path : path
    target : str
        Column to predict. Rows without it are left out.
    task : {"auto", "classification", "regression"}
    drop : sequence of str
        Columns to leave out.
    categorical : sequence of str
        Columns to take as categories though they hold numbers.
    numbers : sequence of str
        Columns to take as numbers though they hold text, perhaps the target.
    weights : str, optional
        Column of weights.
    groups : str, optional
        Column of groups, whose rows are held out together.
    """
    table = read_table(path, text=categorical)
    target = find_column(table, target, "--target")
    apart = [target, *(find_column(table, name, "--drop") for name in drop)]
    chosen = [find_column(table, name, "--categorical") for name in categorical]
    as_numbers = tuple(find_column(table, name, "--number") for name in numbers)
    both = [name for name in as_numbers if name in chosen]
    if both:
        raise InvalidInputError(f"`--categorical` and `--number` both name '{both[0]}'; it can be one only.")
    if weights is not None:
        weights = find_column(table, weights, "--weights")
        apart.append(weights)
    if groups is not None:
        groups = find_column(table, groups, "--groups")
        apart.append(groups)
    lost = [name for name in as_numbers if name in apart and name != target]
    if lost:
        raise InvalidInputError(f"`--number` names '{lost[0]}', which is no attribute here; leave one of the two out.")
    if target in as_numbers:
        table = convert_to_numbers(table, target)
    known = table.filter(pc.invert(pc.is_null(table[target], nan_is_null=True)))
    X = known.drop_columns(sorted(set(apart)))
    if not X.num_columns:
        raise InvalidInputError(f"'{path}' has no column left to predict '{target}' from.")
    y = _read_target(known, target, path)
    if y.dtype.kind not in "iuf":
        check_text_target(target, y.tolist(), task)
    return Training(
        X=X,
        y=y,
        weights=None if weights is None else _read_numbers(known, weights),
        weights_name=weights,
        groups=None if groups is None else _read_groups(known, groups),
        groups_name=groups,
        as_numbers=tuple(name for name in as_numbers if name != target),
        target=target,
        task=guess_task(y) if task == "auto" else task,
        n_left_out=table.num_rows - known.num_rows,
    )


def check_text_target(target: str, values: Iterable[Any], task: str) -> None:
    """Refuse text for a regression, and numbers written as text for classes unless these are asked for.

    Parameters
    ----------
    target : str
    values : iterable
        Values of the target: text, or true and false.
    task : {"auto", "classification", "regression"}
    """
    words = [str(value) for value in values]
    numbers = read_distinct(words)
    n_numbers = sum(not math.isnan(numbers[word]) for word in words)
    n_different = sum(not math.isnan(number) for number in numbers.values())
    way_out = (
        "`--number` for it reads the numbers and leaves out the other rows, `--task classification` takes each text "
        "as a class"
    )
    if task == "regression":
        shown = next((word for word in words if math.isnan(numbers[word])), words[0])
        way_out = way_out if n_numbers else "take `--task classification`"
        raise InvalidInputError(
            f"The target '{target}' holds text, such as '{shown}', so it cannot be a regression; {way_out}."
        )
    if task == "auto" and 2 * n_numbers > len(words) and n_different > MOST_CLASSES:
        marked = next((word for word in words if is_marked(word)), words[0])
        raise InvalidInputError(
            f"The target '{target}' is text, such as '{marked}', but {n_numbers:,} of {len(words):,} values are "
            f"numbers; {way_out}."
        )


def _read_target(table: pa.Table, name: str, path: Path) -> AnyArray:
    """Return the target as an array, refusing one that has nothing to learn from."""
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) or _is_text(kind)):
        if pa.types.is_null(kind):
            raise InvalidInputError(f"The target '{name}' has no value in any row of '{path}'.")
        raise InvalidInputError(f"The target '{name}' must be numbers or text; got {kind}. Convert it.")
    values = np.asarray(column.to_pylist()) if _is_text(kind) else column.to_numpy(zero_copy_only=False)
    different = np.unique(values)
    if len(different) < 2:
        value = different.tolist()[0] if len(different) else "none"
        raise InvalidInputError(f"The target '{name}' has one value only, {value!r}: there is nothing to learn.")
    return np.asarray(values)


def _read_numbers(table: pa.Table, name: str) -> FloatArray:
    """Return a column of weights."""
    try:
        return np.asarray(table[name].cast(pa.float64()).to_numpy(), dtype=np.float64)
    except pa.ArrowException:
        raise InvalidInputError(f"`--weights` must name a column of numbers; '{name}' is {table[name].type}.") from None


def _read_groups(table: pa.Table, name: str) -> IntArray:
    """Return the number of each row's group."""
    column = table[name].combine_chunks()
    missing = pc.is_null(column, nan_is_null=True)
    n_missing = pc.sum(missing).as_py()
    if n_missing:
        told = count(n_missing, "row")
        raise InvalidInputError(f"`--groups` names '{name}', which has no value in {told}; every row needs a group.")
    codes = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return np.asarray(codes.indices.to_numpy(), dtype=np.int64)


def _is_text(kind: pa.DataType) -> bool:
    """Whether a column holds words."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind))
