"""Lines of results: written, read back, asked for."""

import numpy as np
import pytest

from rulegrove.exceptions import InvalidInputError
from rulegrove.study.config import Config
from rulegrove.study.results import Ledger, Line, Results, describe_settings, read_lines


def line(task="a", result=1.5, n_lines=1, **changes):
    fields = {
        "part": "terms",
        "task": task,
        "data": "simulation",
        "method": "rules",
        "value": "5",
        "repetition": 0,
        "fold": 0,
        "metric": "error",
        "result": result,
        "seed": 0,
        "seconds": 0.25,
        "n_lines": n_lines,
        "settings": '{"a": "b, c"}',
        "mode": "full",
        "table": "simulation",
    }
    return Line(**(fields | changes))


def test_lines_read_back_as_written(tmp_path):
    ledger = Ledger(tmp_path, Config())
    lines = [line("a", 1 / 3, 2), line("a", -1e-300, 2, value='x > 1 and "y", z\nw'), line("b", 1e22)]
    ledger.add(lines[:2])
    ledger.add(lines[2:])
    assert read_lines(ledger.path) == lines
    again = Ledger(tmp_path, Config())
    assert again.finished == {"a", "b"}
    assert list(again.results) == lines


def test_a_dropped_part_is_forgotten_with_the_next_task(tmp_path):
    ledger = Ledger(tmp_path, Config())
    ledger.add([line("a"), line("b", part="sets")])
    ledger.drop(["terms"])
    assert ledger.finished == {"b"}
    ledger.add([line("c")])
    assert {one.task for one in read_lines(ledger.path)} == {"b", "c"}


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: text[:-20], "cells in place of|of its 2 lines|strict|unexpected end"),
        (lambda text: text.rsplit("\n", 2)[0] + "\n", "1 of its 2 lines"),
        (lambda text: text.replace("1.5", "one"), "not a number"),
        (lambda text: "x" + text, "header"),
        (lambda text: "", "header"),
    ],
)
def test_a_damaged_file_is_one_clear_error_and_stays(tmp_path, spoil, words):
    ledger = Ledger(tmp_path, Config())
    ledger.add([line("a", n_lines=2), line("a", n_lines=2)])
    spoiled = spoil(ledger.path.read_text())
    ledger.path.write_text(spoiled)
    with pytest.raises(InvalidInputError, match=words) as caught:
        Ledger(tmp_path, Config())
    assert "\n" not in str(caught.value)
    assert ledger.path.read_text() == spoiled


def test_bytes_that_are_no_text_are_damage(tmp_path):
    (tmp_path / "results.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInputError, match="damaged"):
        Ledger(tmp_path, Config())


@pytest.mark.parametrize("changes", [{"mode": "quick"}, {"table": "autoscan-1"}, {"version": "0.0.0"}])
def test_another_kind_of_run_is_not_mixed_in(tmp_path, changes):
    Ledger(tmp_path, Config()).add([line(**changes)])
    ((name, value),) = changes.items()
    with pytest.raises(InvalidInputError, match=f"{name} '{value}'"):
        Ledger(tmp_path, Config())


def test_results_are_chosen_and_averaged():
    results = Results(
        line(method=method, value=f"{value:g}", repetition=repetition, result=value + repetition)
        for method in ("a", "b")
        for value in (20.0, 3.0)
        for repetition in (1, 0)
    )
    here = results.where(method="b", metric="error")
    assert len(here) == 4
    assert here.grid() == [3.0, 20.0]
    assert here.at(20.0).numbers("error").tolist() == [20.0, 21.0]
    assert here.at(3.0).mean("error") == 3.5
    assert here.at(3.0).spread("error") == pytest.approx(np.std([3, 4], ddof=1))
    assert np.isnan(here.mean("terms"))
    assert here.where(repetition=0).at(3.0).spread("error") == 0.0
    assert results.distinct("method") == ["a", "b"]


def test_settings_are_json():
    assert describe_settings({"a": 1, "b": None, "c": (1, 2)}) == '{"a": 1, "b": null, "c": "(1, 2)"}'
