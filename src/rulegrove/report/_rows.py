"""Single rows to look at: their values, and the bits of every rule."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.columns import Columns, Feature
from rulegrove.design.terms import Linear, Term
from rulegrove.estimators.model import RuleModel
from rulegrove.report._given import Given
from rulegrove.report._numbers import shorten
from rulegrove.rules.rule import ANY_OTHER

MAX_ROWS = 200
MIN_ROWS = 20
MAX_CELLS = 20_000  # values of all rows together: a wide table shows fewer rows
NEW_CATEGORY = "a category that training did not have"


def describe_rows(terms: Sequence[Term], given: Given, rng: np.random.Generator) -> dict[str, Any]:
    """Return a draw of the rows given, with all that the page needs to score them at any point.

    Values of linear terms are computed on the page from the values of the row, so these keep every bit.

    Parameters
    ----------
    terms : sequence of Rule or Linear
    given : Given
    rng : Generator
        For the draw.
    """
    used = sorted({feature for term in terms for feature in term.features})
    n_rows = max(min(MAX_ROWS, MAX_CELLS // max(len(used), 1)), MIN_ROWS)
    rows = np.sort(rng.choice(given.n_rows, min(given.n_rows, n_rows), replace=False))
    columns = given.sample.columns
    block = columns.take(rows)
    exact = {term.feature for term in terms if isinstance(term, Linear)}
    values = [_show_values(columns.features[feature], block[feature], feature in exact) for feature in used]
    return {
        "n_given": given.n_rows,
        "numbers": rows.tolist(),
        "features": used,
        "values": [list(row) for row in zip(*values, strict=True)] if used else [[] for _ in rows],
        "bits": _pack_bits(Columns(columns.features, list(block)), terms),
        "truths": _show_truths(given, rows),
        "probabilities": None if given.probabilities is None else shorten(given.probabilities[rows]),
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
    """Return what is known to be true of each row: the position of its class, or the number."""
    if given.codes is not None:
        return list(given.codes[rows].tolist())
    return None if given.targets is None else shorten(given.targets[rows, 0])
