"""The prefixes that RDF files declare."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping

from everlog.ingest.blocks import open_bytes
from everlog.ingest.sources import FactSource
from everlog.lang.characters import CHARACTER, LETTER

_HEAD = 1 << 16
"""Bytes at the beginning of a file that are searched for declarations."""

MOST_FILES = 100
"""Maximum number of files that are searched for declarations."""

MOST_PREFIXES = 500
"""Maximum number of prefixes that are taken from files."""

_NAME = rf"([{LETTER}](?:[{CHARACTER}.]*[{CHARACTER}])?)?"
_TURTLE = re.compile(rf"^\s*@?prefix\s+{_NAME}:\s*<([^<>\s\\]*)>", re.IGNORECASE | re.MULTILINE)
_XML = re.compile(rf"\sxmlns(?::{_NAME})?\s*=\s*[\"']([^\"'&<>\s]*)[\"']")
_PATTERNS: Mapping[str, re.Pattern[str]] = {"ttl": _TURTLE, "trig": _TURTLE, "rdf": _XML}
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def declared_prefixes(sources: Iterable[FactSource]) -> dict[str, str]:
    """The prefixes that files declare at their beginning; if several declare a name, the first file counts.

    Relative IRIs are left out, since they depend on the file.
    """
    found: dict[str, str] = {}
    for source in [each for each in sources if each.kind in _PATTERNS][:MOST_FILES]:
        for match in _PATTERNS[source.kind].finditer(_head(source)):
            if _ABSOLUTE.match(match[2]) and len(found) < MOST_PREFIXES:
                found.setdefault(match[1] or "", match[2])
    return found


def _head(source: FactSource) -> str:
    """The beginning of a file; empty if it cannot be read, which the reader of the whole file reports."""
    try:
        with open_bytes(source.path, source.compressed) as file:
            return file.read(_HEAD).decode(errors="replace")
    except (OSError, EOFError, zlib.error):
        return ""
