"""What is learned from: the target, the rows that count, the fold of each."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from rulegrove._typing import FloatArray, IntArray
from rulegrove._warn import warn_user
from rulegrove.columns import CHUNK_ROWS, Columns
from rulegrove.exceptions import DroppedColumnWarning, InvalidInputError

NEVER_HELD_OUT = -1


@dataclass(frozen=True)
class Target:
    """A target as the fit wants it.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_outputs)
        Minus `offset`: moments of values near zero lose no digits.
    offset : float
        What the model adds back.
    weights : ndarray of shape (n_rows,), optional
        Sample weights times class weights.
    codes : ndarray of shape (n_rows,), optional
        Classes to stratify the folds by.
    """

    values: FloatArray
    offset: float
    weights: FloatArray | None
    codes: IntArray | None = None


@dataclass(frozen=True)
class Drawn:
    """How the rows of training data were drawn from a larger table.

    Attributes
    ----------
    ranks : ndarray of shape (n_rows,)
        Where each row stands among those drawn, by its random number: the first ones are a smaller sample.
    n_counted : int
        Rows that count in the larger table.
    """

    ranks: IntArray
    n_counted: int


@dataclass(frozen=True)
class TrainingData:
    """What is learned from: attributes, targets with one column an output, weights, the rows that count.

    Of a table beyond a pool these are rows drawn from it, and `drawn` tells how.
    """

    columns: Columns
    targets: FloatArray
    offset: float
    weights: FloatArray | None
    rows: IntArray
    drawn: "Drawn | None" = None

    @classmethod
    def of(cls, columns: Columns, target: Target, drawn: "Drawn | None" = None) -> "TrainingData":
        """Training data without the rows of weight zero; equal weights are as good as none."""
        weights = target.weights
        rows = np.arange(columns.n_rows) if weights is None else np.flatnonzero(weights > 0)
        if rows.size < 2:
            raise InvalidInputError(f"A fit needs at least two rows of positive weight; got n_samples = {rows.size}.")
        if target.codes is not None and np.ptp(target.codes[rows]) == 0:
            raise InvalidInputError("The rows of positive weight belong to one class; a classifier needs two classes.")
        if weights is not None and np.ptp(weights[rows]) == 0:
            weights = None
        return cls(columns, target.values, target.offset, weights, rows, drawn)

    def of_output(self, output: int) -> "TrainingData":
        """Return the same rows with one of the outputs."""
        return replace(self, targets=self.targets[:, output : output + 1])

    @property
    def n_counted(self) -> int:
        """Rows that count, in the whole table."""
        return self.rows.size if self.drawn is None else self.drawn.n_counted

    def weights_of(self, rows: IntArray) -> FloatArray | None:
        """Weights of some rows."""
        return None if self.weights is None else self.weights[rows]


def warn_constant(data: TrainingData) -> None:
    """Say which attributes cannot carry information: one value only, or none at all."""
    constant = np.arange(data.columns.n_features)
    first = data.columns.take(data.rows[:1])[:, 0]
    for start in range(0, data.rows.size, CHUNK_ROWS):
        if not constant.size:
            return
        block = data.columns.take(data.rows[start : start + CHUNK_ROWS], constant)
        value = first[constant, None]
        constant = constant[((block == value) | (np.isnan(block) & np.isnan(value))).all(axis=1)]
    for position in constant:
        what = "has no values" if np.isnan(first[position]) else "is constant"
        name = data.columns.features[position].name
        warn_user(f"Column {position} ('{name}') {what}; no term uses it.", DroppedColumnWarning)


def assign_folds(
    cv: Any, data: TrainingData, codes: IntArray | None, X: Any, y: Any, rng: np.random.Generator
) -> tuple[IntArray, int]:
    """Each row's fold, or `NEVER_HELD_OUT` for rows without weight; and the number of folds.

    A count deals shuffled rows out in turn, class by class, so that every fold has its share of every class; the only
    row of a class is never held out. A splitter or an iterable of splits must hold out each row at most once; rows it
    never holds out form one more fold that is always trained on.
    """
    rows, n_rows = data.rows, data.columns.n_rows
    folds = np.full(n_rows, NEVER_HELD_OUT, dtype=np.int64)
    if isinstance(cv, (int, np.integer)):
        if rows.size < cv:
            raise InvalidInputError(f"cv={cv} folds need at least {cv} rows; got n_samples = {rows.size}. Lower `cv`.")
        shuffled = rng.permutation(rows)
        if codes is not None:
            shuffled = shuffled[np.argsort(codes[shuffled], kind="stable")]
        folds[shuffled] = np.arange(rows.size) % cv
        if codes is not None:  # a class of one row would be unknown where that row is held out
            folds[rows[np.bincount(codes[rows])[codes[rows]] == 1]] = cv
        return folds, int(cv)
    n_folds = 0
    for n_folds, (trained, held_out) in enumerate(_splits(cv, X, y, codes is not None), start=1):
        if (folds[held_out] != NEVER_HELD_OUT).any():
            raise InvalidInputError("`cv` holds out some rows twice; use a splitter whose test folds do not overlap.")
        if len(trained) + len(held_out) != n_rows:
            raise InvalidInputError(
                f"`cv` must train on every row that it does not hold out; split {n_folds} trains on {len(trained)} and "
                f"holds out {len(held_out)} of {n_rows} rows. Use a splitter such as KFold or GroupKFold."
            )
        folds[held_out] = n_folds - 1
    if n_folds < 2:
        raise InvalidInputError(f"`cv` must give at least two splits; got {n_folds}.")
    counted = np.zeros(n_rows, dtype=bool)
    counted[rows] = True
    folds[counted & (folds == NEVER_HELD_OUT)] = n_folds
    folds[~counted] = NEVER_HELD_OUT
    sizes = np.bincount(folds[counted], minlength=n_folds)[:n_folds]
    if not sizes.all():
        empty = int(np.argmin(sizes)) + 1
        raise InvalidInputError(
            f"Split {empty} of `cv` holds out no row of positive weight; leave it out or weight its rows."
        )
    return folds, n_folds


def _splits(cv: Any, X: Any, y: Any, classifier: bool) -> Iterable[tuple[IntArray, IntArray]]:
    """Return the splits of a splitter or an iterable."""
    splits: Iterable[tuple[IntArray, IntArray]] = check_cv(cv, y, classifier=classifier).split(X, y)
    return splits


def make_rng(random_state: Any) -> np.random.Generator:
    """One generator for the whole fit, from anything that scikit-learn takes as `random_state`."""
    if isinstance(random_state, (int, np.integer)):
        return np.random.default_rng(int(random_state))
    return np.random.default_rng(check_random_state(random_state).randint(2**31))
