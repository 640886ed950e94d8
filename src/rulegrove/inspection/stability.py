"""Which rules and attributes come back when a model is fitted to other rows, or with another seed."""

import functools
import itertools
import math
import textwrap
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from sklearn.base import clone

from rulegrove._frames import Backend, make_frame
from rulegrove._progress import Progress
from rulegrove._reprs import short_repr
from rulegrove._typing import AnyArray, BoolArray, FloatArray, IntArray
from rulegrove._words import printable
from rulegrove.columns import Feature, as_table, count_rows
from rulegrove.design.bits import BitMatrix
from rulegrove.design.terms import Term
from rulegrove.estimators._base import BaseRuleEnsemble, fit_chosen
from rulegrove.estimators._observed import read_observed
from rulegrove.estimators._training import make_rng, split_halves
from rulegrove.estimators.recurrence import find_spans, tell_spans
from rulegrove.estimators.rule_table import RankedTerm
from rulegrove.estimators.steady import find_alike
from rulegrove.estimators.target import Target
from rulegrove.exceptions import DroppedColumnWarning, InvalidInputError
from rulegrove.inspection._sample import Sample, check_model, read_sample
from rulegrove.rules.rule import Rule
from rulegrove.survival import read_survival

SHOWN_ROWS = 15
WIDTH = 120  # of a printed report
TENTHS = np.arange(1, 10) / 10


def jaccard(one: AbstractSet[Hashable], other: AbstractSet[Hashable]) -> float:
    """Return how far two sets agree: what both have over what either has; two empty sets agree.

    Examples
    --------
    >>> jaccard({"a", "b"}, {"b", "c"})
    0.3333333333333333
    """
    return len(one & other) / len(one | other) if one or other else 1.0


def compare_coverage(alike: BoolArray) -> float:
    """Return how far two lists agree, as many of their terms as can be being paired one to one with ones alike."""
    paired = int(np.count_nonzero(maximum_bipartite_matching(csr_array(alike)) >= 0)) if alike.size else 0
    return paired / (sum(alike.shape) - paired) if any(alike.shape) else 1.0


