"""Subsets against least squares on the rows and against all subsets there are."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dense_subsets import best_exchange, unexplained
from rulegrove.subset import LEAST_GAIN, Reference, exchange_terms, find_subset, step_forward


def make_rules(seed, n_rows=80, n_terms=9, n_targets=1):
    """Columns that overlap as rules do, and a model of all of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    dense = np.column_stack([X[:, k % 3] > rng.normal(0, 0.7) for k in range(n_terms)]).astype(np.float64)
    coefs = rng.normal(size=(n_targets, n_terms)) * (rng.random(n_terms) < 0.7)
    return dense, coefs


def refer(dense, coefs, **limits):
    return Reference.of(np.cov(dense.T, bias=True), coefs, **limits)


def left(dense, coefs, terms):
    return unexplained(dense, dense @ coefs.T, terms, refer(dense, coefs).ridge)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n_targets=st.integers(1, 3), size=st.integers(1, 5))
def test_every_step_takes_the_term_that_leaves_the_least(seed, n_targets, size):
    dense, coefs = make_rules(seed, n_targets=n_targets)
    entered = step_forward(refer(dense, coefs), size).tolist()
    for place, term in enumerate(entered):
        others = [other for other in range(dense.shape[1]) if other not in entered[:place]]
        least = min(left(dense, coefs, [*entered[:place], other]) for other in others)
        assert left(dense, coefs, [*entered[:place], term]) == pytest.approx(least, rel=1e-9, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n_targets=st.integers(1, 3), size=st.integers(1, 5))
def test_no_exchange_improves_a_subset(seed, n_targets, size):
    dense, coefs = make_rules(seed, n_targets=n_targets)
    reference = refer(dense, coefs)
    start = step_forward(reference, size)
    found = exchange_terms(reference, start).tolist()
    assert len(set(found)) == len(start)
    if not found:
        return
    now, explained = left(dense, coefs, found), left(dense, coefs, []) - left(dense, coefs, found)
    assert now <= left(dense, coefs, start) + 1e-12
    ridge = reference.ridge
    assert best_exchange(dense, dense @ coefs.T, found, ridge) >= now - LEAST_GAIN * explained - 1e-12


def test_the_subset_is_mostly_the_best_there_is():
    """A local optimum under exchanges is the best of all subsets in nine of ten cases, and never far from it."""
    excess = []
    for seed in range(60):
        dense, coefs = make_rules(seed, n_terms=10)
        found = left(dense, coefs, find_subset(refer(dense, coefs), 3))
        best = min(left(dense, coefs, terms) for terms in itertools.combinations(range(10), 3))
        excess.append((found - best) / max(left(dense, coefs, []), 1e-300))
    assert np.mean(np.array(excess) < 1e-9) >= 0.9
    assert max(excess) < 0.05


def test_exchanges_mend_a_first_step():
    """A blurred sum of two terms says more than either, but less than both."""
    x, z, noise = np.random.default_rng(0).normal(size=(3, 400))
    dense, coefs = np.column_stack([x, z, 0.6 * (x + z + 0.8 * noise)]), np.array([[1.0, 1.0, 0.0]])
    steps = step_forward(refer(dense, coefs), 2)
    assert steps[0] == 2
    np.testing.assert_array_equal(find_subset(refer(dense, coefs), 2), [0, 1])


def test_noise_of_a_target_is_no_part_of_the_search():
    """A term that explains the target by chance is passed over; the reference does not know it."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(60, 30))
    coefs = np.zeros((1, 30))
    coefs[0, [3, 17]] = 1.0, 0.5
    np.testing.assert_array_equal(find_subset(refer(dense, coefs), 2), [3, 17])


@pytest.mark.parametrize("size", [0, 1, 3])
def test_forced_terms_come_first_and_stay(size):
    dense, coefs = make_rules(1)
    forced = np.zeros(9, dtype=bool)
    forced[[2, 5]] = True
    found = find_subset(refer(dense, coefs, forced=forced), size)
    assert found.size == size
    assert set(found[:size]) >= set([2, 5][:size])


def test_a_forced_term_that_adds_nothing_stays():
    """It does, as the last of two equal columns, and as one that no target asks for."""
    dense, _ = make_rules(2)
    dense[:, 1] = dense[:, 0]
    coefs = np.zeros((1, 9))
    coefs[0, 4] = 1.0
    forced = np.zeros(9, dtype=bool)
    forced[[0, 1]] = True
    np.testing.assert_array_equal(find_subset(refer(dense, coefs, forced=forced), 3), [0, 1, 4])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 4))
def test_terms_enter_with_their_sign(seed, size):
    """The last one to enter has the sign it may have, in the least squares of those before it and itself."""
    dense, coefs = make_rules(seed)
    signs = np.random.default_rng(seed).choice([-1, 0, 1], 9)
    reference = refer(dense, coefs, signs=signs)
    entered = step_forward(reference, size)
    for n_entered in range(1, entered.size + 1):
        terms = entered[:n_entered]
        inverse = np.linalg.inv(reference.gram[np.ix_(terms, terms)] + reference.ridge * np.eye(n_entered))
        assert signs[terms[-1]] * (inverse @ reference.pulls[0, terms])[-1] >= -1e-9


def test_only_terms_that_add_something_enter():
    """Constant columns do not, nor does anything where the reference has no terms."""
    dense, coefs = make_rules(3)
    assert find_subset(refer(dense, np.zeros((1, 9))), 4).size == 0
    assert find_subset(refer(dense, coefs), 0).size == 0
    dense[:, 4:] = 1.0
    assert find_subset(refer(dense, coefs + 1.0), 9).max() < 4
    assert find_subset(Reference.of(np.zeros((0, 0)), np.zeros((1, 0))), 3).size == 0


def test_equal_columns_do_no_harm():
    dense, coefs = make_rules(4, n_terms=5)
    twice = np.column_stack([dense, dense])
    found = find_subset(refer(twice, np.column_stack([coefs, coefs])), 10)
    assert found.size <= 10
    assert np.unique(found).size == found.size


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_of_the_target_do_not_matter(factor):
    dense, coefs = make_rules(5)
    np.testing.assert_array_equal(find_subset(refer(dense, coefs), 4), find_subset(refer(dense, factor * coefs), 4))
