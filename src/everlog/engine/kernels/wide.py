"""Searching and joining keys of several words, which are rows of a two-dimensional array."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def lower_bounds(rows, wanted):
    """For each wanted row the first position in the ascending ``rows`` that is not below it."""
    out = np.empty(wanted.shape[0], np.int64)
    words = rows.shape[1]
    for i in range(wanted.shape[0]):
        low, high = 0, rows.shape[0]
        while low < high:
            middle = (low + high) >> 1
            below = False
            for w in range(words):
                if rows[middle, w] != wanted[i, w]:
                    below = rows[middle, w] < wanted[i, w]
                    break
            if below:
                low = middle + 1
            else:
                high = middle
        out[i] = low
    return out


@njit(cache=True, nogil=True)
def expand_ranges(starts, totals, first, last):
    """Matches number ``first`` to ``last``: the row of each and its position in the run."""
    rows = np.empty(last - first, np.int64)
    positions = np.empty(last - first, np.int64)
    row = np.searchsorted(totals, first, side="right") - 1
    for n in range(last - first):
        while totals[row + 1] <= first + n:
            row += 1
        rows[n] = row
        positions[n] = starts[row] + (first + n - totals[row])
    return rows, positions
