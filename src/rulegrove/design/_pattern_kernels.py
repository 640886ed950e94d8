"""Compiled loops of the pattern table: turn bit columns into one word a row and back, and find equal rows."""

import numpy as np

from rulegrove._kernel_cache import njit
from rulegrove._typing import FloatArray, Words

_ZERO = np.uint64(0)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_FIRST = np.uint64(0x9E3779B1)  # odd numbers of 32 bits: their products with 32 bits fit a word
_SECOND = np.uint64(0x85EBCA77)


@njit(nogil=True)
def transpose_bits(words: Words, turned: Words) -> None:
    """Write the transpose of a matrix of bits: bit ``j`` of row ``i`` of `words` becomes bit ``i`` of row ``j``.

    Rows are packed 64 bits a word, lowest bit first. `turned` is written whole; bits beyond its rows are left out, and
    bits beyond the rows of `words` are zero. Squares of 64 x 64 bits are turned by exchanging quarters, then quarters
    of the quarters and so on (Warren 2012, "Hacker's Delight", section 7-3).
    """
    square = np.empty(64, np.uint64)
    for a in range(turned.shape[1]):
        n_in = min(64, words.shape[0] - 64 * a)
        for b in range(words.shape[1]):
            for i in range(n_in):
                square[i] = words[64 * a + i, b]
            for i in range(n_in, 64):
                square[i] = _ZERO
            side, mask = 32, _LOW
            while side:
                shift = np.uint64(side)
                for start in range(0, 64, 2 * side):
                    for i in range(start, start + side):
                        swapped = ((square[i] >> shift) ^ square[i + side]) & mask
                        square[i] ^= swapped << shift
                        square[i + side] ^= swapped
                side //= 2
                mask ^= mask << np.uint64(side)
            for j in range(min(64, turned.shape[0] - 64 * b)):
                turned[64 * b + j, a] = square[j]


@njit(nogil=True)
def gather_lines(keys: Words, totals: FloatArray) -> int:
    """Move the distinct rows of `keys` to its beginning and return how many there are (both are changed in place).

    Rows keep the order in which they first appear. The rows of `totals` move along, those of equal keys added up in
    their order; what is left behind the distinct rows has no meaning.
    """
    n_rows, n_parts = keys.shape
    size = 64
    while size < 2 * n_rows:
        size *= 2
    slots = np.full(size, -1, np.int32)  # open addressing, at most half full
    n_lines = 0
    for i in range(n_rows):
        mixed = _ZERO
        for k in range(n_parts):
            part = keys[i, k] ^ mixed
            low = (part & _LOW) * _FIRST
            mixed = ((low >> _HALF) | (low << _HALF)) ^ ((part >> _HALF) * _SECOND)
        slot = np.int64((mixed ^ (mixed >> _HALF)) & np.uint64(size - 1))
        while True:
            line = np.int64(slots[slot])
            if line < 0:
                slots[slot] = n_lines
                keys[n_lines] = keys[i]
                totals[n_lines] = totals[i]
                n_lines += 1
                break
            equal = True
            for k in range(n_parts):
                equal = equal and keys[i, k] == keys[line, k]
            if equal:
                for k in range(totals.shape[1]):
                    totals[line, k] += totals[i, k]
                break
            slot = (slot + 1) & (size - 1)
    return n_lines
