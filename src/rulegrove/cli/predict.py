"""`rulegrove predict`: a model applied to the rows of a table."""

from pathlib import Path
from typing import Annotated

from rulegrove.cli import options
from rulegrove.cli.errors import note
from rulegrove.cli.words import count


def predict(
    model: options.Model,
    data: options.Parts,
    output: Annotated[
        Path | None,
        options.output(
            "Save the predictions to this file. Its ending gives the kind: .csv, .parquet and others. Without it, "
            "CSV is printed."
        ),
    ] = None,
    keep: options.Keep = None,
    exposure: options.Exposure = None,
    offset: options.Offset = None,
    at: options.At = None,
    raw: options.Raw = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Predict the rows of a table.

    The result has the columns named by --keep, then the prediction, and for classes the probability of each. A model
    of rates gives rates, or totals if you name the --exposure. A model of survival times gives the risk, and with --at
    the chance that nothing has happened by then.

    Example: rulegrove predict model.json new.csv --keep id -o predictions.csv
    """
    from rulegrove.cli.output import print_json
    from rulegrove.cli.places import check_inputs, check_outputs, is_large
    from rulegrove.cli.scoring import predict_table, read_model, read_rows
    from rulegrove.cli.times import check_moments, read_moments
    from rulegrove.cli.writing import WRITERS, print_csv, write_table

    moments = read_moments(at) if at else ()
    check_outputs({"--output": output}, [model, *data], kinds=WRITERS)
    check_inputs(data)
    fitted = read_model(model)
    check_moments(fitted, moments)
    if is_large(data):
        from rulegrove.cli.large import predict_large

        n_rows = predict_large(fitted, data, output, keep or (), raw, exposure, offset, moments)
    else:
        table = predict_table(fitted, read_rows(fitted, data[0]), keep or (), exposure, offset, moments)
        if output is None and as_json:
            print_json({"predictions": table.to_pylist(), "output": None})
        elif output is None:
            print_csv(table, raw=raw)
        if output is None:
            return
        write_table(table, output, raw=raw)
        n_rows = table.num_rows
    note(f"{count(n_rows, 'prediction')} written to '{output}'.")
    if as_json:
        print_json({"predictions": n_rows, "output": output})
