"""A fitted model: ranked terms, their coefficients, the intercept, and nothing of training."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._threads import run_tasks
from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove.columns import Feature, list_sources
from rulegrove.design.terms import Linear, Term
from rulegrove.estimators.calibration import ClassLink
from rulegrove.rules.rule import Alias, Rule

if TYPE_CHECKING:
    from rulegrove.columns import Columns
    from rulegrove.design.bits import BitMatrix, RuleProgram

BLOCK_ROWS = 16384  # rows scored at once: values and bits of a block stay in cache


@dataclass(frozen=True)
class RuleModel:
    """``F(x) = intercept + sum of coefs[k] * terms[k](x)``, for one output or several.

    Attributes
    ----------
    features : tuple of Feature
        The attributes a table must have.
    terms : tuple of Rule or Linear
        In the order of their rank.
    coefs : ndarray of shape (n_terms,) or (n_outputs, n_terms)
        Per unit of each term: of a rule's 0 or 1, or of a linear term's attribute.
    intercept : float or ndarray of shape (n_outputs,)
    columns : tuple of str, optional
        Columns of the training table, if these are not exactly the columns of the attributes.
    classes : ndarray of shape (n_classes,), optional
        Labels of the classes; None for a number.
    link : Temperature or Curves, optional
        What turns scores into probabilities of the classes.
    inverse : callable, optional
        What turns scores into predicted numbers, such as `numpy.exp`; None if they are the same.
    outputs : tuple of str or of float
        Names of several numbers, or levels of several quantiles; none for a single number, and for classes.
    """

    features: tuple[Feature, ...]
    terms: tuple[Term, ...]
    coefs: FloatArray
    intercept: float | FloatArray
    columns: tuple[str, ...] | None = None
    classes: AnyArray | None = None
    link: ClassLink | None = None
    inverse: Callable[[FloatArray], FloatArray] | None = None
    outputs: tuple[Any, ...] = ()
    _rule_places: IntArray = field(init=False, repr=False)
    _linear_places: IntArray = field(init=False, repr=False)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        is_rule = np.array([isinstance(term, Rule) for term in self.terms], dtype=bool)
        object.__setattr__(self, "_rule_places", np.flatnonzero(is_rule))
        object.__setattr__(self, "_linear_places", np.flatnonzero(~is_rule))

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the training table."""
        return list_sources(self.features) if self.columns is None else self.columns

    @property
    def labels(self) -> tuple[Any, ...]:
        """Labels of the classes as plain values; none for a number."""
        return () if self.classes is None else tuple(self.classes.tolist())

    @property
    def score_labels(self) -> tuple[Any, ...]:
        """What each score is about: a class (the second of two), a level or a name; None for a single number."""
        labels = self.labels or self.outputs or (None,)
        return labels[1:] if len(self.labels) == 2 else labels

    @property
    def score_words(self) -> tuple[str | None, ...]:
        """The same in words."""
        if self.outputs:
            return tuple(map(show_output, self.outputs))
        return tuple(None if label is None else str(label) for label in self.score_labels)

    def name_results(self, result: str) -> list[str]:
        """Return the names of columns in a table, of a result that has one for each class, number or level."""
        if self.labels:
            return [f"{result} of {label}" for label in self.labels]
        return [f"{result} {'of' if isinstance(own, str) else 'at'} {own}" for own in self.outputs]

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of several numbers that are predicted; empty for other targets."""
        return tuple(own for own in self.outputs if isinstance(own, str))

    @property
    def main_output(self) -> int:
        """Position of the output that is shown if none is chosen: the middle quantile, or the first output."""
        return len(self.outputs) // 2 if self.outputs and isinstance(self.outputs[0], float) else 0

    @property
    def multiplies(self) -> bool:
        """Whether terms multiply what is predicted, because scores are logarithms of it."""
        return self.inverse is not None

    @cached_property
    def used_names(self) -> tuple[str, ...]:
        """Columns that the terms need, in the order of the attributes."""
        used = sorted({feature for term in self.terms for feature in term.features})
        return list_sources(self.features[feature] for feature in used)

    @cached_property
    def _program(self) -> "RuleProgram":
        """The rules, compiled; who only reads them does without the kernels."""
        from rulegrove.design.bits import compile_rules

        return compile_rules([term for term in self.terms if isinstance(term, Rule)], len(self.features))

    @cached_property
    def _lines(self) -> tuple[IntArray, FloatArray]:
        """Attributes of the linear terms; their lower and upper bounds and fills, a block of shape (3, n_linear, 1)."""
        lines = [term for term in self.terms if isinstance(term, Linear)]
        bounds = np.array([(line.lower, line.upper, line.fill) for line in lines], dtype=np.float64)
        return np.array([line.feature for line in lines], dtype=np.int64), np.ascontiguousarray(bounds.T[:, :, None])

    def _bits(self, columns: "Columns", rows: slice | IntArray) -> "BitMatrix":
        return self._program.evaluate(columns.take(rows, self._program.used_features))

    def _linear_values(self, columns: "Columns", rows: slice | IntArray) -> FloatArray:
        """`Linear.values` of all linear terms at once, an ndarray of shape (n_linear, n_rows)."""
        features, (lower, upper, fill) = self._lines
        values = columns.take(rows, features)
        np.clip(values, lower, upper, out=values)
        np.copyto(values, fill, where=np.isnan(values))
        return values

    def score_rows(self, columns: "Columns", rows: slice | IntArray) -> FloatArray:
        """Score some rows: rules, then linear terms, each in rank order, so that a sum never depends on other rows."""
        n_rows = len(range(*rows.indices(columns.n_rows))) if isinstance(rows, slice) else len(rows)
        coefs = np.atleast_2d(self.coefs)
        scores = np.empty((len(coefs), n_rows))
        scores.T[:] = self.intercept
        if self._rule_places.size:
            scores += self._bits(columns, rows).dot(coefs[:, self._rule_places])
        if self._linear_places.size:
            own_parts = coefs.T[self._linear_places, :, None]
            for own, values in zip(own_parts, self._linear_values(columns, rows), strict=True):
                scores += own * values
        return scores.T if self.coefs.ndim == 2 else scores[0]

    def score(self, columns: "Columns", n_threads: int = 1) -> FloatArray:
        """Return the score F of every row, ndarray of shape (n_rows,) or (n_rows, n_outputs)."""
        blocks = _blocks(columns.n_rows)
        parts = run_tasks(lambda block: self.score_rows(columns, block), blocks, n_threads)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def probabilities(self, scores: FloatArray) -> FloatArray | None:
        """Return the probability of each class from scores, ndarray of shape (n_rows, n_classes); None for a number."""
        return None if self.link is None else self.link.probabilities(scores)

    def follow_terms(self, shares: FloatArray) -> FloatArray:
        """Return what each term does to the probabilities of the classes, from a start at which they are `shares`.

        Where a rule holds, its coefficients move the scores of the start. A linear term moves them from one end of its
        line to the other, and the start is where the attribute has its mean.

        Parameters
        ----------
        shares : ndarray of shape (n_classes,)
            Such as the base rates.

        Returns
        -------
        ndarray of shape (2, n_terms, n_classes)
            Without and with a rule; at the lower and at the upper end of a line.

        Examples
        --------
        >>> from rulegrove.estimators.calibration import Temperature
        >>> from rulegrove.rules.rule import Condition
        >>> rule, line = Rule((Condition(0, upper=3.0),)), Linear(0, 2.0, 6.0, 4.0)
        >>> model = RuleModel((Feature("a"),), (rule, line), np.array([1.0, -0.5]), 0.0, link=Temperature(1.0))
        >>> model.follow_terms(np.array([0.7, 0.3]))[..., 1].round(3)
        array([[0.3  , 0.538],
               [0.538, 0.136]])
        """
        assert self.link is not None
        rule, terms, coefs = (0.0, 1.0, 0.0), self.terms, np.atleast_2d(self.coefs)
        values = [rule if isinstance(term, Rule) else (term.lower, term.upper, term.fill) for term in terms]
        first, last, middle = np.array(values, dtype=np.float64).reshape(len(terms), 3).T[:, :, None] * coefs.T
        start = self.link.find_scores(np.clip(shares, 0.0, 1.0))  # shares are sums, and as such may be rounded
        scores = (start + np.array([first - middle, last - middle])).reshape(2 * len(terms), len(coefs))
        found = self.link.probabilities(scores if len(coefs) > 1 else scores[:, 0])
        return found.reshape(2, len(terms), len(shares))

    def decide(self, scores: FloatArray) -> AnyArray:
        """Return what scores predict: the class with the largest score, or a number."""
        if self.classes is not None:
            return np.asarray(self.classes[choose_classes(scores)])
        return scores if self.inverse is None else self.inverse(scores)

    def values(self, columns: "Columns") -> FloatArray:
        """Every term on every row, ndarray of shape (n_rows, n_terms), in rank order."""
        values = np.empty((columns.n_rows, len(self.terms)))
        for rows in _blocks(columns.n_rows):
            if self._rule_places.size:
                values[rows, self._rule_places] = self._bits(columns, rows).to_dense()
            if self._linear_places.size:
                values[rows, self._linear_places] = self._linear_values(columns, rows).T
        return values


@dataclass(frozen=True)
class Fitted:
    """A model and what the training rows say about its terms, in rank order.

    Attributes
    ----------
    model : RuleModel
    importances : ndarray of shape (n_terms,)
        ``|coefficient|`` times the standard deviation of the term, summed over the outputs.
    supports : ndarray of shape (n_terms,)
        Mean of the term in design units: of a rule the weighted share of rows on which it holds.
    mean_targets : ndarray of shape (n_terms,)
        Mean of the (first) output that a rule speaks about where it holds; means nothing for a linear term.
    aliases : tuple of tuple of Alias
    output_means : ndarray of shape (n_outputs,)
        Mean of each output over all training rows.
    class_shares : mapping from Rule to ndarray of shape (n_classes,), optional
        Share of each class where a rule holds, where it is known without the rows.
    """

    model: RuleModel
    importances: FloatArray
    supports: FloatArray
    mean_targets: FloatArray
    aliases: tuple[tuple[Alias, ...], ...]
    output_means: FloatArray
    class_shares: Mapping[Rule, FloatArray] | None = None

    __repr__ = short_repr


def show_output(output: str | float) -> str:
    """Return the name of a number, or the level of a quantile in words.

    Examples
    --------
    >>> show_output(0.5), show_output(0.9), show_output("height")
    ('median', '90 % quantile', 'height')
    """
    if isinstance(output, str):
        return output
    return "median" if output == 0.5 else f"{100 * output:.6g} % quantile"


def exponentiate(scores: FloatArray) -> FloatArray:
    """Return exponentials: of scores that are logarithms; one that is too large is infinite."""
    with np.errstate(over="ignore"):
        return np.exp(scores)


def choose_classes(scores: FloatArray) -> IntArray:
    """Return the place of the class of the largest score; of two classes the scores are those of the second."""
    return np.argmax(scores, axis=1) if scores.ndim == 2 else (scores > 0).astype(np.int64)


def _blocks(n_rows: int) -> list[slice]:
    """Rows in blocks that fit the cache."""
    return [slice(start, min(start + BLOCK_ROWS, n_rows)) for start in range(0, n_rows, BLOCK_ROWS)]
