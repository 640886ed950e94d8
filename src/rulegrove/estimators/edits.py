"""What people changed of a fitted list: who did what and why, and what it cost given the terms."""

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from rulegrove._words import cut, printable
from rulegrove.estimators.figures import show_number, show_share
from rulegrove.estimators.rule_table import html_row

SHOWN_WEIGHTS = 3  # that moved most
UNCHANGED = 1e-6  # of an error: what changes less is rounding
SPENT = (
    "Errors and losses are cross-validated with the terms given. They are a little optimistic, because the list is "
    "edited by looking at them."
)


@dataclass(frozen=True)
class Cost:
    """How well held-out rows are predicted, if the weights but not the terms were found without them.

    Attributes
    ----------
    error, error_se : float
        As in `FrontLine`: the share of wrong classes, the root mean squared error, or the mean deviance of rates; NaN
        if not known.
    loss, loss_se : float
        Likewise the log loss, the mean squared error, or the mean deviance.
    """

    error: float
    error_se: float
    loss: float
    loss_se: float


@dataclass(frozen=True)
class Change:
    """What one edit changes of the error and the loss, row by row, with standard errors of these differences.

    Attributes
    ----------
    error, error_se, loss, loss_se : float
    n_otherwise : int
        Rows that are predicted differently: as another class, as a number that moves by more than a tenth of the
        standard deviation of the target, or as a rate that moves by more than a tenth.
    n_rows : int
        Rows that were counted.
    """

    error: float
    error_se: float
    loss: float
    loss_se: float
    n_otherwise: int
    n_rows: int


@dataclass(frozen=True)
class Move:
    """A weight that an edit has changed.

    Attributes
    ----------
    number : int
        Number of the term.
    output : str
        The class that the weight is for, if there are several; else empty.
    before, after : float
    """

    number: int
    output: str
    before: float
    after: float

    def __str__(self) -> str:
        about = f" for {printable(self.output)}" if self.output else ""
        return f"{self.number}{about} {self.before:+.3g} -> {self.after:+.3g}"


@dataclass(frozen=True)
class Edit:
    """One edit of a session, and what it changed.

    Attributes
    ----------
    step : mapping
        The operation with its arguments, and `note` and `author` if these were given: what a script holds.
    words : str
        What was done, in words.
    time : str
        When, in UTC.
    error_name, loss_name : str
        What is measured, such as "error" and "log loss".
    honest : Cost, optional
        Error and loss of the fitted list on rows from which neither its terms nor its weights were learned, if known.
    before, after : Cost, optional
        Error and loss with the terms given; None in a session without rows. An opening has only `after`, for the fitted
        terms.
    change : Change, optional
    moved : tuple of Move
        The weights that changed most.
    """

    step: Mapping[str, Any]
    words: str
    time: str
    error_name: str
    loss_name: str
    honest: Cost | None = None
    before: Cost | None = None
    after: Cost | None = None
    change: Change | None = None
    moved: tuple[Move, ...] = ()

    @property
    def operation(self) -> str:
        """The name of the operation."""
        return str(self.step["operation"])

    @property
    def note(self) -> str | None:
        """Why it was done, if a reason was given."""
        return self.step.get("note")

    @property
    def author(self) -> str | None:
        """Who did it, if a name was given."""
        return self.step.get("author")

    def _write(self, name: str, value: float) -> str:
        """Return an error or a loss."""
        return show_share(value) if name == "error" and self.error_name == "error" else show_number(value)

    def show(self, name: str) -> str:
        """Return the new "error" or "loss" in words, with the change and its standard error."""
        if self.after is None:
            return ""
        last = self._write(name, getattr(self.after, name))
        if self.before is None or self.change is None:
            return last
        first, moved = getattr(self.before, name), getattr(self.change, name)
        spread = getattr(self.change, f"{name}_se")
        if max(abs(moved), spread) <= UNCHANGED * abs(first):
            return f"{last} (as before)"
        factor, form = (100.0, ".2f") if name == "error" and self.error_name == "error" else (1.0, ".2g")
        return f"{self._write(name, first)} -> {last} ({factor * moved:+{form}} ± {factor * spread:{form}})"

    def _name(self, tell: Callable[[str], str]) -> str:
        """Return errors and losses by their names, once where they are the same."""
        names = {"error": self.error_name, "loss": self.loss_name}
        if self.error_name == self.loss_name:
            del names["error"]
        return "; ".join(f"{own} {tell(name)}" for name, own in names.items())

    @property
    def fitted(self) -> str:
        """How well the fitted list does, in words; empty if not known."""
        if self.honest is None:
            return ""
        return self._name(lambda name: self._write(name, getattr(self.honest, name)))

    @property
    def otherwise(self) -> str:
        """How many rows are predicted differently."""
        return "" if self.change is None else f"{self.change.n_otherwise:,} of {self.change.n_rows:,}"

    def to_cells(self) -> dict[str, str]:
        """Return short texts by heading, with the weights that changed and the note below what was done."""
        why = printable(": ".join(own for own in (self.author, self.note) if own))
        moved = f"weights: {'; '.join(map(str, self.moved[:SHOWN_WEIGHTS]))}" if self.moved else ""
        return {
            self.error_name: self.show("error"),
            **({self.loss_name: self.show("loss")} if self.loss_name != self.error_name else {}),
            "rows otherwise": self.otherwise,
            "done": "\n".join(filter(None, [cut(self.words), moved, why])),
        }

    def __repr__(self) -> str:
        if self.after is None:
            return f"{cut(self.words)}. The session has no rows, so the cost is not known."
        lines = [f"{cut(self.words)}.", f"with the terms given: {self._name(self.show)}"]
        lines += [f"the fitted list on rows that it has not seen: {self.fitted}"] if self.honest else []
        lines += [f"{self.otherwise} rows are predicted differently"] if self.change else []
        lines += [f"weights that moved most: {'; '.join(map(str, self.moved[:SHOWN_WEIGHTS]))}"] if self.moved else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_edits([self])


