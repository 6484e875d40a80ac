"""Terms one at a time, as the functions of SPARQL see them.

Columns hold ids. Where a function has to look at the parts of a term, each distinct term becomes a :data:`Node`: an
IRI, a blank node, or a literal whose datatype is always given. Numbers are Python's with the rank of their datatype in
the order of promotion.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal

from everlog.lang.terms import (
    IRI,
    LANG_STRING,
    XSD,
    BlankNode,
    Literal,
    decimal_text,
    double_text,
    is_convertible,
    literal_text,
    stored_blank,
    stored_iri,
    stored_literal,
    whole_text,
)

STRING, BOOLEAN = XSD + "string", XSD + "boolean"
INTEGER, DECIMAL, FLOAT, DOUBLE = XSD + "integer", XSD + "decimal", XSD + "float", XSD + "double"
DATE_TIME, DATE, TIME = XSD + "dateTime", XSD + "date", XSD + "time"

Node = IRI | BlankNode | Literal

DERIVED_INTEGERS = frozenset(
    XSD + name
    for name in (
        *("nonPositiveInteger", "negativeInteger", "nonNegativeInteger", "positiveInteger"),
        *("long", "int", "short", "byte", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
RANKS = {INTEGER: 0, DECIMAL: 1, FLOAT: 2, DOUBLE: 3, **dict.fromkeys(DERIVED_INTEGERS, 0)}
"""The ranks of numeric datatypes: an operation is computed in the highest rank of its arguments."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")

EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""The context in which decimals are added, subtracted, multiplied and negated without rounding."""


class ExpressionError(Exception):
    """An expression has no value for some arguments; it never reaches the user."""


@dataclass(frozen=True, slots=True)
class Number:
    """A numeric value and the rank of its datatype (see :data:`RANKS`).

    An integer of more digits than Python converts to an int is a whole Decimal.
    """

    value: int | Decimal | float
    rank: int

    @property
    def node(self) -> Literal:
        return number_node(self.value, self.rank)

    @property
    def is_nan(self) -> bool:
        return isinstance(self.value, float) and math.isnan(self.value)


def node_of(text: str) -> Node:
    """The node of a canonical text.

    >>> node_of("42"), node_of('"A"@en')
    (Literal(lexical='42', datatype='http://www.w3.org/2001/XMLSchema#integer', language=None), \
Literal(lexical='A', datatype='http://www.w3.org/1999/02/22-rdf-syntax-ns#langString', language='en'))
    """
    first = text[0]
    if first == "<":
        return stored_iri(text[1:-1])
    if first == '"':
        end = text.rindex('"')
        lexical, suffix = text[1:end], text[end + 1 :]
        if not suffix:
            return stored_literal(lexical, STRING)
        if suffix[0] == "@":
            return stored_literal(lexical, LANG_STRING, suffix[1:])
        return stored_literal(lexical, suffix[3:-1])
    if first == "_":
        return stored_blank(text[2:])
    if first in "tf":
        return stored_literal(text, BOOLEAN)
    return stored_literal(text, DOUBLE if "E" in text else DECIMAL if "." in text else INTEGER)


def text_of_node(node: Node) -> str:
    """The canonical text of a node; the inverse of :func:`node_of`."""
    if isinstance(node, IRI):
        return f"<{node.value}>"
    if isinstance(node, BlankNode):
        return f"_:{node.label}"
    return literal_text(node.lexical, node.datatype, node.language)


def string_node(value: str) -> Literal:
    return Literal(value, STRING)


_TRUE, _FALSE = Literal("true", BOOLEAN), Literal("false", BOOLEAN)


def boolean_node(value: bool) -> Literal:
    return _TRUE if value else _FALSE


def number_node(value: int | Decimal | float, rank: int) -> Literal:
    """The literal of a computed number.

    >>> number_node(1, 0).lexical, number_node(Decimal(1), 1).lexical, number_node(1.5, 3).lexical
    ('1', '1.0', '1.5E0')
    """
    if rank == 0:
        is_large = isinstance(value, Decimal) and bool(value)
        return Literal(f"{value:f}" if is_large else whole_text(int(value)), INTEGER)
    if rank == 1:
        return Literal(decimal_text(Decimal(value)), DECIMAL)
    number = double_of(value)
    if math.isinf(number) or math.isnan(number):
        lexical = "NaN" if math.isnan(number) else "INF" if number > 0 else "-INF"
    else:
        lexical = double_text(number)
    return Literal(lexical, FLOAT if rank == 2 else DOUBLE)


def double_of(value: int | Decimal | float) -> float:
    """A number as a double; one that is too large for a double is infinite.

    >>> double_of(10**400), double_of(Decimal("1.5"))
    (inf, 1.5)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def number_of(node: Node) -> Number | None:
    """The number of a literal, None for other terms and for wrong lexical forms.

    >>> number_of(Literal("007", INTEGER)), number_of(Literal("x", INTEGER))
    (Number(value=7, rank=0), None)
    """
    if not isinstance(node, Literal) or node.datatype is None:
        return None
    rank = RANKS.get(node.datatype)
    if rank is None:
        return None
    value = parsed_number(node.lexical.strip(), rank)
    return None if value is None else Number(value, rank)


def parsed_number(lexical: str, rank: int) -> int | Decimal | float | None:
    """The value of a lexical form in the datatype of a rank."""
    if rank == 0:
        if not _INTEGER.fullmatch(lexical):
            return None
        return int(lexical) if is_convertible(lexical) else Decimal(lexical)
    if rank == 1:
        return Decimal(lexical) if _DECIMAL.fullmatch(lexical) else None
    return float(lexical.replace("INF", "inf")) if _DOUBLE.fullmatch(lexical) else None


def boolean_of(node: Node) -> bool | None:
    """The value of a boolean literal."""
    if isinstance(node, Literal) and node.datatype == BOOLEAN:
        return {"true": True, "1": True, "false": False, "0": False}.get(node.lexical.strip())
    return None


def is_string(node: Node) -> bool:
    """Whether a node is a string, with or without a language."""
    return isinstance(node, Literal) and (node.datatype == STRING or node.language is not None)
