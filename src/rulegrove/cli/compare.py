"""`rulegrove compare`: two model files beside each other, also on the rows of a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulegrove.cli import options
from rulegrove.cli.errors import note

if TYPE_CHECKING:
    from rulegrove.comparing.record import Comparison


def compare(
    a: Annotated[Path, typer.Argument(help="Model file, such as last year's.", show_default=False)],
    b: Annotated[Path, typer.Argument(help="The other model file, such as today's.", show_default=False)],
    data: Annotated[
        Path | None, typer.Option(metavar="DATA", help="Rows to predict with both, preferably new ones.")
    ] = None,
    target: Annotated[
        list[str] | None, options.target("The column of the data to predict, for the errors of both.")
    ] = None,
    output: Annotated[Path | None, options.output("Save a page to this file, such as compare.html.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show which rules two models share and, with --data, for which rows they differ.

    Examples: rulegrove compare old.json new.json

    rulegrove compare old.json new.json --data rows.csv --target churn -o compare.html
    """
    from rulegrove.cli.places import check_inputs, check_outputs
    from rulegrove.exceptions import InvalidInputError

    if target and data is None:
        raise InvalidInputError("`--target` names a column of `--data`; give both, or neither.")
    if title is not None and output is None:
        raise InvalidInputError("`--title` is that of the page of `--output`; give both, or neither.")
    check_outputs({"--output": output}, [a, b, data])
    check_inputs([a, b, data])
    found = _compare_files(a, b) if data is None else _compare_on_rows(a, b, data, target)
    if output is not None:
        from rulegrove.report import write_comparison

        write_comparison(found, output, title=title or f"{a.name} (a) and {b.name} (b)")
        note(f"Written to '{output}'; open it in a browser.")
    if as_json:
        from rulegrove.cli.output import print_json

        print_json({**describe_comparison(found), "page": output})
    elif output is None or not quiet:
        _print(found)


def _compare_files(a: Path, b: Path) -> "Comparison":
    """Compare two files by their terms, without what predicts."""
    from rulegrove.comparing.record import Side, compare_sides
    from rulegrove.estimators.saved import read_saved

    saved = [read_saved(path) for path in (a, b)]
    return compare_sides(*(Side(own.estimator, own.model, own.rules, own.held_out) for own in saved))


def _compare_on_rows(a: Path, b: Path, data: Path, target: list[str] | None) -> "Comparison":
    """Compare two models on the rows of a table."""
    from rulegrove.cli.scoring import read_labelled, read_model, read_rows, take_attributes
    from rulegrove.comparing.models import check_models, compare_rows

    models = check_models(read_model(a), read_model(b))
    if not target:
        one, other = (take_attributes(model, read_rows(model, data)) for model in models)
        return compare_rows(models, (one, other), None)
    rows = [read_labelled(model, data, target, {}) for model in models]
    return compare_rows(models, (rows[0].X, rows[1].X), rows[0].y)


def describe_comparison(found: "Comparison") -> dict[str, Any]:
    """Return a comparison for JSON: the sentences, a record for each term and for each row."""
    from rulegrove.cli.output import list_records

    tables = {"terms": found.to_dict()} | ({} if found.rows is None else {"rows": found.to_dict("rows")})
    records = {name: list_records(columns) for name, columns in tables.items()}
    return {"sentences": found.sentences, "shared": found.shared, **records}


def _print(found: "Comparison") -> None:
    """Print the sentences, the terms, and the rows that change most."""
    from rulegrove.cli.output import print_table, print_text

    print_text("\n".join([*found.sentences, "\n" * bool(found.terms)]))
    if found.terms:
        print_table(found.to_cells(), words=("about", "shared by", "rule"), below="rule")
    if cells := found.row_cells():
        print_text("\nRows that change most, counted from 0:\n")
        print_table(cells, words=("predicted a", "predicted b", "observed"))
