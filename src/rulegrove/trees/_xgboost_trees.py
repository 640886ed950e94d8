"""Trees of XGBoost, from the JSON of its model."""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from rulegrove.columns import Feature, call_column
from rulegrove.exceptions import InvalidInputError
from rulegrove.trees._foreign_nodes import CategorySplit, Nodes, bound_singles, place_labels


def read_xgboost(booster: Any, features: Sequence[Feature]) -> Iterator[Nodes]:
    """Yield the trees of a booster, up to its best iteration.

    Values are cast to float32 and go left if ``x < threshold``, which is ``x <= t`` for the float32 t before it.
    Categories listed at a split go right, others left.
    """
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    part = learner["gradient_booster"]
    model = part.get("gbtree", part).get("model", {})
    if "trees" not in model:
        raise InvalidInputError(f"`trees` is an XGBoost model of the kind {part['name']!r}, which has no trees.")
    n_trees = len(model["trees"])
    if "best_iteration" in learner["attributes"]:
        n_trees = model["iteration_indptr"][int(learner["attributes"]["best_iteration"]) + 1]
    known = _known_categories(model.get("cats", {}), features)
    for tree in model["trees"][:n_trees]:
        yield _read_tree(tree, features, known)


def _known_categories(container: Mapping[str, Any], features: Sequence[Feature]) -> dict[int, list[Hashable]]:
    """Return the categories by which a data frame's columns were coded; columns of whole numbers are their own codes.

    XGBoost counts the letters of a pandas frame's categories where it should count their bytes, so that texts beyond
    ASCII are stored cut short and those after them shifted.
    """
    known: dict[int, list[Hashable]] = {}
    for position, own in enumerate(container.get("enc", ())):
        if "offsets" in own:
            text = np.array(own["values"], dtype=np.int8).tobytes()
            if not text.isascii():
                raise InvalidInputError(
                    f"{call_column(position, features[position].name)} has categories beyond ASCII, which XGBoost "
                    "does not keep whole; rename them and fit it anew."
                )
            labels: list[Hashable] = [text[start:stop].decode() for start, stop in pairwise(own["offsets"])]
        else:
            labels = list(own["values"])
        if labels:
            known[position] = labels
    return known


def _read_tree(tree: Mapping[str, Any], features: Sequence[Feature], known: Mapping[int, list[Hashable]]) -> Nodes:
    """Return a tree."""
    left = np.array(tree["left_children"], dtype=np.int64)
    feature = np.where(left >= 0, np.array(tree["split_indices"], dtype=np.int64), -1)
    before = np.nextafter(np.array(tree["split_conditions"], dtype=np.float32), np.float32(-np.inf))
    runs = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    splits = {
        node: CategorySplit(tree["categories"][start : start + size], listed_left=False, unknown_left=None)
        for node, start, size in runs
    }
    return Nodes(
        feature=feature,
        threshold=bound_singles(before),
        left=left,
        right=np.array(tree["right_children"], dtype=np.int64),
        missing_left=np.array(tree["default_left"], dtype=bool),
        sides=place_labels(splits, feature, features, known, "XGBoost"),
    )
