"""What rows that did not choose the rules say about each of them: estimates, tests, and what they establish."""

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._frames import Backend, make_frame
from rulegrove._reprs import short_repr
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove._words import cut, printable
from rulegrove.estimators.rule_table import RankedTerm, html_row

OF_FIT = "the rows of the fit"
ESTABLISHED, SUGGESTION = "established", "suggestion"
ESTIMATED = ("support", "confidence", "mean_target", "lift", "coefficient")
TESTED = ("p_value", "adjusted_p_value", "p_value_given_others", "adjusted_p_value_given_others")


@dataclass(frozen=True, eq=False)
class Estimates:
    """An estimate for each rule, with intervals.

    Attributes
    ----------
    values : ndarray of shape (n_rules,)
        The estimates; NaN if there are no rows to tell.
    low, high : ndarray of shape (n_rules,)
        Ends of the intervals, each for one rule alone; as wide as possible if there are no rows to tell.
    low_all, high_all : ndarray of shape (n_rules,), optional
        Ends of wider intervals, which hold for all rules at the same time.
    """

    values: FloatArray
    low: FloatArray
    high: FloatArray
    low_all: FloatArray | None = None
    high_all: FloatArray | None = None

    __repr__ = short_repr

    def to_columns(self, name: str) -> dict[str, FloatArray]:
        """Return the columns of a data frame."""
        ends = {"low": self.low, "high": self.high, "low_all": self.low_all, "high_all": self.high_all}
        return {name: self.values, **{f"{name}_{end}": own for end, own in ends.items() if own is not None}}


