"""Held-out support, confidence and lift: against counts by hand, SciPy's intervals, and simulated coverage."""

import numpy as np
import polars as pl
import pytest
import scipy.stats
from sklearn.exceptions import NotFittedError

from inspected_models import fit, make_table
from rulegrove import RuleEnsembleClassifier
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
        (["yes", "maybe"] * 75, {}, "`y` holds 'maybe' in row 1, which is no class of the model"),
        (["yes", "no"], {}, r"one class for each of the 150 rows; got the shape \(2,\)"),
        (["yes", "no"] * 75, {"level": 95}, "`level` must lie between 0 and 1; got 95"),
    ],
)
def test_bad_input_is_told_in_one_sentence(labels, options, words):
    model, table, *_ = held_out("two classes")
    with pytest.raises(InvalidInputError, match=words):
        rule_evidence(model, table, labels, **options)


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError):
        rule_evidence(RuleEnsembleClassifier(), np.zeros((3, 2)), [0, 1, 0])
