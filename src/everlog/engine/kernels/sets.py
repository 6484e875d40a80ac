"""Set operations on sorted arrays of unique keys."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def squeeze(keys):
    """Drop repeated keys of an ascending array in place; returns the number of keys left."""
    size = keys.shape[0]
    if size == 0:
        return 0
    last = 0
    for i in range(1, size):
        if keys[i] != keys[last]:
            last += 1
            keys[last] = keys[i]
    return last + 1


@njit(cache=True, nogil=True)
def merge(left, right):
    """The union of two sets."""
    out = np.empty(left.shape[0] + right.shape[0], np.int64)
    i = j = n = 0
    while i < left.shape[0] and j < right.shape[0]:
        a, b = left[i], right[j]
        out[n] = a if a <= b else b
        n += 1
        i += a <= b
        j += b <= a
    while i < left.shape[0]:
        out[n] = left[i]
        i += 1
        n += 1
    while j < right.shape[0]:
        out[n] = right[j]
        j += 1
        n += 1
    return out[:n]


@njit(cache=True, nogil=True)
def add_weights(left, left_weights, right, right_weights):
    """The sum of two multisets; keys whose weights cancel disappear."""
    out = np.empty(left.shape[0] + right.shape[0], np.int64)
    weights = np.empty(out.shape[0], np.int32)
    i = j = n = 0
    while i < left.shape[0] or j < right.shape[0]:
        if j == right.shape[0] or (i < left.shape[0] and left[i] < right[j]):
            out[n], weights[n] = left[i], left_weights[i]
            i += 1
        elif i == left.shape[0] or right[j] < left[i]:
            out[n], weights[n] = right[j], right_weights[j]
            j += 1
        else:
            out[n], weights[n] = left[i], left_weights[i] + right_weights[j]
            i += 1
            j += 1
        if weights[n] != 0:
            n += 1
    return out[:n], weights[:n]


@njit(cache=True, nogil=True)
def count_equal(keys):
    """The different keys of an ascending array, and the number of times that each occurs."""
    out = np.empty(keys.shape[0], np.int64)
    weights = np.empty(keys.shape[0], np.int32)
    n = 0
    for i in range(keys.shape[0]):
        if n > 0 and out[n - 1] == keys[i]:
            weights[n - 1] += 1
        else:
            out[n], weights[n] = keys[i], 1
            n += 1
    return out[:n], weights[:n]
