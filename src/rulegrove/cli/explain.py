"""`rulegrove explain`: why a model predicts what it does for a row."""

from typing import Annotated

import typer

from rulegrove.cli import options


def explain(
    model: options.Model,
    data: options.Data,
    row: Annotated[int, typer.Option("--row", "-r", min=0, help="Row to explain; 0 is the first one.")],
    label: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="Of more than two classes the one to explain."),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Tell what each rule added to the prediction of a row."""
    from rulegrove.cli.explaining import describe_row, explain_row, print_row
    from rulegrove.cli.output import print_json
    from rulegrove.cli.scoring import read_model, read_rows

    fitted = read_model(model)
    explanation = explain_row(fitted, read_rows(fitted, data), row, label)
    if as_json:
        print_json({"row": row, **describe_row(explanation)})
    else:
        print_row(explanation)
