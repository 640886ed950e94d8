"""A study from its beginning to its end, interrupted and taken up again."""

import importlib
import os

import pytest

from rulegrove.exceptions import InvalidInputError
from rulegrove.study import draw, run
from rulegrove.study.parts import PARTS
from rulegrove.study.results import read_lines
from rulegrove.study.run import run_config

MODULE = importlib.import_module("rulegrove.study.run")  # the package has the function under that name
QUICK_PARTS = ("sets", "threshold")


@pytest.fixture
def counted(monkeypatch):
    """Count the tasks that are measured in this process."""
    seen = []
    work = MODULE._work

    def count(task, config):
        seen.append(task.key)
        return work(task, config)

    monkeypatch.setattr(MODULE, "_work", count)
    return seen


def test_processes_and_one_process_measure_the_same(tiny, tmp_path):
    alone, together = tmp_path / "one", tmp_path / "two"
    for directory, jobs in ((alone, 1), (together, 2)):
        run_config(tiny, directory, only=QUICK_PARTS, jobs=jobs)
    one, two = (
        sorted((line.task, line.metric, line.result) for line in read_lines(directory / "results.csv"))
        for directory in (alone, together)
    )
    assert one == two


def test_a_stopped_run_goes_on_where_it_was(tiny, tmp_path, counted):
    done = []

    def stop(finished, total, key):
        done.append(key)
        if len(done) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_config(tiny, tmp_path, only=QUICK_PARTS, jobs=1, on_progress=stop)
    kept = {line.task for line in read_lines(tmp_path / "results.csv")}
    assert kept == set(done) - {""}
    counted.clear()
    run_config(tiny, tmp_path, only=QUICK_PARTS, jobs=1, resume=True)
    everything = {task.key for name in QUICK_PARTS for task in PARTS[name].list_tasks(tiny)}
    assert set(counted) == everything - kept
    assert {line.task for line in read_lines(tmp_path / "results.csv")} == everything
    assert (tmp_path / "report.html").is_file()


def test_only_measures_a_part_anew_and_keeps_the_others(tiny, tmp_path, counted):
    run_config(tiny, tmp_path, only=QUICK_PARTS, jobs=1)
    before = read_lines(tmp_path / "results.csv")
    counted.clear()
    run_config(tiny, tmp_path, only=["sets"], jobs=1)
    assert {key.split("/")[0] for key in counted} == {"sets"}
    after = read_lines(tmp_path / "results.csv")
    assert sorted(line.task for line in after) == sorted(line.task for line in before)


def test_results_are_not_overwritten_unasked(tiny, tmp_path):
    run_config(tiny, tmp_path, only=["sets"], jobs=1)
    before = (tmp_path / "results.csv").read_text()
    with pytest.raises(InvalidInputError, match="holds results already"):
        run_config(tiny, tmp_path, jobs=1)
    assert (tmp_path / "results.csv").read_text() == before


def test_progress_ends_at_all_of_it(tiny, tmp_path):
    seen = []
    run_config(tiny, tmp_path, only=["sets"], jobs=1, on_progress=lambda *three: seen.append(three))
    assert seen[0][0] == 0.0
    assert seen[-1][0] == pytest.approx(seen[-1][1])


def test_drawing_alone_needs_results_alone(tiny, tmp_path):
    run(tmp_path, quick=True, only=["sets"], jobs=1)
    (tmp_path / "report.html").unlink()
    assert draw(tmp_path).is_file()
    with pytest.raises(InvalidInputError, match="no results to draw"):
        draw(tmp_path / "elsewhere")


def test_bad_input_is_refused_before_anything_is_written(tmp_path):
    for settings, words in (
        ({"only": ["nothing"]}, "no part 'nothing'"),
        ({"jobs": 0}, "`jobs` must be at least 1"),
        ({"autoscan": tmp_path / "no.csv"}, "there is no file"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            run(tmp_path / "out", quick=True, **settings)
    assert not (tmp_path / "out").exists()


def test_a_directory_that_cannot_be_written_to(tmp_path, tiny):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InvalidInputError, match="cannot be written to"):
        run_config(tiny, file / "out", only=["sets"])


def test_a_process_that_is_killed_is_told(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(MODULE, "_work", _die)
    with pytest.raises(ChildProcessError, match="ended from outside"):
        run_config(tiny, tmp_path, only=["sets"], jobs=2)


def _die(task, config):
    os._exit(1)
