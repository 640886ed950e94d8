"""Lines beside rules: their share in the large model, and what it keeps."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import load
from rulegrove.design.terms import Linear
from rulegrove.estimators import _blending
from rulegrove.estimators._blending import DOUBT, choose_share
from rulegrove.estimators._in_memory import TableInMemory
from rulegrove.estimators.classes import Classes
from rulegrove.estimators.pipeline import fit_source
from rulegrove.estimators.settings import Settings

FAST = {"n_candidates": 60, "cv": 3, "random_state": 0, "n_jobs": 1}
SHARES = np.linspace(0.0, 1.0, 11)


@pytest.fixture
def shares(monkeypatch):
    """Return the shares that fits have chosen."""
    found = []

    def choose(*given):
        found.append(choose_share(*given))
        return found[-1]

    monkeypatch.setattr(_blending, "choose_share", choose)
    return found


def make_rows(seed=0, n_rows=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    return X, rng.normal(size=n_rows)


def test_rules_alone_unless_held_out_rows_speak_against_it():
    assert choose_share(SHARES, DOUBT * (1.0 - SHARES) * 0.99) == 0.0
    assert choose_share(SHARES, 20.0 * SHARES) == 0.0


def test_the_share_is_the_mean_of_all_weighed_by_their_likelihood():
    surprises = 50.0 * (SHARES - 0.62) ** 2
    weights = np.exp(-surprises)
    assert choose_share(SHARES, surprises + 7.0) == pytest.approx(weights @ SHARES / weights.sum())
    assert choose_share(SHARES, 1e4 * (1.0 - SHARES)) == 1.0


def test_a_linear_target_has_a_list_of_lines(shares):
    X, noise = make_rows()
    slopes = np.array([2.0, -1.0, 0.5, 0.0, 0.0])
    model = RuleEnsembleRegressor(**FAST).fit(X, X @ slopes + 0.3 * noise)
    (share,) = shares
    assert share > 0.8
    assert all(isinstance(term, Linear) for term in model.model_.terms)
    assert {feature for term in model.model_.terms for feature in term.features} <= {0, 1, 2}
    others, _ = make_rows(1)
    inner = np.abs(others).max(axis=1) < 1.5  # lines are winsorised
    assert np.abs(model.predict(others[inner]) - others[inner] @ slopes).mean() < 0.15


def test_a_linear_classifier_has_a_list_of_lines(shares):
    X, noise = make_rows(n_rows=600)
    model = RuleEnsembleClassifier(**FAST).fit(X, X[:, 0] + X[:, 1] + 0.5 * noise > 0)
    assert shares[0] > 0.5
    lines = [term for term in model.shorten(2).model_.terms if isinstance(term, Linear)]
    assert sorted(term.features for term in lines) == [(0,), (1,)]


def test_steps_leave_no_share_to_lines(shares):
    X, noise = make_rows()
    y = np.where((X[:, 0] > 0) != (X[:, 1] > 0), 1.0, -1.0) + 0.1 * noise
    RuleEnsembleRegressor(**FAST).fit(X, y)
    assert shares == [0.0]


@pytest.mark.parametrize(
    "options", [{"solver": "glmnet"}, {"terms": "rules"}, {"terms": "linear"}, {"selection": 0.01}]
)
def test_what_is_asked_for_is_fitted_as_it_is(shares, options):
    """A solver, a kind of terms or a point that were named: the large model is that point of that path."""
    X, noise = make_rows()
    model = RuleEnsembleRegressor(**FAST, max_terms=None, **options).fit(X, X[:, 0] + 0.3 * noise)
    assert shares == []
    coef, _ = model.path_.point(model.selection_.index, model.selection_.mix)
    assert len(model.rules_) == np.count_nonzero(coef)


def test_a_blend_is_the_weighted_mean_of_both_models(monkeypatch):
    """Between none and all of the lines, scores change evenly, and so do those of held-out rows."""
    X, noise = make_rows(n_rows=200)
    y = X[:, 0] + (X[:, 1] > 0) + 0.3 * noise
    scores = []
    for share in (0.0, 0.3, 1.0):
        monkeypatch.setattr(_blending, "choose_share", lambda *_, share=share: share)
        scores.append(RuleEnsembleRegressor(**FAST, max_terms=None).fit(X, y).predict(X))
    assert_allclose(scores[1], 0.7 * scores[0] + 0.3 * scores[2], atol=1e-9)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_forced_rules_and_directions_hold_in_a_blend(monkeypatch, share):
    monkeypatch.setattr(_blending, "choose_share", lambda *_: share)
    X, noise = make_rows()
    y = X[:, 0] - 0.5 * X[:, 1] + (X[:, 2] > 0.5) + 0.3 * noise
    limits = {"rules": ["x2 > 0.5"], "force_rules": True, "monotonic": {"x0": 1, "x1": 1}}
    model = RuleEnsembleRegressor(**FAST, **limits, max_terms=None).fit(X, y)
    assert "x2 > 0.5" in [rule.text for rule in model.rules_]
    rising = np.linspace(-2, 2, 30)
    for column in (0, 1):
        rows = np.zeros((30, 5))
        rows[:, column] = rising
        assert (np.diff(model.predict(rows)) >= -1e-12).all()


def test_a_table_without_numbers_has_no_lines(shares):
    X = np.random.default_rng(0).choice(list("abcd"), size=(200, 3)).astype(object)
    RuleEnsembleClassifier(**FAST).fit(X, X[:, 0] == "a")
    assert shares == []


def test_runs_are_blended_alike(shares):
    X, noise = make_rows()
    RuleEnsembleRegressor(**FAST, n_runs=2).fit(X, X[:, 0] + 0.3 * noise)
    assert len(shares) == 1
    assert shares[0] > 0.5


def test_pools_of_lines_alone_and_of_none_are_the_ends():
    X, y = load("iris", return_X_y=True)
    settings, target = Settings(n_candidates=30, cv=2, random_state=0), Classes()
    (pool,) = fit_source(TableInMemory(X, y, target=target, settings=settings), target, settings).pools
    assert pool.lines is not None
    n_rules = len(pool.design.terms.rules)
    for fold in (None, 0, 1):
        whole, mixed, lines = (
            replace(pool, share=share).points() if fold is None else replace(pool, share=share).fold_points(fold)
            for share in (0.0, 0.25, 1.0)
        )
        for (coef, level), (middle, between), (slopes, start) in zip(whole, mixed, lines, strict=True):
            if fold is None:
                assert_array_equal(slopes[:n_rules], 0.0)
            assert_allclose(middle, 0.75 * coef + 0.25 * slopes, atol=1e-12)
            assert between == pytest.approx(0.75 * level + 0.25 * start)
