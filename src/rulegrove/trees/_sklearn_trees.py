"""Trees of scikit-learn: single ones, ensembles of them, histogram gradient boosting."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from rulegrove._typing import IntArray
from rulegrove.columns import Feature
from rulegrove.exceptions import InvalidInputError
from rulegrove.trees._foreign_nodes import CategorySplit, Nodes, bound_singles, place_labels


def read_sklearn(model: Any, features: Sequence[Feature]) -> Iterator[Nodes]:
    """Yield the trees of a fitted model, those of its members one after the other.

    Single trees and the ensembles made of them cast a table to float32 and compare with thresholds of float64.
    Histogram gradient boosting compares doubles.
    """
    return _read(model, features, np.arange(len(features)))


def _read(model: Any, features: Sequence[Feature], columns: IntArray) -> Iterator[Nodes]:
    """Yield the trees of a model that was given some of the columns."""
    if hasattr(model, "tree_"):
        yield _read_tree(model.tree_, columns)
    elif hasattr(model, "_predictors"):
        yield from _read_histogram_trees(model, features, columns)
    elif hasattr(model, "estimators_"):
        own = model.estimators_  # an array where each round has a tree for every class
        members = own.ravel().tolist() if isinstance(own, np.ndarray) else own
        seen = getattr(model, "estimators_features_", [slice(None)] * len(members))
        for member, part in zip(members, seen, strict=True):
            yield from _read(member, features, columns[part])
    else:
        raise InvalidInputError(
            f"`trees` must be a scikit-learn tree or an ensemble of trees; a {type(model).__name__} has none. "
            "Of a pipeline or a search pass the fitted trees, and to `fit` the table that they saw."
        )


def _read_tree(tree: Any, columns: IntArray) -> Nodes:
    """Return a tree of `sklearn.tree`."""
    inner = tree.children_left >= 0
    return Nodes(
        feature=np.where(inner, columns[np.where(inner, tree.feature, 0)], -1),
        threshold=bound_singles(tree.threshold),
        left=tree.children_left,
        right=tree.children_right,
        missing_left=tree.missing_go_to_left.astype(bool),
        sides={},
    )


def _read_histogram_trees(model: Any, features: Sequence[Feature], columns: IntArray) -> Iterator[Nodes]:
    """Yield the trees of histogram gradient boosting, which sees categorical columns first, as codes of its own."""
    categories: dict[int, list[Hashable]] = {}
    if model._preprocessor is not None:
        mask = np.asarray(model.is_categorical_)
        columns = np.concatenate([columns[mask], columns[~mask]])
        known = model._preprocessor.named_transformers_["encoder"].categories_
        categories = {int(column): own.tolist() for column, own in zip(columns, known, strict=False)}
    for predictor in (tree for trees in model._predictors for tree in trees):
        nodes = predictor.nodes
        inner = nodes["is_leaf"] == 0
        feature = np.where(inner, columns[np.where(inner, nodes["feature_idx"], 0)], -1)
        missing_left = nodes["missing_go_to_left"].astype(bool)
        splits = {}
        for node in np.flatnonzero(inner & (nodes["is_categorical"] == 1)).tolist():
            words = np.ascontiguousarray(predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
            left = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist()
            # A category that the model does not know counts as missing.
            splits[node] = CategorySplit(left, listed_left=True, unknown_left=bool(missing_left[node]))
        yield Nodes(
            feature=feature,
            threshold=nodes["num_threshold"],
            left=nodes["left"].astype(np.int64),
            right=nodes["right"].astype(np.int64),
            missing_left=missing_left,
            sides=place_labels(splits, feature, features, categories, "scikit-learn"),
        )
