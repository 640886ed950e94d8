"""`rulegrove report`: a model as one HTML page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rulegrove.cli import options
from rulegrove.cli.errors import note


def report(
    model: options.Model,
    output: Annotated[Path, options.output("Write the page to this file, such as report.html.", show_default=False)],
    data: Annotated[Path | None, typer.Option(help="Rows to show the model on; new ones are best.")] = None,
    target: Annotated[
        list[str] | None,
        options.target("The column of the data to predict. For several numbers, give it once for each."),
    ] = None,
    exposure: options.Exposure = None,
    offset: options.Offset = None,
    event: options.Event = None,
    entry: options.Entry = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    workbench: Annotated[
        bool, typer.Option("--workbench", help="Let readers change the list. The page then holds counts of the rows.")
    ] = False,
    min_count: Annotated[
        int | None,
        typer.Option(min=1, help="Smallest number of rows in each group of these counts.", show_default="5"),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Write an interactive page about a model for any browser; it needs no network.

    With --workbench, readers can switch rules off, drag thresholds, merge rules and save the result.

    Example: rulegrove report model.json --data new.csv --target churn -o report.html
    """
    from rulegrove.cli.output import print_json
    from rulegrove.cli.places import check_inputs, check_outputs
    from rulegrove.cli.scoring import read_labelled, read_model, read_rows, take_attributes
    from rulegrove.exceptions import InvalidInputError

    check_outputs({"--output": output}, [model, data])
    check_inputs([data])
    beside = {"exposure": exposure, "offset": offset, "event": event, "entry": entry}
    alone = [option for option, name in beside.items() if name is not None and not target]
    if alone:
        raise InvalidInputError(f"`--{alone[0]}` is read beside the `--target`; give that, too.")
    if workbench and not target:
        raise InvalidInputError(
            "`--workbench` solves for weights on rows whose target is known; give `--data` and `--target` as well."
        )
    if min_count is not None and not workbench:
        raise InvalidInputError("`--min-count` is about the rows of a `--workbench`; give that, too.")
    fitted = read_model(model)

    from rulegrove.report import write_report

    X: Any = None
    y: Any = None
    known: Mapping[str, Any] = {}
    if data is not None and target:
        rows = read_labelled(fitted, data, target, beside)
        X, y, known = rows.X, rows.y, rows.known
    elif data is not None:
        X = take_attributes(fitted, read_rows(fitted, data))
    elif target:
        raise InvalidInputError("`--target` names a column of `--data`; give both, or neither.")
    about = f"Rules for {' and '.join(target)}" if target else f"Rules of {model.name}"
    write_report(fitted, output, X, y, title=title or about, workbench=min_count or workbench, **known)
    note(f"Written to '{output}'; open it in a browser.")
    if as_json:
        print_json({"report": output, "rows": None if X is None else len(X), "bytes": output.stat().st_size})
