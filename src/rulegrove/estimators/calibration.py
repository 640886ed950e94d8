"""Probabilities from scores, fitted on scores of rows that were held out.

Compiled loops and scikit-learn are loaded by what is fitted with them: the records are also read by who lists rules.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.estimators.baseline import Baseline

_NEWTON_STEPS = 100


def expit(odds: FloatArray) -> FloatArray:
    """Return the probability of log odds."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-odds)))


def logit(probability: FloatArray | float) -> FloatArray:
    """Return the log odds of a probability."""
    with np.errstate(divide="ignore"):  # certainty is infinite odds
        return np.asarray(np.log(probability) - np.log1p(-np.asarray(probability)))


def softmax(scores: FloatArray) -> FloatArray:
    """Return the probabilities of classes in proportion to the exponentials of their scores, row by row."""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


class Curve(Protocol):
    """A rising function from scores to probabilities."""

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probability of each score."""

    def invert(self, probability: float) -> float:
        """Return the score of a probability: of several the one in the middle, of none the nearest."""


@dataclass(frozen=True)
class Sigmoid:
    """``1 / (1 + exp(-(slope * F + shift)))``.

    Examples
    --------
    >>> import numpy as np
    >>> Sigmoid(2.0, 0.0)(np.array([0.0]))
    array([0.5])
    """

    slope: float
    shift: float

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probability of each score."""
        return expit(self.slope * scores + self.shift)

    def invert(self, probability: float) -> float:
        """Return the score of a probability."""
        return float(_divide(logit(probability) - self.shift, self.slope))

    @classmethod
    def fit(cls, scores: FloatArray, positive: BoolArray, weights: FloatArray) -> "Sigmoid":
        """Fit by maximum likelihood to targets drawn a little inwards, so that separated classes have a slope.

        References
        ----------
        Platt (1999). "Probabilistic outputs for support vector machines", section 2.2 (the targets).
        """
        up, down = float(weights[positive].sum()), float(weights[~positive].sum())
        target = np.where(positive, (up + 1.0) / (up + 2.0), 1.0 / (down + 2.0))
        scale = float(np.sqrt(np.average((scores - scores.mean()) ** 2))) or 1.0
        design = np.column_stack([scores / scale, np.ones_like(scores)])
        coef = np.zeros(2)

        def cost(coef: FloatArray) -> float:
            odds = design @ coef
            return float(weights @ (np.logaddexp(0.0, odds) - target * odds))

        now = cost(coef)
        for _ in range(_NEWTON_STEPS):
            probability = expit(design @ coef)
            slope = design.T @ (weights * (target - probability))
            curvature = (design.T * (weights * np.maximum(probability * (1.0 - probability), 1e-12))) @ design
            step = np.linalg.solve(curvature + 1e-12 * np.trace(curvature) * np.eye(2), slope)
            while cost(coef + step) > now and np.abs(step).max() > 1e-12:
                step *= 0.5
            coef = coef + step
            now = min(now, cost(coef))
            if np.abs(step).max() < 1e-9:
                break
        return cls(float(coef[0]) / scale, float(coef[1]))


@dataclass(frozen=True)
class Steps:
    """A rising curve through the points of an isotonic fit, straight between them and level beyond."""

    scores: FloatArray
    probabilities: FloatArray

    __repr__ = short_repr

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probability of each score."""
        return np.interp(scores, self.scores, self.probabilities)

    def invert(self, probability: float) -> float:
        """Return the score of a probability: the middle of a level part, or an end if all scores have another one."""
        last = np.interp(probability, self.probabilities, self.scores)  # of equal abscissas NumPy takes the last
        first = -np.interp(-probability, -self.probabilities[::-1], -self.scores[::-1])
        return float(first + last) / 2.0

    @classmethod
    def fit(cls, scores: FloatArray, positive: BoolArray, weights: FloatArray) -> "Steps":
        """Fit by weighted least squares among the rising functions."""
        from sklearn.isotonic import IsotonicRegression

        fitted = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        fitted.fit(scores, positive.astype(np.float64), sample_weight=weights)
        return cls(np.asarray(fitted.X_thresholds_, np.float64), np.asarray(fitted.y_thresholds_, np.float64))


@dataclass(frozen=True)
class Mean:
    """``(F + 1) / 2``, held within 0 and 1: a score that estimates ``2 p - 1``.

    Examples
    --------
    >>> import numpy as np
    >>> Mean()(np.array([-2.0, 0.5]))
    array([0.  , 0.75])
    """

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probability of each score."""
        return np.asarray((np.clip(scores, -1.0, 1.0) + 1.0) / 2.0)

    def invert(self, probability: float) -> float:
        """Return the score of a probability."""
        return 2.0 * probability - 1.0


LOG_SLOPES = (-5.0, 7.0)  # within which a temperature has its slope
SLOPE_ACCURACY = 1e-10

METHODS: dict[str, type[Sigmoid] | type[Steps]] = {"sigmoid": Sigmoid, "isotonic": Steps}


