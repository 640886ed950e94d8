"""A target that is several numbers at once."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rulegrove._typing import AnyArray, FloatArray
from rulegrove._validation import check_regression_targets
from rulegrove.estimators._coding import Scaled
from rulegrove.estimators._fitted import HeldOut
from rulegrove.estimators._sampling import Sampled, TargetCode
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators.figures import Agreement, NumberFigures, judge_numbers
from rulegrove.estimators.meaning import Meaning, SeveralMeaning
from rulegrove.estimators.model import Fitted, RuleModel
from rulegrove.estimators.number import Number
from rulegrove.estimators.settings import Settings
from rulegrove.joint_selection import Grouped, Joint
from rulegrove.solvers import BaseSolver


@dataclass(frozen=True, kw_only=True, eq=False)
class Several(Number):
    """Several numbers, of which each is a score.

    Attributes
    ----------
    names : tuple of str
        Of the numbers.
    shared : bool
        Whether there is one list for all of them, in which a rule enters for all or for none; otherwise one for each.

    Examples
    --------
    >>> Several(names=("a", "b")).check([[1, 2], [3, 4]], n_rows=2)
    array([[1., 2.],
           [3., 4.]])
    """

    losses = ("squared",)
    plural = "numbers"

    names: tuple[str, ...]
    shared: bool = True

    def check(self, y: Any, n_rows: int) -> AnyArray:
        """Return the values as finite float64."""
        return check_regression_targets(self, y, n_rows)

    def learn(self, sampled: Sampled, *, validates: bool) -> Self:
        """Return the target with the means and the standard deviations of the sample."""
        means = np.average(sampled.y, axis=0, weights=sampled.weights)
        spreads = np.sqrt(np.average((sampled.y - means) ** 2, axis=0, weights=sampled.weights))
        coding = Scaled(means, np.where(spreads > 0.0, spreads, 1.0))
        return replace(self, code=TargetCode(coding=coding).weighing(sampled.weights))

    def take_offset(
        self, y: AnyArray, weights: FloatArray | None, offset: FloatArray
    ) -> tuple[AnyArray, FloatArray | None]:
        """Return numbers without what is known, the same of each."""
        return y - offset[:, None], weights

    def together(self, solver: BaseSolver) -> Joint | None:
        """Return a grouped fit for a shared list."""
        return Grouped() if self.shared and solver.solves_together else None

    @property
    def shares_terms(self) -> bool:
        """Whether a term enters for all numbers or for none."""
        return self.shared

    def split(self, data: TrainingData, settings: Settings) -> list[TrainingData]:
        """Return one pool of rules for each number with a list of its own, if rules are grown."""
        if self.shared or not settings.grows:
            return [data]
        return [data.of_output(output) for output in range(len(self.names))]

    @property
    def meaning(self) -> SeveralMeaning:  # type: ignore[override]
        """What terms add to each number."""
        return SeveralMeaning(self.names)

    def recall_meaning(self, meaning: Meaning) -> Self:
        """Return the target of a model file."""
        assert isinstance(meaning, SeveralMeaning)
        return replace(self, names=meaning.names)

    def measure_rows(self, scores: FloatArray, said: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the squared error in standard deviations, a mean over the numbers."""
        losses = np.mean((targets - scores) ** 2, axis=1)
        return losses, losses

    def base_loss(self, means: FloatArray, mean_squares: FloatArray) -> float:
        """Return the squared error of the means."""
        return max(float(np.mean(mean_squares - means**2)), 0.0)

    def describe(self, data: TrainingData, fitted: Fitted) -> Fitted:
        """Return the terms with means of the first number, in its own unit."""
        first, factor = data.offsets[0], data.factors[0]
        means = first + factor * (fitted.mean_targets - first)
        output_means = data.offsets + data.factors * (fitted.output_means - data.offsets)
        return replace(fitted, mean_targets=means, output_means=output_means)

    def judge(self, model: RuleModel, held_out: HeldOut, data: TrainingData, *, honest: bool) -> NumberFigures:
        """Tell R squared and the errors, in standard deviations, of all numbers together."""
        said = data.take_scores(held_out.scores)
        weights = None if held_out.weights is None else np.repeat(held_out.weights, len(self.names))
        return judge_numbers(held_out.targets.ravel(), said.ravel(), weights, honest=honest)

    def judge_rows(self, model: RuleModel, observed: AnyArray, scores: FloatArray, *, honest: bool) -> NumberFigures:
        """Tell R squared and the errors on other rows, in their standard deviations."""
        means, spreads = observed.mean(axis=0), observed.std(axis=0)
        units = np.where(spreads > 0.0, spreads, 1.0)
        own, said = (observed - means) / units, (scores - means) / units
        return judge_numbers(own.ravel(), said.ravel(), honest=honest)

    def compare(self, observed: AnyArray, predicted: AnyArray, weights: FloatArray) -> Agreement:
        """Return what the mean of each number's R squared is made of."""
        means = np.average(observed, axis=0, weights=weights)
        spread, loss = weights @ (observed - means) ** 2, weights @ (observed - predicted) ** 2
        shares = np.divide(loss, spread, out=(loss > 0.0).astype(np.float64), where=spread > 0.0)
        total = float(weights.sum())
        return Agreement(total, 0.0, total, total * float(np.mean(shares)))
