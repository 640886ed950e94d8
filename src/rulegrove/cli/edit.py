"""`rulegrove edit`: a script of edits, as a session writes it, applied to a model on the rows of a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rulegrove.cli import options
from rulegrove.cli.errors import note
from rulegrove.cli.words import count
from rulegrove.exceptions import InvalidInputError


def edit(
    model: options.Model,
    script: Annotated[
        Path,
        typer.Option(
            "--script",
            "-s",
            help='Edits in JSON: [{"operation": "drop", "number": 3, "note": "no medical sense"}, ...].',
            show_default=False,
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option("--data", "-d", help="A table to count the rules and solve for the weights.", show_default="none"),
    ] = None,
    target: Annotated[str | None, options.target("The column of the table to predict.")] = None,
    weights: options.Weights = None,
    exposure: options.Exposure = None,
    offset: options.Offset = None,
    output: Annotated[Path | None, options.output("Save the model to this file, such as edited.json.")] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Edit the list of a model by a script, and show what each edit costs.

    Operations, with their arguments: drop (number), replace (number, rule), round (thresholds), merge (first, second),
    add (rule), forbid (attribute), fix (number, coefficient), monotone (attribute, direction). Each may have a note and
    an author. Without --data you can drop terms, forbid attributes and fix weights; the other weights stay the same.

    Example: rulegrove edit model.json --script edits.json --data table.csv --target outcome -o edited.json
    """
    from rulegrove.cli.output import print_json, print_table
    from rulegrove.cli.places import check_file, check_inputs, check_outputs
    from rulegrove.cli.rules import describe_model, print_rules
    from rulegrove.cli.scoring import read_labelled, read_model

    check_outputs({"--output": output}, [model, script, data])
    check_inputs([data])
    check_file(script)
    steps = _read_script(script)
    fitted = read_model(model)
    if data is None:
        if any(own is not None for own in (target, weights, exposure, offset)):
            raise InvalidInputError("`--target` and the other columns are those of `--data`; give the table as well.")
        session = fitted.edit()
    else:
        if target is None:
            raise InvalidInputError("`--data` needs `--target`, the column that the model predicts.")
        rows = read_labelled(fitted, data, [target], {"weights": weights, "exposure": exposure, "offset": offset})
        session = fitted.edit(rows.X, rows.y, sample_weight=rows.weights, **rows.known)
    session.apply(steps)
    edited = session.finish()
    if output is not None:
        edited.save(output)
    if as_json:
        from rulegrove.estimators._file_edits import encode_edits

        print_json({**describe_model(edited), "edits": encode_edits(session.log), "model": output})
        return
    if output is None or not quiet:
        print_table(session.log.to_cells(), words=("done",), spare=("rows otherwise",), below="done")
        print_rules(edited.rules_, None)
    if data is not None:
        from rulegrove.estimators.edits import SPENT

        fitted_words = session.log[0].fitted
        note(f"{SPENT} The fitted list on rows that it has not seen: {fitted_words}." if fitted_words else SPENT)
    told = f"{count(len(steps), 'edit')} made"
    note(f"{told}; model saved to '{output}'." if output else f"{told}; not saved; -o edited.json keeps the model.")


def _read_script(path: Path) -> Any:
    """Return the steps of a script, which the session checks."""
    from rulegrove._files import open_file
    from rulegrove.estimators._checked_json import MAX_BYTES, parse

    with open_file(path) as handle:
        return parse(handle.read(MAX_BYTES + 1), path.name, "script").raw
