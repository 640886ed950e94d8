"""What the classifier and the regressor share.

scikit-learn's own checks, and life in its company: pipelines, searches, copies, files, and refits that do not end.
"""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from rulegrove import Glmnet, RuleAttributeSelector, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import load
from rulegrove.estimators import attributes, pipeline
from rulegrove.estimators._base import fit_chosen
from sklearn_checks import expected_failures
from small_pools import shrink_pool

KINDS = [RuleEnsembleClassifier, RuleEnsembleRegressor]


@parametrize_with_checks(
    [
        *(kind(n_candidates=10, cv=2, n_jobs=1) for kind in KINDS),
        *(
            RuleEnsembleRegressor(loss=loss, n_candidates=10, cv=2, n_jobs=1)
            for loss in ("poisson", "gamma", "quantile")
        ),
    ],
    expected_failed_checks=expected_failures,
    xfail_strict=True,
)
@pytest.mark.filterwarnings("ignore::rulegrove.exceptions.NotConvergedWarning")  # class weights of 1000 and 0.0001
def test_scikit_learn_is_content(estimator, check):
    check(estimator)


def make_data(kind, n_rows=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = X[:, 0] + 2.0 * (X[:, 1] > 0.3) + 0.2 * rng.normal(size=n_rows)
    return X, (y > 0.8).astype(int) if kind is RuleEnsembleClassifier else y


def make(kind, **changes):
    folds = {} if kind is RuleAttributeSelector else {"cv": 3}
    return kind(**{"n_candidates": 30, "random_state": 0, "n_jobs": 1, **folds, **changes})


def scores_of(fitted, X):
    return fitted.decision_function(X) if is_classifier(fitted) else fitted.predict(X)


def assert_same_model(one, other, X):
    """Equal to the last bit."""
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.intercept_ == other.intercept_
    assert [term.text for term in one.rules_] == [term.text for term in other.rules_]
    np.testing.assert_array_equal(scores_of(one, X), scores_of(other, X))


def test_kinds_are_told_apart():
    assert is_classifier(RuleEnsembleClassifier())
    assert is_regressor(RuleEnsembleRegressor())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"honest_cv": True}, {"max_features": "sqrt", "max_terms": 4}])
def test_same_seed_same_model_for_any_number_of_threads(kind, options):
    X, y = make_data(kind, 300)
    one = make(kind, n_jobs=1, **options).fit(X, y)
    for n_jobs in (2, 4, None):
        many = make(kind, n_jobs=n_jobs, **options).fit(X, y)
        assert_same_model(one, many, X)
        np.testing.assert_array_equal(one.path_.coefs, many.path_.coefs)
        np.testing.assert_array_equal(one.selection_.fold_errors, many.selection_.fold_errors)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_do_not_matter_with_weights_either(kind):
    X, y = make_data(kind, 300)
    weights = np.random.default_rng(0).random(300) + 0.1
    one, two = (make(kind, n_jobs=n).fit(X, y, sample_weight=weights) for n in (1, 2))
    assert_same_model(one, two, X)


@pytest.mark.parametrize("kind", KINDS)
def test_another_seed_is_another_model(kind):
    X, y = make_data(kind)
    one, other = make(kind, random_state=0).fit(X, y), make(kind, random_state=1).fit(X, y)
    assert one.candidates_.rules != other.candidates_.rules


@pytest.mark.parametrize("kind", KINDS)
def test_random_states_of_every_kind(kind):
    X, y = make_data(kind)
    one, two = (make(kind, random_state=np.random.RandomState(3)).fit(X, y) for _ in range(2))
    assert_same_model(one, two, X)
    assert_same_model(make(kind, random_state=np.int64(5)).fit(X, y), make(kind, random_state=5).fit(X, y), X)
    make(kind, random_state=None).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_a_clone_is_unfitted_and_fits_to_the_same(kind):
    X, y = make_data(kind)
    fitted = make(kind, solver=Glmnet(l1_ratio=0.9)).fit(X, y)
    twin = clone(fitted)
    assert not hasattr(twin, "coef_")
    assert twin.solver is not fitted.solver
    assert twin.get_params()["solver__l1_ratio"] == 0.9
    assert_same_model(fitted, twin.fit(X, y), X)


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_fit_forgets_the_first(kind):
    X, y = make_data(kind)
    fitted = make(kind).fit(pd.DataFrame(X, columns=list("abcd")), y).fit(X[:, :3], y)
    assert fitted.n_features_in_ == 3
    assert not hasattr(fitted, "feature_names_in_")
    assert_same_model(fitted, make(kind).fit(X[:, :3], y), X[:, :3])


