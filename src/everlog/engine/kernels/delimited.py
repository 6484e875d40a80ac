"""Comma- and tab-separated bytes: finding rows and cells, and writing cells as canonical texts.

A row is bad in one of the ways below; the cells of a bad row are not written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from everlog.engine.kernels.numbers import NOT_A_NUMBER, number_kind

GOOD = 0
RAGGED = 1
STRAY_QUOTE = 2
AFTER_QUOTE = 3
UNCLOSED_QUOTE = 4
NOT_UTF8 = 5
SKIPPED = 6

NEWLINE, RETURN, QUOTE = 10, 13, 34
CELL_START, IN_CELL, IN_QUOTES, AFTER_QUOTES = 0, 1, 2, 3
BARE, QUOTED, PREFIXED, RARE = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def tokenise(data: Any, delimiter: int, quoting: bool, arity: int, final: bool) -> Any:
    """The rows and cells of a block that starts with a row.

    Without ``final`` more bytes may follow, so a row that the block does not end is left for later:
    the last of ``row_starts`` is where it begins. The cell ``c`` of row ``r`` is
    ``data[starts[r * arity + c] : ends[r * arity + c]]``; an end below 0 is ``~end`` of a quoted cell
    with doubled quotes inside.
    """
    size = len(data)
    capacity = 1
    for i in range(size):
        capacity += data[i] == NEWLINE
    row_starts = np.empty(capacity + 1, np.int64)
    cells = np.empty(capacity, np.int64)
    status = np.empty(capacity, np.uint8)
    starts = np.empty(capacity * arity, np.int64)
    ends = np.empty(capacity * arity, np.int64)
    row, i, whole = 0, 0, True
    row_starts[0] = 0
    while i < size and whole:
        cell, found, in_row = 0, GOOD, True
        while in_row:
            start = i
            if quoting and i < size and data[i] == QUOTE:
                i += 1
                start, doubled, closed = i, False, False
                while i < size and not closed:
                    if data[i] != QUOTE:
                        i += 1
                    elif i + 1 < size and data[i + 1] == QUOTE:
                        doubled = True
                        i += 2
                    else:
                        closed = True
                end = ~i if doubled else i
                if closed:
                    i += 1
                    if i < size and data[i] == RETURN and (i + 1 == size or data[i + 1] == NEWLINE):
                        i += 1
                    if i < size and data[i] != delimiter and data[i] != NEWLINE:
                        found = AFTER_QUOTE
                        while i < size and data[i] != delimiter and data[i] != NEWLINE:
                            i += 1
                else:
                    found = UNCLOSED_QUOTE
            else:
                while i < size and data[i] != delimiter and data[i] != NEWLINE:
                    if quoting and data[i] == QUOTE:
                        found = STRAY_QUOTE
                    i += 1
                end = i
                if end > start and data[end - 1] == RETURN and (i == size or data[i] == NEWLINE):
                    end -= 1
            if cell < arity:
                starts[row * arity + cell] = start
                ends[row * arity + cell] = end
            cell += 1
            if i >= size:
                in_row, whole = False, final
            else:
                in_row = data[i] == delimiter
                i += 1
                if in_row and i >= size and not final:
                    in_row, whole = False, False
        if whole:
            if arity == 0 and cell == 1 and start == end:
                cell = 0
            cells[row] = cell
            status[row] = RAGGED if found == GOOD and cell != arity else found
            row += 1
            row_starts[row] = i
    return row_starts[: row + 1], cells[:row], status[:row], starts[: row * arity], ends[: row * arity]


@njit(cache=True, nogil=True)
def record_starts(data: Any, state: int, base: int, step: int, target: int) -> Any:
    """The places at which comma-separated bytes may be split: the first row at or after each multiple of ``step``.

    Works through a file block by block: ``base`` is where the block is in the file, ``state`` and
    ``target`` are carried from one block to the next. Finds, like :func:`tokenise`, where rows
    begin, on malformed files too.
    """
    found = np.empty(len(data) // step + 2, np.int64)
    count = 0
    for i in range(len(data)):
        byte = data[i]
        if state == IN_QUOTES:
            if byte == QUOTE:
                state = AFTER_QUOTES
        elif byte == QUOTE:
            if state != IN_CELL:
                state = IN_QUOTES
        elif byte == NEWLINE:
            state = CELL_START
            start = base + i + 1
            if start >= target:
                found[count] = start
                count += 1
                target = (start // step + 1) * step
        elif byte == 44:
            state = CELL_START
        else:
            state = IN_CELL
    return found[:count], state, target


@njit(cache=True, nogil=True)
def _is_iri(data: Any, start: int, end: int) -> int:
    """The form of ``<...>``: bare, rare if it has an escape, otherwise a string."""
    if data[end - 1] != 62 or end - start < 2:
        return QUOTED
    form = BARE
    for i in range(start + 1, end - 1):
        byte = data[i]
        if byte == 92:
            form = RARE
        elif byte <= 32 or byte in (34, 60, 62, 94, 96, 123, 124, 125):
            return QUOTED
    return form


@njit(cache=True, nogil=True)
def _is_literal(data: Any, start: int, end: int) -> int:
    """The form of a cell that starts with a quote; anything but a plain ``"..."`` is rare."""
    if end - start < 2:
        return QUOTED
    for i in range(start + 1, end - 1):
        if data[i] == QUOTE or data[i] == 92:
            return RARE
    return BARE if data[end - 1] == QUOTE else QUOTED


@njit(cache=True, nogil=True)
def _equals(data: Any, start: int, end: int, other: Any, other_start: int, other_end: int) -> bool:
    if end - start != other_end - other_start:
        return False
    for i in range(end - start):
        if data[start + i] != other[other_start + i]:
            return False
    return True


@njit(cache=True, nogil=True)
def _is_local_name(data: Any, start: int, end: int) -> int:
    """The form of a prefixed name with this local part; escapes and letters beyond ASCII are rare."""
    form = PREFIXED
    for i in range(start, end):
        byte = data[i]
        letter = 65 <= (byte & 0xDF) <= 90 or 48 <= byte <= 58 or byte == 95
        if letter or (i > start and (byte == 45 or (byte == 46 and i + 1 < end))):
            continue
        if byte == 92:
            return RARE
        if byte == 37 or byte >= 128:
            form = RARE
        else:
            return QUOTED
    return form


@njit(cache=True, nogil=True)
def _form(data: Any, start: int, end: int, names: Any, name_offsets: Any) -> Any:
    """The form of the cell ``data[start:end]``, the number of its prefix, and the start of its local name."""
    first = data[start]
    if number_kind(data, start, end) != NOT_A_NUMBER:
        return BARE, 0, 0
    if first == 60:
        return _is_iri(data, start, end), 0, 0
    if first == QUOTE:
        return _is_literal(data, start, end), 0, 0
    if len(name_offsets) > 1:
        colon = start
        while colon < end and data[colon] != 58:
            colon += 1
        if colon < end:
            for prefix in range(len(name_offsets) - 1):
                if _equals(data, start, colon, names, name_offsets[prefix], name_offsets[prefix + 1]):
                    return _is_local_name(data, colon + 1, end), prefix, colon + 1
    return QUOTED, 0, 0


@njit(cache=True, nogil=True)
def _undouble(data: Any, start: int, end: int) -> int:
    """Make doubled quotes single, in place; returns the new end of the cell."""
    to, i = start, start
    while i < end:
        data[to] = data[i]
        i += 2 if data[i] == QUOTE else 1
        to += 1
    return to


@njit(cache=True, nogil=True)
def write_cells(
    data: Any,
    status: Any,
    starts: Any,
    ends: Any,
    arity: int,
    column: int,
    strings: bool,
    names: Any,
    name_offsets: Any,
    iris: Any,
    iri_offsets: Any,
) -> Any:
    """The texts of one column of the good rows, as the bytes and offsets of an Arrow array.

    ``strings`` takes every cell as a string. ``names`` and ``iris`` are the declared prefixes. The
    rows listed in ``rare`` hold the cell unchanged; the caller makes their texts. Doubled quotes are
    undone in place.
    """
    rows, prefixes = len(status), len(iri_offsets) - 1
    size, expansion = 0, 2
    for prefix in range(prefixes):
        expansion = max(expansion, 2 + iri_offsets[prefix + 1] - iri_offsets[prefix])
    for row in range(rows):
        if status[row] == GOOD:
            cell = row * arity + column
            if ends[cell] < 0:
                ends[cell] = _undouble(data, starts[cell], ~ends[cell])
            size += ends[cell] - starts[cell] + expansion
    out = np.empty(size, np.uint8)
    offsets = np.empty(rows + 1, np.int64)
    rare = np.empty(rows, np.int64)
    written, good, rares = 0, 0, 0
    offsets[0] = 0
    for row in range(rows):
        if status[row] != GOOD:
            continue
        start, end = starts[row * arity + column], ends[row * arity + column]
        form, prefix, local = QUOTED, 0, 0
        if start < end and not strings:
            # The two most frequent forms are recognised here: a call with arrays costs more than the cell.
            first = data[start]
            digits_end = start
            while digits_end < end and 48 <= data[digits_end] <= 57:
                digits_end += 1
            if digits_end == end:
                form = BARE if first != 48 or end == start + 1 else QUOTED
            elif prefixes > 0 or digits_end > start or first in (QUOTE, 45, 60, 102, 116):
                form, prefix, local = _form(data, start, end, names, name_offsets)
        if form == QUOTED:
            out[written] = QUOTE
            written += 1
        elif form == PREFIXED:
            out[written] = 60
            written += 1
            for i in range(iri_offsets[prefix], iri_offsets[prefix + 1]):
                out[written] = iris[i]
                written += 1
            start = local
        elif form == RARE:
            rare[rares] = good
            rares += 1
        for i in range(start, end):
            out[written] = data[i]
            written += 1
        if form == QUOTED:
            out[written] = QUOTE
            written += 1
        elif form == PREFIXED:
            out[written] = 62
            written += 1
        good += 1
        offsets[good] = written
    return out[:written], offsets[: good + 1], rare[:rares]
