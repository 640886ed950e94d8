"""A tree of another library as arrays: doubles for its thresholds, codes of this table for its categories."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.columns import Feature, call_column
from rulegrove.exceptions import InvalidInputError

FLOAT32_OVERFLOW = 2.0**128  # where the next float32 after the largest would lie

Sides = tuple[frozenset[int], frozenset[int]]  # codes of this table that go left, and right


class Nodes(NamedTuple):
    """One tree, its root first; otherwise nodes stand in any order.

    Attributes
    ----------
    feature : ndarray of shape (n_nodes,)
        Attribute of the split, -1 for a leaf.
    threshold : ndarray of shape (n_nodes,)
        A double ``x <= threshold`` goes left; means nothing for a leaf and a split by category.
    left, right : ndarray of shape (n_nodes,)
        Children; mean nothing for a leaf.
    missing_left : ndarray of shape (n_nodes,)
        Whether a missing value goes left.
    sides : mapping of int to Sides
        Of the splits by category, by node.
    """

    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    missing_left: BoolArray
    sides: Mapping[int, Sides]


def bound_singles(thresholds: npt.ArrayLike) -> FloatArray:
    """Return for each threshold t the double b such that ``x <= b`` just where ``float32(x) <= t``.

    Rounding to float32 never changes an order, so b is the largest double that rounds to f, the largest float32 up to
    t. The doubles that round to f reach up to the middle between f and the float32 after it. That middle has 25 digits
    and is a double itself; it rounds to the even one of its two neighbours, so it is b if that is f, else the double
    before it is.

    Examples
    --------
    >>> import numpy as np
    >>> bound = bound_singles([0.5])[0]
    >>> np.float32(bound) <= 0.5, np.float32(np.nextafter(bound, 1.0)) <= 0.5
    (np.True_, np.False_)
    """
    limits = np.asarray(thresholds, dtype=np.float64)
    with np.errstate(over="ignore"):
        nearest = limits.astype(np.float32)
        below = np.where(nearest > limits, np.nextafter(nearest, np.float32(-np.inf)), nearest)
        middle = (_widen(below) + _widen(np.nextafter(below, np.float32(np.inf)))) / 2.0
        bounds = np.where(middle.astype(np.float32) <= below, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isinf(limits), limits, bounds)


def _widen(singles: npt.NDArray[np.float32]) -> FloatArray:
    """Return doubles, an infinite one as the number that rounding takes it for."""
    return np.clip(singles.astype(np.float64), -FLOAT32_OVERFLOW, FLOAT32_OVERFLOW)


class CategorySplit(NamedTuple):
    """A split by category as another library has it, in its own codes of the categories.

    Attributes
    ----------
    listed : collection of int
        Codes that stand at the split.
    listed_left : bool
        Whether these go left and all others right, or the other way round.
    unknown_left : bool or None
        Whether a category that the library does not know goes left; None if it would refuse it.
    """

    listed: Collection[int]
    listed_left: bool
    unknown_left: bool | None


def place_labels(
    splits: Mapping[int, CategorySplit],
    feature: IntArray,
    features: Sequence[Feature],
    known: Mapping[int, Sequence[Hashable]],
    library: str,
) -> dict[int, Sides]:
    """Return the codes on both sides of a tree's splits by category.

    Parameters
    ----------
    splits : mapping of int to CategorySplit
        The splits, by node.
    feature : ndarray of shape (n_nodes,)
        Attribute of each node's split.
    features : sequence of Feature
    known : mapping of int to sequence
        Categories of an attribute in the order of the library's codes; categories of others are whole numbers, which
        are the codes themselves.
    library : str
        Its name.
    """
    sides = {}
    for node, split in splits.items():
        position = int(feature[node])
        own, place = features[position], call_column(position, features[position].name)
        if own.categories is None:
            raise InvalidInputError(
                f"{place} is split by categories in the {library} trees, but is a number here; list it in "
                "`categorical_features`, or pass it as text or categories."
            )
        if own.pooled:
            raise InvalidInputError(
                f"{place} has more categories than `max_bins`, so that its rare ones are pooled here, but the "
                f"{library} trees tell them apart. Join rare categories before fitting the trees."
            )
        codes = [_find_code(label, known.get(position)) for label in own.categories]
        goes_left = [
            split.unknown_left if code is None else (code in split.listed) == split.listed_left for code in codes
        ]
        left, right = (frozenset(code for code, went in enumerate(goes_left) if went is side) for side in (True, False))
        if own.categories and not left and not right:
            raise InvalidInputError(
                f"{place} has none of the categories that the {library} trees know; fit both on the same table."
            )
        sides[node] = left, right
    return sides


def _find_code(label: Hashable, known: Sequence[Hashable] | None) -> int | None:
    """Return the code that a library has for a label: its place among those it knows, else the whole number itself."""
    if known is not None:
        return known.index(label) if label in known else None
    return int(label) if isinstance(label, (int, float)) else None


def split_numbers(features: Sequence[Feature], position: int, threshold: float) -> Sides:
    """Return the codes on both sides of a threshold, for categories that are numbers."""
    labels = features[position].categories or ()
    numbers = [float(label) for label in labels if isinstance(label, (int, float))]
    if len(numbers) < len(labels):
        raise InvalidInputError(
            f"{call_column(position, features[position].name)} is text here, but `trees` split it by a number; fit the "
            "trees and this estimator on the same columns."
        )
    return (
        frozenset(code for code, number in enumerate(numbers) if number <= threshold),
        frozenset(code for code, number in enumerate(numbers) if number > threshold),
    )
