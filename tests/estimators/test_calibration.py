"""Curves from scores to probabilities, fitted on held-out scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss

from rulegrove import Glmnet, RuleEnsembleClassifier
from rulegrove.datasets import load, make_waveform
from rulegrove.estimators import calibration
from rulegrove.estimators.calibration import Mean, Sigmoid, Steps, Temperature, fit_curves
from rulegrove.exceptions import InvalidInputError

SETTINGS = {"n_candidates": 100, "cv": 3, "random_state": 0}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), slope=st.floats(0.2, 20.0), weighted=st.booleans())
def test_sigmoid_is_the_likeliest(seed, slope, weighted):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=200)
    positive = rng.random(200) < expit(slope * scores - 0.5)
    positive[:2] = [True, False]
    weights = rng.uniform(0.1, 3.0, 200) if weighted else np.ones(200)
    curve = Sigmoid.fit(scores, positive, weights)
    up, down = weights[positive].sum(), weights[~positive].sum()
    target = np.where(positive, (up + 1) / (up + 2), 1 / (down + 2))

    def cost(coef):
        odds = coef[0] * scores + coef[1]
        return weights @ (np.logaddexp(0, odds) - target * odds)

    best = minimize(cost, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12, "maxiter": 4000})
    assert cost([curve.slope, curve.shift]) <= best.fun + 1e-6 * abs(best.fun)


LEVELS = Steps(np.array([-2.0, -1.0, 1.0, 3.0]), np.array([0.1, 0.4, 0.4, 0.9]))
CURVES = [Sigmoid(2.5, -0.3), Sigmoid(-1.0, 0.5), Mean(), LEVELS]


@given(curve=st.sampled_from(CURVES), probability=st.floats(0.1, 0.9))
def test_the_score_of_a_probability_has_it(curve, probability):
    assert curve(np.array([curve.invert(probability)]))[0] == pytest.approx(probability, abs=1e-12)


def test_a_probability_of_many_scores_or_of_none():
    assert LEVELS.invert(0.4) == 0.0
    assert [LEVELS.invert(0.05), LEVELS.invert(0.95)] == [-2.0, 3.0]
    assert Sigmoid(0.0, 1.0).invert(0.2) == 0.0
    assert Temperature(2.0).find_scores(np.array([1.0, 0.0])).tolist() == [-np.inf]
    assert Temperature(2.0).find_scores(np.array([1.0, 0.0, 0.0])).tolist() == [0.0, -np.inf, -np.inf]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 5))
def test_temperature_is_the_likeliest_and_keeps_the_order(seed, n_classes):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(150, n_classes))
    codes = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    weights = rng.uniform(0.5, 2.0, 150)
    fitted = Temperature.fit(scores, codes, weights)
    probability = fitted.probabilities(scores)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probability.argmax(axis=1), scores.argmax(axis=1))
    share = n_classes / (weights.sum() + n_classes)
    target = (1 - share) * np.eye(n_classes)[codes] + share / n_classes

    def cost(slope):
        return -weights @ (target * np.log(Temperature(slope).probabilities(scores))).sum(axis=1)

    assert cost(fitted.slope) <= min(cost(fitted.slope * 1.02), cost(fitted.slope / 1.02))
    if n_classes == 2:
        binary = Temperature.fit(scores[:, 1] - scores[:, 0], codes, weights)
        assert binary.slope == pytest.approx(fitted.slope, rel=1e-3)


def test_separated_classes_have_a_slope():
    scores = np.r_[-np.ones(20), np.ones(30)]
    curve = Sigmoid.fit(scores, scores > 0, np.ones(50))
    assert np.isfinite(curve.slope)
    np.testing.assert_allclose(curve(np.array([-1.0, 1.0])), [1 / 22, 31 / 32], atol=1e-6)


def test_steps_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    scores, weights = rng.normal(size=300), rng.uniform(0.5, 2.0, 300)
    positive = rng.random(300) < expit(2 * scores)
    curve = Steps.fit(scores, positive, weights)
    expected = IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1).fit(scores, positive, sample_weight=weights)
    grid = np.linspace(-5, 5, 200)
    np.testing.assert_allclose(curve(grid), expected.predict(grid))


def test_one_curve_a_class():
    rng = np.random.default_rng(0)
    scores, codes = rng.normal(size=(90, 3)), np.arange(90) % 3
    assert len(fit_curves("sigmoid", scores, codes, np.ones(90))) == 3
    assert len(fit_curves("isotonic", scores[:, 0], codes % 2, np.ones(90))) == 1


@pytest.mark.parametrize("honest", [False, True])
@pytest.mark.parametrize("method", ["temperature", "sigmoid", "isotonic"])
def test_two_classes(method, honest):
    X, y = load("pima", return_X_y=True)
    train, test = slice(0, 400), slice(400, None)
    # Scores that are log odds, those of lists and of the second solve, need little mending.
    options = {**SETTINGS, "honest_cv": honest, "cv": 3, "max_terms": None, "solver": Glmnet(l1_ratio=0.5)}
    plain = RuleEnsembleClassifier(calibration=None, **options).fit(X[train], y[train])
    calibrated = RuleEnsembleClassifier(calibration=method, **options).fit(X[train], y[train])
    np.testing.assert_array_equal(calibrated.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(calibrated.predict(X), plain.predict(X))
    probability = calibrated.predict_proba(X[test])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert probability.min() >= 0.0
    if method != "isotonic" and not honest:  # honest folds choose a model whose scores need little mending
        before, after = (log_loss(y[test], model.predict_proba(X[test])) for model in (plain, calibrated))
        assert after < before


@pytest.mark.parametrize("multiclass", ["ovr", "shared"])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_three_classes(method, multiclass):
    X, y = make_waveform(900, random_state=0)
    model = RuleEnsembleClassifier(calibration=method, multiclass=multiclass, max_terms=12, **SETTINGS)
    probability = model.fit(X[:500], y[:500]).predict_proba(X[500:])
    assert len(model.calibration_.curves) == 3
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    softened = (probability + 1e-3) / (1 + 3e-3)
    assert log_loss(y[500:], softened) < 0.75


def test_held_out_scores_are_those_of_the_fold_models():
    """With a splitter the curve can be had again from models fitted by hand without each fold."""
    X, y = load("breast-w", return_X_y=True)
    options = {"n_candidates": 100, "random_state": 0, "terms": "linear", "solver": Glmnet(tol=1e-9), "max_terms": None}
    folds = np.arange(len(y)) % 3
    splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(3)]
    model = RuleEnsembleClassifier(cv=splits, calibration="sigmoid", **options).fit(X, y)
    penalty = float(model.path_.penalties[model.selection_.index])
    scores = np.empty(len(y))
    for trained, held_out in splits:
        weights = np.zeros(len(y))
        weights[trained] = 1.0
        part = RuleEnsembleClassifier(selection=penalty, **options).fit(X, y, sample_weight=weights)
        scores[held_out] = part.decision_function(X[held_out])
    expected = Sigmoid.fit(scores, y == model.classes_[1], np.ones(len(y)))
    assert model.calibration_.curves[0].slope == pytest.approx(expected.slope, rel=0.02)
    assert model.calibration_.curves[0].shift == pytest.approx(expected.shift, rel=0.05, abs=0.02)


def test_a_given_point_has_nothing_to_calibrate_on():
    X, y = load("iris", return_X_y=True)
    with pytest.raises(InvalidInputError, match=r"`calibration`='sigmoid' needs held-out scores"):
        RuleEnsembleClassifier(calibration="sigmoid", selection=0.1).fit(X, y)


@pytest.mark.filterwarnings("error")
def test_links_of_odds_are_those_of_scipy():
    """SciPy takes longer to load than everything else that prints rules."""
    odds = np.array([-np.inf, -800.0, -40.0, -1.5, 0.0, 1e-9, 3.0, 36.0, 800.0, np.inf])
    np.testing.assert_allclose(calibration.expit(odds), expit(odds), rtol=1e-14)
    shares = np.array([0.0, 1e-300, 0.2, 0.5, 1.0 - 1e-12, 1.0])
    np.testing.assert_allclose(calibration.logit(shares), logit(shares), rtol=1e-14)
    scores = np.random.default_rng(0).normal(scale=300.0, size=(20, 4))
    np.testing.assert_allclose(calibration.softmax(scores), softmax(scores, axis=1), rtol=1e-14)
