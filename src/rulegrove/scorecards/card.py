"""The records: a card for one class, and the cards of all classes that predict together."""

import functools
import html
import itertools
import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rulegrove._files import write_whole
from rulegrove._frames import Backend, make_frame
from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove._validation import find_codes
from rulegrove._words import printable
from rulegrove.estimators.calibration import Sigmoid
from rulegrove.estimators.rule_table import hang, html_row
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule

if TYPE_CHECKING:
    from rulegrove.estimators._base import BaseRuleEnsemble
    from rulegrove.export.sql import Dialect

WIDTH = 120  # of a printed card


@dataclass(frozen=True)
class CardFigures:
    """How well points, or the exact weights of the same rules, separate a class from the others.

    They are cross-validated with the rules given: the points and the curve for each fold are found without its rows,
    but the rules were chosen on all rows.

    Attributes
    ----------
    auc : float
        Area under the ROC; 0.5 is guessing.
    log_loss : float
        Mean of minus the logarithm of the chance that was given to the true class.
    """

    auc: float
    log_loss: float

    @property
    def words(self) -> str:
        """Both figures."""
        return f"AUC {self.auc:.3f}, log loss {self.log_loss:.3f}"


@dataclass(frozen=True, eq=False)
class Card:
    """Points for rules, and the chance of one class for each total.

    Attributes
    ----------
    label : object
        The class.
    rules : tuple of Rule
        The rules, those with the most points first.
    texts : tuple of str
        The rules in words.
    points : ndarray of shape (n_rules,), int
    curve : Sigmoid
        The curve from the total to the chance of the class, which never falls.
    totals : ndarray of shape (n_totals,), int
        All possible totals, increasing.
    n_rows, n_of_class : ndarray of shape (n_totals,)
        Weight of the rows that have each total, and of the rows of the class among them.
    figures, exact : CardFigures
        Figures of the points, and of exact weights instead.
    base_log_loss : float
        Log loss of giving every row the share of the class.
    """

    label: Any
    rules: tuple[Rule, ...]
    texts: tuple[str, ...]
    points: IntArray
    curve: Sigmoid
    totals: IntArray
    n_rows: FloatArray
    n_of_class: FloatArray
    figures: CardFigures
    exact: CardFigures
    base_log_loss: float

    @property
    def name(self) -> str:
        """The class in words."""
        return printable(str(self.label))

    @property
    def chances(self) -> FloatArray:
        """Chance of the class at each of the totals, an ndarray of shape (n_totals,)."""
        return self.curve(self.totals.astype(np.float64))

    @property
    def steps(self) -> list[tuple[str, str]]:
        """The table from total to chance, in words: totals with the same whole percentage share a column."""
        pairs = zip(self.totals.tolist(), map(show_chance, self.chances.tolist()), strict=True)
        groups = [(words, [total for total, _ in own]) for words, own in itertools.groupby(pairs, lambda pair: pair[1])]
        last = len(groups) - 1
        return [(_tell_range(own, place == 0, place == last), words) for place, (words, own) in enumerate(groups)]

    @property
    def lines(self) -> list[str]:
        """The card as lines of text."""
        lines = [f"Points for {self.name}", ""]
        for text, points in zip(self.texts, self.points.tolist(), strict=True):
            lines += hang(f"{points:+5d}  ", text, WIDTH)
        lines += [] if self.rules else ["No rule is about this class; its chance is the same for all rows."]
        cells = [("total", "chance"), *self.steps]
        widths = [max(map(len, cell)) for cell in cells]
        for start, stop in _break_lines(widths):
            own = list(zip(cells[start:stop], widths[start:stop], strict=True))
            lines += ["", *("  ".join(cell[part].rjust(width) for cell, width in own) for part in (0, 1))]
        return [*lines, "", *self.notes]

    @property
    def notes(self) -> list[str]:
        """How good the card is, in sentences."""
        return [
            f"Points: {self.figures.words}. Exact weights of the same rules: {self.exact.words}. Base rate alone: "
            f"AUC 0.500, log loss {self.base_log_loss:.3f}."
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the card as plain values."""
        return {
            "class": self.label,
            "rules": [
                {"points": own, "rule": text} for own, text in zip(self.points.tolist(), self.texts, strict=True)
            ],
            "table": [
                dict(zip(("total", "chance", "n_rows", "n_of_class"), row, strict=True))
                for row in zip(
                    *(own.tolist() for own in (self.totals, self.chances, self.n_rows, self.n_of_class)), strict=True
                )
            ],
            **{
                name: {"auc": own.auc, "log_loss": own.log_loss}
                for name, own in (("cross_validated", self.figures), ("exact_weights", self.exact))
            },
            "base_log_loss": self.base_log_loss,
        }


@dataclass(frozen=True, eq=False)
class Scorecard:
    """A scorecard: points for a few rules, and tables from their totals to chances.

    `rulegrove.scorecard` makes one. It prints as text, is shown as a table in notebooks, and `save` writes a page to
    print.

    Attributes
    ----------
    cards : tuple of Card
        One card for the second of two classes, or one for each of more than two.
    labels : tuple
        The classes.
    n_rows : int
        Number of rows that were counted.
    list_words : str
        How well the model's own list of this length does on held-out rows, in words; empty if there is none.
    """

    cards: tuple[Card, ...]
    labels: tuple[Any, ...]
    n_rows: int
    list_words: str
    _reader: "BaseRuleEnsemble" = field(repr=False)  # a copy of the estimator whose model are the points

    def totals(self, X: Any) -> IntArray:
        """Return the total of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes), int
        """
        return np.rint(self._score(X)).astype(np.int64)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the chance of each class. With more than two classes, chances are divided by their sum.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        found = self._reader.model_.probabilities(self._score(X))
        assert found is not None
        return found

    def predict(self, X: Any) -> AnyArray:
        """Return the most likely class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        classes = self._reader.model_.classes
        assert classes is not None
        return np.asarray(classes[np.argmax(self.predict_proba(X), axis=1)])

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy: the share of rows whose most likely class is the true one.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        """
        chances = self.predict_proba(X)
        return float(np.mean(np.argmax(chances, axis=1) == find_codes(list(self.labels), y, len(chances))))

    def _score(self, X: Any) -> FloatArray:
        """Return totals as scores are."""
        return self._reader.model_.score(self._reader.read_columns(X))

    def to_frame(self, of: Literal["rules", "totals"] = "rules", backend: Backend | None = None) -> Any:
        """Return the points of the rules, or the tables from total to chance, as a data frame.

        Parameters
        ----------
        of : {"rules", "totals"}, default="rules"
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which kind of data frame; None takes the first of them that is installed.
        """
        if of not in ("rules", "totals"):
            raise InvalidInputError(f"`of` must be 'rules' or 'totals'; got {of!r}.")
        parts = [card.to_dict()["rules" if of == "rules" else "table"] for card in self.cards]
        names = ("points", "rule") if of == "rules" else ("total", "chance", "n_rows", "n_of_class")
        columns: dict[str, list[Any]] = {"class": []} if len(self.cards) > 1 else {}
        columns |= {name: [row[name] for part in parts for row in part] for name in names}
        if len(self.cards) > 1:
            columns["class"] = [card.label for card, part in zip(self.cards, parts, strict=True) for _ in part]
        return make_frame(columns, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return all cards as plain values."""
        return {"n_rows": self.n_rows, "cards": [card.to_dict() for card in self.cards], "notes": self.notes}

    @property
    def notes(self) -> list[str]:
        """What the figures are, in sentences."""
        notes = [
            f"The figures of points and weights are cross-validated on {self.n_rows:,} rows, with the rules given. "
            "They show what the points cost. If the rules were grown on these rows, both figures are better than "
            "they will be on new rows."
        ]
        return [*notes, *([self.list_words] if self.list_words else [])]

    def to_html(self, title: str | None = None) -> str:
        """Return a page to print on A4 or Letter and to fill in with a pencil.

        Parameters
        ----------
        title : str, optional
            By default it names the class.
        """
        from rulegrove.scorecards.page import write_page

        return write_page(self, title)

    def save(self, path: str | os.PathLike[str], title: str | None = None) -> None:
        """Write the page of `to_html` to a file.

        Parameters
        ----------
        path : str or path
            Path of the file. An existing file is replaced, completely or not at all.
        title : str, optional
        """
        write_whole(path, self.to_html(title))

    def to_sql(self, table: str | Sequence[str], *, dialect: "Dialect" = "ansi", keep: Sequence[str] = ()) -> str:
        """Return an SQL query for the total, as ``score``, and the chance of each class for the rows of a table.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table, or its parts; all names are quoted.
        dialect : {"ansi", "bigquery", "duckdb", "postgres", "spark", "sqlite"}, default="ansi"
        keep : sequence of str
            Columns of the table to keep, such as a key.

        See Also
        --------
        rulegrove.export.to_sql : All about the columns of the query.
        """
        from rulegrove.export import to_sql

        return to_sql(self._reader, table, dialect=dialect, keep=keep, outputs=["score", "probability"])

    def __repr__(self) -> str:
        parts = ["\n".join(card.lines) for card in self.cards]
        notes = "\n".join(textwrap.fill(words, WIDTH) for words in self.notes)
        return "\n\n".join([*parts, notes])

    def _repr_html_(self) -> str:
        parts = []
        for card in self.cards:
            rows = [html_row((f"{own:+d}", text)) for own, text in zip(card.points.tolist(), card.texts, strict=True)]
            steps = [html_row(own, "th") for own in zip(*card.steps, strict=True)]
            words = "".join(f"<p>{html.escape(note)}</p>" for note in card.notes)
            parts.append(
                f"<table><caption>Points for {html.escape(card.name)}</caption>{''.join(rows)}</table>"
                f"<table><caption>Total, and the chance of {html.escape(card.name)}</caption>{''.join(steps)}</table>"
                f"{words}"
            )
        return "".join(parts) + "".join(f"<p>{html.escape(words)}</p>" for words in self.notes)


@functools.cache
def show_chance(chance: float) -> str:
    """Return a chance in whole percent; what is nearly certain, or nearly impossible, is told as such.

    Examples
    --------
    >>> show_chance(0.123), show_chance(0.004), show_chance(0.997)
    ('12%', '<1%', '>99%')
    """
    if chance < 0.01:
        return "<1%"
    return ">99%" if chance > 0.99 else f"{chance:.0%}"


def _tell_range(totals: Sequence[int], first: bool, last: bool) -> str:
    """Return some totals in words; the first and the last ones of a table are open."""
    if first and last:
        return "any"
    if first:
        return f"{totals[-1]} or less"
    if last:
        return f"{totals[0]} or more"
    return str(totals[0]) if len(totals) == 1 else f"{totals[0]} to {totals[-1]}"


def _break_lines(widths: Sequence[int]) -> list[tuple[int, int]]:
    """Return which cells of a table stand beside each other, so that no line is too long."""
    bounds, room = [0], WIDTH
    for place, width in enumerate(widths):
        if room < width:
            bounds.append(place)
            room = WIDTH
        room -= width + 2
    return list(itertools.pairwise([*bounds, len(widths)]))
