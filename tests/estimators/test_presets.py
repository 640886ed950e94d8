"""Presets: what they change, what they leave alone, and that a fit with one is the fit with its settings."""

import inspect
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from rulegrove import Glmnet, RuleAttributeSelector, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove._validation import check_parameters
from rulegrove.datasets import load
from rulegrove.estimators.presets import (
    NAMES,
    OF_CLASSIFIER,
    OF_REGRESSOR,
    OF_SELECTOR,
    find_settings,
    settle_preset,
)
from rulegrove.exceptions import DroppedColumnWarning, DroppedRuleWarning, InvalidInputError
from sklearn_checks import expected_failures
from small_pools import shrink_pool

TABLES = {
    RuleEnsembleClassifier: OF_CLASSIFIER,
    RuleEnsembleRegressor: OF_REGRESSOR,
    RuleAttributeSelector: OF_SELECTOR,
}
ENTRIES = [(kind, name) for kind, table in TABLES.items() for name in table]
ENSEMBLES = [RuleEnsembleClassifier, RuleEnsembleRegressor]
GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"

# Of every stage: growing, reading, weighting, choosing; small enough for a test.
SETTINGS = {
    "n_candidates": 40,
    "max_conditions": 2,
    "max_bins": 30,
    "subsample": 0.6,
    "terms": "rules",
    "solver": Glmnet(l1_ratio=0.7),
    "selection": "1se",
    "cv": 3,
    "honest_cv": True,
    "max_terms": 6,
}
OF_CLASSES = {**SETTINGS, "multiclass": "ovr", "calibration": "sigmoid"}
SHORT = {"max_terms": 25, "max_conditions": 5}


@pytest.fixture(autouse=True)
def own_presets(monkeypatch):
    """Take presets that stay as they are when those of the package are tuned, one of them with many settings."""
    monkeypatch.setattr(RuleEnsembleClassifier, "_presets", {"readable": SHORT, "fast": OF_CLASSES})
    monkeypatch.setattr(RuleEnsembleRegressor, "_presets", {"readable": SHORT, "fast": SETTINGS})


def load_data(name):
    return make_friedman1(300, random_state=0) if name == "friedman" else load(name, return_X_y=True)


def make(name, **parameters):
    kind = RuleEnsembleRegressor if name == "friedman" else RuleEnsembleClassifier
    return kind(**{"random_state": 0, "n_jobs": 1, **parameters})


def settings_of(name):
    return SETTINGS if name == "friedman" else OF_CLASSES


def assert_same_model(one, other, X):
    """Equal to the last bit."""
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.rules_.to_dict() == other.rules_.to_dict()
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    if hasattr(one, "classes_"):
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


