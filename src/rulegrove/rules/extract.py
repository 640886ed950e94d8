"""Every node of a forest but the roots, as a rule."""

import contextlib
import gc
import itertools
from collections.abc import Iterator

import numpy as np

from rulegrove._typing import Int32Array, IntArray, Words
from rulegrove.rules.rule import Condition, Rule
from rulegrove.trees.tree import Forest

LEFT, RIGHT = 1, 2  # sides a missing value can take, as the forest stores them
GOLDEN = 0.6180339887498949  # the first of its multiples modulo 1, in their order, lie evenly among all of them


def extract_rules(forest: Forest) -> tuple[Rule, ...]:
    """Turn each non-root node into the rule that its path from the root spells.

    Bounds on one attribute merge; a rule met twice is kept where it was met first. A tree of t leaves gives 2(t - 1)
    rules (the paper, section 2.2).
    """
    return _collect(forest, np.arange(forest.n_nodes), forest.n_nodes)


def draw_rules(forest: Forest, n_rules: int) -> tuple[Rule, ...]:
    """Take at most so many distinct rules from all trees alike, those near the roots first.

    The first node of every tree, whose nodes stand level by level, then the second of every tree, and so on until there
    are enough rules. Where they run out among nodes of equal place, the trees that still give one lie evenly among all.
    """
    sizes = np.diff([*forest.roots, forest.n_nodes])
    tree = np.repeat(np.arange(forest.n_trees), sizes)
    place = np.arange(forest.n_nodes) - forest.roots[tree]
    order = np.lexsort((tree * GOLDEN % 1.0, place))
    return _collect(forest, order, n_rules)


def _collect(forest: Forest, nodes: IntArray, n_rules: int) -> tuple[Rule, ...]:
    """Return the distinct rules of some nodes, roots left out, in the order of the nodes until there are enough."""
    with _no_collection():
        conditions, numbers, starts = _spell(forest)
        spoken = tuple(map(conditions.__getitem__, numbers))
        distinct: dict[tuple[int, ...], tuple[Condition, ...]] = {}
        for first, end in zip(starts[nodes].tolist(), starts[nodes + 1].tolist(), strict=True):
            distinct.setdefault(numbers[first:end], spoken[first:end])
        distinct.pop((), None)
        return tuple(map(Rule, itertools.islice(distinct.values(), max(0, n_rules))))


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Hold Python's garbage collector off meanwhile.

    It starts with every few hundred objects, and some of its rounds walk over all that the process holds: that took
    most of the time of thousands of records, of which none is garbage.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _spell(forest: Forest) -> tuple[list[Condition], tuple[int, ...], IntArray]:
    """Return the distinct conditions, which of them the nodes have, one node after the other, and where each begins.

    All nodes are spelled at once: the steps from the root to each of them, those on one attribute beside each other.
    What a node says of an attribute, the last of these steps said already, so that each step is told only once.
    """
    node, step = _pair_with_steps(forest.parent)
    feature = forest.feature[forest.parent[step]]
    # A parent's number is below its children's, so that steps in their order lead from the root down.
    place = (node * (1 + feature.max(initial=0)) + feature) * forest.n_nodes + step
    order = np.argsort(place, kind="stable")
    node, step, feature = node[order], step[order], feature[order]
    first = np.flatnonzero(np.diff(node, prepend=-1) | np.diff(feature, prepend=-1))
    starts = np.searchsorted(node[first], np.arange(forest.n_nodes + 1))
    if not first.size:
        return [], (), starts
    sizes = np.diff(first, append=len(step))
    last = step[first + sizes - 1]
    own = node[first] == last
    number = np.zeros(forest.n_nodes, dtype=np.int64)
    conditions, number[last[own]] = _merge(forest, step[np.repeat(own, sizes)], sizes[own])
    return conditions, tuple(number[last].tolist()), starts


def _merge(forest: Forest, steps: IntArray, sizes: IntArray) -> tuple[list[Condition], IntArray]:
    """Return the distinct conditions of runs of so many steps on one attribute, and which of them each run says."""
    first = np.cumsum(sizes) - sizes
    parent = forest.parent[steps]
    left = forest.left[parent] == steps
    categorical = forest.is_categorical[parent]
    threshold = forest.threshold[parent]
    feature = forest.feature[parent[first]]
    lower = np.maximum.reduceat(np.where(left | categorical, -np.inf, threshold), first)
    upper = np.minimum.reduceat(np.where(left & ~categorical, threshold, np.inf), first)
    missing = np.logical_and.reduceat(forest.missing[parent] == np.where(left, LEFT, RIGHT), first)
    of_codes = np.logical_and.reduceat(categorical, first)
    fields = [feature, lower, upper, missing, of_codes]
    words = np.zeros((len(first), 4), dtype=np.uint64)
    if of_codes.any():
        words = np.where(left[:, None], forest.categories[parent], forest.right_categories[parent])
        words = np.bitwise_and.reduceat(words, first, axis=0)
        fields += list(words.T)
    order = np.lexsort(fields)
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = np.any([field[order[1:]] != field[order[:-1]] for field in fields], axis=0)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(is_new) - 1
    told = order[is_new]
    codes: list[tuple[int, ...] | None] = [None] * len(told)
    sets = np.flatnonzero(of_codes[told])
    for place, own in zip(sets.tolist(), _codes(words[told[sets]]), strict=True):
        codes[place] = own
    parts = (feature[told].tolist(), lower[told].tolist(), upper[told].tolist(), codes, missing[told].tolist())
    return list(map(Condition, *parts)), number


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


def _codes(words: Words) -> list[tuple[int, ...]]:
    """Return the positions of the bits that are set in each row of words."""
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    positions, ends = np.nonzero(bits)[1].tolist(), np.cumsum(bits.sum(axis=1, dtype=np.int64)).tolist()
    return [tuple(positions[first:end]) for first, end in zip([0, *ends], ends, strict=False)]
