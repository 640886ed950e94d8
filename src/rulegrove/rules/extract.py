"""Every node of a forest but the roots, as a rule."""

import math
from collections.abc import Iterable

import numpy as np

from rulegrove._typing import Words
from rulegrove.rules.rule import Condition, Rule
from rulegrove.trees.tree import Forest

LEFT, RIGHT = 1, 2  # sides a missing value can take, as the forest stores them
GOLDEN = 0.6180339887498949  # the first of its multiples modulo 1, in their order, lie evenly among all of them


def extract_rules(forest: Forest) -> tuple[Rule, ...]:
    """Turn each non-root node into the rule that its path from the root spells.

    Bounds on one attribute merge; a rule met twice is kept where it was met first. A tree of t leaves gives
    2(t - 1) rules (the paper, section 2.2).

    Parameters
    ----------
    forest : Forest
        Grown trees.

    Returns
    -------
    tuple of Rule
        Distinct rules in the order of their nodes.
    """
    return _collect(forest, range(forest.n_nodes), forest.n_nodes)


def draw_rules(forest: Forest, n_rules: int) -> tuple[Rule, ...]:
    """Take rules from all trees alike, those near the roots first.

    The first node of every tree, then the second of every tree, and so on until there are enough distinct rules. Where
    they run out among nodes of equal place, the trees that still give one lie evenly among all.

    Parameters
    ----------
    forest : Forest
        Trees whose nodes stand level by level.
    n_rules : int
        Most rules to take.

    Returns
    -------
    tuple of Rule
        Distinct rules.
    """
    sizes = np.diff([*forest.roots, forest.n_nodes])
    tree = np.repeat(np.arange(forest.n_trees), sizes)
    place = np.arange(forest.n_nodes) - forest.roots[tree]
    order = np.lexsort((tree * GOLDEN % 1.0, place))
    return _collect(forest, order.tolist(), n_rules)


def _collect(forest: Forest, nodes: Iterable[int], n_rules: int) -> tuple[Rule, ...]:
    """Return the distinct rules of some nodes, parents before their children, until there are enough."""
    paths: dict[int, dict[int, Condition]] = {int(root): {} for root in forest.roots}
    rules: dict[Rule, None] = {}
    categorical = forest.is_categorical
    for node in nodes:
        if len(rules) >= n_rules:
            break
        if node not in paths:
            parent = int(forest.parent[node])
            paths[node] = _extend(paths[parent], _step(forest, parent, node, bool(categorical[parent])))
            rules[Rule(tuple(paths[node][feature] for feature in sorted(paths[node])))] = None
    return tuple(rules)


def _step(forest: Forest, parent: int, node: int, categorical: bool) -> Condition:
    """Return the condition under which a row goes from `parent` to `node`."""
    left = int(forest.left[parent]) == node
    missing = int(forest.missing[parent]) == (LEFT if left else RIGHT)
    feature = int(forest.feature[parent])
    if categorical:
        codes = (forest.categories if left else forest.right_categories)[parent]
        return Condition(feature, categories=_codes(codes), missing=missing)
    threshold = float(forest.threshold[parent])
    lower, upper = (-math.inf, threshold) if left else (threshold, math.inf)
    return Condition(feature, lower, upper, missing=missing)


def _codes(words: Words) -> tuple[int, ...]:
    """Positions of the set bits."""
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    return tuple(np.flatnonzero(bits).tolist())


def _extend(path: dict[int, Condition], step: Condition) -> dict[int, Condition]:
    """Return a path with one more condition, merged with an earlier one on the same attribute."""
    earlier = path.get(step.feature)
    return {**path, step.feature: step if earlier is None else earlier & step}
