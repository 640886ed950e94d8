"""Random numbers of rows: those of SplitMix64, the same for any division, spread evenly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove._hashing import deal_folds, hash_positions

MASK = 2**64 - 1


def mix(bits):
    """SplitMix64's mixing in Python's integers."""
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return bits ^ (bits >> 31)


def splitmix(state, n):
    """The first numbers of the generator as published."""
    found = []
    for _ in range(n):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        found.append(mix(state))
    return found


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1, MASK])
def test_numbers_are_those_of_the_generator(seed):
    assert hash_positions(seed, np.arange(50)).tolist() == splitmix(mix(seed), 50)


def test_the_mixing_is_the_published_one():
    """First outputs of SplitMix64 from seed 1234567, as in the reference implementation's test vectors."""
    assert splitmix(1234567, 3) == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(seed=st.integers(0, MASK), start=st.integers(0, 2**40), cut=st.integers(0, 30))
def test_any_division_gives_the_same_numbers(seed, start, cut):
    positions = np.arange(start, start + 30)
    parts = [hash_positions(seed, positions[:cut]), hash_positions(seed, positions[cut:])]
    np.testing.assert_array_equal(np.concatenate(parts), hash_positions(seed, positions))


def test_folds_are_even_and_seeds_unrelated():
    n_rows = 200_000
    one, two = (deal_folds(seed, np.arange(n_rows), 5) for seed in (1, 2))
    pairs = np.bincount(5 * one + two, minlength=25)
    expected = n_rows / 25
    assert ((pairs - expected) ** 2 / expected).sum() < 52  # chi squared of 24 degrees, 1 in 1000
