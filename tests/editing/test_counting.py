"""Lines stand for their rows: the sums are those of the pattern table, and of the rows one by one."""

import numpy as np
import pytest

from edited_lists import draw, fit
from rulegrove.design.bits import BitMatrix, compile_rules
from rulegrove.design.patterns import PatternTable
from rulegrove.editing.counting import Counts
from rulegrove.editing.reading import read_rows
from rulegrove.rules.parse import parse_rule
from rulegrove.rules.rule import Rule

MORE = ["x0 > 0.5", "x1 <= 0 and x2 > -1"]


def count(kind, weights=None):
    model, (X, y) = fit(kind), draw(kind)
    rows = read_rows(model, X, y, weights, None, None, None)
    features = model.model_.features
    return model, rows, [parse_rule(text, features) for text in MORE]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["two", "three", "number", "lines", "poisson"])
def test_sums_are_those_of_the_rows(kind, weighted):
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, 240).astype(float) if weighted else None
    model, rows, more = count(kind, weights)
    X = draw(kind)[0]
    counts = Counts.of(rows, model.model_.terms).learn(more)
    by_row = np.column_stack(
        [counts.rows.follow(t) if not isinstance(t, Rule) else rows.hold([t])[0] for t in counts.terms]
    )
    np.testing.assert_array_equal(counts.values[counts.places], by_row)
    held = model.transform_rules(X[rows.chosen])
    for column, term in enumerate(model.model_.terms):
        np.testing.assert_allclose(counts.values[counts.places, counts.terms.index(term)], held[:, column])
    own = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    basis = rows.family.expand(rows.y)
    for line in range(counts.n_lines):
        for fold in range(rows.n_folds):
            here = (counts.places == line) & (rows.folds == fold)
            np.testing.assert_allclose(counts.sums[line, fold], basis[:, here] @ own[here], atol=1e-9)
            pairs = [own[here] ** 2 @ (basis[one, here] * basis[other, here]) for one, other in rows.family.pairs]
            np.testing.assert_allclose(counts.products[line, fold], pairs, atol=1e-9)


@pytest.mark.parametrize("kind", ["two", "three"])
def test_lines_are_those_of_the_pattern_table(kind):
    model, rows, more = count(kind)
    counts = Counts.of(rows, model.model_.terms).learn(more)
    program = compile_rules(counts.terms, rows.columns.n_features)
    bits = program.evaluate(rows.columns.take(slice(None), program.used_features))
    table = PatternTable.count(bits, codes=rows.y, folds=rows.folds)
    expected = {
        (tuple(held), fold, code): total
        for held, fold, code, total in zip(
            table.bits.to_dense().tolist(),
            table.folds.tolist(),
            table.codes.tolist(),
            table.counts.tolist(),
            strict=True,
        )
    }
    found = {
        (tuple(counts.values[line].astype(int).tolist()), fold, code): int(counts.sums[line, fold, code])
        for line, fold, code in zip(*np.nonzero(counts.sums), strict=True)
    }
    assert found == expected
    pooled = PatternTable.count(BitMatrix(bits.words, bits.n_rows))
    assert counts.n_lines == pooled.n_lines


def test_more_rules_than_fall_into_lines_at_once_are_counted_alike():
    rows = count("two")[1]
    rules = [parse_rule(f"x{place % 4} > {place / 10:g}", rows.columns.features) for place in range(30)]
    at_once = Counts.of(rows, rules)
    one_by_one = Counts.of(rows, [])
    for rule in rules:
        one_by_one = one_by_one.learn([rule])
    assert at_once.n_lines == one_by_one.n_lines
    np.testing.assert_array_equal(at_once.values[at_once.places], one_by_one.values[one_by_one.places])
    assert one_by_one.learn(rules) is one_by_one
