"""Rules that other rows would choose again: few thresholds, few conditions, one for each family of look-alikes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.design.bits import BitMatrix, compile_rules
from rulegrove.rules.rule import Condition, Rule
from rulegrove.trees.rounding import choose_days, choose_thresholds

STEADINESS = 0.8  # of `stable=True`
# Thresholds lie near these quantiles, between the tenths and between what would be rounded to them, so that other rows
# put them into the same tenth either way.
RANKS = np.arange(1.25, 10.0) / 10.0
SLACK = 0.012  # of the rows, either way, within which a threshold may be moved to a rounder number
LEAST_SHARE = 0.03  # of the rows on which a rule holds, and on which it does not
MOST_PAIRED = 100  # conditions that rules of two are made of
MOST_COMPARED = 1000  # rules that are told apart into families
MOST_FAMILIES = 256  # whose best rules lists are made of
ALIKE = 0.8  # Jaccard index of the rows of two rules, from which on they are one finding
_CHUNK_VALUES = 2**22  # of conditions times rows that exist at once: 32 MB


def find_alike(bits: BitMatrix) -> BoolArray:
    """Return which rules are look-alikes: of the rows on which either holds, both hold on most.

    Returns
    -------
    ndarray of shape (n_rules, n_rules)

    Examples
    --------
    >>> import numpy as np
    >>> words = np.array([[0b01111], [0b11111], [0b11000]], dtype=np.uint64)
    >>> find_alike(BitMatrix(words, n_rows=5)).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """
    shared = bits.gram()
    counts = shared.diagonal()
    either = counts[:, None] + counts[None, :] - shared
    return np.asarray(shared >= ALIKE * either) & (either > 0)


def price_terms(n_conditions: IntArray, steadiness: float) -> FloatArray:
    """Return what a gain in fit counts where a term has so many conditions, a linear term none.

    Each condition more is dearer than the one before: what other rows choose again of it falls as fast.

    Examples
    --------
    >>> price_terms(np.array([0, 1, 2]), 0.5).tolist()
    [1.0, 0.5, 0.125]
    """
    return np.asarray((1.0 - steadiness) ** (n_conditions * (n_conditions + 1) / 2))


def find_cuts(values: FloatArray, weights: FloatArray | None, *, days: bool = False) -> FloatArray:
    """Return the thresholds of one numeric attribute, increasing: round numbers, or dates of days, near its quantiles.

    The quantiles are weighted.

    Examples
    --------
    >>> find_cuts(np.arange(1000.0), None)
    array([120., 220., 320., 420., 520., 620., 720., 820., 920.])
    """
    known = ~np.isnan(values)
    distinct, places = np.unique(values[known], return_inverse=True)
    if distinct.size < 2:
        return np.empty(0)
    own = np.bincount(places, None if weights is None else weights[known])
    shares = np.cumsum(own) / own.sum()  # of the rows up to each value
    nearest = np.argmin(np.abs(shares[:-1] - RANKS[:, None]), axis=1)
    low, high = (np.searchsorted(shares[:-1], RANKS + shift) for shift in (-SLACK, SLACK))
    low, high = np.minimum(low, nearest), np.maximum(np.minimum(high, distinct.size - 1), nearest + 1)
    near = high > low + 1  # several values to choose from
    below = np.where(near, distinct[low], distinct[nearest])
    above = np.where(near, distinct[high], distinct[nearest + 1])
    return np.unique(choose_days(below, above) if days else choose_thresholds(below, above))


def list_ways(
    feature: int, values: FloatArray, weights: FloatArray | None, n_categories: int, *, days: bool = False
) -> list[tuple[Condition, ...]]:
    """Return the conditions on an attribute, each with its opposite if it has one; values are missing in neither."""
    if n_categories:
        codes = range(n_categories)
        ways: list[tuple[Condition, ...]] = [
            (
                Condition(feature, categories=tuple(other for other in codes if other != code)),
                Condition(feature, categories=(code,)),
            )
            for code in codes
        ]
    else:
        cuts = find_cuts(values, weights, days=days).tolist()
        ways = [(Condition(feature, upper=cut), Condition(feature, lower=cut)) for cut in cuts]
    return [*ways, (Condition(feature, lower=math.inf, missing=True),)] if np.isnan(values).any() else ways


@dataclass(frozen=True, eq=False)
class Goal:
    """What rules are to say something of.

    Attributes
    ----------
    shares : ndarray of shape (n_rows,)
        Weights of the rows; they add up to one.
    pulls : ndarray of shape (n_outputs, n_rows)
        Responses less their means, times the weights.
    """

    shares: FloatArray
    pulls: FloatArray

    @classmethod
    def of(cls, responses: FloatArray, weights: FloatArray | None) -> Self:
        """Return the goal that responses of shape (n_rows, n_outputs) are."""
        shares = np.ones(len(responses)) if weights is None else weights
        shares = shares / shares.sum()
        return cls(shares, (shares[:, None] * (responses - shares @ responses)).T)

    def take(self, outputs: Sequence[int]) -> Self:
        """Return the goal of some of the outputs."""
        return type(self)(self.shares, self.pulls[list(outputs)])

    def sum_up(self, held: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return supports and covariances of conditions, told as rows of ones and zeros."""
        return held @ self.shares, self.pulls @ held.T


