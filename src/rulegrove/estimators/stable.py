"""Candidate rules that come back: few readable thresholds, those first that many half-samples agree on."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rulegrove._typing import AnyArray, BoolArray, FloatArray, IntArray
from rulegrove.losses import Loss
from rulegrove.rules.extract import extract_rules
from rulegrove.rules.rule import Rule
from rulegrove.trees.binning import MAX_BINS
from rulegrove.trees.boosting import grow_forest
from rulegrove.trees.rounding import choose_days

N_BINS = 40  # of an attribute: coarse enough that half-samples agree, fine enough to cost no error
SLACK = 0.25  # of a bin, either way, within which a threshold may be moved to a rounder number
N_ROUNDS = 10  # half-samples
ROUND_SHARE = 0.6  # of the wanted rules that each half-sample grows
ROUND_ROWS = 10_000  # rows of a half-sample, at most
MAX_CONDITIONS = 4
MOST_UNITS = 2**53  # beyond, numbers that differ by one unit are no different floats
SHRINKAGE = 0.1  # trees differ by what those before them left, since they see the same rows and attributes


def split_halves(keys: AnyArray, rows: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Split rows at random into two halves that share none, each with its share of every class or target.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,) or (n_rows, n_keys)
        Numbers by which all rows are alike or near.
    rows : ndarray of shape (n_split,)
        Positions of the rows to split.
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> one, other = split_halves(np.array([0, 0, 1, 1]), np.arange(4), np.random.default_rng(0))
    >>> sorted([*one, *other]) == [0, 1, 2, 3] and {int(k > 1) for k in one} == {0, 1}
    True
    """
    shuffled = rng.permutation(rows)
    dealt = shuffled[np.lexsort(np.atleast_2d(keys[shuffled].T))]
    return np.sort(dealt[::2]), np.sort(dealt[1::2])


def find_readable(low: float, high: float) -> float:
    """Return the number of the fewest digits from `low` to `high`, of several the one nearest the middle.

    Examples
    --------
    >>> find_readable(127.3, 131.8), find_readable(0.0132, 0.0141), find_readable(-3.0, 1.0)
    (130.0, 0.014, 0.0)
    """
    if low <= 0.0 <= high:
        return 0.0
    if high < 0.0:
        return -find_readable(-high, -low)
    exponent = math.floor(math.log10(high))
    for place in range(exponent, exponent - 17, -1):
        for digit in (10, 5, 2, 1):
            unit = digit * 10.0**place
            if unit == 0.0 or high / unit > MOST_UNITS:
                return low
            steps = range(math.floor(low / unit), math.ceil(high / unit) + 1)  # quotients are off by rounding
            numbers = [float(f"{step * digit}e{place}") for step in steps]
            inside = [number for number in numbers if low <= number <= high]
            if inside:
                return min(inside, key=lambda number: abs(number - (low / 2 + high / 2)))
    return low


def find_cuts(values: FloatArray, weights: FloatArray | None, *, days: bool = False) -> FloatArray:
    """Return the thresholds of one numeric attribute, increasing: round numbers, or dates of days, near its quantiles.

    The quantiles are weighted.
    """
    known = ~np.isnan(values)
    x = values[known]
    distinct = np.unique(x)
    if distinct.size < 2:
        return np.empty(0)
    if distinct.size <= N_BINS:
        halves = np.diff(distinct / 2.0)  # differences themselves may be beyond all numbers
        below, above = distinct[:-1], distinct[1:] - 2.0 * SLACK * halves
    else:
        own = None if weights is None else weights[known]
        levels = np.arange(1, N_BINS) / N_BINS
        below, above = (
            np.quantile(x, levels + shift, weights=own, method="inverted_cdf")
            for shift in (-SLACK / N_BINS, SLACK / N_BINS)
        )
    if days:
        cuts = np.unique(choose_days(below, np.floor(above) + 1.0))
    else:
        cuts = np.unique([find_readable(float(low), float(high)) for low, high in zip(below, above, strict=True)])
    return np.asarray(cuts[cuts < distinct[-1]])


