"""Checks of parameters, targets and weights; the only place that touches scikit-learn's private helpers."""

import contextlib
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d, validate_data

from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove.exceptions import InvalidInputError

__all__ = [
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "check_class_labels",
    "check_features",
    "check_groups",
    "check_parameters",
    "check_regression_target",
    "check_regression_targets",
    "check_weights",
    "count_threads",
    "find_codes",
    "guess_task",
    "is_missing",
]

LARGEST_TARGET = 1e300
MOST_CLASSES = 20  # a target of more distinct numbers is a number, not a class, unless told otherwise


def check_parameters(estimator: Any) -> None:
    """Compare an estimator's parameters with its table `_parameter_constraints`; a bool is no number."""
    estimator._validate_params()
    for name, value in estimator.get_params(deep=False).items():
        allowed = estimator._parameter_constraints.get(name, [object])
        if isinstance(value, (bool, np.bool_)) and not any(rule in allowed for rule in ("boolean", "verbose", object)):
            raise InvalidInputError(
                f"`{name}` must not be a boolean; got {value!r}. Give a number, or leave `{name}` out."
            )


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
    """Return the target as one dimension of the table's length: numbers, booleans, text, or objects of other kinds."""
    if y is None:
        name = type(estimator).__name__
        raise InvalidInputError(f"{name} requires y to be passed, but the target y is None.")
    _check_unmasked(y, "y")
    array = _as_array(y)
    if array.dtype.names is not None:
        raise InvalidInputError(
            f"y is a structured array of {', '.join(map(repr, array.dtype.names))}; use RuleEnsembleSurvival for "
            "survival times, or pass one of its columns."
        )
    if array.dtype.kind == "c":
        raise InvalidInputError(f"Complex data not supported: y must be real numbers or labels; got {array.dtype}.")
    array = np.asarray(column_or_1d(array, warn=True))
    if len(array) != n_rows:
        raise InvalidInputError(f"X has {n_rows} rows but y has {len(array)}; give one target for each row.")
    return _tidy_objects(array) if array.dtype == object else array


def _check_unmasked(values: Any, name: str) -> None:
    """Refuse masked values, whose mask other checks would not see."""
    if np.ma.is_masked(values):
        row = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
        raise InvalidInputError(f"Input {name} contains NaN: row {row} is masked. Drop the rows that are masked.")


def _as_array(y: Any) -> AnyArray:
    """Return a target as an array whose values are those that were given: numpy makes text of a list with some text."""
    try:
        array = np.asarray(y)
    except ValueError:
        raise InvalidInputError(
            "y should be a 1d array with one target for each row; got rows of different lengths."
        ) from None
    if isinstance(y, (list, tuple)) and array.dtype.kind in "US" and not all(isinstance(one, str) for one in y):
        array = np.array(y, dtype=object)
    return array


def _tidy_objects(values: AnyArray) -> AnyArray:
    """Return objects as booleans or integers where all of them are: nullable columns come as objects."""
    present = values.tolist()
    if any(is_missing(value) for value in present):
        return values
    if all(isinstance(value, (bool, np.bool_)) for value in present):
        return values.astype(bool)
    if all(isinstance(value, Integral) and not isinstance(value, bool) for value in present):
        with contextlib.suppress(OverflowError):
            return values.astype(np.int64)
    return values


def check_class_labels(estimator: Any, y: Any, n_rows: int) -> tuple[AnyArray, AnyArray]:
    """Classes, sorted, and each row's position among them."""
    y = _read_vector(estimator, y, n_rows)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise InvalidInputError(
            f"Input y contains NaN or infinity (row {row}: {y[row]}); drop the rows without a label."
        )
    if y.dtype == object:
        y = _check_label_objects(y)
    if y.dtype.kind not in "biufUO":
        raise InvalidInputError(f"y must be labels: text, integers or booleans; got {y.dtype}. Convert them to text.")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InvalidInputError(f"y must hold at least two classes; got one class only: {classes.tolist()[0]!r}.")
    return classes, codes


