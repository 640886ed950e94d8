"""Columns beside the attributes and the first one of the target: what is known of scores, events, further numbers."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rulegrove._typing import AnyArray, BoolArray, FloatArray, IntArray
from rulegrove._validation import check_offset
from rulegrove.engines.values import check_names, read_events, read_numbers, take_column
from rulegrove.estimators.baseline import Baseline
from rulegrove.estimators.hazard import expose_rows
from rulegrove.estimators.several import Several
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError
from rulegrove.survival.times import SurvivalTimes, read_survival


@dataclass(frozen=True)
class Known:
    """Columns of what is known to add to the score of each row, or nothing.

    Examples
    --------
    >>> rows = pa.record_batch({"years": [1.0, 2.0]})
    >>> Known("years").read(rows, np.arange(2)).round(3)
    array([0.   , 0.693])
    """

    exposure: str | None = None  # the column whose logarithm adds to the score
    offset: str | None = None  # the column that adds to it as it is

    @classmethod
    def of(cls, names: Sequence[str], kind: Target, exposure: str | None, offset: str | None) -> "Known":
        """Return the columns that options name, refusing those that are not there or not for the target."""
        check_names(names, [("exposure", exposure), ("offset", offset)])
        known = cls(exposure, offset)
        if known.columns:
            one = np.ones(1)
            start = check_offset(None if exposure is None else one, one, 1, log_link=kind.log_link)
            assert start is not None
            kind.take_offset(one, None, start)
        return known

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(name for name in (self.exposure, self.offset) if name is not None)

    def read(self, rows: pa.RecordBatch, positions: IntArray) -> FloatArray | None:
        """Return what is known to add to the score of each row, None where nothing is; errors name `positions`."""
        known = None
        if self.exposure is not None:
            values = read_numbers(take_column(rows, self.exposure), self.exposure)
            refuse_first(~(values > 0.0), values, positions, f"The exposure in column '{self.exposure}'", "above 0")
            known = np.log(values)
        if self.offset is not None:
            values = read_numbers(take_column(rows, self.offset), self.offset)
            refuse_first(np.isnan(values), values, positions, f"The offset in column '{self.offset}'", "in every row")
            known = values if known is None else known + values
        return known


NOTHING_KNOWN = Known()


@dataclass(frozen=True)
class Named:
    """Columns beside attributes and target, as options name them."""

    weights: str | None = None
    event: str | None = None
    entry: str | None = None
    exposure: str | None = None
    offset: str | None = None


@dataclass(frozen=True)
class Beside:
    """Columns that make the target together with its first one: further numbers, or the event of a time."""

    numbers: tuple[str, ...] = ()  # further numbers to predict
    event: str | None = None  # whether the event came at the time
    entry: str | None = None  # since when the row was watched
    word: str | None = None  # what the column of events holds where the event came; None for a column of yes and no
    # Of all rows together, by which times become rates; unknown while the first rows are drawn.
    hazard: Baseline | None = None
    unit: int = 0  # exponent of the power of two in whose units weights of times are

    @classmethod
    def of(
        cls, names: Sequence[str], kind: Target, targets: Sequence[str], event: str | None, entry: str | None
    ) -> "Beside":
        """Return the columns that options and `list_targets` name, refusing what does not go with the target."""
        event, word = split_event(names, event)
        check_names(names, [("event", event), ("entry", entry)])
        given = {option: name for option, name in (("event", event), ("entry", entry)) if name is not None}
        if not kind.timed and given:
            raise InvalidInputError(
                f"`{next(iter(given))}` is for a RuleEnsembleSurvival, whose target is a time; leave it out."
            )
        if kind.timed and event is None:
            raise InvalidInputError(
                "Survival times need `event`, the name of the column that tells whether the event came, true, yes or "
                "1, or had not come yet."
            )
        n_wanted, told = len(kind.names) if isinstance(kind, Several) else 1, ", ".join(map(repr, targets))
        if n_wanted > 1 and len(targets) != n_wanted:
            raise InvalidInputError(
                f"The model predicts {n_wanted} numbers; `target` names {told}. Name as many columns."
            )
        if len(targets) > n_wanted:
            raise InvalidInputError(
                f"One column is predicted here; `target` names {told}. Several numbers at once are for a "
                "RuleEnsembleRegressor with loss='squared'."
            )
        columns = [*targets, *given.values()]
        for name in columns:
            if columns.count(name) > 1:
                raise InvalidInputError(f"`target`, `event` and `entry` name {name!r} twice; name different columns.")
        return cls(tuple(targets[1:]), event, entry, word)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in the order in which they follow the first one."""
        return (*self.numbers, *(name for name in (self.event, self.entry) if name is not None))

    def read(self, rows: pa.RecordBatch, y: FloatArray, positions: IntArray) -> FloatArray:
        """Return the first column of the target with the others behind it; events and times are checked."""
        table = np.column_stack([y, *(self._read_column(take_column(rows, name), name) for name in self.columns)])
        if self.event is not None and len(table):
            entry = () if self.entry is None else (table[:, 2],)
            with naming_rows(positions):
                read_survival((*entry, table[:, 0], table[:, 1]), need_events=False)
        return table

    def _read_column(self, column: pa.Array, name: str) -> FloatArray:
        """Return one of the columns as numbers."""
        return read_events(column, name, self.word) if name == self.event else read_numbers(column, name)

    def expose(self, y: AnyArray, weights: FloatArray | None) -> tuple[AnyArray, FloatArray | None]:
        """Return what is learned of rows: rates and their weights for times, all else as it is."""
        if self.hazard is None:
            return y, weights
        return expose_rows(as_times(y), weights, self.hazard)


