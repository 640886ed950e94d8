"""The kernels of the pattern table against plain NumPy."""

import numpy as np
import pytest

from rulegrove.design._pattern_kernels import gather_lines, transpose_bits

pytestmark = pytest.mark.kernel


def pack(dense):
    """Pack rows of 0 and 1, 64 a word."""
    words = np.zeros((len(dense), -(-dense.shape[1] // 64)), dtype=np.uint64)
    for column, bits in enumerate(dense.T):
        words[:, column // 64] |= bits.astype(np.uint64) << np.uint64(column % 64)
    return words


@pytest.mark.parametrize("shape", [(1, 1), (3, 64), (64, 3), (65, 130), (130, 65), (25, 200), (0, 10), (10, 0)])
def test_transposed_bits(shape):
    dense = np.random.default_rng(shape[0]).integers(0, 2, shape)
    turned = np.full((shape[1], -(-shape[0] // 64)), 7, dtype=np.uint64)
    transpose_bits(pack(dense), turned)
    np.testing.assert_array_equal(turned, pack(dense.T))


@pytest.mark.parametrize("n_parts", [1, 3])
def test_equal_keys_are_gathered(n_parts):
    rng = np.random.default_rng(n_parts)
    keys = rng.integers(0, 4, (500, n_parts), dtype=np.uint64) << np.uint64(40)
    totals = rng.integers(-9, 9, (500, 2)).astype(float)
    lines = {}
    for key, total in zip(map(tuple, keys.tolist()), totals, strict=True):
        lines[key] = lines.get(key, 0.0) + total
    n_lines = gather_lines(keys, totals)
    assert [tuple(key) for key in keys[:n_lines].tolist()] == list(lines)
    np.testing.assert_array_equal(totals[:n_lines], list(lines.values()))


def slots_of(keys, size):
    """Where the kernel first looks for keys of one word."""
    half, low_bits = np.uint64(32), np.uint64(2**32 - 1)
    low = (keys & low_bits) * np.uint64(0x9E3779B1)
    mixed = ((low >> half) | (low << half)) ^ ((keys >> half) * np.uint64(0x85EBCA77))
    return (mixed ^ (mixed >> half)) % np.uint64(size)


def test_keys_that_collide_are_told_apart():
    """All keys want one of the last two slots, so that the search for a free one goes on past the end."""
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**64, 5_000, dtype=np.uint64)
    keys = keys[slots_of(keys, 128) >= 126][:32]
    assert len(keys) == 32
    shuffled = rng.permutation(np.repeat(keys, 2))
    expected = shuffled[np.sort(np.unique(shuffled, return_index=True)[1])]
    found, totals = shuffled[:, None].copy(), np.ones((64, 1))
    assert gather_lines(found, totals) == 32
    np.testing.assert_array_equal(found[:32, 0], expected)
    assert (totals[:32] == 2).all()
