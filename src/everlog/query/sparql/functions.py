"""The functions of SPARQL 1.1 on single terms (section 17.4), by name.

Each takes nodes and returns a node, or raises :class:`ExpressionError`. Functions that depend on the row (``RAND``,
``UUID``, ``BNODE``) or on errors (``IF``, ``COALESCE``) are in :mod:`.expressions`.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Decimal
from urllib.parse import quote, urljoin

from everlog.lang.errors import TermError
from everlog.lang.terms import IRI, LANG_STRING, XSD, BlankNode, Literal
from everlog.query.sparql.dates import FORMS, Moment, moment_of, zone_duration
from everlog.query.sparql.regular import Regular, regular
from everlog.query.sparql.terms import (
    BOOLEAN,
    DATE,
    DATE_TIME,
    DECIMAL,
    DOUBLE,
    EXACT,
    FLOAT,
    INTEGER,
    RANKS,
    STRING,
    TIME,
    ExpressionError,
    Node,
    Number,
    boolean_node,
    boolean_of,
    double_of,
    is_string,
    number_node,
    number_of,
    parsed_number,
    string_node,
)
from everlog.query.sparql.values import arithmetic, compare, negative, numeric

Function = Callable[..., Node]


def _string(node: Node) -> Literal:
    if not is_string(node):
        raise ExpressionError
    assert isinstance(node, Literal)
    return node


def _plain(node: Node) -> str:
    """The content of a string without a language."""
    if not isinstance(node, Literal) or node.datatype != STRING:
        raise ExpressionError
    return node.lexical


def _like(node: Literal, lexical: str) -> Literal:
    """A string with the language of another string."""
    return Literal(lexical, node.datatype, node.language)


def _pair(one: Node, other: Node) -> tuple[Literal, Literal]:
    """Two strings with compatible languages: the second has no language, or that of the first."""
    first, second = _string(one), _string(other)
    if second.language is not None and second.language != first.language:
        raise ExpressionError
    return first, second


# terms ------------------------------------------------------------------------------------------


def str_(node: Node) -> Node:
    if isinstance(node, BlankNode):
        raise ExpressionError
    return string_node(str(node))


def lang(node: Node) -> Node:
    if not isinstance(node, Literal):
        raise ExpressionError
    return string_node(node.language or "")


def datatype(node: Node) -> Node:
    if not isinstance(node, Literal) or node.datatype is None:
        raise ExpressionError
    return IRI(node.datatype)


def strdt(lexical: Node, kind: Node) -> Node:
    if not isinstance(kind, IRI):
        raise ExpressionError
    return Literal(_plain(lexical), kind.value)


def strlang(lexical: Node, language: Node) -> Node:
    try:
        return Literal(_plain(lexical), LANG_STRING, _plain(language).lower())
    except TermError:
        raise ExpressionError from None


def iri(node: Node, base: str = "") -> Node:
    """The IRI of a string, resolved against the base of the query."""
    if isinstance(node, IRI):
        return node
    try:
        return IRI(resolved(_plain(node), base))
    except TermError:
        raise ExpressionError from None


def resolved(reference: str, base: str) -> str:
    """An IRI reference resolved against a base.

    >>> resolved("a", "http://e.org/x"), resolved("urn:a", "http://e.org/")
    ('http://e.org/a', 'urn:a')
    """
    if not base or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", reference):
        return reference
    return urljoin(base, reference)


# strings ----------------------------------------------------------------------------------------


def substr(text: Node, start: Node, length: Node | None = None) -> Node:
    """The characters from a position on, counted from 1; positions are rounded as in XPath."""
    source = _string(text)
    first = _rounded(numeric(start).value)
    last = math.inf if length is None else first + _rounded(numeric(length).value)
    if math.isnan(first) or math.isnan(last):
        return _like(source, "")
    low = max(1, first)
    kept = source.lexical[int(low) - 1 : None if math.isinf(last) else max(0, int(last) - 1)] if low < last else ""
    return _like(source, kept)


def _rounded(value: float | Decimal) -> float:
    number = double_of(value)
    return math.floor(number + 0.5) if math.isfinite(number) else number


def strbefore(text: Node, part: Node) -> Node:
    first, second = _pair(text, part)
    before, found, _ = first.lexical.partition(second.lexical) if second.lexical else ("", "x", "")
    return _like(first, before) if found else string_node("")


def strafter(text: Node, part: Node) -> Node:
    first, second = _pair(text, part)
    _, found, after = first.lexical.partition(second.lexical) if second.lexical else ("", "x", first.lexical)
    return _like(first, after) if found else string_node("")


def concat(*parts: Node) -> Node:
    """The concatenation of all strings, with their language if it is equal for all."""
    strings = [_string(part) for part in parts]
    languages = {part.language for part in strings}
    joined = "".join(part.lexical for part in strings)
    language = languages.pop() if len(languages) == 1 else None
    return string_node(joined) if language is None else Literal(joined, LANG_STRING, language)


def langmatches(tag: Node, wanted: Node) -> Node:
    """Whether a language tag matches a basic range (RFC 4647, section 3.3.1)."""
    given, wide = _plain(tag).lower(), _plain(wanted).lower()
    return boolean_node(bool(given) and (wide in ("*", given) or given.startswith(wide + "-")))


def regex(texts: Sequence[Node], pattern: Node, flags: Node | None = None) -> list[Node | None]:
    """The values of ``REGEX`` for many terms with one pattern; None for terms that are not strings."""
    found, strings = _regular(pattern, flags), _lexical_forms(texts)
    matched = iter(found.matches([text for text in strings if text is not None]))
    return [None if text is None else boolean_node(next(matched)) for text in strings]


def replace(texts: Sequence[Node], pattern: Node, replacement: Node, flags: Node | None = None) -> list[Node | None]:
    """The values of ``REPLACE`` for many terms with one pattern; None for terms that are not strings."""
    found, strings = _regular(pattern, flags), _lexical_forms(texts)
    made = iter(found.replaced([text for text in strings if text is not None], _plain(replacement)))
    return [
        None if text is None else _like(_string(node), next(made)) for node, text in zip(texts, strings, strict=True)
    ]


def _lexical_forms(nodes: Sequence[Node]) -> list[str | None]:
    return [_string(node).lexical if is_string(node) else None for node in nodes]


def _regular(pattern: Node, flags: Node | None) -> Regular:
    return regular(_plain(pattern), "" if flags is None else _plain(flags))


# numbers ----------------------------------------------------------------------------------------


def _whole(rounding: Callable[[Decimal | float], Decimal | float]) -> Function:
    """A function that rounds numbers in their own datatype."""

    def function(node: Node) -> Node:
        number = numeric(node)
        value = number.value
        if number.rank == 0 or not _is_finite(value):
            return number.node
        return number_node(rounding(value), number.rank)

    return function


def _is_finite(value: int | Decimal | float) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _ceiling(value: Decimal | float) -> Decimal | float:
    return value.to_integral_value(ROUND_CEILING) if isinstance(value, Decimal) else float(math.ceil(value))


def _floor(value: Decimal | float) -> Decimal | float:
    return value.to_integral_value(ROUND_FLOOR) if isinstance(value, Decimal) else float(math.floor(value))


def _round(value: Decimal | float) -> Decimal | float:
    """The nearest whole number; halves are rounded up."""
    return _floor(EXACT.add(value, Decimal("0.5")) if isinstance(value, Decimal) else value + 0.5)


def abs_(node: Node) -> Node:
    number = numeric(node)
    return number.node if number.value >= 0 else negative(node)


# dates ------------------------------------------------------------------------------------------


def _part(part: Callable[[Moment], Node], *datatypes: str) -> Function:
    return lambda node: part(moment_of(node, *datatypes))


def _whole_part(name: str, *datatypes: str) -> Function:
    return _part(lambda moment: number_node(getattr(moment, name), 0), *datatypes)


# casts ------------------------------------------------------------------------------------------


def _to_string(node: Node) -> Node:
    number = number_of(node)
    if isinstance(node, Literal) and number is not None and not isinstance(number.value, int):
        return string_node(_xpath_number(number))
    if boolean_of(node) is not None:
        return string_node("true" if boolean_of(node) else "false")
    return str_(node)


def _xpath_number(number: Number) -> str:
    """A number as a string by the rules of XPath: without a point if it is whole."""
    value = number.value
    if isinstance(value, float) and (not math.isfinite(value) or (value and not 1e-6 <= abs(value) < 1e6)):
        return number.node.lexical
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    shown = f"{exact:f}"
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown) or "0"


def _to_number(kind: str) -> Function:
    rank = RANKS[kind]

    def function(node: Node) -> Node:
        if not isinstance(node, Literal):
            raise ExpressionError
        value: int | Decimal | float | None
        number, boolean = number_of(node), boolean_of(node)
        if number is not None:
            value = number.value
        elif boolean is not None:
            value = int(boolean)
        elif node.datatype == STRING:
            value = parsed_number(node.lexical.strip(), rank)
        else:
            value = None
        if value is None or (rank < 2 and not _is_finite(value)):
            raise ExpressionError
        if rank == 0:
            return number_node(value.to_integral_value(ROUND_DOWN) if isinstance(value, Decimal) else int(value), 0)
        return number_node(Decimal(repr(value)) if rank == 1 and isinstance(value, float) else value, rank)

    return function


def _to_boolean(node: Node) -> Node:
    number, boolean = number_of(node), boolean_of(node)
    if number is not None:
        return boolean_node(not number.is_nan and number.value != 0)
    if boolean is None and isinstance(node, Literal) and node.datatype == STRING:
        boolean = boolean_of(Literal(node.lexical, BOOLEAN))
    if boolean is None:
        raise ExpressionError
    return boolean_node(boolean)


def _form(datatype: str, lexical: str) -> re.Match[str]:
    found = FORMS[datatype].fullmatch(lexical)
    if found is None:
        raise ExpressionError
    return found


def _to_moment(kind: str) -> Function:
    def function(node: Node) -> Node:
        if not isinstance(node, Literal):
            raise ExpressionError
        lexical = node.lexical.strip()
        if node.datatype == DATE_TIME and kind != DATE_TIME:
            found = _form(DATE_TIME, lexical)
            day, _, rest = lexical.partition("T")
            lexical = day + (found["zone"] or "") if kind == DATE else rest
        elif node.datatype == DATE and kind == DATE_TIME:
            zone = _form(DATE, lexical)["zone"] or ""
            lexical = f"{lexical.removesuffix(zone)}T00:00:00{zone}"
        elif node.datatype not in (STRING, kind):
            raise ExpressionError
        made = Literal(lexical, kind)
        moment_of(made, kind)
        return made

    return function


def _digest(name: str) -> Function:
    return lambda node: string_node(hashlib.new(name, _plain(node).encode()).hexdigest())


FUNCTIONS: Mapping[str, Function] = {
    **{name: (lambda a, b, name=name: boolean_node(compare(name, a, b))) for name in ("=", "!=", "<", ">", "<=", ">=")},
    **{name: (lambda a, b, name=name: arithmetic(name, a, b)) for name in ("+", "-", "*", "/")},
    "unary -": negative,
    "unary +": lambda node: numeric(node).node,
    "sameterm": lambda a, b: boolean_node(a == b),
    "isiri": lambda node: boolean_node(isinstance(node, IRI)),
    "isuri": lambda node: boolean_node(isinstance(node, IRI)),
    "isblank": lambda node: boolean_node(isinstance(node, BlankNode)),
    "isliteral": lambda node: boolean_node(isinstance(node, Literal)),
    "isnumeric": lambda node: boolean_node(number_of(node) is not None),
    "str": str_,
    "lang": lang,
    "datatype": datatype,
    "strdt": strdt,
    "strlang": strlang,
    "strlen": lambda node: number_node(len(_string(node).lexical), 0),
    "substr": substr,
    "ucase": lambda node: _like(_string(node), _string(node).lexical.upper()),
    "lcase": lambda node: _like(_string(node), _string(node).lexical.lower()),
    "strstarts": lambda a, b: boolean_node((p := _pair(a, b))[0].lexical.startswith(p[1].lexical)),
    "strends": lambda a, b: boolean_node((p := _pair(a, b))[0].lexical.endswith(p[1].lexical)),
    "contains": lambda a, b: boolean_node((p := _pair(a, b))[1].lexical in p[0].lexical),
    "strbefore": strbefore,
    "strafter": strafter,
    "encode_for_uri": lambda node: string_node(quote(_string(node).lexical, safe="-_.~")),
    "concat": concat,
    "langmatches": langmatches,
    "abs": abs_,
    "ceil": _whole(_ceiling),
    "floor": _whole(_floor),
    "round": _whole(_round),
    **{name: _whole_part(name, DATE_TIME, DATE) for name in ("year", "month", "day")},
    **{f"{name}s": _whole_part(name, DATE_TIME, TIME) for name in ("hour", "minute")},
    "seconds": _part(lambda moment: number_node(moment.second, 1), DATE_TIME, TIME),
    "timezone": _part(lambda moment: Literal(zone_duration(moment), XSD + "dayTimeDuration"), DATE_TIME, DATE, TIME),
    "tz": _part(lambda moment: string_node(moment.zone or ""), DATE_TIME, DATE, TIME),
    **{name: _digest(name) for name in ("md5", "sha1", "sha256", "sha384", "sha512")},
    STRING: _to_string,
    **{kind: _to_number(kind) for kind in (INTEGER, DECIMAL, FLOAT, DOUBLE)},
    BOOLEAN: _to_boolean,
    **{kind: _to_moment(kind) for kind in (DATE_TIME, DATE, TIME)},
}
"""Functions and operators by name, casts by the IRI of the datatype."""

ColumnFunction = Callable[..., Sequence[Node | None]]

COLUMN_FUNCTIONS: Mapping[str, ColumnFunction] = {"regex": regex, "replace": replace}
"""Functions of many first arguments at once, with the other arguments equal for all."""
