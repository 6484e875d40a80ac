"""The terms that cells of delimited files stand for.

:func:`cell_text` is the whole rule, for one cell. Files go through a kernel that knows the common forms, and passes
the rare ones to this function, once for each distinct cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.engine.kernels.delimited import write_cells
from everlog.ingest.values import TEXT, large_strings
from everlog.lang.characters import CHARACTER, START
from everlog.lang.terms import CANONICAL, literal_text

_ESCAPE = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_REST = rf"[{CHARACTER}:]|{_ESCAPE}"
_PREFIXED = rf"(?P<prefix>[^:\s\"<>]*):(?P<local>(?:(?:[{START}0-9:]|{_ESCAPE})(?:\.*(?:{_REST}))*)?)"
_IRI = r"<(?P<iri>(?:[^\x00-\x20<>\"{}|^`\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*)>"

PREFIXED_NAME = re.compile(_PREFIXED)
IRI_REFERENCE = re.compile(_IRI)
LITERAL = re.compile(
    r'"(?P<lexical>(?:[^"\\]|\\.)*)"'
    rf"(?:@(?P<language>[A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^(?P<datatype>(?:{_IRI}|{_PREFIXED})))?",
    re.DOTALL,
)
_BACKSLASH = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_CONTROL = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def cell_text(cell: str, prefixes: Mapping[str, str]) -> str:
    """The canonical text of a cell.

    >>> [cell_text(cell, {"ex": "http://e.org/"}) for cell in ("42", "007", "ex:a", "GO:1", '"42"', "")]
    ['42', '"007"', '<http://e.org/a>', '"GO:1"', '"42"', '""']
    """
    if any(pattern.fullmatch(cell) for pattern in CANONICAL.values()):
        return cell
    iri = iri_of(cell, prefixes)
    if iri is not None:
        return f"<{iri}>"
    literal = LITERAL.fullmatch(cell)
    if literal is not None:
        lexical = _unescape(literal["lexical"])
        datatype = iri_of(literal["datatype"], prefixes) if literal["datatype"] else None
        if lexical is not None and (datatype is None) == (literal["datatype"] is None):
            return literal_text(lexical, datatype, literal["language"])
    return f'"{cell}"'


def iri_of(text: str, prefixes: Mapping[str, str]) -> str | None:
    """The IRI that ``<...>`` or a prefixed name with a declared prefix stands for; None for anything else.

    >>> iri_of("ex:a", {"ex": "http://e.org/"}), iri_of("http://e.org/a", {"http": "x:"})
    ('http://e.org/a', None)
    """
    reference = IRI_REFERENCE.fullmatch(text)
    if reference is not None:
        iri = _unescape(reference["iri"])
        return iri if iri is not None and IRI_REFERENCE.fullmatch(f"<{iri}>") else None
    name = PREFIXED_NAME.fullmatch(text)
    if name is not None and name["prefix"] in prefixes:
        return prefixes[name["prefix"]] + re.sub(r"\\(.)", r"\1", name["local"])
    return None


def _unescape(text: str) -> str | None:
    """Resolve the escapes with backslashes; None if one of them is not defined."""
    if "\\" not in text:
        return text
    try:
        result = _BACKSLASH.sub(_unescaped, text)
        result.encode()
    except (KeyError, ValueError):
        return None
    return result


def _unescaped(match: re.Match[str]) -> str:
    short, long, control = match.groups()
    return _CONTROL[control] if control is not None else chr(int(short or long, 16))


@dataclass(frozen=True)
class CellRules:
    """The rules for the cells of one load, in the form that the kernel takes."""

    strings: bool
    prefixes: tuple[tuple[str, str], ...]
    tables: tuple[np.ndarray[Any, Any], ...]

    @classmethod
    def of(cls, types: str, prefixes: Mapping[str, str]) -> CellRules:
        return _rules(types == "string", tuple(sorted(prefixes.items())))

    def texts(self, tokens: Any, data: np.ndarray[Any, Any], arity: int, column: int) -> pa.LargeStringArray:
        """The texts of one column of a tokenised block."""
        _, _, status, starts, ends = tokens
        written, offsets, rare = write_cells(data, status, starts, ends, arity, column, self.strings, *self.tables)
        texts = large_strings(written, offsets)
        return self._with_rare(texts, rare) if len(rare) else texts

    def _with_rare(self, texts: pa.LargeStringArray, rare: np.ndarray[Any, Any]) -> pa.LargeStringArray:
        cells = texts.take(pa.array(rare)).dictionary_encode()
        prefixes = dict(self.prefixes)
        distinct = pa.array([cell_text(cell, prefixes) for cell in cells.dictionary.to_pylist()], TEXT)
        mask = np.zeros(len(texts), np.bool_)
        mask[rare] = True
        return pc.replace_with_mask(texts, pa.array(mask), distinct.take(cells.indices))


@lru_cache(maxsize=64)
def _rules(strings: bool, prefixes: tuple[tuple[str, str], ...]) -> CellRules:
    names, iris = _table([name for name, _ in prefixes]), _table([iri for _, iri in prefixes])
    return CellRules(strings, prefixes, (*names, *iris))


def _table(texts: list[str]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return np.frombuffer(bytearray(b"".join(encoded)), np.uint8), offsets