def grow_stable_rules(
    block: FloatArray,
    targets: FloatArray,
    *,
    weights: FloatArray | None,
    n_categories: IntArray,
    are_days: BoolArray,
    loss: Loss,
    n_rules: int,
    mean_leaves: float,
    min_samples_leaf: int,
    min_impurity: float,
    max_conditions: int | None,
    max_attributes: int | None = None,
    groups: BoolArray | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[Rule, ...]:
    """Grow rules on many half-samples and take those first that the most of them have.

    Thresholds are round numbers near 40 quantiles, so that rules of different samples can be the same rule. A forest is
    grown on each half-sample; its trees see all its rows and all attributes, and differ by the residuals. The
    half-samples come in complementary pairs, always the same ones for the same rows, so that no seed has a say.

    Parameters
    ----------
    block, targets, weights, n_categories, are_days, loss, mean_leaves, min_samples_leaf, min_impurity
        As in `grow_forest`, like `max_attributes` and `groups`.
    n_rules : int
        Rules wanted, at most.
    max_conditions : int or None
        Most conditions of a rule; None for four.
    on_progress : callable or None
        Called with the half-samples done and those to do.

    Returns
    -------
    tuple of Rule
        Those of the most half-samples first.

    References
    ----------
    Benard, Biau, Da Veiga, Scornet (2021). "SIRUS: Stable and Interpretable RUle Set for classification". Electronic
    Journal of Statistics 15.
    Shah, Samworth (2013). "Variable selection with error control: another look at stability selection". Journal of the
    Royal Statistical Society B 75(1).

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.losses import Squared
    >>> block = np.random.default_rng(0).normal(size=(3, 400))
    >>> rules = grow_stable_rules(block, np.sign(block[:1]).T, weights=None, n_categories=np.zeros(3, dtype=np.int64),
    ...                           are_days=np.zeros(3, dtype=bool), loss=Squared(), n_rules=100, mean_leaves=4.0,
    ...                           min_samples_leaf=5, min_impurity=0.0, max_conditions=None)
    >>> rules[0].features, max(len(rule.conditions) for rule in rules)
    ((0,), 1)
    """
    cuts = [
        np.empty(0) if n_categories[f] else find_cuts(values, weights, days=bool(are_days[f]))
        for f, values in enumerate(block)
    ]
    codes = np.array(
        [_encode(x, own) if not n_categories[f] else x for f, (x, own) in enumerate(zip(block, cuts, strict=True))]
    )
    rng = np.random.default_rng(0)
    counts: Counter[Rule] = Counter()
    for pair in range(N_ROUNDS // 2):
        for rows in split_halves(targets, rng.permutation(len(targets))[: 2 * ROUND_ROWS], rng):
            forest = grow_forest(
                codes[:, rows],
                targets[rows],
                weights=None if weights is None else weights[rows],
                n_categories=n_categories,
                loss=loss,
                n_rules=max(2, int(ROUND_SHARE * n_rules)),
                mean_leaves=mean_leaves,
                subsample=rows.size,
                shrinkage=SHRINKAGE,
                max_features=len(block),
                min_samples_leaf=min_samples_leaf,
                min_impurity=min_impurity,
                max_bins=MAX_BINS,
                max_conditions=MAX_CONDITIONS if max_conditions is None else max_conditions,
                max_attributes=max_attributes,
                groups=groups,
                rng=rng,
            )
            counts.update(extract_rules(forest))
        if on_progress is not None:
            on_progress(2 * pair + 2, N_ROUNDS)
    ranked = sorted(counts, key=lambda rule: (-counts[rule], len(rule.conditions), rule))
    return tuple(_decode(rule, cuts, n_categories) for rule in ranked[:n_rules])


def _encode(values: FloatArray, cuts: FloatArray) -> FloatArray:
    """Return bins by number: ``x <= cuts[k]`` exactly when the code is at most k; missing values stay missing."""
    return np.where(np.isnan(values), np.nan, np.searchsorted(cuts, values, side="left").astype(np.float64))


def _decode(rule: Rule, cuts: list[FloatArray], n_categories: IntArray) -> Rule:
    """Return a rule about codes as one about values."""

    def value(feature: int, code: float) -> float:
        return code if math.isinf(code) else float(cuts[feature][int(code)])

    return Rule(
        tuple(
            one
            if n_categories[one.feature]
            else replace(one, lower=value(one.feature, one.lower), upper=value(one.feature, one.upper))
            for one in rule.conditions
        )
    )
