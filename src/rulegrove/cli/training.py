"""A table with a target: what `fit` and `select` learn from."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove.cli.facts import NO_SPAN, Facts, find_span, sort_kinds, tell_span
from rulegrove.cli.known import read_known
from rulegrove.cli.options import Columns
from rulegrove.cli.reading import convert_to_numbers, find_targets, read_floats, read_table
from rulegrove.cli.roles import Roles, find_roles
from rulegrove.cli.spreadsheets import holds_text
from rulegrove.cli.times import read_times
from rulegrove.cli.words import count, list_names
from rulegrove.columns.dates import parse_times
from rulegrove.columns.numbers import is_marked, read_distinct
from rulegrove.exceptions import InvalidInputError

if TYPE_CHECKING:
    from rulegrove.cli.scoring import Ensemble


def check_values(target: str, values: Sequence[Any]) -> None:
    """Refuse a target of one value, or of none."""
    if len(values) < 2:
        value = repr(values[0]) if values else "none"
        raise InvalidInputError(f"The target '{target}' has one value only, {value}: there is nothing to learn.")


@dataclass(frozen=True, eq=False)
class Training:
    """A table in memory, taken apart."""

    X: pa.Table  # the attributes
    y: Any  # (n_rows,): the target; of several numbers a table
    weights: FloatArray | None  # (n_rows,)
    groups: IntArray | None  # (n_rows,): number of each row's group
    known: Mapping[str, FloatArray]  # exposure and offset of the rows, by these words
    roles: Roles
    facts: Facts

    def fit(self, model: "Ensemble") -> None:
        """Fit a model."""
        model.fit(self.X, self.y, sample_weight=self.weights, groups=self.groups, **self.known)

    def show(self, model: "Ensemble") -> tuple[Any, Any, Mapping[str, FloatArray]]:
        """Return attributes, target, exposure and offset of rows to show a model on: all of them."""
        return self.X, self.y, self.known


def read_training(
    path: Path,
    targets: Sequence[str],
    columns: Columns,
    beside: Mapping[str, str | None],
) -> Training:
    """Read a table and take it apart; rows without a target are left out.

    `beside` is that of `find_roles`; with an event the target is a time.
    """
    table = read_table(path, text=columns.categorical or ())
    roles = find_roles(table.column_names, targets, columns, beside)
    table = _convert_targets(table, roles)
    here = find_targets(table, roles.targets)
    known, rows = table.filter(here), np.flatnonzero(here.to_numpy())
    X = known.drop_columns(sorted(roles.apart))
    if not X.num_columns:
        raise InvalidInputError(f"'{path}' has no column left to predict {list_names(roles.targets)} from.")
    numbers = {name: _read_target(known, name, path) for name in roles.targets}
    y: Any
    counts: dict[Any, int] = {}
    if roles.spells.event is not None:
        y, task = read_times(known, roles.target, roles.spells, rows), "survival"
    elif len(numbers) > 1:
        check_several(numbers)
        y, task = pa.table(numbers), "regression"
    else:
        y = numbers[roles.target]
        task, counts = _find_task(roles.target, y, columns.task)
    row_weights = None if roles.weights is None else read_floats(known, roles.weights, "weights")
    codes = None if roles.groups is None else _read_groups(known, roles.groups)
    more = read_known(known, roles.known, rows)
    told = {"event": f": {count(int(y.event.sum()), 'event')} in {count(len(y), 'row')}"} if task == "survival" else {}
    if "exposure" in more:
        unit = y.sum() / more["exposure"].sum()
        told["exposure"] = f": {tell_span(find_span(more['exposure']))}; the target for each unit of it {unit:.6g}"
    facts = Facts(
        size=f"{count(X.num_rows, 'row')}, {count(X.num_columns, 'attribute')}",
        n_rows=X.num_rows,
        n_left_out=table.num_rows - known.num_rows,
        target=roles.target,
        task=task,
        counts=counts,
        span=NO_SPAN if task == "classification" else find_span(numbers[roles.target]),
        others={name: find_span(numbers[name]) for name in roles.targets[1:]},
        kinds=_sort_columns(X, roles),
        known={**roles.known, **roles.spells.words},
        told=told,
        groups="" if codes is None else f"'{roles.groups}': {count(len(np.unique(codes)), 'group')}",
    )
    return Training(X, y, row_weights, codes, more, roles, facts)


def _find_task(target: str, y: AnyArray, task: str) -> tuple[str, dict[Any, int]]:
    """Return what is to be learned of one target, and how many rows have each of its values."""
    from rulegrove._validation import guess_task  # which takes scikit-learn's second or two

    labels, sizes = np.unique(y, return_counts=True)
    check_values(target, labels.tolist())
    if y.dtype.kind not in "iuf":
        check_text_target(target, y.tolist(), task)
    return guess_task(y) if task == "auto" else task, dict(zip(labels.tolist(), sizes.tolist(), strict=True))


def _convert_targets(table: pa.Table, roles: Roles) -> pa.Table:
    """Return the table with targets of text as numbers, where these were asked for or are times."""
    timed = roles.spells.event is not None
    for name in roles.targets:
        if name in roles.numbers or timed:
            converted = convert_to_numbers(table, name)
            kind, is_empty = table.schema.field(name).type, converted[name].null_count == table.num_rows
            if timed and (pa.types.is_temporal(kind) or (is_empty and table[name].null_count < table.num_rows)):
                held = kind if pa.types.is_temporal(kind) else "text alone"
                raise InvalidInputError(
                    f"With `--event` the target is a number, such as the days until the event; '{name}' holds {held}."
                )
            table = converted
    return table


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


def check_several(numbers: Mapping[str, AnyArray]) -> None:
    """Refuse targets that are not all numbers of more than one value, where there are several."""
    for name, values in numbers.items():
        if values.dtype.kind not in "iuf":
            raise InvalidInputError(
                f"Several `--target` must all be numbers; '{name}' holds {values.tolist()[0]!r}. Fit it by itself, or "
                "read its numbers by `--number`."
            )
        check_values(name, np.unique(values).tolist())


def check_text_target(target: str, values: Iterable[Any], task: str) -> None:
    """Refuse text, and true and false, for a regression, and numbers written as text for classes unless asked for."""
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


def _read_groups(table: pa.Table, name: str) -> IntArray:
    """Return the number of each row's group."""
    column = table[name].combine_chunks()
    n_missing = pc.sum(pc.is_null(column, nan_is_null=True)).as_py()
    if n_missing:
        told = count(n_missing, "row")
        raise InvalidInputError(f"`--groups` names '{name}', which has no value in {told}; every row needs a group.")
    codes = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return np.asarray(codes.indices.to_numpy(), dtype=np.int64)
