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
            help="At most this many terms, or this many for each class if there are more than two. auto is the "
            "shortest list that does as well on held-out rows; none keeps all that matter.",
        ),
    ] = "auto",
    max_rules: Annotated[
        int | None,
        typer.Option(min=0, help="At most this many different terms, all classes together.", show_default="no limit"),
    ] = None,
    output: Annotated[Path | None, options.output("Save the model to this file, such as short.json.")] = None,
    top: Annotated[int, typer.Option(min=0, help="Number of terms to print.")] = 20,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Make a shorter or longer list from a model file, without the data.

    Example: rulegrove shorten model.json --max-terms 8 -o short.json
    """
    from rulegrove._files import write_whole
    from rulegrove.cli.places import check_file, check_outputs
    from rulegrove.estimators.saved import read_saved

    check_outputs({"--output": output}, [model])
    check_file(model)
    short = read_saved(model).shorten(_read_length(max_terms), max_rules)
    if output is not None:
        write_whole(output, short.dump())
    if as_json:
        from rulegrove.cli.output import print_json
        from rulegrove.estimators.model_file import make_model  # its settings are objects of the library

        fitted = make_model(short)
        print_json({**describe_model(fitted), "front": describe_front(fitted), "model": output})
        return
    if output is None or not quiet:
        print_rules(short.rules, top)
    tell_length(short.front)
    note(f"Model saved to '{output}'." if output else "Not saved; -o short.json keeps the model.")


def _read_length(word: str) -> int | str | None:
    """Return the most terms of a list."""
    from rulegrove.exceptions import InvalidInputError

    if word.lower() in ("auto", "none"):
        return None if word.lower() == "none" else "auto"
    if not word.isdecimal():
        raise InvalidInputError(f"`--max-terms` must be auto, none or a number from 0 on; got '{word}'.")
    return int(word)
