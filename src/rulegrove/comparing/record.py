"""What two models share and where they differ, as a record to read; made without what predicts."""

import html
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rulegrove._frames import Backend, make_frame
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove._words import printable
from rulegrove.estimators.figures import Figures
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.rule_table import RankedTerm, hang, html_row
from rulegrove.exceptions import InvalidInputError

WIDTH = 120  # of what is printed
SHOWN_ROWS = 10  # of those that change most
HOWS = {
    "words": "the same words",
    "deciles": "thresholds in the same tenth",
    "rows": "nearly the same rows",
    "a": "only in a",
    "b": "only in b",
}


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two models, as far as its terms go.

    Attributes
    ----------
    estimator : str
        Name of its class.
    model : RuleModel
    ranked : sequence of RankedTerm
    held_out : Figures, optional
    """

    estimator: str
    model: RuleModel
    ranked: Sequence[RankedTerm]
    held_out: Figures | None

    @property
    def words(self) -> list[tuple[Any, ...]]:
        """What is the same for terms of the same words, and for lines of one attribute."""
        return [
            (term.text,) if term.kind == "rule" else (self.model.features[term.term.features[0]].name, "line")
            for term in self.ranked
        ]


@dataclass(frozen=True)
class ComparedTerm:
    """A term of one of the models, or a pair of terms that say the same.

    Attributes
    ----------
    how : {"words", "deciles", "rows", "a", "b"}
        In which sense the two are the same: exact words (or attribute, for linear terms), attribute, side and decile of
        the thresholds, or the rows on which they hold (Jaccard index at least 0.8). Or the only model that has the
        term.
    text_a, text_b : str
        The terms in words; empty if a model has none.
    coefficient_a, coefficient_b : float
        Their coefficients in the score of `about`; 0 if a model has none.
    about : object
        The class (or number, or level) for which the coefficients are largest; None for models with one score.
    """

    how: Literal["words", "deciles", "rows", "a", "b"]
    text_a: str
    text_b: str
    coefficient_a: float
    coefficient_b: float
    about: Any = None


@dataclass(frozen=True)
class Concerned:
    """A rule about rows whose predictions differ more often, or by more, than those of others.

    Attributes
    ----------
    text : str
    n_rows : int
        Rows on which it holds.
    inside, outside : float
        Mean change on the rows where it holds, and on all other rows; for classes, the share that is predicted
        differently.
    """

    text: str
    n_rows: int
    inside: float
    outside: float


@dataclass(frozen=True)
class Errors:
    """The errors of both models on some rows, by one measure.

    Attributes
    ----------
    name : str
    a, b : float
        Means over the rows.
    difference, difference_se : float
        Mean of a minus b over the rows, and its standard error.
    """

    name: str
    a: float
    b: float
    difference: float
    difference_se: float

    @property
    def verdict(self) -> str:
        """Which model is better, if the rows show it."""
        sure = abs(self.difference) > 2.0 * self.difference_se
        return f"{'b' if self.difference > 0.0 else 'a'} is better" if sure else "these rows cannot tell them apart"

    @property
    def apart(self) -> str:
        """The difference with its standard error."""
        return f"{self.difference:+.4g} ± {self.difference_se:.2g}"

    @property
    def words(self) -> str:
        """The figures as a sentence."""
        return f"{self.name}: a {self.a:.4g}, b {self.b:.4g}; a minus b is {self.apart}, so {self.verdict}."


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """What both models predict for some rows.

    Attributes
    ----------
    predicted_a, predicted_b : ndarray of shape (n_rows,) or (n_rows, n_outputs)
    change : ndarray of shape (n_rows,)
        By how much the predictions differ: the largest difference between the probabilities of a class, or the
        difference between the numbers (the mean difference if there are several).
    otherwise : ndarray of shape (n_rows,), bool
        For classes, whether the predicted class differs; for numbers, whether the row is in the tenth with the largest
        changes.
    observed : ndarray, optional
    classes : bool
    concerned : tuple of Concerned
    errors : tuple of Errors
    """

    predicted_a: Any
    predicted_b: Any
    change: FloatArray
    otherwise: BoolArray
    observed: Any
    classes: bool
    concerned: tuple[Concerned, ...]
    errors: tuple[Errors, ...]

    @property
    def order(self) -> IntArray:
        """Positions of the rows, those that change most first."""
        return np.argsort(-self.change, kind="stable")

    @property
    def about_change(self) -> str:
        """By how much predictions differ, in a sentence."""
        n_rows, most = len(self.change), float(self.change.max(initial=0.0))
        if not self.classes:
            return (
                f"Predictions of {n_rows:,} rows differ by {self.change.mean():.4g} on average, and by {most:.4g} at "
                "most."
            )
        n_other = int(np.count_nonzero(self.otherwise))
        return (
            f"{n_other:,} of {n_rows:,} rows ({n_other / max(n_rows, 1):.1%}) are predicted differently; chances "
            f"differ by {self.change.mean():.3f} on average, and by {most:.3f} at most."
        )

    @property
    def measured(self) -> str:
        """What is measured on the rows that change."""
        return "predicted differently" if self.classes else "mean change"

    def show(self, amount: float) -> str:
        """Return how much of some rows changes, in words."""
        return f"{amount:.1%}" if self.classes else f"{amount:.4g}"

    @property
    def sentences(self) -> list[str]:
        """How the predictions differ, in sentences."""
        told = [self.about_change, *(own.words for own in self.errors)]
        for one in self.concerned:
            inside, outside = map(self.show, (one.inside, one.outside))
            told.append(f"Where {one.text} ({one.n_rows:,} rows): {self.measured} {inside}, elsewhere {outside}.")
        return told


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two models beside each other; `rulegrove.compare` makes one.

    Attributes
    ----------
    terms : tuple of ComparedTerm
        Shared terms first, then those of only one model.
    n_a, n_b : int
        Number of terms of each model.
    shared : dict of str to float
        Share of all terms that both models have: by "words", and if there are rows by "deciles" and "rows".
    held_out_a, held_out_b : Figures or None
        How well each did on the rows that were held out of its fit.
    rows : ComparedRows or None
        What both predict for the rows, if there were any.
    """

    terms: tuple[ComparedTerm, ...]
    n_a: int
    n_b: int
    shared: Mapping[str, float]
    held_out_a: Figures | None
    held_out_b: Figures | None
    rows: ComparedRows | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many terms are shared, in which sense, and how many only one model has."""
        return {how: sum(term.how == how for term in self.terms) for how in HOWS}

    @property
    def about_terms(self) -> list[str]:
        """How many terms both models have, in sentences."""
        counts = self.counts
        by_rows = (
            f", {counts['deciles']} more with thresholds in the same tenth of the rows, and {counts['rows']} more on "
            "nearly the same rows"
        )
        told = [
            f"Model a has {self.n_a} terms, model b has {self.n_b}. They share {counts['words']} word for word"
            f"{'' if self.rows is None else by_rows}; only in a: {counts['a']}, only in b: {counts['b']}."
        ]
        if self.rows is None and counts["a"] and counts["b"]:
            told.append("With rows given, you would also see which of these say nearly the same in other words.")
        return told

    @property
    def sentences(self) -> list[str]:
        """Everything except the table of terms, in sentences."""
        told = self.about_terms
        for name, figures in (("a", self.held_out_a), ("b", self.held_out_b)):
            if figures is not None:
                how = "Held out while" if figures.honest else "With its rules given, which is optimistic, while"
                told.append(f"{how} {name} was fitted: {figures.words}.")
        return told + ([] if self.rows is None else self.rows.sentences)

    def to_dict(self, of: Literal["terms", "rows"] = "terms") -> dict[str, list[Any]]:
        """Return the columns of a table by name.

        Parameters
        ----------
        of : {"terms", "rows"}, default="terms"
            The terms of both models, or the rows, those that change most first.
        """
        if of == "terms":
            names = ("how", "coefficient_a", "coefficient_b", "text_a", "text_b")
            columns = {name: [getattr(term, name) for term in self.terms] for name in names}
            about = [term.about for term in self.terms]
            return columns if all(own is None for own in about) else {"about": about, **columns}
        if of != "rows":
            raise InvalidInputError(f"`of` must be 'terms' or 'rows'; got {of!r}.")
        if self.rows is None:
            raise InvalidInputError("No rows were compared; give `X` to `compare`.")
        order, rows = self.rows.order, self.rows
        columns = {"row": order.tolist(), "change": rows.change[order].tolist()}
        parts = {"predicted_a": rows.predicted_a, "predicted_b": rows.predicted_b, "observed": rows.observed}
        known = {name: np.asarray(own)[order] for name, own in parts.items() if own is not None}
        return columns | {name: own.tolist() for name, own in known.items()}

    def to_frame(self, of: Literal["terms", "rows"] = "terms", backend: Backend | None = None) -> Any:
        """Return the terms or the rows as a data frame.

        Parameters
        ----------
        of : {"terms", "rows"}, default="terms"
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which kind; None takes the first of them that is installed.
        """
        return make_frame(self.to_dict(of), backend)

    def to_cells(self) -> dict[str, list[str]]:
        """Return the table of terms as it is shown: short texts by heading."""
        about = {"about": [printable(str(term.about)) for term in self.terms]}
        return {
            "a": [_show(term.coefficient_a, bool(term.text_a)) for term in self.terms],
            "b": [_show(term.coefficient_b, bool(term.text_b)) for term in self.terms],
            **(about if any(term.about is not None for term in self.terms) else {}),
            "shared by": [_tell_how(term) for term in self.terms],
            "rule": [_tell(term) for term in self.terms],
        }

    def row_cells(self) -> dict[str, list[str]]:
        """Return the table of the rows that change most as it is shown; empty without rows."""
        if self.rows is None or not self.rows.change.any():
            return {}
        columns = self.to_dict("rows")
        kept = [place for place in range(min(SHOWN_ROWS, len(columns["row"]))) if columns["change"][place] > 0.0]
        return {name.replace("_", " "): [_show_value(columns[name][place]) for place in kept] for name in columns}

    def __repr__(self) -> str:
        lines = [line for words in self.sentences for line in textwrap.wrap(words, WIDTH, subsequent_indent="  ")]
        if self.terms:
            lines += ["", *_lay_out(self.to_cells())]
        if cells := self.row_cells():
            lines += ["", "Rows that change most:", *_lay_out(cells)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{html.escape(words)}</p>" for words in self.sentences)
        return told + "".join(_draw(cells) for cells in (self.to_cells(), self.row_cells()) if cells)


def pair_terms(
    a: Side, b: Side, keys: Sequence[tuple[Literal["words", "deciles"], Sequence[Any], Sequence[Any]]], alike: BoolArray
) -> tuple[ComparedTerm, ...]:
    """Pair the terms of two models one to one, by the strictest identity first.

    Parameters
    ----------
    a, b : Side
    keys : sequence of (str, sequence, sequence)
        How terms are the same, and what is equal for such terms of each model.
    alike : ndarray of shape (n_terms of a, n_terms of b), bool
        Which terms hold on nearly the same rows.
    """
    left_a, left_b = dict.fromkeys(range(len(a.ranked))), dict.fromkeys(range(len(b.ranked)))
    terms: list[ComparedTerm] = []
    for how, keys_a, keys_b in keys:
        places = {keys_b[place]: place for place in reversed(left_b)}
        for place in list(left_a):
            other = places.pop(keys_a[place], None)
            if other is not None:
                terms.append(_join(how, a, b, place, other))
                del left_a[place], left_b[other]
    for place in list(left_a):
        other = next((other for other in left_b if alike[place, other]), None)
        if other is not None:
            terms.append(_join("rows", a, b, place, other))
            del left_a[place], left_b[other]
    terms += [_join("a", a, b, place, None) for place in left_a]
    return (*terms, *(_join("b", a, b, None, place) for place in left_b))


def _join(how: Any, a: Side, b: Side, place: int | None, other: int | None) -> ComparedTerm:
    """Return a term of either model or of both."""
    (coefs_a, text_a), (coefs_b, text_b) = _tell_side(a, place), _tell_side(b, other)
    output = int(np.argmax(np.abs(coefs_a) + np.abs(coefs_b)))
    labels = a.model.score_labels
    about = labels[output] if len(labels) > 1 else None
    return ComparedTerm(how, text_a, text_b, float(coefs_a[output]), float(coefs_b[output]), about)


def _tell_side(side: Side, place: int | None) -> tuple[FloatArray, str]:
    """Return the coefficients of a term in all outputs, and its words; zeros and none where there is no term."""
    coefs = np.atleast_2d(side.model.coefs)
    return (np.zeros(len(coefs)), "") if place is None else (coefs[:, place], side.ranked[place].text)


def check_sides(a: Side, b: Side) -> None:
    """Refuse models that do not predict the same."""
    if a.estimator != b.estimator:
        raise InvalidInputError(
            f"Only models of the same kind of target can be compared; a is a {a.estimator}, b is a {b.estimator}."
        )
    known = {"classes": (a.model.labels, b.model.labels), "outputs": (a.model.outputs, b.model.outputs)}
    for name, (one, other) in known.items():
        if one != other:
            raise InvalidInputError(
                f"Only models of the same {name} can be compared; a has {_list(one)}, b has {_list(other)}."
            )
    if a.model.multiplies != b.model.multiplies:
        raise InvalidInputError(
            "Only models of the same kind of target can be compared; the terms of one multiply a rate, those of the "
            "other add to a number."
        )


def _list(labels: Sequence[Any]) -> str:
    """Return the first few labels in words."""
    words = ", ".join(printable(str(label)) for label in labels[:5])
    return f"{words or 'one number'}{' and more' if len(labels) > 5 else ''}"


def compare_sides(a: Side, b: Side) -> Comparison:
    """Compare two models by their terms alone; see `rulegrove.compare`."""
    check_sides(a, b)
    nowhere = np.zeros((len(a.ranked), len(b.ranked)), dtype=bool)
    terms = pair_terms(a, b, [("words", a.words, b.words)], nowhere)
    shared = {"words": find_share(a.words, b.words)}
    return Comparison(terms, len(a.ranked), len(b.ranked), shared, a.held_out, b.held_out)


def find_share(one: Sequence[Any], other: Sequence[Any]) -> float:
    """Return how far two lists agree: what both have over what either has; two empty ones agree."""
    both = set(one) | set(other)
    return len(set(one) & set(other)) / len(both) if both else 1.0


def _show(coefficient: float, known: bool) -> str:
    return f"{coefficient:+.4g}" if known else ""


def _show_value(value: Any) -> str:
    """Return a prediction, or several, as it is shown."""
    if isinstance(value, list):
        return ", ".join(map(_show_value, value))
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))


def _tell_how(term: ComparedTerm) -> str:
    """Return how a term is shared in words; lines of one attribute may end elsewhere."""
    return "the same attribute" if term.how == "words" and term.text_a != term.text_b else HOWS[term.how]


def _tell(term: ComparedTerm) -> str:
    """Return a term in words; where those of the two models differ, both."""
    if term.text_a and term.text_b and term.text_a != term.text_b:
        return f"{term.text_a}\n(b: {term.text_b})"
    return term.text_a or term.text_b


def _lay_out(cells: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a table as lines, the last column flush left and broken where there is no room."""
    rows = [tuple(cells), *zip(*cells.values(), strict=True)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(cells) - 1)]
    lines = []
    for *own, last in rows:
        lead = "".join(f"{cell.rjust(width)}  " for cell, width in zip(own, widths, strict=True))
        for place, words in enumerate(last.split("\n")):
            lines += hang(" " * len(lead) if place else lead, words, WIDTH)
    return lines


def _draw(cells: Mapping[str, Sequence[str]]) -> str:
    """Return a table in HTML."""
    body = "".join(html_row(row) for row in zip(*cells.values(), strict=True))
    return f"<table><thead>{html_row(list(cells), 'th')}</thead><tbody>{body}</tbody></table>"
