"""What counts of rules say: estimates with intervals, tests against the base rate and given the others."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d

from rulegrove._threads import one_blas_thread
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove._validation import check_weights, find_codes
from rulegrove.design.patterns import PatternTable
from rulegrove.design.terms import Linear
from rulegrove.estimators._evidence_counts import EvidenceCounter, EvidenceCounts
from rulegrove.estimators._given_others import OfNumbers, OfShares, TargetSums, weigh_beside
from rulegrove.estimators._intervals import (
    count_in,
    enclose_means,
    enclose_shares,
    estimate_lifts,
    estimate_means,
    estimate_shares,
    hold_together,
)
from rulegrove.estimators._tails import adjust, count_tail, score_tails
from rulegrove.estimators.evidence import OF_FIT, Estimates, RuleEvidence
from rulegrove.estimators.rule_table import RankedTerm, RuleTable
from rulegrove.exceptions import InvalidInputError

_EQUAL = 1e-9  # relative difference of weights that counts as none


@dataclass(frozen=True)
class Asking:
    """What is asked of the rows.

    Attributes
    ----------
    level : float
        Of every interval by itself, and of all wider ones together.
    false_discovery_rate : float
    weighted_by : str
        Which rows set the weights.
    """

    level: float = 0.95
    false_discovery_rate: float = 0.1
    weighted_by: str = OF_FIT

    def __post_init__(self) -> None:
        for name in ("level", "false_discovery_rate"):
            if not 0.0 < (value := getattr(self, name)) < 1.0:
                raise InvalidInputError(f"`{name}` must lie between 0 and 1; got {value}.")


class Found(NamedTuple):
    """What counts say of rules against the base rate.

    Attributes
    ----------
    held, everywhere : TargetSums
        Of the target that a rule speaks about, for each rule: where it holds, and on all rows.
    told : dict
        Estimates, and base rates of classes.
    p_values : ndarray of shape (n_rules,)
    exact : bool
    """

    held: TargetSums
    everywhere: TargetSums
    told: dict[str, Any]
    p_values: FloatArray
    exact: bool


def judge_rules(counter: EvidenceCounter, table: RuleTable, counts: EvidenceCounts, asking: Asking) -> RuleEvidence:
    """Return what counts say of each rule.

    Parameters
    ----------
    counter : EvidenceCounter
        What has counted.
    table : RuleTable
        The terms of its model.
    counts : EvidenceCounts
    asking : Asking
    """
    rules = tuple(row for row in table if row.kind == "rule")
    judge = _judge_classes if counter.model.labels else _judge_numbers
    found = judge(counter, rules, counts, asking.level)
    held, everywhere = found.held, found.everywhere
    with one_blas_thread():  # of many small matrices
        beside, coefficient = _judge_beside(counter, rules, counts.table, asking.level)
    return RuleEvidence(
        rules=rules,
        level=asking.level,
        false_discovery_rate=asking.false_discovery_rate,
        n_rows=counts.n_rows,
        n_held=np.rint(held.n_rows).astype(np.int64),
        support=_share(held.weight, everywhere.weight, everywhere.size, asking.level),
        coefficient=coefficient,
        p_value=found.p_values,
        p_value_given_others=beside,
        adjusted_p_value=adjust(found.p_values),
        adjusted_p_value_given_others=adjust(beside),
        exact=found.exact,
        n_given_others=counts.table.n_rows,
        weighted_by=asking.weighted_by,
        n_lines=len(counter.lines),
        **found.told,
    )


def _share(found: FloatArray, weight: FloatArray, size: FloatArray, level: float) -> Estimates:
    """Divide by the weight of a group, with intervals of both kinds."""
    alone = estimate_shares(found, weight, size, level)
    return hold_together(alone, enclose_shares(found, weight, size, count_in(level, found.size)))


def _judge_classes(
    counter: EvidenceCounter, rules: Sequence[RankedTerm], counts: EvidenceCounts, level: float
) -> Found:
    """Compare the share of each rule's class where it holds with that among all rows."""
    labels = list(counter.model.labels)
    own = np.array([labels.index(rule.speaks_for) for rule in rules], dtype=np.int64)
    against = np.array([rule.against for rule in rules], dtype=bool)
    chosen = np.asarray((own[:, None] == np.arange(len(labels))) != against[:, None])
    everything = np.broadcast_to(counts.everywhere, counts.held.shape)
    held, everywhere, elsewhere = (
        _sum_events(sums, chosen) for sums in (counts.held, everything, everything - counts.held)
    )
    support, base = held.weight / everywhere.weight, everywhere.y / everywhere.weight

    def lift(share: Callable[..., Estimates], level: float) -> Estimates:
        here, there = (share(sums.y, sums.weight, sums.size, level) for sums in (held, elsewhere))
        return estimate_lifts(here, there, support, base)

    exact = _are_equal(counts.everywhere)
    return Found(
        held,
        everywhere,
        {
            "confidence": _share(held.y, held.weight, held.size, level),
            "base_rate": base,
            "lift": hold_together(lift(estimate_shares, level), lift(enclose_shares, count_in(level, len(rules)))),
        },
        _count_events(held, everywhere) if exact else _compare_means(held, everywhere, np.ones(len(rules))),
        exact,
    )


