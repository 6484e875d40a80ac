"""The knowledge base: rules, facts, and everything that follows from them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
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
from everlog.reasoning.maintenance import Update
from everlog.reasoning.materialisation import Maintain, Materialisation, booked
from everlog.reasoning.seminaive import seminaive
from everlog.reasoning.statistics import Listener, Statistics
from everlog.reasoning.update import Algorithm, Strategy, update

Rows_ = Any
"""Rows in any form that ``everlog.pipeline.values.text_columns`` takes."""


@dataclass(frozen=True)
class Queued:
    """A change of the explicit facts that waits to be applied.

    ``unknown`` counts facts to be deleted that have a term which nothing else has.
    """

    insert: bool
    predicate: Predicate
    relation: Relation
    unknown: int = 0


@dataclass(frozen=True)
class ExplicitChange:
    """The explicit facts after a change, what it added and removed, and how many deletions did nothing."""

    explicit: FactSet
    inserted: FactSet
    deleted: FactSet
    idle: int


@dataclass(frozen=True)
class Saved:
    """A version of a store and the state it has, in which terms from ``terms`` on are not."""

    path: Path
    version: int
    state: State
    terms: int


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
        self._dictionary = Dictionary()
        self._kept = Materialisation(NONE, NONE)
        self._statistics: Statistics | None = None
        self._saved: Saved | None = None
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
        self._queue += self._queued(False, predicate, data, self._names)

    def materialise(self, *, fresh: bool = False, progress: Listener | None = None) -> Statistics:
        """Derive everything that follows, if that is not done already; ``fresh`` starts over.

        The first time everything is computed, later the materialisation is repaired.
        """
        if fresh or self._statistics is None:
            self._compute(self._applied(self._queue).explicit, progress)
        elif self._queue:
            changed = self._applied(self._queue)
            self._repair(changed, "auto", "never")
        assert self._statistics is not None
        return self._statistics

    materialize = materialise

    def update(
        self,
        insert: Mapping[Key, Rows_] | None = None,
        delete: Mapping[Key, Rows_] | None = None,
        *,
        algorithm: Algorithm = "auto",
        strategy: Strategy = "never",
    ) -> Change:
        """Change the explicit facts to (E \\ delete) ∪ insert and say exactly what that changed.

        ``algorithm`` is one of dredc, bfc, fbf, dred, counting, rematerialise; auto chooses, and says
        what and why in ``change.stats``. All give the same result. ``strategy`` is when fbf gives up
        looking for other proofs: never, always, or after so many steps back. All or nothing: after
        an error the knowledge base is as before.
        """
        _require("algorithm", algorithm, get_args(Algorithm))
        if not isinstance(strategy, int):
            _require("strategy", strategy, ("never", "always"))
        names, queue = self._names.copy(), []
        for key, data in (delete or {}).items():
            queue += self._queued(False, key, data, names)
        for key, data in (insert or {}).items():
            queued = self._queued(True, key, data, names)
            for change in queued:
                names.add(change.predicate)
            queue += queued
        return self._update(queue, names, algorithm, strategy)

    def update_facts(
        self,
        insert: FactSet,
        delete: FactSet,
        *,
        unknown: int = 0,
        algorithm: Algorithm = "auto",
        strategy: Strategy = "never",
    ) -> Change:
        """The same with facts over the dictionary of :meth:`state`.

        ``unknown`` is how many deletions were left out because no fact has such terms.
        """
        names = self._names.copy()
        queue = [Queued(False, predicate, relation) for predicate, relation in delete.items()]
        for predicate, relation in insert.items():
            names.add(names.for_data(predicate, predicate.arity))
            queue.append(Queued(True, predicate, relation))
        change = self._update(queue, names, algorithm, strategy)
        return replace(change, not_explicit=change.not_explicit + unknown)

    def _update(self, queue: list[Queued], names: Names, algorithm: Algorithm, strategy: Strategy) -> Change:
        self._up_to_date()
        changed = self._applied(queue)
        done = self._repair(changed, algorithm, strategy)
        self._names = names
        return Change(
            inserted=self._changed(done.inserted),
            deleted=self._changed(done.deleted),
            explicit_inserted=self._changed(changed.inserted),
            explicit_deleted=self._changed(changed.deleted),
            not_explicit=changed.idle,
            stats=done.statistics,
        )

    # reading ------------------------------------------------------------------------------------

    def query(self, text: str) -> Rows:
        """The answers to a conjunctive query such as ``"path(a, ?x), ~edge(a, ?x)"``.

        Columns are the named variables in order of appearance; without any, the answer is one empty
        row (true) or none (false).
        """
        query = check_query(parse_query(text, self.program.program.prefixes), set(self._names.all()))
        return answer(query, self.state(), self._engine())

    def __getitem__(self, predicate: Key) -> RelationRows:
        """The facts of a predicate: a bare name, a prefixed name, ``"<iri>"``, an IRI, or (name, arity)."""
        found = self._names.find(predicate)
        self._up_to_date()
        facts, explicit = self._kept.facts.relation(found), self._kept.explicit.relation(found)
        return RelationRows(self._dictionary, facts, explicit)

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
        """The memory of everything that is held."""
        return sum(self.memory.values())

    @property
    def memory(self) -> dict[str, int]:
        """The bytes that facts (in all the orders they are kept in), bookkeeping and dictionary take."""
        kept = self._kept
        return {"facts": kept.facts.nbytes, "bookkeeping": kept.nbytes, "dictionary": self._dictionary.nbytes}

    def state(self) -> State:
        """The facts as the engine has them, up to date."""
        self._up_to_date()
        kept = self._kept
        return State(self._dictionary, kept.explicit, kept.facts, kept.nr, kept.rec)

    def save(self, path: str | Path | None = None, *, overwrite: bool = False) -> int:
        """Write a store, or the next version of one; returns the version.

        A knowledge base that was opened from a store, or saved to it, appends what changed since to
        that store (``path`` may then be left out), at the cost of the change; if another writer was
        faster, that is an error and nothing is written. Into any other existing store it is written
        only with ``overwrite``, as a version that has nothing of those before. It is the store that
        the command line makes and reads; :func:`everlog.open` reads it back.
        """
        from everlog.stores import save

        self._up_to_date()
        return save(self, path, overwrite=overwrite)

    @classmethod
    def restored(cls, program: Program, state: State, statistics: Statistics, **options: Any) -> KnowledgeBase:
        """A knowledge base whose materialisation is known already."""
        kb = cls(program, **options)
        kb._queue = []
        kb._dictionary = state.dictionary
        kb._kept = Materialisation(state.explicit, state.facts, state.nr, state.rec, instances=statistics.instances)
        kb._statistics = statistics
        for predicate in state.facts:
            kb._names.add(predicate)
        kb._encode_constants()
        return kb

    def adopt(self, state: State, saved: Saved | None) -> None:
        """Go on with the same state over another dictionary, and remember where it is saved."""
        if state.dictionary is not self._dictionary:
            self._dictionary = state.dictionary
            instances = self._kept.instances
            self._kept = Materialisation(state.explicit, state.facts, state.nr, state.rec, instances=instances)
            self._encode_constants()
        self._saved = saved

    @property
    def saved(self) -> Saved | None:
        """Where the knowledge base was opened from or saved to last, and how it was then."""
        return self._saved

    @property
    def work(self) -> int:
        """How many instances materialising takes, as far as is known."""
        return self._kept.instances

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
        if insert:
            return [Queued(True, predicate, self._encoded(columns, size))]
        relation, unknown = self._found(columns, size)
        return [Queued(False, predicate, relation, unknown)]

    def _encoded(self, columns: list[pa.LargeStringArray], size: int) -> Relation:
        ids = [self._dictionary.encode(column) for column in columns]
        return Relation.from_columns(ids, len(self._dictionary), size)

    def _found(self, columns: list[pa.LargeStringArray], size: int) -> tuple[Relation, int]:
        """Rows without those that have an unknown term, and how many different ones those are."""
        ids = [self._dictionary.lookup(column) for column in columns]
        if all((column >= 0).all() for column in ids):
            return Relation.from_columns(ids, len(self._dictionary), size), 0
        known = np.logical_and.reduce([column >= 0 for column in ids])
        texts = pa.table(columns, names=[f"c{i}" for i in range(len(columns))]).filter(pa.array(~known))
        unknown = texts.group_by(texts.column_names).aggregate([]).num_rows
        return Relation.from_columns([column[known] for column in ids], len(self._dictionary)), unknown

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
        self._dictionary.encode(pa.array(sorted(texts), pa.large_string()))
        self._constants = Constants(self._dictionary)

    def _engine(self) -> Engine:
        deadline = None if self.timeout is None else time.monotonic() + self.timeout
        limits = Limits(self.max_facts, deadline)
        return Engine(len(self._dictionary), self._constants, limits=limits)

    def _applied(self, queue: Iterable[Queued]) -> ExplicitChange:
        """What changes do to the explicit facts, one after the other, at the cost of the changes."""
        universe = len(self._dictionary)
        explicit = self._kept.explicit.fitted(universe)
        inserted, deleted, idle = NONE, NONE, 0
        for change in queue:
            facts = FactSet({change.predicate: change.relation.fitted(universe)})
            there = facts & explicit
            if change.insert:
                new = facts - there
                explicit = explicit.extended(new)
                inserted, deleted = inserted | (new - deleted), deleted - new
            else:
                idle += facts.count - there.count + change.unknown
                explicit = explicit - there
                inserted, deleted = inserted - there, deleted | (there - inserted)
        return ExplicitChange(explicit, inserted, deleted, idle)

    def _compute(self, explicit: FactSet, progress: Listener | None) -> None:
        """Materialise from nothing, with the bookkeeping that ``maintain`` asks for."""
        engine = self._engine()
        facts, statistics = seminaive(engine, self.program, explicit, progress)
        self._kept = booked(
            engine, self.program, Materialisation(explicit, facts, instances=statistics.instances), self.maintain
        )
        self._statistics = statistics
        self._queue = []

    def _repair(self, changed: ExplicitChange, algorithm: Algorithm, strategy: Strategy) -> Update:
        """Bring the materialisation up to date with changed explicit facts."""
        old = self._kept.fitted(len(self._dictionary))
        done = update(self._engine(), self.program, old, changed.deleted, changed.inserted, algorithm, strategy)
        kept = done.materialisation
        self._kept = kept
        self._statistics = Statistics(
            facts=kept.facts.count,
            explicit=kept.explicit.count,
            instances=done.statistics.total_instances,
            rounds=0,
            seconds=done.statistics.seconds,
        )
        self._queue = []
        return done

    def _up_to_date(self) -> None:
        self.materialise()
        self._kept = self._kept.fitted(len(self._dictionary))

    def _changed(self, facts: FactSet) -> ChangedRelations:
        return ChangedRelations(self._names, self._dictionary, facts)


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
