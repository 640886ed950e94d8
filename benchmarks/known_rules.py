"""Generated tables whose true rules are known, and how many of them a model finds.

The log odds of a row are a sum over a handful of rules, so a method that finds these rules predicts as well as can be.
"""

from dataclasses import dataclass

import numpy as np

Condition = tuple[int, str, float]  # attribute, "<=" or ">", threshold
Conditions = tuple[Condition, ...]
HIT = 0.8  # a rule is found where one of the model agrees with it on this share of the rows that either covers


@dataclass(frozen=True)
class Known:
    """A table with the rules that made its target.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        0 and 1.
    rules : tuple of tuple of (attribute, sign, threshold)
    """

    X: np.ndarray
    y: np.ndarray
    rules: tuple[Conditions, ...]


def make_known_rules(
    n_rows: int, n_features: int = 20, n_rules: int = 6, correlation: float = 0.0, weight: float = 3.0, seed: int = 0
) -> Known:
    """Return rows whose log odds are a sum of rules with weights of either sign.

    Parameters
    ----------
    n_rows, n_features, n_rules : int
        Rules have one to three conditions on attributes of their own choice and hold on 10 to 50 % of the rows.
    correlation : float
        Of any two attributes, which are normal.
    weight : float
        Size of each rule's weight; larger is less noise.
    seed : int
    """
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((n_rows, 1))
    X = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.standard_normal((n_rows, n_features))
    rules: list[Conditions] = []
    while len(rules) < n_rules:
        chosen = rng.choice(n_features, rng.integers(1, 4), replace=False)
        rule = tuple(
            (int(feature), str(rng.choice(["<=", ">"])), round(float(rng.normal(scale=0.5)), 2)) for feature in chosen
        )
        if 0.1 <= cover(rule, X).mean() <= 0.5:
            rules.append(rule)
    columns = np.column_stack([cover(rule, X) for rule in rules]).astype(float)
    signs = np.where(np.arange(n_rules) % 2, -1.0, 1.0)
    scores = weight * (columns - columns.mean(axis=0)) @ signs
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-scores))).astype(np.int64)
    return Known(X, y, tuple(rules))


def cover(rule: Conditions, X: np.ndarray) -> np.ndarray:
    """Return which rows a rule holds on."""
    holds = np.ones(len(X), dtype=bool)
    for feature, sign, threshold in rule:
        holds &= X[:, feature] <= threshold if sign == "<=" else X[:, feature] > threshold
    return holds


def hit_rate(true: tuple[Conditions, ...], found: list[Conditions], X: np.ndarray) -> float:
    """Return the share of the true rules that a model has, or has the complement of, up to `HIT`."""
    masks = [cover(rule, X) for rule in found]
    hits = 0
    for rule in true:
        own = cover(rule, X)
        hits += any(max(_jaccard(own, mask), _jaccard(own, ~mask)) >= HIT for mask in masks)
    return hits / len(true)


def _jaccard(one: np.ndarray, other: np.ndarray) -> float:
    either = np.count_nonzero(one | other)
    return np.count_nonzero(one & other) / either if either else 0.0
