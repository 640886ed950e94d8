"""Candidate terms: how rules are grown and from which rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._typing import IntArray
from rulegrove.design.linear import LinearTerms, fit_linear_terms, keep_strongest
from rulegrove.estimators import autos
from rulegrove.estimators._constraints import NO_CONSTRAINTS, Constraints
from rulegrove.estimators._given import NOTHING_GIVEN, Given
from rulegrove.estimators._limits import NO_LIMITS, Limits
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators.autos import count_subsample, size_pool
from rulegrove.estimators.settings import Settings
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Loss
from rulegrove.rules.extract import extract_rules
from rulegrove.rules.rule import Rule, move_rule
from rulegrove.trees.boosting import grow_forest
from rulegrove.trees.screening import find_strongest

MOST_CANDIDATES = 100_000  # whose pairs take 80 GB


@dataclass(frozen=True)
class Growth:
    """How rules are grown: the settings, and what the data make of them.

    Attributes
    ----------
    settings : Settings
    max_features : int
        Attributes tried at a split.
    min_impurity : float
        In the units of the data.
    loss : Loss
        Whose residuals the trees are grown on.
    share_told : float
        As in `Target.share_told`.
    constraints : Constraints
    limits : Limits
    given : Given
        Rules that are not grown.
    """

    settings: Settings
    max_features: int
    min_impurity: float
    loss: Loss
    share_told: float = 1.0
    constraints: Constraints = NO_CONSTRAINTS
    limits: Limits = NO_LIMITS
    given: Given = NOTHING_GIVEN

    def count_subsample(self, n_rows: int) -> int:
        """Return how many rows a tree sees of so many."""
        return count_subsample(self.settings.subsample, n_rows, self.share_told)

    def allows(self, rule: Rule) -> bool:
        """Whether a rule keeps to the limits and can have a coefficient of the right sign."""
        return self.limits.allow(rule) and self.constraints.sign(rule) is not None


def check_candidates(n_candidates: int) -> None:
    """Refuse more rules than pairs of them could be counted."""
    if n_candidates > MOST_CANDIDATES:
        raise InvalidInputError(
            f"`n_candidates` must be at most {MOST_CANDIDATES:,}, because the counts of all pairs of rules have to "
            f"fit into memory; got {n_candidates}. A few thousand are enough for most tables."
        )


def check_subsample(subsample: Any, n_rows: int) -> None:
    """Refuse more rows a tree than there are."""
    if isinstance(subsample, (int, np.integer)) and subsample > n_rows:
        raise InvalidInputError(
            f"`subsample` asks for {subsample} rows per tree but there are {n_rows}; lower it or give a fraction."
        )


def draw_pool(rows: IntArray, subsample: int, rng: np.random.Generator) -> IntArray:
    """Return the rows that trees, bins and winsor points come from: all, or a uniform sample of a large table."""
    size = size_pool(subsample)
    return rows if rows.size <= size else np.sort(rng.choice(rows, size, replace=False))


def grow_rules(
    data: TrainingData,
    rows: IntArray,
    growth: Growth,
    rng: np.random.Generator,
    progress: Callable[[int, int], None],
    n_threads: int = 1,
) -> tuple[tuple[Rule, ...], LinearTerms]:
    """Candidate rules and linear terms from some of the rows."""
    settings = growth.settings
    if data.drawn is None:
        subsample = growth.count_subsample(rows.size)
        pool = draw_pool(rows, subsample, rng)
    else:
        n_counted = data.n_counted * rows.size // data.rows.size
        subsample = growth.count_subsample(n_counted)
        pool = rows[data.drawn.ranks[rows] < size_pool(count_subsample(settings.subsample, n_counted))]
    block = data.columns.take(pool)
    weights = data.weights_of(pool)
    rules: tuple[Rule, ...] = growth.given.of_trees or ()
    grows = growth.given.of_trees is None and settings.n_candidates > 0 and settings.terms != "linear"
    targets, n_categories, monotonic = data.targets[pool], data.columns.n_categories, growth.constraints.monotonic
    if grows:
        least = settings.min_samples_leaf
        seen = find_strongest(
            block, targets, weights, n_categories, min_rows=least, most=autos.MOST_SPLIT, n_threads=n_threads
        )
        limits = growth.limits.among(seen)
        forest = grow_forest(
            block if seen.size == len(block) else block[seen],
            targets,
            weights=weights,
            n_categories=n_categories[seen],
            are_days=data.columns.are_days[seen],
            loss=growth.loss,
            n_rules=settings.n_candidates,
            mean_leaves=settings.mean_leaves,
            subsample=min(subsample, pool.size),
            shrinkage=settings.shrinkage,
            max_features=growth.max_features,
            min_samples_leaf=settings.min_samples_leaf,
            min_impurity=growth.min_impurity,
            max_bins=settings.max_bins,
            max_conditions=settings.max_conditions,
            max_attributes=limits.max_attributes,
            groups=limits.groups,
            monotonic=None if monotonic is None else monotonic[seen],
            rng=rng,
            n_threads=n_threads,
            on_progress=progress,
        )
        rules = extract_rules(forest)
        if seen.size < len(block):
            rules = tuple(move_rule(rule, seen.tolist()) for rule in rules)
    allowed = np.full(data.columns.n_features, 1) if settings.terms == "rules" else n_categories
    # What no sign suits must go before equal and nearly equal rules are counted, or it could stand for one of use.
    if growth.given.own:
        rules = tuple(dict.fromkeys((*growth.given.own, *rules)))
    rules = growth.constraints.allowed(rules)
    linear = fit_linear_terms(block, weights, allowed, n_threads=n_threads)
    return rules, keep_strongest(linear, block, targets, weights, autos.MOST_LINEAR)
