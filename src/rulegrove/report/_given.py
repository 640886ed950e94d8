"""The table that a report is given beside the model."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove._validation import count_threads, find_codes
from rulegrove.columns import Columns
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._observed import read_observed
from rulegrove.estimators.figures import Figures
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import Sample
from rulegrove.report._lines import Line, read_line
from rulegrove.survival import SurvivalTimes, read_survival


@dataclass(frozen=True, eq=False)
class Given:
    """Rows to look at a model on.

    Attributes
    ----------
    columns : Columns
    codes : ndarray of shape (n_rows,) or None
        Class of each row; None in regression or without a target.
    targets : ndarray of shape (n_rows, n_outputs) or None
        What each output is about: 1 for rows of its class and 0 for others, or the number itself, of which there is one
        for all quantiles. None for survival times, and without a target.
    training : bool
        Whether the model was fitted on these rows.
    times : SurvivalTimes, optional
    weights : ndarray of shape (n_rows,), optional
        By which the loss of rates is that of totals, where there was an exposure.
    """

    columns: Columns
    codes: IntArray | None
    targets: FloatArray | None
    training: bool
    times: SurvivalTimes | None = None
    weights: FloatArray | None = None

    @property
    def observed(self) -> Any:
        """What figures compare predictions with; None without a target."""
        if self.times is not None or self.codes is not None:
            return self.codes if self.times is None else self.times
        if self.targets is None:
            return None
        return self.targets if self.targets.shape[1] > 1 else self.targets[:, 0]

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
    numbers : ndarray of shape (n_rows, n_outputs) or None
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
    figures, honest = None, not given.training
    if given.observed is not None:
        figures = model.recall_target().judge_rows(line.model, given.observed, scores, given.weights, honest=honest)
    numbers = None if probabilities is not None else line.model.decide(scores).reshape(given.n_rows, -1)
    return Predicted(numbers, probabilities, figures)


def read_given(
    model: BaseRuleEnsemble, X: Any, y: Any, training: bool | None = None, exposure: Any = None, offset: Any = None
) -> Given | None:
    """Check the table and the target of a report; None without a table.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
    X, y, training, exposure, offset
        As in `write_report`.
    """
    if y is None and not (exposure is None and offset is None):
        raise InvalidInputError("`exposure` and `offset` belong to `y`; give that as well.")
    if X is None:
        if y is not None:
            raise InvalidInputError("`y` was given without `X`; give the rows that it belongs to.")
        return None
    columns, labels = model.read_columns(X), list(model.model_.labels)
    given = Given(columns, None, None, bool(training))
    if y is not None and labels:
        codes = find_codes(labels, y, columns.n_rows)
        members = np.eye(len(labels))[codes]
        given = replace(given, codes=codes, targets=members[:, 1:] if len(labels) == 2 else members)
    elif y is not None:
        given = _add_numbers(model, given, y, exposure, offset)
    return replace(given, training=_looks_trained_on(model, given)) if training is None else given


def _add_numbers(model: BaseRuleEnsemble, given: Given, y: Any, exposure: Any, offset: Any) -> Given:
    """Return the rows with a target that is no class."""
    target, n_rows = model.recall_target(), given.n_rows
    found = read_observed(target, y, n_rows, None, exposure, offset)
    if target.timed:
        return replace(given, times=read_survival(found.y, n_rows, need_events=False))
    values = target.check_observed(found.y, n_rows).reshape(n_rows, -1)
    return replace(given, targets=values, weights=found.weights)


def _looks_trained_on(model: BaseRuleEnsemble, given: Given) -> bool:
    """Whether rows weigh as much as those of the training, and every rule holds on as large a share as it did there."""
    large = read_line(model, -1)  # its many rules tell more than those of a short list
    total = float(given.n_rows if given.weights is None else given.weights.sum())
    sample = Sample(large.model, given.columns, None if given.weights is None else given.weights / total)
    if not sample.rules or not np.isclose(total, model.path_[0].weight, rtol=1e-9, atol=0.0):
        return False
    shares = sample.shares(sample.compile([rule for _, rule in sample.rules]))
    supports = [large.rules[place].support for place, _ in sample.rules]
    return bool(np.allclose(shares, supports, rtol=0.0, atol=1e-9))
