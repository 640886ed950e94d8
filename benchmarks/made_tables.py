"""Tables drawn at random, to learn something of tables in general that is then judged on real ones."""

import numpy as np
from sklearn import datasets as others

from rulegrove import datasets

LEAST_ROWS, MOST_ROWS = 120, 4000
LEAST_FEATURES, MOST_FEATURES = 4, 60
LEAST_MEMBERS = 12  # of a class; rows of rarer ones are left out


def make_table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a table of any size, kind of attributes, kind of target and noise.

    Parameters
    ----------
    seed : int

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Numbers, or the names of two to six classes.
    """
    rng = np.random.default_rng(seed)
    bounds = ((LEAST_ROWS, MOST_ROWS), (LEAST_FEATURES, MOST_FEATURES))
    n_rows, n_features = (int(np.exp(rng.uniform(np.log(low), np.log(high)))) for low, high in bounds)
    X = draw_attributes(rng, n_rows, n_features)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    relevant = rng.permutation(n_features)[: rng.integers(2, 11)]
    n_classes, n_effects = int(rng.choice([0, 0, 2, 2, 2, 3, 4, 6])), int(rng.integers(2, 9))
    scores = np.column_stack(
        [
            np.sum([draw_effect(rng, standard, relevant) for _ in range(n_effects)], axis=0)
            for _ in range(max(1, n_classes - (n_classes == 2)))
        ]
    )
    scores *= np.exp(rng.uniform(np.log(0.7), np.log(4.0))) / scores.std()
    if n_classes == 0:
        return X, scores[:, 0] + rng.normal(size=n_rows)
    if n_classes == 2:
        scores = np.column_stack([scores[:, 0] - np.quantile(scores[:, 0], rng.uniform(0.3, 0.8)), np.zeros(n_rows)])
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    kept = np.bincount(y, minlength=2)[y] >= LEAST_MEMBERS
    return X[kept], y[kept].astype(str)


def draw_attributes(rng: np.random.Generator, n_rows: int, n_features: int) -> np.ndarray:
    """Return attributes that go together all alike, in blocks of five, or as the points of a curve; plain or not."""
    kind = rng.choice(["together", "blocks", "curves"])
    if kind == "together":
        rho = rng.uniform(0.0, 0.7)
        X = np.sqrt(rho) * rng.normal(size=(n_rows, 1)) + np.sqrt(1 - rho) * rng.normal(size=(n_rows, n_features))
    elif kind == "blocks":
        factors = rng.normal(size=(n_rows, -(-n_features // 5)))
        X = 0.8 * np.repeat(factors, 5, axis=1)[:, :n_features] + 0.6 * rng.normal(size=(n_rows, n_features))
    else:
        kernel = np.exp(-(np.linspace(-2, 2, 21) ** 2))
        X = np.array([np.convolve(own, kernel, "valid") for own in rng.normal(size=(n_rows, n_features + 20))])
    shape = rng.choice(["plain", "skewed", "steps"])
    if shape == "skewed":
        return np.asarray(np.exp(X / X.std()))
    return np.round(2 * X / X.std()) if shape == "steps" else X


def draw_effect(rng: np.random.Generator, X: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Return what a line, a rule or a wave of some of the relevant attributes, in standard units, adds to a score."""
    size = rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 1.5)
    features = rng.choice(relevant, rng.integers(1, min(3, len(relevant)) + 1), replace=False)
    kind = rng.choice(["line", "rule", "wave"])
    if kind == "line":
        return np.asarray(size * X[:, features[0]])
    if kind == "wave":
        return np.asarray(size * np.sin(1.5 * X[:, features].sum(axis=1)))
    sides, cuts = rng.choice([-1.0, 1.0], len(features)), rng.normal(scale=0.5, size=len(features))
    return np.asarray(2.0 * size * np.all(sides * (X[:, features] - cuts) > 0, axis=1))


def take_table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return some rows and attributes of one of scikit-learn's real tables, or of simulated supernova candidates.

    Digits are parted at random into two to five groups, or some of them are told apart; the progress of diabetes is a
    number, or whether it is above one.

    Parameters
    ----------
    seed : int

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Numbers, or the names of classes.
    """
    rng = np.random.default_rng(seed)
    name = rng.choice(["breast_cancer", "digits", "digits", "wine", "diabetes", "supernova"])
    if name == "supernova":
        X, y = datasets.make_supernova_candidates(1500, 1500, random_state=seed)
    else:
        X, y = getattr(others, f"load_{name}")(return_X_y=True)
    if name == "digits" and rng.random() < 0.5:
        y = rng.permutation(np.arange(10) % rng.integers(2, 6))[y]
    elif name == "digits":
        told = np.isin(y, rng.permutation(10)[: rng.integers(2, 5)])
        X, y = X[told], y[told]
    elif name == "diabetes" and rng.random() < 0.5:
        y = y > np.quantile(y, rng.uniform(0.3, 0.7))
    rows = rng.permutation(len(y))[: int(np.exp(rng.uniform(np.log(100), np.log(1 + len(y)))))]
    n_features = int(np.exp(rng.uniform(np.log(5), np.log(1 + X.shape[1]))))
    X, y = X[np.ix_(rows, rng.permutation(X.shape[1])[:n_features])], y[rows]
    return X[:, X.std(axis=0) > 0], y if y.dtype.kind == "f" else y.astype(str)
