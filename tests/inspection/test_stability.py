"""Stability: agreement against the benchmark's own count, families, attributes, every kind of model, bad input."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1

from benchmarks import steadiness
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.columns import Feature, as_table
from rulegrove.datasets import load
from rulegrove.estimators import autos
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import jaccard, stability_report
from rulegrove.inspection.stability import _fit_all, compare_coverage, tell_deciles
from rulegrove.rules.rule import Condition, Rule


def make(kind=RuleEnsembleClassifier, **changes):
    return kind(**{"n_candidates": 60, "cv": 2, "honest_cv": False, "n_jobs": 1, **changes})


def read_pairs(own, vary):
    return [(own[0], own[1]), (own[2], own[3])] if vary == "halves" else list(itertools.combinations(own, 2))


def test_jaccard():
    assert jaccard({1, 2, 3}, {2, 3, 4}) == 0.5
    assert jaccard(set(), set()) == 1.0
    assert jaccard({1}, set()) == 0.0


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (1, 4), (3, 3), (4, 2)])
def test_the_most_terms_are_paired(shape):
    """Against all ways to pair the terms of two short lists."""
    for seed in range(20):
        alike = np.random.default_rng(seed).random(shape) < 0.4
        short, long = (alike, range(shape[1])) if shape[0] <= shape[1] else (alike.T, range(shape[0]))
        ways = itertools.permutations(long, min(shape))
        most = max(sum(bool(short[k, place]) for k, place in enumerate(way)) for way in ways)
        assert compare_coverage(alike) == (most / (sum(shape) - most) if any(shape) else 1.0)


@pytest.mark.parametrize("vary", ["halves", "seeds"])
@pytest.mark.parametrize("name", ["pima", "iris"])
def test_agreement_equals_the_benchmark(name, vary):
    """Which compares bounds in plain loops; a rule of several classes counts once here."""
    X, y = load(name, return_X_y=True)
    report = stability_report(make(max_terms=12), X, y, vary=vary, n_repeats=4, random_state=0)
    fits = _fit_all(make(max_terms=12), X, y, None, vary, 4, np.random.default_rng(0))
    lists = [[steadiness.tell_term(term) for term in fit.model_.terms] for fit in fits]
    tenths = np.nanquantile(X, np.arange(1, 10) / 10, axis=0)
    words = [{steadiness.name_words(term) for term in terms} for terms in lists]
    deciles = [{steadiness.name_deciles(term, tenths) for term in terms} for terms in lists]
    assert report.rule_jaccard == pytest.approx(np.mean([jaccard(*pair) for pair in read_pairs(words, vary)]))
    assert report.decile_jaccard == pytest.approx(np.mean([jaccard(*pair) for pair in read_pairs(deciles, vary)]))
    coverage = [steadiness.compare_coverage(*pair, X) for pair in read_pairs(lists, vary)]
    assert report.family_jaccard == pytest.approx(np.mean(coverage))
    assert report.rule_jaccard < report.family_jaccard
    used = [{feature for term in fit.model_.terms for feature in term.features} for fit in fits]
    np.testing.assert_allclose(
        report.attribute_frequencies, [np.mean([f in own for own in used]) for f in range(X.shape[1])], atol=1e-12
    )
    assert report.n_terms == np.mean([len(fit.rules_) for fit in fits])


def test_deciles_keep_categories_missing_values_and_open_sides():
    features = [Feature("a"), Feature("b", ("x", "y", "z")), Feature("c")]
    tenths = {0: np.arange(1.0, 10.0), 2: np.empty(0)}.__getitem__
    rule = Rule((Condition(0, 3.5, math.inf, missing=True), Condition(1, categories=(0, 2)), Condition(2, upper=5.0)))
    assert tell_deciles(rule, features, tenths) == (
        Condition(0, 3.0, math.inf, missing=True),
        "b != y",
        Condition(2, upper=0.0),
    )
    unknown = Rule((Condition(0, lower=math.inf, missing=True),))
    assert tell_deciles(unknown, features, tenths) == unknown.conditions


def test_frequencies_and_importances_add_up():
    X, y = load("breast-w", return_X_y=True)
    report = stability_report(make(), X, y, n_repeats=4, random_state=0)
    assert sum(rule.importance for rule in report.rules) == pytest.approx(1.0, abs=1e-12)
    assert all(0 < rule.frequency <= rule.family_frequency <= 1 for rule in report.rules)
    assert all(rule.family_frequency == rule.frequency for rule in report.rules if rule.n_rules == 1)
    frequencies = [rule.family_frequency for rule in report.rules]
    assert frequencies == sorted(frequencies, reverse=True)
    assert report.family_jaccard >= report.rule_jaccard


def test_rules_of_a_family_hold_on_nearly_the_same_rows():
    """And tell where its thresholds lie; counted here in plain loops."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=400) > 0.3
    settings = {"terms": "rules", "max_terms": 1, "max_conditions": 1}
    report = stability_report(make(**settings), X, y, n_repeats=6, random_state=1)
    fits = _fit_all(make(**settings), X, y, None, "halves", 6, np.random.default_rng(1))
    held = [fit.transform_rules(X)[:, 0].astype(bool) for fit in fits]
    own = next(place for place, fit in enumerate(fits) if fit.rules_[0].text == report.rules[0].text)
    alike = [place for place, other in enumerate(held) if (held[own] & other).sum() >= 0.8 * (held[own] | other).sum()]
    assert report.rules[0].family_frequency == len(alike) / 6 > report.rules[0].frequency
    bounds = [fits[place].rules_[0].term.conditions[0] for place in alike]
    low, high = np.quantile([own.lower if own.lower > -math.inf else own.upper for own in bounds], [0.05, 0.95])
    side = ">" if bounds[0].lower > -math.inf else "<="
    assert report.rules[0].thresholds == f"x0 {side} {low:.4g} to {high:.4g}"
    assert f"({report.rules[0].thresholds})" in repr(report)


