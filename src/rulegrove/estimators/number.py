"""A target that is a number."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from rulegrove._typing import AnyArray, FloatArray
from rulegrove._validation import check_regression_target
from rulegrove.estimators._fitted import HeldOut
from rulegrove.estimators._sampling import Sampled, TargetCode
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators.figures import Agreement, NumberFigures, judge_numbers
from rulegrove.estimators.meaning import NumberMeaning
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Huber, Loss, Squared

HUBER_SHARE = 0.9  # of the targets lie within the quadratic part of the Huber loss, as in Friedman (2001), section 4.4


@dataclass(frozen=True, kw_only=True, eq=False)
class Number(Target):
    """A number, whose score is the prediction itself.

    Examples
    --------
    >>> Number().check([1, 2, 3], n_rows=3)
    array([1., 2., 3.])
    """

    losses: ClassVar[tuple[str, ...]] = ("squared", "huber")
    others = "two classes"
    values = "numbers"
    meaning = NumberMeaning()

    def check(self, y: Any, n_rows: int) -> AnyArray:
        """Return the values as finite float64."""
        return check_regression_target(self, y, n_rows)

    def check_observed(self, y: Any, n_rows: int) -> AnyArray:
        """Return the values as finite float64, in the units of predictions."""
        return check_regression_target(self, y, n_rows)

    def learn(self, sampled: Sampled, *, validates: bool) -> Self:
        """Return the target with its offset, so that values near zero lose no digits when they are squared."""
        # The mean of the sample, not of all rows: sums of all rows are rounded as the rows are divided.
        return replace(self, code=TargetCode.of_numbers(sampled.y, sampled.weights))

    def take_offset(
        self, y: AnyArray, weights: FloatArray | None, offset: FloatArray
    ) -> tuple[AnyArray, FloatArray | None]:
        """Return numbers without what is known."""
        return y - offset, weights

    def tree_loss(self, name: str, targets: FloatArray) -> Loss:
        """Return the squared or the Huber loss."""
        if name in {"auto", "squared"}:
            return Squared()
        if name != "huber":
            raise InvalidInputError(f"tree_loss={name!r} needs loss={name!r}; leave it out, or use 'squared'.")
        delta = float(np.quantile(np.abs(targets - np.median(targets)), HUBER_SHARE))
        return Huber(delta) if delta > 0 else Squared()

    def judge(self, model: RuleModel, held_out: HeldOut, data: TrainingData, *, honest: bool) -> NumberFigures:
        """Tell R squared and the errors on held-out rows."""
        observed = held_out.targets[:, 0] + data.offsets[0]
        return judge_numbers(observed, held_out.scores[:, 0], held_out.weights, honest=honest)

    def judge_rows(
        self,
        model: RuleModel,
        observed: AnyArray,
        scores: FloatArray,
        weights: FloatArray | None = None,
        *,
        honest: bool,
    ) -> NumberFigures:
        """Tell R squared and the errors on other rows."""
        return judge_numbers(observed, model.decide(scores), weights, honest=honest)

    def compare(self, observed: AnyArray, predicted: AnyArray, weights: FloatArray) -> Agreement:
        """Add up squared errors, and squared differences from the mean."""
        mean = float(np.average(observed, weights=weights))
        spread, loss = weights @ (observed - mean) ** 2, weights @ (observed - predicted) ** 2
        return Agreement(float(weights.sum()), mean, float(spread), float(loss))

    def draw(self, model: RuleModel, scores: FloatArray, y: Any) -> Callable[[np.random.Generator], AnyArray]:
        """Return what adds to each score the residual of another row."""
        residuals = self.check(y, len(scores)) - scores
        return lambda rng: model.decide(scores + rng.permutation(residuals))
