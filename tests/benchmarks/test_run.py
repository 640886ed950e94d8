"""What is written of cells, and read again."""

import contextlib
import csv
import os
import pathlib
import subprocess
import sys
import time

import pytest
from benchmarks.methods import METHODS
from benchmarks.problems import PROBLEMS

from benchmark_lines import folds, line
from benchmarks import run


@pytest.fixture
def results(tmp_path):
    """Write lines where results are kept, and read them again."""
    path = tmp_path / "peers.csv"

    def write_and_read(*lines):
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, run.FIELDS)
            writer.writeheader()
            writer.writerows(lines)
        return run.read(path)

    return write_and_read


def test_nothing_is_read_where_nothing_is(tmp_path):
    assert run.read(tmp_path / "absent.csv") == []


def test_of_a_cell_measured_twice_the_last_counts(results):
    read = results(*folds("RUG", errors=[10, 11]), *folds("EBM", errors=[5]), *folds("RUG", errors=[20, 21]))
    assert [(one["method"], one["error"]) for one in read] == [("RUG", "20"), ("RUG", "21"), ("EBM", "5")]


def test_a_later_failure_takes_the_place_of_folds(results):
    read = results(*folds("RUG", errors=[10, 11]), line("RUG", status="failed", message="no"))
    assert [(one["status"], one["message"]) for one in read] == [("failed", "no")]


def test_later_folds_take_the_place_of_a_failure(results):
    read = results(line("RUG", status="time"), *folds("RUG", errors=[10, 11]))
    assert [one["error"] for one in read] == ["10", "11"]


def test_repetitions_are_cells_of_their_own(results):
    read = results(*folds("RUG", errors=[10]), line("RUG", repetition=1, status="failed"))
    assert [one["status"] for one in read] == ["ok", "failed"]


def test_appended_lines_come_back(tmp_path):
    path = tmp_path / "results" / "peers.csv"
    run.append([{**line("RUG"), "error": 1 / 3}], path)
    run.append([{**line("EBM"), "error": 2.0, "message": 'a "word", and a comma'}], path)
    assert [one["error"] for one in run.read(path)] == ["0.333333", "2.0"]
    assert run.read(path)[1]["message"] == 'a "word", and a comma'


@pytest.mark.parametrize(
    ("stderr", "words"),
    [
        ("Traceback\n  File x\nValueError: no.\n\n", "ValueError: no."),
        ("", "ended without a word"),
        ("a" * 400, "a" * 300),
        ("OSError: Job failed\n  at water.H2O.run(H2O.java:1)\n", "OSError: Job failed"),
    ],
)
def test_last_words(stderr, words):
    assert run.last_words(stderr) == words


def test_what_a_command_has_started_ends_with_it(tmp_path):
    code = "import subprocess as s, time; print(s.Popen(['sleep', '99']).pid, file=open('pid', 'w')); time.sleep(99)"
    with pytest.raises(subprocess.TimeoutExpired):
        run.run_command([sys.executable, "-c", code], tmp_path, dict(os.environ), 3.0)
    child = pathlib.Path("/proc", (tmp_path / "pid").read_text().strip(), "stat")
    until = time.monotonic() + 30
    with contextlib.suppress(OSError):  # gone
        while ") Z " not in child.read_text():  # not even waiting to be noticed
            assert time.monotonic() < until
            time.sleep(0.01)


def test_what_a_command_says_on_standard_error_is_returned(tmp_path):
    code = "import sys; print('out'); sys.exit('no')"
    assert run.run_command([sys.executable, "-c", code], tmp_path, dict(os.environ), 60.0) == "no\n"


def test_slow_methods_have_one_repetition():
    bench = next(one for one in PROBLEMS if one.group == "sets")
    first, second = (run.cells(bench, list(METHODS), repetition) for repetition in (0, 1))
    assert any(method.slow for method in first)
    assert [method for method in first if not method.slow] == second
