"""What is published says the same everywhere."""

import re
import tomllib
from pathlib import Path

import pytest

import rulegrove

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_the_version_is_one():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert PROJECT["version"] == rulegrove.__version__
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == rulegrove.__version__
    day = re.search(r"^date-released: (.*)$", citation, re.MULTILINE)[1]
    news = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (.*)$", news, re.MULTILINE)[1] == f"{rulegrove.__version__} ({day})"


def test_the_pythons_that_are_tested_are_those_that_are_named():
    named = {one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)}
    tested = re.search(r"python: \[(.*)\]", (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))[1]
    assert named == set(re.findall(r"[\d.]+", tested))
    assert f">={min(named, key=lambda one: int(one[2:]))}" == PROJECT["requires-python"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_only_call_make(workflow):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)) | {"docs"}
    for command in re.findall(r"run: (.*)$", workflow.read_text(encoding="utf-8"), re.MULTILINE):
        program, *words = command.split()
        assert program == "make"
        assert set(words) <= targets