def _sum_events(sums: FloatArray, chosen: BoolArray) -> TargetSums:
    """Return sums for a target that is one for the classes that bear out each rule, and zero for others."""
    n_classes = chosen.shape[1]
    weight, weight2 = ((part * chosen).sum(axis=1) for part in (sums[:, 4 : 4 + n_classes], sums[:, 4 + n_classes :]))
    n_rows, own, own2, own3 = sums[:, :4].T
    return TargetSums(n_rows, own, own2, own3, weight, weight, weight, weight2, weight2)


def _are_equal(everywhere: FloatArray) -> bool:
    """Whether all rows that count have one weight."""
    n_rows, weight, weight2 = everywhere[:3].tolist()
    return bool(n_rows * weight2 <= (1.0 + _EQUAL) * weight**2)


def _count_events(held: TargetSums, everywhere: TargetSums) -> FloatArray:
    """Return Fisher's p-value for each rule: of as many events or more, if its rows were drawn by chance."""
    weight = everywhere.weight / everywhere.n_rows
    columns = (held.y / weight, held.n_rows, everywhere.y / weight, everywhere.n_rows)
    counts = np.rint(np.column_stack(columns)).astype(np.int64).tolist()
    return np.array([min(sum(count_tail(*one)), 1.0) for one in counts])


def _compare_means(held: TargetSums, everywhere: TargetSums, signs: FloatArray) -> FloatArray:
    """Return the p-value of the mean where each rule holds against the mean of all rows.

    It is the score test of the rule in a model of nothing else. Under the permutation of all targets its sum has the
    first variance; where targets of the rule's rows vary more than others, the second one. The larger is taken.
    """
    total = everywhere.weight
    means, share = everywhere.y / total, held.weight / total
    second, third = everywhere.moments()

    def left(power: int, here: FloatArray, whole: FloatArray) -> FloatArray:
        return np.asarray((1.0 - share) ** power * here + (-share) ** power * (whole - here))

    plain = second * left(2, held.weight2, everywhere.weight2)
    robust = left(2, held.squares(means), everywhere.squares(means))
    size = everywhere.size
    variances = np.maximum(plain, robust) * size / np.maximum(size - 1.0, 1.0)
    varies = (share > 0.0) & (share < 1.0)
    thirds = signs * third * left(3, held.weight3, everywhere.weight3)
    return score_tails(signs * held.residuals(means), np.where(varies, variances, 0.0), thirds)


def _judge_numbers(
    counter: EvidenceCounter, rules: Sequence[RankedTerm], counts: EvidenceCounts, level: float
) -> Found:
    """Compare the mean target where each rule holds with that of all rows."""
    held = TargetSums(*counts.held.T)
    everywhere = TargetSums(*np.broadcast_to(counts.everywhere, counts.held.shape).T)
    each = count_in(level, len(rules))

    alone, together = (estimate_means(held.y, held.y2, held.weight, held.size, own) for own in (level, each))
    second, third = everywhere.moments()
    spread = np.sqrt(second)
    skewness = np.divide(third, spread**3, out=np.zeros_like(third), where=spread > 0.0)
    together = enclose_means(together, held.size, spread, skewness, each)

    least = 0.0 if counter.model.multiplies else -np.inf  # of a mean rate or amount

    def give_back(found: Estimates) -> Estimates:
        ends = (counter.center + counter.scale * own for own in (found.values, found.low, found.high))
        return Estimates(*(np.maximum(own, least) for own in ends))

    return Found(
        held,
        everywhere,
        {"mean_target": hold_together(give_back(alone), give_back(together))},
        _compare_means(held, everywhere, np.sign([rule.coefficient for rule in rules])),
        False,
    )


