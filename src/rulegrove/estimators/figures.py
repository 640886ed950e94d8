"""How well a model does on rows: figures beside those of a guess by the base rate, without the rows themselves."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.estimators._units import Units, shift

N_BINS = 10  # of probabilities, even ones
MAX_POINTS = 200  # of a ROC
MAX_ALL_POINTS = 2000  # of those of all classes together, but at least
MIN_POINTS = 20  # for each
DIGITS = 6  # of curves, which are only looked at
UNKNOWN = "\N{EN DASH}"  # a figure that rows of one kind do not have

# Of figures that are not honest.
DOUBT = "The folds share their rules, which may have seen the held-out rows, so these figures are a little optimistic."


@dataclass(frozen=True, eq=False)
class Roc:
    """The ROC of one class: the share of its rows found, and of other rows mistaken for it, at every threshold.

    Attributes
    ----------
    false_positives, true_positives : ndarray of shape (n_points,)
        Both rise from 0 to 1; some points are left out. Empty if all rows are of this class, or none.
    area : float
        Area under the complete curve; NaN if it is empty.
    """

    false_positives: FloatArray = field(repr=False)
    true_positives: FloatArray = field(repr=False)
    area: float

    def thin(self) -> "Roc":
        """Return the curve with few of its points, even in number between them; one of few points as it is."""
        n_points = len(self.false_positives)
        kept = np.unique(np.linspace(0, n_points - 1, min(n_points, MIN_POINTS)).round().astype(np.int64))
        return replace(self, false_positives=self.false_positives[kept], true_positives=self.true_positives[kept])


@dataclass(frozen=True, eq=False)
class Reliability:
    """The reliability of one class: how often it came true among rows with about the same probability.

    Attributes
    ----------
    predicted, observed : ndarray of shape (n_filled,)
        Mean probability and share of the class, in each of ten equal bins that has rows.
    sizes : ndarray of shape (n_filled,)
        Rows in each.
    """

    predicted: FloatArray
    observed: FloatArray
    sizes: IntArray

    __repr__ = short_repr


@dataclass(frozen=True)
class Agreement:
    """How predictions agree with targets, as sums over rows that those of other rows are added to.

    Attributes
    ----------
    weight : float
    mean : float
        Of a target that is a number.
    spread : float
        What a guess that is the same for all rows loses: the weighted sum of squared differences from the mean, or the
        weight of all rows.
    loss : float
        What the predictions lose: the weighted sum of squared errors, or the weight of the wrong classes.

    Examples
    --------
    >>> Agreement(3.0, 0.0, 3.0, 1.0).merge(Agreement(1.0, 0.0, 1.0, 0.0)).score
    0.75
    """

    weight: float = 0.0
    mean: float = 0.0
    spread: float = 0.0
    loss: float = 0.0

    def merge(self, other: "Agreement") -> "Agreement":
        """Return the agreement on both sets of rows (Chan, Golub, LeVeque 1983, equation 2.1b)."""
        if not self.weight or not other.weight:
            return self if other.weight == 0.0 else other
        weight = self.weight + other.weight
        step = other.mean - self.mean
        mean = self.mean + step * other.weight / weight
        spread = self.spread + other.spread + step**2 * self.weight * other.weight / weight
        return Agreement(weight, mean, spread, self.loss + other.loss)

    @property
    def score(self) -> float:
        """The share of the right classes, or R squared."""
        return 1.0 - self.loss / self.spread if self.spread else float(self.loss == 0.0)


@dataclass(frozen=True)
class Agreements:
    """How predictions of several numbers agree with them, likewise.

    Attributes
    ----------
    each : tuple of Agreement

    Examples
    --------
    >>> one = Agreements((Agreement(1.0, 1.0, 0.0, 0.5), Agreement(1.0, 2.0, 0.0, 0.0)))
    >>> other = Agreements((Agreement(1.0, 3.0, 0.0, 0.5), Agreement(1.0, 4.0, 0.0, 0.0)))
    >>> one.merge(other).score
    0.75
    """

    each: tuple[Agreement, ...]

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return self.each[0].weight

    def merge(self, other: "Agreements | Agreement") -> "Agreements":
        """Return the agreement on both sets of rows; one `Agreement` is that of no rows."""
        if isinstance(other, Agreement):
            return self
        return Agreements(tuple(one.merge(two) for one, two in zip(self.each, other.each, strict=True)))

    @property
    def score(self) -> float:
        """The mean of the R squared of each."""
        return sum(one.score for one in self.each) / len(self.each)


@dataclass(frozen=True, eq=False)
class Figures(ABC):
    """How well a model does on some rows. Rows count by their weights in the fit.

    Attributes
    ----------
    n_rows : int
    honest : bool
        Whether no rule was grown with the rows that it is judged on.
    weighted : bool
        Whether rows differ in weight.
    """

    n_rows: int
    honest: bool
    weighted: bool

    @property
    @abstractmethod
    def table(self) -> dict[str, str]:
        """The figures by name, with those of a guess in brackets."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The figures and those of a guess, in words."""

    @property
    @abstractmethod
    def headlines(self) -> dict[str, str]:
        """What the figures to see first are of, with the figures."""

    @property
    def by_class(self) -> "ClassFigures | None":
        """The figures, if they have counts and curves of each class; None for other targets."""
        return None

    def thin(self) -> Self:
        """Return the figures with curves of few points."""
        return self


