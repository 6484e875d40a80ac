"""Carrying out inputs: each changes the knowledge base as a whole, or not at all."""

from __future__ import annotations

import copy

from everlog.lang.parser import parse_program
from everlog.shell.commands import run_command
from everlog.shell.reading import InputKind, content, kind_of
from everlog.shell.session import Session


def run_input(session: Session, text: str) -> None:
    """Carry out an input. After an error, and after an interrupt, the knowledge base is as before.

    >>> import everlog
    >>> session = Session(everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) ."), print)
    >>> run_input(session, "edge(a, b) . edge(b, c) .")
    +2 edge, +2 path
    >>> run_input(session, "? path(a, ?x)")
    x
    -
    b
    1 answer
    >>> run_input(session, "- edge(a, b) .")
    -1 edge, -1 path
    """
    before = copy.copy(session.kb)
    try:
        _carry_out(session, text)
    except BaseException:
        session.kb = before
        raise


def _carry_out(session: Session, text: str) -> None:
    kind = kind_of(text)
    if kind is InputKind.COMMAND:
        run_command(session, text)
    elif kind is InputKind.QUERY:
        session.ask(content(text))
    elif kind is InputKind.DELETION:
        session.change(parse_program(content(text), "<input>", session.kb.program.program.prefixes), remove=True)
    elif kind is InputKind.ADDITION:
        session.change(parse_program(content(text), "<input>", session.kb.program.program.prefixes))
