"""Finding keys in sorted runs."""

from __future__ import annotations

import numpy as np
from numba import njit

from everlog.engine.kernels.memory import run_index, run_keys


@njit(cache=True, nogil=True)
def lower_bound(keys, key, low, high):
    """The first position in ``keys[low:high]`` whose key is not below ``key``."""
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def gallop(keys, key, low, high):
    """Find what ``lower_bound`` finds by doubling steps from ``low``, which is quick if the position is near."""
    step = 1
    while low + step - 1 < high and keys[low + step - 1] < key:
        low += step
        step <<= 1
    return lower_bound(keys, key, low, min(low + step - 1, high))


@njit(cache=True, nogil=True)
def key_range(keys, index, key, span, shift):
    """Positions ``[low, high)`` of the keys in ``[key, key + span)``; ``shift`` gives the leading column.

    The index helps if the range lies within one value of the leading column. The range for unary heads has all keys.
    """
    low, high = 0, keys.shape[0]
    if index.shape[0] > 0 and span >> shift <= 1:
        lead = key >> shift
        if lead + 1 >= index.shape[0]:
            return high, high
        low, high = np.int64(index[lead]), np.int64(index[lead + 1])
        if span >> shift == 1:
            return low, high
    low = lower_bound(keys, key, low, high)
    if low == high or keys[low] >= key + span:
        return low, low
    return low, lower_bound(keys, key + span, low, high)


@njit(cache=True, nogil=True)
def ranges(table, wanted, span, shift):
    """For each wanted key and run, the start of ``[key, key + span)`` and the number of its keys.

    Returns starts and counts of shape (wanted, runs), and the running total over the wanted keys.
    """
    runs = table.shape[0]
    starts = np.empty((wanted.shape[0], runs), np.int64)
    counts = np.empty((wanted.shape[0], runs), np.int64)
    totals = np.zeros(wanted.shape[0] + 1, np.int64)
    for r in range(runs):
        keys, index = run_keys(table, r), run_index(table, r)
        for i in range(wanted.shape[0]):
            if i > 0 and wanted[i] == wanted[i - 1]:
                starts[i, r], counts[i, r] = starts[i - 1, r], counts[i - 1, r]
            elif wanted[i] < 0:
                starts[i, r], counts[i, r] = 0, 0
            else:
                low, high = key_range(keys, index, wanted[i], span, shift)
                starts[i, r], counts[i, r] = low, high - low
            totals[i + 1] += counts[i, r]
    for i in range(wanted.shape[0]):
        totals[i + 1] += totals[i]
    return starts, counts, totals


@njit(cache=True, nogil=True)
def contained(table, wanted, shift):
    """Which of the wanted keys are in any of the runs. Ascending keys are found by galloping."""
    found = np.zeros(wanted.shape[0], np.bool_)
    for r in range(table.shape[0]):
        keys, index = run_keys(table, r), run_index(table, r)
        size = keys.shape[0]
        if size == 0:
            continue
        indexed = index.shape[0] > 0
        position = 0
        previous = np.int64(-1)
        for i in range(wanted.shape[0]):
            key = wanted[i]
            if key < 0 or found[i]:
                continue
            if indexed:
                lead = key >> shift
                if lead + 1 >= index.shape[0]:
                    continue
                low, high = np.int64(index[lead]), np.int64(index[lead + 1])
                if key >= previous and position > low:
                    low = min(position, high)
                position = gallop(keys, key, low, high)
            elif key >= previous:
                position = gallop(keys, key, position, size)
            else:
                position = lower_bound(keys, key, 0, size)
            previous = key
            if position < size and keys[position] == key:
                found[i] = True
    return found


@njit(cache=True, nogil=True)
def leading_offsets(keys, shift, size):
    """The start of each value of the leading column: ``offsets[v]`` for ``v`` in ``range(size)``."""
    offsets = np.empty(size, np.int32)
    value = 0
    for i in range(keys.shape[0]):
        lead = keys[i] >> shift
        while value <= lead:
            offsets[value] = i
            value += 1
    while value < size:
        offsets[value] = keys.shape[0]
        value += 1
    return offsets


@njit(cache=True, nogil=True)
def add_found(keys, weights, wanted, total):
    """Add to ``total`` the weight of each wanted key that is among the ascending keys."""
    size = keys.shape[0]
    position = 0
    previous = np.int64(-1)
    for i in range(wanted.shape[0]):
        key = wanted[i]
        position = gallop(keys, key, position, size) if key >= previous else lower_bound(keys, key, 0, size)
        previous = key
        if position < size and keys[position] == key:
            total[i] += weights[position]


@njit(cache=True, nogil=True)
def recalled(known, wanted):
    """The remembered counts of the wanted numbers, -1 for unknown ones, and whether some are unknown."""
    found = np.empty(wanted.shape[0], np.int64)
    missing = False
    for i in range(wanted.shape[0]):
        found[i] = np.int64(known[wanted[i]]) - 1
        missing |= found[i] < 0
    return found, missing
