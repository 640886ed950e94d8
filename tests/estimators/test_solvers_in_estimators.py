"""Any solver in any estimator: by name or as an instance, with weights, caps, given points and honest folds.

Beyond the mirror of the package: it is the product of two packages, solvers and estimators.
"""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import make_friedman1
from sklearn.metrics import log_loss

from rulegrove import Fpc, Glmnet, Pathbuild, RuleEnsembleClassifier, RuleEnsembleRegressor, Spgl1
from rulegrove.datasets import load
from rulegrove.exceptions import InvalidInputError
from rulegrove.solvers import SOLVERS

SETTINGS = {"n_candidates": 150, "random_state": 0}
INSTANCES = [
    Glmnet(l1_ratio=0.5),
    Glmnet(loss="logistic"),
    Glmnet(relax=True),
    Spgl1(n_points=30),
    Spgl1(l1_radius=2.0),
    Spgl1(residual_target=[16.0, 12.0]),
    Fpc(n_penalties=30),
    Fpc(fit_weight=0.5),
    Fpc(method="basic", n_penalties=10, penalty_ratio=0.05),
    Pathbuild(n_steps=300),
    Pathbuild(threshold=1.0, loss="squared_hinge", n_steps=300),
    Pathbuild(loss="squared", intercept="fixed", n_steps=300),
    Pathbuild(threshold="cv", n_steps=100, n_points=15),
]


@pytest.fixture(scope="module")
def cancer():
    X, y = load("breast-w", return_X_y=True)
    return X[:400], y[:400], X[400:], y[400:]


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(500, random_state=0)


@pytest.mark.parametrize("solver", [*SOLVERS, *INSTANCES], ids=str)
def test_classifier(cancer, solver):
    X, y, X_test, y_test = cancer
    model = RuleEnsembleClassifier(solver=solver, **SETTINGS).fit(X, y)
    assert model.score(X_test, y_test) > 0.93
    assert 0 < len(model.rules_) <= len(model.candidates_[0])
    scores = model.intercept_ + model.transform_rules(X_test) @ model.coef_
    np.testing.assert_allclose(model.decision_function(X_test), scores, atol=1e-12)
    probability = model.predict_proba(X_test)
    assert probability.min() >= 0.0
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(X_test))
    assert model.path_.coefs.shape[1] == len(model.candidates_[0])
    assert len(model.path_.status) == len(model.path_.coefs) == len(model.selection_.errors)


@pytest.mark.parametrize(
    "solver", [*SOLVERS, Pathbuild(loss="huber", n_steps=500), Glmnet(relax=True), Spgl1(l2_penalty=0.1)], ids=str
)
def test_regressor(friedman, solver):
    X, y = friedman
    model = RuleEnsembleRegressor(solver=solver, **SETTINGS).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.7
    assert model.solver_.get_params().get("loss", "squared") in {"squared", "huber"}


@pytest.mark.parametrize("seed", [0, 1])
def test_convex_solvers_give_the_same_model(cancer, seed):
    X, y, X_test, _ = cancer
    models = [
        RuleEnsembleClassifier(n_candidates=150, random_state=seed, solver=solver, selection=0.05).fit(X, y)
        for solver in (Glmnet(tol=1e-9), Fpc(tol=1e-9))
    ]
    norm = float(np.abs(models[0].path_.coefs[-1]).sum())
    models.append(
        RuleEnsembleClassifier(n_candidates=150, random_state=seed, solver=Spgl1(tol=1e-9), selection=norm).fit(X, y)
    )
    for model in models[1:]:
        np.testing.assert_allclose(model.decision_function(X_test), models[0].decision_function(X_test), atol=1e-3)
        assert model.path_.penalties[-1] == pytest.approx(0.05, rel=1e-3)
        assert [row.text for row in model.rules_][:5] == [row.text for row in models[0].rules_][:5]


def test_logistic_scores_are_log_odds(cancer):
    X, y, X_test, y_test = cancer
    squared, logistic = (
        RuleEnsembleClassifier(solver=Glmnet(loss=loss), max_terms=None, **SETTINGS).fit(X, y)
        for loss in ("squared", "logistic")
    )
    odds = logistic.decision_function(X_test)
    np.testing.assert_allclose(logistic.predict_proba(X_test)[:, 1], expit(odds))
    assert np.abs(odds).max() > 2.0
    losses = [log_loss(y_test, model.predict_proba(X_test)) for model in (squared, logistic)]
    assert losses[1] < losses[0]


def test_the_threshold_is_chosen_on_the_folds(cancer):
    X, y, *_ = cancer
    model = RuleEnsembleClassifier(solver=Pathbuild(threshold="cv", n_steps=100, n_points=15), **SETTINGS).fit(X, y)
    assert model.solver_.threshold in [k / 10 for k in range(11)]
    assert model.get_params()["solver"].threshold == "cv"
    again = RuleEnsembleClassifier(
        solver=Pathbuild(threshold=model.solver_.threshold, n_steps=100, n_points=15), **SETTINGS
    ).fit(X, y)
    np.testing.assert_array_equal(model.coef_, again.coef_)


