"""Files that are written whole or not at all."""

import contextlib
import os
import stat
import threading

import pytest

from rulegrove._files import open_file, write_whole, written_whole
from rulegrove.exceptions import InvalidInputError


def test_text_and_bytes_come_back(tmp_path):
    write_whole(tmp_path / "a", "größe 🌲\r\n")
    assert (tmp_path / "a").read_bytes() == "größe 🌲\r\n".encode()
    write_whole(str(tmp_path / "a"), b"\x00\xff")
    assert (tmp_path / "a").read_bytes() == b"\x00\xff"
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interruption_leaves_the_old_file_and_no_other(tmp_path, error):
    path = tmp_path / "a"
    path.write_text("old")
    with contextlib.suppress(error), written_whole(path) as draft:
        draft.write_text("half of the n")
        raise error
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_permissions_are_kept_and_new_files_are_as_usual(tmp_path):
    path, usual = tmp_path / "a", tmp_path / "b"
    usual.write_text("")
    write_whole(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    path.chmod(0o640)
    write_whole(path, "newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, "through")
    reader.join(timeout=10)
    assert read == [b"through"]


def test_a_missing_directory_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "no" / "a", "text")


def test_only_files_are_read(tmp_path):
    """Reading a pipe that nobody writes to never ended."""
    (tmp_path / "a").write_bytes(b"all of it")
    (tmp_path / "link").symlink_to("a")
    with open_file(tmp_path / "link") as file:
        assert file.read() == b"all of it"
    os.mkfifo(tmp_path / "pipe")
    for path, words in [(tmp_path, "is a folder"), (tmp_path / "pipe", "is a pipe"), ("/dev/null", "or a device")]:
        with pytest.raises(InvalidInputError, match=words):
            open_file(path)
    with pytest.raises(FileNotFoundError):
        open_file(tmp_path / "none")
