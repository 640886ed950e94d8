"""Rules that are the same column of the training rows, or nearly so, found from the pair counts alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.rules.rule import Rule

ROUNDING = 1e-12  # share of the total weight that sums of float weights may be off by; integers compare exactly


@dataclass(frozen=True, slots=True)
class Alias:
    """A rule that says on the training rows what the kept one says, or the exact opposite."""

    rule: Rule
    opposite: bool


@dataclass(frozen=True, slots=True)
class Simplified:
    """Which of many rules to keep, and what else they could be called.

    Attributes
    ----------
    kept : ndarray of shape (n_kept,)
        Positions of the kept rules, in the order of the rules.
    aliases : tuple of tuple of Alias
        For each kept rule the dropped ones it stands for.
    """

    kept: IntArray
    aliases: tuple[tuple[Alias, ...], ...]


def simplify(
    rules: Sequence[Rule], shared: IntArray | FloatArray, total: float, forced: BoolArray | None = None
) -> Simplified:
    """Keep the simplest of the rules that are equal or complementary on the training rows.

    With r and 1 - r both present the lasso has no unique answer. Two rules are equal when they share what
    each has, complementary when they share nothing and leave nothing out. The Gram shows both, so no second pass over
    the rows is needed, and with unit weights its integers make the comparison exact. The shorter rule is kept, then the
    one with the larger support, then the earlier one; rules that hold for all rows or none are dropped.

    Parameters
    ----------
    rules : sequence of Rule
    shared : ndarray of shape (n_rules, n_rules)
        Rows on which both rules hold, or their weight.
    total : float
        All training rows, or their weight.
    forced : ndarray of shape (n_rules,), optional
        Rules that stand for all that are equal to them, however simple those are.

    Returns
    -------
    Simplified

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.rules.rule import Condition, Rule
    >>> low, high = Rule((Condition(0, upper=1.5),)), Rule((Condition(0, lower=1.5),))
    >>> simplified = simplify([low, high], np.array([[3, 0], [0, 7]]), 10)
    >>> simplified.kept
    array([1])
    >>> simplified.aliases[0][0].opposite
    True
    """
    if not rules:
        return Simplified(np.empty(0, dtype=np.int64), ())
    support = shared.diagonal()
    order = _simplest_first(rules, support, forced)
    same, opposite = _relations(shared[np.ix_(order, order)], total)
    # Both relations together are an equivalence, so the first member of each class speaks for all of it.
    leader = order[np.argmax(same | opposite, axis=1)]
    aliases: dict[int, list[Alias]] = {}
    for place, chief in zip(order.tolist(), leader.tolist(), strict=True):
        if ROUNDING * total < support[chief] < (1 - ROUNDING) * total:
            others = aliases.setdefault(chief, [])
            if place != chief:
                others.append(Alias(rules[place], bool(shared[place, chief] <= ROUNDING * total)))
    kept = sorted(aliases)
    return Simplified(np.array(kept, dtype=np.int64), tuple(tuple(aliases[k]) for k in kept))


def thin(
    rules: Sequence[Rule],
    shared: IntArray | FloatArray,
    total: float,
    max_correlation: float,
    forced: BoolArray | None = None,
) -> IntArray:
    """Keep rules that differ: none is correlated with a simpler one by more than a limit, either way.

    Trees see much the same rows, so their rules come in families whose columns hardly differ. A fit gains nothing from
    the whole family, and its list of rules is shorter and steadier without.

    Parameters
    ----------
    rules : sequence of Rule
        Without constants among them.
    shared : ndarray of shape (n_rules, n_rules)
        Rows on which both rules hold, or their weight.
    total : float
        All training rows, or their weight.
    max_correlation : float
        Between 0 and 1; 1 keeps all.
    forced : ndarray of shape (n_rules,), optional
        Rules that are kept whatever the others are, and others are compared with.

    Returns
    -------
    ndarray of shape (n_kept,)
        Positions of the kept rules, in the order of the rules.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.rules.rule import Condition, Rule
    >>> rules = [Rule((Condition(0, upper=bound),)) for bound in (1.0, 2.0, 9.0)]
    >>> thin(rules, np.array([[40, 40, 40], [40, 42, 42], [40, 42, 80]]), 100, 0.9)
    array([1, 2])
    """
    if max_correlation >= 1.0 or not rules:
        return np.arange(len(rules))
    support = shared.diagonal() / total
    spread = np.sqrt(support * (1.0 - support))
    order = _simplest_first(rules, shared.diagonal(), forced)
    left = np.ones(len(rules), dtype=bool)
    kept = np.zeros(len(rules), dtype=bool)
    for rule in order:
        if left[rule] or (forced is not None and forced[rule]):
            kept[rule] = True
            covariance = shared[rule] / total - support[rule] * support
            left &= np.abs(covariance) <= max_correlation * spread[rule] * spread
    return np.flatnonzero(kept)


def _simplest_first(rules: Sequence[Rule], support: IntArray | FloatArray, forced: BoolArray | None) -> IntArray:
    """Order rules by their length, then by falling support, then as they came; forced ones before all others."""
    lengths = np.array([len(rule.conditions) for rule in rules])
    others = np.zeros(len(rules), dtype=bool) if forced is None else ~forced
    return np.lexsort((np.arange(len(rules)), -support, lengths, others))


def _relations(shared: IntArray | FloatArray, total: float) -> tuple[BoolArray, BoolArray]:
    """Which pairs of rules are equal, and which are complementary."""
    support, slack = shared.diagonal(), ROUNDING * total
    same = (support[:, None] - shared <= slack) & (support[None, :] - shared <= slack)
    opposite = (shared <= slack) & (total - support[:, None] - support[None, :] <= slack)
    return same, opposite