@dataclass(frozen=True, slots=True)
class StableRule:
    """A family of rules that hold on nearly the same rows, represented by the one found most often.

    Attributes
    ----------
    text : str
        The representative in words, thresholds exact.
    frequency : float
        Share of the fits with exactly this rule, or with a linear term of the attribute.
    family_frequency : float
        Share of the fits with any rule of the family.
    n_rules : int
        Different rules in the family.
    importance : float
        Share of a model's importance that the family has, the mean over all fits.
    thresholds : str
        Where the thresholds of the representative lie in nine of ten fits that have the family, in words; empty for a
        linear term, and where few fits have it.
    """

    text: str
    frequency: float
    family_frequency: float
    n_rules: int
    importance: float
    thresholds: str = ""

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class StabilityReport:
    """How often rules and attributes come back.

    Attributes
    ----------
    rules : tuple of StableRule
        Families of terms, those found most often first.
    names : tuple of str
        Names of the attributes.
    attribute_frequencies : ndarray of shape (n_features,)
        Share of the fits whose model uses the attribute.
    attribute_importances : ndarray of shape (n_features,)
        Mean of ``feature_importances_``.
    rule_jaccard, decile_jaccard, family_jaccard, attribute_jaccard : float
        Agreement of two fits, what both have over what either has, as a mean over pairs: of terms by their exact words,
        by deciles and by coverage, as many as can be being paired one to one; and of attributes. The pairs are
        complementary halves, or all pairs of seeds.
    n_terms : float
        Mean number of terms.
    n_repeats : int
    vary : {"halves", "seeds"}
    """

    rules: tuple[StableRule, ...]
    names: tuple[str, ...]
    attribute_frequencies: FloatArray
    attribute_importances: FloatArray
    rule_jaccard: float
    decile_jaccard: float
    family_jaccard: float
    attribute_jaccard: float
    n_terms: float
    n_repeats: int
    vary: str

    def to_frame(self, of: Literal["rules", "attributes"] = "rules", backend: Backend | None = None) -> Any:
        """Return the rules or the attributes as a data frame, those found most often first.

        Parameters
        ----------
        of : {"rules", "attributes"}, default="rules"
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which kind of data frame; None takes the first of them that is installed.
        """
        if of == "rules":
            columns: dict[str, Any] = {
                "family_frequency": [rule.family_frequency for rule in self.rules],
                "frequency": [rule.frequency for rule in self.rules],
                "importance": [rule.importance for rule in self.rules],
                "n_rules": [rule.n_rules for rule in self.rules],
                "rule": [rule.text for rule in self.rules],
                "thresholds": [rule.thresholds for rule in self.rules],
            }
            return make_frame(columns, backend)
        if of != "attributes":
            raise InvalidInputError(f"`of` must be 'rules' or 'attributes'; got {of!r}.")
        order = self._attribute_order()
        columns = {
            "attribute": [self.names[place] for place in order],
            "frequency": self.attribute_frequencies[order],
            "importance": self.attribute_importances[order],
        }
        return make_frame(columns, backend)

    def _attribute_order(self) -> IntArray:
        return np.lexsort((-self.attribute_importances, -self.attribute_frequencies))

    def __repr__(self) -> str:
        what = "disjoint halves of the rows" if self.vary == "halves" else "seeds"
        lines = [
            f"{self.n_repeats} fits on {what}, {self.n_terms:.0f} terms on average",
            f"Two of them share {self.rule_jaccard:.0%} of their terms word for word, {self.decile_jaccard:.0%} up to "
            f"the decile of a threshold, {self.family_jaccard:.0%} up to",
            f"nearly the same rows (families), and {self.attribute_jaccard:.0%} of their attributes",
            "",
            "family    rule  importance  rules  rule (its thresholds in nine of ten fits)",
        ]
        for rule in self.rules[:SHOWN_ROWS]:
            start = f"{rule.family_frequency:6.0%}  {rule.frequency:6.0%}  {rule.importance:10.1%}  {rule.n_rules:5d}  "
            told = rule.n_rules > 1 and rule.thresholds
            words = [rule.text, *([f"({printable(rule.thresholds)})"] if told else [])]
            for lead, own in zip((start, " " * len(start)), words, strict=False):
                lines.append(lead + textwrap.shorten(own, WIDTH - len(lead), placeholder=" ..."))
        lines += [f"... and {len(self.rules) - SHOWN_ROWS} more families"] if len(self.rules) > SHOWN_ROWS else []
        lines += ["", "  fits  importance  attribute"]
        order = self._attribute_order()
        for place in order[:SHOWN_ROWS]:
            found, weight = self.attribute_frequencies[place], self.attribute_importances[place]
            lines.append(f"{found:6.0%}  {weight:10.1%}  {self.names[place]}")
        lines += [f"... and {order.size - SHOWN_ROWS} more attributes"] if order.size > SHOWN_ROWS else []
        return "\n".join(lines)


