"""The demo: what it prints is what its model says, and its page is whole."""

import subprocess
import sys

import pytest

from rulegrove import demo as module
from rulegrove.demo import run_demo
from rulegrove.exceptions import InvalidInputError


def test_the_demo_prints_its_list_and_the_place_of_its_page(tmp_path):
    lines = []
    made = run_demo(tmp_path / "page.html", lines.append)
    told = "\n".join(lines)
    assert str(made.model.rules_) in told
    assert lines[-1].endswith(str(made.report))
    assert made.report == tmp_path / "page.html"
    assert "Tumours of the breast" in made.report.read_text(encoding="utf-8")
    assert all(f"{error:.1%}" in told for error in made.errors.values())
    assert made.errors["these rules"] < 0.1
    assert repr(made).count("\n") == 0


def test_a_folder_that_is_not_there_is_told_before_the_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "load", pytest.fail)
    with pytest.raises(InvalidInputError, match="There is no folder"):
        run_demo(tmp_path / "nowhere" / "page.html")


def test_without_a_library_of_frames_the_demo_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FRAMES", ("no_such_library",))
    with pytest.raises(InvalidInputError, match="rulegrove\\[cli\\]"):
        run_demo(tmp_path / "page.html")


def test_a_page_is_opened_in_the_browser(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(module.webbrowser, "open", lambda address: opened.append(address) or True)
    assert module.show_page(tmp_path / "a b.html") == ""
    assert opened == [(tmp_path / "a b.html").as_uri()]
    monkeypatch.setattr(module.webbrowser, "open", lambda address: False)
    assert "by hand" in module.show_page(tmp_path / "a b.html")


def test_it_runs_as_a_module(tmp_path):
    words = [sys.executable, "-m", "rulegrove.demo", "--no-open", "-o", str(tmp_path / "no" / "page.html")]
    done = subprocess.run(words, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("Error: There is no folder")
