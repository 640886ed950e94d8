"""Cox's partial likelihood as a loss of rows together, for paths."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.losses.base import FLATTEST, ROUNDING, SmoothLoss, bounded_exp

_SPANS = 32, 128  # of time, in each of which a quadratic model of a partial likelihood has one set of rows at risk
_CELLS = 2**22  # rows times spans, above which there are no more spans than the first number


@dataclass(frozen=True)
class Cox(SmoothLoss):
    """Minus Cox's partial log likelihood, with Breslow's method for ties; scores are log hazards.

    A target is a time with a sign: a positive number is an event at that time, and a negative number a row that was
    last seen at that time, without an event. Censored rows are still at risk at their own time. The loss, ``sum_i w_i
    (log sum_j w_j exp(F_j) - F_i)`` over events i and the rows j at risk when they happen, is not a sum of one loss for
    each row. So `evaluate`, `bound` and the other methods with weights are about all rows together. Methods without
    weights treat what they are given as one table of rows with weight one, and return the share of each row in the sum.

    Adding a constant to all scores changes nothing, so there is no intercept.

    References
    ----------
    Breslow (1974). "Covariance analysis of censored survival data". Biometrics 30, 89-99.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Cox()
    >>> y = np.array([1.0, 2.0, -3.0])
    >>> loss.value(y, np.zeros(3)).round(4)  # log 3, log 2 and nothing
    array([1.0986, 0.6931, 0.    ])
    >>> loss.negative_gradient(y, np.zeros(3)).round(4)
    array([ 0.6667,  0.1667, -0.8333])
    """

    name: ClassVar[str] = "cox"
    pull_share: ClassVar[float | None] = 1.0  # events less those expected
    takes_intercept: ClassVar[bool] = False

    def value(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return for each event the logarithm of all hazards over its own, and 0 for other rows."""
        return _by_output(_RiskSets.values, y, score)

    def negative_gradient(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the events of each row, 0 or 1, less those expected until its time."""
        return _by_output(_RiskSets.pulls, y, score)

    def curvature(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Return the second derivative of the whole loss in the score of each row alone."""
        return _by_output(_RiskSets.bends, y, score)

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return 0."""
        return np.zeros(y.shape[1:])

    def mean(self, score: FloatArray) -> FloatArray:
        """Return ``exp(F)``, the hazard over that of a score of 0."""
        return bounded_exp(score)

    def conjugate(self, y: FloatArray, slope: FloatArray) -> FloatArray:
        """Return for each row its share of the conjugate of the whole loss; infinity where that has no value.

        A slope is what is expected of a row less its events. Let all expectations of a time be M, the events d, and P
        the events until then that no earlier time expects. The conjugate is ``sum_j m_j log m_j - sum (P log P - (P -
        M) log(P - M))``, first over rows, then over times; it needs ``P >= M`` at every time, and equality at the last.
        """
        return _by_output(_RiskSets.conjugates, y, slope)

    def floor(self, y: FloatArray, weights: FloatArray) -> float:
        """Return the mean loss if each event had been certain to come next: only ties cost anything."""
        return _RiskSets.of(y, weights).least / float(weights.sum())

    def risk(self, y: FloatArray, score: FloatArray, weights: FloatArray) -> float:
        """Return minus the partial log likelihood of the rows over their weight."""
        sets = _RiskSets.of(y, weights)
        return float(sets.weights @ sets.values(sets.pick(score))) / float(weights.sum())

    def missing(self, y: FloatArray) -> str:
        """Return that a row must be at risk beside some event, and that times have a sign, if it is not so."""
        events = y[y > 0.0]
        if (y != 0.0).all() and len(events) and ((np.abs(y) > events.min()) | (y == -events.min())).any():
            return ""
        return "times of events and minus the times of rows without one, and a row at risk beside the first event"

    def evaluate(
        self, y: FloatArray, score: FloatArray, weights: FloatArray, *, curved: bool = True
    ) -> tuple[float, FloatArray, FloatArray | None]:
        """Return the loss above its least value, events less those expected, and the diagonal of the curvature."""
        sets = _RiskSets.of(y, weights)
        own = sets.pick(score)
        with np.errstate(over="ignore", invalid="ignore"):
            bend = sets.spread(sets.bends(own)) if curved else None
            return sets.excess(own), sets.spread(sets.pulls(own)), bend

    def bound(self, y: FloatArray, pull: FloatArray, weights: FloatArray) -> float:
        """Return minus the conjugate of the whole loss; pulls times a number from 0 to 1 have one if the pulls have."""
        sets = _RiskSets.of(y, weights)
        return -float(sets.conjugates(-sets.pick(pull)).sum()) - sets.least

    def possible(self, y: FloatArray, pull: FloatArray, weights: FloatArray) -> BoolArray:
        """Return which rows expect no less than nothing, at times until which no more is expected than has happened."""
        sets = _RiskSets.of(y, weights)
        possible = np.ones(len(y), dtype=bool)
        possible[sets.rows] = sets.possible(-sets.pick(pull))
        return possible

    def model_weights(self, y: FloatArray, score: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the events expected of each row in each of some spans of time.

        The second derivatives of the loss are a sum over times of variances among the rows at risk, which a variance
        over a span of times is never less than: the model lies nowhere below the loss, and the shorter the spans, the
        nearer to it.
        """
        sets = _RiskSets.of(y, weights)
        parts = sets.parts(sets.pick(score))
        everywhere = np.zeros((len(y), parts.shape[1]))
        everywhere[sets.rows] = parts
        return everywhere


@dataclass(frozen=True, eq=False)
class _RiskSets:
    """Rows by their times: at risk at a time are those whose own time is not before it.

    Rows without weight are left out. Sums over risk sets are kept as logarithms, so that no scores are too far apart.

    Attributes
    ----------
    n_rows : int
        Those without weight included.
    rows : ndarray of shape (n_counted,)
        Positions of the rows with weight.
    weights, events : ndarray of shape (n_counted,)
        Their weights, and the same where they have an event and 0 where not.
    order : ndarray of shape (n_counted,)
        From the first time to the last.
    firsts : ndarray of shape (n_times,)
        Where in that order each time begins.
    places : ndarray of shape (n_counted,)
        Number of the time of each row.
    deaths : ndarray of shape (n_times,)
        Sums of `events`.
    """

    n_rows: int
    rows: IntArray
    weights: FloatArray
    events: FloatArray
    order: IntArray
    firsts: IntArray
    places: IntArray
    deaths: FloatArray

    @classmethod
    def of(cls, y: FloatArray, weights: FloatArray) -> "_RiskSets":
        """Sort the rows that have a weight by their times."""
        rows = np.flatnonzero(weights > 0.0)
        times, own = np.abs(y[rows]), weights[rows]
        order = np.argsort(times, kind="stable")
        begins = np.diff(times[order], prepend=-1.0) > 0.0
        places = np.empty_like(order)
        places[order] = np.cumsum(begins) - 1
        events, firsts = np.where(y[rows] > 0.0, own, 0.0), np.flatnonzero(begins)
        deaths: FloatArray = np.bincount(places, events, len(firsts)).astype(np.float64)
        return cls(len(y), rows, own, events, order, firsts, places, deaths)

    def pick(self, values: FloatArray) -> FloatArray:
        """Return the values of the rows that count."""
        return values[self.rows]

    def spread(self, values: FloatArray) -> FloatArray:
        """Return values of the rows that count for all rows, 0 for the others."""
        everywhere = np.zeros(self.n_rows)
        everywhere[self.rows] = values
        return everywhere

    @property
    def least(self) -> float:
        """The least value of the loss: at each time all hazard is that of the events."""
        return float(xlogy(self.deaths, self.deaths).sum())

    def _log_sums(self, score: FloatArray) -> FloatArray:
        """Return the logarithm of the sum of all hazards at each time."""
        logs = (score + np.log(self.weights))[self.order]
        sums: FloatArray = np.logaddexp.accumulate(logs[::-1])[::-1]
        return sums[self.firsts]

    def _log_deaths(self) -> FloatArray:
        """Return the logarithms of `deaths`."""
        return np.log(self.deaths, out=np.full(len(self.deaths), -np.inf), where=self.deaths > 0.0)

    def values(self, score: FloatArray) -> FloatArray:
        """Return the loss of each row of weight one: of its event, if it has one."""
        return np.where(self.events > 0.0, self._log_sums(score)[self.places] - score, 0.0)

    def excess(self, score: FloatArray) -> float:
        """Return the whole loss less its least value."""
        here = self.deaths > 0.0
        deaths = self.deaths[here]
        at_risk = deaths * (self._log_sums(score)[here] - np.log(deaths))
        return float(at_risk.sum()) - float((self.events * score).sum())

    def _expected(self, score: FloatArray) -> FloatArray:
        """Return the events expected of each row until its time."""
        log_hazards = np.logaddexp.accumulate(self._log_deaths() - self._log_sums(score))
        return np.asarray(self.weights * np.exp(score + log_hazards[self.places]))

    def pulls(self, score: FloatArray) -> FloatArray:
        """Return the events of each row less those expected."""
        return self.events - self._expected(score)

    def bends(self, score: FloatArray) -> FloatArray:
        """Return the diagonal of the second derivatives."""
        log_squares = np.logaddexp.accumulate(self._log_deaths() - 2.0 * self._log_sums(score))
        own = np.exp(2.0 * (score + np.log(self.weights)) + log_squares[self.places])
        bends: FloatArray = np.maximum(self._expected(score) - own, 0.0)
        return bends

    def parts(self, score: FloatArray) -> FloatArray:
        """Return the events expected of each row in each span of time, in all of which no row may expect nothing."""
        log_rates = self._log_deaths() - self._log_sums(score)
        # Spans with about as many events; the times of one span follow one another.
        before = np.cumsum(self.deaths) - self.deaths
        n_spans = int(np.clip(_CELLS // len(score), *_SPANS))
        numbers = np.minimum(np.floor(n_spans * before / self.deaths.sum()), n_spans - 1)
        spans = np.unique(numbers, return_inverse=True)[1]
        begins = np.flatnonzero(np.diff(spans, prepend=-1))
        ends = np.append(begins[1:], len(spans))
        log_hazards = np.full((len(begins), len(spans)), -np.inf)
        for span, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            log_hazards[span, begin:end] = np.logaddexp.accumulate(log_rates[begin:end])
            log_hazards[span, end:] = log_hazards[span, end - 1]
        parts = np.exp(score[:, None] + np.log(self.weights)[:, None] + log_hazards.T[self.places])
        least = FLATTEST * self.weights * (parts.sum() / self.weights.sum())
        parts[:, 0] += np.maximum(least - parts.sum(axis=1), 0.0)
        return np.asarray(parts)

    def _flow(self, slope: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what is expected of each row and at each time, and the events left after each time for later ones."""
        expected = self.events + slope
        sums: FloatArray = np.bincount(self.places, expected, len(self.deaths)).astype(np.float64)
        return expected, sums, np.cumsum(self.deaths - sums)

    def possible(self, slope: FloatArray) -> BoolArray:
        """Return which rows have a slope at which the conjugate may be finite, but for rounding."""
        expected, _, left = self._flow(slope)
        slack = ROUNDING * float(self.deaths.sum())
        return np.asarray((expected >= -slack) & (np.abs(left[-1]) <= slack) & (left >= -slack)[self.places])

    def conjugates(self, slope: FloatArray) -> FloatArray:
        """Return the conjugate of the loss as a sum over the rows; see `Cox.conjugate`."""
        expected, sums, left = self._flow(slope)
        expected, sums, left = np.maximum(expected, 0.0), np.maximum(sums, 0.0), np.maximum(left, 0.0)
        before = sums + left
        # P log P - (P - M) log(P - M), without cancellation where many events are left and where hardly any are.
        few = np.divide(sums, left, out=np.ones_like(sums), where=sums < left)
        many = np.divide(before, left, out=np.ones_like(sums), where=left > 0.0)
        pooled = xlogy(sums, before) + left * np.where(sums < left, np.log1p(few), np.log(many))
        own = xlogy(expected, expected / self.weights) - (pooled / np.bincount(self.places))[self.places]
        return np.where(self.possible(slope), own, np.inf)


def _by_output(
    method: Callable[["_RiskSets", FloatArray], FloatArray], y: FloatArray, values: FloatArray
) -> FloatArray:
    """Return what risk sets say of each output, all rows having a weight of one."""
    ones = np.ones(len(y))
    if y.ndim == 1:
        return method(_RiskSets.of(y, ones), values)
    columns = [method(_RiskSets.of(own, ones), column) for own, column in zip(y.T, values.T, strict=True)]
    return np.column_stack(columns)
