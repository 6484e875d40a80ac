"""Messages about statements that cannot be read: what was found, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lark import Token

from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, Place
from everlog.lang.foreign import (
    AGGREGATES,
    AND,
    ATOM_STARTS,
    HINTS,
    NUMBERS,
    OR,
    TERMS,
    arithmetic_hint,
    comparison_hint,
    hint_for,
    is_comparison,
    or_hint,
    sign_at,
)
from everlog.lang.layout import cut
from everlog.lang.syntax import SourceText, Span


def token_span(source: SourceText, first: Token, last: Token | None = None) -> Span:
    """The span from the first token to the end of the last."""
    last = first if last is None else last
    return Span(source, first.line or 1, first.column or 1, last.end_line or 1, last.end_column or 1)


def missing_dot(source: SourceText, last: Token) -> Diagnostic:
    """The diagnostic for a statement that ends with this token and has no dot."""
    hint = "every statement ends with a dot"
    return Diagnostic(Code.MISSING_DOT, "the statement has no `.` at its end", _after(source, last), hint)


def explain(source: SourceText, tokens: Sequence[Token], at: int, expected: set[str]) -> Diagnostic:
    """The diagnostic for ``tokens[at]`` (or the end of the statement), which cannot stand there."""
    if not tokens:
        return Diagnostic(Code.SYNTAX, "there is nothing to read", Place(source.name), "write an atom, such as `p(?x)`")
    if at < len(tokens):
        wrong = _wrong_token(source, tokens, at)
        if wrong is not None:
            return wrong
    return _wrong_order(source, tokens, at, expected)


def _wrong_token(source: SourceText, tokens: Sequence[Token], at: int) -> Diagnostic | None:
    """The diagnostic for a token that is wrong wherever it stands, None if it is right elsewhere."""
    token = tokens[at]
    place = token_span(source, token).place
    match token.type:
        case "UNCLOSED" | "UNCLOSED_LONG":
            quote = token[:3] if token.type == "UNCLOSED_LONG" else token[0]
            hint = f"close it with `{quote}`"
            if at > 0 and tokens[at - 1].type in TERMS and tokens[at - 1].end_pos == token.start_pos:
                hint = 'a value with a quote in it is written in quotes, such as `"O\'Brien"`'
            elif token.type == "UNCLOSED":
                hint += '; a string over several lines stands between `"""`'
            return Diagnostic(Code.UNCLOSED_STRING, "the string that starts here is not closed", place, hint)
        case "UNCLOSED_IRI":
            hint = "end it with `>`; an IRI contains no blanks, quotes, braces or backslashes"
            return Diagnostic(Code.UNCLOSED_IRI, "the IRI that starts here is not closed", place, hint)
        case "ARROW" if any(before.type == "IMPLIES" for before in tokens[:at]):
            hint = comparison_hint(tokens, at) if is_comparison(token) else "a rule has one arrow, `:-`"
            return _wrong_sign(source, tokens, at, hint)
        case "ARROW":
            hint = "write `:-` between the head and the body of a rule, the head first"
            return Diagnostic(Code.SYNTAX, f"`{token}` is not part of the language", place, hint)
        case "DIRECTIVE":
            hint = "the only directive is `@prefix`"
            return Diagnostic(Code.UNKNOWN_DIRECTIVE, f"there is no `{token}`", place, hint)
        case "STRAY":
            if token == "?" and at == 0 and len(tokens) > 1 and tokens[1] == "-":
                hint = "a program contains no queries; they are asked of what it derives"
                return _wrong_sign(source, tokens, at, hint)
            return _wrong_sign(source, tokens, at, hint_for(tokens, at))
    return None


def _wrong_sign(source: SourceText, tokens: Sequence[Token], at: int, hint: str | None) -> Diagnostic:
    """The diagnostic for a sign that no statement may contain."""
    sign = sign_at(tokens, at)
    place = replace(token_span(source, tokens[at]).place, width=len(sign))
    return Diagnostic(Code.SYNTAX, f"`{sign}` cannot stand here", place, hint)


def _wrong_order(source: SourceText, tokens: Sequence[Token], at: int, expected: set[str]) -> Diagnostic:
    """The diagnostic for a token that is right elsewhere, but not here."""
    token = tokens[at] if at < len(tokens) else None
    previous = tokens[at - 1] if at > 0 else None
    place = token_span(source, token).place if token is not None else _after(source, tokens[-1])
    found = _found_text(token)
    kind = token.type if token is not None else "$END"

    if previous is not None and previous.lower() == "not" and previous.type == "NAME":
        return _wrong_negation(source, previous)
    if kind == "VARIABLE" and "TILDE" in expected and at + 1 < len(tokens) and tokens[at + 1].type == "_LPAR":
        return Diagnostic(Code.VARIABLE_PREDICATE, f"the variable {found} cannot be a predicate", place, _NO_VARIABLE)
    if kind in TERMS and "TILDE" in expected and is_comparison(sign_at(tokens, at + 1)):
        return _wrong_sign(source, tokens, at + 1, comparison_hint(tokens, at + 1))
    if kind == "LANGUAGE" and previous is None:
        return Diagnostic(Code.UNKNOWN_DIRECTIVE, f"there is no {found}", place, "the only directive is `@prefix`")
    if expected == {"_LPAR"} and previous is not None and kind in ("_COMMA", "IMPLIES", "$END", "RPAR"):
        where = token_span(source, previous).place
        hint = f"an atom without arguments is written `{previous}()`"
        return Diagnostic(Code.MISSING_PARENTHESES, f"`{previous}` is no atom", where, hint)
    opened = _open_bracket(tokens[:at])
    if opened is not None and kind in ("IMPLIES", "TILDE", "$END", "RBRACKET", "RPAR", "_LPAR", "LBRACKET"):
        return _unclosed(source, tokens, opened, at)
    advice = _order_hint(tokens, at, kind, previous, expected)
    return Diagnostic(Code.SYNTAX, f"found {found}, expected {_expected_text(expected)}", place, advice)


_NO_VARIABLE = "a predicate is a name, a prefixed name or an IRI; write one rule for each predicate you mean"


def _unclosed(source: SourceText, tokens: Sequence[Token], opened: int, at: int) -> Diagnostic:
    """The diagnostic for a parenthesis that is still open where it has to be closed."""
    bracket, token = tokens[opened], tokens[at] if at < len(tokens) else None
    place = token_span(source, token).place if token is not None else _after(source, tokens[-1])
    note = (f"`{bracket}` is opened here", token_span(source, bracket).place)
    if token is not None and token.type in ("_LPAR", "LBRACKET"):
        if opened > 0 and tokens[opened - 1].lower() == "not":
            return _wrong_negation(source, tokens[opened - 1])
        hint = HINTS["aggregate" if tokens[at - 1].lower() in AGGREGATES else "function"]
        return Diagnostic(Code.SYNTAX, "an atom cannot stand inside another", place, hint, (note,))
    message = f"found {_found_text(token)}, but `{bracket}` is not closed"
    hint = f"add `{')' if bracket.type == '_LPAR' else ']'}`"
    return Diagnostic(Code.UNCLOSED_PARENTHESIS, message, place, hint, (note,))


def _wrong_negation(source: SourceText, token: Token) -> Diagnostic:
    place = token_span(source, token).place
    return Diagnostic(Code.SYNTAX, f"negation is not written `{token}`", place, "write `~` before the atom: `~p(?x)`")


def _order_hint(tokens: Sequence[Token], at: int, kind: str, previous: Token | None, expected: set[str]) -> str | None:
    if at < len(tokens) and tokens[at] == ":":
        return HINTS["colon"]
    seen = {token.type for token in tokens[:at]}
    if previous is None:
        if kind == "IMPLIES":
            return HINTS["constraint"]
        return "a statement is a rule, a fact or `@prefix`" if "PREFIX" in expected else None
    if kind == "IMPLIES" and "IMPLIES" in seen:
        return "a rule has one `:-`; does the statement before it end with a dot?"
    if previous.type == "_COMMA" and kind in ("$END", "IMPLIES", "RPAR", "_COMMA", "RBRACKET"):
        return "remove the `,` or add what should follow it"
    if kind == "$END" and previous.type == "IMPLIES":
        return "a fact is written without `:-`"
    if previous.lower() == "prefix" and previous.type == "NAME":
        return "a prefix is declared by `@prefix ex: <http://example.org/> .`"
    if "PREFIX" in seen:
        return "a prefix is declared by `@prefix ex: <http://example.org/> .`"
    if previous.type in NUMBERS:
        return HINTS["quotes"]
    if kind in NUMBERS and previous.type in TERMS and tokens[at][0] in "+-":
        return arithmetic_hint(previous, tokens[at], None)
    if kind == "NAME" and tokens[at].lower() in OR:
        return or_hint(tokens, at)
    if kind == "NAME" and tokens[at].lower() in AND:
        return HINTS["and"]
    if kind == "_LPAR" and "TILDE" in expected:
        return HINTS["group"]
    if kind == "BOOLEAN":
        return "`true` and `false` are constants and cannot be predicates"
    if kind in TERMS and "TILDE" in expected and kind not in ATOM_STARTS:
        return HINTS["atom"]
    if "_LPAR" in expected:
        return f"an atom is written `{previous}(?x, ?y)`"
    if kind in TERMS and "RPAR" in expected:
        return HINTS["words"]
    if kind in ATOM_STARTS | {"TILDE"} and "_COMMA" in expected:
        return HINTS["comma"]
    if kind == "RPAR":
        return "is there a `)` too many?"
    return None


