"""From text to algebra: rdflib parses and translates, :mod:`.translation` turns its result into patterns.

Only this module, :mod:`.scoping` and :mod:`.translation` use rdflib.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import rdflib
from pyparsing import ParseBaseException, Regex
from rdflib.plugins.sparql import algebra as rdflib_algebra
from rdflib.plugins.sparql import parser as rdflib_parser
from rdflib.plugins.sparql.parserutils import Comp, Param

from everlog.engine.limits import Limits
from everlog.lang.codes import Code
from everlog.lang.errors import EverlogError, Place, RuleError
from everlog.lang.parser import source_text
from everlog.query.sparql.algebra import Operation, SparqlQuery
from everlog.query.sparql.graphs import BARE
from everlog.query.sparql.scoping import SERVICE, Scoping
from everlog.query.sparql.translation import translate_query, translate_update

NAME = "<query>"
"""The name of the text of a query in messages."""

PREFIXES = {"everlog": BARE}
"""Prefixes that need no declaration, beside those of the program and the well-known ones of rdflib."""

_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\.", re.DOTALL)
"""An escape in the text of a query, with the number of the character if it has one."""

_STRING = r"""'''(?:[^'\\]|\\.|'(?!''))*'''|'(?:[^'\\\n\r]|\\.)*'"""
_TOKEN = re.compile(rf"{_STRING}|{_STRING.replace(chr(39), chr(34))}|[^'\"]+|.", re.DOTALL)
"""Matches a string with its quotes, or text between strings."""

_ABSOLUTE = re.compile(r"""[A-Za-z][A-Za-z0-9+.-]*:[^<>"{}|^`\\\x00-\x20]*""")
_UNKNOWN_PREFIX = re.compile(r"Unknown namespace prefix : (\S*)")
_lock = threading.Lock()
_rdflib_log = logging.getLogger("rdflib.term")
"""The logger to which rdflib reports literals without a value; only their lexical forms matter here."""

warnings.filterwarnings("ignore", "Parsing weird boolean", UserWarning)


def parse_query(
    text: str, prefixes: Mapping[str, str] | None = None, base: str = "", limits: Limits | None = None
) -> SparqlQuery:
    """The algebra of a query; an error if reading it exceeds the limits.

    >>> parse_query("SELECT ?x { ?x a <http://e.org/C> }").form.columns
    ('x',)
    """
    _require_absolute(base)
    with _reading(text, limits or Limits()) as source:
        tree = rdflib_parser.Query.parse_string(source, parse_all=True)
        Scoping(source, partial(_place, source)).check_query(tree)
        return translate_query(tree, _namespaces(prefixes), base, source)


def parse_update(
    text: str, prefixes: Mapping[str, str] | None = None, base: str = "", limits: Limits | None = None
) -> list[Operation]:
    """The operations of an update request, in their order; an error if reading it exceeds the limits.

    >>> [type(o).__name__ for o in parse_update("INSERT DATA { <a:a> <a:p> 1 } ; CLEAR DEFAULT")]
    ['Modify', 'Clear']
    """
    _require_absolute(base)
    with _reading(text, limits or Limits()) as source:
        tree = rdflib_parser.UpdateUnit.parse_string(source, parse_all=True)[0]
        Scoping(source, partial(_place, source)).check_update(tree)
        translated = rdflib_algebra.translateUpdate(tree, base or None, _namespaces(prefixes))
        return translate_update(translated, base)


def is_update(text: str) -> bool:
    """Whether a text is an update request rather than a query, by its first word after the prologue.

    >>> is_update("PREFIX a: <a:> INSERT DATA { a:a a:b a:c }"), is_update("ASK {}")
    (True, False)
    """
    prologue = r"\s+|#[^\n]*|BASE\s*<[^>]*>|PREFIX\s*[^\s:]*:\s*<[^>]*>"
    rest = re.sub(rf"^(?:{prologue})+", "", text, flags=re.IGNORECASE)
    words = "INSERT|DELETE|WITH|LOAD|CLEAR|DROP|CREATE|ADD|MOVE|COPY"
    return re.match(rf"(?:{words})\b", rest, re.IGNORECASE) is not None


def _require_absolute(base: str) -> None:
    if base and not _ABSOLUTE.fullmatch(base):
        hint = "give an absolute IRI, such as http://example.org/"
        raise RuleError.of(Code.BAD_BASE, f"the base `{base}` is not an absolute IRI", None, hint)


def _namespaces(prefixes: Mapping[str, str] | None) -> dict[str, str]:
    return {**PREFIXES, **(prefixes or {})}


@contextmanager
def refusing_deep_queries() -> Iterator[None]:
    """Turns the recursion error for a deeply nested query into an error for the user."""
    try:
        yield
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> RuleError:
    hint = "write it with fewer brackets, operators or steps in a row, such as `IN` for many `||`"
    return RuleError.of(Code.SPARQL_SYNTAX, "the query is nested too deeply", Place(NAME), hint)


class _Clock:
    """The limits for the text that is being read; one text is read at a time."""

    limits = Limits()

    @classmethod
    def check(cls) -> None:
        cls.limits.check(0)


@contextmanager
def _reading(text: str, limits: Limits) -> Iterator[str]:
    """Turns rdflib's exceptions into errors with a place, and keeps lexical forms as they are written."""
    with _lock:
        _Clock.limits = limits
        normalised, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
        silent, _rdflib_log.disabled = _rdflib_log.disabled, True
        source = text
        try:
            source = _unescaped(source_text(NAME, text).text)
            yield source
        except EverlogError:
            raise
        except ParseBaseException as error:
            raise _syntax_error(source, error) from None
        except RecursionError:
            raise _too_deep() from None
        except Exception as error:  # rdflib raises plain exceptions for mistakes in queries
            raise _translation_error(source, error) from error
        finally:
            rdflib.NORMALIZE_LITERALS = normalised
            _rdflib_log.disabled = silent


