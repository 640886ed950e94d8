"""How predictions of rates, amounts, quantiles and risks are judged; needs NumPy alone."""

import numpy as np

LEAST = 1e-9  # of a predicted rate, as a share of the mean of the training rows


def explained(
    kind: str,
    level: float,
    train: tuple[np.ndarray, np.ndarray],
    test: tuple[np.ndarray, np.ndarray],
    predicted: np.ndarray,
) -> float:
    """Return D²: the share of the deviance of test rows that is explained, against what training rows say alone.

    Parameters
    ----------
    kind : {"poisson", "gamma", "tweedie", "quantile"}
    level : float
        Of a quantile; the power of Tweedie's deviance.
    train, test : (y, exposure)
        Totals and for how much each row stands. Rates are judged, with the exposure as their weight.
    predicted : ndarray of shape (n_test,)
        Rates.

    Returns
    -------
    float
        1 for perfect predictions, 0 for those of the mean rate (the quantile) of the training rows.
    """
    (y_train, exposure_train), (y, exposure) = train, test
    if kind == "quantile":
        alone = float(np.quantile(y_train, level))
        return 1.0 - float(np.mean(pinball(y, predicted, level)) / np.mean(pinball(y, alone, level)))
    mean = float(np.sum(y_train) / np.sum(exposure_train))
    power = {"poisson": 1.0, "gamma": 2.0}.get(kind, level)
    rates, given = y / exposure, np.maximum(predicted, LEAST * mean)
    loss, alone = (
        float(np.average(deviance(rates, one, power), weights=exposure)) for one in (given, np.full(len(y), mean))
    )
    return 1.0 - loss / alone


def deviance(y: np.ndarray, mean: np.ndarray, power: float) -> np.ndarray:
    """Return the unit deviances of Poisson (power 1), gamma (2) or Tweedie (between them)."""
    if power == 1.0:
        logs = np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0) / mean), 0.0)
        return np.asarray(2.0 * (logs - y + mean))
    if power == 2.0:
        return np.asarray(2.0 * (np.log(mean / y) + y / mean - 1.0))
    own = y ** (2.0 - power) / ((1.0 - power) * (2.0 - power))
    return np.asarray(2.0 * (own - y * mean ** (1.0 - power) / (1.0 - power) + mean ** (2.0 - power) / (2.0 - power)))


def pinball(y: np.ndarray, predicted: np.ndarray | float, level: float) -> np.ndarray:
    """Return the losses of a quantile of some level."""
    over = y - predicted
    return np.asarray(np.maximum(level * over, (level - 1.0) * over))


def concordance(time: np.ndarray, event: np.ndarray, risk: np.ndarray) -> float:
    """Return Harrell's concordance: the share of comparable pairs whose earlier event has the higher risk.

    A pair is comparable if one row has its event at a time that the other is known to have outlived, which a row that
    is censored at that time has as well. Equal risks count one half.
    """
    rows = np.flatnonzero(event)
    later = (time > time[rows, None]) | ((time == time[rows, None]) & ~event.astype(bool))
    higher, equal = risk[rows, None] > risk, risk[rows, None] == risk
    return float((np.sum(later & higher) + np.sum(later & equal) / 2) / np.sum(later))
