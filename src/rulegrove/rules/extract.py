"""Every node of a forest but the roots, as a rule."""

import numpy as np

from rulegrove._typing import Words
from rulegrove.rules.rule import Condition, Rule
from rulegrove.trees.tree import Forest

LEFT, RIGHT = 1, 2  # sides a missing value can take, as the forest stores them


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
    paths: dict[int, dict[int, Condition]] = {int(root): {} for root in forest.roots}
    rules: dict[Rule, None] = {}
    categorical = forest.is_categorical
    for node in range(forest.feature.size):
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
    if left:
        return Condition(feature, upper=threshold, missing=missing)
    return Condition(feature, lower=threshold, missing=missing)


def _codes(words: Words) -> tuple[int, ...]:
    """Positions of the set bits."""
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    return tuple(int(code) for code in np.flatnonzero(bits))


def _extend(path: dict[int, Condition], step: Condition) -> dict[int, Condition]:
    """Return a path with one more condition, merged with an earlier one on the same attribute."""
    earlier = path.get(step.feature)
    return {**path, step.feature: step if earlier is None else earlier & step}
