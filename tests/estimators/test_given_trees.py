"""Rules taken from trees that are already fitted, in place of growing some."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor, load_model
from rulegrove.datasets import load
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.extract import extract_rules
from rulegrove.trees.foreign import read_trees

PIMA = load("pima")
FRAME = PIMA.frame().drop(columns="class")
FOREST = RandomForestClassifier(20, min_samples_leaf=5, random_state=0).fit(PIMA.X, PIMA.y)
FEW = {"n_candidates": 150, "random_state": 0, "n_jobs": 1}


def rules_of(model):
    """Return the candidate rules and those that they stand for."""
    terms = model.candidates_
    return {*terms.rules, *(alias.rule for aliases in terms.aliases for alias in aliases)}


def test_candidates_are_nodes_of_the_trees():
    model = RuleEnsembleClassifier(trees=FOREST, max_correlation=1.0, **FEW).fit(PIMA.X, PIMA.y)
    features = model.model_.features
    nodes = set(extract_rules(read_trees(FOREST, features, has_missing=np.zeros(8, dtype=bool))))
    candidates = rules_of(model)
    assert candidates <= nodes
    assert 100 < len(candidates) <= 150
    assert model.score(PIMA.X, PIMA.y) > 0.75
    held = model.transform_rules(PIMA.X)
    np.testing.assert_allclose(model.intercept_ + held @ model.coef_, model.decision_function(PIMA.X))


def test_values_on_thresholds_go_the_way_of_the_trees():
    """float32 turns some doubles across a threshold; the rules follow the trees and not the plain comparison."""
    rng = np.random.default_rng(0)
    X = rng.choice([0.1, np.float64(np.float32(0.1)), 0.3, 16777216.0, 16777217.0, 16777218.0], (200, 2))
    y = X[:, 0] + rng.normal(size=200)
    tree = RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, y)
    model = RuleEnsembleRegressor(trees=tree, max_correlation=1.0, terms="rules", **FEW).fit(X, y)
    casted = model.transform_rules(X.astype(np.float32).astype(float))
    np.testing.assert_array_equal(casted, model.transform_rules(X))
    assert len(model.rules_)


def test_limits_are_respected():
    model = RuleEnsembleClassifier(trees=FOREST, max_conditions=2, max_correlation=1.0, **FEW).fit(PIMA.X, PIMA.y)
    assert {len(rule.conditions) for rule in rules_of(model)} <= {1, 2}
    assert len(rules_of(model)) <= 150
    small = RuleEnsembleClassifier(trees=FOREST, max_terms=4, **FEW).fit(PIMA.X, PIMA.y)
    assert len(small.rules_) <= 4


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, HistGradientBoostingClassifier, DecisionTreeClassifier])
def test_other_models_serve_as_well(kind):
    fitted = kind(max_depth=4, random_state=0).fit(FRAME, PIMA.y)
    model = RuleEnsembleClassifier(trees=fitted, **FEW).fit(FRAME, PIMA.y)
    assert any("glucose" in row.text for row in model.rules_)
    assert model.score(FRAME, PIMA.y) > 0.72


def test_missing_values_are_told_only_where_there_are_some():
    X = PIMA.X.copy()
    X[::7, 1] = np.nan
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, PIMA.y)
    model = RuleEnsembleClassifier(trees=forest, max_correlation=1.0, **FEW).fit(X, PIMA.y)
    told = {condition.feature for rule in rules_of(model) for condition in rule.conditions if condition.missing}
    assert told == {1}


def test_several_classes_share_the_rules():
    X, y = load("iris", return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    for multiclass in ("auto", "ovr", "shared", "grouped"):
        solver = Glmnet() if multiclass == "grouped" else "auto"
        model = RuleEnsembleClassifier(trees=forest, multiclass=multiclass, solver=solver, **FEW).fit(X, y)
        assert len(model.candidates_.distinct) == 1
        assert model.multiclass_ == ("shared" if multiclass == "auto" else multiclass)
        assert model.score(X, y) > 0.9
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)


def test_several_classes_of_a_large_table_share_the_rules():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    y = np.digitize(X[:, 0] + (X[:, 1] > 0), [0.0, 1.0])
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y)
    model = RuleEnsembleClassifier(trees=forest, **FEW).fit(X, y)
    assert model.multiclass_ == "shared"
    assert RuleEnsembleClassifier(**FEW).fit(X, y).multiclass_ == "ovr"


def test_folds_share_the_rules_and_the_choice_is_the_sparser_one():
    model = RuleEnsembleClassifier(trees=FOREST, **FEW).fit(PIMA.X, PIMA.y)
    assert model.selection_.rule == "1se"
    told = RuleEnsembleClassifier(trees=FOREST, selection="1se", honest_cv=False, **FEW).fit(PIMA.X, PIMA.y)
    np.testing.assert_array_equal(model.coef_, told.coef_)
    least = RuleEnsembleClassifier(trees=FOREST, selection="min", **FEW).fit(PIMA.X, PIMA.y)
    assert len(least.rules_) >= len(model.rules_)


def test_the_seed_of_trees_does_not_matter():
    """Nothing is grown: only the folds depend on the seed."""
    models = [
        RuleEnsembleClassifier(trees=FOREST, selection=0.02, n_candidates=150, random_state=seed).fit(PIMA.X, PIMA.y)
        for seed in (0, 1)
    ]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_a_copy_keeps_the_fitted_trees():
    model = RuleEnsembleClassifier(trees=FOREST, **FEW)
    assert clone(model).trees is FOREST
    assert model.get_params(deep=False)["trees"] is FOREST
    assert clone(model).set_params(trees=None).trees is None
    scores = cross_val_score(model, PIMA.X, PIMA.y, cv=3)
    assert (scores > 0.65).all()


def test_names_must_be_those_of_the_trees():
    forest = RandomForestClassifier(5, random_state=0).fit(FRAME, PIMA.y)
    turned = FRAME[FRAME.columns[::-1]]
    with pytest.raises(InvalidInputError, match=r"know column 0 as 'pregnant', in X it is 'age'"):
        RuleEnsembleClassifier(trees=forest, **FEW).fit(turned, PIMA.y)
    with pytest.raises(InvalidInputError, match=r"fitted on 8 columns and X has 7"):
        RuleEnsembleClassifier(trees=forest, **FEW).fit(FRAME.iloc[:, 1:], PIMA.y)
    assert len(RuleEnsembleClassifier(trees=forest, **FEW).fit(FRAME.to_numpy(), PIMA.y).rules_)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"trees": RandomForestClassifier()}, r"`trees` must be fitted, and this RandomForestClassifier is not"),
        ({"trees": "forest"}, r"`trees` must be fitted trees of scikit-learn, LightGBM or XGBoost; got a str"),
        ({"trees": FOREST, "honest_cv": True}, r"honest_cv=True grows rules anew without each fold, which given"),
        ({"trees": FOREST, "n_candidates": 0}, r"n_candidates=0 takes no rule from `trees`"),
        ({"trees": FOREST, "terms": "linear"}, r"`trees` are for models with rules, and terms='linear' has none"),
    ],
)  # fmt: skip
def test_what_does_not_go_together(changes, words):
    with pytest.raises(InvalidInputError, match=words):
        RuleEnsembleClassifier(**{**FEW, **changes}).fit(PIMA.X, PIMA.y)


def test_the_model_file_has_the_rules_and_not_the_trees(tmp_path):
    model = RuleEnsembleClassifier(trees=FOREST, **FEW).fit(PIMA.X, PIMA.y)
    model.save(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["parameters"]["trees"] == {
        "omitted": "RandomForestClassifier"
    }
    loaded = load_model(tmp_path / "model.json")
    assert loaded.trees is None
    np.testing.assert_array_equal(loaded.decision_function(PIMA.X), model.decision_function(PIMA.X))
    assert loaded.candidates_.rules == model.candidates_.rules


def test_weights_and_regression():
    X, y = make_friedman1(300, random_state=0)
    forest = ExtraTreesRegressor(20, max_depth=4, random_state=0).fit(X, y)
    weights = np.random.default_rng(0).integers(0, 3, 300)
    model = RuleEnsembleRegressor(trees=forest, **FEW).fit(X, y, sample_weight=weights)
    assert model.score(X, y) > 0.7


def test_categories_of_a_frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"colour": pd.Categorical(rng.choice(["red", "green", "blue"], 300)), "x": rng.normal(size=300)}
    )
    y = (frame["colour"] == "green") | (frame["x"] > 1)
    trees = HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype").fit(frame, y)
    model = RuleEnsembleClassifier(trees=trees, **FEW).fit(frame, y)
    assert any("colour == 'green'" in row.text or "colour != 'green'" in row.text for row in model.rules_)
    assert model.score(frame, y) > 0.95