@dataclass(frozen=True, eq=False)
class RuleEvidence:
    """What some rows say about each rule: how often it holds, what is true where it does, and what this establishes.

    Every rule makes a claim, which was fixed before anyone looked at these rows: where it holds, its class is more
    frequent than among all rows (or less frequent, if the rule speaks against it), or the number is larger on average
    (or smaller, if the coefficient is negative). The marginal test compares this claim with the base rate. The test
    given the others asks whether the rule's population coefficient has that sign beside all other terms of the list.
    Both tests are one-sided.

    Attributes
    ----------
    rules : tuple of RankedTerm
        The rules of the model, in rank order; linear terms are left out.
    level : float
        Level of the intervals.
    false_discovery_rate : float
        Upper limit of the expected share of false claims among those that are established.
    n_rows : int
        Number of rows.
    n_held : ndarray of shape (n_rules,)
        Number of rows on which each rule holds.
    support : Estimates
        Share of the rows on which a rule holds.
    coefficient : Estimates
        Coefficient of each rule in the best model of all terms of the list on these rows: by least squares for numbers,
        by the log loss of its class for classes (log odds). Intervals are infinite if the rows do not tell.
    p_value : ndarray of shape (n_rules,)
        How often chance alone, at the base rate, would support the claim as well.
    p_value_given_others : ndarray of shape (n_rules,)
        How often chance would do so if the rule's population coefficient were zero beside the other terms of the list.
        This holds whether or not the list is right.
    adjusted_p_value, adjusted_p_value_given_others : ndarray of shape (n_rules,)
        The smallest false discovery rates at which each claim is established, valid however the rules overlap.
    exact : bool
        Whether the marginal tests are exact, as they are for classes on rows of equal weight. All others are
        approximate.
    n_given_others : int
        Number of rows used by the tests given the others; with very many rows, fewer than `n_rows`.
    weighted_by : str
        Which rows grew the rules, chose among them and set their weights.
    n_lines : int
        Number of linear terms of the list, which are not tested.
    confidence : Estimates or None
        Share of the class the rule speaks for (of all others, for one that speaks against its class) where it holds;
        None in regression.
    base_rate : ndarray of shape (n_rules,) or None
        Share of the same class among all rows; None in regression.
    lift : Estimates or None
        Confidence over the base rate: 1 says nothing; None in regression.
    mean_target : Estimates or None
        Mean target where the rule holds; None for classes.
    """

    rules: tuple[RankedTerm, ...]
    level: float
    false_discovery_rate: float
    n_rows: int
    n_held: IntArray
    support: Estimates
    coefficient: Estimates
    p_value: FloatArray
    p_value_given_others: FloatArray
    adjusted_p_value: FloatArray
    adjusted_p_value_given_others: FloatArray
    exact: bool
    n_given_others: int
    weighted_by: str = OF_FIT
    n_lines: int = 0
    confidence: Estimates | None = None
    base_rate: FloatArray | None = None
    lift: Estimates | None = None
    mean_target: Estimates | None = None

    @property
    def established(self) -> BoolArray:
        """Which rules are established against the base rate, at the false discovery rate."""
        return self.adjusted_p_value <= self.false_discovery_rate

    @property
    def established_given_others(self) -> BoolArray:
        """Which rules are established given the other terms of the list, at the false discovery rate."""
        return self.adjusted_p_value_given_others <= self.false_discovery_rate

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a data frame with a row for each rule: training figures, estimates with intervals, and tests.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which kind of data frame; None takes the first of them that is installed.
        """
        return make_frame(self.to_dict(), backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the columns of the data frame by name."""
        columns: dict[str, Any] = {
            "rank": [rule.rank for rule in self.rules],
            "rule": [rule.text for rule in self.rules],
            "n_held": self.n_held,
        }
        if self.confidence is not None:
            columns["class"] = [f"{'not ' * rule.against}{rule.speaks_for}" for rule in self.rules]
        for name in ESTIMATED:
            estimates: Estimates | None = getattr(self, name)
            if estimates is None:
                continue
            if name != "lift":
                columns[f"{name}_in_training"] = np.array([getattr(rule, name) for rule in self.rules], dtype=float)
            columns |= estimates.to_columns(name)
            if name == "confidence":
                columns["base_rate"] = self.base_rate
        columns |= {name: getattr(self, name) for name in TESTED}
        return {
            **columns,
            "established": self.established,
            "established_given_others": self.established_given_others,
        }

    @property
    def verdicts(self) -> tuple[str, ...]:
        """For each rule "established", "established given the others" (but not alone), or "suggestion"."""
        pairs = zip(self.established.tolist(), self.established_given_others.tolist(), strict=True)
        return tuple(
            ESTABLISHED if alone else f"{ESTABLISHED} given the others" if beside else SUGGESTION
            for alone, beside in pairs
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is established, what is only suggested, and on which rows, in sentences."""
        chosen = f"Rules and weights come from {self.weighted_by}."
        if not self.rules:
            return ("The list has no rule to test.", *self._tell_lines(), chosen)
        rate = f"false discovery rate {100.0 * self.false_discovery_rate:.3g} %"
        verdicts = np.array(self.verdicts)
        return (
            f"Established on {self.n_rows:,} rows that did not choose them: {self._name(self.established)} ({rate}).",
            f"Beyond what the other terms of the list say: {self._name(self.established_given_others)} ({rate}).",
            f"Suggestions only: {self._name(verdicts == SUGGESTION)}.",
            *self._tell_lines(),
            chosen,
            self._tell_exactness(),
        )

    def _name(self, chosen: BoolArray) -> str:
        """Name some rules by their ranks."""
        ranks = [str(rule.rank) for rule, here in zip(self.rules, chosen, strict=True) if here]
        if not ranks:
            return "none"
        return f"rule{'s' * (len(ranks) > 1)} {', '.join(ranks)}"

    def _tell_lines(self) -> tuple[str, ...]:
        """Say that linear terms are not tested, where there are some."""
        if not self.n_lines:
            return ()
        return (f"Linear terms are not tested: the list has {self.n_lines}.",)

    def _tell_exactness(self) -> str:
        """Say which tests are exact."""
        given = f"on {self.n_given_others:,} of the rows " if self.n_given_others < self.n_rows else ""
        first = "exact" if self.exact else "approximate"
        return f"Tests against the base rate are {first}, those given the other terms {given}approximate."

    def to_text(self) -> str:
        """Return the sentences, and a table with a line for each rule."""
        return "\n".join([*self.sentences, *show_cells(self.to_cells())])

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.sentences)
        if not self.rules:
            return told
        header, *rows = zip(*([head, *texts] for head, texts in self.to_cells().items()), strict=True)
        body = "".join(map(html_row, rows))
        return f"{told}<table><thead>{html_row(header, 'th')}</thead><tbody>{body}</tbody></table>"

    def to_cells(self) -> dict[str, list[str]]:
        """Return the rules as they are shown: short texts by heading."""
        if not self.rules:
            return {}
        level = f"{100.0 * self.level:.3g} % for all"
        return {
            "": [str(rule.rank) for rule in self.rules],
            "verdict": list(self.verdicts),
            "rows": [f"{n:,}" for n in self.n_held],
            **self._show_target(level),
            "p": [f"{p:.2g}" for p in self.p_value],
            "given others": [f"{p:.2g}" for p in self.p_value_given_others],
            "rule": [cut(rule.text) for rule in self.rules],
        }

    def _show_target(self, level: str) -> dict[str, list[str]]:
        """Return what came true where rules hold, with intervals for all of them at once."""
        if self.mean_target is not None:
            return {"mean target": _show(self.mean_target, ".4g"), level: _show_ends(self.mean_target, ".4g")}
        assert self.confidence is not None
        assert self.base_rate is not None
        return {
            "confidence": _show(self.confidence, ".1%"),
            level: _show_ends(self.confidence, ".1%"),
            "base rate": [f"{share:.1%}" for share in self.base_rate],
            "class": [printable(f"{'not ' * rule.against}{rule.speaks_for}") for rule in self.rules],
        }


def _show(estimates: Estimates, form: str) -> list[str]:
    """Return estimates as short texts; empty where no row tells."""
    return ["" if value != value else format(value, form) for value in estimates.values.tolist()]


def _show_ends(estimates: Estimates, form: str) -> list[str]:
    """Return intervals for all rules at once as short texts."""
    assert estimates.low_all is not None
    assert estimates.high_all is not None
    pairs = zip(estimates.low_all.tolist(), estimates.high_all.tolist(), strict=True)
    return [f"{low:{form}} to {high:{form}}" for low, high in pairs]


def show_cells(cells: dict[str, list[str]]) -> list[str]:
    """Return short texts by heading as lines of a table."""
    columns = [[head, *texts] for head, texts in cells.items()]
    widths = [max(map(len, column)) for column in columns]
    rows = zip(*columns, strict=True)
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