def _open_bracket(tokens: Sequence[Token]) -> int | None:
    """The index of the innermost bracket that is not closed."""
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.type in ("_LPAR", "LBRACKET"):
            opened.append(at)
        elif token.type in ("RPAR", "RBRACKET") and opened:
            opened.pop()
    return opened[-1] if opened else None


def _found_text(token: Token | None) -> str:
    if token is None:
        return "the end of the statement"
    return f"`{cut(str(token), 40)}`"


_WORDS = {
    "IMPLIES": "`:-`",
    "_COMMA": "`,`",
    "_LPAR": "`(`",
    "RPAR": "`)`",
    "RBRACKET": "`]`",
    "PREFIX": "`@prefix`",
    "LANGUAGE": "a language tag",
    "_DATATYPE": "`^^`",
    "PNAME": "a prefixed name",
    "IRI": "an IRI",
    "$END": "`.`",
}


def _expected_text(expected: Iterable[str]) -> str:
    """The tokens that could stand here, in words."""
    rest = set(expected)
    words = []
    if "VARIABLE" in rest:
        words.append("a term")
        rest -= TERMS
    elif "TILDE" in rest:
        words.append("an atom")
        rest -= ATOM_STARTS | {"TILDE"}
    words += [word for kind, word in _WORDS.items() if kind in rest - {"LANGUAGE", "_DATATYPE"}]
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "something else"


def _after(source: SourceText, last: Token) -> Place:
    """The place right after a token."""
    span = token_span(source, last)
    return Place(source.name, span.end_line, span.end_column, source.line(span.end_line))