def _check_label_objects(y: AnyArray) -> AnyArray:
    """Return labels that are text, or numbers as such; refuse labels that are missing, mixed or of another kind."""
    labels = y.tolist()
    if any(is_missing(label) for label in labels):
        raise InvalidInputError("Input y contains NaN: a missing label. Drop the rows without a label.")
    if all(isinstance(label, str) for label in labels):
        return y
    if all(isinstance(label, (float, np.floating)) for label in labels):
        return y.astype(np.float64)
    kinds = sorted({type(label).__name__ for label in labels})
    told = f"mixes labels of the types {', '.join(kinds)}" if len(kinds) > 1 else f"holds labels of type {kinds[0]}"
    if kinds == ["int"]:
        told = "holds integers of more than 64 bits"
    raise InvalidInputError(f"y {told}; convert them all to text or to numbers.")


def check_regression_target(estimator: Any, y: Any, n_rows: int) -> FloatArray:
    """Return the target as finite float64."""
    y = _read_vector(estimator, y, n_rows)
    if y.dtype == object:
        y = _as_numbers(y)
    if y.dtype.kind in "US":
        raise _refuse_text(y)
    if y.dtype.kind not in "fiub":
        raise InvalidInputError(f"y must be numeric; got {y.dtype}. Convert it to numbers.")
    values: FloatArray = np.asarray(y, dtype=np.float64)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InvalidInputError(f"Input y contains NaN or infinity (row {row}: {y[row]}); drop or repair these rows.")
    if np.abs(values).max(initial=0.0) > LARGEST_TARGET:
        row = int(np.argmax(np.abs(values)))
        raise InvalidInputError(
            f"y holds {values[row]:g} in row {row}; numbers beyond {LARGEST_TARGET:g} cannot be added up. Divide the "
            "target by a constant."
        )
    return values


def check_regression_targets(estimator: Any, y: Any, n_rows: int, names: Sequence[str]) -> FloatArray:
    """Return several targets, of these names, as the columns of a finite float64 array."""
    _check_unmasked(y, "y")
    array = _as_array(y)
    if array.shape != (n_rows, len(names)):
        raise InvalidInputError(
            f"y must have a column for each of the {len(names)} numbers and a row for each of the {n_rows} rows of X; "
            f"got the shape {array.shape}."
        )
    values = np.empty(array.shape)
    for place, name in enumerate(names):
        try:
            values[:, place] = check_regression_target(estimator, array[:, place], n_rows)
        except InvalidInputError as error:
            raise InvalidInputError(f"Column {name!r} of y: {error}") from None
    return values


def _as_numbers(y: AnyArray) -> FloatArray:
    """Return objects as numbers, NaN where missing."""
    numbers = np.full(len(y), np.nan)
    for row, value in enumerate(y.tolist()):
        if is_missing(value):
            continue
        try:
            numbers[row] = float(value)
        except OverflowError:
            raise InvalidInputError(
                f"y holds an integer beyond the range of floats in row {row}; take its logarithm or divide the target."
            ) from None
        except (TypeError, ValueError):
            if isinstance(value, str):
                raise _refuse_text(y[row:]) from None
            raise InvalidInputError(
                f"y must be numeric; got {type(value).__name__} in row {row}. Convert it to a number."
            ) from None
    return numbers


def _refuse_text(y: AnyArray) -> InvalidInputError:
    """Return the error of a target that should be numbers and is text."""
    return InvalidInputError(
        f"y must be numeric; got text such as {y.tolist()[0]!r}. Use RuleEnsembleClassifier to predict classes, or "
        "convert the text to numbers."
    )


