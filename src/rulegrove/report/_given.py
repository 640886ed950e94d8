"""The table that a report is given beside the model."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove._validation import check_regression_target, count_threads, find_codes
from rulegrove.columns import Columns
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.figures import Figures
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import Sample
from rulegrove.report._lines import Line, read_line


@dataclass(frozen=True, eq=False)
class Given:
    """Rows to look at a model on.

    Attributes
    ----------
    columns : Columns
    codes : ndarray of shape (n_rows,) or None
        Class of each row; None in regression or without a target.
    targets : ndarray of shape (n_rows, n_outputs) or None
        What each output is about: 1 for rows of its class and 0 for others, or the number itself. None without a
        target.
    training : bool
        Whether the model was fitted on these rows.
    """

    columns: Columns
    codes: IntArray | None
    targets: FloatArray | None
    training: bool

    @property
    def name(self) -> str:
        """What the rows are called."""
        return "training rows" if self.training else "rows given"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.columns.n_rows


class Predicted(NamedTuple):
    """What a model says of rows.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows,) or None
        None for classes.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        None for numbers.
    figures : Figures or None
        How well the rows are predicted; None without a target.
    """

    numbers: FloatArray | None
    probabilities: FloatArray | None
    figures: Figures | None


def predict_given(model: BaseRuleEnsemble, line: Line, given: Given) -> Predicted:
    """Return what the model of a line says of the rows."""
    scores = line.model.score(given.columns, count_threads(model.n_jobs))
    probabilities = line.model.probabilities(scores)
    figures = None
    if given.targets is not None:
        observed = given.targets[:, 0] if given.codes is None else given.codes
        figures = model.recall_target().judge_rows(line.model, observed, scores, honest=not given.training)
    return Predicted(line.model.decide(scores) if probabilities is None else None, probabilities, figures)


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
    columns, labels = model.read_columns(X), list(model.model_.labels)
    n_rows = columns.n_rows
    if training is None:
        training = _looks_trained_on(model, columns)
    codes, targets = None, None
    if y is not None and labels:
        codes = find_codes(labels, y, n_rows)
        members = np.eye(len(labels))[codes]
        targets = members[:, 1:] if len(labels) == 2 else members
    elif y is not None:
        targets = check_regression_target(model, y, n_rows)[:, None]
    return Given(columns, codes, targets, training)


def _looks_trained_on(model: BaseRuleEnsemble, columns: Columns) -> bool:
    """Whether rows are as many as those of the training, and every rule holds on as many of them as it did there."""
    large = read_line(model, -1)  # its many rules tell more than those of a short list
    sample = Sample(large.model, columns, None)
    if not sample.rules or columns.n_rows != model.path_[0].weight:
        return False
    shares = sample.shares(sample.compile([rule for _, rule in sample.rules]))
    supports = [large.rules[place].support for place, _ in sample.rules]
    return bool(np.allclose(shares, supports, rtol=0.0, atol=1e-9))
