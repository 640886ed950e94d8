"""Survival times: the target with the columns that `--event` and `--entry` name."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rulegrove._typing import FloatArray, IntArray
from rulegrove.cli.reading import convert_to_numbers, find_name
from rulegrove.exceptions import InvalidInputError

if TYPE_CHECKING:
    from rulegrove.cli.scoring import Ensemble
    from rulegrove.survival.times import SurvivalTimes


def find_spells(names: Sequence[str], event: str | None, entry: str | None) -> dict[str, str]:
    """Return the columns that were named, as the table spells them, by their options without dashes."""
    given = {"event": event, "entry": entry}
    return {option: find_name(names, name, f"--{option}") for option, name in given.items() if name is not None}


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


def read_times(table: pa.Table, target: str, spells: Mapping[str, str], rows: IntArray) -> "SurvivalTimes":
    """Return the survival times of rows that have a time; text is read as numbers.

    Parameters
    ----------
    table : pyarrow.Table
    target : str
        Column of the times.
    spells : mapping of str to str
        As `find_spells` returns it.
    rows : ndarray of shape (n_rows,)
        Places of the rows in the file, for errors to name.
    """
    columns = {option: _read_numbers(table, name, option) for option, name in {"target": target, **spells}.items()}
    for option in spells:
        missing = np.isnan(columns[option])
        if missing.any():
            first = int(np.argmax(missing))
            cell = table[spells[option]][first].as_py()
            what = "true or false, 1 or 0," if option == "event" else "a number"
            raise InvalidInputError(
                f"`--{option}` needs {what} in every row; row {rows[first]} (the first one is 0) has "
                f"{'nothing' if cell is None else repr(cell)}. Fill it in, or leave such rows out."
            )
    from rulegrove.survival.times import read_survival  # which loads what counts them

    given = (columns["entry"],) if "entry" in columns else ()
    try:
        return read_survival((*given, columns["target"], columns["event"]))
    except InvalidInputError as error:
        raise InvalidInputError(
            re.sub(r"\brow (\d+)", lambda found: f"row {rows[int(found[1])]}", str(error))
        ) from None


def _read_numbers(table: pa.Table, name: str, option: str) -> FloatArray:
    """Return a column as float64, NaN where it is missing."""
    column = convert_to_numbers(table, name)[name]
    try:
        return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    except pa.ArrowException:
        raise InvalidInputError(f"`--{option}` must name a column of numbers; '{name}' is {column.type}.") from None


def read_moments(word: str) -> list[float]:
    """Return the times that `--at` names.

    Examples
    --------
    >>> read_moments("1, 2.5")
    [1.0, 2.5]
    """
    try:
        moments = [float(part) for part in word.split(",")]
    except ValueError:
        moments = [np.nan]
    if not all(0.0 <= moment < np.inf for moment in moments) or len(set(moments)) < len(moments):
        raise InvalidInputError(
            f"`--at` must be times from 0 on, different ones with commas between them, such as 1,2,5; got '{word}'."
        )
    return moments
