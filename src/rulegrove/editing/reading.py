"""The rows of a session: read as a fit reads them, dealt to the folds it deals, drawn where they are many."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import column_or_1d

from rulegrove._hashing import deal_folds
from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove._validation import check_groups, find_codes
from rulegrove.design.terms import Linear
from rulegrove.editing.counting import Counts, Rows
from rulegrove.editing.families import Family, OfClasses, OfNumbers, OfRates
from rulegrove.estimators import autos
from rulegrove.estimators._observed import read_observed
from rulegrove.estimators._sampling import Chance, draw_positions
from rulegrove.estimators._training import NEVER_HELD_OUT, Encoded, TrainingData, assign_folds
from rulegrove.estimators.classes import Classes
from rulegrove.estimators.number import Number
from rulegrove.estimators.rate import Rate
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError

if TYPE_CHECKING:
    from rulegrove.estimators._base import BaseRuleEnsemble

DRAWN_ROWS = 20_000  # of a longer table, where rows do not share lines
MOST_LINES = 50_000
SEED = 0  # of folds where the model has no seed of its own


def find_family(target: Target) -> Family:
    """Return the loss by which weights are solved for, or refuse a target that sums of rows do not tell of."""
    if isinstance(target, Classes):
        return OfClasses(len(target.labels))
    if isinstance(target, Rate) and not target.timed:
        return OfRates(target.power)
    if type(target) is Number:
        return OfNumbers()
    raise InvalidInputError(
        "A list can be edited if its target is classes, a number (loss='squared') or a rate (loss='poisson', 'gamma' "
        "or 'tweedie'); this model has another target or loss."
    )


def read_rows(
    model: "BaseRuleEnsemble", X: Any, y: Any, sample_weight: Any, groups: Any, exposure: Any, offset: Any
) -> Rows:
    """Read the rows that a session counts.

    Parameters
    ----------
    model : BaseRuleEnsemble
        Fitted.
    X, y, sample_weight, groups, exposure, offset
        As in `fit`.
    """
    if y is None:
        raise InvalidInputError("`edit` was given X without y; give both, or neither.")
    target = model.recall_target()
    family, columns = find_family(target), model.read_columns(X)
    y, weights = read_observed(target, y, columns.n_rows, sample_weight, exposure, offset)
    codes: IntArray | None = None
    values: AnyArray
    if isinstance(target, Classes):
        codes = values = find_codes(target.labels.tolist(), column_or_1d(y, warn=True), columns.n_rows)
        weights = _weigh_classes(target, codes, weights)
    else:
        values = target.check(y, columns.n_rows)
    places, n_folds = _deal(model, X, columns, values, codes, weights, groups)
    chosen = np.flatnonzero(places != NEVER_HELD_OUT)
    own = None if weights is None else weights[chosen] / weights[chosen].max()
    if own is not None:
        own = None if np.ptp(own) == 0.0 else own / own.mean()
    values, folds = values[chosen], places[chosen]
    center, scale = 0.0, 1.0
    if codes is None:
        center, scale = _find_unit(family, np.asarray(values, dtype=np.float64), own)
        values = (values - center) / scale
    elif np.unique(values).size < 2:
        raise InvalidInputError(
            "The rows of positive weight belong to one class; an edit needs rows of at least two classes."
        )
    return Rows(columns, chosen, values, own, folds, n_folds, family, center, scale)


def _weigh_classes(target: Classes, codes: IntArray, weights: FloatArray | None) -> FloatArray | None:
    """Return weights of rows times those of their classes, as a fit to these rows has them."""
    if target.class_weight is None:
        return weights
    here = np.unique(codes)
    by_class = np.ones(len(target.labels))
    by_class[here] = compute_class_weight(target.class_weight, classes=target.labels[here], y=target.labels[codes])
    return by_class[codes] if weights is None else weights * by_class[codes]


def _find_unit(family: Family, values: FloatArray, weights: FloatArray | None) -> tuple[float, float]:
    """Return what numbers are told by: their mean and standard deviation; rates by their mean alone."""
    most = float(np.abs(values).max()) or 1.0
    mean = most * float(np.average(values / most, weights=weights))
    if isinstance(family, OfRates):
        if not mean > 0.0:
            raise InvalidInputError(
                "An edit of rates needs at least one row with a target above 0 and a positive weight; all are 0."
            )
        return 0.0, mean
    return mean, most * float(np.sqrt(np.average(((values - mean) / most) ** 2, weights=weights))) or 1.0


def _deal(
    model: "BaseRuleEnsemble",
    X: Any,
    columns: Any,
    values: Any,
    codes: IntArray | None,
    weights: FloatArray | None,
    groups: Any,
) -> tuple[IntArray, int]:
    """Return the fold of each row as a fit with the model's `cv` and `random_state` deals them, and their number."""
    seed = model.random_state
    chance = Chance.of(seed if isinstance(seed, (int, np.integer)) else SEED)
    cv = 5 if model.cv is None else model.cv
    known = check_groups(groups, columns.n_rows)
    numbers = np.asarray(values, dtype=np.float64)[:, None]
    data = TrainingData.of(columns, Encoded(numbers, np.zeros(1), weights, codes))
    if columns.n_rows > autos.POOL_ROWS:
        if isinstance(cv, (int, np.integer)) and known is None:
            folds = deal_folds(chance.fold_seed, np.arange(columns.n_rows), int(cv))
            here = np.zeros(columns.n_rows, dtype=bool)
            here[data.rows] = True
            return np.where(here, folds, NEVER_HELD_OUT), int(cv)
        return assign_folds(cv, data, codes, X, values, np.random.default_rng(chance.fold_seed), known)
    return assign_folds(cv, data, codes, X, values, chance.folds, known)


def count_rows(rows: Rows, terms: Any) -> Counts:
    """Count rows by the terms of a list, or some that are drawn where they are many and share no lines."""
    many = rows.n_rows > DRAWN_ROWS
    if not (many and any(isinstance(term, Linear) for term in terms)):
        counts = Counts.of(rows, terms)
        if not many or counts.n_lines <= MOST_LINES:
            return counts
    drawn, _ = draw_positions(SEED, np.arange(rows.n_rows), DRAWN_ROWS)
    return Counts.of(rows.take(drawn), terms)
