"""From text to the syntax trees of its statements, each statement on its own.

A statement that cannot be read is reported and left out; reading goes on after its dot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedToken
from lark.lexer import BasicLexer

from everlog.lang import characters
from everlog.lang.errors import Diagnostic
from everlog.lang.mistakes import explain, missing_dot
from everlog.lang.syntax import SourceText

Report = Callable[[Diagnostic], None]

DEEPEST = 100
"""Maximum number of brackets that may be open at once; a text with more is not read further."""


@cache
def grammar() -> Lark:
    """The grammar of the language, built on first use."""
    text = files("everlog.lang").joinpath("grammar.lark").read_text(encoding="utf-8")
    for name in ("LETTER", "START", "VARIABLE_CHARACTER", "CHARACTER"):
        text = text.replace(f"[{name}]", f"[{getattr(characters, name)}]")
    starts = ["program", "statement", "query", "mistake"]
    made = Lark(text, parser="lalr", lexer="basic", start=starts, maybe_placeholders=False)
    made.lexer = BasicLexer(made.lexer_conf)  # otherwise lex() makes one for every text
    return made


def statement_trees(source: SourceText, report: Report) -> Iterator[tuple[list[Token], Tree[Token] | None]]:
    """The tokens and the tree of each statement, ``None`` for a tree that is reported as wrong."""
    for tokens, ended in _by_statement(_until_too_deep(grammar().lex(source.text))):
        start = 0
        while start < len(tokens):
            stop, tree = _read("statement", tokens, start, source, report)
            if tree is not None and stop == len(tokens) and not ended:
                report(missing_dot(source, tokens[-1]))
            yield tokens[start:stop], tree
            start = stop


def query_tree(source: SourceText, report: Report) -> Tree[Token] | None:
    """The tree of a text that is one conjunction, with or without a dot at its end."""
    tokens = list(_until_too_deep(grammar().lex(source.text)))
    if tokens and tokens[-1].type == "DOT":
        tokens.pop()
    return _read("query", tokens, 0, source, report)[1]


def _until_too_deep(tokens: Iterator[Token]) -> Iterator[Token]:
    """The tokens up to the first one that is nested too deeply."""
    opened = 0
    for token in tokens:
        yield token
        if token.type in ("_LPAR", "LBRACKET"):
            opened += 1
            if opened > DEEPEST:
                return
        elif token.type in ("RPAR", "RBRACKET"):
            opened = max(0, opened - 1)
        elif token.type == "DOT":
            opened = 0


def _by_statement(tokens: Iterator[Token]) -> Iterator[tuple[list[Token], bool]]:
    """The tokens of each statement, and whether a dot follows them."""
    statement: list[Token] = []
    for token in tokens:
        if token.type != "DOT":
            statement.append(token)
        if token.type == "DOT" or (token.type == "UNCLOSED" and token.rstrip().endswith(".")):
            yield statement, True
            statement = []
    if statement:
        yield statement, False


def _read(
    rule: str, tokens: list[Token], start: int, source: SourceText, report: Report
) -> tuple[int, Tree[Token] | None]:
    """Read tokens from ``start`` as ``rule``; returns the index where reading stopped, and the tree."""
    parser = grammar().parse_interactive(start=rule)
    at = start
    try:
        while at < len(tokens):
            parser.feed_token(tokens[at])
            at += 1
        return at, parser.feed_token(_end_after(tokens[-1:]))
    except UnexpectedToken:
        expected: set[str] = parser.accepts()  # type: ignore[no-untyped-call]
        if rule == "statement" and "$END" in expected and start < at < len(tokens) and _starts_line(tokens, at):
            report(missing_dot(source, tokens[at - 1]))
            return at, parser.feed_token(_end_after(tokens[at - 1 : at]))
        report(explain(source, tokens[start:], at - start, expected))
        return len(tokens), None


def _end_after(last: list[Token]) -> Token:
    return Token.new_borrow_pos("$END", "", last[0]) if last else Token("$END", "", 0, 1, 1)


def _starts_line(tokens: list[Token], at: int) -> bool:
    return tokens[at].type in _STARTS and (tokens[at].line or 0) > (tokens[at - 1].end_line or 0)


_STARTS = frozenset({"NAME", "PNAME", "IRI", "LBRACKET", "PREFIX"})
