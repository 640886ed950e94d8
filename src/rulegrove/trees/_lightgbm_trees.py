"""Trees of LightGBM, from what its model says of itself."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rulegrove.columns import Feature, call_column
from rulegrove.exceptions import InvalidInputError
from rulegrove.trees._foreign_nodes import CategorySplit, Nodes, place_labels

ZERO = float(np.float32(1e-35))  # numbers up to here, either way, are zero to LightGBM
INFINITE = 1e300  # how its dump writes an infinite threshold, which parts the missing values from all others


def read_lightgbm(booster: Any, features: Sequence[Feature]) -> Iterator[Nodes]:
    """Yield the trees of a booster, up to its best iteration.

    Doubles go left if ``x <= threshold``. What happens to a missing value stands at each split: it goes its own way
    ("NaN"), or as zero does, and zero may have a way of its own ("Zero").
    """
    known = _known_categories(booster, features)
    for tree in booster.dump_model()["tree_info"]:
        yield _read_tree(tree["tree_structure"], features, known)


def _known_categories(booster: Any, features: Sequence[Feature]) -> dict[int, list[Hashable]]:
    """Return the categories by which a data frame's columns were coded; columns of whole numbers are their own codes.

    The booster lists them in the order of the columns that a data frame had as categories, without saying which.
    """
    stored: list[list[Hashable]] = booster.pandas_categorical or []
    columns = [position for position, feature in enumerate(features) if feature.categories is not None]
    if not stored:
        return {}
    if len(stored) != len(columns):
        raise InvalidInputError(
            f"The LightGBM trees were fitted on {len(stored)} columns of categories and the table has {len(columns)}; "
            "fit both on the same data frame."
        )
    return dict(zip(columns, stored, strict=True))


def _read_tree(root: Mapping[str, Any], features: Sequence[Feature], known: Mapping[int, list[Hashable]]) -> Nodes:
    """Return a tree whose splits hold each other."""
    nodes, children = [root], [(-1, -1)]
    for place, node in enumerate(nodes):  # the list grows as it is walked
        if "split_feature" in node:
            children[place] = (len(nodes), len(nodes) + 1)
            nodes += [node["left_child"], node["right_child"]]
            children += [(-1, -1)] * 2
    n_nodes = len(nodes)
    feature = np.full(n_nodes, -1, dtype=np.int64)
    threshold, missing_left, splits = np.zeros(n_nodes), np.zeros(n_nodes, dtype=bool), {}
    for place, node in enumerate(nodes):
        if "split_feature" not in node:
            continue
        feature[place] = position = int(node["split_feature"])
        if node["decision_type"] == "==":
            # Missing categories, unknown ones and negative codes go right.
            listed = {int(code) for code in str(node["threshold"]).split("||")}
            splits[place] = CategorySplit(listed, listed_left=True, unknown_left=False)
        else:
            threshold[place], missing_left[place] = _split_numbers(node, features, position)
    sides = place_labels(splits, feature, features, known, "LightGBM")
    left, right = np.array(children, dtype=np.int64).T
    return Nodes(feature, threshold, left, right, missing_left, sides)


def _split_numbers(node: Mapping[str, Any], features: Sequence[Feature], position: int) -> tuple[float, bool]:
    """Return the threshold of doubles and whether a missing value goes left.

    LightGBM reads numbers up to `ZERO`, either way, as zero before it compares them.
    """
    threshold, default_left = float(node["threshold"]), bool(node["default_left"])
    if threshold >= INFINITE:
        threshold = np.inf
    zero_left = threshold >= 0.0
    if node["missing_type"] == "Zero":
        zero_left = default_left
        if zero_left != (threshold >= 0.0) and not -ZERO <= threshold <= ZERO:
            raise InvalidInputError(
                f"{call_column(position, features[position].name)}: LightGBM sends zeros elsewhere than their "
                "neighbours (`zero_as_missing`), which no interval can say; fit it with zero_as_missing=False."
            )
    if -ZERO <= threshold <= ZERO:
        threshold = ZERO if zero_left else float(np.nextafter(-ZERO, -np.inf))
    return threshold, default_left if node["missing_type"] == "NaN" else zero_left
