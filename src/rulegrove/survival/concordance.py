"""How often scores put pairs of rows in the order of their events."""

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove._validation import check_weights
from rulegrove.exceptions import InvalidInputError
from rulegrove.survival._kernels import count_pairs
from rulegrove.survival.times import SurvivalTimes


def concordance(times: SurvivalTimes, scores: FloatArray, weights: FloatArray | None = None) -> float:
    """Return the share of comparable pairs whose earlier event has the higher score: Harrell's concordance [1]_.

    A pair is comparable if one row has its event while the other is at risk and goes on without one: its time is later,
    or the same and it has no event then. So two events at one time are not compared, an event and a censored row at one
    time are, as in lifelines and scikit-survival. Rows that enter late are compared with events after their entry
    alone, as in R's `concordance`. Equal scores count one half; a pair has the product of the weights. NaN if no pair
    is comparable.

    References
    ----------
    .. [1] Harrell, Califf, Pryor, Lee, Rosati (1982). "Evaluating the yield of medical tests". JAMA 247, 2543-2546.
    """
    given = np.asarray(scores, dtype=np.float64)
    if given.shape != (len(times),) or not np.isfinite(given).all():
        wrong = f"the shape {given.shape}" if given.shape != (len(times),) else "some that are not finite"
        raise InvalidInputError(f"`scores` must hold a finite number for each of {len(times)} rows; got {wrong}.")
    checked = check_weights(weights, len(times))
    if checked is not None and not checked.all():
        times, given, checked = times.take(checked > 0.0), given[checked > 0.0], checked[checked > 0.0]
    nothing = np.empty(0)
    order = np.lexsort((times.event, -times.time)).astype(np.int64)
    departures = np.empty(0, dtype=np.int64) if times.entry is None else np.argsort(-times.entry, kind="stable")
    totals = np.empty(3)
    count_pairs(
        times.time,
        nothing if times.entry is None else times.entry,
        order,
        departures,
        times.event,
        np.unique(given, return_inverse=True)[1].astype(np.int64),
        np.ones(len(times)) if checked is None else checked / checked.max(initial=0.0),
        totals,
    )
    return float((totals[0] + 0.5 * totals[1]) / totals[2]) if totals[2] > 0.0 else float("nan")