@dataclass(frozen=True, eq=False)
class ClassFigures(Figures):
    """How well classes and their probabilities are predicted on some rows.

    Rows count by their weights in the fit (sample weights times class weights), except in `counts` and sizes. For
    held-out rows, the probabilities come from the scores of models that were fitted without them. If scores are
    calibrated, the curve was fitted to the same scores. For a temperature, which is one number, this hardly matters;
    isotonic curves make the log loss and the reliability look somewhat too good.

    Attributes
    ----------
    n_rows : int
    honest : bool
        Whether no rule was grown with the rows that it is judged on.
    weighted : bool
        Whether rows differ in weight.
    accuracy, base_accuracy : float
        Share of correct predictions, and that of always predicting the most frequent class.
    auc : float
        Area under the ROC of the second class, or with more than two classes the mean of each against the rest. 0.5 is
        guessing. NaN if all rows are of one class.
    log_loss, base_log_loss : float
        Mean of minus the logarithm of the probability of the true class, and that of predicting the shares of the
        classes.
    shares : ndarray of shape (n_classes,)
        Share of each class among the training rows: the base rates.
    counts : ndarray of shape (n_classes, n_classes)
        Rows of each true class (first) that were predicted as each class.
    rocs : tuple of Roc
        One for the second of two classes, or one for each.
    reliabilities : tuple of Reliability
        One for the second of two classes, or one for each.

    Examples
    --------
    >>> import numpy as np
    >>> codes, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.4, 0.8])
    >>> figures = judge_classes(codes, scores > 0.5, np.column_stack([1 - scores, scores]))
    >>> figures.accuracy, figures.auc, figures.base_accuracy
    (0.5, 0.75, 0.5)
    >>> figures.counts.tolist()
    [[1, 1], [1, 1]]
    """

    accuracy: float
    base_accuracy: float
    auc: float
    log_loss: float
    base_log_loss: float
    shares: FloatArray = field(repr=False)
    counts: IntArray = field(repr=False)
    rocs: tuple[Roc, ...] = field(repr=False)
    reliabilities: tuple[Reliability, ...] = field(repr=False)

    __repr__ = short_repr

    @property
    def table(self) -> dict[str, str]:
        """The figures by name, with those of the base rate in brackets."""
        shares = f"{show_share(self.accuracy)} ({show_share(self.base_accuracy)})"
        return {
            "Accuracy (base rate)": shares.replace(" %", "\N{NO-BREAK SPACE}%"),
            "AUC": UNKNOWN if np.isnan(self.auc) else f"{self.auc:.3f}",
            "Log loss (base rate)": f"{self.log_loss:.3f} ({self.base_log_loss:.3f})",
        }

    @property
    def words(self) -> str:
        """The figures and those of the base rate, in words."""
        area = "" if np.isnan(self.auc) else f"AUC {self.auc:.3f}, "
        return (
            f"accuracy {self.accuracy:.1%} (base rate {self.base_accuracy:.1%}), {area}"
            f"log loss {self.log_loss:.3f} (base rate {self.base_log_loss:.3f})"
        )

    @property
    def headlines(self) -> dict[str, str]:
        """What the figures to see first are of, with the figures."""
        return {
            f"accuracy held out; base rate {show_share(self.base_accuracy)}": show_share(self.accuracy),
            **({} if np.isnan(self.auc) else {"AUC held out; guessing: 0.5": f"{self.auc:.3f}"}),
            f"log loss held out; base rate {self.base_log_loss:.3f}": f"{self.log_loss:.3f}",
        }

    @property
    def by_class(self) -> "ClassFigures":
        """These figures."""
        return self

    def thin(self) -> Self:
        """Return the figures with curves of few points."""
        return replace(self, rocs=tuple(roc.thin() for roc in self.rocs))


