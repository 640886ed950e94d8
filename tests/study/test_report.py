"""The report: one page, nothing left out in silence."""

import re

from rulegrove.study.report import Section, as_html, as_markdown, list_sections, write_report
from rulegrove.study.results import Results
from rulegrove.study.tables import Table
from rulegrove.study.words import PART_TITLES


def test_the_page_needs_no_other_file_and_says_quick(drawn):
    page = (drawn / "report.html").read_text()
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert page.count("data:image/png;base64,") == len(list((drawn / "figures").iterdir()))
    sections = page.count("<h2")
    assert page.count("QUICK study") == sections + 1, "a section does not say that the study is quick"
    markdown = (drawn / "report.md").read_text()
    for target in re.findall(r"\]\((figures/[^)]+)\)", markdown):
        assert (drawn / target).is_file()
    for title in PART_TITLES.values():
        assert f"## {title}\n" in markdown
    assert "Not run" not in markdown


def test_unfinished_parts_are_left_out_and_named(measured, tiny, tmp_path):
    half = [line for line in measured.where(part="terms") if line.repetition == 0]
    write_report(Results([*half, *measured.where(part="sets")]), tmp_path, tiny)
    markdown = (tmp_path / "report.md").read_text()
    assert "## Rules, linear terms, both" not in markdown
    assert re.search("Not run, or not to the end:.*Rules, linear terms, both", markdown)
    assert "## Data sets" in markdown


def test_cells_are_escaped():
    table = Table("a < b", ("x",), [["p | q & <r> **bold** `code`"]])
    sections = [Section("s & t", ["<w>"], [table])]
    page, markdown = as_html("run: r", sections), as_markdown("run: r", sections)
    assert "p | q &amp; &lt;r&gt; <b>bold</b> <code>code</code>" in page
    assert '<h2 id="s0">s &amp; t</h2>' in page
    assert "| p \\| q & <r> **bold** `code` |" in markdown


def test_sections_end_with_departures_and_errata(measured):
    titles = [section.title for section in list_sections(measured.where(part="sets"), {})]
    assert titles[0].startswith("The paper's statements")
    assert titles[-2:] == ["Departures from the paper", "Errata of the paper"]
