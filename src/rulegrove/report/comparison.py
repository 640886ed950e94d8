"""`write_comparison` and `make_comparison`: two models beside each other as one HTML page, which runs nothing."""

import html
import os
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from rulegrove._files import write_whole
from rulegrove._words import printable
from rulegrove.comparing.record import HOWS, ComparedRows, ComparedTerm, Comparison
from rulegrove.estimators.figures import DOUBT, show_share
from rulegrove.exceptions import InvalidInputError
from rulegrove.report.assembly import assemble_still

MOST_PAIRS = 10  # of classes
IDENTITIES = {"words": "Word for word", "deciles": "Thresholds in the same tenth", "rows": "Nearly the same rows"}
UNKNOWN = "\N{EN DASH}"


def write_comparison(comparison: Comparison, path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Write a comparison of two models: one HTML file that needs no network and runs no script.

    Parameters
    ----------
    comparison : Comparison
        What `rulegrove.compare` returns. If rows were compared, the page also shows where and for whom predictions
        differ. It contains the predictions and observed values of the ten rows that change most, but none of their
        attributes.
    path : str or path
        Path of the file. An existing file is replaced, completely or not at all.
    title : str, optional

    See Also
    --------
    make_comparison : The page as text.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import rulegrove
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.report import write_comparison
    >>> X, y = load("pima")
    >>> model = RuleEnsembleClassifier(n_candidates=200, max_terms=8, random_state=0).fit(X[:500], y[:500])
    >>> file = Path(tempfile.mkdtemp()) / "compare.html"
    >>> write_comparison(rulegrove.compare(model, model.shorten(max_terms=4), X[500:], y[500:]), file)
    >>> file.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    write_whole(path, make_comparison(comparison, title=title))


def make_comparison(comparison: Comparison, *, title: str | None = None) -> str:
    """Return the comparison of two models as the text of an HTML page; see `write_comparison`.

    Parameters
    ----------
    comparison, title
        As in `write_comparison`.

    Returns
    -------
    str

    Examples
    --------
    >>> import rulegrove
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.report import make_comparison
    >>> X, y = load("iris")
    >>> model = RuleEnsembleClassifier(n_candidates=60, random_state=0).fit(X, y)
    >>> "<title>Irises</title>" in make_comparison(rulegrove.compare(model, model), title="Irises")
    True
    """
    if not isinstance(comparison, Comparison):
        raise InvalidInputError(
            f"`comparison` must be what rulegrove.compare(a, b) returns; got {type(comparison).__name__}."
        )
    rows = comparison.rows
    parts = {"Rules": _write_terms(comparison), "How well each does": _write_figures(comparison)}
    if rows is not None:
        parts["Where predictions differ"] = _write_changes(rows)
        if rows.concerned:
            parts["Whom it concerns"] = _write_concerned(rows)
        if cells := comparison.row_cells():
            lines = [list(map(_escape, row)) for row in zip(*cells.values(), strict=True)]
            parts["Rows that change most"] = _say("Rows are counted from 0.") + _table("Rows", list(cells), lines, 0)
    links = "".join(f'<a href="#part-{place}">{head}</a>' for place, head in enumerate(parts))
    sections = "".join(
        f'<section id="part-{place}" aria-labelledby="head-{place}">\n<h2 id="head-{place}">{head}</h2>\n{inside}'
        "</section>\n"
        for place, (head, inside) in enumerate(parts.items())
    )
    return assemble_still(
        title or "Two models compared",
        f'<nav aria-label="Sections" class="control">{links}</nav>\n<main id="main" tabindex="-1">\n'
        f'<section aria-label="Summary">{_write_summary(comparison)}</section>\n{sections}</main>',
    )


def _write_summary(comparison: Comparison) -> str:
    """Return the figures to see first, and what they are about in sentences."""
    counts, rows = comparison.counts, comparison.rows
    told = {
        "terms of a": str(comparison.n_a),
        "terms of b": str(comparison.n_b),
        "shared by both": str(sum(counts[how] for how in IDENTITIES)),
        "only in a": str(counts["a"]),
        "only in b": str(counts["b"]),
    }
    if rows is not None and rows.classes:
        told[f"of {len(rows.change):,} rows predicted differently"] = show_share(float(np.mean(rows.otherwise)))
    figures = "".join(f"<div><dt>{_escape(name)}</dt><dd>{value}</dd></div>" for name, value in told.items())
    sentences = [*comparison.about_terms, *([] if rows is None else [rows.about_change])]
    return f'<dl id="figures">{figures}</dl><div id="summary">{"".join(map(_say, sentences))}</div>'


def _write_terms(comparison: Comparison) -> str:
    """Return the terms of both, by how they are shared, with their weights, and how large the shared part is."""
    terms = comparison.terms
    if not terms:
        return _say("Neither model has a term.")
    several = any(term.about is not None for term in terms)
    heads = ["Rule", *(["About"] if several else []), "Weight in a", "Weight in b"]
    largest = max(max(abs(term.coefficient_a), abs(term.coefficient_b)) for term in terms)
    groups = [
        (f"{HOWS[how].capitalize()}: {comparison.counts[how]}", [_write_term(term, several, largest) for term in own])
        for how, own in groupby(terms, key=lambda term: term.how)
    ]
    shares = [[IDENTITIES[how], show_share(own)] for how, own in comparison.shared.items()]
    return (
        _say("Terms are paired one to one, by the strictest sense in which they are the same.")
        + _table("Rules of both models", heads, groups, 2 if several else 1)
        + _table("Shares", ["Same by", "Share of the terms of either that both have"], shares, 1)
    )


def _write_term(term: ComparedTerm, several: bool, largest: float) -> list[str]:
    """Return a line of the table of terms."""
    text = _escape(term.text_a or term.text_b)
    if term.text_a and term.text_b and term.text_a != term.text_b:
        text += f"<small>b: {_escape(term.text_b)}</small>"
    sides = ((term.text_a, term.coefficient_a), (term.text_b, term.coefficient_b))
    weights = [f"{_show(own)}{_bar(own, largest, middle=True)}" if there else "" for there, own in sides]
    return [text, *([_escape(term.about)] if several else []), *weights]


def _write_figures(comparison: Comparison) -> str:
    """Return how well both do: on rows that each held out, and on the same rows."""
    sides = {"a": comparison.held_out_a, "b": comparison.held_out_b}
    tables = [{} if own is None else own.table for own in sides.values()]
    parts = []
    if any(tables):
        kinds = {None: "not known", True: "held out", False: "given its rules"}
        heads = [f"{side}, {kinds[None if own is None else own.honest]}" for side, own in sides.items()]
        names = dict.fromkeys(name for own in tables for name in own)
        lines = [[_escape(name), *(_escape(own.get(name, UNKNOWN)) for own in tables)] for name in names]
        words = (
            "Each model on the rows that were held out while it was fitted; these may be different rows for the two "
            "models."
        )
        if any(own is not None and not own.honest for own in sides.values()):
            words += f" {DOUBT}"
        parts += [_say(words), _table("Figures of the fits", ["", *heads], lines, 1)]
    if comparison.rows is not None and comparison.rows.errors:
        lines = [
            [_escape(own.name), f"{own.a:.4g}", f"{own.b:.4g}", f"{_minus(own.apart)}<small>{own.verdict}</small>"]
            for own in comparison.rows.errors
        ]
        words = "Both models on the rows that were given. The standard errors are those of the differences, row by row."
        parts += [_say(words), _table("Errors on the same rows", ["", "a", "b", "a minus b"], lines, 1)]
    return "".join(parts) or _say("Not known: no rows were held out, and no rows were given with their target.")


def _write_changes(rows: ComparedRows) -> str:
    """Return by how much predictions differ, and of classes which become which."""
    if not rows.change.any():
        return _say("Both models predict the same for all rows.")
    half, most = np.quantile(rows.change, [0.5, 0.9])
    what = "chances" if rows.classes else "predictions"
    told = _say(f"For half of the rows the {what} differ by {half:.3g} at most, for nine in ten by {most:.3g} at most.")
    if not (rows.classes and rows.otherwise.any()):
        return told
    pairs = Counter(zip(*(own[rows.otherwise].tolist() for own in (rows.predicted_a, rows.predicted_b)), strict=True))
    largest = max(pairs.values())
    lines = [
        [_escape(one), _escape(other), f"{count:,}{_bar(count, largest)}"]
        for (one, other), count in pairs.most_common(MOST_PAIRS)
    ]
    rest = len(pairs) - len(lines)
    return (
        told
        + _table("Classes", ["a says", "b says", "Rows"], lines, 2)
        + (_say(f"{rest:,} more pairs of classes have fewer rows.") if rest else "")
    )


def _write_concerned(rows: ComparedRows) -> str:
    """Return short rules about rows that change more than others."""
    largest = max(max(one.inside, one.outside) for one in rows.concerned)
    lines = [
        [
            _escape(one.text),
            f"{one.n_rows:,}",
            *(f"{rows.show(own)}{_bar(own, largest)}" for own in (one.inside, one.outside)),
        ]
        for one in rows.concerned
    ]
    heads = ["Where", "Rows", f"{rows.measured.capitalize()} there", "Elsewhere"]
    words = "Short rules about the rows that change more than others. They describe these rows and are not a test."
    return _say(words) + _table("Whom the change concerns", heads, lines, 1)


def _escape(words: object) -> str:
    """Return words as HTML shows them."""
    return html.escape(printable(str(words).replace("\N{NO-BREAK SPACE}", " ")))


def _say(words: str) -> str:
    """Return a paragraph."""
    return f"<p>{_escape(words)}</p>"


def _minus(words: str) -> str:
    """Return a number with a minus sign as long as the plus sign."""
    return words.replace("-", "\N{MINUS SIGN}")


def _show(weight: float) -> str:
    """Return a weight with its sign."""
    return _minus(f"{weight:+.3g}")


def _table(name: str, heads: Sequence[str], lines: Sequence[Any], n_words: int) -> str:
    """Return a table that scrolls by itself where it is too wide.

    Parameters
    ----------
    name : str
    heads : sequence of str
    lines : sequence
        Of cells in HTML; or of groups, each a head and its lines.
    n_words : int
        Columns of words; those after them have numbers.
    """

    def write(cells: Sequence[str], tag: str = "td") -> str:
        kinds = ("" if place < n_words else ' class="number"' for place in range(len(cells)))
        return "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))

    groups = lines if lines and isinstance(lines[0], tuple) else [("", lines)]
    bodies = "".join(
        "<tbody>"
        + (f'<tr><th scope="rowgroup" colspan="{len(heads)}">{_escape(head)}</th></tr>' if head else "")
        + "".join(f"<tr>{write(line)}</tr>" for line in own)
        + "</tbody>\n"
        for head, own in groups
    )
    return (
        f'<div class="scroll" role="region" aria-label="{_escape(name)}" tabindex="0"><table class="still">\n'
        f"<thead><tr>{write([_escape(own) for own in heads], 'th')}</tr></thead>\n{bodies}</table></div>\n"
    )


def _bar(value: float, largest: float, *, middle: bool = False) -> str:
    """Return a bar as long as a value beside the largest one; with a middle it goes to the left or to the right."""
    width = (50.0 if middle else 100.0) * abs(value) / (largest or 1.0)
    start = (50.0 - width if value < 0.0 else 50.0) if middle else 0.0
    kind = "negative" if value < 0.0 else "positive"
    zero = '<rect x="49.5" width="1" height="8" class="zero"/>' if middle else ""
    return (
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect x="{start:.4g}" width="{width:.4g}" height="8" class="{kind}"/>{zero}</svg>'
    )
