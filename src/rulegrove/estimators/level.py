"""A target that is a number, of which a quantile is predicted, or the mean of all but outliers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rulegrove._typing import AnyArray, FloatArray
from rulegrove.design.bits import compile_rules
from rulegrove.design.terms import Terms
from rulegrove.estimators import autos
from rulegrove.estimators._coding import Bent
from rulegrove.estimators._constraints import Constraints
from rulegrove.estimators._fitted import HeldOut
from rulegrove.estimators._lists import MadeLists
from rulegrove.estimators._sampling import Sampled, TargetCode
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators._units import check_size
from rulegrove.estimators.figures import Agreement, NumberFigures, judge_numbers
from rulegrove.estimators.loss_figures import LevelFigures
from rulegrove.estimators.loss_judging import judge_levels
from rulegrove.estimators.meaning import LevelMeaning, NumberMeaning
from rulegrove.estimators.model import Fitted, RuleModel
from rulegrove.estimators.number import HUBER_SHARE, Number
from rulegrove.estimators.settings import Settings
from rulegrove.exceptions import InvalidInputError
from rulegrove.joint_selection import Grouped, Joint
from rulegrove.likelihoods import Likelihood, OfLevels, OfNumbers
from rulegrove.losses import Huber, Quantile
from rulegrove.projection import Point
from rulegrove.rules.rule import Rule
from rulegrove.solvers import BaseSolver

WIDTH = 0.1  # of the errors that are rounded off, in units of the scale
ROUNDING = 1e-12  # of scores: quantiles are at least so far apart, unless they are one, for sums of parts are rounded


def check_levels(quantile: Any) -> tuple[float, ...]:
    """Return the levels of quantiles, rising.

    Examples
    --------
    >>> check_levels(0.9), check_levels([0.9, 0.1])
    ((0.9,), (0.1, 0.9))
    """
    try:
        values = np.atleast_1d(np.asarray(quantile, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or not values.size or not ((values > 0.0) & (values < 1.0)).all():
        raise InvalidInputError(f"`quantile` must be a level between 0 and 1, or several of them; got {quantile!r}.")
    if len(np.unique(values)) < len(values):
        raise InvalidInputError(f"`quantile` must have each level once; got {quantile!r}.")
    return tuple(sorted(values.tolist()))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Robust(Number):
    """A number whose outliers count less than their squares."""

    losses = ("huber",)
    others = "other targets"
    path_unit = "of the pulls of the loss"

    name: str = "huber"

    @property
    def _levels(self) -> tuple[float, ...]:
        """Quantiles that numbers are bent around."""
        return (0.5,)

    @property
    def _coding(self) -> Bent:
        """How numbers are bent."""
        assert isinstance(self.code.coding, Bent)
        return self.code.coding

    def check_settings(self, settings: Settings, solver: BaseSolver) -> None:
        """Refuse solvers, and points that are given."""
        if not settings.is_open("solver"):
            raise InvalidInputError(f"loss={self.name!r} has its own solver; leave out solver={settings.solver!r}.")
        if not settings.validates:
            raise InvalidInputError(
                f"loss={self.name!r} needs held-out rows to choose the model; set selection='1se' or 'min' instead of "
                f"{settings.selection!r}."
            )

    def learn(self, sampled: Sampled, *, validates: bool) -> Self:
        """Return the target with its median, its scale and its quantiles, as the sample has them."""
        weights = np.ones(len(sampled.y)) if sampled.weights is None else sampled.weights
        middle = float(Quantile(0.5).best_constant(sampled.y, weights))
        distances = np.abs(sampled.y - middle)
        scale = 1.5 * float(Quantile(0.5).best_constant(distances, weights))  # near a standard deviation
        if not scale > 0.0:  # more than half of the numbers are the same
            scale = float(np.average(distances, weights=weights)) or 1.0
        check_size(self.name, scale)
        check_size(self.name, max(float(np.max(distances[weights > 0.0], initial=0.0)), scale))
        numbers = sampled.y / scale - middle / scale
        quantiles = tuple(float(Quantile(level).best_constant(numbers, weights)) for level in self._levels)
        coding = Bent(self._levels, quantiles, middle, scale)
        return replace(self, code=TargetCode(coding=coding).weighing(sampled.weights))

    def choose_solver(self) -> BaseSolver:
        """Return the solver of the path that finds the terms."""
        return autos.SOLVER

    def _observe(self, targets: FloatArray) -> FloatArray:
        """Return numbers in units of the scale, of shape (n_rows,)."""
        return np.asarray(self._coding.observe(targets[:, :1])[:, 0])

    def _tell(self, targets: FloatArray) -> FloatArray:
        """Return numbers in the units of the user."""
        return self._coding.middle + self._coding.scale * self._observe(targets)

    def base_loss(self, means: FloatArray, mean_squares: FloatArray) -> float:
        """Return the loss of a model without terms."""
        return float(means[0])


@dataclass(frozen=True, kw_only=True, eq=False)
class Bounded(_Robust):
    """A number, whose mean is told without what outliers pull it by.

    Examples
    --------
    >>> Bounded().check([1, 2, 3], n_rows=3)
    array([1., 2., 3.])
    """

    meaning = NumberMeaning()
    delta: float = 1.0

    def learn(self, sampled: Sampled, *, validates: bool) -> Self:
        """Return the target with the bound of errors that are squared."""
        found = super().learn(sampled, validates=validates)
        weights = np.ones(len(sampled.y)) if sampled.weights is None else sampled.weights
        sizes = np.abs(found._coding.observe(found._coding.code(sampled.y))[:, 0])
        return replace(found, delta=float(Quantile(HUBER_SHARE).best_constant(sizes, weights)) or 1.0)

    @property
    def likelihood(self) -> Likelihood:
        """Half the squared error, a straight line beyond the bound."""
        return OfNumbers(self.delta, self._coding.observe)

    def measure_rows(self, scores: FloatArray, said: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Huber's loss, and the squared error."""
        observed = self._observe(targets)
        square = self._coding.scale**2
        return square * Huber(self.delta).value(observed, scores[:, 0]), square * (observed - scores[:, 0]) ** 2

    def lose_base(self, targets: FloatArray) -> FloatArray:
        """Return the loss of the median."""
        return self._coding.scale**2 * Huber(self.delta).value(self._observe(targets), np.zeros(len(targets)))[:, None]

    def describe(self, data: TrainingData, fitted: Fitted) -> Fitted:
        """Return the terms with means of the target where rules hold."""
        return _describe_rows(self, data, fitted, lambda y, w: float(np.average(y, weights=w)))

    def judge(self, model: RuleModel, held_out: HeldOut, data: TrainingData, *, honest: bool) -> NumberFigures:
        """Tell R squared and the errors on held-out rows."""
        return judge_numbers(self._tell(held_out.targets), held_out.scores[:, 0], held_out.weights, honest=honest)