@dataclass(frozen=True, eq=False)
class NumberFigures(Figures):
    """How well numbers are predicted on some rows. Rows count by their weights in the fit.

    Attributes
    ----------
    n_rows : int
    honest : bool
        Whether no rule was grown with the rows that it is judged on.
    weighted : bool
        Whether rows differ in weight.
    r2 : float
        One minus the mean squared error divided by the variance of the target; NaN if that is 0.
    rmse : float
        Root of the mean squared error.
    mean_absolute : float
        Mean of the absolute errors.
    deviation : float
        Standard deviation of the target, which is about the `rmse` of always predicting the mean.

    Examples
    --------
    >>> import numpy as np
    >>> figures = judge_numbers(np.array([1.0, 3.0]), np.array([1.5, 3.5]))
    >>> figures.r2, figures.rmse, figures.deviation
    (0.75, 0.5, 1.0)
    """

    r2: float
    rmse: float
    mean_absolute: float
    deviation: float

    __repr__ = short_repr

    @property
    def table(self) -> dict[str, str]:
        """The figures by name, with the standard deviation of the target in brackets."""
        errors = f"{show_number(self.rmse)} ({show_number(self.deviation)})"
        return {
            "R²": UNKNOWN if np.isnan(self.r2) else f"{self.r2:.3f}",
            "Root mean squared error (standard deviation of the target)": errors,
            "Mean absolute error": show_number(self.mean_absolute),
        }

    @property
    def words(self) -> str:
        """The figures and the standard deviation of the target, in words."""
        share = "" if np.isnan(self.r2) else f"R² {self.r2:.3f}, "
        error, spread = show_number(self.rmse), show_number(self.deviation)
        return f"{share}root mean squared error {error} (standard deviation of the target {spread})"

    @property
    def headlines(self) -> dict[str, str]:
        """What the figures to see first are of, with the figures."""
        spread = show_number(self.deviation)
        return {
            **({} if np.isnan(self.r2) else {"R² held out": f"{self.r2:.3f}"}),
            f"root mean squared error held out; the target's standard deviation is {spread}": show_number(self.rmse),
        }


def show_number(value: float) -> str:
    """Return a number with four digits and separated thousands.

    Examples
    --------
    >>> show_number(206_855.4), show_number(0.0012345), show_number(-3.0)
    ('206,900', '0.001234', '-3')
    """
    return f"{float(f'{value:.4g}'):,.12g}"


def show_share(share: float) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> show_share(0.7618)
    '76.2 %'
    """
    return f"{100 * share:.1f} %"


def tell_held_out(figures: Figures) -> str:
    """Say how well a model did on held-out rows, and how far that can be believed.

    Examples
    --------
    >>> print(tell_held_out(NumberFigures(90, False, False, 0.75, 0.5, 0.5, 1.0)))
    On 90 held-out rows: R² 0.750, root mean squared error 0.5 (standard deviation of the target 1). The folds share \
