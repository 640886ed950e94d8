"""Presets: what the parameters that are left at their defaults become, by the name of an aim.

The tables are all there is to a preset. A fit goes by the settings of an estimator in which the preset is settled, so
that no other code asks for it. "fast" names the path that "auto" begins with, so that classes are solved for once.
"""

import inspect
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from rulegrove.solvers import Glmnet

M = TypeVar("M", bound=BaseEstimator)
Presets = Mapping[str, Mapping[str, Any]]

OF_CLASSIFIER: Presets = {
    "accurate": {"n_runs": 4, "max_terms": None},
    "readable": {"max_terms": 10, "max_conditions": 3},
    "fast": {"n_candidates": 600, "shrinkage": 0.05, "honest_cv": False, "solver": Glmnet(l1_ratio=0.5)},
}
OF_REGRESSOR: Presets = {
    "accurate": {"n_runs": 4, "max_terms": None},
    "readable": {"max_terms": 10, "max_conditions": 3},
    "fast": {"n_candidates": 600, "honest_cv": False},
}
OF_SELECTOR: Presets = {  # attributes for such a model: its rules, as far as the selector grows them
    "accurate": {"n_candidates": 4000},
    "readable": {"max_conditions": 5},
    "fast": {"n_candidates": 600},
}
NAMES = tuple(OF_CLASSIFIER)


def find_settings(model: BaseEstimator) -> dict[str, Any]:
    """Return the parameters that the preset of an estimator changes: of those it names, the ones left at their default.

    Parameters
    ----------
    model : estimator
        With a parameter `preset` and a table `_presets`.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleRegressor
    >>> find_settings(RuleEnsembleRegressor(preset="readable", max_terms=8))
    {'max_conditions': 3}
    >>> find_settings(RuleEnsembleRegressor(max_terms=10))
    {}
    """
    if model.preset is None:
        return {}
    parameters = inspect.signature(type(model)).parameters
    preset = model._presets[model.preset]
    return {
        name: value for name, value in preset.items() if _is_default(getattr(model, name), parameters[name].default)
    }


def _is_default(value: Any, default: Any) -> bool:
    """Whether a parameter has its default; one that is no plain value has not."""
    return value is default or bool(np.isscalar(value) and value == default)


def settle_preset(model: M) -> M:
    """Return an estimator like another, fitted or not, with the settings of its preset as parameters and no preset.

    Parameters
    ----------
    model : estimator

    Examples
    --------
    >>> from rulegrove import RuleEnsembleRegressor
    >>> settle_preset(RuleEnsembleRegressor(preset="readable", max_terms=10))
    RuleEnsembleRegressor(max_conditions=3, max_terms=10)
    """
    settled: M = object.__new__(type(model))
    vars(settled).update({**vars(model), **find_settings(model), "preset": None})
    return settled
