"""Options of the estimators are those of their constructors."""

import inspect

import pytest

from rulegrove import RuleAttributeSelector, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.cli.parameters import OWN_OPTIONS, ensemble_options, read_parameters, selector_options
from rulegrove.estimators.presets import NAMES

READ = [
    ("classifier", RuleEnsembleClassifier, RuleEnsembleClassifier),
    ("_base", RuleEnsembleRegressor.__mro__[2], RuleEnsembleRegressor),
    ("attributes", RuleAttributeSelector, RuleAttributeSelector),
]


@pytest.mark.parametrize(("module", "source", "estimator"), READ)
def test_the_source_says_what_the_constructor_has(module, source, estimator):
    found = {one.name: one.default for one in read_parameters(module, source.__name__)}
    assert found == {name: one.default for name, one in inspect.signature(estimator).parameters.items()}


@pytest.mark.parametrize(
    ("options", "estimator"),
    [(ensemble_options, RuleEnsembleClassifier), (selector_options, RuleAttributeSelector)],
)
def test_every_parameter_is_an_option_with_help(options, estimator):
    made = {one.name: one.annotation.__metadata__[0] for one in options()}
    assert set(made) == set(inspect.signature(estimator).parameters) - set(OWN_OPTIONS)
    for name, option in made.items():
        assert len(option.help) > len("Default: none."), name
        assert "``" not in option.help


def test_help_shows_both_defaults_and_the_choices(run):
    words = " ".join(run("fit", "--help").stdout.replace("│", " ").split())
    assert "Default: 6.0; 4.0 for regression." in words
    assert "both|rules|linear" in words
    assert "Default: 0." in words
    assert "How rules are grown" not in " ".join(run("select", "--help").stdout.split())


def test_choices_are_completed():
    options = {one.name: one.annotation.__metadata__[0] for one in ensemble_options()}
    assert options["terms"].autocompletion() == ["both", "rules", "linear"]
    assert options["preset"].autocompletion() == list(NAMES)
    assert options["n_candidates"].autocompletion is None
