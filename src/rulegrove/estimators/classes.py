"""A target that is one of two or more classes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.stats import entropy
from sklearn.utils import compute_class_weight

from rulegrove._reprs import short_repr
from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove._validation import check_class_labels
from rulegrove.estimators import autos
from rulegrove.estimators._constraints import Constraints
from rulegrove.estimators._fitted import HeldOut, share_classes
from rulegrove.estimators._sampling import Sampled, TargetCode
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators.calibration import Curves, Link, Temperature, find_link, fit_calibration, need_shares
from rulegrove.estimators.figures import Agreement, ClassFigures, judge_classes, share_of_classes
from rulegrove.estimators.meaning import ClassMeaning, Meaning
from rulegrove.estimators.model import Fitted, RuleModel, choose_classes
from rulegrove.estimators.settings import Settings, is_auto
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError
from rulegrove.joint_selection import Grouped, Joint, Multinomial
from rulegrove.likelihoods import OfShares
from rulegrove.losses import Logistic, Loss, Ramp, Squared
from rulegrove.projection import OfProbabilities
from rulegrove.rules.rule import Rule
from rulegrove.solvers import BaseSolver

N_DRAWS = 100  # of labels, before a class is given up as too rare to be drawn twice
RARE_ROWS = 20  # a class of fewer rows may be missing from a fold that is dealt out by chance

TREE_LOSSES: dict[str, type[Loss]] = {"auto": Squared, "squared": Squared, "ramp": Ramp, "logistic": Logistic}


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes(Target):
    """Classes, each told apart from the rest: one output for the second of two, or one for each of more.

    Attributes
    ----------
    class_weight, multiclass, calibration
        The parameters of `RuleEnsembleClassifier`.
    mode : str
        The mode of several classes that is used, once it is settled.
    shares : ndarray of shape (n_classes,), optional
        Share of each class in the (weighted) training rows, once the model is fitted.
    fitted_link : Temperature or Curves, optional
        What was fitted to held-out scores to turn scores into probabilities; None for the meaning of the loss.

    Examples
    --------
    >>> Classes(class_weight="balanced").check(["no", "yes", "no"], n_rows=3)
    array(['no', 'yes', 'no'], dtype='<U3')
    """

    plural = "classes"
    way_apart = "multiclass='ovr', or 'shared' with Glmnet(loss='squared')"
    losses = ("squared", "ramp", "squared_hinge", "logistic")
    others = "numbers"
    values = "classes"

    class_weight: Any = None
    multiclass: str = "auto"
    calibration: str | None = "auto"
    mode: str = "ovr"
    shares: FloatArray | None = None

    __repr__ = short_repr

    @property
    def projection(self) -> OfProbabilities:
        """Near to the probabilities of the large model."""
        return OfProbabilities()

    @property
    def likelihood(self) -> OfShares:
        """The log loss of all classes together."""
        return OfShares()

    @property
    def labels(self) -> AnyArray:
        """The classes, sorted."""
        assert self.code.classes is not None
        return self.code.classes

    def check(self, y: Any, n_rows: int) -> AnyArray:
        """Return the label of each row."""
        classes, codes = check_class_labels(self, y, n_rows)
        return np.asarray(classes[codes])

    def check_settings(self, settings: Settings, solver: BaseSolver) -> None:
        """Refuse a calibration without held-out scores, and a grouped fit by a solver that has none."""
        if self.calibration not in {None, "auto"} and not settings.validates:
            raise InvalidInputError(
                f"`calibration`={self.calibration!r} needs held-out scores, and with a given point there are none; "
                "set selection='1se' or 'min', or calibration=None."
            )
        if self.multiclass == "grouped" and not (solver.solves_together and solver.loss_name == "squared"):
            raise InvalidInputError(
                "multiclass='grouped' needs solver=Glmnet(loss='squared'), the only one that solves for all classes "
                f"together; got {solver!r}. Use multiclass='shared' with other solvers."
            )

    def check_constraints(self, constraints: Constraints) -> None:
        """Refuse directions of attributes for more than two classes."""
        if constraints.monotonic is not None and len(self.labels) > 2:
            raise InvalidInputError(
                "`monotonic` needs a target of two classes, and is about the score of the second one; got "
                f"{len(self.labels)} classes. Fit one class against the rest."
            )

    def learn(self, sampled: Sampled, *, validates: bool) -> Self:
        """Return the target with its labels and their weights; refuse a class too rare to learn from."""
        summary = sampled.summary
        classes, _ = check_class_labels(self, np.repeat(summary.labels, 3), 3 * len(summary.labels))  # rows repeat
        if len(classes) == 2:
            self._check_rarer(sampled, classes, validates=validates)
        return replace(self, code=TargetCode(classes, self._weigh_classes(classes, summary.counts)))

    def _check_rarer(self, sampled: Sampled, classes: AnyArray, *, validates: bool) -> None:
        """Refuse one of two classes that folds, or the rows that were drawn, may not have."""
        counts = sampled.summary.n_counted
        if sampled.ranks is None:
            if validates and 1 in counts:
                label = classes.tolist()[counts.tolist().index(1)]
                raise InvalidInputError(
                    f"Class {label!r} has only one row, but cross-validation needs at least two of each class; add "
                    "rows, or give a penalty as `selection` to do without cross-validation."
                )
            return
        missing = len(np.unique(sampled.y)) < 2
        if missing or (validates and counts.min() < RARE_ROWS):
            label, n_rows = classes.tolist()[int(np.argmin(counts))], int(counts.min())
            where = f"none of the {sampled.y.size:,} rows drawn to grow rules" if missing else "too few for folds"
            raise InvalidInputError(
                f"Class {label!r} has {n_rows:,} of {counts.sum():,} rows that count, {where}. Keep fewer rows of the "
                "other class and give them more weight, or add rows of this one."
            )

    def _weigh_classes(self, classes: AnyArray, counts: IntArray) -> FloatArray | None:
        """Return the weight of each class, from the rows of each."""
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):  # "balanced"
            return np.asarray(counts.sum() / (len(counts) * counts), dtype=np.float64)
        by_class = compute_class_weight(self.class_weight, classes=classes, y=classes)
        if not (by_class >= 0).all():
            raise InvalidInputError(f"`class_weight` must not be negative or NaN; got {self.class_weight}.")
        return np.asarray(by_class, dtype=np.float64)

    def recall(self, code: TargetCode, *, n_pools: int) -> Self:
        """Return the target of an earlier fit, whose pools of rules tell the mode."""
        auto = "shared" if n_pools == 1 else "ovr"
        return replace(self, code=code, mode=auto if is_auto(self.multiclass) else self.multiclass)

    def tree_loss(self, name: str, targets: FloatArray) -> Loss:
        """Return the loss of that name."""
        return TREE_LOSSES[name]()

    def settle(self, settings: Settings, n_rows: int) -> Self:
        """Return the target with the mode of several classes."""
        return replace(self, mode=autos.resolve_mode(self.multiclass, grows=settings.grows))

    def choose_solver(self) -> BaseSolver:
        """Return a solver whose path keeps more of a family of rules than one."""
        return autos.SOLVER

    def together(self, solver: BaseSolver) -> Joint | None:
        """Return a grouped or a multinomial fit, where the mode or the loss asks for one."""
        if self.mode == "grouped":
            return Grouped()
        if self.mode == "shared" and solver.solves_together and solver.loss_name == "logistic":
            return Multinomial() if solver.mixes == (1.0,) else None
        return None

    @property
    def shares_terms(self) -> bool:
        """Whether a term enters for all classes or for none."""
        return self.mode == "grouped"

    def split(self, data: TrainingData, settings: Settings) -> list[TrainingData]:
        """Return one pool of rules for each class in the mode "ovr", if rules are grown."""
        if self.code.n_outputs == 1 or self.mode != "ovr" or not settings.grows:
            return [data]
        return [data.of_output(output) for output in range(self.code.n_outputs)]

    def finish(
        self, fitted: Fitted, solver: BaseSolver, held_out: HeldOut | None, *, refitted: bool
    ) -> tuple[Self, RuleModel]:
        """Return the target with the shares of the classes, and the model with its labels and probabilities."""
        means = (1.0 + fitted.output_means) / 2.0  # outputs are 1 for a class and -1 for the others
        shares = np.array([1.0 - means[0], means[0]]) if means.size == 1 else means
        target, scored = replace(self, shares=shares), held_out if fitted.model.terms else None
        method = autos.resolve_calibration(self.calibration, solver.loss_name)
        if refitted:
            target = replace(target, fitted_link=self.link_list(scored))
        elif scored is not None and method is not None:
            target = replace(target, fitted_link=self._calibrate(method, scored))
        elif scored is not None and self.calibration is not None:
            link = self._link_scores(solver, scored)
            target = replace(target, fitted_link=None if link == self._find_link(solver) else link)
        return target, target.link_model(fitted.model, solver)

    def goals(self, scores: FloatArray, link: Link | None) -> FloatArray:
        """Return the probability of each class, of two classes that of the second."""
        assert isinstance(link, (Temperature, Curves))
        if scores.shape[1] > 1:
            return link.probabilities(scores)
        return link.probabilities(scores[:, 0])[:, 1:]

    def measure_rows(self, scores: FloatArray, said: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return minus the logarithm of the true class's probability, and whether the class is a wrong one."""
        codes = read_codes(targets)
        if scores.shape[1] > 1:
            true, chosen = said[np.arange(len(codes)), codes], choose_classes(scores)
        else:
            true, chosen = np.where(codes == 1, said[:, 0], 1.0 - said[:, 0]), choose_classes(scores[:, 0])
        losses = -np.log(np.maximum(true, np.finfo(np.float64).eps))
        return losses, (chosen != codes).astype(np.float64)

    def base_loss(self, means: FloatArray, mean_squares: FloatArray) -> float:
        """Return the log loss of the shares of the classes."""
        return float(entropy(np.maximum(read_shares(means), 0.0)))

    def tell_error(self, error: FloatArray, standard_error: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the share of wrong classes."""
        return error, standard_error

    def _link_scores(self, solver: BaseSolver, held_out: HeldOut) -> Link:
        """Return what scores of the solver's loss mean by themselves, or on a common scale if held-out rows ask for it.

        The log odds of each class against all others make probabilities of their own; together they may make better
        ones. The scores of other losses have no meaning of their own.
        """
        if solver.loss_name != "logistic":
            return self._calibrate("temperature", held_out)
        plain = self._find_link(solver)
        if self.code.n_outputs == 1 or self.together(solver) is not None:
            return plain
        both = (plain, self._calibrate("temperature", held_out))
        scores, targets = held_out.scores, held_out.targets
        scored = [self.measure_rows(scores, self.goals(scores, link), targets)[0] for link in both]
        return both[int(np.argmin([np.average(losses, weights=held_out.weights) for losses in scored]))]

    def link_list(self, held_out: HeldOut | None) -> Link:
        """Return a calibration of log odds by held-out scores, or what log odds mean where there are none."""
        if held_out is None or self.calibration is None:
            return find_link("logistic", self.code.n_outputs, together=self.code.n_outputs > 1)
        method = "temperature" if self.calibration == "auto" else self.calibration
        return self._calibrate(method, held_out)

    def _calibrate(self, method: str, held_out: HeldOut) -> Link:
        """Fit what turns held-out scores into probabilities, whatever the unit of the weights."""
        codes, weights = read_codes(held_out.targets), held_out.weights
        weights = np.ones(codes.size) if weights is None else weights / weights.mean()
        return fit_calibration(method, read_scores(held_out), codes, weights)

    def give_link(self, model: RuleModel, link: Link | None) -> RuleModel:
        """Return a model of another length with the labels and its own link."""
        return replace(model, classes=self.labels, link=need_shares(link))

    def link_model(self, model: RuleModel, solver: BaseSolver) -> RuleModel:
        """Return the model with its labels, and with what its scores say of them."""
        return replace(model, classes=self.labels, link=need_shares(self.fitted_link or self._find_link(solver)))

    def _find_link(self, solver: BaseSolver) -> Link:
        """Return what scores of the solver's loss mean."""
        n_outputs = self.code.n_outputs
        together = n_outputs > 1 and isinstance(self.together(solver), Multinomial)
        return find_link(solver.loss_name, n_outputs, together=together)

    @property
    def settled(self) -> dict[str, Any]:
        """The mode of several classes and the calibration, where they were left open."""
        found: dict[str, Any] = {}
        if is_auto(self.multiclass):
            found["multiclass"] = self.mode
        if is_auto(self.calibration):
            found["calibration"] = None if self.fitted_link is None else "temperature"
        return found

    def judge(self, model: RuleModel, held_out: HeldOut, data: TrainingData, *, honest: bool) -> ClassFigures:
        """Tell accuracy, log loss and more on held-out rows."""
        scores = read_scores(held_out)
        probabilities = model.probabilities(scores)
        assert probabilities is not None
        codes = read_codes(data.targets[data.rows])
        return judge_classes(
            read_codes(held_out.targets),
            choose_classes(scores),
            probabilities,
            held_out.weights,
            shares=share_of_classes(codes, data.weights_of(data.rows), len(self.labels)),
            honest=honest,
        )

    def judge_rows(
        self,
        model: RuleModel,
        observed: AnyArray,
        scores: FloatArray,
        weights: FloatArray | None = None,
        *,
        honest: bool,
    ) -> ClassFigures:
        """Tell accuracy, log loss and more on other rows."""
        probabilities = model.probabilities(scores)
        assert probabilities is not None
        return judge_classes(observed, choose_classes(scores), probabilities, weights, honest=honest)

    def compare(self, observed: AnyArray, predicted: AnyArray, weights: FloatArray) -> Agreement:
        """Add up the weights of the wrong classes, and of all."""
        total = float(weights.sum())
        return Agreement(total, 0.0, total, float(weights[predicted != observed].sum()))

    def draw_by(self, *, validates: bool) -> dict[str, Any]:
        """Return parameters by which each class is drawn as often as it is in the data.

        There are no class weights, and where there are held-out scores to fit it to, a curve that has an intercept.
        """
        return {"class_weight": None, "calibration": "sigmoid" if validates else None}

    def draw(self, model: RuleModel, scores: FloatArray, y: Any) -> Callable[[np.random.Generator], AnyArray]:
        """Return what draws a class for each row by its probabilities."""
        probabilities = model.probabilities(scores)
        assert probabilities is not None
        return lambda rng: draw_labels(self.labels, probabilities, rng)

    @property
    def meaning(self) -> ClassMeaning:
        """What terms say about the classes."""
        return ClassMeaning(self.labels, self.shares, self.mode, self.fitted_link)

    def recall_meaning(self, meaning: Meaning) -> Self:
        """Return the classes of a model file."""
        assert isinstance(meaning, ClassMeaning)
        code = TargetCode(meaning.labels)
        return replace(self, code=code, mode=meaning.mode, shares=meaning.shares, fitted_link=meaning.link)

    @property
    def base_rates(self) -> FloatArray | None:
        """Share of the second of two classes, or of each, among the training rows."""
        return self.shares if self.shares is None or len(self.shares) > 2 else self.shares[1:]

    def share_rules(self, data: TrainingData, rules: Sequence[Rule]) -> FloatArray | None:
        """Return the share of each of more than two classes where each rule holds."""
        return None if self.code.n_outputs == 1 else share_classes(data, rules)


def read_codes(targets: FloatArray) -> IntArray:
    """Return the place of each row's class from targets of one or more outputs."""
    return np.argmax(targets, axis=1) if targets.shape[1] > 1 else (targets[:, 0] > 0).astype(np.int64)


def read_shares(means: FloatArray) -> FloatArray:
    """Return the share of each class from the means of outputs, which are 1 for a class and -1 for the others."""
    shares = (1.0 + means) / 2.0
    return np.array([1.0 - shares[0], shares[0]]) if shares.size == 1 else shares


def read_scores(held_out: HeldOut) -> FloatArray:
    """Return held-out scores as `decision_function` would."""
    return held_out.scores if held_out.scores.shape[1] > 1 else held_out.scores[:, 0]


def draw_labels(classes: AnyArray, probabilities: FloatArray, rng: np.random.Generator) -> AnyArray:
    """Draw a class for every row, and again where a class comes up less than twice: no model can be fitted then."""
    limits = np.cumsum(probabilities, axis=1)[:, :-1]
    for _ in range(N_DRAWS):
        codes = (rng.random((len(limits), 1)) > limits).sum(axis=1)
        sizes = np.bincount(codes, minlength=len(classes))
        if sizes.min() > 1:
            return np.asarray(classes[codes])
    raise InvalidInputError(
        f"Class {classes.tolist()[int(sizes.argmin())]!r} is so rare that labels drawn from a model without "
        "interaction hardly ever contain it twice; leave it out or join it with another class."
    )
