"""`rulegrove export`: a model for other places."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rulegrove.cli import options
from rulegrove.cli.errors import note

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
    exposure: Annotated[
        str | None, typer.Option(metavar="COL", help="sql, onnx: column that multiplies the rates of a model of rates.")
    ] = None,
    at: options.At = None,
    top: Annotated[int | None, typer.Option(min=0, help="text, markdown: most important terms only.")] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a model as SQL, ONNX, Python, a list of rules or JSON.

    Example: rulegrove export model.json --to sql --dialect duckdb --table customers --keep id
    """
    from rulegrove._files import write_whole
    from rulegrove.cli.output import print_json, print_text
    from rulegrove.cli.places import check_outputs
    from rulegrove.cli.scoring import read_model
    from rulegrove.cli.times import check_moments, read_moments
    from rulegrove.exceptions import InvalidInputError

    check_outputs({"--output": output}, [model])
    if to == "onnx" and output is None:
        raise InvalidInputError("An ONNX graph is no text; write it to a file with -o model.onnx.")
    if exposure is not None and to not in ("sql", "onnx"):
        raise InvalidInputError("`--exposure` is for `--to sql` and `--to onnx`; other formats have the rates.")
    if at and to not in ("sql", "onnx"):
        raise InvalidInputError("`--at` is for `--to sql` and `--to onnx`; what Python has tells of every time.")
    times = read_moments(at or ())
    fitted = read_model(model)
    check_moments(fitted, times)

    from rulegrove import export as exports
    from rulegrove.estimators.model_file import dump_model

    parts = next(csv.reader([table], delimiter="."), [])  # of the table's name; double quotes hold a dot
    known: dict[str, Any] = {"exposure": exposure, "times": times}
    writers: dict[str, Callable[[], str | bytes]] = {
        "sql": lambda: exports.to_sql(fitted, parts, dialect=dialect, keep=keep or (), **known) + "\n",
        "onnx": lambda: exports.to_onnx(fitted, **known).SerializeToString(),
        "python": lambda: exports.to_python(fitted),
        "text": lambda: exports.to_text(fitted, top=top),
        "markdown": lambda: exports.to_markdown(fitted, top=top),
        "json": lambda: dump_model(fitted),
    }
    content = writers[to]()
    if output is not None:
        write_whole(output, content)
        note(f"Written to '{output}'.")
    if as_json:
        print_json({"to": to, "text": None if output else content, "output": output})
    elif isinstance(content, str) and output is None:
        print_text(content)
