"""The commands under one name, each loaded when it is asked for."""

import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rulegrove._version import __version__
from rulegrove.cli.errors import reporting
from rulegrove.cli.help import Command, fill, list_rows, split_examples, with_all_help

COMMANDS = (
    "fit",
    "rules",
    "shorten",
    "edit",
    "predict",
    "explain",
    "evidence",
    "scorecard",
    "compare",
    "select",
    "export",
    "report",
    "datasets",
    "demo",
    "study",
    "warm-up",
)


class _Group(TyperGroup):
    """All commands, with help and errors in plain text: loading what draws frames takes as long as all the rest.

    A command is a function in the module of its name, and only the one that runs is loaded: some read their options
    from the sources of the estimators.
    """

    def __init__(self, **settings: Any):
        super().__init__(**{**settings, "rich_markup_mode": None})

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in self.commands:
            alone = typer.Typer(add_completion=False, rich_markup_mode=None)
            module = cmd_name.replace("-", "_")
            command = reporting(getattr(import_module(f"rulegrove.cli.{module}"), module))
            alone.command(cmd_name, cls=Command)(with_all_help(command))
            self.commands[cmd_name] = typer.main.get_command(alone)
        return self.commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command is for, the first sentence of its help."""
        rows = [(name, split_examples(self.get_command(ctx, name).help)[0].split("\n\n")[0]) for name in COMMANDS]
        words = "rulegrove COMMAND --help tells more about a command and ends with an example."
        listed = list_rows(rows, formatter.width)
        formatter.write(f"\nCommands:\n{listed}\n{fill(words, formatter.width)}\n")


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


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