def check_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Weights as non-negative float64, or None when there are none."""
    if sample_weight is None:
        return None
    _check_unmasked(sample_weight, "sample_weight")
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


def check_offset(exposure: Any, offset: Any, n_rows: int, *, log_link: bool) -> FloatArray | None:
    """Return what is known to add to the score of each row, or None: an exposure e is an offset of log(e).

    Parameters
    ----------
    exposure, offset : array-like of shape (n_rows,) or None
    n_rows : int
    log_link : bool
        Whether scores are logarithms, so that an exposure makes sense.
    """
    if exposure is not None and not log_link:
        raise InvalidInputError(
            "`exposure` needs a RuleEnsembleRegressor with loss='poisson', 'gamma' or 'tweedie'; with its other "
            "losses, pass what is to be added to the prediction as `offset`."
        )
    known = None
    for name, given in (("exposure", exposure), ("offset", offset)):
        if given is None:
            continue
        _check_unmasked(given, name)
        values = _read_numbers(given, name)
        if values.shape != (n_rows,):
            raise InvalidInputError(
                f"`{name}` must hold one number for each of the {n_rows} rows; got the shape {values.shape}."
            )
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise InvalidInputError(f"`{name}` is missing or infinite in row {row} ({values[row]}); drop such rows.")
        if name == "exposure":
            if (values <= 0.0).any():
                row = int(np.argmax(values <= 0.0))
                raise InvalidInputError(
                    f"`exposure` must be more than 0; got {values[row]:g} in row {row}. Drop the rows without exposure."
                )
            values = np.log(values)
        known = values if known is None else known + values
    return known


def _read_numbers(given: Any, name: str) -> FloatArray:
    """Return numbers as float64, NaN where missing."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(f"`{name}` must hold numbers; got something else. Convert it to numbers.") from None


def find_codes(labels: list[Any], y: Any, n_rows: int) -> IntArray:
    """Return the position of each row's class among the classes of a model; not all of them need be there."""
    values = np.asarray(y)
    if values.shape != (n_rows,):
        raise InvalidInputError(f"`y` must hold one class for each of the {n_rows} rows; got the shape {values.shape}.")
    places = {label: place for place, label in enumerate(labels)}
    codes = np.array([places.get(value, -1) for value in values.tolist()], dtype=np.int64)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise InvalidInputError(
            f"`y` holds {values.tolist()[row]!r} in row {row}, which is not a class of the model; drop such rows."
        )
    return codes


def check_groups(groups: Any, n_rows: int) -> IntArray | None:
    """Return groups of rows as numbers, sorted as their names are, or None when there are none."""
    if groups is None:
        return None
    names = np.asarray(groups)
    if names.shape != (n_rows,):
        raise InvalidInputError(f"`groups` must hold one group for each of the {n_rows} rows; got {names.shape}.")
    missing = np.isnan(names) if names.dtype.kind == "f" else [is_missing(name) for name in names.tolist()]
    if np.any(missing):
        row = int(np.argmax(missing))
        raise InvalidInputError(
            f"`groups` has no group for row {row}; give every row a group, one of its own if it belongs to no other."
        )
    try:
        return np.unique(names, return_inverse=True)[1].astype(np.int64)
    except TypeError:  # names of several kinds have no order
        places: dict[Any, int] = {}
        return np.array([places.setdefault(name, len(places)) for name in names.tolist()], dtype=np.int64)


def guess_task(y: Any) -> str:
    """Tell whether a target is classes: numbers with a fractional part, or many distinct ones, are a regression.

    Examples
    --------
    >>> import numpy as np
    >>> guess_task(np.array([1, 2, 1])), guess_task(np.array([1.5, 2.0])), guess_task(np.array(["a", "b"]))
    ('classification', 'regression', 'classification')
    """
    values = _as_array(y)
    values = _tidy_objects(values) if values.dtype == object and values.ndim == 1 else values
    if values.dtype.kind in "iuf" and values.ndim == 1 and len(np.unique(values)) > MOST_CLASSES:
        return "regression"
    return "classification" if type_of_target(values, input_name="y") in ("binary", "multiclass") else "regression"
