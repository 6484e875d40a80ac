"""The kinds of terms, by the bytes of their canonical texts."""

from __future__ import annotations

import numpy as np
from numba import njit

from everlog.lang import kinds
from everlog.lang.terms import XSD

_RESOURCE, _STRING, _LANGUAGE_STRING = kinds.RESOURCE, kinds.STRING, kinds.LANGUAGE_STRING
_INTEGER, _DECIMAL, _DOUBLE, _BOOLEAN = kinds.INTEGER, kinds.DECIMAL, kinds.DOUBLE, kinds.BOOLEAN
_DATE, _LOCAL_TIME, _ZONED_TIME, _OTHER = kinds.DATE, kinds.LOCAL_TIME, kinds.ZONED_TIME, kinds.OTHER

_BLOCK = 1 << 12
"""Bytes that are tested without a branch."""


def _end(datatype):
    return np.frombuffer(f'"^^<{XSD}{datatype}>'.encode(), np.uint8).copy()


_DATE_END, _TIME_END, _DOUBLE_END = _end("date"), _end("dateTime"), _end("double")


@njit(cache=True, nogil=True)
def _ends_with(data, start, end, suffix):
    size = suffix.shape[0]
    if end - start < size:
        return False
    for i in range(1, size + 1):
        if data[end - i] != suffix[size - i]:
            return False
    return True


@njit(cache=True, nogil=True)
def _datatype_kind(data, start, end):
    if _ends_with(data, start, end, _TIME_END):
        quote = end - _TIME_END.shape[0]
        if data[quote - 1] == ord("Z"):
            return _ZONED_TIME
        sign = data[quote - 6] if quote - 6 > start else 0
        if (sign == ord("+") or sign == ord("-")) and data[quote - 3] == ord(":"):
            return _ZONED_TIME
        return _LOCAL_TIME
    if _ends_with(data, start, end, _DATE_END):
        return _DATE
    return _DOUBLE if _ends_with(data, start, end, _DOUBLE_END) else _OTHER


@njit(cache=True, nogil=True)
def _kind(data, start, end):
    """The kind of the text in ``data[start:end]``; 0 if it is empty."""
    if end <= start:
        return 0
    first = data[start]
    if first == ord('"'):
        last = data[end - 1]
        if last == ord('"'):
            return _STRING
        return _datatype_kind(data, start, end) if last == ord(">") else _LANGUAGE_STRING
    if first == ord("<") or first == ord("_"):
        return _RESOURCE
    if first == ord("t") or first == ord("f"):
        return _BOOLEAN
    point, exponent = False, False
    for at in range(np.uint64(start), np.uint64(end)):  # unsigned positions are not tested for being negative
        point |= data[at] == ord(".")
        exponent |= data[at] == ord("E")
    return _DOUBLE if exponent else _DECIMAL if point else _INTEGER


@njit(cache=True, nogil=True)
def _all_digits(data, start, end):
    """Whether all bytes are digits or minus signs; stops after the first block in which one is not."""
    for block in range(start, end, _BLOCK):
        others = np.uint8(0)
        for at in range(np.uint64(block), np.uint64(min(block + _BLOCK, end))):
            byte = data[at]
            others |= np.uint8(byte - np.uint8(48) > np.uint8(9)) & np.uint8(byte != np.uint8(45))
        if others:
            return False
    return True


@njit(cache=True, nogil=True)
def column_kinds(data, offsets):
    """The kinds of all texts. A column of integers is recognised by its bytes, without reading each text."""
    start, end = np.int64(offsets[0]), np.int64(offsets[-1])
    if end > start and _all_digits(data, start, end):
        return _INTEGER
    mask = 0
    for i in range(offsets.shape[0] - 1):
        mask |= _kind(data, np.int64(offsets[i]), np.int64(offsets[i + 1]))
    return mask


@njit(cache=True, nogil=True)
def grouped_kinds(data, offsets, groups, masks):
    """Add the kind of each text to the mask of its group."""
    for i in range(offsets.shape[0] - 1):
        masks[groups[i]] |= _kind(data, np.int64(offsets[i]), np.int64(offsets[i + 1]))


@njit(cache=True, nogil=True)
def group(ids):
    """Number different ids in order of appearance; returns the numbers, and the first position of each number."""
    size = 16
    while size < 2 * ids.shape[0]:
        size *= 2
    slots = np.full(size, -1, np.int32)
    groups = np.empty(ids.shape[0], np.int32)
    firsts = np.empty(ids.shape[0], np.int64)
    count = 0
    for i in range(ids.shape[0]):
        if i > 0 and ids[i] == ids[i - 1]:
            groups[i] = groups[i - 1]
            continue
        slot = ids[i] & (size - 1)
        while slots[slot] >= 0 and ids[firsts[slots[slot]]] != ids[i]:
            slot = (slot + 1) & (size - 1)
        if slots[slot] < 0:
            slots[slot] = count
            firsts[count] = i
            count += 1
        groups[i] = slots[slot]
    return groups, firsts[:count]
