"""The whole page, from few lines."""

import csv
import json
import re

import pytest

from benchmark_lines import folds, line
from benchmarks import fronts_figure, report, run


@pytest.fixture
def results(tmp_path):
    """Results of a few cells of some groups, with the machine."""
    path = tmp_path / "results" / "peers.csv"
    path.parent.mkdir()
    lines = [
        *folds("rulegrove", errors=[20, 22], terms=100, log_loss=0.5, version="0.1.0"),
        *folds("imodels RuleFit", errors=[21, 25], terms=30, log_loss=0.6),
        line("RIPPER", status="failed", message="ValueError: no | way"),
        line("rulegrove", "10,000 rows", group="rows", fit_seconds=1),
        line("HistGradientBoosting", "10,000 rows", group="rows", fit_seconds=1.5),
    ]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, run.FIELDS)
        writer.writeheader()
        writer.writerows(lines)
    (path.parent / "machine.json").write_text(json.dumps(run.describe_machine()))
    return path


def test_the_page_is_whole_and_the_same_twice(results, tmp_path):
    page = tmp_path / "docs" / "benchmarks.md"
    page.parent.mkdir()
    report.write_report(results, page)
    text = page.read_text()
    titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert titles[0] == "Summary: targets and figures"
    assert "lower on 1 of 1" in text
    assert "10,000 rows: 1.50 times" in text
    assert "ValueError: no \\| way" in text
    pictures = re.findall(r"\]\((benchmarks/\w+\.png)\)", text)
    assert pictures == ["benchmarks/terms.png", "benchmarks/fronts.png", "benchmarks/rows.png"]
    drawn = [name for name in pictures if "fronts" not in name]  # that of the ten sets, which are measured apart
    before = {name: (page.parent / name).read_bytes() for name in drawn}
    report.write_report(results, page)
    assert page.read_text() == text
    assert {name: (page.parent / name).read_bytes() for name in drawn} == before


def test_the_fronts_of_the_ten_sets_are_drawn_from_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(fronts_figure, "PICTURE", tmp_path / "fronts.png")
    fronts_figure.main()
    assert (tmp_path / "fronts.png").read_bytes().startswith(b"\x89PNG")
    lines = [
        {"set": "iris", "method": "large", "terms": terms, "outputs": "3", "error": error}
        for terms, error in (("6", "4.0"), ("12", "5.0"))
    ]
    assert fronts_figure.measure(lines, "iris", "large") == (3.0, 4.5)


def test_every_row_of_a_table_has_as_many_cells_as_its_header(results, tmp_path):
    page = tmp_path / "benchmarks.md"
    report.write_report(results, page)
    n_cells = 0
    for text in page.read_text().splitlines():
        cells = len(re.findall(r"(?<!\\)\|", text)) if text.startswith("|") else 0
        assert not (n_cells and cells) or cells == n_cells
        n_cells = cells


def test_missed_targets_want_a_cause(results, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.targets.CAUSES", {"boosting": "It is quick."})
    assert report.write_report(results, tmp_path / "benchmarks.md") == ["rulefit-terms"]
    assert "It is quick." in (tmp_path / "benchmarks.md").read_text()


def test_an_error_leaves_the_page_as_it_was(results, tmp_path, monkeypatch):
    page = tmp_path / "benchmarks.md"
    page.write_text("before")
    monkeypatch.setattr(report, "write_page", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        report.write_report(results, page)
    assert page.read_text() == "before"
    assert not (tmp_path / "benchmarks").exists()


def test_kernels_are_read_where_they_are(tmp_path):
    path = tmp_path / "kernels.csv"
    assert report.read_kernels(path) == []
    path.write_text("name,figure,unit,limit,share\nimport rulegrove,0.1,s,0.4,0.25\n")
    assert report.read_kernels(path)[0]["limit"] == "0.4"


def test_without_results_the_way_out_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["report", "--results", str(tmp_path / "absent.csv")])
    with pytest.raises(SystemExit, match="make bench-peers"):
        report.main()
