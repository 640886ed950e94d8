"""Files that are written whole or not at all, and files that can be read."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rulegrove.exceptions import InvalidInputError

PARQUET = (".parquet", ".parq", ".pq")  # ends of the names of Parquet files


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary file to write to, and put it in the place of `path` when the block ends well.

    The temporary file lies in the same directory, so that the last step is one rename. An error, or Ctrl-C, removes it
    and leaves `path` as it was. A link is followed, permissions of an existing file are kept, and what is no regular
    file (a pipe, a terminal) is written to directly.

    Parameters
    ----------
    path : str or path
        The file to make or replace; its directory must exist.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with written_whole(target) as draft:
    ...     _ = draft.write_text("all of it")
    >>> target.read_text()
    'all of it'
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        yield target
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask())
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write text (as UTF-8, line ends as they are) or bytes to a file, whole or not at all.

    Parameters
    ----------
    path : str or path
    content : str or bytes
    """
    with written_whole(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to read bytes from it; a directory, or a pipe or device, where reading may never end, is refused.

    Parameters
    ----------
    path : str or path
    """
    file = Path(path)
    mode = file.stat().st_mode
    if stat.S_ISDIR(mode):
        raise InvalidInputError(f"'{file}' is a folder; give one file.")
    if not stat.S_ISREG(mode):
        raise InvalidInputError(
            f"'{file}' is a pipe or a device; write its contents to a file first, and give that file."
        )
    return file.open("rb")


def _umask() -> int:
    """Return the permissions that new files do not get; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
