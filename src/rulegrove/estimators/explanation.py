"""What each term added to each prediction."""

import html
import operator
import shutil
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove._words import cut, printable
from rulegrove.columns import Columns, Feature
from rulegrove.estimators.model import RuleModel, exponentiate, show_output
from rulegrove.estimators.rule_table import RankedTerm, RuleTable, hang, html_row
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule

SHOWN_TERMS = 10
NEW_CATEGORY = "a category that was not in the training rows"


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
        The predicted class or number; a list of several numbers.
    label : object
        The class that a positive score speaks for: the second of two, else the one you asked about. For several numbers
        or quantiles, the name or level that the parts are about. None for a single number.
    probability : float or None
        Probability of the predicted class; None in regression.
    values : dict
        The value of the row for each attribute that its terms use, those of the largest parts first: a number, a
        category, or None if it is missing.
    names : dict
        Names of these attributes by their positions.
    outputs : tuple of str or of float
        Names of several numbers, or levels of several quantiles; none otherwise.
    multiplies : bool
        Whether the score is a logarithm of what is predicted, so that the exponential of a part multiplies it.
    """

    score: float
    intercept: float
    terms: tuple[RankedTerm, ...]
    parts: FloatArray
    prediction: Any
    label: Any = None
    probability: float | None = None
    values: dict[str, Any] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict, repr=False)
    outputs: tuple[Any, ...] = ()
    multiplies: bool = False

    @property
    def sentences(self) -> list[str]:
        """A sentence for each term, with what it added."""
        about = "" if self.about is None else f" for {printable(self.about)}"
        return [
            f"{self.show_part(part)}{about}. {term.sentence}"
            for part, term in zip(self.parts.tolist(), self.terms, strict=True)
        ]

    @property
    def about(self) -> str | None:
        """What the parts are about, in words: a class, a number or a quantile."""
        if self.label is None:
            return None
        if not self.outputs:
            return str(self.label)
        return f"the {show_output(self.label)}" if isinstance(self.label, float) else self.label

    def show_part(self, part: float) -> str:
        """Return what a part does to the prediction, in words: what it adds, or what it multiplies by."""
        return f"x {float(exponentiate(np.array(part))):.4g}" if self.multiplies else f"{part:+.4g}"

    @property
    def _start(self) -> str:
        """What the prediction is without any part, in words."""
        return f"{float(exponentiate(np.array(self.intercept))):.4g}" if self.multiplies else f"{self.intercept:+.4g}"

    def _headline(self) -> str:
        if self.outputs:
            numbers = ", ".join(
                f"{value:.4g} ({show_output(own)})" for own, value in zip(self.outputs, self.prediction, strict=True)
            )
            return printable(f"Predicted {numbers}; for {self.about} the parts are")
        if self.label is None:
            return f"Predicted {self.prediction:.4g}"
        likely = "" if self.probability is None else f" with probability {self.probability:.3g}"
        return printable(f"Predicted {self.prediction}{likely}; score {self.score:+.4g} for {self.label}")

    def _rows(self, top: int) -> list[tuple[str, str]]:
        """Parts and words for display."""
        shown = list(zip(self.parts, self.terms, strict=True))[:top]
        rows = [(self.show_part(part), cut(term.text)) for part, term in shown]
        hidden = self.parts[top:]
        more = [(self.show_part(hidden.sum()), f"and {hidden.size} smaller part{'s' * (hidden.size > 1)}")]
        return [*rows, *(more if hidden.size else []), (self._start, "intercept")]

    def values_of(self, term: RankedTerm) -> dict[str, Any]:
        """Return the values of the row for the attributes of one of its terms, by name."""
        names = [self.names[feature] for feature in term.term.features if feature in self.names]
        return {name: self.values[name] for name in names}

    def _row_values(self, top: int) -> str:
        """Tell what the row has for the attributes of the terms that are shown."""
        shown = {name: value for term in self.terms[:top] for name, value in self.values_of(term).items()}
        return ", ".join(f"{printable(name)} {show_value(value)}" for name, value in shown.items())

    def to_text(self, top: int = SHOWN_TERMS) -> str:
        """Return the prediction, the values behind it and the largest parts in words.

        Parameters
        ----------
        top : int, default=10
            Number of parts to list; the others are added up in one line.

        Returns
        -------
        str
        """
        rows, values = self._rows(top), self._row_values(top)
        width = max(len(part) for part, _ in rows)
        screen = shutil.get_terminal_size((120, 24)).columns
        lines = [self._headline(), *(hang("", f"Values: {values}", screen) if values else [])]
        for part, words in rows:
            lines += hang(f"{part.rjust(width)}  ", words, screen)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        body = "".join(html_row(row) for row in self._rows(SHOWN_TERMS))
        values = self._row_values(SHOWN_TERMS)
        told = f"<p>Values: {html.escape(values)}</p>" if values else ""
        return f"<p>{html.escape(self._headline())}</p>{told}<table><tbody>{body}</tbody></table>"


def show_value(value: Any) -> str:
    """Return a value of an attribute in words."""
    if value is None:
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else printable(str(value))


def _read_value(feature: Feature, number: float) -> Any:
    """Return what a row has for an attribute: a number, a category, a day; None where it is missing."""
    if np.isnan(number):
        return None
    if feature.part == "date":
        return str(np.datetime64(int(number), "D"))
    if feature.categories is None:
        return float(number)
    code = int(number)
    if code < len(feature.categories):
        return feature.categories[code]
    return "any other" if feature.pooled else NEW_CATEGORY


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What each term added to the score of each row.

    ``explanation[i]`` explains row ``i`` in words. The model adds up the rules first, then the intercept, then the
    linear terms, each in the order of `rules`; in that order the parts give `scores`, and `decision_function` or the
    regressor's `predict`, to the last bit. ``parts.sum(-1) + intercept`` adds in another order and may differ by
    rounding.

    Attributes
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        The scores; with several classes, numbers or quantiles one for each.
    predictions : list of length n_rows
        The predictions, as plain values.
    intercept : float or ndarray of shape (n_outputs,)
    parts : ndarray of shape (n_rows, n_terms) or (n_rows, n_outputs, n_terms)
        Coefficient times term; zero for a rule that does not hold.
    rules : RuleTable
        The terms, in the order of the last axis of `parts`.
    classes : tuple or None
        Labels of the classes; None in regression.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        The probabilities, as in `predict_proba`; None if there are no classes.
    features : dict of int to Feature
        The attributes that terms use, by position.
    values : ndarray of shape (n_rows, n_used)
        Their values in the rows: numbers, or codes of categories; NaN if missing.
    outputs : tuple of str or of float
        Names of several numbers, or levels of several quantiles; none otherwise.
    main_output : int
        Position of the output that is explained if you do not choose one.
    multiplies : bool
        Whether scores are logarithms of what is predicted.
    """

    scores: FloatArray
    predictions: list[Any]
    intercept: float | FloatArray
    parts: FloatArray
    rules: RuleTable
    classes: tuple[Any, ...] | None = None
    probabilities: FloatArray | None = None
    features: dict[int, Feature] = field(default_factory=dict)
    values: FloatArray | None = None
    outputs: tuple[Any, ...] = ()
    main_output: int = 0
    multiplies: bool = False

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
            With more than two classes, the class whose score to explain; None takes the predicted one. With several
            numbers, a name, and with several quantiles, a level; None takes the first number or the middle quantile.

        Returns
        -------
        RowExplanation
        """
        place = operator.index(index)
        scores, intercepts = np.atleast_1d(self.scores[place]), np.atleast_1d(self.intercept)
        parts = np.atleast_2d(self.parts[place])
        if label is not None:
            output = self._output(label)
        else:
            output = self.main_output if self.outputs else int(np.argmax(scores))
        fired = np.flatnonzero(parts[output])
        fired = fired[np.argsort(-np.abs(parts[output, fired]), kind="stable")]
        terms = tuple(self.rules[int(k)] for k in fired)
        labels = self.classes or self.outputs
        chosen = int(np.argmax(scores)) if len(scores) > 1 else int(scores[0] > 0)
        return RowExplanation(
            score=float(scores[output]),
            intercept=float(intercepts[output]),
            terms=terms,
            parts=parts[output, fired],
            prediction=self.predictions[place],
            label=labels[output if len(scores) > 1 else 1] if labels else None,
            probability=None if self.probabilities is None else float(self.probabilities[place, chosen]),
            values=self._values(place, terms),
            names={k: feature.name for k, feature in self.features.items()},
            outputs=self.outputs,
            multiplies=self.multiplies,
        )

    def _values(self, place: int, terms: tuple[RankedTerm, ...]) -> dict[str, Any]:
        """Return what a row has for the attributes of some terms."""
        if self.values is None:
            return {}
        numbers = dict(zip(self.features, self.values[place], strict=True))
        used = dict.fromkeys(feature for term in terms for feature in term.term.features)
        return {self.features[k].name: _read_value(self.features[k], numbers[k]) for k in used}

    def _output(self, label: Any) -> int:
        labels = self.classes or self.outputs
        if not labels or self.scores.ndim == 1:
            raise InvalidInputError(
                f"`label`={label!r} needs a model with more than two classes; this one has a single score. Leave "
                "`label` out."
            )
        if label not in labels:
            raise InvalidInputError(f"`label` must be one of {list(labels)}; got {label!r}.")
        return labels.index(label)

    def __repr__(self) -> str:
        return f"Explanation of {len(self)} rows by {len(self.rules)} terms; explanation[0] is that of the first row"


def explain_rows(model: RuleModel, columns: Columns, rules: RuleTable) -> Explanation:
    """Take the scores of rows apart."""
    parts = model.values(columns)[:, None, :] * np.atleast_2d(model.coefs) + 0.0  # no -0 where a rule does not hold
    is_rule = [isinstance(term, Rule) for term in model.terms]
    sums = np.zeros(parts.shape[:2])
    for place in np.flatnonzero(is_rule):
        sums += parts[..., place]
    scores = np.atleast_1d(model.intercept) + sums
    for place in np.flatnonzero(np.logical_not(is_rule)):
        scores += parts[..., place]
    if model.coefs.ndim == 1:
        scores, parts = scores[:, 0], parts[:, 0]
    used = sorted({feature for term in model.terms for feature in term.features})
    values = columns.take(slice(None), np.array(used, dtype=np.int64)).T
    features = {k: columns.features[k] for k in used}
    labels, probabilities = model.labels or None, model.probabilities(scores)
    predictions = model.decide(scores).tolist()
    return Explanation(
        scores,
        predictions,
        model.intercept,
        parts,
        rules,
        labels,
        probabilities,
        features,
        values,
        outputs=model.outputs,
        main_output=model.main_output,
        multiplies=model.multiplies,
    )
