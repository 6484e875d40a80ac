"""Write programs so that reading them gives equal programs: ``parse_program(print_program(p)) == p``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from everlog.lang.characters import BARE_NAME, LOCAL_NAME
from everlog.lang.syntax import Atom, Constant, Program, Query, Rule, Term, Variable
from everlog.lang.terms import CANONICAL, NOT_IN_IRI

NO_PREFIXES: Mapping[str, str] = MappingProxyType({})

_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f\u0085\u2028\u2029\ufeff]')
_SHORT = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "\\": "\\\\"}
_TYPED_CELL = re.compile(
    r'<[^\x00-\x20<>"{}|^`]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^\S+)?', re.DOTALL
)


def print_program(program: Program) -> str:
    """The text of a program: its prefixes, facts and rules, one statement on each line.

    >>> from everlog.lang.parser import parse_program
    >>> print(print_program(parse_program("p(?x):-q(?x),~r(?x,_). q(alice).")), end="")
    q(alice) .
    p(?x) :- q(?x), ~r(?x, _) .
    """
    prefixes = program.prefixes
    lines = [f"@prefix {name}: {_iri(iri)} ." for name, iri in prefixes.items()]
    lines += [f"{print_atom(fact, prefixes)} ." for fact in program.facts]
    lines += [print_rule(rule, prefixes) for rule in program.rules]
    return "".join(f"{line}\n" for line in lines)


def print_rule(rule: Rule, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """The text of a rule, its dot included."""
    head = print_atom(rule.head, prefixes)
    return f"{head} :- {_conjunction(rule, prefixes)} ." if rule.body else f"{head} ."


def print_query(query: Query, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """The text of a query, without a dot."""
    return _conjunction(query, prefixes)


def _conjunction(body: Rule | Query, prefixes: Mapping[str, str]) -> str:
    positive = [print_atom(atom, prefixes) for atom in body.positive]
    return ", ".join(positive + [f"~{print_atom(atom, prefixes)}" for atom in body.negative])


def print_atom(atom: Atom, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """The text of an atom.

    >>> from everlog.lang.syntax import Predicate
    >>> atom = Atom(Predicate("<http://e.org/age>", 2), (Constant('"alice"'), Constant("42")))
    >>> print_atom(atom, {"ex": "http://e.org/"})
    'ex:age(alice, 42)'
    """
    terms = ", ".join([print_term(term, prefixes) for term in atom.terms])
    return f"{print_name(atom.predicate.name, prefixes)}({terms})"


def print_name(name: str, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """The text of a predicate's name, including a suffix that the analysis may have added to an IRI."""
    if not name.startswith("<"):
        return name
    end = name.rindex(">")
    return _shortened(name[1:end], prefixes) + name[end + 1 :]


def print_term(term: Term, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """The text of a term.

    >>> [print_term(Constant(text)) for text in ('"alice"', '"Alice B."', "42", '"A"@en')]
    ['alice', '"Alice B."', '42', '"A"@en']
    """
    if isinstance(term, Variable):
        return f"?{term.name}"
    if isinstance(term, Constant):
        return print_text(term.text, prefixes)
    return "_"


def print_text(text: str, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """The canonical text of a constant as a program writes it."""
    if text.startswith("<"):
        return _shortened(text[1:-1], prefixes)
    if not text.startswith('"'):
        return text
    end = text.rindex('"')
    lexical, suffix = text[1:end], text[end + 1 :]
    if not suffix and BARE_NAME.fullmatch(lexical):
        return lexical
    if suffix.startswith("^^"):
        suffix = f"^^{_shortened(suffix[3:-1], prefixes)}"
    return f'"{_ESCAPED.sub(_escape, lexical)}"{suffix}'


def cell_text(text: str, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """The canonical text of a constant as a cell of a table or a CSV file shows it.

    A string is written bare unless the cell would be read as another constant; a string that looks like a prefixed name
    is such a case only if its prefix is among ``prefixes``. A string that looks like a blank node is quoted too, so
    that no two constants look the same.

    >>> [cell_text(text) for text in ('"Alice B."', '"42"', "42", '"A"@en', "<http://e.org/a>")]
    ['Alice B.', '"42"', '42', '"A"@en', '<http://e.org/a>']
    """
    if not text.startswith('"'):
        return text
    end = text.rindex('"')
    lexical, suffix = text[1:end], text[end + 1 :]
    if not suffix and not _is_other(lexical, prefixes):
        return lexical
    return f'"{_ESCAPED.sub(_escape, lexical)}"{suffix}'


def _is_other(cell: str, prefixes: Mapping[str, str]) -> bool:
    """Whether a cell with these characters would be read as something else than a string."""
    if any(form.fullmatch(cell) for form in CANONICAL.values()) or _TYPED_CELL.fullmatch(cell):
        return True
    prefix, colon, _ = cell.partition(":")
    return bool(colon) and prefix in prefixes


def _shortened(iri: str, prefixes: Mapping[str, str]) -> str:
    """The IRI as a prefixed name if a prefix fits, otherwise between angle brackets."""
    best, name = "", None
    for prefix, namespace in prefixes.items():
        if len(namespace) > len(best) and iri.startswith(namespace) and LOCAL_NAME.fullmatch(iri, len(namespace)):
            best, name = namespace, prefix
    return _iri(iri) if name is None else f"{name}:{iri[len(best) :]}"


def _iri(iri: str) -> str:
    return f"<{NOT_IN_IRI.sub(_code, iri)}>"


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match.group()) or _code(match)


def _code(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04X}"
