"""The examples of docs/extending.md, docs/targets.md and docs/workbench.md: each of them is a promise to its reader."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from sklearn import config_context

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
}


def read(page):
    """The examples of a page by the titles of their sections."""
    text = (DOCS / f"{page}.md").read_text()
    sections = re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    examples = {title: re.findall(r"```python\n(.*?)```", section, re.DOTALL) for title, section in sections}
    return {title: "".join(code) for title, code in examples.items() if code}


EXAMPLES = {(page, title): code for page in SECTIONS for title, code in read(page).items()}


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


@pytest.mark.parametrize("title", SECTIONS["extending"])
def test_an_example_of_extending_asserts_something(title):
    assert re.search(r"^assert ", EXAMPLES["extending", title], re.MULTILINE)


@pytest.mark.parametrize(("page", "title"), EXAMPLES)
def test_an_example_uses_public_names_alone(page, title):
    assert not re.findall(r"\brulegrove[\w.]*\._\w+|\.\s*_[a-z]\w*\b", EXAMPLES[page, title])


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
