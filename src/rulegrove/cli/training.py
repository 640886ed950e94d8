"""A table with a target: what `fit` and `select` learn from."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove.cli.errors import note
from rulegrove.cli.known import find_known, read_known, take_known
from rulegrove.cli.options import Columns
from rulegrove.cli.reading import convert_to_numbers, find_name, read_table
from rulegrove.cli.spreadsheets import holds_text
from rulegrove.cli.times import find_spells, read_times
from rulegrove.cli.words import count, list_names
from rulegrove.columns.dates import parse_times
from rulegrove.columns.numbers import is_marked, read_distinct
from rulegrove.exceptions import InvalidInputError

if TYPE_CHECKING:
    from rulegrove.cli.scoring import Ensemble

SHOWN_CLASSES = 6
NO_SPAN = (math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Roles:
    """Which columns are what, by their names as the table spells them."""

    target: str
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    numbers: tuple[str, ...]
    weights: str | None
    groups: str | None
    keep_identifiers: bool
    known: Mapping[str, str] = field(default_factory=dict)
    spells: Mapping[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of an estimator that say how columns are read, those that were given."""
        numbers = [name for name in self.numbers if name != self.target]
        return {
            **({"numeric_features": numbers} if numbers else {}),
            **({"identifiers": None} if self.keep_identifiers else {}),
        }

    @property
    def apart(self) -> set[str]:
        """Columns that are no attributes."""
        named = (self.target, *self.drop, self.weights, self.groups, *self.known.values(), *self.spells.values())
        return {name for name in named if name is not None}


def find_roles(
    names: Sequence[str],
    target: str,
    columns: Columns,
    weights: str | None = None,
    groups: str | None = None,
    exposure: str | None = None,
    offset: str | None = None,
    event: str | None = None,
    entry: str | None = None,
) -> Roles:
    """Find the columns that options name; one that the table does not have, or that is two things, is refused."""

    def find(option: str, wanted: Sequence[str] | None) -> tuple[str, ...]:
        return tuple(find_name(names, name, option) for name in wanted or ())

    roles = Roles(
        target=find_name(names, target, "--target"),
        drop=find("--drop", columns.drop),
        categorical=find("--categorical", columns.categorical),
        numbers=find("--number", columns.number),
        weights=None if weights is None else find_name(names, weights, "--weights"),
        groups=None if groups is None else find_name(names, groups, "--groups"),
        keep_identifiers=columns.keep_identifiers,
        known=find_known(names, exposure, offset),
        spells=find_spells(names, event, entry),
    )
    for option, name in {**roles.known, **roles.spells}.items():
        if name == roles.target:
            raise InvalidInputError(f"`--{option}` and `--target` both name '{name}'; it can be one only.")
    for name in roles.numbers:
        if name in roles.categorical:
            raise InvalidInputError(f"`--categorical` and `--number` both name '{name}'; it can be one only.")
        if name in roles.apart - {roles.target}:
            raise InvalidInputError(f"`--number` names '{name}', which is no attribute here; leave one of the two out.")
    return roles


