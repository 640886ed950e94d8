"""The report: one page of HTML with its figures inside, and the same as Markdown."""

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rulegrove._files import write_whole
from rulegrove.study import words
from rulegrove.study.claims import tabulate_claims
from rulegrove.study.config import Config
from rulegrove.study.figures import draw_pictures
from rulegrove.study.figures.style import check_matplotlib
from rulegrove.study.parts import PARTS
from rulegrove.study.results import Results
from rulegrove.study.tables import Table, make_tables
from rulegrove.study.words import Picture

FIGURES_DIRECTORY = "figures"
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; }
table { border-collapse: collapse; font-size: .85rem; margin: .5rem 0; display: block; overflow-x: auto; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #e5e5e5; text-align: left; vertical-align: top; }
th { background: #f6f6f6; } img { max-width: 100%; height: auto; } figcaption, .note { color: #555; font-size: .9rem; }
.mode { background: #fff4d6; padding: .4rem .8rem; border-left: 4px solid #e69f00; } figure { margin: 1rem 0; }
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">\
<title>The paper, rerun</title><style>{style}</style></head>
<body>
{body}
</body></html>
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
    run = words.describe_run(finished, config)
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
    missing = []
    for part, title in words.PART_TITLES.items():
        if len(results.where(part=part)):
            pictures = [(one, files[one.name]) for one in words.PICTURES if one.part == part]
            sections.append(Section(title, words.PART_WORDS[part], tables.get(part, []), pictures))
        else:
            missing.append(title)
    if missing:
        sections.append(Section("Not run", [f"Not run, or not to the end: {', '.join(missing)}."]))
    sections.append(Section("Departures from the paper", words.DEPARTURES))
    return [*sections, Section("Errata of the paper", words.ERRATA)]


def as_markdown(run: str, sections: Sequence[Section]) -> str:
    """Return the report as Markdown; figures are files beside it."""
    blocks = ["# The paper, rerun", *words.INTRODUCTION, f"> {run}"]
    for section in sections:
        blocks += [f"## {section.title}", f"*{run.split(':')[0]}.*", *section.words]
        for table in section.tables:
            blocks += [f"### {table.title}", _markdown_table(table), *([table.note] if table.note else [])]
        for picture, file in section.pictures:
            blocks += [f"![{picture.caption}]({FIGURES_DIRECTORY}/{file.name})", f"*{picture.long_caption}*"]
    return "\n".join(f"{block}\n" for block in blocks)


def _markdown_table(table: Table) -> str:
    """Write a table; a bar within a cell would end it."""
    rows = [table.header, ["---"] * len(table.header), *table.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def as_html(run: str, sections: Sequence[Section]) -> str:
    """Return the report as one page that needs no other file."""
    contents = [f'<li><a href="#s{number}">{_inline(one.title)}</a></li>' for number, one in enumerate(sections)]
    body = [
        "<h1>The paper, rerun</h1>",
        *_paragraphs(words.INTRODUCTION),
        f'<p class="mode">{html.escape(run)}</p>',
        f"<ol>{''.join(contents)}</ol>",
    ]
    mode = f'<p class="note">{html.escape(run.split(":")[0])}.</p>'
    for number, section in enumerate(sections):
        body += [f'<h2 id="s{number}">{_inline(section.title)}</h2>{mode}', *_paragraphs(section.words)]
        body += [_html_table(table) for table in section.tables]
        body += [_html_figure(picture, file) for picture, file in section.pictures]
    return _PAGE.format(style=_STYLE, body="\n".join(body))


def _paragraphs(texts: Sequence[str]) -> list[str]:
    return [f"<p>{_inline(text)}</p>" for text in texts]


def _inline(text: str) -> str:
    """Escape a text and turn its bold and code marks into tags."""
    escaped = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(text))
    return re.sub(r"`(.+?)`", r"<code>\1</code>", escaped)


def _html_row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{_inline(cell)}</{tag}>" for cell in cells) + "</tr>"


def _html_table(table: Table) -> str:
    """Write a table."""
    rows = "".join(_html_row(row, "td") for row in table.rows)
    note = f'<p class="note">{_inline(table.note)}</p>' if table.note else ""
    body = f"<thead>{_html_row(table.header, 'th')}</thead><tbody>{rows}</tbody>"
    return f"<h3>{_inline(table.title)}</h3><table>{body}</table>{note}"


def _html_figure(picture: Picture, file: Path) -> str:
    """Write a figure with its bytes inside the page."""
    content = base64.b64encode(file.read_bytes()).decode()
    image = f'<img alt="{html.escape(picture.caption)}" src="data:image/png;base64,{content}">'
    return f"<figure>{image}<figcaption>{_inline(picture.long_caption)}</figcaption></figure>"
