"""Raw results: one tidy file, a line a number, written whole after every task."""

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from rulegrove import __version__
from rulegrove._files import write_whole
from rulegrove._typing import FloatArray
from rulegrove.exceptions import InvalidInputError
from rulegrove.study.config import Config

RESULTS_NAME = "results.csv"


@dataclass(frozen=True, slots=True)
class Line:
    """One measured number with all that tells where it comes from."""

    part: str  # part of the study
    task: str  # piece of work that measured it; a task is done when all its lines are there
    data: str  # data set, or the table of candidates
    method: str
    value: str  # where the number lies on the part's grid: leaves, a penalty, a class, a rule in words; may be empty
    repetition: int
    fold: int
    metric: str
    result: float
    seed: int
    seconds: float  # of the task
    n_lines: int  # lines of the task, by which a torn file is noticed
    settings: str  # of the task's models, as JSON
    # mode, table, version: of the run: full or quick, which candidates, which rulegrove.
    mode: str
    table: str
    version: str = __version__

    @property
    def number(self) -> float:
        """The place on the grid as a number."""
        return float(self.value)


_KINDS: dict[str, Any] = {field.name: field.type for field in fields(Line)}


class Results:
    """Lines to choose from."""

    def __init__(self, lines: Iterable[Line]):
        self._lines = tuple(lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def where(self, **wanted: object) -> "Results":
        """Return the lines whose fields have these values."""
        return Results(line for line in self._lines if all(getattr(line, key) == wanted[key] for key in wanted))

    def distinct(self, field: str) -> list[str]:
        """Return the values of a field, in the order of their first line."""
        return list(dict.fromkeys(getattr(line, field) for line in self._lines))

    def grid(self) -> list[float]:
        """Return the places on the grid as rising numbers."""
        return sorted({line.number for line in self._lines if line.value})

    def at(self, number: float) -> "Results":
        """Return the lines at one place of the grid."""
        return Results(line for line in self._lines if line.value and line.number == number)

    def numbers(self, metric: str) -> FloatArray:
        """Return the results of a metric, by repetition and fold."""
        chosen = sorted((line.repetition, line.fold, line.result) for line in self._lines if line.metric == metric)
        return np.array([result for *_, result in chosen], dtype=np.float64)

    def mean(self, metric: str) -> float:
        """Return the mean of a metric; NaN without any line of it."""
        numbers = self.numbers(metric)
        return float(numbers.mean()) if numbers.size else float("nan")

    def spread(self, metric: str) -> float:
        """Return the standard deviation of a metric; 0 for a single line."""
        numbers = self.numbers(metric)
        return float(numbers.std(ddof=1)) if numbers.size > 1 else 0.0


class Ledger:
    """The file of results of one run: what is there, and what is added; lines of another kind of run are refused."""

    def __init__(self, directory: Path, config: Config):
        self.path = directory / RESULTS_NAME
        self._lines = read_lines(self.path) if self.path.exists() else []
        self._text = [_as_text(line) for line in self._lines]
        for line in self._lines:
            theirs = {"mode": line.mode, "table": line.table, "version": line.version}
            for name, ours in {"mode": config.mode, "table": config.table, "version": __version__}.items():
                if theirs[name] != ours:
                    raise InvalidInputError(
                        f"{str(self.path)!r} holds a study of {name} {theirs[name]!r}, this one is {ours!r}; "
                        "go on with the same settings, or write to another directory."
                    )

    @property
    def results(self) -> Results:
        """All lines so far."""
        return Results(self._lines)

    @property
    def finished(self) -> set[str]:
        """Tasks that are done."""
        return {line.task for line in self._lines}

    def drop(self, parts: Iterable[str]) -> None:
        """Forget what some parts have measured; the file follows with the next task."""
        gone = set(parts)
        self._lines = [line for line in self._lines if line.part not in gone]
        self._text = [_as_text(line) for line in self._lines]

    def add(self, lines: Iterable[Line]) -> None:
        """Add the lines of a task and write the file, whole or not at all."""
        fresh = list(lines)
        self._lines += fresh
        self._text += [_as_text(line) for line in fresh]
        write_whole(self.path, "".join([",".join(_KINDS) + "\n", *self._text]))


def _as_text(line: Line) -> str:
    """Return a line of the file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(astuple(line))
    return text.getvalue()


def read_lines(path: str | os.PathLike[str]) -> list[Line]:
    """Read a file of results, refusing one that is not whole.

    That has a wrong header, a line with too few cells, a word in place of a number, or a task without all of its lines.
    """
    path = Path(path)
    try:
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8")), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise _damaged(path, str(error)) from error
    if not rows or rows[0] != [*_KINDS]:
        raise _damaged(path, "its first line is not the header of a study")
    lines = [_parse(path, number, row) for number, row in enumerate(rows[1:], start=2)]
    seen = Counter(line.task for line in lines)
    for line in lines:
        if seen[line.task] != line.n_lines:
            raise _damaged(path, f"task {line.task!r} has {seen[line.task]} of its {line.n_lines} lines")
    return lines


def _damaged(path: Path, why: str) -> InvalidInputError:
    """Return the error of a file that is not whole."""
    return InvalidInputError(
        f"{str(path)!r} is damaged: {why}. It was left as it is; mend or move it, or write to another directory."
    )


def _parse(path: Path, number: int, row: list[str]) -> Line:
    """Turn the cells of a line into their types."""
    if len(row) != len(_KINDS):
        raise _damaged(path, f"line {number} has {len(row)} cells in place of {len(_KINDS)}")
    values = []
    for (name, kind), cell in zip(_KINDS.items(), row, strict=True):
        try:
            values.append(kind(cell))
        except ValueError:
            raise _damaged(path, f"{name!r} of line {number} is {cell!r}, not a number") from None
    return Line(*values)


def describe_settings(settings: Mapping[str, object]) -> str:
    """Return settings as JSON; what JSON has no word for, such as a solver, by its own words on one line."""
    plain = (str, int, float, type(None))
    return json.dumps(
        {key: value if isinstance(value, plain) else " ".join(repr(value).split()) for key, value in settings.items()}
    )
