"""Stability: counts against brute force, families, attributes, every kind of model, bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import load
from rulegrove.design.bits import BitMatrix
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import jaccard, stability_report
from rulegrove.inspection.stability import _correlate, _fit_all, _name_columns


def make(kind=RuleEnsembleClassifier, **changes):
    return kind(**{"n_candidates": 60, "cv": 2, "honest_cv": False, "n_jobs": 1, **changes})


def test_jaccard():
    assert jaccard({1, 2, 3}, {2, 3, 4}) == 0.5
    assert jaccard(set(), set()) == 1.0
    assert jaccard({1}, set()) == 0.0


def brute_force_names(fit, X):
    """Each term as a column of the rows, opposite rules alike."""
    names = set()
    for column, row in zip(np.asarray(fit.transform_rules(X)).T, fit.rules_, strict=True):
        if row.kind == "linear":
            names.add(("line", row.term.feature))
        else:
            held = column.astype(bool)
            names.add(tuple((held ^ held[0]).tolist()))
    return names


@pytest.mark.parametrize("vary", ["halves", "seeds"])
def test_agreement_equals_brute_force(vary):
    X, y = load("pima", return_X_y=True)
    report = stability_report(make(), X, y, vary=vary, n_repeats=4, random_state=0)
    fits = _fit_all(make(), X, y, None, vary, 4, np.random.default_rng(0))
    names = [brute_force_names(fit, X) for fit in fits]
    pairs = [(0, 1), (2, 3)] if vary == "halves" else [(a, b) for a in range(4) for b in range(a)]
    expected = np.mean([jaccard(names[a], names[b]) for a, b in pairs])
    assert report.rule_jaccard == pytest.approx(expected, abs=1e-12)
    used = [{feature for term in fit.model_.terms for feature in term.features} for fit in fits]
    np.testing.assert_allclose(
        report.attribute_frequencies, [np.mean([f in own for own in used]) for f in range(8)], atol=1e-12
    )
    assert report.n_terms == np.mean([len(fit.rules_) for fit in fits])


def test_frequencies_and_importances_add_up():
    X, y = load("breast-w", return_X_y=True)
    report = stability_report(make(), X, y, n_repeats=4, random_state=0)
    assert sum(rule.importance for rule in report.rules) == pytest.approx(1.0, abs=1e-12)
    assert all(0 < rule.frequency <= rule.family_frequency <= 1 for rule in report.rules)
    frequencies = [rule.family_frequency for rule in report.rules]
    assert frequencies == sorted(frequencies, reverse=True)
    assert report.family_jaccard >= report.rule_jaccard


def test_no_families_beyond_equal_rules_at_correlation_one():
    X, y = load("breast-w", return_X_y=True)
    report = stability_report(make(), X, y, n_repeats=2, max_correlation=1.0, random_state=0)
    assert {rule.n_rules for rule in report.rules} == {1}
    assert report.family_jaccard == report.rule_jaccard


def test_opposite_columns_have_one_name_and_full_correlation():
    dense = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]], dtype=np.uint8)
    words = np.packbits(dense.T, axis=1, bitorder="little").astype(np.uint64)
    bits = BitMatrix(words, 4)
    one, opposite, other = _name_columns(bits)
    assert one == opposite != other
    np.testing.assert_allclose(_correlate(bits), np.abs(np.corrcoef(dense.T)), atol=1e-15)


def test_the_stable_option_is_stabler():
    X, y = load("pima", return_X_y=True)
    default, stable = (
        stability_report(make(stable=flag, max_terms=10), X, y, n_repeats=8, random_state=0) for flag in (False, True)
    )
    assert stable.rule_jaccard > default.rule_jaccard
    assert stable.n_terms <= 10


def test_several_classes_categories_and_missing_values():
    iris = load("iris")
    frame = pd.DataFrame(iris.X, columns=iris.feature_names)
    frame.iloc[::9, 1] = np.nan
    frame["kind"] = np.where(np.arange(150) % 2, "odd", "even")
    report = stability_report(make(), frame, iris.y, n_repeats=2, random_state=0)
    assert report.names == (*iris.feature_names, "kind")
    assert report.attribute_frequencies[2:4].max() == 1.0


def test_regression_with_lines_and_weights():
    X, y = make_friedman1(200, random_state=0)
    report = stability_report(
        make(RuleEnsembleRegressor), X, y, n_repeats=2, sample_weight=np.arange(200) % 3, random_state=0
    )
    assert report.attribute_frequencies[3] == 1.0
    lines = stability_report(make(RuleEnsembleRegressor, terms="linear"), X, y, n_repeats=2, random_state=0)
    assert all("linear" in rule.text for rule in lines.rules)


def test_a_model_without_terms():
    rng = np.random.default_rng(0)
    report = stability_report(make(max_terms=0), rng.normal(size=(60, 2)), rng.integers(0, 2, 60), n_repeats=2)
    assert report.rules == ()
    assert report.rule_jaccard == 1.0
    assert "0 terms on average" in repr(report)


def test_words_and_frames():
    X, y = load("pima", return_X_y=True)
    report = stability_report(make(), X, y, n_repeats=2, random_state=0)
    assert repr(report).startswith("2 fits on disjoint halves of the rows")
    assert max(map(len, repr(report).splitlines())) <= 130
    assert report.to_frame().columns.to_list() == ["family_frequency", "frequency", "importance", "n_rules", "rule"]
    assert len(report.to_frame("attributes", "polars")) == 8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_repeats": 1}, "at least 2"),
        ({"n_repeats": 3}, "even for halves"),
        ({"vary": "rows"}, "'halves' or 'seeds'"),
        ({"max_correlation": 0.0}, "above 0"),
    ],
)
def test_bad_options(options, words):
    X, y = load("iris", return_X_y=True)
    with pytest.raises(InvalidInputError, match=words):
        stability_report(make(), X, y, **options)


def test_bad_model_and_table():
    X, y = load("iris", return_X_y=True)
    with pytest.raises(InvalidInputError, match="stability_report needs a RuleEnsembleClassifier"):
        stability_report("model", X, y)
    with pytest.raises(InvalidInputError, match="'rules' or 'attributes'"):
        stability_report(make(n_candidates=10, solver="glmnet"), X, y, n_repeats=2).to_frame("words")
