"""Small fitted models of every kind, and brute force over their rows."""

import functools

import numpy as np
import pandas as pd

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor

KINDS = ["regression", "two classes", "three classes", "rules only", "linear only", "one term", "no terms"]
ATTRIBUTES = ["size", "age", "colour", "flag", "fixed"]


def make_table(n_rows=90, seed=0):
    """Numbers with and without missing values, categories with missing ones, two values, and a constant."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows).round(2),
            "age": rng.uniform(20.0, 80.0, n_rows).round(),
            "colour": rng.choice(["red", "green", "blue"], n_rows),
            "flag": rng.integers(0, 2, n_rows).astype(float),
            "fixed": 1.0,
        }
    )
    table.loc[rng.random(n_rows) < 0.15, "size"] = np.nan
    table.loc[rng.random(n_rows) < 0.1, "colour"] = None
    noise = 0.3 * rng.normal(size=n_rows)
    size, old = table["size"].fillna(-1.0), table["age"] > 45.0
    score = size * table["flag"] + 2.0 * (old & (table["colour"] == "red")) + 2.0 * (old & (size > 0)) * table["flag"]
    return table, (score - score.mean() + noise).to_numpy(), rng.uniform(0.0, 2.0, n_rows)


@functools.cache
def fit(kind, n_resamples=0):
    """Return a fitted model, its table, its target and weights for the rows."""
    table, y, weights = make_table()
    parameters = {
        "n_candidates": 150,
        "mean_leaves": 8.0,
        "honest_cv": False,
        "selection": "min",
        "random_state": 0,
        "n_jobs": 1,
        "n_resamples": n_resamples,
        "terms": {"rules only": "rules", "linear only": "linear"}.get(kind, "both"),
        "max_terms": {"one term": 1, "no terms": 0}.get(kind, 25),
    }
    if kind == "two classes":
        y = np.where(y > 0, "yes", "no")
        model = RuleEnsembleClassifier(**parameters)
    elif kind == "three classes":
        y = np.array(["low", "middle", "up"])[np.searchsorted([-0.7, 0.7], y)]
        model = RuleEnsembleClassifier(**parameters)
    else:
        model = RuleEnsembleRegressor(**parameters)
    return model.fit(table.drop(columns="fixed").assign(fixed=np.arange(len(y)) % 2), y), table, y, weights


def score(model, table):
    """Scores with one column an output."""
    scores = model.predict(table) if not hasattr(model, "classes_") else model.decision_function(table)
    return scores.reshape(len(table), -1)


def brute_dependence(model, table, held, weights=None):
    """Mean score, one an output, with some attributes held at one value in every row."""
    return np.average(score(model, table.assign(**held)), axis=0, weights=weights)


def brute_function(model, table, names, weights=None):
    """Partial dependence on some attributes at every row's own values, less its mean; one column an output."""
    n_rows = len(table)
    inner = table.iloc[np.tile(np.arange(n_rows), n_rows)].reset_index(drop=True)
    outer = table.iloc[np.repeat(np.arange(n_rows), n_rows)].reset_index(drop=True)
    inner[list(names)] = outer[list(names)]
    values = score(model, inner).reshape(n_rows, n_rows, -1)
    means = np.average(values, axis=1, weights=weights)
    return means - np.average(means, axis=0, weights=weights)
