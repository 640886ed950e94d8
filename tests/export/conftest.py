"""Models whose predictions are not their scores, or are several numbers, for the tests of every export."""

import functools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from exported_models import LARGE, hard_rows, mixed_frame, of_terms
from rulegrove import RuleEnsembleRegressor
from rulegrove.estimators.model import exponentiate
from rulegrove.estimators.survival import RuleEnsembleSurvival

MADE = ("height", "depth", "a|b\n")  # what three numbers are called
MIXED = {"categorical_features": ["class", "grade"]}


@functools.cache
def fit_rates(loss):
    """A model of rates, hard rows for it, and an exposure of each."""
    rng = np.random.default_rng(3)
    frame, score = mixed_frame()
    exposures = rng.lognormal(size=len(frame))
    totals = rng.poisson(exposures * np.exp(0.5 * score - 1.0)).astype(np.float64)
    if loss != "poisson":
        totals = (totals + (loss == "gamma")) * rng.gamma(4.0, 0.25, size=len(totals))
    model = RuleEnsembleRegressor(loss=loss, **LARGE, **MIXED).fit(frame, totals, exposure=exposures)
    rows = hard_rows(model, frame)
    return model, rows, rng.lognormal(0.0, 3.0, size=len(rows))


@functools.cache
def fit_several(multioutput):
    """A model of three numbers, and hard rows for it."""
    frame, score = mixed_frame()
    rng = np.random.default_rng(3)
    sizes = np.column_stack([score, -2e6 * (score > 1.0), (frame["grade"] > 2) - 0.5 * score])
    Y = pd.DataFrame(sizes + rng.normal(size=sizes.shape) * [0.3, 1e6, 0.3], columns=MADE)
    model = RuleEnsembleRegressor(multioutput=multioutput, **LARGE, **MIXED).fit(frame, Y)
    return model, hard_rows(model, frame)


@pytest.fixture(params=["poisson", "gamma", "tweedie"])
def rates(request):
    """Every kind of a model of rates, with its rows and their exposures."""
    return fit_rates(request.param)


@functools.cache
def fit_quantiles():
    """A model of three quantiles, and hard rows for it."""
    frame, score = mixed_frame()
    model = RuleEnsembleRegressor(loss="quantile", quantile=[0.1, 0.5, 0.9], **LARGE, **MIXED).fit(frame, score)
    return model, hard_rows(model, frame)


@functools.cache
def fit_hazards():
    """A model of survival times, and hard rows for it."""
    frame, score = mixed_frame()
    times = np.random.default_rng(3).exponential(np.exp(-score))
    model = RuleEnsembleSurvival(selection="min", **LARGE, **MIXED).fit(frame, (np.minimum(times, 1.0), times < 1.0))
    return model, hard_rows(model, frame)


@pytest.fixture
def poisson():
    """A model of rates, its rows and their exposures."""
    return fit_rates("poisson")


@pytest.fixture
def shared():
    """A model of several numbers with one list for all of them, and its rows."""
    return fit_several("shared")


@pytest.fixture
def separate():
    """A model of several numbers with a list for each, and its rows."""
    return fit_several("separate")


@pytest.fixture
def quantiles():
    """A model of several quantiles, and its rows."""
    return fit_quantiles()


@pytest.fixture(params=["shared", "separate", "quantiles"])
def several(request):
    """Every kind of a model of several numbers, and its rows."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def of_rates():
    """What makes a model of these terms alone, of rates."""

    def make(features, terms, coefs, intercept=0.25):
        model = of_terms(features, terms, coefs, intercept)
        model.loss, model.model_ = "poisson", replace(model.model_, inverse=exponentiate)
        return model

    return make


@pytest.fixture
def hazards():
    """A model of survival times, whose predictions no exposure multiplies, and its rows."""
    return fit_hazards()
