"""Joining blocks of bindings with sorted runs."""

from __future__ import annotations

import numpy as np
from numba import njit

from everlog.engine.kernels.memory import run_index, run_keys, trailing_zeros
from everlog.engine.kernels.search import key_range, lower_bound

SMALL_GROUP = 32
"""Minimum size of the buffer in which the heads of a small group are sorted."""

SMALL_SORT = 24
"""Maximum number of values that are sorted by insertion."""


@njit(cache=True, nogil=True)
def expand(table, starts, counts, totals, first, last):
    """Matches number ``first`` to ``last`` of a block: the row of each, and the key that matched.

    Matches are numbered row by row, and within a row run by run (see ``search.ranges``).
    """
    rows = np.empty(last - first, np.int64)
    keys = np.empty(last - first, np.int64)
    row = np.searchsorted(totals, first, side="right") - 1
    n = 0
    number = totals[row]
    while number < last:
        for r in range(table.shape[0]):
            source = run_keys(table, r)
            start, count = starts[row, r], counts[row, r]
            low, high = max(first - number, 0), min(last - number, count)
            for k in range(low, high):
                rows[n], keys[n] = row, source[start + k]
                n += 1
            number += count
        row += 1
    return rows, keys


@njit(cache=True, nogil=True)
def _sort(values):
    """Sort in place. Few values are sorted by insertion, which is quickest for most groups."""
    if values.shape[0] > SMALL_SORT:
        values.sort()
        return
    for i in range(1, values.shape[0]):
        value = values[i]
        k = i
        while k > 0 and values[k - 1] > value:
            values[k] = values[k - 1]
            k -= 1
        values[k] = value


@njit(cache=True, nogil=True)
def join_groups(table, starts, counts, totals, base, free, known, known_shift, bits, out, row):
    """Finish a rule whose heads come grouped: join the last atom and write the new heads, sorted.

    The head of a match is ``base[row] | (key & free)``, rows with equal base stand together (unary
    heads have no base: they are one group). Each group of them is collected in a bitmap (or, if
    there are few, sorted), known heads are taken out, and the rest is written to ``out`` in order.
    Starts at ``row`` and stops before the first group that might not fit; returns the row it
    stopped at and the number of heads written.
    """
    size = base.shape[0]
    runs = table.shape[0]
    universe = bits.shape[0] << 6
    written = 0
    span = free + 1
    buffer = np.empty(max(SMALL_GROUP, universe >> 10), np.int64)
    while row < size:
        group = base[row]
        end = row + 1
        while end < size and base[end] == group:
            end += 1
        total = totals[end] - totals[row]
        if total == 0:
            row = end
            continue
        if written + min(total, universe) > out.shape[0]:
            break
        begin = written
        cleared = False
        if total <= buffer.shape[0]:
            n = 0
            for i in range(row, end):
                for r in range(runs):
                    source = run_keys(table, r)
                    for k in range(starts[i, r], starts[i, r] + counts[i, r]):
                        buffer[n] = source[k] & free
                        n += 1
            found = buffer[:n]
            _sort(found)
            for i in range(n):
                if i == 0 or found[i] != found[i - 1]:
                    out[written] = group | found[i]
                    written += 1
        else:
            for i in range(row, end):
                for r in range(runs):
                    source = run_keys(table, r)
                    for k in range(starts[i, r], starts[i, r] + counts[i, r]):
                        value = source[k] & free
                        bits[value >> 6] |= np.uint64(1) << np.uint64(value & 63)
            held = 0
            for r in range(known.shape[0]):
                low, high = key_range(run_keys(known, r), run_index(known, r), group, span, known_shift)
                held += high - low
            cleared = held <= 4 * total
            if cleared:
                for r in range(known.shape[0]):
                    source = run_keys(known, r)
                    low, high = key_range(source, run_index(known, r), group, span, known_shift)
                    for k in range(low, high):
                        value = source[k] & free
                        bits[value >> 6] &= ~(np.uint64(1) << np.uint64(value & 63))
            for w in range(bits.shape[0]):
                word = bits[w]
                if word != 0:
                    bits[w] = 0
                    high_part = group | (w << 6)
                    while word != 0:
                        out[written] = high_part | trailing_zeros(word)
                        written += 1
                        word &= word - np.uint64(1)
        if not cleared and written > begin:
            for r in range(known.shape[0]):
                source = run_keys(known, r)
                low, high = key_range(source, run_index(known, r), group, span, known_shift)
                if low == high:
                    continue
                kept = begin
                for k in range(begin, written):
                    low = lower_bound(source, out[k], low, high)
                    if low == high or source[low] != out[k]:
                        out[kept] = out[k]
                        kept += 1
                written = kept
        row = end
    return row, written


@njit(cache=True, nogil=True)
def count_groups(table, starts, counts, totals, base, free, bits, tally, out, weights, row):
    """Finish a rule like ``join_groups``, with all heads, known or not, and the number of matches of each.

    ``tally`` has a zero for every id, before and after. Returns the row it stopped at and the number of
    heads written, each with its weight.
    """
    size = base.shape[0]
    runs = table.shape[0]
    universe = bits.shape[0] << 6
    written = 0
    buffer = np.empty(max(SMALL_GROUP, universe >> 10), np.int64)
    while row < size:
        group = base[row]
        end = row + 1
        while end < size and base[end] == group:
            end += 1
        total = totals[end] - totals[row]
        if written + min(total, universe) > out.shape[0]:
            break
        if total <= buffer.shape[0]:
            n = 0
            for i in range(row, end):
                for r in range(runs):
                    source = run_keys(table, r)
                    for k in range(starts[i, r], starts[i, r] + counts[i, r]):
                        buffer[n] = source[k] & free
                        n += 1
            found = buffer[:n]
            _sort(found)
            for i in range(n):
                if i > 0 and found[i] == found[i - 1]:
                    weights[written - 1] += 1
                else:
                    out[written] = group | found[i]
                    weights[written] = 1
                    written += 1
        else:
            for i in range(row, end):
                for r in range(runs):
                    source = run_keys(table, r)
                    for k in range(starts[i, r], starts[i, r] + counts[i, r]):
                        value = source[k] & free
                        bits[value >> 6] |= np.uint64(1) << np.uint64(value & 63)
                        tally[value] += 1
            for w in range(bits.shape[0]):
                word = bits[w]
                if word != 0:
                    bits[w] = 0
                    while word != 0:
                        value = (w << 6) | trailing_zeros(word)
                        out[written] = group | value
                        weights[written] = tally[value]
                        tally[value] = 0
                        written += 1
                        word &= word - np.uint64(1)
        row = end
    return row, written
