"""Single rows to look at: their values, and the bits of every rule."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.columns import Columns, Feature
from rulegrove.design.terms import Linear, Term
from rulegrove.estimators.model import RuleModel
from rulegrove.report._given import Given, Predicted
from rulegrove.report._numbers import shorten
from rulegrove.rules.rule import ANY_OTHER
from rulegrove.survival import SurvivalTimes

MAX_ROWS = 200
MIN_ROWS = 20
MAX_CELLS = 20_000  # values of all rows together: a wide table shows fewer rows
MAX_DOTS = 500  # of predicted against observed
SHARE_DIGITS = 5  # of probabilities, which are shown in percent
NEW_CATEGORY = "a category that was not in the training rows"


class Drawn:
    """A draw of the rows given: some to look at one by one, and some to stand in a chart.

    Parameters
    ----------
    given : Given
    terms : sequence of Rule or Linear
        Of all lines.
    rng : Generator
    """

    def __init__(self, given: Given, terms: Sequence[Term], rng: np.random.Generator) -> None:
        self.given, self.terms = given, terms
        self.features = sorted({feature for term in terms for feature in term.features})
        n_rows = max(min(MAX_ROWS, MAX_CELLS // max(len(self.features), 1)), MIN_ROWS)
        self.rows, self.dots = (
            np.sort(rng.choice(given.n_rows, min(given.n_rows, size), replace=False)) for size in (n_rows, MAX_DOTS)
        )

    def describe(self) -> dict[str, Any]:
        """Return the rows with all that the page needs to score them by any line.

        Values of linear terms are computed on the page from the values of the row, so these keep every bit.
        """
        columns = self.given.columns
        block = columns.take(self.rows)
        exact = {term.feature for term in self.terms if isinstance(term, Linear)}
        values = [_show_values(columns.features[place], block[place], place in exact) for place in self.features]
        return {
            "n_given": self.given.n_rows,
            "numbers": self.rows.tolist(),
            "features": self.features,
            "values": [list(row) for row in zip(*values, strict=True)] if values else [[] for _ in self.rows],
            "bits": _pack_bits(Columns(columns.features, list(block)), self.terms),
            "truths": _show_truths(self.given, self.rows),
        }

    @property
    def observed(self) -> list[Any] | None:
        """The numbers that came true, of the chart's rows, for each output or for all; None where there are none."""
        given = self.given
        return None if given.targets is None or given.codes is not None else shorten(given.targets[self.dots].T)

    def tell(self, predicted: Predicted) -> dict[str, Any]:
        """Return what a model says of the rows: numbers of those in the chart, probabilities of the others."""
        numbers, shares = predicted.numbers, predicted.probabilities
        return {
            "predicted": None if numbers is None else shorten(numbers[self.dots].T),
            "probabilities": None if shares is None else shorten(shares[self.rows].round(SHARE_DIGITS)),
        }


def _show_values(feature: Feature, values: FloatArray, exact: bool) -> list[Any]:
    """Return the values of an attribute: numbers, or categories in words; None where missing."""
    if feature.categories is None:
        return shorten(values, None if exact else 6)
    labels = [*map(str, feature.categories), ANY_OTHER if feature.pooled else NEW_CATEGORY]
    return [None if np.isnan(code) else labels[int(code)] for code in values]


def _pack_bits(columns: Columns, terms: Sequence[Term]) -> list[str]:
    """Return for each row one bit a term, the first in the lowest place of the first byte, in base64."""
    model = RuleModel(columns.features, tuple(terms), np.zeros(len(terms)), 0.0)
    is_line = np.array([isinstance(term, Linear) for term in terms], dtype=bool)
    held = (model.values(columns) != 0.0) & ~is_line
    return [base64.b64encode(row.tobytes()).decode() for row in np.packbits(held, axis=1, bitorder="little")]


def _show_truths(given: Given, rows: IntArray) -> list[Any] | None:
    """Return what is known to be true of each row: the position of its class, the number or numbers, or in words."""
    if given.codes is not None:
        return list(given.codes[rows].tolist())
    if given.times is not None:
        return _tell_times(given.times.take(rows))
    if given.targets is None:
        return None
    own = given.targets[rows]
    return shorten(own if own.shape[1] > 1 else own[:, 0])


def _tell_times(times: SurvivalTimes) -> list[str]:
    """Return in words when each row had its event, or until when it had none.

    Examples
    --------
    >>> _tell_times(SurvivalTimes(np.array([3.0, 5.25]), np.array([True, False])))
    ['an event at time 3', 'no event until time 5.25']
    """
    pairs = zip(times.time.tolist(), times.event.tolist(), strict=True)
    return [f"{'an event at' if event else 'no event until'} time {time:.6g}" for time, event in pairs]