ALONE = Beside()


def split_event(names: Sequence[str], event: str | None) -> tuple[str | None, str | None]:
    """Return the column of events and its word for the event, of a name alone or of both.

    Examples
    --------
    >>> split_event(["years", "status"], "status=dead"), split_event(["years", "died"], "died")
    (('status', 'dead'), ('died', None))
    """
    if event is None or event in names or "=" not in event:
        return event, None
    column, _, word = event.rpartition("=")
    return column.strip(), word.strip()


def list_targets(names: Sequence[str], target: str | Sequence[str]) -> tuple[str, ...]:
    """Return the columns that `target` names: one, or several numbers; such that are not there are refused.

    Examples
    --------
    >>> list_targets(["a", "b", "c"], "a"), list_targets(["a", "b", "c"], ["a", "b"])
    (('a',), ('a', 'b'))
    """
    targets = (target,) if isinstance(target, str) else tuple(target)
    if not targets:
        raise InvalidInputError("`target` is empty; name the column to predict.")
    check_names(names, [("target", name) for name in targets])
    for name in targets:
        if targets.count(name) > 1:
            raise InvalidInputError(f"`target` names {name!r} twice; name different columns.")
    return targets


def as_times(table: FloatArray) -> SurvivalTimes:
    """Return the columns that `Beside.read` has made of times as what they are.

    Examples
    --------
    >>> as_times(np.array([[5.0, 1.0], [3.0, 0.0]])).event
    array([ True, False])
    """
    return SurvivalTimes(table[:, 0], table[:, 1] == 1.0, table[:, 2] if table.shape[1] > 2 else None)


def refuse_first(wrong: BoolArray, values: FloatArray, positions: IntArray, what: str, expected: str) -> None:
    """Refuse numbers of which some are wrong, naming the first row of these."""
    if wrong.any():
        first = int(np.argmax(wrong))
        value = values[first]
        found = "none" if np.isnan(value) else f"{value:g}"
        raise InvalidInputError(
            f"{what} must be a number {expected}; row {positions[first]} has {found}. Leave such rows out"
        )


@contextmanager
def naming_rows(positions: IntArray) -> Iterator[None]:
    """Let errors that name a row of a batch name that of the table."""
    try:
        yield
    except InvalidInputError as error:
        told = re.sub(r"\brow (\d+)", lambda found: f"row {positions[int(found[1])]}", str(error))
        raise InvalidInputError(told) from None


def check_numbers(kind: Target, y: FloatArray, positions: IntArray) -> None:
    """Refuse numbers that a target is not for, in its words for tables in memory, naming the row of the table."""
    with naming_rows(positions):
        kind.check(np.append(y, 1.0), len(y) + 1)  # that all rows of a batch are 0 is no fault of the table
