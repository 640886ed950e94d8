"""The ranked terms of a fitted model as a table to read, print and compute with."""

import html
import shutil
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

from rulegrove._frames import Backend, make_frame
from rulegrove._reprs import short_repr
from rulegrove._words import cut, printable
from rulegrove.columns import Feature
from rulegrove.design.terms import Term
from rulegrove.estimators.recurrence import Choice, Recurrence, Span, tell_spans

SHOWN_ROWS = 20
COMES_BACK = "comes back"  # heading of the column
RECURRENCE_NOTE = (
    "comes back: how many lists from other rows contain the term; in brackets, where its thresholds lie in nine of "
    "ten of these lists."
)
_LEAST_ROOM = 30  # for words beside the figures; where there is less, they stand below these
INDENT = "   "  # of words below figures
_STYLE = "text-align:left;vertical-align:top;white-space:pre-line"
# Columns of `RuleTable.to_dict` and the fields of a term that they hold: of any term, and about its target.
_COLUMNS = {name: name for name in ("rank", "kind", "rule", "coefficient", "importance", "support")} | {"rule": "text"}
_ABOUT = {"class": "speaks_for"} | {
    name: name
    for name in ("confidence", "base_rate", "probability_from", "probability_to", "factor", "effect", "mean_target")
}


@dataclass(frozen=True, slots=True)
class RankedTerm:
    """One term of a model, with its figures: one row of `rules_`.

    Attributes
    ----------
    rank : int
        From 1.
    kind : {"rule", "linear"}
    text : str
        The term in words, with exact thresholds.
    coefficient : float
        What the rule adds to the score where it holds, or a linear term per unit of its attribute.
    importance : float
        ``|a| sqrt(s (1 - s))`` for a rule of support s, ``|b| sd(x)`` for a linear term.
    support : float
        Share of the (weighted) training rows on which a rule holds; 1 for a linear term.
    confidence : float or None
        Share of the class `speaks_for` among the training rows on which the rule holds, or of all other classes if the
        rule is `against` it; None for linear terms and in regression.
    base_rate : float or None
        The same share among all training rows, to compare the confidence with; None where there is no confidence.
    probability_from, probability_to : float or None
        What the term does to the probability of `speaks_for`, or of all other classes if it is `against` it: from the
        base rate to the probability that the link of the model gives once the coefficients of the rule are added. For a
        linear term they are at the lower and upper end of its line, with the base rate at the mean of its attribute.
        All other terms are ignored. None in regression, and if the base rates are not known.
    mean_target : float or None
        In regression, the mean of the target where the rule holds, or its quantile if that is predicted; else None.
    factor : float or None
        By what the rule multiplies a rate, or a linear term from the lower to the upper end of its line. None for other
        targets.
    effect : str or None
        What the term does in words, such as "rate x 1.4" or "+3.2 at the 90 % quantile"; None if the coefficient says
        it all.
    speaks_for : object
        The class that the term says most about; None in regression.
    against : bool
        Whether it speaks against that class. Always False with two classes: it then speaks for the other one.
    coefficients : dict or None
        Coefficient for each class if there are more than two; else None.
    confidences : dict or None
        Share of each class among the training rows on which the rule holds; None for linear terms and in regression.
    aliases : tuple of str
        Rules that hold on exactly the same training rows; one that begins with "not" holds on exactly the others.
    term : Rule or Linear
        The record behind the words.
    returns : float or None
        The chance that a list from as many other rows contains the term or one of its family; None without
        `n_resamples`.
    thresholds : str
        Where the bounds of a rule lie in nine of ten lists that contain it, in words; empty if not known.
    spans : tuple of Span
        The same as numbers.
    """

    rank: int
    kind: str
    text: str
    coefficient: float
    importance: float
    support: float
    aliases: tuple[str, ...]
    term: Term
    confidence: float | None = None
    base_rate: float | None = None
    probability_from: float | None = None
    probability_to: float | None = None
    mean_target: float | None = None
    factor: float | None = None
    effect: str | None = None
    speaks_for: Any = None
    against: bool = False
    coefficients: dict[Any, float] | None = None
    confidences: dict[Any, float] | None = None
    returns: float | None = None
    thresholds: str = ""
    spans: tuple[Span, ...] = ()

    __repr__ = short_repr

    @property
    def recurrence(self) -> str:
        """How often the term comes back, such as "in about 92 of 100 lists from other rows, glucose > 108 to 128"."""
        if self.returns is None:
            return ""
        spans = f", {self.thresholds}" if self.thresholds else ""
        return f"in about {100 * self.returns:.0f} of 100 lists from other rows{spans}"

    @property
    def change(self) -> str:
        """What the term does to the probability of `speaks_for`, such as "from 35.0% to 61.2%"; empty if not known."""
        if self.probability_from is None or self.probability_to is None:
            return ""
        first, last = (1.0 - own if self.against else own for own in (self.probability_from, self.probability_to))
        return f"from {first:.1%} to {last:.1%}"

    @property
    def sentence(self) -> str:
        """The term as a sentence."""
        if self.kind == "linear":
            start, more = f"The more {self.text}", f"{self.coefficient:+.4g} a unit"
        else:
            start, more = f"If {self.text}", f"{self.coefficient:+.4g}, on {self.support:.1%} of the rows"
        if self.effect is not None:
            return f"{start}: {self.effect} ({more})."
        if self.speaks_for is None:
            return f"{start}: the prediction changes by {more}."
        label, likely = printable(str(self.speaks_for)), "less" if self.against else "more"
        if self.confidence is not None and not self.against:
            usual = "" if self.base_rate is None else f" against {self.base_rate:.1%} of all"
            more += f", {self.confidence:.1%} of them {label}{usual}"
        change = f", {self.change}" if self.change else ""
        return f"{start}: {label} is {likely} likely{change} ({more})."


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _whole_percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def _show_words(term: RankedTerm) -> str:
    """Return the term in words, and in a line below it where its thresholds lie."""
    thresholds = f"\n({cut(printable(term.thresholds))})" if term.thresholds else ""
    return cut(term.text) + thresholds


