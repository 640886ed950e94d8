"""Outputs: never over what is read, never two in one file, and refused before the work where they cannot be written."""

import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cli_tables import TARGET, make_table
from rulegrove.cli.places import check_outputs
from rulegrove.exceptions import InvalidInputError


@pytest.fixture
def files(tmp_path, fitted, monkeypatch):
    """A folder to work in, with a table, a model, other names for both, and Parquet parts."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(fitted[0], "m.json")
    shutil.copy(fitted[1], "a.csv")
    Path("linked.csv").symlink_to("a.csv")
    os.link("a.csv", "hard.csv")
    Path("linked.json").symlink_to("m.json")
    Path("sub").mkdir()
    Path("parts").mkdir()
    for name in ("0.parquet", "1.parquet"):
        pq.write_table(make_table(), Path("parts") / name)
    Path("rules.txt").write_text("a > 1")
    return tmp_path


def read_all(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("fitted", ["classes"], indirect=True)
@pytest.mark.parametrize(
    "words",
    [
        ["fit", "a.csv", "-t", TARGET, "-o", "a.csv"],
        ["fit", "a.csv", "-t", TARGET, "-o", "sub/../a.csv"],
        ["fit", "linked.csv", "-t", TARGET, "-o", "a.csv"],
        ["fit", "a.csv", "-t", TARGET, "-o", "linked.csv"],
        ["fit", "a.csv", "-t", TARGET, "-o", "hard.csv"],
        ["fit", "a.csv", "-t", TARGET, "--report", "./a.csv"],
        ["fit", "a.csv", "-t", TARGET, "--rules", "rules.txt", "-o", "rules.txt"],
        ["fit", "a.csv", "-t", TARGET, "-o", "q.json", "--report", "q.json"],
        ["fit", "a.csv", "-t", TARGET, "-o", "q.json", "--report", "sub/../q.json"],
        ["fit", "a.csv", "-t", TARGET, "-o", "m.json", "--report", "linked.json"],
        ["fit", "parts", "-t", TARGET, "-o", "parts/model.json"],
        ["fit", "parts/*.parquet", "-t", TARGET, "-o", "parts/0.parquet"],
        ["predict", "m.json", "a.csv", "-o", "a.csv"],
        ["predict", "m.json", "parts", "-o", "parts/out.parquet"],
        ["predict", "m.json", "parts/*.parquet", "-o", "parts/out.parquet"],
        ["predict", "m.json", "**/*.parquet", "-o", "parts/out.parquet"],
        ["predict", "m.json", "par*", "-o", "parts/out.parquet"],
        ["export", "m.json", "--to", "json", "-o", "m.json"],
        ["export", "m.json", "--to", "sql", "-o", "linked.json"],
        ["report", "m.json", "-o", "m.json"],
        ["report", "m.json", "--data", "a.csv", "-o", "hard.csv"],
        ["select", "a.csv", "-t", TARGET, "-o", "a.csv"],
        ["study", "--autoscan", "sub/results.csv", "-o", "sub"],
    ],
    ids=" ".join,
)
def test_what_is_read_is_never_written(refuse, files, words):
    """`fit a.csv -o a.csv` replaced the table by the model, and `-o q.json --report q.json` the model by the page."""
    before = read_all(files)
    refuse(*words, says=" name")
    assert read_all(files) == before


@pytest.mark.parametrize("fitted", ["classes"], indirect=True)
def test_other_names_are_well(files):
    check_outputs({"--output": Path("b.csv"), "--report": Path("c.csv")}, [Path("a.csv"), Path("parts"), None])
    check_outputs({"--output": Path("parts.parquet"), "--report": None}, [Path("parts"), Path("parts/*.parquet")])
    check_outputs({"--output": Path("/dev/null"), "--report": Path("/dev/null")}, [Path("a.csv")])
    assert not Path("b.csv").exists()


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("none/m.json", "There is no folder 'none' to write 'm.json' to; make it first."),
        ("file/m.json", "'file' is no folder, so 'm.json' cannot be written to it."),
        ("folder", "'folder' is a folder; give the name of a file in it."),
        ("to folder", "'to folder' is a folder"),
        ("nowhere", "There is no folder '.' to write 'nowhere' to"),
        ("/proc/m.json", "'/proc/m.json' cannot be written: "),
        (f"{'n' * 300}.json", "cannot be written: File name too long. Choose another place for `--output`."),
    ],
)
def test_places_that_cannot_be_written_are_known_before_the_data_are_read(refuse, tmp_path, monkeypatch, output, says):
    """A folder that refuses new files was found out after the whole fit; the table here is not even there."""
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("folder").mkdir()
    Path("to folder").symlink_to("folder")
    Path("nowhere").symlink_to("none/m.json")
    before = sorted(tmp_path.rglob("*"))
    refuse("fit", "no.csv", "-t", "y", "-o", output, says=says)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_protected_file_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "m.json").write_text("precious")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everything
    with pytest.raises(InvalidInputError, match="is protected against writing"):
        check_outputs({"--output": tmp_path / "m.json"})


def test_datasets_need_a_name_to_be_written(refuse, tmp_path):
    refuse("datasets", "-o", tmp_path / "a.csv", says="Which set is to be written? There are ")
