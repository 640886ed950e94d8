"""How often terms come back in lists from other rows, and how far these differ, for the page."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.design.terms import Term
from rulegrove.estimators.front import LONGEST, Front
from rulegrove.estimators.recurrence import Recurrence, Remade, find_band
from rulegrove.report._lines import Line
from rulegrove.report._numbers import shorten


def describe_recurrence(front: Front | None, lines: Sequence[Line], terms: Sequence[Term]) -> dict[str, Any]:
    """Return the words for how it was found, and where thresholds lie, by the places of terms among all.

    Parameters
    ----------
    front : Front or None
    lines : sequence of Line
    terms : sequence of Rule or Linear
        Of all lines, each once.

    Returns
    -------
    dict
        Empty where no lists were made anew, as all of this module.
    """
    if front is None or front.recurrence is None:
        return {}
    rows = [row for line in lines for row in line.rules]
    thresholds = {row.term: row.thresholds for row in rows if row.thresholds}
    some = any(row.returns is None for row in rows)
    return {
        "recurrence": {
            "words": _tell(front.recurrence) + f" It is not known of lists of more than {LONGEST} terms." * some,
            "thresholds": {str(place): thresholds[term] for place, term in enumerate(terms) if term in thresholds},
        }
    }


def _tell(known: Recurrence) -> str:
    """Say what it means to come back, and how it was found."""
    return (
        "Comes back is the chance that a list from as many other rows has the term, or one that holds on nearly the "
        "same rows; below it, where its thresholds lie in nine of ten such lists. How often rules come back was found "
        f"from {known.n_resamples:,} lists made anew from halves of the rows ({known.n_rows:,} rows each), their rules "
        "grown anew."
    )


def describe_bands(line: Line) -> dict[str, Any]:
    """Return between what the shares of the importance lie, of each output by the places of the attributes it uses."""
    if not line.remade:
        return {}
    low, high = find_band(np.array([_share(own) for own in line.remade]))
    bands = []
    for output, coefs in enumerate(np.atleast_2d(line.model.coefs)):
        used = {place for term, coef in zip(line.model.terms, coefs, strict=True) if coef for place in term.features}
        bands.append({str(place): shorten([low[output, place], high[output, place]]) for place in sorted(used)})
    return {"importance": bands}


def _share(remade: Remade) -> FloatArray:
    """Share the importance that terms have for each output among attributes, an ndarray (n_outputs, n_features)."""
    model, coefs = remade.model, np.abs(np.atleast_2d(remade.model.coefs))
    parts = remade.importances * coefs / np.maximum(coefs.sum(axis=0), np.finfo(np.float64).tiny)
    shares = np.zeros((len(coefs), len(model.features)))
    for term, own in zip(model.terms, parts.T, strict=True):
        shares[:, list(term.features)] += own[:, None] / len(term.features)
    totals = shares.sum(axis=1, keepdims=True)
    return np.asarray(shares / np.where(totals > 0, totals, 1.0))
