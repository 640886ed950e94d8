"""Small fitted models of every kind of target but plain numbers and classes, with their rows."""

import functools

import numpy as np
import pandas as pd

from rulegrove import RuleEnsembleRegressor, RuleEnsembleSurvival

RATES = ["poisson", "gamma", "tweedie"]
NUMBERS = ["quantile", "quantiles", "absolute", "huber", "several", "separate"]
KINDS = [*RATES, *NUMBERS, "survival"]
NAMES = ("wait", "litres_$ used")  # of several numbers, of units that differ a thousandfold


def make_rows(kind, n_rows=400, seed=0):
    """A table, a target, and what else `fit` is given."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows).astype(float),
            "size": rng.normal(size=n_rows).round(2),
            "colour": rng.choice(["red", "green", "blue"], n_rows),
        }
    )
    score = ((X["age"] < 40) + 0.8 * ((X["size"] > 0) & (X["colour"] == "red")) - 0.5 * (X["size"] > 1)).to_numpy()
    X.loc[::9, "size"] = np.nan
    if kind in ("poisson", "tweedie"):
        exposure = rng.uniform(0.2, 2.0, n_rows)
        y = rng.poisson(exposure * np.exp(score)).astype(float)
        if kind == "tweedie":
            y = np.array([rng.gamma(2.0, 1.0, int(count)).sum() for count in y])
        return X, y, {"exposure": exposure}
    if kind == "gamma":
        return X, rng.gamma(2.0, 100.0 * np.exp(score)), {}
    number = 10.0 * score + rng.normal(size=n_rows) * (2.0 + 2.0 * (X["age"] < 40).to_numpy())
    if kind in ("several", "separate"):
        more = 1000.0 * (X["size"].fillna(0.0) > 0.3) + 300.0 * rng.normal(size=n_rows)
        return X, pd.DataFrame({NAMES[0]: number, NAMES[1]: more}), {}
    if kind == "survival":
        lived, watched = rng.exponential(4.0 * np.exp(-3.0 * score)), rng.uniform(0.0, 8.0, n_rows)
        entry = rng.uniform(0.0, 1.0, n_rows) * (rng.random(n_rows) < 0.4)
        return (
            X,
            pd.DataFrame({"entry": entry, "time": entry + np.minimum(lived, watched), "event": lived <= watched}),
            {},
        )
    return X, number, {}


def make_model(kind, **parameters):
    """Return a model that is not fitted."""
    settings = {"n_candidates": 100, "honest_cv": False, "cv": 3, "random_state": 0, "n_jobs": 1, **parameters}
    if kind == "survival":
        return RuleEnsembleSurvival(**settings)
    own = {
        "quantile": {"loss": "quantile", "quantile": 0.9},
        "quantiles": {"loss": "quantile", "quantile": [0.1, 0.5, 0.9]},
        "several": {},
        "separate": {"multioutput": "separate"},
    }
    return RuleEnsembleRegressor(**settings, **own.get(kind, {"loss": kind}))


@functools.cache
def fit(kind, **parameters):
    """Return a fitted model, its table, its target and what else it was fitted with."""
    X, y, known = make_rows(kind)
    return make_model(kind, **parameters).fit(X, y, **known), X, y, known
