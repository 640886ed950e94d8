"""Which rules and attributes come back when a model is fitted to other rows, or with another seed."""

import itertools
import textwrap
import warnings
from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from rulegrove._frames import Backend, make_frame
from rulegrove._progress import Progress
from rulegrove._typing import FloatArray, IntArray
from rulegrove._validation import check_weights
from rulegrove.columns import as_table
from rulegrove.design.bits import BitMatrix
from rulegrove.estimators._base import BaseRuleEnsemble, fit_chosen
from rulegrove.estimators._training import make_rng, split_halves
from rulegrove.estimators.rule_table import RankedTerm
from rulegrove.exceptions import DroppedColumnWarning, InvalidInputError
from rulegrove.inspection._sample import check_model, read_sample

SHOWN_ROWS = 15


def jaccard(one: AbstractSet[Hashable], other: AbstractSet[Hashable]) -> float:
    """Return how far two sets agree: what both have over what either has; two empty sets agree.

    Examples
    --------
    >>> jaccard({"a", "b"}, {"b", "c"})
    0.3333333333333333
    """
    return len(one & other) / len(one | other) if one or other else 1.0


@dataclass(frozen=True, slots=True)
class StableRule:
    """A family of rules that say nearly the same, represented by the one found most often.

    Attributes
    ----------
    text : str
        The representative in words, thresholds exact.
    frequency : float
        Share of the fits with exactly this rule, or its opposite, however worded.
    family_frequency : float
        Share of the fits with any rule of the family.
    n_rules : int
        Different rules in the family.
    importance : float
        Share of a model's importance that the family has, the mean over all fits.
    """

    text: str
    frequency: float
    family_frequency: float
    n_rules: int
    importance: float


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
    rule_jaccard, family_jaccard, attribute_jaccard : float
        Agreement of two fits, what both have over what either has, as a mean over pairs: of exact rules, of families,
        of attributes. The pairs are complementary halves, or all pairs of seeds.
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
            f"Two of them share {self.rule_jaccard:.0%} of their rules, {self.family_jaccard:.0%} of the families of "
            f"nearly equal rules, {self.attribute_jaccard:.0%} of their attributes",
            "",
            "family    rule  importance  rules  rule",
        ]
        for rule in self.rules[:SHOWN_ROWS]:
            start = f"{rule.family_frequency:6.0%}  {rule.frequency:6.0%}  {rule.importance:10.1%}  {rule.n_rules:5d}  "
            lines.append(start + textwrap.shorten(rule.text, 120 - len(start), placeholder=" ..."))
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
    max_correlation: float = 0.9,
    sample_weight: Any = None,
    random_state: Any = None,
) -> StabilityReport:
    """Fit a model again and again and count what comes back.

    Rules are compared on all rows of `X`: those that are equal or opposite there are one rule, however they are worded,
    and those correlated by more than `max_correlation`, either way, are a family.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        With the settings to look at, fitted or not; it is not changed.
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    vary : {"halves", "seeds"}, default="halves"
        What changes from fit to fit. "halves": the rows, each fit on a half of them, in complementary pairs that share
        no row. "seeds": the seed alone.
    n_repeats : int, default=10
        Fits, at least two, for halves an even number.
    max_correlation : float, default=0.9
    sample_weight : array-like of shape (n_samples,), optional
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
    >>> report.family_jaccard > report.rule_jaccard
    True
    >>> report.to_frame("attributes").shape
    (9, 3)
    """
    check_model(model, "stability_report", fitted=False)
    if vary not in ("halves", "seeds"):
        raise InvalidInputError(f"`vary` must be 'halves' or 'seeds'; got {vary!r}.")
    if n_repeats < 2 or (vary == "halves" and n_repeats % 2):
        raise InvalidInputError(f"`n_repeats` must be at least 2, and even for halves; got {n_repeats}.")
    if not 0.0 < max_correlation <= 1.0:
        raise InvalidInputError(f"`max_correlation` must be above 0 and at most 1; got {max_correlation}.")
    table = as_table(X)
    fits = _fit_all(model, table, y, sample_weight, vary, n_repeats, make_rng(random_state))
    terms = _gather_terms(fits, table)
    families = _find_families(terms, max_correlation)
    rules = [_describe(family, terms, n_repeats) for family in families]
    family_of = {terms.keys[k]: number for number, family in enumerate(families) for k in family}
    keys_of = [set(terms.keys[terms.fits == fit].tolist()) for fit in range(n_repeats)]
    names, names_of = fits[0].model_.names, [set(fit.model_.used_names) for fit in fits]

    def agree(sets: Sequence[AbstractSet[Any]]) -> float:
        pairs = zip(sets[::2], sets[1::2], strict=True) if vary == "halves" else itertools.combinations(sets, 2)
        return float(np.mean([jaccard(one, other) for one, other in pairs]))

    return StabilityReport(
        rules=tuple(sorted(rules, key=lambda rule: (-rule.family_frequency, -rule.importance, rule.text))),
        names=names,
        attribute_frequencies=np.mean([[name in used for name in names] for used in names_of], axis=0),
        attribute_importances=np.mean([fit.feature_importances_ for fit in fits], axis=0),
        rule_jaccard=agree(keys_of),
        family_jaccard=agree([{family_of[key] for key in keys} for keys in keys_of]),
        attribute_jaccard=agree(names_of),
        n_terms=float(np.mean([len(fit.rules_) for fit in fits])),
        n_repeats=n_repeats,
        vary=vary,
    )


