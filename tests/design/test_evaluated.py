"""Bits that are kept and counted later give the statistics of one pass over the table, number for number."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.columns import learn_columns
from rulegrove.design.bits import compile_rules
from rulegrove.design.evaluated import evaluate_table, fits_as_bits
from rulegrove.design.linear import fit_linear_terms
from rulegrove.design.statistics import collect_statistics
from rulegrove.rules.rule import Condition, Rule

pytestmark = pytest.mark.kernel


def make_table(seed, n_rows, n_rules, n_folds):
    """A table with holes, rules and linear terms on it, two outputs, folds and rows in none of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    rules = [
        Rule((Condition(int(feature), upper=float(bound), missing=bool(missing)),))
        for feature, bound, missing in zip(
            rng.integers(0, 3, n_rules), rng.normal(size=n_rules), rng.random(n_rules) < 0.5, strict=True
        )
    ]
    linear = fit_linear_terms(X.T, None, np.zeros(3, dtype=np.int64))
    folds = rng.permutation(np.arange(n_rows) % (n_folds + 1)) - 1
    return learn_columns(X), compile_rules(rules, 3), linear, rng.normal(size=(n_rows, 2)), folds


def assert_same(found, expected):
    for field in fields(expected):
        np.testing.assert_array_equal(getattr(found, field.name), getattr(expected, field.name))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(6, 300), st.integers(0, 9), st.integers(1, 4), st.sampled_from([1, 2]))
def test_counts_are_those_of_one_pass(seed, n_rows, n_rules, n_folds, n_threads):
    table = make_table(seed, n_rows, n_rules, n_folds)
    expected = collect_statistics(*table)
    evaluated = evaluate_table(*table, n_threads=n_threads)
    kept = np.flatnonzero(np.random.default_rng(seed).random(n_rules) < 0.6)
    assert evaluated.total == expected.total
    np.testing.assert_array_equal(evaluated.shared(), expected.shared())
    assert_same(evaluated.keep_rules(kept), expected.keep_rules(kept))


def test_a_fold_of_several_blocks():
    *table, _ = make_table(3, 500, 4, 1)
    evaluated = evaluate_table(*table, n_threads=2, block_rows=128)
    assert [len(blocks) for blocks in evaluated.folds] == [4]
    expected = collect_statistics(*table, block_rows=128)
    assert_same(evaluated.keep_rules(np.arange(4)), expected)


def test_progress_is_told():
    told = []
    evaluate_table(*make_table(0, 50, 2, 2), on_progress=lambda done, total: told.append((done, total)))
    assert told == [(50, 50)]


def test_bits_are_kept_where_they_are_the_smaller_part():
    folds = np.arange(10_000) % 5
    assert fits_as_bits(10_000, 2000, folds)
    assert not fits_as_bits(10_000, 100, folds)
    assert not fits_as_bits(10_000, 0, None)