@pytest.mark.parametrize("kind", [*KINDS, RuleAttributeSelector])
@pytest.mark.parametrize("preset", [None, "fast"])
@pytest.mark.parametrize("end", ["refused", "failed", "interrupted"])
@pytest.mark.parametrize("n_rows", [120, "many"])
def test_a_refit_that_does_not_end_leaves_the_model_whole(monkeypatch, kind, preset, end, n_rows):
    """The classes and names of the new fit stood beside the rules of the old one, and `predict` gave wrong labels."""
    if n_rows == "many":
        shrink_pool(monkeypatch, 100)
    X, y = make_data(kind)
    fitted = make(kind, preset=preset).fit(pd.DataFrame(X, columns=list("abcd")), y)
    fitted.note = "of the user"
    before = vars(fitted).copy()
    weights = None
    if end == "refused":
        weights = np.full(len(y), -1.0)
    else:
        error = KeyboardInterrupt if end == "interrupted" else MemoryError

        def stop(*args, **kwargs):
            raise error

        monkeypatch.setattr(pipeline, "make_model", stop)  # all but the last step of a fit
        monkeypatch.setattr(attributes, "mean_shares", stop)
    other = np.where(y > np.median(y), "new", "labels") if kind is RuleEnsembleClassifier else -y
    with pytest.raises((ValueError, MemoryError, KeyboardInterrupt)):
        fitted.fit(X[:, :3], other, sample_weight=weights)
    assert vars(fitted).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(fitted).items())


def test_a_second_selection_forgets_the_losses_of_the_first():
    X, y = make_data(RuleEnsembleRegressor)
    selector = RuleAttributeSelector(n_candidates=20, n_repeats=2, min_votes=1, n_jobs=1).fit(X, y)
    assert not hasattr(selector.set_params(criterion="votes").fit(X, y), "losses_")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["pickle", "joblib"])
@pytest.mark.parametrize("used", [False, True])
def test_a_model_survives_a_file(tmp_path, kind, way, used):
    X, y = make_data(kind)
    fitted = make(kind).fit(X, y)
    if used:
        scores_of(fitted, X)
    if way == "pickle":
        twin = pickle.loads(pickle.dumps(fitted))
    else:
        joblib.dump(fitted, tmp_path / "model.joblib")
        twin = joblib.load(tmp_path / "model.joblib")
    assert_same_model(fitted, twin, X)
    assert repr(twin.rules_) == repr(fitted.rules_)


def test_a_pickled_model_carries_nothing_of_the_rows():
    """What predicts holds nothing of training: ten times the rows do not make the file larger by their size."""
    sizes = []
    for n_rows in (200, 4000):
        X, y = make_data(RuleEnsembleRegressor, n_rows)
        fitted = make(RuleEnsembleRegressor, solver=Glmnet(n_penalties=20)).fit(X, y)
        sizes.append(len(pickle.dumps(fitted)))
    assert sizes[1] < sizes[0] + 4000 * 8


def test_in_a_pipeline_with_names():
    breast = load("breast-w")
    frame = pd.DataFrame(breast.X, columns=breast.feature_names)
    pipeline = make_pipeline(SimpleImputer().set_output(transform="pandas"), make(RuleEnsembleClassifier))
    pipeline.fit(frame, breast.y)
    assert pipeline.score(frame, breast.y) > 0.93
    assert list(pipeline[-1].feature_names_in_) == list(breast.feature_names)
    assert any(name in pipeline[-1].rules_[0].text for name in breast.feature_names)


@pytest.mark.parametrize("kind", KINDS)
def test_in_a_search(kind):
    X, y = make_data(kind)
    search = GridSearchCV(
        make(kind), {"max_terms": [0, 5], "solver": [Glmnet(), Glmnet(l1_ratio=0.5)], "selection": ["1se", 0.05]}, cv=2
    )
    search.fit(X, y)
    assert search.best_params_["max_terms"] == 5
    assert search.best_score_ > 0.6


