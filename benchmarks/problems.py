"""The data that the measurements run on."""

import functools
from dataclasses import dataclass

import numpy as np

from rulegrove import RuleEnsembleClassifier
from rulegrove.datasets import make_supernova_candidates
from rulegrove.design.bits import compile_rules
from rulegrove.design.rows import Rows
from rulegrove.rules.rule import Rule
from rulegrove.solvers import Problem


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


@dataclass(frozen=True)
class RuleProblem:
    """Rules of trees on candidates to train on, and on as many others to judge by.

    Attributes
    ----------
    rules : tuple of Rule
    columns : ndarray of shape (n_rows, n_rules), uint8
    y : ndarray of shape (n_rows,)
        -1 and +1.
    problem : Problem
        Of these rows, with statistics and rows.
    test : Rows
    """

    rules: tuple[Rule, ...]
    columns: np.ndarray
    y: np.ndarray
    problem: Problem
    test: Rows

    def errors(self, coefs: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
        """Share of the other candidates that each of several models puts on the wrong side."""
        counted = self.test.weights > 0
        scores = (self.test.scores(coef, a_0)[counted] for coef, a_0 in zip(coefs, intercepts, strict=True))
        return np.array([np.mean((score > 0) != (self.test.y[counted] > 0)) for score in scores])


@functools.cache
def rule_problem(n_rows: int, n_rules: int, seed: int = 0) -> RuleProblem:
    """Return the first `n_rules` distinct rules of trees grown on `n_rows` supernova candidates."""
    X, y = candidates(2 * n_rows, seed)
    model = RuleEnsembleClassifier(
        n_candidates=3 * n_rules // 2,
        mean_leaves=4.0,
        subsample=int(100 + 6 * n_rows**0.5),
        max_features=None,
        terms="rules",
        selection=1e-3,
        random_state=seed,
    )
    rules = model.fit(X[:n_rows], y[:n_rows]).candidates_.rules[:n_rules]
    program = compile_rules(rules, X.shape[1])
    columns = program.evaluate(X[:, program.used_features].T.astype(np.float64)).to_dense()
    target = np.where(y > 0, 1.0, -1.0)
    train, test = (
        Rows.from_dense(columns[part], np.empty((n_rows, 0)), target[part])
        for part in (slice(0, n_rows), slice(n_rows, None))
    )
    return RuleProblem(rules, columns[:n_rows], target[:n_rows], Problem.from_rows(train), test)
