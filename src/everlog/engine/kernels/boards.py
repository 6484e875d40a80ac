"""Sorting pairs of small numbers in a bitmap that has a row of bits for each first number."""

from __future__ import annotations

import numpy as np
from numba import njit

from everlog.engine.kernels.memory import trailing_zeros

ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def mark_pairs(bits, firsts, seconds, places):
    """Set the bit of each pair (first, place of the second)."""
    for i in range(firsts.shape[0]):
        place = places[seconds[i]]
        bits[firsts[i], place >> 6] |= ONE << np.uint64(place & 63)


@njit(cache=True, nogil=True)
def take_pairs(bits, firsts, places, start):
    """Write the pairs whose bits are set, ascending, first numbers counted from ``start``; returns their number."""
    count = 0
    for first in range(bits.shape[0]):
        for word in range(bits.shape[1]):
            left = bits[first, word]
            while left != 0:
                firsts[count] = start + first
                places[count] = (word << 6) + trailing_zeros(left)
                left &= left - ONE
                count += 1
    return count
