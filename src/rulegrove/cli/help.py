"""Help of the commands in plain text: what most people use, every option by ``--help-all``, and examples at the end.

All of it follows from the command. Options of a panel in `RARE` wait for ``--help-all``, those in `BASIC` have words of
their own before that, and the examples of the docstring, a section or what follows "Example:", are set apart.
"""

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from rulegrove.cli.errors import name_options
from rulegrove.cli.options import READING, TARGETS
from rulegrove.cli.parameters import BASIC, PANEL

RARE = (READING, TARGETS, PANEL)

_ALL = "rulegrove.help_all"  # key of a context's notes: whether every option is shown
_KINDS = {"path": "FILE", "str": "TEXT", "int": "N", "int range": "N", "float": "NUMBER", "float range": "NUMBER"}


class Command(TyperCommand):
    """A command whose help shows the options that most people use."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what the line of usage names."""
        return [re.sub(r"[{}]", "", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with every option if that was asked for."""
        about, examples = split_examples(self.help or "")
        self.format_usage(ctx, formatter)
        formatter.write("\n")
        for paragraph in about.split("\n\n"):
            formatter.write(f"{fill(paragraph, formatter.width)}\n\n")
        sections: dict[str, list[tuple[str, str]]] = {}
        param: Any
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            if param.param_type_name == "argument":
                sections.setdefault("Arguments", []).append((param.metavar or param.name, param.help or ""))
            else:
                words = record[1] if ctx.meta.get(_ALL) else BASIC.get(param.name, record[1])
                shown = (_name_kind(record[0]), _tell(words, record[1]))
                sections.setdefault(param.rich_help_panel or "Options", []).append(shown)
        hidden = [] if ctx.meta.get(_ALL) else [panel for panel in sections if panel in RARE]
        for panel, rows in sorted(sections.items(), key=lambda section: section[0] in RARE):
            if panel not in hidden:
                formatter.write(f"{panel}:\n{list_rows(rows, formatter.width)}\n")
        if hidden:
            more = ", ".join(f"{panel[0].lower()}{panel[1:]} ({len(sections[panel])})" for panel in hidden)
            words = f"{ctx.command_path} --help-all also shows the options for: {more}."
            formatter.write(f"{fill(words, formatter.width)}\n\n")
        if examples:
            lines = [f"  {line}\n" for example in examples for line in fold_example(example, formatter.width - 2)]
            formatter.write(f"{'Examples' if len(examples) > 1 else 'Example'}:\n{''.join(lines)}")


def with_all_help(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the option ``--help-all``."""

    @functools.wraps(command)
    def run(help_all: bool = False, **given: Any) -> None:
        command(**given)

    asked = typer.Option("--help-all", is_eager=True, callback=_show_all, help="Show every option and exit.")
    shown = inspect.Parameter(
        "help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, asked]
    )
    signature = inspect.signature(command)
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), shown]
    )
    return run


def _show_all(ctx: typer.Context, asked: bool) -> None:
    """Print the help with every option, and stop."""
    if asked and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


def fill(words: str, width: int) -> str:
    """Return words in lines of some width; names of files and options are never broken at their hyphens."""
    return textwrap.fill(" ".join(words.split()), width, break_on_hyphens=False, break_long_words=False)


def list_rows(rows: Sequence[tuple[str, str]], width: int) -> str:
    """Return names with what is said of them beside, or below where a name is long.

    Examples
    --------
    >>> print(list_rows([("-o FILE", "Save it to this file."), ("--long-name", "Short.")], 30), end="")
      -o FILE     Save it to this
                  file.
      --long-name
                  Short.
    """
    lead = min(max(len(name) for name, _ in rows), width // 3) + 4
    lines = []
    for name, words in rows:
        first, *others = fill(words, width - lead).split("\n")
        fits = len(name) + 4 <= lead
        lines += [f"  {name}".ljust(lead) + first] if fits else [f"  {name}", " " * lead + first]
        lines += [" " * lead + line for line in others]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def split_examples(text: str) -> tuple[str, list[str]]:
    """Return what a docstring says, and the commands of its last paragraph."""
    about, *examples = re.split(r"\bExamples?(?::|\n-+\n)", inspect.cleandoc(text), maxsplit=1)
    words = " ".join(" ".join(examples).split())
    return about.rstrip(), [one for one in re.split(r" (?=rulegrove )", words) if one]


def fold_example(example: str, width: int) -> list[str]:
    r"""Return the lines of a command, which a shell reads as one.

    Examples
    --------
    >>> print(*fold_example("rulegrove fit customers.csv --target churn -o model.json", 40), sep="\n")
    rulegrove fit customers.csv \
        --target churn -o model.json
    """
    first, *parts = re.findall(r"--?[a-z][\w-]*(?: (?!-)\S+)?|\S+", example)
    lines = [first]
    for part in parts:
        if len(f"{lines[-1]} {part} \\") > width:
            lines[-1] += " \\"
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}"
    return lines


def _name_kind(names: str) -> str:
    """Return the names of an option with what it takes, in words that people use."""
    known = re.sub(r"<(?:list\[)?([\w ]+?)\]?>( \[.*?\])?", lambda kind: _KINDS.get(kind[1].lower(), kind[1]), names)
    return re.sub(r"<(.*)>", r"\1", known)


def _tell(words: str, record: str) -> str:
    """Return what is said of an option, and its default."""
    told = name_options(re.sub(r"\s*\[(?:default|required|x)[^]]*\]$", "", words))
    default = re.search(r"\[default: \(?(.*?)\)?(?:;.*)?\]$", record)
    if default and default[1] != "none":
        return f"{told} [default: {default[1]}]"
    return f"{told} [required]" if record.endswith("required]") else told
