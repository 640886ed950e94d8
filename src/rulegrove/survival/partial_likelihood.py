"""Cox's partial likelihood of scores: its value and its slopes, with ties, weights and late entry."""

from typing import Literal

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove._validation import check_weights
from rulegrove.exceptions import InvalidInputError
from rulegrove.survival._kernels import SPAN, gather, gather_events, lift, rate, rise, spread
from rulegrove.survival._risk_sets import RiskSets
from rulegrove.survival.times import SurvivalTimes

Ties = Literal["efron", "breslow"]


class PartialLikelihood:
    """Cox's partial likelihood [1]_ of the scores of rows, higher scores meaning earlier events.

    With weights w, ``log L = sum_i w_i (F_i - log sum_j w_j exp(F_j))`` over events i and the rows j at risk when they
    happen, ``entry_j < time_i <= time_j``. This is Breslow's way [2]_ with several events at one time; Efron's [3]_,
    more exact, lets a share of them leave before each, and gives each the mean of their weights. Rows of weight zero do
    not count at all; a weight of two is as good as two rows in Breslow's way, and not quite so in Efron's. Times are
    equal if they are the same number. Values are sums over the rows, as those of R's `coxph`, and of any scores that
    are finite: no exponential overflows. Where no row enters late a call takes time linear in the rows.

    References
    ----------
    .. [1] Cox (1975). "Partial likelihood". Biometrika 62, 269-276.
    .. [2] Breslow (1974). "Covariance analysis of censored survival data". Biometrics 30, 89-99.
    .. [3] Efron (1977). "The efficiency of Cox's likelihood function for censored data". JASA 72, 557-565.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.survival import read_survival
    >>> point = PartialLikelihood(read_survival(([1, 2, 3], [1, 1, 0]))).at(np.zeros(3))
    >>> round(float(np.exp(-point.log_likelihood)), 6)
    6.0
    >>> point.pulls().round(6)
    array([ 0.666667,  0.166667, -0.833333])
    >>> point.hessian(np.array([[0.0], [2.0], [2.0]])).round(6)
    array([[0.888889]])
    """

    def __init__(self, times: SurvivalTimes, weights: FloatArray | None = None, ties: Ties = "efron") -> None:
        if ties not in ("efron", "breslow"):
            raise InvalidInputError(f"`ties` must be 'efron' or 'breslow'; got {ties!r}.")
        checked = check_weights(weights, len(times))
        self.times = times
        self.weights: FloatArray = np.ones(len(times)) if checked is None else checked
        self.ties = ties
        self.total_weight = float(self.weights.sum())
        self._sets = RiskSets.find(times, self.weights)
        counts = self._sets.counts
        self._counts = counts if ties == "efron" else np.ones_like(counts)

    def at(self, scores: FloatArray) -> "Point":
        """Return the likelihood where the scores are, for several questions at the cost of one."""
        return Point(self._sets, self._counts, scores)


class Point:
    """The partial likelihood where some scores are; of `PartialLikelihood.at`.

    Within, rows are in the order of time, and numbers have values and levels as `_kernels` tells.

    Notes
    -----
    Within, rows are in the order of time, and numbers have values and levels as `_kernels` tells.
    """

    def __init__(self, sets: RiskSets, counts: IntArray, scores: FloatArray) -> None:
        given: FloatArray = np.asarray(scores, dtype=np.float64)
        n_rows, n_times = len(sets.order), len(sets.grid)
        if given.shape != (n_rows,) or not np.isfinite(given).all():
            wrong = f"the shape {given.shape}" if given.shape != (n_rows,) else "some that are not finite"
            raise InvalidInputError(f"`scores` must hold a finite number for each of {n_rows} rows; got {wrong}.")
        self._sets, self._counts = sets, counts
        own = given[sets.order]
        self._values, self._levels = np.empty(n_rows), np.empty(n_rows, dtype=np.int64)
        self._top = rise(own, sets.row_weights, self._values, self._levels)
        sums, leaving = np.empty(n_times), np.empty(n_times)
        self._tops, self._rates = np.empty(n_times, dtype=np.int64), np.empty((5, n_times))
        gather(sets.firsts, sets.lasts, self._values, self._levels, sums, self._tops)
        gather_events(sets.lasts, sets.happened, self._values, self._levels, self._tops, leaving)
        logarithms = rate(sums, leaving, self._tops, sets.weights, counts, self._rates)
        here = sets.happened
        self.log_likelihood = float(sets.row_weights[here] @ (own[here] - self._top)) - logarithms
        self._expected: FloatArray | None = None

    def pulls(self) -> FloatArray:
        """Return the derivative with respect to each score: events less those expected, which sum to zero.

        Over the weights these are martingale residuals, of which Efron's method has its own.
        """
        return self._restore(np.where(self._sets.happened, self._sets.row_weights, 0.0) - self._expect())

    def hessian(self, X: FloatArray) -> FloatArray:
        """Return minus the second derivatives with respect to the coefficients of columns.

        A copy of the columns is made, and two with a row for each event time: this is for some hundred columns at most.
        """
        sets, table = self._sets, np.asarray(X, dtype=np.float64)
        if table.ndim != 2 or len(table) != len(sets.order):
            raise InvalidInputError(
                f"X must have {len(sets.order)} rows and two dimensions; got the shape {table.shape}."
            )
        columns = np.ascontiguousarray(table[sets.order].T)
        columns -= (columns @ sets.row_weights / sets.row_weights.sum())[:, None]  # for digits: it changes nothing else
        matrix = (columns * self._expect()) @ columns.T
        tops, shape = np.empty_like(self._tops), (len(columns), len(sets.grid))
        at_risk, leaving = np.empty(shape), np.empty(shape)
        for k, column in enumerate(columns):
            values = self._values * column
            gather(sets.firsts, sets.lasts, values, self._levels, at_risk[k], tops)
            gather_events(sets.lasts, sets.happened, values, self._levels, tops, leaving[k])
        matrix -= (at_risk * self._rates[2]) @ at_risk.T
        if (self._counts > 1).any():
            crossed = (at_risk * self._rates[3]) @ leaving.T
            matrix += crossed + crossed.T - (leaving * self._rates[4]) @ leaving.T
        return np.asarray(0.5 * (matrix + matrix.T))

    def hazard_steps(self) -> tuple[FloatArray, FloatArray]:
        """Return the distinct event times, and by how much the hazard of a score of zero, summed up, rises at each."""
        with np.errstate(over="ignore"):
            return self._sets.grid, self._rates[0] * np.exp(-self._top - SPAN * self._tops)

    def _expect(self) -> FloatArray:
        """Return the expected events of each row."""
        if self._expected is None:
            sets, expected = self._sets, np.empty(len(self._values))
            spread(sets.firsts, sets.lasts, self._rates[0], self._tops, self._values, self._levels, expected)
            lift(sets.lasts, sets.happened, self._rates[1], self._tops, self._values, self._levels, expected)
            self._expected = expected
        return self._expected

    def _restore(self, values: FloatArray) -> FloatArray:
        """Return what belongs to rows in the order of the data."""
        out = np.empty_like(values)
        out[self._sets.order] = values
        return out
