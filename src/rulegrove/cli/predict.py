"""`rulegrove predict`: a model applied to the rows of a table."""

from pathlib import Path
from typing import Annotated

import typer

from rulegrove.cli import options


def predict(
    model: options.Model,
    data: options.Parts,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Table to write, kind by its end; CSV is printed without it.")
    ] = None,
    keep: options.Keep = None,
    raw: options.Raw = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Predict the rows of a table.

    The result has the columns to keep, then `prediction`, and for classes `probability of ...` for each.
    """
    from rulegrove.cli.large import is_large
    from rulegrove.cli.output import note, print_csv, print_json, shows_progress
    from rulegrove.cli.predicting import predict_parts, predict_table
    from rulegrove.cli.scoring import read_model, read_rows
    from rulegrove.cli.words import count
    from rulegrove.cli.writing import check_outputs, write_table

    check_outputs({"--output": output}, [model, *data], table=True)
    fitted = read_model(model)
    if is_large(data):
        n_rows = predict_parts(fitted, data, output, keep or (), raw=raw, verbose=shows_progress(quiet))
        note(f"{count(n_rows, 'prediction')} written to '{output}'.", quiet=quiet)
        if as_json:
            print_json({"predictions": n_rows, "output": str(output)})
        return
    predicted = predict_table(fitted, read_rows(fitted, data[0]), keep or ())
    if output is not None:
        write_table(predicted, output, raw=raw)
        note(f"{count(predicted.num_rows, 'prediction')} written to '{output}'.", quiet=quiet)
    if as_json:
        rows = predicted.to_pylist() if output is None else predicted.num_rows
        print_json({"predictions": rows, "output": None if output is None else str(output)})
    elif output is None:
        print_csv(predicted, raw=raw)
