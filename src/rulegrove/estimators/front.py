"""The front: models of every length from one fit, and what each of them costs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from rulegrove._frames import Backend, make_frame
from rulegrove._reprs import short_repr
from rulegrove._typing import FloatArray
from rulegrove.estimators.calibration import Link
from rulegrove.estimators.figures import Figures
from rulegrove.estimators.meaning import Meaning
from rulegrove.estimators.model import Fitted
from rulegrove.estimators.recurrence import BY_GAIN, LINES_FIRST, NEVER, WHOLE, Choice, Draws, Recurrence, Remade
from rulegrove.estimators.rule_table import RuleTable, html_row
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule

LONGEST = 60  # terms of a list: nobody reads more, and the large model itself comes next
# What a shorter list may lose of the deviance that the best one explains: a table of a million rows tells a thousand
# rules from nine hundred, which nobody needs to know.
TOLERANCE = 0.01
# Where a number caps the list, a shorter one does if it says what the longest one says, all but so much of it, and is
# no worse. The loss alone would choose by chance: small differences of it are noise.
UNFAITHFUL = 0.03


@dataclass(frozen=True, eq=False)
class FrontLine:
    """One length of the front: a list, with its figures on held-out rows.

    For tables of more than 65,536 rows, errors, losses and fidelity are computed on all held-out rows, in one more pass
    over the table, and `held_out` on 10,000 of them, drawn at random. For smaller tables both are computed on the same
    rows, at most 10,000.

    Attributes
    ----------
    fitted : Fitted
        The model of this length, with what the training rows say about its terms.
    link : Temperature or Curves, optional
        What turns scores into probabilities, fitted to held-out scores.
    error, error_se : float
        Error on held-out rows and its standard error: the share of wrong classes, or for numbers the root mean squared
        error. NaN if no rows were held out.
    loss, loss_se : float
        Likewise the log loss of classes, or the mean squared error of numbers. Numbers that are too large to be
        squared, such as 1e200, are first divided by a power of two.
    excess_se : float
        Standard error of the difference between this loss and that of the best list, row by row.
    fidelity : float
        How closely the list follows the large model on held-out rows: one minus the mean squared difference of their
        probabilities (or numbers), divided by the variance of those of the large model.
    held_out : Figures, optional
        All figures on held-out rows, at most 10,000.
    """

    fitted: Fitted
    link: Link | None = None
    error: float = np.nan
    error_se: float = np.nan
    loss: float = np.nan
    loss_se: float = np.nan
    excess_se: float = np.nan
    fidelity: float = np.nan
    held_out: Figures | None = None

    __repr__ = short_repr

    @property
    def terms(self) -> int:
        """Largest number of terms for one class (or number, or quantile)."""
        coefs = np.atleast_2d(self.fitted.model.coefs)
        return int(np.count_nonzero(coefs, axis=1).max(initial=0))

    @property
    def rules(self) -> int:
        """Number of different terms in all: what there is to read."""
        return len(self.fitted.model.terms)

    @property
    def conditions(self) -> float:
        """Mean number of conditions of a term; a linear term counts as one."""
        counts = [len(term.conditions) if isinstance(term, Rule) else 1 for term in self.fitted.model.terms]
        return float(np.mean(counts)) if counts else 0.0

    @property
    def active(self) -> float:
        """Mean number of rules that hold on a row."""
        supports = zip(self.fitted.model.terms, self.fitted.supports, strict=True)
        return float(sum(support for term, support in supports if isinstance(term, Rule)))


class Front(Sequence[FrontLine]):
    """Lists of every length from one fit, the shortest first and the large model last.

    A sequence of `FrontLine`. It prints as a table, and `to_frame` returns a data frame.

    Parameters
    ----------
    lines : iterable of FrontLine
    meaning : Meaning
        What the terms of a list say, and what `FrontLine.loss` is.
    base_loss : float
        Loss of a model without terms.
    chosen : int
        Position of the line that the model is.
    recurrence : Recurrence, optional
        How often the terms of lists come back in lists from other rows.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> X, y = load("pima")
    >>> model = RuleEnsembleClassifier(n_candidates=100, random_state=0).fit(X, y)
    >>> list(model.front_.to_dict())
    ['terms', 'rules', 'conditions', 'active', 'fidelity', 'error', 'error_se', 'log_loss', 'log_loss_se']
    >>> model.front_[model.front_.chosen].rules == len(model.rules_)
    True
    """

    def __init__(
        self,
        lines: Iterable[FrontLine],
        *,
        meaning: Meaning,
        base_loss: float,
        chosen: int = -1,
        recurrence: Recurrence | None = None,
    ) -> None:
        self._lines = tuple(lines)
        self.meaning, self.base_loss = meaning, base_loss
        self.chosen = chosen % len(self._lines)
        self.recurrence = recurrence

    @overload
    def __getitem__(self, index: int) -> FrontLine: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[FrontLine, ...]: ...

    def __getitem__(self, index: int | slice) -> FrontLine | tuple[FrontLine, ...]:
        return self._lines[index]

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def loss_name(self) -> str:
        """What `loss` is, such as "log_loss": the name of its column."""
        return self.meaning.loss_name

    def list_rules(self, index: int, limits: tuple[int | str | None, int | None] | None = None) -> RuleTable:
        """Return the terms of one line, ranked and in words, with how often they come back if that is known.

        Parameters
        ----------
        index : int
            Position of the line.
        limits : (int, "auto" or None, int or None), optional
            The `max_terms` and `max_rules` by which the line was chosen. With the same limits, other rows would choose
            lists of other lengths. By default lists from other rows have the length of the line.
        """
        line, known = self._lines[index], self.recurrence
        rules = self.meaning.rank(line.fitted)
        if known is None or (line.terms > LONGEST and (index != known.chosen or len(known.entries) <= WHOLE)):
            return rules
        choices = self.draw(known.draws, index, limits)
        return rules.recurring(known, choices, line.terms, line.fitted.model.features)

    def draw(self, draws: Draws, index: int, limits: tuple[int | str | None, int | None] | None = None) -> list[Choice]:
        """Return the lists that other rows would choose instead of a line, as in `list_rules`."""
        if self._lines[index].terms > LONGEST:
            return [Choice(NEVER - 1, WHOLE)]  # all its terms, of which other rows may lead to more
        lines = [index if limits is None else self._choose(losses, *limits) for losses in draws.losses]
        return [
            Choice(self._lines[own].terms, LINES_FIRST if first[own] else BY_GAIN)
            for own, first in zip(lines, draws.first, strict=True)
        ]

    @property
    def remade(self) -> tuple[Remade, ...]:
        """Lists from other rows, chosen as the chosen line was; none if these are not known."""
        known = self.recurrence
        return () if known is None or known.chosen != self.chosen else known.lists

    def choosing(self, chosen: int) -> "Front":
        """Return the same front with another line chosen."""
        return self._change(chosen=chosen)

    def recurring(self, recurrence: Recurrence) -> "Front":
        """Return the same front with what lists from other rows say of its terms."""
        return self._change(recurrence=recurrence)

    def _change(self, **own: Any) -> "Front":
        names = ("meaning", "base_loss", "chosen", "recurrence")
        return Front(self._lines, **({name: getattr(self, name) for name in names} | own))

    def choose(self, max_terms: int | str | None, max_rules: int | None = None) -> int:
        """Return the position of the shortest list that is good enough.

        Parameters
        ----------
        max_terms : int, "auto" or None
            Largest number of terms per class. None sets no limit; without `max_rules` that is the large model. "auto"
            takes the shortest list whose held-out loss exceeds that of the best list by at most one standard error of
            their difference, or by 1 % of what the best one explains, whichever is more; a list has at most 60 terms,
            and the large model is one only if it has no more. A number takes the shortest list whose
            `FrontLine.fidelity` is at least 97 % of that of the longest list allowed, and whose loss is no larger. The
            large model counts as a list unless another list has as many terms.
        max_rules : int, optional
            Largest number of different terms, over all classes together.
        """
        return self._choose(np.array([line.loss for line in self._lines]), max_terms, max_rules)

    def _choose(self, all_losses: FloatArray, max_terms: int | str | None, max_rules: int | None) -> int:
        """Return the line that losses choose."""
        limit = None if isinstance(max_terms, str) else max_terms
        allowed = [
            place
            for place, line in enumerate(self._lines)
            if (limit is None or line.terms <= limit) and (max_rules is None or line.rules <= max_rules)
        ]
        if not allowed:
            least = self._lines[0]
            raise InvalidInputError(
                f"The shortest list has {least.terms} terms for one class and {least.rules} in all, more than "
                f"max_terms={max_terms} and max_rules={max_rules} allow; raise them."
            )
        if limit is not None and len(allowed) > 1 and self._lines[-2].terms == self._lines[-1].terms:
            allowed = [place for place in allowed if place < len(self._lines) - 1]
        if (max_terms is None and max_rules is None) or np.isnan(self.base_loss):
            return allowed[-1]
        if max_terms == "auto":
            allowed = [place for place in allowed if self._lines[place].terms <= LONGEST] or allowed
        losses = all_losses[allowed]
        if max_terms != "auto":
            fidelity = np.array([self._lines[place].fidelity for place in allowed])
            alike = fidelity >= (1.0 - UNFAITHFUL) * fidelity[-1]
            return allowed[int(np.argmax(alike & (losses <= losses[-1])))]
        best = int(np.nanargmin(losses))
        slack = TOLERANCE * max(self.base_loss - losses[best], 0.0)
        excess = np.maximum(slack, [self._lines[place].excess_se for place in allowed])
        return allowed[int(np.argmax(losses <= losses[best] + excess))]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of the table by name."""
        loss = self.loss_name
        names = {name: name for name in ("terms", "rules", "conditions", "active", "fidelity", "error", "error_se")}
        names |= {loss: "loss", f"{loss}_se": "loss_se"}
        return {name: [getattr(line, field) for line in self._lines] for name, field in names.items()}

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the front as a data frame, a row for each length.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which kind; None takes the first of them that is installed.
        """
        return make_frame(self.to_dict(), backend)

    def _cells(self) -> list[list[str]]:
        """Return the header and the rows for display, the chosen one marked."""
        header = ["", "terms", "rules", "conditions", "active", "error", self.loss_name.replace("_", " ")]
        rows = [header]
        for place, line in enumerate(self._lines):
            mark = "*" if place == self.chosen else ""
            figures = [_show(line.error, line.error_se), _show(line.loss, line.loss_se)]
            sizes = [str(line.terms), str(line.rules), f"{line.conditions:.1f}", f"{line.active:.1f}"]
            rows.append([mark, *sizes, *figures])
        return rows

    def __repr__(self) -> str:
        rows = self._cells()
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)

    def _repr_html_(self) -> str:
        header, *rows = self._cells()
        body = "".join(html_row(row) for row in rows)
        return f"<table><thead>{html_row(header, 'th')}</thead><tbody>{body}</tbody></table>"


def need_front(front: Front | None, estimator: str) -> Front:
    """Return the front of a model, or say why it has none."""
    if front is None:
        raise InvalidInputError(
            f"This {estimator} has no front of shorter lists, because it comes from a file of an older version, from "
            "`engines.refit`, or from an edit. Fit it again to shorten it, or shorten it before you edit it."
        )
    return front


def settle_length(
    settings: Mapping[str, Any], line: FrontLine, max_terms: int | str | None, found: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings of a fit as they are for a model of another length.

    Parameters
    ----------
    settings : mapping
    line : FrontLine
        The length that was chosen.
    max_terms : int, "auto" or None
        What was asked for.
    found : mapping
        What depends on the line, where rows were held out: each line has a calibration of its own.
    """
    kept = {name: value for name, value in settings.items() if name != "max_terms"}
    own = {} if line.held_out is None else found
    return {**kept, **own, **({"max_terms": line.terms} if max_terms == "auto" else {})}


def _show(value: float, error: float) -> str:
    """Return a figure with its standard error."""
    return "" if np.isnan(value) else f"{value:.4g} ± {error:.2g}"
