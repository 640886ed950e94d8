"""What a fit asks of a table, wherever its rows are: a sample to learn from, folds, counts and sums over all rows.

A row of a large table is drawn, and dealt to a fold, by random numbers that belong to its position. In memory, out of
core and on many machines the same rows are therefore drawn, and the same rules grown. A table of up to
`autos.POOL_ROWS` rows is its own sample.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from rulegrove._hashing import deal_folds, hash_positions
from rulegrove._typing import AnyArray, FloatArray, IntArray, Words
from rulegrove.columns import Columns, Feature
from rulegrove.design.statistics import Margins
from rulegrove.estimators._coding import Coding
from rulegrove.estimators._design import Counted, Request
from rulegrove.estimators._training import NEVER_HELD_OUT, Encoded, make_rng
from rulegrove.estimators._units import PLAIN, Units, shift
from rulegrove.exceptions import InvalidInputError
from rulegrove.survival.times import SurvivalTimes


@dataclass(frozen=True)
class TargetCode:
    """How values of a target become numbers; learned once, then the same for every batch.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,), optional
        Sorted labels; None for a target that is a number.
    class_weights : ndarray of shape (n_classes,), optional
        What the weight of a row is multiplied by.
    offset : float
        What is subtracted from a number, once it is in its units.
    units : Units
        Of numbers and weights.
    coding : Coding, optional
        What numbers become otherwise.
    """

    classes: AnyArray | None = None
    class_weights: FloatArray | None = None
    offset: float = 0.0
    units: Units = PLAIN
    coding: Coding | None = None

    @classmethod
    def of_numbers(cls, y: FloatArray, weights: FloatArray | None) -> "TargetCode":
        """Return the code of a target that is a number, as some rows have it."""
        counted = y if weights is None else y[weights > 0]
        code = cls(units=Units.of_target(float(np.abs(counted).max(initial=0.0))))
        code = code.weighing(weights)
        numbers, own = code.take(y, weights)
        return replace(code, offset=float(np.average(numbers, weights=own)))

    def weighing(self, weights: FloatArray | None) -> "TargetCode":
        """Return the same code for rows of these weights, or for some that are as heavy."""
        if weights is None:
            return replace(self, units=replace(self.units, weight=0))
        most = 1.0 if self.class_weights is None else float(self.class_weights.max())
        return replace(self, units=self.units.of_weights(float(weights.max(initial=0.0)) * most))

    def take(self, y: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
        """Return numbers and weights in their units; a row without weight may have any number."""
        if self.units.is_plain:
            return y, weights
        if weights is not None:
            y, weights = np.where(weights > 0, y.T, 0.0).T, shift(weights, -self.units.weight)
        return shift(y, -self.units.target), weights

    @property
    def labels(self) -> tuple[Any, ...]:
        """The classes as plain values; none for a number."""
        return () if self.classes is None else tuple(self.classes.tolist())

    @property
    def values(self) -> str:
        """What the values are, as `Target.values` has it."""
        return "numbers" if self.classes is None else "classes"

    @property
    def n_outputs(self) -> int:
        """Columns that the target becomes."""
        if self.coding is not None:
            return self.coding.n_outputs
        return 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)

    def read(self, y: AnyArray, weights: FloatArray | None) -> Encoded:
        """Return values of the target as the fit wants them."""
        if self.classes is None:
            numbers, weights = self.take(np.asarray(y, dtype=np.float64), weights)
            if self.coding is not None:
                own = self.coding
                values = own.code(numbers)
                return Encoded(values, own.offsets, weights, units=self.units, scales=own.scales, unit=own.unit)
            return Encoded((numbers - self.offset)[:, None], np.array([self.offset]), weights, units=self.units)
        return self.of_codes(self._find(y), weights)

    def of_codes(self, codes: IntArray, weights: FloatArray | None) -> Encoded:
        """Return classes, given by their places among `classes`, as the fit wants them."""
        assert self.classes is not None
        if weights is not None:
            weights = shift(weights, -self.units.weight)
        if self.class_weights is not None:
            by_row = shift(self.class_weights, -self.units.weight if weights is None else 0)[codes]
            with np.errstate(over="ignore"):
                weights = by_row if weights is None else weights * by_row
            if not np.isfinite(weights).all():
                raise InvalidInputError("`class_weight` times `sample_weight` is infinite; divide one of the two.")
        if self.n_outputs == 1:
            values = np.asarray(2.0 * codes - 1.0, dtype=np.float64)[:, None]
        else:
            values = np.where(codes[:, None] == np.arange(len(self.classes)), 1.0, -1.0)
        return Encoded(values, np.zeros(self.n_outputs), weights, codes, self.units)

    def _find(self, y: AnyArray) -> IntArray:
        """Return the places of labels among the classes."""
        assert self.classes is not None
        y = np.asarray(y)
        codes = np.searchsorted(self.classes, y).clip(max=len(self.classes) - 1).astype(np.int64)
        unknown = self.classes[codes] != y
        if unknown.any():
            label = y[unknown].tolist()[0]
            raise InvalidInputError(f"The target has the class {label!r}, which is not one of {self.classes.tolist()}.")
        return codes


UNLEARNED = TargetCode()


@dataclass(frozen=True)
class TargetSummary:
    """What is known of a target and the weights from all rows that have one.

    Attributes
    ----------
    labels : ndarray of shape (n_labels,)
        Sorted; of a number one label that stands for all.
    counts : ndarray of shape (n_labels,), int64
        Rows of each label.
    n_counted : ndarray of shape (n_labels,), int64
        Those of positive weight.
    lightest, heaviest : ndarray of shape (n_labels,)
        Their least and largest weight.
    """

    labels: AnyArray
    counts: IntArray
    n_counted: IntArray
    lightest: FloatArray
    heaviest: FloatArray

    @classmethod
    def of(cls, y: AnyArray, weights: FloatArray | None, *, values: str) -> "TargetSummary":
        """Summarise some rows, whose targets are "classes" or "numbers"."""
        labels, codes = np.zeros(1), np.zeros(len(y), np.int64)
        if values == "classes":
            labels, codes = np.unique(y, return_inverse=True)
        counts = np.bincount(codes, minlength=len(labels))
        if weights is None:
            return cls(labels, counts, counts, np.ones(len(labels)), np.ones(len(labels)))
        here = weights > 0
        lightest, heaviest = np.full(len(labels), np.inf), np.full(len(labels), -np.inf)
        np.minimum.at(lightest, codes[here], weights[here])
        np.maximum.at(heaviest, codes[here], weights[here])
        return cls(labels, counts, np.bincount(codes[here], minlength=len(labels)), lightest, heaviest)

    def merge(self, other: "TargetSummary") -> "TargetSummary":
        """Return the summary of both sets of rows."""
        if not len(self.labels) or not len(other.labels):
            return self if len(self.labels) else other
        labels, places = np.unique(np.concatenate([self.labels, other.labels]), return_inverse=True)
        parts = [np.concatenate([a, b]) for a, b in zip(self._numbers(), other._numbers(), strict=True)]
        counts, n_counted = np.zeros(len(labels), np.int64), np.zeros(len(labels), np.int64)
        lightest, heaviest = np.full(len(labels), np.inf), np.full(len(labels), -np.inf)
        np.add.at(counts, places, parts[0])
        np.add.at(n_counted, places, parts[1])
        np.minimum.at(lightest, places, parts[2])
        np.maximum.at(heaviest, places, parts[3])
        return TargetSummary(labels, counts, n_counted, lightest, heaviest)

    def _numbers(self) -> tuple[AnyArray, ...]:
        return self.counts, self.n_counted, self.lightest, self.heaviest

    @property
    def n_rows(self) -> int:
        """Rows of positive weight."""
        return int(self.n_counted.sum())

    def varies(self, class_weights: FloatArray | None) -> bool:
        """Whether rows that count differ in weight, once the classes are weighted."""
        factors = np.ones(len(self.labels)) if class_weights is None else class_weights
        here = (self.n_counted > 0) & (factors > 0)
        with np.errstate(over="ignore"):  # products that are infinite are refused with the rows
            low, high = self.lightest[here] * factors[here], self.heaviest[here] * factors[here]
        return bool(low.size and low.min() != high.max())


@dataclass(frozen=True, eq=False)
class Spells:
    """Times of rows until an event, beside the rates that these become.

    Attributes
    ----------
    times : SurvivalTimes
    weights : ndarray of shape (n_rows,), optional
        As they were given.
    n_times : int
        At how many times the hazard of all rows together rises, by which times become rates.
    """

    times: SurvivalTimes
    weights: FloatArray | None
    n_times: int

    def take(self, rows: IntArray) -> "Spells":
        """Return those of some of the rows."""
        return Spells(self.times.take(rows), None if self.weights is None else self.weights[rows], self.n_times)


@dataclass(frozen=True)
class Sampled:
    """Rows to learn from: all rows of a small table, or rows drawn from a large one, in the order of the table.

    Attributes
    ----------
    table : array or data frame
        Whose columns the attributes are.
    columns : Columns
        The same, with categories learned from these rows.
    y : ndarray of shape (n_drawn,)
        Their targets.
    weights : ndarray of shape (n_drawn,), optional
    positions : ndarray of shape (n_drawn,)
        Their positions in the table.
    ranks : ndarray of shape (n_drawn,), optional
        As in `Drawn`; None where these are all rows.
    summary : TargetSummary
        Of the target in all rows.
    spells : Spells, optional
        Of the same rows, where the target is a time.
    """

    table: Any
    columns: Columns
    y: AnyArray
    weights: FloatArray | None
    positions: IntArray
    ranks: IntArray | None
    summary: TargetSummary
    spells: Spells | None = None


class Folds(Protocol):
    """The fold of any row."""

    @property
    def n_folds(self) -> int:
        """Number of folds that are held out."""
        ...

    def of(self, positions: IntArray) -> IntArray:
        """Return the folds of rows at some positions."""
        ...


@dataclass(frozen=True)
class HashFolds:
    """Folds by random numbers of the rows."""

    seed: int
    n_folds: int

    def of(self, positions: IntArray) -> IntArray:
        """Return the folds of rows at some positions."""
        return deal_folds(self.seed, positions, self.n_folds)


@dataclass(frozen=True, eq=False)
class GivenFolds:
    """Folds that a splitter has dealt out."""

    folds: IntArray
    n_folds: int

    def of(self, positions: IntArray) -> IntArray:
        """Return the folds of rows at some positions."""
        return self.folds[positions]


@dataclass(frozen=True)
class RowCode:
    """All that turns raw rows into what is counted.

    Attributes
    ----------
    features : tuple of Feature
    target : TargetCode
    weighted : bool
        Whether rows that count differ in weight.
    folds : Folds
    """

    features: tuple[Feature, ...]
    target: TargetCode
    weighted: bool
    folds: Folds

    def read(
        self, y: AnyArray, weights: FloatArray | None, positions: IntArray
    ) -> tuple[FloatArray, FloatArray | None, IntArray]:
        """Return the targets, the weights and the folds of rows; those without weight have no fold."""
        target = self.target.read(y, weights)
        folds = self.folds.of(positions)
        if target.weights is not None:
            folds = np.where(target.weights > 0, folds, NEVER_HELD_OUT)
        return target.values, target.weights if self.weighted else None, folds


Size = Callable[[int], int]  # rows to draw, from the number of rows that count


@dataclass(frozen=True)
class Chance:
    """The random numbers of a fit, all from one `random_state`.

    Attributes
    ----------
    growing, regrowing : numpy.random.Generator
        For the trees of all rows, and of the folds.
    folds : numpy.random.Generator
        For folds of a table that is its own sample.
    fold_seed, sample_seed : int
        For folds and rows that are drawn by positions.
    """

    growing: np.random.Generator
    regrowing: np.random.Generator
    folds: np.random.Generator
    fold_seed: int
    sample_seed: int

    @classmethod
    def of(cls, random_state: Any) -> "Chance":
        """Return the random numbers of anything that scikit-learn takes as `random_state`."""
        growing, regrowing, folds = make_rng(random_state).spawn(3)
        fold_seed, sample_seed = (int(seed) for seed in copy.deepcopy(folds).integers(2**63, size=2))
        return cls(growing, regrowing, folds, fold_seed, sample_seed)


class Sums(Protocol):
    """What is known of some rows, and adds up over rows."""

    def merge(self, other: Self) -> Self:
        """Return what is known of both sets of rows."""
        ...


S = TypeVar("S", bound=Sums)
S_co = TypeVar("S_co", bound=Sums, covariant=True)


class Measure(Protocol[S_co]):
    """What is to be known of rows; picklable, for the rows may be on another machine."""

    def empty(self) -> S_co:
        """Return what is known of no rows."""
        ...

    def __call__(
        self,
        columns: Columns,
        targets: FloatArray,
        weights: FloatArray | None,
        folds: IntArray,
        n_threads: int = 1,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> S_co:
        """Return what is known of some rows, by their attributes and what `RowCode.read` makes of the rest."""
        ...


class Source(Protocol):
    """A table with its target and its weights."""

    def sample(self, chance: Chance, size: Size) -> Sampled:
        """Return all rows of a small table, or of a large one those whose random numbers are the smallest."""
        ...

    def deal(self, cv: Any, code: TargetCode, chance: Chance) -> Folds:
        """Deal all rows out to folds."""
        ...

    def count(self, requests: Sequence[Request], code: RowCode, progress: Any) -> Iterator[Counted | Margins]:
        """Count candidates over all rows."""
        ...

    def judge(self, measure: Measure[S], code: RowCode, progress: Any) -> S:
        """Measure all rows, as far as they are counted, in one pass."""
        ...


def draw_lowest(keys: Words, size: int) -> tuple[IntArray, IntArray]:
    """Return the places of the smallest numbers, ascending, and the rank of each; numbers of rows do not repeat."""
    chosen = np.argsort(keys, kind="stable") if keys.size <= size else np.argpartition(keys, size - 1)[:size]
    chosen = np.sort(chosen)
    ranks = np.empty(chosen.size, np.int64)
    ranks[np.argsort(keys[chosen], kind="stable")] = np.arange(chosen.size)
    return chosen, ranks


def draw_positions(seed: int, positions: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return those of some positions whose random numbers are the smallest, ascending, and their ranks."""
    chosen, ranks = draw_lowest(hash_positions(seed, positions), size)
    return positions[chosen], ranks
