"""Rows set apart for evidence: who learns from what, and that nothing of it leaks."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import load
from rulegrove.estimators import autos
from rulegrove.estimators._splitting import choose_rows, split_rows
from rulegrove.estimators.classes import Classes
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import rule_evidence

FEW = {"n_candidates": 100, "max_terms": 6, "terms": "rules", "honest_cv": False, "random_state": 0, "n_jobs": 1}


@pytest.fixture(scope="module")
def pima():
    return load("pima", return_X_y=True)


def is_same(one, other):
    """Whether two records of evidence say the same."""
    for name, values in one.to_dict().items():
        np.testing.assert_array_equal(values, other.to_dict()[name], err_msg=name)
    return one.weighted_by == other.weighted_by


@pytest.mark.parametrize("weighted", [False, True])
def test_one_half_learns_and_the_other_counts(pima, weighted):
    X, y = pima
    weights = np.random.default_rng(0).integers(0, 3, len(y)) * 1.0 if weighted else None
    model = RuleEnsembleClassifier(evidence="split", **FEW).fit(X, y, weights)
    apart = split_rows(X, y, weights, None, Classes(), 0)
    learned, counted = apart.learned_weights > 0, apart.counted[2] > 0
    assert not (learned & counted).any()
    assert (learned | counted).sum() == (len(y) if weights is None else (weights > 0).sum())
    alone = RuleEnsembleClassifier(**FEW).fit(X, y, apart.learned_weights)
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
    assert alone.evidence_ is None
    by_hand = rule_evidence(alone, X[counted], y[counted], sample_weight=None if weights is None else weights[counted])
    np.testing.assert_allclose(model.evidence_.p_value, by_hand.p_value, rtol=1e-9)
    np.testing.assert_allclose(model.evidence_.p_value_given_others, by_hand.p_value_given_others, rtol=1e-6)
    assert model.evidence_.n_rows == counted.sum()
    assert model.evidence_.weighted_by == f"{learned.sum()} other rows of the same table"


def test_targets_that_are_only_counted_change_no_rule(pima):
    X, y = pima
    apart = split_rows(X, y, None, None, Classes(), 0)
    counted, other = apart.counted[2] > 0, y.copy()
    other[counted] = np.random.default_rng(1).permutation(y[counted])
    first = RuleEnsembleClassifier(evidence="split", **FEW).fit(X, y)
    second = RuleEnsembleClassifier(**FEW).fit(X, other, apart.learned_weights, evidence=(X[counted], other[counted]))
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    assert first.evidence_.established.sum() > second.evidence_.established.sum()


def test_rows_of_their_own(pima):
    X, y = pima
    given = (X[1::2], y[1::2])
    model = RuleEnsembleClassifier(**FEW).fit(X[::2], y[::2], evidence=given)
    alone = RuleEnsembleClassifier(**FEW).fit(X[::2], y[::2])
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
    assert model.evidence_.weighted_by == "the 384 rows of the fit"
    np.testing.assert_array_equal(model.evidence_.p_value, rule_evidence(alone, *given).p_value)
    weights = np.random.default_rng(0).uniform(size=384)
    weighted = RuleEnsembleClassifier(**FEW).fit(X[::2], y[::2], evidence=(*given, weights))
    assert not weighted.evidence_.exact


def test_groups_stay_together_and_classes_are_spread(pima):
    X, y = pima
    groups = np.arange(len(y)) // 3
    apart = split_rows(X, y, None, groups, Classes(), 0).counted[2] > 0
    assert len(np.unique(groups[apart])) + len(np.unique(groups[~apart])) == len(np.unique(groups))
    assert abs(apart.sum() - len(y) / 2) < 10
    for mask in (apart, split_rows(X, y, None, None, Classes(), 0).counted[2] > 0):
        assert abs((y[mask] == "tested_positive").mean() - (y == "tested_positive").mean()) < 0.02
    model = RuleEnsembleClassifier(evidence="split", **FEW).fit(X, y, groups=groups)
    assert model.evidence_.n_rows == apart.sum()
    assert "in other groups; rows of one group count as if they were independent." in model.evidence_.sentences[3]


def test_large_tables_go_by_positions(monkeypatch):
    monkeypatch.setattr(autos, "POOL_ROWS", 500)
    rows = np.arange(1000)
    apart = choose_rows(1000, rows, None, None, 0)
    assert 400 < apart.sum() < 600
    np.testing.assert_array_equal(apart[::2], choose_rows(1000, rows[::2], np.zeros(1000), None, 0)[::2])


def test_a_frame_and_a_splitter(pima):
    X, y = pima
    frame = pd.DataFrame(X, columns=[f"a{k}" for k in range(8)])
    model = RuleEnsembleClassifier(evidence="split", cv=KFold(3), **FEW).fit(frame, y)
    assert model.evidence_.rules[0].text == model.rules_[0].text


def test_numbers(pima):
    X, _ = pima
    model = RuleEnsembleRegressor(evidence="split", **FEW).fit(X[:, :7], X[:, 7])
    assert model.evidence_.mean_target is not None
    assert model.evidence_.established.any()


def test_another_length_has_no_evidence(pima):
    X, y = pima
    model = RuleEnsembleClassifier(**{**FEW, "evidence": "split", "max_terms": "auto"}).fit(X, y)
    assert is_same(model.shorten().evidence_, model.evidence_)
    assert model.shorten(1).evidence_ is None
    assert clone(model).evidence == "split"


@pytest.mark.parametrize(
    ("parameter", "given", "words"),
    [
        ("split", lambda X, y: (X, y), "evidence='split' sets rows of X apart, but `fit` was also given other rows"),
        (None, lambda X, y: X, r"must be separate rows, \(X, y\) or \(X, y, sample_weight\); got ndarray"),
        (None, lambda X, y: (X, np.full(len(y), "no")), "`y` holds 'no' in row 0, which is not a class of the model"),
        (None, lambda X, y: (X[:, :3], y), "X has 3 features"),
    ],
)
def test_what_cannot_be_counted_is_refused(pima, parameter, given, words):
    X, y = pima
    model = RuleEnsembleClassifier(evidence=parameter, **FEW)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y, evidence=given(X, y))
    assert not hasattr(model, "model_")


def test_too_few_rows_are_refused():
    with pytest.raises(InvalidInputError, match=r"tests on the other half; 3 rows \(or groups\) are too few"):
        RuleEnsembleRegressor(evidence="split").fit(np.arange(3.0)[:, None], np.arange(3.0))


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
def test_noise_establishes_nothing_too_often(kind):
    """Sixty tables without any effect; `python -m benchmarks.evidence` has thousands."""
    p_values, given_others, false = [], [], 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(200, 5))
        y = rng.integers(0, 2, 200) if kind is RuleEnsembleClassifier else rng.exponential(size=200)
        found = kind(**{**FEW, "evidence": "split", "random_state": seed, "cv": 3}).fit(X, y).evidence_
        p_values.append(found.p_value)
        given_others.append(found.p_value_given_others)
        false += found.established.any()
    for values in map(np.concatenate, (p_values, given_others)):
        assert values.size > 60
        for level in (0.01, 0.05, 0.1):
            clusters = np.array([(own <= level).sum() for own in (p_values if values is p_values else given_others)])
            error = np.sqrt(clusters.var() * 60) / values.size
            assert (values <= level).mean() <= level + 2.0 * max(error, np.sqrt(level * (1 - level) / values.size))
    assert false <= 6 + 2 * np.sqrt(60 * 0.1 * 0.9)
