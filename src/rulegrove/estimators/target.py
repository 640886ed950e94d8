"""What a model predicts. Each kind of target is one class, and nothing else asks for the kind."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove.design.terms import Terms
from rulegrove.estimators._constraints import Constraints
from rulegrove.estimators._fitted import HeldOut
from rulegrove.estimators._lists import MadeLists
from rulegrove.estimators._sampling import UNLEARNED, Sampled, Spells, TargetCode
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators.calibration import Link
from rulegrove.estimators.figures import Agreement, Figures
from rulegrove.estimators.loss_judging import RateAgreement
from rulegrove.estimators.meaning import Meaning
from rulegrove.estimators.model import Fitted, RuleModel
from rulegrove.estimators.settings import Settings
from rulegrove.exceptions import InvalidInputError
from rulegrove.joint_selection import Joint
from rulegrove.likelihoods import Likelihood
from rulegrove.losses import Loss
from rulegrove.projection import OfNumbers, Point, Projection
from rulegrove.rules.rule import Rule
from rulegrove.solvers import BaseSolver, Glmnet
from rulegrove.survival.times import SurvivalTimes


@dataclass(frozen=True, kw_only=True, eq=False)
class Target(ABC):
    """A kind of target: how its values become numbers, which losses suit it, what terms say about it.

    An object is made from parameters alone; `learn` returns one that knows the values of the training rows, and
    `settle` one that knows all that depends on their number.

    Attributes
    ----------
    plural, way_apart : str
        What its outputs are, and how they are asked to be solved for apart, in words.
    path_unit : str
        What the loss of the path is of, in words; empty where it is of the target as it is.
    losses : tuple of str
        Names of the losses that suit it, the default first.
    others : str
        What other losses are for, in words.
    values : {"classes", "numbers"}
        What the values are before they are encoded.
    code : TargetCode
        How values become numbers, once it is learned.
    fitted_link : Temperature or Curves, optional
        What was fitted to held-out scores to turn scores into predictions; None for the meaning of the loss.
    """

    plural: ClassVar[str] = "outputs"
    timed: ClassVar[bool] = False  # whether it is a time, beside which it is told whether the event came
    way_apart: ClassVar[str] = "multioutput='separate'"
    path_unit: ClassVar[str] = ""
    losses: ClassVar[tuple[str, ...]]
    others: ClassVar[str]
    values: ClassVar[str]
    code: TargetCode = UNLEARNED
    fitted_link: Link | None = None

    @property
    def projection(self) -> Projection:
        """How a short list is brought near to what the large model says."""
        return OfNumbers()

    @property
    def own_loss(self) -> str | Loss:
        """The loss that a solver without one that suits is given."""
        return self.losses[0]

    @property
    def likelihood(self) -> Likelihood | None:
        """What the terms of the path are solved for by; None for squared errors, of which sums tell all."""
        return None

    @abstractmethod
    def check(self, y: Any, n_rows: int) -> AnyArray:
        """Return the values of a table in memory as an array, or refuse them."""

    def check_observed(self, y: Any, n_rows: int) -> AnyArray:
        """Return values to compare predictions with, of which there may be some that are none to learn from."""
        return self.check(y, n_rows)

    def check_evidence(self) -> None:  # noqa: B027
        """Refuse to test rules on other rows, where what they say cannot be compared with a share or a mean."""

    @property
    def log_link(self) -> bool:
        """Whether scores are logarithms of what is predicted, so that an exposure can be given."""
        return False

    def take_offset(
        self, y: AnyArray, weights: FloatArray | None, offset: FloatArray
    ) -> tuple[AnyArray, FloatArray | None]:
        """Return targets and weights without what is known to add to the scores of rows."""
        raise InvalidInputError(
            "`exposure` and `offset` are for a RuleEnsembleRegressor, whose target is a number; leave them out."
        )

    def expose(
        self, times: SurvivalTimes, weights: FloatArray | None, drawn: IntArray | None
    ) -> tuple[FloatArray, FloatArray, Spells]:
        """Return the rates that times become, their weights, and what is kept of the times.

        Parameters
        ----------
        times : SurvivalTimes
            Of all rows.
        weights : ndarray of shape (n_rows,), optional
        drawn : ndarray of shape (n_drawn,), optional
            Rows of a large table that tell at which times the hazard of all rows together rises; None is all.
        """
        raise InvalidInputError("Survival times need a RuleEnsembleSurvival.")

    @abstractmethod
    def learn(self, sampled: Sampled, *, validates: bool) -> Self:
        """Return the target with what the training rows tell of it.

        Parameters
        ----------
        sampled : Sampled
            Rows to learn from, and a summary of all rows.
        validates : bool
            Whether there will be folds.
        """

    def recall(self, code: TargetCode, *, n_pools: int) -> Self:
        """Return the target of an earlier fit, by its code and the number of its pools of rules."""
        return replace(self, code=code)

    def weigh(self, weights: FloatArray | None) -> Self:
        """Return the target for rows of these weights, or for some that are as heavy; None where all are equal."""
        return replace(self, code=self.code.weighing(weights))

    def check_settings(self, settings: Settings, solver: BaseSolver) -> None:  # noqa: B027
        """Refuse settings that this target does not allow."""

    def check_constraints(self, constraints: Constraints) -> None:  # noqa: B027
        """Refuse constraints on the coefficients that this target does not allow."""

    @property
    def share_told(self) -> float:
        """Share of rows that tell much of the target, which decides how many rows a tree must see."""
        return 1.0

    @abstractmethod
    def tree_loss(self, name: str, targets: FloatArray) -> Loss:
        """Return the loss whose residuals the trees are grown on."""

    def settle(self, settings: Settings, n_rows: int) -> Self:
        """Return the target with what the number of rows decides."""
        return self

    def choose_solver(self) -> BaseSolver:
        """Return the solver whose path finds the terms, where none is named: the lasso by default."""
        return Glmnet()

    def together(self, solver: BaseSolver) -> Joint | None:
        """Return how several outputs are solved together, if they are."""
        return None

    @property
    def shares_terms(self) -> bool:
        """Whether a term of a short list enters for all outputs or for none."""
        return False

    def split(self, data: TrainingData, settings: Settings) -> list[TrainingData]:
        """Return the data of each pool of rules: one pool serves all outputs unless the target says otherwise."""
        return [data]

    def finish(
        self, fitted: Fitted, solver: BaseSolver, held_out: HeldOut | None, *, refitted: bool
    ) -> tuple[Self, RuleModel]:
        """Return the target and the model with what the fitted scores tell, such as a link to probabilities.

        Most targets have enough of `link_model`.

        Parameters
        ----------
        fitted : Fitted
        solver : BaseSolver
        held_out : HeldOut, optional
            Scores of rows that were held out.
        refitted : bool
            Whether coefficients were solved for once more, by the likelihood of the target.
        """
        return self, self.link_model(fitted.model, solver)

    def link_model(self, model: RuleModel, solver: BaseSolver) -> RuleModel:
        """Return the model with what its scores mean."""
        return self.meaning.link_model(model, None)

    def goals(self, scores: FloatArray, link: Link | None) -> FloatArray:
        """Return what a model says of rows with these scores, which is what short lists of it are to say.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_outputs)
        link : Temperature or Curves, optional
            Of the model.
        """
        return scores

    def liken(self, said: FloatArray) -> FloatArray:
        """Return what lines say on a scale on which differences are told: `FrontLine.fidelity`."""
        return said

    def measure_rows(self, scores: FloatArray, said: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the loss and the error of every held-out row.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_outputs)
            Of a model of any length.
        said : ndarray of shape (n_rows, n_outputs)
            What the model says by these scores, as in `goals`.
        targets : ndarray of shape (n_rows, n_outputs)
            As the fit has them.
        """
        losses = np.sum((targets - scores) ** 2, axis=1)
        return losses, losses

    def find_slope(self, held_out: HeldOut) -> float:
        """Return what coefficients of the large model are to be multiplied by, as held-out scores tell."""
        return 1.0

    def settle_points(self, terms: Terms, points: list[Point]) -> list[Point]:
        """Return coefficients and intercepts of all outputs that go together, given those of each."""
        return points

    @property
    def finishes_lists(self) -> bool:
        """Whether `finish_lists` makes another model of the terms of the large one."""
        return False

    def finish_lists(self, made: MadeLists) -> list[list[Point]]:
        """Return lists that are near to the large model, with coefficients that are also right on the training rows."""
        return made.lists

    def judge_folds(
        self, held_out: HeldOut, folds: IntArray, score: Callable[[int], tuple[IntArray, FloatArray]]
    ) -> tuple[FloatArray, FloatArray] | None:
        """Return losses of held-out rows by every line, and without terms, where other rows matter; None where not.

        Parameters
        ----------
        held_out : HeldOut
        folds : ndarray of shape (n_rows,)
            Fold of every row.
        score : callable
            Gives all rows of the training and their scores by the lines that were made without a fold, an ndarray of
            shape (n_lines, n_rows, n_outputs).
        """
        return None

    def lose_base(self, targets: FloatArray) -> FloatArray:
        """Return what `base_loss` goes by, of rows: the targets, or the loss of a model without terms."""
        return targets

    def base_loss(self, means: FloatArray, mean_squares: FloatArray) -> float:
        """Return the loss of always saying the mean, from the means of what `lose_base` tells and of its squares."""
        return max(float(np.sum(mean_squares - means**2)), 0.0)

    def tell_error(self, error: FloatArray, standard_error: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean errors of rows as they are told, with their standard errors: of squares the root."""
        root = np.sqrt(error)
        return root, np.divide(standard_error, 2.0 * root, out=np.zeros_like(root), where=root > 0.0)

    def link_list(self, held_out: HeldOut | None) -> Link | None:
        """Return what turns the scores of a short list into predictions, from its scores of held-out rows."""
        return None

    def give_link(self, model: RuleModel, link: Link | None) -> RuleModel:
        """Return a model of another length with its own link."""
        return self.meaning.link_model(model, link)

    @property
    @abstractmethod
    def meaning(self) -> Meaning:
        """What terms say about it, once it is learned, and what a model file tells of it."""

    def recall_meaning(self, meaning: Meaning) -> Self:
        """Return the target of a model file."""
        return self

    def describe(self, data: TrainingData, fitted: Fitted) -> Fitted:
        """Return the terms of a model with means of the target where rules hold, in the units of the user."""
        return fitted

    def share_rules(self, data: TrainingData, rules: Sequence[Rule]) -> FloatArray | None:
        """Tell what the training rows say of rules beyond the statistics, if their meaning needs that: class shares."""
        return None

    @abstractmethod
    def judge(self, model: RuleModel, held_out: HeldOut, data: TrainingData, *, honest: bool) -> Figures:
        """Tell how well held-out rows were predicted."""

    @abstractmethod
    def judge_rows(
        self,
        model: RuleModel,
        observed: AnyArray,
        scores: FloatArray,
        weights: FloatArray | None = None,
        *,
        honest: bool,
    ) -> Figures:
        """Tell how well other rows are predicted, by the places of their classes or by their numbers."""

    @abstractmethod
    def compare(self, observed: Any, predicted: AnyArray, weights: FloatArray) -> Agreement | RateAgreement:
        """Compare predictions with what came true, as the `score` of the estimator does; of times scores are given."""

    def draw_by(self, *, validates: bool) -> dict[str, Any]:
        """Return the parameters of a model to `draw` from, where they matter; `validates` as in `learn`."""
        return {}

    @abstractmethod
    def draw(self, model: RuleModel, scores: FloatArray, y: Any) -> Callable[[np.random.Generator], AnyArray]:
        """Return what draws targets of the rows as if a model, of which these are the scores, were true."""

    @property
    def base_rates(self) -> FloatArray | None:
        """Share of each output's class among the training rows; None where that is unknown or means nothing."""
        return None

    @property
    def settled(self) -> dict[str, Any]:
        """Parameters of the target that were left open, with what was found for them."""
        return {}