@pytest.mark.parametrize(
    "solver", [Glmnet(loss="logistic"), Pathbuild(n_steps=100), Spgl1(), Fpc(), Glmnet(relax=True)], ids=str
)
class TestEverySolver:
    def test_threads_do_not_matter(self, cancer, solver):
        X, y, *_ = cancer
        one, two = (RuleEnsembleClassifier(solver=solver, n_jobs=n, **SETTINGS).fit(X, y) for n in (1, 2))
        np.testing.assert_array_equal(one.coef_, two.coef_)
        assert one.intercept_ == two.intercept_

    def test_caps(self, cancer, solver):
        X, y, X_test, y_test = cancer
        model = RuleEnsembleClassifier(solver=solver, max_terms=4, **SETTINGS).fit(X, y)
        assert 0 < len(model.rules_) <= 4
        assert model.score(X_test, y_test) > 0.9

    def test_weights_and_honest_folds(self, cancer, solver):
        X, y, X_test, y_test = cancer
        weights = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
        model = RuleEnsembleClassifier(solver=solver, honest_cv=True, cv=3, class_weight="balanced", **SETTINGS)
        assert model.fit(X, y, sample_weight=weights).score(X_test, y_test) > 0.9

    def test_rows_of_no_weight_do_not_exist(self, cancer, solver):
        X, y, *_ = cancer
        folds = np.arange(400) % 5
        splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(5)]
        weights = np.ones(400)
        weights[300:] = 0.0
        flipped = np.where(weights > 0, y, np.random.default_rng(0).permutation(y))
        one, two = (
            RuleEnsembleClassifier(solver=solver, cv=splits, **SETTINGS).fit(X, target, sample_weight=weights)
            for target in (y, flipped)
        )
        np.testing.assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize(
    ("solver", "point", "name"),
    [
        (Glmnet(), 0.03, "penalty"),
        (Glmnet(loss="logistic"), 0.03, "penalty"),
        (Fpc(), 0.03, "fit_weight"),
        (Spgl1(), 1.5, "l1_radius"),
        (Spgl1(l1_radius=1.0), 1.5, "l1_radius"),
        (Pathbuild(), 120.0, "steps"),
        (Pathbuild(loss="squared"), 120.0, "steps"),
    ],
    ids=str,
)
def test_a_given_point_ends_the_path(cancer, solver, point, name):
    X, y, *_ = cancer
    model = RuleEnsembleClassifier(solver=solver, selection=point, **SETTINGS).fit(X, y)
    value = 1 / (400 * point) if name == "fit_weight" else point
    assert model.path_.parameter.name == name
    assert model.path_.parameter.values[-1] == pytest.approx(value)
    assert model.selection_.index == len(model.path_.coefs) - 1
    assert model.selection_.errors is None


@pytest.mark.parametrize(
    ("estimator", "solver", "message"),
    [
        (RuleEnsembleRegressor, Pathbuild(), r"cannot use Pathbuild\(loss='ramp'\), which is for two classes"),
        (RuleEnsembleRegressor, Glmnet(loss="logistic"), "give it loss='squared' or 'huber'"),
        (
            RuleEnsembleClassifier,
            Pathbuild(loss="huber"),
            r"cannot use Pathbuild\(loss='huber'\), which is for numbers",
        ),
        (RuleEnsembleClassifier, Glmnet(loss="ramp"), r"Glmnet cannot take loss='ramp'; Pathbuild\(loss='ramp'\) can"),
        (RuleEnsembleClassifier, Pathbuild(loss="logistic"), r"Glmnet\(loss='logistic'\) can"),
        (RuleEnsembleClassifier, Glmnet(l1_ratio=2.0), "`l1_ratio` of Glmnet must be between 0 and 1"),
        (RuleEnsembleClassifier, Fpc(fit_weight=-1.0), "`fit_weight` must be positive"),
        (RuleEnsembleClassifier, Spgl1(l1_radius=[2.0, 1.0]), "`l1_radius` must be increasing"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(cancer, estimator, solver, message):
    X, y, *_ = cancer
    target = y if estimator is RuleEnsembleClassifier else (y == y[0]).astype(float)
    with pytest.raises(InvalidInputError, match=message):
        estimator(solver=solver, n_candidates=10**9).fit(X, target)  # refused before a single tree is grown


def test_a_threshold_to_choose_needs_folds(cancer):
    X, y, *_ = cancer
    with pytest.raises(InvalidInputError, match="chooses its threshold on folds"):
        RuleEnsembleClassifier(solver=Pathbuild(threshold="cv"), selection=50.0, **SETTINGS).fit(X, y)
