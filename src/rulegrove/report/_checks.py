"""How a model does, on held-out rows and on those given; partial dependence."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from rulegrove.estimators._intervals import estimate_shares
from rulegrove.estimators.figures import DOUBT, Figures
from rulegrove.estimators.model import exponentiate
from rulegrove.inspection._sample import Sample
from rulegrove.inspection.dependence import find_dependence
from rulegrove.inspection.importance import share_terms
from rulegrove.inspection.tenths import LEVEL
from rulegrove.report._given import Given, Predicted
from rulegrove.report._lines import Line
from rulegrove.report._numbers import shorten

MAX_CURVES = 6
DECILES = np.linspace(0.1, 0.9, 9)
HELD_OUT = "held-out rows"


class Judged(NamedTuple):
    """Some rows, by what they are, and their figures."""

    rows: str
    figures: Figures


def check(line: Line, given: Given | None, predicted: Predicted | None) -> dict[str, Any] | None:
    """Return how well a model does: figures of held-out rows and of those given, charts of the more telling ones.

    Charts are of the rows given if the fit has not seen them, else of held-out rows, else of the training rows.

    Parameters
    ----------
    line : Line
    given : Given or None
    predicted : Predicted or None
        What the model says of the rows given.

    Returns
    -------
    dict or None
        None where nothing is known.
    """
    judged = [] if line.held_out is None else [Judged(HELD_OUT, line.held_out)]
    if given is not None and predicted is not None and predicted.figures is not None:
        judged.append(Judged(given.name, predicted.figures))
    if not judged:
        return None
    shown = judged[0] if given is not None and given.training else judged[-1]
    return {
        "about": _tell(judged, shown),
        "table": _tabulate(judged),
        "charts": _describe_charts(shown),
    }


def _tell(judged: list[Judged], shown: Judged) -> str:
    """Say what the figures are of, and how far they can be believed."""
    parts = []
    for one in judged:
        if one.rows == HELD_OUT:
            parts.append("Each held-out row was predicted by a model that was fitted without its fold.")
            parts += [DOUBT] * (not one.figures.honest)
        elif one.figures.honest:
            parts.append("If the model was fitted on some of the rows given, the figures on them are too good.")
        else:
            parts.append(
                "The model was made to fit the training rows, so the figures on them are better than they will be on "
                "new rows."
            )
    if any(one.figures.weighted for one in judged):
        counts = "; tables of counts count rows" if shown.figures.by_class is not None else ""
        parts.append(f"Held-out rows count by their weights in the fit{counts}.")
    if shown.figures.by_class is not None:
        parts.append(
            "The base rate belongs to a guess that always says the most frequent class, or gives the shares of the "
            f"classes as their probabilities. The charts are of the {shown.figures.n_rows:,} {shown.rows}."
        )
    return " ".join(parts)


def _tabulate(judged: list[Judged]) -> dict[str, Any]:
    """Return the figures as a table, one column for each set of rows."""
    tables = [one.figures.table for one in judged]
    heads = [f"{one.rows[0].upper()}{one.rows[1:]} ({one.figures.n_rows:,})" for one in judged]
    return {"heads": ["", *heads], "lines": [[name, *(table[name] for table in tables)] for name in tables[0]]}


def _describe_charts(shown: Judged) -> dict[str, Any] | None:
    """Return confusion, reliability and ROC of classes; None for numbers."""
    figures = shown.figures.by_class
    if figures is None:
        return None
    calibration, curves = [], []
    for bins, roc in zip(figures.reliabilities, figures.rocs, strict=True):
        sizes = bins.sizes.astype(np.float64)
        shares = estimate_shares(bins.observed * sizes, sizes, sizes, LEVEL)
        ends = {"observed": shorten(shares.values), "low": shorten(shares.low), "high": shorten(shares.high)}
        calibration.append({"predicted": shorten(bins.predicted), **ends, "sizes": bins.sizes.tolist()})
        rates = {"wrong": shorten(roc.false_positives), "right": shorten(roc.true_positives)}
        curves.append({**rates, "area": shorten([roc.area])[0]})
    return {"rows": shown.rows, "counts": figures.counts.tolist(), "calibration": calibration, "roc": curves}


def draw_dependence(line: Line, given: Given) -> list[dict[str, Any]]:
    """Return the partial dependence on the most important attributes, in closed form, with its band.

    It is that of the score; of rates and hazard ratios its exponential, the geometric mean.
    """
    sample = Sample(line.model, given.columns, None, line.remade)
    shares = share_terms(sample, np.array([row.importance for row in line.rules]))
    used = (place for place in np.argsort(-shares, kind="stable").tolist() if shares[place] > 0)
    drawn = (place for place in used if sample.known(place).size)  # else there is nothing to draw it over
    curves = []
    for place in itertools.islice(drawn, MAX_CURVES):
        found = find_dependence(sample, place)
        give = exponentiate if line.model.multiplies else np.asarray
        band = None if found.low is None or found.high is None else [give(found.low), give(found.high)]
        labelled = sample.model.features[place].categories is not None
        curves.append(
            {
                "feature": place,
                "categories": labelled,
                "grid": [str(label) for label in found.grids[0]] if labelled else shorten(found.grids[0]),
                "values": shorten(np.atleast_2d(found.predictions)),
                "band": None if band is None else [shorten(np.atleast_2d(ends)) for ends in band],
                "deciles": [] if labelled else shorten(np.quantile(sample.known(place), DECILES)),
            }
        )
    return curves