their rules, which may have seen the held-out rows, so these figures are a little optimistic.
    """
    return f"On {figures.n_rows:,} held-out rows: {figures.words}.{'' if figures.honest else f' {DOUBT}'}"


def judge_numbers(
    observed: FloatArray, predicted: FloatArray, weights: FloatArray | None = None, *, honest: bool = True
) -> NumberFigures:
    """Compare predicted numbers with those that came true.

    Parameters
    ----------
    observed, predicted : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,), optional
    honest : bool
        Of the rows, as in `NumberFigures`.
    """
    exponent = Units.of_target(float(np.abs(observed).max(initial=0.0))).target  # squares must be numbers, too
    observed, predicted = shift(observed, -exponent), shift(predicted, -exponent)
    errors = observed - predicted
    squared = float(np.average(errors**2, weights=weights))
    variance = float(np.average((observed - np.average(observed, weights=weights)) ** 2, weights=weights))
    if np.ptp(observed) == 0.0:  # the mean of equal numbers is rounded
        variance = 0.0
    return NumberFigures(
        n_rows=len(observed),
        honest=honest,
        weighted=weights is not None,
        r2=1.0 - squared / variance if variance > 0 else np.nan,
        rmse=shift(float(np.sqrt(squared)), exponent),
        mean_absolute=shift(float(np.average(np.abs(errors), weights=weights)), exponent),
        deviation=shift(float(np.sqrt(variance)), exponent),
    )


def judge_classes(
    codes: IntArray,
    predicted: IntArray,
    probabilities: FloatArray,
    weights: FloatArray | None = None,
    *,
    shares: FloatArray | None = None,
    honest: bool = True,
) -> ClassFigures:
    """Compare predicted classes and their probabilities with what came true.

    Parameters
    ----------
    codes, predicted : ndarray of shape (n_rows,)
        The true class and the predicted one, by their places.
    probabilities : ndarray of shape (n_rows, n_classes)
    weights : ndarray of shape (n_rows,), optional
    shares : ndarray of shape (n_classes,), optional
        Of the classes in the training; by default those of the rows.
    honest : bool
        Of the rows, as in `ClassFigures`.
    """
    n_rows, n_classes = probabilities.shape
    if shares is None:
        shares = share_of_classes(codes, weights, n_classes)
    counts = np.bincount(codes * n_classes + predicted, minlength=n_classes**2).reshape(n_classes, n_classes)
    outputs = [1] if n_classes == 2 else range(n_classes)
    limit = min(MAX_POINTS, max(MAX_ALL_POINTS // len(outputs), MIN_POINTS))
    rocs = tuple(_follow_roc(probabilities[:, place], codes == place, weights, limit) for place in outputs)
    areas = [roc.area for roc in rocs if not np.isnan(roc.area)]
    return ClassFigures(
        n_rows=n_rows,
        honest=honest,
        weighted=weights is not None,
        accuracy=float(np.average(codes == predicted, weights=weights)),
        base_accuracy=float(np.average(codes == np.argmax(shares), weights=weights)),
        auc=float(np.mean(areas)) if areas else np.nan,
        log_loss=_log_loss(probabilities[np.arange(n_rows), codes], weights),
        base_log_loss=_log_loss(shares[codes], weights),
        shares=shares,
        counts=counts,
        rocs=rocs,
        reliabilities=tuple(_bin(probabilities[:, place], codes == place, weights) for place in outputs),
    )


def share_of_classes(codes: IntArray, weights: FloatArray | None, n_classes: int) -> FloatArray:
    """Return the share of each class among rows."""
    totals = np.bincount(codes, weights, n_classes).astype(np.float64)
    return np.asarray(totals / totals.sum())


def _log_loss(probabilities: FloatArray, weights: FloatArray | None) -> float:
    """Return the mean of minus the logarithm of probabilities, none below the smallest step from 1."""
    return -float(np.average(np.log(np.maximum(probabilities, np.finfo(np.float64).eps)), weights=weights))


def _follow_roc(probabilities: FloatArray, positive: BoolArray, weights: FloatArray | None, limit: int) -> Roc:
    """Return the ROC of a class, thinned to points that are even along it."""
    own = np.ones(len(positive)) if weights is None else weights
    order = np.argsort(-probabilities, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(probabilities[order])), len(order) - 1)  # rows that tie pass together
    wrong, right = (np.append(0.0, np.cumsum((own * kind)[order])[ends]) for kind in (~positive, positive))
    if not (wrong[-1] > 0.0 and right[-1] > 0.0):
        return Roc(np.empty(0), np.empty(0), np.nan)
    wrong, right = wrong / wrong[-1], right / right[-1]
    along = wrong + right
    kept = np.unique(np.searchsorted(along, np.linspace(0.0, along[-1], limit)).clip(max=len(along) - 1))
    area = 0.5 * float(np.diff(wrong) @ (right[1:] + right[:-1]))
    return Roc(wrong[kept].round(DIGITS), right[kept].round(DIGITS), area)


def _bin(probabilities: FloatArray, came_true: BoolArray, weights: FloatArray | None) -> Reliability:
    """Put rows into even bins of their probability; of those that are filled tell how often it came true."""
    places = np.searchsorted(np.linspace(0.0, 1.0, N_BINS + 1)[1:-1], probabilities)
    own = np.ones(len(places)) if weights is None else weights
    sizes = np.bincount(places, minlength=N_BINS)
    filled = sizes > 0
    total, sums, hits = (
        np.bincount(places, values, N_BINS)[filled] for values in (own, own * probabilities, own * came_true)
    )
    return Reliability((sums / total).round(DIGITS), (hits / total).round(DIGITS), sizes[filled])
