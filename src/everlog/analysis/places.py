"""The places of terms inside atoms, for messages."""

from __future__ import annotations

from everlog.lang.errors import Diagnostic, Place
from everlog.lang.literals import string_content
from everlog.lang.statements import grammar
from everlog.lang.syntax import Atom, Constant, Term, Variable, Wildcard


def atom_place(atom: Atom) -> Place | None:
    """The place of an atom, if it was read from a text."""
    return atom.span.place if atom.span is not None else None


def term_place(atom: Atom, term: Term) -> Place | None:
    """The place of the first argument of an atom that is this variable, wildcard or string.

    Spans are kept for atoms only, so the atom is read again: messages are few and atoms are many.
    """
    if atom.span is None:
        return None
    span = atom.span
    lines = [span.source.line(number) for number in range(span.line, span.end_line + 1)]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = " " * (span.column - 1) + lines[0][span.column - 1 :]
    for token in list(grammar().lex("\n".join(lines)))[1:]:
        if _means(token.type, str(token), term):
            assert token.line is not None
            number = span.line + token.line - 1
            return Place(span.source.name, number, token.column, span.source.line(number), len(token))
    return span.place


def _means(kind: str, written: str, term: Term) -> bool:
    match term:
        case Variable():
            return kind == "VARIABLE" and written[1:] == term.name
        case Wildcard():
            return kind == "WILDCARD"
        case Constant():
            text = string_content(written) if kind == "STRING" else written
            return kind in ("NAME", "STRING") and f'"{text}"' == term.text


def position(diagnostic: Diagnostic) -> tuple[int, int]:
    """A key that sorts diagnostics in the order of the text."""
    place = diagnostic.place or Place("")
    return place.line or 0, place.column or 0
