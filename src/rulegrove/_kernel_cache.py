"""Says so when the kernels must be compiled, which happens once after installation."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

_MESSAGE = "rulegrove: compiling its kernels, once after installation; this takes some 15 seconds ...\n"
_told = False


def is_compiled(kernel: Callable[..., Any]) -> bool:
    """Whether a kernel's machine code is in memory or in the cache on disk."""
    stats = getattr(kernel, "stats", None)
    if stats is None or getattr(kernel, "signatures", None):  # plain Python when numba is disabled
        return True
    function = getattr(kernel, "py_func", kernel)
    folder = Path(stats.cache_path)
    module = Path(function.__code__.co_filename).stem
    return any(folder.glob(f"{module}.{function.__qualname__}-*.nbi"))


def announce_compilation(kernels: Iterable[Callable[..., Any]]) -> None:
    """Write one line to standard error, once a process, when a kernel is not compiled yet."""
    global _told
    if not _told and not all(is_compiled(kernel) for kernel in kernels):
        sys.stderr.write(_MESSAGE)
        sys.stderr.flush()
        _told = True