def stability_report(
    model: Any,
    X: Any,
    y: Any,
    *,
    vary: Literal["halves", "seeds"] = "halves",
    n_repeats: int = 10,
    sample_weight: Any = None,
    exposure: Any = None,
    offset: Any = None,
    random_state: Any = None,
) -> StabilityReport:
    """Fit a model again and again and count what comes back.

    Rules are compared in three ways: by their exact words; by deciles, each threshold told by its attribute, its side
    and the decile of all rows it is in; and by coverage: of the rows on which either of two rules holds, both hold on
    at least 80 %. Those are a family. Categories are compared as sets, linear terms by their attributes.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        With the settings to look at, fitted or not; it is not changed.
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Or what else `fit` takes: several columns, survival times.
    vary : {"halves", "seeds"}, default="halves"
        What changes from fit to fit. "halves": the rows, each fit on a half of them, in complementary pairs that share
        no row. "seeds": the seed alone.
    n_repeats : int, default=10
        Fits, at least two, for halves an even number.
    sample_weight : array-like of shape (n_samples,), optional
        Rules are compared on the rows of a positive weight, each counting once.
    exposure, offset : array-like of shape (n_samples,), optional
        As in `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves and of the seeds.

    Returns
    -------
    StabilityReport

    References
    ----------
    Meinshausen, Buhlmann (2010). "Stability selection". Journal of the Royal Statistical Society B 72(4).
    Shah, Samworth (2013). "Variable selection with error control: another look at stability selection". Journal of the
    Royal Statistical Society B 75(1).

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.inspection import stability_report
    >>> X, y = load("breast-w", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=60, terms="rules", honest_cv=False, n_jobs=1)
    >>> report = stability_report(model, X, y, n_repeats=4, random_state=0)
    >>> report.rule_jaccard <= report.decile_jaccard < report.family_jaccard
    True
    >>> report.to_frame("attributes").shape
    (9, 3)
    """
    check_model(model, "stability_report", fitted=False)
    if vary not in ("halves", "seeds"):
        raise InvalidInputError(f"`vary` must be 'halves' or 'seeds'; got {vary!r}.")
    if n_repeats < 2 or (vary == "halves" and n_repeats % 2):
        raise InvalidInputError(f"`n_repeats` must be at least 2, and even for halves; got {n_repeats}.")
    table = as_table(X)
    target = model.read_parameters(y)[1]
    y, sample_weight = read_observed(target, y, count_rows(table), sample_weight, exposure, offset)
    fits = _fit_all(model, table, y, sample_weight, vary, n_repeats, make_rng(random_state))
    terms = _gather_terms(fits, [read_sample(fit, table, sample_weight) for fit in fits])
    rules = [_describe(family, terms, n_repeats) for family in _find_families(terms)]
    names, names_of = fits[0].model_.names, [set(fit.model_.used_names) for fit in fits]
    own = [np.flatnonzero(terms.fits == fit) for fit in range(n_repeats)]
    each = range(n_repeats)
    pairs = list(zip(each[::2], each[1::2], strict=True) if vary == "halves" else itertools.combinations(each, 2))

    def agree(sets: Sequence[AbstractSet[Any]]) -> float:
        return float(np.mean([jaccard(sets[one], sets[other]) for one, other in pairs]))

    return StabilityReport(
        rules=tuple(sorted(rules, key=lambda rule: (-rule.family_frequency, -rule.importance, rule.text))),
        names=names,
        attribute_frequencies=np.mean([[name in used for name in names] for used in names_of], axis=0),
        attribute_importances=np.mean([fit.feature_importances_ for fit in fits], axis=0),
        rule_jaccard=agree([set(terms.words[places].tolist()) for places in own]),
        decile_jaccard=agree([set(terms.deciles[places].tolist()) for places in own]),
        family_jaccard=float(np.mean([compare_coverage(terms.alike[np.ix_(own[a], own[b])]) for a, b in pairs])),
        attribute_jaccard=agree(names_of),
        n_terms=float(np.mean([len(fit.rules_) for fit in fits])),
        n_repeats=n_repeats,
        vary=vary,
    )


def _find_keys(target: Target, y: Any, n_rows: int) -> AnyArray:
    """Return numbers by which rows are alike: places of classes, values, times with the event to go by first."""
    if target.timed:
        return read_survival(y, n_rows).to_columns()
    if target.values == "numbers":
        return target.check(y, n_rows)
    return np.unique(np.asarray(y), return_inverse=True)[1].reshape(-1)


def _fit_all(
    model: BaseRuleEnsemble,
    table: Any,
    y: Any,
    given: FloatArray | None,
    vary: str,
    n_repeats: int,
    rng: np.random.Generator,
) -> list[BaseRuleEnsemble]:
    """Fit copies of the model, each with a seed of its own; rows of the other half have weight zero."""
    n_rows = count_rows(table)
    keys = _find_keys(model.read_parameters(y)[1], y, n_rows)
    weights = np.ones(n_rows) if given is None else given
    fits: list[BaseRuleEnsemble] = []
    progress = Progress(model.verbose).stage("Refitting")
    while len(fits) < n_repeats:
        parts = split_halves(keys, np.flatnonzero(weights), rng) if vary == "halves" else (np.arange(n_rows),)
        for rows in parts:
            own = np.zeros(n_rows)
            own[rows] = weights[rows]
            copy = clone(model).set_params(random_state=int(rng.integers(2**31)), verbose=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DroppedColumnWarning)
                fits.append(fit_chosen(copy, table, y, own))
            progress(len(fits), n_repeats)
    progress.close()
    return fits


@dataclass(frozen=True, eq=False)
class _Terms:
    """The terms of all fits, one after the other."""

    ranked: list[RankedTerm]
    fits: IntArray  # (n_terms,): which fit each term is of
    # words, deciles (n_terms,): numbers that are equal for terms of the same words, and of the same deciles.
    words: IntArray
    deciles: IntArray
    alike: BoolArray  # (n_terms, n_terms): which terms hold on nearly the same rows
    shares: FloatArray  # (n_terms,): share of the importance of its model
    features: tuple[Feature, ...]

    def count_fits(self, places: IntArray) -> int:
        """In how many fits some of the terms are."""
        return np.unique(self.fits[places]).size


