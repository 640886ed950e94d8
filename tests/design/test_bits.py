import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.design.bits import BitMatrix, compile_rules
from rulegrove.rules.rule import Condition, Rule

N_CATEGORIES = 5  # of the categorical attributes in these tests
THRESHOLDS = (-1.0, 0.0, 0.5, 2.0, np.nextafter(0.5, 1.0))
NUMBERS = (*THRESHOLDS, -math.inf, math.inf, math.nan, np.nextafter(0.5, 0.0), -0.0, 3.0, 1e308)
CODES = (*map(float, range(N_CATEGORIES)), math.nan, float(N_CATEGORIES), 255.0)


def random_bits(rng, n_rows, n_rules, density=0.3):
    """A random 0/1 matrix and the same as bits."""
    dense = rng.random((n_rows, n_rules)) < density
    padded = np.zeros((n_rules, -(-n_rows // 64) * 64), dtype=bool)
    padded[:, :n_rows] = dense.T
    words = np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    return dense.astype(np.float64), BitMatrix(words, n_rows)


@st.composite
def conditions(draw, feature):
    missing = draw(st.booleans())
    if feature % 2:  # odd attributes are categorical
        codes = draw(st.sets(st.integers(0, N_CATEGORIES - 1)))
        return Condition(feature, categories=tuple(sorted(codes)), missing=missing)
    lower = draw(st.sampled_from((-math.inf, *THRESHOLDS, math.inf)))
    upper = draw(st.sampled_from((-math.inf, *THRESHOLDS, math.inf)))
    return Condition(feature, lower=lower, upper=upper, missing=missing)


@st.composite
def rules_and_block(draw, max_rows=150):
    n_features = draw(st.integers(1, 4))
    rules = []
    for _ in range(draw(st.integers(0, 6))):
        chosen = sorted(draw(st.sets(st.integers(0, n_features - 1))))
        rules.append(Rule(tuple(draw(conditions(feature)) for feature in chosen)))
    n_rows = draw(st.sampled_from([0, 1, 63, 64, 65, max_rows]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    block = np.stack([rng.choice(CODES if feature % 2 else NUMBERS, n_rows) for feature in range(n_features)])
    return rules, block


@pytest.mark.kernel
@settings(max_examples=60, deadline=None)
@given(rules_and_block())
def test_bits_of_a_rule_equal_its_meaning(case):
    """On thresholds, beside them, infinite, missing and unseen: a column is what `Rule.holds` says."""
    rules, block = case
    program = compile_rules(rules, len(block))
    bits = program.evaluate(block[program.used_features])
    expected = np.array([rule.holds(block) for rule in rules], dtype=np.uint8).reshape(len(rules), block.shape[1]).T
    assert program.n_rules == bits.n_rules == len(rules)
    np.testing.assert_array_equal(bits.to_dense(), expected)
    np.testing.assert_array_equal(bits.counts(), expected.sum(axis=0))


def test_infinite_values_and_open_sides():
    rules = [Rule((Condition(0, upper=1.0),)), Rule((Condition(0, lower=1.0),)), Rule((Condition(0),)), Rule(())]
    program = compile_rules(rules, 1)
    dense = program.evaluate(np.array([[-np.inf, np.inf, np.nan]])).to_dense()
    np.testing.assert_array_equal(dense, [[1, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]])


def test_bits_beyond_the_last_row_are_zero():
    rules = [Rule(()), Rule((Condition(0, upper=0.0),)), Rule((Condition(0, lower=0.0, missing=True),))]
    for n_rows in (1, 63, 64, 65, 100):
        bits = compile_rules(rules, 1).evaluate(np.ones((1, n_rows)))
        np.testing.assert_array_equal(np.bitwise_count(bits.words).sum(axis=1), [n_rows, 0, n_rows])


def test_two_children_share_one_atom():
    """A split costs one comparison, on whichever side the missing values go."""
    for left_missing in (False, True):
        left = Condition(0, upper=1.0, missing=left_missing)
        right = Condition(0, lower=1.0, missing=not left_missing)
        assert len(compile_rules([Rule((left,)), Rule((right,))], 1).atom_rows) == 1


def test_conditions_are_told_apart_by_what_they_say():
    """Rules that share the objects of their conditions compile as rules that have equal ones."""
    low, high = Condition(0, upper=1.5), Condition(1, lower=0.5, upper=2.5)
    shared = compile_rules([Rule((low, high)), Rule((low,)), Rule(()), Rule((high,))], n_features=2)
    copies = [Rule((replace(low), replace(high))), Rule((replace(low),)), Rule(()), Rule((replace(high),))]
    for field, expected in vars(compile_rules(copies, n_features=2)).items():
        np.testing.assert_array_equal(getattr(shared, field), expected)
    assert len(shared.atom_rows) == 3
    assert shared.rule_starts.tolist() == [0, 3, 4, 4, 6]


def test_every_code_of_a_large_set():
    rng = np.random.default_rng(0)
    codes = tuple(sorted(rng.choice(255, 120, replace=False).tolist()))
    program = compile_rules([Rule((Condition(0, categories=codes),))], 1)
    dense = program.evaluate(np.arange(256.0)[None]).to_dense()[:, 0]
    np.testing.assert_array_equal(np.flatnonzero(dense), codes)


def test_only_used_features_are_asked_for():
    rules = [Rule((Condition(1, upper=0.0), Condition(7, lower=1.0)))]
    np.testing.assert_array_equal(compile_rules(rules, 9).used_features, [1, 7])
    with pytest.raises(ValueError, match="attributes 1 to 7; the table has 5"):
        compile_rules(rules, 5)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_evaluation_does_not_depend_on_threads(n_threads):
    rng = np.random.default_rng(1)
    block = rng.normal(size=(3, 40_001))
    rules = [Rule((Condition(k % 3, upper=float(k) / 9),)) for k in range(9)]
    program = compile_rules(rules, 3)
    expected = np.array([rule.holds(block) for rule in rules])
    np.testing.assert_array_equal(program.evaluate(block, n_threads).to_dense().T, expected)


@pytest.mark.kernel
@pytest.mark.parametrize(("n_rows", "n_rules"), [(0, 3), (1, 1), (64, 4), (65, 5), (200, 70), (700, 2)])
def test_gram_equals_the_dense_product(n_rows, n_rules):
    dense, bits = random_bits(np.random.default_rng(n_rows), n_rows, n_rules)
    gram = bits.gram()
    assert gram.dtype == np.int64
    np.testing.assert_array_equal(gram, dense.T @ dense)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_gram_over_several_tiles_and_passes(n_threads):
    """150 rules are three tiles, 40,000 rows two passes over the words with an uneven end."""
    dense, bits = random_bits(np.random.default_rng(2), 40_000, 150)
    np.testing.assert_array_equal(bits.gram(n_threads), dense.T @ dense)


def test_gram_adds_to_what_is_there():
    _, bits = random_bits(np.random.default_rng(3), 100, 6)
    counts = bits.gram()
    bits.add_gram(counts)
    np.testing.assert_array_equal(counts, 2 * bits.gram())


@pytest.mark.kernel
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 300), st.integers(0, 5), st.integers(0, 20), st.integers(0, 2**32 - 1))
def test_sums_equal_the_dense_product(n_rows, n_rules, n_columns, seed):
    rng = np.random.default_rng(seed)
    dense, bits = random_bits(rng, n_rows, n_rules)
    values = rng.integers(-1000, 1000, (n_rows, n_columns)).astype(np.float64)  # whole numbers: exact in any order
    np.testing.assert_array_equal(bits.sums(values), dense.T @ values)


def test_sums_do_not_depend_on_threads():
    rng = np.random.default_rng(4)
    dense, bits = random_bits(rng, 5_000, 37)
    values = rng.normal(size=(5_000, 19))
    sums = bits.sums(values)
    np.testing.assert_allclose(sums, dense.T @ values, rtol=1e-12, atol=1e-10)
    for n_threads in (2, 3, 50):
        np.testing.assert_array_equal(bits.sums(values, n_threads), sums)


@pytest.mark.kernel
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 200), st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_scores_are_added_in_the_order_of_the_rules(n_rows, n_rules, seed):
    """Equal to the last bit to adding one rule after the other."""
    rng = np.random.default_rng(seed)
    dense, bits = random_bits(rng, n_rows, n_rules)
    coef = rng.normal(size=n_rules)
    expected = np.zeros(n_rows)
    for column, number in zip(dense.T, coef, strict=True):
        expected[column == 1] += number
    np.testing.assert_array_equal(bits.dot(coef), expected)


@pytest.mark.kernel
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 200), st.integers(0, 6), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_outputs_are_scored_as_if_alone(n_rows, n_rules, n_outputs, seed):
    """A rule without weight adds nothing, to the last bit."""
    rng = np.random.default_rng(seed)
    dense, bits = random_bits(rng, n_rows, n_rules)
    coefs = rng.normal(size=(n_outputs, n_rules)) * (rng.random((n_outputs, n_rules)) < 0.5)
    expected = np.zeros((n_outputs, n_rows))
    for column, own in zip(dense.T, coefs.T, strict=True):
        expected += column * own[:, None]
    scores = bits.dot(coefs)
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_array_equal(scores, [bits.dot(own) for own in coefs])


def test_scores_do_not_depend_on_blocks_or_threads():
    rng = np.random.default_rng(5)
    _, bits = random_bits(rng, 40_000, 20)
    coef = rng.normal(size=20)
    scores = bits.dot(coef)
    np.testing.assert_array_equal(bits.dot(coef, n_threads=3), scores)
    parts = [BitMatrix(np.ascontiguousarray(bits.words[:, w : w + 100]), 6400) for w in range(0, 600, 100)]
    np.testing.assert_array_equal(np.concatenate([part.dot(coef) for part in parts]), scores[: 600 * 64])
