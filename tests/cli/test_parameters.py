"""Options of the estimators are those of their constructors."""

import inspect

import pytest

from rulegrove import (
    RuleAttributeSelector,
    RuleEnsembleClassifier,
    RuleEnsembleRegressor,
    RuleEnsembleSurvival,
)
from rulegrove.cli.options import Columns
from rulegrove.cli.parameters import (
    OWN_OPTIONS,
    RATES,
    ensemble_options,
    read_parameters,
    selector_options,
    settle_task,
)
from rulegrove.estimators.presets import NAMES
from rulegrove.estimators.regressor import POWERS
from rulegrove.exceptions import InvalidInputError

READ = [
    ("classifier", RuleEnsembleClassifier, RuleEnsembleClassifier),
    ("regressor", RuleEnsembleRegressor, RuleEnsembleRegressor),
    ("survival", RuleEnsembleSurvival, RuleEnsembleSurvival),
    ("attributes", RuleAttributeSelector, RuleAttributeSelector),
]


@pytest.mark.parametrize(("module", "source", "estimator"), READ)
def test_the_source_says_what_the_constructor_has(module, source, estimator):
    found = {one.name: one.default for one in read_parameters(module, source.__name__)}
    assert found == {name: one.default for name, one in inspect.signature(estimator).parameters.items()}


@pytest.mark.parametrize(
    ("options", "estimators"),
    [
        (ensemble_options, (RuleEnsembleClassifier, RuleEnsembleRegressor, RuleEnsembleSurvival)),
        (selector_options, (RuleAttributeSelector,)),
    ],
)
def test_every_parameter_is_an_option_with_help(options, estimators):
    made = {one.name: one.annotation.__metadata__[0] for one in options()}
    assert len(made) == len(options())
    assert set(made) == {name for one in estimators for name in inspect.signature(one).parameters} - set(OWN_OPTIONS)
    for name, option in made.items():
        assert len(option.help) > len("Repetitions"), name
        assert option.show_default, name
        assert "``" not in option.help


def test_help_shows_both_defaults_and_the_choices(run):
    words = " ".join(run("fit", "--help-all").stdout.split())
    assert "[default: 6, 4 for regression]" in words
    assert "both|rules|linear" in words
    assert "--loss WORD For regression. What" in words
    assert "--quantile NUMBER For regression." in words
    assert "May be repeated. [default: 0.5]" in words
    assert "With `--loss tweedie`" in words
    assert "How rules are grown" not in " ".join(run("select", "--help-all").stdout.split())


def test_choices_are_completed():
    options = {one.name: one.annotation.__metadata__[0] for one in ensemble_options()}
    assert options["terms"].autocompletion() == ["both", "rules", "linear"]
    assert options["preset"].autocompletion() == list(NAMES)
    assert options["n_candidates"].autocompletion is None


def test_a_loss_makes_a_regression():
    for loss in ("squared", "quantile", *RATES):
        assert settle_task(Columns(drop=["a"]), {"loss": loss}, None) == Columns(task="regression", drop=["a"])
    assert settle_task(Columns(), {"loss": None}, None) == Columns()
    assert set(RATES) == set(POWERS)


@pytest.mark.parametrize(
    ("columns", "parameters", "exposure", "says"),
    [
        (Columns(), {}, "years", "`--exposure` is for rates; add `--loss poisson` for counts"),
        (Columns(), {"loss": "squared"}, "years", "`--exposure` is for rates"),
        (
            Columns(task="classification"),
            {"loss": "gamma"},
            None,
            "`--loss gamma` is for a regression and `--task` asks",
        ),
        (Columns(), {"loss": "poison"}, None, "got 'poison'. Did you mean 'poisson'?"),
        (Columns(), {"power": 1.5}, None, "`--power` is for `--loss tweedie`"),
        (Columns(), {"loss": "poisson", "quantile": "0.5"}, None, "`--quantile` is for `--loss quantile`"),
    ],
)
def test_what_does_not_go_with_a_loss(columns, parameters, exposure, says):
    with pytest.raises(InvalidInputError) as caught:
        settle_task(columns, parameters, exposure)
    assert says in str(caught.value)
