"""The waveform problem: three classes of noisy waves."""

import numpy as np

from rulegrove.datasets.checks import check_count
from rulegrove.datasets.record import Dataset

_N_POINTS = 21
_PEAKS = (7, 15, 11)
_MIXED = ((0, 1), (0, 2), (1, 2))  # the two waves of each class


def make_waveform(n_rows: int = 5000, random_state: int | np.random.Generator | None = None) -> Dataset:
    """Draw noisy mixtures of two of three triangular waves; the class is which two.

    With the waves ``h_k(i) = max(6 - |i - peak_k|, 0)``, ``i = 1 .. 21``, peaks 7, 15 and 11, and ``u`` uniform on
    0, 0.001, ..., 1, a row of a class that mixes waves ``a`` and ``b`` is ``u h_a + (1 - u) h_b`` plus standard normal
    noise, rounded to two decimals as in the UCI file. The Bayes error is about 14 %.

    Parameters
    ----------
    n_rows : int, default=5000
        Number of rows.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or source of the randomness; None draws a new sample at every call.

    Returns
    -------
    Dataset
        21 features ``x01`` .. ``x21``, labels 0, 1, 2.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone, *Classification and Regression Trees*, 1984, p. 49.

    Examples
    --------
    >>> from rulegrove.datasets import make_waveform
    >>> make_waveform(300, random_state=0)
    Dataset('waveform', 300 rows, 21 features, 3 classes)
    """
    n_rows = check_count("n_rows", n_rows, minimum=1)
    rng = np.random.default_rng(random_state)
    points = np.arange(1, _N_POINTS + 1)
    waves = np.maximum(6.0 - np.abs(points - np.array(_PEAKS)[:, None]), 0.0)
    y = rng.integers(0, len(_MIXED), size=n_rows)
    first, second = np.array(_MIXED)[y].T
    share = rng.integers(0, 1000, size=(n_rows, 1), endpoint=True) / 1000.0
    X = share * waves[first] + (1.0 - share) * waves[second] + rng.standard_normal((n_rows, _N_POINTS))
    return Dataset(
        name="waveform",
        description="Noisy mixtures of two of three triangular waves; which two.",
        X=np.round(X, 2),
        y=y,
        feature_names=tuple(f"x{i:02d}" for i in points),
    )