class Edits(Sequence[Edit]):
    """The log of what was changed: the opening of each session, and its operations.

    A sequence of `Edit`; prints as a table.

    Parameters
    ----------
    edits : iterable of Edit

    Examples
    --------
    >>> edits = Edits([Edit({"operation": "drop", "number": 3}, "Dropped 3: age > 40", "", "error", "log loss")])
    >>> edits[0].operation, len(edits)
    ('drop', 1)
    """

    def __init__(self, edits: Sequence[Edit] = ()) -> None:
        self._edits = tuple(edits)

    @overload
    def __getitem__(self, index: int) -> Edit: ...

    @overload
    def __getitem__(self, index: slice) -> "Edits": ...

    def __getitem__(self, index: int | slice) -> "Edit | Edits":
        return Edits(self._edits[index]) if isinstance(index, slice) else self._edits[index]

    def __len__(self) -> int:
        return len(self._edits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Edits) and self._edits == other._edits

    __hash__ = None  # type: ignore[assignment]

    def to_cells(self) -> dict[str, list[str]]:
        """Return the table as it is shown: short texts by heading; columns that are empty are left out."""
        rows = [edit.to_cells() for edit in self]
        heads = dict.fromkeys(head for row in rows for head in row)
        cells = {head: [row.get(head, "") for row in rows] for head in heads}
        return {"": [str(place) for place in range(len(self))]} | {
            head: texts for head, texts in cells.items() if any(texts)
        }

    @property
    def words(self) -> str:
        """What the figures mean, and those of the fitted list where they are known."""
        known = dict.fromkeys(edit.fitted for edit in self._edits if edit.fitted)
        honest = "".join(f" The fitted list on rows that it has not seen: {own}." for own in known)
        return f"{SPENT}{honest}"

    def __repr__(self) -> str:
        if not self._edits:
            return "Edits: none"
        return "\n".join([*(f"{place}  {edit!r}" for place, edit in enumerate(self)), SPENT])

    def _repr_html_(self) -> str:
        return html_edits(self._edits)


def html_edits(edits: Sequence[Edit]) -> str:
    """Return edits as a table in HTML."""
    log = Edits(edits)
    cells = log.to_cells()
    if len(edits) == 1:
        del cells[""]
    rows = "".join(map(html_row, zip(*cells.values(), strict=True)))
    return f"<table><thead>{html_row(cells, 'th')}</thead><tbody>{rows}</tbody></table><p>{html.escape(log.words)}</p>"
