"""Small problems of two classes with rows, plain and awkward."""

import numpy as np

from rulegrove.design.rows import Rows
from rulegrove.solvers import Problem


def build(kind, seed=0):
    """Dense terms, targets and weights."""
    rng = np.random.default_rng(seed)
    n_rows, n_rules, weights = 200, 20, None
    z = rng.normal(size=(n_rows, 4))
    rules = np.column_stack(
        [(z[:, k % 4] <= rng.normal()) & (z[:, (k + 1) % 4] > rng.normal()) for k in range(n_rules)]
    ).astype(float)
    y = np.where(z[:, 0] + z[:, 1] * z[:, 2] + 0.7 * rng.normal(size=n_rows) > 0.3, 1.0, -1.0)
    match kind:
        case "duplicated":
            rules = np.hstack([rules, rules[:, :5]])
        case "constant and zero columns":
            rules[:, 2], rules[:, 5] = 1.0, 0.0
        case "wide":
            rules = (rng.random((n_rows, 300)) < 0.3).astype(float)
        case "separable":
            y = np.where(rules[:, 0] > 0, 1.0, -1.0)
        case "weights":
            weights = rng.uniform(0.0, 3.0, n_rows) * (rng.random(n_rows) < 0.8)
        case "few of one class":
            y = np.where(np.arange(n_rows) % 40 == 0, 1.0, -1.0)
        case "no linear terms":
            z = z[:, :0]
    return rules, 0.4 * z[:, :2], y, np.ones(n_rows) if weights is None else weights


KINDS = [
    "random",
    "duplicated",
    "constant and zero columns",
    "wide",
    "separable",
    "weights",
    "few of one class",
    "no linear terms",
]


def make_problem(rules, linear, y, weights):
    return Problem.from_rows(Rows.from_dense(rules, linear, y, weights)), np.hstack([rules, linear])
