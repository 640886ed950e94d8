"""`rulegrove explain`: why a model predicts what it does for a row."""

from typing import Annotated

import typer

from rulegrove.cli import options

SHOWN_PARTS = 10


def _read_top(word: str | int) -> int:
    """Return how many parts to show; 0 stands for all."""
    if str(word).lower() == "all":
        return 0
    if not str(word).isdecimal() or not int(word):
        raise typer.BadParameter(f"{word!r} is neither a number from 1 on nor 'all'.")
    return int(word)


def explain(
    model: options.Model,
    data: options.Data,
    row: Annotated[int, typer.Option("--row", "-r", min=0, help="Row to explain; 0 is the first one.")],
    label: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="Of more than two classes the one to explain."),
    ] = None,
    top: Annotated[
        int,
        typer.Option(parser=_read_top, metavar="N|all", help="Largest parts to print; --json has all."),
    ] = SHOWN_PARTS,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Tell what each rule added to the prediction of a row, and what the row holds."""
    from rulegrove.cli.explaining import describe_row, explain_row, print_row
    from rulegrove.cli.output import print_json
    from rulegrove.cli.scoring import read_model, read_rows

    fitted = read_model(model)
    found = explain_row(fitted, read_rows(fitted, data), row, label)
    if as_json:
        print_json({"row": row, **describe_row(found)})
    else:
        print_row(found, top or None)
