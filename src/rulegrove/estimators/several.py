"""A target that is several numbers at once."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rulegrove._typing import AnyArray, FloatArray
from rulegrove._validation import check_regression_targets
from rulegrove.columns import is_frame, list_names
from rulegrove.estimators._coding import Scaled
from rulegrove.estimators._constraints import Constraints
from rulegrove.estimators._fitted import HeldOut
from rulegrove.estimators._sampling import Sampled, TargetCode
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators.figures import Agreements
from rulegrove.estimators.loss_figures import SeveralFigures
from rulegrove.estimators.loss_judging import judge_several
from rulegrove.estimators.meaning import Meaning, SeveralMeaning
from rulegrove.estimators.model import Fitted, RuleModel
from rulegrove.estimators.number import Number
from rulegrove.estimators.settings import Settings
from rulegrove.exceptions import InvalidInputError
from rulegrove.joint_selection import Grouped, Joint
from rulegrove.solvers import BaseSolver


def name_numbers(y: Any) -> tuple[str, ...]:
    """Return the names of several numbers, if a target is that: those of a data frame's columns, or y0, y1, and so on.

    Examples
    --------
    >>> name_numbers([[1.0, 2.0], [3.0, 4.0]]), name_numbers([[1.0], [3.0]]), name_numbers([1.0, 3.0])
    (('y0', 'y1'), (), ())
    """
    framed = is_frame(y)
    try:
        shape = y.shape if framed else np.asarray(y).shape
    except ValueError:  # rows of different lengths, which the check of the target tells about
        return ()
    if len(shape) != 2 or shape[1] < 2:
        return ()
    names = tuple(list_names(y)) if framed else ()
    return names if names and not all(map(str.isdecimal, names)) else tuple(f"y{k}" for k in range(shape[1]))


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
    others = "one number"
    plural = "numbers"
    path_unit = "in standard deviations"

    names: tuple[str, ...]
    shared: bool = True

    def check(self, y: Any, n_rows: int) -> AnyArray:
        """Return the values as finite float64."""
        return check_regression_targets(self, y, n_rows, self.names)

    def check_observed(self, y: Any, n_rows: int) -> AnyArray:
        """Return the values as finite float64."""
        return self.check(y, n_rows)

    def check_evidence(self) -> None:
        """Refuse what is about one number."""
        raise InvalidInputError(
            f"Rules are tested for one number at a time; got {len(self.names)} numbers. Leave `evidence` out, or fit "
            "the number that matters on its own."
        )

    def check_constraints(self, constraints: Constraints) -> None:
        """Refuse directions of attributes for a shared list, which is solved for together."""
        if constraints.monotonic is not None and self.shared:
            raise InvalidInputError(
                "`monotonic` cannot be used for numbers that share a list, because they are solved for together; use "
                f"{self.way_apart}, where it applies to each of them."
            )

    def learn(self, sampled: Sampled, *, validates: bool) -> Self:
        """Return the target with the means and the standard deviations of the sample."""
        counted = slice(None) if sampled.weights is None else sampled.weights > 0
        code = TargetCode().weighing(sampled.weights)
        numbers, weights = code.take(sampled.y[counted], None if sampled.weights is None else sampled.weights[counted])
        largest = np.abs(numbers).max(axis=0, initial=0.0)
        units = np.where(largest > 0.0, largest, 1.0)  # whose squares are numbers
        parts = numbers / units
        means = np.where(np.ptp(numbers, axis=0) > 0.0, np.average(parts, axis=0, weights=weights), parts[0])
        spreads = np.sqrt(np.average((parts - means) ** 2, axis=0, weights=weights))
        coding = Scaled(units * means, units * np.where(spreads > 0.0, spreads, 1.0))
        return replace(self, code=replace(code, coding=coding))

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
        """Return the terms with means of all numbers, in their own units."""
        return replace(fitted, output_means=data.give_scores(fitted.output_means - data.offsets))

    def judge(self, model: RuleModel, held_out: HeldOut, data: TrainingData, *, honest: bool) -> SeveralFigures:  # type: ignore[override]
        """Tell R squared and the errors of each number on held-out rows."""
        observed = data.give_scores(held_out.targets)
        return judge_several(self.names, observed, held_out.scores, held_out.weights, honest=honest)

    def judge_rows(  # type: ignore[override]
        self,
        model: RuleModel,
        observed: AnyArray,
        scores: FloatArray,
        weights: FloatArray | None = None,
        *,
        honest: bool,
    ) -> SeveralFigures:
        """Tell R squared and the errors of each number on other rows."""
        return judge_several(self.names, observed, scores, weights, honest=honest)

    def compare(self, observed: AnyArray, predicted: AnyArray, weights: FloatArray) -> Agreements:  # type: ignore[override]
        """Add up the squared errors of each number, and its squared differences from the mean."""
        pairs = zip(observed.T, predicted.T, strict=True)
        return Agreements(tuple(super(Several, self).compare(own, said, weights) for own, said in pairs))
