"""The table that a report is given beside the model."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove._validation import check_regression_target, count_threads
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.figures import Figures
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import Sample, read_codes, read_sample
from rulegrove.plots._display import class_labels


@dataclass(frozen=True, eq=False)
class Given:
    """Rows to look at a model on.

    Attributes
    ----------
    sample : Sample
    predictions : ndarray of shape (n_rows,)
        What the model predicts.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        None in regression.
    codes : ndarray of shape (n_rows,) or None
        Class of each row; None in regression or without a target.
    targets : ndarray of shape (n_rows, n_outputs) or None
        What each output is about: 1 for rows of its class and 0 for others, or the number itself. None without a
        target.
    figures : Figures or None
        How well the rows are predicted; None without a target.
    training : bool
        Whether the model was fitted on these rows.
    """

    sample: Sample
    predictions: AnyArray
    probabilities: FloatArray | None
    codes: IntArray | None
    targets: FloatArray | None
    figures: Figures | None
    training: bool

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
    sample, labels = read_sample(model, X), class_labels(model)
    n_rows = sample.columns.n_rows
    if training is None:
        training = _looks_trained_on(model, sample)
    scores = sample.model.score(sample.columns, count_threads(model.n_jobs))
    probabilities = sample.model.probabilities(scores)
    codes, targets, figures = None, None, None
    if y is not None:
        if labels:
            codes = read_codes(labels, y, n_rows)
            members = np.eye(len(labels))[codes]
            targets = members[:, 1:] if len(labels) == 2 else members
        else:
            targets = check_regression_target(model, y, n_rows)[:, None]
        observed = targets[:, 0] if codes is None else codes
        figures = model.recall_target().judge_rows(sample.model, observed, scores, honest=not training)
    return Given(sample, sample.model.decide(scores), probabilities, codes, targets, figures, training)


def _looks_trained_on(model: BaseRuleEnsemble, sample: Sample) -> bool:
    """Whether rows are as many as those of the training, and every rule holds on as many of them as it did there."""
    if not sample.rules or sample.columns.n_rows != model.path_[0].weight:
        return False
    shares = sample.shares(sample.compile([rule for _, rule in sample.rules]))
    supports = [model.rules_[place].support for place, _ in sample.rules]
    return bool(np.allclose(shares, supports, rtol=0.0, atol=1e-9))
