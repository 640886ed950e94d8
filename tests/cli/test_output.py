"""What is printed: cells as they are, JSON that any reader takes."""

import json
import sys

import numpy as np

from rulegrove.cli.output import note, plain, print_json, print_table, shows_progress


def test_json_is_strict(capsys):
    print_json({"a": [np.inf, np.float32(0.5), True, None], 1: np.array(["ä"]), "o": object})
    found = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest_fail(word))
    assert found == {"a": [None, 0.5, True, None], "1": ["ä"], "o": str(object)}


def pytest_fail(word):
    raise AssertionError(word)


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


def test_notes_go_to_standard_error_unless_quiet(capsys):
    note("one\ntwo")
    note("never", quiet=True)
    assert capsys.readouterr() == ("", "one\\ntwo\n")


def test_progress_is_for_somebody_who_watches(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert shows_progress(quiet=False)
    assert not shows_progress(quiet=True)
