"""Small problems of every kind that the solvers are tested on."""

import numpy as np

from rulegrove.solvers import Problem


def make_problem(X, y, weights=None):
    """Problem of dense columns."""
    weights = np.ones(len(y)) if weights is None else weights
    return Problem.from_moments(
        weights.sum(), weights @ X, (X.T * weights) @ X, X.T @ (weights * y), weights @ y, weights @ y**2
    )


def nested_rules(rng, n_rows, n_terms):
    """0/1 columns with the dependencies of tree rules: left + right = parent, left = 1 - right at the root."""
    z = rng.normal(size=(n_rows, 4))
    columns = []
    while len(columns) < n_terms:
        root = z[:, rng.integers(4)] <= rng.normal(scale=0.7)
        split = z[:, rng.integers(4)] <= rng.normal(scale=0.7)
        columns += [root, ~root, root & split, root & ~split]
    y = np.where(z[:, 0] + z[:, 1] * z[:, 2] + 0.5 * rng.normal(size=n_rows) > 0, 1.0, -1.0)
    return np.column_stack(columns[:n_terms]).astype(float), y


KINDS = [
    "random",
    "duplicated",
    "constant and zero columns",
    "wide",
    "as many terms as rows",
    "one informative",
    "weights",
    "tree rules",
    "mixed scales",
    "strongly correlated",
]


def build(kind, *, hardness=1.0):
    """80 rows and 12 terms if not said otherwise; a hardness below 1 brings scales and correlations nearer together."""
    rng = np.random.default_rng(42)
    X, y, weights = rng.normal(size=(80, 12)), rng.normal(size=80), None
    y = y + X @ np.r_[2.0, -1.0, 0.5, np.zeros(9)]
    match kind:
        case "duplicated":
            X = np.hstack([X, X, -X[:, :3]])
        case "constant and zero columns":
            X[:, 3], X[:, 7] = 0.1, 0.0
        case "wide":
            X = rng.normal(size=(20, 60))
            y = X[:, 0] - X[:, 5] + 0.1 * rng.normal(size=20)
        case "as many terms as rows":
            X, y = rng.normal(size=(30, 30)), rng.normal(size=30)
        case "one informative":
            y = 3.0 * X[:, 4] + 1e-3 * rng.normal(size=80)
        case "weights":
            weights = rng.uniform(0.1, 3.0, 80)
        case "tree rules":
            X, y = nested_rules(rng, 200, 60)
        case "mixed scales":
            X = X * np.logspace(-2 * hardness, 2 * hardness, 12)
        case "strongly correlated":
            X = X[:, :1] + 10 ** (-2 * hardness) * X
    return make_problem(X, y, weights)


def draw(seed, n_rows=40, n_terms=9):
    """Problem of correlated columns, small enough for kernels that are not compiled, and the generator behind it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_terms)) + rng.normal(size=(n_rows, 1))
    y = X @ np.r_[1.0, -2.0, 0.5, np.zeros(n_terms - 3)] + 0.5 * rng.normal(size=n_rows)
    X -= X.mean(axis=0)
    y -= y.mean()
    return Problem(
        X.T @ X / n_rows, X.T @ y / n_rows, float(y @ y / n_rows), np.zeros(n_terms), 0.0, float(n_rows)
    ), rng
