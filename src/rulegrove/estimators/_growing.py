"""Candidate terms: how rules are grown and from which rows."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._progress import Progress
from rulegrove._typing import IntArray
from rulegrove.design.linear import LinearTerms, fit_linear_terms
from rulegrove.estimators._constraints import NO_CONSTRAINTS, Constraints
from rulegrove.estimators._given import NOTHING_GIVEN, Given
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators.stable import grow_stable_rules
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Loss
from rulegrove.rules.extract import extract_rules
from rulegrove.rules.rule import Rule
from rulegrove.trees.boosting import grow_forest

POOL_ROWS = 65536  # trees draw their rows from a pool of at least so many,
POOL_SUBSAMPLES = 16  # or so many times a tree's rows; beyond that more rows add cost and no diversity
AUTO_SUBSAMPLE = 1500
MOST_CANDIDATES = 100_000  # whose pairs take 80 GB
MOST_AUTO = 2**15  # from 30 million rows on, so that the pool has half a million rows however many there are


@dataclass(frozen=True)
class Growth:
    """How rules are grown: the parameters of an estimator that concern the trees, resolved to numbers."""

    n_candidates: int
    mean_leaves: float
    subsample: Any
    shrinkage: float
    max_features: int
    min_samples_leaf: int
    min_impurity: float
    max_conditions: int | None
    max_bins: int
    max_correlation: float
    terms: str
    loss: Loss
    stable: bool = False
    constraints: Constraints = NO_CONSTRAINTS
    given: Given = NOTHING_GIVEN


def count_features(max_features: Any, n_features: int) -> int:
    """Attributes tried at a split."""
    if max_features is None:
        return n_features
    if max_features == "auto":
        return max(min(2, n_features), int(0.3 * n_features))
    if max_features == "sqrt":
        return max(1, int(math.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(max_features, (int, np.integer)):
        return min(int(max_features), n_features)
    return max(1, int(max_features * n_features))


def check_candidates(n_candidates: int) -> None:
    """Refuse more rules than pairs of them could be counted."""
    if n_candidates > MOST_CANDIDATES:
        raise InvalidInputError(
            f"`n_candidates` must be at most {MOST_CANDIDATES:,}, for counts of all pairs of rules have to fit into "
            f"memory; got {n_candidates}. A few thousand serve most tables."
        )


def check_subsample(subsample: Any, n_rows: int) -> None:
    """Refuse more rows a tree than there are."""
    if isinstance(subsample, (int, np.integer)) and subsample > n_rows:
        raise InvalidInputError(
            f"`subsample` asks for {subsample} rows a tree but there are {n_rows}; lower it or give a fraction."
        )


def count_subsample(subsample: Any, n_rows: int) -> int:
    """Rows a tree sees; "auto" is half of them, but from 3,000 rows on `AUTO_SUBSAMPLE`, later 100 + 6 sqrt(N).

    The last is the rule of Friedman and Popescu (2008); for a few thousand rows it gives trees too little to see. It
    ends at `MOST_AUTO`.
    """
    if isinstance(subsample, str):
        return max(2, min(n_rows // 2, MOST_AUTO, max(AUTO_SUBSAMPLE, int(100 + 6 * math.sqrt(n_rows)))))
    if isinstance(subsample, (int, np.integer)):
        return min(int(subsample), n_rows)
    return max(2, int(subsample * n_rows))


def size_pool(subsample: int) -> int:
    """Return how many rows trees, bins and winsor points come from at most."""
    return max(POOL_ROWS, POOL_SUBSAMPLES * subsample)


def draw_pool(rows: IntArray, subsample: int, rng: np.random.Generator) -> IntArray:
    """Return the rows that trees, bins and winsor points come from: all, or a uniform sample of a large table."""
    size = size_pool(subsample)
    return rows if rows.size <= size else np.sort(rng.choice(rows, size, replace=False))


def grow_rules(
    data: TrainingData,
    rows: IntArray,
    growth: Growth,
    rng: np.random.Generator,
    progress: Progress,
    n_threads: int = 1,
) -> tuple[tuple[Rule, ...], LinearTerms]:
    """Candidate rules and linear terms from some of the rows."""
    if data.drawn is None:
        subsample = count_subsample(growth.subsample, rows.size)
        pool = draw_pool(rows, subsample, rng)
    else:
        subsample = count_subsample(growth.subsample, data.n_counted * rows.size // data.rows.size)
        pool = rows[data.drawn.ranks[rows] < size_pool(subsample)]
    block = data.columns.take(pool)
    weights = data.weights_of(pool)
    rules: tuple[Rule, ...] = growth.given.of_trees or ()
    grows = growth.given.of_trees is None and growth.n_candidates > 0 and growth.terms != "linear"
    of_both: dict[str, Any] = {
        "weights": weights,
        "n_categories": data.columns.n_categories,
        "loss": growth.loss,
        "n_rules": growth.n_candidates,
        "mean_leaves": growth.mean_leaves,
        "min_samples_leaf": growth.min_samples_leaf,
        "min_impurity": growth.min_impurity,
        "max_conditions": growth.max_conditions,
        "on_progress": progress,
    }
    if grows and growth.stable:
        rules = grow_stable_rules(block, data.targets[pool], **of_both)
    elif grows:
        forest = grow_forest(
            block,
            data.targets[pool],
            **of_both,
            subsample=min(subsample, pool.size),
            shrinkage=growth.shrinkage,
            max_features=growth.max_features,
            max_bins=growth.max_bins,
            monotonic=growth.constraints.monotonic,
            rng=rng,
            n_threads=n_threads,
        )
        rules = extract_rules(forest)
    allowed = np.full(data.columns.n_features, 1) if growth.terms == "rules" else data.columns.n_categories
    # What no sign suits must go before equal and nearly equal rules are counted, or it could stand for one of use.
    rules = growth.constraints.allowed(dict.fromkeys((*growth.given.own, *rules)))
    return rules, fit_linear_terms(block, weights, allowed, n_threads=n_threads)
