"""The kernels' compiler: cached where a folder can be written; says so when there is something to compile."""

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import event

from rulegrove.exceptions import KernelCacheWarning

_MESSAGE = "rulegrove: compiling kernels that are used for the first time; this takes some 15 seconds ...\n"
F = TypeVar("F", bound=Callable[..., Any])

_kernels: list[Any] = []
_told = False
_compile: Any = numba.njit  # its annotations do not know all options
_register: Any = event.register  # has none


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
        "No folder can be written to keep compiled kernels in, neither beside the package nor in the home of the user, "
        "so every process compiles them anew, some 15 seconds at its first fit. Set the environment variable "
        "NUMBA_CACHE_DIR to a folder that can be written.",
        KernelCacheWarning,
        stacklevel=4,
    )


class _Notice(event.Listener):
    """Says once a process that a kernel is compiled, when one is: code from the cache on disk is not."""

    def on_start(self, event: Any) -> None:
        """Write one line to standard error."""
        global _told
        if not _told and event.data["dispatcher"] in _kernels:
            _told = True
            sys.stderr.write(_MESSAGE)
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        """Say nothing."""


_register("numba:compile", _Notice())