def measure(supports: FloatArray, covariances: FloatArray) -> FloatArray:
    """Return what rules explain by themselves; nothing if they hold on hardly any or on nearly all rows.

    One output alone tells a rule from its opposite, of which the one that speaks for it is meant, the other explains
    nothing.

    Parameters
    ----------
    supports : ndarray of shape (...)
        Shares of the rows on which rules hold.
    covariances : ndarray of shape (n_outputs, ...)
        With the responses.
    """
    spreads = supports * (1.0 - supports)
    meant = np.minimum(supports, 1.0 - supports) >= LEAST_SHARE
    if len(covariances) == 1:
        meant &= covariances[0] > 0.0
    explained = np.einsum("t...,t...->...", covariances, covariances)
    return np.asarray(np.divide(explained, spreads, out=np.zeros_like(spreads), where=meant))


def offer_rules(
    block: FloatArray,
    goal: Goal,
    parts: Sequence[Sequence[int]],
    weights: FloatArray | None,
    *,
    n_categories: IntArray,
    are_days: BoolArray,
    max_conditions: int | None,
    steadiness: float,
    allows: Callable[[Rule], bool],
) -> list[tuple[Rule, ...]]:
    """Return the rules that explain most of a goal by themselves, the best one of each family.

    Rules have one condition or two, thresholds near nine quantiles of the attribute; all of them are tried, so that
    chance has no say. That is what other rows are most likely to choose again: trees on two halves of a table have
    hardly a rule in common.

    Parameters
    ----------
    block : ndarray of shape (n_features, n_rows)
        Values, one row for each attribute; NaN where missing.
    goal : Goal
    parts : sequence of sequence of int
        Outputs that share their rules.
    weights : ndarray of shape (n_rows,), optional
        Of the rows, for the quantiles.
    n_categories : ndarray of shape (n_features,)
        Categories of each attribute, 0 for a numeric one.
    are_days : ndarray of shape (n_features,), bool
        Whether an attribute is the day of a date.
    max_conditions : int, optional
    steadiness : float
        Price of conditions, as in `price_terms`.
    allows : callable
        Whether a list may have a rule.

    Returns
    -------
    list of tuple of Rule
        For each of the parts, the strongest first.

    References
    ----------
    Liu, Mazumder (2025). "MOSS: Multi-Objective Optimization for Stable Rule Sets". KDD 2025.
    Benard, Biau, Da Veiga, Scornet (2021). "SIRUS: Stable and Interpretable RUle Set for classification". Electronic
    Journal of Statistics 15.

    Examples
    --------
    >>> import numpy as np
    >>> block = np.random.default_rng(0).normal(size=(3, 400))
    >>> goal, nothing = Goal.of(np.sign(block[:1]).T, None), np.zeros(3, dtype=np.int64)
    >>> [rules] = offer_rules(block, goal, [[0]], None, n_categories=nothing, are_days=nothing > 0, max_conditions=None,
    ...                       steadiness=0.5, allows=lambda rule: True)
    >>> rules[0].features, max(len(rule.conditions) for rule in rules)
    ((0,), 2)
    """
    ways: list[tuple[Condition, ...]] = []
    sums = []
    for feature, values in enumerate(block):
        own = list_ways(feature, values, weights, int(n_categories[feature]), days=bool(are_days[feature]))
        most = max(1, _CHUNK_VALUES // max(1, values.size))
        for start in range(0, len(own), most):
            some = own[start : start + most]
            sums.append([goal.sum_up(_hold([way[end] for way in some], block)) for end in (-1, 0)])
        ways += own
    if not ways:
        return [() for _ in parts]
    supports = np.hstack([[one[0] for one in both] for both in sums])  # of the conditions, and of their opposites
    covariances = np.concatenate([np.array([one[1] for one in both]) for both in sums], axis=2)
    offers = []
    for part in parts:
        strengths = np.array([measure(supports[end], covariances[end][list(part)]) for end in (0, 1)])
        turned = strengths[1] > strengths[0]
        strength = strengths.max(axis=0)
        order = [place for place in np.argsort(-strength, kind="stable").tolist() if strength[place] > 0.0]
        conditions = [ways[place][0 if turned[place] else -1] for place in order]
        one, two = price_terms(np.array([1, 2]), steadiness).tolist()
        worth = {Rule((own,)): one * strength[place] for own, place in zip(conditions, order, strict=True)}
        if max_conditions is None or max_conditions > 1:
            worth |= {rule: two * own for rule, own in _pair(block, goal.take(part), conditions[:MOST_PAIRED])}
        ranked = sorted((rule for rule in worth if allows(rule)), key=lambda rule: -worth[rule])
        offers.append(_keep_families(block, ranked[:MOST_COMPARED]))
    return offers


def _hold(conditions: Sequence[Condition], block: FloatArray) -> FloatArray:
    """Return where conditions hold, an array of ones and zeros with a row for each."""
    return np.array([condition.holds(block[condition.feature]) for condition in conditions], dtype=np.float64)


def _pair(block: FloatArray, goal: Goal, conditions: Sequence[Condition]) -> list[tuple[Rule, float]]:
    """Return the strongest rules of two conditions, or their opposites, on different attributes."""
    mates = [mate for condition in conditions for mate in _turn(condition)]
    held = _hold(mates, block).astype(np.float32)  # seven digits are enough to tell which are the strongest
    supports = np.asarray((held * goal.shares.astype(np.float32)) @ held.T, dtype=np.float64)
    covariances = np.array([(held * own.astype(np.float32)) @ held.T for own in goal.pulls], dtype=np.float64)
    features = np.array([mate.feature for mate in mates])
    first, second = np.nonzero(features[:, None] < features)
    strengths = measure(supports[first, second], covariances[:, first, second])
    best = np.argsort(-strengths, kind="stable")[:MOST_COMPARED]
    return [
        (Rule((mates[first[place]], mates[second[place]])), float(strengths[place]))
        for place in best
        if strengths[place] > 0.0
    ]


def _turn(condition: Condition) -> tuple[Condition, ...]:
    """Return a condition, and its opposite if it is a bound."""
    if condition.lower == math.inf or condition.categories is not None:
        return (condition,)
    opposite = (
        Condition(condition.feature, upper=condition.lower)
        if condition.lower > -math.inf
        else Condition(condition.feature, lower=condition.upper)
    )
    return condition, opposite


def _keep_families(block: FloatArray, ranked: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the first rule of each family, in order."""
    program = compile_rules(ranked, len(block))
    alike = find_alike(program.evaluate(block[program.used_features]))
    kept: list[int] = []
    left = np.ones(len(ranked), dtype=bool)
    for place in range(len(ranked)):
        if left[place] and len(kept) < MOST_FAMILIES:
            kept.append(place)
            left &= ~alike[place]
    return tuple(ranked[place] for place in kept)