def _unescaped(text: str) -> str:
    """The text with codepoint escapes replaced by their characters, except in strings.

    The grammar of strings decodes these together with other escapes, so that an escaped quote or backslash is a
    character of the string.
    """
    if "\\u" not in text and "\\U" not in text:
        return text
    return _TOKEN.sub(lambda token: _ESCAPE.sub(partial(_character, text, token), token[0]), text)


def _character(text: str, token: re.Match[str], escape: re.Match[str]) -> str:
    """The character of an escape; the escape itself within a string, and for an escaped backslash."""
    digits = escape[1] or escape[2]
    if digits is None:
        return escape[0]
    number = int(digits, 16)
    if number > sys.maxunicode or 0xD800 <= number < 0xE000:
        found = re.compile(re.escape(escape[0])).match(text, token.start() + escape.start())
        message = f"`{escape[0]}` is not the number of a character"
        raise RuleError.of(
            Code.SPARQL_SYNTAX, message, _place(text, found), "write the character, or its number in Unicode"
        )
    return escape[0] if token[0][0] in "\"'" else chr(number)


def _syntax_error(source: str, error: Any) -> RuleError:
    line = error.line if error.lineno <= source.count("\n") + 1 else ""
    found = re.match(r"\S{1,30}", source[error.loc :].lstrip())
    what = f"cannot read on from `{found.group()}`" if found else "the text ends too early"
    hint = "the part that begins here is not SPARQL 1.1, or what should come before it is missing"
    return RuleError.of(Code.SPARQL_SYNTAX, what, Place(NAME, error.lineno, error.column, line), hint)


def _translation_error(source: str, error: Exception) -> RuleError:
    prefix = _UNKNOWN_PREFIX.search(str(error))
    if prefix is None:
        return RuleError.of(Code.SPARQL_SYNTAX, f"this is not a query: {error}", Place(NAME))
    name = "" if prefix[1] == "None" else prefix[1]
    at = re.search(rf"(?<![\w.-]){re.escape(name)}:(?!//)", source)
    hint = f"begin the query with PREFIX {name}: <...>"
    return RuleError.of(Code.UNKNOWN_PREFIX, f"the prefix `{name}:` is not declared", _place(source, at), hint)


def _place(source: str, match: re.Match[str] | None) -> Place:
    if match is None:
        return Place(NAME)
    line = source.count("\n", 0, match.start()) + 1
    begin = source.rfind("\n", 0, match.start()) + 1
    shown = source[begin:].split("\n", 1)[0]
    return Place(NAME, line, match.start() - begin + 1, shown, len(match.group()))


def _repair_grammar() -> None:
    """Patch rdflib's grammar in place where it misreads a text."""
    _name_inverse_properties()
    _keep_signs()
    _complete_escapes()
    _check_limits_of_terms()
    service: Any = rdflib_parser.ServiceGraphPattern
    service.set_name(SERVICE)


def _check_limits_of_terms() -> None:
    """Check the limits with each term that is read."""
    for name in ("Var", "iri", "NumericLiteral", "RDFLiteral", "BooleanLiteral"):
        element: Any = getattr(rdflib_parser, name)
        element.add_parse_action(_Clock.check)


def _name_inverse_properties() -> None:
    """Give the inverse properties of negated property sets a name, since rdflib's grammar drops the distinction."""
    alternatives: Any = rdflib_parser.PathOneInPropertySet
    for element in alternatives.exprs:
        if isinstance(element, Comp) and element.name == "InversePath":
            element.expr = "^" + Param("part", rdflib_parser.iri | rdflib_parser.A)


def _keep_signs() -> None:
    """Keep numbers with a sign as they are written: rdflib computes the negative number, or drops the sign.

    In expressions such a number is a literal, too, rather than an operator before a number (SPARQL 1.1, section 19.8,
    note 8); rdflib tries operators first.
    """
    for sign, name in (("+", "POSITIVE"), ("-", "NEGATIVE")):
        for kind in ("INTEGER", "DECIMAL", "DOUBLE"):
            element: Any = getattr(rdflib_parser, f"{kind}_{name}")
            element.set_parse_action(partial(_signed, sign))
    unary: Any = rdflib_parser.UnaryExpression
    unary.exprs[:0] = [rdflib_parser.NumericLiteralPositive, rdflib_parser.NumericLiteralNegative]


def _signed(sign: str, tokens: Any) -> rdflib.Literal:
    return rdflib.Literal(sign + str(tokens[0]), datatype=tokens[0].datatype)


def _complete_escapes() -> None:
    """Accept every escape of the standard in strings: of both quotes (rdflib: only of their own), and of codepoints."""
    escape = r"\\(?:[tbnrf\\\"']|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})"
    for quote, number in (("'", 1), ('"', 2)):
        short: Any = getattr(rdflib_parser, f"STRING_LITERAL{number}")
        long: Any = getattr(rdflib_parser, f"STRING_LITERAL_LONG{number}")
        _match(short, rf"{quote}(?:[^{quote}\n\r\\]|{escape})*{quote}(?!{quote})")
        _match(long, rf"{quote * 3}(?:(?:{quote}|{quote * 2})?(?:[^{quote}\\]|{escape}))*{quote * 3}")


def _match(element: Any, pattern: str) -> None:
    """Replace a regular expression of the grammar."""
    other: Any = Regex(pattern)
    element.pattern, element.re, element.re_match = other.pattern, other.re, other.re_match


_repair_grammar()
