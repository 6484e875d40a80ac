"""Operators on single terms: comparison, arithmetic, truth (SPARQL 1.1, sections 17.2 to 17.4)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Context, Decimal, InvalidOperation
from typing import Any

from everlog.lang.terms import Literal
from everlog.query.sparql.dates import moment_of
from everlog.query.sparql.terms import (
    BOOLEAN,
    DATE,
    DATE_TIME,
    EXACT,
    RANKS,
    STRING,
    TIME,
    ExpressionError,
    Node,
    Number,
    boolean_of,
    double_of,
    number_of,
)

MOMENTS = (DATE_TIME, DATE, TIME)
WIDEST_ZONE = 14 * 60 * 60
"""Maximum shift of a moment by a zone, in seconds: one without a zone is comparable only with moments further away."""

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
EXACT_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {"+": EXACT.add, "-": EXACT.subtract, "*": EXACT.multiply}


def truth(node: Node) -> bool:
    """The effective boolean value of a term.

    >>> from everlog.query.sparql.terms import DECIMAL
    >>> truth(Literal("", STRING)), truth(Literal("0.5", DECIMAL))
    (False, True)
    """
    if isinstance(node, Literal):
        if node.datatype == BOOLEAN:
            return boolean_of(node) or False
        if node.datatype == STRING or node.language is not None:
            return bool(node.lexical)
        if node.datatype in RANKS:
            number = number_of(node)
            return number is not None and not number.is_nan and number.value != 0
    raise ExpressionError


def comparable(node: Node) -> tuple[str, Any]:
    """The kind of a term's value, and a key in a total order of such values; an error if it has none."""
    if isinstance(node, Literal):
        number = number_of(node)
        if number is not None:
            return "number", number.value
        if node.datatype == STRING:
            return "string", node.lexical
        if node.language is not None:
            return f"string@{node.language}", node.lexical
        value = boolean_of(node)
        if value is not None:
            return "boolean", value
        if node.datatype in MOMENTS:
            return node.datatype, moment_of(node, node.datatype).instant
    raise ExpressionError


def compare(name: str, left: Node, right: Node) -> bool:
    """The comparisons ``=``, ``!=``, ``<`` and so on.

    >>> from everlog.query.sparql.terms import DECIMAL, INTEGER
    >>> compare("=", Literal("1", INTEGER), Literal("1.0", DECIMAL))
    True
    """
    if name in ("=", "!="):
        return equal(left, right) == (name == "=")
    left_kind, left_value = comparable(left)
    right_kind, right_value = comparable(right)
    if left_kind != right_kind:
        raise ExpressionError
    if left_kind in MOMENTS and _differ_by_zone(left, right) and abs(left_value - right_value) <= WIDEST_ZONE:
        raise ExpressionError
    return COMPARISONS[name](*_aligned(left_value, right_value))


def equal(left: Node, right: Node) -> bool:
    """The comparison ``=``: equal values, or identical terms; an error if it is undefined.

    A string with a language equals only such strings, whatever the datatype of the other literal is. A date or time
    with a zone never equals one without (XML Schema 1.1, part 2, section 3.3.7.2).
    """
    if not isinstance(left, Literal) or not isinstance(right, Literal):
        return left == right
    if left.language is not None or right.language is not None:
        return left == right
    try:
        left_kind, left_value = comparable(left)
        right_kind, right_value = comparable(right)
    except ExpressionError:
        if left == right:
            return True
        raise
    if left_kind != right_kind or (left_kind in MOMENTS and _differ_by_zone(left, right)):
        return False
    return bool(operator.eq(*_aligned(left_value, right_value)))


def _differ_by_zone(left: Node, right: Node) -> bool:
    """Whether one of two dates or times has a zone and the other has none."""
    return (moment_of(left, *MOMENTS).zone is None) != (moment_of(right, *MOMENTS).zone is None)


def _aligned(left: Any, right: Any) -> tuple[Any, Any]:
    """Two numbers for comparison: a decimal beside a double is converted to a double."""
    if isinstance(left, float) and isinstance(right, Decimal):
        return left, float(right)
    if isinstance(left, Decimal) and isinstance(right, float):
        return float(left), right
    return left, right


def arithmetic(name: str, left: Node, right: Node) -> Literal:
    """The operators ``+``, ``-``, ``*`` and ``/`` in the higher of the two datatypes; integers divide as decimals.

    >>> from everlog.query.sparql.terms import INTEGER
    >>> arithmetic("/", Literal("1", INTEGER), Literal("2", INTEGER)).lexical
    '0.5'
    """
    return computed(name, numeric(left), numeric(right)).node


def computed(name: str, one: Number, other: Number) -> Number:
    """The result of an operator on numbers."""
    rank = max(one.rank, other.rank)
    if name == "/":
        rank = max(rank, 1)
    a, b = _as(one.value, rank), _as(other.value, rank)
    exact = isinstance(a, Decimal) or isinstance(b, Decimal)
    try:
        if name == "/":
            return Number(_divided(a, b), rank)
        return Number((EXACT_OPERATIONS if exact else OPERATIONS)[name](a, b), rank)
    except (InvalidOperation, ZeroDivisionError, OverflowError) as error:
        raise ExpressionError from error


def _divided(a: Any, b: Any) -> Any:
    """The quotient; of decimals with at least 28 digits, and at least 18 after the point."""
    if isinstance(a, float):
        if b != 0:
            return a / b
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
    digits = max(28, a.adjusted() - b.adjusted() + 20) if a and b else 28
    return Context(prec=digits).divide(a, b)


def negative(node: Node) -> Literal:
    number = numeric(node)
    value = number.value.copy_negate() if isinstance(number.value, Decimal) else -number.value
    return Number(value, number.rank).node


def _as(value: int | Decimal | float, rank: int) -> Any:
    if rank == 0:
        return value
    return Decimal(value) if rank == 1 else double_of(value)


def numeric(node: Node) -> Number:
    """The number of a literal; an error for other terms."""
    number = number_of(node)
    if number is None:
        raise ExpressionError
    return number
