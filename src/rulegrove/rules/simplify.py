"""Rules that are the same column of the training rows, or nearly so, found from the pair counts alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.rules._kernels import keep_different
from rulegrove.rules.rule import Alias, Rule

ROUNDING = 1e-12  # share of the total weight that sums of float weights may be off by; integers compare exactly


@dataclass(frozen=True, slots=True)
class Simplified:
    """Which of many rules to keep, and what else they could be called."""

    kept: IntArray  # (n_kept,): positions of the kept rules, in the order of the rules
    aliases: tuple[tuple[Alias, ...], ...]  # for each kept rule the dropped ones it stands for


def simplify(
    rules: Sequence[Rule], shared: IntArray | FloatArray, total: float, forced: BoolArray | None = None
) -> Simplified:
    """Keep the simplest of the rules that are equal or complementary on the training rows.

    With r and 1 - r both present the lasso has no unique answer. Two rules are equal when they share what each has,
    complementary when they share nothing and leave nothing out. The Gram shows both, so no second pass over the rows is
    needed: `shared` are the rows on which both rules hold, or their weight, of `total` in all, and with unit weights
    its integers make the comparison exact. The shorter rule is kept, then the one with the larger support, then the
    earlier one; rules that hold for all rows or none are dropped. Forced rules stand for all that are equal to them.

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
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    # Both relations together are an equivalence, so the first member of each class speaks for all of it.
    first, second = _related_pairs(shared, total)
    chiefs = places.copy()
    np.minimum.at(chiefs, first, places[second])
    np.minimum.at(chiefs, second, places[first])
    leaders = order[chiefs]
    varies = (ROUNDING * total < support) & (support < (1 - ROUNDING) * total)
    kept = np.flatnonzero(varies & (leaders == np.arange(len(rules))))
    aliases: dict[int, list[Alias]] = {}
    repeats = order[varies[leaders[order]] & (leaders[order] != order)]
    opposite = shared[repeats, leaders[repeats]] <= ROUNDING * total
    for repeat, leader, is_opposite in zip(repeats.tolist(), leaders[repeats].tolist(), opposite.tolist(), strict=True):
        aliases.setdefault(leader, []).append(Alias(rules[repeat], is_opposite))
    return Simplified(kept, tuple(tuple(aliases.get(leader, ())) for leader in kept.tolist()))


def thin(
    rules: Sequence[Rule],
    shared: IntArray | FloatArray,
    total: float,
    max_correlation: float,
    forced: BoolArray | None = None,
    among: IntArray | None = None,
    strengths: FloatArray | None = None,
) -> IntArray:
    """Keep rules that differ: none is correlated with a simpler one by more than a limit, either way; 1 keeps all.

    Trees see much the same rows, so their rules come in families whose columns hardly differ. A fit gains nothing from
    the whole family, and its list of rules is shorter and steadier without. Rows are counted as in `simplify`. Forced
    rules are kept whatever the others are, and others are compared with them. `among` are the positions of the rules to
    choose from, without constants, and `strengths` how much each rule says of the target: of rules of the same length
    the strongest speaks for its family, by default the one of the largest support. The positions of the kept rules are
    returned.
    """
    among = np.arange(len(rules)) if among is None else among
    if max_correlation >= 1.0 or not among.size:
        return among
    order = _simplest_first(rules, shared.diagonal() if strengths is None else strengths, forced)
    left = np.zeros(len(rules), dtype=bool)
    left[among] = True
    forced = np.zeros(len(rules), dtype=bool) if forced is None else forced
    kept = keep_different(
        order[left[order]], shared, shared.diagonal() / total, float(total), float(max_correlation), forced, left
    )
    return np.flatnonzero(kept)


def _simplest_first(rules: Sequence[Rule], merits: IntArray | FloatArray, forced: BoolArray | None) -> IntArray:
    """Order rules by their length, then by falling merit, then as they came; forced ones before all others."""
    lengths = np.array([len(rule.conditions) for rule in rules])
    others = np.zeros(len(rules), dtype=bool) if forced is None else ~forced
    return np.lexsort((np.arange(len(rules)), -merits, lengths, others))


def _related_pairs(shared: IntArray | FloatArray, total: float) -> tuple[IntArray, IntArray]:
    """Return the pairs of rules that are equal or complementary.

    Such rules have one support, or supports that add up to all rows, so only neighbours by the smaller side are looked
    at; the window is wider than rounding can make it.
    """
    support, slack = shared.diagonal(), ROUNDING * total
    sides = np.minimum(support, total - support)
    by_side = np.argsort(sides, kind="stable")
    n_near = np.searchsorted(sides[by_side], sides[by_side] + 4 * slack, side="right") - np.arange(1, len(sides) + 1)
    left = np.repeat(np.arange(len(sides)), n_near)
    steps = np.arange(1, left.size + 1) - np.repeat(np.cumsum(n_near) - n_near, n_near)
    first, second = by_side[left], by_side[left + steps]
    both = shared[first, second]
    same = (support[first] - both <= slack) & (support[second] - both <= slack)
    opposite = (both <= slack) & (total - support[first] - support[second] <= slack)
    related = same | opposite
    return first[related], second[related]
