"""The rows that are trained on and those that are tested on: the paper's two protocols."""

import functools
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from rulegrove._typing import AnyArray, FloatArray
from rulegrove.datasets import Dataset, load, load_autoscan, make_supernova_candidates
from rulegrove.exceptions import InvalidInputError
from rulegrove.study.config import Config


class Split(NamedTuple):
    """Training and test rows."""

    X: FloatArray
    y: AnyArray
    X_test: FloatArray
    y_test: AnyArray


def two_fold(name: str, repetition: int, fold: int) -> Split:
    """Return one fold of a two-fold cross-validation of one of the ten sets, classes in equal proportion.

    The repetition is the seed of the shuffle.
    """
    X, y = load(name, return_X_y=True)
    folds = StratifiedKFold(2, shuffle=True, random_state=repetition).split(X, y)
    train, test = list(folds)[fold]
    return Split(X[train], y[train], X[test], y[test])


def candidates(config: Config) -> Dataset:
    """Return the table of supernova candidates: the real one if its file is given, else the simulation."""
    return _load_candidates(config.autoscan, config.n_positive, config.n_negative, config.seed)


@functools.lru_cache(maxsize=1)
def _load_candidates(autoscan: str | None, n_positive: int, n_negative: int, seed: int) -> Dataset:
    """Read or simulate the table, once a process."""
    if autoscan is not None:
        return load_autoscan(autoscan)
    return make_supernova_candidates(n_positive, n_negative, random_state=seed)


def check_candidates(config: Config) -> None:
    """Refuse a file that is no table of candidates, or one with too few of them."""
    if config.autoscan is None:
        return
    try:
        labels = candidates(config).y
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{config.autoscan!r} cannot be read as a CSV file of candidates: {error}.") from error
    fewest = int(min((labels == 1).sum(), (labels == -1).sum()))
    if fewest <= config.n_training:
        raise InvalidInputError(
            f"{config.autoscan!r} must have more than {config.n_training:,} candidates of either class, which the "
            f"protocol trains on; the smaller class has {fewest:,}."
        )


def split_candidates(config: Config, repetition: int) -> Split:
    """Draw `n_training` rows of each class for training; all other rows are for testing."""
    X, y = candidates(config)
    rng = np.random.default_rng(config.seed + repetition)
    drawn = [rng.permutation(np.flatnonzero(y == label))[: config.n_training] for label in (-1, 1)]
    train = rng.permutation(np.concatenate(drawn))
    test = np.setdiff1d(np.arange(y.size), train)
    return Split(X[train], y[train], X[test], y[test])


def error_rates(y: AnyArray, predicted: AnyArray) -> dict[str, float]:
    """Return the paper's three rates in percent, and the mean of the last two.

    ``error``: misclassified rows over all rows; ``false positive``: negative rows called positive over all negative
    rows; ``false negative``: positive rows called negative over all positive rows (section 4). The balanced error is
    blind to how many of each class are tested.

    Examples
    --------
    >>> error_rates(np.array([1, 1, -1, -1]), np.array([1, -1, -1, -1]))
    {'error': 25.0, 'false positive': 0.0, 'false negative': 50.0, 'balanced error': 25.0}
    """
    wrong = predicted != y
    positive, negative = 100.0 * float(wrong[y < 0].mean()), 100.0 * float(wrong[y > 0].mean())
    return {
        "error": 100.0 * float(wrong.mean()),
        "false positive": positive,
        "false negative": negative,
        "balanced error": 0.5 * (positive + negative),
    }
