"""An expert's own rules: free, or forced into the model."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.linear_model import Lasso, LinearRegression

from rulegrove import Fpc, Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor, load_model
from rulegrove.columns import learn_columns
from rulegrove.datasets import load
from rulegrove.exceptions import DroppedRuleWarning, InvalidInputError
from rulegrove.rules.parse import parse_rule, read_rules

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
    model = RuleEnsembleClassifier(rules=OWN, force_rules=True, n_candidates=60, **FEW).fit(FRAME, PIMA.y)
    assert model.solver_.loss == "logistic"
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
    with pytest.raises(InvalidInputError, match=r"`force_rules` is not for fits that solve for all classes together"):
        RuleEnsembleClassifier.from_rules(own, forced=True, multiclass="grouped", solver=Glmnet(), **FEW).fit(X, y)
    with pytest.raises(InvalidInputError, match=r"take multiclass='ovr'"):
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
        (
            {"rules": ["glucose >= 126", "age > 30", "glucose > 125.5"], "force_rules": True},
            r"The rule 'glucose > 125.5' holds on the very rows on which 'glucose >= 126' does",
        ),
        (
            {"rules": ["glucose >= 126", "glucose < 126"], "force_rules": True},
            r"The rule 'glucose < 126' holds on the very rows but those on which 'glucose >= 126' does",
        ),
        (
            {"rules": ["age <= 30", "30 < age <= 50", "age > 50"], "force_rules": True},
            r"The rule 'age > 50' follows from the rules before it together",
        ),
        ({"rules": OWN, "force_rules": True, "solver": Fpc()}, r"`force_rules` needs solver='glmnet' or Glmnet"),
        (
            {"force_rules": True, "n_candidates": 50},
            r"force_rules=True puts `rules` into the model, and there are none",
        ),
        ({"rules": [], "force_rules": True}, r"there are none; give some"),
        ({"n_candidates": 0}, r"`n_candidates` must be at least 2, or 0 together with `rules` of your own"),
        ({"n_candidates": 1, "rules": OWN}, r"`n_candidates` must be at least 2"),
        ({"rules": OWN, "terms": "linear"}, r"`rules` are for models with rules, and terms='linear' has none"),
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
    assert {row.text for row in model.rules_} == {"my colour != 'green'", "x >= 0.5 or missing", "x is missing"}
    assert model.score(frame, y) > 0.9


@pytest.mark.parametrize("side", ["<=", ">"])
def test_a_forced_rule_of_one_class_has_no_logistic_weight(side):
    """Without a penalty its coefficient would grow without end."""
    y = np.where(FRAME["glucose"] > 170, "tested_positive", PIMA.y)
    model = RuleEnsembleClassifier.from_rules([f"glucose {side} 170", *OWN[1:]], forced=True, **FEW)
    with pytest.raises(InvalidInputError, match=rf"'glucose {side} 170' parts off rows of one class alone"):
        model.fit(FRAME, y)
    squared = model.set_params(solver=Glmnet()).fit(FRAME, y)
    assert parse_rule(f"glucose {side} 170", FEATURES) in {row.term for row in squared.rules_}
    model.set_params(force_rules=False, solver="glmnet").fit(FRAME, y)
