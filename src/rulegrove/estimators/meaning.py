"""What a model means: what its terms say about the target, and how a model file tells it.

Nothing here needs rows or a solver, so that who only reads rules loads none of what fits them.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import AnyArray, FloatArray
from rulegrove.design.terms import Term
from rulegrove.estimators import _file_terms as file_terms
from rulegrove.estimators._checked_json import Value, encode
from rulegrove.estimators._file_figures import (
    decode_class_figures,
    decode_hazard_figures,
    decode_level_figures,
    decode_number_figures,
    decode_rate_figures,
    decode_several_figures,
)
from rulegrove.estimators._file_links import decode_link, decode_plain
from rulegrove.estimators.baseline import Baseline
from rulegrove.estimators.calibration import Link, need_shares
from rulegrove.estimators.figures import Figures
from rulegrove.estimators.loss_figures import name_rate
from rulegrove.estimators.model import Fitted, RuleModel, exponentiate, show_output
from rulegrove.estimators.rule_table import RankedTerm, RuleTable
from rulegrove.rules.rule import Rule

SHOWN_CLASSES = 12  # that a sentence names


class Meaning(ABC):
    """What the outputs of a model stand for.

    Attributes
    ----------
    about : tuple of str
        Fields of a `RankedTerm` that tell of the target; "confidence" or "mean_target" is what other rows can bear out.
    stored : tuple of str
        What a model file tells of it.
    stored_later : dict
        The same with what stands for it in files that have none.
    evidence : str
        What a model file tells of a rule; "" for nothing.
    evidence_head : str
        The heading of what is told of the target where a rule holds; "" where nothing is.
    noun : str
        What terms change, in a word.
    predicted : str
        What is predicted, in a word.
    loss_name : str
        The loss by which lists of different lengths are judged, as the name of a column.
    error_words, loss_words : str
        What the error and the loss of a list are.
    error_is_share : bool
        Whether the error is a share of the rows, of which the loss tells something else.
    link : Temperature or Curves, optional
        What was fitted to held-out scores to turn scores into predictions.
    n_outputs : int
    """

    about: ClassVar[tuple[str, ...]]
    stored: ClassVar[tuple[str, ...]] = ()
    stored_later: ClassVar[Mapping[str, Any]] = {}
    evidence: ClassVar[str]
    evidence_head: str = ""
    noun: str = "prediction"
    predicted: str = "prediction"
    loss_name: ClassVar[str] = "squared_error"
    error_words: ClassVar[str] = "root mean squared error"
    loss_words: ClassVar[str] = "mean squared error"
    error_is_share: ClassVar[bool] = False
    link: Link | None = None

    @property
    def n_outputs(self) -> int:
        """Scores of a row."""
        return 1

    @property
    def baseline(self) -> Baseline | None:
        """The cumulative hazard of a score of 0, where scores are of hazards."""
        return None

    @abstractmethod
    def introduce(self, parts: str) -> str:
        """Return a sentence about a model of so many rules and linear terms."""

    def rank(self, fitted: Fitted) -> RuleTable:
        """Return the terms of a model with what they say, the most important first."""
        model = fitted.model
        rows = [
            RankedTerm(
                rank=place + 1,
                kind="rule" if isinstance(term, Rule) else "linear",
                text=term.text(model.features),
                importance=float(fitted.importances[place]),
                support=float(fitted.supports[place]) if isinstance(term, Rule) else 1.0,
                aliases=tuple(
                    f"{'not ' * alias.opposite}{alias.rule.text(model.features)}" for alias in fitted.aliases[place]
                ),
                term=term,
                **about,
            )
            for place, (term, about) in enumerate(zip(model.terms, self.describe(fitted), strict=True))
        ]
        return self.tabulate(rows, model)

    def tabulate(self, rows: Sequence[RankedTerm], model: RuleModel) -> RuleTable:
        """Return the table of the described terms of a model, with what its link to predictions makes of them."""
        return RuleTable(rows, self.about, self.evidence_head)

    def link_model(self, model: RuleModel, link: Link | None) -> RuleModel:
        """Return a model of a file with what turns its scores into predictions."""
        return model

    @abstractmethod
    def describe(self, fitted: Fitted) -> Sequence[dict[str, Any]]:
        """Tell what each term says about the target, as fields of a `RankedTerm`."""

    def encode(self) -> dict[str, Any]:
        """Return what a model file tells of it."""
        return {}

    @classmethod
    @abstractmethod
    def decode(cls, fields: Mapping[str, Value]) -> Self:
        """Return the meaning of a model file."""

    @abstractmethod
    def decode_term(self, term: Term, coefs: FloatArray, evidence: Value | None) -> dict[str, Any]:
        """Tell what a term of a model file says about the target, as `describe` does; a rule has evidence."""

    def decode_link(self, value: Value) -> Link | None:
        """Return what turns the scores of a model of any length into predictions, from a model file."""
        return None if value.is_null else value.refuse("null")

    def encode_link(self, link: Link | None) -> dict[str, Any]:
        """Return what a model file tells of a link to predictions, where there is one."""
        return {}

    @abstractmethod
    def decode_figures(self, value: Value) -> Figures:
        """Return how well held-out rows were predicted, from a model file."""


class NumberMeaning(Meaning):
    """A number, whose score is the prediction itself."""

    about: ClassVar[tuple[str, ...]] = ("mean_target",)
    evidence = "mean_target"
    evidence_head = "mean target"

    def introduce(self, parts: str) -> str:
        """Return a sentence about a model of so many rules and linear terms."""
        return f"A rule ensemble that predicts a number: the prediction is an intercept plus the parts of {parts}."

    def describe(self, fitted: Fitted) -> Sequence[dict[str, Any]]:
        """Tell the coefficient of each term, and the mean of the target where a rule holds."""
        model = fitted.model
        return [
            {
                "coefficient": self.pick(coefs),
                "mean_target": float(mean) if isinstance(term, Rule) else None,
                **self.tell_effects(term, coefs),
            }
            for term, coefs, mean in zip(model.terms, np.atleast_2d(model.coefs).T, fitted.mean_targets, strict=True)
        ]

    stored_later: ClassVar[Mapping[str, Any]] = {"loss": None}

    @classmethod
    def decode(cls, fields: Mapping[str, Value]) -> Self:
        """Return the meaning of a loss; a model file tells nothing of squared errors."""
        return cast(Self, fields["loss"].maybe(decode_loss) or cls())

    def decode_term(self, term: Term, coefs: FloatArray, evidence: Value | None) -> dict[str, Any]:
        """Tell the coefficient of a term, and the mean of the target where a rule holds."""
        mean = None if evidence is None else evidence.number()
        return {"coefficient": self.pick(coefs), "mean_target": mean, **self.tell_effects(term, coefs)}

    def pick(self, coefs: FloatArray) -> float:
        """Return the coefficient that is told of a term: of several outputs that of the one in the middle."""
        return float(coefs[len(coefs) // 2])

    def tell_effects(self, term: Term, coefs: FloatArray) -> dict[str, Any]:
        """Tell in words what a term does to each output, where its coefficients do not say it."""
        return {}

    def decode_figures(self, value: Value) -> Figures:
        """Return R squared and the errors on held-out rows."""
        return decode_number_figures(value)


@dataclass(frozen=True, eq=False)
class RateMeaning(NumberMeaning):
    """A rate, whose logarithm is the score.

    Attributes
    ----------
    loss : {"poisson", "gamma", "tweedie"}
    power : float
        By which the variance grows with the mean.
    """

    about: ClassVar[tuple[str, ...]] = ("effect", "factor", "mean_target")
    loss_name = "deviance"
    error_words = loss_words = "mean deviance"

    loss: str = "poisson"
    power: float = 1.0

    @property
    def noun(self) -> str:  # type: ignore[override]
        """What terms multiply, in a word."""
        return name_rate(self.power)

    @property
    def predicted(self) -> str:  # type: ignore[override]
        """What is predicted, in a word."""
        return self.noun

    @property
    def evidence_head(self) -> str:  # type: ignore[override]
        """The mean rate or amount."""
        return f"mean {self.noun}"

    def introduce(self, parts: str) -> str:
        """Return a sentence about a model of so many rules and linear terms."""
        article = "an" if self.noun[0] in "aeiou" else "a"
        return f"A rule ensemble that predicts {article} {self.noun}: one to start from, times the factors of {parts}."

    def link_model(self, model: RuleModel, link: Link | None) -> RuleModel:
        """Return a model whose predictions are the exponentials of its scores."""
        return replace(model, inverse=exponentiate)

    def tell_effects(self, term: Term, coefs: FloatArray) -> dict[str, Any]:
        """Tell what a term multiplies the rate by."""
        span = coefs[0] if isinstance(term, Rule) else coefs[0] * (term.upper - term.lower)
        factor = float(exponentiate(np.array(span)))
        ends = "" if isinstance(term, Rule) else " from end to end"
        return {"factor": factor, "effect": f"{self.noun} x {factor:.3g}{ends}"}

    def encode(self) -> dict[str, Any]:
        """Return the loss and its power."""
        return {"loss": {"name": self.loss, "power": self.power}}

    def decode_figures(self, value: Value) -> Figures:
        """Return the explained deviance and more on held-out rows."""
        return decode_rate_figures(value)


@dataclass(frozen=True, eq=False)
class HazardMeaning(RateMeaning):
    """A hazard, whose logarithm is the score but for that of the baseline.

    Attributes
    ----------
    link : Baseline, optional
        The cumulative hazard of a score of 0.
    """

    about = ("effect", "factor")
    evidence_head = ""
    stored_later: ClassVar[Mapping[str, Any]] = {"baseline": None}
    loss_name = "partial_deviance"
    error_words = loss_words = "partial deviance"

    loss: str = "cox"
    link: Baseline | None = None

    __repr__ = short_repr

    @property
    def noun(self) -> str:  # type: ignore[override]
        """What terms multiply, in a word."""
        return "hazard"

    @property
    def predicted(self) -> str:  # type: ignore[override]
        """What is predicted: how many times the hazard is that of a score of 0."""
        return "hazard ratio"

    @property
    def baseline(self) -> Baseline | None:
        """The cumulative hazard of a score of 0."""
        return self.link

    def introduce(self, parts: str) -> str:
        """Return a sentence about a model of so many rules and linear terms."""
        return (
            "A rule ensemble for survival times: the hazard of a row is that of the baseline times the factors of "
            f"{parts}."
        )

    def encode(self) -> dict[str, Any]:
        """Return the baseline."""
        return self.encode_link(self.link)

    def encode_link(self, link: Link | None) -> dict[str, Any]:
        """Return a baseline."""
        return {"baseline": encode(link)}

    @classmethod
    def decode(cls, fields: Mapping[str, Value]) -> Self:
        """Return the meaning of a model file."""
        return cls(link=fields["baseline"].maybe(Baseline.decode))

    def decode_link(self, value: Value) -> Link | None:
        """Return a baseline."""
        return value.maybe(Baseline.decode)

    def decode_figures(self, value: Value) -> Figures:
        """Return the concordance of held-out rows."""
        return decode_hazard_figures(value)


@dataclass(frozen=True, eq=False)
class SeveralMeaning(NumberMeaning):
    """Several numbers, which are the scores.

    Attributes
    ----------
    names : tuple of str
    """

    about = ("effect",)
    evidence = evidence_head = ""
    error_words = "root mean squared error in standard deviations"
    loss_words = "mean squared error in standard deviations"

    names: tuple[str, ...]

    def introduce(self, parts: str) -> str:
        """Return a sentence about a model of so many rules and linear terms."""
        n_more = len(self.names) - SHOWN_CLASSES
        shown = [*self.names[:SHOWN_CLASSES], *([f"{n_more} more"] if n_more > 0 else [])]
        told = f"{', '.join(shown[:-1])} and {shown[-1]}"
        return (
            f"A rule ensemble that predicts {len(self.names)} numbers, {told}: each is an intercept plus the parts of "
            f"{parts} at most."
        )

    @property
    def n_outputs(self) -> int:
        """One for each number."""
        return len(self.names)

    def link_model(self, model: RuleModel, link: Link | None) -> RuleModel:
        """Return a model that knows the names of its numbers."""
        return replace(model, outputs=self.names)

    def describe(self, fitted: Fitted) -> Sequence[dict[str, Any]]:
        """Tell what each term adds to each number."""
        return [{**told, "mean_target": None} for told in super().describe(fitted)]

    def pick(self, coefs: FloatArray) -> float:
        """Return the coefficient of the first number that a term is about."""
        return float(coefs[np.argmax(coefs != 0.0)])

    def tell_effects(self, term: Term, coefs: FloatArray) -> dict[str, Any]:
        """Tell what a term adds to each number."""
        span = 1.0 if isinstance(term, Rule) else term.upper - term.lower
        ends = "" if isinstance(term, Rule) else ", from end to end"
        pairs = zip(self.names, coefs.tolist(), strict=True)
        parts = [f"{name} {coef * span:+.3g}" for name, coef in pairs if coef]
        return {
            "effect": ", ".join(parts) + ends,
            "coefficients": dict(zip(self.names, coefs.tolist(), strict=True)),
        }

    def encode(self) -> dict[str, Any]:
        """Return the names."""
        return {"loss": {"name": "several", "names": list(self.names)}}

    def decode_figures(self, value: Value) -> Figures:
        """Return R squared and the errors of each number on held-out rows."""
        return decode_several_figures(value, self.names)


@dataclass(frozen=True, eq=False)
class LevelMeaning(NumberMeaning):
    """Quantiles of a number, which are the scores.

    Attributes
    ----------
    loss : {"quantile", "absolute"}
    levels : tuple of float
    """

    about = ("effect", "mean_target")
    loss_name = "pinball_loss"
    error_words = loss_words = "mean pinball loss"

    loss: str = "quantile"
    levels: tuple[float, ...] = (0.5,)

    @property
    def n_outputs(self) -> int:
        """One for each level."""
        return len(self.levels)

    @property
    def predicted(self) -> str:  # type: ignore[override]
        """What is predicted: a quantile, of several each by its name."""
        return show_output(self.levels[0]) if len(self.levels) == 1 else "quantile"

    @property
    def evidence_head(self) -> str:  # type: ignore[override]
        """The middle one of the quantiles."""
        return show_output(self.levels[len(self.levels) // 2])

    @property
    def _where(self) -> str:
        """The quantiles in words."""
        if len(self.levels) == 1:
            return show_output(self.levels[0])
        return f"{' / '.join(f'{100 * level:.6g}' for level in self.levels)} % quantiles"

    def introduce(self, parts: str) -> str:
        """Return a sentence about a model of so many rules and linear terms."""
        each = "each" if len(self.levels) > 1 else "the prediction"
        apart = "; they never cross" if len(self.levels) > 1 else ""
        return (
            f"A rule ensemble that predicts the {self._where} of a number: {each} is an intercept plus the parts of "
            f"{parts}{apart}."
        )

    def link_model(self, model: RuleModel, link: Link | None) -> RuleModel:
        """Return a model that knows the levels of several quantiles."""
        return replace(model, outputs=self.levels) if len(self.levels) > 1 else model

    def tell_effects(self, term: Term, coefs: FloatArray) -> dict[str, Any]:
        """Tell what a term adds to each quantile."""
        span = 1.0 if isinstance(term, Rule) else term.upper - term.lower
        ends = "" if isinstance(term, Rule) else ", from end to end"
        steps = " / ".join(f"{coef * span:+.3g}" for coef in coefs.tolist())
        return {
            "effect": f"{steps} at the {self._where}{ends}",
            "coefficients": None if len(coefs) == 1 else dict(zip(self.levels, coefs.tolist(), strict=True)),
        }

    def encode(self) -> dict[str, Any]:
        """Return the loss and the levels."""
        return {"loss": {"name": self.loss, "levels": list(self.levels)}}

    def decode_figures(self, value: Value) -> Figures:
        """Return the pinball loss and more on held-out rows."""
        return decode_level_figures(value, len(self.levels))


def decode_loss(value: Value) -> NumberMeaning:
    """Return the meaning of the loss of a model file."""
    fields = value.fields(["name"], {"power": None, "levels": None, "names": None})
    name = fields["name"].text(["poisson", "gamma", "tweedie", "quantile", "absolute", "several"])
    if name == "several":
        names = tuple(item.text() for item in fields["names"].items())
        return SeveralMeaning(names) if len(set(names)) == len(names) > 1 else fields["names"].refuse("several names")
    if name not in {"quantile", "absolute"}:
        return RateMeaning(name, fields["power"].number(1.0, 2.0))
    levels = fields["levels"].numbers(None, 0.0, 1.0)
    if not levels.size or (np.diff(levels) <= 0).any():
        fields["levels"].refuse("one rising level or more")
    return LevelMeaning(name, tuple(levels.tolist()))


@dataclass(frozen=True, eq=False)
class ClassMeaning(Meaning):
    """Classes: one output for the second of two, or one for each of more.

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        The classes, sorted.
    shares : ndarray of shape (n_classes,), optional
        Share of each class in the (weighted) training rows.
    mode : str
        How several classes were fitted.
    link : Temperature or Curves, optional
        What was fitted to held-out scores to turn scores into probabilities; None for the meaning of the loss.
    plain : Temperature or Curves, optional
        The meaning of the loss, where a file has told it.
    """

    about = ("speaks_for", "confidence", "base_rate", "probability_from", "probability_to")
    stored = ("classes", "multiclass", "calibration")
    stored_later: ClassVar[Mapping[str, Any]] = {"class_shares": None}
    evidence = "shares"
    evidence_head = "of them"
    loss_name = "log_loss"
    error_words = "share of wrong classes"
    loss_words = "log loss"
    error_is_share = True

    labels: AnyArray
    shares: FloatArray | None = None
    mode: str = "ovr"
    link: Link | None = None
    plain: Link | None = None

    __repr__ = short_repr

    @property
    def n_outputs(self) -> int:
        """One for two classes."""
        return 1 if len(self.labels) == 2 else len(self.labels)

    def introduce(self, parts: str) -> str:
        """Return a sentence about a model of so many rules and linear terms."""
        labels = [str(label) for label in self.labels.tolist()]
        if len(labels) == 2:
            return (
                f"A rule ensemble for the two classes {labels[0]} and {labels[1]}: the score is an intercept plus the "
                f"parts of {parts}. A positive score speaks for {labels[1]}."
            )
        more = f" and {len(labels) - SHOWN_CLASSES} more" if len(labels) > SHOWN_CLASSES else ""
        return (
            f"A rule ensemble for {len(labels)} classes ({', '.join(labels[:SHOWN_CLASSES])}{more}): each class has a "
            f"score, an intercept plus the parts of {parts} at most, and the largest score decides."
        )

    def describe(self, fitted: Fitted) -> Sequence[dict[str, Any]]:
        """Tell for each term which class it speaks for and how sure it is."""
        model = fitted.model
        if self.n_outputs == 1:
            shares = list(np.column_stack([1.0 - fitted.mean_targets, 1.0 + fitted.mean_targets]) / 2.0)
        else:
            known = fitted.class_shares or {}
            nothing = np.zeros(len(self.labels))
            shares = [known.get(term, nothing) if isinstance(term, Rule) else nothing for term in model.terms]
        coefs = np.atleast_2d(model.coefs).T
        return [self.describe_term(*one) for one in zip(model.terms, coefs, shares, strict=True)]

    def tabulate(self, rows: Sequence[RankedTerm], model: RuleModel) -> RuleTable:
        """Return the table of the described terms of a model, with what they do to the probability of their class.

        A rule starts at the base rates, and so does a linear term at the mean of its attribute: see
        `RuleModel.follow_terms`. The first model files know no base rates.
        """
        if self.shares is None:
            return RuleTable(rows, self.about)
        told = []
        for row, coefs, moved in zip(
            rows, np.atleast_2d(model.coefs).T, np.swapaxes(model.follow_terms(self.shares), 0, 1), strict=True
        ):
            strongest, positive = find_class(coefs)
            first, last = (moved[:, strongest] if positive else 1.0 - moved[:, strongest]).tolist()
            told.append(replace(row, probability_from=first, probability_to=last))
        return RuleTable(told, self.about)

    def link_model(self, model: RuleModel, link: Link | None) -> RuleModel:
        """Return a model with its labels, and with what its scores say of them."""
        return replace(model, classes=self.labels, link=need_shares(link or self.plain))

    def describe_term(self, term: Term, coefs: FloatArray, shares: FloatArray) -> dict[str, Any]:
        """Tell for which class a term speaks most, and what it says about each.

        Parameters
        ----------
        term : Rule or Linear
        coefs : ndarray of shape (n_outputs,)
        shares : ndarray of shape (n_classes,)
            Of the training rows on which a rule holds.
        """
        labels = self.labels.tolist()
        strongest, positive = find_class(coefs)
        is_rule = isinstance(term, Rule)
        share = float(shares[strongest])
        base = None if self.shares is None else float(self.shares[strongest])
        return {
            "coefficient": float(coefs[0] if len(labels) == 2 else coefs[strongest]),
            "speaks_for": self.labels[strongest],
            "against": not positive,
            "confidence": (share if positive else 1.0 - share) if is_rule else None,
            "base_rate": (base if positive else 1.0 - base) if is_rule and base is not None else None,
            "coefficients": None if len(labels) == 2 else dict(zip(labels, coefs.tolist(), strict=True)),
            "confidences": dict(zip(labels, shares.tolist(), strict=True)) if is_rule else None,
        }

    def encode(self) -> dict[str, Any]:
        """Return the labels, the mode, the calibration and the shares of the classes, if these are known."""
        shares = {} if self.shares is None else {"class_shares": encode(self.shares)}
        labels = file_terms.encode_classes(self.labels)
        return {"classes": labels, "multiclass": self.mode, **self.encode_link(self.link), **shares}

    @classmethod
    def decode(cls, fields: Mapping[str, Value]) -> Self:
        """Return the classes of a model file."""
        labels = file_terms.decode_classes(fields["classes"])
        mode = fields["multiclass"].text(["ovr", "shared", "grouped"])
        shares = fields["class_shares"].maybe(lambda own: file_terms.decode_shares(own, len(labels)))
        n_outputs = 1 if len(labels) == 2 else len(labels)
        plain = decode_plain(fields["outputs"], n_outputs, mode)
        return cls(labels, shares, mode, decode_link(fields["calibration"], n_outputs), plain)

    def decode_link(self, value: Value) -> Link | None:
        """Return what turns scores into probabilities; None for the meaning of the loss."""
        return decode_link(value, self.n_outputs)

    def encode_link(self, link: Link | None) -> dict[str, Any]:
        """Return what turns scores into probabilities."""
        return {"calibration": encode(link)}

    def decode_term(self, term: Term, coefs: FloatArray, evidence: Value | None) -> dict[str, Any]:
        """Tell for which class a term speaks most, and what it says about each."""
        n_classes = len(self.labels)
        shares = np.zeros(n_classes) if evidence is None else file_terms.decode_shares(evidence, n_classes)
        return self.describe_term(term, coefs, shares)

    def decode_figures(self, value: Value) -> Figures:
        """Return accuracy, log loss and more on held-out rows."""
        return decode_class_figures(value, len(self.labels))


def find_class(coefs: FloatArray) -> tuple[int, bool]:
    """Return the place of the class that a term says most about, and whether it speaks for that class."""
    if len(coefs) == 1:
        return int(coefs[0] > 0), bool(coefs[0])
    strongest = int(np.argmax(np.abs(coefs) + (coefs > 0) * np.finfo(np.float64).tiny))
    return strongest, bool(coefs[strongest] > 0)
