"""Which rules stand on a card: few of those of a model, that say what the model says."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from rulegrove._typing import AnyArray, ByteArray, FloatArray, IntArray
from rulegrove.columns import Columns
from rulegrove.design.terms import Linear
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.steady import list_ways
from rulegrove.rules.rule import Rule
from rulegrove.scorecards.points import Patterns, Weighed, weigh_rules

N_SWAPPED = 3  # rules that are tried in the place of another
LEAST_GAIN = 1e-5  # of the mean log loss, that a rule or a swap must take away
LEAST_SPREAD = 1e-6  # of the rows, of what a rule adds to the others


def own_rules(model: RuleModel, output: int, max_rules: int) -> tuple[Rule, ...] | None:
    """Return the terms of a class in a model, if they are rules alone and few enough for a card."""
    coefs = np.atleast_2d(model.coefs)[output]
    terms = [term for term, coef in zip(model.terms, coefs, strict=True) if coef != 0.0]
    rules = tuple(term for term in terms if isinstance(term, Rule))
    return rules if 0 < len(terms) <= max_rules and len(rules) == len(terms) else None


def list_candidates(model: BaseRuleEnsemble, columns: Columns, rows: IntArray) -> tuple[Rule, ...]:
    """Return the rules of the large model behind a list, and thresholds, by some rows, in the place of its lines."""
    large = model.model_ if model.front_ is None else model.front_[-1].fitted.model
    rules = dict.fromkeys(term for term in large.terms if isinstance(term, Rule))
    for line in large.terms:
        if isinstance(line, Linear):
            values = columns.take(rows, np.array([line.feature]))[0]
            days = large.features[line.feature].part == "date"
            ways = list_ways(line.feature, values, None, 0, days=days)
            rules |= dict.fromkeys(Rule((way[-1],)) for way in ways)
    return tuple(rules)


@dataclass(frozen=True, eq=False)
class _Chosen:
    """Some rules, the patterns that they cut the rows into, and their exact weights."""

    rules: tuple[int, ...]
    lines: IntArray  # (n_rows,): pattern of each row
    patterns: Patterns
    weighed: Weighed


@dataclass(frozen=True, eq=False)
class _Pool:
    """Rules to choose from, on the rows that choose."""

    held: ByteArray  # (n_rows, n_rules): where rules hold
    # weights, goals (n_rows,): goals are weights times shares.
    weights: FloatArray
    goals: FloatArray
    values: AnyArray  # (n_rows, n_rules): `held` in the form that is fast to multiply
    signs: tuple[bool, bool]  # whether rules may speak against the class, and for it

    def begin(self) -> _Chosen:
        """Return no rules."""
        lines = np.zeros(len(self.weights), np.int64)
        patterns = Patterns(np.empty((1, 0)), self.weights.sum(keepdims=True), self.goals.sum(keepdims=True))
        return _Chosen((), lines, patterns, weigh_rules(patterns))

    def add(self, chosen: _Chosen, rules: Iterable[int]) -> _Chosen:
        """Return chosen rules with some more, each of which cuts the patterns in two."""
        lines, held, first = chosen.lines, chosen.patterns.held, len(chosen.rules)
        more = tuple(rules)
        for rule in more:
            cut = 2 * lines + self.held[:, rule]
            kept = np.flatnonzero(np.bincount(cut))
            places = np.zeros(kept[-1] + 1, np.int64)
            places[kept] = np.arange(len(kept))
            lines, held = places[cut], np.column_stack([held[kept // 2], kept % 2])
        sums = [np.bincount(lines, own, len(held)).astype(np.float64) for own in (self.weights, self.goals)]
        patterns = Patterns(held, *sums)
        start = np.append(chosen.weighed.intercept, chosen.weighed.coef)[: 1 + first]
        return _Chosen((*chosen.rules, *more), lines, patterns, weigh_rules(patterns, start))

    def drop(self, chosen: _Chosen, rule: int) -> _Chosen:
        """Return chosen rules without one."""
        return self.add(self.begin(), (own for own in chosen.rules if own != rule))

    def measure(self, chosen: _Chosen) -> FloatArray:
        """Return about how much of the log loss each rule would take away, added to chosen ones."""
        shares = expit(chosen.weighed.intercept + chosen.patterns.held @ chosen.weighed.coef)[chosen.lines]
        pulls = (self.goals - self.weights * shares).astype(np.float32) @ self.values
        spreads = self.weights * shares * (1.0 - shares)
        bends = spreads.astype(np.float32) @ self.values
        bends -= bends**2 / spreads.sum()
        worth = np.zeros(len(pulls))
        least = LEAST_GAIN * self.weights.sum()
        known = bends > LEAST_SPREAD * self.weights.sum()
        known[list(chosen.rules)] = False
        known &= np.where(pulls > 0.0, *self.signs[::-1])
        worth[known] = pulls[known] ** 2 / (2.0 * bends[known])
        return np.where(worth > least, worth, 0.0)


def choose_rules(
    held: ByteArray,
    weights: FloatArray,
    goals: FloatArray,
    max_rules: int,
    signs: tuple[bool, bool] = (True, True),
) -> tuple[int, ...]:
    """Choose rules one by one, each the one that says most beside those before it; then swap what others say better.

    Goals are shares of the class to be met, neither 0 nor 1. `signs` tells whether rules may speak against the class,
    and for it. The places of the rules are returned.
    """
    pool = _Pool(held, weights, weights * goals, held.astype(np.float32), signs)
    chosen = pool.begin()
    while len(chosen.rules) < max_rules and (worth := pool.measure(chosen)).any():
        chosen = pool.add(chosen, [int(np.argmax(worth))])
    least = LEAST_GAIN * weights.sum()
    for rule in chosen.rules:
        others = pool.drop(chosen, rule)
        worth = pool.measure(others)
        worth[rule] = 0.0
        for other in np.argsort(-worth, kind="stable")[:N_SWAPPED].tolist():
            swapped = pool.add(others, [other])
            if worth[other] > 0.0 and swapped.weighed.loss < chosen.weighed.loss - least:
                chosen = swapped
                break
    return chosen.rules
