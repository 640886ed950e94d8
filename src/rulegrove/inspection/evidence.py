"""What rows that the fit has not seen say about each rule, with intervals."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from rulegrove._frames import Backend, make_frame
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove._validation import check_regression_target
from rulegrove.design.bits import compile_rules
from rulegrove.estimators.rule_table import RankedTerm
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._intervals import Estimates, estimate_lifts, estimate_means, estimate_shares
from rulegrove.inspection._sample import Sample, evaluate_rules, read_sample


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
        """Return one row a rule: what the training rows said, and the estimates with the ends of their intervals.

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
        if self.mean_target is None:
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
    n_rows = sample.columns.n_rows
    if hasattr(model, "classes_"):
        members = _read_members(model, y, n_rows)
        held, everywhere = _add_up(sample, members)
        estimates = _judge_classes(held, everywhere, _chosen_classes(model, rules), level)
    else:
        targets = check_regression_target(model, y, n_rows)
        center = sample.average(targets)  # squares of values near zero lose no digits
        held, everywhere = _add_up(sample, np.column_stack([targets - center, (targets - center) ** 2]))
        sums, squares = held.columns.T
        means = estimate_means(sums, squares, held.weight, held.size, level)
        estimates = {"mean_target": Estimates(means.values + center, means.low + center, means.high + center)}
    support = estimate_shares(held.weight, *everywhere.of_each(len(rules)), level)
    return RuleEvidence(rules, level, n_rows, held.n_rows, support, **estimates)


@dataclass(frozen=True, eq=False)
class _Group:
    """Weighted sums over some rows, for each rule or once for all.

    Attributes
    ----------
    n_rows : ndarray of int
        Rows of positive weight.
    weight : ndarray of float
    squared_weight : ndarray of float
    columns : ndarray of float
        Sums of further columns, along the last axis.
    """

    n_rows: IntArray
    weight: FloatArray
    squared_weight: FloatArray
    columns: FloatArray

    @classmethod
    def of(cls, sums: FloatArray) -> "_Group":
        """Group of the sums of `_add_up`, a column each."""
        return cls(np.rint(sums[..., 0]).astype(np.int64), sums[..., 1], sums[..., 2], sums[..., 3:])

    @property
    def size(self) -> FloatArray:
        """Rows of equal weight that would tell as much."""
        none = self.n_rows == 0
        return np.where(none, 0.0, self.weight**2 / np.where(none, 1.0, self.squared_weight))

    def of_each(self, n_rules: int) -> tuple[FloatArray, FloatArray]:
        """Weight and size of a group that is the same for all rules."""
        return np.full(n_rules, self.weight), np.full(n_rules, self.size)

    def without(self, others: "_Group") -> "_Group":
        """Rows of this group that are not in the others."""
        return _Group(
            self.n_rows - others.n_rows,
            self.weight - others.weight,
            np.maximum(self.squared_weight - others.squared_weight, np.finfo(np.float64).tiny),
            self.columns - others.columns,
        )


def _add_up(sample: Sample, columns: FloatArray) -> tuple[_Group, _Group]:
    """Add up weights and weighted columns over the rows of each rule and over all rows."""
    weights = np.ones(len(columns)) if sample.weights is None else sample.weights
    values = np.column_stack([weights > 0, weights, weights**2, weights[:, None] * columns])
    program = compile_rules([rule for _, rule in sample.rules], sample.columns.n_features)
    sums = np.zeros((program.n_rules, values.shape[1]))
    for rows in sample.blocks if sample.rules else []:
        sums += evaluate_rules(sample, program, rows).sums(values[rows])
    return _Group.of(sums), _Group.of(values.sum(axis=0))


def _read_members(model: Any, y: Any, n_rows: int) -> FloatArray:
    """Labels as one column of 0 and 1 a class of the model; not all classes need be there."""
    labels = column_or_1d(y, warn=True).tolist()
    if len(labels) != n_rows:
        raise InvalidInputError(f"X has {n_rows} rows but y has {len(labels)}; give one label a row.")
    places = {label: place for place, label in enumerate(model.classes_.tolist())}
    unknown = [label for label in labels if label not in places]
    if unknown:
        raise InvalidInputError(f"y holds {unknown[0]!r}, which is none of the model's classes: {list(places)}.")
    return np.eye(len(places))[[places[label] for label in labels]]


def _chosen_classes(model: Any, rules: tuple[RankedTerm, ...]) -> BoolArray:
    """Which classes bear out each rule: its own, or all others where it speaks against it."""
    labels = model.classes_.tolist()
    own = np.array([labels.index(rule.speaks_for) for rule in rules], dtype=np.int64)
    against = np.array([rule.against for rule in rules], dtype=bool)
    return np.asarray((own[:, None] == np.arange(len(labels))) != against[:, None])


def _judge_classes(held: _Group, everywhere: _Group, chosen: BoolArray, level: float) -> dict[str, Estimates]:
    """Confidence and lift of each rule."""
    elsewhere = everywhere.without(held)
    here, there, base = ((group.columns * chosen).sum(axis=-1) for group in (held, elsewhere, everywhere))
    confidence = estimate_shares(here, held.weight, held.size, level)
    others = estimate_shares(there, elsewhere.weight, elsewhere.size, level)
    support, base = held.weight / everywhere.weight, base / everywhere.weight
    return {"confidence": confidence, "lift": estimate_lifts(confidence, others, support, base)}
