import json

import pytest
import typer
from typer.testing import CliRunner

from rulegrove.cli.errors import reporting
from rulegrove.cli.study import study


@pytest.fixture
def command():
    """The command, run in this process."""
    app = typer.Typer()
    app.command()(reporting(study))
    return lambda *arguments: CliRunner().invoke(app, [str(one) for one in arguments])


def test_a_part_alone_and_its_report(command, tmp_path):
    ended = command("--quick", "--only", "sets", "--jobs", 1, "--out", tmp_path, "--json")
    assert ended.exit_code == 0, ended.stderr
    files = json.loads(ended.stdout)
    assert set(files) == {"report", "markdown", "results"}
    assert "QUICK" in (tmp_path / "report.html").read_text()
    again = command("--quick", "--resume", "--only", "sets", "--out", tmp_path)
    assert again.exit_code == 0
    assert "Report written" in again.stderr


def test_the_folder_is_named_as_other_commands_name_their_output(command, tmp_path):
    """There was `--out` only; `-o` and `--output` were no options."""
    (tmp_path / "file").touch()
    for option in ("-o", "--output", "--out"):
        ended = command("--quick", "--only", "sets", option, tmp_path / "file")
        assert ended.exit_code == 1
        assert "cannot be written to" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--only", "sets,tables"), "there are sets, ten-sets"),
        (("--autoscan", "no.csv"), "no file 'no.csv'"),
        (("--jobs", "0"), "`jobs` must be at least 1"),
    ],
)
def test_bad_input_is_one_line(command, tmp_path, arguments, words):
    ended = command("--quick", "--out", tmp_path / "out", *arguments)
    assert ended.exit_code == 1
    assert words in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_damaged_file_is_one_line(command, tmp_path):
    (tmp_path / "results.csv").write_text("nonsense")
    ended = command("--quick", "--resume", "--out", tmp_path)
    assert ended.exit_code == 1
    assert "damaged" in ended.stderr
    assert (tmp_path / "results.csv").read_text() == "nonsense"


def test_an_interrupted_run_says_how_to_go_on(command, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("rulegrove.study.run", interrupt)
    ended = command("--quick", "--out", tmp_path)
    assert ended.exit_code == 130
    assert "--resume" in ended.stderr
