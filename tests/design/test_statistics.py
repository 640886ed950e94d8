import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.design.bits import BitMatrix, compile_rules
from rulegrove.design.linear import fit_linear_terms
from rulegrove.design.statistics import Margins, Statistics, collect_margins, collect_statistics
from rulegrove.rules.rule import Condition, Rule


class Table:
    """The least that `collect_statistics` asks of a table."""

    def __init__(self, block):
        self.block = block
        self.n_rows = block.shape[1]

    def take(self, rows, features):
        chosen = self.block[features, rows] if isinstance(rows, slice) else self.block[np.ix_(features, rows)]
        return np.ascontiguousarray(chosen)


def random_problem(seed, n_rows=300, n_rules=12, n_outputs=2):
    """A table with missing values, rules, linear terms, outputs, and the whole design matrix."""
    rng = np.random.default_rng(seed)
    block = rng.normal(size=(5, n_rows)).round(1)
    block[rng.random(block.shape) < 0.1] = np.nan
    rules = [
        Rule(
            (
                Condition(k % 5, upper=float(rng.normal()), missing=bool(k % 2)),
                *((Condition(5, lower=0.0),) * (k % 3 == 0)),
            )
        )
        for k in range(n_rules)
    ]
    block = np.vstack([block, rng.normal(size=(1, n_rows))])
    program = compile_rules(rules, len(block))
    linear_terms = fit_linear_terms(block, None, np.zeros(len(block), dtype=np.int64))
    y = rng.normal(size=(n_rows, n_outputs))
    dense = np.array([rule.holds(block) for rule in rules], dtype=np.float64).reshape(n_rules, n_rows).T
    design = np.hstack([dense, linear_terms.evaluate(block[linear_terms.features])])
    return Table(block), program, linear_terms, y, design, rng


def assert_moments(moments, design, y, weights):
    """Compare with sums over the rows of the dense design."""
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(moments.weight, weights.sum(), **close)
    np.testing.assert_allclose(moments.x_sum, weights @ design, **close)
    np.testing.assert_allclose(moments.gram, design.T @ (weights[:, None] * design), **close)
    np.testing.assert_allclose(moments.x_y, design.T @ (weights[:, None] * y), **close)
    np.testing.assert_allclose(moments.y_sum, weights @ y, **close)
    np.testing.assert_allclose(moments.y_y, weights @ y**2, **close)
    assert moments.gram.dtype == np.float64


def draw_weights(kind, rng, n_rows):
    """Weights of each kind that takes its own way through the code."""
    return {
        "none": None,
        "ones": np.ones(n_rows),
        "one number": np.full(n_rows, 2.5),
        "few": rng.choice([0.0, 0.5, 1.0, 3.0], n_rows),
        "many": rng.random(n_rows) + 0.1,
    }[kind]


