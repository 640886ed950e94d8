"""A cell on tables with categories, empty cells, classes and numbers, by the methods that need no other environment."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.adapters import read_condition
from benchmarks.cell import measure_all, split
from benchmarks.frames import pack
from benchmarks.methods import BOOSTING, DEFAULT, FOREST, METHODS
from benchmarks.problems import Table
from threadpoolctl import threadpool_limits

from rulegrove.rules.rule import Condition


def make_table(n_classes):
    """Return a table whose target a category, a number and an empty cell decide, with little noise."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["blue", "green", "red"], 200)
    size = np.where(rng.random(200) < 0.2, np.nan, rng.normal(size=200))
    score = 2.0 * (colour == "red") + np.where(np.isnan(size), -1.0, size > 0) + rng.normal(scale=0.2, size=200)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes)) if n_classes else score
    X, columns = pack(pd.DataFrame({"colour": pd.Categorical(colour), "size": size}))
    return Table(X, y, columns=columns)


def request_for(path):
    known = {"n_train": 0, "candidates": None, "stability": []}
    return {"problem": str(path), "repetition": 0, "seed": 0, "n_threads": 1, **known}


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize(
    ("name", "smaller"),
    [(DEFAULT, {"n_candidates": 60}), (FOREST, {"n_estimators": 20}), (BOOSTING, {"max_iter": 20})],
)
def test_a_table_with_categories_and_empty_cells(name, smaller, n_classes, tmp_path, monkeypatch):
    path = tmp_path / "problem.npz"
    make_table(n_classes).save(path)
    monkeypatch.setattr("benchmarks.cell.LATENCY_CALLS", 1)
    monkeypatch.setattr(METHODS[name], "parameters", {**METHODS[name].parameters, **smaller})
    with threadpool_limits(1):  # threads of OpenMP that wait for a busy core burn it meanwhile
        lines = measure_all(METHODS[name], request_for(path))
    assert len(lines) == 2
    for line in lines:
        assert line["error"] < (50 if n_classes else 60)  # the most frequent class or the mean has 50 and more
        assert ("log_loss" in line) == bool(n_classes)
        assert line["terms"] > 0


def test_folds_have_classes_in_equal_proportion_and_numbers_by_chance():
    y = np.repeat([0, 1], [80, 20])
    for target in (y, y.astype(np.float64)):
        parts = split(target, {"n_train": 0, "repetition": 0})
        assert [np.sort(np.concatenate(part)).tolist() for part in parts] == [list(range(100))] * 2
    assert [target.sum() for target in (y[test] for _, test in split(y, {"n_train": 0, "repetition": 0}))] == [10, 10]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Condition(3, lower=1.0, upper=2.0), ((3, ">", 1.0), (3, "<=", 2.0))),
        (Condition(0, categories=(0, 2)), ((0, "in", (0, 2)),)),
        (Condition(1), ((1, "<=", float("inf")),)),  # is known
        (Condition(1, lower=float("inf"), missing=True), ((1, ">", float("inf")),)),  # is missing
    ],
)
def test_conditions_of_ours_are_read(condition, expected):
    assert read_condition(condition) == expected
