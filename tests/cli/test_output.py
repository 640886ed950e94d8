"""What is printed: cells as they are, JSON that any reader takes."""

import json
import sys

import numpy as np
import pyarrow as pa
import pytest

from rulegrove.cli.output import plain, print_json, print_table, print_text
from rulegrove.cli.writing import print_csv


def test_json_is_strict(capsys):
    print_json({"a": [np.inf, np.float32(0.5), True, None], 1: np.array(["ä"]), "o": object})
    found = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest_fail(word))
    assert found == {"a": [None, 0.5, True, None], "1": ["ä"], "o": str(object)}


def pytest_fail(word):
    raise AssertionError(word)


ODD = "a\x1b[2J\x9b\u202e\tb"


def test_json_has_no_character_that_a_terminal_obeys(capsys):
    print_json({"x": ODD})
    printed = capsys.readouterr().out
    assert all(line.isprintable() for line in printed.splitlines())
    assert json.loads(printed) == {"x": ODD}


@pytest.mark.parametrize("terminal", [True, False])
def test_text_and_csv_are_shown_to_a_terminal_and_given_to_a_program(capfdbinary, monkeypatch, terminal):
    """An attribute named with an escape sequence moved the cursor when SQL or CSV was printed."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    print_text(f"{ODD}\n")
    print_csv(pa.table({ODD: [ODD]}))
    sys.stdout.flush()
    printed = capfdbinary.readouterr().out.decode()
    assert ("\x1b" in printed) is not terminal
    assert ("a\\x1b[2J\\x9b\\u202e\tb\n" if terminal else f"{ODD}\n") in printed
    assert printed.count("\n") == 3


def test_booleans_and_integers_stay_what_they_are():
    assert plain(np.bool_(True)) is True
    assert plain((np.int8(3), "x")) == [3, "x"]


def test_tables_keep_every_cell(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    words = "word " * 20
    print_table({"n": ["1", "22"], "words": [words, "[/]"]}, words=["words"])
    printed = capsys.readouterr().out
    assert printed.count("word ") + printed.count("word\n") >= 20
    assert "[/]" in printed
    assert all(len(line) <= 40 for line in printed.splitlines())
