"""Results on standard output: tables for people, JSON for programs."""

import itertools
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rulegrove._words import printable

WIDTH = 120  # of tables that do not go to a terminal
NARROW = 100  # a terminal of fewer columns has little room
LEAST_ROOM, MOST_LINES = 20, 4  # of words beside figures


def print_table(
    columns: Mapping[str, Sequence[str]],
    *,
    words: Sequence[str] = (),
    spare: Sequence[str] = (),
    below: str | None = None,
) -> None:
    """Print a table, the cells of which stand by heading.

    Columns of `words` are set flush left and broken where there is no room, and those to `spare` are left out where
    there is little. There the cells of the last column, of words, stand `below` those of the others.
    """
    fixed = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH
    console = Console(highlight=False, width=fixed)
    shown = {heading: cells for heading, cells in columns.items() if console.width >= NARROW or heading not in spare}
    if below is not None and _is_tight(shown, below, console.width):
        line = Text(("-" if console.options.ascii_only else "─") * console.width)
        head, *rows = _stack(shown, words, console.width)
        console.print(*head, line, *itertools.chain(*rows), sep="\n")
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, header_style="bold")
    for heading in shown:
        flush = heading in words
        table.add_column(_text(heading), justify="left" if flush else "right", no_wrap=not flush, overflow="fold")
    for row in zip(*shown.values(), strict=True):
        table.add_row(*map(_text, row))
    console.print(table)


def _is_tight(columns: Mapping[str, Sequence[str]], last: str, width: int) -> bool:
    """Whether the words of the last column would take many lines beside the others."""
    room = width - sum(max(map(len, [heading, *cells])) + 2 for heading, cells in columns.items() if heading != last)
    longest = max(len(line) for cell in columns[last] for line in cell.split("\n"))
    return room < longest and (room < LEAST_ROOM or MOST_LINES * room < longest)


def _stack(columns: Mapping[str, Sequence[str]], words: Sequence[str], width: int) -> Iterator[list[Text]]:
    """Yield the lines of each row: figures, beside them words, and below both the words of the last column."""
    from rulegrove.estimators.rule_table import INDENT, hang

    order = sorted(columns, key=words.__contains__)
    wide = [max(map(len, [heading, *columns[heading]])) for heading in order if heading not in words]
    for place, (*cells, last) in enumerate([order, *zip(*(columns[heading] for heading in order), strict=True)]):
        lead = "".join(f"{cell.rjust(own)}  " for cell, own in zip(cells, wide, strict=False))
        beside = "  ".join(map(printable, cells[len(wide) :]))
        first, *below = last.split("\n")
        lines = [*hang(lead, beside, width, LEAST_ROOM // 2), *hang(INDENT, printable(first), width)]
        style = "" if place else "bold"
        yield [
            *(Text(line.rstrip(), style) for line in lines),
            *(Text(line, "dim") for more in below for line in hang(INDENT, printable(more), width)),
        ]


def _text(cell: str) -> Text:
    """Return what a cell shows, the lines below its first one dimmed."""
    first, *below = cell.split("\n")
    return Text(printable(first)).append("".join(f"\n{printable(line)}" for line in below), "dim")


def print_text(words: str) -> None:
    """Print text as it is; a terminal gets control characters other than line ends and tabs as escapes."""
    if sys.stdout.isatty():
        words = "\n".join("\t".join(map(printable, line.split("\t"))) for line in words.split("\n"))
    sys.stdout.write(words)


def print_json(document: Any) -> None:
    """Print one JSON document; numbers that are not finite are null, and characters without a shape are escapes."""
    plain_ascii = not (sys.stdout.encoding or "").lower().startswith("utf")
    words = json.dumps(plain(document), ensure_ascii=plain_ascii, indent=2, allow_nan=False)
    sys.stdout.writelines(f"{_escape(line)}\n" for line in words.split("\n"))


def list_records(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the rows of columns, a record each."""
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _escape(line: str) -> str:
    """Return a line of JSON with escapes for what a terminal would obey or not show."""
    return line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def plain(value: Any) -> Any:
    """Return a value as JSON has it: NumPy's numbers as Python's, infinite and undefined ones as None.

    Examples
    --------
    >>> plain({"a": np.float64(1.5), "b": (np.int64(2), math.nan)})
    {'a': 1.5, 'b': [2, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
