"""What makes the figures of rates, quantiles and several numbers: predictions compared with what came true."""

from dataclasses import dataclass, replace

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.estimators.figures import DIGITS, N_BINS, Reliability, judge_numbers
from rulegrove.estimators.loss_figures import LevelFigures, RateFigures, SeveralFigures
from rulegrove.losses import Quantile, Tweedie

ROUNDING = 1e-12  # of sums of losses, in units of a loss: where less is there to explain, rates are one


@dataclass(frozen=True)
class RateAgreement:
    """How predicted rates agree with those that came true, likewise.

    Attributes
    ----------
    power : float
        Of the loss.
    weight : float
    total : float
        Weighted sum of the rates.
    least, loss : float
        Weighted sums of the least loss that each row can have, and of that of the predictions.

    Examples
    --------
    >>> one, other = (RateAgreement.of(1.0, np.array([y]), np.array([2.0]), np.ones(1)) for y in (1.0, 3.0))
    >>> one.merge(other).score
    0.0
    """

    power: float
    weight: float
    total: float
    least: float
    loss: float

    @classmethod
    def of(cls, power: float, observed: FloatArray, predicted: FloatArray, weights: FloatArray) -> "RateAgreement":
        """Return the agreement on some rows."""
        loss = Tweedie(power)
        scores = np.log(np.maximum(predicted, np.finfo(np.float64).tiny))
        least = -loss.conjugate(observed, np.zeros_like(observed))
        total, own = float(weights @ observed), float(weights @ loss.value(observed, scores))
        return cls(power, float(weights.sum()), total, float(weights @ least), own)

    def merge(self, other: "RateAgreement") -> "RateAgreement":
        """Return the agreement on both sets of rows."""
        if not self.weight or not other.weight:
            return self if other.weight == 0.0 else other
        names = ("weight", "total", "least", "loss")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def score(self) -> float:
        """The share of the deviance of the mean rate that is explained; of rates that are one, whether they are met."""
        mean, loss = np.array([self.total / self.weight]), Tweedie(self.power)
        base = self.weight * float(loss.value(mean, np.log(mean))[0]) if self.total else self.least
        rounding = ROUNDING * (abs(base) + abs(self.least) + self.weight * float(mean[0]) ** (2.0 - self.power))
        return _share_explained(self.loss - self.least, base - self.least, rounding)


def _share_explained(loss: float, base: float, rounding: float) -> float:
    """Return the share of a loss that is explained; where there is none, 1 if none is left and 0 otherwise."""
    return 1.0 - loss / base if base > rounding else float(loss <= rounding)


def judge_rates(
    power: float,
    observed: FloatArray,
    scores: FloatArray,
    weights: FloatArray | None,
    *,
    base: float,
    honest: bool = True,
) -> RateFigures:
    """Compare predicted rates with those that came true.

    Parameters
    ----------
    power : float
        Of the loss.
    observed, scores : ndarray of shape (n_rows,)
        Rates, and logarithms of those that were predicted.
    weights : ndarray of shape (n_rows,), optional
    base : float
        The rate of a model without terms.
    honest : bool
        Of the rows, as in `RateFigures`.
    """
    loss = Tweedie(power)
    with np.errstate(over="ignore"):
        predicted = np.exp(scores)
    deviance = 2.0 * float(np.average(loss.excess(observed, scores), weights=weights))
    base_deviance = rounding = 0.0
    if base > 0.0:  # otherwise all rates are 0
        level = np.full_like(scores, np.log(base))
        base_deviance = 2.0 * float(np.average(loss.excess(observed, level), weights=weights))
        rounding = ROUNDING * float(np.average(loss.curvature(observed, level), weights=weights))
    return RateFigures(
        n_rows=len(observed),
        honest=honest,
        weighted=weights is not None,
        power=power,
        d2=_share_explained(deviance, base_deviance, rounding),
        deviance=deviance,
        base_deviance=base_deviance,
        mean=float(np.average(observed, weights=weights)),
        predicted_mean=float(np.average(predicted, weights=weights)),
        reliability=divide_evenly(predicted, observed, weights),
    )