@dataclass(frozen=True, kw_only=True, eq=False)
class Level(_Robust):
    """A number, of which a quantile is predicted, or several that never cross.

    Attributes
    ----------
    levels : tuple of float
        Rising.

    Examples
    --------
    >>> Level(levels=(0.9,)).meaning.levels
    (0.9,)
    """

    losses = ("quantile",)

    levels: tuple[float, ...] = (0.5,)

    @property
    def _levels(self) -> tuple[float, ...]:
        return self.levels

    def check_evidence(self) -> None:
        """Refuse what is about means."""
        raise InvalidInputError(
            "Rules are tested by the mean of the target where they hold, which says nothing about its quantiles; "
            "leave `evidence` out, or use loss='squared' or 'huber'."
        )

    @property
    def meaning(self) -> LevelMeaning:  # type: ignore[override]
        """What terms add to quantiles."""
        return LevelMeaning(self.name, self.levels)

    @property
    def likelihood(self) -> Likelihood:
        """The pinball loss, rounded off a little."""
        return OfLevels(self.levels, WIDTH, self._coding.observe)

    def _lose(self, observed: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the pinball loss, of several levels together, in the units of the user."""
        pairs = zip(self.levels, scores.T, strict=True)
        return np.asarray(
            self._coding.scale * np.sum([Quantile(level).value(observed, own) for level, own in pairs], axis=0)
        )

    def measure_rows(self, scores: FloatArray, said: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the pinball loss of every row."""
        losses = self._lose(self._observe(targets), scores)
        return losses, losses

    def lose_base(self, targets: FloatArray) -> FloatArray:
        """Return the loss of the quantiles of all rows."""
        scores = np.tile(self._coding.quantiles, (len(targets), 1))
        return self._lose(self._observe(targets), scores)[:, None]

    def tell_error(self, error: FloatArray, standard_error: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the pinball loss."""
        return error, standard_error

    def check_constraints(self, constraints: Constraints) -> None:
        """Refuse signs and forced rules for several levels, which are solved for together."""
        if len(self.levels) > 1 and (constraints.monotonic is not None or constraints.forced):
            asked = "force_rules" if constraints.forced else "monotonic"
            raise InvalidInputError(
                f"`{asked}` cannot be used with several quantiles, which are solved for together so that they never "
                "cross; fit one model for each level."
            )

    def together(self, solver: BaseSolver) -> Joint | None:
        """Return a grouped fit of several levels."""
        return Grouped() if len(self.levels) > 1 else None

    @property
    def shares_terms(self) -> bool:
        """A term enters for all levels or for none."""
        return True

    def settle_points(self, terms: Terms, points: list[Point]) -> list[Point]:
        """Return quantiles that never cross, whatever the attributes are.

        From one level to the next the least step that terms allow must not be negative. Where it would be, steps are
        drawn to the one between the quantiles of all rows, which is none of the terms'. So they stay positive by more
        than sums are rounded by, or become that one step whatever the terms.
        """
        if len(points) == 1:
            return points
        lines, n_rules = terms.linear, len(terms.rules)
        ends = np.array([lines.lower, lines.upper])
        low, high = lines.scale * (ends - lines.center)
        low, high = np.append(np.zeros(n_rules), low), np.append(np.ones(n_rules), high)
        largest = np.maximum(np.abs(low), np.abs(high))
        reach = max(abs(level) + float(np.abs(coef) @ largest) for coef, level in points)
        slack = ROUNDING * (reach + abs(self._coding.middle) / self._coding.scale)
        settled = list(points)
        middle = len(points) // 2
        for way, places in ((1, range(middle + 1, len(points))), (-1, range(middle - 1, -1, -1))):
            for place in places:
                (inner, level), (outer, edge) = points[place - way], points[place]
                coef, intercept = way * (outer - inner), way * (edge - level)
                gap = abs(self._coding.quantiles[place] - self._coding.quantiles[place - way])
                least = intercept + float(np.minimum(coef * low, coef * high).sum())
                share = 1.0 if least >= slack else max(gap - slack, 0.0) / max(gap - least, slack)
                start, base = settled[place - way]
                step = gap + share * (intercept - gap)
                settled[place] = start + way * share * coef, base + way * step
        return settled

    def finish_lists(self, made: MadeLists) -> list[list[Point]]:
        """Return lists with intercepts by which the shares of training rows below the quantiles are the levels."""
        observed, weights = self._observe(made.targets), made.weights
        own = np.ones(len(observed)) if weights is None else weights
        losses = [Quantile(level) for level in self.levels]
        finished = [
            [
                (coef, intercept + float(loss.best_constant(observed - said, own)))
                for loss, (coef, intercept), said in zip(losses, points, line.T, strict=True)
            ]
            for points, line in zip(made.lists, made.score(), strict=True)
        ]
        return [self.settle_points(made.large.terms[0], points) for points in finished]

    def describe(self, data: TrainingData, fitted: Fitted) -> Fitted:
        """Return the terms with the (middle) quantile of the target where rules hold."""
        loss = Quantile(self.levels[len(self.levels) // 2])
        return _describe_rows(self, data, fitted, lambda y, w: float(loss.best_constant(y, w)))

    def judge(self, model: RuleModel, held_out: HeldOut, data: TrainingData, *, honest: bool) -> LevelFigures:  # type: ignore[override]
        """Tell the pinball loss and the shares of held-out rows below the quantiles."""
        coding = self._coding
        base = coding.middle + coding.scale * np.array(coding.quantiles)
        observed = self._tell(held_out.targets)
        return judge_levels(self.levels, observed, held_out.scores, held_out.weights, base=base, honest=honest)

    def judge_rows(  # type: ignore[override]
        self,
        model: RuleModel,
        observed: AnyArray,
        scores: FloatArray,
        weights: FloatArray | None = None,
        *,
        honest: bool,
    ) -> LevelFigures:
        """Tell the pinball loss and the shares of other rows below the quantiles."""
        own = np.ones(len(observed)) if weights is None else weights
        base = np.array([Quantile(level).best_constant(observed, own) for level in self.levels])
        said = scores.reshape(len(observed), -1)
        return judge_levels(self.levels, observed, said, weights, base=base, honest=honest)

    def compare(self, observed: AnyArray, predicted: AnyArray, weights: FloatArray) -> Agreement:
        """Add up pinball losses, and those of the quantiles of the rows."""
        said = predicted.reshape(len(observed), -1)
        losses = bases = 0.0
        for level, own in zip(self.levels, said.T, strict=True):
            loss = Quantile(level)
            losses += float(weights @ loss.value(observed, own))
            bases += float(weights @ loss.value(observed, np.full_like(own, loss.best_constant(observed, weights))))
        return Agreement(float(weights.sum()), 0.0, bases, losses)

    def draw(self, model: RuleModel, scores: FloatArray, y: Any) -> Callable[[np.random.Generator], AnyArray]:
        """Return what adds to the (middle) quantile of each row the distance of another row from its own."""
        middle = scores.reshape(len(scores), -1)[:, len(self.levels) // 2]
        distances = self.check(y, len(scores)) - middle
        return lambda rng: middle + rng.permutation(distances)


def _describe_rows(
    target: _Robust, data: TrainingData, fitted: Fitted, tell: Callable[[FloatArray, FloatArray], float]
) -> Fitted:
    """Return the terms with what is told of the target where each rule holds, on rows drawn of many."""
    rows = data.draw(data.rows, autos.LIST_ROWS)
    weights = data.weights_of(rows)
    own = np.ones(rows.size) if weights is None else weights
    observed = target._tell(data.targets[rows])
    rules: Sequence[Rule] = [term for term in fitted.model.terms if isinstance(term, Rule)]
    program = compile_rules(rules, data.columns.n_features)
    held = program.evaluate(data.columns.take(rows, program.used_features)).to_dense()[: rows.size].astype(bool)
    told = iter([tell(observed[here], own[here]) if here.any() else tell(observed, own) for here in held.T])
    means = [next(told) if isinstance(term, Rule) else np.nan for term in fitted.model.terms]
    output_means = np.full(len(fitted.output_means), tell(observed, own))
    return replace(fitted, mean_targets=np.array(means, dtype=np.float64), output_means=output_means)
