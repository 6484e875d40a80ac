r"""Lines of N-Triples and N-Quads: finding the terms of simple lines and writing them as columns of texts.

A line is *simple* if its terms are certainly valid and its IRIs written without ``\u``; all other
lines are left to a full parser, which gives equal texts for simple lines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from everlog.engine.kernels.numbers import BOOLEAN, DECIMAL, DOUBLE, INTEGER, number_kind

EMPTY, SIMPLE, OTHER = 0, 1, 2

_XSD = np.frombuffer(b"<http://www.w3.org/2001/XMLSchema#", np.uint8)
_RDF = np.frombuffer(b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#", np.uint8)
_TYPE = np.frombuffer(b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", np.uint8)
_STRING = np.frombuffer(b"string>", np.uint8)
_INTEGER = np.frombuffer(b"integer>", np.uint8)
_DECIMAL = np.frombuffer(b"decimal>", np.uint8)
_DOUBLE = np.frombuffer(b"double>", np.uint8)
_BOOLEAN = np.frombuffer(b"boolean>", np.uint8)


def _escapes() -> np.ndarray[Any, Any]:
    """For each byte the character that it stands for after a backslash; 0 if there is none."""
    meanings = np.zeros(256, np.uint8)
    for escape, character in zip(b"tbnrf\"'\\", b"\t\b\n\r\f\"'\\", strict=True):
        meanings[escape] = character
    return meanings


def _byte_classes() -> np.ndarray[Any, Any]:
    """For each byte: 1 if it may stand in a host, a scheme or a label, 2 if anywhere in an IRI.

    Beyond ASCII, the first bytes of the letters U+00C0 to U+CFFF count, all of which IRIs allow; the
    bytes are known to be valid UTF-8.
    """
    classes = np.zeros(256, np.uint8)
    classes[[ord(c) for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"]] = 1
    classes[[ord(c) for c in "._~!$&'()*+,;=:@/?"]] = 2
    classes[0x80:0xC0] = 2
    classes[0xC3:0xED] = 2
    return classes


_CLASS = _byte_classes()
_ESCAPE = _escapes()


@njit(cache=True, nogil=True)
def _starts_with(data: Any, start: int, end: int, text: Any) -> bool:
    if end - start < len(text):
        return False
    for i in range(len(text)):
        if data[start + i] != text[i]:
            return False
    return True


@njit(cache=True, nogil=True)
def _is_hex(byte: int) -> bool:
    return 48 <= byte <= 57 or 65 <= (byte & 0xDF) <= 70


@njit(cache=True, nogil=True)
def _code_digits(byte: int) -> int:
    """The number of hexadecimal digits that follow a backslash and this byte; 0 if it is not ``u`` or ``U``."""
    return 4 if byte == 117 else 8 if byte == 85 else 0


@njit(cache=True, nogil=True)
def _code_point(data: Any, start: int, end: int) -> int:
    """The character that hexadecimal digits name; -1 if that is not certain."""
    value = 0
    for i in range(start, end):
        if not _is_hex(data[i]):
            return -1
        value = value * 16 + (data[i] - 48 if data[i] < 65 else (data[i] & 0xDF) - 55)
    return -1 if value > 0x10FFFF or 0xD800 <= value < 0xE000 else value


@njit(cache=True, nogil=True)
def _write_character(point: int, out: Any, written: int) -> int:
    """Write a character as UTF-8."""
    if point < 0x80:
        out[written] = point
        return written + 1
    size = 2 if point < 0x800 else 3 if point < 0x10000 else 4
    for i in range(size - 1, 0, -1):
        out[written + i] = 0x80 | (point & 0x3F)
        point >>= 6
    out[written] = (0xF00 >> size) & 0xFF | point
    return written + size


@njit(cache=True, nogil=True)
def _iri_end(data: Any, start: int, end: int) -> int:
    """The end of an absolute IRI in angle brackets that starts here; -1 if it may be invalid."""
    i = start + 1
    if i >= end or data[start] != 60 or not 65 <= (data[i] & 0xDF) <= 90:
        return -1
    while i < end and (_CLASS[data[i]] == 1 or data[i] == 43 or data[i] == 46):
        i += 1
    if i >= end or data[i] != 58:
        return -1
    i += 1
    if i + 1 < end and data[i] == 47 and data[i + 1] == 47:
        i += 2
        while i < end and (_CLASS[data[i]] == 1 or data[i] == 46):
            i += 1
        if i >= end or not (data[i] == 47 or data[i] == 63 or data[i] == 35 or data[i] == 62):
            return -1
    fragment = False
    while True:
        while i < end and _CLASS[data[i]] != 0:
            i += 1
        if i >= end:
            return -1
        if data[i] == 62:
            return i + 1
        if data[i] == 35 and not fragment:
            fragment = True
        elif data[i] != 37 or i + 2 >= end or not _is_hex(data[i + 1]) or not _is_hex(data[i + 2]):
            return -1
        i += 1


@njit(cache=True, nogil=True)
def _blank_end(data: Any, start: int, end: int) -> int:
    """The end of a blank node with a plain label, which a blank must follow."""
    if start + 2 >= end or data[start] != 95 or data[start + 1] != 58:
        return -1
    i = start + 2
    if data[i] == 45:
        return -1
    while i < end and (_CLASS[data[i]] == 1 or data[i] == 95):
        i += 1
    return i if start + 2 < i < end and (data[i] == 32 or data[i] == 9) else -1


@njit(cache=True, nogil=True)
def _language_end(data: Any, start: int, end: int) -> int:
    """The end of a language tag like ``@en`` or ``@en-GB``."""
    i = start + 1
    while i < end and 65 <= (data[i] & 0xDF) <= 90:
        i += 1
    if not 3 <= i - start <= 4:
        return -1
    if i < end and data[i] == 45:
        region = i + 1
        i = region
        while i < end and 65 <= (data[i] & 0xDF) <= 90:
            i += 1
        if i - region != 2:
            return -1
    return i if i < end and (data[i] == 32 or data[i] == 9 or data[i] == 46) else -1


@njit(cache=True, nogil=True)
def _skip_blanks(data: Any, start: int, end: int) -> int:
    i = start
    while i < end and (data[i] == 32 or data[i] == 9):
        i += 1
    return i


@njit(cache=True, nogil=True)
def _is_bare(data: Any, start: int, end: int, datatype: int, datatype_end: int) -> bool:
    """Whether the literal is a canonical number or boolean, which is written without its datatype."""
    local = datatype + len(_XSD)
    kind = number_kind(data, start, end)
    if kind == INTEGER:
        return _starts_with(data, local, datatype_end, _INTEGER)
    if kind == DECIMAL:
        return _starts_with(data, local, datatype_end, _DECIMAL)
    if kind == DOUBLE:
        return _starts_with(data, local, datatype_end, _DOUBLE)
    return kind == BOOLEAN and _starts_with(data, local, datatype_end, _BOOLEAN)


@njit(cache=True, nogil=True)
def _object(data: Any, start: int, end: int) -> Any:
    """The start and end of the object's text, the end of the object, and the start of its language tag.

    An end below 0 is ``~end`` of a text with escapes; an object that ends at -1 is not simple.
    """
    if data[start] == 60:
        after = _iri_end(data, start, end)
        return start, after, after, -1
    if data[start] == 95:
        after = _blank_end(data, start, end)
        return start, after, after, -1
    if data[start] != 34:
        return start, -1, -1, -1
    i = start + 1
    escaped, coded = False, False
    while i < end and data[i] != 34:
        if data[i] == 13:
            return start, -1, -1, -1
        if data[i] == 92:
            escaped = True
            i += 1
            digits = _code_digits(data[i]) if i < end else 0
            if digits:
                coded = True
                if i + digits >= end or _code_point(data, i + 1, i + 1 + digits) < 0:
                    return start, -1, -1, -1
                i += digits
            elif i >= end or _ESCAPE[data[i]] == 0:
                return start, -1, -1, -1
        i += 1
    i += 1
    if i >= end:
        return start, -1, -1, -1
    if data[i] == 64:
        after = _language_end(data, i, end)
        return start, ~after if escaped else after, after, i
    if data[i] != 94:
        return start, ~i if escaped else i, i, -1
    if coded or i + 2 >= end or data[i + 1] != 94:
        return start, -1, -1, -1
    after = _iri_end(data, i + 2, end)
    if after < 0 or _starts_with(data, i + 2, after, _RDF):
        return start, -1, -1, -1
    if _starts_with(data, i + 2, after, _XSD):
        if _starts_with(data, i + 2 + len(_XSD), after, _STRING):
            return start, ~i if escaped else i, after, -1
        if _is_bare(data, start + 1, i - 1, i + 2, after):
            return start + 1, i - 1, after, -1
    return start, ~after if escaped else after, after, -1


@njit(cache=True, nogil=True)
def _simple_line(data: Any, start: int, end: int, quads: bool, spans: Any, row: int) -> bool:
    """Find the terms of one line, given without its end, and write their positions; False if it is not simple."""
    subject = start
    i = _blank_end(data, start, end) if data[start] == 95 else _iri_end(data, start, end)
    if i < 0:
        return False
    subject_end = i
    predicate = _skip_blanks(data, i, end)
    i = _iri_end(data, predicate, end) if predicate < end else -1
    if i < 0:
        return False
    predicate_end = i
    i = _skip_blanks(data, i, end)
    if i >= end:
        return False
    text, text_end, i, language = _object(data, i, end)
    if i < 0:
        return False
    i = _skip_blanks(data, i, end)
    graph, graph_end = 0, 0
    if quads and i < end and data[i] != 46:
        graph = i
        i = _blank_end(data, i, end) if data[i] == 95 else _iri_end(data, i, end)
        if i < 0:
            return False
        graph_end = i
        i = _skip_blanks(data, i, end)
    if i >= end or data[i] != 46 or _skip_blanks(data, i + 1, end) != end:
        return False
    if language >= 0:
        for tag in range(language, max(text_end, ~text_end)):
            if 65 <= data[tag] <= 90:
                data[tag] += 32
    spans[row, 0], spans[row, 1] = subject, subject_end
    spans[row, 2], spans[row, 3] = predicate, predicate_end
    spans[row, 4], spans[row, 5] = text, text_end
    spans[row, 6], spans[row, 7] = graph, graph_end
    return True


@njit(cache=True, nogil=True)
def parse_lines(data: Any, newlines: Any, quads: bool) -> Any:
    """The form of each line of a block of whole lines, the starts of the lines, and the terms of the simple ones.

    ``newlines`` has the positions of the newlines in the block; the last line may have none. The terms are subject,
    predicate, object and graph, each with its start and its end; a graph that ends at 0 is the default
    one. Language tags of simple lines are made lower case in place.
    """
    size = len(data)
    capacity = len(newlines) + 1
    line_starts = np.empty(capacity + 1, np.int64)
    forms = np.empty(capacity, np.uint8)
    spans = np.empty((capacity, 8), np.int64)
    line, simple, start = 0, 0, 0
    line_starts[0] = 0
    while start < size:
        end = newlines[line] if line < len(newlines) else size
        after = min(end + 1, size)
        if end > start and data[end - 1] == 13:
            end -= 1
        first = _skip_blanks(data, start, end)
        if first == end or data[first] == 35:
            forms[line] = EMPTY
        elif _simple_line(data, first, end, quads, spans, simple):
            forms[line] = SIMPLE
            simple += 1
        else:
            forms[line] = OTHER
        line += 1
        line_starts[line] = after
        start = after
    return forms[:line], line_starts[: line + 1], spans[:simple]


@njit(cache=True, nogil=True)
def _copy(data: Any, start: int, end: int, out: Any, written: int) -> int:
    for i in range(start, end):
        out[written] = data[i]
        written += 1
    return written


@njit(cache=True, nogil=True)
def _copy_term(data: Any, start: int, end: int, blank: Any, out: Any, written: int) -> int:
    """Write a term; a blank node gets ``blank`` in place of its ``_:``, an end below 0 marks escapes."""
    if end < 0:
        i = start
        while i < ~end:
            escape = data[i] == 92
            i += escape
            digits = _code_digits(data[i]) if escape else 0
            if digits:
                written = _write_character(_code_point(data, i + 1, i + 1 + digits), out, written)
                i += digits
            else:
                out[written] = _ESCAPE[data[i]] if escape else data[i]
                written += 1
            i += 1
        return written
    if data[start] == 95:
        written = _copy(blank, 0, len(blank), out, written)
        start += 2
    return _copy(data, start, end, out, written)


@njit(cache=True, nogil=True)
def _copy_graph(data: Any, start: int, end: int, blank: Any, default: Any, out: Any, written: int) -> int:
    """Write the name of a graph."""
    if end == 0:
        return _copy(default, 0, len(default), out, written)
    return _copy_term(data, start, end, blank, out, written)


@njit(cache=True, nogil=True)
def write_triples(data: Any, spans: Any, blank: Any, default: Any) -> Any:
    """The texts of predicates and of the three arguments of facts in simple lines, and which facts are types.

    A triple that types a subject with an IRI is the fact of that IRI about the subject. ``default`` is
    the name of the default graph: every fact has its graph as last argument, unless it is empty.
    """
    rows, named = len(spans), len(default) > 0
    sizes = np.zeros(4, np.int64)
    unary = np.zeros(rows, np.bool_)
    for row in range(rows):
        unary[row] = data[spans[row, 4]] == 60 and (
            spans[row, 3] - spans[row, 2] == len(_TYPE) and _starts_with(data, spans[row, 2], spans[row, 3], _TYPE)
        )
        graph = max(len(default), spans[row, 7] - spans[row, 6] + len(blank)) if named else 0
        sizes[0] += max(spans[row, 3] - spans[row, 2], spans[row, 5] - spans[row, 4] if unary[row] else 0) + 2
        sizes[1] += spans[row, 1] - spans[row, 0] + len(blank)
        sizes[2] += graph if unary[row] else max(spans[row, 5], ~spans[row, 5]) - spans[row, 4] + len(blank)
        sizes[3] += 0 if unary[row] else graph
    predicates, predicate_ends = np.empty(sizes[0], np.uint8), np.zeros(rows + 1, np.int32)
    first, first_ends = np.empty(sizes[1], np.uint8), np.zeros(rows + 1, np.int64)
    second, second_ends = np.empty(sizes[2], np.uint8), np.zeros(rows + 1, np.int64)
    third, third_ends = np.empty(sizes[3], np.uint8), np.zeros(rows + 1 if named else 0, np.int64)
    p, a, b, c = 0, 0, 0, 0
    for row in range(rows):
        name = 4 if unary[row] else 2
        p = _copy(data, spans[row, name], spans[row, name + 1], predicates, p)
        predicates[p] = 47
        predicates[p + 1] = 50 - unary[row] + named
        p += 2
        a = _copy_term(data, spans[row, 0], spans[row, 1], blank, first, a)
        if not unary[row]:
            b = _copy_term(data, spans[row, 4], spans[row, 5], blank, second, b)
        if named:
            if unary[row]:
                b = _copy_graph(data, spans[row, 6], spans[row, 7], blank, default, second, b)
            else:
                c = _copy_graph(data, spans[row, 6], spans[row, 7], blank, default, third, c)
            third_ends[row + 1] = c
        predicate_ends[row + 1], first_ends[row + 1], second_ends[row + 1] = p, a, b
    arguments = (first[:a], first_ends), (second[:b], second_ends), (third[:c], third_ends)
    return (predicates[:p], predicate_ends), *arguments, unary
