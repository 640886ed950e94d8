"""What rows that the fit has not seen say about each rule, with intervals."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d

from rulegrove._frames import Backend, make_frame
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.estimators.rule_table import RankedTerm
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._intervals import Estimates, estimate_lifts, estimate_means, estimate_shares
from rulegrove.inspection._sample import Sample, read_codes, read_sample


@dataclass(frozen=True, eq=False)
class RuleEvidence:
    """Support, confidence and lift of each rule on some rows.

    Attributes
    ----------
    rules : tuple of RankedTerm
        The rules of the model, in rank order; linear terms are left out.
    level : float
        Level of every interval by itself.
    n_rows : int
        Number of rows.
    n_held : ndarray of shape (n_rules,)
        Number of rows on which each rule holds.
    support : Estimates
        Share of the rows on which a rule holds.
    confidence : Estimates or None
        Share of the class the rule speaks for (of all others, for one that speaks against its class) where it holds;
        None in regression.
    lift : Estimates or None
        Confidence over the share of the same class among all rows: 1 says nothing; None in regression.
    mean_target : Estimates or None
        Mean target where the rule holds; None for classes.
    """

    rules: tuple[RankedTerm, ...]
    level: float
    n_rows: int
    n_held: IntArray
    support: Estimates
    confidence: Estimates | None = None
    lift: Estimates | None = None
    mean_target: Estimates | None = None

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a row for each rule: what the training rows said, and the estimates with the ends of their intervals.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which kind of data frame; None takes the first of them that is installed.
        """
        columns: dict[str, Any] = {
            "rank": [rule.rank for rule in self.rules],
            "rule": [rule.text for rule in self.rules],
            "n_held": self.n_held,
        }
        if self.confidence is not None:
            columns["class"] = [f"{'not ' * rule.against}{rule.speaks_for}" for rule in self.rules]
        for name in ("support", "confidence", "mean_target", "lift"):
            estimates: Estimates | None = getattr(self, name)
            if estimates is None:
                continue
            if name != "lift":
                columns[f"{name}_in_training"] = np.array([getattr(rule, name) for rule in self.rules], dtype=float)
            columns |= {name: estimates.values, f"{name}_low": estimates.low, f"{name}_high": estimates.high}
        return make_frame(columns, backend)


def rule_evidence(model: Any, X: Any, y: Any, *, level: float = 0.95, sample_weight: Any = None) -> RuleEvidence:
    """Check each rule on rows that the fit has not seen.

    A rule was chosen because it looked good on the training rows, so its confidence there is too high. On other rows it
    is an honest estimate, and its interval tells how sure it is. Shares have Wilson's interval. The lift is
    ``ratio / (support * ratio + 1 - support)``, where ``ratio`` compares the class share where the rule holds with that
    where it does not, two independent samples; its interval comes from theirs by the method of variance estimates
    recovery. A mean target has Student's interval. Weighted rows count as ``(sum w)^2 / sum w^2`` rows.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows that were not used in the fit.
    y : array-like of shape (n_samples,)
        Their targets.
    level : float, default=0.95
        Level of every interval by itself.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    RuleEvidence

    References
    ----------
    Wilson (1927). "Probable inference, the law of succession, and statistical inference". JASA 22.
    Newcombe (2016). "MOVER-R confidence intervals for ratios and products of two independently estimated quantities".
    Statistical Methods in Medical Research 25(5).

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.inspection import rule_evidence
    >>> X, y = load("pima")
    >>> model = RuleEnsembleClassifier(n_candidates=100, max_terms=5, random_state=0).fit(X[::2], y[::2])
    >>> evidence = rule_evidence(model, X[1::2], y[1::2])
    >>> evidence.n_rows
    384
    >>> bool((evidence.lift.low <= evidence.lift.values).all())
    True
    """
    if not 0.0 < level < 1.0:
        raise InvalidInputError(f"`level` must lie between 0 and 1; got {level}.")
    sample = read_sample(model, X, sample_weight)
    rules = tuple(model.rules_[place] for place, _ in sample.rules)
    judge = next(JUDGES[field] for field in model.rules_.about if field in JUDGES)
    held, everywhere, estimates = judge(model.recall_target(), sample, rules, y, level)
    support = estimate_shares(held.weight, everywhere.weight, everywhere.size, level)
    return RuleEvidence(rules, level, sample.columns.n_rows, held.n_rows, support, **estimates)


