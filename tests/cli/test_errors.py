"""Notes and warnings are one line, which `--quiet` spares; so are errors of the user, and bugs keep their traceback."""

import errno
import sys
import warnings

import pytest
import typer

from rulegrove.cli.errors import note, reporting, shows_progress
from rulegrove.exceptions import RulegroveWarning


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


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (
            "Column 0 ('water'): 1,029 of 1,030 values are numbers; row 7 has 'unknown'. Every different text is "
            "therefore a category; list the column in `numeric_features` to read the numbers.",
            "list the column in `--number` to read",
        ),
        ("It is left out. Set `identifiers` to None to keep it.", "Give `--keep-identifiers` to keep it."),
        ("List the column in `identifiers` to leave it out.", "List the column in `--drop` to leave it out."),
        ("List it in `categorical_features` to keep it.", "List it in `--categorical` to keep it."),
        ("300 categories, more than `max_bins`=255", "more than `--max-bins`=255"),
        ("`cv` must give at least two splits", "`--cv` must give"),
        ("Leave out `exposure` or `offset`, or", "Leave out `--exposure` or `--offset`, or"),
        ("loss='gamma' is for targets of more than 0", "`--loss gamma` is for targets"),
        ("Column 1 ('identifiers') and `unknown_name`", "('identifiers') and `unknown_name`"),
        ("a\x1b[2J\u202eb", "a\\x1b[2J\\u202eb"),
    ],
)
def test_messages_of_the_library_name_options(capsys, message, says):
    """Warnings told of parameters of Python, which the command line has not."""

    @reporting
    def warn():
        warnings.warn(message, RulegroveWarning, stacklevel=1)

    warnings.simplefilter("always")
    warn()
    told = capsys.readouterr().err
    assert told.startswith("Warning: ")
    assert says in told
    with pytest.raises(typer.Exit):
        raising(ValueError(message))()
    assert says in capsys.readouterr().err


def test_ctrl_c_is_130(capsys):
    with pytest.raises(typer.Exit) as end:
        raising(KeyboardInterrupt())()
    assert end.value.exit_code == 130
    assert capsys.readouterr().err == "Interrupted.\n"


@pytest.mark.parametrize("error", [KeyError("x"), ZeroDivisionError(), BrokenPipeError(errno.EPIPE, "pipe")])
def test_other_errors_pass(error):
    with pytest.raises(type(error)):
        raising(error)()


@pytest.mark.parametrize("quiet", [False, True])
def test_quiet_spares_notes_warnings_and_progress(capsys, monkeypatch, quiet):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    seen = []

    @reporting
    def command(quiet):
        note("one\ntwo")
        warnings.warn("three", RulegroveWarning, stacklevel=1)
        seen.append(shows_progress())

    warnings.simplefilter("always")
    command(quiet=quiet)
    assert capsys.readouterr() == ("", "" if quiet else "one\\ntwo\nWarning: three\n")
    assert seen == [not quiet]
