"""The pattern table against rows counted one by one, and models of its lines against models of the rows."""

from collections import defaultdict
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove import Glmnet
from rulegrove.columns import Columns, Feature
from rulegrove.design import patterns as module
from rulegrove.design.bits import BitMatrix, compile_rules
from rulegrove.design.linear import fit_linear_terms
from rulegrove.design.patterns import PatternTable, collect_patterns
from rulegrove.design.rows import Rows, collect_rows
from rulegrove.estimators.calibration import fit_calibration
from rulegrove.exceptions import InvalidInputError
from rulegrove.joint_selection import Multinomial
from rulegrove.losses import Logistic, Ramp, Squared, SquaredHinge
from rulegrove.rules.rule import Condition, Rule
from rulegrove.solvers.base import Problem

SIGNS = np.array([[-1.0], [1.0]])


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
    for merged in (a.merge(b, c), a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a, b), b.merge(a).merge(c)):
        assert_same(merged, whole, exact=exact)
    assert_same(whole.merge(), whole, exact=True)


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
    rows, targets, starts = table.as_rows(SIGNS)
    assert (rows.bits.n_rows, targets.shape, starts.tolist()) == (0, (0, 1), [0])


def dense_rows(rules, given, y):
    """The rows themselves, all those with a fold."""
    here = given["folds"] >= 0
    weights = None if given["weights"] is None else given["weights"][here]
    return Rows.from_dense(rules[here], given["linear"][here], y[here], weights)


LISTS = pytest.mark.parametrize(
    ("n_rules", "n_linear", "weighting"),
    [(6, 0, "one"), (6, 2, "one"), (6, 1, "whole"), (6, 0, "any"), (70, 0, "any")],
)


def draw_classes(n_rules, n_linear, weighting, n_classes=2):
    """Rows whose class leans on the rules, beside the table of them."""
    rules, given = draw(3, 600, n_rules, n_linear, n_classes, weighting)
    rng = np.random.default_rng(4)
    noise = rng.gumbel(size=(600, n_classes))
    slopes = rng.normal(size=(n_rules + n_linear, n_classes)) / np.sqrt(n_rules / 4)
    given = {**given, "codes": np.argmax(np.hstack([rules, given["linear"]]) @ slopes + noise, axis=1)}
    return rules, given, count(rules, given)


@LISTS
def test_logistic_models_of_lines_are_those_of_rows(n_rules, n_linear, weighting):
    rules, given, table = draw_classes(n_rules, n_linear, weighting)
    assert table.pays
    rows = dense_rows(rules, given, SIGNS[given["codes"], 0])
    solver = Glmnet(loss="logistic", l1_ratio=0.9, tol=1e-14)
    penalties = [0.05, 0.01, 0.003]
    path = solver.path(Problem.from_rows(rows), penalties)
    for lines in (table.as_rows(SIGNS)[0], table.pool().as_rows(SIGNS)[0]):
        assert lines.weight == pytest.approx(rows.weight)
        same = solver.path(Problem.from_rows(lines), penalties)
        np.testing.assert_allclose(same.coefs, path.coefs, atol=1e-8)
        np.testing.assert_allclose(same.intercepts, path.intercepts, atol=1e-8)
        np.testing.assert_allclose(same.risks, path.risks, atol=1e-8)


@LISTS
def test_losses_of_lines_are_those_of_rows(n_rules, n_linear, weighting):
    rules, given, table = draw_classes(n_rules, n_linear, weighting)
    rows = dense_rows(rules, given, SIGNS[given["codes"], 0])
    lines, targets, starts = table.as_rows(SIGNS)
    np.testing.assert_array_equal(targets[:, 0], lines.y)
    rng = np.random.default_rng(0)
    coefs, intercepts = rng.normal(size=(3, rows.n_terms)), rng.normal(size=3)
    folds = given["folds"][given["folds"] >= 0]
    for loss in (Squared(), Ramp(), SquaredHinge(), Logistic()):
        np.testing.assert_allclose(lines.risks(loss, coefs, intercepts), rows.risks(loss, coefs, intercepts))
        for fold in range(3):
            inside = np.pad(folds == fold, (0, len(rows.y) - len(folds)))
            kept, held_out = lines.hold_out(int(starts[fold]), int(starts[fold + 1]))
            for part, alone, weights in (
                (held_out, table.only(fold), np.where(inside, rows.weights, 0.0)),
                (kept, table.without(fold), np.where(inside, 0.0, rows.weights)),
            ):
                expected = Rows(rows.bits, rows.linear, rows.y, weights).risks(loss, coefs, intercepts)
                np.testing.assert_allclose(part.risks(loss, coefs, intercepts), expected)
                np.testing.assert_allclose(alone.as_rows(SIGNS)[0].risks(loss, coefs, intercepts), expected)


def test_multinomial_models_of_lines_are_those_of_rows():
    rules, given, table = draw_classes(6, 1, "any", n_classes=3)
    encoded = 2.0 * np.eye(3) - 1.0
    rows = [dense_rows(rules, given, encoded[given["codes"], k]) for k in range(3)]
    first, targets, _ = table.pool().as_rows(encoded)
    lines = [Rows(first.bits, first.linear, np.ascontiguousarray(y), first.weights) for y in targets.T]
    solver, points = Glmnet(loss="logistic", tol=1e-12), np.array([0.03, 0.005])
    joint = Multinomial()
    found, expected = (
        joint.path(solver, [Problem.from_rows(part) for part in parts], points, None) for parts in (lines, rows)
    )
    for same, path in zip(found, expected, strict=True):
        np.testing.assert_allclose(same.coefs, path.coefs, atol=1e-8)
        np.testing.assert_allclose(same.intercepts, path.intercepts, atol=1e-8)
    np.testing.assert_allclose(joint.errors(expected, lines), joint.errors(expected, rows), rtol=1e-12)


