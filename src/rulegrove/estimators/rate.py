"""A target that is a rate: a count, an amount, or a total of many amounts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rulegrove._typing import AnyArray, FloatArray
from rulegrove._validation import check_regression_target
from rulegrove.estimators._coding import Ratios
from rulegrove.estimators._fitted import HeldOut
from rulegrove.estimators._sampling import Sampled, TargetCode
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators._units import check_size
from rulegrove.estimators.calibration import Link
from rulegrove.estimators.loss_figures import RateFigures
from rulegrove.estimators.loss_judging import RateAgreement, judge_rates
from rulegrove.estimators.meaning import RateMeaning
from rulegrove.estimators.model import Fitted, RuleModel
from rulegrove.estimators.settings import Settings
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError
from rulegrove.likelihoods import OfRates
from rulegrove.losses import Gamma, Loss, Poisson, SmoothLoss, Squared, Tweedie, find_loss
from rulegrove.projection import OfMeans
from rulegrove.solvers import BaseSolver


@dataclass(frozen=True, kw_only=True, eq=False)
class Rate(Target):
    """A rate, whose logarithm is the score.

    What is known to multiply the rate of a row, its exposure e, is taken out of the target at the door: Tweedie's
    loss of a total y of mean e m is ``e ** (2 - power)`` times that of y / e of mean m. So nothing else knows of it.

    Attributes
    ----------
    power : float
        By which the variance grows with the mean: 1 of counts (Poisson), 2 of amounts (gamma), between them of totals.
    positive : float
        Share of the rows to learn from that are not 0, once these are known.

    Examples
    --------
    >>> y, weights = Rate().take_offset(np.array([3.0, 0.0]), None, np.log([2.0, 0.5]))
    >>> y, weights
    (array([1.5, 0. ]), array([2. , 0.5]))
    """

    others = "other targets"
    values = "numbers"

    power: float = 1.0
    positive: float = 1.0

    @property
    def loss(self) -> SmoothLoss:
        """Of a target and a score."""
        if self.power == 1.0:
            return Poisson()
        return Gamma() if self.power == 2.0 else Tweedie(self.power)

    @property
    def losses(self) -> tuple[str, ...]:  # type: ignore[override]
        """Losses that a solver may have."""
        return (self.loss.name,)

    @property
    def own_loss(self) -> str | Loss:
        """The loss, by its name if that tells all."""
        return self.loss.name if find_loss(self.loss.name) == self.loss else self.loss

    @property
    def path_unit(self) -> str:  # type: ignore[override]
        """Rates as multiples of their mean."""
        return f"of {self.meaning.noun}s over their mean"

    @property
    def projection(self) -> OfMeans:
        """Near to the rates of the large model."""
        return OfMeans(self.power)

    @property
    def likelihood(self) -> OfRates:
        """Tweedie's loss."""
        return OfRates(self.power)

    @property
    def meaning(self) -> RateMeaning:
        """What terms multiply rates by."""
        return RateMeaning(self.loss.name, self.power)

    @property
    def log_link(self) -> bool:
        """Scores are logarithms of rates."""
        return True

    def check(self, y: Any, n_rows: int) -> AnyArray:
        """Return the values as finite float64, none of them negative."""
        values = self.check_observed(y, n_rows)
        if not values.any():
            raise InvalidInputError(f"loss={self.loss.name!r} needs a target above 0; all of them are 0.")
        return values

    def check_observed(self, y: Any, n_rows: int) -> AnyArray:
        """Return the values as finite float64, none of them negative; all may be 0."""
        values = check_regression_target(self, y, n_rows)
        wrong = values <= 0.0 if self.power == 2.0 else values < 0.0
        if wrong.any():
            row = int(np.argmax(wrong))
            least = "more than 0" if self.power == 2.0 else "0 or more"
            other = "squared" if (values < 0.0).any() else "tweedie"
            raise InvalidInputError(
                f"loss={self.loss.name!r} is for targets of {least}; got {values[row]:g} in row {row}. Drop such "
                f"rows, or use loss={other!r}."
            )
        return values

    def check_settings(self, settings: Settings, solver: BaseSolver) -> None:
        """Refuse a solver with another power."""
        if isinstance(solver.loss, Tweedie) and solver.loss_name == self.loss.name and solver.loss != self.loss:
            raise InvalidInputError(
                f"The fit has power={self.power!r} and its solver loss={solver.loss!r}; give both the same power."
            )

    def take_offset(
        self, y: AnyArray, weights: FloatArray | None, offset: FloatArray
    ) -> tuple[AnyArray, FloatArray | None]:
        """Return rates, and weights by which their loss is that of totals."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            rates, own = y * np.exp(-offset), np.exp((2.0 - self.power) * offset)
        if not (np.isfinite(rates).all() and np.isfinite(own).all() and (own > 0.0).all()):
            raise InvalidInputError(
                "The exposures (or offsets) differ so much that the rates are too large or too small to compute; give "
                "them in another unit, or drop rows with almost no exposure."
            )
        return rates, own if weights is None else weights * own

    def learn(self, sampled: Sampled, *, validates: bool) -> Self:
        """Return the target with the mean rate of the sample, by which rates are divided."""
        weights = sampled.weights
        rates = sampled.y if weights is None else np.where(weights > 0.0, sampled.y, 0.0)
        largest = float(rates.max())
        if not largest > 0.0:
            raise InvalidInputError(
                f"loss={self.loss.name!r} needs at least one row with a target above 0 and a positive weight."
            )
        check_size(self.loss.name, largest)
        mean = float(np.average(rates, weights=weights))
        check_size(self.loss.name, largest / mean if mean > 0.0 else np.inf)
        positive = float(np.mean((rates if weights is None else rates[weights > 0.0]) > 0.0))
        return replace(self, code=TargetCode(coding=Ratios(mean)).weighing(weights), positive=positive)

    @property
    def _mean(self) -> float:
        """By which rates are divided."""
        assert isinstance(self.code.coding, Ratios)
        return self.code.coding.mean

    def tree_loss(self, name: str, targets: FloatArray) -> Loss:
        """Return the loss of the rates or the squared one."""
        if name in {"auto", self.loss.name}:
            return self.loss
        if name == "squared":
            return Squared()
        raise InvalidInputError(
            f"tree_loss={name!r} cannot be used with loss={self.loss.name!r}; leave it out, or use 'squared'."
        )

    @property
    def share_told(self) -> float:
        """Share of rows that are not 0."""
        return self.positive

    def choose_solver(self) -> BaseSolver:
        """Return the solver of the path that finds the terms."""
        from rulegrove.estimators import autos

        return autos.SOLVER

    def goals(self, scores: FloatArray, link: Link | None) -> FloatArray:
        """Return rates as multiples of their mean."""
        with np.errstate(over="ignore"):
            return np.exp(scores)

    def liken(self, said: FloatArray) -> FloatArray:
        """Return logarithms of rates."""
        return np.log(np.maximum(said, np.finfo(np.float64).tiny))

    def measure_rows(self, scores: FloatArray, said: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the deviance of every row."""
        deviances = self._deviance(targets[:, 0], scores[:, 0])
        return deviances, deviances

    def _deviance(self, targets: FloatArray, scores: FloatArray) -> FloatArray:
        """Return twice what the loss of multiples of the mean exceeds the least by, in the units of the user."""
        return np.asarray(2.0 * self._mean ** (2.0 - self.power) * self.loss.excess(targets, scores))

    def lose_base(self, targets: FloatArray) -> FloatArray:
        """Return the deviance of the mean rate."""
        return self._deviance(targets, np.zeros_like(targets))

    def base_loss(self, means: FloatArray, mean_squares: FloatArray) -> float:
        """Return the deviance of the mean rate."""
        return float(means[0])

    def tell_error(self, error: FloatArray, standard_error: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the deviance."""
        return error, standard_error

    def describe(self, data: TrainingData, fitted: Fitted) -> Fitted:
        """Return the terms with mean rates where rules hold."""
        means, output_means = (own - data.offsets[0] for own in (fitted.mean_targets, fitted.output_means))
        return replace(fitted, mean_targets=self._mean * means, output_means=self._mean * output_means)

    def judge(self, model: RuleModel, held_out: HeldOut, data: TrainingData, *, honest: bool) -> RateFigures:
        """Tell the explained deviance on held-out rows."""
        observed = self._mean * held_out.targets[:, 0]
        return judge_rates(
            self.power, observed, held_out.scores[:, 0], held_out.weights, base=self._mean, honest=honest
        )

    def judge_rows(
        self,
        model: RuleModel,
        observed: AnyArray,
        scores: FloatArray,
        weights: FloatArray | None = None,
        *,
        honest: bool,
    ) -> RateFigures:
        """Tell the explained deviance on other rows."""
        base = float(np.average(observed, weights=weights))
        return judge_rates(self.power, observed, scores, weights, base=base, honest=honest)

    def compare(self, observed: AnyArray, predicted: AnyArray, weights: FloatArray) -> RateAgreement:
        """Add up losses of predicted rates, and what those of a single rate are found from."""
        return RateAgreement.of(self.power, observed, predicted, weights)

    def draw(self, model: RuleModel, scores: FloatArray, y: Any) -> Callable[[np.random.Generator], AnyArray]:
        """Return what multiplies each rate by the ratio of another row to its rate."""
        rates = model.decide(scores)
        ratios = self.check(y, len(rates)) / rates
        return lambda rng: rates * rng.permutation(ratios)
