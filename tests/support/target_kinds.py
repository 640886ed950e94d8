"""A small table with a target of every kind, and estimators for them that are quick to fit."""

import numpy as np

from rulegrove import RuleEnsembleRegressor, RuleEnsembleSurvival

N_ROWS = 160
PARAMETERS = {
    "poisson": {"loss": "poisson"},
    "gamma": {"loss": "gamma"},
    "tweedie": {"loss": "tweedie", "power": 1.3},
    "huber": {"loss": "huber"},
    "absolute": {"loss": "absolute"},
    "quantile": {"loss": "quantile", "quantile": 0.8},
    "quantiles": {"loss": "quantile", "quantile": [0.1, 0.5, 0.9]},
    "shared": {"multioutput": "shared"},
    "separate": {"multioutput": "separate"},
    "survival": {},
}
KINDS = list(PARAMETERS)
RATES = {"poisson": 1.0, "gamma": 2.0, "tweedie": 1.3}  # with their powers
NUMBERS = ("huber", "absolute", "quantile", "quantiles", "shared", "separate")  # whose unit is that of predictions


def make(kind, **changes):
    """Return an estimator, not yet fitted."""
    quick = {"n_candidates": 50, "cv": 2, "random_state": 0, "n_jobs": 1}
    estimator = RuleEnsembleSurvival if kind == "survival" else RuleEnsembleRegressor
    return estimator(**{**PARAMETERS[kind], **quick, **changes})


def draw(kind, n_rows=N_ROWS, seed=0):
    """Return attributes and a target that two of the three say something of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(3)
    rate = np.exp(0.9 * (X[:, 0] > 0) + 0.5 * X[:, 1])
    if kind == "poisson":
        return X, rng.poisson(rate).astype(float)
    if kind == "gamma":
        return X, rng.gamma(2.0, rate / 2.0) + 1e-3
    if kind == "tweedie":
        return X, rng.poisson(rate) * rng.gamma(2.0, 1.0, n_rows)
    if kind == "survival":
        time = (rng.exponential(1.0 / rate) + 1e-3).round(2) + 0.01  # to the hundredth, so that there are ties
        return X, np.column_stack([np.minimum(time, 1.0), time < 1.0])
    number = X[:, 0] + 1.5 * (X[:, 1] > 0) + 0.5 * rng.standard_t(3, n_rows)
    if kind in {"shared", "separate"}:
        return X, np.column_stack([number, 100.0 * (X[:, 1] > 0) + rng.normal(size=n_rows)])
    return X, number


def scores_of(model, X):
    """Return the scores that a model predicts by: logarithms of rates and risks, or the numbers."""
    predicted = model.predict(X)
    logs = isinstance(model, RuleEnsembleSurvival) or model.loss in RATES
    return np.log(predicted) if logs else predicted