def test_a_search_reaches_into_the_solver():
    X, y = make_data(RuleEnsembleRegressor)
    search = GridSearchCV(make(RuleEnsembleRegressor, solver=Glmnet()), {"solver__l1_ratio": [0.5, 1.0]}, cv=2)
    assert search.fit(X, y).best_estimator_.solver.l1_ratio in (0.5, 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_in_cross_validation(kind):
    X, y = make_data(kind)
    assert cross_val_score(make(kind), X, y, cv=3).mean() > 0.6
    assert cross_val_predict(make(kind), X, y, cv=3).shape == (120,)


def test_several_classes_by_one_versus_rest():
    iris = load("iris")
    model = OneVsRestClassifier(make(RuleEnsembleClassifier, solver="glmnet"))
    assert cross_val_score(model, iris.X, iris.y, cv=2).mean() > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_routed(kind):
    """Metadata routing hands `sample_weight` through a search to the fit: rows of weight zero change nothing."""
    X, y = make_data(kind, 150)
    weights = np.repeat([1.0, 0.0], [100, 50])
    y_spoilt = np.where(weights > 0, y, 1 - y)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make(kind, selection=0.05).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"n_candidates": [30]}, cv=[(np.arange(150), np.arange(150))])
        search.fit(X, y_spoilt, sample_weight=weights)
    direct = make(kind, selection=0.05).fit(X, y_spoilt, sample_weight=weights)
    assert_same_model(search.best_estimator_, direct, X)
    blind = make(kind, selection=0.05).fit(X, y_spoilt)
    assert direct.score(X[:100], y[:100]) > blind.score(X[:100], y[:100])


@pytest.mark.parametrize("kind", KINDS)
def test_groups_are_routed(kind):
    """To the splitter of a search and to the fit, whose own folds hold out whole groups, too."""
    X, y = make_data(kind, 160)
    groups = np.arange(160) // 4
    with sklearn.config_context(enable_metadata_routing=True):
        model = make(kind, cv=GroupKFold(3)).set_fit_request(groups=True)
        found = cross_validate(model, X, y, cv=GroupKFold(2), params={"groups": groups}, return_estimator=True)
        search = GridSearchCV(model, {"n_candidates": [20, 30]}, cv=GroupKFold(2)).fit(X, y, groups=groups)
    for fitted, (train, _) in zip(found["estimator"], GroupKFold(2).split(X, y, groups), strict=True):
        assert_same_model(fitted, make(kind, cv=GroupKFold(3)).fit(X[train], y[train], groups=groups[train]), X)
    assert len(search.best_estimator_.selection_.fold_points) == 3
    assert search.best_estimator_.get_metadata_routing().fit.requests["groups"] is True


def test_logarithms_of_probabilities():
    X, y = make_data(RuleEnsembleClassifier)
    model = make(RuleEnsembleClassifier, calibration=None, solver=Glmnet(), cv=5, max_terms=None).fit(X, y)
    far = np.vstack([X, 9.0 * X])
    assert (model.predict_proba(far) == 0).any()
    np.testing.assert_array_equal(np.exp(model.predict_log_proba(far)) > 0, model.predict_proba(far) > 0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(far)), model.predict_proba(far), rtol=1e-12)


def test_a_good_partner_in_a_stack():
    X, y = make_data(RuleEnsembleClassifier)
    bits = make(RuleEnsembleClassifier, terms="rules").fit(X, y).transform_rules(X)
    assert LogisticRegression().fit(bits, y).score(bits, y) > 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_for_one_length_is_that_of_all(kind):
    X, y = make_data(kind)
    for max_terms in (None, 3):
        model = kind(n_candidates=30, cv=2, max_terms=max_terms, random_state=0, n_jobs=1)
        found, expected = fit_chosen(clone(model), X, y), model.fit(X, y)
        assert (found.front_ is None) == (max_terms is None)
        assert repr(found.rules_) == repr(expected.rules_)
        assert repr(found.settings_) == repr(expected.settings_)
        np.testing.assert_array_equal(found.predict(X), expected.predict(X))
