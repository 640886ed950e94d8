"""What a command says when it cannot go on: one line, and an exit code."""

import errno
import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec

import typer

from rulegrove._words import printable

INTERRUPTED = 130  # 128 + SIGINT, as shells have it

P = ParamSpec("P")


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
    return printable(" ".join(str(error).split("\n"))) or type(error).__name__


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Write a warning as one line."""
    sys.stderr.write(f"Warning: {printable(' '.join(str(message).split()))}\n")


def _ignore(*_: Any, **__: Any) -> None:
    """Write nothing."""