def _show_change(term: RankedTerm) -> str:
    """Whole percents, but those of rare and of nearly certain classes would all be alike."""
    if term.probability_from is None or term.probability_to is None:
        return ""
    ends = (term.probability_from, term.probability_to)
    first, last = (f"{100 * end:.{int(not 0.1 <= end <= 0.9)}f}" for end in ends)
    return f"{first} -> {last}%"


# What a table shows of the fields about a target: the head of the column, and the cell of a term.
_CELLS: dict[str, tuple[str, Callable[[RankedTerm], str]]] = {
    "confidence": ("confidence", lambda term: _percent(term.confidence)),
    "probability_to": ("probability", _show_change),
    "speaks_for": ("class", lambda term: printable(f"{'not ' * term.against}{term.speaks_for}")),
    "effect": ("effect", lambda term: printable(term.effect or "")),
    "mean_target": ("mean target", lambda term: "" if term.mean_target is None else f"{term.mean_target:.4g}"),
}


class RuleTable(Sequence[RankedTerm]):
    """The terms of a model, the most important first.

    A sequence of `RankedTerm`. It prints as a table, is shown as one in notebooks, and `to_frame` returns a data frame.

    Parameters
    ----------
    terms : iterable of RankedTerm
    about : sequence of str, optional
        Fields of the terms that are about the target, as in `Meaning.about`; by default those that a term has.
    told : str, optional
        What is shown of the target where rules hold, as in `Meaning.evidence_head`.
    """

    def __init__(self, terms: Iterable[RankedTerm], about: Sequence[str] | None = None, told: str = "mean target"):
        self._terms, self.told = tuple(terms), told
        self.about = tuple(filter(self._has, _ABOUT.values()) if about is None else about)

    def _has(self, field: str) -> bool:
        """Whether a term has a field."""
        return any(getattr(term, field) is not None for term in self._terms)

    def recurring(
        self, recurrence: Recurrence, choices: Sequence[Choice], n_terms: int, features: Sequence[Feature]
    ) -> "RuleTable":
        """Return the same terms, with how often they come back in lists of some lengths and orders."""
        known = {term: place for place, term in enumerate(recurrence.terms)}
        return self._replace(
            replace(
                row,
                returns=recurrence.estimate(known[row.term], choices, n_terms),
                thresholds=tell_spans(recurrence.spans[known[row.term]], features),
                spans=recurrence.spans[known[row.term]],
            )
            if row.term in known
            else row
            for row in self
        )

    def take(self, places: Iterable[int]) -> "RuleTable":
        """Return some of the terms, in an order of their own."""
        return self._replace(self._terms[place] for place in places)

    def _replace(self, terms: Iterable[RankedTerm]) -> "RuleTable":
        """Return other terms of the same target."""
        return RuleTable(terms, self.about, self.told)

    @overload
    def __getitem__(self, index: int) -> RankedTerm: ...

    @overload
    def __getitem__(self, index: slice) -> "RuleTable": ...

    def __getitem__(self, index: int | slice) -> "RankedTerm | RuleTable":
        if isinstance(index, slice):
            return self._replace(self._terms[index])
        return self._terms[index]

    def __len__(self) -> int:
        return len(self._terms)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns of the table by name: numbers and words only.

        Returns
        -------
        dict of list
            ``rank, kind, rule, coefficient, importance, support`` and ``class, confidence, base_rate,
            probability_from, probability_to`` for classes, or ``mean_target`` for regression (for a quantile it has
            another name), with ``effect`` and ``factor`` for rates. If there are more than two classes, each has a
            ``coefficient of`` and a ``share of``. With `n_resamples` also ``returns, thresholds``.
        """
        names = _COLUMNS | {name: field for name, field in _ABOUT.items() if field in self.about}
        if "mean_target" in names and not self.told.startswith("mean"):  # but a quantile
            names[self.told] = names.pop("mean_target")
        names |= {"returns": "returns", "thresholds": "thresholds"} if self._has("returns") else {}
        columns = {name: [getattr(term, field) for term in self] for name, field in names.items()}
        for label in next((term.coefficients for term in self if term.coefficients), {}):
            columns[f"coefficient of {label}"] = [(term.coefficients or {})[label] for term in self]
            if "confidence" in self.about:
                shares = (term.confidences for term in self)
                columns[f"share of {label}"] = [None if share is None else share[label] for share in shares]
        return columns

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the table as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which kind; None takes the first of them that is installed.
        """
        return make_frame(self.to_dict(), backend)

    def to_cells(self, top: int | None = None) -> dict[str, list[str]]:
        """Return the table as it is shown: short texts by heading.

        Parameters
        ----------
        top : int, optional
            How many terms to show, the most important ones; by default all.
        """
        terms, largest = self._terms[:top], max((term.importance for term in self._terms), default=1.0) or 1.0
        # Files of the first versions know no base rates, where probabilities start.
        about = [field for field in _CELLS if field in self.about and (field != "probability_to" or self._has(field))]
        return {
            "": [str(term.rank) for term in terms],
            "importance": [f"{100 * term.importance / largest:.1f}" for term in terms],
            "coefficient": [f"{term.coefficient:+.4g}" for term in terms],
            "support": [f"{term.support:.1%}" if term.kind == "rule" else "" for term in terms],
            **{self._head(field): list(map(_CELLS[field][1], terms)) for field in about},
            **({COMES_BACK: [_whole_percent(term.returns) for term in terms]} if self.notes else {}),
            "rule": [_show_words(term) for term in terms],
        }

    def _head(self, field: str) -> str:
        """Return the heading of the cells of a field."""
        return self.told if field == "mean_target" else _CELLS[field][0]

    @property
    def notes(self) -> list[str]:
        """Explanations to print below the table: with `n_resamples`, what "comes back" means."""
        return [RECURRENCE_NOTE] if self._has("returns") else []

    def _rows(self) -> tuple[list[str], list[tuple[str, ...]]]:
        """Header and cells for display."""
        cells = self.to_cells(SHOWN_ROWS)
        return list(cells), list(zip(*cells.values(), strict=True))

    def __repr__(self) -> str:
        if not self._terms:
            return "RuleTable: no terms; the model is its intercept alone"
        header, rows = self._rows()
        widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header) - 1)]
        screen = shutil.get_terminal_size((120, 24)).columns
        lines = []
        for *cells, words in [header, *rows]:
            lead = "".join(f"{cell.rjust(width)}  " for cell, width in zip(cells, widths, strict=True))
            lines += hang_below(lead, words, screen)
        return "\n".join([*lines, *(line for words in self._more() for line in textwrap.wrap(words, screen))])

    def _more(self) -> list[str]:
        hidden = len(self) - SHOWN_ROWS
        more = [f"... and {hidden} more; importance is relative to the first"] if hidden > 0 else []
        return more + self.notes

    def _repr_html_(self) -> str:
        header, rows = self._rows()
        body = "".join(html_row(row) for row in rows)
        foot = "".join(f"<p>{html.escape(line)}</p>" for line in self._more())
        return f"<table><thead>{html_row(header, 'th')}</thead><tbody>{body}</tbody></table>{foot}"


def hang_below(lead: str, words: str, width: int) -> list[str]:
    """Return lines of words after a lead, as `hang` does, or below it where there is little room after it."""
    below = width - len(lead) < _LEAST_ROOM
    lines, indent = ([lead.rstrip()], INDENT) if below else ([], " " * len(lead))
    for place, line in enumerate(words.split("\n")):
        lines += hang(indent if below or place else lead, line, width)
    return lines


def hang(lead: str, words: str, width: int, least: int = _LEAST_ROOM) -> list[str]:
    """Return words in lines that fit, the first after a lead and the others below it, indented as far."""
    room = max(width - len(lead), least)
    first, *others = textwrap.wrap(words, room, break_long_words=False, break_on_hyphens=False) or [""]
    return [lead + first, *(" " * len(lead) + line for line in others)]


def html_row(cells: Iterable[str], tag: str = "td") -> str:
    """Return a row of a table in HTML."""
    written = "".join(f'<{tag} style="{_STYLE}">{html.escape(cell)}</{tag}>' for cell in cells)
    return f"<tr>{written}</tr>"
