"""Models whose predictions are not their scores, or are several numbers, for the tests of every export."""

import copy
import functools
from dataclasses import replace

import numpy as np
import pytest

from exported_models import LARGE, fitted, hard_rows, mixed_frame, of_terms
from rulegrove import RuleEnsembleRegressor
from rulegrove.estimators.model import exponentiate
from rulegrove.estimators.rule_table import RuleTable
from rulegrove.estimators.survival import RuleEnsembleSurvival

MADE = ("height", "depth", "a|b\n")  # what several numbers are called
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


def make_several(model):
    """The model with three outputs, of which one has but every other term, and a table of what they are called."""
    fitted_model, coefs = model.model_, model.model_.coefs
    own = np.stack([coefs, -0.3 * coefs[::-1], np.where(np.arange(len(coefs)) % 2, coefs, 0.0)])
    several = copy.copy(model)
    several.model_ = replace(fitted_model, coefs=own, intercept=np.array([0.1, -2.5, 1 / 3]), outputs=MADE)
    told = (dict(zip(MADE, column.tolist(), strict=True)) for column in own.T)
    several.rules_ = RuleTable(
        (replace(row, coefficients=of_each, effect=None) for row, of_each in zip(model.rules_, told, strict=True)),
        model.rules_.about,
    )
    return several


@pytest.fixture(params=["poisson", "gamma", "tweedie", "poisson, several"])
def rates(request):
    """Every kind of a model of rates, one with several outputs too, with its rows and their exposures."""
    model, rows, exposures = fit_rates(request.param.split(",")[0])
    return (make_several(model) if "several" in request.param else model), rows, exposures


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
def several_made():
    """A model of several numbers, which are its scores, and its rows."""
    model, rows = fitted("numbers, mixed")
    return make_several(model), rows


@pytest.fixture
def quantiles():
    """A model of several quantiles, and its rows."""
    return fit_quantiles()


@pytest.fixture(params=["several_made", "quantiles"])
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
    """A model of exponentials that no exposure multiplies, and its rows."""
    return fit_hazards()
