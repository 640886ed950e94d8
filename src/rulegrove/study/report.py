"""The report: one page of HTML with its figures inside, and the same as Markdown."""

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rulegrove._files import write_whole
from rulegrove.study.claims import tabulate_claims
from rulegrove.study.config import Config
from rulegrove.study.figures import PICTURES, Picture, draw_pictures
from rulegrove.study.figures.style import check_matplotlib
from rulegrove.study.parts import PARTS
from rulegrove.study.results import Results
from rulegrove.study.tables import Table, make_tables
from rulegrove.study.words import DEPARTURES, ERRATA, INTRODUCTION, PART_TITLES, PART_WORDS, describe_run

FIGURES_DIRECTORY = "figures"
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; }
table { border-collapse: collapse; font-size: .85rem; margin: .5rem 0; display: block; overflow-x: auto; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #e5e5e5; text-align: left; vertical-align: top; }
th { background: #f6f6f6; } img { max-width: 100%; height: auto; } figcaption, .note { color: #555; font-size: .9rem; }
.mode { background: #fff4d6; padding: .4rem .8rem; border-left: 4px solid #e69f00; } figure { margin: 1rem 0; }
"""


@dataclass(frozen=True)
class Section:
    """A heading with what follows it: words, tables, figures."""

    title: str
    words: Sequence[str] = ()
    tables: Sequence[Table] = ()
    pictures: Sequence[tuple[Picture, Path]] = ()


def write_report(results: Results, directory: Path, config: Config) -> Path:
    """Draw the figures and write ``report.html`` and ``report.md``.

    Parameters
    ----------
    results : Results
        Of one run; parts that are not finished are left out, and the report says so.
    directory : path
    config : Config
        Of that run.

    Returns
    -------
    Path
        Of the HTML page.
    """
    check_matplotlib()
    finished = _finished_parts(results, config)
    files = draw_pictures(finished, directory / FIGURES_DIRECTORY)
    run = describe_run(finished, config)
    sections = list_sections(finished, files)
    write_whole(directory / "report.md", as_markdown(run, sections))
    write_whole(directory / "report.html", as_html(run, sections))
    return directory / "report.html"


def _finished_parts(results: Results, config: Config) -> Results:
    """Return the results of the parts all of whose tasks are done, in the order of the study.

    Half a part would be misread, and lines stand in the file as tasks came to an end.
    """
    done = {line.task for line in results}
    tasks = [[task.key for task in part.list_tasks(config)] for part in PARTS.values()]
    places = {key: place for place, key in enumerate(key for keys in tasks if done.issuperset(keys) for key in keys)}
    return Results(sorted((line for line in results if line.task in places), key=lambda line: places[line.task]))


def list_sections(results: Results, files: dict[str, Path]) -> list[Section]:
    """Return what the report holds, in the order of the paper."""
    tables = make_tables(results)
    sections = [Section("The paper's statements, one by one", tables=[tabulate_claims(results)])]
    for part, title in PART_TITLES.items():
        if len(results.where(part=part)):
            pictures = [(one, files[one.name]) for one in PICTURES if one.part == part]
            sections.append(Section(title, PART_WORDS[part], tables.get(part, []), pictures))
    missing = [title for part, title in PART_TITLES.items() if not len(results.where(part=part))]
    if missing:
        sections.append(Section("Not run", [f"Not run, or not to the end: {', '.join(missing)}."]))
    return [*sections, Section("Departures from the paper", DEPARTURES), Section("Errata of the paper", ERRATA)]


def as_markdown(run: str, sections: Sequence[Section]) -> str:
    """Return the report as Markdown; figures are files beside it."""
    lines = ["# The paper, rerun", "", *_spaced(INTRODUCTION), f"> {run}", ""]
    for section in sections:
        lines += [f"## {section.title}", "", f"*{run.split(':')[0]}.*", "", *_spaced(section.words)]
        for table in section.tables:
            lines += [
                f"### {table.title}",
                "",
                *_markdown_rows(table),
                "",
                *_spaced([table.note] if table.note else []),
            ]
        for picture, file in section.pictures:
            lines += [f"![{picture.caption}]({FIGURES_DIRECTORY}/{file.name})", "", f"*{_caption(picture)}*", ""]
    return "\n".join(lines)


def _spaced(words: Sequence[str]) -> list[str]:
    """Put an empty line after each paragraph."""
    return [line for paragraph in words for line in (paragraph, "")]


def _markdown_rows(table: Table) -> list[str]:
    """Write a table; a bar within a cell would end it."""
    rows = [table.header, ["---"] * len(table.header), *table.rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]


def _caption(picture: Picture) -> str:
    """Say what is seen, and which figure of the paper it redoes."""
    source = f"In the paper: “{picture.place}”." if picture.place else "Not in the paper."
    return f"{picture.caption} {source}"


def as_html(run: str, sections: Sequence[Section]) -> str:
    """Return the report as one page that needs no other file."""
    body = ["<h1>The paper, rerun</h1>", *(f"<p>{_inline(words)}</p>" for words in INTRODUCTION)]
    body.append(f'<p class="mode">{html.escape(run)}</p>')
    body.append(
        "<ol>" + "".join(f'<li><a href="#s{n}">{_inline(s.title)}</a></li>' for n, s in enumerate(sections)) + "</ol>"
    )
    for number, section in enumerate(sections):
        body.append(
            f'<h2 id="s{number}">{_inline(section.title)}</h2><p class="note">{html.escape(run.split(":")[0])}.</p>'
        )
        body += [f"<p>{_inline(words)}</p>" for words in section.words]
        body += [_html_table(table) for table in section.tables]
        body += [_html_figure(picture, file) for picture, file in section.pictures]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>The paper, rerun</title>'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head>\n<body>\n'
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _inline(text: str) -> str:
    """Escape a text and turn its bold and code marks into tags."""
    escaped = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(text))
    return re.sub(r"`(.+?)`", r"<code>\1</code>", escaped)


def _html_table(table: Table) -> str:
    """Write a table."""
    head = "".join(f"<th>{_inline(cell)}</th>" for cell in table.header)
    rows = "".join("<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    note = f'<p class="note">{_inline(table.note)}</p>' if table.note else ""
    return f"<h3>{_inline(table.title)}</h3><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{note}"


def _html_figure(picture: Picture, file: Path) -> str:
    """Write a figure with its bytes inside the page."""
    content = base64.b64encode(file.read_bytes()).decode()
    words = html.escape(picture.caption)
    return (
        f'<figure><img alt="{words}" src="data:image/png;base64,{content}">'
        f"<figcaption>{_inline(_caption(picture))}</figcaption></figure>"
    )