def _fit_all(
    model: BaseRuleEnsemble, table: Any, y: Any, sample_weight: Any, vary: str, n_repeats: int, rng: np.random.Generator
) -> list[BaseRuleEnsemble]:
    """Fit copies of the model, each with a seed of its own; rows of the other half have weight zero."""
    keys = np.unique(np.asarray(y), return_inverse=True)[1].reshape(-1)
    given = check_weights(sample_weight, keys.size)
    weights = np.ones(keys.size) if given is None else given
    fits: list[BaseRuleEnsemble] = []
    progress = Progress(model.verbose).stage("Refitting")
    while len(fits) < n_repeats:
        parts = split_halves(keys, np.flatnonzero(weights), rng) if vary == "halves" else (np.arange(keys.size),)
        for rows in parts:
            own = np.zeros(keys.size)
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
    """The terms of all fits, one after the other.

    Attributes
    ----------
    ranked : list of RankedTerm
    fits : ndarray of shape (n_terms,)
        Which fit each term is of.
    keys : ndarray of shape (n_terms,)
        Equal for rules that are equal or opposite on all rows, and for lines of one attribute.
    shares : ndarray of shape (n_terms,)
        Share of the importance of its model.
    correlations : ndarray of shape (n_terms, n_terms)
        Absolute correlations of rules; a line is correlated with none but itself.
    """

    ranked: list[RankedTerm]
    fits: IntArray
    keys: IntArray
    shares: FloatArray
    correlations: FloatArray

    def count_fits(self, places: IntArray) -> int:
        """In how many fits some of the terms are."""
        return np.unique(self.fits[places]).size


def _gather_terms(fits: Sequence[BaseRuleEnsemble], table: Any) -> _Terms:
    """Evaluate the terms of all fits on all rows."""
    ranked = [term for fit in fits for term in fit.rules_]
    totals = [sum(term.importance for term in fit.rules_) or 1.0 for fit in fits]
    owner = np.repeat(np.arange(len(fits)), [len(fit.rules_) for fit in fits])
    evaluated = [_evaluate_rules(fit, table) for fit in fits]
    bits = BitMatrix(np.concatenate([own.words for own in evaluated]), evaluated[0].n_rows)
    columns = iter(_name_columns(bits))
    names = [next(columns) if term.kind == "rule" else ("line", term.term.features) for term in ranked]
    numbers: dict[Hashable, int] = {}
    keys = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
    places = np.flatnonzero([term.kind == "rule" for term in ranked])
    correlations = np.eye(len(ranked))
    correlations[np.ix_(places, places)] = _correlate(bits)
    shares = np.array([term.importance / totals[fit] for term, fit in zip(ranked, owner, strict=True)])
    return _Terms(ranked, owner, keys, shares, correlations)


def _evaluate_rules(fit: BaseRuleEnsemble, table: Any) -> BitMatrix:
    """Find where the rules of a fit hold."""
    sample = read_sample(fit, table)
    program = sample.compile([rule for _, rule in sample.rules])
    return program.evaluate(sample.columns.take(slice(None), program.used_features))


def _name_columns(bits: BitMatrix) -> list[bytes]:
    """Return the bits of each rule, or of its opposite if it holds on the first row."""
    dense = bits.to_dense().T.astype(bool)
    return [np.packbits(column ^ column[:1]).tobytes() for column in dense]


def _correlate(bits: BitMatrix) -> FloatArray:
    """Return the absolute correlations of rules; one that holds always or never has none."""
    support = bits.counts() / bits.n_rows
    spread = np.sqrt(support * (1.0 - support))
    scale = np.outer(spread, spread)
    covariance = bits.gram() / bits.n_rows - np.outer(support, support)
    return np.asarray(np.abs(np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)))


def _find_families(terms: _Terms, max_correlation: float) -> list[IntArray]:
    """Gather terms around the rules of the most fits, then the shortest: each joins the first one it is close to.

    Returns
    -------
    list of ndarray
        Positions of the terms of each family, those that are the representative first.
    """

    def rank(own: IntArray) -> tuple[int, int, str]:
        first = terms.ranked[own[0]]
        return -terms.count_fits(own), len(first.term.features), first.text

    taken = np.zeros(len(terms.keys), dtype=bool)
    families = []
    for own in sorted((np.flatnonzero(terms.keys == key) for key in np.unique(terms.keys)), key=rank):
        if not taken[own[0]]:
            close = ~taken & (terms.correlations[own[0]] > max_correlation)
            close[own] = True
            taken |= close
            families.append(np.concatenate([own, np.setdiff1d(np.flatnonzero(close), own)]))
    return families


def _describe(family: IntArray, terms: _Terms, n_repeats: int) -> StableRule:
    """Tell how often a family and its representative were found."""
    keys = terms.keys[family]
    return StableRule(
        text=terms.ranked[family[0]].text,
        frequency=terms.count_fits(family[keys == keys[0]]) / n_repeats,
        family_frequency=terms.count_fits(family) / n_repeats,
        n_rules=len(set(keys.tolist())),
        importance=float(terms.shares[family].sum() / n_repeats),
    )
