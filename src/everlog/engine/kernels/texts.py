"""Looking up and copying texts that lie one after the other in a buffer of bytes."""

from __future__ import annotations

import numpy as np
from numba import njit

FEW = 8
"""Texts are looked up one by one, without an index, below 1/8 of the known texts."""


@njit(cache=True, nogil=True)
def same_bytes(left, left_start, left_end, right, right_start, right_end):
    """Whether two ranges of bytes are equal."""
    if left_end - left_start != right_end - right_start:
        return False
    for i in range(left_end - left_start):
        if left[left_start + i] != right[right_start + i]:
            return False
    return True


@njit(cache=True, nogil=True)
def intern(data, offsets, hashes, old_data, old_offsets, old_hashes, old_count, slots, first_id):
    """Number texts: known ones get their number, new ones the next after ``old_count``.

    ``slots`` is an open-addressing table of numbers (-1 is free) whose size is a power of two at
    least twice the number of texts that it will hold. Numbers start at ``first_id``. Returns the number of each text,
    and the positions of the new ones.
    """
    mask = slots.shape[0] - 1
    ids = np.empty(hashes.shape[0], np.int64)
    fresh = np.empty(hashes.shape[0], np.int64)
    count = 0
    for i in range(hashes.shape[0]):
        slot = hashes[i] & mask
        while True:
            held = np.int64(slots[slot])
            if held < 0:
                slots[slot] = old_count + count
                ids[i] = first_id + old_count + count
                fresh[count] = i
                count += 1
                break
            if held < old_count:
                if old_hashes[held] == hashes[i] and same_bytes(
                    old_data, old_offsets[held], old_offsets[held + 1], data, offsets[i], offsets[i + 1]
                ):
                    ids[i] = first_id + held
                    break
            else:
                other = fresh[held - old_count]
                if hashes[other] == hashes[i] and same_bytes(
                    data, offsets[other], offsets[other + 1], data, offsets[i], offsets[i + 1]
                ):
                    ids[i] = first_id + held
                    break
            slot = (slot + 1) & mask
    return ids, fresh[:count]


@njit(cache=True, nogil=True)
def lookup_slots(data, offsets, hashes, old_data, old_offsets, old_hashes, slots):
    """The number of each text among those that ``intern`` has numbered, or -1."""
    mask = slots.shape[0] - 1
    ids = np.full(hashes.shape[0], -1, np.int64)
    for i in range(hashes.shape[0]):
        slot = hashes[i] & mask
        while slots[slot] >= 0:
            held = np.int64(slots[slot])
            if old_hashes[held] == hashes[i] and same_bytes(
                old_data, old_offsets[held], old_offsets[held + 1], data, offsets[i], offsets[i + 1]
            ):
                ids[i] = held
                break
            slot = (slot + 1) & mask
    return ids


@njit(cache=True, nogil=True)
def fill_slots(hashes, count, slots):
    """Enter the first ``count`` texts, all different, into a new table of slots."""
    mask = slots.shape[0] - 1
    for i in range(count):
        slot = hashes[i] & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = i


@njit(cache=True, nogil=True)
def _window(hashes, wanted, width):
    """A range of ascending hashes that holds the wanted one if it is there: narrow, as hashes are spread evenly."""
    size = hashes.shape[0]
    expected = np.int64((wanted * 2.0**-64 + 0.5) * size)
    low, high = max(expected - width, 0), min(expected + width, size)
    if low > 0 and hashes[low - 1] >= wanted:
        low = 0
    if high < size and hashes[high] < wanted:
        high = size
    return low, high


@njit(cache=True, nogil=True)
def _lower_bound(hashes, wanted, low, high):
    """The first place in a range of ascending hashes where one is not below the wanted one."""
    while low < high:
        middle = (low + high) >> 1
        if hashes[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def lookup_sorted(data, offsets, hashes, old_data, old_offsets, old_hashes):
    """The number of each text among texts in ascending order of their hashes, or -1.

    Hashes are spread evenly, so the search starts in a narrow window around the expected place.
    """
    ids = np.full(hashes.shape[0], -1, np.int64)
    size = old_hashes.shape[0]
    width = np.int64(2 * np.sqrt(size)) + 1
    for i in range(hashes.shape[0]):
        low, high = _window(old_hashes, hashes[i], width)
        low = _lower_bound(old_hashes, hashes[i], low, high)
        while low < size and old_hashes[low] == hashes[i]:
            if same_bytes(old_data, old_offsets[low], old_offsets[low + 1], data, offsets[i], offsets[i + 1]):
                ids[i] = low
                break
            low += 1
    return ids


@njit(cache=True, nogil=True)
def gather_sizes(offsets, positions, out):
    """Set ``out`` to the running total of the lengths of the texts at the positions, from 0."""
    out[0] = 0
    for i in range(positions.shape[0]):
        p = positions[i]
        out[i + 1] = out[i] + (offsets[p + 1] - offsets[p])


@njit(cache=True, nogil=True)
def gather_bytes(data, offsets, positions, out, at):
    """Copy the texts at the positions one after the other to ``out`` from ``at`` on."""
    for i in range(positions.shape[0]):
        p = positions[i]
        for k in range(offsets[p], offsets[p + 1]):
            out[at] = data[k]
            at += 1


@njit(cache=True, nogil=True)
def _bucket_starts(hashes, bits):
    """The start of the hashes whose first ``bits`` bits, the sign inverted, are at least 0, 1, ..., 2**bits."""
    starts = np.empty((1 << bits) + 1, np.int32)
    filled = 0
    for i in range(hashes.shape[0]):
        bucket = ((hashes[i] >> (64 - bits)) + (1 << (bits - 1))) + 1
        while filled < bucket:
            starts[filled] = i
            filled += 1
    starts[filled:] = hashes.shape[0]
    return starts


@njit(cache=True, nogil=True)
def ranks(hashes, wanted):
    """The position of each wanted number among ascending hashes, or -1.

    Many numbers are looked up by their first bits, which about one hash shares; few within a window around
    the expected position, so that most hashes are not read.
    """
    size = hashes.shape[0]
    out = np.full(wanted.shape[0], -1, np.int64)
    width = np.int64(2 * np.sqrt(size)) + 1
    bits = 0
    if FEW * wanted.shape[0] > size:
        bits = 1
        while (1 << bits) < size:
            bits += 1
    starts = _bucket_starts(hashes, bits) if bits else np.zeros(0, np.int32)
    for i in range(wanted.shape[0]):
        if i > 0 and wanted[i] == wanted[i - 1]:
            out[i] = out[i - 1]
            continue
        if bits:
            bucket = (wanted[i] >> (64 - bits)) + (1 << (bits - 1))
            low, high = np.int64(starts[bucket]), np.int64(starts[bucket + 1])
        else:
            low, high = _window(hashes, wanted[i], width)
        low = _lower_bound(hashes, wanted[i], low, high)
        if low < size and hashes[low] == wanted[i]:
            out[i] = low
    return out
