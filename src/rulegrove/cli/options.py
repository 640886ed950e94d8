"""Arguments and options that several commands share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rulegrove.exceptions import InvalidInputError

DATA_HELP = "A table with a header: .csv, .tsv (also .gz, .bz2, .zst), .parquet, .feather, .jsonl or .xlsx."
PARTS_HELP = f"{DATA_HELP} Several Parquet files, a folder of them, or a file above 512 MB are read part by part."

# Panels of options that `--help` leaves to `--help-all` (`help.py`).
READING = "Reading the table"
TARGETS = "Rates and survival times"

Names = list[str] | None

Parts = Annotated[list[Path], typer.Argument(metavar="DATA", help=PARTS_HELP, show_default=False)]
Data = Annotated[Path, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)]
Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="A model file, as `rulegrove fit -o model.json` saves it.", show_default=False
    ),
]


def output(words: str, **shown: Any) -> Any:
    """Return the option that names a file to write."""
    return typer.Option("--output", "-o", help=words, **shown)


def target(words: str, **shown: Any) -> Any:
    """Return the option that names the column to predict."""
    return typer.Option("--target", "-t", metavar="COL", help=words, **shown)


def column(words: str, panel: str | None = None, metavar: str = "COL") -> Any:
    """Return an option that names a column."""
    return typer.Option(metavar=metavar, help=words, rich_help_panel=panel)


Target = Annotated[list[str], target("The column to predict.", show_default=False)]
Targets = Annotated[
    list[str], target("The column to predict. To predict several numbers, give it once for each.", show_default=False)
]
Weights = Annotated[str | None, column("Column with a weight for each row.", READING)]
Exposure = Annotated[
    str | None, column("For rates: the column that says how much each row stands for, such as years at risk.", TARGETS)
]
Offset = Annotated[str | None, column("Column with a known part of each row's score.", TARGETS)]
Event = Annotated[
    str | None,
    column(
        "For survival times: the column that says whether the event happened, as 1 or 0, as yes or no, or with "
        "the word that means yes: status=dead. The target is then the time until the event.",
        TARGETS,
        "COL[=WORD]",
    ),
]
Entry = Annotated[
    str | None,
    column("For survival times: the column with the time from which a row was observed. Needs --event.", TARGETS),
]
At = Annotated[
    Names,
    typer.Option(
        metavar="TIME",
        help="For survival times: also give the chance that the event has not happened by this time. May be repeated.",
        rich_help_panel=TARGETS,
    ),
]
Keep = Annotated[Names, column("Column to copy to the result, such as a key. May be repeated.")]
Raw = Annotated[
    bool,
    typer.Option("--raw", help="CSV: leave text that looks like a formula as it is. Otherwise a ' is put before it."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print no notes and no progress, and no result that is saved to a file.")
]

_TASK_HELP = (
    "What kind the target is. With auto, numbers with fractions or more than 20 different values are a regression."
)
_CATEGORICAL_HELP = "Column of numbers that are categories, such as codes. Text always is. May be repeated."
_NUMBER_HELP = "Column of text to read as numbers, such as 35% or $1,200. May be repeated."
_IDENTIFIERS_HELP = "Also use columns that look like identifiers, which are otherwise left out."


@dataclass(frozen=True)
class Columns:
    """How the columns of a table are to be read: the options that `fit` and `select` share, one field each."""

    task: Annotated[Literal["auto", "classification", "regression"], typer.Option(help=_TASK_HELP)] = "auto"
    drop: Annotated[Names, column("Column to leave out. May be repeated.")] = None
    categorical: Annotated[Names, column(_CATEGORICAL_HELP, READING)] = None
    number: Annotated[Names, column(_NUMBER_HELP, READING)] = None
    keep_identifiers: Annotated[
        bool, typer.Option("--keep-identifiers", help=_IDENTIFIERS_HELP, rich_help_panel=READING)
    ] = False


def take_one(targets: list[str], command: str) -> str:
    """Return the target of a command that has no use for several."""
    if len(targets) > 1:
        raise InvalidInputError(f"`--target` was given {len(targets)} times; `rulegrove {command}` takes one column.")
    return targets[0]
