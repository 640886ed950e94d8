"""The table that a report is given beside the model."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove._validation import check_regression_target
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import Sample, measure_shares, read_sample
from rulegrove.plots._display import class_labels
from rulegrove.rules.rule import Rule


@dataclass(frozen=True, eq=False)
class Given:
    """Rows to look at a model on.

    Attributes
    ----------
    sample : Sample
    codes : ndarray of shape (n_rows,) or None
        Class of each row; None in regression or without a target.
    targets : ndarray of shape (n_rows, n_outputs) or None
        What each output is about: 1 for rows of its class and 0 for others, or the number itself. None without a
        target.
    training : bool
        Whether the model was fitted on these rows.
    """

    sample: Sample
    codes: IntArray | None
    targets: FloatArray | None
    training: bool = False

    @property
    def name(self) -> str:
        """What the rows are called."""
        return "training rows" if self.training else "rows given"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.sample.columns.n_rows


def read_given(model: BaseRuleEnsemble, X: Any, y: Any, training: bool | None = None) -> Given | None:
    """Check the table and the target of a report; None without a table.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
    X, y, training
        As in `write_report`.
    """
    if X is None:
        if y is not None:
            raise InvalidInputError("`y` was given without `X`; give the rows that it belongs to.")
        return None
    sample = read_sample(model, X)
    if training is None:
        training = _looks_trained_on(model, sample)
    if y is None:
        return Given(sample, None, None, training)
    labels = class_labels(model)
    if not labels:
        return Given(sample, None, check_regression_target(model, y, sample.columns.n_rows)[:, None], training)
    codes = _read_codes(y, labels, sample.columns.n_rows)
    members = (codes[:, None] == np.arange(len(labels))).astype(np.float64)
    return Given(sample, codes, members[:, 1:] if len(labels) == 2 else members, training)


def _looks_trained_on(model: BaseRuleEnsemble, sample: Sample) -> bool:
    """Whether rows are as many as those of the training, and every rule holds on as many of them as it did there."""
    rows = [row for row in model.rules_ if isinstance(row.term, Rule)]
    if not rows or sample.columns.n_rows != model.path_[0].weight:
        return False
    shares = measure_shares(sample, [row.term for row in rows if isinstance(row.term, Rule)])
    return bool(np.allclose(shares, [row.support for row in rows], rtol=0.0, atol=1e-9))


def _read_codes(y: Any, labels: list[Any], n_rows: int) -> IntArray:
    """Return the position of each row's class among the classes of the model."""
    values = np.asarray(y)
    if values.shape != (n_rows,):
        raise InvalidInputError(f"`y` must hold one class for each of the {n_rows} rows; got the shape {values.shape}.")
    places = {label: place for place, label in enumerate(labels)}
    codes = np.array([places.get(value, -1) for value in values.tolist()], dtype=np.int64)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise InvalidInputError(
            f"`y` holds {values.tolist()[row]!r} in row {row}, which is no class of the model; drop such rows."
        )
    return codes
