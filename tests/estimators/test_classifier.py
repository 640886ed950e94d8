"""What a classifier says about its classes, its rules and its data."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.utils.class_weight import compute_sample_weight

from noisy_rule import make, make_data
from rulegrove import Glmnet, RuleEnsembleClassifier
from rulegrove.datasets import load
from rulegrove.design.terms import Linear
from rulegrove.exceptions import DroppedColumnWarning
from rulegrove.rules.rule import Rule

LABELS = {
    "numbers": (0, 1),
    "signs": (-1, 1),
    "words": ("ham", "spam"),
    "truth": (False, True),
    "floats": (1.0, 2.0),
}


@pytest.fixture(scope="module")
def plain():
    X, positive = make_data()
    return make().fit(X, positive.astype(int))


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("wrap", [np.array, pd.Series, pl.Series, list])
def test_labels_of_every_kind_give_the_same_model(name, wrap, plain):
    X, positive = make_data()
    low, high = LABELS[name]
    y = [high if truth else low for truth in positive]
    fitted = make().fit(X, wrap(y))
    assert fitted.classes_.tolist() == [low, high]
    np.testing.assert_array_equal(fitted.coef_, plain.coef_)
    predicted = fitted.predict(X)
    assert predicted.tolist() == [(low, high)[k] for k in plain.predict(X)]
    assert fitted.score(X, y) == plain.score(X, positive.astype(int)) > 0.9
    assert {ranked.speaks_for for ranked in fitted.rules_} <= {low, high}


def test_probabilities_read_the_score_as_twice_p_minus_one():
    X, y = make_data()
    fitted = make(calibration=None, solver=Glmnet(), max_terms=None).fit(X, y)  # log odds are read otherwise
    scores, probabilities = fitted.decision_function(X), fitted.predict_proba(X)
    assert probabilities.shape == (200, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=0, atol=1e-15)
    assert probabilities.min() >= 0
    inside = np.abs(scores) < 1
    np.testing.assert_allclose(2 * probabilities[inside, 1] - 1, scores[inside], atol=1e-15)
    assert set(probabilities[~inside, 1]) <= {0.0, 1.0}
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[(probabilities[:, 1] > 0.5).astype(int)])
    assert scores.mean() == pytest.approx(2 * y.mean() - 1)  # the intercept is never penalised


@pytest.mark.parametrize("terms", ["rules", "linear", "both"])
def test_terms_of_the_kind_asked_for(terms):
    X, y = make_data()
    fitted = make(terms=terms, max_terms=None).fit(X, y)
    kinds = {"rules": {Rule}, "linear": {Linear}, "both": {Rule, Linear}}[terms]
    assert {type(ranked.term) for ranked in fitted.rules_} == kinds
    values = fitted.transform_rules(X)
    assert (values.dtype == np.uint8) == (terms == "rules")
    if terms == "rules":
        assert set(np.unique(values)) == {0, 1}
    scores = fitted.intercept_ + values @ fitted.coef_
    np.testing.assert_allclose(fitted.decision_function(X), scores, rtol=0, atol=1e-12)


def test_a_solver_of_ones_own_settings():
    X, y = make_data()
    lasso, mixed = make(selection=0.05).fit(X, y), make(selection=0.05, solver=Glmnet(l1_ratio=0.5)).fit(X, y)
    assert len(mixed.rules_) > len(lasso.rules_)
    assert mixed.path_.penalties[-1] == lasso.path_.penalties[-1] == 0.05
    assert mixed.solver.get_params()["l1_ratio"] == 0.5


@pytest.mark.parametrize("tree_loss", ["squared", "ramp", "logistic"])
@pytest.mark.parametrize("shrinkage", [0.0, 0.1, 1.0])
def test_every_loss_of_the_trees_learns(tree_loss, shrinkage):
    X, y = make_data()
    assert make(tree_loss=tree_loss, shrinkage=shrinkage).fit(X, y).score(X, y) > 0.88


def test_balanced_classes_are_weights_of_the_rows():
    """Identical to the last bit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=300) > 1.2
    balanced = make(class_weight="balanced").fit(X, y)
    for twin in (
        make().fit(X, y, sample_weight=compute_sample_weight("balanced", y)),
        make(class_weight=dict(zip([False, True], 300 / (2 * np.bincount(y)), strict=True))).fit(X, y),
    ):
        np.testing.assert_array_equal(balanced.coef_, twin.coef_)
        assert balanced.intercept_ == twin.intercept_
        np.testing.assert_array_equal(balanced.decision_function(X), twin.decision_function(X))
    assert balanced.predict(X).mean() > make().fit(X, y).predict(X).mean()


