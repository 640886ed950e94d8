"""Errors of the user are one line; bugs keep their traceback."""

import errno

import pytest
import typer

from rulegrove.cli.errors import reporting


def raising(error):
    @reporting
    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ValueError("two\nlines\x1b[2J"), "Error: two lines\\x1b[2J\n"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "a.csv"), "No such file or directory (a.csv)."),
        (PermissionError(errno.EACCES, "Permission denied"), "Error: Permission denied.\n"),
        (ImportError("needs sqlglot"), "Error: needs sqlglot\n"),
        (MemoryError(), "Error: there is not enough memory"),
        (ValueError(), "Error: ValueError\n"),
    ],
)
def test_errors_of_the_user_are_one_line(capsys, error, says):
    with pytest.raises(typer.Exit) as end:
        raising(error)()
    written = capsys.readouterr()
    assert end.value.exit_code == 1
    assert says in written.err
    assert written.err.count("\n") == 1
    assert written.out == ""


def test_ctrl_c_is_130(capsys):
    with pytest.raises(typer.Exit) as end:
        raising(KeyboardInterrupt())()
    assert end.value.exit_code == 130
    assert capsys.readouterr().err == "Interrupted.\n"


@pytest.mark.parametrize("error", [KeyError("x"), ZeroDivisionError(), BrokenPipeError(errno.EPIPE, "pipe")])
def test_other_errors_pass(error):
    with pytest.raises(type(error)):
        raising(error)()
