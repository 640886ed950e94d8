"""Rules that are not grown: an expert's own, free or forced into the model, and those of trees fitted already."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from rulegrove import Fpc, Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor, load_model
from rulegrove.columns import learn_columns
from rulegrove.datasets import load
from rulegrove.exceptions import DroppedRuleWarning, InvalidInputError
from rulegrove.rules.extract import extract_rules
from rulegrove.rules.parse import parse_rule, read_rules
from rulegrove.trees.foreign import read_trees

PIMA = load("pima")
FRAME = PIMA.frame().drop(columns="class")
FEATURES = learn_columns(FRAME).features
OWN = ["glucose >= 126", "mass > 30 and age > 40", "30 < age <= 50"]
RULES = read_rules(OWN, FEATURES)
FEW = {"random_state": 0, "n_jobs": 1}
NUMBER = FRAME["glucose"].to_numpy() * 0.02 + FRAME["mass"].to_numpy() * 0.05 + FRAME["age"].to_numpy() % 7


def held(rules=RULES):
    block = FRAME.to_numpy().T
    return np.column_stack([rule.holds(block) for rule in rules]).astype(float)


def places(model):
    return [model.candidates_.rules.index(rule) for rule in RULES]


def test_own_rules_alone_are_the_lasso_of_their_columns():
    model = RuleEnsembleRegressor.from_rules(OWN, terms="rules", selection=0.05, solver=Glmnet(tol=1e-10), **FEW)
    model.fit(FRAME, NUMBER)
    assert set(model.candidates_.rules) == set(RULES)
    reference = Lasso(alpha=0.05, tol=1e-12).fit(held(), NUMBER)
    found = {row.term: row.coefficient for row in model.rules_}
    np.testing.assert_allclose([found.get(rule, 0.0) for rule in RULES], reference.coef_, atol=1e-7)
    assert model.intercept_ == pytest.approx(reference.intercept_, abs=1e-7)


def test_own_rules_join_the_grown_ones():
    model = RuleEnsembleClassifier(rules=OWN, n_candidates=100, max_correlation=1.0, **FEW).fit(FRAME, PIMA.y)
    known = {*model.candidates_.rules, *(a.rule for aliases in model.candidates_.aliases for a in aliases)}
    assert set(RULES) <= known
    assert len(known) > 60


def test_from_rules_is_the_constructor():
    model = RuleEnsembleClassifier.from_rules(OWN, forced=True, n_candidates=50, max_terms=7)
    assert (model.rules, model.force_rules, model.n_candidates, model.max_terms) == (OWN, True, 50, 7)
    assert RuleEnsembleRegressor.from_rules(OWN).n_candidates == 0
    copy = clone(model)
    assert copy.get_params()["rules"] == OWN
    assert copy.set_params(force_rules=False).force_rules is False


def test_rules_can_be_records():
    words = RuleEnsembleRegressor.from_rules(OWN, **FEW).fit(FRAME, NUMBER)
    records = RuleEnsembleRegressor.from_rules(list(RULES), **FEW).fit(FRAME, NUMBER)
    np.testing.assert_array_equal(words.coef_, records.coef_)


@pytest.mark.parametrize("n_candidates", [0, 120])
@pytest.mark.parametrize("solver", ["glmnet", Glmnet(), Glmnet(l1_ratio=0.5, relax=True)])
def test_forced_rules_are_in_every_point_of_a_regression(n_candidates, solver):
    model = RuleEnsembleRegressor(rules=OWN, force_rules=True, n_candidates=n_candidates, solver=solver, **FEW)
    model.fit(FRAME, NUMBER)
    coefs = model.path_.coefs[:, places(model)]
    assert (coefs != 0).all()
    # At the largest penalty nothing else has entered: their weights are those of least squares.
    others = np.delete(model.path_.coefs[0], places(model))
    reference = LinearRegression().fit(held(), NUMBER)
    assert not others.any()
    np.testing.assert_allclose(coefs[0], reference.coef_, rtol=1e-6)
    assert set(RULES) <= {row.term for row in model.rules_}


def test_forced_rules_at_a_given_penalty_are_a_partly_penalised_fit():
    """What the forced columns explain is taken out of the target and of the others; the rest is a lasso."""
    model = RuleEnsembleRegressor(
        rules=OWN, force_rules=True, n_candidates=60, terms="rules", selection=0.03, solver=Glmnet(tol=1e-10), **FEW
    ).fit(FRAME, NUMBER)
    others = [rule for rule in model.candidates_.rules if rule not in RULES]
    spared = np.column_stack([np.ones(len(FRAME)), held()])

    def leave(values):
        return values - spared @ np.linalg.lstsq(spared, values, rcond=None)[0]

    lasso = Lasso(alpha=0.03, tol=1e-12, fit_intercept=False, max_iter=10**6).fit(leave(held(others)), leave(NUMBER))
    rest = np.linalg.lstsq(spared, NUMBER - held(others) @ lasso.coef_, rcond=None)[0]
    found = {row.term: row.coefficient for row in model.rules_}
    # Some of the others depend on each other, so weights may be split otherwise; fitted values and the norm may not.
    np.testing.assert_allclose(model.predict(FRAME), held(others) @ lasso.coef_ + spared @ rest, atol=1e-6)
    assert sum(abs(found.get(rule, 0.0)) for rule in others) == pytest.approx(np.abs(lasso.coef_).sum(), abs=1e-6)
    assert np.flatnonzero(lasso.coef_).size > 3


def test_forced_rules_are_in_every_point_of_a_logistic_path():
    logistic = Glmnet(loss="logistic", l1_ratio=0.15)
    model = RuleEnsembleClassifier(rules=OWN, force_rules=True, n_candidates=60, solver=logistic, **FEW)
    model.fit(FRAME, PIMA.y)
    coefs = model.path_.coefs[:, places(model)]
    assert (coefs != 0).all()
    signs = np.where(PIMA.y == model.classes_[1], 1.0, -1.0)

    def risk(parameters):
        return np.logaddexp(0.0, -signs * (parameters[0] + held() @ parameters[1:])).mean()

    best = minimize(risk, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(coefs[0], best.x[1:], rtol=1e-3)


def test_forced_rules_stand_for_their_likes():
    """A grown rule that is shorter, or nearly the same, gives way."""
    twin = "glucose > 125.5 and age > 0"  # the rows of 'glucose >= 126', said in two conditions
    model = RuleEnsembleClassifier(
        rules=[twin, OWN[1]], force_rules=True, n_candidates=300, max_correlation=0.5, **FEW
    ).fit(FRAME, PIMA.y)
    for text in (twin, OWN[1]):
        assert parse_rule(text, FEATURES) in {row.term for row in model.rules_}
    near = ["glucose >= 126", "glucose >= 127"]
    both = RuleEnsembleClassifier(rules=near, force_rules=True, n_candidates=0, **FEW).fit(FRAME, PIMA.y)
    assert set(read_rules(near, FEATURES)) <= {row.term for row in both.rules_}


def test_forced_rules_survive_honest_folds_and_the_cap():
    model = RuleEnsembleClassifier(rules=OWN, force_rules=True, n_candidates=60, max_terms=4, honest_cv=True, **FEW)
    model.fit(FRAME, PIMA.y)
    assert len(model.rules_) <= 4
    assert set(RULES) <= {row.term for row in model.rules_}


def test_forced_rules_of_several_classes():
    X, y = load("iris", return_X_y=True)
    own = ["x2 > 2.45", "x3 > 1.75"]
    model = RuleEnsembleClassifier.from_rules(own, forced=True, **FEW).fit(X, y)
    terms = [row.term for row in model.rules_]
    for rule in read_rules(own, model.model_.features):
        assert (model.coef_[:, terms.index(rule)] != 0).all()
    with pytest.raises(
        InvalidInputError, match=r"`force_rules` cannot be used in fits that solve for all classes together"
    ):
        RuleEnsembleClassifier.from_rules(own, forced=True, multiclass="grouped", solver=Glmnet(), **FEW).fit(X, y)
    with pytest.raises(InvalidInputError, match=r"use multiclass='ovr'"):
        RuleEnsembleClassifier.from_rules(own, forced=True, solver=Glmnet(loss="logistic"), **FEW).fit(X, y)


def test_the_choice_is_honest_without_growing():
    model = RuleEnsembleClassifier.from_rules(OWN, **FEW).fit(FRAME, PIMA.y)
    assert model.selection_.rule == "min"
    again = RuleEnsembleClassifier.from_rules(OWN, selection="min", honest_cv=False, **FEW).fit(FRAME, PIMA.y)
    np.testing.assert_array_equal(model.coef_, again.coef_)


def test_linear_terms_alone_need_no_candidates():
    some = RuleEnsembleRegressor(terms="linear", n_candidates=100, **FEW).fit(FRAME, NUMBER)
    none = RuleEnsembleRegressor(terms="linear", n_candidates=0, **FEW).fit(FRAME, NUMBER)
    np.testing.assert_array_equal(some.predict(FRAME), none.predict(FRAME))


def test_a_rule_of_no_use_is_warned_of():
    with pytest.warns(DroppedRuleWarning, match=r"'age > 200' holds on no rows of the training data; it is left out"):
        RuleEnsembleClassifier.from_rules([*OWN, "age > 200"], **FEW).fit(FRAME, PIMA.y)
    with pytest.warns(DroppedRuleWarning, match=r"'age > 0' holds on all rows"):
        RuleEnsembleClassifier.from_rules([*OWN, "age > 0"], **FEW).fit(FRAME, PIMA.y)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rules": ["age > 40", "age >> 40"]}, r"Rule 2: \"age >> 40\": expected a number after '>' \(character 6\)"),
        ({"rules": ["agee > 40"]}, r"Rule 1: \"agee > 40\": 'agee' is no column \(character 1\). Did you mean 'age'\?"),
        ({"rules": "age > 40"}, r"`rules` must be a list of rules; put the only one in brackets"),
        ({"rules": ["age > 200"], "force_rules": True}, r"'age > 200' holds on no rows .* leave it out of `rules`"),
        ({"rules": ["age > 0"], "force_rules": True}, r"'age > 0' holds on all rows"),
        ({"rules": OWN, "force_rules": True, "max_terms": 2}, r"max_terms=2 is less than the 3 rules that force_rules"),
        ({"rules": OWN, "force_rules": True, "max_terms": np.int64(2)}, r"max_terms=2 is less than the 3 rules that"),
        (
            {"rules": ["glucose >= 126", "age > 30", "glucose > 125.5"], "force_rules": True},
            r"The rule 'glucose > 125.5' holds on exactly the rows on which 'glucose >= 126' does,",
        ),
        (
            {"rules": ["glucose >= 126", "glucose < 126"], "force_rules": True},
            r"The rule 'glucose < 126' holds on exactly the rows on which 'glucose >= 126' does not,",
        ),
        (
            {"rules": ["age <= 30", "30 < age <= 50", "age > 50"], "force_rules": True},
            r"The rule 'age > 50' is determined by the rules before it",
        ),
        ({"rules": OWN, "force_rules": True, "solver": Fpc()}, r"`force_rules` needs solver='glmnet' or Glmnet"),
        (
            {"force_rules": True, "n_candidates": 50},
            r"force_rules=True puts `rules` into the model, but there are none",
        ),
        ({"rules": [], "force_rules": True}, r"there are none; give some"),
        ({"n_candidates": 0}, r"`n_candidates` must be at least 2, or 0 together with `rules` of your own"),
        ({"n_candidates": 1, "rules": OWN}, r"`n_candidates` must be at least 2"),
        ({"rules": OWN, "terms": "linear"}, r"terms='linear' has no rules, so it cannot use `rules`"),
        ({"rules": OWN, "monotonic": {"age": 1}}, r"The rule '30 < age <= 50' both rises and falls where `monotonic`"),
    ],
)
def test_what_is_refused(changes, words):
    with pytest.raises(InvalidInputError, match=words):
        RuleEnsembleClassifier(**{"n_candidates": 0, **FEW, **changes}).fit(FRAME, PIMA.y)


def test_the_model_file_keeps_the_words(tmp_path):
    model = RuleEnsembleClassifier.from_rules([OWN[0], *RULES[1:]], forced=True, **FEW).fit(FRAME, PIMA.y)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.rules == OWN
    assert loaded.force_rules is True
    np.testing.assert_array_equal(loaded.decision_function(FRAME), model.decision_function(FRAME))
    again = clone(loaded).fit(FRAME, PIMA.y)
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_categories_missing_values_and_weights():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"my colour": rng.choice(["red", "green", "blue"], 400), "x": rng.normal(size=400).round(1)})
    frame.loc[::9, "x"] = np.nan
    y = (frame["my colour"] == "green") * 2.0 + (frame["x"] >= 0.5) + rng.normal(size=400) * 0.1
    own = ["my colour in {red, blue}", "x >= 0.5 or missing", "x is missing"]
    model = RuleEnsembleRegressor.from_rules(own, forced=True, terms="rules", **FEW)
    model.fit(frame, y, sample_weight=rng.integers(0, 3, 400))
    assert {row.text for row in model.rules_} == {"my colour != green", "x >= 0.5 or missing", "x is missing"}
    assert model.score(frame, y) > 0.9


@pytest.mark.parametrize("side", ["<=", ">"])
def test_a_forced_rule_of_one_class_has_no_logistic_weight(side):
    """Without a penalty its coefficient would grow without end."""
    y = np.where(FRAME["glucose"] > 170, "tested_positive", PIMA.y)
    own = [f"glucose {side} 170", *OWN[1:]]
    model = RuleEnsembleClassifier.from_rules(own, forced=True, solver=Glmnet(loss="logistic"), **FEW)
    with pytest.raises(InvalidInputError, match=rf"'glucose {side} 170' separates rows of one class only"):
        model.fit(FRAME, y)
    squared = model.set_params(solver=Glmnet()).fit(FRAME, y)
    assert parse_rule(f"glucose {side} 170", FEATURES) in {row.term for row in squared.rules_}
    model.set_params(force_rules=False, solver="glmnet").fit(FRAME, y)


MANY = {"n_candidates": 150, **FEW}
FOREST = RandomForestClassifier(20, min_samples_leaf=5, random_state=0).fit(PIMA.X, PIMA.y)


def rules_of(model):
    """Return the candidate rules and those that they stand for."""
    terms = model.candidates_
    return {*terms.rules, *(alias.rule for aliases in terms.aliases for alias in aliases)}


def test_candidates_are_nodes_of_the_trees():
    model = RuleEnsembleClassifier(trees=FOREST, max_correlation=1.0, **MANY).fit(PIMA.X, PIMA.y)
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
    model = RuleEnsembleRegressor(trees=tree, max_correlation=1.0, terms="rules", **MANY).fit(X, y)
    casted = model.transform_rules(X.astype(np.float32).astype(float))
    np.testing.assert_array_equal(casted, model.transform_rules(X))
    assert len(model.rules_)


def test_limits_are_respected():
    model = RuleEnsembleClassifier(trees=FOREST, max_conditions=2, max_correlation=1.0, **MANY).fit(PIMA.X, PIMA.y)
    assert {len(rule.conditions) for rule in rules_of(model)} <= {1, 2}
    assert len(rules_of(model)) <= 150
    small = RuleEnsembleClassifier(trees=FOREST, max_terms=4, **MANY).fit(PIMA.X, PIMA.y)
    assert len(small.rules_) <= 4


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, HistGradientBoostingClassifier, DecisionTreeClassifier])
def test_other_models_serve_as_well(kind):
    with threadpool_limits(1):  # threads of scikit-learn that wait for each other take long beside other tests
        fitted = kind(max_depth=4, random_state=0).fit(FRAME, PIMA.y)
    model = RuleEnsembleClassifier(trees=fitted, **MANY).fit(FRAME, PIMA.y)
    assert any("glucose" in row.text for row in model.rules_)
    assert model.score(FRAME, PIMA.y) > 0.72


def test_missing_values_are_told_only_where_there_are_some():
    X = PIMA.X.copy()
    X[::7, 1] = np.nan
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, PIMA.y)
    model = RuleEnsembleClassifier(trees=forest, max_correlation=1.0, **MANY).fit(X, PIMA.y)
    told = {condition.feature for rule in rules_of(model) for condition in rule.conditions if condition.missing}
    assert told == {1}


def test_several_classes_share_the_rules():
    X, y = load("iris", return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    for multiclass in ("auto", "ovr", "shared", "grouped"):
        solver = Glmnet() if multiclass == "grouped" else "auto"
        model = RuleEnsembleClassifier(trees=forest, multiclass=multiclass, solver=solver, **MANY).fit(X, y)
        assert len(model.candidates_.distinct) == 1
        assert model.multiclass_ == ("shared" if multiclass == "auto" else multiclass)
        assert model.score(X, y) > 0.9
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)


def test_folds_share_the_rules_and_the_choice_is_the_sparser_one():
    model = RuleEnsembleClassifier(trees=FOREST, **MANY).fit(PIMA.X, PIMA.y)
    assert model.selection_.rule == "1se"
    told = RuleEnsembleClassifier(trees=FOREST, selection="1se", honest_cv=False, **MANY).fit(PIMA.X, PIMA.y)
    np.testing.assert_array_equal(model.coef_, told.coef_)
    least = RuleEnsembleClassifier(trees=FOREST, selection="min", **MANY).fit(PIMA.X, PIMA.y)
    assert len(least.shorten(None).rules_) >= len(model.shorten(None).rules_)


def test_the_seed_of_trees_does_not_matter():
    """Nothing is grown: only the folds depend on the seed."""
    models = [
        RuleEnsembleClassifier(trees=FOREST, selection=0.02, n_candidates=150, random_state=seed).fit(PIMA.X, PIMA.y)
        for seed in (0, 1)
    ]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_a_copy_keeps_the_fitted_trees():
    model = RuleEnsembleClassifier(trees=FOREST, **MANY)
    assert clone(model).trees is FOREST
    assert model.get_params(deep=False)["trees"] is FOREST
    assert clone(model).set_params(trees=None).trees is None
    scores = cross_val_score(model, PIMA.X, PIMA.y, cv=3)
    assert (scores > 0.65).all()


def test_names_must_be_those_of_the_trees():
    forest = RandomForestClassifier(5, random_state=0).fit(FRAME, PIMA.y)
    turned = FRAME[FRAME.columns[::-1]]
    with pytest.raises(InvalidInputError, match=r"know column 0 as 'pregnant', in X it is 'age'"):
        RuleEnsembleClassifier(trees=forest, **MANY).fit(turned, PIMA.y)
    with pytest.raises(InvalidInputError, match=r"fitted on 8 columns and X has 7"):
        RuleEnsembleClassifier(trees=forest, **MANY).fit(FRAME.iloc[:, 1:], PIMA.y)
    assert len(RuleEnsembleClassifier(trees=forest, **MANY).fit(FRAME.to_numpy(), PIMA.y).rules_)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"trees": RandomForestClassifier()}, r"`trees` must be fitted, and this RandomForestClassifier is not"),
        ({"trees": "forest"}, r"`trees` must be fitted trees of scikit-learn, LightGBM or XGBoost; got a str"),
        ({"trees": FOREST, "honest_cv": True}, r"honest_cv=True grows rules separately for each fold, which is not"),
        ({"trees": FOREST, "n_candidates": 0}, r"n_candidates=0 takes no rules from `trees`"),
        ({"trees": FOREST, "terms": "linear"}, r"terms='linear' has no rules, so it cannot use `trees`"),
    ],
)  # fmt: skip
def test_what_does_not_go_together(changes, words):
    with pytest.raises(InvalidInputError, match=words):
        RuleEnsembleClassifier(**{**MANY, **changes}).fit(PIMA.X, PIMA.y)


def test_the_model_file_has_the_rules_and_not_the_trees(tmp_path):
    model = RuleEnsembleClassifier(trees=FOREST, **MANY).fit(PIMA.X, PIMA.y)
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
    model = RuleEnsembleRegressor(trees=forest, **MANY).fit(X, y, sample_weight=weights)
    assert model.score(X, y) > 0.7


def test_categories_of_a_frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"colour": pd.Categorical(rng.choice(["red", "green", "blue"], 300)), "x": rng.normal(size=300)}
    )
    y = (frame["colour"] == "green") | (frame["x"] > 1)
    trees = HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype").fit(frame, y)
    model = RuleEnsembleClassifier(trees=trees, **MANY).fit(frame, y)
    assert any("colour = green" in row.text or "colour != green" in row.text for row in model.rules_)
    assert model.score(frame, y) > 0.95
