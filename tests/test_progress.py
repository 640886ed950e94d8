"""Silence by default, a line a stage in a file, a bar on a terminal."""

import io
import re

import numpy as np
import pytest

from rulegrove import RuleEnsembleRegressor
from rulegrove import _progress as progress_module
from rulegrove._progress import Progress
from rulegrove.inspection import interaction_null, stability_report


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is moved."""

    class Clock:
        now = 100.0

        def perf_counter(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(progress_module, "time", clock)
    return clock


def test_silent_unless_asked(capsys):
    progress = Progress()
    progress.stage("Growing")(1, 2)
    progress.close()
    assert capsys.readouterr() == ("", "")


def test_a_file_gets_one_line_a_stage(capsys, clock):
    progress = Progress(verbose=1)
    progress.stage("Growing")(1, 2)
    clock.now += 1.5
    progress.stage("Counting")
    clock.now += 0.25
    progress.close()
    progress.close()
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split() for line in err.splitlines()] == [["Growing", "1.50", "s"], ["Counting", "0.25", "s"]]
    assert "\r" not in err


def test_a_stage_that_comes_back_has_one_line(capsys, clock):
    progress = Progress(verbose=1)
    for _ in range(3):
        for name, seconds in (("Counting", 1.0), ("Weighting", 0.5)):
            progress.stage(name)
            clock.now += seconds
    progress.close()
    lines = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert lines == [["Counting", "3.00", "s"], ["Weighting", "1.50", "s"]]


def test_a_terminal_gets_a_bar_and_the_time_left(monkeypatch, clock):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    progress = Progress(verbose=1).stage("Growing")
    clock.now += 3.0
    progress(1, 4)
    assert "25%" in terminal.getvalue()
    assert "9.0 s left" in terminal.getvalue()
    assert terminal.getvalue().count("█") == progress_module.BAR_WIDTH // 4


def test_a_notebook_gets_a_bar_that_is_cleared_by_blanks(monkeypatch, clock):
    """The output below a cell is no terminal, but it follows carriage returns; escape sequences it would print."""
    output = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr("sys.stderr", output)
    progress = Progress(verbose=1).stage("Growing")
    for done in (1, 2):
        clock.now += 3.0
        progress(done, 4)
    progress.close()
    first, second, blank, rest = output.getvalue().split("\r")[1:]
    assert "25%" in first
    assert "50%" in second
    assert len(first) == len(second) == len(blank)
    assert not blank.strip()
    assert rest.split() == ["Growing", "6.00", "s"]
    assert "\x1b" not in output.getvalue()


def test_a_long_time_left_is_told_in_minutes(monkeypatch, clock):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    progress = Progress(verbose=1).stage("Growing")
    clock.now += 300.0
    progress(1, 4)
    clock.now += 300.0
    progress(7, 8)
    first, second = terminal.getvalue().split("\r")[1:]
    assert "15 min left" in first
    assert "85.7 s left" in second
    assert len(first) == len(second)  # so that nothing of the longer line is left beside the shorter one


def test_a_terminal_is_not_flooded(monkeypatch, clock):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    progress = Progress(verbose=1).stage("Growing")
    for done in range(1000):
        clock.now += 0.001
        progress(done, 1000)
    assert 5 <= terminal.getvalue().count("\r") <= 11


@pytest.mark.parametrize(("done", "total", "share"), [(0, 10, "0%"), (20, 10, "100%"), (0, 0, "100%")])
def test_odd_counts_do_no_harm(monkeypatch, clock, done, total, share):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    progress = Progress(verbose=1).stage("Growing")
    clock.now += 1.0
    progress(done, total)
    assert share in terminal.getvalue()


@pytest.mark.parametrize("work", [stability_report, interaction_null])
def test_repeated_fits_are_one_stage(capsys, work):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = RuleEnsembleRegressor(n_candidates=10, cv=2, random_state=0, n_jobs=1).fit(X, X[:, 0])
    work(model.set_params(verbose=1), X, X[:, 0], n_repeats=2, random_state=0)
    assert re.fullmatch(r"Refitting +\d+\.\d\d s\n", capsys.readouterr().err)
    work(model.set_params(verbose=0), X, X[:, 0], n_repeats=2, random_state=0)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("honest", [False, True])
def test_a_loud_fit_names_its_stages(capsys, honest):
    X = np.random.default_rng(0).normal(size=(60, 2))
    RuleEnsembleRegressor(n_candidates=10, honest_cv=honest, verbose=1, random_state=0, n_jobs=1).fit(X, X[:, 0])
    lines = capsys.readouterr().err.splitlines()
    assert [bool(re.fullmatch(r"[A-Z].* +\d+\.\d\d s", line)) for line in lines] == [True] * 5
    RuleEnsembleRegressor(n_candidates=10, random_state=0, n_jobs=1).fit(X, X[:, 0])
    assert capsys.readouterr() == ("", "")