@pytest.mark.parametrize("method", ["temperature", "sigmoid", "isotonic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibration_on_lines_is_that_on_rows(method, n_classes):
    rules, given, table = draw_classes(6, 1, "any", n_classes)
    coefs = np.random.default_rng(1).normal(size=(1 if n_classes == 2 else n_classes, 7))
    counted = (given["folds"] >= 0) & (given["weights"] > 0)
    scores = 0.2 + np.hstack([rules, given["linear"]])[counted] @ coefs.T
    of_lines = np.column_stack([table.scores(coef, 0.2) for coef in coefs])
    if n_classes == 2:
        scores, of_lines = scores[:, 0], of_lines[:, 0]
    expected = fit_calibration(method, scores, given["codes"][counted], given["weights"][counted])
    found = fit_calibration(method, of_lines, table.codes, table.weights)
    np.testing.assert_allclose(found.probabilities(scores), expected.probabilities(scores), atol=1e-8)


@pytest.mark.parametrize("weighting", ["one", "whole", "any"])
def test_squared_error_of_numbers(weighting):
    """By moments, which are those of the rows, and by lines, whose means leave out the same for all models."""
    rules, given = draw(6, 400, 6, 1, weighting=weighting)
    given["codes"] = None
    table = count(rules, given).pool()
    moments = table.moments()
    lines, targets, _ = table.as_rows()
    solver = Glmnet(tol=1e-14)
    for output in range(2):
        rows = dense_rows(rules, given, given["numbers"][:, output])
        expected, found = rows.moments(), moments.of_output(output)
        for field in fields(expected):
            np.testing.assert_allclose(getattr(found, field.name), getattr(expected, field.name), atol=1e-10)
        own = Rows(lines.bits, lines.linear, targets[:, output].copy(), lines.weights)
        path = solver.path(Problem.from_rows(rows), [0.3, 0.01])
        same = solver.path(Problem.from_rows(own), [0.3, 0.01])
        np.testing.assert_allclose(same.coefs, path.coefs, atol=1e-8)
        row_risks, line_risks = (part.risks(Squared(), path.coefs, path.intercepts) for part in (rows, own))
        left_out = float(found.y_y[0] - own.moments().y_y[0]) / rows.weight
        np.testing.assert_allclose(line_risks + left_out, row_risks)


def test_moments_of_classes():
    rules, given, table = draw_classes(6, 1, "any", n_classes=3)
    encoded = 2.0 * np.eye(3) - 1.0
    for k in range(3):
        expected = dense_rows(rules, given, encoded[given["codes"], k]).moments()
        found = table.moments(encoded).of_output(k)
        for field in fields(expected):
            np.testing.assert_allclose(getattr(found, field.name), getattr(expected, field.name), atol=1e-10)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_table_is_counted_in_one_pass(n_threads, monkeypatch):
    """Of attributes with missing values, in blocks that fold and thread divide anyhow."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)).round(1)
    X[rng.random(X.shape) < 0.2] = np.nan
    rules = tuple(Rule((Condition(k % 3, upper=float(rng.normal()), missing=bool(k % 2)),)) for k in range(6))
    linear = fit_linear_terms(X.T, None, np.zeros(3, dtype=np.int64))
    columns, program = Columns([Feature(f"x{k}") for k in range(3)], X), compile_rules(rules, 3)
    codes, folds, weights = rng.integers(0, 2, 500), rng.integers(-1, 3, 500), rng.integers(0, 3, 500).astype(float)
    monkeypatch.setattr(module, "BLOCK_ROWS", 128)
    counted = PatternTable.count(
        program.evaluate(X.T), linear.evaluate(X.T), codes=codes, folds=folds, weights=weights, n_threads=n_threads
    )
    monkeypatch.setattr(module, "BLOCK_ROWS", 192)
    table = collect_patterns(columns, program, linear, codes=codes, folds=folds, weights=weights, n_threads=n_threads)
    monkeypatch.undo()
    assert_same(table, counted, exact=True)
    holds = np.array([rule.holds(X.T) for rule in rules]).T.astype(np.int64)
    assert_same(
        table,
        PatternTable.count(pack(holds), linear.evaluate(X.T), codes=codes, folds=folds, weights=weights),
        exact=True,
    )
    rows, _, starts = collect_rows(columns, program, linear, SIGNS[codes], folds, weights)
    lines, _, line_starts = table.as_rows(SIGNS)
    for fold in range(3):
        (_, expected), (_, found) = (
            part.hold_out(int(ends[fold]), int(ends[fold + 1])) for part, ends in ((rows, starts), (lines, line_starts))
        )
        np.testing.assert_allclose(found.moments().gram, expected.moments().gram, atol=1e-10)
        np.testing.assert_allclose(found.moments().x_y, expected.moments().x_y, atol=1e-10)


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
