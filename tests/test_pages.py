"""The examples of README and of the pages: each of them is a promise to its reader, and runs as it is pasted.

Those of docs/extending.md and docs/targets.md stand alone, section by section; on the other pages examples go on where
the last one has ended. Where they read files, `page_files` has written such files before.
"""

import ctypes
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn import config_context

from page_files import write_page_files
from rulegrove.cli import main as command_line

mpl.use("Agg")

DOCS = Path(__file__).parents[1] / "docs"
SECTIONS = {
    "extending": ["A solver", "A loss", "A target", "A loss for the estimators", "An engine", "An export"],
    "targets": [
        "Counts and rates",
        "Amounts",
        "Totals that may be zero",
        "Numbers with outliers",
        "Quantiles",
        "Survival times",
        "Several numbers",
        "Exposure and offset",
    ],
    "workbench": ["A case from start to end"],
    "scorecards": ["A scorecard", "Two models compared"],
}


ROOT = DOCS.parent
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", *DOCS.glob("*.md"))
    if path.stem not in SECTIONS and "```python\n" in path.read_text()
)
SESSIONS = sorted(str(path.relative_to(ROOT)) for path in DOCS.glob("*.md") if "```console\n" in path.read_text())
OTHERS = {"imodels", "interpret"}  # libraries that docs/coming-from.md sets beside ours, in none of our environments


def read(page):
    """The examples of a page by the titles of their sections."""
    text = (DOCS / f"{page}.md").read_text()
    sections = re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    examples = {title: re.findall(r"```python\n(.*?)```", section, re.DOTALL) for title, section in sections}
    return {title: "".join(code) for title, code in examples.items() if code}


EXAMPLES = {(page, title): code for page in SECTIONS for title, code in read(page).items()}


# What an example prints, as the page has it: of those whose output is text.
PRINTED = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", (DOCS / "scorecards.md").read_text(), re.DOTALL)


def run(page, title):
    names = {"__name__": f"{page}_example"}
    with config_context():
        exec(compile(EXAMPLES[page, title], f"{page}.md: {title}", "exec"), names)
    return names


@pytest.mark.parametrize("page", SECTIONS)
def test_all_examples_are_there(page):
    assert list(read(page)) == SECTIONS[page]


@pytest.mark.parametrize(("page", "title"), EXAMPLES)
def test_an_example_keeps_what_it_asserts(page, title, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run(page, title)
    if "display" in names:
        assert names["display"].figure_.axes


@pytest.mark.parametrize("place", range(len(SECTIONS["scorecards"])))
def test_an_example_prints_what_its_page_has(place, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, printed = PRINTED[place]
    assert code == EXAMPLES["scorecards", SECTIONS["scorecards"][place]]
    run("scorecards", SECTIONS["scorecards"][place])
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("title", SECTIONS["extending"])
def test_an_example_of_extending_asserts_something(title):
    assert re.search(r"^assert ", EXAMPLES["extending", title], re.MULTILINE)


@pytest.mark.parametrize(("page", "title"), EXAMPLES)
def test_an_example_uses_public_names_alone(page, title):
    assert not re.findall(r"\brulegrove[\w.]*\._\w+|\.\s*_[a-z]\w*\b", EXAMPLES[page, title])


def is_ours(code):
    return not any(re.search(rf"^from {name}", code, re.MULTILINE) and not find_spec(name) for name in OTHERS)


@pytest.mark.filterwarnings("ignore::rulegrove.exceptions.RulegroveWarning", "ignore:The inplace keyword")
@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run_as_they_are_pasted(page, tmp_path, monkeypatch):
    write_page_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "example"}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    for number, code in enumerate(filter(is_ours, blocks), 1):
        exec(compile(code, f"{page}, example {number}", "exec"), names)
    if "client" in names:
        names["client"].close()
    plt.close("all")


def read_commands(page):
    """The commands of a page and whether each is to be refused; what a pipe does with the output is left out."""
    text = (ROOT / page).read_text()
    for session in re.findall(r"```(?:console|sh)\n(.*?)```", text, re.DOTALL):
        for command, told in re.findall(r"^(?:\$ )?(rulegrove [^|\n]*)[^\n]*\n(?=([^\n]*))", session, re.MULTILINE):
            yield shlex.split(command, comments=True)[1:], told.startswith("Error")


@pytest.mark.filterwarnings("ignore::rulegrove.exceptions.RulegroveWarning")
@pytest.mark.parametrize("page", SESSIONS)
def test_the_commands_of_a_page_run_as_they_are_pasted(page, tmp_path, monkeypatch, capsys):
    write_page_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    for arguments, refused in read_commands(page):
        arguments = [
            part for word in arguments for part in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
        ]
        monkeypatch.setattr(sys, "argv", ["rulegrove", *arguments])
        with pytest.raises(SystemExit) as ended:
            command_line()
        assert bool(ended.value.code) == refused, (arguments, capsys.readouterr().err)


def test_every_picture_of_a_target_is_there():
    pictures = re.findall(r"\]\((gallery/\w+\.png)\)", (DOCS / "targets.md").read_text())
    assert len(pictures) == 7
    assert all((DOCS / picture).stat().st_size < 150_000 for picture in pictures)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_export_scores_as_the_model_does(tmp_path):
    names = run("extending", "An export")
    source, library = tmp_path / "score.c", tmp_path / "score.so"
    source.write_text("#include <math.h>\n" + names["code"] + "\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-O0", "-o", library, source, "-lm"], check=True)
    score = ctypes.CDLL(str(library)).score
    score.restype, score.argtypes = ctypes.c_double, [ctypes.POINTER(ctypes.c_double)]
    X = np.vstack([names["X"][:50], np.where(np.arange(500).reshape(50, 10) % 7 == 0, np.nan, names["X"][:50])])
    found = [score(np.ascontiguousarray(row).ctypes.data_as(ctypes.POINTER(ctypes.c_double))) for row in X]
    np.testing.assert_allclose(found, names["model"].predict(X), rtol=1e-12)
