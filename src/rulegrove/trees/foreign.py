"""Fitted trees of other libraries as a `Forest`: every row takes the same way through it as through the original.

None of the libraries is imported; a model is known by the module of its type.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from rulegrove._typing import BoolArray, Int32Array, IntArray, Words
from rulegrove.columns import Feature
from rulegrove.exceptions import InvalidInputError
from rulegrove.trees._foreign_nodes import Nodes, Sides, split_numbers
from rulegrove.trees._kernels import LEFT, RIGHT
from rulegrove.trees._lightgbm_trees import read_lightgbm
from rulegrove.trees._sklearn_trees import read_sklearn
from rulegrove.trees._xgboost_trees import read_xgboost
from rulegrove.trees.tree import Forest

READERS = {"sklearn": read_sklearn, "lightgbm": read_lightgbm, "xgboost": read_xgboost}


def read_trees(
    model: Any,
    features: Sequence[Feature],
    *,
    named: bool = False,
    has_missing: BoolArray | None = None,
    max_depth: int | None = None,
) -> Forest:
    """Read the trees of a fitted model.

    Parameters
    ----------
    model : object
        Trees, forests, bagged or boosted trees of scikit-learn, histogram gradient boosting; a model or a
        `Booster` of LightGBM or XGBoost. Attributes are taken by their position.
    features : sequence of Feature
        The attributes of the table that the forest is for.
    named : bool
        Whether their names are the table's own; they must then be those that the model has.
    has_missing : ndarray of shape (n_features,), optional
        Attributes of which a value can be missing; of the others a missing value stays at the node, so that no rule
        need speak of it. All by default.
    max_depth : int, optional
        Most splits above a node; deeper ones are cut off.

    Returns
    -------
    Forest
        The nodes of each tree level by level. It has the splits alone: no values, no numbers of samples.

    Notes
    -----
    scikit-learn's trees and XGBoost cast a table to float32; `bound_singles` gives the thresholds that do the same to
    doubles. A category of `features` that the model does not know goes where the library sends it: with missing values
    (histogram gradient boosting), right (LightGBM), nowhere (XGBoost, which refuses it).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from rulegrove.columns import Feature
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> forest = read_trees(model, [Feature(name) for name in "abcd"], max_depth=2)
    >>> forest.n_trees
    10
    >>> forest.n_nodes <= 10 * 7
    True
    """
    library, source = _open(model)
    _check_columns(model, source, library, features, named)
    trees = [_cut(nodes, max_depth) for nodes in READERS[library](source, features)]
    missing = np.ones(len(features), dtype=bool) if has_missing is None else has_missing
    return _join(trees, features, missing)


def _open(model: Any) -> tuple[str, Any]:
    """Return the library of a model, and what holds its trees."""
    roots = [base.__module__.partition(".")[0] for base in type(model).__mro__]
    # The models of LightGBM and XGBoost are also scikit-learn's, so the first base that is known tells.
    library = next((root for root in roots if root in READERS), None)
    name = type(model).__name__
    if library is None or isinstance(model, type):
        what = f"the class {model.__name__}, which is not an object" if isinstance(model, type) else f"a {name}"
        raise InvalidInputError(
            f"`trees` must be fitted trees of scikit-learn, LightGBM or XGBoost; got {what}. "
            "Leave `trees` out to grow rules here."
        )
    try:
        if library == "sklearn":
            check_is_fitted(model)
            return library, model
        if library == "lightgbm":
            return library, model.booster_ if hasattr(type(model), "booster_") else model
        _check_missing(model, name)
        return library, model.get_booster() if hasattr(model, "get_booster") else model
    except (NotFittedError, TypeError):
        raise InvalidInputError(f"`trees` must be fitted, and this {name} is not; call its `fit` first.") from None


def _check_missing(model: Any, name: str) -> None:
    """Refuse a model of XGBoost to which some number is a missing value."""
    missing = getattr(model, "missing", np.nan)
    if missing is not None and not np.isnan(missing):
        raise InvalidInputError(
            f"`trees` is a {name} to which {missing} is a missing value; replace it by NaN in the table and fit anew."
        )


def _check_columns(model: Any, source: Any, library: str, features: Sequence[Feature], named: bool) -> None:
    """Refuse a model of other columns."""
    counts = {"sklearn": "n_features_in_", "lightgbm": "num_feature", "xgboost": "num_features"}
    count = getattr(source, counts[library])
    n_features = int(count() if callable(count) else count)
    if n_features != len(features):
        raise InvalidInputError(
            f"`trees` were fitted on {n_features} columns and X has {len(features)}; fit both on the same columns."
        )
    theirs = _names(model, source, library)
    if not named or theirs is None:
        return
    for position, (feature, name) in enumerate(zip(features, theirs, strict=True)):
        ours = re.sub(r"\s", "_", feature.name) if library == "lightgbm" else feature.name
        if ours != name:
            raise InvalidInputError(
                f"`trees` know column {position} as '{name}', in X it is '{feature.name}'; give X the columns in the "
                "order in which the trees were fitted."
            )


def _names(model: Any, source: Any, library: str) -> list[str] | None:
    """Return the names of the columns that a model was fitted on; None for a table without names."""
    if library == "lightgbm":
        names = [str(name) for name in source.feature_name()]
        return None if names == [f"Column_{k}" for k in range(len(names))] else names
    found = source.feature_names if library == "xgboost" else getattr(model, "feature_names_in_", None)
    return None if found is None else [str(name) for name in found]


def _cut(nodes: Nodes, max_depth: int | None) -> Nodes:
    """Return a tree level by level, without what lies deeper than some level."""
    levels = [np.zeros(1, dtype=np.int64)]
    while levels[-1].size and len(levels) - 1 != max_depth:
        split = levels[-1][nodes.feature[levels[-1]] >= 0]
        levels.append(np.column_stack([nodes.left[split], nodes.right[split]]).ravel())
    order = np.concatenate(levels)
    places = np.full(nodes.feature.size, -1, dtype=np.int64)
    places[order] = np.arange(order.size)
    feature = nodes.feature[order]
    if len(levels) - 1 == max_depth:
        feature[order.size - levels[-1].size :] = -1
    inner = feature >= 0
    return Nodes(
        feature=feature,
        threshold=nodes.threshold[order],
        left=np.where(inner, places[np.where(inner, nodes.left[order], 0)], -1),
        right=np.where(inner, places[np.where(inner, nodes.right[order], 0)], -1),
        missing_left=nodes.missing_left[order],
        sides={int(places[node]): sides for node, sides in nodes.sides.items() if places[node] >= 0},
    )


def _join(trees: Sequence[Nodes], features: Sequence[Feature], has_missing: BoolArray) -> Forest:
    """Return all trees as one forest."""
    sizes = np.array([tree.feature.size for tree in trees], dtype=np.int64)
    roots = np.cumsum(sizes) - sizes
    root, n_nodes = np.repeat(roots, sizes), int(sizes.sum())
    feature = _concatenate(tree.feature for tree in trees)
    left, right = _concatenate(tree.left for tree in trees), _concatenate(tree.right for tree in trees)
    left, right = (np.where(child >= 0, child + root, -1).astype(np.int32) for child in (left, right))
    parent = np.full(n_nodes, -1, dtype=np.int32)
    inner = np.flatnonzero(feature >= 0)
    parent[left[inner]] = parent[right[inner]] = inner
    threshold = np.concatenate([np.empty(0), *(tree.threshold for tree in trees)])
    missing_left = np.concatenate([np.empty(0, dtype=bool), *(tree.missing_left for tree in trees)])
    sides = {int(root) + node: own for tree, root in zip(trees, roots, strict=True) for node, own in tree.sides.items()}
    categorical = np.array([own.categories is not None for own in features], dtype=bool)
    for node in inner[categorical[feature[inner]]].tolist():
        if node not in sides:
            sides[node] = split_numbers(features, int(feature[node]), float(threshold[node]))
    bits = [_as_bits(sides, side, n_nodes) for side in (0, 1)]
    threshold[list(sides)] = np.inf
    return Forest(
        roots=roots,
        feature=feature,
        threshold=np.where(feature >= 0, threshold, 0.0),
        categories=bits[0],
        right_categories=bits[1],
        missing=np.where(has_missing[feature] & (feature >= 0), np.where(missing_left, LEFT, RIGHT), 0).astype(np.int8),
        left=left,
        right=right,
        parent=parent,
        value=np.empty((n_nodes, 0)),
        n_samples=np.zeros(n_nodes, dtype=np.int64),
    )


def _concatenate(parts: Iterable[IntArray]) -> Int32Array:
    """Return node numbers or features of all trees, as a forest stores them."""
    return np.concatenate([np.empty(0, dtype=np.int32), *parts]).astype(np.int32)


def _as_bits(sides: dict[int, Sides], side: int, n_nodes: int) -> Words:
    """Return the codes of one side as the 256 bits of each node."""
    words = np.zeros((n_nodes, 4), dtype=np.uint64)
    for node, own in sides.items():
        for code in own[side]:
            words[node, code // 64] |= np.uint64(1) << np.uint64(code % 64)
    return words
