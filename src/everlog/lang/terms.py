"""Constants: a kind and a lexical form, carried as one canonical text.

Everywhere below the language a constant is its *text*. Two constants are equal if and only if
their texts are, and the id of a term in a store is a hash of its text:

=================  ==========================================================
kind               text
=================  ==========================================================
IRI                ``<http://example.org/a>``
blank node         ``_:b``
string             ``"alice"``
language string    ``"A"@en`` (tag in lower case)
integer            ``42``
decimal            ``1.0``
double             ``1.0E0``
boolean            ``true``
other literal      ``"2026-01-01"^^<http://www.w3.org/2001/XMLSchema#date>``
=================  ==========================================================

The characters between the quotes stand as they are, without escapes. That is unambiguous because
neither a language tag nor an IRI may contain a quote, so the last quote of a text closes it.
A number whose lexical form is not canonical (``"007"^^xsd:integer``) is an *other literal*.
"""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass
from decimal import Decimal

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

CANONICAL = {
    XSD + "integer": re.compile(r"0|-?[1-9][0-9]*"),
    XSD + "decimal": re.compile(r"(?!-0\.0$)-?(?:0|[1-9][0-9]*)\.(?:0|[0-9]*[1-9])"),
    XSD + "double": re.compile(r"-?[1-9]\.(?:0|[0-9]*[1-9])E(?:0|-?[1-9][0-9]*)|-?0\.0E0"),
    XSD + "boolean": re.compile(r"true|false"),
}
"""The lexical forms of each datatype that are written bare."""


@dataclass(frozen=True, slots=True, order=True)
class IRI:
    """An IRI as a Python value.

    >>> str(IRI("http://example.org/a"))
    'http://example.org/a'
    """

    value: str

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True, order=True)
class BlankNode:
    """A blank node, known by its label.

    >>> BlankNode("b0").label
    'b0'
    """

    label: str

    def __str__(self) -> str:
        return "_:" + self.label


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal that has no Python type of its own: a language string or another datatype.

    >>> Literal("A", language="en").lexical
    'A'
    """

    lexical: str
    datatype: str | None = None
    language: str | None = None

    def __str__(self) -> str:
        return self.lexical


Value = str | int | float | bool | Decimal | IRI | BlankNode | Literal
"""What a term is in Python."""


def literal_text(lexical: str, datatype: str | None = None, language: str | None = None) -> str:
    """The text of a literal given as in RDF.

    >>> literal_text("42", XSD + "integer"), literal_text("A", language="EN")
    ('42', '"A"@en')
    """
    if language is not None:
        return f'"{lexical}"@{language.lower()}'
    if datatype is None or datatype == XSD + "string":
        return f'"{lexical}"'
    canonical = CANONICAL.get(datatype)
    if canonical is not None and canonical.fullmatch(lexical):
        return lexical
    return f'"{lexical}"^^<{datatype}>'


def decimal_text(number: Decimal) -> str:
    """The canonical text of a decimal.

    >>> decimal_text(Decimal("1.00")), decimal_text(Decimal("-0.50"))
    ('1.0', '-0.5')
    """
    if not number.is_finite():
        raise ValueError(f"{number} is not a decimal number")
    whole, _, fraction = f"{number:f}".partition(".")
    negative, digits = whole.startswith("-"), whole.lstrip("+-").lstrip("0") or "0"
    fraction = fraction.rstrip("0") or "0"
    negative = negative and (digits, fraction) != ("0", "0")
    return f"{'-' if negative else ''}{digits}.{fraction}"


def double_text(number: float) -> str:
    """The canonical text of a double.

    >>> double_text(1.0), double_text(-1250.0), double_text(float("inf"))
    ('1.0E0', '-1.25E3', '"INF"^^<http://www.w3.org/2001/XMLSchema#double>')
    """
    if math.isnan(number):
        return literal_text("NaN", XSD + "double")
    if number in (float("inf"), float("-inf")):
        return literal_text("INF" if number > 0 else "-INF", XSD + "double")
    sign, digits, exponent = Decimal(repr(float(number))).as_tuple()
    assert isinstance(exponent, int)
    prefix = "-" if sign else ""
    shown = "".join(map(str, digits)).lstrip("0")
    if not shown:
        return prefix + "0.0E0"
    power = exponent + len(shown) - 1
    return f"{prefix}{shown[0]}.{shown[1:].rstrip('0') or '0'}E{power}"


def text_of(value: object) -> str:
    """The text of a Python value.

    >>> [text_of(v) for v in ("alice", 42, 1.0, True, IRI("http://e.org/a"), BlankNode("b"))]
    ['"alice"', '42', '1.0E0', 'true', '<http://e.org/a>', '_:b']
    """
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, IRI):
        return f"<{value.value}>"
    if isinstance(value, BlankNode):
        return f"_:{value.label}"
    if isinstance(value, Literal):
        return literal_text(value.lexical, value.datatype, value.language)
    if isinstance(value, datetime.datetime):
        return literal_text(_moment(value), XSD + "dateTime")
    if isinstance(value, datetime.date):
        return literal_text(value.isoformat(), XSD + "date")
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        return text_of(value.item())
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be a term")


def _moment(value: datetime.datetime) -> str:
    """XSD's canonical form: in UTC if there is a zone, no zeros at the end of the fraction."""
    if value.tzinfo is None:
        return re.sub(r"(\.\d*?)0+$", r"\1", value.isoformat())
    return _moment(value.astimezone(datetime.UTC).replace(tzinfo=None)) + "Z"


def value_of(text: str) -> Value:
    """The Python value of a text; the inverse of :func:`text_of`.

    >>> [value_of(t) for t in ('"alice"', "42", "1.5", "1.0E0", "true", '"A"@en')]
    ['alice', 42, Decimal('1.5'), 1.0, True, Literal(lexical='A', datatype=None, language='en')]
    """
    first = text[0]
    if first == '"':
        end = text.rindex('"')
        lexical, suffix = text[1:end], text[end + 1 :]
        if not suffix:
            return lexical
        if suffix[0] == "@":
            return Literal(lexical, language=suffix[1:])
        datatype = suffix[3:-1]
        if datatype == XSD + "double" and lexical in ("INF", "-INF", "NaN"):
            return float(lexical.lower().replace("inf", "infinity"))
        return Literal(lexical, datatype)
    if first == "<":
        return IRI(text[1:-1])
    if first == "_":
        return BlankNode(text[2:])
    if first in "tf":
        return text == "true"
    if "E" in text:
        return float(text)
    return Decimal(text) if "." in text else int(text)
