"""Subsets against least squares on the rows, a naive search and all subsets there are."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dense_subsets import search_naively, unexplained
from rulegrove.subset import Reference, order_terms


def make_rules(seed, n_rows=80, n_terms=9, n_targets=1):
    """Columns that overlap as rules do, and a model of all of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    dense = np.column_stack([X[:, k % 3] > rng.normal(0, 0.7) for k in range(n_terms)]).astype(np.float64)
    coefs = rng.normal(size=(n_targets, n_terms)) * (rng.random(n_terms) < 0.7)
    return dense, coefs


def refer(dense, coefs, **limits):
    """Return the model of these coefficients as its terms see it."""
    gram = np.cov(dense.T, bias=True)
    return Reference(gram, coefs @ gram, **limits)


def left(dense, coefs, terms):
    """Return what a subset leaves of the model's scores."""
    return unexplained(dense, dense @ coefs.T, terms, refer(dense, coefs).ridge)


def find(reference, length):
    """Return the subset of one length."""
    return np.sort(order_terms(reference, length))


def mark(n_terms, chosen):
    """Return which of the terms are chosen."""
    marks = np.zeros(n_terms, dtype=bool)
    marks[chosen] = True
    return marks


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n_targets=st.integers(1, 3), size=st.integers(1, 5))
def test_every_step_takes_the_term_that_leaves_the_least(seed, n_targets, size):
    dense, coefs = make_rules(seed, n_targets=n_targets)
    entered = order_terms(refer(dense, coefs), size).tolist()
    for place, term in enumerate(entered):
        others = [other for other in range(dense.shape[1]) if other not in entered[:place]]
        least = min(left(dense, coefs, [*entered[:place], other]) for other in others)
        assert left(dense, coefs, [*entered[:place], term]) == pytest.approx(least, rel=1e-9, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_targets=st.integers(1, 3),
    lengths=st.sets(st.integers(0, 6), min_size=1).map(sorted),
    n_forced=st.integers(0, 2),
    signed=st.booleans(),
)
def test_the_search_is_that_of_a_naive_one_on_the_rows(seed, n_targets, lengths, n_forced, signed):
    """Whatever is forced, whatever signs coefficients may have, for one target and several."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 8))  # no two subsets explain the same
    coefs = rng.normal(size=(n_targets, 8))
    signs = rng.choice([-1, 0, 1], 8) if signed else None
    forced = rng.permutation(8)[:n_forced].tolist()
    reference = refer(dense, coefs, signs=signs, forced=mark(8, forced) if n_forced else None)
    expected = search_naively(dense, dense @ coefs.T, lengths, reference.ridge, signs, forced)
    order = order_terms(reference, lengths[-1])
    assert [sorted(order[: max(length, n_forced)].tolist()) for length in lengths] == expected


def test_the_subset_is_mostly_the_best_there_is():
    """Forward steps find the best of all subsets in most cases, and are never far from it."""
    excess = []
    for seed in range(60):
        dense, coefs = make_rules(seed, n_terms=10)
        found = left(dense, coefs, find(refer(dense, coefs), 3))
        best = min(left(dense, coefs, terms) for terms in itertools.combinations(range(10), 3))
        excess.append((found - best) / max(left(dense, coefs, []), 1e-300))
    assert np.mean(np.array(excess) < 1e-9) >= 0.75
    assert max(excess) < 0.05


def test_a_longer_subset_holds_the_shorter_ones():
    """So that whoever reads a list knows those that are shorter."""
    dense, coefs = make_rules(6)
    longest = order_terms(refer(dense, coefs), 6)
    for length in range(6):
        np.testing.assert_array_equal(order_terms(refer(dense, coefs), length), longest[:length])


def test_noise_of_a_target_is_no_part_of_the_search():
    """A term that explains the target by chance is passed over; the reference does not know it."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(60, 30))
    coefs = np.zeros((1, 30))
    coefs[0, [3, 17]] = 1.0, 0.5
    np.testing.assert_array_equal(find(refer(dense, coefs), 2), [3, 17])


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5])
def test_forced_terms_come_first_and_stay(size):
    """A subset has all of them, even where it is longer for it."""
    dense, coefs = make_rules(1)
    found = find(refer(dense, coefs, forced=mark(9, [2, 5])), size)
    assert found.size == max(size, 2)
    assert {2, 5} <= set(found.tolist())


def test_a_forced_term_that_adds_nothing_stays():
    """It does, as the last of two equal columns, and as one that no target asks for."""
    dense, _ = make_rules(2)
    dense[:, 1] = dense[:, 0]
    coefs = np.zeros((1, 9))
    coefs[0, 4] = 1.0
    np.testing.assert_array_equal(find(refer(dense, coefs, forced=mark(9, [0, 1])), 3), [0, 1, 4])


def test_only_terms_that_add_something_enter():
    """Constant columns do not, nor does anything where the reference has no terms."""
    dense, coefs = make_rules(3)
    assert find(refer(dense, np.zeros((1, 9))), 4).size == 0
    assert find(refer(dense, coefs), 0).size == 0
    dense[:, 4:] = 1.0
    assert find(refer(dense, coefs + 1.0), 9).max() < 4
    assert find(Reference(np.zeros((0, 0)), np.zeros((1, 0))), 3).size == 0


@pytest.mark.parametrize("seed", range(5))
def test_rounding_does_not_choose_between_terms_that_are_as_good(seed):
    """Two rules that part the rows of a forced one add the same beside it; the order of summation chose one of them."""
    dense, _ = make_rules(seed, n_terms=6)
    whole = dense[:, 0]
    dense = np.column_stack([whole, whole * dense[:, 1], whole * (1.0 - dense[:, 1]), dense[:, 2:]])
    coefs = np.array([[2.0, 0.7, -0.7, 0.3, 0.2, 0.1, 0.0]])
    reference = refer(dense, coefs, forced=mark(7, [0]), ridges=1.0 - mark(7, [0]))
    expected = order_terms(reference, 4)
    assert 1 in expected  # the first of the two
    rng = np.random.default_rng(seed)
    for _ in range(20):
        noisy = reference.pulls * (1.0 + 1e-14 * rng.normal(size=reference.pulls.shape))
        np.testing.assert_array_equal(order_terms(replace(reference, pulls=noisy), 4), expected)


def test_equal_columns_do_no_harm():
    dense, coefs = make_rules(4, n_terms=5)
    twice = np.column_stack([dense, dense])
    found = find(refer(twice, np.column_stack([coefs, coefs])), 10)
    assert found.size <= 10
    assert np.unique(found).size == found.size


def test_forced_terms_may_repeat_each_other():
    """They have no ridge, so that nothing is left of the second one; a division by it gave no numbers at all."""
    dense, coefs = make_rules(4, n_terms=5)
    twice = np.column_stack([dense[:, 0], dense])
    forced = mark(6, [0, 1])
    reference = refer(twice, np.column_stack([coefs[:, 0], coefs]), forced=forced, ridges=1.0 - forced)
    with np.errstate(all="raise"):
        found = order_terms(reference, 4)
    np.testing.assert_array_equal(found[:2], [0, 1])
    assert np.unique(found).size == 4


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_of_the_target_do_not_matter(factor):
    dense, coefs = make_rules(5)
    np.testing.assert_array_equal(find(refer(dense, coefs), 4), find(refer(dense, factor * coefs), 4))
