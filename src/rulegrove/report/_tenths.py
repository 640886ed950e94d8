"""Predictions beside what came true in tenths of rows, and survival where rules hold, for the page."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.design.terms import Term
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.baseline import Baseline
from rulegrove.estimators.loss_figures import RateFigures
from rulegrove.estimators.meaning import LevelMeaning
from rulegrove.estimators.model import RuleModel, show_output
from rulegrove.inspection._sample import name_output
from rulegrove.inspection.tenths import Tenths, choose_moment, count_below, count_means, count_survivors
from rulegrove.report._given import Given, Predicted
from rulegrove.report._lines import Line
from rulegrove.report._numbers import shorten
from rulegrove.rules.rule import Rule
from rulegrove.survival import estimate_curve

RULES = 3  # the most important ones of each length whose curves are drawn
MOST_CURVES = 24  # of rules of all lengths together
POINTS = 80  # of a curve
MOMENTS = 5  # at which the rows at risk are told


def describe_tenths(
    model: BaseRuleEnsemble, line: Line, given: Given | None, predicted: Predicted | None
) -> dict[str, Any] | None:
    """Return what came true in tenths of rows, for each output; None where that is not known, and for classes.

    These are the rows given if the fit has not seen them; of rates, which a fit keeps, else those held out.
    """
    own, unseen = line.model, given is not None and given.observed is not None and not given.training
    if own.labels:
        return None
    if isinstance(line.held_out, RateFigures) and not unseen:
        kept = line.held_out.reliability
        unknown = np.full(len(kept.predicted), np.nan)
        tenths = [Tenths(kept.predicted, kept.observed, unknown, unknown, kept.sizes)]
        return _tell("held-out rows", tenths, f"Predicted {model.recall_target().meaning.predicted}", "Came true")
    if given is None or predicted is None or predicted.numbers is None or given.observed is None:
        return None
    meaning, said = model.recall_target().meaning, predicted.numbers.T
    if given.times is not None:
        return _tell_times(given, said[0], line.baseline)
    assert given.targets is not None
    if isinstance(meaning, LevelMeaning):
        lines = [count_below(given.targets[:, 0], part, given.weights) for part in said]
        names = [f"Predicted {show_output(level)}" for level in meaning.levels]
        return _tell(given.name, lines, names, "Share of rows below it", list(meaning.levels))
    lines = [count_means(true, part, given.weights) for true, part in zip(given.targets.T, said, strict=True)]
    names = [f"Predicted {name_output(model, output)}" for output in range(len(lines))]
    return _tell(given.name, lines, names if names != ["Predicted prediction"] else ["Mean prediction"], "Came true")


def _tell(
    rows: str, lines: Sequence[Tenths], said: str | list[str], came: str, levels: list[float] | None = None
) -> dict[str, Any]:
    """Return tenths as the page has them."""
    return {
        "rows": rows,
        "said": [said] if isinstance(said, str) else said,
        "came": came,
        "levels": levels,
        "lines": [
            {
                "predicted": shorten(line.predicted),
                "observed": shorten(line.observed),
                "low": shorten(line.low),
                "high": shorten(line.high),
                "sizes": line.sizes.tolist(),
            }
            for line in lines
        ],
    }


def _tell_times(given: Given, risks: FloatArray, baseline: Baseline | None) -> dict[str, Any] | None:
    """Return the share without an event at the median time of the events; None without a baseline."""
    if baseline is None:
        return None
    assert given.times is not None
    moment = choose_moment(given.times)
    line = count_survivors(given.times, risks, baseline, moment)
    said = f"Predicted share at time {moment:.4g}"
    return _tell(given.name, [line], said, "Share without an event by Kaplan and Meier")


def describe_survival(given: Given | None, lines: Sequence[Line], terms: Sequence[Term]) -> dict[str, Any] | None:
    """Return curves of the rows given where rules hold and where they do not, by the places of the rules among all.

    Parameters
    ----------
    given : Given or None
    lines : sequence of Line
    terms : sequence of Rule or Linear
        Of all lines, each once.

    Returns
    -------
    dict or None
        None but for survival times.
    """
    if given is None or given.times is None:
        return None
    wanted = dict.fromkeys(
        term for line in lines for term in [row.term for row in line.rules if isinstance(row.term, Rule)][:RULES]
    )
    chosen = list(wanted)[:MOST_CURVES]
    held = RuleModel(given.columns.features, tuple(chosen), np.zeros(len(chosen)), 0.0).values(given.columns) > 0.0
    places = {term: place for place, term in enumerate(terms)}
    moments = np.linspace(0.0, float(given.times.time.max()), MOMENTS)
    curves = {
        str(places[term]): [_describe_curve(given, rows, moments) for rows in (own, ~own)]
        for term, own in zip(chosen, held.T, strict=True)
    }
    return {"rows": given.name, "moments": shorten(moments), "curves": curves}


def _describe_curve(given: Given, rows: Any, moments: FloatArray) -> dict[str, Any] | None:
    """Return the curve of some rows with few points; None of no rows."""
    if not rows.any():
        return None
    assert given.times is not None
    times = given.times.take(rows)
    curve = estimate_curve(times)
    kept = np.unique(np.linspace(0, len(curve.x) - 1, min(len(curve.x), POINTS)).round().astype(np.int64))
    return {
        "x": shorten(curve.x[kept]),
        "share": shorten(curve.share[kept]),
        "low": shorten(curve.low[kept]),
        "high": shorten(curve.high[kept]),
        "n_rows": len(times),
        "n_events": int(times.event.sum()),
        "at_risk": curve.at_risk(moments).tolist(),
    }
