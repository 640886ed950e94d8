"""The parameters of a fit as one record."""

import dataclasses

import pytest

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.estimators.settings import Settings
from rulegrove.exceptions import InvalidInputError


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
def test_settings_are_the_parameters_that_both_kinds_of_target_have(kind):
    model = kind(max_terms=7, cv=3)
    settings, parameters = Settings.of(model), model.get_params()
    names = [field.name for field in dataclasses.fields(Settings)]
    assert all(getattr(settings, name) is parameters[name] for name in names)
    assert set(parameters) - set(names) <= {
        "preset",
        "class_weight",
        "multiclass",
        "calibration",
        "loss",
        "quantile",
        "power",
        "multioutput",
    }


def test_the_defaults_are_those_of_the_regressor():
    assert Settings() == Settings.of(RuleEnsembleRegressor())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_candidates": 1}, "`n_candidates` must be at least 2"),
        ({"n_candidates": 0}, "`n_candidates` must be at least 2"),
        ({"terms": "linear", "rules": ["a > 1"]}, "has no rules, so it cannot use `rules`"),
        ({"terms": "linear", "trees": object()}, "has no rules, so it cannot use `trees`"),
        ({"n_candidates": 0, "trees": object()}, "takes no rules from `trees`"),
        ({"honest_cv": True, "trees": object()}, "which is not possible with given `trees`"),
        ({"evidence": "split", "trees": object()}, "sets rows apart, but the given `trees` may have seen them"),
        ({"force_rules": True}, "there are none; give some"),
    ],
)
def test_contradictions_are_refused(wrong, words):
    with pytest.raises(InvalidInputError, match=words):
        Settings(**wrong)


@pytest.mark.parametrize(
    ("given", "grows"),
    [({}, True), ({"trees": object()}, False), ({"n_candidates": 0, "rules": ["a > 1"]}, False)],
)
def test_rules_that_are_given_are_not_grown(given, grows):
    assert Settings(**given).grows is grows


def test_open_settings():
    settings = Settings(cv=None, subsample=100)
    assert settings.is_open("cv")
    assert settings.is_open("solver")
    assert not settings.is_open("subsample")
    assert settings.is_open("max_terms")
    assert not Settings(max_terms=None).is_open("max_terms")  # None is an answer there
