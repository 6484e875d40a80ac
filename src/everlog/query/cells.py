"""Columns of terms as output writes them, computed on whole Arrow columns.

Plain texts are cut and joined by Arrow. Only texts with special characters, each distinct one once, go through the
functions for single terms in ``everlog.lang.printer``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from everlog.lang.printer import cell_text, print_text
from everlog.lang.terms import XSD
from everlog.lang.visible import ACTING, visible

Texts = Any
"""A LargeStringArray."""

_CONTROL = r"\x00-\x1f\x7f\x{85}\x{2028}\x{2029}\x{feff}"
_PLAIN_LITERAL = rf'^"[^"\\{_CONTROL}]*"(@|\^\^)'
_PLAIN_IRI = r'^<[^\x00-\x20<>"{}|^`\\]*>$'
_LIKE_A_TERM = r'^[-0-9<"_]|^(?:true|false)$'


def cells(texts: Texts, prefixes: Mapping[str, str]) -> Texts:
    """Terms as cells: :func:`everlog.lang.printer.cell_text` of each.

    >>> cells(pa.array(['"Alice B."', '"42"', "42", '"A"@en'], pa.large_string()), {}).to_pylist()
    ['Alice B.', '"42"', '42', '"A"@en']
    """
    is_string, bare = _strings(texts)
    like = _LIKE_A_TERM + "".join(f"|^{re.escape(prefix)}:" for prefix in prefixes)
    odd = pc.or_(pc.and_(is_string, _matches(bare, like)), _odd_literals(texts, is_string))
    return _replaced(bare, texts, odd, partial(cell_text, prefixes=prefixes))


def csv_cells(texts: Texts, prefixes: Mapping[str, str], alone: bool = False) -> Texts:
    """Terms as cells of a CSV file. A cell ``alone`` in its row is quoted if it is empty.

    >>> csv_cells(pa.array(['"a, b"', '"42"', '"c"'], pa.large_string()), {}).to_pylist()
    ['"a, b"', '\"""42\"""', 'c']
    """
    shown = cells(texts, prefixes)
    special = _matches(shown, r'[",\r\n]|^\s|\s$' + ("|^$" if alone else ""))
    if not pc.any(special).as_py():
        return shown
    doubled = pc.replace_substring(shown.filter(special), '"', '""')
    return pc.replace_with_mask(shown, special, _join('"', doubled, '"'))


def json_values(texts: Texts) -> Texts:
    """Terms as JSON: numbers and booleans as such, strings bare, other terms as their text.

    >>> json_values(pa.array(['"a"', "42", "1.0E0", "true", "<http://e.org/>"], pa.large_string())).to_pylist()
    ['"a"', '42', '1.0E0', 'true', '"<http://e.org/>"']
    """
    is_string, bare = _strings(texts)
    shown = _replaced(bare, texts, _odd_literals(texts, is_string), cell_text)
    special = _matches(shown, r'[\x00-\x1f"\\]')
    quoted = _replaced(_join('"', shown, '"'), shown, special, partial(json.dumps, ensure_ascii=False))
    return pc.if_else(_matches(texts, r'^[^"<_]'), texts, quoted)


def table_cells(texts: Texts, prefixes: Mapping[str, str]) -> Texts:
    """Terms as cells of a table on a terminal: without line breaks and other control characters."""
    shown = cells(texts, prefixes)
    return _replaced(shown, shown, _matches(shown, ACTING), visible)


def ntriples_terms(texts: Texts) -> Texts:
    """Terms as N-Triples writes them.

    >>> ntriples_terms(pa.array(['"a"', "42", "_:b"], pa.large_string())).to_pylist()
    ['"a"', '"42"^^<http://www.w3.org/2001/XMLSchema#integer>', '_:b']
    """
    is_string, _ = _strings(texts)
    number = _matches(texts, r"^[-0-9]")
    datatype = pc.if_else(
        _matches(texts, "^[tf]"),
        _text(XSD + "boolean"),
        pc.if_else(
            _matches(texts, "E"),
            _text(XSD + "double"),
            pc.if_else(_matches(texts, r"\."), _text(XSD + "decimal"), _text(XSD + "integer")),
        ),
    )
    bare = pc.or_(number, _matches(texts, "^[tf]"))
    shown = pc.if_else(bare, _join('"', texts, '"^^<', datatype, ">"), texts)
    odd_string = pc.and_(is_string, _matches(texts, rf'[\\{_CONTROL}]|.".'))
    odd_iri = pc.and_(pc.starts_with(texts, "<"), pc.invert(_matches(texts, _PLAIN_IRI)))
    odd = pc.or_(pc.or_(odd_string, odd_iri), _odd_literals(texts, is_string))
    return _replaced(shown, texts, odd, _ntriples_text)


def joined(pieces: list[Any]) -> Texts:
    """Columns and strings, joined row by row."""
    return _join(*pieces)


def interleaved(pieces: Sequence[Any], separator: str) -> list[Any]:
    """The pieces with a separator between each two."""
    return [each for piece in pieces for each in (separator, piece)][1:]


def data_of(texts: Texts) -> memoryview:
    """The bytes of all the texts of a column, one after the other, without a copy."""
    if not len(texts):
        return memoryview(b"")
    offsets = memoryview(texts.buffers()[1]).cast("q")
    start, end = offsets[texts.offset], offsets[texts.offset + len(texts)]
    return memoryview(texts.buffers()[2])[start:end]


def _ntriples_text(text: str) -> str:
    """A single string, literal or IRI that has characters to be escaped."""
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        return print_text(f"{text}@x")[:-2]
    return print_text(text)


def _strings(texts: Texts) -> tuple[Any, Texts]:
    """A mask of the terms that are strings, and all terms with the quotes of strings removed."""
    is_string = pc.and_(pc.starts_with(texts, '"'), pc.ends_with(texts, '"'))
    return is_string, pc.if_else(is_string, pc.utf8_slice_codeunits(texts, 1, -1), texts)


def _odd_literals(texts: Texts, is_string: Any) -> Any:
    """A mask of the literals with a tag or datatype and characters that are written as escapes."""
    tagged = pc.and_(pc.starts_with(texts, '"'), pc.invert(is_string))
    return pc.and_(tagged, pc.invert(_matches(texts, _PLAIN_LITERAL)))


def _replaced(shown: Texts, texts: Texts, where: Any, function: Callable[[str], str]) -> Texts:
    """``shown`` with ``function`` of the text in the masked rows; the function is called once for each distinct
    text."""
    if not pc.any(where).as_py():
        return shown
    chosen = texts.filter(where).dictionary_encode()
    made = pa.array([function(text) for text in chosen.dictionary.to_pylist()], pa.large_string())
    return pc.replace_with_mask(shown, where, made.take(chosen.indices))


def _matches(texts: Texts, pattern: str) -> Any:
    return pc.match_substring_regex(texts, f"(?s){pattern}")


def _text(value: str) -> Any:
    return pa.scalar(value, pa.large_string())


def _join(*pieces: Any) -> Texts:
    typed = [_text(piece) if isinstance(piece, str) else piece for piece in pieces]
    return pc.binary_join_element_wise(*typed, _text(""))
