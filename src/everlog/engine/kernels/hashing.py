"""xxHash64 over the buffers of an Arrow string array.

The algorithm is Collet's XXH64 (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md). Spark's
``xxhash64`` expression and the ``xxhash`` package compute the same function.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)


@njit(inline="always")
def _rotate(x, bits):
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@njit(inline="always")
def _word(data, at):
    """Four little-endian bytes. LLVM turns the shifts into one load."""
    at = np.uint64(at)
    return (
        np.uint64(data[at])
        | np.uint64(data[at + np.uint64(1)]) << np.uint64(8)
        | np.uint64(data[at + np.uint64(2)]) << np.uint64(16)
        | np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
    )


@njit(inline="always")
def _long(data, at):
    return _word(data, at) | _word(data, at + 4) << np.uint64(32)


@njit(inline="always")
def _lane(lane, value):
    return _rotate(lane + value * _P2, 31) * _P1


@njit(inline="always")
def _fold(state, lane):
    return (state ^ _lane(np.uint64(0), lane)) * _P1 + _P4


@njit(inline="always")
def _avalanche(state):
    state = (state ^ (state >> np.uint64(33))) * _P2
    state = (state ^ (state >> np.uint64(29))) * _P3
    return state ^ (state >> np.uint64(32))


@njit(cache=True, nogil=True)
def xxhash64_texts(
    data: NDArray[np.uint8], offsets: NDArray[np.int32] | NDArray[np.int64], seed: np.uint64
) -> NDArray[np.int64]:
    """The hash of ``data[offsets[i]:offsets[i + 1]]`` for every i, as signed 64-bit numbers."""
    count = len(offsets) - 1
    hashes = np.empty(max(count, 0), np.int64)
    for i in range(count):
        at, end = np.int64(offsets[i]), np.int64(offsets[i + 1])
        size = np.uint64(end - at)
        if end - at >= 32:
            lane1, lane2, lane3, lane4 = seed + _P1 + _P2, seed + _P2, seed, seed - _P1
            while end - at >= 32:
                lane1 = _lane(lane1, _long(data, at))
                lane2 = _lane(lane2, _long(data, at + 8))
                lane3 = _lane(lane3, _long(data, at + 16))
                lane4 = _lane(lane4, _long(data, at + 24))
                at += 32
            state = _rotate(lane1, 1) + _rotate(lane2, 7) + _rotate(lane3, 12) + _rotate(lane4, 18)
            state = _fold(_fold(_fold(_fold(state, lane1), lane2), lane3), lane4)
        else:
            state = seed + _P5
        state += size
        while end - at >= 8:
            state = _rotate(state ^ _lane(np.uint64(0), _long(data, at)), 27) * _P1 + _P4
            at += 8
        if end - at >= 4:
            state = _rotate(state ^ (_word(data, at) * _P1), 23) * _P2 + _P3
            at += 4
        while at < end:
            state = _rotate(state ^ (np.uint64(data[np.uint64(at)]) * _P5), 11) * _P1
            at += 1
        hashes[i] = np.int64(_avalanche(state))
    return hashes


@njit(cache=True, nogil=True)
def remember(slots: NDArray[np.int64], ids: NDArray[np.int64], checks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put (id, check) pairs into an open-addressing table; returns the positions of the new ones.

    The table has two columns. Its number of rows is a power of two, and some rows must stay free. A check of 0
    marks a free row, so the lowest bit of every check is set before it is stored or compared.
    """
    mask = len(slots) - 1
    fresh = np.empty(len(ids), np.int64)
    count = 0
    for i in range(len(ids)):
        id, check = ids[i], checks[i] | 1
        slot = (check >> 1) & mask
        while slots[slot, 1] != 0 and (slots[slot, 1] != check or slots[slot, 0] != id):
            slot = (slot + 1) & mask
        if slots[slot, 1] == 0:
            slots[slot, 0] = id
            slots[slot, 1] = check
            fresh[count] = i
            count += 1
    return fresh[:count]
