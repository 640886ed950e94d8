"""Every node of a forest but the roots, as a rule."""

import itertools

import numpy as np

from rulegrove._typing import Int32Array, IntArray, Words
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
    return _collect(forest, np.arange(forest.n_nodes), forest.n_nodes)


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
    return _collect(forest, order, n_rules)


def _collect(forest: Forest, nodes: IntArray, n_rules: int) -> tuple[Rule, ...]:
    """Return the distinct rules of some nodes, roots left out, in the order of the nodes until there are enough."""
    numbers, starts, conditions = _spell(forest)
    paths = (tuple(numbers[starts[node] : starts[node + 1]]) for node in nodes.tolist())
    distinct = dict.fromkeys(path for path in paths if path)
    return tuple(
        Rule(tuple(conditions[number] for number in path)) for path in itertools.islice(distinct, max(0, n_rules))
    )


def _spell(forest: Forest) -> tuple[list[int], list[int], list[Condition]]:
    """Return the numbers of every node's conditions, where each node's begin, and what condition has which number.

    All nodes are spelled at once: the steps from the root to each of them, those on one attribute beside each other,
    are merged by one reduction for each side of a condition.
    """
    node, step = _pair_with_steps(forest.parent)
    parent = forest.parent[step]
    feature = forest.feature[parent]
    order = np.lexsort((step, feature, node))  # a parent's number is below its children's: from the root down
    node, step, parent, feature = node[order], step[order], parent[order], feature[order]
    first = np.flatnonzero(np.diff(node, prepend=-1) | np.diff(feature, prepend=-1))
    starts = np.searchsorted(node[first], np.arange(forest.n_nodes + 1)).tolist()
    if not first.size:
        return [], starts, []
    left = forest.left[parent] == step
    categorical = forest.is_categorical[parent]
    threshold = forest.threshold[parent]
    lower = np.maximum.reduceat(np.where(left | categorical, -np.inf, threshold), first)
    upper = np.minimum.reduceat(np.where(left & ~categorical, threshold, np.inf), first)
    missing = np.logical_and.reduceat(forest.missing[parent] == np.where(left, LEFT, RIGHT), first)
    codes: list[tuple[int, ...] | None] = [None] * first.size
    of_codes = np.logical_and.reduceat(categorical, first)
    if of_codes.any():
        words = np.where(left[:, None], forest.categories[parent], forest.right_categories[parent])
        words = np.bitwise_and.reduceat(words, first, axis=0)
        for place in np.flatnonzero(of_codes):
            codes[place] = _codes(words[place])
    parts = zip(feature[first].tolist(), lower.tolist(), upper.tolist(), codes, missing.tolist(), strict=True)
    known: dict[tuple[int, float, float, tuple[int, ...] | None, bool], int] = {}
    numbers = [known.setdefault(part, len(known)) for part in parts]
    return numbers, starts, [Condition(*part) for part in known]


def _pair_with_steps(parent: Int32Array) -> tuple[IntArray, IntArray]:
    """Return pairs of nodes: each node with itself and all above it but the root, which are the steps on its way."""
    nodes, steps = [], []
    node = step = np.flatnonzero(parent >= 0)
    while node.size:
        nodes.append(node)
        steps.append(step)
        above = parent[step]
        inside = parent[above] >= 0
        node, step = node[inside], above[inside].astype(np.int64)
    nothing = np.empty(0, dtype=np.int64)
    return np.concatenate((nothing, *nodes)), np.concatenate((nothing, *steps))


def _codes(words: Words) -> tuple[int, ...]:
    """Positions of the set bits."""
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    return tuple(np.flatnonzero(bits).tolist())
