"""Held-out support, confidence and lift: against counts by hand, SciPy's intervals, and simulated coverage."""

import numpy as np
import polars as pl
import pytest
import scipy.stats
from sklearn.exceptions import NotFittedError

from inspected_models import fit, make_table
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.estimators._given_others import OfNumbers, OfShares, TargetSums, weigh_beside
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import rule_evidence

CLOSE = {"rtol": 1e-9, "atol": 1e-12}
CLASSES = ["two classes", "three classes"]


def held_out(kind):
    """Return a model, other rows, their target, weights, and one column a rule: where it holds."""
    model, *_ = fit(kind)
    table, y, weights = make_table(150, seed=1)
    if kind == "two classes":
        y = np.where(y > 0, "yes", "no")
    elif kind == "three classes":
        y = np.array(["low", "middle", "up"])[np.searchsorted([-0.7, 0.7], y)]
    columns = [place for place, row in enumerate(model.rules_) if row.kind == "rule"]
    return model, table, y, weights, model.transform_rules(table)[:, columns].astype(bool).T


def events_of(rule, y):
    """Rows that bear out what a rule says."""
    return (y != rule.speaks_for) if rule.against else (y == rule.speaks_for)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("kind", CLASSES)
def test_shares_equal_counts_and_intervals_scipys(kind, level):
    model, table, y, _, held = held_out(kind)
    found = rule_evidence(model, table, y, level=level)
    assert found.n_rows == 150
    assert [rule.rank for rule in found.rules] == [row.rank for row in model.rules_ if row.kind == "rule"]
    assert found.mean_target is None
    for k, (rule, rows) in enumerate(zip(found.rules, held, strict=True)):
        events = events_of(rule, y)
        assert found.n_held[k] == rows.sum()
        wilson = scipy.stats.binomtest(int(rows.sum()), 150).proportion_ci(level, "wilson")
        estimate = [found.support.low[k], found.support.values[k], found.support.high[k]]
        np.testing.assert_allclose(estimate, [wilson.low, rows.mean(), wilson.high], **CLOSE)
        if not rows.any():
            continue
        wilson = scipy.stats.binomtest(int(events[rows].sum()), int(rows.sum())).proportion_ci(level, "wilson")
        estimate = [found.confidence.low[k], found.confidence.values[k], found.confidence.high[k]]
        np.testing.assert_allclose(estimate, [wilson.low, events[rows].mean(), wilson.high], **CLOSE)
        assert found.lift.values[k] == pytest.approx(events[rows].mean() / events.mean(), rel=1e-12)
        assert found.lift.low[k] <= found.lift.values[k] <= found.lift.high[k]


@pytest.mark.parametrize("kind", CLASSES)
def test_on_the_training_rows_it_repeats_the_table(kind):
    model, table, y, _ = fit(kind)
    table = table.assign(fixed=np.arange(len(y)) % 2)
    found = rule_evidence(model, table, y)
    frame = found.to_frame()
    np.testing.assert_allclose(frame["confidence"], frame["confidence_in_training"], **CLOSE)
    np.testing.assert_allclose(frame["support"], frame["support_in_training"], **CLOSE)


def test_a_mean_target_has_students_interval():
    model, table, y, _, held = held_out("regression")
    found = rule_evidence(model, table, y + 1e6, level=0.9)
    assert found.confidence is None
    assert found.lift is None
    for k, rows in enumerate(held):
        if rows.sum() > 1:
            students = scipy.stats.ttest_1samp(y[rows], 0.0).confidence_interval(0.9)
            estimate = [found.mean_target.low[k], found.mean_target.values[k], found.mean_target.high[k]]
            np.testing.assert_allclose(
                np.array(estimate) - 1e6, [students.low, y[rows].mean(), students.high], rtol=1e-6, atol=1e-9
            )


@pytest.mark.parametrize("kind", ["regression", "three classes"])
def test_weights_of_one_and_zero_leave_rows_out(kind):
    model, table, y, weights, _ = held_out(kind)
    chosen = weights > 1.0
    some = rule_evidence(model, table[chosen], y[chosen])
    weighted = rule_evidence(model, table, y, sample_weight=2.5 * chosen)
    for name in ("support", "confidence", "lift", "mean_target"):
        first, second = getattr(some, name), getattr(weighted, name)
        if first is not None:
            for part in ("values", "low", "high"):
                np.testing.assert_allclose(getattr(second, part), getattr(first, part), rtol=1e-7, atol=1e-10)
    np.testing.assert_array_equal(some.n_held, weighted.n_held)


def test_weights_count_as_fewer_rows():
    model, table, y, weights, held = held_out("two classes")
    found = rule_evidence(model, table, y, sample_weight=weights)
    for k, (rule, rows) in enumerate(zip(found.rules, held, strict=True)):
        if rows.any():
            expected = np.average(events_of(rule, y)[rows], weights=weights[rows])
            assert found.confidence.values[k] == pytest.approx(expected, abs=1e-12)
    plain = rule_evidence(model, table, y)
    assert (found.support.high - found.support.low).mean() > (plain.support.high - plain.support.low).mean()


