"""The kind of an input, and whether it is complete."""

from __future__ import annotations

import re
from enum import Enum

from lark import Token

from everlog.lang.statements import grammar

OPENING, CLOSING = ("_LPAR", "LBRACKET"), ("RPAR", "RBRACKET")
UNFINISHED = ("_COMMA", "TILDE")
"""Tokens after which an input is incomplete."""

COMMAND = re.compile(r":[A-Za-z-]*!?(?=\s|$)")
"""Matches the beginning of a command; `:p(a)` is a fact whose prefix is empty."""


class InputKind(Enum):
    NOTHING = "nothing"
    COMMAND = "command"
    QUERY = "query"
    DELETION = "deletion"
    ADDITION = "addition"


def kind_of(text: str) -> InputKind:
    """The kind of an input, by its beginning.

    >>> [kind_of(text).name for text in (":rules", "?- p(?x) .", "? p(?x)", "- p(a) .", "p(a) .", "% no more")]
    ['COMMAND', 'QUERY', 'QUERY', 'DELETION', 'ADDITION', 'NOTHING']
    """
    begin = text.lstrip()
    if COMMAND.match(begin):
        return InputKind.COMMAND
    if begin.startswith("?"):
        return InputKind.QUERY
    if not _tokens(begin):
        return InputKind.NOTHING
    return InputKind.DELETION if begin.startswith("-") else InputKind.ADDITION


def content(text: str) -> str:
    """An input in which blanks replace the sign of its kind, so that columns in messages are right.

    >>> content("?- p(?x) .")
    '   p(?x) .'
    """
    begin = text.lstrip()
    signs = {InputKind.QUERY: "?-" if begin.startswith("?-") else "?", InputKind.DELETION: "-", InputKind.ADDITION: "+"}
    sign = signs.get(kind_of(text), "")
    if not begin.startswith(sign):
        return text
    blanks = len(text) - len(begin) + len(sign)
    return " " * blanks + begin[len(sign) :]


def is_complete(text: str) -> bool:
    """Whether an input is complete: rules and facts end with a dot, queries may; commands are one line, unless braces
    are still open.

    >>> [is_complete(text) for text in ("p(?x) :-", "p(a) .", "? p(a,", "? p(a, ?x)", ":sparql SELECT * {", ":rules")]
    [False, True, False, True, False, True]
    """
    kind = kind_of(text)
    if kind is InputKind.NOTHING:
        return True
    if kind is InputKind.COMMAND:
        return text.count("{") <= text.count("}")
    tokens = _tokens(content(text))
    if not tokens or tokens[-1].type == "DOT":
        return bool(tokens)
    closed = sum(token.type in OPENING for token in tokens) <= sum(token.type in CLOSING for token in tokens)
    return kind is InputKind.QUERY and closed and tokens[-1].type not in UNFINISHED


def _tokens(text: str) -> list[Token]:
    return list(grammar().lex(text))
