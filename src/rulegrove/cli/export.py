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
    to: Annotated[Format, typer.Option(help="What to write.", show_default=False)],
    output: Annotated[Path | None, options.output("Save it to this file. Without it, text is printed.")] = None,
    table: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="For SQL: the table to score, such as schema.table. Put a name with a dot in double quotes.",
        ),
    ] = "data",
    dialect: Annotated[Dialect, typer.Option(help="For SQL: the kind of database.")] = "ansi",
    keep: options.Keep = None,
    exposure: Annotated[
        str | None,
        options.column("For SQL and ONNX: the column by which predicted rates are multiplied.", options.TARGETS),
    ] = None,
    at: options.At = None,
    top: Annotated[
        int | None, typer.Option(min=0, help="For text and Markdown: only so many terms, the most important first.")
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a model as SQL, ONNX, Python, text, Markdown or JSON.

    Examples
    --------
    rulegrove export model.json --to sql --dialect duckdb --table customers --keep id
    rulegrove export model.json --to python -o model.py
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
