"""The commands under one name."""

import sys
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rulegrove import __version__
from rulegrove.cli.datasets import datasets
from rulegrove.cli.errors import reporting
from rulegrove.cli.explain import explain
from rulegrove.cli.export import export
from rulegrove.cli.fit import fit
from rulegrove.cli.predict import predict
from rulegrove.cli.report import report
from rulegrove.cli.rules import rules
from rulegrove.cli.select import select
from rulegrove.cli.shorten import shorten
from rulegrove.cli.study import study


class _Group(TyperGroup):
    """All commands, with help and errors in plain text: loading what draws frames takes as long as all the rest."""

    def __init__(self, **settings: Any):
        super().__init__(**{**settings, "rich_markup_mode": None})


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
for _command in (fit, rules, shorten, predict, explain, select, export, report, datasets, study):
    app.command()(reporting(_command))


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"rulegrove {__version__}")
        raise typer.Exit


@app.callback()
def rulegrove(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Turn a table into short, ranked IF-THEN rules that predict like a forest."""


def run() -> None:
    """Run the command that the arguments ask for; names that a terminal cannot print come out as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="rulegrove")
