"""The kinds of terms, as bits of a mask: terms of different kinds are never equal.

IRIs and blank nodes are one kind here, since data may name the same things by the one or the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from everlog.lang.terms import XSD

RESOURCE = 1
STRING = 2
LANGUAGE_STRING = 4
INTEGER = 8
DECIMAL = 16
DOUBLE = 32
BOOLEAN = 64
DATE = 128
LOCAL_TIME = 256
ZONED_TIME = 512
OTHER = 1024

NAMES: Mapping[int, str] = MappingProxyType(
    {
        RESOURCE: "IRIs or blank nodes",
        STRING: "strings",
        LANGUAGE_STRING: "strings with a language",
        INTEGER: "integers",
        DECIMAL: "decimals",
        DOUBLE: "doubles",
        BOOLEAN: "booleans",
        DATE: "dates",
        LOCAL_TIME: "timestamps without a time zone",
        ZONED_TIME: "timestamps with a time zone",
        OTHER: "literals of other datatypes",
    }
)
ANY = sum(NAMES)
_ZONE = re.compile(r"(Z|[+-]..:..)\Z", re.DOTALL)

Kinds = tuple[int, ...]
"""For each column of a relation, the mask of the kinds of its terms."""


def kind_of(text: str) -> int:
    """The kind of a term by its canonical text.

    >>> [NAMES[kind_of(text)] for text in ("42", "1.0", "1.0E0", '"a"', '"a"@en', "<http://e.org/a>")]
    ['integers', 'decimals', 'doubles', 'strings', 'strings with a language', 'IRIs or blank nodes']
    >>> NAMES[kind_of(f'"2026-01-01T00:00:00Z"^^<{XSD}dateTime>')]
    'timestamps with a time zone'
    """
    if text[0] in "<_":
        return RESOURCE
    if text[0] == '"':
        lexical, _, suffix = text[1:].rpartition('"')
        return _literal(lexical, suffix)
    if text[0] in "tf":
        return BOOLEAN
    return DOUBLE if "E" in text else DECIMAL if "." in text else INTEGER


def _literal(lexical: str, suffix: str) -> int:
    if not suffix:
        return STRING
    if suffix[0] == "@":
        return LANGUAGE_STRING
    datatype = suffix[3:-1]
    if datatype == XSD + "dateTime":
        return ZONED_TIME if _ZONE.search(lexical) else LOCAL_TIME
    return {XSD + "date": DATE, XSD + "double": DOUBLE}.get(datatype, OTHER)


def described(mask: int) -> str:
    """The names of the kinds in a mask.

    >>> described(INTEGER), described(INTEGER | DOUBLE | STRING)
    ('integers', 'strings, integers and doubles')
    """
    *most, last = [name for kind, name in NAMES.items() if mask & kind]
    return f"{', '.join(most)} and {last}" if most else last


def joined(one: Kinds | None, other: Kinds) -> Kinds:
    """For each column, the kinds in either of two sets of facts of one predicate.

    >>> joined((INTEGER, STRING), (DOUBLE, STRING))
    (40, 2)
    """
    return other if one is None else tuple(a | b for a, b in zip(one, other, strict=True))