@dataclass(frozen=True)
class Temperature:
    """Softmax of the scores times one slope; with two classes ``1 / (1 + exp(-slope * F))``.

    It keeps the order of the classes: the most likely class is the one with the largest score.

    Examples
    --------
    >>> import numpy as np
    >>> Temperature(2.0).probabilities(np.array([[0.5, 0.5, -9.0]])).round(3)
    array([[0.5, 0.5, 0. ]])
    """

    slope: float

    __repr__ = short_repr

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Return the probability of each class, an ndarray of shape (n_rows, n_classes)."""
        if scores.ndim == 1:
            positive = expit(self.slope * scores)
            return np.column_stack([1.0 - positive, positive])
        return softmax(self.slope * scores)

    def find_scores(self, shares: FloatArray) -> FloatArray:
        """Return the score of each output at which the classes have these probabilities."""
        with np.errstate(divide="ignore"):  # a class that no row has is infinitely unlikely
            return _divide(logit(shares[1:]) if len(shares) == 2 else np.log(shares), self.slope)

    @classmethod
    def fit(cls, scores: FloatArray, codes: IntArray, weights: FloatArray) -> "Temperature":
        """Fit by maximum likelihood to targets drawn a little inwards, so that separated classes have a slope.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        codes : ndarray of shape (n_rows,)
        weights : ndarray of shape (n_rows,)
        """
        from rulegrove._likelihood_kernels import pull_slope

        columns = np.column_stack([np.zeros_like(scores), scores]) if scores.ndim == 1 else scores
        n_classes = columns.shape[1]
        share = n_classes / (float(weights.sum()) + n_classes)
        own = columns[np.arange(len(codes)), codes]
        goal = (1.0 - share) * own + share * columns.mean(axis=1)
        most = columns.max(axis=1)
        below, lacking = columns - most[:, None], float(weights @ (most - goal))

        def pull(log_slope: float) -> tuple[float, float]:
            """Return how fast the cost, which is convex, rises with the slope, and how fast that rises with its log."""
            slope = float(np.exp(log_slope))
            first, spread = pull_slope(below, weights, slope)
            return first + lacking, slope * spread

        (low, high), place = LOG_SLOPES, 0.0
        while high - low > SLOPE_ACCURACY:  # Newton's steps, but halves of what is left where one leads out of it
            rise, bend = pull(place)
            low, high = (low, place) if rise > 0.0 else (place, high)
            ahead = place - rise / bend if bend > 0.0 else np.inf
            if abs(ahead - place) < SLOPE_ACCURACY:
                break
            place = ahead if low < ahead < high else 0.5 * (low + high)
        return cls(float(np.exp(place)))


@dataclass(frozen=True)
class Curves:
    """One curve for the second of two classes, or one for each of more classes, divided by their sum."""

    curves: tuple[Curve, ...]

    __repr__ = short_repr

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Return the probability of each class, an ndarray of shape (n_rows, n_classes)."""
        if scores.ndim == 1:
            positive = self.curves[0](scores)
            return np.column_stack([1.0 - positive, positive])
        return normalise(
            np.column_stack([curve(own) for curve, own in zip(self.curves, scores.T, strict=True)]), scores
        )

    def find_scores(self, shares: FloatArray) -> FloatArray:
        """Return the score of each output at which the classes have these probabilities."""
        own = shares[-len(self.curves) :].tolist()
        return np.array([curve.invert(share) for curve, share in zip(self.curves, own, strict=True)])


def _divide(odds: FloatArray, slope: float) -> FloatArray:
    """Return odds over a slope; a level curve has them at every score, so 0 will do."""
    return np.asarray(odds / slope if slope else np.zeros_like(odds))


ClassLink = Temperature | Curves
Link = ClassLink | Baseline  # the last one of hazards, which are no probabilities


def need_shares(link: Link | None) -> ClassLink | None:
    """Return a link to probabilities; classes have no other."""
    assert not isinstance(link, Baseline)
    return link


def find_link(loss: str, n_outputs: int, *, together: bool) -> Link:
    """Return what scores mean by themselves.

    Parameters
    ----------
    loss : str
        Name of the loss that the scores come from.
    n_outputs : int
    together : bool
        Whether the scores of all classes are those of one multinomial fit.

    Examples
    --------
    >>> find_link("logistic", 1, together=False).probabilities(np.array([0.0]))
    array([[0.5, 0.5]])
    """
    if together:
        return Temperature(1.0)
    return Curves((Sigmoid(1.0, 0.0) if loss == "logistic" else Mean(),) * n_outputs)


def normalise(probability: FloatArray, scores: FloatArray) -> FloatArray:
    """Divide by the sum over the classes; where that is 0 the largest score takes all."""
    nothing = probability.sum(axis=1) == 0
    probability[nothing, np.argmax(scores[nothing], axis=1)] = 1.0
    return np.asarray(probability / probability.sum(axis=1, keepdims=True))


def fit_calibration(method: str, scores: FloatArray, codes: IntArray, weights: FloatArray) -> Temperature | Curves:
    """Fit what turns scores into probabilities.

    Parameters
    ----------
    method : {"temperature", "sigmoid", "isotonic"}
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
    codes : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    """
    if method == "temperature":
        return Temperature.fit(scores, codes, weights)
    return Curves(tuple(fit_curves(method, scores, codes, weights)))


def fit_curves(method: str, scores: FloatArray, codes: IntArray, weights: FloatArray) -> list[Curve]:
    """Fit one curve for the second of two classes, or one for each of more.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
    codes : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    """
    if scores.ndim == 1:
        return [METHODS[method].fit(scores, codes == 1, weights)]
    return [METHODS[method].fit(own, codes == output, weights) for output, own in enumerate(scores.T)]
