"""Survival times: the target with the columns that `--event` and `--entry` name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.cli.reading import convert_to_numbers, find_name, match_name, read_floats
from rulegrove.cli.words import list_names, suggest
from rulegrove.engines.values import EVENTS
from rulegrove.exceptions import InvalidInputError

if TYPE_CHECKING:
    from rulegrove.cli.scoring import Ensemble
    from rulegrove.survival.times import SurvivalTimes

MOST_WORDS = 20  # of a column of events that an error names


@dataclass(frozen=True)
class Spells:
    """Columns that make a time of the target, as the table spells them."""

    event: str | None = None
    entry: str | None = None
    word: str | None = None  # what the column of events holds where the event came; None for a column of yes and no

    @property
    def columns(self) -> dict[str, str]:
        """The columns by their options without dashes."""
        given = {"event": self.event, "entry": self.entry}
        return {option: name for option, name in given.items() if name is not None}

    @property
    def words(self) -> dict[str, str]:
        """The same as they are given on the command line, an event with its word."""
        return self.columns if self.word is None else {**self.columns, "event": f"{self.event}={self.word}"}


def find_spells(names: Sequence[str], event: str | None, entry: str | None) -> Spells:
    """Return the columns that were named; an event may have a word of its own: ``status=dead``."""
    found_entry = None if entry is None else find_name(names, entry, "--entry")
    if event is None:
        return Spells(entry=found_entry)
    column, _, word = event.rpartition("=")
    if match_name(names, event) is None and column.strip():
        return Spells(find_name(names, column.strip(), "--event"), found_entry, word.strip())
    return Spells(find_name(names, event, "--event"), found_entry)


def check_spells(model: "Ensemble", event: str | None, entry: str | None) -> bool:
    """Tell whether a model is of survival times; refuse columns that it lacks, or has no use for."""
    from rulegrove.estimators.survival import RuleEnsembleSurvival

    survival = isinstance(model, RuleEnsembleSurvival)
    if survival and event is None:
        raise InvalidInputError("The model is of survival times; name the column of events by `--event`.")
    for option, name in (("event", event), ("entry", entry)):
        if name is not None and not survival:
            raise InvalidInputError(f"`--{option}` is for models of survival times, and this is none; leave it out.")
    return survival


def read_times(table: pa.Table, target: str, spells: Spells, rows: IntArray) -> "SurvivalTimes":
    """Return the survival times of rows that have a time; text is read as numbers.

    `rows` are their places in the file, for errors to name.
    """
    assert spells.event is not None
    event = _read_events(table[spells.event].combine_chunks(), spells, rows)
    given = () if spells.entry is None else (_read_entries(table, spells.entry, rows),)
    from rulegrove.engines.beside import naming_rows  # which loads the estimators
    from rulegrove.survival.times import read_survival

    time = read_floats(convert_to_numbers(table, target), target, "target")
    with naming_rows(rows):
        return read_survival((*given, time, event))


def _read_events(column: pa.Array, spells: Spells, rows: IntArray) -> BoolArray:
    """Return whether there was an event."""
    _refuse_missing(column, "event", "a value", rows)
    codes = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words = [_spell(cell) for cell in codes.dictionary.to_pylist()]
    came = {word: word == spells.word for word in words} if spells.word is not None else EVENTS
    strange = [word for word in words if word not in came and word.lower() not in came]
    if len(words) > MOST_WORDS and strange:
        raise InvalidInputError(
            f"`--event` needs 1 or 0, true or false, yes or no; '{spells.event}' has {len(words)} different values."
        )
    if strange:
        ways = " or ".join(f"`--event '{spells.event}={word}'`" for word in sorted(words)[:2])
        raise InvalidInputError(
            f"`--event` needs 1 or 0, true or false, yes or no; '{spells.event}' has {list_names(sorted(words))}. Say "
            f"which one is the event: {ways}."
        )
    if spells.word is not None and spells.word not in words:
        hint = suggest(spells.word, words)
        raise InvalidInputError(
            f"`--event` takes '{spells.word}' of '{spells.event}' for the event, and no row has it; there are "
            f"{list_names(sorted(words))}.{hint}"
        )
    flags = np.array([came.get(word, came.get(word.lower())) for word in words], dtype=np.bool_)
    return np.asarray(flags[codes.indices.to_numpy(zero_copy_only=False)])


def _spell(cell: Any) -> str:
    """Return a cell as one writes it on the command line: 2 for 2.0, and true for yes."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _read_entries(table: pa.Table, name: str, rows: IntArray) -> FloatArray:
    """Return since when each row was watched."""
    values = read_floats(convert_to_numbers(table, name), name, "entry")
    column = table[name].combine_chunks()
    _refuse_missing(pa.array(values, from_pandas=True), "entry", "a number", rows, column)
    return values


def _refuse_missing(values: pa.Array, option: str, what: str, rows: IntArray, cells: pa.Array | None = None) -> None:
    """Name the first row that has no value, and what its cell holds instead of one."""
    missing = pc.is_null(values, nan_is_null=True).to_numpy(zero_copy_only=False)
    if not missing.any():
        return
    first = int(np.argmax(missing))
    cell = None if cells is None else cells[first].as_py()
    held = "nothing" if cell is None or cell != cell else f"'{cell}'"
    raise InvalidInputError(
        f"`--{option}` needs {what} in every row; row {rows[first]} (the first one is 0) has {held}. Fill it in, or "
        "leave such rows out."
    )


def check_moments(model: "Ensemble", moments: Sequence[float]) -> None:
    """Refuse times for a model that is not of survival times."""
    if moments and not model.recall_target().timed:
        raise InvalidInputError("`--at` is for models of survival times, and this is none; leave it out.")


def read_moments(words: Sequence[str]) -> list[float]:
    """Return the times that `--at` names: each by itself, or with commas between them.

    Examples
    --------
    >>> read_moments(["1, 2.5", "4"])
    [1.0, 2.5, 4.0]
    """
    try:
        moments = [float(part) for word in words for part in word.split(",")]
    except ValueError:
        moments = [np.nan]
    if not all(0.0 <= moment < np.inf for moment in moments) or len(set(moments)) < len(moments):
        raise InvalidInputError(
            f"`--at` must be a time from 0 on, given once for each of several; got '{', '.join(words)}'."
        )
    return moments
