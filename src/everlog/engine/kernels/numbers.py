"""Numbers and booleans in canonical form: recognising them among bytes, and writing doubles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

NOT_A_NUMBER = 0
INTEGER = 1
DECIMAL = 2
DOUBLE = 3
BOOLEAN = 4

_TRUE_FALSE = np.frombuffer(b"truefalse", np.uint8)


@njit(cache=True, nogil=True)
def _digits_end(data: Any, start: int, end: int) -> int:
    i = start
    while i < end and 48 <= data[i] <= 57:
        i += 1
    return i


@njit(cache=True, nogil=True)
def _exponent_is_canonical(data: Any, start: int, end: int) -> bool:
    """Whether an exponent matches ``0`` or ``-?[1-9][0-9]*``."""
    if start + 1 == end and data[start] == 48:
        return True
    i = start
    if i < end and data[i] == 45:
        i += 1
    return i < end and 49 <= data[i] <= 57 and _digits_end(data, i, end) == end


@njit(cache=True, nogil=True)
def _is_boolean(data: Any, start: int, end: int) -> bool:
    first = 0 if end - start == 4 else 4
    if not 4 <= end - start <= 5:
        return False
    for i in range(end - start):
        if data[start + i] != _TRUE_FALSE[first + i]:
            return False
    return True


@njit(cache=True, nogil=True)
def number_kind(data: Any, start: int, end: int) -> int:
    """The kind of canonical number or boolean in ``data[start:end]``; see ``lang.terms.CANONICAL``."""
    i = start
    if i < end and data[i] >= 102:
        return BOOLEAN if _is_boolean(data, start, end) else NOT_A_NUMBER
    negative = i < end and data[i] == 45
    if negative:
        i += 1
    if i >= end or data[i] < 48 or data[i] > 57:
        return NOT_A_NUMBER
    zero = data[i] == 48
    whole_end = i + 1 if zero else _digits_end(data, i, end)
    if whole_end == end:
        return NOT_A_NUMBER if negative and zero else INTEGER
    if data[whole_end] != 46:
        return NOT_A_NUMBER
    fraction = whole_end + 1
    fraction_end = _digits_end(data, fraction, end)
    if fraction_end == fraction:
        return NOT_A_NUMBER
    round_fraction = fraction_end == fraction + 1 and data[fraction] == 48
    if data[fraction_end - 1] == 48 and not round_fraction:
        return NOT_A_NUMBER
    if fraction_end == end:
        return NOT_A_NUMBER if negative and zero and round_fraction else DECIMAL
    if data[fraction_end] != 69 or whole_end != i + 1:
        return NOT_A_NUMBER
    if zero:
        plain = round_fraction and fraction_end + 2 == end and data[end - 1] == 48
        return DOUBLE if plain else NOT_A_NUMBER
    return DOUBLE if _exponent_is_canonical(data, fraction_end + 1, end) else NOT_A_NUMBER


@njit(cache=True, nogil=True)
def canonical_doubles(data: Any, offsets: Any) -> Any:
    """Rewrite finite decimal notations (``-12.5``, ``1e+20``) as canonical doubles (``-1.25E1``, ``1.0E20``).

    Takes and returns the bytes and offsets of an Arrow string array. The digits stay as they are, so the
    shortest notation of a double stays the shortest.
    """
    count = len(offsets) - 1
    out = np.empty(offsets[count] - offsets[0] + 12 * count, np.uint8)
    out_offsets = np.empty(count + 1, np.int64)
    digits = np.empty(1100, np.uint8)
    written = 0
    out_offsets[0] = 0
    for row in range(count):
        i, end = offsets[row], offsets[row + 1]
        if i < end and data[i] == 45:
            out[written] = 45
            written += 1
            i += 1
        shown, power, point = 0, 0, False
        while i < end and data[i] != 101:
            if data[i] == 46:
                point = True
            elif shown > 0 or data[i] != 48:
                digits[shown] = data[i]
                shown += 1
                if not point:
                    power += 1
            elif point:
                power -= 1
            i += 1
        if i < end:
            i += 1
            downwards = data[i] == 45
            if downwards or data[i] == 43:
                i += 1
            exponent = 0
            while i < end:
                exponent = exponent * 10 + data[i] - 48
                i += 1
            power += -exponent if downwards else exponent
        while shown > 1 and digits[shown - 1] == 48:
            shown -= 1
        if shown == 0:
            digits[0], shown, power = 48, 1, 1
        out[written] = digits[0]
        out[written + 1] = 46
        written += 2
        for d in range(1, shown):
            out[written] = digits[d]
            written += 1
        if shown == 1:
            out[written] = 48
            written += 1
        out[written] = 69
        written += 1
        power -= 1
        if power < 0:
            out[written] = 45
            written += 1
            power = -power
        scale = 1
        while scale * 10 <= power:
            scale *= 10
        while scale > 0:
            out[written] = 48 + power // scale % 10
            written += 1
            scale //= 10
        out_offsets[row + 1] = written
    return out[:written], out_offsets
