"""Arguments and options that several commands share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from rulegrove.exceptions import InvalidInputError

DATA_HELP = "Table with a header: .csv, .tsv (also .gz, .bz2, .zst), .parquet, .feather, .jsonl, .xlsx."
PARTS_HELP = f"{DATA_HELP} Several Parquet files, a folder of them or one beyond 512 MB are read part by part."

Names = list[str] | None

Parts = Annotated[list[Path], typer.Argument(help=PARTS_HELP, show_default=False)]
Data = Annotated[Path, typer.Argument(help=DATA_HELP, show_default=False)]
Model = Annotated[Path, typer.Argument(help="Model file, as `rulegrove fit -o` writes it.", show_default=False)]
Target = Annotated[
    list[str], typer.Option("--target", "-t", metavar="COL", help="Column to predict.", show_default=False)
]
Targets = Annotated[
    list[str],
    typer.Option(
        "--target", "-t", metavar="COL", help="Column to predict; once for each of several numbers.", show_default=False
    ),
]
Weights = Annotated[str | None, typer.Option(metavar="COL", help="Column with the weights of the rows.")]
Exposure = Annotated[
    str | None,
    typer.Option(metavar="COL", help="Column of how much each row stands for, such as years at risk; of rates."),
]
Offset = Annotated[
    str | None, typer.Option(metavar="COL", help="Column of what is known to add to the score of each row.")
]
Event = Annotated[
    str | None,
    typer.Option(
        metavar="COL[=WORD]",
        help="Column of whether the event came: 1 or 0, yes or no, or with the word of the event, as in status=dead. "
        "The target is then the time until it.",
    ),
]
Entry = Annotated[
    str | None, typer.Option(metavar="COL", help="Column of the time since when a row was watched; beside --event.")
]
At = Annotated[
    Names,
    typer.Option(
        metavar="TIME", help="Of survival times: when to tell the chance of no event yet. Once for each time."
    ),
]
Keep = Annotated[Names, typer.Option(metavar="COL", help="Column to pass on, such as a key. Once for each.")]
Raw = Annotated[
    bool, typer.Option("--raw", help="CSV: write text that begins as a formula as it is, without a ' before it.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of words and tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress; no result that goes to a file.")]

_TASK_HELP = "What the target is. auto: numbers with fractions, or more than 20 of them, are a regression."
_CATEGORICAL_HELP = "Column of numbers to take as categories; text always is. Once for each."
_NUMBER_HELP = "Column of text to read as numbers: 35%, $1,200. Once for each."
_IDENTIFIERS_HELP = "Use columns that look like identifiers, which are left out else."


@dataclass(frozen=True)
class Columns:
    """How the columns of a table are to be read: the options that `fit` and `select` share, one field each."""

    task: Annotated[Literal["auto", "classification", "regression"], typer.Option(help=_TASK_HELP)] = "auto"
    drop: Annotated[Names, typer.Option(metavar="COL", help="Column to leave out; give it once for each.")] = None
    categorical: Annotated[Names, typer.Option(metavar="COL", help=_CATEGORICAL_HELP)] = None
    number: Annotated[Names, typer.Option("--number", metavar="COL", help=_NUMBER_HELP)] = None
    keep_identifiers: Annotated[bool, typer.Option("--keep-identifiers", help=_IDENTIFIERS_HELP)] = False


def take_one(targets: list[str], command: str) -> str:
    """Return the target of a command that has no use for several."""
    if len(targets) > 1:
        raise InvalidInputError(f"`--target` was given {len(targets)} times; `rulegrove {command}` takes one column.")
    return targets[0]
