"""A scorecard as a page to print: boxes for points, a line for the total, the table from total to chance."""

import base64
import hashlib
import html
from importlib.resources import files
from typing import TYPE_CHECKING

from rulegrove._version import __version__

if TYPE_CHECKING:
    from rulegrove.scorecards.card import Card, Scorecard

STEPS_A_LINE = 12  # of the table


def write_page(scorecard: "Scorecard", title: str | None = None) -> str:
    """Return the page, which runs nothing and asks for no other file; a class has a sheet of its own."""
    style = files("rulegrove.scorecards").joinpath("page", "card.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    titles = [title or f"Scorecard for {card.name}" for card in scorecard.cards]
    sheets = "".join(_write_sheet(scorecard, card, own) for card, own in zip(scorecard.cards, titles, strict=True))
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy, quote=False)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(titles[0])}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n{sheets}</main>\n"
        "</body>\n</html>\n"
    )
    return page.encode("utf-8", "replace").decode()  # without what no file can hold


def _write_sheet(scorecard: "Scorecard", card: "Card", title: str) -> str:
    """Return the sheet of one class."""
    name = html.escape(card.name)
    rows = "".join(
        f'<tr><td class="rule">{html.escape(text)}</td><td class="points">{_write_minus(f"{points:+d}")}</td>'
        '<td class="box"><span></span></td></tr>\n'
        for text, points in zip(card.texts, card.points.tolist(), strict=True)
    )
    notes = "".join(f"<p>{html.escape(words)}</p>\n" for words in [*card.notes, *scorecard.notes])
    return (
        f'<article>\n<h1>{html.escape(title)}</h1>\n<p class="who"><span>Name</span><span>Date</span></p>\n'
        f"<h2>1. Write down the points of each line that is true</h2>\n"
        f'<table class="rules">\n<thead><tr><th scope="col">If</th><th scope="col">Points</th>'
        f'<th scope="col">Yours</th></tr></thead>\n<tbody>\n{rows}</tbody>\n'
        '<tfoot><tr><th scope="row" colspan="2">2. Add them up: the total</th>'
        '<td class="box total"><span></span></td></tr></tfoot>\n</table>\n'
        f"<h2>3. Find the chance of {name} below the total</h2>\n{_write_steps(card)}"
        f"<footer>\n{notes}<p>Made by rulegrove {__version__}.</p>\n</footer>\n</article>\n"
    )


def _write_steps(card: "Card") -> str:
    """Return the table from total to chance, in lines of even length."""
    steps = card.steps
    n_lines = -(-len(steps) // STEPS_A_LINE)
    length = -(-len(steps) // n_lines)
    parts = []
    for start in range(0, len(steps), length):
        totals, chances = zip(*steps[start : start + length], strict=True)
        heads = "".join(f"<th>{html.escape(_write_minus(own))}</th>" for own in totals)
        cells = "".join(f"<td>{html.escape(own)}</td>" for own in chances)
        parts.append(
            f'<table class="steps"><tr><th scope="row">Total</th>{heads}</tr>'
            f'<tr><th scope="row">Chance</th>{cells}</tr></table>\n'
        )
    return "".join(parts)


def _write_minus(words: str) -> str:
    """Return words whose numbers have a minus sign as long as the plus sign."""
    return words.replace("-", "\N{MINUS SIGN}")
