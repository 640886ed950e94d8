"""`rulegrove shorten`: a list of another length from a model file, without the data."""

from pathlib import Path
from typing import Annotated

import typer

from rulegrove.cli import options
from rulegrove.cli.errors import note
from rulegrove.cli.rules import describe_front, describe_model, print_rules, tell_length


def shorten(
    model: options.Model,
    max_terms: Annotated[
        str,
        typer.Option(
            metavar="auto|none|N",
            help="Most terms, of each class where there are more than two. none is the large model; auto the shortest "
            "list that is as good as the best, as far as held-out rows can tell.",
        ),
    ] = "auto",
    max_rules: Annotated[
        int | None, typer.Option(min=0, help="Most different terms of all classes together.", show_default="no limit")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Model file to write: short.json.")] = None,
    top: Annotated[int, typer.Option(min=0, help="Terms to print.")] = 20,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Take a list of another length from a model: its fit has made one of every length.

    Example: rulegrove shorten model.json --max-terms 8 -o short.json
    """
    from rulegrove.cli.output import print_json
    from rulegrove.cli.scoring import read_model
    from rulegrove.cli.values import read_value
    from rulegrove.cli.writing import check_outputs

    check_outputs({"--output": output}, [model])
    short = read_model(model).shorten(read_value(max_terms), max_rules=max_rules)
    if output is not None:
        short.save(output)
    if as_json:
        print_json({**describe_model(short), "front": describe_front(short), "model": output})
        return
    if output is None or not quiet:
        print_rules(short, top)
    tell_length(short)
    note(f"Model saved to '{output}'." if output else "Not saved; -o short.json keeps the model.")