@pytest.mark.parametrize("kind", ["none", "ones", "one number", "few", "many"])
def test_margins_equal_dense_sums_and_add_up(kind):
    table, program, linear_terms, y, design, rng = random_problem(0)
    weights, folds = draw_weights(kind, rng, table.n_rows), rng.integers(-1, 2, table.n_rows)
    own = np.where(folds < 0, 0.0, 1.0 if weights is None else weights)  # rows without a fold are left out
    expected = [own.sum(), own @ design, own @ design**2, design.T @ (own[:, None] * y), own @ y]
    found, parts = Margins.zeros(design.shape[1], y.shape[1]), []
    for fold in range(2):
        here = np.where(folds == fold, 0, -1)
        parts.append(collect_margins(table, program, linear_terms, y, here, weights=weights, block_rows=37))
        found = found.merge(parts[-1])
    whole = collect_margins(table, program, linear_terms, y, folds, weights=weights, n_threads=2)
    for margins in (found, whole):
        given = [margins.weight, margins.x_sum, margins.x_x, margins.x_y, margins.y_sum]
        for one, other in zip(given, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    if kind in ("none", "ones"):
        np.testing.assert_array_equal(found.x_sum[: program.n_rules], whole.x_sum[: program.n_rules])


def test_margins_of_some_terms_are_counted_anew():
    """Those of the others, which fewer rows have told, stand for as many rows."""
    table, program, linear_terms, y, design, _ = random_problem(0)
    few = np.where(np.arange(table.n_rows) < 100, 0, -1)
    some, whole = (collect_margins(table, program, linear_terms, y, folds) for folds in (few, None))
    terms = np.array([1, 4])
    alone = Margins(whole.weight, whole.x_sum[terms], whole.x_x[terms], whole.x_y[terms], whole.y_sum)
    found = some.recount(terms, alone)
    assert found.weight == table.n_rows
    np.testing.assert_array_equal(found.x_sum[terms], design[:, terms].sum(axis=0))
    np.testing.assert_array_equal(found.x_y[terms], whole.x_y[terms])
    others = np.setdiff1d(np.arange(design.shape[1]), terms)
    np.testing.assert_allclose(found.x_x[others], table.n_rows * np.mean(design[:100, others] ** 2, axis=0))


@pytest.mark.parametrize("kind", ["none", "ones", "one number", "few", "many"])
@pytest.mark.parametrize("block_rows", [37, 1000])
def test_moments_equal_dense_sums(kind, block_rows):
    table, program, linear_terms, y, design, rng = random_problem(0)
    weights = draw_weights(kind, rng, table.n_rows)
    folds = rng.integers(0, 3, table.n_rows)
    statistics = collect_statistics(
        table, program, linear_terms, y, folds, weights=weights, block_rows=block_rows, n_threads=2
    )
    w = np.ones(table.n_rows) if weights is None else weights
    assert_moments(statistics.moments(), design, y, w)
    kept = np.array([7, 2, 5, 0])
    few = np.concatenate((kept, np.arange(program.n_rules, design.shape[1])))
    for fold in range(3):
        inside = folds == fold
        assert_moments(statistics.fold_moments(fold), design[inside], y[inside], w[inside])
        others = statistics.moments() - statistics.fold_moments(fold)
        assert_moments(others, design[~inside], y[~inside], w[~inside])
        assert_moments(statistics.keep_rules(kept).fold_moments(fold), design[inside][:, few], y[inside], w[inside])
        counted = inside & (w > 0)
        assert statistics.n_rows[fold] == counted.sum()
        np.testing.assert_array_equal(statistics.support[fold], design[counted, : program.n_rules].sum(axis=0))
    assert statistics.rule_gram.dtype == (np.int64 if kind in ("none", "ones") else np.float64)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 300), max_size=4), st.booleans())
def test_parts_merge_to_the_whole(seed, cuts, with_weights):
    """Integers are identical however the rows are divided; other sums agree up to rounding."""
    table, program, linear_terms, y, _, rng = random_problem(seed)
    folds = rng.integers(0, 2, table.n_rows)
    folds[0] = 1
    weights = rng.random(table.n_rows) + 0.5 if with_weights else None
    whole = collect_statistics(table, program, linear_terms, y, folds, weights=weights)
    merged = Statistics.zeros(2, program.n_rules, linear_terms.n_terms, 2)
    edges = [0, *sorted(cuts), table.n_rows]
    for start, stop in itertools.pairwise(edges):
        part = Statistics.zeros(2, program.n_rules, linear_terms.n_terms, 2)
        for fold in (0, 1):
            rows = start + np.flatnonzero(folds[start:stop] == fold)
            bits = program.evaluate(table.take(rows, program.used_features))
            linear = linear_terms.evaluate(table.take(rows, linear_terms.features))
            part.update(fold, bits, linear, y[rows], None if weights is None else weights[rows])
        merged = merged.merge(part)
    np.testing.assert_array_equal(merged.n_rows, whole.n_rows)
    np.testing.assert_array_equal(merged.support, whole.support)
    if weights is None:
        assert merged.rule_gram.dtype == np.int64
        np.testing.assert_array_equal(merged.rule_gram, whole.rule_gram)
    for name in ("weight", "rule_gram", "rule_linear", "linear_gram", "linear_sum", "x_y", "y_sum", "y_y"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-9, atol=1e-9, err_msg=name)


