"""Print a hash of the predictions of many fits, to see whether a change of the code changed any of them.

    python tools/hash_predictions.py > after.txt

Run it in two checkouts and compare the lines. Numbers are rounded to ten digits after the point.
"""

import hashlib
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.datasets import load_diabetes, make_classification, make_friedman1, make_regression

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, datasets, engines

SETS = ("breast-w", "glass", "ion", "iris", "pendigits", "phoneme", "pima", "sonar", "vehicle", "waveform")
REGRESSIONS = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "friedman": lambda: make_friedman1(1500, noise=1.0, random_state=0),
    "linear": lambda: make_regression(1200, 10, noise=5.0, random_state=0),
}
MANY = 70_000  # rows of a table that is learned from a sample


def hash_array(values: np.ndarray) -> str:
    """Return a short hash of numbers."""
    return hashlib.sha256(np.ascontiguousarray(np.round(values, 10) + 0.0).tobytes()).hexdigest()[:12]


def fit_all(n_candidates: int = 300) -> Iterator[tuple[str, np.ndarray, int]]:
    """Yield the name of a fit, its predictions and its number of terms."""
    shared = {"n_candidates": n_candidates, "random_state": 0}
    for name in SETS:
        X, y = datasets.load(name, return_X_y=True)
        train = np.arange(len(y)) % 2 == 0
        for more in ({}, {"max_terms": 8}):
            model = RuleEnsembleClassifier(**shared, **more).fit(X[train], y[train])
            yield f"{name} {more or ''}".strip(), model.predict_proba(X), len(model.rules_)
    for name, load in REGRESSIONS.items():
        X, y = load()
        model = RuleEnsembleRegressor(**shared).fit(X[::2], y[::2])
        yield name, model.predict(X), len(model.rules_)
    X, y = make_classification(MANY + 5000, 12, n_informative=6, random_state=0)
    table = pd.DataFrame(X, columns=[f"c{k}" for k in range(12)])
    model = RuleEnsembleClassifier(**shared).fit(table[:MANY], y[:MANY])
    yield "many rows", model.predict_proba(table), len(model.rules_)
    model = RuleEnsembleRegressor(**shared).fit(table[:MANY], X[:MANY] @ np.arange(12.0))
    yield "many rows, a number", model.predict(table), len(model.rules_)
    source = pa.Table.from_pandas(table.assign(label=y))
    model = engines.fit(RuleEnsembleClassifier(**shared), source, "label")
    yield "many rows, Arrow", model.predict_proba(table), len(model.rules_)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name, predictions, n_terms in fit_all():
        print(f"{name}: {hash_array(predictions)}, {n_terms} terms", flush=True)
