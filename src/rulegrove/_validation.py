"""Checks of parameters, targets and weights; the only place that touches scikit-learn's private helpers."""

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_y, column_or_1d, validate_data

from rulegrove._typing import AnyArray, FloatArray
from rulegrove.exceptions import InvalidInputError

__all__ = [
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "check_class_labels",
    "check_features",
    "check_parameters",
    "check_regression_target",
    "check_weights",
    "count_threads",
    "guess_task",
    "is_missing",
]

MOST_CLASSES = 20  # a target of more distinct numbers is a number, not a class, unless told otherwise


def check_parameters(estimator: Any) -> None:
    """Compare an estimator's parameters with its table `_parameter_constraints`."""
    estimator._validate_params()


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for a missing value."""
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def check_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """Remember number and names of the attributes (`reset`), or compare with those remembered."""
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def count_threads(n_jobs: int | None) -> int:
    """Threads to use: None means as many as OpenMP would take, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return int(_openmp_effective_n_threads())
    available = int(_openmp_effective_n_threads(-1))
    return max(1, available + 1 + n_jobs) if n_jobs < 0 else n_jobs


def _read_vector(estimator: Any, y: Any, n_rows: int) -> AnyArray:
    """Return the target as one dimension of the table's length."""
    if y is None:
        name = type(estimator).__name__
        raise InvalidInputError(f"{name} requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows:
        raise InvalidInputError(f"X has {n_rows} rows but y has {len(y)}; give one target a row.")
    return np.asarray(y)


def check_class_labels(estimator: Any, y: Any, n_rows: int) -> tuple[AnyArray, AnyArray]:
    """Classes, sorted, and each row's position among them."""
    y = _read_vector(estimator, y, n_rows)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise InvalidInputError(
            f"Input y contains NaN or infinity (row {row}: {y[row]}); drop the rows without a label."
        )
    if y.dtype == object and any(is_missing(label) for label in y):
        raise InvalidInputError("Input y contains NaN: a missing label. Drop the rows without a label.")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InvalidInputError(f"y must hold at least two classes; got one class only: {classes.tolist()[0]!r}.")
    return classes, codes


def check_regression_target(estimator: Any, y: Any, n_rows: int) -> FloatArray:
    """Return the target as finite float64."""
    y = _read_vector(estimator, y, n_rows)
    if y.dtype.kind in "OUS":
        y = np.asarray(_check_y(y, y_numeric=True, estimator=estimator))
    if y.dtype.kind not in "fiub":
        raise InvalidInputError(f"y must be numeric; got {y.dtype}.")
    values: FloatArray = np.asarray(y, dtype=np.float64)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InvalidInputError(f"Input y contains NaN or infinity (row {row}: {y[row]}); drop or repair these rows.")
    return values


def check_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Weights as non-negative float64, or None when there are none."""
    if sample_weight is None:
        return None
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.shape != (n_rows,):
        raise InvalidInputError(
            f"`sample_weight` must hold one weight for each of the {n_rows} rows; got the shape {weights.shape}."
        )
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise InvalidInputError(
            f"`sample_weight` must not be negative; got {weights[row]} in row {row}. Drop the row or give it weight 0."
        )
    if not weights.any():
        raise InvalidInputError("`sample_weight` is zero for every row; at least one row needs a positive weight.")
    return np.asarray(weights, dtype=np.float64)


def guess_task(y: Any) -> str:
    """Tell whether a target is classes: numbers with a fractional part, or many distinct ones, are a regression.

    Examples
    --------
    >>> import numpy as np
    >>> guess_task(np.array([1, 2, 1])), guess_task(np.array([1.5, 2.0])), guess_task(np.array(["a", "b"]))
    ('classification', 'regression', 'classification')
    """
    values = np.asarray(y)
    if values.dtype.kind in "iuf" and values.ndim == 1 and len(np.unique(values)) > MOST_CLASSES:
        return "regression"
    return "classification" if type_of_target(y, input_name="y") in ("binary", "multiclass") else "regression"