def test_result_does_not_depend_on_threads():
    table, program, linear_terms, y, _, rng = random_problem(3, n_rows=2_000, n_rules=90)
    folds = rng.integers(0, 2, table.n_rows)
    one, three = (
        collect_statistics(table, program, linear_terms, y, folds, n_threads=n, block_rows=512) for n in (1, 3)
    )
    for name, value in vars(one).items():
        np.testing.assert_array_equal(value, getattr(three, name), err_msg=name)


def test_weight_two_equals_two_rows():
    table, program, linear_terms, y, _, rng = random_problem(4)
    repeats = rng.integers(0, 4, table.n_rows)
    rows = np.repeat(np.arange(table.n_rows), repeats)
    weighted = collect_statistics(table, program, linear_terms, y, weights=repeats.astype(np.float64)).moments()
    repeated = collect_statistics(Table(table.block[:, rows]), program, linear_terms, y[rows]).moments()
    np.testing.assert_array_equal(weighted.gram[:12, :12], repeated.gram[:12, :12])
    np.testing.assert_allclose(weighted.gram, repeated.gram, atol=1e-9)
    np.testing.assert_allclose(weighted.x_y, repeated.x_y, atol=1e-9)


def test_an_update_with_weights_turns_counts_into_weights():
    bits = BitMatrix(np.array([[0b011], [0b110]], dtype=np.uint64), 3)
    empty, y = np.empty((3, 0)), np.ones((3, 1))
    statistics = Statistics.zeros(1, 2, 0, 1)
    statistics.update(0, bits, empty, y)
    statistics.update(0, bits, empty, y, np.full(3, 0.5))
    statistics.update(0, bits, empty, y, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(statistics.rule_gram[0], [[6.0, 3.5], [3.5, 8.0]])
    np.testing.assert_array_equal(statistics.support[0], [6, 6])


@pytest.mark.parametrize(("n_rules", "linear"), [(0, True), (4, False), (0, False)])
def test_only_rules_only_linear_terms_or_neither(n_rules, linear):
    table, program, linear_terms, y, design, _ = random_problem(5, n_rules=n_rules)
    if not linear:
        linear_terms = fit_linear_terms(table.block[:1, :2], None, np.zeros(1, dtype=np.int64))
        design = design[:, :n_rules]
    moments = collect_statistics(table, program, linear_terms, y).moments()
    assert_moments(moments, design, y, np.ones(table.n_rows))


def test_progress_reaches_the_number_of_rows():
    table, program, linear_terms, y, _, rng = random_problem(6)
    seen: list[tuple[int, int]] = []
    folds = rng.integers(0, 3, table.n_rows)
    collect_statistics(
        table,
        program,
        linear_terms,
        y,
        folds,
        block_rows=50,
        on_progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (300, 300)
    assert all(done <= total for done, total in seen)
    assert seen == sorted(seen)


def test_memory_does_not_grow_with_the_rows():
    """The rule matrix of 400,000 rows x 200 rules would be 10 MB of bits; what stays is a block's share of it."""
    peaks = []
    _, program, linear_terms, _, _, rng = random_problem(7, n_rules=200)
    for n_rows in (100_000, 400_000):
        table = Table(rng.normal(size=(6, n_rows)))
        y = np.ones((n_rows, 1))
        collect_statistics(table, program, linear_terms, y, block_rows=8192)
        tracemalloc.start()
        collect_statistics(table, program, linear_terms, y, block_rows=8192)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
