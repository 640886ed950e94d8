"""More than two classes: one against the rest, with rules of their own or shared.

Beyond the mirror of the package: the modes go through the target, the trees, the solvers and the choice of a point.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier

from rulegrove import Fpc, Glmnet, Pathbuild, RuleEnsembleClassifier, Spgl1
from rulegrove.datasets import load, make_waveform
from rulegrove.exceptions import InvalidInputError

MODES = ["ovr", "shared", "grouped"]
PLAIN = Glmnet()
SETTINGS = {"n_candidates": 60, "cv": 2, "random_state": 0}


@pytest.fixture(scope="module")
def waveform():
    X, y = make_waveform(800, random_state=0)
    return X[:400], y[:400], X[400:], y[400:]


@pytest.fixture(scope="module")
def models(waveform):
    """One model of each mode."""
    X, y, *_ = waveform
    return {mode: RuleEnsembleClassifier(multiclass=mode, n_jobs=1, **SETTINGS).fit(X, y) for mode in MODES}


SOLVERS = [PLAIN, Glmnet(loss="logistic"), Glmnet(relax=True), Spgl1(), Fpc(), Pathbuild(n_steps=200), "pathbuild"]


@pytest.mark.parametrize(
    ("multiclass", "solver"),
    [("grouped", PLAIN), *((mode, solver) for mode in ("ovr", "shared") for solver in SOLVERS)],
    ids=str,
)
def test_every_solver_tells_three_classes_apart(waveform, multiclass, solver):
    X, y, X_test, y_test = waveform
    model = RuleEnsembleClassifier(multiclass=multiclass, solver=solver, **SETTINGS).fit(X, y)
    assert model.score(X_test, y_test) > 0.72
    scores = model.decision_function(X_test)
    assert scores.shape == (400, 3)
    np.testing.assert_allclose(scores, model.intercept_ + model.transform_rules(X_test) @ model.coef_.T, atol=1e-10)
    probability = model.predict_proba(X_test)
    assert probability.min() >= 0.0
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X_test), model.classes_[scores.argmax(axis=1)])
    assert model.coef_.shape == (3, len(model.rules_))
    assert model.intercept_.shape == (3,)
    assert len(model.path_) == len(model.selection_) == len(model.solver_) == 3


def test_shared_rules_are_grown_once(models):
    shared, own = models["shared"], models["ovr"]
    assert len(shared.candidates_.rules) <= 60
    assert [len(terms.rules) <= 60 for terms in own.candidates_] == [True] * 3
    assert (np.count_nonzero(shared.coef_, axis=0) > 1).any(), "some rule serves several classes"
    assert shared.coef_.any(axis=0).all()


def test_own_rules_are_those_of_the_binary_problems(waveform):
    """Each class against the rest is the two-class model of the same trees, up to the seeds."""
    X, y, X_test, y_test = waveform
    own = RuleEnsembleClassifier(multiclass="ovr", max_terms=None, **SETTINGS).fit(X, y)
    wrapped = OneVsRestClassifier(RuleEnsembleClassifier(max_terms=None, **SETTINGS)).fit(X, y)
    assert own.score(X_test, y_test) == pytest.approx(wrapped.score(X_test, y_test), abs=0.04)


@pytest.mark.parametrize("multiclass", MODES)
def test_seed_and_threads(waveform, models, multiclass):
    X, y, X_test, _ = waveform
    model = RuleEnsembleClassifier(multiclass=multiclass, n_jobs=2, **SETTINGS).fit(X, y)
    np.testing.assert_array_equal(model.coef_, models[multiclass].coef_)
    np.testing.assert_array_equal(model.decision_function(X_test), models[multiclass].decision_function(X_test))


@pytest.mark.parametrize(
    ("labels", "multiclass"),
    [
        (["versicolor", "setosa", "virginica"], "ovr"),
        ([3, -1, 20], "shared"),
        ([2.0, 1.0, 5.0], "grouped"),
        (np.array(["b", "a", "cc"], dtype=object), "ovr"),
    ],
    ids=str,
)
def test_labels_of_any_kind(labels, multiclass):
    """Labels are codes before the mode matters, so each kind meets one mode and each mode a kind."""
    X, y = load("iris", return_X_y=True)
    codes = np.unique(y, return_inverse=True)[1]
    target = np.asarray(labels)[codes]
    model = RuleEnsembleClassifier(multiclass=multiclass, **SETTINGS).fit(X, target)
    np.testing.assert_array_equal(model.classes_, np.unique(target))
    assert model.score(X, target) > 0.9
    assert set(model.predict(X)) <= set(target)
    again = RuleEnsembleClassifier(multiclass=multiclass, **SETTINGS).fit(pd.DataFrame(X), pd.Series(target))
    np.testing.assert_array_equal(again.predict(pd.DataFrame(X)), model.predict(X))


@pytest.mark.parametrize(
    ("multiclass", "n_classes", "n_candidates", "score"),
    [("ovr", 100, 10, 0.5), ("shared", 20, 40, 0.8), ("grouped", 20, 30, 0.8)],
)
def test_many_classes(multiclass, n_classes, n_candidates, score):
    y = np.arange(n_classes * (3 if n_classes == 100 else 6)) % n_classes
    X = np.column_stack([y // 10, y % 10]) + 0.1 * np.random.default_rng(0).normal(size=(len(y), 2))
    model = RuleEnsembleClassifier(
        multiclass=multiclass, n_candidates=n_candidates, min_samples_leaf=2, cv=2, random_state=0
    ).fit(X, y)
    assert model.predict_proba(X).shape == (len(y), n_classes)
    assert model.score(X, y) > score


@pytest.mark.parametrize("multiclass", MODES)
@pytest.mark.parametrize("solver", [Glmnet(), Glmnet(loss="logistic"), Pathbuild(n_steps=50)], ids=str)
def test_a_class_of_one_row_is_always_trained_on(multiclass, solver):
    if multiclass == "grouped":
        solver = Glmnet()
    X, y = load("iris", return_X_y=True)
    target = np.append(y.astype(object), "alone")
    table = np.vstack([X, X.max(axis=0) + 1.0])
    model = RuleEnsembleClassifier(multiclass=multiclass, solver=solver, **SETTINGS).fit(table, target)
    assert len(model.classes_) == 4
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("multiclass", MODES)
def test_weights_and_a_class_without_weight(waveform, multiclass):
    X, y, X_test, y_test = waveform
    weights = np.where(y == y[0], 0.0, 1.0)
    model = RuleEnsembleClassifier(multiclass=multiclass, max_terms=None, **SETTINGS).fit(X, y, sample_weight=weights)
    assert y[0] not in set(model.predict(X_test))
    others = y_test != y[0]
    assert model.score(X_test[others], y_test[others]) > 0.85
    balanced = RuleEnsembleClassifier(multiclass=multiclass, class_weight="balanced", **SETTINGS).fit(X, y)
    assert balanced.score(X_test, y_test) > 0.72


@pytest.mark.parametrize("multiclass", MODES)
def test_rules_say_what_they_mean_for_each_class(waveform, multiclass):
    X, y, *_ = waveform
    model = RuleEnsembleClassifier(multiclass=multiclass, terms="rules", **SETTINGS).fit(X, y)
    values = model.transform_rules(X).astype(bool)
    for place, row in enumerate(model.rules_):
        assert list(row.coefficients.values()) == model.coef_[:, place].tolist()
        here = y[values[:, place]]
        assert row.support == pytest.approx(values[:, place].mean())
        for label in model.classes_.tolist():
            assert row.confidences[label] == pytest.approx(np.mean(here == label))
        strongest = max(row.coefficients, key=lambda label: abs(row.coefficients[label]))
        assert row.speaks_for == strongest
        assert row.against == (row.coefficients[strongest] < 0)
        assert row.sentence.startswith(f"If {row.text}: {strongest} is ")
        assert row.sentence.endswith(".")
    frame = model.rules_.to_frame()
    assert {f"coefficient of {label}" for label in model.classes_.tolist()} <= set(frame.columns)
    assert {f"share of {label}" for label in model.classes_.tolist()} <= set(frame.columns)
    assert "not " in repr(model.rules_) or not any(row.against for row in model.rules_)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_scikit_learn_around_it(waveform):
    X, y, *_ = waveform
    model = RuleEnsembleClassifier(multiclass="shared", max_terms=10, **SETTINGS)
    assert cross_val_score(clone(model), X, y, cv=2, scoring="neg_log_loss").min() > -1.0
    fitted = model.fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
    assert (np.count_nonzero(fitted.coef_, axis=1) <= 10).all()


def test_two_classes_do_not_ask_for_a_mode(waveform):
    X, y, *_ = waveform
    models = [RuleEnsembleClassifier(multiclass=mode, **SETTINGS).fit(X, y == y[0]) for mode in ("auto", *MODES)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
    assert models[0].decision_function(X).shape == (400,)
    assert models[0].coef_.ndim == 1


def test_grouped_rules_enter_for_all_classes_or_none(waveform, models):
    X, y, X_test, y_test = waveform
    grouped = models["grouped"]
    assert (grouped.coef_ != 0).all()
    assert grouped.score(X_test, y_test) > models["ovr"].score(X_test, y_test) - 0.04
    assert {selection.index for selection in grouped.selection_} == {grouped.selection_[0].index}
    capped = RuleEnsembleClassifier(multiclass="grouped", max_terms=7, **SETTINGS).fit(X, y)
    assert 0 < len(capped.rules_) <= 7
    given = RuleEnsembleClassifier(multiclass="grouped", selection=0.1, **SETTINGS).fit(X, y)
    assert given.path_[0].penalties[-1] == 0.1


@pytest.mark.parametrize("solver", [Glmnet(loss="logistic"), Spgl1(), "fpc"], ids=str)
def test_groups_need_glmnet(waveform, solver):
    X, y, *_ = waveform
    with pytest.raises(InvalidInputError, match=r"multiclass='grouped' needs solver=Glmnet\(loss='squared'\)"):
        RuleEnsembleClassifier(multiclass="grouped", solver=solver).fit(X, y)


def test_the_multinomial_fit_gives_softmax_probabilities(waveform):
    X, y, X_test, y_test = waveform
    own, joint = (
        RuleEnsembleClassifier(multiclass=mode, solver=Glmnet(loss="logistic"), max_terms=None, **SETTINGS).fit(X, y)
        for mode in ("ovr", "shared")
    )
    scores = joint.decision_function(X_test)
    np.testing.assert_allclose(joint.predict_proba(X_test), softmax(scores, axis=1))
    assert log_loss(y_test, joint.predict_proba(X_test)) < log_loss(y_test, own.predict_proba(X_test)) + 0.05
    assert len({selection.index for selection in joint.selection_}) == 1
    np.testing.assert_allclose(joint.path_[0].gaps, joint.path_[2].gaps)
    assert joint.path_[0].gaps.max() <= 1e-5
    given = RuleEnsembleClassifier(multiclass="shared", solver=Glmnet(loss="logistic"), selection=0.02, **SETTINGS)
    assert given.fit(X, y).path_[1].penalties[-1] == 0.02
    capped = RuleEnsembleClassifier(multiclass="shared", solver=Glmnet(loss="logistic"), max_terms=5, **SETTINGS)
    assert 0 < np.count_nonzero(capped.fit(X, y).coef_, axis=1).max() <= 5


def test_rules_are_each_class_s_own_unless_they_are_given(waveform, models):
    X, y, X_test, _ = waveform
    auto = RuleEnsembleClassifier(**SETTINGS).fit(X, y)
    assert auto.multiclass_ == auto.settings_["multiclass"] == "ovr"
    np.testing.assert_array_equal(auto.predict_proba(X_test), models["ovr"].predict_proba(X_test))
    given = RuleEnsembleClassifier.from_rules(["x6 > 2", "x10 > 3 and x14 <= 2"], random_state=0).fit(X, y)
    assert given.multiclass_ == "shared"
    assert len(given.candidates_.distinct) == 1