@dataclass(frozen=True)
class Facts:
    """What a table was found to hold, to be told and to be given as JSON.

    Attributes
    ----------
    size : str
        Rows and attributes in words.
    n_rows, n_left_out : int
        Rows with a target and without.
    target : str
        Name of its column.
    task : {"classification", "regression", "survival"}
    counts : dict
        Rows of each value of the target, where these are few enough to be classes.
    span : tuple of float
        Least, largest and mean value of a target of numbers or times.
    kinds : dict
        Names of the attributes that are ``"numbers"``, ``"dates"`` and ``"categories"``; the last perhaps with how many
        categories they have.
    groups : str
        The groups in words; empty without any.
    known : dict
        Columns of the exposure, the offset, the event and the entry, by these words.
    n_events : int, optional
        Rows with an event, as far as that is known.
    exposures : tuple of float
        Least, largest and mean value of the exposure, and the mean of the target for each unit of it.
    """

    size: str
    n_rows: int
    n_left_out: int
    target: str
    task: str
    counts: Mapping[Any, int]
    span: tuple[float, float, float]
    kinds: Mapping[str, Sequence[str] | Mapping[str, int]]
    groups: str = ""
    known: Mapping[str, str] = field(default_factory=dict)
    n_events: int | None = None
    exposures: tuple[float, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return what was read and guessed, for JSON."""
        rows = {"rows": self.n_rows, "rows_without_target": self.n_left_out}
        return {**rows, "target": self.target, "task": self.task, **self.known, **self.kinds}

    def tell(self) -> None:
        """Say what was read and guessed."""
        note(self.size)
        for kind, names in self.kinds.items():
            shown = [f"{name} ({n})" for name, n in names.items()] if isinstance(names, Mapping) else names
            if shown:
                note(f"  {kind:<12}{list_names(shown)}")
        note(f"  target      '{self.target}': {self.task}, {self._tell_values()}")
        more = {"exposure": self._tell_exposures(), "event": self._tell_events()}
        for option, name in self.known.items():
            note(f"  {option:<12}'{name}'{more.get(option, '')}")
        if self.groups:
            note(f"  groups      {self.groups}, each in one fold")
        if self.n_left_out:
            note(f"  left out    {count(self.n_left_out, 'row')} without a target")

    def _tell_exposures(self) -> str:
        """Say which values the exposure has, and what the target is for each unit of it."""
        if not self.exposures:
            return ""
        return ": {:.6g} to {:.6g}, mean {:.6g}; the target for each unit of it {:.6g}".format(*self.exposures)

    def _tell_events(self) -> str:
        """Say how many rows have an event."""
        return "" if self.n_events is None else f": {count(self.n_events, 'event')} in {count(self.n_rows, 'row')}"

    def _tell_values(self) -> str:
        """Say which values the target has."""
        if self.task != "classification":
            return "{:.6g} to {:.6g}, mean {:.6g}".format(*self.span)
        shown = [f"{label} ({n:,})" for label, n in sorted(self.counts.items())]
        hidden = len(shown) - SHOWN_CLASSES
        return ", ".join(shown[:SHOWN_CLASSES]) + (f" and {hidden} more classes" if hidden > 0 else "")


def sort_kinds(
    names: Iterable[str], is_date: Callable[[str], bool], is_category: Callable[[str], bool]
) -> dict[str, list[str]]:
    """Return names of attributes by what they hold: what is neither date nor category is a number."""
    kinds: dict[str, list[str]] = {"numbers": [], "dates": [], "categories": []}
    for name in names:
        kinds["dates" if is_date(name) else "categories" if is_category(name) else "numbers"].append(name)
    return kinds


def check_values(target: str, values: Sequence[Any]) -> None:
    """Refuse a target of one value, or of none."""
    if len(values) < 2:
        value = repr(values[0]) if values else "none"
        raise InvalidInputError(f"The target '{target}' has one value only, {value}: there is nothing to learn.")


@dataclass(frozen=True, eq=False)
class Training:
    """A table in memory, taken apart.

    Attributes
    ----------
    X : pyarrow.Table
        The attributes.
    y : ndarray of shape (n_rows,) or SurvivalTimes
        The target.
    weights : ndarray of shape (n_rows,) or None
    groups : ndarray of shape (n_rows,) or None
        Number of each row's group.
    known : dict
        Exposure and offset of the rows, by these words.
    roles : Roles
    facts : Facts
    """

    X: pa.Table
    y: Any
    weights: FloatArray | None
    groups: IntArray | None
    known: Mapping[str, FloatArray]
    roles: Roles
    facts: Facts

    def fit(self, model: "Ensemble") -> None:
        """Fit a model."""
        model.fit(self.X, self.y, sample_weight=self.weights, groups=self.groups, **self.known)

    def show(self, model: "Ensemble") -> tuple[Any, Any]:
        """Return attributes and target of rows to show a model on: all of them, rates where there is an exposure."""
        return self.X, take_known(model, self.y, self.known)


def read_training(
    path: Path,
    target: str,
    columns: Columns,
    weights: str | None = None,
    groups: str | None = None,
    exposure: str | None = None,
    offset: str | None = None,
    event: str | None = None,
    entry: str | None = None,
) -> Training:
    """Read a table and take it apart; rows without a target are left out.

    Parameters
    ----------
    path : path
    target : str
        Column to predict.
    columns : Columns
    weights, groups : str, optional
        Columns of weights, and of groups whose rows are held out together.
    exposure, offset, event, entry : str, optional
        Columns of these; with an event the target is a time.
    """
    table = read_table(path, text=columns.categorical or ())
    roles = find_roles(table.column_names, target, columns, weights, groups, exposure, offset, event, entry)
    from rulegrove._validation import guess_task  # from here on errors take scikit-learn's second or two

    target = roles.target
    if target in roles.numbers or roles.spells:
        table = convert_to_numbers(table, target)
    here = pc.invert(pc.is_null(table[target], nan_is_null=True))
    known, rows = table.filter(here), np.flatnonzero(here.to_numpy())
    X = known.drop_columns(sorted(roles.apart))
    if not X.num_columns:
        raise InvalidInputError(f"'{path}' has no column left to predict '{target}' from.")
    y = _read_target(known, target, path)
    times = read_times(known, target, roles.spells, rows) if roles.spells else None
    labels, counts = np.unique(y, return_counts=True)
    if times is None:
        check_values(target, labels.tolist())
        if y.dtype.kind not in "iuf":
            check_text_target(target, y.tolist(), columns.task)
        task = guess_task(y) if columns.task == "auto" else columns.task
    else:
        task = "survival"
    row_weights = None if roles.weights is None else read_weights(known, roles.weights)
    codes = None if roles.groups is None else _read_groups(known, roles.groups)
    beside = read_known(known, roles.known, rows)
    facts = Facts(
        size=f"{count(X.num_rows, 'row')}, {count(X.num_columns, 'attribute')}",
        n_rows=X.num_rows,
        n_left_out=table.num_rows - known.num_rows,
        target=target,
        task=task,
        counts=dict(zip(labels.tolist(), counts.tolist(), strict=True)),
        span=NO_SPAN if task == "classification" else (y.min(), y.max(), y.mean()),
        kinds=_sort_columns(X, roles),
        known={**roles.known, **roles.spells},
        n_events=None if times is None else int(times.event.sum()),
        exposures=_describe_exposure(y, beside["exposure"]) if "exposure" in beside and task == "regression" else (),
        groups="" if codes is None else f"'{roles.groups}': {count(len(np.unique(codes)), 'group')}",
    )
    return Training(X, y if times is None else times, row_weights, codes, beside, roles, facts)


def _describe_exposure(y: AnyArray, exposure: FloatArray) -> tuple[float, ...]:
    """Return what `Facts` tells of an exposure."""
    return float(exposure.min()), float(exposure.max()), float(exposure.mean()), float(y.sum() / exposure.sum())


def _sort_columns(X: pa.Table, roles: Roles) -> dict[str, Any]:
    """Return the attributes by what they hold, those of text that are dates among the dates."""

    def is_date(name: str) -> bool:
        kind = X.schema.field(name).type
        return pa.types.is_temporal(kind) or (pa.types.is_string(kind) and parse_times(X[name].to_numpy()) is not None)

    def is_category(name: str) -> bool:
        kind = X.schema.field(name).type
        return name not in roles.numbers and (holds_text(kind) or pa.types.is_dictionary(kind))

    kinds = sort_kinds(X.column_names, is_date, is_category)
    sizes = {name: int(pc.count_distinct(X[name], mode="only_valid").as_py()) for name in kinds["categories"]}
    return {**kinds, "categories": sizes}


def check_text_target(target: str, values: Iterable[Any], task: str) -> None:
    """Refuse text for a regression, and numbers written as text for classes unless these are asked for.

    Parameters
    ----------
    target : str
    values : iterable
        Values of the target: text, or true and false.
    task : {"auto", "classification", "regression"}
    """
    from rulegrove._validation import MOST_CLASSES

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


def _read_target(known: pa.Table, name: str, path: Path) -> AnyArray:
    """Return the target of the rows that have one."""
    from rulegrove.engines.values import read_labels

    if not known.num_rows:
        raise InvalidInputError(f"The target '{name}' has no value in any row of '{path}'.")
    try:
        return read_labels(known[name].combine_chunks(), name)
    except InvalidInputError as error:
        raise InvalidInputError(f"{error}.") from None


def read_weights(table: pa.Table, name: str) -> FloatArray:
    """Return a column of weights."""
    try:
        return np.asarray(table[name].cast(pa.float64()).to_numpy(), dtype=np.float64)
    except pa.ArrowException:
        raise InvalidInputError(f"`--weights` must name a column of numbers; '{name}' is {table[name].type}.") from None


def _read_groups(table: pa.Table, name: str) -> IntArray:
    """Return the number of each row's group."""
    column = table[name].combine_chunks()
    n_missing = pc.sum(pc.is_null(column, nan_is_null=True)).as_py()
    if n_missing:
        told = count(n_missing, "row")
        raise InvalidInputError(f"`--groups` names '{name}', which has no value in {told}; every row needs a group.")
    codes = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return np.asarray(codes.indices.to_numpy(), dtype=np.int64)
