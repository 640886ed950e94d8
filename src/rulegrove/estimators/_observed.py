"""The target of rows that a model is looked at on, without what is known of it."""

from typing import Any, NamedTuple

from rulegrove._typing import FloatArray
from rulegrove._validation import check_offset, check_weights
from rulegrove.estimators.target import Target


class Observed(NamedTuple):
    """A target and the weights of its rows.

    Attributes
    ----------
    y : array-like
        Rates, where there was an exposure; otherwise as it was given.
    weights : ndarray of shape (n_rows,) or None
        Of rates those by which their loss is that of the totals.
    """

    y: Any
    weights: FloatArray | None


def read_observed(
    target: Target, y: Any, n_rows: int, sample_weight: Any = None, exposure: Any = None, offset: Any = None
) -> Observed:
    """Take exposure and offset out of a target.

    Parameters
    ----------
    target : Target
        Of the model.
    y, sample_weight, exposure, offset
        As in `fit`.
    n_rows : int
    """
    weights = check_weights(sample_weight, n_rows)
    known = check_offset(exposure, offset, n_rows, log_link=target.log_link)
    if known is None:
        return Observed(y, weights)
    return Observed(*target.take_offset(target.check(y, n_rows), weights, known))
