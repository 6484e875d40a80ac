"""Displays of a knowledge base: a line of text, and a table for notebooks.

A display never starts reasoning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.state import State
from everlog.lang.html import SHOWN, html_table
from everlog.lang.layout import counted
from everlog.lang.printer import print_name
from everlog.lang.syntax import Predicate

LISTED = 5
"""Maximum number of relations that a line names."""


class Shown(Protocol):
    """The parts of a knowledge base that are shown."""

    saved: Any

    @property
    def program(self) -> StratifiedProgram: ...

    @property
    def predicates(self) -> list[Predicate]: ...

    @property
    def prefixes(self) -> Mapping[str, str]: ...

    @property
    def pending(self) -> bool: ...

    def state(self) -> State: ...


def knowledge_base_text(kb: Shown) -> str:
    """A knowledge base on one line: rules, predicates, the largest relations if their sizes are known, its store.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("p(?x) :- q(?x) . q(1) . q(2) .")
    >>> print(knowledge_base_text(kb))
    <KnowledgeBase: 1 rule, 2 predicates; changes wait to be reasoned about>
    >>> stats = kb.materialise()
    >>> print(knowledge_base_text(kb))
    <KnowledgeBase: 1 rule, 2 predicates, 4 facts: p/1 2, q/1 2>
    """
    text = _rules_and_predicates(kb)
    if kb.pending:
        text += "; changes wait to be reasoned about"
    else:
        sizes = _sizes(kb)
        shown = ", ".join(f"{name}/{arity} {facts:,}" for name, arity, facts, _ in sizes[:LISTED])
        text += f", {counted(sum(row[2] for row in sizes), 'fact')}{': ' if shown else ''}{shown}"
        text += ", ..." if len(sizes) > LISTED else ""
    if kb.saved is not None:
        text += f"; based on version {kb.saved.version} of {kb.saved.path}"
    return f"<KnowledgeBase: {text}>"


def knowledge_base_html(kb: Shown) -> str:
    """The predicates of a knowledge base with the numbers of their facts, if these are known already."""
    caption = _rules_and_predicates(kb)
    if kb.pending:
        return f"<p>{caption}; changes wait to be reasoned about: call materialise()</p>"
    sizes = _sizes(kb)
    rows = [(name, arity, f"{facts:,}", f"{explicit:,}") for name, arity, facts, explicit in sizes[:SHOWN]]
    caption += f", {counted(sum(row[2] for row in sizes), 'fact')}"
    columns = ("predicate", "arguments", "facts", "explicit")
    return html_table(columns, rows, len(sizes), caption=caption, numbers=(1, 2, 3))


def _rules_and_predicates(kb: Shown) -> str:
    return f"{counted(len(kb.program.program.rules), 'rule')}, {counted(len(kb.predicates), 'predicate')}"


def _sizes(kb: Shown) -> list[tuple[str, int, int, int]]:
    """Name, arity, facts and explicit facts of each predicate, the largest first."""
    state, prefixes = kb.state(), kb.prefixes
    counted = [
        (print_name(p.name, prefixes), p.arity, len(state.facts.relation(p)), len(state.explicit.relation(p)))
        for p in kb.predicates
    ]
    return sorted(counted, key=lambda row: (-row[2], row[0]))