class TestTables:
    def test_all_have_the_same_names(self):
        assert [tuple(table) for table in TABLES.values()] == [NAMES] * len(TABLES)

    @pytest.mark.parametrize(("kind", "name"), ENTRIES)
    def test_every_entry_is_a_parameter_and_no_default(self, kind, name):
        parameters = inspect.signature(kind).parameters
        check_parameters(kind(**TABLES[kind][name]))
        for parameter, value in TABLES[kind][name].items():
            assert value != parameters[parameter].default

    @pytest.mark.parametrize("name", NAMES)
    def test_the_guide_tells_the_values(self, name):
        [row] = re.findall(rf'^\| `"{name}"` \|.*\|(.*)\|$', GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
        entries = [*OF_CLASSIFIER[name].items(), *OF_REGRESSOR[name].items()]
        told = {f"{parameter}={value!r}".replace("'", '"') for parameter, value in entries}
        assert set(re.findall(r"`(.+?)`", row)) == told

    @pytest.mark.parametrize("kind", TABLES)
    def test_the_docstring_lists_the_names(self, kind):
        listed = ", ".join(f'"{name}"' for name in NAMES)
        assert f"preset : {{{listed}}}, default=None" in inspect.getdoc(kind)
        assert next(iter(inspect.signature(kind).parameters)) == "preset"


class TestSettings:
    def test_what_is_set_wins(self):
        assert find_settings(RuleEnsembleClassifier(preset="readable")) == SHORT
        assert find_settings(RuleEnsembleClassifier(preset="readable", max_terms=7)) == {"max_conditions": 5}
        assert find_settings(RuleEnsembleClassifier(preset="readable", max_terms=7, max_conditions=3)) == {}
        assert find_settings(RuleEnsembleClassifier(max_terms=7)) == {}

    @pytest.mark.parametrize(
        ("parameter", "value", "is_default"),
        [
            ("n_candidates", 2000, True),
            ("n_candidates", np.int64(2000), True),
            ("n_candidates", 2000.0, True),
            ("n_candidates", 0, False),
            ("max_terms", "auto", True),
            ("max_terms", None, False),
            ("max_terms", 0, False),
            ("honest_cv", "auto", True),
            ("honest_cv", False, False),
            ("solver", "auto", True),
            ("solver", Glmnet(), False),
            ("cv", np.int32(5), True),
            ("cv", np.array([[0, 1], [1, 0]]), False),
            ("cv", [([0], [1])], False),
        ],
    )
    def test_a_default_is_told_by_its_value(self, parameter, value, is_default):
        found = find_settings(RuleEnsembleRegressor(preset="fast", **{parameter: value}))
        assert (parameter in found) == is_default

    def test_a_subclass_has_defaults_of_its_own(self):
        class Small(RuleEnsembleRegressor):
            def __init__(self, *, preset=None, max_terms=10, max_conditions=2):
                super().__init__(preset=preset, max_terms=max_terms, max_conditions=max_conditions)

        assert find_settings(Small(preset="readable")) == SHORT
        assert find_settings(Small(preset="readable", max_terms=None)) == {"max_conditions": 5}

    def test_settled_once_and_for_all(self):
        model = RuleEnsembleRegressor(preset="readable", max_terms=7)
        settled = settle_preset(model)
        assert settled.get_params() == {
            **RuleEnsembleRegressor().get_params(),
            "max_conditions": 5,
            "max_terms": 7,
        }
        assert model.get_params() == RuleEnsembleRegressor(preset="readable", max_terms=7).get_params()
        assert settle_preset(settled).get_params() == settled.get_params()


class TestFit:
    @pytest.mark.parametrize("name", ["pima", "iris", "friedman"])
    def test_is_the_fit_with_the_settings(self, name):
        X, y = load_data(name)
        model, expected = make(name, preset="fast").fit(X, y), make(name, **settings_of(name)).fit(X, y)
        assert_same_model(model, expected, X)
        assert model.settings_ == {**settings_of(name), **expected.settings_}
        assert not settings_of(name).keys() & expected.settings_.keys()
        assert vars(model).keys() == vars(expected).keys()

    @pytest.mark.parametrize("name", ["pima", "friedman"])
    def test_beyond_a_pool_too(self, name, monkeypatch):
        shrink_pool(monkeypatch, 200)
        X, y = load_data(name)
        model, expected = make(name, preset="fast").fit(X, y), make(name, **settings_of(name)).fit(X, y)
        assert_same_model(model, expected, X)
        assert model.settings_ == {**settings_of(name), **expected.settings_}

    def test_readable_is_short(self, monkeypatch):
        monkeypatch.setattr(RuleEnsembleClassifier, "_presets", OF_CLASSIFIER)
        X, y = load("vehicle", return_X_y=True)
        model = make("vehicle", preset="readable", n_candidates=100, cv=2, honest_cv=False).fit(X, y)
        assert (np.count_nonzero(model.coef_, axis=1) <= 25).all()
        assert max(len(row.term.features) for row in model.rules_) <= 5

    def test_rules_of_ones_own(self):
        X, y = load_data("friedman")
        model = RuleEnsembleRegressor.from_rules(["x0 > 0.5", "x3 > 0.5"], preset="readable").fit(X, y)
        assert len(model.candidates_.rules) == 2
        with pytest.raises(InvalidInputError, match="max_terms=1 is less than the 2 rules"):
            RuleEnsembleRegressor.from_rules(["x0 > 0.5", "x3 > 0.5"], forced=True, preset="fast", max_terms=1).fit(
                X, y
            )

    def test_a_generator_goes_on_as_without_a_preset(self):
        X, y = load_data("friedman")
        one, other = np.random.RandomState(0), np.random.RandomState(0)
        assert_same_model(
            make("friedman", preset="fast", random_state=one).fit(X, y),
            make("friedman", **SETTINGS, random_state=other).fit(X, y),
            X,
        )
        assert one.randint(2**31) == other.randint(2**31)

    @pytest.mark.parametrize("preset", [None, "fast"])
    def test_warnings_point_at_the_call(self, preset):
        X, y = load_data("friedman")
        X[:, 2] = 1.0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            make("friedman", preset=preset, n_candidates=20, rules=["x0 > 1e9"]).fit(X, y)
        told = {one.category: one.filename for one in caught}
        assert told == {DroppedColumnWarning: __file__, DroppedRuleWarning: __file__}

    def test_the_selector(self, monkeypatch):
        monkeypatch.setattr(RuleAttributeSelector, "_presets", {"fast": {"n_candidates": 60, "max_conditions": 2}})
        X, y = load_data("pima")
        few = {"n_repeats": 2, "min_votes": 1, "random_state": 0, "n_jobs": 1}
        model = RuleAttributeSelector(preset="fast", **few).fit(X, y)
        expected = RuleAttributeSelector(n_candidates=60, max_conditions=2, **few).fit(X, y)
        np.testing.assert_array_equal(model.importances_, expected.importances_)
        np.testing.assert_array_equal(model.transform(X), expected.transform(X))
        assert (model.settings_, expected.settings_) == ({"n_candidates": 60, "max_conditions": 2}, {})
        assert model.n_candidates == 1000


class TestCompany:
    """What scikit-learn expects of a parameter."""

    @pytest.mark.parametrize("kind", ENSEMBLES)
    def test_parameters_stay_as_they_were_given(self, kind):
        name = "friedman" if kind is RuleEnsembleRegressor else "pima"
        X, y = load_data(name)
        given = {"preset": "fast", "n_candidates": np.int64(30)}
        model = kind(**given)
        before = model.get_params()
        assert repr(model.fit(X, y)) == f"{kind.__name__}(n_candidates=np.int64(30), preset='fast')"
        assert model.get_params() == before
        copy = clone(model)
        assert copy.get_params() == before
        assert not hasattr(copy, "settings_")
        assert model.set_params(preset="readable").preset == "readable"
        assert "n_candidates" not in model.settings_  # until the next fit

    @pytest.mark.parametrize("kind", ENSEMBLES)
    def test_pickle(self, kind):
        name = "friedman" if kind is RuleEnsembleRegressor else "pima"
        X, y = load_data(name)
        model = make(name, preset="fast").fit(X, y)
        copy = pickle.loads(pickle.dumps(model))
        assert_same_model(copy, model, X)
        assert copy.get_params().keys() == model.get_params().keys()
        assert copy.preset == "fast"
        assert copy.settings_.keys() == model.settings_.keys()

    def test_search(self):
        X, y = load_data("friedman")
        search = GridSearchCV(make("friedman", n_candidates=20), {"preset": [None, "fast"]}, cv=2).fit(X, y)
        assert len(set(search.cv_results_["mean_test_score"])) == 2

    def test_nothing_of_an_earlier_fit_is_left(self):
        X, y = load_data("friedman")
        model = make("friedman", preset="fast").fit(pd.DataFrame(X).add_prefix("x"), y)
        model.statistics_ = "of an engine"
        model.fit(X, y)
        assert not hasattr(model, "feature_names_in_")
        assert not hasattr(model, "statistics_")
        model.set_params(preset=None, n_candidates=20).fit(X, y)
        assert "n_candidates" not in model.settings_

    def test_a_fit_that_fails_changes_nothing(self):
        X, y = load_data("friedman")
        model = make("friedman", preset="fast").fit(X, y)
        before = vars(model).copy()
        with pytest.raises(ValueError, match="y contains NaN"):
            model.fit(X[:, :3], np.full(len(y), np.nan))
        assert vars(model) == before

    @pytest.mark.parametrize("kind", TABLES)
    @pytest.mark.parametrize("name", ["quick", "Fast", 3])
    def test_an_unknown_name(self, kind, name):
        X, y = load_data("pima")
        told = rf"The 'preset' parameter of {kind.__name__} must be a str among .* or None\. Got {name!r} instead"
        with pytest.raises(ValueError, match=told):
            kind(preset=name).fit(X, y)


@parametrize_with_checks(
    [RuleEnsembleRegressor(preset="readable", n_candidates=10, cv=2, n_jobs=1)],
    expected_failed_checks=expected_failures,
    xfail_strict=True,
)
def test_scikit_learn_is_content(estimator, check):
    check(estimator)
