"""`rulegrove report`: a model as one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from rulegrove.cli import options


def report(
    model: options.Model,
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write: report.html.", show_default=False)],
    data: Annotated[Path | None, typer.Option(metavar="DATA", help="Rows to show the model on, best new ones.")] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COL", help="Column of the data that was to be predicted.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Write an interactive page about a model, which opens in any browser and needs no network.

    Example: rulegrove report model.json --data new.csv --target churn -o report.html
    """
    from rulegrove.cli.output import note, print_json
    from rulegrove.cli.reporting import read_given, title_report
    from rulegrove.cli.scoring import read_model
    from rulegrove.cli.writing import check_outputs
    from rulegrove.report import write_report

    check_outputs({"--output": output}, [model, data])
    fitted = read_model(model)
    X, y = read_given(fitted, data, target)
    write_report(fitted, output, X, y, title=title or title_report(target, model))
    note(f"Written to '{output}'; open it in a browser.", quiet=quiet)
    if as_json:
        print_json({"report": str(output), "rows": None if X is None else len(X), "bytes": output.stat().st_size})