def deal_evenly(predicted: FloatArray, weights: FloatArray, n_parts: int = N_BINS) -> IntArray:
    """Return the part of each row, of about equal weight; rows of one prediction are in one part.

    Parameters
    ----------
    predicted, weights : ndarray of shape (n_rows,)
    n_parts : int
        There may be fewer, where many rows have one prediction.

    Returns
    -------
    ndarray of shape (n_rows,)
        From 0 on, without gaps.

    Examples
    --------
    >>> deal_evenly(np.array([5.0, 1.0, 1.0, 1.0, 7.0, 6.0]), np.ones(6), 2)
    array([1, 0, 0, 0, 1, 1])
    """
    values, own = np.unique(predicted, return_inverse=True)
    mass = np.bincount(own, weights, len(values))
    middles = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    places = np.minimum((n_parts * middles).astype(np.int64), n_parts - 1)
    return np.asarray(np.unique(places, return_inverse=True)[1][own], dtype=np.int64)


def divide_evenly(predicted: FloatArray, observed: FloatArray, weights: FloatArray | None) -> Reliability:
    """Put rows into tenths of their weight, by what was predicted, and tell what came true in each."""
    own = np.ones(len(predicted)) if weights is None else weights
    predicted, observed, own = (part[own > 0.0] for part in (predicted, observed, own))
    parts = deal_evenly(predicted, own)
    total, said, came = (np.bincount(parts, part) for part in (own, own * predicted, own * observed))
    means = [[float(f"{value:.{DIGITS}g}") for value in (part / total).tolist()] for part in (said, came)]
    return Reliability(np.array(means[0]), np.array(means[1]), np.bincount(parts))


def judge_levels(
    levels: tuple[float, ...],
    observed: FloatArray,
    predicted: FloatArray,
    weights: FloatArray | None,
    *,
    base: FloatArray,
    honest: bool = True,
) -> LevelFigures:
    """Compare predicted quantiles with what came true.

    Parameters
    ----------
    levels : tuple of float
    observed : ndarray of shape (n_rows,)
    predicted : ndarray of shape (n_rows, n_levels)
    weights : ndarray of shape (n_rows,), optional
    base : ndarray of shape (n_levels,)
        Quantiles of the training.
    honest : bool
        Of the rows, as in `LevelFigures`.
    """

    def lose(said: FloatArray) -> float:
        own = [Quantile(level).value(observed, part) for level, part in zip(levels, said.T, strict=True)]
        return float(np.average(np.sum(own, axis=0), weights=weights))

    pinball, base_pinball = lose(predicted), lose(np.broadcast_to(base, predicted.shape))
    return LevelFigures(
        n_rows=len(observed),
        honest=honest,
        weighted=weights is not None,
        d2=1.0 - pinball / base_pinball if base_pinball > 0.0 else float(pinball == 0.0),
        pinball=pinball,
        base_pinball=base_pinball,
        levels=np.array(levels),
        below=np.average(observed[:, None] <= predicted, axis=0, weights=weights),
    )


def judge_several(
    names: tuple[str, ...],
    observed: FloatArray,
    predicted: FloatArray,
    weights: FloatArray | None = None,
    *,
    honest: bool = True,
) -> SeveralFigures:
    """Compare several predicted numbers with those that came true.

    Parameters
    ----------
    names : tuple of str
    observed, predicted : ndarray of shape (n_rows, n_numbers)
    weights : ndarray of shape (n_rows,), optional
    honest : bool
        Of the rows, as in `SeveralFigures`.
    """
    return SeveralFigures(
        n_rows=len(observed),
        honest=honest,
        weighted=weights is not None,
        names=names,
        each=tuple(
            judge_numbers(own, said, weights, honest=honest) for own, said in zip(observed.T, predicted.T, strict=True)
        ),
    )
