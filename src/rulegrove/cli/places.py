"""Files to read and to write, looked at before the work: they are there, and nothing is written over what is read."""

import fnmatch
import glob
import os
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from rulegrove._files import PARQUET
from rulegrove.cli.words import suggest
from rulegrove.exceptions import InvalidInputError

LARGE_BYTES = 2**29  # a Parquet file beyond 512 MB is not read into memory


def is_large(paths: Sequence[Path]) -> bool:
    """Whether rows are read part by part: several files, a folder, a pattern, or a large Parquet file."""
    if len(paths) > 1:
        return True
    [path] = paths
    if path.is_dir() or (not path.exists() and "*" in path.name):
        return True
    return path.suffix.lower() in PARQUET and path.is_file() and path.stat().st_size > LARGE_BYTES


def check_file(path: Path) -> None:
    """Refuse what is no file, or holds nothing."""
    if not path.exists():
        near = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InvalidInputError(f"There is no file '{path}'.{suggest(path.name, near)}")
    if path.is_dir():
        raise InvalidInputError(f"'{path}' is a folder; give one file.")
    if path.is_file() and not path.stat().st_size:
        raise InvalidInputError(f"'{path}' is empty.")


def check_inputs(paths: Iterable[Path | None]) -> None:
    """Refuse files that are not there, before all that works on them is loaded; folders and patterns come later."""
    for path in paths:
        if path is not None and not path.is_dir() and not glob.has_magic(str(path)):
            check_file(path)


def check_outputs(
    outputs: Mapping[str, Path | None], inputs: Iterable[Path | None] = (), *, kinds: Collection[str] = ()
) -> None:
    """Refuse places that cannot be written to, or are read from, before the work and not after it.

    Outputs go by the options that name them; inputs may be folders and patterns. Where a table is written, `kinds` are
    the ends of names that tell how.
    """
    given = {option: path for option, path in outputs.items() if path is not None}
    for option, path in given.items():
        if kinds and path.suffix.lower() not in kinds:
            raise InvalidInputError(f"'{path}' must end in one of {', '.join(kinds)}, which tells how to write it.")
        _check_place(option, path)
    check_apart(given, inputs)


def check_apart(outputs: Mapping[str, Path], inputs: Iterable[Path | None] = ()) -> None:
    """Refuse to write what is read, and to write one file twice; parameters as in `check_outputs`."""
    files = {option: path for option, path in outputs.items() if path.is_file() or not path.exists()}
    sources = [source for source in inputs if source is not None]
    seen: dict[str, Path] = {}
    for option, path in files.items():
        for other, written in seen.items():
            if _is_same(path, written):
                raise InvalidInputError(f"`{other}` and `{option}` both name '{path}'; give each a file of its own.")
        for source in sources:
            if _is_read(path, source):
                where = "is read here" if _is_same(path, source) else f"belongs to '{source}', which is read here"
                raise InvalidInputError(f"`{option}` names '{path}', which {where}; choose another name for it.")
        seen[option] = path


def _is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, over links of either kind too."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return one.exists() and other.exists() and one.samefile(other)


def _is_read(path: Path, source: Path) -> bool:
    """Whether a file is, or would be when it is written, among those that are read from a file, folder or pattern."""
    if source.is_dir():
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(source))
    if source.exists() or not glob.has_magic(str(source)):
        return _is_same(path, source)
    found = map(Path, glob.glob(str(source), recursive=True))  # noqa: PTH207 - Path.glob takes no absolute one
    return _matches(path, source) or any(_is_read(path, file) for file in found)


def _matches(path: Path, pattern: Path) -> bool:
    """Whether a file that need not be there, or a folder above it, fits a pattern."""
    n_fixed = next(place for place, part in enumerate(pattern.parts) if glob.has_magic(part))
    base, wanted = Path(os.path.realpath(Path(*pattern.parts[:n_fixed]))), pattern.parts[n_fixed:]
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(base):
        return False
    if "**" in wanted:
        return fnmatch.fnmatch(target.name, wanted[-1])
    parts = target.relative_to(base).parts
    return len(parts) >= len(wanted) and all(map(fnmatch.fnmatch, parts, wanted))


def _check_place(option: str, path: Path) -> None:
    """Refuse a place that cannot be written to; nothing is left there."""
    target = Path(os.path.realpath(path))  # the file behind a link, which is what gets written
    try:
        if target.is_dir():
            raise InvalidInputError(f"'{path}' is a folder; give the name of a file in it.")
        if not target.parent.is_dir():
            if target.parent.exists():
                raise InvalidInputError(f"'{path.parent}' is no folder, so '{path.name}' cannot be written to it.")
            raise InvalidInputError(f"There is no folder '{path.parent}' to write '{path.name}' to; make it first.")
        if target.exists() and not os.access(target, os.W_OK):
            raise InvalidInputError(f"'{path}' is protected against writing; choose another name for `{option}`.")
        if target.is_file() or not target.exists():
            tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise InvalidInputError(
            f"'{path}' cannot be written: {error.strerror}. Choose another place for `{option}`."
        ) from None
