"""What a command says when it cannot go on, and what the library warns of: one line, in words of the command line."""

import errno
import functools
import re
import sys
import warnings
from collections.abc import Callable, Container
from typing import Any, ParamSpec

import typer

from rulegrove._words import printable
from rulegrove.cli.parameters import ensemble_options, selector_options

INTERRUPTED = 130  # 128 + SIGINT, as shells have it

P = ParamSpec("P")

# What the library says of its parameters, and what the command line has in their place; other parameters are options of
# the same name.
_PHRASES = {
    "Set `identifiers` to None": "Give `--keep-identifiers`",
    "`identifiers`": "`--drop`",
    "`categorical_features`": "`--categorical`",
    "`numeric_features`": "`--number`",
    "`sample_weight`": "`--weights`",
    "`groups`": "`--groups`",
    "`keep`": "`--keep`",
    "`label`": "`--label`",
}


def reporting(command: Callable[P, None]) -> Callable[P, None]:
    """Return a command that tells of errors of the user and of warnings in one line each.

    What the library refuses (`ValueError`, of which its own errors are a part), files that cannot be read or written,
    and packages that are not installed are errors of the user: exit code 1. Ctrl-C is 130. Anything else is
    a bug and keeps its traceback.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _ignore if kwargs.get("quiet") else _show_warning
                command(*args, **kwargs)
        except KeyboardInterrupt:
            sys.stderr.write("Interrupted.\n")
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, OSError, ImportError, MemoryError) as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # the reader of a pipe has seen enough; typer ends quietly
            sys.stderr.write(f"Error: {describe(error)}\n")
            raise typer.Exit(1) from None

    return run


def describe(error: Exception) -> str:
    """Return an error as one printable line."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; try fewer rows or a smaller `--n-candidates`."
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        return printable(f"{error.strerror}{where}.")
    return printable(name_options(" ".join(str(error).split("\n")))) or type(error).__name__


def name_options(words: str) -> str:
    """Return a message of the library with options in place of parameters.

    Examples
    --------
    >>> name_options("List it in `numeric_features`, or raise `max_bins`=255.")
    'List it in `--number`, or raise `--max-bins`=255.'
    """
    for phrase, own in _PHRASES.items():
        words = words.replace(phrase, own)
    known = {one.name for one in (*ensemble_options(), *selector_options())}
    return re.sub(r"`(\w+)(?=[`=])", lambda found: _name_option(found, known), words)


def _name_option(found: "re.Match[str]", known: Container[str]) -> str:
    return f"`--{found[1].replace('_', '-')}" if found[1] in known else found[0]


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Write a warning as one line."""
    sys.stderr.write(f"Warning: {printable(name_options(' '.join(str(message).split())))}\n")


def _ignore(*_: Any, **__: Any) -> None:
    """Write nothing."""
