"""Checks of numbers that come from a file, before they are used as positions."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def is_ascending(offsets, end):
    """Whether offsets ascend from 0 to ``end``."""
    if offsets.shape[0] == 0 or offsets[0] != 0 or offsets[-1] != end:
        return False
    wrong = np.int64(0)
    for i in range(offsets.shape[0] - 1):
        wrong |= offsets[i + 1] - offsets[i]
    return wrong >= 0


@njit(cache=True, nogil=True)
def are_ids_below(words, columns, width, universe):
    """Whether all ids in words of ``columns`` ids of ``width`` bits each are below ``universe``.

    A number that is too large, or negative, sets the sign bit of ``wrong``, so that the loop has no branch.
    """
    mask, limit = (np.int64(1) << width) - 1, universe - 1
    wrong = np.int64(0)
    for column in range(columns - 1):
        shift = column * width
        for i in range(words.shape[0]):
            wrong |= limit - ((words[i] >> shift) & mask)
    shift = (columns - 1) * width
    for i in range(words.shape[0]):
        wrong |= words[i] | (limit - (words[i] >> shift))
    return wrong >= 0
