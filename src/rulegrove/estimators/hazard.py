"""A target that is a time until an event, which some rows have not had yet when they were last seen."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import AnyArray, BoolArray, FloatArray, IntArray
from rulegrove.estimators._fitted import HeldOut
from rulegrove.estimators._lists import MadeLists
from rulegrove.estimators._sampling import Sampled, Spells
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators._units import PLAIN, shift
from rulegrove.estimators.baseline import Baseline
from rulegrove.estimators.calibration import Link
from rulegrove.estimators.figures import Agreement
from rulegrove.estimators.loss_figures import HazardFigures
from rulegrove.estimators.meaning import HazardMeaning, Meaning
from rulegrove.estimators.model import Fitted, RuleModel
from rulegrove.estimators.rate import Rate
from rulegrove.exceptions import InvalidInputError
from rulegrove.projection import Point
from rulegrove.solvers import BaseSolver
from rulegrove.survival import (
    HazardSums,
    PartialLikelihood,
    SurvivalTimes,
    Ties,
    choose_grid,
    concordance,
    cumulative_hazard,
    on_grid,
    read_survival,
    solve_cox,
)

PRIOR_EVENTS = 10_000.0  # as much as so many events counts what the large model says of a coefficient
LEAST_RIDGE = 1e-6
COX_ROWS = 5000  # rows at most that coefficients of lists are solved for on
STATED_TIMES = 1000  # at which a cumulative hazard is told at most


@dataclass(frozen=True, kw_only=True, eq=False)
class Hazard(Rate):
    """The hazard of an event, whose logarithm is the score but for what depends on time alone.

    Cox's partial likelihood is, at a given cumulative hazard H of the baseline, that of a count of events with the
    exposure H(t) [1]_. So a row is a rate, its event over the exposure that all rows together tell, which finds the
    terms as it does for other rates. The coefficients of lists are then those of the partial likelihood itself.

    Attributes
    ----------
    ties : {"efron", "breslow"}
    times : SurvivalTimes, optional
        Of the rows of the fit.
    row_weights : ndarray of shape (n_rows,), optional
        Of these, as they were given.
    n_times : int, optional
        At how many times the hazard of all rows together rises.

    References
    ----------
    .. [1] Whitehead (1980). "Fitting Cox's regression model to survival data using GLIM". Applied Statistics 29(3).
    """

    timed: ClassVar[bool] = True

    ties: Ties = "efron"
    times: SurvivalTimes | None = None
    row_weights: FloatArray | None = None
    n_times: int | None = None

    __repr__ = short_repr

    def check(self, y: Any, n_rows: int) -> SurvivalTimes:  # type: ignore[override]
        """Return the times of a table in memory."""
        return read_survival(y, n_rows)

    def take_offset(
        self, y: AnyArray, weights: FloatArray | None, offset: FloatArray
    ) -> tuple[AnyArray, FloatArray | None]:
        """Refuse what is known of rates."""
        raise InvalidInputError(
            "`exposure` and `offset` cannot be used for survival times, whose rows are exposed for as long as they "
            "are observed; leave them out."
        )

    def expose(
        self, times: SurvivalTimes, weights: FloatArray | None, drawn: IntArray | None
    ) -> tuple[FloatArray, FloatArray, Spells]:
        """Return the rate of each row and its weight, with what is kept of the times."""
        counted = np.arange(len(times)) if weights is None else np.flatnonzero(weights > 0.0)
        grid = choose_times(times.take(counted)) if drawn is None else choose_times(times.take(drawn), STATED_TIMES)
        if weights is not None:
            weights = shift(weights, -PLAIN.of_weights(float(weights.max())).weight)
        hazard = add_up_hazard(HazardSums.count(times, grid, weights), weighted=weights is not None)
        return *expose_rows(times, weights, hazard), Spells(times, weights, grid.size)

    def check_evidence(self) -> None:
        """Refuse to test rules on other rows."""
        raise InvalidInputError("`evidence` tests rules about classes and numbers; leave it out for survival times.")

    @property
    def settled(self) -> dict[str, Any]:
        """At how many times the hazard of all rows together rises."""
        return {} if self.n_times is None else {"n_times": self.n_times}

    @property
    def meaning(self) -> HazardMeaning:
        """What terms multiply the hazard by."""
        baseline = self.fitted_link
        return HazardMeaning(link=baseline if isinstance(baseline, Baseline) else None)

    def learn(self, sampled: Sampled, *, validates: bool) -> Self:
        """Return the target with the times of the rows to learn from."""
        own = sampled.spells
        assert own is not None
        if sampled.weights is not None and np.count_nonzero(sampled.weights) < 2:
            raise InvalidInputError(
                "No event happens while at least two rows of positive weight are at risk, so there is nothing to "
                "compare."
            )
        found = super().learn(sampled, validates=validates)
        return replace(found, times=own.times, row_weights=own.weights, n_times=own.n_times)

    def _likelihood_of(self, rows: IntArray) -> PartialLikelihood:
        """Return the partial likelihood of some rows."""
        assert self.times is not None
        weights = None if self.row_weights is None else self.row_weights[rows]
        return PartialLikelihood(self.times.take(rows), weights, self.ties)

    def find_slope(self, held_out: HeldOut) -> float:
        """Return the slope of the partial likelihood: the hazard that all rows together tell is too even over time."""
        found = solve_cox(held_out.scores, self._likelihood_of(held_out.rows), ridge=LEAST_RIDGE, tol=1e-7)
        return max(float(found.coef[0]), 1e-3)

    @property
    def finishes_lists(self) -> bool:
        """The coefficients of the large model are those of rates."""
        return True

    def finish_lists(self, made: MadeLists) -> list[list[Point]]:
        """Return lists whose coefficients are those of the partial likelihood, drawn to what the large model says.

        What it says counts as much as some events; terms without a penalty go by the rows alone.
        """
        made = replace(made, rows=made.data.draw(made.rows, COX_ROWS))
        likelihood = self._likelihood_of(made.rows)
        columns, values = made.evaluate(0)
        spread, signs = values.var(axis=0), made.constraints.signs(made.large.terms[0].take(columns))
        forced = made.constraints.unpenalised(made.large.terms[0])
        ridge = PRIOR_EVENTS / np.count_nonzero(likelihood.weights) * spread
        if forced is not None:  # all but free: one that parts early from late events would grow for ever
            ridge[forced[columns]] = LEAST_RIDGE * spread[forced[columns]]
        finished: list[list[Point]] = []
        for ((coef, _),) in made.lists:
            used, wide = np.flatnonzero(coef[columns]), np.zeros_like(coef)
            if used.size:
                start = coef[columns[used]]
                own_signs = None if signs is None else signs[used]
                found = solve_cox(values[:, used], likelihood, ridge[used], start, own_signs, start, tol=1e-7)
                wide[columns[used]] = found.coef
            finished.append([(wide, -float(np.mean(values @ wide[columns])))])
        return finished

    def finish(
        self, fitted: Fitted, solver: BaseSolver, held_out: HeldOut | None, *, refitted: bool
    ) -> tuple[Self, RuleModel]:
        """Return the target with the baseline of the large model, and the model with it."""
        target = replace(self, fitted_link=self.link_list(held_out))
        return target, target.meaning.link_model(fitted.model, target.fitted_link)

    def link_list(self, held_out: HeldOut | None) -> Link | None:
        """Return the cumulative hazard of the baseline, by scores of held-out rows."""
        if held_out is None:
            return None
        assert self.times is not None
        weights = None if self.row_weights is None else self.row_weights[held_out.rows]
        found = cumulative_hazard(self.times.take(held_out.rows), held_out.scores[:, 0], weights, self.ties)
        return Baseline.thinned(found.x, found.y, STATED_TIMES)

    def judge_folds(
        self, held_out: HeldOut, folds: IntArray, score: Callable[[int], tuple[IntArray, FloatArray]]
    ) -> tuple[FloatArray, FloatArray]:
        """Return minus what each held-out row adds to the cross-validated partial likelihood.

        That of a fold is what its rows add to the partial likelihood of all rows [1]_. An event adds its own term. By
        being at risk, rows lessen the terms of the events of others; of that each has a part in proportion to its risk.

        References
        ----------
        .. [1] Verweij, van Houwelingen (1993). "Cross-validation in survival analysis". Statistics in Medicine 12(24).
        """
        losses = np.empty(0)
        for fold in np.unique(folds[held_out.rows]).tolist():
            rows, scores = score(int(fold))
            added = self._add(rows, folds == fold, np.concatenate([scores, np.zeros((1, *scores.shape[1:]))]))
            losses = losses if losses.size else np.empty((len(added), held_out.rows.size))
            here = np.flatnonzero(folds[held_out.rows] == fold)
            losses[:, here] = -added[:, np.searchsorted(rows, held_out.rows[here])]
        if held_out.weights is not None:  # of the rates, by which the losses are going to be multiplied
            losses /= held_out.weights
        return losses[:-1], losses[-1]

    def _add(self, rows: IntArray, held_out: BoolArray, scores: FloatArray) -> FloatArray:
        """Return what each row of a fold adds to the partial likelihood, by every line of scores of all rows."""
        assert self.times is not None
        times, rest = self.times.take(rows), ~held_out[rows]
        weights = np.ones(len(rows)) if self.row_weights is None else self.row_weights[rows]
        shares = weights / weights.mean()  # the unit of weights would be told as a loss
        grid = np.unique(times.time[times.event])
        watched, event = _Watched.of(times, grid), times.event
        of_rest, ends = watched.take(rest), watched.until[event] - 1
        counts = np.bincount(watched.until[rest & event] - 1, weights[rest & event], grid.size)
        added = np.zeros(scores.shape[:2])
        for place, own in enumerate(scores[:, :, 0]):
            risk = shares * np.exp(own - own.max())
            at_risk, others = watched.add_up(risk), of_rest.add_up(risk[rest])
            with np.errstate(divide="ignore", invalid="ignore"):
                logs, share = np.log(at_risk), (at_risk - others) / at_risk
                lost = np.where(others > 0.0, -np.log1p(-np.minimum(share, 1.0 - 1e-15)), 0.0)
            per_risk = np.divide(counts * lost, at_risk - others, out=np.zeros(grid.size), where=share > 1e-12)
            added[place] = -risk * watched.follow(per_risk)
            added[place, event] += weights[event] * (own[event] - own.max() - logs[ends])
        return added

    def judge(self, model: RuleModel, held_out: HeldOut, data: TrainingData, *, honest: bool) -> HazardFigures:  # type: ignore[override]
        """Tell the concordance of held-out rows."""
        assert self.times is not None
        weights = None if self.row_weights is None else self.row_weights[held_out.rows]
        return judge_hazards(self.times.take(held_out.rows), held_out.scores[:, 0], weights, honest=honest)

    def judge_rows(  # type: ignore[override]
        self,
        model: RuleModel,
        observed: SurvivalTimes,
        scores: FloatArray,
        weights: FloatArray | None = None,
        *,
        honest: bool,
    ) -> HazardFigures:
        """Tell the concordance of other rows."""
        return judge_hazards(observed, scores, weights, honest=honest)

    def compare(self, observed: SurvivalTimes, predicted: FloatArray, weights: FloatArray) -> "RiskAgreement":  # type: ignore[override]
        """Put times beside scores, of which higher ones mean earlier events."""
        return RiskAgreement(((observed, predicted, weights),))

    def draw(self, model: RuleModel, scores: FloatArray, y: Any) -> Callable[[np.random.Generator], AnyArray]:
        """Refuse to draw times."""
        raise InvalidInputError("The null distribution of interactions is not known for survival times.")

    def recall_meaning(self, meaning: Meaning) -> Self:
        """Return the target of a model file."""
        return replace(self, fitted_link=meaning.link)


def choose_times(times: SurvivalTimes, n_most: int | None = None) -> FloatArray:
    """Return the times at which the hazard of all rows together rises: all times of events, or so many at most.

    Parameters
    ----------
    times : SurvivalTimes
        Of rows that count.
    n_most : int, optional
    """
    if not times.event.any():
        raise InvalidInputError("No row of positive weight has an event, so there is nothing to learn from.")
    return choose_grid(times, len(times) if n_most is None else n_most)


def add_up_hazard(sums: HazardSums, *, weighted: bool) -> Baseline:
    """Return the cumulative hazard of all rows together, in Breslow's way with ties.

    Parameters
    ----------
    sums : HazardSums
        Over all rows.
    weighted : bool
        Whether they are sums of weights. These are rounded as the rows are divided, so that the steps of the hazard
        have fewer digits: a table in parts is to have the same ones.
    """
    steps = np.divide(sums.events, sums.at_risk, out=np.zeros_like(sums.events), where=sums.events > 0.0)
    return Baseline(sums.grid, np.cumsum(steps.astype(np.float32) if weighted else steps, dtype=np.float64))


def expose_rows(times: SurvivalTimes, weights: FloatArray | None, hazard: Baseline) -> tuple[FloatArray, FloatArray]:
    """Return the rate of each row, its event over what it was exposed to of the hazard of all rows, and its weight.

    An event counts at the next of the times at which the hazard rises; after the last one it is not seen.
    """
    times = on_grid(times, hazard.times)
    exposure = hazard(times.time)
    if times.entry is not None:
        exposure = exposure - hazard(times.entry)
    rates = np.divide(times.event, exposure, out=np.zeros(len(times)), where=exposure > 0.0)
    return rates, exposure if weights is None else weights * exposure


@dataclass(frozen=True, eq=False)
class _Watched:
    """At which times of a grid each row is at risk: from the place `since` on, and no more from `until` on."""

    since: IntArray | None
    until: IntArray
    n_times: int

    @classmethod
    def of(cls, times: SurvivalTimes, grid: FloatArray) -> "_Watched":
        """Return the places of rows."""
        since = None if times.entry is None else np.searchsorted(grid, times.entry, "right")
        return cls(since, np.searchsorted(grid, times.time, "right"), grid.size)

    def take(self, rows: BoolArray) -> "_Watched":
        """Return those of some rows."""
        return _Watched(None if self.since is None else self.since[rows], self.until[rows], self.n_times)

    def add_up(self, values: FloatArray) -> FloatArray:
        """Return the sum of values of rows at risk at each time."""

        def after(places: IntArray) -> FloatArray:
            ends = np.bincount(places, values, self.n_times + 1)
            return np.asarray(np.cumsum(ends[::-1])[::-1][1:])

        sums = after(self.until)
        return sums if self.since is None else sums - after(self.since)

    def follow(self, steps: FloatArray) -> FloatArray:
        """Return for each row the sum of steps at the times at which it is at risk."""
        sums = np.concatenate([[0.0], np.cumsum(steps)])
        return np.asarray(sums[self.until] if self.since is None else sums[self.until] - sums[self.since])


@dataclass(frozen=True, eq=False)
class RiskAgreement:
    """Times of rows with scores and weights, in parts: concordance is of pairs of rows, of which no sums tell.

    Attributes
    ----------
    parts : tuple

    Examples
    --------
    >>> one, other = (RiskAgreement(((read_survival(([t], [1])), np.array([-t]), np.ones(1)),)) for t in (3.0, 5.0))
    >>> one.merge(other).score
    1.0
    """

    parts: tuple[tuple[SurvivalTimes, FloatArray, FloatArray], ...]

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(sum(weights.sum() for _, _, weights in self.parts))

    def merge(self, other: "RiskAgreement | Agreement") -> "RiskAgreement":
        """Return the rows of both; an `Agreement` is that of no rows."""
        return self if isinstance(other, Agreement) else RiskAgreement(self.parts + other.parts)

    @property
    def score(self) -> float:
        """The concordance."""
        times, scores, weights = zip(*self.parts, strict=True)
        together = read_survival(np.concatenate([own.to_columns() for own in times]), need_events=False)
        return concordance(together, np.concatenate(scores), np.concatenate(weights))


def judge_hazards(
    times: SurvivalTimes, scores: FloatArray, weights: FloatArray | None, *, honest: bool = True
) -> HazardFigures:
    """Compare the order of risks with that of events."""
    return HazardFigures(
        n_rows=len(times),
        honest=honest,
        weighted=weights is not None,
        concordance=concordance(times, scores, weights),
        n_events=int(times.event.sum()),
    )
