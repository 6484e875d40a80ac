"""The facts to explain: the answers to a query, or facts given as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from everlog.analysis.check import check_query
from everlog.engine.keys import Column, Mask, pack
from everlog.engine.state import State
from everlog.lang.parser import parse_query
from everlog.lang.printer import print_query
from everlog.lang.syntax import Atom, Constant, Predicate, Rule
from everlog.query.answers import Rows
from everlog.query.explain.subject import ReasonedProgram

ANSWER = "the answer"
"""The predicate of answers; no predicate of a program has a space in its name."""


class ExplainedBase(Protocol):
    """The part of a knowledge base that explanations use."""

    @property
    def prefixes(self) -> Mapping[str, str]: ...

    @property
    def predicates(self) -> list[Predicate]: ...

    def query(self, text: str) -> Rows: ...

    def state(self) -> State: ...

    def up_to_date(self) -> ReasonedProgram:
        """The reasoner, after all queued changes are made."""


@dataclass(frozen=True)
class FactTexts:
    """Facts of one predicate, as the texts of their arguments."""

    predicate: Predicate
    columns: Sequence[pa.Array]
    size: int


@dataclass(frozen=True)
class Goals:
    """Facts of one predicate that hold, by their ids, and their indexes among all requested facts."""

    predicate: Predicate
    columns: Sequence[Column]
    places: Column

    def __len__(self) -> int:
        return len(self.places)

    def row(self, number: int) -> Goals:
        """The goal with a given number, alone."""
        one = slice(number, number + 1)
        return Goals(self.predicate, [column[one] for column in self.columns], self.places[one])


@dataclass(frozen=True)
class Requested:
    """Facts that hold, and atoms that do not, each with its index; ``rule`` derives the answers to a query with several
    atoms as facts of a predicate of its own."""

    text: str
    goals: tuple[Goals, ...]
    missing: tuple[tuple[int, Atom], ...] = ()
    rule: tuple[Rule, Rule] | None = None
    """The rule of the query, checked and as written."""


def by_query(kb: ExplainedBase, text: str, most: int | None) -> Requested:
    """The answers to a query, at most ``most``."""
    parsed = parse_query(text, kb.prefixes)
    query = check_query(parsed, set(kb.predicates), kb.prefixes)
    answers, size = _columns(kb.query(text), most)
    values = dict(zip(query.variables, answers, strict=True))
    single = len(query.body) == 1 and bool(query.positive)
    own = single and values.keys() >= set(query.positive[0].variables())
    head = query.positive[0] if own else Atom(Predicate(ANSWER, len(query.variables)), query.variables)
    rule = None if own else (Rule(head, query.positive, query.negative), Rule(head, parsed.positive, parsed.negative))
    shown = print_query(parsed, kb.prefixes)
    if not size:
        return Requested(shown, (), ((0, head),), rule)
    find = kb.state().dictionary.find
    columns = [np.full(size, find(t.text)) if isinstance(t, Constant) else values[t] for t in head.terms]  # type: ignore[index]
    return Requested(shown, (Goals(head.predicate, columns, np.arange(size)),), (), rule)


def _columns(rows: Rows, most: int | None) -> tuple[list[Column], int]:
    """The answers as columns of ids in their order, and their number."""
    size = len(rows) if most is None else min(most, len(rows))
    if not rows.columns or not size:
        return [np.empty(0, np.int64)] * len(rows.columns), size
    blocks = list(rows._ordered.blocks(0, size))
    numbers = (np.concatenate([block[i] for block in blocks]) for i in range(len(rows.columns)))
    return [terms[each] for terms, each in zip(rows._ordered.terms, numbers, strict=True)], size


def by_rows(kb: ExplainedBase, facts: Sequence[FactTexts]) -> Requested:
    """Facts given as rows, whether they hold or not."""
    state, first = kb.state(), 0
    goals: list[Goals] = []
    missing: list[tuple[int, Atom]] = []
    for each in facts:
        predicate, texts, size = each.predicate, each.columns, each.size
        columns = [state.dictionary.lookup(column) for column in texts]
        held = _held(state.facts.relation(predicate), columns, size)
        places = np.arange(first, first + size)
        if held.any():
            goals.append(Goals(predicate, [column[held] for column in columns], places[held]))
        for row in np.flatnonzero(~held).tolist():
            missing.append((first + row, Atom(predicate, tuple(Constant(c[row].as_py()) for c in texts))))
        first += size
    return Requested(f"{first:,} facts", tuple(goals), tuple(missing))


def _held(relation: Any, columns: Sequence[Column], size: int) -> Mask:
    known: Mask = np.ones(size, np.bool_)
    for column in columns:
        known &= column >= 0
    if relation and known.any():
        known[known] = relation.contains(pack(relation.layout, [c[known] for c in columns], int(known.sum())))
        return known
    return np.zeros(size, np.bool_)
