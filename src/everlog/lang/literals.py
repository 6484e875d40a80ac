"""Conversion of constants as they are written in a program into their canonical texts."""

from __future__ import annotations

import re
from decimal import Decimal

from everlog.lang.terms import NOT_IN_IRI, decimal_text, double_text

_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_LOCAL_ESCAPE = re.compile(r"\\(.)")


def unescape(written: str) -> str:
    r"""The characters that a string with Turtle's escapes stands for.

    >>> unescape(r"caf\u00E9\n")
    'café\n'
    """
    return _ESCAPE.sub(_character, written) if "\\" in written else written


def _character(match: re.Match[str]) -> str:
    short, long, letter = match.groups()
    if letter is not None:
        if letter not in _ESCAPES:
            raise ValueError(f"there is no escape `\\{letter}`")
        return _ESCAPES[letter]
    code = int(short or long, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ValueError(f"`{match.group()}` is not a character")
    return chr(code)


def string_content(token: str) -> str:
    r"""The content of a quoted string.

    >>> string_content('"a\\"b"'), string_content("'''it's'''")
    ('a"b', "it's")
    """
    quotes = 3 if token[:3] in ('"""', "'''") and len(token) >= 6 else 1
    return unescape(token[quotes:-quotes])


def iri_content(token: str) -> str:
    r"""The IRI between angle brackets.

    >>> iri_content(r"<http://e.org/\u00E9>")
    'http://e.org/é'
    """
    iri = unescape(token[1:-1])
    wrong = NOT_IN_IRI.search(iri)
    if wrong is not None:
        raise ValueError(f"an IRI cannot contain {wrong.group()!r}")
    return iri


def local_name(written: str) -> str:
    r"""The local part of a prefixed name without its backslashes.

    >>> local_name(r"a\,b")
    'a,b'
    """
    return _LOCAL_ESCAPE.sub(r"\1", written) if "\\" in written else written


def integer_text(written: str) -> str:
    """The canonical text of an integer.

    >>> integer_text("+5"), integer_text("-007"), integer_text("-0")
    ('5', '-7', '0')
    """
    digits = written.lstrip("+-").lstrip("0")
    return ("-" if written[0] == "-" else "") + digits if digits else "0"


def number_text(kind: str, written: str) -> str:
    """The canonical text of a number token.

    >>> number_text("DECIMAL", "1.00"), number_text("DOUBLE", "1e5")
    ('1.0', '1.0E5')
    """
    if kind == "INTEGER":
        return integer_text(written)
    if kind == "DECIMAL":
        return decimal_text(Decimal(written))
    number = float(written)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"`{written}` is too large for a double")
    return double_text(number)
