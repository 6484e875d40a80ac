"""Hints for syntax that other languages have and this one does not: "or", comparisons, arithmetic, aggregates.

Each hint shows how to express the same condition in this language, or names the tool that can, such as a SPARQL query.
No hint changes the meaning of the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lark import Token

OR = frozenset({";", "|", "||", "∨", "or"})
AND = frozenset({"&", "&&", "∧", "and"})
ATOM_STARTS = frozenset({"NAME", "PNAME", "IRI", "LBRACKET"})
NUMBERS = frozenset({"INTEGER", "DECIMAL", "DOUBLE"})
TERMS = NUMBERS | {"VARIABLE", "WILDCARD", "NAME", "PNAME", "IRI", "BLANK", "BOOLEAN", "STRING"}

_EQUAL = frozenset({"=", "=="})
_DIFFERENT = frozenset({"!=", "!==", "<>", "\\=", "\\==", "=\\=", "≠"})
_ORDERED = frozenset({"<", ">", "<=", ">=", "=<", "=>", "≤", "≥"})
_COMPARISONS = _EQUAL | _DIFFERENT | _ORDERED
_NEGATIONS = frozenset({"!", "¬", "-", "\\+"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "**", "−", "×", "÷"})
_JOINED = frozenset("=<>!\\|&/*+")
"""Characters that form one sign together with adjacent ones."""

_LONGEST_SIGN = 3
"""Maximum number of characters in a sign."""

AGGREGATES = frozenset({"count", "sum", "min", "max", "avg"})

HINTS = {
    "and": "the atoms of a body are separated by `,`",
    "or": 'there is no "or" yet: write one rule, or ask one query, for each alternative',
    "negation": "negation is written `~p(?x)`",
    "comment": "a comment starts with `%`",
    "comparison": "comparisons are not there yet: compare the data before they are loaded, or what is derived in a "
    "SPARQL query with `FILTER`",
    "arithmetic": "there is no arithmetic yet: compute the value before the data are loaded, or in a SPARQL query "
    "with `BIND`",
    "aggregate": "aggregates are not there yet: what is derived can be counted in a SPARQL query with `GROUP BY`",
    "constraint": "there are no constraints yet: give the rule a head, such as `wrong()`, and ask whether it holds",
    "function": "there are no functions yet: if this is an atom of its own, close the first one with `)`",
    "quotes": "a date or another value that is neither a name nor a number is written in quotes; "
    "there is no arithmetic yet",
    "group": 'atoms are not put into parentheses, and "or" is written as one rule for each alternative',
    "atom": "an atom is written `p(?x, ?y)`",
    "comma": "is there a `,` missing before it?",
    "words": "is there a `,` missing before it? A value of several words is written in quotes",
    "typographic quotes": 'a string stands between straight quotes, such as `"alice"`',
    "variable": "a variable is written `?x`",
    "question mark": "a variable is `?` and a name right after it, such as `?x`",
    "colon": "a rule is written `head :- body .`",
    "at": "a directive is `@prefix`, a language tag follows its string without a blank",
    "value": 'values with other characters than letters, digits, `_` and `-` are written in quotes, such as `"alice"`',
}
"""The hint for each word or sign of another language."""

_BY_CHARACTER = {
    "“”„‘’«»": "typographic quotes",
    "$": "variable",
    "?": "question mark",
    ":": "colon",
    "@": "at",
    "#": "comment",
}


def sign_at(tokens: Sequence[Token], at: int) -> str:
    """The sign that starts at a token; adjacent characters form one sign.

    >>> from everlog.lang.statements import grammar
    >>> sign_at(list(grammar().lex("?x != ?y")), 1)
    '!='
    """
    if at >= len(tokens):
        return ""
    sign = str(tokens[at])
    if tokens[at].type == "UNCLOSED_IRI":
        return "<"
    for before, token in zip(tokens[at : at + _LONGEST_SIGN], tokens[at + 1 : at + _LONGEST_SIGN], strict=False):
        joined = token.type in ("STRAY", "ARROW") and before.end_pos == token.start_pos
        if not joined or len(sign) >= _LONGEST_SIGN or not _JOINED.issuperset(sign + token):
            break
        sign += token
    return sign


def is_comparison(sign: str) -> bool:
    return sign in _COMPARISONS


def hint_for(tokens: Sequence[Token], at: int) -> str | None:
    """The hint for a sign at a token that no statement may contain, None if there is none."""
    sign = sign_at(tokens, at)
    before = tokens[at - 1] if at > 0 else None
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if sign in OR:
        return or_hint(tokens, at)
    if sign in AND:
        return HINTS["and"]
    if sign.startswith(("//", "/*")):
        return HINTS["comment"]
    if sign == "#" and after is not None and after.type == "NAME" and after.start_pos == tokens[at].end_pos:
        opened = tokens[at + 2] if at + 2 < len(tokens) else ""
        return HINTS["aggregate"] if after.lower() in AGGREGATES and opened in ("(", "{") else HINTS["comment"]
    if sign in _NEGATIONS and not _ends_term(before) and _starts_atom(tokens, at, len(sign)):
        return HINTS["negation"]
    if is_comparison(sign):
        return comparison_hint(tokens, at)
    if sign in _ARITHMETIC:
        return arithmetic_hint(before, tokens[at], after)
    named = next((hint for characters, hint in _BY_CHARACTER.items() if sign[0] in characters), None)
    kinds = [token.type for token in tokens[:at]]
    if named is None and kinds.count("_LPAR") + kinds.count("LBRACKET") > kinds.count("RPAR") + kinds.count("RBRACKET"):
        named = "value"
    return HINTS[named] if named is not None else None


def or_hint(tokens: Sequence[Token], at: int) -> str:
    """The hint for "or": the rules, one for each alternative, if the statement is simple enough to be split."""
    implies = [place for place, token in enumerate(tokens) if token.type == "IMPLIES"]
    if len(implies) != 1 or implies[0] > at:
        return HINTS["or"]
    head, bodies = _source_text(tokens[: implies[0]]), list(_alternatives_of(tokens[implies[0] + 1 :]))
    if not head or not all(bodies) or any(body.count("(") != body.count(")") for body in bodies):
        return HINTS["or"]
    rules = [f"`{head} :- {body} .`" for body in bodies]
    shown = f'"or" is written as {len(rules)} rules: {" ".join(rules)}'
    return shown if len(shown) <= _LONGEST else HINTS["or"]


_LONGEST = 300
"""Maximum number of characters in a hint that repeats a statement."""


def comparison_hint(tokens: Sequence[Token], at: int) -> str:
    """The hint for a comparison whose sign stands at a token."""
    sign = sign_at(tokens, at)
    end = at
    while end < len(tokens) and sum(len(token) for token in tokens[at:end]) < len(sign):
        end += 1
    left, right = _operand(tokens, at - 1, -1), _operand(tokens, end, 1)
    if left is None or right is None or sign in _ORDERED or "VARIABLE" not in (left.type, right.type):
        return HINTS["comparison"]
    variable, other = (left, right) if left.type == "VARIABLE" else (right, left)
    if sign in _EQUAL:
        return f"there is no `{sign}` yet: write `{other}` wherever `{variable}` stands"
    fact = f"same({other}, {other}) ."
    if other.type == "VARIABLE":
        atom = next(_atoms_with(variable, tokens[:at]), None)
        if atom is None:
            return HINTS["comparison"]
        fact = f"same({variable}, {variable}) :- {atom} ."
    return f"there is no `{sign}` yet: add `{fact}` and write `~same({variable}, {other})` here"


def arithmetic_hint(before: Token | None, sign: Token, after: Token | None) -> str:
    """The hint for arithmetic, or for a hyphen inside what looks like the name of a variable."""
    if before is not None and before.type == "VARIABLE" and sign[0] == "-" and before.end_pos == sign.start_pos:
        rest = sign[1:] or (after if after is not None and after.start_pos == sign.end_pos else "")
        if rest and rest[0] != "?":
            return f"the name of a variable has no hyphen: write `{before}_{rest}`; there is no arithmetic yet"
    return HINTS["arithmetic"]


def _operand(tokens: Sequence[Token], at: int, step: int) -> Token | None:
    """The term beside a sign, None unless it is a single token."""
    if not 0 <= at < len(tokens) or tokens[at].type not in TERMS:
        return None
    beyond = at + step
    alone = not 0 <= beyond < len(tokens) or tokens[beyond].type in ("_COMMA", "IMPLIES", "STRAY")
    if 0 <= beyond < len(tokens) and tokens[beyond].type == "STRAY":
        alone = tokens[beyond] in OR
    return tokens[at] if alone else None


def _atoms_with(variable: Token, tokens: Sequence[Token]) -> Iterator[str]:
    """The positive atoms of the body of a rule that have a variable, as they are written."""
    start, body, negated = 0, False, False
    for at, token in enumerate(tokens):
        body = body or token.type == "IMPLIES"
        if token.type in ("_LPAR", "LBRACKET"):
            start = at if token.type == "LBRACKET" else at - 1
            negated = start > 0 and tokens[start - 1].type == "TILDE"
        elif token.type in ("RPAR", "RBRACKET") and body and not negated and variable in tokens[start:at]:
            yield _source_text(tokens[start : at + 1])


def _ends_term(token: Token | None) -> bool:
    return token is not None and (token.type in TERMS or token.type in ("RPAR", "RBRACKET"))


def _starts_atom(tokens: Sequence[Token], at: int, length: int) -> bool:
    """Whether an atom follows a sign of this many characters."""
    behind = at + (length if tokens[at].type == "STRAY" else 1)
    return behind < len(tokens) and tokens[behind].type in ATOM_STARTS


def _alternatives_of(tokens: Sequence[Token]) -> Iterator[str]:
    """The alternatives of a body, each as it is written."""
    start = at = 0
    while at < len(tokens):
        sign = sign_at(tokens, at)
        if sign.lower() in OR and tokens[at].type in ("STRAY", "NAME"):
            yield _source_text(tokens[start:at])
            start = at = at + (len(sign) if tokens[at].type == "STRAY" else 1)
        else:
            at += 1
    yield _source_text(tokens[start:])


def _source_text(tokens: Sequence[Token]) -> str:
    """Tokens as they are written, on one line and without comments."""
    text = ""
    for before, token in zip([None, *tokens], tokens, strict=False):
        text += (" " if before is not None and before.end_pos != token.start_pos else "") + token
    return text
