"""The amount of text that the entities of an XML document stand for, counted before the parser replaces them.

``<!ENTITY owl "http://www.w3.org/2002/07/owl#">`` lets a document write ``&owl;``. A few hundred bytes of entities
that stand for entities can stand for gigabytes, and so can one long entity that is used often.
"""

from __future__ import annotations

import re
from collections import Counter

ENTITY_BYTES = 4 << 20
"""Maximum number of bytes that entities stand for in a document, whatever its size."""

ENTITY_BYTES_PER_BYTE = 32
"""Number of bytes that entities may stand for besides, for each byte of the document that was read."""

LONGEST_DECLARATION = 1 << 20
"""Maximum number of bytes of the declaration of an entity."""

LONGEST_NAME = 1 << 10
"""Maximum number of bytes before the value of an entity begins."""

_DECLARATION = re.compile(rb"<!ENTITY([^<]*)")
_NAMED = re.compile(rb"\s+(?:%\s+)?([A-Za-z_:][A-Za-z0-9_.:-]*)\s+(?:\"([^\"]*)\"|'([^']*)')\s*>")
_REFERENCE = re.compile(rb"&([^;&]{1,1024});")
_MARK = b"<!ENTITY"
_UNNAMED = b""
_PREDEFINED = frozenset([b"lt", b"gt", b"amp", b"apos", b"quot"])


class ExpansionError(Exception):
    """Entities stand for more text than is allowed; ``position`` is the byte where the limit is exceeded."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


class EntityGuard:
    """Reads the pieces of a document, and raises :class:`ExpansionError` at one that expands too much.

    A declaration is counted once the ``<`` after it is read, which comes before any use of it. A declaration that is
    not well-formed may be that of any name that is not declared.

    >>> entities = EntityGuard()
    >>> entities.feed(b'<!DOCTYPE x [<!ENTITY owl "http://www.w3.org/2002/07/owl#">]><a b="&owl;Class"/>')
    >>> entities.expanded
    60
    """

    def __init__(self) -> None:
        self.expanded = 0
        self._sizes: dict[bytes, int] = {}
        self._tail = b""
        self._read = 0

    def feed(self, piece: bytes) -> None:
        """Count the declarations and references that end in the next piece."""
        text, seen = self._tail + piece, len(self._tail)
        start = self._read - seen
        self._read += len(piece)
        if _MARK in text:
            for found in _DECLARATION.finditer(text):
                if seen <= found.end() < len(text):
                    self._declare(found, start)
        if self._sizes:
            self._refer(text, seen, start)
        self._tail = self._unfinished(text, start)

    def _declare(self, found: re.Match[bytes], start: int) -> None:
        named = _NAMED.match(found[1])
        name = named[1] if named else _UNNAMED
        begin, end = named.span(named.lastindex or 0) if named else (max(0, found[1].find(b'"')), len(found[1]))
        if begin > LONGEST_NAME or end - begin > LONGEST_DECLARATION:
            raise _too_long(start + found.start())
        value = found[1][begin:end]
        size = len(_REFERENCE.sub(b"", value)) + sum(map(self._size, _REFERENCE.findall(value)))
        self._sizes[name] = max(size, self._sizes.get(name, 0))
        self._count(size, name, start + found.start())

    def _refer(self, text: bytes, seen: int, start: int) -> None:
        uses = Counter(_REFERENCE.findall(text)) - Counter(_REFERENCE.findall(text[:seen]))
        if not uses:
            return
        name = max(uses, key=lambda each: uses[each] * self._size(each))
        position = text.find(b"&" + name + b";", max(0, seen - len(name) - 1))
        self._count(sum(uses[each] * self._size(each) for each in uses), name, start + position)

    def _size(self, name: bytes) -> int:
        """Number of bytes that a reference stands for."""
        if name in self._sizes:
            return self._sizes[name]
        return 0 if name in _PREDEFINED or name.startswith(b"#") else self._sizes.get(_UNNAMED, 0)

    def _count(self, size: int, name: bytes, position: int) -> None:
        self.expanded += size
        allowed = ENTITY_BYTES + ENTITY_BYTES_PER_BYTE * self._read
        if self.expanded > allowed:
            shown = name[:40].decode(errors="replace") or "?"
            reason = f"with &{shown}; the entities stand for {self.expanded:,} bytes, more than the {allowed:,} allowed"
            raise ExpansionError(reason, position)

    def _unfinished(self, text: bytes, start: int) -> bytes:
        """The end of a text in which a declaration or a reference may have begun."""
        begun = text.rfind(b"<")
        if begun >= 0 and _MARK.startswith(text[begun : begun + len(_MARK)]):
            if len(text) - begun > LONGEST_DECLARATION:
                raise _too_long(start + begun)
            return text[begun:]
        reference = text.rfind(b"&", max(0, len(text) - LONGEST_NAME - 1))
        return text[reference:] if reference >= 0 and b";" not in text[reference:] else b""


def _too_long(position: int) -> ExpansionError:
    return ExpansionError("the declaration of an entity is too long", position)