def _judge_beside(
    counter: EvidenceCounter, rules: Sequence[RankedTerm], table: PatternTable, level: float
) -> tuple[FloatArray, Estimates]:
    """Return p-values given the others, and the coefficients of all terms fitted together."""
    p_values, values = np.ones(len(rules)), np.full(len(rules), np.nan)
    reaches = np.full((2, len(rules)), np.inf)
    family = OfShares() if counter.model.labels else OfNumbers()
    unit = 1.0 if counter.model.labels else counter.scale
    for own, terms, of_output in _split_outputs(counter, rules, table):
        dense = np.hstack([of_output.bits.to_dense(), of_output.linear])
        signs, outputs = zip(*(_find_sign(counter, rules[place]) for place in own), strict=True)
        sums = _sum_lines(of_output, outputs[0] if counter.model.labels else None)
        found = weigh_beside(family, dense, sums, np.searchsorted(terms, own), signs)
        p_values[own], values[own] = found.p_values, found.coefs * unit
        reaches[:, own] = [found.reach(one) * unit for one in (level, count_in(level, len(rules)))]
    low, low_all = np.where(np.isnan(values), -np.inf, values - reaches)
    high, high_all = np.where(np.isnan(values), np.inf, values + reaches)
    return p_values, Estimates(values, low, high, low_all, high_all)


def _split_outputs(
    counter: EvidenceCounter, rules: Sequence[RankedTerm], table: PatternTable
) -> Iterator[tuple[IntArray, IntArray, PatternTable]]:
    """Yield for each output the rules that speak about it, the terms of the table that it has, and these alone."""
    if not rules:
        return
    model = counter.model
    is_line = np.array([isinstance(term, Linear) for term in model.terms], dtype=bool)
    places = np.argsort(is_line, kind="stable")  # of the table's terms among those of the model: rules, then lines
    used = np.atleast_2d(model.coefs)[:, places] != 0.0
    outputs = np.array([_find_sign(counter, rule)[1] for rule in rules]) if len(used) > 1 else np.zeros(len(rules), int)
    for output in np.unique(outputs):
        own = np.flatnonzero(outputs == output)
        terms = np.union1d(np.flatnonzero(used[output]), own)
        yield own, terms, table.take(terms)


def _find_sign(counter: EvidenceCounter, rule: RankedTerm) -> tuple[float, int]:
    """Return the sign of the coefficient that a rule claims, and the class whose log odds it is about."""
    labels = list(counter.model.labels)
    if not labels:
        return float(np.sign(rule.coefficient)), 0
    place = labels.index(rule.speaks_for)
    if len(labels) == 2:
        return (1.0 if place == 1 else -1.0), 1
    return (-1.0 if rule.against else 1.0), place


def _sum_lines(table: PatternTable, label: int | None) -> TargetSums:
    """Return what the rows of each line add up to, with a class against all others or numbers as the target."""
    totals, sums, squares = table.totals, table.sums.T, table.squares.T
    if label is None:
        y, y3, weight2, wy, wy2 = sums
        return TargetSums(totals[:, 0], totals[:, 1], weight2, squares[2], y, squares[0], y3, wy, wy2)
    events = (table.codes == label).astype(np.float64)
    weight, weight2 = totals[:, 1], sums[0]
    of_class, of_class2 = events * weight, events * weight2
    return TargetSums(totals[:, 0], weight, weight2, squares[0], of_class, of_class, of_class, of_class2, of_class2)


def examine(model: Any, X: Any, y: Any, sample_weight: Any, asking: Asking) -> RuleEvidence:
    """Count the rules of a fitted estimator on rows in memory, and judge them.

    Parameters
    ----------
    model : BaseRuleEnsemble
    X, y, sample_weight
        As in `rule_evidence`.
    asking : Asking
    """
    model.recall_target().check_evidence()
    columns = model.read_columns(X)
    weights = check_weights(sample_weight, columns.n_rows)
    labels = list(model.model_.labels)
    if labels:
        values, center, scale = find_codes(labels, column_or_1d(y, warn=True), columns.n_rows), 0.0, 1.0
    else:
        values = model.recall_target().check(y, columns.n_rows)
        center, scale = _find_unit(values if weights is None else values[weights > 0])
    counter = EvidenceCounter.of(model.model_, columns.n_rows, center, scale)
    relative = None if weights is None else weights / weights.max()  # whose powers are numbers
    counts = counter(columns, values, relative, np.arange(columns.n_rows))
    return judge_rules(counter, model.rules_, counts, asking)


def _find_unit(values: FloatArray) -> tuple[float, float]:
    """Return a center of numbers and a scale, so that powers of what is left lose no digits."""
    center = float(values.mean())
    return center, float(np.abs(values - center).max(initial=0.0)) or 1.0