def test_class_weights_multiply_sample_weights():
    X, y = make_data()
    weights = np.random.default_rng(0).random(200) + 0.5
    both = make(class_weight={False: 1.0, True: 3.0}).fit(X, y, sample_weight=weights)
    by_hand = make().fit(X, y, sample_weight=weights * np.where(y, 3.0, 1.0))
    np.testing.assert_array_equal(both.coef_, by_hand.coef_)


@pytest.mark.parametrize("weight", [-1.0, np.nan])
def test_class_weights_that_are_no_weights_are_refused(weight):
    """A class of negative weight was dropped as if it had none, and the message spoke of one class."""
    X, y = make_data()
    with pytest.raises(ValueError, match="class_weight"):
        make(class_weight={False: weight, True: 1.0}).fit(X, y)


def mixed_frame(n_rows=240, seed=0):
    """Numbers with gaps and categories; missing values and one category carry the class."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 10, n_rows).round()
    city = rng.choice(["Bern", "Oslo", "Rome", "Wien"], n_rows).astype(object)
    gap = rng.random(n_rows) < 0.3
    logit = 2.0 * gap + 1.5 * np.isin(city, ["Oslo", "Rome"]) + 0.1 * (age - 50) - 1.5
    age[gap] = np.nan
    city[rng.random(n_rows) < 0.1] = None
    frame = pd.DataFrame({"age": age, "city": city, "noise": rng.normal(size=n_rows)})
    return frame, np.where(logit + 0.5 * rng.normal(size=n_rows) > 0, "ill", "well")


def test_frames_of_every_kind_give_the_same_model():
    frame, y = mixed_frame()
    models = [make().fit(make_frame(frame), y) for make_frame in (lambda f: f, pl.from_pandas, pa.Table.from_pandas)]
    for fitted in models:
        np.testing.assert_array_equal(fitted.coef_, models[0].coef_)
        assert [r.text for r in fitted.rules_] == [r.text for r in models[0].rules_]
        assert list(fitted.feature_names_in_) == ["age", "city", "noise"]
        for make_frame in (lambda f: f, pl.from_pandas, pa.Table.from_pandas):  # and predict on any kind
            np.testing.assert_array_equal(
                fitted.decision_function(make_frame(frame)), models[0].decision_function(frame)
            )


def test_arrays_of_every_kind_give_the_same_model():
    X, y = make_data()
    plain = make().fit(X, y)
    named = make().fit(pd.DataFrame(X, columns=list("abc")), y)
    mixed = make().fit(X.astype(object), y)
    listed = make().fit(X.tolist(), y.tolist())
    fortran = make().fit(np.asfortranarray(X), y)
    for twin in (named, mixed, listed, fortran):
        np.testing.assert_array_equal(twin.coef_, plain.coef_)
    assert not hasattr(plain, "feature_names_in_")
    assert plain.n_features_in_ == 3
    assert "x0" in plain.rules_[0].text or "x1" in plain.rules_[0].text


def test_gaps_and_categories_are_used_and_said():
    frame, y = mixed_frame(600)
    fitted = make(n_candidates=100, selection="min", terms="rules").fit(frame, y)
    words = [ranked.text for ranked in fitted.rules_]
    assert any("or missing" in text or "age is missing" in text for text in words)
    assert any(re.search("city (in|not in|==|!=) ", text) for text in words)
    assert fitted.feature_importances_.argmin() == 2
    new, labels = mixed_frame(600, seed=1)
    assert fitted.score(new, labels) > 0.8
    assert fitted.score(new, labels) > make(categorical_features=None).fit(new[["noise"]], labels).score(
        new[["noise"]], labels
    )


def test_numbers_can_be_categories():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 8, 300).astype(np.float64)
    y = np.isin(code, [1, 4, 6])
    frame = pd.DataFrame({"code": code, "noise": rng.normal(size=300)})
    fitted = make(categorical_features=["code"], terms="rules", n_candidates=10).fit(frame, y)
    assert fitted.score(frame, y) == 1.0
    assert fitted.rules_[0].text in ("code in {1, 4, 6}", "code not in {1, 4, 6}")


def test_nothing_to_learn_from_leaves_the_intercept():
    y = np.array([0, 1, 1, 1] * 5)
    with pytest.warns(DroppedColumnWarning) as told:
        fitted = make().fit(np.ones((20, 2)), y)
    assert {str(warning.message) for warning in told} == {
        "Column 0 ('x0') is constant; no term uses it.",
        "Column 1 ('x1') is constant; no term uses it.",
    }
    assert len(fitted.rules_) == fitted.coef_.size == 0
    np.testing.assert_allclose(fitted.predict_proba(np.zeros((3, 2))), [[0.25, 0.75]] * 3)
    assert fitted.transform_rules(np.zeros((3, 2))).shape == (3, 0)
    assert fitted.feature_importances_.tolist() == [0.0, 0.0]
    assert "intercept alone" in repr(fitted.rules_)


def test_the_table_without_terms_still_speaks_of_classes():
    """An empty model of a classifier has the columns of any other model of a classifier."""
    X, y = make_data()
    empty, full = make(max_terms=0).fit(X, y), make().fit(X, y)
    assert list(empty.rules_.to_dict()) == list(full.rules_.to_dict())


@pytest.mark.filterwarnings("ignore::rulegrove.exceptions.DroppedColumnWarning")  # ion has a constant column
@pytest.mark.parametrize(("name", "error"), [("breast-w", 0.06), ("ion", 0.13), ("pima", 0.28), ("sonar", 0.30)])
def test_bundled_sets_are_learned(name, error):
    """Well below the share of the smaller class; large models of the lasso have less than half of the candidates."""
    data = load(name)
    X, X_new, y, y_new = train_test_split(data.X, data.y, test_size=0.4, random_state=0, stratify=data.y)
    fitted = make(n_candidates=200, cv=5).fit(X, y)
    assert 1 - fitted.score(X_new, y_new) <= error
    assert fitted.score(X_new, y_new) > DummyClassifier().fit(X, y).score(X_new, y_new) + 0.05
    assert roc_auc_score(y_new, fitted.decision_function(X_new)) > 0.78
    assert len(fitted.rules_) <= 60
    lasso = make(n_candidates=200, max_terms=None, solver=Glmnet()).fit(X, y)
    assert len(lasso.rules_) < min(len(lasso.candidates_[0]) / 2, fitted.front_[-1].rules)
    assert lasso.score(X_new, y_new) > 1 - error


def test_an_unfitted_model_says_so():
    X, _ = make_data()
    for method in ("predict", "predict_proba", "decision_function", "transform_rules"):
        with pytest.raises(NotFittedError):
            getattr(RuleEnsembleClassifier(), method)(X)


@pytest.mark.parametrize("ratio", [1e-2, 1e-3, 1e-5, 1e-7])
@pytest.mark.filterwarnings("ignore::rulegrove.exceptions.NotConvergedWarning")
def test_lopsided_weights_do_not_run_away(ratio):
    """The working set's coordinate descent ran away: coefficients of 1e155 at a weight ratio of 1e-5.

    From there on the target hardly varies and the last points of the path may miss the tolerance, with a warning.
    """
    X, y = make_blobs(centers=2, random_state=0, cluster_std=20)
    X, _, y, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    fitted = make(n_candidates=20, class_weight={0: 1.0, 1: ratio}).fit(X, y)
    assert np.abs(fitted.path_.coefs).max() < 10
    if ratio >= 1e-3:
        assert fitted.path_.gaps.max() <= Glmnet().tol


DEFAULT = Glmnet(l1_ratio=0.5)
FORCED = {"rules": ["x0 > 0"], "force_rules": True}


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "settings", "solver"),
    [
        (100, 2, {}, DEFAULT),
        (100, 2, FORCED, DEFAULT),
        (5000, 2, {}, DEFAULT),
        (100, 3, {}, DEFAULT),
        (100, 3, FORCED, DEFAULT),
        (100, 3, {"multiclass": "shared"}, DEFAULT),
        (100, 3, {"multiclass": "grouped"}, DEFAULT),
        (100, 2, {"solver": Glmnet(l1_ratio=0.3)}, Glmnet(l1_ratio=0.3)),
        (100, 2, {"selection": 0.01}, Glmnet()),
    ],
)
def test_the_default_solver_is_one_for_all_sizes(n_rows, n_classes, settings, solver):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    y = np.digitize(X[:, 0] + X[:, 1], [0.0, 1.0][: n_classes - 1])
    model = RuleEnsembleClassifier(n_candidates=10, cv=2, honest_cv=False, random_state=0, **settings).fit(X, y)
    assert {repr(used) for used in model.solver_} == {repr(solver)}
