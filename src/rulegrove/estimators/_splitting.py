"""Rows set apart for evidence: they neither grow nor choose nor weight the rules that are counted on them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._hashing import deal_folds
from rulegrove._typing import AnyArray, BoolArray, IntArray
from rulegrove._validation import check_groups, check_weights
from rulegrove.columns import as_table, count_rows
from rulegrove.estimators import autos
from rulegrove.estimators._judging_rules import Asking
from rulegrove.estimators._training import deal_groups, make_rng
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError

PARTS = 2  # halves: one to learn from, one to count on


@dataclass(frozen=True, eq=False)
class ApartRows:
    """Rows that are only counted, and those that are learned from.

    Attributes
    ----------
    counted : tuple
        Attributes, targets and weights of the rows that are counted.
    learned_weights : array-like of shape (n_rows,), optional
        Weights of the rows of the fit: zero where they are only counted.
    weighted_by : str
        The rows that are learned from, in words.
    """

    counted: tuple[Any, Any, Any]
    learned_weights: Any
    weighted_by: str

    @property
    def asking(self) -> Asking:
        """What is asked of the rows that are counted."""
        return Asking(weighted_by=self.weighted_by)


def take_given(evidence: Any, X: Any, sample_weight: Any) -> ApartRows:
    """Return rows of their own, as `fit` is given them."""
    if not isinstance(evidence, (tuple, list)) or len(evidence) not in (2, 3):
        raise InvalidInputError(
            "`evidence` of `fit` must be separate rows, (X, y) or (X, y, sample_weight); got "
            f"{type(evidence).__name__}."
        )
    own = tuple(evidence)
    n_rows = count_rows(as_table(X))
    weights = check_weights(sample_weight, n_rows)
    learned = n_rows if weights is None else int(np.count_nonzero(weights))
    return ApartRows((*own, None)[:3], sample_weight, f"the {learned:,} rows of the fit")


def split_rows(X: Any, y: Any, sample_weight: Any, groups: Any, target: Target, random_state: Any) -> ApartRows:
    """Set half of the rows of a table apart: of each class alike, and whole groups.

    Parameters
    ----------
    X, y, sample_weight, groups
        As `fit` is given them.
    target : Target
    random_state : int, RandomState instance or None
    """
    n_rows = count_rows(as_table(X))
    weights, groups = check_weights(sample_weight, n_rows), check_groups(groups, n_rows)
    values = target.check(y, n_rows)
    rows = np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)
    apart = choose_rows(n_rows, rows, values if target.values == "classes" else None, groups, random_state)
    own = np.ones(n_rows) if weights is None else weights
    n_apart = int(np.count_nonzero(apart[rows]))
    if min(n_apart, rows.size - n_apart) < PARTS:
        raise InvalidInputError(
            f"evidence='split' learns from one half of the rows and tests on the other half; {rows.size} rows (or "
            "groups) are too few for that. Give separate rows to `fit`, or leave `evidence` out."
        )
    counted = (X, y, np.where(apart, own, 0.0))
    weighted_by = tell_others(rows.size - n_apart)
    if groups is not None:
        weighted_by += ", in other groups; rows of one group count as if they were independent"
    return ApartRows(counted, np.where(apart, 0.0, own), weighted_by)


def choose_rows(
    n_rows: int, rows: IntArray, labels: AnyArray | None, groups: IntArray | None, random_state: Any
) -> BoolArray:
    """Return a mask of half of the rows that count, drawn by chance of its own.

    Parameters
    ----------
    n_rows : int
    rows : ndarray of shape (n_counted,)
        Those that count.
    labels : ndarray of shape (n_rows,), optional
        Classes, of which each half has its share. A table that is larger than what a fit takes into memory goes by
        positions alone, as it does in parts.
    groups : ndarray of shape (n_rows,), optional
        Rows that stay together.
    random_state : int, RandomState instance or None
    """
    rng = evidence_rng(random_state)
    codes = None if labels is None else np.unique(labels, return_inverse=True)[1]
    if groups is not None:
        return np.asarray(deal_groups(PARTS, n_rows, rows, codes, groups, rng) == 1)
    if n_rows > autos.POOL_ROWS:
        return np.asarray(deal_folds(draw_seed(rng), np.arange(n_rows), PARTS) == 1)
    shuffled = rng.permutation(rows)
    if codes is not None:
        shuffled = shuffled[np.argsort(codes[shuffled], kind="stable")]
    apart = np.zeros(n_rows, dtype=bool)
    apart[shuffled[1::2]] = True
    return apart


def evidence_rng(random_state: Any) -> np.random.Generator:
    """Return the random numbers that set rows apart: the fourth stream of a fit, beside those of `Chance`."""
    return make_rng(random_state).spawn(4)[3]


def draw_seed(rng: np.random.Generator) -> int:
    """Return the seed by which rows of a large table are set apart by their positions."""
    return int(rng.integers(2**63))


def tell_others(n_rows: int) -> str:
    """Say which rows were learned from, where others of their table were set apart."""
    return f"{n_rows:,} other rows of the same table"
