"""Curves over time: baseline hazards, and the share of rows without an event."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from rulegrove._reprs import short_repr
from rulegrove._typing import FloatArray
from rulegrove._validation import check_weights
from rulegrove.exceptions import InvalidInputError
from rulegrove.survival._risk_sets import RiskSets
from rulegrove.survival.partial_likelihood import PartialLikelihood, Ties
from rulegrove.survival.times import SurvivalTimes


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A function of time that is constant between its steps, and has its new value at a step.

    Attributes
    ----------
    x : ndarray of shape (n_steps,)
        Times of the steps, ascending.
    y : ndarray of shape (n_steps,)
        Value from each of them on.
    start : float
        Value before the first step.
    domain : tuple of two floats
        From when until when it may be asked.

    Examples
    --------
    >>> import numpy as np
    >>> hazard = StepFunction(np.array([1.0, 3.0]), np.array([0.5, 2.0]), domain=(0.0, 4.0))
    >>> hazard([0.0, 1.0, 2.9, 3.0])
    array([0. , 0.5, 0.5, 2. ])
    >>> hazard(4)
    2.0
    >>> hazard(5)
    Traceback (most recent call last):
        ...
    rulegrove.exceptions.InvalidInputError: The times must lie from 0 to 4; got 5, of which the data say nothing.
    """

    x: FloatArray
    y: FloatArray
    start: float = 0.0
    domain: tuple[float, float] = (0.0, np.inf)

    __repr__ = short_repr

    def __call__(self, x: Any) -> Any:
        """Return the value at a time, or those at an array of times."""
        asked = np.asarray(x, dtype=np.float64)
        low, high = self.domain
        inside = (asked >= low) & (asked <= high)
        if not inside.all():
            raise InvalidInputError(
                f"The times must lie from {low:g} to {high:g}; got {asked[~inside].flat[0]:g}, of which the data say "
                "nothing."
            )
        values = np.append(self.start, self.y)[np.searchsorted(self.x, asked, side="right")]
        return values if asked.ndim else float(values)


def cumulative_hazard(
    times: SurvivalTimes, scores: FloatArray | None = None, weights: FloatArray | None = None, ties: Ties = "efron"
) -> StepFunction:
    """Return the cumulative hazard of a row whose score is zero, given the scores of all.

    At each time it rises by the weight of the events over the sum of ``w_j exp(F_j)`` at risk: Breslow's estimate, and
    that of Nelson and Aalen where all scores are zero. With Efron's ties the events of one time leave one by one. A row
    of score F has ``exp(F)`` times this hazard.

    References
    ----------
    Breslow (1972), in the discussion of Cox, "Regression models and life-tables". JRSS B 34, 216-217.
    """
    point = PartialLikelihood(times, weights, ties).at(np.zeros(len(times)) if scores is None else scores)
    grid, steps = point.hazard_steps()
    return StepFunction(grid, np.cumsum(steps), domain=(0.0, _find_end(times)))


def kaplan_meier(times: SurvivalTimes, weights: FloatArray | None = None) -> StepFunction:
    """Return the share of rows without an event until each time, by Kaplan and Meier's estimate.

    Where all rows at risk have the event it falls to zero and stays there, even if others enter later.

    References
    ----------
    Kaplan, Meier (1958). "Nonparametric estimation from incomplete observations". JASA 53, 457-481.
    """
    grid, _, _, shares = _estimate(times, weights)
    return StepFunction(grid, shares, 1.0, (0.0, _find_end(times)))


def kaplan_meier_band(
    times: SurvivalTimes, weights: FloatArray | None = None, level: float = 0.95
) -> tuple[StepFunction, StepFunction]:
    """Return lower and upper confidence limits of `kaplan_meier`, for each time on its own.

    The limits are symmetric on the scale of ``log(-log S)``, with Greenwood's variance, in which a weight counts as so
    many rows. Where the estimate is zero that has none: there the lower limit is zero, and the upper that of the step
    before, which holds for later times as well.

    References
    ----------
    Kalbfleisch, Prentice (2002). "The Statistical Analysis of Failure Time Data", second edition, section 1.4.1.
    """
    if not 0.0 < level < 1.0:
        raise InvalidInputError(f"`level` must lie between 0 and 1; got {level!r}, where 0.95 is usual.")
    grid, at_risk, events, shares = _estimate(times, weights)
    alive = shares > 0.0
    at_risk, events, own = at_risk[alive], events[alive], shares[alive]
    error = np.sqrt(np.cumsum(events / (at_risk * (at_risk - events))))
    reach = ndtri(0.5 + 0.5 * level) * error / np.abs(np.log(own))
    n_gone = len(grid) - len(own)
    low = np.append(own ** np.exp(reach), np.zeros(n_gone))
    high = own ** np.exp(-reach)
    high = np.append(high, np.full(n_gone, high[-1] if len(high) else 1.0))
    domain = (0.0, _find_end(times))
    return StepFunction(grid, low, 1.0, domain), StepFunction(grid, high, 1.0, domain)


def _estimate(
    times: SurvivalTimes, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the distinct event times, the weights at risk and of the events there, and the share left after each."""
    checked = check_weights(weights, len(times))
    own = np.ones(len(times)) if checked is None else checked
    sets = RiskSets.find(times, own)
    at_risk = sets.add_up(own)
    alone = sets.add_up(np.ones(len(times))) == sets.counts  # then both weights are equal
    at_risk = np.where(alone, sets.weights, at_risk)
    shares = np.asarray(np.cumprod(1.0 - sets.weights / at_risk), dtype=np.float64)
    return sets.grid, at_risk, sets.weights, shares


def _find_end(times: SurvivalTimes) -> float:
    """Return the latest time."""
    return float(times.time.max(initial=0.0))
