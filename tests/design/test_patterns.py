"""The pattern table against rows counted one by one, and models of its lines against models of the rows."""

from collections import defaultdict
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.design import patterns as module
from rulegrove.design.bits import BitMatrix
from rulegrove.design.patterns import PatternTable
from rulegrove.design.rows import Rows
from rulegrove.estimators.calibration import fit_calibration
from rulegrove.exceptions import InvalidInputError


def pack(rules):
    """0/1 columns as a BitMatrix."""
    n_rows = len(rules)
    whole = Rows.from_dense(rules, np.empty((n_rows, 0)), np.zeros(n_rows))
    return BitMatrix(whole.bits.words, n_rows)


def draw(seed, n_rows=200, n_rules=5, n_linear=0, n_classes=2, weighting="one", n_folds=3):
    """Rows that repeat often: rules, linear terms of few values, and what `PatternTable.count` takes of them."""
    rng = np.random.default_rng(seed)
    few = (rng.random((6, n_rules)) < 0.5).astype(np.int64)
    rules = np.where(rng.random((n_rows, n_rules)) < 0.1 / max(n_rules, 1), 1, few[rng.integers(0, 6, n_rows)])
    weights = {
        "one": None,
        "whole": rng.integers(0, 4, n_rows).astype(float),
        "any": rng.uniform(0.1, 2.0, n_rows) * (rng.random(n_rows) < 0.8),
    }[weighting]
    given = {
        "linear": rng.choice([-0.5, -0.0, 0.0, 1.25], (n_rows, n_linear)),
        "codes": rng.integers(0, n_classes, n_rows),
        "numbers": rng.integers(-3, 9, (n_rows, 2)).astype(float),
        "folds": rng.integers(-1, n_folds, n_rows),
        "weights": weights,
    }
    return rules, given


def count(rules, given, rows=slice(None)):
    """The table of some rows."""
    return PatternTable.count(
        pack(rules[rows]), **{name: None if value is None else value[rows] for name, value in given.items()}
    )


def count_one_by_one(rules, given):
    """The naive twin: a dictionary from (fold, class, rules, linear terms) to what the rows add up to."""
    lines = defaultdict(lambda: np.zeros(6))
    weights = np.ones(len(rules)) if given["weights"] is None else given["weights"]
    for i, weight in enumerate(weights):
        if given["folds"][i] >= 0 and weight > 0:
            linear = tuple((given["linear"][i] + 0.0).tolist())
            key = (int(given["folds"][i]), int(given["codes"][i]), tuple(rules[i].tolist()), linear)
            numbers = given["numbers"][i]
            lines[key] += np.array([1.0, weight, *(weight * numbers), *(weight * numbers**2)])
    return dict(lines)


def as_dictionary(table):
    """A table in the form of the twin; equal lines would be lost, so their number is compared as well."""
    dense = table.bits.to_dense().tolist()
    totals = np.column_stack([table.counts, table.weights, table.sums, table.squares])
    names = zip(
        table.folds.tolist(), table.codes.tolist(), map(tuple, dense), map(tuple, table.linear.tolist()), strict=True
    )
    lines = dict(zip(names, totals, strict=True))
    assert len(lines) == table.n_lines
    return lines


def assert_same(one, other, *, exact):
    """Compare tables field by field; sums of numbers that are not whole only up to rounding."""
    for field in fields(one):
        if field.name == "totals" and not exact:
            np.testing.assert_allclose(one.totals, other.totals, rtol=1e-12, atol=1e-12)
        else:
            np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name), err_msg=field.name)


@pytest.mark.kernel
@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 1, 5, 64, 65, 130]),
    st.sampled_from([0, 2]),
    st.sampled_from([1, 7, 150]),
    st.sampled_from(["one", "whole", "any"]),
)
def test_a_table_is_what_the_rows_add_up_to(seed, n_rules, n_linear, n_rows, weighting):
    rules, given = draw(seed, n_rows, n_rules, n_linear, n_classes=3, weighting=weighting)
    expected = count_one_by_one(rules, given)
    table = count(rules, given)
    found = as_dictionary(table)
    assert found.keys() == expected.keys()
    for line, totals in expected.items():
        np.testing.assert_allclose(found[line], totals, rtol=1e-13)
    assert table.n_rows == sum(totals[0] for totals in expected.values())
    assert table.pays == (2 * len(expected) <= table.n_rows)
    keys = [tuple(key) for key in table.keys.tolist()]
    assert keys == sorted(keys)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 200), st.integers(0, 200), st.sampled_from(["one", "whole", "any"]))
