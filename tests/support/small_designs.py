"""Rules and linear terms of small tables, with statistics by fold."""

from dataclasses import replace

import numpy as np

from rulegrove.columns import Columns, Feature
from rulegrove.design.bits import compile_rules
from rulegrove.design.linear import fit_linear_terms
from rulegrove.design.rows import collect_rows
from rulegrove.design.statistics import collect_statistics
from rulegrove.design.terms import Terms
from rulegrove.estimators._design import Design, as_problems
from rulegrove.rules.rule import Condition, Rule
from rulegrove.solvers import Parameter, Path, Status


def make_design(seed, *, n_rows=150, n_rules=8, n_folds=3, weights=None):
    """Statistics of a small table, and the rows behind them as a dense matrix."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    rules = tuple(
        Rule((Condition(k % 3, upper=float(rng.normal(0, 0.7))), *([Condition(3, lower=0.0)] * (k % 2))))
        for k in range(n_rules)
    )
    X = np.column_stack([X, rng.normal(size=n_rows)])
    y = 2.0 * (X[:, 0] > 0) + X[:, 1] + 0.5 * rng.normal(size=n_rows)
    linear = fit_linear_terms(X.T, None, np.zeros(4, dtype=np.int64))
    folds = rng.permutation(n_rows) % n_folds
    columns = Columns([Feature(f"x{k}") for k in range(4)], X)
    statistics = collect_statistics(columns, compile_rules(rules, 4), linear, y[:, None], folds, weights=weights)
    design = Design(Terms(rules, linear, ((),) * n_rules), statistics, statistics.moments())
    dense = np.column_stack([*(rule.holds(X.T) for rule in rules), linear.evaluate(X.T[linear.features])])
    return design, dense.astype(np.float64), y, folds


def make_classes(seed, *, n_rows=240, n_rules=20, n_classes=3, n_folds=3, rows=False, noise=0.5):
    """One design of a target of -1 and +1 for each class, with or without rows, and the dense matrix and codes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    score = (X > [-0.3, 0.0, 0.2, 0.5]).sum(axis=1) - 2.0 * (X[:, 0] > 0.5) * (X[:, 1] > 0.0)
    score += noise * rng.normal(size=n_rows)
    codes = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    rng = np.random.default_rng([seed, n_rules])
    rules = tuple(
        Rule((Condition(k % 4, upper=float(rng.normal(0, 0.6))), *([Condition((k + 1) % 4, lower=0.0)] * (k % 3 == 0))))
        for k in range(n_rules)
    )
    linear = fit_linear_terms(X.T, None, np.zeros(4, dtype=np.int64))
    columns, program = Columns([Feature(f"x{k}") for k in range(4)], X), compile_rules(rules, 4)
    targets, folds = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0), np.arange(n_rows) % n_folds
    statistics = collect_statistics(columns, program, linear, targets, folds)
    design = Design(Terms(rules, linear, ((),) * n_rules), statistics, statistics.moments())
    if rows:
        collected, ordered, starts = collect_rows(columns, program, linear, targets, folds)
        design = replace(design, rows=collected, targets=ordered, starts=starts)
    dense = np.column_stack([*(rule.holds(X.T) for rule in rules), linear.evaluate(X.T[linear.features])])
    return design, dense.astype(np.float64), codes, folds


def first_problem(moments):
    """Return the problem of the first output."""
    return as_problems(moments)[0]


def folds_of(design):
    """Return the folds of the first output."""
    return [design.fold(fold)[0] for fold in range(design.statistics.n_folds)]


def path_of(penalties, coefs, intercepts):
    """Dress coefficients as a path."""
    n_points = len(penalties)
    return Path(
        Parameter("penalty", np.asarray(penalties, dtype=np.float64)),
        np.asarray(penalties, dtype=np.float64),
        np.asarray(coefs, dtype=np.float64),
        np.asarray(intercepts, dtype=np.float64),
        np.zeros(n_points),
        np.ones(n_points, dtype=np.int64),
        (Status.CONVERGED,) * n_points,
        0.0,
        np.ones(n_points),
        np.ones(n_points),
        1.0,
    )
