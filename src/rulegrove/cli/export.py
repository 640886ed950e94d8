"""`rulegrove export`: a model for other places."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from rulegrove.cli import options

Format = Literal["sql", "onnx", "python", "text", "markdown", "json"]
Dialect = Literal["ansi", "bigquery", "duckdb", "postgres", "spark", "sqlite"]


def export(
    model: options.Model,
    to: Annotated[Format, typer.Option(help="What to make of the model.", show_default=False)],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; printed without it.")] = None,
    table: Annotated[
        str, typer.Option(metavar="NAME", help="sql: table to score, such as schema.table; double quotes hold a dot.")
    ] = "data",
    dialect: Annotated[Dialect, typer.Option(help="sql: database.")] = "ansi",
    keep: options.Keep = None,
    top: Annotated[int | None, typer.Option(min=0, help="text, markdown: most important terms only.")] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a model as SQL, ONNX, Python, a list of rules or JSON.

    Example: rulegrove export model.json --to sql --dialect duckdb --table customers --keep id
    """
    from rulegrove._files import write_whole
    from rulegrove.cli.exporting import write_export
    from rulegrove.cli.output import note, print_json, print_text
    from rulegrove.cli.scoring import read_model
    from rulegrove.cli.writing import check_outputs
    from rulegrove.exceptions import InvalidInputError

    check_outputs({"--output": output}, [model])
    if to == "onnx" and output is None:
        raise InvalidInputError("An ONNX graph is no text; write it to a file with -o model.onnx.")
    content = write_export(read_model(model), to, table=table, dialect=dialect, keep=keep or (), top=top)
    if output is not None:
        write_whole(output, content)
        note(f"Written to '{output}'.", quiet=quiet)
    if as_json:
        text = content if isinstance(content, str) and output is None else None
        print_json({"to": to, "text": text, "output": None if output is None else str(output)})
    elif output is None and isinstance(content, str):
        print_text(content)