def test_parts_merge_to_the_whole(seed, one_cut, other_cut, weighting):
    """In any order and any grouping; sums of integers are the same bit for bit."""
    rules, given = draw(seed, n_linear=1, weighting=weighting)
    first, last = sorted((one_cut, other_cut))
    a, b, c = (count(rules, given, part) for part in (slice(0, first), slice(first, last), slice(last, None)))
    whole, exact = count(rules, given), weighting != "any"
    for merged in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a.merge(b)), b.merge(a).merge(c)):
        assert_same(merged, whole, exact=exact)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.data())
def test_some_terms_are_the_table_of_these_terms(seed, data):
    rules, given = draw(seed, n_rules=70, n_linear=2)
    table = count(rules, given)
    before = table.keys.copy(), table.totals.copy()
    kept = np.array(sorted(data.draw(st.sets(st.integers(0, 71)))), dtype=np.int64)
    few = {**given, "linear": given["linear"][:, kept[kept >= 70] - 70]}
    assert_same(table.take(kept), count(rules[:, kept[kept < 70]], few), exact=True)
    np.testing.assert_array_equal(table.keys, before[0])
    np.testing.assert_array_equal(table.totals, before[1])


def test_folds():
    rules, given = draw(1)
    table = count(rules, given)
    for fold in range(3):
        own, others = given["folds"] == fold, (given["folds"] >= 0) & (given["folds"] != fold)
        for part, rows in ((table.only(fold), own), (table.without(fold), others)):
            assert_same(part, count(rules, {**given, "folds": None}, rows), exact=True)
    assert_same(table.pool(), count(rules, {**given, "folds": None}, given["folds"] >= 0), exact=True)


def test_no_rows_that_count():
    rules, given = draw(2, n_rows=5)
    table = count(rules, {**given, "folds": np.full(5, -1)})
    assert (table.n_lines, table.n_rows) == (0, 0)
    assert_same(table.merge(count(rules, given)), count(rules, given), exact=True)


def draw_classes(n_rules, n_linear, weighting, n_classes=2):
    """Rows whose class leans on the rules, beside the table of them."""
    rules, given = draw(3, 600, n_rules, n_linear, n_classes, weighting)
    rng = np.random.default_rng(4)
    noise = rng.gumbel(size=(600, n_classes))
    slopes = rng.normal(size=(n_rules + n_linear, n_classes)) / np.sqrt(n_rules / 4)
    given = {**given, "codes": np.argmax(np.hstack([rules, given["linear"]]) @ slopes + noise, axis=1)}
    return rules, given, count(rules, given)


@pytest.mark.parametrize("method", ["temperature", "sigmoid", "isotonic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibration_on_lines_is_that_on_rows(method, n_classes):
    rules, given, table = draw_classes(6, 1, "any", n_classes)
    coefs = np.random.default_rng(1).normal(size=(1 if n_classes == 2 else n_classes, 7))
    counted = (given["folds"] >= 0) & (given["weights"] > 0)
    scores = 0.2 + np.hstack([rules, given["linear"]])[counted] @ coefs.T
    of_lines = 0.2 + np.hstack([table.bits.to_dense(), table.linear]) @ coefs.T
    if n_classes == 2:
        scores, of_lines = scores[:, 0], of_lines[:, 0]
    expected = fit_calibration(method, scores, given["codes"][counted], given["weights"][counted])
    found = fit_calibration(method, of_lines, table.codes, table.weights)
    np.testing.assert_allclose(found.probabilities(scores), expected.probabilities(scores), atol=1e-8)


def test_blocks_make_no_difference(monkeypatch):
    rules, given = draw(5, 500, 6, 1, weighting="whole")
    whole = count(rules, given)
    monkeypatch.setattr(module, "BLOCK_ROWS", 128)
    assert_same(count(rules, given), whole, exact=True)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("weights", -1.0, "negative"),
        ("weights", np.nan, "finite"),
        ("numbers", np.inf, "finite"),
        ("linear", np.nan, "finite"),
    ],
)
def test_bad_values_are_refused(name, value, message):
    rules, given = draw(0, n_linear=1, weighting="any")
    given[name].flat[-1] = value
    with pytest.raises(InvalidInputError, match=message):
        count(rules, given)


def test_only_tables_of_the_same_terms_merge():
    rules, given = draw(0)
    with pytest.raises(InvalidInputError, match="same terms"):
        count(rules, given).merge(count(rules[:, :4], given))
