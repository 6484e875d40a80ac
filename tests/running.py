"""Programs run through the public interface, with results in the oracle's terms.

Values are compared as canonical texts: in Python 1 == 1.0 == True, in the rule language they differ.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import everlog
from everlog.lang.syntax import Predicate, Program
from everlog.lang.terms import text_of, value_of
from tests.oracle.naive import Fact, Row, grouped

ROOT = Path(__file__).resolve().parents[1]
SOURCES = os.pathsep.join(map(str, (ROOT / "src", ROOT)))
"""The Python path with which another process imports these sources and tests."""


def knowledge_base(program: Program | str, facts: Iterable[Fact] = (), **options: Any) -> everlog.KnowledgeBase:
    """A knowledge base in memory with the facts inserted and nothing materialised yet."""
    kb = everlog.KnowledgeBase(program, **{"maintain": "none", **options})
    for predicate, rows in grouped(facts).items():
        kb.insert((predicate.name, predicate.arity), [tuple(map(value_of, row)) for row in sorted(rows)])
    return kb


def relation(kb: everlog.KnowledgeBase, predicate: Predicate) -> set[Row]:
    """The facts of one predicate; checks that none is listed twice."""
    found = kb[predicate.name, predicate.arity]
    rows = [tuple(map(text_of, row)) for row in found]
    assert len(rows) == len(set(rows)) == len(found)
    return set(rows)


def materialised(
    program: Program | str, facts: Iterable[Fact], predicates: Iterable[Predicate], **options: Any
) -> dict[Predicate, set[Row]]:
    """The facts of each predicate, without predicates that have none, like the oracle."""
    kb = knowledge_base(program, facts, **options)
    found = {predicate: relation(kb, predicate) for predicate in known(program, facts, predicates)}
    return {predicate: rows for predicate, rows in found.items() if rows}


def known(program: Program | str, facts: Iterable[Fact], predicates: Iterable[Predicate]) -> list[Predicate]:
    """The predicates that the knowledge base knows; looking up others is an error."""
    if isinstance(program, str):
        return list(predicates)
    mentioned = {atom.predicate for rule in program.rules for atom in (rule.head, *rule.body)}
    mentioned |= {atom.predicate for atom in program.facts} | {predicate for predicate, _ in facts}
    return [predicate for predicate in predicates if predicate in mentioned]