class _Group(NamedTuple):
    """Sums over some rows, one line of each array for each rule.

    Attributes
    ----------
    n_rows : ndarray of shape (n_rules,)
        Rows of positive weight.
    weight : ndarray of shape (n_rules,)
    size : ndarray of shape (n_rules,)
        Rows of equal weight that would tell as much.
    columns : ndarray of shape (n_rules, n_columns)
        Weighted sums of further columns.
    sums : ndarray of shape (n_rules, 3 + n_columns)
        Numbers of rows, weights, squared weights and columns, as they were added up.
    """

    n_rows: IntArray
    weight: FloatArray
    size: FloatArray
    columns: FloatArray
    sums: FloatArray


def _group(sums: FloatArray) -> _Group:
    """Name the sums over some rows."""
    n_rows, weight = np.rint(sums[:, 0]).astype(np.int64), sums[:, 1]
    size = np.where(n_rows == 0, 0.0, weight**2 / np.maximum(sums[:, 2], np.finfo(np.float64).tiny))
    return _Group(n_rows, weight, size, sums[:, 3:], sums)


def _add_up(sample: Sample, columns: FloatArray) -> tuple[_Group, _Group]:
    """Add up weights and weighted columns over the rows of each rule and over all rows."""
    weights = np.ones(len(columns)) if sample.weights is None else sample.weights
    values = np.column_stack([weights > 0, weights, weights**2, weights[:, None] * columns])
    sums = sample.add_up([rule for _, rule in sample.rules], values)
    return _group(sums), _group(np.tile(values.sum(axis=0), (len(sums), 1)))


_Rules = tuple[RankedTerm, ...]
_Judged = tuple[_Group, _Group, dict[str, Estimates]]  # where rules hold, on all rows, and what that says


def _chosen_classes(labels: list[Any], rules: _Rules) -> BoolArray:
    """Which classes bear out each rule: its own, or all others where it speaks against it."""
    own = np.array([labels.index(rule.speaks_for) for rule in rules], dtype=np.int64)
    against = np.array([rule.against for rule in rules], dtype=bool)
    return np.asarray((own[:, None] == np.arange(len(labels))) != against[:, None])


def _judge_classes(target: Target, sample: Sample, rules: _Rules, y: Any, level: float) -> _Judged:
    """Confidence and lift of each rule."""
    labels = list(sample.model.labels)
    codes = read_codes(labels, column_or_1d(y, warn=True), sample.columns.n_rows)
    held, everywhere = _add_up(sample, np.eye(len(labels))[codes])
    elsewhere, chosen = _group(everywhere.sums - held.sums), _chosen_classes(labels, rules)
    here, there, base = ((group.columns * chosen).sum(axis=1) for group in (held, elsewhere, everywhere))
    confidence = estimate_shares(here, held.weight, held.size, level)
    others = estimate_shares(there, elsewhere.weight, elsewhere.size, level)
    support, base = held.weight / everywhere.weight, base / everywhere.weight
    lift = estimate_lifts(confidence, others, support, base)
    return held, everywhere, {"confidence": confidence, "lift": lift}


def _judge_numbers(target: Target, sample: Sample, rules: _Rules, y: Any, level: float) -> _Judged:
    """Mean target of each rule."""
    targets = target.check(y, sample.columns.n_rows)
    center = sample.average(targets)  # squares of values near zero lose no digits
    held, everywhere = _add_up(sample, np.column_stack([targets - center, (targets - center) ** 2]))
    sums, squares = held.columns.T
    means = estimate_means(sums, squares, held.weight, held.size, level)
    mean_target = Estimates(means.values + center, means.low + center, means.high + center)
    return held, everywhere, {"mean_target": mean_target}


# What checks rules on rows, by the field of a term that tells of the target.
JUDGES: dict[str, Callable[[Target, Sample, _Rules, Any, float], _Judged]] = {
    "confidence": _judge_classes,
    "mean_target": _judge_numbers,
}
