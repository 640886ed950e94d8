"""What is learned from: the target, the rows that count, the fold of each."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from rulegrove._typing import AnyArray, BoolArray, FloatArray, IntArray
from rulegrove._warn import warn_user
from rulegrove.columns import CHUNK_ROWS, Columns
from rulegrove.design.statistics import MOST_WEIGHTS
from rulegrove.estimators._units import PLAIN, Units, shift
from rulegrove.exceptions import DroppedColumnWarning, InvalidInputError

NEVER_HELD_OUT = -1
N_LEVELS = 8  # of weights, where pairs of rules need no more


@dataclass(frozen=True)
class Encoded:
    """A target as numbers.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_outputs)
        Minus `offsets`: moments of values near zero lose no digits.
    offsets : ndarray of shape (n_outputs,)
        What the model adds back.
    units : Units
        Of values, offset and weights.
    weights : ndarray of shape (n_rows,), optional
        Sample weights times class weights.
    codes : ndarray of shape (n_rows,), optional
        Classes to stratify the folds by.
    scales : ndarray of shape (n_outputs,), optional
        What scores are multiplied by before that; one by default.
    unit : float
        What importances are multiplied by: the unit that scores are told in.
    """

    values: FloatArray
    offsets: FloatArray
    weights: FloatArray | None
    codes: IntArray | None = None
    units: Units = PLAIN
    scales: FloatArray | None = None
    unit: float = 1.0


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
    """What is learned from: attributes, targets with one column for each output, weights, the rows that count.

    The rows of a large table are a sample, and `drawn` tells how they were drawn.
    """

    columns: Columns
    targets: FloatArray
    offsets: FloatArray
    weights: FloatArray | None
    rows: IntArray
    drawn: "Drawn | None" = None
    units: Units = PLAIN
    scales: FloatArray | None = None
    unit: float = 1.0

    @classmethod
    def of(cls, columns: Columns, target: Encoded, drawn: "Drawn | None" = None) -> "TrainingData":
        """Training data without the rows of weight zero; equal weights are as good as none."""
        weights = target.weights
        rows = np.arange(columns.n_rows) if weights is None else np.flatnonzero(weights > 0)
        if rows.size < 2:
            raise InvalidInputError(f"A fit needs at least two rows of positive weight; got n_samples = {rows.size}.")
        if target.codes is not None and np.ptp(target.codes[rows]) == 0:
            raise InvalidInputError("The rows of positive weight belong to one class; a classifier needs two classes.")
        units = target.units
        if weights is not None and np.ptp(weights[rows]) == 0:
            weights, units = None, replace(units, weight=0)
        return cls(columns, target.values, target.offsets, weights, rows, drawn, units, target.scales, target.unit)

    def give_back(self) -> "TrainingData":
        """Return the same with targets in the user's units."""
        exponent = self.units.target
        return replace(self, targets=shift(self.targets, exponent), offsets=shift(self.offsets, exponent), units=PLAIN)

    def give_scores(self, scores: FloatArray) -> FloatArray:
        """Return scores of all outputs, the last axis, in the units of the user."""
        return scores * self.factors + self.offsets

    def take_scores(self, scores: FloatArray) -> FloatArray:
        """Return scores of the user in the units of the fit."""
        return (scores - self.offsets) / self.factors

    def give_points(self, coefs: FloatArray, intercepts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return coefficients, of shape (n_outputs, n_terms), and intercepts in the units of the user."""
        return coefs * self.factors[:, None], self.give_scores(intercepts)

    @property
    def factors(self) -> FloatArray:
        """What scores of each output are multiplied by."""
        return np.ones(len(self.offsets)) if self.scales is None else self.scales

    @property
    def has_many_weights(self) -> bool:
        """Whether pairs of rules are not counted for each weight by itself, but take ten times as long."""
        return self.weights is not None and np.unique(self.weights[self.rows]).size > MOST_WEIGHTS

    def level_weights(self) -> "TrainingData":
        """Return nearly the same data with few weights, for pairs of rules are then counted and not multiplied.

        Rows are divided by their weights into parts that weigh alike, and all rows of a part have its mean. Targets
        make up for that, so that what a row pulls by stays the same.
        """
        if self.weights is None or not self.has_many_weights:
            return self
        own = self.weights[self.rows]
        rising = np.sort(own)
        shares = np.cumsum(rising) / rising.sum()
        edges = np.unique(rising[np.searchsorted(shares, np.arange(1, N_LEVELS) / N_LEVELS)])
        places = np.searchsorted(edges, own)
        filled, places = np.unique(places, return_inverse=True)
        levels = np.bincount(places, own, filled.size) / np.bincount(places, minlength=filled.size)
        weights, targets = np.zeros_like(self.weights), self.targets.copy()
        weights[self.rows] = levels[places]
        targets[self.rows] *= (own / levels[places])[:, None]
        return replace(self, weights=weights, targets=targets)

    def of_output(self, output: int) -> "TrainingData":
        """Return the same rows with one of the outputs."""
        own = slice(output, output + 1)
        scales = None if self.scales is None else self.scales[own]
        return replace(self, targets=self.targets[:, own], offsets=self.offsets[own], scales=scales)

    @property
    def n_counted(self) -> int:
        """Rows that count, in the whole table."""
        return self.rows.size if self.drawn is None else self.drawn.n_counted

    def draw(self, rows: IntArray, n_wanted: int, *, last: bool = False) -> IntArray:
        """Return at most so many of some rows, always the same ones.

        Of rows drawn from a larger table they are those of the lowest ranks, or of the highest if `last`.
        """
        if rows.size <= n_wanted:
            return rows
        if self.drawn is None:
            return np.sort(np.random.default_rng(0).choice(rows, n_wanted, replace=False))
        ranks = self.drawn.ranks[rows]
        return np.sort(rows[np.argpartition(-ranks if last else ranks, n_wanted - 1)[:n_wanted]])

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
        feature = data.columns.features[position]
        place = data.columns.names.index(feature.source)
        warn_user(f"Column {place} ('{feature.name}') {what}; no term uses it.", DroppedColumnWarning)


def assign_folds(
    cv: Any,
    data: TrainingData,
    codes: IntArray | None,
    X: Any,
    y: Any,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> tuple[IntArray, int]:
    """Each row's fold, or `NEVER_HELD_OUT` for rows without weight; and the number of folds.

    A count deals shuffled rows out in turn, class by class, so that every fold has its share of every class; the only
    row of a class is never held out. With groups, whole groups are dealt out. A splitter or an iterable of splits must
    hold out each row at most once; rows it never holds out form one more fold that is always trained on.

    Parameters
    ----------
    cv : int, splitter or iterable of splits
    data : TrainingData
    codes : ndarray of shape (n_rows,), optional
        Class of each row.
    X, y : array-like
        What a splitter is given; `y` also has the labels of the classes.
    rng : numpy.random.Generator
        Shuffles what a count deals out.
    groups : ndarray of shape (n_rows,), optional
        Group of each row, by number.
    """
    rows = data.rows
    if not isinstance(cv, (int, np.integer)):
        folds, n_folds = _follow_splits(cv, data, X, y, groups)
    elif groups is not None:
        folds, n_folds = deal_groups(int(cv), data.columns.n_rows, rows, codes, groups, rng), int(cv)
    else:
        if rows.size < cv:
            raise InvalidInputError(f"cv={cv} folds need at least {cv} rows; got n_samples = {rows.size}. Lower `cv`.")
        folds = np.full(data.columns.n_rows, NEVER_HELD_OUT, dtype=np.int64)
        shuffled = rng.permutation(rows)
        if codes is not None:
            shuffled = shuffled[np.argsort(codes[shuffled], kind="stable")]
        folds[shuffled] = np.arange(rows.size) % cv
        if codes is not None:  # a class of one row would be unknown where that row is held out
            folds[rows[np.bincount(codes[rows])[codes[rows]] == 1]] = cv
            n_dealt = int(np.count_nonzero(folds[rows] < cv))
            if np.unique(folds[rows][folds[rows] < cv]).size < cv:
                raise InvalidInputError(
                    f"cv={cv} folds need rows to hold out, but {n_dealt} rows belong to classes of more than one "
                    "row; join rare classes or lower `cv`, or give a penalty as `selection` to do without folds."
                )
        return folds, int(cv)
    if codes is not None:
        _check_classes(folds[rows], n_folds, codes[rows], np.asarray(y)[rows])
    return folds, n_folds


def deal_groups(
    n_folds: int, n_rows: int, rows: IntArray, codes: IntArray | None, groups: IntArray, rng: np.random.Generator
) -> IntArray:
    """Deal whole groups out, the largest first, each to the fold that has the least of what the group has.

    What counts are rows, and rows of each class, as shares of all. Of `n_rows` only `rows` are dealt out.
    """
    names, members = np.unique(groups[rows], return_inverse=True)
    if names.size < n_folds:
        raise InvalidInputError(
            f"cv={n_folds} folds need at least {n_folds} groups; `groups` has {names.size} in rows of positive weight. "
            "Lower `cv`."
        )
    contents = np.bincount(members).astype(np.float64)[:, None]
    if codes is not None:
        classes, own = np.unique(codes[rows], return_inverse=True)
        by_class = np.zeros((names.size, classes.size))
        np.add.at(by_class, (members, own), 1.0)
        contents = np.column_stack([contents, by_class])
    shares = contents / contents.sum(axis=0)
    shuffled = rng.permutation(names.size)
    dealt, of_group = np.zeros((n_folds, shares.shape[1])), np.empty(names.size, dtype=np.int64)
    for group in shuffled[np.argsort(-shares[shuffled].max(axis=1), kind="stable")]:
        fold = int(np.argmin(dealt @ shares[group]))
        dealt[fold] += shares[group]
        of_group[group] = fold
    folds = np.full(n_rows, NEVER_HELD_OUT, dtype=np.int64)
    folds[rows] = of_group[members]
    return folds


def _follow_splits(cv: Any, data: TrainingData, X: Any, y: Any, groups: IntArray | None) -> tuple[IntArray, int]:
    """Return the fold of each row as a splitter has it, or an iterable of splits."""
    n_rows = data.columns.n_rows
    folds = np.full(n_rows, NEVER_HELD_OUT, dtype=np.int64)
    n_folds = 0
    for n_folds, split in enumerate(_splits(cv, X, y, groups), start=1):
        try:
            trained, held_out = split
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"`cv` must give pairs of training and test rows; split {n_folds} is {split!r}. Give a number of "
                "folds, a splitter or a list of such pairs."
            ) from None
        trained = _as_mask(trained, n_rows, f"The training rows of split {n_folds} of `cv`")
        held_out = _as_mask(held_out, n_rows, f"The test rows of split {n_folds} of `cv`")
        if (trained & held_out).any():
            row = int(np.argmax(trained & held_out))
            raise InvalidInputError(
                f"Split {n_folds} of `cv` both trains on row {row} and holds it out, so the model would be judged on "
                "rows that it has seen; training and test rows must not overlap."
            )
        if (folds[held_out] != NEVER_HELD_OUT).any():
            raise InvalidInputError("`cv` holds out some rows twice; use a splitter whose test folds do not overlap.")
        if not (trained | held_out).all():
            raise InvalidInputError(
                f"`cv` must train on every row that it does not hold out; split {n_folds} trains on {trained.sum()} "
                f"and holds out {held_out.sum()} of {n_rows} rows. Use a splitter such as KFold or GroupKFold."
            )
        folds[held_out] = n_folds - 1
    if n_folds < 2:
        raise InvalidInputError(f"`cv` must give at least two splits; got {n_folds}.")
    counted = np.zeros(n_rows, dtype=bool)
    counted[data.rows] = True
    folds[counted & (folds == NEVER_HELD_OUT)] = n_folds
    folds[~counted] = NEVER_HELD_OUT
    sizes = np.bincount(folds[counted], minlength=n_folds)[:n_folds]
    if not sizes.all():
        empty = int(np.argmin(sizes)) + 1
        raise InvalidInputError(
            f"Split {empty} of `cv` holds out no row of positive weight; leave the split out, or give its rows a "
            "weight."
        )
    return folds, n_folds


def _splits(cv: Any, X: Any, y: Any, groups: IntArray | None) -> Iterator[Any]:
    """Yield the splits of a splitter or an iterable."""
    if not hasattr(cv, "split"):
        yield from cv
        return
    try:
        yield from cv.split(X, y) if groups is None else cv.split(X, y, groups)
    except ValueError as error:
        way_out = " Give `groups` to `fit`." if groups is None and "groups" in str(error) else ""
        raise InvalidInputError(f"`cv`={cv!r} cannot split the rows: {str(error).rstrip('.')}.{way_out}") from error


def _as_mask(indices: Any, n_rows: int, what: str) -> BoolArray:
    """Return rows that are given by their positions, or by a mask, as a mask."""
    positions = np.asarray(indices)
    if positions.dtype == bool and positions.shape == (n_rows,):
        return positions
    if positions.ndim != 1 or (positions.size and positions.dtype.kind not in "iu"):
        kind = f"{positions.dtype} of shape {positions.shape}"
        raise InvalidInputError(f"{what} must be positions from 0 to {n_rows - 1}, or a mask of all rows; got {kind}.")
    positions = positions.astype(np.int64)
    outside = (positions < 0) | (positions >= n_rows)
    if outside.any():
        raise InvalidInputError(
            f"{what} must be positions from 0 to {n_rows - 1}; got {positions[outside][0]}, which is not a row of X."
        )
    times = np.bincount(positions, minlength=n_rows)
    if times.max(initial=0) > 1:
        raise InvalidInputError(f"{what} name row {int(np.argmax(times > 1))} more than once; name each row once.")
    return times > 0


def _check_classes(folds: IntArray, n_folds: int, codes: IntArray, labels: AnyArray) -> None:
    """Refuse folds of which one has all rows of a class."""
    totals = np.bincount(codes)
    for fold in range(n_folds):
        lacking = np.flatnonzero((totals > 0) & (np.bincount(codes[folds == fold], minlength=totals.size) == totals))
        if lacking.size:
            label = labels[codes == lacking[0]].tolist()[0]
            raise InvalidInputError(
                f"Fold {fold + 1} of `cv` holds out all rows of class {label!r}, so no rows are left to learn the "
                "class from; put its rows (or groups) into at least two folds, or always train on them."
            )


def split_halves(keys: AnyArray, rows: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Split rows at random into two halves that share none, each with its share of every class or target.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,) or (n_rows, n_keys)
        Numbers by which all rows are alike or near.
    rows : ndarray of shape (n_split,)
        Positions of the rows to split.
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> one, other = split_halves(np.array([0, 0, 1, 1]), np.arange(4), np.random.default_rng(0))
    >>> sorted([*one, *other]) == [0, 1, 2, 3] and {int(k > 1) for k in one} == {0, 1}
    True
    """
    shuffled = rng.permutation(rows)
    dealt = shuffled[np.lexsort(np.atleast_2d(keys[shuffled].T))]
    return np.sort(dealt[::2]), np.sort(dealt[1::2])


def make_rng(random_state: Any) -> np.random.Generator:
    """One generator for the whole fit, from anything that scikit-learn takes as `random_state`."""
    if isinstance(random_state, (int, np.integer)):
        return np.random.default_rng(int(random_state))
    return np.random.default_rng(check_random_state(random_state).randint(2**31))
