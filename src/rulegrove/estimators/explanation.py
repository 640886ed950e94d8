"""What each term added to each prediction."""

import html
import operator
import shutil
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove._words import printable
from rulegrove.columns import Columns
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.rule_table import RankedTerm, RuleTable
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule

SHOWN_TERMS = 20
_STYLE = "text-align:left;vertical-align:top"


@dataclass(frozen=True, eq=False, repr=False)
class RowExplanation:
    """What the terms added to the score of one row.

    Attributes
    ----------
    score : float
        The intercept plus all parts.
    intercept : float
    terms : tuple of RankedTerm
        The rules that hold on the row and the linear terms, the largest part first.
    parts : ndarray of shape (n_fired,)
        What each of them added.
    prediction : object
        The predicted class, or in regression the score.
    label : object
        The class that a positive score speaks for: the second of two, else the one that was asked about. None in
        regression.
    """

    score: float
    intercept: float
    terms: tuple[RankedTerm, ...]
    parts: FloatArray
    prediction: Any
    label: Any = None

    @property
    def sentences(self) -> list[str]:
        """Each part with its term as a sentence."""
        about = "" if self.label is None else f" for {printable(str(self.label))}"
        return [f"{part:+.4g}{about}. {term.sentence}" for part, term in zip(self.parts, self.terms, strict=True)]

    def _headline(self) -> str:
        if self.label is None:
            return f"Predicted {self.prediction:.4g}"
        return printable(f"Predicted {self.prediction}; score {self.score:+.4g} for {self.label}")

    def _rows(self) -> list[tuple[str, str]]:
        """Parts and words for display."""
        shown = list(zip(self.parts, self.terms, strict=True))[:SHOWN_TERMS]
        rows = [(f"{part:+.4g}", term.text) for part, term in shown]
        hidden = self.parts[SHOWN_TERMS:]
        more = [(f"{hidden.sum():+.4g}", f"{hidden.size} more terms")] if hidden.size else []
        return [*rows, *more, (f"{self.intercept:+.4g}", "intercept")]

    def __repr__(self) -> str:
        rows = self._rows()
        width = max(len(part) for part, _ in rows)
        room = max(shutil.get_terminal_size((120, 24)).columns - width - 2, 30)
        lines = [self._headline()]
        for part, words in rows:
            first, *rest = textwrap.wrap(words, room, break_long_words=False, break_on_hyphens=False)
            lines += [f"{part.rjust(width)}  {first}", *(" " * (width + 2) + more for more in rest)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        body = "".join(
            "<tr>" + "".join(f'<td style="{_STYLE}">{html.escape(cell)}</td>' for cell in row) + "</tr>"
            for row in self._rows()
        )
        return f"<p>{html.escape(self._headline())}</p><table><tbody>{body}</tbody></table>"


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What each term added to the score of each row.

    ``explanation[i]`` tells of row ``i`` in words. The model adds up the rules first, then the intercept, then the
    linear terms, each in the order of `rules`; in that order the parts give `scores`, and `decision_function` or the
    regressor's `predict`, to the last bit. ``parts.sum(-1) + intercept`` adds in another order and may differ by
    rounding.

    Attributes
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
    intercept : float or ndarray of shape (n_classes,)
    parts : ndarray of shape (n_rows, n_terms) or (n_rows, n_classes, n_terms)
        Coefficient times term; zero for a rule that does not hold.
    rules : RuleTable
        The terms, in the order of the last axis of `parts`.
    classes : tuple or None
        Labels of a classifier, None for a regressor.
    """

    scores: FloatArray
    intercept: float | FloatArray
    parts: FloatArray
    rules: RuleTable
    classes: tuple[Any, ...] | None = None

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, index: int) -> RowExplanation:
        return self.row(index)

    def row(self, index: int, label: Any = None) -> RowExplanation:
        """Explain one row.

        Parameters
        ----------
        index : int
            Position of the row; negative ones count from the end.
        label : object, optional
            With more than two classes the one to explain the score of; None takes the one that is predicted.

        Returns
        -------
        RowExplanation
        """
        place = operator.index(index)
        scores, intercepts = np.atleast_1d(self.scores[place]), np.atleast_1d(self.intercept)
        parts = np.atleast_2d(self.parts[place])
        output = int(np.argmax(scores)) if label is None else self._output(label)
        fired = np.flatnonzero(parts[output])
        fired = fired[np.argsort(-np.abs(parts[output, fired]), kind="stable")]
        return RowExplanation(
            score=float(scores[output]),
            intercept=float(intercepts[output]),
            terms=tuple(self.rules[int(k)] for k in fired),
            parts=parts[output, fired],
            prediction=self._prediction(scores),
            label=None if self.classes is None else self.classes[output if len(scores) > 1 else 1],
        )

    def _output(self, label: Any) -> int:
        if self.classes is None or self.scores.ndim == 1:
            raise InvalidInputError(f"`label`={label!r} is for more than two classes; this model has a single score.")
        if label not in self.classes:
            raise InvalidInputError(f"`label` must be one of {list(self.classes)}; got {label!r}.")
        return self.classes.index(label)

    def _prediction(self, scores: FloatArray) -> Any:
        if self.classes is None:
            return float(scores[0])
        return self.classes[int(np.argmax(scores)) if len(scores) > 1 else int(scores[0] > 0)]

    def __repr__(self) -> str:
        return f"Explanation of {len(self)} rows by {len(self.rules)} terms; explanation[0] tells of the first row"


def explain_rows(model: RuleModel, columns: Columns, rules: RuleTable, classes: tuple[Any, ...] | None) -> Explanation:
    """Take the scores of rows apart."""
    parts = model.values(columns)[:, None, :] * np.atleast_2d(model.coefs) + 0.0  # no -0 where a rule does not hold
    rule_sums = np.zeros(parts.shape[:2])
    for place, term in enumerate(model.terms):
        if isinstance(term, Rule):
            rule_sums += parts[..., place]
    scores = np.atleast_1d(model.intercept) + rule_sums
    for place, term in enumerate(model.terms):
        if not isinstance(term, Rule):
            scores += parts[..., place]
    if model.coefs.ndim == 1:
        scores, parts = scores[:, 0], parts[:, 0]
    return Explanation(scores, model.intercept, parts, rules, classes)
