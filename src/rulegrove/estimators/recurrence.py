"""How often the terms of lists come back in lists from other rows, and how far their thresholds move."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove._words import printable
from rulegrove.columns import Feature
from rulegrove.design.terms import Term
from rulegrove.estimators.model import RuleModel
from rulegrove.rules.rule import Rule, write_value

BAND = (0.05, 0.95)  # quantiles that nine of ten lie between
WITHIN, WIDER = 0.9, 1.4  # quantile of the differences of two lists, and what bands have of it
LEAST_SPANNED = 5  # lists that have a rule's family: fewer do not say where its bounds lie
NEVER = 10_000  # beyond the length of any list
# What lists from halves of the rows say of lists from as many fresh rows: they share rows with the list in question,
# so that its terms come back too often, the more so the fewer rows there are for each term, and they are made from
# fewer rows, so that terms come back too rarely, those of steady lists above all. In log odds; learned on many other
# tables (`python -m benchmarks.recurrence learn`), and judged on the ten sets.
SHIFT, SLOPE, BY_ROWS, IF_STEADY = -1.8, 0.69, 0.26, 0.6

BY_GAIN, LINES_FIRST, WHOLE = 0, 1, 2  # orders in which terms enter lists, and the large model


class Choice(NamedTuple):
    """Which list there is: its length and the order of its terms."""

    length: int
    order: int


@dataclass(frozen=True, eq=False)
class Draws:
    """What other held-out rows say of the lines of a front, which would choose other lines.

    Attributes
    ----------
    losses : ndarray of shape (n_draws, n_lines)
    first : ndarray of shape (n_draws, n_lines), bool
        Which lines begin with linear terms there.
    """

    losses: FloatArray
    first: BoolArray

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class Remade:
    """A list from other rows.

    Attributes
    ----------
    model : RuleModel
    importances, supports : ndarray of shape (n_terms,)
        As in `Fitted`.
    """

    model: RuleModel
    importances: FloatArray
    supports: FloatArray

    __repr__ = short_repr


def find_band(
    own: FloatArray, others: FloatArray, bounds: tuple[float, float] = (-math.inf, math.inf)
) -> tuple[FloatArray, FloatArray]:
    """Return between what nine of ten lists from other rows lie, about what a list says.

    Lists from disjoint halves of the rows share none, so that the difference between the two tells how far lists from
    different rows differ. Halves themselves lie nearer to each other than fresh rows would, for their ridges and
    lengths have been chosen on all rows, which `WIDER` makes up for (docs/insight.md has how often bands hold).

    Parameters
    ----------
    own : ndarray
        What the list says.
    others : ndarray of shape (n_lists, ...)
        What lists from other rows say, those of disjoint halves behind each other; at least two.
    bounds : (float, float)
        The least and the most that they can say.

    Examples
    --------
    >>> low, high = find_band(np.array([5.0]), np.array([[4.0], [6.0], [7.0], [5.0]]))
    >>> low.round(2), high.round(2)
    (array([2.2]), array([7.8]))
    """
    pairs = others[: len(others) // 2 * 2]
    spread = WIDER * np.quantile(np.abs(pairs[::2] - pairs[1::2]), WITHIN, axis=0)
    return np.clip(own - spread, *bounds), np.clip(own + spread, *bounds)


class Span(NamedTuple):
    """Where a bound of a rule lies in nine of ten lists that contain its family.

    Attributes
    ----------
    feature : int
        Position of the attribute.
    is_lower : bool
        Whether it is a lower bound.
    low, high : float
    """

    feature: int
    is_lower: bool
    low: float
    high: float

    def text(self, features: Sequence[Feature]) -> str:
        """Return the span in words.

        Examples
        --------
        >>> Span(0, True, 108.0, 128.0).text([Feature("glucose")])
        'glucose > 108 to 128'
        """
        feature = features[self.feature]
        low, high = (write_value(bound, feature, digits=4) for bound in (self.low, self.high))
        bound = low if low == high else f"{low} to {high}"
        return f"{printable(feature.name)} {'>' if self.is_lower else '<='} {bound}"


@dataclass(frozen=True, eq=False)
class Recurrence:
    """How often the terms of a front come back in further lists, which were made from halves of the rows.

    A term comes back in another list if its family is there: a rule that holds on nearly the same rows (Jaccard index
    at least 0.8), or a linear term with the same attribute.

    Attributes
    ----------
    n_resamples : int
        Number of further lists, in pairs from disjoint halves of the rows, each with newly grown rules.
    n_rows : int
        Rows of each.
    steady : bool
        Whether they were made with `stable`.
    terms : tuple of Term
        Terms of all lists of the front, and of the large model if that was chosen.
    entries : ndarray of shape (n_orders, n_terms, n_resamples)
        The lengths from which on lists have the family of a term, rising, in the order of gain and with linear terms
        first; `NEVER` if they have not. If the large model was chosen, it is the third order.
    draws : Draws
    spans : tuple of tuple of Span
        Where the bounds of each term lie.
    lists : tuple of Remade
        The further lists; the two of disjoint halves follow each other.
    chosen : int
        The line of the front that was chosen as they were.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> X, y = load("breast-w")
    >>> model = RuleEnsembleClassifier(n_candidates=200, n_resamples=10, random_state=0).fit(X, y)
    >>> model.front_.recurrence.n_resamples
    10
    >>> all(0.0 <= row.returns <= 1.0 for row in model.rules_)
    True
    """

    n_resamples: int
    n_rows: int
    steady: bool
    terms: tuple[Term, ...]
    entries: IntArray
    draws: Draws
    spans: tuple[tuple[Span, ...], ...]
    lists: tuple[Remade, ...]
    chosen: int

    __repr__ = short_repr

    def share(self, place: int, choices: Sequence[Choice]) -> float:
        """Return the share of lists that contain the family of a term.

        Parameters
        ----------
        place : int
            Of the term.
        choices : sequence of Choice
            All are as likely.
        """
        return float(np.mean([np.mean(self.entries[order, place] <= length) for length, order in choices]))

    def estimate(self, place: int, choices: Sequence[Choice], n_terms: int) -> float:
        """Return the chance that a list from as many new rows contains the family of a term.

        Parameters
        ----------
        place : int
            Of the term.
        choices : sequence of Choice
            As in `share`.
        n_terms : int
            Of an output of the list in question.
        """
        share = (self.share(place, choices) * self.n_resamples + 0.5) / (self.n_resamples + 1.0)
        return estimate_chance(share, 2 * self.n_rows / n_terms, steady=self.steady)


def estimate_chance(share: float, rows_a_term: float, *, steady: bool = False) -> float:
    """Return the chance that a list from as many fresh rows has a term which this share of lists from halves has.

    Parameters
    ----------
    share : float
        Neither 0 nor 1.
    rows_a_term : float
        Rows for each term of an output of the list.
    steady : bool
        Whether lists are made to come back.

    Examples
    --------
    >>> estimate_chance(0.9, 100.0) > estimate_chance(0.9, 5.0) > estimate_chance(0.5, 5.0)
    True
    """
    odds = SLOPE * math.log(share / (1.0 - share)) + BY_ROWS * math.log(rows_a_term)
    return 1.0 / (1.0 + math.exp(-(SHIFT + IF_STEADY * steady + odds)))


def tell_spans(spans: Sequence[Span], features: Sequence[Feature]) -> str:
    """Return in words where the bounds of a term lie; those of truth values have nowhere to move."""
    return " and ".join(span.text(features) for span in spans if not features[span.feature].boolean)


def find_spans(rule: Rule, found: Sequence[Rule]) -> tuple[Span, ...]:
    """Return where the bounds of a rule lie in rules of its family, one from each list; nothing if these are few.

    Examples
    --------
    >>> from rulegrove.rules.rule import Condition
    >>> rules = [Rule((Condition(0, lower=float(bound)),)) for bound in range(101)]
    >>> find_spans(rules[50], rules)
    (Span(feature=0, is_lower=True, low=5.0, high=95.0),)
    """
    spans = []
    for condition in rule.conditions:
        for is_lower, bound in ((True, condition.lower), (False, condition.upper)):
            others = [
                own.lower if is_lower else own.upper
                for other in found
                for own in other.conditions
                if own.feature == condition.feature
            ]
            others = [other for other in others if math.isfinite(other)]
            if math.isfinite(bound) and len(others) >= LEAST_SPANNED:
                low, high = np.quantile(others, BAND)
                spans.append(Span(condition.feature, is_lower, float(low), float(high)))
    return tuple(spans)