def _gather_terms(fits: Sequence[BaseRuleEnsemble], samples: Sequence[Sample]) -> _Terms:
    """Compare the terms of all fits on the rows that count."""
    weights = samples[0].weights
    rows = slice(None) if weights is None else np.flatnonzero(weights)

    @functools.cache
    def tenths(feature: int) -> FloatArray:
        values = samples[0].attribute(feature)[rows]
        known: FloatArray = values[~np.isnan(values)]
        return np.quantile(known, TENTHS) if known.size else known

    ranked = [term for fit in fits for term in fit.rules_]
    totals = [sum(term.importance for term in fit.rules_) or 1.0 for fit in fits]
    owner = np.repeat(np.arange(len(fits)), [len(fit.rules_) for fit in fits])
    # In words, for fits to rows drawn from a large table may each number categories in another way.
    words = _number(term.text if term.kind == "rule" else term.term.features for term in ranked)
    deciles = _number(tell_deciles(term.term, fit.model_.features, tenths) for fit in fits for term in fit.rules_)
    alike, places = words[:, None] == words, np.flatnonzero([term.kind == "rule" for term in ranked])
    bits = [_evaluate(sample, rows) for sample in samples]
    alike[np.ix_(places, places)] |= find_alike(BitMatrix(np.concatenate([own.words for own in bits]), bits[0].n_rows))
    shares = np.array([term.importance / totals[fit] for term, fit in zip(ranked, owner, strict=True)])
    return _Terms(ranked, owner, words, deciles, alike, shares, fits[0].model_.features)


def _evaluate(sample: Sample, rows: IntArray | slice) -> BitMatrix:
    """Find where the rules of a fit hold."""
    program = sample.compile([rule for _, rule in sample.rules])
    return program.evaluate(sample.columns.take(rows, program.used_features))


def tell_deciles(term: Term, features: Sequence[Feature], tenths: Callable[[int], FloatArray]) -> tuple[Any, ...]:
    """Return what is the same for rules of the same attributes, sides and deciles, and for lines of one attribute."""
    if not isinstance(term, Rule):
        return term.features

    def place(feature: int, bound: float) -> float:
        return float(np.searchsorted(tenths(feature), bound)) if math.isfinite(bound) else bound

    return tuple(
        own.text(features[own.feature])
        if own.categories is not None
        else replace(own, lower=place(own.feature, own.lower), upper=place(own.feature, own.upper))
        for own in term.conditions
    )


def _number(names: Iterable[Hashable]) -> IntArray:
    """Return a number for each name, equal for equal ones."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def _find_families(terms: _Terms) -> list[IntArray]:
    """Gather terms around the rules of the most fits, then the shortest: each joins the first one it is like.

    The positions of a family's terms begin with those that are the representative.
    """

    def rank(own: IntArray) -> tuple[int, int, str]:
        first = terms.ranked[own[0]]
        return -terms.count_fits(own), len(first.term.features), first.text

    taken = np.zeros(len(terms.words), dtype=bool)
    families = []
    for own in sorted((np.flatnonzero(terms.words == name) for name in np.unique(terms.words)), key=rank):
        if not taken[own[0]]:
            close = ~taken & terms.alike[own[0]]
            taken |= close
            families.append(np.concatenate([own, np.setdiff1d(np.flatnonzero(close), own)]))
    return families


def _describe(family: IntArray, terms: _Terms, n_repeats: int) -> StableRule:
    """Tell how often a family and its representative were found, and where its thresholds were."""
    words, first = terms.words[family], terms.ranked[family[0]].term
    of_each_fit = family[np.unique(terms.fits[family], return_index=True)[1]]  # the representative where a fit has it
    found = [rule for place in of_each_fit if isinstance(rule := terms.ranked[place].term, Rule)]
    return StableRule(
        text=terms.ranked[family[0]].text,
        frequency=terms.count_fits(family[words == words[0]]) / n_repeats,
        family_frequency=terms.count_fits(family) / n_repeats,
        n_rules=len(set(words.tolist())),
        importance=float(terms.shares[family].sum() / n_repeats),
        thresholds=tell_spans(find_spans(first, found), terms.features) if isinstance(first, Rule) else "",
    )
