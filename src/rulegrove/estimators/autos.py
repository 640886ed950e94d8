"""Every "auto" in one place: what the size of the data settles, each with its evidence.

A parameter that is "auto" becomes a value of that parameter. A solver that is given by that value solves once, though:
the second solve, whose ridges are no parameters, is the matter of "auto" alone.
"""

import math
from typing import Any

import numpy as np

from rulegrove.solvers import Glmnet

# Tables beyond so many rows are learned from a sample and counted over all rows (docs/scale.md); trees draw their rows
# from a pool of at least so many, or of so many times a tree's rows: more rows add cost and no diversity.
POOL_ROWS = 65536
POOL_SUBSAMPLES = 16

# Rows that a tree sees: the rule of Friedman and Popescu (2008), 100 + 6 sqrt(N), gives trees of a few thousand rows
# too little to see, and ends where the pool has half a million rows (docs/defaults.md).
AUTO_SUBSAMPLE = 1500
MOST_AUTO = 2**15

# Folds grow rules of their own, for rules that have seen a fold look too good on it. As many of them are used as hold
# out so many rows together: more tell little more (docs/defaults.md, "One regime").
HELD_OUT_ROWS = 2000

# The path that finds which terms of classes matter; their coefficients are solved for once more. That of numbers is the
# lasso: how much an L2 share shrinks depends on the unit of the target.
SOLVER = Glmnet(l1_ratio=0.5)
SEARCH_ROWS = 5000  # rows at most that ridges are chosen on, beside those that are held out
REFIT_ROWS = 40_000  # rows at most that coefficients of classes are solved for once more on

# Of a wider table trees split on so many attributes at most, those that say most of the target by one split, and as
# many have linear terms, those that go best with it: pairs of 20,000 took 3 GB for every fold.
MOST_SPLIT = 1000
MOST_LINEAR = 1000
CALIBRATION_ROWS = 10_000  # held-out scores at most that probabilities are fitted to: a curve needs no more
LIST_ROWS = 20_000  # rows at most that short lists are made from: they repeat what a model says, which has no noise;
LEAST_LIST_ROWS = 8000  # shared by the outputs, but at least so many
IMAGINED_ROWS = 2000  # rows at most, real and imagined, that short lists of a small table are made from
SAMPLE_ROWS = 200_000  # rows that a loss which needs rows gets of a table beyond a pool
MOST_DRAWN = 2**22  # rows that may be asked into memory at once


def count_features(max_features: Any, n_features: int) -> int:
    """Return how many attributes are tried at a split; "auto" is 0.3 of them (docs/defaults.md).

    Examples
    --------
    >>> count_features("auto", 40), count_features("sqrt", 40), count_features(None, 40)
    (12, 6, 40)
    """
    if max_features is None:
        return n_features
    if max_features == "auto":
        return max(min(2, n_features), int(0.3 * n_features))
    if max_features == "sqrt":
        return max(1, int(math.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(max_features, (int, np.integer)):
        return min(int(max_features), n_features)
    return max(1, int(max_features * n_features))


def count_subsample(subsample: Any, n_rows: int, share_told: float = 1.0) -> int:
    """Return how many rows a tree sees; "auto" is half of them at first, `AUTO_SUBSAMPLE`, then 100 + 6 sqrt(N).

    Where events are rare it is as many more as it takes to see so many rows with one.

    Examples
    --------
    >>> [count_subsample("auto", n_rows) for n_rows in (1000, 10_000, 1_000_000)]
    [500, 1500, 6100]
    >>> count_subsample("auto", 1_000_000, share_told=0.25)
    24400
    """
    if isinstance(subsample, str):
        usual = max(AUTO_SUBSAMPLE, 100 + 6 * math.sqrt(n_rows))
        return max(2, int(min(n_rows // 2, MOST_AUTO, usual / share_told)))
    if isinstance(subsample, (int, np.integer)):
        return min(int(subsample), n_rows)
    return max(2, int(subsample * n_rows))


def size_pool(subsample: int) -> int:
    """Return how many rows trees, bins and winsor points come from at most, from the rows that a tree sees."""
    return max(POOL_ROWS, POOL_SUBSAMPLES * subsample)


def count_drawn(subsample: Any, n_rows: int, *, needs_rows: bool) -> int:
    """Return how many rows to draw of a table beyond a pool: for trees, for probabilities, for the solver."""
    pool = size_pool(count_subsample(subsample, n_rows))
    return max(pool + CALIBRATION_ROWS, SAMPLE_ROWS if needs_rows else 0)


def resolve_choice(selection: str | float, honest: bool | str, *, drawn: bool) -> tuple[str | float, bool]:
    """Return the rule of choice and whether folds grow rules of their own.

    Rules that have seen a fold look too good on it, and the sparser of two nearly equal points makes up for some of
    that. Of a table from which rows are drawn, trees see so few that folds may share their rules.

    Examples
    --------
    >>> resolve_choice("auto", "auto", drawn=False), resolve_choice("auto", False, drawn=False)
    (('min', True), ('1se', False))
    """
    honestly = not drawn if isinstance(honest, str) else bool(honest)
    if selection == "auto":
        return ("min" if honestly or drawn else "1se"), honestly
    return selection, honestly


def count_honest(n_folds: int, n_rows: int) -> int:
    """Return how many of the folds are used, where each of them grows rules of its own.

    Examples
    --------
    >>> [count_honest(5, n_rows) for n_rows in (500, 2001, 6000, 30_000)]
    [5, 5, 2, 1]
    """
    return min(n_folds, math.ceil(n_folds * HELD_OUT_ROWS / n_rows))


def resolve_mode(multiclass: str, *, grows: bool) -> str:
    """Return how more than two classes are told apart: rules that are given serve all classes.

    Examples
    --------
    >>> resolve_mode("auto", grows=True), resolve_mode("auto", grows=False)
    ('ovr', 'shared')
    """
    if multiclass != "auto":
        return multiclass
    return "ovr" if grows else "shared"


def resolve_calibration(calibration: str | None, loss: str) -> str | None:
    """Return what turns scores into probabilities; a solver with the logistic loss has probabilities of its own."""
    if calibration != "auto":
        return calibration
    return None if loss == "logistic" else "temperature"