def test_a_rule_that_holds_nowhere_or_everywhere():
    model, table, y, _, held = held_out("two classes")
    place = int(np.argmax(held.sum(axis=1) < 100))
    nowhere = rule_evidence(model, table[~held[place]], y[~held[place]])
    assert np.isnan(nowhere.confidence.values[place])
    assert (nowhere.confidence.low[place], nowhere.confidence.high[place]) == (0.0, 1.0)
    assert np.isnan(nowhere.lift.values[place])
    assert nowhere.n_held[place] == 0
    assert nowhere.support.values[place] == 0.0
    everywhere = rule_evidence(model, table[held[place]], y[held[place]])
    assert (everywhere.lift.low[place], everywhere.lift.high[place]) == (1.0, 1.0)
    regression, table, y, _, held = held_out("regression")
    place = int(np.argmax(held.sum(axis=1) < 100))
    nowhere = rule_evidence(regression, table[~held[place]], y[~held[place]])
    assert np.isnan(nowhere.mean_target.values[place])
    assert (nowhere.mean_target.low[place], nowhere.mean_target.high[place]) == (-np.inf, np.inf)


@pytest.mark.parametrize("kind", ["linear only", "no terms"])
def test_a_model_without_rules_has_no_evidence(kind):
    model, table, y, _, _ = held_out(kind)
    found = rule_evidence(model, table, y)
    assert found.rules == ()
    assert len(found.to_frame()) == 0


def test_frames():
    model, table, y, _, _ = held_out("three classes")
    model = model.shorten(None)  # the short list has no rule that speaks against a class
    frame = rule_evidence(model, table, y).to_frame()
    estimates = [f"{name}{end}" for name in ("confidence", "lift") for end in ("", "_low", "_high")]
    assert set(estimates) <= set(frame.columns)
    assert any(label.startswith("not ") for label in frame["class"])
    assert isinstance(rule_evidence(model, table, y).to_frame("polars"), pl.DataFrame)


@pytest.mark.parametrize(
    ("labels", "options", "words"),
    [
        (["yes", "maybe"] * 75, {}, "`y` holds 'maybe' in row 1, which is not a class of the model"),
        (["yes", "no"], {}, r"one class for each of the 150 rows; got the shape \(2,\)"),
        (["yes", "no"] * 75, {"level": 95}, "`level` must lie between 0 and 1; got 95"),
        (["yes", "no"] * 75, {"false_discovery_rate": 0}, "`false_discovery_rate` must lie between 0 and 1; got 0"),
    ],
)
def test_bad_input_is_told_in_one_sentence(labels, options, words):
    model, table, *_ = held_out("two classes")
    with pytest.raises(InvalidInputError, match=words):
        rule_evidence(model, table, labels, **options)


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError):
        rule_evidence(RuleEnsembleClassifier(), np.zeros((3, 2)), [0, 1, 0])


@pytest.mark.parametrize("kind", CLASSES)
def test_classes_have_fishers_exact_test_and_intervals_for_all_rules(kind):
    model, table, y, _, held = held_out(kind)
    found = rule_evidence(model, table, y)
    assert found.exact
    m = len(held)
    for k, (rule, rows) in enumerate(zip(found.rules, held, strict=True)):
        events = events_of(rule, y)
        counts = [[(events & rows).sum(), (~events & rows).sum()], [(events & ~rows).sum(), (~events & ~rows).sum()]]
        expected = scipy.stats.fisher_exact(counts, alternative="greater").pvalue
        assert found.p_value[k] == pytest.approx(expected, rel=1e-9)
        if rows.any():
            exact = scipy.stats.binomtest(int(counts[0][0]), int(rows.sum())).proportion_ci(1 - 0.05 / m, "exact")
            ends = [found.confidence.low_all[k], found.confidence.high_all[k]]
            np.testing.assert_allclose(ends, [exact.low, exact.high], **CLOSE)
    np.testing.assert_allclose(
        found.adjusted_p_value, scipy.stats.false_discovery_control(found.p_value, method="by"), **CLOSE
    )
    np.testing.assert_array_equal(found.established, found.adjusted_p_value <= 0.1)


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes", "rules only"])
def test_coefficients_and_tests_given_the_others_are_those_of_rows(kind):
    """The terms of the rule's own output, row by row, instead of the pattern table."""
    model, table, y, weights, _ = held_out(kind)
    found = rule_evidence(model, table, y, sample_weight=weights)
    values, labels = model.transform_rules(table).astype(float), list(model.model_.labels)
    places = [place for place, row in enumerate(model.rules_) if row.kind == "rule"]
    own = weights / weights.mean()
    for k, (place, rule) in enumerate(zip(places, found.rules, strict=True)):
        output = labels.index(rule.speaks_for) if len(labels) > 2 else 0
        terms = np.flatnonzero(np.atleast_2d(model.coef_)[output])
        goal, sign, family = y, np.sign(rule.coefficient), OfNumbers()
        if labels:
            goal = (y == (rule.speaks_for if len(labels) > 2 else labels[1])).astype(float)
            sign, family = (-1.0 if rule.against or rule.coefficient < 0 else 1.0), OfShares()
        sums = [own**0, own, own**2, own**3, own * goal, own * goal**2, own * goal**3, own**2 * goal]
        sums = TargetSums(*sums, own**2 * goal**2)
        expected = weigh_beside(family, values[:, terms], sums, np.flatnonzero(terms == place), [sign])
        assert found.p_value_given_others[k] == pytest.approx(expected.p_values[0], rel=1e-4)
        np.testing.assert_allclose(found.coefficient.values[k], expected.coefs[0], rtol=1e-4)
        reach = found.coefficient.high[k] - found.coefficient.values[k]
        np.testing.assert_allclose(reach, expected.reach(0.95)[0] if np.isfinite(reach) else np.nan, rtol=1e-4)


