"""Two classes by a rule with some noise, and a small classifier for them."""

import numpy as np

from rulegrove import RuleEnsembleClassifier


def make_data(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, ((X[:, 0] > 0) & (X[:, 1] > -0.5)) ^ (rng.random(n_rows) < 0.05)


def make(**changes):
    return RuleEnsembleClassifier(**{"n_candidates": 50, "cv": 3, "random_state": 0, "n_jobs": 1, **changes})
