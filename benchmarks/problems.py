"""The data that the measurements run on."""

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.frames import Columns, pack
from benchmarks.judging import count_classes
from benchmarks.known_rules import Conditions, make_known_rules
from benchmarks.real_tables import TABLES, load_frame
from rulegrove import RuleEnsembleClassifier, datasets
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


@dataclass(frozen=True)
class Table:
    """A table to learn from.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Numbers, and the places of categories.
    y : ndarray of shape (n_rows,)
        Classes as whole numbers from 0, or floats.
    rules : tuple
        Those that made it, where they are known.
    columns : tuple
        Names and categories, where methods are to be given a DataFrame.
    """

    X: np.ndarray
    y: np.ndarray
    rules: tuple[Conditions, ...] = ()
    columns: Columns = ()

    @property
    def n_classes(self) -> int:
        """Return the number of classes; 0 where the target is a number."""
        return count_classes(self.y)

    def save(self, path: Path) -> None:
        """Write what any environment with NumPy can read."""
        np.savez(path, X=self.X, y=self.y, rules=json.dumps(self.rules), columns=json.dumps(self.columns))


@dataclass(frozen=True)
class Bench:
    """A problem of the public benchmark.

    Attributes
    ----------
    group : {"sets", "tables", "stability", "rows", "attributes", "rules", "classes", "RuleFit", "H2O"}
        "sets", "tables" and "stability" are judged by 2-fold cross-validation, one thread a fit. The others grow one
        thing and are timed on all threads, one after the other.
    name : str
    load : callable
        Returns the table.
    value : float
        Of the thing that grows.
    n_train : int
        The first rows to fit to, the others to judge by; 0 for cross-validation.
    candidates : int, optional
        Rules to choose from; None for the default of each method.
    limit : float
        Seconds that a cell may take.
    of_numbers : bool
        Whether the target is a number.
    """

    group: str
    name: str
    load: Callable[[], Table]
    value: float = 0.0
    n_train: int = 0
    candidates: int | None = None
    limit: float = 1800.0
    of_numbers: bool = False


JUDGED_ROWS = 20_000  # of a timed problem, to tell the error by


def _bundled(name: str) -> Table:
    """One of the ten sets; its few missing values are set to medians, for most peers take none."""
    X, y = datasets.load(name, return_X_y=True)
    values = np.asarray(X, dtype=np.float64)
    filled = np.where(np.isnan(values), np.nanmedian(values, axis=0), values)
    return Table(filled, np.unique(y, return_inverse=True)[1])


def _known(n_rows: int, n_features: int = 20, correlation: float = 0.0, seed: int = 0, weight: float = 3.0) -> Table:
    made = make_known_rules(n_rows, n_features, correlation=correlation, weight=weight, seed=seed)
    return Table(made.X, made.y, made.rules)


def _supernova(n_rows: int) -> Table:
    X, y = candidates(n_rows) if n_rows <= 50_000 else many_candidates(n_rows)
    return Table(X, (y > 0).astype(np.int64))


def _real(name: str) -> Table:
    X, y = load_frame(TABLES[name])
    values, columns = pack(X)
    target = y.to_numpy(np.float64) if TABLES[name].kind == "numbers" else np.unique(y, return_inverse=True)[1]
    return Table(values, target, columns=columns)


def clusters(n_rows: int, n_classes: int, n_features: int = 20, seed: int = 0) -> Table:
    """Return three overlapping normal clouds for each class."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=1.2, size=(n_classes, 3, n_features))
    y = rng.integers(n_classes, size=n_rows)
    return Table(centres[y, rng.integers(3, size=n_rows)] + rng.standard_normal((n_rows, n_features)), y)


SETS = (
    *(Bench("sets", name, functools.partial(_bundled, name)) for name in datasets.names()),
    Bench("sets", "supernova", functools.partial(_supernova, 4000)),
    Bench("sets", "rules", functools.partial(_known, 2000, seed=3)),
    Bench("sets", "rules, noisy", functools.partial(_known, 2000, weight=1.5, seed=4)),
    Bench("sets", "rules, correlated", functools.partial(_known, 2000, 40, correlation=0.5, seed=5)),
)


def _growing(group: str, value: int, load: Callable[[], Table], n_train: int, limit: float = 60.0) -> Bench:
    return Bench(group, f"{value:,} {group}", load, value, n_train, limit=limit)


PROBLEMS: tuple[Bench, ...] = (
    *SETS,
    *(
        Bench("tables", name, functools.partial(_real, name), limit=7200.0, of_numbers=table.kind == "numbers")
        for name, table in TABLES.items()
    ),
    *(Bench("stability", one.name, one.load) for one in SETS if one.name in ("pima", "vehicle", "rules")),
    *(
        _growing("rows", n, functools.partial(_supernova, n + JUDGED_ROWS), n)
        for n in (1000, 10_000, 20_000, 100_000, 1_000_000)
    ),
    *(_growing("attributes", p, functools.partial(_known, 10_000, p), 5000) for p in (10, 80, 640)),
    *(
        Bench("rules", f"{m:,} rules", functools.partial(_supernova, 10_000), m, 5000, m, 60.0)
        for m in (300, 1000, 3000, 10_000)
    ),
    *(_growing("classes", k, functools.partial(clusters, 10_000, k), 5000) for k in (2, 8, 32)),
    *(
        Bench(
            "RuleFit", f"{n:,} rows, 600 candidates", functools.partial(_supernova, n + JUDGED_ROWS), n, n, 600, 1500.0
        )
        for n in (5000, 20_000)
    ),
    Bench("H2O", "200,000 rows x 20", functools.partial(_known, 200_000 + JUDGED_ROWS, 20), 200_000, 200_000),
)