def test_rows_of_no_weight_are_as_if_they_were_not_there():
    X, y = load("pima", return_X_y=True)
    more = np.concatenate([X, 1000.0 + X[::2]])
    weights = np.r_[np.ones(len(X)), np.zeros(len(X[::2]))]
    one = stability_report(make(max_terms=8), X, y, n_repeats=2, random_state=0)
    other = stability_report(
        make(max_terms=8), more, np.r_[y, y[::2]], n_repeats=2, sample_weight=weights, random_state=0
    )
    names = ("rule_jaccard", "decile_jaccard", "family_jaccard", "attribute_jaccard")
    assert [getattr(one, name) for name in names] == [getattr(other, name) for name in names]
    assert one.rules == other.rules


def test_fits_to_drawn_rows_may_number_categories_in_another_way(monkeypatch):
    """A label that is not among the rows drawn for one fit has no code there, which moves all others."""
    rng = np.random.default_rng(0)
    names = [f"t{k}" for k in range(10, 40)]
    X = pd.DataFrame(
        {"town": rng.choice(names, 600, p=np.r_[0.001, np.full(29, 0.999 / 29)]), "x": rng.normal(size=600)}
    )
    y = (X["town"] > "t20") & (X["x"] > 0)
    monkeypatch.setattr(autos, "POOL_ROWS", 200)
    model = make(terms="rules", max_terms=1)
    report = stability_report(model, X, y, n_repeats=2, random_state=0)
    fits = _fit_all(model, as_table(X), y, None, "halves", 2, np.random.default_rng(0))
    assert fits[0].model_.features != fits[1].model_.features
    one, other = (fit.transform_rules(X)[:, 0].astype(bool) for fit in fits)
    assert (one & other).sum() >= 0.8 * (one | other).sum()
    assert report.family_jaccard == 1.0
    assert report.rule_jaccard == (fits[0].rules_[0].text == fits[1].rules_[0].text) == 0.0


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
    assert report.to_frame().columns.to_list() == [
        *["family_frequency", "frequency", "importance", "n_rules", "rule", "thresholds"]
    ]
    assert len(report.to_frame("attributes", "polars")) == 8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_repeats": 1}, "at least 2"),
        ({"n_repeats": 3}, "even for halves"),
        ({"vary": "rows"}, "'halves' or 'seeds'"),
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
