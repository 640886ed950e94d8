"""What commands write to standard error: notes, warnings and errors, one line each, in words of the command line."""

import errno
import functools
import re
import sys
import warnings
from collections.abc import Callable, Collection
from typing import Any, ParamSpec

import typer

from rulegrove._words import printable

INTERRUPTED = 130  # 128 + SIGINT, as shells have it

P = ParamSpec("P")
_quiet = False  # whether the command that runs was given `--quiet`; of all threads, which warn too

# What the library says of its parameters, and what the command line has in their place; other parameters are options of
# the same name.
_PHRASES = {
    "Set `identifiers` to None": "Give `--keep-identifiers`",
    "`identifiers`": "`--drop`",
    "`categorical_features`": "`--categorical`",
    "`numeric_features`": "`--number`",
    "`sample_weight`": "`--weights`",
    "`groups`": "`--groups`",
    "`exposure`": "`--exposure`",
    "`offset`": "`--offset`",
    "`keep`": "`--keep`",
    "`label`": "`--label`",
    "open it by model.edit(X, y)": "give it a table by `--data`",
}


def note(words: str) -> None:
    """Write a line for the user, which `--quiet` spares; standard output is kept for the result."""
    if not _quiet:
        sys.stderr.write(f"{printable(words)}\n")


def shows_progress() -> bool:
    """Whether somebody is there to see progress."""
    return not _quiet and sys.stderr.isatty()


def reporting(command: Callable[P, None]) -> Callable[P, None]:
    """Return a command that tells of errors of the user and of warnings in one line each.

    What the library refuses (`ValueError`, of which its own errors are a part), files that cannot be read or written,
    and packages that are not installed are errors of the user: exit code 1. Ctrl-C is 130. Anything else is
    a bug and keeps its traceback.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        global _quiet
        _quiet = bool(kwargs.get("quiet"))
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
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
    >>> name_options("Glmnet(loss='poisson') is for loss='poisson'; leave `tree_loss` out.")
    "Glmnet(loss='poisson') is for `--loss poisson`; leave `--tree-loss` out."
    """
    from rulegrove.cli.parameters import ensemble_options, selector_options  # read from sources

    for phrase, option in _PHRASES.items():
        words = words.replace(phrase, option)
    known = {one.name for one in (*ensemble_options(), *selector_options())}
    for pattern, form in ((r"(?<![(`\w])(\w+)=['\"](\w+)['\"](?!\))", "`--{} {}`"), (r"`(\w+)(?=[`=])", "`--{}")):
        words = re.sub(pattern, functools.partial(_name_option, known, form), words)
    return words


def _name_option(known: Collection[str], form: str, match: re.Match[str]) -> str:
    """Return what stands for a parameter that was found, and for its value; what is none stays as it is."""
    name, *value = match.groups()
    return form.format(name.replace("_", "-"), *value) if name in known else match[0]


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Write a warning as one line."""
    note(f"Warning: {name_options(' '.join(str(message).split()))}")
