"""What a table was found to hold, told before the fit."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rulegrove._typing import AnyArray
from rulegrove.cli.errors import note
from rulegrove.cli.words import count, list_names

SHOWN_CLASSES = 6
NO_SPAN = (math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Facts:
    """What a table was found to hold, to be told and to be given as JSON."""

    size: str  # rows and attributes in words
    # n_rows, n_left_out: rows with a target and without.
    n_rows: int
    n_left_out: int
    target: str  # name of its column
    task: str  # classification, regression or survival
    counts: Mapping[Any, int]  # rows of each value of the target, where these are few enough to be classes
    span: tuple[float, float, float]  # least, largest and mean value of a target of numbers or times
    # Names of the attributes that are ``"numbers"``, ``"dates"`` and ``"categories"``; the last perhaps with how many
    # categories they have.
    kinds: Mapping[str, Sequence[str] | Mapping[str, int]]
    # Least, largest and mean value of each further number to predict, by its name.
    others: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    groups: str = ""  # the groups in words; empty without any
    # Columns of the exposure, the offset, the event and the entry, by these words.
    known: Mapping[str, str] = field(default_factory=dict)
    told: Mapping[str, str] = field(default_factory=dict)  # what is said of these columns, by the same words

    def describe(self) -> dict[str, Any]:
        """Return what was read and guessed, for JSON."""
        rows = {"rows": self.n_rows, "rows_without_target": self.n_left_out}
        target = [self.target, *self.others] if self.others else self.target
        return {**rows, "target": target, "task": self.task, **self.known, **self.kinds}

    def tell(self) -> None:
        """Say what was read and guessed."""
        note(self.size)
        for kind, names in self.kinds.items():
            shown = [f"{name} ({n})" for name, n in names.items()] if isinstance(names, Mapping) else names
            if shown:
                note(f"  {kind:<12}{list_names(shown)}")
        task = "survival times" if self.task == "survival" else self.task
        note(f"  target      '{self.target}': {task}, {self._tell_values()}")
        for name, span in self.others.items():
            note(f"              '{name}': {self.task}, {tell_span(span)}")
        for option, name in self.known.items():
            note(f"  {option:<12}'{name}'{self.told.get(option, '')}")
        if self.groups:
            note(f"  groups      {self.groups}, each in one fold")
        if self.n_left_out:
            note(f"  left out    {count(self.n_left_out, 'row')} without a target")

    def _tell_values(self) -> str:
        """Say which values the target has."""
        if self.task != "classification":
            return tell_span(self.span)
        shown = [f"{label} ({n:,})" for label, n in sorted(self.counts.items())]
        hidden = len(shown) - SHOWN_CLASSES
        return ", ".join(shown[:SHOWN_CLASSES]) + (f" and {hidden} more classes" if hidden > 0 else "")


def find_span(values: AnyArray) -> tuple[float, float, float]:
    """Return least, largest and mean value of numbers."""
    return float(values.min()), float(values.max()), float(values.mean())


def tell_span(span: tuple[float, float, float]) -> str:
    """Say which values there are."""
    return "{:.6g} to {:.6g}, mean {:.6g}".format(*span)


def sort_kinds(
    names: Iterable[str], is_date: Callable[[str], bool], is_category: Callable[[str], bool]
) -> dict[str, list[str]]:
    """Return names of attributes by what they hold: what is neither date nor category is a number."""
    kinds: dict[str, list[str]] = {"numbers": [], "dates": [], "categories": []}
    for name in names:
        kinds["dates" if is_date(name) else "categories" if is_category(name) else "numbers"].append(name)
    return kinds
