"""The data that the measurements run on."""

import numpy as np

from rulegrove.datasets import make_supernova_candidates


def candidates(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return supernova candidates, half of them positive: 39 float32 attributes and labels -1 and +1."""
    data = make_supernova_candidates(n_rows // 2, n_rows - n_rows // 2, random_state=seed)
    order = np.random.default_rng(seed).permutation(n_rows)
    return data.X[order].astype(np.float32), data.y[order]


def many_candidates(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return a large table: candidates drawn with replacement, each value moved by about a hundredth of itself."""
    X, y = candidates(20_000, seed)
    rng = np.random.default_rng(seed)
    table = np.empty((n_rows, X.shape[1]), dtype=np.float32)
    labels = np.empty(n_rows, dtype=y.dtype)
    for start in range(0, n_rows, 50_000):
        rows = rng.integers(0, len(y), min(50_000, n_rows - start))
        noise = rng.standard_normal((rows.size, X.shape[1]), dtype=np.float32)
        table[start : start + rows.size] = X[rows] * (1 + np.float32(0.01) * noise)
        labels[start : start + rows.size] = y[rows]
    return table, labels


def rule_columns(n_rules: int, n_rows: int, seed: int = 0) -> np.ndarray:
    """Return 0/1 columns of density about 0.2: products of one to three half-lines of random attributes."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 20), dtype=np.float32)
    columns = np.ones((n_rows, n_rules), dtype=np.uint8)
    for column in columns.T:
        for feature in rng.choice(20, rng.integers(1, 4), replace=False):
            threshold = rng.uniform(0.35, 0.65)
            column &= X[:, feature] <= threshold if rng.random() < 0.5 else X[:, feature] > threshold
    return columns
