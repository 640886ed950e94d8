"""Probabilities from scores, fitted on scores of rows that were held out."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from rulegrove._typing import BoolArray, FloatArray, IntArray

_NEWTON_STEPS = 100


class Curve(Protocol):
    """A rising function from scores to probabilities."""

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probability of each score."""


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
        return np.asarray(expit(self.slope * scores + self.shift))

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

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probability of each score."""
        return np.interp(scores, self.scores, self.probabilities)

    @classmethod
    def fit(cls, scores: FloatArray, positive: BoolArray, weights: FloatArray) -> "Steps":
        """Fit by weighted least squares among the rising functions."""
        fitted = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        fitted.fit(scores, positive.astype(np.float64), sample_weight=weights)
        return cls(np.asarray(fitted.X_thresholds_, np.float64), np.asarray(fitted.y_thresholds_, np.float64))


METHODS: dict[str, type[Sigmoid] | type[Steps]] = {"sigmoid": Sigmoid, "isotonic": Steps}


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
