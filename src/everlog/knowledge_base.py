"""The knowledge base: rules, facts, and everything that follows from them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa

from everlog.analysis.check import check, check_query
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.change import Change, ChangedRelations
from everlog.engine.dictionary import Constants, Dictionary
from everlog.engine.factset import NONE, FactSet
from everlog.engine.match import Engine, Limits
from everlog.engine.relation import Relation
from everlog.engine.state import State
from everlog.lang.errors import EverlogError
from everlog.lang.parser import parse_file, parse_program, parse_query
from everlog.lang.printer import print_program
from everlog.lang.syntax import Constant, Predicate, Program
from everlog.pipeline.values import text_columns
from everlog.predicates import Key, Names
from everlog.query.answers import RelationRows, Rows
from everlog.query.conjunctive import answer
from everlog.reasoning.seminaive import seminaive
from everlog.reasoning.statistics import Listener, Statistics

Maintain = Literal["dredc", "bfc", "counting", "none"]
Algorithm = Literal["auto", "rematerialise"]
Rows_ = Any
"""Rows in any form that ``everlog.pipeline.values.text_columns`` takes."""


@dataclass(frozen=True)
class Queued:
    """A change of the explicit facts that waits to be applied."""

    insert: bool
    predicate: Predicate
    relation: Relation


class KnowledgeBase:
    """Rules with facts, in memory; no Spark and no Java are needed.

    ``rules`` is a path, the text of a program, or a parsed program. ``insert`` and ``delete`` queue
    changes of the explicit facts; whatever reads brings the knowledge base up to date first.

    >>> kb = KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    >>> kb.insert("edge", [("a", "b"), ("b", "c")])
    >>> kb.materialise().derived
    3
    >>> kb.query("path(a, ?x)").rows()
    [('b',), ('c',)]
    >>> ("a", "c") in kb["path"], len(kb["edge"].explicit)
    (True, 2)
    """

    def __init__(
        self,
        rules: str | Path | Program = "",
        *,
        modules: bool = True,
        stratification: Kind = "levels",
        maintain: Maintain = "dredc",
        engine: Literal["local"] = "local",
        max_facts: int | None = None,
        timeout: float | None = None,
    ) -> None:
        _require("stratification", stratification, get_args(Kind))
        _require("maintain", maintain, get_args(Maintain))
        _require("engine", engine, ("local",))
        self.modules = modules
        self.maintain = maintain
        self.program: StratifiedProgram = stratify(check(_program(rules)), stratification)
        self.max_facts = max_facts
        self.timeout = timeout
        self._names = Names(self.program.program.predicates, self.program.program.prefixes)
        self._state = State(Dictionary(), NONE, NONE)
        self._statistics: Statistics | None = None
        self._queue: list[Queued] = list(self._program_facts())
        self._encode_constants()

    # changing -----------------------------------------------------------------------------------

    def insert(self, predicate: Key, data: Rows_) -> None:
        """Queue explicit facts: rows, a mapping of columns, pandas, Polars, Arrow, NumPy or a Spark DataFrame.

        >>> kb = KnowledgeBase()
        >>> kb.insert("age", {"who": ["alice", "bob"], "years": [42, 7]})
        >>> kb["age"].rows()
        [('alice', 42), ('bob', 7)]
        """
        queued = self._queued(True, predicate, data, self._names)
        for change in queued:
            self._names.add(change.predicate)
        self._queue += queued

    def delete(self, predicate: Key, data: Rows_) -> None:
        """Queue the removal of explicit facts; facts that are not explicit are left alone."""
        queued = self._queued(False, predicate, data, self._names)
        for change in queued:
            self._names.find(change.predicate)
        self._queue += queued

    def materialise(self, *, fresh: bool = False, progress: Listener | None = None) -> Statistics:
        """Derive everything that follows, if that is not done already; ``fresh`` starts over."""
        if fresh or self._queue or self._statistics is None:
            explicit, _, _, _ = self._applied(self._queue)
            self._recompute(explicit, progress)
        assert self._statistics is not None
        return self._statistics

    materialize = materialise

    def update(
        self,
        insert: Mapping[Key, Rows_] | None = None,
        delete: Mapping[Key, Rows_] | None = None,
        *,
        algorithm: Algorithm = "auto",
    ) -> Change:
        """Change the explicit facts to (E \\ delete) ∪ insert and say exactly what that changed.

        All or nothing: after an error the knowledge base is as before.
        """
        _require("algorithm", algorithm, get_args(Algorithm))
        names, queue = self._names.copy(), []
        for key, data in (delete or {}).items():
            queue += self._queued(False, key, data, names)
        for key, data in (insert or {}).items():
            queued = self._queued(True, key, data, names)
            for change in queued:
                names.add(change.predicate)
            queue += queued
        self._up_to_date()
        before = self._state
        explicit, added, removed, idle = self._applied(queue)
        self._recompute(explicit, None)
        self._names = names
        assert self._statistics is not None
        return Change(
            inserted=self._changed(self._state.facts - before.facts),
            deleted=self._changed(before.facts - self._state.facts),
            explicit_inserted=self._changed(added),
            explicit_deleted=self._changed(removed),
            not_explicit=idle,
            stats=self._statistics,
        )

    # reading ------------------------------------------------------------------------------------

    def query(self, text: str) -> Rows:
        """The answers to a conjunctive query such as ``"path(a, ?x), ~edge(a, ?x)"``.

        Columns are the named variables in order of appearance; without any, the answer is one empty
        row (true) or none (false).
        """
        query = check_query(parse_query(text, self.program.program.prefixes), set(self._names.all()))
        self._up_to_date()
        return answer(query, self._state, self._engine())

    def __getitem__(self, predicate: Key) -> RelationRows:
        """The facts of a predicate: a bare name, a prefixed name, ``"<iri>"``, an IRI, or (name, arity)."""
        found = self._names.find(predicate)
        self._up_to_date()
        facts, explicit = self._state.facts.relation(found), self._state.explicit.relation(found)
        return RelationRows(self._state.dictionary, facts, explicit)

    def __contains__(self, predicate: object) -> bool:
        try:
            return self._names.knows(predicate)  # type: ignore[arg-type]
        except EverlogError:
            return False

    @property
    def predicates(self) -> list[Predicate]:
        """Every predicate that the rules or the facts have."""
        return self._names.all()

    @property
    def rules(self) -> str:
        """The program as text."""
        return print_program(self._written)

    @property
    def statistics(self) -> Statistics:
        """What the last materialisation took."""
        return self.materialise()

    @property
    def nbytes(self) -> int:
        """The memory of facts and dictionary."""
        return self._state.facts.nbytes + self._state.dictionary.nbytes

    def state(self) -> State:
        """The facts as the engine has them, up to date."""
        self._up_to_date()
        return self._state

    def save(self, path: str | Path, *, overwrite: bool = False) -> int:
        """Write a store, or with ``overwrite`` the next version of one; returns the version.

        It is the store that the command line makes and reads; :func:`everlog.open` reads it back.
        """
        from everlog.stores import save

        self._up_to_date()
        return save(self, path, overwrite=overwrite)

    @classmethod
    def restored(cls, program: Program, state: State, statistics: Statistics, **options: Any) -> KnowledgeBase:
        """A knowledge base whose materialisation is known already."""
        kb = cls(program, **options)
        kb._queue = []
        kb._state = state
        kb._statistics = statistics
        for predicate in state.facts:
            kb._names.add(predicate)
        kb._encode_constants()
        return kb

    # inner workings -----------------------------------------------------------------------------

    @cached_property
    def _written(self) -> Program:
        written = self.program.program.written
        assert written is not None
        return written

    def _queued(self, insert: bool, key: Key, data: Rows_, names: Names) -> list[Queued]:
        """The change to be applied; none if there are no rows and nothing else tells the arity."""
        arity = names.arity_for(key)
        columns, size = text_columns(data, arity)
        if arity is None and not columns and not size:
            return []
        predicate = names.for_data(key, len(columns))
        return [Queued(insert, predicate, self._encoded(columns, size))]

    def _encoded(self, columns: list[pa.LargeStringArray], size: int) -> Relation:
        ids = [self._state.dictionary.encode(column) for column in columns]
        return Relation.from_columns(ids, len(self._state.dictionary), size)

    def _program_facts(self) -> Iterable[Queued]:
        by_predicate: dict[Predicate, list[tuple[str, ...]]] = {}
        for atom in self.program.program.facts:
            row = tuple(term.text for term in atom.terms if isinstance(term, Constant))
            by_predicate.setdefault(atom.predicate, []).append(row)
        for predicate, rows in by_predicate.items():
            columns = [pa.array(column, pa.large_string()) for column in zip(*rows, strict=True)]
            yield Queued(True, predicate, self._encoded(columns, len(rows)))

    def _encode_constants(self) -> None:
        """Gives every constant of the rules an id, so that deriving facts makes no new ones."""
        rules = self.program.program.rules
        texts = {
            t.text for rule in rules for atom in (rule.head, *rule.body) for t in atom.terms if isinstance(t, Constant)
        }
        self._state.dictionary.encode(pa.array(sorted(texts), pa.large_string()))
        self._constants = Constants(self._state.dictionary)

    def _engine(self) -> Engine:
        deadline = None if self.timeout is None else time.monotonic() + self.timeout
        limits = Limits(self.max_facts, deadline)
        return Engine(len(self._state.dictionary), self._constants, limits=limits)

    def _applied(self, queue: Iterable[Queued]) -> tuple[FactSet, FactSet, FactSet, int]:
        """The explicit facts after some changes, what they added and removed, and deletions in vain."""
        universe = len(self._state.dictionary)
        before = explicit = self._state.explicit.fitted(universe)
        idle = 0
        for change in queue:
            facts = FactSet({change.predicate: change.relation.fitted(universe)})
            if change.insert:
                explicit = explicit | facts
            else:
                idle += (facts - explicit).count
                explicit = explicit - facts
        return explicit, explicit - before, before - explicit, idle

    def _recompute(self, explicit: FactSet, progress: Listener | None) -> None:
        facts, statistics = seminaive(self._engine(), self.program, explicit, progress)
        self._state = State(self._state.dictionary, explicit, facts)
        self._statistics = statistics
        self._queue = []

    def _up_to_date(self) -> None:
        self.materialise()
        universe = len(self._state.dictionary)
        facts = self._state.facts
        if any(not relation.layout.fits(universe) for relation in facts.values()):
            self._state = State(self._state.dictionary, self._state.explicit.fitted(universe), facts.fitted(universe))

    def _changed(self, facts: FactSet) -> ChangedRelations:
        return ChangedRelations(self._names, self._state.dictionary, facts)


def _program(rules: str | Path | Program) -> Program:
    if isinstance(rules, Program):
        return rules
    if isinstance(rules, Path):
        return parse_file(rules)
    looks_like_path = "\n" not in rules and rules.endswith(".rls")
    return parse_file(rules) if looks_like_path else parse_program(rules)


def _require(option: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        choices = ", ".join(repr(choice) for choice in allowed)
        raise ValueError(f"{option}={value!r}: choose one of {choices}")
