"""The kernels' compiler: cached where a folder can be written; says so when there is something to compile."""

import contextlib
import functools
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

from rulegrove._version import __version__
from rulegrove.exceptions import KernelCacheWarning

_MESSAGE = (
    "rulegrove: compiling kernels, once after installation; the first fit takes some 15 seconds longer. "
    "`rulegrove warm-up` compiles the kernels for all kinds of fits.\n"
)
F = TypeVar("F", bound=Callable[..., Any])

_kernels: list[Any] = []
_told = False
_compile: Any = numba.njit  # its annotations do not know all options
_register: Any = event.register  # has none
_listen: Any = event.install_listener


def njit(**options: Any) -> Callable[[F], F]:
    """Return a decorator that compiles as `numba.njit` does and keeps the machine code on disk, if there is a place.

    numba keeps it in `NUMBA_CACHE_DIR`, beside the source, or in the user's home, and refuses to work where it can
    write to none of them: in a container, on a cluster, as a user without a home. There each process compiles anew.

    Parameters
    ----------
    **options
        Those of `numba.njit`.
    """

    def decorate(function: F) -> F:
        kernel: F
        try:
            kernel = _compile(cache=True, **options)(function)
        except RuntimeError:  # "no locator available"; any other reason comes again without the cache
            kernel = _compile(**options)(function)
            _warn_uncached()
        _kernels.append(kernel)
        return kernel

    return decorate


@functools.cache
def _warn_uncached() -> None:
    """Say once that nothing is kept."""
    warnings.warn(
        "Neither the folder of the package nor your home can be written to, so compiled kernels cannot be kept and "
        "every process compiles them again, which takes some 15 seconds at its first fit. Set the environment "
        "variable NUMBA_CACHE_DIR to a folder that can be written to.",
        KernelCacheWarning,
        stacklevel=4,
    )


def _find_mark() -> Path | None:
    """Return the file that says that the line was shown, beside the code that numba keeps; None where it keeps none."""
    try:
        kept = _compile(cache=True)(_find_mark)
    except RuntimeError:
        return None
    versions = f"{__version__}-{numba.__version__}-{sys.implementation.cache_tag}"
    return Path(kept._cache.cache_path) / f"rulegrove-{versions}.told"


def _tell_once() -> None:
    """Write the line to standard error, unless an earlier process of this installation did."""
    global _told
    _told = True
    mark = _find_mark()
    if mark is not None and mark.exists():
        return
    sys.stderr.write(_MESSAGE)
    sys.stderr.flush()
    if mark is not None:
        with contextlib.suppress(OSError):
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


class _Notice(event.Listener):
    """Says once that kernels are compiled, when one is: code from the cache on disk is not."""

    def on_start(self, event: Any) -> None:
        """Write one line to standard error."""
        if not _told and event.data["dispatcher"] in _kernels:
            _tell_once()

    def on_end(self, event: Any) -> None:
        """Say nothing."""


class Compiled(event.Listener):
    """Counts the kernels that are compiled, once for each kind of arguments.

    Attributes
    ----------
    number : int
    """

    def __init__(self) -> None:
        self.number = 0

    def on_start(self, event: Any) -> None:
        """Wait for the end."""

    def on_end(self, event: Any) -> None:
        """Count one of ours."""
        self.number += event.data["dispatcher"] in _kernels


@contextlib.contextmanager
def counting_compilations() -> Iterator[Compiled]:
    """Count what is compiled meanwhile, without the line that says so."""
    global _told
    before, _told = _told, True
    try:
        with _listen("numba:compile", Compiled()) as compiled:
            yield compiled
    finally:
        _told = before


_register("numba:compile", _Notice())