def test_unequal_weights_have_tests_that_call_themselves_approximate():
    model, table, y, weights, _ = held_out("two classes")
    plain, equal = (rule_evidence(model, table, y, sample_weight=own) for own in (None, np.full(150, 0.3)))
    np.testing.assert_allclose(equal.p_value, plain.p_value, rtol=1e-9)
    np.testing.assert_allclose(equal.p_value_given_others, plain.p_value_given_others, rtol=1e-6)
    weighted = rule_evidence(model, table, y, sample_weight=weights)
    assert equal.exact
    assert not weighted.exact
    mixed = np.random.default_rng(0).permutation(y)
    plain, near = (rule_evidence(model, table, mixed, sample_weight=own) for own in (None, 1.0 + 1e-3 * weights))
    np.testing.assert_allclose(near.p_value, plain.p_value, atol=0.2)
    assert weighted.sentences[-1].startswith("Tests against the base rate are approximate")


def test_numbers_are_tested_much_as_permutations_would():
    model, table, y, _, held = held_out("regression")
    noise = np.random.default_rng(3).exponential(size=150)
    found = rule_evidence(model, table, noise)
    rng = np.random.default_rng(0)
    drawn = np.array([rng.permutation(noise) for _ in range(20_000)])
    for k, (rule, rows) in enumerate(zip(found.rules, held, strict=True)):
        if 5 < rows.sum() < 145:
            sign = np.sign(rule.coefficient)
            share = (sign * drawn[:, rows].mean(axis=1) >= sign * noise[rows].mean()).mean()
            assert share - 0.03 <= found.p_value[k] <= share + 0.12
    assert rule_evidence(model, table, y).p_value[0] < 1e-4


def test_what_is_established_is_told_in_words():
    model, table, y, _, _ = held_out("two classes")
    found = rule_evidence(model, table, y, false_discovery_rate=0.05)
    told, beside, doubtful, chosen, exact = found.sentences
    ranks = ", ".join(str(rule.rank) for rule, here in zip(found.rules, found.established, strict=True) if here)
    assert f"Established on 150 rows that did not choose them: rules {ranks} (false discovery rate 5 %)." == told
    assert beside.startswith("Beyond what the other terms of the list say: ")
    assert doubtful.startswith("Suggestions only: ")
    assert chosen == "Rules and weights come from the rows of the fit."
    assert exact.startswith("Tests against the base rate are exact")
    text = found.to_text()
    assert len(text.splitlines()) == 5 + 1 + len(found.rules)
    assert repr(found) == text
    assert all(verdict in text for verdict in found.verdicts)
    linear, table, y, _, _ = held_out("linear only")
    assert rule_evidence(linear, table, y).to_text().startswith("The list has no rule to test.")


def test_units_of_targets_and_weights_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + (X[:, 1] > 0) + rng.normal(size=300)
    few = {"n_candidates": 60, "max_terms": 6, "honest_cv": False, "random_state": 0}
    found = []
    for unit, power in ((1.0, 0), (2.0**100, 400)):
        model = RuleEnsembleRegressor(**few).fit(X[:150], np.ldexp(y[:150], power))
        weights = unit * np.linspace(0.5, 1.5, 150)
        found.append(rule_evidence(model, X[150:], np.ldexp(y[150:], power), sample_weight=weights))
    for name in ("p_value", "p_value_given_others"):
        np.testing.assert_allclose(*(getattr(one, name) for one in found), rtol=1e-6)
    np.testing.assert_allclose(np.ldexp(found[0].coefficient.low_all, 400), found[1].coefficient.low_all, rtol=1e-6)
