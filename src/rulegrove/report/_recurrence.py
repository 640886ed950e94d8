"""How often terms come back in lists from other rows, and how far these differ, for the page."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.design.terms import Term
from rulegrove.estimators.front import Front
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.recurrence import Recurrence, find_band
from rulegrove.report._lines import Line
from rulegrove.report._numbers import shorten


def describe_recurrence(front: Front | None, lines: Sequence[Line], terms: Sequence[Term]) -> dict[str, Any] | None:
    """Return what it means to come back, in words, and where thresholds lie, by the places of terms among all.

    Parameters
    ----------
    front : Front or None
    lines : sequence of Line
    terms : sequence of Rule or Linear
        Of all lines, each once.

    Returns
    -------
    dict or None
        None where no lists were made anew.
    """
    if front is None or front.recurrence is None:
        return None
    rows = [row for line in lines for row in line.rules]
    thresholds = {row.term: row.thresholds for row in rows if row.thresholds}
    return {
        "words": _tell(front.recurrence, everywhere=all(row.returns is not None for row in rows)),
        "thresholds": {str(place): thresholds[term] for place, term in enumerate(terms) if term in thresholds},
    }


def _tell(known: Recurrence, *, everywhere: bool) -> str:
    """Say what it means to come back, how that was found, and whether at every length."""
    words = (
        "“Comes back” is the chance that a list from as many other rows contains the term, or one that holds on "
        "nearly the same rows; below it is where the thresholds of the rule lie in nine of ten lists that contain "
        f"it. To find out, {known.n_resamples:,} more lists were made, each from {known.n_rows:,} of the training "
        "rows and with rules of its own."
    )
    return words if everywhere else f"{words} It is not known for the longest lists."


def describe_bands(line: Line) -> list[dict[str, Any]] | None:
    """Return where the shares of the importance lie in nine of ten lists from other rows.

    Returns
    -------
    list of dict or None
        For each output the ends of each attribute that it uses, by its place. None where there are no such lists.
    """
    if len(line.remade) < 2:
        return None
    model, others = line.model, np.array([_share(own.model, own.importances) for own in line.remade])
    importances = {row.term: row.importance for row in line.rules}
    own = _share(model, np.array([importances[term] for term in model.terms]))
    bands = np.stack(find_band(own, others, (0.0, 1.0)), axis=-1)
    used = (
        {feature for term, coef in zip(model.terms, coefs, strict=True) if coef for feature in term.features}
        for coefs in np.atleast_2d(model.coefs)
    )
    return [
        {str(place): shorten(ends[place]) for place in sorted(places)} for ends, places in zip(bands, used, strict=True)
    ]


def _share(model: RuleModel, importances: FloatArray) -> FloatArray:
    """Share the importance that terms have for each output among attributes, an ndarray (n_outputs, n_features).

    Of several numbers, each in a unit of its own, that is what its terms have for all of them together.
    """
    coefs = np.abs(np.atleast_2d(model.coefs))
    if model.numbers:
        coefs = (coefs > 0.0).astype(np.float64)
    parts = importances * (coefs if model.numbers else coefs / np.maximum(coefs.sum(axis=0), np.finfo(np.float64).tiny))
    shares = np.zeros((len(coefs), len(model.features)))
    for term, own in zip(model.terms, parts.T, strict=True):
        shares[:, list(term.features)] += own[:, None] / len(term.features)
    totals = shares.sum(axis=1, keepdims=True)
    return np.asarray(shares / np.where(totals > 0, totals, 1.0))
